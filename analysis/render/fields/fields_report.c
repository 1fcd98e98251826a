/* fields_report.c - the JSON report: what was read, whether it is complete, and what the window holds.
 *
 * The help of each key is in its row; the README defines each number. */
#include "analysis/render/fields/fields.h"

#include "analysis/report/device_limit.h"
#include "formats/import/any_trace.h"

/* ---- input ---- */

VPA_NUMBER(window_ns, void, vpa_window_ns(at->report));
VPA_KNOWN(has_realtime, void, at->report->has_realtime);

#define ROW struct vpa_report
static const struct vpa_field input_fields[] = {
	{"path", TEXT_OR_NULL(path), NULL, "path of the file, as given; null: none"},
	{"format", TEXT_OR_NULL(format), NULL, VPT_TRACE_FORMATS "; null: not known"},
	{"simulated", KNOWN_FLAG(simulated), NULL,
		"no GPU ran: a stand-in made up every device time; null: not known"},
	{"window_ns", COMPUTED(U64), "ns", "length of the window without pauses",
		.number = window_ns, .undone = VPA_UNDONE_WINDOW},
	{"window_start_ns", U64(window_start_ns), "ns", "start of the window, on the trace clock"},
	{"window_end_ns", U64(window_end_ns), "ns",
		"its end, on the trace clock: window_start_ns + window_ns + pauses"},
	{"unix_offset_ns", WRAPPED(unix_offset_ns), "ns",
		"Unix time = trace clock + this; null: the time of day is not known",
		.known = has_realtime},
	{"window_note", TEXT_OR_NULL(window_note), NULL,
		"what selected the window; null: the whole capture"},
	{"min_gap_ns", U64(min_gap_ns), "ns", "gaps of at least this length are listed"},
};
static TABLE(input, "input", "what was analyzed", input_fields);
#undef ROW

/* ---- verdict, counts ---- */

static VPA_WORDS(state_choice, [VPA_OK] = "ok", [VPA_DEGRADED] = "degraded",
	[VPA_UNAVAILABLE] = "unavailable");
VPA_NUMBER(invalid, void, at->report->verdict.reversed + at->report->verdict.zero_time);

#define ROW struct vpa_loss
static const struct vpa_field loss_fields[] = {
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of the period, on the trace clock"},
	{"end_ns", .look = VPA_LOOK_MOMENT, KNOWN_END(end_ns), "ns", "its end; null: not known"},
};
static TABLE(loss, "loss", "a period in which records are, or may be, missing", loss_fields);
#undef ROW

#define ROW struct vpa_report
static const struct vpa_field verdict_fields[] = {
	{"complete", FLAG(verdict.complete), NULL,
		"every record is there; false: exit code 3, and the reasons say what is missing"},
	{"reasons", TEXTS(verdict.reasons, verdict.reason_count), NULL,
		"a sentence each, most important first"},
	{"received", U64(verdict.received), "events", "events that the tracer received"},
	{"written", U64(verdict.written), "events", "events that it wrote"},
	{"dropped", U64(verdict.dropped), "events", "events that it dropped"},
	{"ops_without_launch", U64(verdict.ops_without_launch), "ops",
		"kernels, copies and memsets without a launch record"},
	{"invalid", COMPUTED(U64), "ops", "reversed + zero_time: left out", .number = invalid},
	{"tracing_cost_share", RATE(verdict.tracing_cost_share), "fraction",
		"cost of tracing, as a share of the window; null: not known"},
	{"launches_without_op", U64(verdict.launches_without_op), "calls",
		"launches whose work is not in the trace, without those of stream captures"},
	{"late_ops", U64(verdict.late_ops), "ops", "ops that came too late to be counted"},
	{"zero_duration", U64(verdict.zero_duration), "ops", "ops of zero duration: counted"},
	{"reversed", U64(verdict.reversed), "ops", "ops that end before they start: left out"},
	{"zero_time", U64(verdict.zero_time), "ops", "ops of time 0: left out"},
	{"unmatched_ranges", U64(verdict.unmatched_ranges), "ranges",
		"ranges without a start or an end"},
	{"late_ranges", U64(verdict.late_ranges), "ranges", "ranges that came too late"},
	{"late_samples", U64(verdict.late_samples), "count",
		"samples of Python stacks that came after their gaps were decided"},
	{"unsorted_samples", U64(verdict.unsorted_samples), "count",
		"samples of Python stacks left out, since a later one had come"},
	{"damaged_chunks", U64(verdict.damaged_chunks), "chunks", "chunks that cannot be read"},
	{"torn_chunks", U64(verdict.torn_chunks), "chunks", "chunks read in part"},
	{"unknown_sections", U64(verdict.unknown_sections), "count",
		"sections of a newer format, skipped"},
	{"overhead_ns", U64(verdict.overhead_ns), "ns",
		"time of the profiling library's own records in the window"},
	{"gaps", CHOICE(vpa_metric_state, verdict.gaps), NULL,
		"whether gaps can be trusted; degraded: overhead_ns is above " VPT_TEXT_OF(
			VPA_DEGRADED_PERCENT) " % of the window",
		.choice = state_choice},
	{"remedies", SOME_TEXTS(verdict.remedies, verdict.reason_count), NULL,
		"how to avoid each of the reasons, where that is known"},
	{"losses", ROWS(loss, verdict.losses, verdict.loss_count), NULL,
		"periods with missing records, in order and disjoint"},
	{"window_incomplete", FLAG(touched), NULL,
		"missing records may change figures of the window: devices, gaps, kernels ..."},
	{"early_ops", U64(verdict.early_ops), "ops",
		"of ops_without_launch: launched before the first recorded call, or while "
		"recording was paused"},
	{"launches_lost", U64(verdict.launches_lost), "calls",
		"of launches_without_op: kernels that must have run before the recording ended, "
		"but are not in it"},
};
static TABLE(verdict, "verdict", "whether the trace is complete", verdict_fields);

static const struct vpa_field counts_fields[] = {
	{"kernels", U64(counts.kernels), "events", "kernels"},
	{"memcpy", U64(counts.memcpy), "events", "copies"},
	{"memset", U64(counts.memset), "events", "memsets"},
	{"calls", U64(counts.calls), "events", "CUDA calls"},
	{"ranges", U64(counts.ranges), "events", "NVTX ranges"},
	{"cpu_ops", U64(counts.cpu_ops), "events", "operators of PyTorch's profiler"},
	{"marks", U64(counts.marks), "events", "marks: moments with a name"},
	{"syncs", U64(counts.syncs), "events", "synchronization records"},
	{"counters", U64(counts.counters), "events", "counter samples"},
	{"other", U64(counts.other), "events", "all other events"},
	{"kernel_names", SIZE(kernel_names), "names", "different kernel names"},
	{"range_names", SIZE(range_names), "names", "different range names"},
	{"gaps_of_min_gap", U64(gaps_listed_of), "gaps",
		"gaps of min_gap_ns or longer; the list has the longest"},
	{"samples", U64(counts.samples), "events", "samples of Python stacks"},
};
static TABLE(counts, "counts", "events in the window", counts_fields);
#undef ROW

/* ---- devices, gaps ---- */

#define ROW struct vpa_idle_part
static const struct vpa_field idle_part_fields[] = {
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"why the device was idle"},
	{"range", PLACE(place), NULL,
		"the range around it, \"before NAME\", \"(other)\" for small ones; null: none"},
	{"call", TEXT_OR_NULL(call), NULL,
		"the CUDA call that it waited for, \"(other)\" for small ones; null: none"},
	{"ns", .head = "time", U64(ns), "ns", "idle time of this cause and place"},
	{"gaps", U64(gaps), "gaps", "gaps with such a piece"},
	{"inside_call", TEXT_OR_NULL(inside), NULL,
		"the call that the host was in for most of inside_ns; null: none"},
	{"inside_ns", U64(inside_ns), "ns",
		"of ns: the host was in another call, which the cause delayed"},
	{"instead_call", TEXT_OR_NULL(instead), NULL,
		"the call that the host had waited in before most of instead_ns; null: none"},
	{"instead_ns", U64(instead_ns), "ns",
		"of ns: long host code after a wait; not to wait would have saved it too"},
	{"line", POINTER(vpa_fields_top_line, top), NULL,
		"the line of Python where most of it was spent; null: not known"},
};
static TABLE(idle_part, "idle_part", "idle time of one cause in one place", idle_part_fields);
#undef ROW

VPA_KNOWN(has_host, struct vpa_gap_piece, row->host != VPA_CAUSE_NOT_IDLE);

#define ROW struct vpa_instead_row
static const struct vpa_field instead_fields[] = {
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"why the device was idle"},
	{"range", PLACE(place), NULL, "the range around it, as in causes; null: none"},
	{"call", TEXT_OR_NULL(call), NULL,
		"the CUDA call that had held the host, \"(other)\" for small ones; null: none"},
	{"host", CAUSE(host), NULL,
		"what the host did meanwhile: the cause of this time if no call had held it "
		"before"},
	{"host_range", PLACE(host_place), NULL,
		"the range around that, \"before NAME\", \"(other)\" for small ones; null: none"},
	{"host_call", TEXT_OR_NULL(host_call), NULL,
		"the CUDA call that the host was in then, \"(other)\" for small ones; null: none"},
	{"ns", .head = "time", U64(ns), "ns", "idle time of this cause in which the host did this"},
	{"gaps", U64(gaps), "gaps", "gaps with such a piece"},
	{"line", POINTER(vpa_fields_top_line, top), NULL,
		"the line of Python that the host's own code spent most of it at; null: not known"},
};
static TABLE(
	instead, "host_did", "what the host did in idle time of an earlier call", instead_fields);
#undef ROW

#define ROW struct vpa_gain_row
static const struct vpa_field gain_fields[] = {
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"the cause to remove"},
	{"at_most_ns", U64(ns), "ns", "the most the device would save without it"},
	{"shared_ns", U64(shared_ns), "ns",
		"part of it that removing another cause would save too"},
};
static TABLE(gain, "gain", "what a device would save without one cause", gain_fields);
#undef ROW

static uint64_t device_limit(const struct vpa_at *at)
{
	struct vpa_load load = vpa_load_of_device(at->report, at->row);

	return vpa_device_limit_of(&load);
}

static VPA_NAMES(limit_choice, vpa_device_limit_text, VPA_LIMIT_FAULTS + 1);
VPA_NUMBER(device_window_ns, void, vpa_device_window_ns(at->row));

#define ROW struct vpa_device
static const struct vpa_field device_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"ops", U64(ops), "ops", "kernels, copies and memsets of positive duration"},
	{"streams", U64(streams), "count", "streams that they ran on"},
	{"active_ns", U64(active_ns), "ns", "first op's start to last op's end, without pauses"},
	{"busy_ns", U64(busy_ns), "ns", "time in which at least one op runs"},
	{"idle_ns", U64(idle_ns), "ns", "active_ns - busy_ns"},
	{"gaps", U64(gaps), "gaps", "gaps between ops"},
	{"longest_gap_ns", U64(longest_gap_ns), "ns", "the longest of them"},
	{"histogram", BUCKETS(histogram), "gaps", "gaps between ops by their length"},
	{"kernel_ns", U64(kernel_ns), "ns", "sum of the kernels' durations, overlaps included",
		.head = "kernel time"},
	{"same_stream_overlaps", U64(same_stream_overlaps), "ops",
		"ops that begin before the previous op on their stream ends"},
	{"compute_ns", U64(compute_ns), "ns", "of busy_ns: a kernel other than communication runs"},
	{"exposed_copy_ns", U64(exposed_copy_ns), "ns", "of busy_ns: only copies and memsets run"},
	{"exposed_comm_ns", U64(exposed_comm_ns), "ns",
		"of busy_ns: communication runs, and no compute", .head = "exposed comm."},
	{"window_ns", COMPUTED(U64), "ns",
		"busy_ns + window_idle_ns: the device's window, with the parts of pauses in which "
		"it ran ops",
		.number = device_window_ns},
	{"window_idle_ns", U64(window_idle_ns), "ns",
		"idle_ns and the time before the first and after the last op"},
	{"causes", ROWS(idle_part, causes, cause_count), NULL,
		"window_idle_ns by cause and place, descending; they sum to it"},
	{"gains", ROWS(gain, gains, gain_count), NULL,
		"the most the device would save without each cause, descending"},
	{"before_first_work", ROWS(idle_part, before_first_work, before_first_work_count), NULL,
		"the time before the first op, by what the launching thread did"},
	{"small_grid_ns", U64(small_grid_ns), "ns",
		"kernel time with fewer blocks than the device has multiprocessors"},
	{"comm_ns", U64(comm_ns), "ns", "sum of the durations of communication",
		.head = "communication"},
	{"comm_wait_ns", U64(comm_wait_ns), "ns",
		"of comm_ns: beyond what the transfer takes, at most"},
	{"comm_small_calls", U64(comm_small_calls), "calls",
		"calls of communication whose transfer takes at most 30 us"},
	{"comm_small_ns", U64(comm_small_ns), "ns",
		"their transfers: they take that however little they move"},
	{"first_use_ns", U64(first_use_ns), "ns",
		"idle time in which code is loaded, and the driver and libraries initialise, for "
		"the first time"},
	{"first_use_code_ns", U64(first_use_code_ns), "ns",
		"of first_use_ns: cause first use, that is, beside the code that was loaded"},
	{"limit", COMPUTED(CHOICE), NULL, "what limits the device; idle: see causes",
		.number = device_limit, .choice = limit_choice},
	{"cpu_wait_ns", U64(cpu_wait_ns), "ns",
		"of idle time in the host's own code: the thread could run, but no CPU was free"},
	{"host_did", ROWS(instead, instead, instead_count), NULL,
		"of causes: time that counts to a call that had held the host before, by what the "
		"host did in it, descending"},
};
static TABLE(device, "device", "a GPU that had work in the window", device_fields);
#undef ROW

VPA_KNOWN(has_thread, struct vpa_gap_row, row->tid >= 0);

#define ROW struct vpa_gap_piece
static const struct vpa_field piece_fields[] = {
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"why the device was idle"},
	{"ns", .head = "time", U64(ns), "ns", "length of the piece"},
	{"call", TEXT_OR_NULL(call), NULL, "the CUDA call that it waited for; null: none"},
	{"range", PLACE(place), NULL, "the range around it; null: none"},
	{"partly", FLAG(is_partly), NULL,
		"host code of 1 ms and more, of which a tenth or more is not in that range"},
	{"host", CAUSE(host), NULL,
		"what the host did in the longest part of the piece; null: it was in the call, "
		"which had not held it before",
		.known = has_host},
	{"host_range", PLACE(host_place), NULL, "the range around that; null: none"},
	{"instead_call", TEXT_OR_NULL(instead), NULL,
		"of long host code: the call that the host had waited in before most of "
		"instead_ns; null: none"},
	{"instead_ns", U64(instead_ns), "ns", "of ns: not to wait would have saved it too"},
	{"instead_range", PLACE(instead_place), NULL, "the range around that call; null: none"},
};
static TABLE(piece, "gap_piece", "a stretch of a gap with one cause", piece_fields);
#undef ROW

#define ROW struct vpa_gap_row
static const struct vpa_field thread_fields[] = {
	{"pid", .look = VPA_LOOK_PROCESS, I64(pid), "id", "its process"},
	{"tid", I64(tid), "id", "its thread id"},
};
static TABLE(thread, "thread", "a thread of the host", thread_fields);

static const struct vpa_field gap_fields[] = {
	{"id", .look = VPA_LOOK_SINGLE | VPA_LOOK_ID, CHARS(id), NULL,
		"\"G1\" is the longest; findings refer to it"},
	{"device", GPU(device), "id", "CUDA's device number"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of the gap, on the trace clock"},
	{"duration_ns", U64(duration_ns), "ns", "its length"},
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"the cause of most of it"},
	{"call", TEXT_OR_NULL(call), NULL,
		"the call of the longest piece with that cause; null: none"},
	{"range", PLACE(place), NULL, "the range of the longest piece with that cause; null: none"},
	{"thread", PART(thread), NULL, "the thread that launched the next op; null: not known",
		.known = has_thread},
	{"after", .look = VPA_LOOK_KERNEL, TEXT_OR_NULL(after), NULL,
		"name of the op before it; null: none, or no name"},
	{"before", .look = VPA_LOOK_KERNEL, TEXT_OR_NULL(before), NULL,
		"name of the op after it; null: none, or no name"},
	{"pieces", ROWS(piece, pieces, piece_count), NULL, "its causes; they sum to duration_ns"},
	{"line", POINTER(vpa_fields_top_line, top), NULL,
		"with exact stacks, the innermost line that covers most of it; else that of most "
		"of its samples, or of nearly all time of gaps with its cause, call and range; "
		"null: not known"},
};
static TABLE(gap, "gap", "one of the longest stretches in which a device runs nothing", gap_fields);
#undef ROW

/* ---- the whole ---- */

static VPA_WORDS(schema_choice, VPA_REPORT_SCHEMA);
VPA_KNOWN(is_forecast, void, at->report->forecast.is_asked);
VPA_KNOWN(has_rivals, void, at->report->step_rival_count > 0);

VPA_KNOWN(has_inferred, void, at->report->inferred_count > 0);

static int has_marked(const struct vpa_at *at)
{
	size_t i;

	for (i = 0; i < at->report->request_count; i++)
		if (at->report->requests[i].blocks.measured)
			return 0;
	return at->report->step_part_count > 0;
}

VPA_KNOWN(has_stops, void, at->report->host_stops.count > 0);
VPA_KNOWN(has_trials, void, at->report->trials.count > 0);

#define ROW struct vpa_report
static const struct vpa_field report_fields[] = {
	{"schema", COMPUTED(CHOICE), NULL, "name and version of this schema",
		.number = vpa_first_choice, .choice = schema_choice},
	{"input", PART(input), NULL, "what was analyzed"},
	{"system", PART(vpa_fields_system), NULL, "where it was recorded"},
	{"verdict", PART(verdict), NULL, "whether it is complete"},
	{"counts", PART(counts), NULL, "events in the window"},
	{"devices", ROWS(device, devices, device_count), NULL, "GPUs with ops of positive duration",
		.head = "GPU"},
	{"gaps", ROWS(gap, gaps, gap_count), NULL,
		"the longest gaps, at most --top; by duration, descending"},
	{"families", ROWS(vpa_fields_family, families, family_count), NULL,
		"by exclusive time, descending"},
	{"kernels", ROWS(vpa_fields_kernel, kernels, kernel_count), NULL,
		"at most --top; by exclusive time, descending"},
	{"attention", MEMBER(vpa_fields_attention, attention), NULL, "attention of all devices"},
	{"requests", ROWS(vpa_fields_request, requests, request_count), NULL,
		"by start; empty without blocks and steps"},
	{"stages", ROWS(vpa_fields_stage, stages, stage_count), NULL,
		"stages of all requests, in order of their first op"},
	{"ranges", ROWS(vpa_fields_range, ranges, range_count), NULL,
		"at most --top of each domain; by host time, descending"},
	{"copies", ROWS(vpa_fields_copy, copies, copy_count), NULL,
		"by direction and kinds of memory"},
	{"syncs", ROWS(vpa_fields_sync, syncs, sync_count), NULL,
		"by idle_ns, then total_ns, descending"},
	{"counters", ROWS(vpa_fields_counter, counters, counter_count), NULL,
		"series of samples; by device, those of none last, then by name"},
	{"findings", ROWS(vpa_fields_finding, findings, finding_count), NULL,
		"most important first"},
	{"gemm_precisions", ROWS(vpa_fields_precision, precisions, precision_count), NULL,
		"as far as kernel names show it; by exclusive time, descending"},
	{"elementwise_chains", MEMBER(vpa_fields_chains, chains), NULL,
		"elementwise kernels, casts, reductions and norms that run one after the other"},
	{"steps_inferred", ROWS(vpa_fields_inferred, inferred, inferred_count), NULL,
		"steps inferred from the kernel sequence, a row per GPU; absent if there are none, "
		"or if anything is marked",
		.known = has_inferred, .optional = 1},
	{"steps_unclear", ROWS(vpa_fields_rival, step_rivals, step_rival_count), NULL,
		"two repetitions, the smaller first, of which either may be the steps; absent if "
		"there are none",
		.known = has_rivals, .optional = 1},
	{"lines", MEMBER(vpa_fields_lines, lines), NULL, "lines of Python; empty without stacks"},
	{NULL, SAME_ROW(vpa_fields_expert), NULL, NULL},
	{NULL, SAME_ROW(vpa_fields_said), NULL, NULL},
	{"marked_steps", PART(vpa_fields_marked), NULL,
		"marked steps, else iterations; absent if there are none, or blocks are measured",
		.known = has_marked, .optional = 1},
	{"forecast", MEMBER(vpa_fields_forecast, forecast), NULL,
		"two paces, and how far predictions can be trusted; absent if none were asked for",
		.known = is_forecast, .optional = 1},
	{"series", ROWS(vpa_fields_series, series, series_count), NULL,
		"ranges that the program numbers, if they have half of the window: the unit of the "
		"report where no blocks, requests, steps or iterations are; by name"},
	{"host_stops", MEMBER(vpa_fields_host_stops, host_stops), NULL,
		"the host stood still; absent if it did not", .known = has_stops, .optional = 1},
	{"host_pauses", ROWS(vpa_fields_pauses, pauses, pause_count), NULL,
		"host code of nearly the same length, again and again; at most four, by total_ns, "
		"descending"},
	{"trials", MEMBER(vpa_fields_trials, trials), NULL,
		"kernels that a library tried; absent if there are none", .known = has_trials,
		.optional = 1},
};
TABLE(vpa_fields_report, "report", "where the time of a GPU trace went, and why the GPU was idle",
	report_fields);
#undef ROW

/* ---- what people see of these rows ---- */

const struct vpa_view vpa_views_report[] = {
	{"attention.backends", "Fused attention by back-end", .section = "attention",
		.first = "backend calls total_ns aux_calls aux_ns share_of_busy",
		VPA_TEXT_COLUMNS({"ms", .key = "total_ns"},
			{"helpers ms", .key = "aux_ns", .drop = 1},
			{"% busy", .key = "share_of_busy"}, {"calls", .key = "calls"})},
	{"attention.eager", "Attention that is not fused", .section = "attention",
		.first = "range softmax count total_ns softmax_ns gemm",
		VPA_TEXT_COLUMNS({"ms", .key = "total_ns"}, {.head = "helpers ms"},
			{"% busy", .key = "total_ns", .form = VPA_CELL_OF_BUSY},
			{"calls", .key = "count"})},
	{"attention.changes", "Places with more than one back-end", .section = "attention"},
	{"gemm_precisions", "Matrix products by precision", .section = "attention",
		.after = "attention_shapes"},
	{"families", "Kernel families", .section = "kernels", .after = "misfits"},
	{"kernels", "Kernels by exclusive time", .section = "kernels", .after = "stage_families",
		.first = "name family calls exclusive_ns mean_ns p50_ns p95_ns max_ns occupancy "
			 "sm_efficiency tensor_cores source",
		.prefix = "K",
		VPA_TEXT_COLUMNS({"ms", .key = "exclusive_ns"},
			{"% busy", .key = "exclusive_ns", .form = VPA_CELL_OF_BUSY},
			{"calls", .key = "calls", .drop = 1},
			{"mean", .key = "total_ns", .over = "calls", .drop = 2},
			{"tensor", .key = "tensor_cores", .blank = 1, .drop = 5, .rare = 1},
			{"% SMs", .key = "sm_efficiency", .blank = 1, .drop = 4, .rare = 1},
			{"% occupied", .key = "occupancy", .blank = 1, .drop = 3, .rare = 1})},
	{"gaps", "The longest gaps", .section = "gaps",
		.first = "id device start_ns duration_ns cause call range after before",
		.prefix = "G"},
	{"devices.causes", "Idle time by cause and place", .section = "gaps",
		.first = "cause ns gaps call range"},
	{"devices.host_did", "What the host did after a wait that had held it", .section = "gaps",
		.first = "cause call host ns gaps host_call host_range"},
	{"copies", "Copies and memsets", .section = "copies", .prefix = "C",
		.text = {"copies", .after = "misfits", .rank = 15, .title = "COPIES", .most = 4,
			.label = "{kind}[, {source} to {target}]", .worth = "total_ns",
			.worth_of = VPA_CELL_OF_WINDOW},
		VPA_TEXT_COLUMNS({"ms", .key = "total_ns"}, {"bytes", .key = "bytes"},
			{"GB/s", .key = "gb_per_s"}, {"count", .key = "count"})},
	{"syncs", "Calls that wait for the GPU", .section = "syncs", .prefix = "S",
		VPA_TEXT_COLUMNS({"idle ms", .key = "idle_ns"}, {"gaps", .key = "gaps"},
			{"in call ms", .key = "total_ns", .drop = 1}, {"calls", .key = "count"})},
	{"ranges", "Ranges by time on the host or the GPU", .section = "ranges",
		.first = "name domain count host.mean_ns host.p95_ns host.total_ns busy_ns "
			 "idle_host_ns ops",
		.prefix = "R",
		VPA_TEXT_COLUMNS({"n", .key = "count"},
			{"host mean", .key = "host.total_ns", .over = "count"},
			{"host ms", .key = "host.total_ns", .drop = 2},
			{"GPU busy ms", .key = "busy_ns"},
			{"GPU idle ms", .key = "idle_host_ns", .drop = 1})},
	{"devices", "GPUs with work", .section = "devices", .after = "streams",
		.first = "device active_ns busy_ns idle_ns compute_ns exposed_copy_ns "
			 "exposed_comm_ns gaps longest_gap_ns ops streams limit",
		.text = {"devices", .after = "stage-families", .rank = 12, .title = "DEVICE",
			.least_rows = 2, .most = 32, .label = "{device}"},
		VPA_TEXT_COLUMNS({"active ms", .key = "active_ns", .drop = 3},
			{"busy ms", .key = "busy_ns"},
			{"compute", .key = "compute_ns", .unit = "ms"},
			{"copies *", .key = "exposed_copy_ns", .unit = "ms",
				.note = "* exposed, no kernel at the same time; idle: from the "
					"first to the last op"},
			{"comm *", .key = "exposed_comm_ns", .unit = "ms"},
			{"idle ms", .key = "idle_ns"},
			{"longest", .key = "longest_gap_ns", .form = VPA_CELL_DURATION, .drop = 1},
			{"waits +", .key = "comm_wait_ns", .drop = 2, .unit = "ms", .rare = 1,
				.note = "+ waiting for other ranks, of all communication"})},
	{.path = NULL},
};
