/* verdict_reasons.c - the sentences under DATA: what is missing or doubtful, and what to do about it. Those about the file
 * itself are in completeness_words.c. */
#include "analysis/trust/verdict.h"

#include "analysis/base/numbers.h"
#include "analysis/names/long_names.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/clocks.h"

#include <inttypes.h>
#include <string.h>

enum { REASONS_MAX = 32, LOSSES_MAX = 256 };

static void add_reason(struct vpa_report *out, const char *text, const char *remedy)
{
	struct vpa_verdict *v = &out->verdict;

	if (v->reason_count == REASONS_MAX)
		return;
	v->remedies[v->reason_count] = remedy;
	v->reasons[v->reason_count++] = text;
}

#define REASON(out, ...) add_reason(out, vpa_arena_printf(&(out)->arena, __VA_ARGS__), NULL)

/* A remark of completeness.h, about the file itself. */
static void add_remark(void *ctx, const struct vpa_remark *remark)
{
	struct vpa_report *out = ctx;
	struct vpa_arena *arena = &out->arena;

	add_reason(out, vpa_arena_printf(arena, "%s", remark->text),
		remark->remedy[0] ? vpa_arena_printf(arena, "%s", remark->remedy) : NULL);
}

/* It is unknown which figures this touches. */
static void lose_all(struct vpa_report *out)
{
	struct vpa_verdict *v = &out->verdict;

	v->complete = 0;
	v->losses[0] = (struct vpa_loss){0, UINT64_MAX};
	v->loss_count = 1;
}

static void judge_limits(struct vpa_report *out, const struct vpa_resolver *r)
{
	uint64_t deep = out->verdict.deep_ranges;

	if (deep) {
		lose_all(out);
		REASON(out,
			"%" PRIu64 " range%s nested in more than %d others: work launched in %s "
			"is counted for the outer ranges only",
			deep, deep == 1 ? " is" : "s are", VPA_NESTING_MAX,
			deep == 1 ? "it" : "them");
	}
	if (r->lanes_left_out) {
		lose_all(out);
		REASON(out,
			"%" PRIu64 " of the threads and streams %s a lane with others: there are "
			"too many",
			r->lanes_left_out, r->lanes_left_out == 1 ? "shares" : "share");
	}
	if (r->names_cut) {
		lose_all(out);
		REASON(out,
			"%" PRIu64 " name%s cut: at most %d bytes of a name are kept, and a few "
			"hundred if the file has too many long names",
			r->names_cut, r->names_cut == 1 ? " was" : "s were", VPA_NAME_MAX);
	}
	if (r->names_left_out) {
		lose_all(out);
		REASON(out, "%" PRIu64 " name%s counted as \"(too many different names)\"",
			r->names_left_out, r->names_left_out == 1 ? " is" : "s are");
	}
	if (r->open_left_out) {
		lose_all(out);
		REASON(out, "%" PRIu64 " range%s left out while open: too many were open at once",
			r->open_left_out, r->open_left_out == 1 ? " was" : "s were");
	}
}

static void judge_samples(struct vpa_report *out)
{
	uint64_t late = out->verdict.late_samples, unsorted = out->verdict.unsorted_samples;

	if (late)
		REASON(out,
			"%" PRIu64 " sample%s of Python stacks came too late: no idle time has %s",
			late, vpa_plural(late), late == 1 ? "its line" : "their lines");
	if (unsorted)
		REASON(out, "%" PRIu64 " sample%s of Python stacks %s", unsorted,
			vpa_plural(unsorted),
			unsorted == 1 ? "was left out: it came after a later one"
				      : "were left out: they came after later ones");
}

/* What ended before a window that nobody asked for is in no figure. A ring holds older work by nature. */
static void judge_before(
	struct vpa_report *out, const struct vpa_resolver *r, const struct vpa_completeness *n)
{
	uint64_t count = r->ops_before;

	if (!count || out->window_note || n->ring[0])
		return;
	lose_all(out);
	REASON(out,
		"%" PRIu64
		" operation%s left out: %s ended before the start that the file's header gives",
		count, count == 1 ? " is" : "s are", count == 1 ? "it" : "they");
}

/* What comes later than the order of the file allows is in no sum, or in a wrong one. */
static void judge_late(struct vpa_report *out)
{
	uint64_t ops = out->verdict.late_ops, ranges = out->verdict.late_ranges;

	if (ops || ranges)
		lose_all(out);
	if (ops)
		REASON(out, "%" PRIu64 " operation%s recorded too late to be sorted", ops,
			ops == 1 ? " was" : "s were");
	if (ranges)
		REASON(out,
			"%" PRIu64 " range%s left out: recorded too late to be matched with "
			"launches",
			ranges, ranges == 1 ? " was" : "s were");
}

/* Ops that have no time for a known reason are told with that. */
static void judge_times(struct vpa_report *out, const struct vpa_completeness *n)
{
	uint64_t count = vpt_sat_add(out->verdict.reversed, out->verdict.zero_time);
	uint64_t known = vpt_sat_add(n->unfinished, n->queued);

	if (count <= known)
		return;
	lose_all(out);
	REASON(out, "%" PRIu64 " operation%s invalid times: left out of all sums", count - known,
		count - known == 1 ? " has" : "s have");
}

static void judge_records(
	struct vpa_report *out, const struct vpa_resolver *r, const struct vpa_completeness *n)
{
	struct vpa_verdict *v = &out->verdict;
	uint64_t crowded = 0;
	size_t i;

	if (v->ops_without_launch > v->early_ops) {
		uint64_t count = v->ops_without_launch - v->early_ops;

		v->complete = 0; /* their own times are known: see figures_touched_by_loss.c */
		REASON(out,
			"%" PRIu64 " operation%s no launch record: %s gaps and ranges are unknown",
			count, count == 1 ? " has" : "s have", count == 1 ? "its" : "their");
	}
	if (v->early_ops && vpa_verdict_launched_in_pauses(r))
		REASON(out,
			"%" PRIu64 " operation%s launched while recording was paused: %s unknown",
			v->early_ops, v->early_ops == 1 ? " was" : "s were",
			v->early_ops == 1 ? "its launch is" : "their launches are");
	else if (v->early_ops)
		REASON(out,
			"%" PRIu64 " operation%s launched before the recording began: %s unknown",
			v->early_ops, v->early_ops == 1 ? " was" : "s were",
			v->early_ops == 1 ? "its launch is" : "their launches are");
	for (i = 0; i < r->process_count; i++)
		crowded += r->processes[i].launches.ambiguous;
	if (crowded)
		REASON(out,
			"%" PRIu64 " launch%s not used: others have the same correlation id, so "
			"nothing says which op is whose",
			crowded, crowded == 1 ? " is" : "es are");
	judge_times(out, n);
	judge_before(out, r, n);
	judge_late(out);
	judge_samples(out);
	if (r->names_lost)
		REASON(out, "%" PRIu64 " name%s beyond the tracer's limit of distinct names",
			r->names_lost, r->names_lost == 1 ? " was" : "s were");
	if (v->unmatched_ranges)
		REASON(out,
			"%" PRIu64 " range%s never closed, or opened while nothing was "
			"recorded: cut there",
			v->unmatched_ranges, v->unmatched_ranges == 1 ? " was" : "s were");
}

/* What helps where kernels are missing. */
static const char *lost_launches_remedy(const struct vpa_report *out, const struct vpa_resolver *r,
	const struct vpa_completeness *n)
{
	if (n->ended == VPA_END_MAX_BYTES)
		return "raise --max-bytes: the file had no room for them";
	if (r->paused.count)
		return "record it again with this version: what is launched in a window is "
		       "recorded until it has ended";
	return out->counts.kernels ? "record a shorter period, so that the profiler drops nothing; "
				     "if launches failed, correct these"
				   : "let the profiler record kernels too: ProfilerActivity.CUDA, "
				     "or nsys profile --trace=cuda";
}

/* Nothing else may show that a profiler dropped records of kernels. Where a loss is known, it
 * explains them. */
static void judge_lost_launches(
	struct vpa_report *out, const struct vpa_resolver *r, const struct vpa_completeness *n)
{
	uint64_t count = out->verdict.launches_lost;
	const char *are = count == 1 ? "is" : "are", *s = vpa_plural(count);

	if (!count || out->verdict.loss_count)
		return;
	lose_all(out);
	add_reason(out,
		r->paused.count ? vpa_arena_printf(&out->arena,
					  "%" PRIu64 " kernel%s %s missing: launched in a window, "
					  "run while recording was off",
					  count, s, are)
				: vpa_arena_printf(&out->arena,
					  "%" PRIu64 " kernel%s %s missing: %s recorded, and must "
					  "have run before the recording ended",
					  count, s, are,
					  count == 1 ? "its launch is" : "their launches are"),
		lost_launches_remedy(out, r, n));
}

static uint64_t launches_without_reason(const struct vpa_verdict *v)
{
	return vpt_sat_sub(v->launches_without_op, v->launches_lost);
}

/* A launch that failed, or had nothing to copy, has none either, so this makes no capture incomplete. But
 * where work is missing, often nothing else shows it. */
static void judge_launches(struct vpa_report *out)
{
	uint64_t count = launches_without_reason(&out->verdict);

	if (count)
		REASON(out, "%" PRIu64 " launch%s no op: not recorded, or run after the end", count,
			count == 1 ? " has" : "es have");
}

/* Device times from another clock than the ranges'. */
static void judge_clock(struct vpa_report *out)
{
	const char *clock = vpa_meta(out, VPT_METADATA_CLOCK_CUPTI),
		   *skew = vpa_meta(out, VPT_METADATA_CLOCK_CUPTI_SKEW),
		   *error = vpa_meta(out, VPT_METADATA_CLOCK_CUPTI_ERROR);
	int known = clock && !strcmp(clock, VPT_CLOCK_CONVERTED);

	if (known)
		REASON(out,
			"another tool replaced CUPTI's clock: device times were converted, "
			"accurate to %s%s",
			error ? error : "some microseconds", error ? " ns" : "");
	if ((!clock || known) && !skew)
		return;
	lose_all(out);
	out->verdict.gaps = VPA_UNAVAILABLE;
	REASON(out,
		"another tool replaced CUPTI's clock%s%s%s: device times and ranges are not "
		"comparable",
		skew ? ", " : "", skew ? skew : "", skew ? " ns from ours" : "");
}

/* What a device's own times say of its kernels. */
static void judge_kernels(struct vpa_report *out)
{
	uint64_t too_long = 0, doubted = 0, faults = 0, kernels = 0;
	size_t i;

	for (i = 0; i < out->device_count; i++) {
		too_long += out->devices[i].too_long_ops;
		vpt_sat_add_to(&doubted, out->devices[i].doubted_ns);
		vpt_sat_add_to(&faults, out->devices[i].fault_ns);
		vpt_sat_add_to(&kernels, out->devices[i].kernel_ns);
	}
	if (too_long) {
		lose_all(out);
		REASON(out,
			"%" PRIu64 " operation%s over several later ones of the same stream, which "
			"cannot be: busy time may be up to %s too long",
			too_long, too_long == 1 ? " lasts" : "s last", vpa_duration(doubted).text);
	}
	if (faults && faults >= kernels / 10)
		add_reason(out,
			vpa_arena_printf(&out->arena,
				"pages of unified memory were on their way during %s of the %s "
				"that kernels ran",
				vpa_duration(faults).text, vpa_duration(kernels).text),
			"move the data first, with cudaMemPrefetchAsync(), or do not use unified "
			"memory");
}

/* What a launch explains needs one clock for both. An import has judged the whole trace, not the window. */
static void judge_order(struct vpa_report *out, const struct vpa_resolver *r,
	const struct vpa_completeness *reading)
{
	uint64_t lead_ns = vpa_later(reading->clocks_disagree_ns, r->lead_ns);
	const char *count = "";

	if (!reading->clocks_disagree_ns && !vpt_clocks_disagree(r->premature_ops, r->joined_ops))
		return;
	if (r->premature_ops)
		count = vpa_arena_printf(&out->arena, "%" PRIu64 " of %" PRIu64 " ",
			r->premature_ops, r->joined_ops);
	out->verdict.gaps = VPA_UNAVAILABLE;
	REASON(out,
		"%soperations begin before their launch, up to %s: the clocks of GPU and host "
		"disagree by at least that, so what the GPU waited for is unknown",
		count, vpa_duration(lead_ns).text);
}

/* Reports that there is no GPU work, if no other reason says why. */
static void judge_no_work(struct vpa_report *out, const struct vpa_completeness *reading)
{
	const struct vpa_counts *n = &out->counts;

	if (n->kernels + n->memcpy + n->memset || out->verdict.is_refused)
		return;
	if (out->verdict.is_ranges_only && vpa_meta(out, VPT_METADATA_SIMULATE))
		REASON(out, "recorded without a GPU, by --simulate: all times are the host's own");
	else if (out->verdict.is_ranges_only)
		REASON(out, "recording of GPU work was disabled (VPTRACE_PROFILE=none)");
	else
		REASON(out, "no GPU work %s: device times are unavailable",
			out->window_note || reading->ops ? "is in the window" : "was recorded");
}

/* Each device's row says whether it is a GPU or a stand-in. If such a row is missing, `simulated`
 * is unknown. */
static void judge_devices(struct vpa_report *out, const struct vpa_completeness *n)
{
	size_t i, k;

	if (!n->counts[VPA_READING_DAMAGED] && !n->counts[VPA_READING_CUT_OUT] &&
		!n->counts[VPA_READING_TORN])
		return;
	for (i = 0; i < out->device_count && !out->simulated; i++) {
		for (k = 0; k < out->gpu_count; k++)
			if (out->gpus[k].device == out->devices[i].device)
				break;
		if (k < out->gpu_count)
			continue;
		out->simulated = -1;
		REASON(out, "the records that identify a simulated GPU are missing too");
	}
}

/* What was received must have been written or dropped; with missing chunks that is unknown. */
static void judge_books(struct vpa_report *out, const struct vpa_completeness *reading)
{
	struct vpa_verdict *v = &out->verdict;

	if (!reading->has_stats || !reading->has_end || v->damaged_chunks || v->torn_chunks ||
		reading->counts[VPA_READING_CUT_OUT] || v->unknown_sections ||
		v->received == vpt_sat_add(v->written, v->dropped))
		return;
	lose_all(out);
	REASON(out,
		"the capture's counters do not add up: %" PRIu64 " records received, %" PRIu64
		" written, %" PRIu64 " dropped",
		v->received, v->written, v->dropped);
}

static void judge_overhead(struct vpa_report *out, const struct vpa_resolver *r)
{
	struct vpa_verdict *v = &out->verdict;
	uint64_t window = vpa_window_ns(out);
	double share;

	v->overhead_ns = vpa_intervals_total(&r->tracing, out->window_end_ns);
	share = window ? (double)v->overhead_ns / (double)window : 0;

	v->tracing_cost_share = -1; /* only a comparison with an untraced run shows it */
	if (share > VPA_DEGRADED_PERCENT / 100.0) {
		v->gaps = VPA_DEGRADED;
		REASON(out,
			"the profiling library itself took %s %% of the window: gaps are degraded",
			vpa_share(share).text);
	}
}

/* A profiler that records every call of a Python function is called twice for each; by how much that
 * slowed the program is not in the trace. */
static void judge_calls(struct vpa_report *out, const struct vpa_resolver *r)
{
	if (r->exact_samples)
		add_reason(out,
			"recording every call of a Python function slowed the host: its times, and "
			"idle time that waits for it, are longer than without",
			"record without with_stack=True");
}

/* What somebody wanted to be marked, and nothing hit: the tables that depend on it are empty or short. And steps and blocks that may be
 * something else. */
static void judge_marks(struct vpa_report *out)
{
	static const struct {
		enum vpt_metadata fact;
		const char *what, *remedy;
	} facts[] = {
		{VPT_METADATA_MARKS_UNUSED, "marks that nothing hit",
			"mend these lines of the mark file, or leave them out"},
		{VPT_METADATA_MARKS_GUESSED, "marks that are a guess",
			"if steps or blocks are others, write this line into a mark file (--mark)"},
		{VPT_METADATA_MARKS_DENOISERS,
			"no steps are marked; if this is the denoiser, a line of a mark file finds "
			"them",
			"write it into a file, and run with --mark FILE"},
	};
	size_t i;

	for (i = 0; i < COUNT(facts); i++) {
		const char *text = vpa_meta(out, facts[i].fact);

		/* The third is of no use where somebody else has marked the program. */
		if (text && (i < 2 || !out->request_count))
			add_reason(out,
				vpa_arena_printf(&out->arena, "%s: %s", facts[i].what, text),
				facts[i].remedy);
	}
}

static void copy_losses(struct vpa_verdict *v, const struct vpa_completeness *reading)
{
	const struct vpa_intervals *lost = &reading->lost;

	struct vpa_intervals_at at = {0, 0};
	const struct vpa_interval *loss;

	v->loss_count = 0;
	while (v->loss_count < LOSSES_MAX && (loss = vpa_intervals_next(lost, &at)))
		v->losses[v->loss_count++] = (struct vpa_loss){loss->start_ns, loss->end_ns};
	if (v->loss_count < lost->count)
		v->losses[LOSSES_MAX - 1].end_ns = vpa_intervals_last(lost)->end_ns;
}

int vpa_verdict_write(const struct vpa_resolver *r, const struct vpa_completeness *reading,
	struct vpa_report *out)
{
	struct vpa_verdict *v = &out->verdict;
	size_t i;

	v->reasons = vpa_arena_alloc(&out->arena, REASONS_MAX, sizeof(*v->reasons));
	v->remedies = vpa_arena_alloc(&out->arena, REASONS_MAX, sizeof(*v->remedies));
	v->losses = vpa_arena_alloc(&out->arena, LOSSES_MAX, sizeof(*v->losses));
	if (!v->reasons || !v->remedies || !v->losses || vpa_verdict_count(r, reading, out))
		return VPT_ENOMEM;
	v->complete = vpa_completeness_judge(reading, add_remark, out);
	if (!v->complete)
		copy_losses(v, reading);
	judge_lost_launches(out, r, reading);
	judge_records(out, r, reading);
	judge_limits(out, r);
	judge_overhead(out, r);
	judge_calls(out, r);
	judge_books(out, reading);
	judge_clock(out);
	judge_order(out, r, reading);
	judge_kernels(out);
	judge_devices(out, reading);
	judge_no_work(out, reading);
	judge_launches(out);
	judge_marks(out);
	for (i = 0; i < out->block_note_count; i++)
		add_reason(out, out->block_notes[i], NULL);
	return out->arena.failed ? VPT_ENOMEM : VPT_OK;
}
