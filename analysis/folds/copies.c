/* copies.c - copies and memsets by direction and kind of memory, and the places that wait for results from a
 * device: many bytes through pageable memory, or in a call that waits whatever the memory, which not every profiler
 * records; and a few bytes in any way, since they are read to be looked at. Of what goes to a device, the places and sizes. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/pipeline/pipeline.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
	SIZES_MAX = 4096,       /* further ones are left out */
	READ_ROWS_MAX = 4096,   /* places beyond these are left out */
	UPLOAD_ROWS_MAX = 4096, /* the same of places and sizes */
	UPLOAD_BYTES = 1 << 20, /* of the smallest that has a row */
	DATA_BYTES = 4096       /* up to that the host steers; more is data */
};

struct row {
	uint64_t count, bytes, total_ns;
};

struct read {
	uint64_t small, large, small_bytes, large_bytes, pageable, pageable_bytes;
};

/* Copies of one size. */
struct size {
	uint64_t gone,
		back; /* that are on a device; that came back from one, and have not gone again */
};

struct state {
	struct vpa_index index; /* (copy kind, source and target memory) */
	struct row *rows;
	size_t row_cap;
	struct vpa_index read_index; /* (place, 0) */
	struct read *reads;
	size_t read_cap;
	struct vpa_index upload_index; /* (place, bytes) */
	struct row *uploads;
	size_t upload_cap;
	struct vpa_index size_index; /* (bytes, 0) */
	struct size *sizes;
	size_t size_cap;
	uint64_t back_bytes, again_bytes, block_uploads;
	uint64_t *small_ns; /* by device: how long small reads ran */
	size_t small_cap;
};

static struct row *row_of(struct state *s, const struct vpa_copy *copy)
{
	uint64_t kinds = (uint64_t)copy->source_memory << 8 | copy->target_memory;
	uint32_t row = vpa_index_row(
		&s->index, copy->kind, kinds, &s->rows, &s->row_cap, sizeof(*s->rows));

	return row == UINT32_MAX ? NULL : &s->rows[row];
}

static int add_read(struct state *s, const struct vpa_ops *ops, size_t i, uint32_t place)
{
	uint64_t bytes = ops->copy[i].bytes;
	uint32_t row, device = ops->device[i];

	if (vpt_grow_zeroed(&s->small_ns, &s->small_cap, (size_t)device + 1, sizeof(*s->small_ns)))
		return VPT_ENOMEM;
	if (bytes <= VPA_SMALL_BYTES)
		s->small_ns[device] += ops->end_ns[i] - ops->start_ns[i];
	if (!vpa_index_has_room(&s->read_index, READ_ROWS_MAX, place, 0))
		return VPT_OK;
	row = vpa_index_row(&s->read_index, place, 0, &s->reads, &s->read_cap, sizeof(*s->reads));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	if (bytes <= VPA_SMALL_BYTES) {
		s->reads[row].small++;
		s->reads[row].small_bytes += bytes;
		if (ops->copy[i].target_memory == VPT_MEMKIND_PAGEABLE) {
			s->reads[row].pageable++;
			s->reads[row].pageable_bytes += bytes;
		}
	} else {
		s->reads[row].large++;
		s->reads[row].large_bytes += bytes;
	}
	return VPT_OK;
}

static int add_upload(struct state *s, const struct vpa_ops *ops, size_t i, uint32_t place)
{
	uint64_t bytes = ops->copy[i].bytes;
	uint32_t row;

	if (!vpa_index_has_room(&s->upload_index, UPLOAD_ROWS_MAX, place, bytes))
		return VPT_OK;
	row = vpa_index_row(
		&s->upload_index, place, bytes, &s->uploads, &s->upload_cap, sizeof(*s->uploads));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	s->uploads[row].count++;
	s->uploads[row].total_ns += ops->end_ns[i] - ops->start_ns[i];
	return VPT_OK;
}

/* What comes back and goes to a device again is told by its size: nothing else says that it is the same. */
static int add_size(struct state *s, uint64_t bytes, int is_back)
{
	struct size *size;
	uint32_t row;

	if (!vpa_index_has_room(&s->size_index, SIZES_MAX, bytes, 0))
		return VPT_OK;
	row = vpa_index_row(&s->size_index, bytes, 0, &s->sizes, &s->size_cap, sizeof(*s->sizes));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	size = &s->sizes[row];
	if (is_back && size->gone) {
		size->gone--;
		size->back++;
		vpt_sat_add_to(&s->back_bytes, bytes);
	} else if (!is_back) {
		size->gone++;
		vpt_sat_add_to(&s->again_bytes, size->back ? bytes : 0);
		size->back -= size->back > 0;
	}
	return VPT_OK;
}

/* Notes where a copy of many bytes goes. */
static int add_large(struct state *s, const struct vpa_ops *ops, size_t i, size_t *at)
{
	uint64_t bytes = ops->copy[i].bytes;

	if (ops->kind[i] != VPA_MEMCPY || bytes < UPLOAD_BYTES)
		return VPT_OK;
	if (ops->copy[i].kind == VPT_COPYKIND_DTOH)
		return add_size(s, bytes, 1);
	if (ops->copy[i].kind != VPT_COPYKIND_HTOD)
		return VPT_OK;
	if (add_size(s, bytes, 0))
		return VPT_ENOMEM;
	return add_upload(s, ops, i, vpa_ops_stretch(ops, i, at)->place);
}

/* Whether a block gets data from the host. */
static int is_of_block(const struct vpa_ops *ops, size_t i, size_t *at)
{
	const struct vpa_range *range;
	uint64_t launched_ns = ops->launch_start_ns[i];

	if (ops->kind[i] != VPA_MEMCPY || ops->copy[i].kind != VPT_COPYKIND_HTOD ||
		ops->copy[i].bytes <= DATA_BYTES || !ops->launch[i])
		return 0;
	range = vpa_range_open_at(vpa_ops_stretch(ops, i, at)->range, launched_ns);
	while (range && vpa_pipeline_kind(range) != VPA_SCOPE_BLOCK)
		range = vpa_range_around(range, launched_ns);
	return range != NULL;
}

/* Whether the host gets data from a device and waits for the op; for a few bytes it soon will. */
static int is_read(const struct vpa_ops *ops, size_t i)
{
	return ops->kind[i] == VPA_MEMCPY && ops->copy[i].kind == VPT_COPYKIND_DTOH &&
	       (ops->copy[i].target_memory == VPT_MEMKIND_PAGEABLE ||
		       ops->copy[i].bytes <= VPA_SMALL_BYTES ||
		       (ops->launch[i] && ops->launch[i]->klass == VPT_CALL_BLOCKING_COPY));
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	struct row *row;
	size_t i, k, at = 0;

	(void)c;
	for (k = 0; k < ops->other_count; k++) {
		i = ops->others[k];
		if (ops->kind[i] == VPA_KERNEL)
			continue;
		row = row_of(state, &ops->copy[i]);
		if (!row)
			return VPT_ENOMEM;
		row->count++;
		row->bytes += ops->copy[i].bytes;
		row->total_ns += ops->end_ns[i] - ops->start_ns[i];
		s->block_uploads += (uint64_t)is_of_block(ops, i, &at);
		if (add_large(state, ops, i, &at))
			return VPT_ENOMEM;
		if (is_read(ops, i) && add_read(state, ops, i, vpa_ops_stretch(ops, i, &at)->place))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* 0 for a number without a name. */
static unsigned known(enum vpt_unit unit, uint64_t number)
{
	return vpt_word(unit, number) ? (unsigned)number : 0;
}

static int compare_words(enum vpt_unit unit, unsigned a, unsigned b)
{
	return strcmp(vpt_word(unit, a), vpt_word(unit, b));
}

static int compare_copies(const void *pa, const void *pb)
{
	const struct vpa_copy_row *a = pa, *b = pb;
	int order;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	order = compare_words(VPT_UNIT_COPY_KIND, a->kind, b->kind);
	if (!order)
		order = compare_words(VPT_UNIT_MEMORY_KIND, a->source, b->source);
	return order ? order : compare_words(VPT_UNIT_MEMORY_KIND, a->target, b->target);
}

static int compare_reads(const void *pa, const void *pb)
{
	const struct vpa_read_row *a = pa, *b = pb;
	uint64_t na = a->small + a->large, nb = b->small + b->large;

	if (na != nb)
		return na > nb ? -1 : 1;
	return vpt_text_order(a->range, b->range);
}

static int compare_uploads(const void *pa, const void *pb)
{
	const struct vpa_upload_row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return vpt_text_order(a->range, b->range);
}

static int write_uploads(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	size_t i;

	out->uploads = vpa_arena_alloc(&out->arena, s->upload_index.count, sizeof(*out->uploads));
	if (!out->uploads)
		return VPT_ENOMEM;
	for (i = 0; i < s->upload_index.count; i++)
		out->uploads[out->upload_count++] =
			(struct vpa_upload_row){.range = vpa_fold_name(out, c->model,
							(uint32_t)s->upload_index.entries[i].a),
				.bytes = s->upload_index.entries[i].b,
				.count = s->uploads[i].count,
				.total_ns = s->uploads[i].total_ns};
	if (out->upload_count)
		qsort(out->uploads, out->upload_count, sizeof(*out->uploads), compare_uploads);
	return VPT_OK;
}

static int write_reads(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	size_t i;

	out->reads = vpa_arena_alloc(&out->arena, s->read_index.count, sizeof(*out->reads));
	if (!out->reads)
		return VPT_ENOMEM;
	for (i = 0; i < s->read_index.count; i++)
		out->reads[out->read_count++] = (struct vpa_read_row){
			.range = vpa_fold_name(out, c->model, (uint32_t)s->read_index.entries[i].a),
			.small = s->reads[i].small,
			.large = s->reads[i].large,
			.small_bytes = s->reads[i].small_bytes,
			.large_bytes = s->reads[i].large_bytes,
			.pageable = s->reads[i].pageable,
			.pageable_bytes = s->reads[i].pageable_bytes};
	if (out->read_count)
		qsort(out->reads, out->read_count, sizeof(*out->reads), compare_reads);
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < out->device_count; i++) {
		uint32_t device = vpa_find_device(c->model, out->devices[i].device);

		out->devices[i].small_read_ns = device < s->small_cap ? s->small_ns[device] : 0;
	}
	out->came_back_bytes = s->back_bytes;
	out->uploaded_again_bytes = s->again_bytes;
	out->block_uploads = s->block_uploads;
	out->copies = vpa_arena_alloc(&out->arena, s->index.count, sizeof(*out->copies));
	if (!out->copies)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		const struct row *r = &s->rows[i];

		out->copies[out->copy_count++] = (struct vpa_copy_row){
			.kind = known(VPT_UNIT_COPY_KIND, s->index.entries[i].a),
			.source = known(VPT_UNIT_MEMORY_KIND, s->index.entries[i].b >> 8),
			.target = known(VPT_UNIT_MEMORY_KIND, s->index.entries[i].b & 0xff),
			.count = r->count,
			.bytes = r->bytes,
			.total_ns = r->total_ns,
			.gb_per_s = r->total_ns ? (double)r->bytes / (double)r->total_ns : 0};
	}
	qsort(out->copies, out->copy_count, sizeof(*out->copies), compare_copies);
	return write_reads(s, c, out) || write_uploads(s, c, out) ? VPT_ENOMEM : VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpa_index_free(&s->read_index);
	vpa_index_free(&s->upload_index);
	vpa_index_free(&s->size_index);
	vpt_free(s->sizes);
	vpt_free(s->uploads);
	vpt_free(s->rows);
	vpt_free(s->reads);
	vpt_free(s->small_ns);
}

const struct vpa_fold vpa_fold_copies = {
	.name = "copies",
	.help = "memory copies and memsets by direction and kind of memory",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.instants = fold_ops,
	.finish = finish,
	.free = free_state,
};
