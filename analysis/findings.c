/* findings.c - conclusions, ranked by the most they could give. Silent where nothing crosses its threshold.
 *
 * "At most" is the idle or busy time that would vanish if nothing else became the bottleneck; gains of several
 * findings do not add up. */
#include "analysis/verdict.h"

#include "analysis/findings.h"
#include "analysis/gpu_arch.h"
#include "analysis/precision.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS_MAX = 32, EVIDENCE_MAX = 3 };

/* An opener is worth a line from this share of the window on. */
static const double opener_share = 0.01;

/* Copies and communication that no compute hides are, from this share on. */
static const double exposed_share = 0.05;

/* An attention fallback is, from this share of busy time on. */
static const double attention_share = 0.01;

/* Matrix products of a kind are worth a word from this share on. */
static const double gemm_share = 0.05;

struct vpa_finding *vpa_finding_add(struct vpa_report *r, const char *id, const char *status)
{
	struct vpa_finding *f;

	if (r->finding_count == FINDINGS_MAX)
		return NULL;
	f = &r->findings[r->finding_count++];
	f->id = id;
	f->status = status;
	f->evidence = vpa_arena_alloc(&r->arena, EVIDENCE_MAX, sizeof(*f->evidence));
	return f->evidence ? f : NULL;
}

void vpa_finding_evidence(struct vpa_finding *f, const char *text)
{
	if (f->evidence_count < EVIDENCE_MAX)
		f->evidence[f->evidence_count++] = text;
}

/* What to do about each opener. */
static const struct {
	enum vpa_cause cause;
	const char *id, *advice;
} openers[] = {
	{VPA_CAUSE_SYNC_DRAIN, "sync-drain",
		"keep the host from waiting: no .item(), .cpu() or synchronise in the loop"},
	{VPA_CAUSE_BLOCKING_COPY, "blocking-copy",
		"copy asynchronously: pinned memory, non_blocking=True, a stream of its own"},
	{VPA_CAUSE_ALLOCATION, "allocation",
		"allocate before the loop: a caching allocator, no empty_cache()"},
	{VPA_CAUSE_MODULE_LOAD, "module-load",
		"load and compile before the measured part: warm up every shape"},
	{VPA_CAUSE_GRAPH_BUILD, "graph-build", "instantiate CUDA graphs before the loop"},
	{VPA_CAUSE_OTHER_CALL, "other-call", "take this CUDA call out of the loop"},
	{VPA_CAUSE_LAUNCH_RATE, "launch-rate",
		"launch less: CUDA graphs, torch.compile, fused kernels"},
	{VPA_CAUSE_HOST_STALL, "host-stall", "shorten or overlap the host code between launches"},
	{VPA_CAUSE_LAUNCH_LATENCY, "launch-latency",
		"run further ahead of the GPU, or use CUDA graphs"},
	{VPA_CAUSE_DEPENDENCY, "dependency", "let the stream that is waited for finish earlier"},
	{VPA_CAUSE_INSIDE_GRAPH, "inside-graph", "fuse small kernels inside the CUDA graph"},
	{VPA_CAUSE_GRAPH_START, "graph-start",
		"look at what each CUDA graph waits for before its first node; join small graphs"},
};

struct opened {
	uint64_t ns, gaps, top_ns;
	const struct vpa_idle_part *top;
};

static struct opened sum_opened(const struct vpa_report *r, enum vpa_cause cause)
{
	struct opened sum = {0};
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].opened_by_count; i++) {
			const struct vpa_idle_part *part = &r->devices[d].opened_by[i];

			if (part->cause != cause)
				continue;
			sum.ns += part->ns;
			sum.gaps += part->gaps;
			if (part->ns > sum.top_ns) {
				sum.top_ns = part->ns;
				sum.top = part;
			}
		}
	return sum;
}

static void find_openers(struct vpa_report *r)
{
	double window = (double)vpa_window_ns(r) * (double)r->device_count;
	size_t k, g;

	for (k = 0; k < sizeof(openers) / sizeof(openers[0]); k++) {
		struct opened sum = sum_opened(r, openers[k].cause);
		double share = window > 0 ? (double)sum.ns / window : 0;
		struct vpa_finding *f;

		if (share < opener_share)
			continue;
		f = vpa_finding_add(r, openers[k].id, share >= 0.1 ? "fail" : "warn");
		if (!f)
			return;
		f->title = openers[k].advice;
		f->gain_at_most_ms = (double)sum.ns / 1e6;
		f->measured = vpa_arena_printf(&r->arena,
			"%s opened %" PRIu64 " gaps, %.1f ms, %.1f %% of the window",
			vpa_cause_text(openers[k].cause), sum.gaps, (double)sum.ns / 1e6,
			share * 100);
		f->threshold = "1 % of the window";
		for (g = 0; g < r->gap_count; g++)
			if (r->gaps[g].opened_by == openers[k].cause)
				vpa_finding_evidence(f, r->gaps[g].id);
		if (!f->evidence_count && sum.top && sum.top->call)
			vpa_finding_evidence(f, sum.top->call);
	}
}

static void find_bound(struct vpa_report *r)
{
	uint64_t busy = vpa_busy_ns(r), active = 0, copies = 0, comm = 0;
	struct vpa_finding *f;
	size_t d;

	for (d = 0; d < r->device_count; d++) {
		active += r->devices[d].active_ns;
		copies += r->devices[d].exposed_copy_ns;
		comm += r->devices[d].exposed_comm_ns;
	}
	if (!active || (double)busy < 0.9 * (double)active)
		return;
	f = vpa_finding_add(r, "gpu-bound", "info");
	if (!f)
		return;
	f->title = copies > busy / 2
			   ? "copies are the limit: the GPU waits for data, not for the host"
		   : comm > busy / 2
			   ? "communication is the limit: the GPU waits for other GPUs, not for "
			     "the host"
			   : "the GPU is the limit: make its work cheaper, not the host faster";
	f->measured = vpa_arena_printf(&r->arena,
		"busy %.1f %% of the time from the first to the last op",
		100.0 * (double)busy / (double)active);
	f->threshold = "90 % of active";
}

/* Time that kernels could have hidden. */
static void find_exposed(struct vpa_report *r, const char *id, const char *title, size_t offset)
{
	double window = (double)vpa_window_ns(r) * (double)r->device_count;
	uint64_t ns = 0;
	struct vpa_finding *f;
	size_t d;

	for (d = 0; d < r->device_count; d++)
		ns += *(const uint64_t *)((const char *)&r->devices[d] + offset);
	if (window <= 0 || (double)ns < exposed_share * window)
		return;
	f = vpa_finding_add(r, id, "warn");
	if (!f)
		return;
	f->title = title;
	f->gain_at_most_ms = (double)ns / 1e6;
	f->measured = vpa_arena_printf(&r->arena, "%.1f ms, %.1f %% of the window",
		(double)ns / 1e6, 100 * (double)ns / window);
	f->threshold = "5 % of the window";
}

/* What could go if kernels of so many ns in all were not there: those that run at once take no more time than the
 * devices were busy. */
static double most_ms(const struct vpa_report *r, uint64_t kernels_ns)
{
	uint64_t busy = vpa_busy_ns(r);

	return (double)(kernels_ns < busy ? kernels_ns : busy) / 1e6;
}

static void find_eager(struct vpa_report *r)
{
	const struct vpa_attention *a = &r->attention;
	uint64_t count = 0, total = 0, softmax = 0, busy = vpa_busy_ns(r);
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < a->eager_count; i++) {
		count += a->eager[i].count;
		total += a->eager[i].total_ns;
		softmax += a->eager[i].softmax_ns;
	}
	if (!count || (double)total < attention_share * (double)busy)
		return;
	f = vpa_finding_add(r, "eager-attention", "fail");
	if (!f)
		return;
	f->title = "attention is not fused: use SDPA with a flash or cuDNN back-end";
	/* The softmax goes, and so does the memory traffic of the scores in both GEMMs: how much of their time that is no
	 * name tells, so the bound is all of it. */
	f->gain_at_most_ms = most_ms(r, total);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " sequences GEMM, softmax, GEMM: %.1f ms, of which softmax %.1f ms",
		count, (double)total / 1e6, (double)softmax / 1e6);
	f->threshold = "1 % of busy time";
	f->caveat = "a fused kernel still does the arithmetic of the two GEMMs, so the gain lies "
		    "between the softmax and this";
	for (i = 0; i < a->eager_count; i++)
		if (a->eager[i].range && (!i || !a->eager[i - 1].range ||
						 strcmp(a->eager[i].range, a->eager[i - 1].range)))
			vpa_finding_evidence(f, a->eager[i].range);
}

/* What the file says of its GPUs counts; where it says nothing, a kernel that runs nowhere else. */
static int has_hopper(const struct vpa_report *r)
{
	int told = 0;
	size_t i;

	for (i = 0; i < r->gpu_count; i++) {
		if (vpa_gpu_is_hopper(&r->gpus[i]))
			return 1;
		told |= r->gpus[i].compute_major != 0;
	}
	return !told && r->hopper_kernel;
}

/* FlashAttention 2 on a device for which FlashAttention 3 exists. */
static void find_old_flash(struct vpa_report *r)
{
	struct vpa_attention *a = &r->attention;
	struct vpa_finding *f;
	size_t i;

	if (!has_hopper(r))
		return;
	for (i = 0; i < a->backend_count; i++) {
		const struct vpa_backend_row *b = &a->backends[i];

		if ((strcmp(b->backend, "flash-attn-2") && strcmp(b->backend, "sdpa-flash")) ||
			b->share_of_busy < attention_share)
			continue;
		f = vpa_finding_add(r, "flash-2-on-hopper", "warn");
		if (!f)
			return;
		f->title = "FlashAttention 2 on sm_90: FlashAttention 3 or cuDNN attention is made "
			   "for it";
		f->measured = vpa_arena_printf(&r->arena,
			"%" PRIu64 " calls of %s, %.1f ms, %.1f %% of busy", b->calls, b->backend,
			(double)b->total_ns / 1e6, b->share_of_busy * 100);
		f->threshold = "1 % of busy time";
		f->caveat = "how much it saves depends on head size and sequence length: measure";
	}
}

static void find_backend_change(struct vpa_report *r)
{
	const struct vpa_attention *a = &r->attention;
	size_t i;

	for (i = 0; i < a->change_count; i++) {
		const struct vpa_backend_change *c = &a->changes[i];
		struct vpa_finding *f;

		if ((double)c->slow_ns < attention_share * (double)vpa_busy_ns(r))
			continue;
		f = vpa_finding_add(r, "attention-change", "warn");
		if (!f)
			return;
		f->title = "attention changes its back-end from step to step: look for a mask, a "
			   "shape or a dtype that the faster one does not take";
		f->gain_at_most_ms = most_ms(r, (uint64_t)c->gain_ns);
		f->measured = vpa_arena_printf(&r->arena,
			"at %" PRIu64 " places of a step %" PRIu64
			" calls of %s, mean %.3f ms, and "
			"%" PRIu64 " of %s, mean %.3f ms",
			c->places, c->slow_calls, c->slow,
			(double)c->slow_ns / (double)c->slow_calls / 1e6, c->fast_calls, c->fast,
			(double)c->fast_ns / (double)c->fast_calls / 1e6);
		f->threshold = "1 % of busy time";
		f->caveat = "where sequences grow longer from step to step the gain is smaller";
	}
}

static uint64_t precision_ns(const struct vpa_report *r, enum vpa_precision precision)
{
	size_t i;

	for (i = 0; i < r->precision_count; i++)
		if (!strcmp(r->precisions[i].precision, vpa_precision_name(precision)))
			return r->precisions[i].exclusive_ns;
	return 0;
}

/* Matrix products in FP32 where the model is one of narrower numbers: something was not cast. */
static void find_wide_gemms(struct vpa_report *r)
{
	double busy = (double)vpa_busy_ns(r);
	uint64_t wide = precision_ns(r, VPA_PRECISION_FP32),
		 narrow = precision_ns(r, VPA_PRECISION_16) + precision_ns(r, VPA_PRECISION_8);
	struct vpa_finding *f;

	if ((double)wide < gemm_share * busy || (double)narrow < gemm_share * busy)
		return;
	f = vpa_finding_add(r, "fp32-gemm", "warn");
	if (!f)
		return;
	f->title =
		"matrix products in FP32 beside those in 16 bit or fewer: cast what feeds them, or "
		"allow TF32";
	f->gain_at_most_ms = (double)wide / 1e6;
	f->measured = vpa_arena_printf(&r->arena,
		"%.1f ms in FP32, %.1f %% of busy, and %.1f ms in 16 bit or fewer",
		(double)wide / 1e6, 100 * (double)wide / busy, (double)narrow / 1e6);
	f->threshold = "5 % of busy time each";
	f->caveat = "in narrower numbers they still take time, a sixteenth at best";
}

static void find_unfused_conv(struct vpa_report *r)
{
	uint64_t total = r->vol2col_ns;
	struct vpa_finding *f;

	if (!total)
		return;
	f = vpa_finding_add(r, "vol2col", "warn");
	if (!f)
		return;
	f->title = "conv3d runs as vol2col, not in cuDNN: check its dtype, layout and padding";
	f->gain_at_most_ms = most_ms(r, total);
	f->measured = vpa_arena_printf(&r->arena, "%.1f ms in vol2col", (double)total / 1e6);
	f->threshold = "one kernel";
}

static int compare_findings(const void *pa, const void *pb)
{
	const struct vpa_finding *a = pa, *b = pb;

	if (a->gain_at_most_ms > b->gain_at_most_ms || a->gain_at_most_ms < b->gain_at_most_ms)
		return a->gain_at_most_ms > b->gain_at_most_ms ? -1 : 1;
	return strcmp(a->id, b->id);
}

int vpa_findings_write(struct vpa_report *r)
{
	struct vpa_attention *a = &r->attention;
	size_t i;

	r->findings = vpa_arena_alloc(&r->arena, FINDINGS_MAX, sizeof(*r->findings));
	a->fallbacks = vpa_arena_alloc(&r->arena, FINDINGS_MAX, sizeof(*a->fallbacks));
	if (!r->findings || !a->fallbacks)
		return VPT_ENOMEM;
	if (!r->device_count)
		return VPT_OK;
	find_bound(r);
	find_openers(r);
	find_exposed(r, "exposed-copy",
		"hide copies behind kernels: pinned memory, a stream of their own, fewer offloads",
		offsetof(struct vpa_device, exposed_copy_ns));
	find_exposed(r, "exposed-comm",
		"hide communication behind compute: overlap collectives, smaller buckets",
		offsetof(struct vpa_device, exposed_comm_ns));
	find_eager(r);
	find_old_flash(r);
	find_backend_change(r);
	find_wide_gemms(r);
	find_unfused_conv(r);
	vpa_find_blocks(r);
	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(r->findings[i].id, "eager-attention") ||
			!strcmp(r->findings[i].id, "flash-2-on-hopper") ||
			!strcmp(r->findings[i].id, "attention-change"))
			a->fallbacks[a->fallback_count++] = vpa_arena_printf(&r->arena, "%s (%s)",
				r->findings[i].title, r->findings[i].measured);
	qsort(r->findings, r->finding_count, sizeof(*r->findings), compare_findings);
	return r->arena.failed ? VPT_ENOMEM : VPT_OK;
}
