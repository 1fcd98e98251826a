/* hand.c - bytes put together without the code under test, as far as that is possible. */
#include "tests/support/traces/hand.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "formats/capture_layout.h"
#include "formats/chunk/chunk.h"
#include "formats/file/capture_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

void vpt_hand_put(struct vpt_buffer *b, const void *data, size_t size)
{
	if (vpt_grow(&b->data, &b->cap, b->size + size, 1))
		abort();
	if (size)
		memcpy(b->data + b->size, data, size);
	b->size += size;
}

void vpt_hand_le(struct vpt_buffer *b, unsigned size, uint64_t value)
{
	unsigned char bytes[8];

	vpt_le_put(bytes, size, value);
	vpt_hand_put(b, bytes, size);
}

void vpt_hand_fill(struct vpt_buffer *b, int byte, size_t count)
{
	if (vpt_grow(&b->data, &b->cap, b->size + count, 1))
		abort();
	memset(b->data + b->size, byte, count);
	b->size += count;
}

static void set(struct vpt_buffer *b, size_t at, unsigned size, uint64_t value)
{
	vpt_le_put((unsigned char *)b->data + at, size, value);
}

static void add(struct vpt_buffer *b, size_t at, unsigned size, uint64_t more)
{
	set(b, at, size, vpt_le_get((unsigned char *)b->data + at, size) + more);
}

void vpt_hand_chunk(struct vpt_buffer *b)
{
	b->size = 0;
	vpt_hand_le(b, 4, VPT_CHUNK_MAGIC);
	vpt_hand_fill(b, 0, VPT_CHUNK_HEADER_SIZE - 4);
	set(b, 24, 8, UINT64_MAX);
}

size_t vpt_hand_section(
	struct vpt_buffer *b, unsigned type, unsigned flags, uint32_t rows, uint64_t lane)
{
	size_t at = b->size;

	vpt_hand_le(b, 2, type);
	vpt_hand_le(b, 2, flags);
	vpt_hand_le(b, 4, rows);
	vpt_hand_fill(b, 0, 8);
	vpt_hand_le(b, 8, lane);
	vpt_hand_le(b, 8, 0);
	return at;
}

size_t vpt_hand_column(struct vpt_buffer *b, size_t section, unsigned id, unsigned enc,
	unsigned width, unsigned flags, uint64_t base, const void *data, size_t size)
{
	size_t at = b->size;

	vpt_hand_le(b, 1, id);
	vpt_hand_le(b, 1, enc);
	vpt_hand_le(b, 1, width);
	vpt_hand_le(b, 1, flags);
	vpt_hand_le(b, 4, size);
	vpt_hand_le(b, 8, base);
	vpt_hand_put(b, data, size);
	vpt_hand_fill(b, 0, (8 - size % 8) % 8);
	add(b, section + 12, 2, 1);
	return at;
}

void vpt_hand_section_end(struct vpt_buffer *b, size_t section)
{
	set(b, section + 8, 4, b->size - section - VPT_SECTION_HEADER_SIZE);
	add(b, 8, 4, 1);
}

void vpt_hand_chunk_end(struct vpt_buffer *b)
{
	set(b, 4, 4, b->size - VPT_CHUNK_HEADER_SIZE);
}

void vpt_hand_frame(struct vpt_buffer *file, const void *payload, size_t size, size_t head)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = {payload, head < size ? head : size, 0};
	ZSTD_outBuffer out;
	size_t bound = ZSTD_compressBound(size) + 64;

	if (!zstd || vpt_grow(&file->data, &file->cap, file->size + bound, 1))
		abort();
	out = (ZSTD_outBuffer){file->data + file->size, bound, 0};
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setPledgedSrcSize(zstd, size);
	if (ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush))
		abort();
	in.size = size;
	if (ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end))
		abort();
	file->size += out.pos;
	ZSTD_freeCCtx(zstd);
}

void vpt_hand_skippable(struct vpt_buffer *file, uint32_t declared, size_t there)
{
	vpt_hand_le(file, 4, 0x184d2a53);
	vpt_hand_le(file, 4, declared);
	vpt_hand_fill(file, 0xa5, there);
}

void vpt_hand_header(struct vpt_buffer *file, unsigned major, unsigned minor, uint64_t t0)
{
	unsigned char bytes[VPT_HEADER_SIZE] = VPT_CAPTURE_MAGIC;

	vpt_le_put(bytes + 8, 2, major);
	vpt_le_put(bytes + 10, 2, minor);
	vpt_le_put(bytes + 12, 4, sizeof(bytes));
	vpt_le_put(bytes + 16, 8, t0);
	vpt_le_put(bytes + 44, 4, 1);
	vpt_le_put(bytes + 48, 4, 1);
	vpt_hand_frame(file, bytes, sizeof(bytes), sizeof(bytes));
}

void vpt_hand_batch(struct vpt_batch *b, struct vpt_random *r, uint32_t rows)
{
	uint64_t t = 1000 + vpt_random_below(r, 1000);
	char name[32];
	uint32_t i;

	vpt_batch_reset(b);
	for (i = 0; i < rows; i++) {
		uint64_t launch = vpt_random_below(r, 500), work = 1 + vpt_random_below(r, 5000);
		struct vpt_config config = {.grid_x = 1 + i % 5, .block_x = 128};
		struct vpt_call call = {.start_ns = t, .duration_ns = launch, .correlation = i + 1};
		struct vpt_kernel kernel = {
			.start_ns = t + launch, .duration_ns = work, .correlation = i + 1};
		struct vpt_range range = {.start_ns = t - 1, .duration_ns = launch + 2};

		snprintf(name, sizeof(name), "kernel_%u", i % 7);
		config.name = vpt_batch_string(b, name, strlen(name));
		kernel.config = vpt_batch_config(b, &config);
		snprintf(name, sizeof(name), "step %llx", (unsigned long long)vpt_random(r));
		range.name = vpt_batch_string(b, name, strlen(name));
		call.id = vpt_call_find("cudaLaunchKernel", 16);
		vpt_batch_put(b, VPT_CALL, 1, &call);
		vpt_batch_put(b, VPT_KERNEL, 2 + i % 2, &kernel);
		vpt_batch_put(b, VPT_RANGE, 1, &range);
		t += launch + work;
	}
}

void vpt_hand_capture(
	struct vpt_buffer *file, uint64_t seed, size_t chunks, uint32_t rows, size_t *ends)
{
	struct vpt_random r = {seed};
	struct vpt_header header = {.t0_ns = 1000, .capture_id = seed};
	struct vpt_sink *sink;
	struct vpt_writer *w;
	struct vpt_batch b;
	size_t i;

	vpt_batch_init(&b);
	if (vpt_sink_memory(file, &sink, NULL) || vpt_writer_open(sink, &header, 0, &w, NULL))
		abort();
	for (i = 0; i <= chunks; i++) {
		if (ends)
			ends[i] = file->size;
		if (i == chunks)
			break;
		vpt_hand_batch(&b, &r, rows);
		if (i + 1 == chunks)
			b.flags |= VPT_BATCH_LAST;
		if (vpt_writer_put(w, &b, NULL))
			abort();
	}
	vpt_writer_free(w);
	if (sink->finish(sink, 1, NULL))
		abort();
	vpt_batch_free(&b);
}

/* ---- comparing ---- */

static int place_of(const struct vpt_section *s)
{
	static const uint8_t first[] = {VPT_CONFIG, VPT_FRAME, VPT_STACK, VPT_LANE, VPT_OPEN};
	const uint8_t *place = memchr(first, s->kind, sizeof(first));

	return place ? (int)(place - first) : (int)sizeof(first);
}

/* The next section with rows of this place from *at on, NULL when there is none. */
static const struct vpt_section *next_section(const struct vpt_batch *b, int place, size_t *at)
{
	while (*at < b->section_count) {
		const struct vpt_section *s = &b->sections[(*at)++];

		if (s->row_count && place_of(s) == place)
			return s;
	}
	return NULL;
}

static const char *differ_sections(const struct vpt_section *a, const struct vpt_section *b)
{
	const struct vpt_kind_desc *kind;
	unsigned c;

	if (!a || !b)
		return "number of sections";
	if (a->kind != b->kind || a->lane != b->lane)
		return "kinds or lanes";
	if (a->row_count != b->row_count)
		return "rows of a section";
	kind = vpt_kind_desc(a->kind);
	for (c = 0; c < kind->n_columns; c++)
		if (memcmp(a->col[c], b->col[c], a->row_count * sizeof(*a->col[c])))
			return kind->columns[c].name;
	return NULL;
}

static const char *differ_strings(const struct vpt_strings *a, const struct vpt_strings *b)
{
	if (a->count != b->count || a->size != b->size)
		return "number of strings";
	if (a->count && memcmp(a->ends, b->ends, a->count * sizeof(*a->ends)))
		return "lengths of strings";
	return a->size && memcmp(a->bytes, b->bytes, a->size) ? "text of strings" : NULL;
}

const char *vpt_hand_differ(const struct vpt_batch *a, const struct vpt_batch *b)
{
	const char *what = differ_strings(&a->strings, &b->strings);
	int place;

	if (a->sequence != b->sequence || a->t_min_ns != b->t_min_ns || a->t_max_ns != b->t_max_ns)
		return "sequence or times";
	if (a->event_count != b->event_count || a->lost_events != b->lost_events)
		return "events";
	if ((a->flags ^ b->flags) & VPT_BATCH_LAST)
		return "flags";
	for (place = 0; !what && place <= 5; place++) {
		size_t i = 0, k = 0;

		while (!what) {
			const struct vpt_section *s = next_section(a, place, &i);
			const struct vpt_section *t = next_section(b, place, &k);

			if (!s && !t)
				break;
			what = differ_sections(s, t);
		}
	}
	return what;
}
