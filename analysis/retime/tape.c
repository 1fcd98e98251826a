/* tape.c - reads the rows, puts them in order, and joins them. */
#include "analysis/retime/tape.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/join/prefetch.h"
#include "analysis/names/families.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"
#include "formats/chunk/chunk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_MOST = 65536 };

#define LATEST_NS (UINT64_MAX / 4)

/* A call as it is read: nested ones too. */
struct row {
	uint64_t start_ns, end_ns, correlation;
	uint32_t thread, name;
	uint8_t klass;
};

struct reading {
	struct vpa_tape *tape;
	struct row *rows;
	size_t row_count, row_cap;
	uint64_t *correlations; /* by op, as read */
	size_t correlation_cap;
	struct vpa_index lanes, gpus, call_ids;
	uint32_t *lane_of;
	size_t lane_cap;
	uint32_t *name_of; /* by string of the current chunk; NONE: not asked yet */
	size_t name_cap;
	int64_t *pids; /* of threads, each once */
	size_t pid_count, pid_cap;
	uint32_t *known;   /* by the number of a call: 1 + its name; 0: not asked yet */
	uint8_t *class_of; /* by name: 1 + the class of the calls with it; 0: not asked yet */
	size_t known_cap, class_cap;
	uint8_t *family_of, *has_family; /* by name */
	size_t family_cap, has_family_cap;
	const struct vpt_batch *batch;
	uint64_t most; /* calls and ops */
};

/* ---- names and lanes ---- */

/* NONE: no memory. */
static uint32_t name_of(struct reading *r, uint64_t string)
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
static int find_family(struct reading *r, uint32_t name, uint8_t *family)
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
	t->threads[t->thread_count++] = (struct vpa_tape_thread){pid, tid};
	return VPT_OK;
}

static int add_stream(
	struct reading *r, int64_t pid, int64_t device, int64_t stream, uint32_t *index)
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

static int add_lane(struct reading *r, uint64_t key, uint64_t type, uint32_t index)
{
	uint32_t row =
		vpa_index_row(&r->lanes, key, type, &r->lane_of, &r->lane_cap, sizeof(*r->lane_of));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	r->lane_of[row] = index;
	return VPT_OK;
}

/* Makes up a lane that no row describes. */
static int find_lane(struct reading *r, uint64_t key, uint64_t type, uint32_t *index)
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

static int read_lane(struct reading *r, const struct vpt_section *s, uint32_t row)
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
static uint32_t call_name(struct reading *r, uint64_t id, uint64_t string)
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
static uint8_t class_of(struct reading *r, uint32_t name)
{
	struct vpt_text text;

	if (!r->class_of[name]) {
		text = vpt_strings_get(&r->tape->names, name);
		r->class_of[name] = (uint8_t)(vpt_call_class_of(text.text, text.len) + 1);
	}
	return (uint8_t)(r->class_of[name] - 1);
}

static int read_calls(struct reading *r, const struct vpt_section *s)
{
	uint32_t thread, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_THREAD, &thread);

	if (rc || vpt_grow(&r->rows, &r->row_cap, r->row_count + s->row_count, sizeof(*r->rows)))
		return VPT_ENOMEM;
	for (i = 0; i < s->row_count; i++) {
		uint64_t start_ns = s->col[VPT_CALL_START][i], id = s->col[VPT_CALL_ID][i];
		struct row *row = &r->rows[r->row_count];
		uint32_t name;

		if (!has_times(start_ns, s->col[VPT_CALL_DURATION][i]))
			continue;
		name = call_name(r, id, s->col[VPT_CALL_NAME][i]);
		if (name == VPA_TAPE_NONE ||
			vpt_grow_zeroed(&r->class_of, &r->class_cap, (size_t)name + 1, 1))
			return VPT_ENOMEM;
		*row = (struct row){.start_ns = start_ns,
			.end_ns = end_of(start_ns, s->col[VPT_CALL_DURATION][i]),
			.correlation = s->col[VPT_CALL_CORRELATION][i],
			.thread = thread,
			.name = name,
			.klass = class_of(r, name)};
		r->row_count++;
	}
	return VPT_OK;
}

static int add_op(struct reading *r, const struct vpa_tape_op *op, uint64_t correlation)
{
	struct vpa_tape *t = r->tape;

	if (vpt_grow(&t->ops, &t->op_cap, t->op_count + 1, sizeof(*t->ops)) ||
		vpt_grow(&r->correlations, &r->correlation_cap, t->op_count + 1,
			sizeof(*r->correlations)))
		return VPT_ENOMEM;
	r->correlations[t->op_count] = correlation;
	t->ops[t->op_count] = *op;
	t->ops[t->op_count].row = (uint32_t)t->op_count; /* until they are sorted */
	t->op_count++;
	return VPT_OK;
}

static int read_kernels(struct reading *r, const struct vpt_section *s)
{
	const struct vpt_section *configs = vpt_batch_find(r->batch, VPT_CONFIG);
	uint32_t stream, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_STREAM, &stream);

	for (i = 0; i < s->row_count && !rc; i++) {
		uint64_t start_ns = s->col[VPT_KERNEL_START][i],
			 config = s->col[VPT_KERNEL_CONFIG][i];
		uint32_t name = configs && config < configs->row_count
					? name_of(r, configs->col[VPT_CONFIG_NAME][config])
					: 0;
		struct vpa_tape_op op = {.start_ns = start_ns,
			.end_ns = end_of(start_ns, s->col[VPT_KERNEL_DURATION][i]),
			.stream = stream,
			.name = name,
			.is_kernel = 1};

		if (name == VPA_TAPE_NONE || find_family(r, name, &op.family))
			return VPT_ENOMEM;
		if (has_times(start_ns, s->col[VPT_KERNEL_DURATION][i]))
			rc = add_op(r, &op, s->col[VPT_KERNEL_CORRELATION][i]);
	}
	return rc;
}

static int read_copies(struct reading *r, const struct vpt_section *s)
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

static int add_range(struct reading *r, const struct vpa_tape_range *range)
{
	struct vpa_tape *t = r->tape;

	if (range->name == VPA_TAPE_NONE ||
		vpt_grow(&t->ranges, &t->range_cap, t->range_count + 1, sizeof(*t->ranges)))
		return VPT_ENOMEM;
	t->ranges[t->range_count++] = *range;
	return VPT_OK;
}

static int read_ranges(struct reading *r, const struct vpt_section *s)
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
static int read_open(struct reading *r, const struct vpt_section *s)
{
	uint32_t thread, i;
	int rc = VPT_OK;

	for (i = 0; i < s->row_count && !rc; i++) {
		rc = find_lane(r, s->col[VPT_OPEN_LANE][i], VPT_LANETYPE_THREAD, &thread);
		if (!rc)
			rc = add_range(
				r, &(struct vpa_tape_range){.start_ns = s->col[VPT_OPEN_START][i],
					   .end_ns = UINT64_MAX,
					   .thread = thread,
					   .pid = r->tape->threads[thread].pid,
					   .name = name_of(r, s->col[VPT_OPEN_NAME][i]),
					   .is_wide = s->col[VPT_OPEN_RANGE_KIND][i] ==
						      VPT_RANGEKIND_START_END});
	}
	return rc;
}

static int add_sync(struct reading *r, const struct vpa_tape_sync *sync)
{
	struct vpa_tape *t = r->tape;

	if (vpt_grow(&t->syncs, &t->sync_cap, t->sync_count + 1, sizeof(*t->syncs)))
		return VPT_ENOMEM;
	t->syncs[t->sync_count++] = *sync;
	return VPT_OK;
}

static int stream_or_none(struct reading *r, uint64_t key, uint32_t *stream)
{
	*stream = VPA_TAPE_NONE;
	return key && vpa_index_find(&r->lanes, key, VPT_LANETYPE_STREAM) != UINT32_MAX
		       ? find_lane(r, key, VPT_LANETYPE_STREAM, stream)
		       : VPT_OK;
}

static int read_syncs(struct reading *r, const struct vpt_section *s)
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
				&(struct vpa_tape_sync){
					.correlation = s->col[VPT_SYNC_CORRELATION][i],
					.sync_id = s->col[VPT_SYNC_SYNC_ID][i],
					.stream = stream,
					.waiting = kind == VPT_SYNCKIND_STREAM_WAIT ? waiting
										    : VPA_TAPE_NONE,
					.kind = (uint8_t)kind});
	}
	return rc;
}

static int read_events(struct reading *r, const struct vpt_section *s)
{
	uint32_t stream, i;
	int rc = find_lane(r, s->lane, VPT_LANETYPE_STREAM, &stream);

	for (i = 0; i < s->row_count && !rc; i++)
		rc = add_sync(
			r, &(struct vpa_tape_sync){.correlation = s->col[VPT_EVENT_CORRELATION][i],
				   .sync_id = s->col[VPT_EVENT_SYNC_ID][i],
				   .stream = stream,
				   .waiting = VPA_TAPE_NONE,
				   .is_event = 1});
	return rc;
}

static int read_section(struct reading *r, const struct vpt_section *s, int is_last)
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
	case VPT_OPEN:
		return is_last ? read_open(r, s) : VPT_OK;
	default:
		return VPT_OK;
	}
}

static int read_chunk(struct reading *r, struct vpt_batch *b, int is_last)
{
	const struct vpt_section *lanes = vpt_batch_find(b, VPT_LANE);
	uint32_t row;
	size_t i;
	int rc = vpt_chunk_unpack(b);

	r->batch = b;
	if (!rc)
		rc = vpt_grow(&r->name_of, &r->name_cap, b->strings.count, sizeof(*r->name_of));
	if (!rc && b->strings.count)
		memset(r->name_of, 0xff, b->strings.count * sizeof(*r->name_of));
	for (row = 0; lanes && !rc && row < lanes->row_count; row++)
		rc = read_lane(r, lanes, row);
	for (i = 0; i < b->section_count && !rc; i++)
		rc = read_section(r, &b->sections[i], is_last);
	return rc;
}

static int read_chunks(
	struct reading *r, const struct vpt_trace *trace, unsigned jobs, struct vpt_err *err)
{
	size_t count = vpt_trace_chunks(trace), done = 0;
	struct vpa_prefetch *chunks;
	struct vpt_batch *b;
	int rc = vpa_prefetch_start(trace, jobs, &chunks, err);

	if (rc)
		return rc;
	while ((rc = vpa_prefetch_next(chunks, &b, err)) != VPT_END) {
		done++;
		if (rc == VPT_EDATA)
			continue;
		rc = rc ? rc : read_chunk(r, b, done == count);
		if (!rc && r->row_count + r->tape->op_count > r->most)
			rc = vpt_fail(err, VPT_EUNSUPPORTED,
				"the trace has more than %" PRIu64 " calls and ops", r->most);
		if (rc)
			break;
	}
	vpa_prefetch_stop(chunks);
	if (rc == VPT_ENOMEM)
		vpt_fail(err, rc, "no memory to replay the trace");
	return rc == VPT_END ? VPT_OK : rc;
}

/* ---- order ---- */

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Outer calls before inner ones. */
static int by_call_start(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = by_number(x->start_ns, y->start_ns);

	if (!order)
		order = by_number(y->end_ns, x->end_ns);
	if (!order)
		order = by_number(x->thread, y->thread);
	return order ? order : by_number(x->correlation, y->correlation);
}

static int by_op_start(const void *a, const void *b)
{
	const struct vpa_tape_op *x = a, *y = b;
	int order = by_number(x->start_ns, y->start_ns);

	if (!order)
		order = by_number(x->end_ns, y->end_ns);
	if (!order)
		order = by_number(x->stream, y->stream);
	return order ? order : by_number(x->row, y->row);
}

static int by_range_start(const void *a, const void *b)
{
	const struct vpa_tape_range *x = a, *y = b;
	int order = by_number(x->start_ns, y->start_ns);

	if (!order)
		order = by_number(y->end_ns, x->end_ns);
	return order ? order : by_number(x->name, y->name);
}

/* ---- joining ---- */

static int launches(uint8_t klass)
{
	return vpt_call_launches((enum vpt_call_class)klass);
}

/* The call of an id becomes this one: the first one that launches, else the first one. */
static int note_id(
	struct reading *r, const struct row *row, uint32_t call, uint32_t **call_of, size_t *cap)
{
	int64_t pid = r->tape->threads[row->thread].pid;
	size_t before = r->call_ids.count;
	uint32_t id;

	if (!row->correlation)
		return VPT_OK;
	id = vpa_index_row(
		&r->call_ids, (uint64_t)pid, row->correlation, call_of, cap, sizeof(**call_of));
	if (id == UINT32_MAX)
		return VPT_ENOMEM;
	if (r->call_ids.count > before ||
		(launches(row->klass) && !launches(r->tape->calls[(*call_of)[id]].klass) &&
			!r->tape->calls[(*call_of)[id]].is_nested_launch))
		(*call_of)[id] = call;
	return VPT_OK;
}

/* The outermost calls; the ids of inner ones stand for the outer. Of calls that overlap without nesting, which times
 * of little precision give, the earlier is cut. */
static int join_calls(struct reading *r, uint32_t **call_of, size_t *cap)
{
	struct vpa_tape *t = r->tape;
	uint32_t *last = vpt_alloc(t->thread_count, sizeof(*last)), call;
	size_t i;
	int rc = last ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < t->thread_count && !rc; i++)
		last[i] = VPA_TAPE_NONE;
	for (i = 0; i < r->row_count && !rc; i++) {
		const struct row *row = &r->rows[i];
		struct vpa_tape_call *outer =
			last[row->thread] == VPA_TAPE_NONE ? NULL : &t->calls[last[row->thread]];

		if (outer && row->start_ns < outer->end_ns && row->end_ns <= outer->end_ns) {
			outer->is_nested_launch |= launches(row->klass) != 0;
			rc = note_id(r, row, last[row->thread], call_of, cap);
			continue;
		}
		if (outer && outer->end_ns > row->start_ns)
			outer->end_ns = row->start_ns;
		if (vpt_grow(&t->calls, &t->call_cap, t->call_count + 1, sizeof(*t->calls))) {
			rc = VPT_ENOMEM;
			break;
		}
		call = (uint32_t)t->call_count++;
		t->calls[call] = (struct vpa_tape_call){.start_ns = row->start_ns,
			.end_ns = row->end_ns,
			.thread = row->thread,
			.name = row->name,
			.klass = row->klass,
			.before = VPA_TAPE_NONE,
			.next = VPA_TAPE_NONE,
			.event = VPA_TAPE_NONE};
		last[row->thread] = call;
		rc = note_id(r, row, call, call_of, cap);
	}
	vpt_free(last);
	return rc;
}

/* Its own process's first; of a stream whose process is not known, any other's. */
static uint32_t find_call(
	const struct reading *r, int64_t pid, uint64_t correlation, const uint32_t *call_of)
{
	uint32_t id =
		correlation ? vpa_index_find(&r->call_ids, (uint64_t)pid, correlation) : UINT32_MAX;
	size_t i;

	for (i = 0; correlation && id == UINT32_MAX && i < r->pid_count; i++)
		if (vpa_tape_may_own(r->pids[i], pid))
			id = vpa_index_find(&r->call_ids, (uint64_t)r->pids[i], correlation);
	return id == UINT32_MAX ? VPA_TAPE_NONE : call_of[id];
}

/* The processes of all threads. */
static int list_pids(struct reading *r)
{
	const struct vpa_tape *t = r->tape;
	size_t i, k;

	for (i = 0; i < t->thread_count; i++) {
		for (k = 0; k < r->pid_count && r->pids[k] != t->threads[i].pid; k++)
			;
		if (k < r->pid_count)
			continue;
		if (vpt_grow(&r->pids, &r->pid_cap, r->pid_count + 1, sizeof(*r->pids)))
			return VPT_ENOMEM;
		r->pids[r->pid_count++] = t->threads[i].pid;
	}
	return VPT_OK;
}

/* Lists each call's ops, by start. */
static int list_launched(struct vpa_tape *t)
{
	uint32_t sum = 0, launches = 0;
	size_t i;

	t->launched = vpt_alloc(t->op_count ? t->op_count : 1, sizeof(*t->launched));
	if (!t->launched)
		return VPT_ENOMEM;
	for (i = 0; i < t->op_count; i++)
		if (t->ops[i].call != VPA_TAPE_NONE)
			t->calls[t->ops[i].call].op_count++;
	for (i = 0; i < t->call_count; i++) {
		t->calls[i].op = sum;
		sum += t->calls[i].op_count;
		t->calls[i].launch = launches;
		launches += t->calls[i].op_count > 0;
		t->calls[i].op_count = 0;
	}
	for (i = 0; i < t->op_count; i++) {
		struct vpa_tape_call *call;

		if (t->ops[i].call == VPA_TAPE_NONE)
			continue;
		call = &t->calls[t->ops[i].call];
		t->launched[call->op + call->op_count++] = (uint32_t)i;
	}
	return VPT_OK;
}

static int join_ops(struct reading *r, const uint32_t *call_of)
{
	struct vpa_tape *t = r->tape;
	size_t i;

	for (i = 0; i < t->op_count; i++) {
		struct vpa_tape_op *op = &t->ops[i];
		uint32_t call =
			find_call(r, t->streams[op->stream].pid, r->correlations[op->row], call_of);

		if (call != VPA_TAPE_NONE && t->calls[call].start_ns > op->start_ns)
			call = VPA_TAPE_NONE;
		op->call = call;
		t->ops_without_call += call == VPA_TAPE_NONE;
	}
	return list_launched(t);
}

/* Of a SYNC or EVENT row, the number of its call instead of its correlation id. */
static void join_syncs(struct reading *r, const uint32_t *call_of)
{
	struct vpa_tape *t = r->tape;
	size_t i;

	for (i = 0; i < t->sync_count; i++) {
		struct vpa_tape_sync *s = &t->syncs[i];
		uint32_t stream = s->waiting != VPA_TAPE_NONE ? s->waiting : s->stream;
		int64_t pid = stream != VPA_TAPE_NONE ? t->streams[stream].pid
			      : t->thread_count       ? t->threads[0].pid
						      : 0;

		s->correlation = find_call(r, pid, s->correlation, call_of);
	}
}

static int by_call(const void *a, const void *b)
{
	const struct vpa_tape_sync *x = a, *y = b;

	return by_number(x->correlation, y->correlation);
}

static int join(struct reading *r)
{
	struct vpa_tape *t = r->tape;
	uint32_t *call_of = NULL;
	size_t cap = 0;
	int rc;

	rc = vpa_sort(r->rows, r->row_count, sizeof(*r->rows), by_call_start);
	if (!rc)
		rc = vpa_sort(t->ops, t->op_count, sizeof(*t->ops), by_op_start);
	if (!rc)
		rc = vpa_sort(t->ranges, t->range_count, sizeof(*t->ranges), by_range_start);
	if (!rc)
		rc = list_pids(r);
	if (!rc)
		rc = join_calls(r, &call_of, &cap);
	if (!rc)
		rc = join_ops(r, call_of);
	if (!rc)
		join_syncs(r, call_of);
	if (!rc)
		rc = vpa_sort(t->syncs, t->sync_count, sizeof(*t->syncs), by_call);
	vpt_free(call_of);
	return rc;
}

int vpa_tape_read(const struct vpt_trace *trace, unsigned jobs, uint64_t most, struct vpa_tape *out,
	struct vpt_err *err)
{
	struct reading r = {.tape = out, .most = most};
	int rc;

	*out = (struct vpa_tape){0};
	/* Name 0 is that of what has none. */
	if (vpt_strings_put(&out->names, "", 0) != 0)
		return vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	rc = read_chunks(&r, trace, jobs, err);
	if (!rc && !(out->op_count && r.row_count))
		rc = vpt_fail(err, VPT_EUNSUPPORTED, "the trace has no %s",
			out->op_count ? "CUDA calls" : "ops");
	if (!rc && join(&r))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	if (!rc)
		out->start_ns = out->calls[0].start_ns < out->ops[0].start_ns
					? out->calls[0].start_ns
					: out->ops[0].start_ns;
	vpt_free(r.rows);
	vpt_free(r.correlations);
	vpt_free(r.lane_of);
	vpt_free(r.pids);
	vpt_free(r.name_of);
	vpt_free(r.known);
	vpt_free(r.class_of);
	vpt_free(r.family_of);
	vpt_free(r.has_family);
	vpa_index_free(&r.lanes);
	vpa_index_free(&r.gpus);
	vpa_index_free(&r.call_ids);
	return rc;
}

void vpa_tape_free(struct vpa_tape *t)
{
	vpt_strings_free(&t->names);
	vpt_free(t->calls);
	vpt_free(t->ops);
	vpt_free(t->launched);
	vpt_free(t->ranges);
	vpt_free(t->threads);
	vpt_free(t->streams);
	vpt_free(t->syncs);
	*t = (struct vpa_tape){0};
}
