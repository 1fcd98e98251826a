/* fold_ranges.c - NVTX ranges on the GPU.
 *
 * An op belongs to every range that was open on its launching thread when its launch began, and to the
 * process-wide ones; never by overlap in time, since the host runs ahead. For an instance on a device
 *
 *	envelope = first start ... last end of its ops = busy + foreign + idle
 *
 * busy being the union of its own ops, idle the time in which the device ran nothing, and foreign the rest:
 * covered by others' ops only. Ops come in order of start, so busy is a moving edge, and idle is the device's
 * idle time so far at the newest op less that at the first. */
#include "analysis/fold.h"

#include "analysis/index.h"
#include "analysis/spread.h"
#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t unmatched, ops, launches, envelope_ns, busy_ns, foreign_ns, idle_ns;
	struct vpa_spread_builder host, lag, gpu;
};

enum { RECENT = 64 };

struct state {
	struct vpa_index index; /* (name, domain) */
	struct recent {
		uint32_t name, domain;
		uint32_t row; /* 1 + row; 0: empty */
	} recent[RECENT];     /* rows by some bits of their key */
	struct row *rows;
	size_t row_cap;
	uint64_t *busy_until; /* by device */
	size_t device_cap;
};

VPA_RARE static int make_room(struct state *s, size_t devices)
{
	size_t before = s->device_cap;

	if (vpt_grow(&s->busy_until, &s->device_cap, devices, sizeof(*s->busy_until)))
		return VPT_ENOMEM;
	memset(s->busy_until + before, 0, (s->device_cap - before) * sizeof(*s->busy_until));
	return VPT_OK;
}

static struct vpa_projection *projection_on(struct vpa_range *range, uint32_t device)
{
	struct vpa_projection *p = &range->gpu;

	if (p->device == VPA_NONE)
		p->device = device;
	for (; p->device != device; p = p->next)
		if (!p->next) {
			p->next = vpt_calloc(1, sizeof(*p));
			if (!p->next)
				return NULL;
			p->next->device = device;
		}
	return p;
}

/* Consecutive ops of one device and one innermost range do the same to every range around them, so they are
 * added up first. That holds as long as the run does not begin under earlier ops, which may be of some of these
 * ranges and not of others. */
struct run {
	struct vpa_range *range;
	uint64_t at_ns, until_ns; /* launches in [at, until) find the same ranges open */
	uint64_t first_ns, last_ns, busy_ns, idle_first_ns, idle_last_ns, ops, launches;
	uint32_t device;
};

static void extend(struct run *run, const struct vpa_op *op)
{
	uint64_t from = op->start_ns > run->last_ns ? op->start_ns : run->last_ns;

	if (op->end_ns > from) {
		run->busy_ns += op->end_ns - from;
		run->last_ns = op->end_ns;
	}
	run->idle_last_ns = op->device_idle_ns;
	run->ops++;
	run->launches += op->first_of_launch;
}

static void begin_run(struct run *run, struct vpa_range *range, const struct vpa_op *op)
{
	*run = (struct run){.range = range,
		.at_ns = op->launch->start_ns,
		.device = op->device,
		.until_ns = UINT64_MAX,
		.first_ns = op->start_ns,
		.last_ns = op->start_ns,
		.idle_first_ns = op->device_idle_ns};
	for (; range; range = range->parent)
		if (range->end_ns > run->at_ns && range->end_ns < run->until_ns)
			run->until_ns = range->end_ns;
	extend(run, op);
}

/* A run of one op may begin under earlier ops: what of it is new differs from range to range. */
static int project(struct vpa_range *range, const struct run *run)
{
	struct vpa_projection *p = projection_on(range, run->device);

	if (!p)
		return VPT_ENOMEM;
	if (!p->ops) {
		p->first_ns = p->last_ns = run->first_ns;
		p->idle_first_ns = run->idle_first_ns;
	}
	if (p->last_ns <= run->first_ns)
		p->busy_ns += run->busy_ns;
	else if (run->last_ns > p->last_ns)
		p->busy_ns += run->last_ns - p->last_ns;
	if (run->last_ns > p->last_ns)
		p->last_ns = run->last_ns;
	p->idle_last_ns = run->idle_last_ns;
	p->ops += run->ops;
	range->launches += run->launches;
	return VPT_OK;
}

static int end_run(struct run *run)
{
	struct vpa_range *range = run->range;
	int rc = VPT_OK;

	for (; range && !rc; range = range->parent)
		if (range->end_ns > run->at_ns)
			rc = project(range, run);
	run->range = NULL;
	return rc;
}

/* Whether an op may join the run: same range and device, everything open then is open still. */
static inline int continues(
	const struct run *run, const struct vpa_range *range, const struct vpa_op *op)
{
	return run->range == range && run->device == op->device &&
	       op->launch->start_ns >= run->at_ns && op->launch->start_ns < run->until_ns;
}

/* Adds an op to the run, or ends that and begins the next, if the op has a range. */
VPA_RARE static int turn(
	struct run *run, struct vpa_range *range, const struct vpa_op *op, uint64_t busy_until)
{
	int rc;

	if (range && continues(run, range, op) && run->last_ns >= busy_until) {
		extend(run, op);
		return VPT_OK;
	}
	rc = run->range ? end_run(run) : VPT_OK;
	if (!range || rc)
		return rc;
	begin_run(run, range, op);
	return op->start_ns < busy_until ? end_run(run) : VPT_OK;
}

/* Adds the ops from `at` on that continue the run and have no other range; returns where they end. A run that goes
 * on ends later than everything else on its device so far, so its end is how far the device is busy. */
static size_t follow(struct run *run, struct vpa_op *ops, size_t at, size_t count)
{
	uint64_t last = run->last_ns, busy = 0, launches = 0;
	size_t begin = at;

	for (; at < count; at++) {
		const struct vpa_op *op = &ops[at];

		if (!op->range || !continues(run, op->range, op) || op->process_range)
			break;
		if (op->end_ns > last) {
			busy += op->end_ns - (op->start_ns > last ? op->start_ns : last);
			last = op->end_ns;
		}
		launches += op->first_of_launch;
	}
	if (at == begin)
		return at;
	run->last_ns = last;
	run->busy_ns += busy;
	run->launches += launches;
	run->ops += at - begin;
	run->idle_last_ns = ops[at - 1].device_idle_ns;
	return at;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, struct vpa_op *ops, size_t count)
{
	struct state *s = state;
	struct run own = {0}, wide = {0};
	size_t i = 0;
	int rc = VPT_OK;

	if (make_room(s, c->model->device_count))
		return VPT_ENOMEM;
	while (i < count && !rc) {
		const struct vpa_op *op = &ops[i++];
		uint64_t *until = &s->busy_until[op->device];

		rc = turn(&own, op->range, op, *until);
		if (!rc && (op->process_range || wide.range))
			rc = turn(&wide, op->process_range, op, *until);
		if (op->end_ns > *until)
			*until = op->end_ns;
		if (own.range && !wide.range && own.last_ns >= *until) {
			i = follow(&own, ops, i, count);
			*until = own.last_ns;
		}
	}
	if (!rc && own.range)
		rc = end_run(&own);
	return !rc && wide.range ? end_run(&wide) : rc;
}

VPA_RARE static struct row *find_row(
	struct state *s, const struct vpa_range *range, struct recent *recent)
{
	size_t before = s->row_cap;
	uint32_t row = vpa_index_put(&s->index, range->name, range->domain);

	if (row == UINT32_MAX || vpt_grow(&s->rows, &s->row_cap, (size_t)row + 1, sizeof(*s->rows)))
		return NULL;
	if (s->row_cap > before)
		memset(s->rows + before, 0, (s->row_cap - before) * sizeof(*s->rows));
	*recent = (struct recent){range->name, range->domain, row + 1};
	return &s->rows[row];
}

static struct row *row_of(struct state *s, const struct vpa_range *range)
{
	struct recent *recent = &s->recent[(range->name + range->domain) % RECENT];

	if (recent->row && recent->name == range->name && recent->domain == range->domain)
		return &s->rows[recent->row - 1];
	return find_row(s, range, recent);
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct row *row = row_of(state, range);
	const struct vpa_projection *p;
	uint64_t first = UINT64_MAX;

	(void)c;
	if (!row || vpa_spread_add(&row->host, range->end_ns - range->start_ns))
		return VPT_ENOMEM;
	row->unmatched += range->unmatched;
	row->launches += range->launches;
	for (p = &range->gpu; p && p->ops; p = p->next) {
		uint64_t envelope = p->last_ns - p->first_ns,
			 idle = p->idle_last_ns - p->idle_first_ns;

		row->ops += p->ops;
		row->envelope_ns += envelope;
		row->busy_ns += p->busy_ns;
		row->idle_ns += idle;
		row->foreign_ns += envelope - idle - p->busy_ns;
		if (p->first_ns < first)
			first = p->first_ns;
		if (vpa_spread_add(&row->gpu, envelope))
			return VPT_ENOMEM;
	}
	if (first != UINT64_MAX && first >= range->start_ns)
		return vpa_spread_add(&row->lag, first - range->start_ns);
	return VPT_OK;
}

/* Domains apart, NVTX's own before imported operators; in each by time on the host, falling. */
static int compare_ranges(const void *pa, const void *pb)
{
	const struct vpa_range_row *a = pa, *b = pb;
	int a_op = !strcmp(a->domain, "cpu_op"), b_op = !strcmp(b->domain, "cpu_op"), order;

	if (a_op != b_op)
		return a_op - b_op;
	if (a->host.total_ns != b->host.total_ns)
		return a->host.total_ns > b->host.total_ns ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->domain, b->domain);
}

/* At most `top` rows of imported operators, and of the others. */
static size_t keep_top(struct vpa_range_row *rows, size_t count, size_t top)
{
	size_t kept = 0, seen[2] = {0, 0}, i;

	for (i = 0; i < count; i++)
		if (seen[!strcmp(rows[i].domain, "cpu_op")]++ < top)
			rows[kept++] = rows[i];
	return kept;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	out->ranges = vpa_arena_alloc(&out->arena, s->index.count, sizeof(*out->ranges));
	if (!out->ranges)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		struct row *r = &s->rows[i];
		const char *name = vpa_fold_name(out, c->model, (uint32_t)s->index.entries[i].a);
		const char *domain = vpa_fold_name(out, c->model, (uint32_t)s->index.entries[i].b);

		out->ranges[i] = (struct vpa_range_row){.name = name ? name : "(no name)",
			.domain = domain ? domain : "",
			.unmatched = r->unmatched,
			.host = vpa_spread_of(&r->host),
			.ops = r->ops,
			.launches = r->launches,
			.envelope_ns = r->envelope_ns,
			.busy_ns = r->busy_ns,
			.foreign_ns = r->foreign_ns,
			.idle_ns = r->idle_ns,
			.lag = vpa_spread_of(&r->lag),
			.gpu = vpa_spread_of(&r->gpu)};
	}
	out->range_names = s->index.count;
	qsort(out->ranges, s->index.count, sizeof(*out->ranges), compare_ranges);
	out->range_count = keep_top(out->ranges, s->index.count, c->top);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->row_cap; i++) {
		vpa_spread_free(&s->rows[i].host);
		vpa_spread_free(&s->rows[i].lag);
		vpa_spread_free(&s->rows[i].gpu);
	}
	vpa_index_free(&s->index);
	vpt_free(s->rows);
	vpt_free(s->busy_until);
}

const struct vpa_fold vpa_fold_ranges = {
	.name = "ranges",
	.help = "NVTX ranges: time on the host, and what their work did on the GPU",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.range = fold_range,
	.finish = finish,
	.free = free_state,
};
