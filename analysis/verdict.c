/* verdict.c - loss is data: it is counted, worded, and decides the exit code. */
#include "analysis/verdict.h"

#include "analysis/long_names.h"

#include <inttypes.h>
#include <string.h>

enum { REASONS_MAX = 24 };

/* Above this share of the window the profiling library's own work stretches the gaps that it measures. */
static const double degraded_share = 0.05;

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void add_reason(struct vpa_report *out, const char *text)
{
	struct vpa_verdict *v = &out->verdict;

	if (v->reason_count < REASONS_MAX)
		v->reasons[v->reason_count++] = text;
}

#define REASON(out, ...) add_reason(out, vpa_arena_printf(&(out)->arena, __VA_ARGS__))

static void judge_file(
	struct vpa_report *out, const struct vpa_reading *reading, const struct vpt_trace *trace)
{
	struct vpa_verdict *v = &out->verdict;
	const struct vpt_reader *reader = vpt_trace_reader(trace);

	if (reader && vpt_reader_header_damaged(reader)) {
		v->complete = 0;
		REASON(out, "the file's header is damaged: start, process and clock are unknown");
	}
	if (v->damaged_chunks) {
		v->complete = 0;
		REASON(out, "%" PRIu64 " damaged chunk%s left out (%s)", v->damaged_chunks,
			plural(v->damaged_chunks), reading->first_damage);
	}
	if (v->torn_chunks) {
		v->complete = 0;
		REASON(out, "the file ends inside a chunk: what was complete of it is used");
	}
	if (reading->skipped_critical) {
		v->complete = 0;
		REASON(out,
			"%" PRIu64
			" section%s of a newer version left out that this version would need",
			reading->skipped_critical, plural(reading->skipped_critical));
	}
	if (reader && !reading->has_last && !v->torn_chunks)
		REASON(out, "the capture ends without a stop: its process ended or was killed "
			    "while recording");
}

static void judge_import(struct vpa_report *out, const struct vpt_import_stats *stats)
{
	if (!stats)
		return;
	if (stats->truncated) {
		out->verdict.complete = 0;
		REASON(out, "the file is cut off or damaged: events after that place are missing");
	}
	if (stats->malformed)
		REASON(out, "%" PRIu64 " malformed event%s left out", stats->malformed,
			plural(stats->malformed));
	if (stats->unknown_category)
		REASON(out, "%" PRIu64 " event%s of unknown categories left out",
			stats->unknown_category, plural(stats->unknown_category));
}

/* What lies beyond the analysis' own limits. */
static void judge_limits(
	struct vpa_report *out, const struct vpa_reading *reading, const struct vpa_resolver *r)
{
	struct vpa_verdict *v = &out->verdict;
	uint64_t deep = 0;
	size_t i;

	for (i = 0; i < r->model->thread_count; i++)
		deep += r->pasts[i].ranges.deep;
	for (i = 0; i < r->process_count; i++)
		deep += r->processes[i].ranges.deep;
	if (deep) {
		v->complete = 0;
		REASON(out,
			"%" PRIu64 " range%s inside more than %d others: what ran in %s on a "
			"device is counted for the outer ones alone",
			deep, deep == 1 ? " lies" : "s lie", VPA_NESTING_MAX,
			deep == 1 ? "it" : "them");
	}
	if (reading->names_cut) {
		v->complete = 0;
		REASON(out,
			"%" PRIu64 " name%s cut: of a name at most %d bytes are kept, and a few "
			"hundred where a file of its size has too many long ones",
			reading->names_cut, reading->names_cut == 1 ? " was" : "s were",
			VPA_NAME_MAX);
	}
	if (r->names_left_out) {
		v->complete = 0;
		REASON(out, "%" PRIu64 " name%s counted as \"(too many different names)\"",
			r->names_left_out, r->names_left_out == 1 ? " is" : "s are");
	}
	if (r->open_left_out) {
		v->complete = 0;
		REASON(out, "%" PRIu64 " range%s left out while open: too many were open at once",
			r->open_left_out, r->open_left_out == 1 ? " was" : "s were");
	}
}

static void judge_records(struct vpa_report *out, const struct vpa_resolver *r)
{
	struct vpa_verdict *v = &out->verdict;
	uint64_t crowded = 0;
	size_t i;

	if (v->dropped || r->lost_events) {
		v->complete = 0;
		REASON(out, "%" PRIu64 " record%s lost while recording",
			v->dropped ? v->dropped : r->lost_events,
			plural(v->dropped ? v->dropped : r->lost_events));
	} else if (r->losses) {
		v->complete = 0;
		REASON(out, "records are missing for parts of the window; how many is not known");
	}
	if (v->ops_without_launch) {
		v->complete = 0;
		REASON(out,
			"%" PRIu64
			" operation%s without a launch record: their gaps and ranges are unknown",
			v->ops_without_launch, v->ops_without_launch == 1 ? " is" : "s are");
	}
	for (i = 0; i < r->process_count; i++)
		crowded += r->processes[i].launches.ambiguous;
	if (crowded)
		REASON(out,
			"%" PRIu64 " launch%s left out: one correlation id is used over and over",
			crowded, crowded == 1 ? " was" : "es were");
	if (v->reversed || v->zero_time)
		REASON(out, "%" PRIu64 " operation%s invalid times, left out of every sum",
			v->reversed + v->zero_time,
			v->reversed + v->zero_time == 1 ? " has" : "s have");
	if (v->late_ops)
		REASON(out, "%" PRIu64 " operation%s recorded too late to be put in order",
			v->late_ops, v->late_ops == 1 ? " was" : "s were");
	if (v->late_ranges)
		REASON(out, "%" PRIu64 " range%s recorded too late to be joined with launches",
			v->late_ranges, v->late_ranges == 1 ? " was" : "s were");
	if (r->names_lost)
		REASON(out, "%" PRIu64 " name%s beyond the tracer's limit of distinct ones",
			r->names_lost, r->names_lost == 1 ? " was" : "s were");
	if (v->unmatched_ranges)
		REASON(out, "%" PRIu64 " range%s never closed, cut at the end of the window",
			v->unmatched_ranges, v->unmatched_ranges == 1 ? " was" : "s were");
}

static const char *meta(const struct vpa_report *out, const char *key)
{
	size_t i;

	for (i = 0; i < out->meta_count; i++)
		if (!strcmp(out->meta[i].key, key))
			return out->meta[i].value;
	return NULL;
}

/* Device times by a clock that is not the ranges'. */
static void judge_clock(struct vpa_report *out)
{
	const char *clock = meta(out, "clock.cupti"), *skew = meta(out, "clock.cupti_skew_ns"),
		   *error = meta(out, "clock.cupti_error_ns");
	int known = clock && !strcmp(clock, "replaced, converted");

	if (known)
		REASON(out,
			"another tool had replaced CUPTI's clock: device times were converted, to "
			"within %s%s",
			error ? error : "some microseconds", error ? " ns" : "");
	if ((!clock || known) && !skew)
		return;
	out->verdict.complete = 0;
	out->verdict.gaps = VPA_UNAVAILABLE;
	REASON(out,
		"another tool had replaced CUPTI's clock%s%s%s: device times and ranges do not fit "
		"together",
		skew ? ", " : "", skew ? skew : "", skew ? " ns from ours" : "");
}

/* What the tracer said about itself. */
static void judge_tracer(struct vpa_report *out)
{
	struct vpa_verdict *v = &out->verdict;
	const struct vpa_counts *n = &out->counts;
	const char *why = meta(out, "cupti.failure");

	if (why) {
		v->complete = 0;
		REASON(out, "GPU work is missing from some moment on: %s", why);
	}
	judge_clock(out);
	why = meta(out, "cupti.unavailable");
	if (why && !(n->kernels + n->memcpy + n->memset))
		REASON(out, "no GPU work was recorded: %s", why);
	else if (!(n->kernels + n->memcpy + n->memset))
		REASON(out, "no GPU work %s: device times are unavailable",
			out->window_note ? "lies in the window" : "was recorded");
}

/* What was received must have been written or dropped; where chunks are missing, nobody knows. */
static void judge_books(struct vpa_report *out, const struct vpa_reading *reading)
{
	struct vpa_verdict *v = &out->verdict;

	if (!reading->has_stats || !reading->has_last || v->damaged_chunks || v->torn_chunks ||
		v->unknown_sections || v->received == v->written + v->dropped)
		return;
	v->complete = 0;
	REASON(out,
		"the capture's books do not balance: %" PRIu64 " records received, %" PRIu64
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

	v->tracing_cost_share = -1; /* only an untraced run beside it can tell */
	if (share > degraded_share) {
		v->gaps = VPA_DEGRADED;
		REASON(out,
			"the profiling library itself took %.1f %% of the window: gaps are "
			"degraded",
			share * 100);
	}
}

int vpa_verdict_write(const struct vpa_resolver *r, const struct vpa_reading *reading,
	const struct vpt_trace *trace, struct vpa_report *out)
{
	struct vpa_verdict *v = &out->verdict;
	uint64_t late_ranges = 0;
	size_t i;

	v->reasons = vpa_arena_alloc(&out->arena, REASONS_MAX, sizeof(*v->reasons));
	if (!v->reasons)
		return VPT_ENOMEM;
	for (i = 0; i < r->model->thread_count; i++)
		late_ranges += r->pasts[i].ranges.late;
	for (i = 0; i < r->process_count; i++)
		late_ranges += r->processes[i].ranges.late;
	v->complete = 1;
	v->written = reading->rows;
	v->dropped = reading->has_stats ? reading->dropped : reading->header_lost;
	v->received = reading->has_stats ? reading->received : v->written + v->dropped;
	v->ops_without_launch = r->ops_without_launch;
	v->launches_without_op = r->launches_without_op;
	v->late_ops = r->late_ops;
	v->zero_duration = r->zero_duration;
	v->reversed = r->reversed;
	v->zero_time = r->zero_time;
	v->unmatched_ranges = r->unmatched_ranges;
	v->late_ranges = late_ranges;
	v->damaged_chunks = reading->damaged_chunks;
	v->torn_chunks = reading->torn_chunks;
	v->unknown_sections = reading->unknown_sections;
	judge_file(out, reading, trace);
	judge_import(out, vpt_trace_import_stats(trace));
	judge_records(out, r);
	judge_limits(out, reading, r);
	judge_overhead(out, r);
	judge_books(out, reading);
	judge_tracer(out);
	for (i = 0; i < out->block_note_count; i++)
		add_reason(out, out->block_notes[i]);
	return out->arena.failed ? VPT_ENOMEM : VPT_OK;
}
