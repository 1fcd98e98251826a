/* range_times.c - NVTX ranges on the GPU.
 *
 * An op belongs to every range open on its launching thread when its launch began, and to the
 * process-wide ones; never by overlap in time, since the host runs ahead. For an instance on a device
 *
 *	envelope = first start ... last end of its ops = busy + foreign + idle
 *
 * where busy is the union of its own ops, idle the time when the device ran nothing, and foreign the
 * rest, covered only by other ops. Ops come in order of start, so busy is a moving edge, and idle is
 * the device's idle time up to the newest op less that up to the first. Pauses belong to none of them,
 * nor to the envelope. An instance that began inside another one of its name is a part of that one. */
#include "analysis/folds/range_series.h"

#include "analysis/base/durations.h"
#include "analysis/base/index.h"
#include "analysis/base/intervals.h"
#include "analysis/folds/compiled.h"
#include "analysis/idle/idle_clock.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/projection.h"
#include "formats/base/memory.h"
#include "formats/domains.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t nested, unmatched, ops, launches, envelope_ns, busy_ns, foreign_ns, idle_ns,
		idle_host_ns;
	struct vpa_durations_builder host, lag, gpu;
	struct vpa_timed_instance *instances;
	size_t instance_count, instance_cap;
	int like_operator; /* see struct vpa_range */
	int has_meaning;   /* its name is one of the pipeline's, or of a user's rule */
	int tells_idle;    /* idle_host_ns is shown, or a finding may tell of it */
};

enum { RECENT = 64, DEVICES = 64 };

struct state {
	struct vpa_index index; /* (name, domain) */
	struct recent {
		uint32_t name, domain;
		uint32_t row; /* 1 + row; 0: empty */
	} recent[RECENT];     /* rows by some bits of their key */
	struct row *rows;
	size_t row_cap;
	size_t instances;                      /* of all rows */
	struct vpa_idle_clock clocks[DEVICES]; /* of the first devices */
	/* Processes at work on a device, in order of their first op there. */
	struct user {
		uint64_t first_ns;
		int64_t pid;
		uint32_t device;
	} * users;
	size_t user_count, user_cap;
	uint64_t idle_before_ns; /* in iterations, before their first op on each device */
	uint8_t *seen;           /* by stream: its user is known */
	size_t seen_cap;
};

/* Ops of one run with the same ranges around their launches change each range alike, so they are added
 * up first. */
struct share {
	struct vpa_share gpu;
	uint64_t launch_ns; /* when these ranges were open */
	uint64_t launches;
};

static inline int project(struct vpa_range *range, const struct share *share)
{
	range->launches += share->launches;
	return vpa_project(&range->gpu, &share->gpu);
}

static int project_all(struct vpa_range *range, const struct share *share)
{
	int rc = VPT_OK;

	range = vpa_range_open_at(range, share->launch_ns);
	for (; range && !rc; range = vpa_range_around(range, share->launch_ns))
		rc = project(range, share);
	return rc;
}

/* The first op after `begin` whose launch may lie in other ranges; `end`: there is none. Within a stretch these change only
 * where a range ends, which happens if ranges overlap without nesting. */
static size_t same_until(
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin, size_t end)
{
	struct vpa_range *heads[2] = {stretch->range, stretch->process_range}, *range;
	uint64_t at = ops->launch_start_ns[begin], until_ns = stretch->until_ns;
	int k, torn = 0;
	size_t i;

	for (k = 0; k < 2; k++)
		for (range = vpa_range_open_at(heads[k], stretch->from_ns); range;
			range = vpa_range_around(range, stretch->from_ns))
			if (range->end_ns < stretch->until_ns) {
				torn = 1;
				if (range->end_ns > at && range->end_ns < until_ns)
					until_ns = range->end_ns;
			}
	if (!torn)
		return end;
	for (i = begin + 1;
		i < end && ops->launch_start_ns[i] >= at && ops->launch_start_ns[i] < until_ns; i++)
		;
	return i;
}

/* Adds up ops of one run with the same ranges. */
static inline void gather(const struct vpa_ops *ops, size_t begin, size_t end, struct share *share)
{
	uint64_t launches = end - begin;
	size_t i;

	for (i = begin; !ops->all_first && i < end; i++)
		launches -= !ops->first_of_launch[i];
	vpa_share_of(ops, begin, end, &share->gpu);
	share->launch_ns = ops->launch_start_ns[begin];
	share->launches = launches;
}

/* Pending sums for a range and those around it: neighbouring stretches of a run mostly differ only in
 * the innermost range. */
struct pending {
	struct vpa_range *range;    /* NULL: nothing is pending */
	uint64_t from_ns, until_ns; /* the same ranges are open for launches in [from, until) */
	struct share share;
};

static int flush(struct pending *p)
{
	struct vpa_range *range = p->range;

	p->range = NULL;
	return range ? project_all(range, &p->share) : VPT_OK;
}

/* Adds the ops that follow those of `share`. */
static inline void extend(struct share *share, const struct share *more)
{
	struct vpa_share *gpu = &share->gpu;

	gpu->last_ns = more->gpu.last_ns;
	gpu->idle_last_ns = more->gpu.idle_last_ns;
	gpu->busy_ns = gpu->last_ns - gpu->first_ns - (gpu->idle_last_ns - gpu->idle_first_ns);
	gpu->ops += more->gpu.ops;
	share->launches += more->launches;
}

/* Adds ops of one run and one stretch, in the general case. */
VPA_RARE static int add_any(
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin, size_t end)
{
	struct share share;
	size_t i = begin, next;
	int rc = VPT_OK;

	for (; i < end && !rc; i = next) {
		next = same_until(ops, stretch, i, end);
		gather(ops, i, next, &share);
		rc = project_all(stretch->range, &share);
		if (!rc)
			rc = project_all(stretch->process_range, &share);
	}
	return rc;
}

/* Begins pending sums for the ranges around the stretch's innermost one. Returns 0 if a range ends
 * inside the stretch, so that not all its ops have the same ranges. */
static int begin_pending(struct pending *p, const struct vpa_op_stretch *stretch)
{
	struct vpa_range *range;

	p->from_ns = stretch->from_ns;
	p->until_ns = UINT64_MAX;
	for (range = vpa_range_around(stretch->range, stretch->from_ns); range;
		range = vpa_range_around(range, stretch->from_ns))
		if (range->end_ns < p->until_ns)
			p->until_ns = range->end_ns;
	p->range = p->until_ns < stretch->until_ns ? NULL : stretch->range->parent;
	return p->until_ns >= stretch->until_ns;
}

/* Adds ops of one run and one stretch. */
static int add_stretch(struct pending *p, const struct vpa_ops *ops,
	const struct vpa_op_stretch *stretch, size_t begin, size_t end)
{
	struct vpa_range *own = stretch->range;
	struct share share;
	int plain = own && !stretch->process_range && own->end_ns >= stretch->until_ns;

	gather(ops, begin, end, &share);
	if (plain && p->range && (own == p->range || own->parent == p->range) &&
		stretch->from_ns >= p->from_ns && stretch->until_ns <= p->until_ns) {
		extend(&p->share, &share);
		return own == p->range ? VPT_OK : project(own, &share);
	}
	if (flush(p))
		return VPT_ENOMEM;
	if (!plain || !begin_pending(p, stretch))
		return add_any(ops, stretch, begin, end);
	p->share = share;
	return project(own, &share);
}

/* Notes the first op of a stream. */
VPA_RARE static int note_user(struct state *s, const struct vpa_model *m, uint32_t stream,
	uint32_t device, uint64_t start_ns)
{
	size_t i;
	int64_t pid = m->streams[stream].pid;

	if (vpt_grow_zeroed(&s->seen, &s->seen_cap, (size_t)stream + 1, 1))
		return VPT_ENOMEM;
	s->seen[stream] = 1;
	if (device >= DEVICES)
		return VPT_OK;
	for (i = 0; i < s->user_count; i++)
		if (s->users[i].pid == pid && s->users[i].device == device)
			return VPT_OK;
	if (vpt_grow(&s->users, &s->user_cap, s->user_count + 1, sizeof(*s->users)))
		return VPT_ENOMEM;
	s->users[s->user_count++] = (struct user){start_ns, pid, device};
	return VPT_OK;
}

/* Adds a batch to the devices' clocks, runs of one device at once. */
static int note_ops(struct state *s, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	size_t r = 0, begin, end;
	int rc = VPT_OK;

	while (r < ops->run_count && !rc) {
		uint32_t device = ops->device[ops->runs[r].begin];

		begin = ops->runs[r].begin;
		do {
			uint32_t stream = ops->stream[ops->runs[r].begin];

			end = ops->runs[r].end;
			if (stream >= s->seen_cap || !s->seen[stream])
				rc = note_user(s, c->model, stream, device,
					ops->start_ns[ops->runs[r].begin]);
			r++;
		} while (!rc && r < ops->run_count && ops->device[ops->runs[r].begin] == device);
		if (!rc && device < DEVICES)
			rc = vpa_idle_clock_add(&s->clocks[device], ops, begin, end);
	}
	return rc;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t r, i, end, k = 0;
	int rc = note_ops(s, c, ops);

	for (r = 0; r < ops->run_count && !rc; r++) {
		const struct vpa_op_run *run = &ops->runs[r];
		struct pending p = {.range = NULL};

		for (i = run->begin; i < run->end && !rc; i = end) {
			const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);

			end = stretch->end < run->end ? stretch->end : run->end;
			rc = add_stretch(&p, ops, stretch, i, end);
		}
		if (!rc)
			rc = flush(&p);
	}
	return rc;
}

static int is_imported(const struct vpa_model *m, uint32_t domain)
{
	return vpt_domain_is(vpa_name(m, domain), VPT_DOMAIN_OPERATORS);
}

VPA_RARE static struct row *find_row(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_range *range, struct recent *recent)
{
	uint8_t only_sums = (uint8_t)c->options->only_screen;
	uint32_t row = vpa_index_row(
		&s->index, range->name, range->domain, &s->rows, &s->row_cap, sizeof(*s->rows));

	if (row == UINT32_MAX)
		return NULL;
	*recent = (struct recent){range->name, range->domain, row + 1};
	s->rows[row].like_operator = range->like_operator;
	s->rows[row].has_meaning = vpa_pipeline_has_scope(range);
	s->rows[row].tells_idle = !c->options->only_screen || range->loads;
	s->rows[row].host.only_sums = s->rows[row].lag.only_sums = s->rows[row].gpu.only_sums =
		only_sums;
	return &s->rows[row];
}

static struct row *row_of(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct recent *recent = &s->recent[(range->name + range->domain) % RECENT];

	if (recent->row && recent->name == range->name && recent->domain == range->domain)
		return &s->rows[recent->row - 1];
	return find_row(s, c, range, recent);
}

/* Paused time in a projection's envelope, which is neither idle nor foreign. */
VPA_RARE static uint64_t paused_ns(const struct vpa_fold_context *c, const struct vpa_projection *p)
{
	uint64_t envelope_ns = p->last_ns - p->first_ns;
	uint64_t rest_ns = envelope_ns - (p->idle_last_ns - p->idle_first_ns) - p->busy_ns;
	uint64_t ns = envelope_ns - vpa_resolver_recorded_ns(c->resolver, p->first_ns, p->last_ns);

	return ns < rest_ns ? ns : rest_ns;
}

/* ---- idle time while the host was in a range ---- */

static uint64_t idle_between(struct state *s, const struct vpa_fold_context *c, uint32_t device,
	uint64_t start_ns, uint64_t end_ns)
{
	struct vpa_idle_clock *clock = &s->clocks[device];
	uint64_t from;

	if (end_ns <= start_ns || !clock->count)
		return 0;
	from = vpa_idle_clock_at(clock, c->idle, device, start_ns);
	return vpa_idle_clock_at(clock, c->idle, device, end_ns) - from;
}

/* Idle time of a device in the range's host span, less the part in the envelope, already counted. */
static uint64_t idle_outside(struct state *s, const struct vpa_fold_context *c, uint32_t device,
	const struct vpa_range *range, const struct vpa_projection *p)
{
	uint64_t limit_ns = c->model->window_end_ns;
	uint64_t end_ns = range->end_ns < limit_ns ? range->end_ns : limit_ns;
	uint64_t idle_ns = idle_between(s, c, device, range->start_ns, end_ns);
	uint64_t from_ns, to_ns;

	if (!idle_ns || !p)
		return idle_ns;
	from_ns = p->first_ns > range->start_ns ? p->first_ns : range->start_ns;
	to_ns = p->last_ns < end_ns ? p->last_ns : end_ns;
	return idle_ns - idle_between(s, c, device, from_ns, to_ns);
}

/* The same for a range that launched nothing: of all devices that its process has used, and of the
 * first of all devices even if its use came later. */
static uint64_t idle_of_process(
	struct state *s, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	int64_t pid = c->model->threads[range->thread].pid;
	uint64_t idle_ns = 0, done = 0;
	size_t i;

	for (i = 0; i < s->user_count; i++) {
		const struct user *u = &s->users[i];

		if (i && u->first_ns >= range->end_ns)
			break;
		if ((u->pid != pid && u->pid >= 0 && pid >= 0) || done >> u->device & 1)
			continue;
		done |= (uint64_t)1 << u->device;
		idle_ns += idle_outside(s, c, u->device, range, NULL);
	}
	return idle_ns;
}

static int keep_instance(struct state *s, const struct vpa_fold_context *c, struct row *row,
	struct vpa_timed_instance instance)
{
	if (!c->options->step_parts || row->like_operator || s->instances == VPA_INSTANCES_ALL ||
		row->instance_count == VPA_INSTANCES_MOST)
		return VPT_OK;
	if (vpt_grow(&row->instances, &row->instance_cap, row->instance_count + 1,
		    sizeof(*row->instances)))
		return VPT_ENOMEM;
	row->instances[row->instance_count++] = instance;
	s->instances++;
	return VPT_OK;
}

/* Adds what a range's ops did on a device. */
static int add_projection(struct state *s, const struct vpa_fold_context *c, struct row *row,
	const struct vpa_range *range, const struct vpa_projection *p)
{
	uint64_t envelope = p->last_ns - p->first_ns, idle = p->idle_last_ns - p->idle_first_ns;

	if (c->resolver->paused.count)
		envelope -= paused_ns(c, p);
	row->ops += p->ops;
	row->envelope_ns += envelope;
	row->busy_ns += p->busy_ns;
	row->idle_ns += idle;
	row->idle_host_ns += idle;
	row->foreign_ns += envelope - idle - p->busy_ns;
	if (p->device < DEVICES) {
		if (row->tells_idle)
			row->idle_host_ns += idle_outside(s, c, p->device, range, p);
		/* The report tells of the only iteration from its start on the host. */
		if (c->options->step_parts && vpa_pipeline_kind(range) == VPA_SCOPE_ITERATION)
			s->idle_before_ns +=
				idle_between(s, c, p->device, range->start_ns, p->first_ns);
	}
	if (vpa_durations_add(&row->gpu, envelope))
		return VPT_ENOMEM;
	return keep_instance(s, c, row,
		(struct vpa_timed_instance){
			{p->first_ns, envelope, idle, p->device}, p->idle_first_ns});
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct row *row = row_of(state, c, range);
	const struct vpa_projection *p;
	uint64_t first = UINT64_MAX;

	if (row && range->nested) {
		row->nested++;
		return VPT_OK;
	}
	if (!row || vpa_durations_add(&row->host, range->end_ns - range->start_ns))
		return VPT_ENOMEM;
	row->unmatched += range->unmatched;
	row->launches += range->launches;
	if (!range->gpu.ops && row->tells_idle)
		row->idle_host_ns += idle_of_process(state, c, range);
	for (p = &range->gpu; p && p->ops; p = p->next) {
		first = vpa_earlier(first, p->first_ns);
		if (add_projection(state, c, row, range, p))
			return VPT_ENOMEM;
	}
	if (first != UINT64_MAX && first >= range->start_ns)
		return vpa_durations_add(&row->lag, first - range->start_ns);
	return VPT_OK;
}

/* What a range is ordered by: a host that is far ahead launches long work in a short range. */
static uint64_t weight_of(const struct vpa_range_row *row)
{
	return vpa_later(row->host.total_ns, row->busy_ns);
}

/* NVTX's own domains before imported operators; within each by weight, falling, then by time on the host. */
static int compare_ranges(const void *pa, const void *pb)
{
	const struct vpa_range_row *a = pa, *b = pb;
	uint64_t weights[2] = {weight_of(a), weight_of(b)};
	int order;

	if (a->is_imported != b->is_imported)
		return a->is_imported - b->is_imported;
	if (weights[0] != weights[1])
		return weights[0] > weights[1] ? -1 : 1;
	if (a->host.total_ns != b->host.total_ns)
		return a->host.total_ns > b->host.total_ns ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->domain, b->domain);
}

static int by_device(const void *pa, const void *pb)
{
	const struct vpa_range_instance *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns;
}

static int write_instances(const struct row *r, struct vpa_report *out, struct vpa_range_row *row)
{
	struct vpa_range_instance *all;
	size_t i;

	if (row->envelope_ns < vpa_windows_ns(out) / VPA_INSTANCES_PART)
		return VPT_OK;
	all = vpa_arena_alloc(&out->arena, r->instance_count, sizeof(*all));
	if (!all)
		return VPT_ENOMEM;
	for (i = 0; i < r->instance_count; i++)
		all[i] = r->instances[i].own;
	qsort(all, r->instance_count, sizeof(*all), by_device);
	row->instances = all;
	row->instance_count = r->instance_count;
	return VPT_OK;
}

/* Leaves the first of the ranges their instances. */
static void limit_instances(struct vpa_range_row *rows, size_t count)
{
	size_t ranges = 0, i;

	for (i = 0; i < count; i++)
		if (rows[i].instance_count && ++ranges > VPA_INSTANCES_RANGES)
			rows[i].instance_count = 0;
}

/* Keeps at most `top` rows of imported operators, and as many others. */
static size_t keep_top(struct vpa_range_row *rows, size_t count, size_t top)
{
	size_t kept = 0, seen[2] = {0, 0}, i;

	for (i = 0; i < count; i++)
		if (seen[rows[i].is_imported]++ < top)
			rows[kept++] = rows[i];
	return kept;
}

/* What has a meaning already, or is an operator, is in no series. The ranges are in the order of the rows. */
static int write_series(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_numbered_range *ranges = vpt_alloc(s->index.count + 1, sizeof(*ranges));
	size_t i, count = 0;
	int rc;

	if (!ranges)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		const struct row *row = &s->rows[i];

		if (row->instance_count && !row->has_meaning && !out->ranges[i].is_imported)
			ranges[count++] = (struct vpa_numbered_range){out->ranges[i].name,
				out->ranges[i].domain, row->instances, row->instance_count};
	}
	rc = vpa_range_series_write(c, ranges, count, out);
	vpt_free(ranges);
	return rc;
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
			.is_imported = is_imported(c->model, (uint32_t)s->index.entries[i].b),
			.nested = r->nested,
			.unmatched = r->unmatched,
			.host = vpa_durations_of(&r->host),
			.ops = r->ops,
			.launches = r->launches,
			.envelope_ns = r->envelope_ns,
			.busy_ns = r->busy_ns,
			.foreign_ns = r->foreign_ns,
			.idle_ns = r->idle_ns,
			.idle_host_ns = r->idle_host_ns,
			.lag = vpa_durations_of(&r->lag),
			.gpu = vpa_durations_of(&r->gpu)};
		if (write_instances(r, out, &out->ranges[i]))
			return VPT_ENOMEM;
	}
	if (write_series(s, c, out))
		return VPT_ENOMEM;
	out->only_step.idle_before_ns = s->idle_before_ns;
	out->range_names = s->index.count;
	qsort(out->ranges, s->index.count, sizeof(*out->ranges), compare_ranges);
	limit_instances(out->ranges, s->index.count);
	vpa_compiled_of(out->ranges, s->index.count, &out->expert.graphs);
	out->range_count = keep_top(out->ranges, s->index.count, c->top);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->row_cap; i++) {
		vpa_durations_free(&s->rows[i].host);
		vpa_durations_free(&s->rows[i].lag);
		vpa_durations_free(&s->rows[i].gpu);
		vpt_free(s->rows[i].instances);
	}
	for (i = 0; i < DEVICES; i++)
		vpa_idle_clock_free(&s->clocks[i]);
	vpt_free(s->users);
	vpt_free(s->seen);
	vpa_index_free(&s->index);
	vpt_free(s->rows);
}

const struct vpa_fold vpa_fold_ranges = {
	.name = "ranges",
	.help = "NVTX ranges: their time on the host and that of their work on the GPU",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.range_aside = fold_range,
	.finish = finish,
	.free = free_state,
};
