/* checklist.c - judges the figures that diffusers' profiling guide has people look up in a trace viewer.
 *
 * A figure is judged where the capture can support it; else the check is unknown, and says what is
 * missing. Records that are missing can hide a blocking call or an idle stretch, so nothing passes in an
 * incomplete capture; what fails there fails. */
#include "analysis/advice/findings.h"

#include "analysis/advice/finding.h"
#include "analysis/base/numbers.h"
#include "analysis/folds/gaps/check_loop.h"
#include "analysis/past/marked_spans.h"
#include "analysis/pipeline/unit_limit.h"
#include "analysis/report/overview.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <string.h>
#include <strings.h>

struct writer {
	struct vpa_report *r;
	const struct vpa_check_loop *loop;
	const char *no_loop; /* why there is none */
};

/* Names what is marked instead, since that stands in the report above the checklist. */
static const char *why_no_loop(const struct vpa_report *r)
{
	if (r->stage_count || r->request_count)
		return "no blocks or steps are marked; where stages or requests are, no steps are "
		       "inferred";
	return "no blocks or steps are marked, and none can be inferred";
}

/* Judges a value that is known. */
static void judge(struct writer *w, struct vpa_check *c)
{
	int passes = c->at_least ? c->value >= c->pass_bound : c->value < c->pass_bound;
	int warns = c->at_least ? c->value >= c->warn_bound : c->value < c->warn_bound;

	c->status = passes ? VPA_CHECK_PASS : warns ? VPA_CHECK_WARN : VPA_CHECK_FAIL;
	if (c->status == VPA_CHECK_PASS && !w->r->verdict.complete) {
		c->status = VPA_CHECK_UNKNOWN;
		c->note = "records are missing: it may be worse than this";
	}
}

static const char *per_cent(struct writer *w, double share)
{
	return vpa_arena_printf(&w->r->arena, "%s %%", vpa_share(share).text);
}

static const char *loop_words(const struct writer *w)
{
	static const char *const words[VPA_UNIT_KINDS] = {[VPA_UNIT_BLOCK] = "the measured blocks",
		[VPA_UNIT_REQUEST] = "the time from one request to the next",
		[VPA_UNIT_STEP] = "the time from one step to the next",
		[VPA_UNIT_ITERATION] = "the time from one iteration to the next",
		[VPA_UNIT_INFERRED] = "the inferred steps",
		[VPA_UNIT_ROUND] = "the inferred rounds"};
	const struct vpa_check_loop *l = w->loop;

	if (l->kind == VPA_UNIT_STEP && !l->is_whole)
		return w->r->is_diffusion ? "the denoising steps, without the time between"
					  : "the steps, without the time between";
	if (l->kind == VPA_UNIT_INSTANCE)
		return vpa_arena_printf(&w->r->arena, "the instances of %s",
			vpa_fit(vpa_mean_unit_of(w->r).range->name, 60).text);
	return l->kind == VPA_UNIT_ITERATION && l->count < 2 ? "the iteration" : words[l->kind];
}

/* What the loop's busy and idle time are of: with several GPUs it is their sum. */
static const char *where(const struct writer *w)
{
	if (w->r->device_count < 2)
		return loop_words(w);
	return vpa_arena_printf(&w->r->arena, "%s on %zu GPUs", loop_words(w), w->r->device_count);
}

static uint64_t idle_parts(const struct vpa_block_part *parts, size_t count, uint64_t causes)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (causes >> vpa_part_cause(parts[i].part) & 1)
			vpt_sat_add_to(&ns, parts[i].ns);
	return ns;
}

/* Idle time of some causes: in the loop where it is known, else between the first and the last op of
 * each device; and the time that it is a part of. */
static uint64_t idle_of(const struct writer *w, uint64_t causes, uint64_t *base_ns)
{
	struct vpa_mean_unit unit;
	uint64_t ns = 0;
	size_t i;

	if (w->loop->count && w->loop->is_whole) {
		*base_ns = vpt_sat_add(w->loop->busy_ns, w->loop->idle_ns);
		unit = vpa_mean_unit_of(w->r);
		if (unit.kind != VPA_UNIT_STEP)
			return vpa_mean_unit_idle(&unit, (uint32_t)causes);
		for (i = 0; i < w->r->request_count; i++)
			vpt_sat_add_to(&ns, idle_parts(w->r->requests[i].loop.parts,
						    w->r->requests[i].loop.part_count, causes));
		return ns;
	}
	*base_ns = vpa_active_ns(w->r);
	for (i = 0; i < w->r->device_count; i++)
		vpt_sat_add_to(&ns, vpa_device_idle_ns(&w->r->devices[i], (uint32_t)causes));
	return ns;
}

/* What the rest of the time waits for. */
static void add_limit(struct writer *w, struct vpa_check *c)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(w->r);
	struct vpa_idle_limit limit = vpa_unit_limit_of(w->r).idle;
	const char *most =
		limit.is_largest ? vpa_cause_text(limit.cause) : vpa_cause_group_words(limit.group);

	if (unit.head_ns > limit.group_ns)
		most = "before its first op";
	if (limit.group || unit.head_ns)
		c->note = vpa_arena_printf(&w->r->arena, "%s%sthe rest is mostly %s",
			c->note ? c->note : "", c->note ? "; " : "", most);
}

static const char *check_busy(struct writer *w, struct vpa_check *c)
{
	uint64_t busy = w->loop->busy_ns, idle = w->loop->idle_ns;

	if (!w->loop->count) {
		busy = vpa_busy_ns(w->r);
		idle = vpt_sat_sub(vpa_active_ns(w->r), busy);
		c->title = "GPU busy from its first to its last op";
	}
	if (!busy)
		return "nothing ran in it";
	c->value = (double)busy / ((double)busy + (double)idle);
	if (w->loop->count)
		c->note = vpa_arena_printf(&w->r->arena, "of %s", where(w));
	else if (w->r->device_count > 1)
		c->note = vpa_arena_printf(&w->r->arena, "of %zu GPUs", w->r->device_count);
	return NULL;
}

/* Why the causes of idle time are unknown; NULL: they are not. */
static const char *no_causes(const struct vpa_report *r)
{
	if (!r->counts.calls)
		return "CUDA calls are not in the capture";
	return r->verdict.gaps == VPA_UNAVAILABLE ? "what the GPU waited for is unknown, see DATA"
						  : NULL;
}

/* The calls of a run without a loop say little: one at its end is usual. */
static const char *check_blocking(struct writer *w, struct vpa_check *c)
{
	const struct vpa_check_loop *l = w->loop;
	uint64_t base, idle = idle_of(w, vpa_cause_group_causes(VPA_GROUP_WAITS), &base);

	if (!l->count)
		return w->no_loop;
	if (no_causes(w->r))
		return no_causes(w->r);
	c->value = base ? (double)idle / (double)base : 0;
	c->shown = vpa_arena_printf(&w->r->arena, "%s idle", per_cent(w, c->value));
	c->note = vpa_arena_printf(&w->r->arena,
		"%s calls, %s per %s; the GPU waits for them for %s of %s",
		vpa_count(l->blocking_calls).text, vpa_scaled(l->blocking_calls, l->count, 1).text,
		vpa_unit_kind_name(l->kind), vpa_duration(idle).text,
		l->is_whole ? where(w) : "the active time");
	return NULL;
}

static int is_scheduler(const struct vpa_stage_row *s)
{
	const char *at = s->name;

	if (vpa_marked_span_mark_of(s->name, strlen(s->name)) == VPA_RANGE_MARK_SCHEDULER)
		return 1;
	for (; *at; at++)
		if (!strncasecmp(at, "scheduler", 9))
			return 1;
	return 0;
}

/* Rows of stages are of all requests, and so is the time that they are a share of. Steps of a request that the window
 * cuts are in the rows only: they are taken to be as long as the others. */
static uint64_t span_of_all(const struct writer *w)
{
	uint64_t ns = 0;
	size_t i;

	if (!w->loop->count)
		return 0;
	if (w->loop->kind == VPA_UNIT_STEP)
		return vpt_sat_u64((double)w->loop->span_ns *
				   (double)vpa_stage_of_kind(w->r, VPA_SCOPE_STEP)->count /
				   (double)w->loop->count);
	if (w->loop->kind != VPA_UNIT_BLOCK)
		return w->loop->span_ns;
	for (i = 0; i < w->r->request_count; i++)
		vpt_sat_add_to(&ns, w->r->requests[i].blocks.span_ns);
	return ns;
}

static const char *check_scheduler(struct writer *w, struct vpa_check *c)
{
	const struct vpa_stage_row *s = NULL;
	uint64_t span_ns;
	size_t i;

	for (i = 0; i < w->r->stage_count && !s; i++)
		if (is_scheduler(&w->r->stages[i]))
			s = &w->r->stages[i];
	span_ns = span_of_all(w);
	if (!s || !span_ns)
		return w->loop->count ? "no range marks the scheduler" : w->no_loop;
	c->value = vpa_part_of(s->covered_ns, span_ns);
	c->note = vpa_arena_printf(&w->r->arena, "%s, mean %s from first to last op",
		vpa_fit(s->name, 40).text,
		vpa_duration(s->time.count ? s->time.total_ns / s->time.count : 0).text);
	return NULL;
}

static uint64_t mean_kernel_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		vpt_sat_add_to(&ns, r->devices[i].kernel_ns);
	return r->counts.kernels ? ns / r->counts.kernels : 0;
}

/* A number of kernels is neither good nor bad: whether the host launches them in time is. */
static const char *check_launching(struct writer *w, struct vpa_check *c)
{
	const struct vpa_check_loop *l = w->loop;
	const uint32_t causes =
		vpa_cause_group_causes(VPA_GROUP_PACE) & ~(1u << VPA_CAUSE_HOST_CODE);
	uint64_t base, idle = idle_of(w, causes, &base);

	if (no_causes(w->r))
		return no_causes(w->r);
	c->value = base ? (double)idle / (double)base : 0;
	if (l->ops_count)
		c->note = vpa_arena_printf(&w->r->arena,
			"%s kernels and copies per %s, a kernel takes %s on average",
			vpa_scaled(l->ops, l->ops_count, l->ops % l->ops_count ? 1 : 0).text,
			l->ops_of, vpa_duration(mean_kernel_ns(w->r)).text);
	return NULL;
}

static const char *graph_latency(struct writer *w)
{
	const struct vpa_expert *e = &w->r->expert;

	return vpa_arena_printf(&w->r->arena, "%s launch%s of CUDA graphs, median %s",
		vpa_count(e->graphs_while_idle).text, vpa_plural_es(e->graphs_while_idle),
		vpa_duration(e->graph_p50_ns).text);
}

/* Why there is no launch call to measure: only the one that launched the op after a gap is, if it began in the gap. */
static const char *no_latency(const struct vpa_report *r)
{
	uint64_t gaps = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		vpt_sat_add_to(&gaps, r->devices[i].gaps);
	if (no_causes(r))
		return no_causes(r);
	return gaps ? "no launch call is known to have begun in the gap that its op ended"
		    : "there is no gap between two ops";
}

/* The bounds are those of one kernel. The call that launches a graph takes longer the more nodes it has, and
 * replaces as many calls. */
static const char *check_latency(struct writer *w, struct vpa_check *c)
{
	const struct vpa_expert *e = &w->r->expert;

	if (!e->launches_while_idle && e->graphs_while_idle && !no_causes(w->r))
		return vpa_arena_printf(
			&w->r->arena, "only %s, which no bound is for", graph_latency(w));
	if (!e->launches_while_idle || no_causes(w->r))
		return no_latency(w->r);
	c->value = (double)e->launch_p50_ns;
	c->shown = vpa_arena_printf(&w->r->arena, "%s", vpa_duration(e->launch_p50_ns).text);
	c->note = vpa_arena_printf(&w->r->arena, "median of %s launches, p95 %s%s%s",
		vpa_count(e->launches_while_idle).text, vpa_duration(e->launch_p95_ns).text,
		e->graphs_while_idle ? "; apart from these " : "",
		e->graphs_while_idle ? graph_latency(w) : "");
	return NULL;
}

/* The first series that knows most: what the allocator hands out, else what CUDA did, else NVML. */
static const struct vpa_counter *memory_of(const struct vpa_report *r)
{
	static const enum vpt_series known[] = {VPT_SERIES_TORCH_ALLOCATED,
		VPT_SERIES_MARKED_ALLOCATED, VPT_SERIES_CUDA_ALLOCATED, VPT_SERIES_MEMORY_USED};
	const struct vpa_counter *most = NULL;
	size_t i, k;

	for (i = 0; i < COUNT(known) && !most; i++)
		for (k = 0; k < r->counter_count; k++) {
			const struct vpa_counter *c = &r->counters[k];

			if (c->series == known[i] && c->has_loop &&
				(!most || c->loop_to - c->loop_from >
						  most->loop_to - most->loop_from))
				most = c;
		}
	return most;
}

static const char *check_memory(struct writer *w, struct vpa_check *c)
{
	const struct vpa_counter *m = memory_of(w->r);
	double growth;

	if (!m || m->loop_to <= 0)
		return w->loop->count ? "the capture has no samples of memory in the loop"
				      : w->no_loop;
	growth = m->loop_to - m->loop_from;
	c->value = growth > 0 ? growth / m->loop_to : 0;
	c->note = vpa_arena_printf(&w->r->arena, "%s, %s to %s", vpa_fit(m->name, 40).text,
		vpa_bytes(vpt_sat_u64(m->loop_from)).text, vpa_bytes(vpt_sat_u64(m->loop_to)).text);
	return NULL;
}

/* The figure of each check: sets value and note, and where it is no share, shown. Returns why it is unknown; NULL: it is known. */
static const struct {
	struct vpa_check about;
	const char *(*look)(struct writer *w, struct vpa_check *c);
} checks[] = {
	{{"gpu-busy", "GPU busy in the loop", .unit = "fraction", .pass_bound = 0.9,
		 .warn_bound = 0.7, .at_least = 1},
		check_busy},
	{{"blocking-calls", "blocking calls in the loop", .unit = "fraction", .pass_bound = 0.001,
		 .warn_bound = 0.01},
		check_blocking},
	{{"scheduler", "scheduler's share of the loop", .unit = "fraction", .pass_bound = 0.01,
		 .warn_bound = 0.05},
		check_scheduler},
	{{"launching", "GPU idle while the host launches", .unit = "fraction", .pass_bound = 0.05,
		 .warn_bound = 0.2},
		check_launching},
	{{"launch-to-start", "launch to start, while the GPU is idle", .unit = "ns",
		 .pass_bound = 10000, .warn_bound = 20000},
		check_latency},
	{{"memory-flat", "memory's growth over the loop", .unit = "fraction", .pass_bound = 0.01,
		 .warn_bound = 0.05},
		check_memory},
};

static void look_up(struct writer *w, size_t i, struct vpa_check *c)
{
	const char *why;

	*c = checks[i].about;
	why = checks[i].look(w, c);
	if (why) {
		c->status = VPA_CHECK_UNKNOWN;
		c->value = -1;
		c->note = why;
		return;
	}
	if (!c->shown)
		c->shown = per_cent(w, c->value);
	judge(w, c);
	if (checks[i].look == check_busy && c->status != VPA_CHECK_PASS &&
		c->status != VPA_CHECK_UNKNOWN)
		add_limit(w, c);
}

int vpa_checklist_write(struct vpa_report *r)
{
	struct writer w = {r, &r->expert.loop, why_no_loop(r)};
	size_t i;

	if (!r->device_count)
		return VPT_OK;
	r->expert.checks = vpa_arena_alloc(&r->arena, COUNT(checks), sizeof(*r->expert.checks));
	if (!r->expert.checks)
		return VPT_ENOMEM;
	for (i = 0; i < COUNT(checks); i++)
		look_up(&w, i, &r->expert.checks[i]);
	r->expert.check_count = COUNT(checks);
	return r->arena.failed ? VPT_ENOMEM : VPT_OK;
}
