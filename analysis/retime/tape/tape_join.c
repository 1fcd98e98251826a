/* tape_join.c - puts the rows in order and joins them. */
#include "analysis/retime/tape/tape_reading.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"
#include "formats/calls.h"

/* ---- order ---- */

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Outer calls before inner ones. */
static int by_call_start(const void *a, const void *b)
{
	const struct vpa_tape_row *x = a, *y = b;
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

int vpa_tape_order(struct vpa_tape_reading *r, int is_last)
{
	struct vpa_tape *t = r->tape;
	int (*order)(struct vpa_ordering * o, void *rows, size_t count) =
		is_last ? vpa_order_all : vpa_order_more;
	int rc;

	r->row_order.size = sizeof(*r->rows);
	r->row_order.compare = by_call_start;
	r->op_order.size = sizeof(*t->ops);
	r->op_order.compare = by_op_start;
	rc = order(&r->row_order, r->rows, r->row_count);
	return rc ? rc : order(&r->op_order, t->ops, t->op_count);
}

/* ---- ids ---- */

/* The call of an id. Ids are given out in order, so a slot for its low bits is most likely its own; where it is not, an index
 * has it. */
struct slot {
	uint64_t correlation; /* 0: free */
	int64_t pid;
	uint32_t call;
};

struct ids {
	const struct vpa_tape *t;
	struct slot *slots;
	size_t mask;
	struct vpa_index others;
	uint32_t *other_call;
	size_t other_cap;
	int64_t *pids; /* of threads, each once */
	size_t pid_count, pid_cap;
};

static int launches(uint8_t klass)
{
	return vpt_call_launches((enum vpt_call_class)klass);
}

/* The call of an id becomes this one: the first one that launches, else the first one. */
static void choose_call(
	const struct ids *ids, const struct vpa_tape_row *row, uint32_t call, uint32_t *chosen)
{
	const struct vpa_tape_call *c = &ids->t->calls[*chosen];

	if (!launches(c->klass) && !c->is_nested_launch && launches(row->klass))
		*chosen = call;
}

static int note_other(struct ids *ids, int64_t pid, const struct vpa_tape_row *row, uint32_t call)
{
	size_t before = ids->others.count;
	uint32_t id = vpa_index_row(&ids->others, (uint64_t)pid, row->correlation, &ids->other_call,
		&ids->other_cap, sizeof(*ids->other_call));

	if (id == UINT32_MAX)
		return VPT_ENOMEM;
	if (ids->others.count > before)
		ids->other_call[id] = call;
	else
		choose_call(ids, row, call, &ids->other_call[id]);
	return VPT_OK;
}

static int note_id(struct ids *ids, const struct vpa_tape_row *row, uint32_t call)
{
	struct slot *s = &ids->slots[row->correlation & ids->mask];
	int64_t pid = ids->t->threads[row->thread].pid;

	if (!row->correlation)
		return VPT_OK;
	if (!s->correlation)
		*s = (struct slot){row->correlation, pid, call};
	else if (s->correlation == row->correlation && s->pid == pid)
		choose_call(ids, row, call, &s->call);
	else
		return note_other(ids, pid, row, call);
	return VPT_OK;
}

/* NONE: there is none. */
static uint32_t find_id(const struct ids *ids, int64_t pid, uint64_t correlation)
{
	const struct slot *s = &ids->slots[correlation & ids->mask];
	uint32_t id;

	if (s->correlation == correlation && s->pid == pid)
		return s->call;
	if (!s->correlation || !ids->others.count)
		return VPA_TAPE_NONE;
	id = vpa_index_find(&ids->others, (uint64_t)pid, correlation);
	return id == UINT32_MAX ? VPA_TAPE_NONE : ids->other_call[id];
}

/* Its own process's first; of a stream whose process is not known, any other's. */
static uint32_t find_call(const struct ids *ids, int64_t pid, uint64_t correlation)
{
	uint32_t call = correlation ? find_id(ids, pid, correlation) : VPA_TAPE_NONE;
	size_t i;

	for (i = 0; correlation && call == VPA_TAPE_NONE && i < ids->pid_count; i++)
		if (vpa_tape_may_own(ids->pids[i], pid))
			call = find_id(ids, ids->pids[i], correlation);
	return call;
}

/* The processes of all threads, by number. */
static int list_pids(struct ids *ids, struct vpa_tape *t)
{
	struct vpa_index numbers = {0};
	uint32_t number;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < t->thread_count && !rc; i++) {
		number = vpa_index_put(&numbers, (uint64_t)t->threads[i].pid, 0);
		if (number == UINT32_MAX ||
			vpt_grow(&ids->pids, &ids->pid_cap, (size_t)number + 1, sizeof(*ids->pids)))
			rc = VPT_ENOMEM;
		else
			ids->pids[number] = t->threads[i].pid;
		t->threads[i].process = number;
	}
	ids->pid_count = numbers.count;
	t->process_count = (uint32_t)numbers.count;
	vpa_index_free(&numbers);
	return rc;
}

static int start_ids(struct ids *ids, struct vpa_tape *t, size_t count)
{
	size_t slots = 1;

	while (slots < count)
		slots *= 2;
	ids->t = t;
	ids->mask = slots - 1;
	ids->slots = vpt_calloc(slots, sizeof(*ids->slots));
	return ids->slots ? list_pids(ids, t) : VPT_ENOMEM;
}

static void end_ids(struct ids *ids)
{
	vpt_free(ids->slots);
	vpt_free(ids->other_call);
	vpt_free(ids->pids);
	vpa_index_free(&ids->others);
}

/* ---- joining ---- */

/* The outermost calls; the ids of inner ones stand for the outer. Of calls that overlap without nesting, which times
 * of little precision give, the earlier is cut. */
static int join_calls(struct vpa_tape_reading *r, struct ids *ids)
{
	struct vpa_tape *t = r->tape;
	uint32_t *last = vpt_alloc(t->thread_count, sizeof(*last)), call;
	size_t i;
	int rc;

	vpt_free(t->calls);
	t->call_count = 0;
	t->calls = vpt_alloc(r->row_count, sizeof(*t->calls));
	rc = last && t->calls ? VPT_OK : VPT_ENOMEM;
	for (i = 0; i < t->thread_count && !rc; i++)
		last[i] = VPA_TAPE_NONE;
	for (i = 0; i < r->row_count && !rc; i++) {
		const struct vpa_tape_row *row = &r->rows[i];
		struct vpa_tape_call *outer =
			last[row->thread] == VPA_TAPE_NONE ? NULL : &t->calls[last[row->thread]];

		call = (uint32_t)t->call_count;
		if (outer && row->start_ns < outer->end_ns && row->end_ns <= outer->end_ns) {
			outer->is_nested_launch |= launches(row->klass) != 0;
			rc = note_id(ids, row, last[row->thread]);
			continue;
		}
		if (outer && outer->end_ns > row->start_ns)
			outer->end_ns = row->start_ns;
		t->calls[call] = (struct vpa_tape_call){.start_ns = row->start_ns,
			.end_ns = row->end_ns,
			.thread = row->thread,
			.name = row->name,
			.klass = row->klass,
			.before = VPA_TAPE_NONE,
			.next = VPA_TAPE_NONE};
		t->call_count++;
		last[row->thread] = call;
		rc = note_id(ids, row, call);
	}
	vpt_free(last);
	return rc;
}

/* Lists each call's ops, by start. */
static int list_launched(struct vpa_tape *t)
{
	uint32_t sum = 0, launches = 0;
	size_t i;

	vpt_free(t->launched);
	t->launched = vpt_alloc(t->op_count ? t->op_count : 1, sizeof(*t->launched));
	if (!t->launched)
		return VPT_ENOMEM;
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

static int join_ops(struct vpa_tape_reading *r, const struct ids *ids)
{
	struct vpa_tape *t = r->tape;
	size_t i;

	t->measured_ops = t->ops_without_call = 0;
	for (i = 0; i < t->op_count; i++) {
		struct vpa_tape_op *op = &t->ops[i];
		uint32_t call =
			find_call(ids, t->streams[op->stream].pid, r->correlations[op->row]);

		if (call != VPA_TAPE_NONE && t->calls[call].start_ns > op->start_ns)
			call = VPA_TAPE_NONE;
		op->call = call;
		if (vpa_tape_counts(t, op->start_ns)) {
			t->measured_ops++;
			t->ops_without_call += call == VPA_TAPE_NONE;
		}
		if (call != VPA_TAPE_NONE)
			t->calls[call].op_count++;
	}
	return list_launched(t);
}

/* Of a SYNC or EVENT row, the number of its call instead of its correlation id. */
static void join_syncs(struct vpa_tape *t, const struct ids *ids)
{
	size_t i;

	for (i = 0; i < t->sync_count; i++) {
		struct vpa_tape_sync *s = &t->syncs[i];
		uint32_t stream = s->waiting != VPA_TAPE_NONE ? s->waiting : s->stream;
		int64_t pid = stream != VPA_TAPE_NONE ? t->streams[stream].pid
			      : t->thread_count       ? t->threads[0].pid
						      : 0;

		s->call = find_call(ids, pid, s->correlation);
	}
}

static int by_call(const void *a, const void *b)
{
	const struct vpa_tape_sync *x = a, *y = b;

	return by_number(x->call, y->call);
}

static int by_sample(const void *a, const void *b)
{
	const struct vpa_tape_sample *x = a, *y = b;
	int order = by_number(x->thread, y->thread);

	return order ? order : by_number(x->ns, y->ns);
}

int vpa_tape_join(struct vpa_tape_reading *r)
{
	struct vpa_tape *t = r->tape;
	struct vpa_ordering ranges = {.size = sizeof(*t->ranges), .compare = by_range_start};
	struct ids ids = {0};
	int rc = start_ids(&ids, t, r->row_count);

	if (!rc)
		rc = join_calls(r, &ids);
	if (!rc)
		rc = join_ops(r, &ids);
	if (!rc)
		join_syncs(t, &ids);
	if (!rc)
		rc = vpa_order_all(&ranges, t->ranges, t->range_count);
	if (!rc)
		rc = vpa_sort(t->syncs, t->sync_count, sizeof(*t->syncs), by_call);
	if (!rc)
		rc = vpa_sort(t->samples, t->sample_count, sizeof(*t->samples), by_sample);
	end_ids(&ids);
	return rc;
}
