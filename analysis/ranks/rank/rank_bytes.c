/* rank_bytes.c - writes and reads the columns of a rank.
 *
 * The reader trusts no number: a count is at most as many as bytes are left, indexes are of rows that are there, times
 * ascend and stay below VPA_RANK_LATEST_NS, and the sums of parts are the time between marks. */
#include "analysis/ranks/rank/rank_bytes.h"

#include "analysis/names/families.h"
#include "analysis/report/causes.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 1 };

/* ---- writing ---- */

struct writer {
	struct vpt_buffer *out;
	int failed;
};

static void put_bytes(struct writer *w, const void *data, size_t size)
{
	struct vpt_buffer *b = w->out;

	if (w->failed || vpt_grow(&b->data, &b->cap, b->size + size, 1)) {
		w->failed = 1;
		return;
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void put(struct writer *w, uint64_t n)
{
	unsigned char bytes[10];
	size_t used = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[used++] = (unsigned char)(n | 0x80);
	bytes[used++] = (unsigned char)n;
	put_bytes(w, bytes, used);
}

static void put_signed(struct writer *w, int64_t n)
{
	put(w, ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0));
}

static void put_text(struct writer *w, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	put(w, text ? 1 + (uint64_t)len : 0);
	if (len)
		put_bytes(w, text, len);
}

static void put_identity(struct writer *w, const struct vpa_rank *r)
{
	const char *const texts[] = {r->capture, r->host, r->boot_id, r->job, r->gpu, r->gpu_uuid,
		r->gpu_pci, r->missing};
	const int64_t numbers[] = {r->rank, r->world_size, r->local_rank, r->pid, r->device,
		r->simulated, r->complete, r->has_realtime};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		put_text(w, texts[i]);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put_signed(w, numbers[i]);
	put(w, r->fact_count);
	for (i = 0; i < r->fact_count; i++) {
		put_text(w, r->facts[i].name);
		put_text(w, r->facts[i].value);
	}
}

static void put_figures(struct writer *w, const struct vpa_rank *r)
{
	uint64_t fps;

	memcpy(&fps, &r->fps, sizeof(fps));
	put(w, r->unix_offset_ns);
	put(w, r->first_ns);
	put(w, r->last_ns - r->first_ns);
	put(w, r->unit);
	put(w, r->units);
	put(w, r->unit_ns);
	put(w, fps);
}

static void put_names(struct writer *w, const struct vpa_rank *r)
{
	size_t i;

	put(w, r->part_name_count);
	for (i = 0; i < r->part_name_count; i++) {
		put(w, r->part_names[i].klass);
		put(w, r->part_names[i].kind);
		put_text(w, r->part_names[i].place);
		put(w, r->part_ns[i]);
	}
	put(w, r->key_count);
	for (i = 0; i < r->key_count; i++) {
		const struct vpa_collective_key *k = &r->keys[i];

		put(w, k->kind);
		put_text(w, k->group);
		put_text(w, k->text);
		put(w, k->bytes);
		put(w, k->blocks);
		put(w, k->lane);
	}
}

/* The first part of a stretch is what the others leave of it. */
static void put_marks(struct writer *w, const struct vpa_rank *r)
{
	size_t i, k, first = 0;

	put(w, r->mark_count);
	for (i = 0; i < r->mark_count; i++)
		put(w, r->marks[i].time_ns - (i ? r->marks[i - 1].time_ns : r->first_ns));
	for (i = 0; i < r->mark_count; first = r->marks[i++].part_end)
		put(w, r->marks[i].part_end - first);
	for (i = 0; i < r->part_count; i++)
		put(w, r->parts[i].name);
	for (i = first = 0; i < r->mark_count; first = r->marks[i++].part_end)
		for (k = first + 1; k < r->marks[i].part_end; k++)
			put(w, r->parts[k].ns);
}

static void put_collectives(struct writer *w, const struct vpa_rank *r)
{
	uint32_t before = 0;
	size_t i;

	put(w, r->collective_count);
	for (i = 0; i < r->collective_count; i++)
		put(w, r->collectives[i].key);
	for (i = 0; i < r->collective_count; before = r->collectives[i++].start_mark)
		put(w, r->collectives[i].start_mark - before);
	for (i = 0; i < r->collective_count; i++)
		put(w, r->collectives[i].end_mark - r->collectives[i].start_mark);
}

static void put_terms(struct writer *w, const struct vpa_rank *r)
{
	size_t i, k, first = 0;

	put(w, r->term_ends != NULL);
	for (i = 0; r->term_ends && i <= r->collective_count; first = r->term_ends[i++])
		put(w, r->term_ends[i] - first);
	for (i = first = 0; r->term_ends && i <= r->collective_count; first = r->term_ends[i++])
		for (k = first; k < r->term_ends[i]; k++)
			put(w, r->terms[k].after == VPA_RANK_START ? 0 : i - r->terms[k].after);
	for (k = 0; r->term_ends && k < first; k++)
		put_signed(w, r->terms[k].ns);
}

int vpa_rank_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out)
{
	struct writer w = {.out = out};

	*out = (struct vpt_buffer){NULL, 0, 0};
	put(&w, VERSION);
	put_identity(&w, r);
	put_figures(&w, r);
	put_names(&w, r);
	put_marks(&w, r);
	put_collectives(&w, r);
	put_terms(&w, r);
	if (!w.failed)
		return VPT_OK;
	vpt_free(out->data);
	*out = (struct vpt_buffer){NULL, 0, 0};
	return VPT_ENOMEM;
}

/* ---- reading ---- */

struct reader {
	const unsigned char *begin, *at, *end;
	struct vpa_rank *rank;
	const char *wrong; /* the first thing that is; then everything reads as 0 */
	int no_memory;
};

static int is_failed(const struct reader *r)
{
	return r->wrong || r->no_memory;
}

static void stop(struct reader *r, const char *wrong)
{
	if (!is_failed(r))
		r->wrong = wrong;
}

static uint64_t get(struct reader *r)
{
	uint64_t n = 0;
	unsigned shift = 0;

	while (!is_failed(r)) {
		unsigned char byte;

		if (r->at == r->end) {
			stop(r, "more bytes");
			break;
		}
		byte = *r->at++;
		if (shift == 63 && byte > 1)
			stop(r, "a number of at most 64 bits");
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return is_failed(r) ? 0 : n;
		shift += 7;
		if (shift > 63)
			stop(r, "a number of at most 64 bits");
	}
	return 0;
}

/* A number of at most `most`. */
static uint64_t get_below(struct reader *r, uint64_t most, const char *what)
{
	uint64_t n = get(r);

	if (n <= most)
		return n;
	stop(r, what);
	return 0;
}

static int64_t get_signed(struct reader *r)
{
	uint64_t n = get(r);

	return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

static const char *get_text(struct reader *r)
{
	uint64_t len = get_below(r, (uint64_t)(r->end - r->at) + 1, "a text that ends");
	const char *text;

	if (!len || is_failed(r))
		return NULL;
	if (len - 1 > (uint64_t)(r->end - r->at)) {
		stop(r, "a text that ends");
		return NULL;
	}
	text = vpa_arena_text(&r->rank->arena, (const char *)r->at, (size_t)len - 1);
	r->at += len - 1;
	return text;
}

/* A count of rows that take a byte or more each, and memory for them and one more; NULL: none. */
static void *get_rows(struct reader *r, size_t *count, size_t size)
{
	uint64_t n = get_below(r, (uint64_t)(r->end - r->at), "a count of rows that are there");
	void *rows;

	if (is_failed(r))
		return NULL;
	rows = vpt_calloc((size_t)n + 1, size);
	if (!rows)
		r->no_memory = 1;
	else
		*count = (size_t)n;
	return rows;
}

static void get_identity(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	const char **const texts[] = {&x->capture, &x->host, &x->boot_id, &x->job, &x->gpu,
		&x->gpu_uuid, &x->gpu_pci, &x->missing};
	int64_t *const numbers[] = {&x->rank, &x->world_size, &x->local_rank, &x->pid, &x->device};
	int *const flags[] = {&x->simulated, &x->complete, &x->has_realtime};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = get_text(r);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = get_signed(r);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		int64_t flag = get_signed(r);

		if (flag < -1 || flag > 1)
			stop(r, "a flag");
		*flags[i] = (int)flag;
	}
	/* As the facts of a capture: at most nine digits. */
	if (x->rank > 999999999 || x->world_size > 999999999 || x->rank < -1 || x->world_size < -1)
		stop(r, "a rank of at most nine digits");
	x->facts = get_rows(r, &x->fact_count, sizeof(*x->facts));
	for (i = 0; i < x->fact_count && !is_failed(r); i++) {
		x->facts[i].name = get_text(r);
		x->facts[i].value = get_text(r);
		if (!x->facts[i].name || !x->facts[i].value)
			stop(r, "a fact with name and value");
	}
}

static void get_figures(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	uint64_t fps;

	x->unix_offset_ns = get(r);
	x->first_ns = get_below(r, VPA_RANK_LATEST_NS, "a time");
	x->last_ns = x->first_ns + get_below(r, VPA_RANK_LATEST_NS - x->first_ns, "a time");
	x->unit = (enum vpa_unit_kind)get_below(r, VPA_UNIT_KINDS - 1, "a kind of unit");
	x->units = get(r);
	x->unit_ns = get(r);
	fps = get(r);
	memcpy(&x->fps, &fps, sizeof(fps));
	if (!(x->fps >= 0 && x->fps < 1e18))
		x->fps = 0;
}

static void get_names(struct reader *r)
{
	static const unsigned kinds[VPA_TIME_CLASSES] = {[VPA_TIME_COMPUTE] = VPA_FAMILY_COUNT,
		[VPA_TIME_COMM] = 1,
		[VPA_TIME_COPY] = 256,
		[VPA_TIME_IDLE] = VPA_CAUSES};
	struct vpa_rank *x = r->rank;
	uint64_t left_ns = x->last_ns - x->first_ns;
	size_t i;

	x->part_names = get_rows(r, &x->part_name_count, sizeof(*x->part_names));
	x->part_ns = vpt_calloc(x->part_name_count + 1, sizeof(*x->part_ns));
	r->no_memory |= !x->part_ns;
	for (i = 0; i < x->part_name_count && !is_failed(r); i++) {
		unsigned klass = (unsigned)get_below(r, VPA_TIME_CLASSES - 1, "a class of time");

		x->part_names[i].klass = (enum vpa_part_class)klass;
		x->part_names[i].kind = (unsigned)get_below(r, kinds[klass] - 1, "a kind of time");
		x->part_names[i].place = get_text(r);
		x->part_ns[i] = get_below(r, left_ns, "a part of the rank's time");
		left_ns -= x->part_ns[i];
		x->class_ns[klass] += x->part_ns[i];
	}
	x->keys = get_rows(r, &x->key_count, sizeof(*x->keys));
	for (i = 0; i < x->key_count && !is_failed(r); i++) {
		struct vpa_collective_key *k = &x->keys[i];

		k->kind = (enum vpa_collective_kind)get_below(
			r, VPA_COLLECTIVE_KINDS - 1, "a kind of collective");
		k->group = get_text(r);
		k->text = get_text(r);
		k->bytes = get(r);
		k->blocks = get(r);
		k->lane = (uint32_t)get_below(r, x->key_count, "a stream");
		if (!k->text)
			stop(r, "a collective with a name");
	}
}

/* Parts of the stretch before mark i; the first one is what the others leave. */
static void get_stretch(struct reader *r, size_t first, size_t i)
{
	struct vpa_rank *x = r->rank;
	uint64_t left_ns = x->marks[i].time_ns - (i ? x->marks[i - 1].time_ns : x->first_ns);
	size_t k;

	for (k = first + 1; k < x->marks[i].part_end && !is_failed(r); k++) {
		x->parts[k].ns = get_below(r, left_ns, "parts of a stretch of time");
		left_ns -= x->parts[k].ns;
	}
	if (first < x->marks[i].part_end)
		x->parts[first].ns = left_ns;
	else if (left_ns)
		stop(r, "parts of a stretch of time");
}

static void get_marks(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	uint64_t at_ns = x->first_ns, parts = 0;
	size_t i, first;

	x->marks = get_rows(r, &x->mark_count, sizeof(*x->marks));
	if (x->mark_count >= UINT32_MAX)
		stop(r, "fewer marks");
	for (i = 0; i < x->mark_count && !is_failed(r); i++)
		at_ns = x->marks[i].time_ns =
			at_ns + get_below(r, x->last_ns - at_ns, "a time of the rank");
	for (i = 0; i < x->mark_count && !is_failed(r); i++) {
		parts += get_below(r, (uint64_t)(r->end - r->at), "a count of parts");
		x->marks[i].part_end = (size_t)parts;
	}
	if (parts > (uint64_t)(r->end - r->at))
		stop(r, "a count of parts");
	if (is_failed(r))
		return;
	x->parts = vpt_calloc((size_t)parts + 1, sizeof(*x->parts));
	r->no_memory |= !x->parts;
	for (i = 0; i < parts && !is_failed(r); i++)
		x->parts[i].name = (uint32_t)get_below(
			r, x->part_name_count ? x->part_name_count - 1 : 0, "a part's name");
	if (parts && !x->part_name_count)
		stop(r, "a part's name");
	for (i = first = 0; i < x->mark_count && !is_failed(r); first = x->marks[i++].part_end)
		get_stretch(r, first, i);
	x->part_count = (size_t)parts;
}

static void get_collectives(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	uint64_t mark = 0;
	size_t i;

	x->collectives = get_rows(r, &x->collective_count, sizeof(*x->collectives));
	if (x->collective_count && !(x->key_count && x->mark_count))
		stop(r, "no collective without names and marks");
	for (i = 0; i < x->collective_count && !is_failed(r); i++)
		x->collectives[i].key = (uint32_t)get_below(r, x->key_count - 1, "a name");
	for (i = 0; i < x->collective_count && !is_failed(r); i++) {
		mark += get_below(r, x->mark_count - 1 - mark, "a mark");
		x->collectives[i].start_mark = (uint32_t)mark;
		x->collectives[i].start_ns = x->marks[mark].time_ns;
	}
	for (i = 0; i < x->collective_count && !is_failed(r); i++) {
		struct vpa_rank_collective *c = &x->collectives[i];

		c->end_mark = c->start_mark +
			      (uint32_t)get_below(r, x->mark_count - 1 - c->start_mark, "a mark");
		c->end_ns = x->marks[c->end_mark].time_ns;
	}
}

static void get_terms(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	uint64_t count = 0;
	size_t i, k;

	if (!get_below(r, 1, "a flag") || is_failed(r))
		return;
	x->term_ends = vpt_calloc(x->collective_count + 1, sizeof(*x->term_ends));
	r->no_memory |= !x->term_ends;
	for (i = 0; i <= x->collective_count && !is_failed(r); i++) {
		count += get_below(r, (uint64_t)(r->end - r->at), "a count of terms");
		x->term_ends[i] = (size_t)count;
	}
	if (count > (uint64_t)(r->end - r->at))
		stop(r, "a count of terms");
	if (is_failed(r))
		return;
	x->terms = vpt_calloc((size_t)count + 1, sizeof(*x->terms));
	r->no_memory |= !x->terms;
	for (i = k = 0; i <= x->collective_count && !is_failed(r); i++)
		for (; k < x->term_ends[i] && !is_failed(r); k++) {
			uint64_t back = get_below(r, i, "an earlier collective");

			x->terms[k].after = back ? (uint32_t)(i - back) : (uint32_t)VPA_RANK_START;
		}
	for (k = 0; k < count && !is_failed(r); k++) {
		x->terms[k].ns = get_signed(r);
		if (x->terms[k].ns > (int64_t)VPA_RANK_LATEST_NS ||
			x->terms[k].ns < -(int64_t)VPA_RANK_LATEST_NS)
			stop(r, "a time of a term");
	}
}

int vpa_rank_from_bytes(const void *data, size_t size, struct vpa_rank *out, struct vpt_err *err)
{
	struct reader r = {.begin = data, .at = data, .rank = out};
	uint64_t version;

	r.end = r.begin + size;
	version = get(&r);
	if (!r.wrong && version > VERSION)
		return vpt_fail(err, VPT_EVERSION,
			"summary version %" PRIu64 ": expected at most %d, from a newer vptrace",
			version, VERSION);
	get_identity(&r);
	get_figures(&r);
	if (!is_failed(&r))
		get_names(&r);
	if (!is_failed(&r))
		get_marks(&r);
	if (!is_failed(&r))
		get_collectives(&r);
	if (!is_failed(&r))
		get_terms(&r);
	if (r.at != r.end)
		stop(&r, "the end");
	if (r.no_memory || out->arena.failed)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	if (r.wrong)
		return vpt_fail(err, VPT_EDATA, "summary of a rank: expected %s at byte %zu",
			r.wrong, (size_t)(r.at - r.begin));
	return VPT_OK;
}
