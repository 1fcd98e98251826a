/* collect_processes.c - tells the processes of a foreign trace apart: whose is an op, and which call
 * launched it.
 *
 * A correlation id belongs to one session of one process, but merged files repeat ids: ranks count
 * alike, and a profiler can be started twice. So calls and ops of one id are compared in order of time.
 * A call launches one op, unless it launches a graph, and no op begins before its launch:
 *
 *	process 100   call                        call
 *	process 200            call
 *	a GPU               op       op                 op
 *	                    100's    200's: 100's       100's second
 *	                             call has its op    session
 *
 * An op of an unknown process is that process's which alone has a call left for it. The owner of a GPU's
 * lanes whose certain ops are all one process's is that process, which may decide about others, so this
 * is repeated. What cannot be told apart is not guessed: an owner's ops lose their ids, and are left out
 * if they are of several processes. Then each session gets ids of its own.
 *
 * A file of one process and one session, as nearly all are, only pays for a look at each call. The steps share one state
 * that nothing else sees, so this file is long. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/base/run_sort.h"
#include "formats/calls.h"
#include "formats/import/collect/collect_state.h"

#include <string.h>

#define NONE UINT32_MAX

enum {
	PASSES_MAX = 4,
	SESSIONS_MAX = 1024, /* calls of one id; an id of more says nothing */
	VOTES_MAX = 1 << 20  /* owners times processes */
};

#define MIXED (NONE - 1) /* the process of an owner that is several */

struct event {
	uint64_t id, start;
	uint32_t row, process; /* process NONE: unknown */
	uint8_t kind;
	/* of an op */
	uint32_t owner; /* NONE: the process is known, or nothing is */
	uint32_t call;  /* that launched it; NONE: unknown */
	/* of a call */
	uint8_t launches, is_graph, is_taken; /* is_taken: has its op */
	uint32_t below; /* the call before it in its process that has no op yet */
	uint32_t first; /* the call that this one is inside, with the same id; or itself */
	uint64_t end, new_id;
};

struct events {
	struct event *at;
	size_t count, cap;
};

/* The calls of the id at hand, by process. */
struct left {
	uint32_t top, newest; /* the newest call without an op; the newest of all */
	uint32_t calls;
	uint64_t round; /* that set this; of another one it is stale */
};

/* Ops of an owner that share an id. If no process has as many launches with that id, they are of several processes. */
struct excess {
	uint64_t all, beyond; /* ops, and those beyond */
	uint64_t here, round; /* ops with the id of this round */
};

struct joining {
	struct vpt_collect *c;
	int64_t *pids; /* by process */
	size_t process_count, process_cap;
	struct vpt_map by_pid;
	uint32_t *process_of_lane, *process_of_owner;
	struct events calls, ops;
	struct left *left; /* by process */
	uint64_t round;
	uint64_t open, open_sum; /* processes with a call left, and the sum of their numbers */
	uint64_t *votes;         /* by owner and process */
	struct excess *excess;   /* by owner */
	uint64_t last_id;
	unsigned char *hidden; /* by owner: its ops are left out */
};

/* ---- processes ---- */

static uint32_t process_number(struct joining *j, int64_t pid)
{
	uint64_t hash = vpt_hash_number((uint64_t)pid), at = hash;
	uint32_t n;

	if (pid == -1)
		return NONE;
	while ((n = vpt_map_next(&j->by_pid, hash, &at)) != VPT_MAP_NONE)
		if (j->pids[n] == pid)
			return n;
	if (j->process_count >= MIXED ||
		vpt_grow(&j->pids, &j->process_cap, j->process_count + 1, sizeof(*j->pids)) ||
		vpt_map_put(&j->by_pid, hash, (uint32_t)j->process_count)) {
		j->c->failed = VPT_ENOMEM;
		return NONE;
	}
	j->pids[j->process_count] = pid;
	return (uint32_t)j->process_count++;
}

static uint32_t owner_of(const struct joining *j, uint64_t lane)
{
	return lane && lane <= j->c->lane_count ? vpt_collect_owner_of(&j->c->lanes[lane - 1])
						: NONE;
}

static uint32_t process_of(const struct joining *j, uint64_t lane)
{
	return lane <= j->c->lane_count ? j->process_of_lane[lane] : NONE;
}

static int number_processes(struct joining *j)
{
	const struct vpt_collect *c = j->c;
	size_t i;

	j->process_of_lane = vpt_alloc(c->lane_count + 1, sizeof(*j->process_of_lane));
	j->process_of_owner = vpt_alloc(c->owner_count + 1, sizeof(*j->process_of_owner));
	if (!j->process_of_lane || !j->process_of_owner)
		return VPT_ENOMEM;
	for (i = 0; i < c->owner_count; i++)
		j->process_of_owner[i] = process_number(j, c->owners[i]);
	j->process_of_lane[0] = NONE;
	for (i = 1; i <= c->lane_count; i++) {
		uint32_t owner = owner_of(j, i);

		j->process_of_lane[i] = owner != NONE ? j->process_of_owner[owner]
					: c->lanes[i - 1].lane_type == VPT_LANETYPE_SERIES
						? NONE
						: process_number(j, (int64_t)c->lanes[i - 1].pid);
	}
	return c->failed;
}

/* ---- whether there is anything to tell apart ---- */

/* How many processes launch: 0, 1, or 2 for more. */
static int count_launching(const struct joining *j)
{
	uint32_t first = NONE;
	size_t i;

	for (i = 0; i < j->c->kinds[VPT_CALL].count; i++) {
		const uint64_t *row = vpt_collect_row_at(j->c, VPT_CALL, i);
		uint32_t process = process_of(j, row[0]);

		if (process == NONE || process == first || !vpt_collect_is_launch(row))
			continue;
		if (first != NONE)
			return 2;
		first = process;
	}
	return first != NONE;
}

/* Whether an id stands for two launches of one process. */
static int repeats_ids(struct joining *j)
{
	const struct vpt_collect *c = j->c;
	struct vpt_map ids = {0};
	size_t i;
	int again = 0;

	for (i = 0; i < c->kinds[VPT_CALL].count && !again && !j->c->failed; i++) {
		const uint64_t *row = vpt_collect_row_at(c, VPT_CALL, i);
		const uint64_t key[2] = {row[1 + VPT_CALL_CORRELATION], process_of(j, row[0])};
		uint64_t hash = vpt_hash(key, sizeof(key)), at = hash;
		uint32_t n;

		if (!vpt_collect_is_launch(row))
			continue;
		while ((n = vpt_map_next(&ids, hash, &at)) != VPT_MAP_NONE) {
			const uint64_t *other = vpt_collect_row_at(c, VPT_CALL, n);

			again |= other[1 + VPT_CALL_CORRELATION] == key[0] &&
				 process_of(j, other[0]) == key[1];
		}
		if (vpt_map_put(&ids, hash, (uint32_t)i))
			j->c->failed = VPT_ENOMEM;
	}
	vpt_map_free(&ids);
	return again;
}

/* ---- the events ---- */

static unsigned id_column(uint8_t kind)
{
	return kind == VPT_CALL     ? VPT_CALL_CORRELATION
	       : kind == VPT_KERNEL ? VPT_KERNEL_CORRELATION
				    : VPT_COPY_CORRELATION;
}

static int list_events(struct joining *j, struct events *to, uint8_t kind)
{
	const struct vpt_collect *c = j->c;
	size_t i;

	for (i = 0; i < c->kinds[kind].count; i++) {
		const uint64_t *row = vpt_collect_row_at(c, kind, i);
		struct event e = {.id = row[1 + id_column(kind)],
			.start = row[1],
			.end = row[1] + row[2],
			.row = (uint32_t)i,
			.kind = kind,
			.process = process_of(j, row[0]),
			.owner = kind == VPT_CALL ? NONE : owner_of(j, row[0]),
			.call = NONE,
			.below = NONE};

		/* Calls of unknown processes are one process more. */
		if (kind == VPT_CALL && e.process == NONE)
			e.process = (uint32_t)j->process_count;
		if (!e.id && kind == VPT_CALL)
			continue;
		e.launches = kind == VPT_CALL && vpt_collect_is_launch(row);
		e.is_graph = kind == VPT_CALL && vpt_call_class((uint32_t)row[1 + VPT_CALL_ID]) ==
							 VPT_CALL_GRAPH_LAUNCH;
		if (e.id > j->last_id)
			j->last_id = e.id;
		if (vpt_grow(&to->at, &to->cap, to->count + 1, sizeof(*to->at)))
			return VPT_ENOMEM;
		to->at[to->count++] = e;
	}
	return VPT_OK;
}

static int is_event_after(const void *pa, const void *pb, void *unused)
{
	const struct event *a = pa, *b = pb;

	(void)unused;
	if (a->id != b->id)
		return a->id > b->id;
	if (a->start != b->start)
		return a->start > b->start;
	return a->row > b->row;
}

static int sort_events(struct events *all)
{
	return vpt_run_sort(all->at, all->count, sizeof(*all->at), is_event_after, NULL);
}

static size_t end_of_id(const struct events *all, size_t begin, uint64_t id)
{
	while (begin < all->count && all->at[begin].id == id)
		begin++;
	return begin;
}

/* ---- the calls of one id ---- */

static struct left *left_of(struct joining *j, uint32_t process)
{
	struct left *l = &j->left[process];

	if (l->round != j->round)
		*l = (struct left){.top = NONE, .newest = NONE, .round = j->round};
	return l;
}

static void push_call(struct joining *j, size_t i)
{
	struct event *call = &j->calls.at[i];
	struct left *l = left_of(j, call->process);

	call->first = (uint32_t)i;
	if (l->newest != NONE && call->start < j->calls.at[l->newest].end) {
		call->first = l->newest;
		return;
	}
	if (l->top == NONE) {
		j->open++;
		j->open_sum += call->process;
	}
	call->below = l->top;
	l->top = l->newest = (uint32_t)i;
}

/* The newest call of a process that has no op yet. If each has one, the newest put several. */
static uint32_t take_call(struct joining *j, uint32_t process)
{
	struct left *l = left_of(j, process);
	uint32_t i = l->top;

	if (i == NONE || j->calls.at[i].is_graph)
		return i == NONE ? l->newest : i;
	j->calls.at[i].is_taken = 1;
	l->top = j->calls.at[i].below;
	if (l->top == NONE) {
		j->open--;
		j->open_sum -= process;
	}
	return i;
}

/* The process of an op as far as is known before looking at calls. */
static uint32_t process_of_op(const struct joining *j, const struct event *op)
{
	uint32_t process = op->owner == NONE ? op->process : j->process_of_owner[op->owner];

	return process == MIXED ? NONE : process;
}

/* The only process whose calls launch; NONE: there are several, or there is none. */
static uint32_t alone_with(const struct joining *j, size_t begin, size_t end)
{
	uint32_t alone = NONE;

	for (; begin < end; begin++) {
		const struct event *call = &j->calls.at[begin];

		if (call->launches && alone != NONE && call->process != alone)
			return NONE;
		alone = call->launches ? call->process : alone;
	}
	return alone;
}

static size_t push_until(struct joining *j, size_t i, size_t end, uint64_t until)
{
	for (; i < end && j->calls.at[i].start <= until; i++)
		if (j->calls.at[i].launches && !j->calls.at[i].is_taken)
			push_call(j, i);
	return i;
}

/* On clocks that disagree an op begins before its launch. */
static uint32_t first_launch(const struct joining *j, size_t begin, size_t end)
{
	while (begin < end && !j->calls.at[begin].launches)
		begin++;
	return begin < end ? (uint32_t)begin : NONE;
}

/* The calls [c, c_end) and ops [o, o_end) of one id. */
struct same_id {
	size_t c, c_end, o, o_end;
	uint32_t alone; /* see alone_with() */
};

/* Joins the ops whose process is known, or else those whose is not, with calls that have no op yet. */
static void join_ops(struct joining *j, const struct same_id *s, int are_known)
{
	size_t i = s->c, o;

	j->round++;
	j->open = j->open_sum = 0;
	for (o = s->o; o < s->o_end; o++) {
		struct event *op = &j->ops.at[o];
		uint32_t process = process_of_op(j, op);

		process = process == NONE ? s->alone : process;
		if ((process != NONE) != are_known)
			continue;
		i = push_until(j, i, s->c_end, op->start);
		if (process == NONE && j->open == 1)
			process = (uint32_t)j->open_sum;
		op->call = process == NONE ? NONE : take_call(j, process);
		if (op->call == NONE && process != NONE && process == s->alone)
			op->call = first_launch(j, s->c, s->c_end);
	}
}

/* Counts the ops of each owner that are more than the launches of any process. */
static void count_excess(struct joining *j, const struct same_id *s)
{
	uint64_t most = 0;
	size_t i;

	j->round++;
	for (i = s->c; i < s->c_end; i++) {
		const struct event *call = &j->calls.at[i];
		uint32_t calls = call->launches ? ++left_of(j, call->process)->calls : 0;

		most = call->is_graph ? UINT64_MAX : calls > most ? calls : most;
	}
	for (i = s->o; i < s->o_end && most; i++) {
		struct excess *x =
			j->ops.at[i].owner == NONE ? NULL : &j->excess[j->ops.at[i].owner];

		if (!x)
			continue;
		x->here = x->round == j->round ? x->here + 1 : 1;
		x->round = j->round;
		x->all++;
		x->beyond += x->here > most;
	}
}

static void join_id(struct joining *j, struct same_id s)
{
	size_t i;

	for (i = s.c; i < s.c_end; i++)
		j->calls.at[i].is_taken = 0;
	s.alone = alone_with(j, s.c, s.c_end);
	count_excess(j, &s);
	join_ops(j, &s, 1);
	if (s.alone == NONE)
		join_ops(j, &s, 0);
}

static void join_all(struct joining *j)
{
	size_t c = 0, o = 0, c_end, o_end;

	memset(j->excess, 0, (j->c->owner_count + 1) * sizeof(*j->excess));
	for (; o < j->ops.count; o = o_end) {
		uint64_t id = j->ops.at[o].id;

		while (c < j->calls.count && j->calls.at[c].id < id)
			c++;
		c_end = end_of_id(&j->calls, c, id);
		o_end = end_of_id(&j->ops, o, id);
		if (c_end - c <= SESSIONS_MAX)
			join_id(j, (struct same_id){c, c_end, o, o_end, NONE});
		c = c_end;
	}
}

/* ---- owners ---- */

/* The process that nearly all of an owner's certain ops are of: a call that was not recorded makes others
 * look certain. */
static uint32_t elect(const struct joining *j, size_t owner)
{
	const uint64_t *votes = j->votes + owner * (j->process_count + 1);
	const struct excess *x = &j->excess[owner];
	uint64_t total = 0;
	uint32_t best = 0, p;

	if (x->beyond > x->all / 10)
		return MIXED;

	for (p = 0; p <= j->process_count; p++) {
		total += votes[p];
		if (votes[p] > votes[best])
			best = p;
	}
	if (!total)
		return NONE;
	return votes[best] >= total - total / 10 && best < j->process_count ? best : MIXED;
}

/* Returns whether an owner's process became known. */
static int elect_all(struct joining *j)
{
	size_t owners = j->c->owner_count, i;
	int changed = 0;

	memset(j->votes, 0, owners * (j->process_count + 1) * sizeof(*j->votes));
	for (i = 0; i < j->ops.count; i++) {
		const struct event *op = &j->ops.at[i];

		if (op->owner != NONE && op->call != NONE)
			j->votes[op->owner * (j->process_count + 1) +
				 j->calls.at[op->call].process]++;
	}
	for (i = 0; i < owners; i++) {
		uint32_t before = j->process_of_owner[i];

		if (before == NONE || before == MIXED)
			j->process_of_owner[i] = elect(j, i);
		changed |= j->process_of_owner[i] != before;
	}
	return changed;
}

static int find_owners(struct joining *j)
{
	size_t owners = j->c->owner_count;
	unsigned pass;

	if (owners && j->process_count + 1 > VOTES_MAX / owners)
		return VPT_OK;
	j->votes = vpt_alloc(owners * (j->process_count + 1) + 1, sizeof(*j->votes));
	if (!j->votes)
		return VPT_ENOMEM;
	for (pass = 0; pass < PASSES_MAX && elect_all(j); pass++)
		join_all(j);
	return VPT_OK;
}

/* ---- the result ---- */

static uint64_t *row_of(const struct joining *j, const struct event *e)
{
	return j->c->kinds[e->kind].values +
	       e->row * (1 + (size_t)vpt_kind_desc(e->kind)->n_columns);
}

/* Gives each launch of a process after the first with its id one of its own. */
static void number_sessions(struct joining *j)
{
	size_t i, end;

	for (i = 0; i < j->calls.count; i = end) {
		size_t k;

		end = end_of_id(&j->calls, i, j->calls.at[i].id);
		if (end - i > SESSIONS_MAX)
			continue;
		j->round++;
		for (k = i; k < end; k++)
			push_call(j, k);
		j->round++;
		for (k = i; k < end; k++) {
			struct event *call = &j->calls.at[k];
			struct left *l = left_of(j, call->process);

			if (call->first != k)
				call->new_id = j->calls.at[call->first].new_id;
			else if (l->newest != NONE)
				call->new_id = ++j->last_id;
			l->newest = (uint32_t)k;
		}
	}
}

/* The call with this id that began last until `at`, in this process or, if that is unknown, any. */
static const struct event *call_at(
	const struct joining *j, uint64_t id, uint64_t at, uint32_t process)
{
	enum { LOOK_BACK = 64 };
	size_t low = 0, high = j->calls.count, k;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct event *e = &j->calls.at[middle];

		if (e->id < id || (e->id == id && e->start <= at))
			low = middle + 1;
		else
			high = middle;
	}
	for (k = 0; k < LOOK_BACK && low-- > 0 && j->calls.at[low].id == id; k++)
		if (process == NONE || j->calls.at[low].process == process)
			return &j->calls.at[low];
	return NULL;
}

/* Renumbers rows of a kind that name a call. */
static void renumber(struct joining *j, uint8_t kind, unsigned column)
{
	const struct vpt_collect_rows *rows = &j->c->kinds[kind];
	size_t width = 1 + (size_t)vpt_kind_desc(kind)->n_columns, i;

	for (i = 0; i < rows->count; i++) {
		uint64_t *row = rows->values + i * width;
		const struct event *call =
			row[1 + column] ? call_at(j, row[1 + column], row[1], process_of(j, row[0]))
					: NULL;

		if (call && call->new_id)
			row[1 + column] = call->new_id;
	}
}

static void renumber_all(struct joining *j)
{
	size_t i;

	number_sessions(j);
	for (i = 0; i < j->calls.count; i++)
		if (j->calls.at[i].new_id)
			row_of(j, &j->calls.at[i])[1 + VPT_CALL_CORRELATION] =
				j->calls.at[i].new_id;
	for (i = 0; i < j->ops.count; i++) {
		const struct event *op = &j->ops.at[i];
		const struct event *call = op->call == NONE ? NULL : &j->calls.at[op->call];

		if (call && call->new_id)
			row_of(j, op)[1 + id_column(op->kind)] = call->new_id;
	}
	renumber(j, VPT_SYNC, VPT_SYNC_CORRELATION);
	renumber(j, VPT_EVENT, VPT_EVENT_CORRELATION);
	renumber(j, VPT_OVERHEAD, VPT_OVERHEAD_CORRELATION);
	renumber(j, VPT_MEMORY, VPT_MEMORY_CORRELATION);
}

/* Moves an op of an owner that is several processes to its process's own lane. */
static void move_op(struct joining *j, const struct event *op)
{
	uint64_t *row = row_of(j, op);
	struct vpt_lane lane = j->c->lanes[row[0] - 1];
	uint32_t process = j->calls.at[op->call].process;

	row[0] = vpt_collect_stream(
		j->c, j->pids[process], (int64_t)lane.device, lane.context, (int64_t)lane.stream);
}

/* An op whose process stays unknown: its id would find another process's call. */
static void settle_op(struct joining *j, const struct event *op)
{
	uint32_t owner = op->owner, known = op->call == NONE ? NONE : j->calls.at[op->call].process;

	if (owner == NONE || process_of_op(j, op) != NONE)
		return;
	if (known < j->process_count && !j->hidden[owner]) {
		move_op(j, op);
		return;
	}
	j->c->doubts.unclear_ops += !j->hidden[owner];
	row_of(j, op)[1 + id_column(op->kind)] = 0;
}

/* Removes the ops of hidden owners. */
static void leave_out(struct joining *j, uint8_t kind)
{
	struct vpt_collect_rows *rows = &j->c->kinds[kind];
	size_t width = 1 + (size_t)vpt_kind_desc(kind)->n_columns, i, kept = 0;

	for (i = 0; i < rows->count; i++) {
		const uint64_t *row = rows->values + i * width;
		uint32_t owner = owner_of(j, row[0]);

		if (owner != NONE && j->hidden[owner]) {
			j->c->doubts.mixed_ops++;
			continue;
		}
		memmove(rows->values + kept++ * width, row, width * sizeof(*row));
	}
	rows->count = kept;
}

static void settle(struct joining *j)
{
	size_t i;

	for (i = 0; i < j->ops.count; i++) {
		const struct event *op = &j->ops.at[i];

		if (op->owner != NONE && j->process_of_owner[op->owner] == MIXED)
			j->hidden[op->owner] |= op->call == NONE;
	}
	for (i = 0; i < j->ops.count; i++)
		settle_op(j, &j->ops.at[i]);
	leave_out(j, VPT_KERNEL);
	leave_out(j, VPT_COPY);
	for (i = 0; i < j->c->owner_count; i++)
		if (j->process_of_owner[i] < MIXED)
			j->c->owners[i] = j->pids[j->process_of_owner[i]];
}

static int tell_apart(struct joining *j, int several)
{
	int rc = list_events(j, &j->calls, VPT_CALL);

	if (!rc)
		rc = list_events(j, &j->ops, VPT_KERNEL);
	if (!rc)
		rc = list_events(j, &j->ops, VPT_COPY);
	j->left = vpt_calloc(j->process_count + 1, sizeof(*j->left));
	j->hidden = vpt_calloc(j->c->owner_count + 1, 1);
	j->excess = vpt_alloc(j->c->owner_count + 1, sizeof(*j->excess));
	if (rc || !j->left || !j->hidden || !j->excess)
		return VPT_ENOMEM;
	if (sort_events(&j->calls) || sort_events(&j->ops))
		return VPT_ENOMEM;
	join_all(j);
	if (several)
		rc = find_owners(j);
	if (rc)
		return rc;
	renumber_all(j);
	if (several)
		settle(j);
	return j->c->failed;
}

int vpt_collect_tell_apart(struct vpt_collect *c)
{
	struct joining j = {.c = c};
	int rc = number_processes(&j);

	if (!rc) {
		c->launching = count_launching(&j);
		if (c->launching > 1 || repeats_ids(&j))
			rc = tell_apart(&j, c->launching > 1);
	}
	vpt_free(j.pids);
	vpt_map_free(&j.by_pid);
	vpt_free(j.process_of_lane);
	vpt_free(j.process_of_owner);
	vpt_free(j.calls.at);
	vpt_free(j.ops.at);
	vpt_free(j.left);
	vpt_free(j.votes);
	vpt_free(j.hidden);
	vpt_free(j.excess);
	return rc ? rc : c->failed;
}
