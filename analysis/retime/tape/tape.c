/* tape.c - reads the rows. */
#include "analysis/retime/tape/tape_reading.h"

#include "analysis/names/families.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"
#include "formats/chunk/chunk.h"

#include <string.h>

enum { LANES_MOST = 65536 };

#define LATEST_NS (UINT64_MAX / 4)

/* ---- names and lanes ---- */

/* NONE: no memory. */
static uint32_t name_of(struct vpa_tape_reading *r, uint64_t string)
{
	struct vpt_text text;
	uint64_t id;

	if (string >= r->batch->strings.count)
		string = 0;
	if (!r->batch->strings.count)
		return 0;
	if (r->name_of[string] != VPA_TAPE_NONE)
		return r->name_of[string];
	text = vpt_batch_text(r->batch, string);
	id = vpt_strings_put(&r->tape->names, text.text, text.len);
	return r->name_of[string] = id >= VPA_TAPE_NONE ? VPA_TAPE_NONE : (uint32_t)id;
}

/* A kernel's. */
static int find_family(struct vpa_tape_reading *r, uint32_t name, uint8_t *family)
{
	struct vpa_kernel_class klass;
	struct vpt_text text;

	if (vpt_grow_zeroed(&r->family_of, &r->family_cap, (size_t)name + 1, 1) ||
		vpt_grow_zeroed(&r->has_family, &r->has_family_cap, (size_t)name + 1, 1))
		return VPT_ENOMEM;
	if (!r->has_family[name]) {
		text = vpt_strings_get(&r->tape->names, name);
		vpa_classify(text.text, text.len, &klass);
		r->has_family[name] = 1;
		r->family_of[name] = (uint8_t)klass.family;
	}
	*family = r->family_of[name];
	return VPT_OK;
}

static int add_thread(struct vpa_tape *t, int64_t pid, int64_t tid, uint32_t *index)
{
	*index = (uint32_t)t->thread_count;
	if (vpt_grow(&t->threads, &t->thread_cap, t->thread_count + 1, sizeof(*t->threads)))
		return VPT_ENOMEM;
	t->threads[t->thread_count++] = (struct vpa_tape_thread){.pid = pid, .tid = tid};
	return VPT_OK;
}

static int add_stream(
	struct vpa_tape_reading *r, int64_t pid, int64_t device, int64_t stream, uint32_t *index)
{
	struct vpa_tape *t = r->tape;
	uint32_t gpu = vpa_index_put(&r->gpus, (uint64_t)pid, (uint64_t)device);

	*index = (uint32_t)t->stream_count;
	if (gpu == UINT32_MAX ||
		vpt_grow(&t->streams, &t->stream_cap, t->stream_count + 1, sizeof(*t->streams)))
		return VPT_ENOMEM;
	t->streams[t->stream_count++] = (struct vpa_tape_stream){pid, device, stream, gpu};
	t->gpu_count = (uint32_t)r->gpus.count;
	return VPT_OK;
}

static int add_lane(struct vpa_tape_reading *r, uint64_t key, uint64_t type, uint32_t index)
{
	uint32_t row =
		vpa_index_row(&r->lanes, key, type, &r->lane_of, &r->lane_cap, sizeof(*r->lane_of));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	r->lane_of[row] = index;
	return VPT_OK;
}

/* Makes up a lane that no row describes. */
static int find_lane(struct vpa_tape_reading *r, uint64_t key, uint64_t type, uint32_t *index)
{
	uint32_t row = vpa_index_find(&r->lanes, key, type);
	int rc;

	if (row != UINT32_MAX) {
		*index = r->lane_of[row];
		return VPT_OK;
	}
	rc = type == VPT_LANETYPE_THREAD ? add_thread(r->tape, -1, -1, index)
					 : add_stream(r, -1, -1, -1, index);
	return rc ? rc : add_lane(r, key, type, *index);
}

int vpa_tape_find_thread(struct vpa_tape_reading *r, uint64_t key, uint32_t *thread)
{
	return find_lane(r, key, VPT_LANETYPE_THREAD, thread);
}

static int name_thread(struct vpa_tape_reading *r, uint64_t string, uint32_t thread)
{
	struct vpt_text text = vpt_batch_text(r->batch, string);
	uint64_t name = string ? vpt_strings_put(&r->tape->names, text.text, text.len) : 0;

	if (name >= VPA_TAPE_NONE)
		return VPT_ENOMEM;
	r->tape->threads[thread].name = (uint32_t)name;
	return VPT_OK;
}

static int read_lane(struct vpa_tape_reading *r, const struct vpt_section *s, uint32_t row)
{
	uint64_t key = s->col[VPT_LANE_KEY][row], type = s->col[VPT_LANE_LANE_TYPE][row];
	int64_t pid = (int64_t)s->col[VPT_LANE_PID][row];
	uint32_t index;
	int rc;

	if ((type != VPT_LANETYPE_THREAD && type != VPT_LANETYPE_STREAM) || !key ||
		r->lanes.count >= LANES_MOST || vpa_index_find(&r->lanes, key, type) != UINT32_MAX)
		return VPT_OK;
	if (type == VPT_LANETYPE_THREAD)
		rc = add_thread(r->tape, pid, (int64_t)s->col[VPT_LANE_TID][row], &index);
	else
		rc = add_stream(r, pid, (int64_t)s->col[VPT_LANE_DEVICE][row],
			(int64_t)s->col[VPT_LANE_STREAM][row], &index);
	if (!rc && type == VPT_LANETYPE_THREAD)
		rc = name_thread(r, s->col[VPT_LANE_NAME][row], index);
	return rc ? rc : add_lane(r, key, type, index);
}

/* ---- rows ---- */

static uint64_t end_of(uint64_t start_ns, uint64_t duration_ns)
{
	return vpt_sat_add(start_ns, duration_ns);
}

/* Whether a call or op has times: a row with a start of 0 or an end before its start has none. Two times differ by so
 * little that the sum of two such differences is a number too. */
static int has_times(uint64_t start_ns, uint64_t duration_ns)
{
	return start_ns && end_of(start_ns, duration_ns) <= LATEST_NS;
}

/* The name of a call by its number, or, if that is not of the table, by the text of the current chunk. NONE: no memory. */
static uint32_t call_name(struct vpa_tape_reading *r, uint64_t id, uint64_t string)
{
	const char *known = id <= UINT32_MAX ? vpt_call_name((uint32_t)id) : NULL;
	uint64_t name;

	if (!known)
		return name_of(r, string);
	if (vpt_grow_zeroed(&r->known, &r->known_cap, (size_t)id + 1, sizeof(*r->known)))
		return VPA_TAPE_NONE;
	if (!r->known[id]) {
		name = vpt_strings_put(&r->tape->names, known, strlen(known));
		if (name >= VPA_TAPE_NONE - 1)
			return VPA_TAPE_NONE;
		r->known[id] = (uint32_t)name + 1;
	}
	return r->known[id] - 1;
}

/* Of a name for which there is room in class_of. */
static uint8_t class_of(struct vpa_tape_reading *r, uint32_t name)
{
	struct vpt_text text;

	if (!r->class_of[name]) {
		text = vpt_strings_get(&r->tape->names, name);
		r->class_of[name] = (uint8_t)(vpt_call_class_of(text.text, text.len) + 1);
	}
	return (uint8_t)(r->class_of[name] - 1);
}

static int read_calls(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	uint32_t thread, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_THREAD, &thread);

	if (rc || vpt_grow(&r->rows, &r->row_cap, r->row_count + s->row_count, sizeof(*r->rows)))
		return VPT_ENOMEM;
	for (i = 0; i < s->row_count; i++) {
		uint64_t start_ns = s->col[VPT_CALL_START][i], id = s->col[VPT_CALL_ID][i];
		struct vpa_tape_row *row = &r->rows[r->row_count];
		uint32_t name;

		if (!has_times(start_ns, s->col[VPT_CALL_DURATION][i]))
			continue;
		name = call_name(r, id, s->col[VPT_CALL_NAME][i]);
		if (name == VPA_TAPE_NONE ||
			vpt_grow_zeroed(&r->class_of, &r->class_cap, (size_t)name + 1, 1))
			return VPT_ENOMEM;
		*row = (struct vpa_tape_row){.start_ns = start_ns,
			.end_ns = end_of(start_ns, s->col[VPT_CALL_DURATION][i]),
			.correlation = s->col[VPT_CALL_CORRELATION][i],
			.thread = thread,
			.name = name,
			.klass = class_of(r, name)};
		r->row_count++;
	}
	return VPT_OK;
}

static int add_op(struct vpa_tape_reading *r, const struct vpa_tape_op *op, uint64_t correlation)
{
	struct vpa_tape *t = r->tape;

	if (vpt_grow(&t->ops, &t->op_cap, t->op_count + 1, sizeof(*t->ops)) ||
		vpt_grow(&r->correlations, &r->correlation_cap, t->op_count + 1,
			sizeof(*r->correlations)))
		return VPT_ENOMEM;
	r->correlations[t->op_count] = correlation;
	t->ops[t->op_count] = *op;
	t->ops[t->op_count].row = (uint32_t)t->op_count; /* until they are sorted */
	t->ops[t->op_count].call = VPA_TAPE_NONE;        /* until they are joined */
	t->op_count++;
	return VPT_OK;
}

static int read_kernels(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	const struct vpt_section *configs = vpt_batch_find(r->batch, VPT_CONFIG);
	uint32_t stream, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_STREAM, &stream);

	for (i = 0; i < s->row_count && !rc; i++) {
		uint64_t start_ns = s->col[VPT_KERNEL_START][i],
			 config = s->col[VPT_KERNEL_CONFIG][i];
		int has_config = configs && config < configs->row_count;
		uint32_t name = has_config ? name_of(r, configs->col[VPT_CONFIG_NAME][config]) : 0;
		uint64_t blocks = has_config ? configs->col[VPT_CONFIG_GRID_X][config] : 0;
		struct vpa_tape_op op = {.start_ns = start_ns,
			.end_ns = end_of(start_ns, s->col[VPT_KERNEL_DURATION][i]),
			.stream = stream,
			.name = name,
			.blocks = vpt_sat_u32(blocks),
			.is_kernel = 1};

		if (name == VPA_TAPE_NONE || find_family(r, name, &op.family))
			return VPT_ENOMEM;
		if (has_times(start_ns, s->col[VPT_KERNEL_DURATION][i]))
			rc = add_op(r, &op, s->col[VPT_KERNEL_CORRELATION][i]);
	}
	return rc;
}

static int read_copies(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	uint32_t stream, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_STREAM, &stream);

	for (i = 0; i < s->row_count && !rc; i++) {
		uint64_t start_ns = s->col[VPT_COPY_START][i];
		struct vpa_tape_op op = {.start_ns = start_ns,
			.end_ns = end_of(start_ns, s->col[VPT_COPY_DURATION][i]),
			.bytes = s->col[VPT_COPY_BYTES][i],
			.stream = stream,
			.copy_kind = (uint8_t)s->col[VPT_COPY_COPY_KIND][i],
			.source_memory = (uint8_t)s->col[VPT_COPY_SOURCE_MEMORY][i],
			.target_memory = (uint8_t)s->col[VPT_COPY_TARGET_MEMORY][i]};

		if (has_times(start_ns, s->col[VPT_COPY_DURATION][i]) &&
			!vpt_copy_is_migration(op.copy_kind))
			rc = add_op(r, &op, s->col[VPT_COPY_CORRELATION][i]);
	}
	return rc;
}

static int add_range(struct vpa_tape_reading *r, const struct vpa_tape_range *range)
{
	struct vpa_tape *t = r->tape;

	if (range->name == VPA_TAPE_NONE ||
		vpt_grow(&t->ranges, &t->range_cap, t->range_count + 1, sizeof(*t->ranges)))
		return VPT_ENOMEM;
	t->ranges[t->range_count++] = *range;
	return VPT_OK;
}

static int read_ranges(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	uint32_t thread, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_THREAD, &thread);

	for (i = 0; i < s->row_count && !rc; i++)
		rc = add_range(r, &(struct vpa_tape_range){.start_ns = s->col[VPT_RANGE_START][i],
					  .end_ns = end_of(s->col[VPT_RANGE_START][i],
						  s->col[VPT_RANGE_DURATION][i]),
					  .thread = thread,
					  .pid = r->tape->threads[thread].pid,
					  .name = name_of(r, s->col[VPT_RANGE_NAME][i]),
					  .is_wide = s->col[VPT_RANGE_RANGE_KIND][i] ==
						     VPT_RANGEKIND_START_END});
	return rc;
}

/* Ranges that the last chunk leaves open. */
static int read_open(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	uint32_t thread, i;
	int rc = VPT_OK;

	for (i = 0; i < s->row_count && !rc; i++) {
		rc = find_lane(r, s->col[VPT_OPEN_LANE][i], VPT_LANETYPE_THREAD, &thread);
		if (!rc)
			rc = add_range(
				r, &(struct vpa_tape_range){.start_ns = s->col[VPT_OPEN_START][i],
					   .end_ns = UINT64_MAX,
					   .is_open = 1,
					   .thread = thread,
					   .pid = r->tape->threads[thread].pid,
					   .name = name_of(r, s->col[VPT_OPEN_NAME][i]),
					   .is_wide = s->col[VPT_OPEN_RANGE_KIND][i] ==
						      VPT_RANGEKIND_START_END});
	}
	return rc;
}

static int add_sync(struct vpa_tape_reading *r, const struct vpa_tape_sync *sync)
{
	struct vpa_tape *t = r->tape;

	if (vpt_grow(&t->syncs, &t->sync_cap, t->sync_count + 1, sizeof(*t->syncs)))
		return VPT_ENOMEM;
	t->syncs[t->sync_count++] = *sync;
	return VPT_OK;
}

static int stream_or_none(struct vpa_tape_reading *r, uint64_t key, uint32_t *stream)
{
	*stream = VPA_TAPE_NONE;
	return key && vpa_index_find(&r->lanes, key, VPT_LANETYPE_STREAM) != UINT32_MAX
		       ? find_lane(r, key, VPT_LANETYPE_STREAM, stream)
		       : VPT_OK;
}

static int read_syncs(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	uint32_t stream, waiting, i;
	int rc = VPT_OK;

	for (i = 0; i < s->row_count && !rc; i++) {
		uint64_t kind = s->col[VPT_SYNC_SYNC_KIND][i];

		rc = stream_or_none(r, s->col[VPT_SYNC_STREAM][i], &stream);
		if (!rc)
			rc = stream_or_none(r, s->lane, &waiting);
		if (!rc)
			rc = add_sync(r,
				&(struct vpa_tape_sync){.ns = s->col[VPT_SYNC_START][i],
					.correlation = s->col[VPT_SYNC_CORRELATION][i],
					.sync_id = s->col[VPT_SYNC_SYNC_ID][i],
					.stream = stream,
					.waiting = kind == VPT_SYNCKIND_STREAM_WAIT ? waiting
										    : VPA_TAPE_NONE,
					.kind = (uint8_t)kind});
	}
	return rc;
}

static int read_events(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	uint32_t stream, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_STREAM, &stream);

	for (i = 0; i < s->row_count && !rc; i++)
		rc = add_sync(r, &(struct vpa_tape_sync){.ns = s->col[VPT_EVENT_TIME][i],
					 .correlation = s->col[VPT_EVENT_CORRELATION][i],
					 .sync_id = s->col[VPT_EVENT_SYNC_ID][i],
					 .stream = stream,
					 .waiting = VPA_TAPE_NONE,
					 .is_event = 1});
	return rc;
}

static int read_section(struct vpa_tape_reading *r, const struct vpt_section *s)
{
	switch (s->kind) {
	case VPT_CALL:
		return read_calls(r, s);
	case VPT_KERNEL:
		return read_kernels(r, s);
	case VPT_COPY:
		return read_copies(r, s);
	case VPT_RANGE:
		return read_ranges(r, s);
	case VPT_SYNC:
		return read_syncs(r, s);
	case VPT_EVENT:
		return read_events(r, s);
	default:
		return VPT_OK;
	}
}

int vpa_tape_read_lanes(struct vpa_tape_reading *r, const struct vpt_batch *b)
{
	const struct vpt_section *lanes = vpt_batch_find(b, VPT_LANE);
	uint32_t row;
	int rc = VPT_OK;

	r->batch = b;
	for (row = 0; lanes && !rc && row < lanes->row_count; row++)
		rc = read_lane(r, lanes, row);
	return rc;
}

int vpa_tape_read_chunk(struct vpa_tape_reading *r, struct vpt_batch *b)
{
	size_t i;
	int rc = vpt_chunk_unpack(b);

	r->batch = b;
	if (!rc)
		rc = vpt_grow(&r->name_of, &r->name_cap, b->strings.count, sizeof(*r->name_of));
	if (!rc && b->strings.count)
		memset(r->name_of, 0xff, b->strings.count * sizeof(*r->name_of));
	for (i = 0; i < b->section_count && !rc; i++)
		rc = read_section(r, &b->sections[i]);
	if (!rc)
		rc = vpa_tape_read_samples(r, b);
	return rc ? rc : vpa_tape_order(r, 0);
}

int vpa_tape_read_open(struct vpa_tape_reading *r, const struct vpt_batch *b)
{
	const struct vpt_section *open = vpt_batch_find(b, VPT_OPEN);

	return open ? read_open(r, open) : VPT_OK;
}
