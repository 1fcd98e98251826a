/* collect_cuts.c - sorts foreign events and cuts them into chunks. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/base/run_sort.h"
#include "formats/import/collect/collect_state.h"

enum {
	/* A limit on one chunk of an import, in addition to the format's. */
	OPEN_ROWS_MAX = 65536
};

static struct vpt_collect_entry make_entry(
	const struct vpt_kind_desc *kind, const uint64_t *values, size_t row)
{
	uint64_t start = values[1];
	uint64_t end = kind->flags & VPT_KIND_SPAN ? start + values[2] : start;

	return (struct vpt_collect_entry){end < start ? start : end, (uint32_t)row, kind->type};
}

/* A call of zero length is never nested: it comes after a call that ends at the same moment. */
static int is_empty_call(const struct vpt_collect_entry *e, uint64_t start)
{
	return e->kind == VPT_CALL && start == e->time;
}

/* Completion order. Of two events that end together, the one that began later is the inner one. If
 * they also begin together: tools write the outer one first, except calls and samples, which then
 * follow one another. */
static int is_entry_after(const void *pa, const void *pb, void *collect)
{
	const struct vpt_collect_entry *a = pa, *b = pb;
	uint64_t a_start, b_start;

	if (a->time != b->time)
		return a->time > b->time;
	a_start = vpt_collect_row(collect, a)[1];
	b_start = vpt_collect_row(collect, b)[1];
	if (is_empty_call(a, a_start) != is_empty_call(b, b_start))
		return is_empty_call(a, a_start);
	if (a_start != b_start)
		return a_start < b_start;
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->kind == VPT_CALL || a->kind == VPT_SAMPLE ? a->row > b->row : a->row < b->row;
}

/* The window: first start and last end of valid ops, calls and ranges. */
static void widen_window(
	struct vpt_collect *c, const struct vpt_collect_entry *e, const uint64_t *values)
{
	uint64_t start = values[1];

	if (e->kind != VPT_KERNEL && e->kind != VPT_COPY && e->kind != VPT_CALL &&
		e->kind != VPT_RANGE)
		return;
	/* An op's time of 0 may mean that the device's clock was not read, see collect_strays.c. A host's time may
	 * be 0: a foreign trace may count from its first call. */
	if (!start && !c->zero_is_time && (e->kind == VPT_KERNEL || e->kind == VPT_COPY))
		return;
	if (start + values[2] < start)
		return;
	if (start < c->header.t0_ns)
		c->header.t0_ns = start;
	if (e->time > c->end_ns)
		c->end_ns = e->time;
}

static int build_index(struct vpt_collect *c)
{
	uint64_t first = UINT64_MAX;
	size_t total = 0, k, row;

	for (k = 0; k < VPT_KIND_LIMIT; k++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc((unsigned)k);

		total += kind && kind->flags & VPT_KIND_EVENT ? c->kinds[k].count : 0;
	}
	c->index = vpt_alloc(total, sizeof(*c->index));
	if (!c->index)
		return VPT_ENOMEM;
	c->header.t0_ns = UINT64_MAX;
	for (k = 0; k < VPT_KIND_LIMIT; k++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc((unsigned)k);

		if (!kind || !(kind->flags & VPT_KIND_EVENT))
			continue;
		for (row = 0; row < c->kinds[k].count; row++) {
			const uint64_t *values = vpt_collect_row_at(c, (unsigned)k, row);

			c->index[c->index_count] = make_entry(kind, values, row);
			first = values[1] && values[1] < first ? values[1] : first;
			widen_window(c, &c->index[c->index_count++], values);
		}
	}
	/* Without any of them it begins with the first event of another kind. */
	if (c->header.t0_ns == UINT64_MAX)
		c->header.t0_ns = first == UINT64_MAX ? 0 : first;
	/* The file's own window is not trusted: ignore a start after the end. */
	if (c->given_start_ns &&
		c->given_start_ns <= (c->given_end_ns ? c->given_end_ns : c->end_ns))
		c->header.t0_ns = c->given_start_ns;
	if (c->given_end_ns && c->given_end_ns >= c->header.t0_ns)
		c->end_ns = c->given_end_ns;
	return vpt_run_sort(c->index, c->index_count, sizeof(*c->index), is_entry_after, c);
}

/* The chunk that each string and stack was last counted for. */
struct seen {
	uint32_t *strings, *stacks;
	uint32_t stack_count; /* of the chunk */
};

static size_t new_string(
	const struct vpt_collect *c, uint64_t id, uint32_t chunk, struct seen *seen)
{
	if (id >= c->strings.count || seen->strings[id] == chunk)
		return 0;
	seen->strings[id] = chunk;
	return vpt_strings_get(&c->strings, id).len + 8;
}

/* Bytes of the frames of a stack, from the innermost one to the first that the chunk has. */
static size_t new_frames(
	const struct vpt_collect *c, uint64_t id, uint32_t chunk, struct seen *seen)
{
	enum { ROW_BYTES = 12 };
	size_t bytes = 0;

	while (id && id < c->stacks.depth_count && seen->stacks[id] != chunk) {
		struct vpt_stack row = vpt_stack_table_stack_row(&c->stacks, id);
		struct vpt_frame frame = vpt_stack_table_frame_row(&c->stacks, row.frame);

		seen->stacks[id] = chunk;
		seen->stack_count++;
		bytes += ROW_BYTES + new_string(c, frame.function, chunk, seen) +
			 new_string(c, frame.file, chunk, seen);
		id = row.caller;
	}
	return bytes;
}

/* Bytes of strings and stacks that this row adds to its chunk. */
static size_t new_text(const struct vpt_collect *c, const struct vpt_collect_entry *e,
	uint32_t chunk, struct seen *seen)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(e->kind);
	uint64_t columns[VPT_COLUMNS_MAX];
	uint32_t ids = vpt_collect_ids(c, e->kind);
	size_t bytes = 0;

	if (ids)
		vpt_collect_columns(c, e->kind, vpt_collect_row(c, e), columns);
	for (; ids; ids &= ids - 1) {
		unsigned i = (unsigned)__builtin_ctz(ids);
		uint64_t id = columns[i];

		if (kind->columns[i].unit == VPT_UNIT_STACK)
			bytes += new_frames(c, id, chunk, seen);
		else if (kind->columns[i].unit == VPT_UNIT_CONFIG && id < c->configs.count)
			bytes += new_string(c,
				c->configs.values[id * VPT_CONFIG_COLUMNS + VPT_CONFIG_NAME], chunk,
				seen);
		else if (vpt_collect_is_string(kind, columns, i))
			bytes += new_string(c, id, chunk, seen);
	}
	return bytes;
}

static int begin_cut(struct vpt_collect *c, size_t begin)
{
	if (vpt_grow(&c->cuts, &c->cut_cap, c->cut_count + 1, sizeof(*c->cuts)))
		return VPT_ENOMEM;
	c->cuts[c->cut_count++] =
		(struct vpt_collect_cut){.begin = begin, .end = begin, .t_min = UINT64_MAX};
	return VPT_OK;
}

static int cut_index(struct vpt_collect *c)
{
	struct seen seen = {.strings = vpt_calloc(c->strings.count, sizeof(*seen.strings)),
		.stacks = vpt_calloc(c->stacks.depth_count, sizeof(*seen.stacks))};
	size_t i, bytes = 0, lanes = 0;
	int rc = seen.strings && seen.stacks ? begin_cut(c, 0) : VPT_ENOMEM;

	for (i = 0; !rc && i < c->index_count; i++) {
		struct vpt_collect_cut *cut = &c->cuts[c->cut_count - 1];
		size_t text = new_text(c, &c->index[i], (uint32_t)c->cut_count, &seen);

		/* Each new pair of lane and kind costs a section; changes of lane are an upper
		 * bound. */
		lanes += i == cut->begin ||
			 vpt_collect_row(c, &c->index[i])[0] !=
				 vpt_collect_row(c, &c->index[i - 1])[0] ||
			 c->index[i].kind != c->index[i - 1].kind;
		bytes += text + 16;
		if (i - cut->begin >= VPT_CHUNK_EVENTS ||
			((bytes > VPT_CHUNK_PAYLOAD || seen.stack_count > VPT_CHUNK_STACKS) &&
				i > cut->begin) ||
			(lanes > VPT_SECTIONS_MAX / 2 && c->lane_count > VPT_SECTIONS_MAX / 16)) {
			rc = begin_cut(c, i);
			seen.stack_count = 0;
			bytes = new_text(c, &c->index[i], (uint32_t)c->cut_count, &seen) + 16;
			lanes = 1;
		}
		cut = &c->cuts[c->cut_count - 1];
		cut->end = i + 1;
		cut->time = c->index[i].time;
	}
	vpt_free(seen.strings);
	vpt_free(seen.stacks);
	return rc;
}

/* Lists, for each chunk, the ranges open at its end: they began by then and end in a later
 * chunk. */
static int list_open(struct vpt_collect *c)
{
	size_t k, i, first;

	for (k = 1; k < c->cut_count; k++)
		for (i = c->cuts[k].begin; i < c->cuts[k].end; i++) {
			const struct vpt_collect_entry *e = &c->index[i];
			uint64_t start;

			if (e->kind != VPT_RANGE)
				continue;
			start = vpt_collect_row(c, e)[1];
			for (first = k; first > 0 && c->cuts[first - 1].time >= start; first--) {
				struct vpt_collect_cut *cut = &c->cuts[first - 1];

				if (cut->open_count >= OPEN_ROWS_MAX)
					continue;
				if (vpt_grow(&cut->open, &cut->open_cap, cut->open_count + 1,
					    sizeof(*cut->open)))
					return VPT_ENOMEM;
				cut->open[cut->open_count++] = e->row;
			}
		}
	return VPT_OK;
}

/* A reader may query t_min of a chunk before building it: that of its rows, whatever their texts and lanes. */
static void measure_cuts(struct vpt_collect *c)
{
	uint64_t columns[VPT_COLUMNS_MAX], t_min;
	size_t k, i;

	for (k = 0; k < c->cut_count; k++) {
		struct vpt_collect_cut *cut = &c->cuts[k];

		for (i = cut->begin; i < cut->end; i++) {
			const struct vpt_collect_entry *e = &c->index[i];
			const uint64_t *row = vpt_collect_row(c, e);

			if (row[1] >= cut->t_min)
				continue;
			vpt_collect_columns(c, e->kind, row, columns);
			t_min = vpt_batch_row_t_min(
				vpt_kind_desc(e->kind), columns, c->zero_is_time);
			cut->t_min = t_min < cut->t_min ? t_min : cut->t_min;
		}
	}
}

int vpt_collect_finish(struct vpt_collect *c, struct vpt_err *err)
{
	int rc = c->failed;

	if (!rc)
		rc = vpt_collect_tell_apart(c);
	if (!rc)
		rc = vpt_collect_number_devices(c);
	if (!rc)
		rc = vpt_collect_leave_out_strays(c);
	if (!rc)
		rc = vpt_collect_doubt_times(c);
	if (!rc)
		rc = vpt_collect_part_siblings(c);
	if (!rc)
		rc = build_index(c);
	if (!rc)
		rc = cut_index(c);
	if (!rc)
		rc = list_open(c);
	if (rc)
		return vpt_fail(err, rc, "no memory for the events of this trace");
	measure_cuts(c);
	c->header.major = VPT_MAJOR;
	c->header.minor = VPT_MINOR;
	c->header.cpu_tick_ns = c->header.gpu_tick_ns = 1;
	if (c->has_realtime)
		c->header.t0_unix_ns = c->header.t0_ns + c->unix_offset_ns;
	return VPT_OK;
}
