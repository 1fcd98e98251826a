/* fields_report.c - the JSON report: what was read, whether it is complete, and what the window holds.
 *
 * The help of each key is in its row; the README defines each number. */
#include "analysis/render/fields/fields.h"

#include "analysis/report/limit.h"
#include "formats/import/any_trace.h"

/* ---- input ---- */

static uint64_t window_ns(const struct vpa_at *at)
{
	return vpa_window_ns(at->report);
}

static int has_realtime(const struct vpa_at *at)
{
	return at->report->has_realtime;
}

#define ROW struct vpa_report
static const struct vpa_field input_fields[] = {
	{"path", TEXT_OR_NULL(path), NULL, "path of the file, as given; null: none"},
	{"format", TEXT_OR_NULL(format), NULL, VPT_TRACE_FORMATS "; null: not known"},
	{"simulated", KNOWN_FLAG(simulated), NULL,
		"no GPU ran: a stand-in made up every device time; null: not known"},
	{"window_ns", COMPUTED(U64), "ns", "length of the window without pauses",
		.number = window_ns},
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
static const struct vpa_fields input = FIELDS("input", "what was analyzed", input_fields);
#undef ROW

/* ---- verdict, counts ---- */

static const char *state_choice(size_t i)
{
	static const char *const states[] = {
		[VPA_OK] = "ok", [VPA_DEGRADED] = "degraded", [VPA_UNAVAILABLE] = "unavailable"};

	return i < sizeof(states) / sizeof(states[0]) ? states[i] : NULL;
}

static uint64_t invalid(const struct vpa_at *at)
{
	return at->report->verdict.reversed + at->report->verdict.zero_time;
}

#define ROW struct vpa_loss
static const struct vpa_field loss_fields[] = {
	{"start_ns", U64(start_ns), "ns", "start of the period, on the trace clock"},
	{"end_ns", KNOWN_END(end_ns), "ns", "its end; null: not known"},
};
static const struct vpa_fields loss =
	FIELDS("loss", "a period in which records are, or may be, missing", loss_fields);
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
static const struct vpa_fields verdict =
	FIELDS("verdict", "whether the trace is complete", verdict_fields);

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
static const struct vpa_fields counts = FIELDS("counts", "events in the window", counts_fields);
#undef ROW

/* ---- devices, gaps ---- */

#define ROW struct vpa_idle_part
static const struct vpa_field idle_part_fields[] = {
	{"cause", CAUSE(cause), NULL, "why the device was idle"},
	{"range", PLACE(place), NULL,
		"the range around it, \"before NAME\", \"(other)\" for small ones; null: none"},
	{"call", TEXT_OR_NULL(call), NULL,
		"the CUDA call that it waited for, \"(other)\" for small ones; null: none"},
	{"ns", U64(ns), "ns", "idle time of this cause and place"},
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
static const struct vpa_fields idle_part =
	FIELDS("idle_part", "idle time of one cause in one place", idle_part_fields);
#undef ROW

static int has_host(const struct vpa_at *at)
{
	const struct vpa_gap_piece *p = at->row;

	return p->host != VPA_CAUSE_NOT_IDLE;
}

#define ROW struct vpa_instead_row
static const struct vpa_field host_did_fields[] = {
	{"cause", CAUSE(cause), NULL, "why the device was idle"},
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
	{"ns", U64(ns), "ns", "idle time of this cause in which the host did this"},
	{"gaps", U64(gaps), "gaps", "gaps with such a piece"},
	{"line", POINTER(vpa_fields_top_line, top), NULL,
		"the line of Python that the host's own code spent most of it at; null: not known"},
};
static const struct vpa_fields host_did =
	FIELDS("host_did", "what the host did in idle time of an earlier call", host_did_fields);
#undef ROW

#define ROW struct vpa_gain_row
static const struct vpa_field gain_fields[] = {
	{"cause", CAUSE(cause), NULL, "the cause to remove"},
	{"at_most_ns", U64(ns), "ns", "the most the device would save without it"},
	{"shared_ns", U64(shared_ns), "ns",
		"part of it that removing another cause would save too"},
};
static const struct vpa_fields gain =
	FIELDS("gain", "what a device would save without one cause", gain_fields);
#undef ROW

static uint64_t device_limit(const struct vpa_at *at)
{
	struct vpa_load load = vpa_load_of_device(at->report, at->row);

	return vpa_limit_of(&load);
}

static const char *limit_choice(size_t i)
{
	return i <= VPA_LIMIT_FAULTS ? vpa_limit_text((enum vpa_limit)i) : NULL;
}

static uint64_t device_window_ns(const struct vpa_at *at)
{
	return vpa_device_window_ns(at->row);
}

#define ROW struct vpa_device
static const struct vpa_field device_fields[] = {
	{"device", I64(device), "id", "CUDA's device number"},
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
		"of comm_ns: beyond the shortest call of the same kernel and grid"},
	{"comm_small_calls", U64(comm_small_calls), "calls",
		"calls of communication of a kernel and grid whose shortest call takes at most 30 "
		"us"},
	{"comm_small_ns", U64(comm_small_ns), "ns",
		"the same times the shortest: they take that however little they move"},
	{"first_use_ns", U64(first_use_ns), "ns",
		"idle time in which code is loaded, and the driver and libraries initialise, for "
		"the "
		"first time"},
	{"first_use_code_ns", U64(first_use_code_ns), "ns",
		"of first_use_ns: cause first use, that is, beside the code that was loaded"},
	{"limit", COMPUTED(CHOICE), NULL, "what limits the device; idle: see causes",
		.number = device_limit, .choice = limit_choice},
	{"cpu_wait_ns", U64(cpu_wait_ns), "ns",
		"of idle time in the host's own code: the thread could run, but no CPU was free"},
	{"host_did", ROWS(host_did, host_did, host_did_count), NULL,
		"of causes: time that counts to a call that had held the host before, by what the "
		"host did in it, descending"},
};
static const struct vpa_fields device =
	FIELDS("device", "a GPU that had work in the window", device_fields);
#undef ROW

static int has_thread(const struct vpa_at *at)
{
	const struct vpa_gap_row *gap = at->row;

	return gap->tid >= 0;
}

#define ROW struct vpa_gap_piece
static const struct vpa_field piece_fields[] = {
	{"cause", CAUSE(cause), NULL, "why the device was idle"},
	{"ns", U64(ns), "ns", "length of the piece"},
	{"call", TEXT_OR_NULL(call), NULL, "the CUDA call that it waited for; null: none"},
	{"range", PLACE(place), NULL, "the range around it; null: none"},
	{"host", CAUSE(host), NULL,
		"what the host did in the longest part of the piece; null: it was in the call, "
		"which had not held it before",
		.known = has_host},
	{"host_range", PLACE(host_place), NULL, "the range around that; null: none"},
	{"instead_call", TEXT_OR_NULL(instead), NULL,
		"of long host code: the call that the host had waited in before; null: none"},
	{"instead_range", PLACE(instead_place), NULL, "the range around that call; null: none"},
};
static const struct vpa_fields piece =
	FIELDS("gap_piece", "a stretch of a gap with one cause", piece_fields);
#undef ROW

#define ROW struct vpa_gap_row
static const struct vpa_field thread_fields[] = {
	{"pid", I64(pid), "id", "its process"},
	{"tid", I64(tid), "id", "its thread id"},
};
static const struct vpa_fields thread = FIELDS("thread", "a thread of the host", thread_fields);

static const struct vpa_field gap_fields[] = {
	{"id", CHARS(id), NULL, "\"G1\" is the longest; findings refer to it"},
	{"device", I64(device), "id", "CUDA's device number"},
	{"start_ns", U64(start_ns), "ns", "start of the gap, on the trace clock"},
	{"duration_ns", U64(duration_ns), "ns", "its length"},
	{"cause", CAUSE(cause), NULL, "the cause of most of it"},
	{"call", TEXT_OR_NULL(call), NULL,
		"the call of the longest piece with that cause; null: none"},
	{"range", PLACE(place), NULL, "the range of the longest piece with that cause; null: none"},
	{"thread", PART(thread), NULL, "the thread that launched the next op; null: not known",
		.known = has_thread},
	{"after", TEXT_OR_NULL(after), NULL, "name of the op before it; null: none, or no name"},
	{"before", TEXT_OR_NULL(before), NULL, "name of the op after it; null: none, or no name"},
	{"pieces", ROWS(piece, pieces, piece_count), NULL, "its causes; they sum to duration_ns"},
	{"line", POINTER(vpa_fields_top_line, top), NULL,
		"with exact stacks, the innermost line that covers most of it; else that of most "
		"of its samples, or of nearly all time of gaps with its cause, call and range; "
		"null: not known"},
};
static const struct vpa_fields gap =
	FIELDS("gap", "one of the longest stretches in which a device runs nothing", gap_fields);
#undef ROW

/* ---- what ran ---- */

#define ROW struct vpa_family_row
static const struct vpa_field family_fields[] = {
	{"family", FAMILY(family), NULL, "kernel family; \"memcpy\", \"memset\"; \"unknown\""},
	{"calls", U64(calls), "ops", "its kernels, copies or memsets"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations, overlaps included"},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k; all families sum to busy time"},
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"exclusive_ns of all devices' busy time; null: not known"},
};
static const struct vpa_fields family = FIELDS("family", "kernels of one family", family_fields);
#undef ROW

#define ROW struct vpa_kernel_row
static const struct vpa_field kernel_fields[] = {
	{"name", TEXT(name), NULL, "the kernel, demangled where possible"},
	{"family", FAMILY(family), NULL, "its family"},
	{"calls", U64(time.count), "ops", "how often it ran"},
	{"total_ns", U64(time.total_ns), "ns", "sum of its durations"},
	{NULL, SAME(vpa_fields_spread_values, time), NULL, NULL},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k"},
	{"backend", BACKEND_OR_NULL(backend), NULL, "its attention back-end; null: not attention"},
	{"blocks_mean", POSITIVE(blocks_mean), "blocks",
		"thread blocks of the grid, mean of all calls; null: not known"},
};
static const struct vpa_fields kernel = FIELDS("kernel", "kernels of one name", kernel_fields);
#undef ROW

#define ROW struct vpa_backend_row
static const struct vpa_field backend_fields[] = {
	{"backend", BACKEND(backend), NULL, "the implementation of attention"},
	{"calls", U64(calls), "ops", "main kernels, forward and backward"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"aux_calls", U64(aux_calls), "ops", "helpers: combining, converting, preprocessing",
		.head = "helper calls"},
	{"aux_ns", U64(aux_ns), "ns", "sum of their durations", .head = "time of helpers"},
	{"before_kernels", U64(before_kernels), "ops",
		"copies between layouts and quantisations right before its calls"},
	{"before_ns", U64(before_ns), "ns", "sum of their durations"},
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"exclusive time of both, of all devices' busy time; null: not known"},
};
static const struct vpa_fields backend =
	FIELDS("attention_backend", "fused attention of one back-end", backend_fields);
#undef ROW

#define ROW struct vpa_eager_row
static const struct vpa_field eager_fields[] = {
	{"range", TEXT_OR_NULL(range), NULL, "the range around them; null: outside all ranges"},
	{"gemm", TEXT(gemm), NULL, "the matrix product before the softmax"},
	{"softmax", TEXT(softmax), NULL, "the softmax"},
	{"count", U64(count), "count", "sequences of GEMM, softmax, GEMM"},
	{"total_ns", U64(total_ns), "ns", "sum of all their kernels' durations"},
	{"softmax_ns", U64(softmax_ns), "ns", "of it: the softmax", .head = "of it softmax"},
};
static const struct vpa_fields eager =
	FIELDS("eager_attention", "attention that is not fused, in one place", eager_fields);
#undef ROW

#define ROW struct vpa_backend_change
static const struct vpa_field change_fields[] = {
	{"fast", BACKEND(fast), NULL, "the fastest back-end there"},
	{"slow", BACKEND(slow), NULL, "another one that sometimes runs the same attention"},
	{"places", U64(places), "count", "places: k-th attention calls of similar denoising steps"},
	{"fast_calls", U64(fast_calls), "ops", "calls of the fast one there"},
	{"fast_ns", U64(fast_ns), "ns", "sum of their durations"},
	{"slow_calls", U64(slow_calls), "ops", "calls of the slow one there"},
	{"slow_ns", U64(slow_ns), "ns", "sum of their durations"},
	{"gain_ns", REAL(gain_ns), "ns",
		"extra time of the slow calls, compared with the fast ones"},
};
static const struct vpa_fields change = FIELDS("attention_change",
	"attention in denoising steps that runs on more than one back-end", change_fields);
#undef ROW

#define ROW struct vpa_attention
static const struct vpa_field attention_fields[] = {
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"attention of all devices' busy time, eager sequences included; null: not known"},
	{"calls", U64(calls), "count", "fused calls and eager sequences"},
	{"backends", ROWS(backend, backends, backend_count), NULL, "fused attention by back-end"},
	{"eager", ROWS(eager, eager, eager_count), NULL, "attention that is not fused"},
	{"fallbacks", TEXTS(fallbacks, fallback_count), NULL,
		"a sentence each: a slower back-end than the GPU allows"},
	{"changes", ROWS(change, changes, change_count), NULL,
		"places with more than one back-end; by slow_ns, descending"},
};
static const struct vpa_fields attention =
	FIELDS("attention", "attention of all devices", attention_fields);
#undef ROW

#define ROW struct vpa_range_instance
static const struct vpa_field instance_fields[] = {
	{"device", UNSIGNED(device), "id", "which of the devices, from 0"},
	{"first_ns", U64(first_ns), "ns", "start of its first op, on the trace clock"},
	{"envelope_ns", U64(envelope_ns), "ns",
		"first op's start to last op's end, without pauses"},
	{"idle_ns", U64(idle_ns), "ns", "of envelope_ns: the device runs nothing"},
};
static const struct vpa_fields instance =
	FIELDS("instance", "an instance of a range on a device", instance_fields);
#undef ROW

#define ROW struct vpa_range_row
static const struct vpa_field range_fields[] = {
	{"name", TEXT(name), NULL, "name of the range"},
	{"domain", TEXT(domain), NULL,
		"NVTX domain, empty for the default one; \"cpu_op\" for PyTorch's operators"},
	{"count", U64(host.count), "ranges", "instances with a start and an end"},
	{"nested", U64(nested), "ranges",
		"instances that began inside one of the same name: not in count, part of that one"},
	{"unmatched", U64(unmatched), "ranges", "instances without one of them"},
	{"host", SPREAD(host), NULL, "from start to end on the host"},
	{"ops", U64(ops), "ops", "ops that were launched in it"},
	{"launches", U64(launches), "calls", "calls that launched them"},
	{"envelope_ns", U64(envelope_ns), "ns",
		"first op's start to last op's end, summed over devices and instances"},
	{"busy_ns", U64(busy_ns), "ns", "of envelope_ns: its own ops run"},
	{"foreign_ns", U64(foreign_ns), "ns", "of envelope_ns: only others' ops run"},
	{"idle_ns", U64(idle_ns), "ns", "of envelope_ns: the device runs nothing"},
	{"lag", SPREAD(lag), NULL, "start of the range to the start of its first op"},
	{"gpu", SPREAD(gpu), NULL, "the envelopes"},
	{"idle_host_ns", U64(idle_host_ns), "ns",
		"idle time in envelopes and between start and end on the host, each gap once",
		.head = "GPU idle"},
	{"instances", ROWS(instance, instances, instance_count), NULL,
		"the first 256, of ranges that have a tenth of the devices' time, 16 at most: a "
		"comparison may pair them"},
};
static const struct vpa_fields range =
	FIELDS("range", "NVTX ranges, or operators, of one name", range_fields);
#undef ROW

static const char *copy_choice(size_t i)
{
	return vpt_word(VPT_UNIT_COPY_KIND, i);
}

static const char *memory_choice(size_t i)
{
	return vpt_word(VPT_UNIT_MEMORY_KIND, i);
}

static int reads_memory(const struct vpa_at *at)
{
	return ((const struct vpa_copy_row *)at->row)->kind != VPT_COPYKIND_MEMSET;
}

#define ROW       struct vpa_copy_row
#define MEMORY(m) .choice = memory_choice, .null = VPA_NULL_TEXT, NUMBERED(m)
static const struct vpa_field copy_fields[] = {
	{"kind", .choice = copy_choice, NUMBERED(kind), NULL,
		"direction: HtoD, DtoH, DtoD ...; or memset"},
	{"source", MEMORY(source), NULL,
		"memory that is read: pageable, pinned, device ..., unknown; null: none",
		.known = reads_memory},
	{"target", MEMORY(target), NULL, "memory that is written; null: none"},
	{"count", U64(count), "ops", "copies"},
	{"bytes", U64(bytes), "bytes", "their bytes"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"gb_per_s", POSITIVE(gb_per_s), "GB/s",
		"10^9 bytes a second while copying; null: not known", .head = "rate"},
};
static const struct vpa_fields copy =
	FIELDS("copy", "copies of one direction between two kinds of memory", copy_fields);
#undef ROW
#undef MEMORY

#define ROW struct vpa_sync_row
static const struct vpa_field sync_fields[] = {
	{"call", TEXT(call), NULL, "name of the CUDA call"},
	{"count", U64(count), "calls", "its calls"},
	{"total_ns", U64(total_ns), "ns", "time in the call, summed over all threads"},
	{"gaps", U64(gaps), "gaps", "gaps that it caused"},
	{"idle_ns", U64(idle_ns), "ns", "idle time that it caused"},
};
static const struct vpa_fields sync =
	FIELDS("sync", "a CUDA call that waits for the GPU", sync_fields);
#undef ROW

#define ROW struct vpa_chains
static const struct vpa_field chain_fields[] = {
	{"count", U64(count), "count", "two or more of them in a row on a stream"},
	{"members", U64(kernels), "ops", "kernels in them"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"longest_ns", U64(longest_ns), "ns",
		"sum of the longest of each: what a fused kernel takes at least"},
	{"kernel", TEXT_OR_NULL(kernel), NULL, "the one that takes most time; null: no chain"},
};
static const struct vpa_fields chains = FIELDS("chains",
	"elementwise kernels, and casts, reductions and norms beside them, not fused",
	chain_fields);
#undef ROW

#define ROW struct vpa_precision_row
static const struct vpa_field precision_fields[] = {
	{"precision", TEXT(precision), NULL, "the numbers that are multiplied: fp32, 16 bit ..."},
	{"calls", U64(calls), "ops", "matrix products"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k"},
};
static const struct vpa_fields precision =
	FIELDS("gemm_precision", "matrix products of one precision", precision_fields);
#undef ROW

/* ---- findings ---- */

#define ROW struct vpa_finding
static const struct vpa_field finding_fields[] = {
	{"id", WORD(vpa_finding_id, id), NULL,
		"id of what was found, which does not change: \"sync-drain\" ...",
		.choice = vpa_finding_choice},
	{"title", TEXT(title), NULL, "what to change, in one line"},
	{"measured", TEXT_OR_NULL(measured), NULL, "what was measured; null: nothing to add"},
	{"threshold", TEXT_OR_NULL(threshold), NULL,
		"threshold from which it is listed; null: always listed"},
	{"gain_at_most_ms", POSITIVE(gain_at_most_ms), "ms",
		"the most it could save, if nothing else becomes the bottleneck; null: no time"},
	{"evidence", TEXTS(evidence, evidence_count), NULL,
		"ids of the text report's rows (S1, G4, K1) and names"},
	{"status", WORD(vpa_finding_status, status), NULL, "fail, warn or info",
		.choice = vpa_finding_status_choice},
	{"caveat", TEXT_OR_NULL(caveat), NULL, "what the gain assumes; null: nothing more"},
	{"gain_shared_ms", POSITIVE(gain_shared_ms), "ms",
		"part of the gain that other findings claim too; null: none"},
	{"gain_from_ms", POSITIVE(gain_from_ms), "ms",
		"lower end of the gain; null: the gain is one number"},
	{"base", BASE_OR_NULL(base), NULL,
		"what base_gain_ms is a part of: the report's unit (the mean one, or the only "
		"one), which is a block, request, step, iteration, inferred step or instance of a "
		"range; where the gain lies outside, active or idle time; null: no gain"},
	{"base_ms", POSITIVE(base_ms), "ms",
		"length of the base: of steps from one to the next, of the only one from its "
		"range's start; null: no gain"},
	{"base_gain_ms", POSITIVE(base_gain_ms), "ms", "the gain in the base; null: no gain"},
	{"base_gain_from_ms", POSITIVE(base_gain_from_ms), "ms",
		"lower end of base_gain_ms; null: it is one number"},
	{"base_likely_ms", POSITIVE(base_likely_ms), "ms",
		"what findings are ordered by: of host code what half of it would save in the "
		"base, of "
		"a range its middle, else base_gain_ms; null: no gain"},
	{"fps_from", POSITIVE(fps_from), "frames/s",
		"steady FPS as measured, of a request end to end; null: unavailable"},
	{"fps_to", POSITIVE(fps_to), "frames/s", "the same with the full gain; null: unavailable"},
	{"steps_per_s_from", POSITIVE(steps_per_s_from), "steps/s",
		"steps or iterations per second as measured; null: base is neither, or the only "
		"step"},
	{"steps_per_s_to", POSITIVE(steps_per_s_to), "steps/s",
		"the same with the full gain; null: as before"},
	{"adds_ms", POSITIVE(adds_ms), "ms",
		"part of gain_at_most_ms that no finding before it may save too, which no two of "
		"them "
		"claim; null: nothing"},
	{"instead_of", WORD_OR_NULL(vpa_finding_id, instead_of), NULL,
		"id of the finding before it that may save most of the rest; null: none",
		.choice = vpa_finding_choice},
	{"note", TEXT_OR_NULL(note), NULL, "where most of it lies; null: nothing to add"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
	{"host_code_ms", POSITIVE(host_code_ms), "ms",
		"of the idle time that a wait is to blame for: the host ran its own code after it, "
		"and less of that would save the same time; null: none"},
	{"change", TEXT_OR_NULL(change), NULL,
		"the change that it asks for, as what-if --change takes it; null: there is none"},
	{"predicted_ms", POSITIVE(predicted_ms), "ms",
		"length of the base if the trace is replayed with the change; null: no prediction"},
	{"fps_predicted", POSITIVE(fps_predicted), "frames/s",
		"the FPS of fps_from with the change; null: no prediction"},
	{"steps_per_s_predicted", POSITIVE(steps_per_s_predicted), "steps/s",
		"the rate of steps_per_s_from with the change; null: no prediction"},
	{"predicted_at_least", FLAG(predicted_at_least), NULL,
		"the change leaves out a part of the repair, whose effect the trace does not tell: "
		"the "
		"repair brings as much as predicted, or more"},
};
static const struct vpa_fields finding =
	FIELDS("finding", "a conclusion, with its evidence", finding_fields);
#undef ROW

/* ---- forecast ---- */

static const char *confidence_choice(size_t i)
{
	return i < VPA_CONFIDENCES ? vpa_confidence_word((enum vpa_confidence)i) : NULL;
}

static uint64_t confidence(const struct vpa_at *at)
{
	const struct vpa_forecast *f = at->row;

	return f->confidence;
}

static int is_replayed(const struct vpa_at *at)
{
	const struct vpa_forecast_stage *s = at->row;

	return s->is_replayed;
}

#define ROW struct vpa_forecast_stage
static const struct vpa_field forecast_stage_fields[] = {
	{"name", TEXT_OR_NULL(name), NULL,
		"name of the stage, one that is in no other one; null: the time between stages"},
	{"host_ms", REAL(host_ms), "ms",
		"its part of the host's pace: of the forecast's host_ms; null: no replayed part of "
		"the "
		"trace has it",
		.known = is_replayed},
	{"recorded_ms", REAL(recorded_ms), "ms",
		"its part of the forecast's base_ms; null: as before", .known = is_replayed},
	{"predicted_ms", REAL(predicted_ms), "ms",
		"the same with the changes of all findings, or of the only one that has any; "
		"without, as "
		"recorded; null: as before",
		.known = is_replayed},
};
static const struct vpa_fields forecast_stage =
	FIELDS("forecast_stage", "a part of the mean block or request", forecast_stage_fields);
#undef ROW

#define ROW struct vpa_forecast
static const struct vpa_field forecast_fields[] = {
	{"confidence", COMPUTED(CHOICE), NULL, "how far predictions can be trusted",
		.number = confidence, .choice = confidence_choice},
	{"why_not", TEXT_OR_NULL(why_not), NULL, "why there are none; null: there are"},
	{"base", BASE_OR_NULL(base), NULL,
		"what the paces are of: the report's unit, the mean one, or active, the time from "
		"the first op to the last; null: no forecast"},
	{"base_ms", POSITIVE(base_ms), "ms", "its length; null: no forecast"},
	{"host_ms", POSITIVE(host_ms), "ms",
		"the host's pace: its length if no op took time; null: no forecast"},
	{"gpu_ms", POSITIVE(gpu_ms), "ms",
		"the GPUs' pace: its length if the host took no time and waited for nothing; null: "
		"no forecast"},
	{"unexplained_share", SHARE(unexplained_share), "fraction",
		"delay of ops for which no reason is known, of the time from the first op to the "
		"last; may exceed 1"},
	{"inferred_share", SHARE(inferred_share), "fraction",
		"the same for delay whose reason was inferred"},
	{"handed_over_share", SHARE(handed_over_share), "fraction",
		"the same for host code that is taken to wait for a call of another thread"},
	{"replayed_share", SHARE(replayed_share), "fraction",
		"of the trace: of a large one only parts are replayed, spread evenly"},
	{"without_call_share", SHARE(without_call_share), "fraction",
		"ops whose launch is not known: no change of the host moves them"},
	{"all_count", SIZE(all_count), "findings",
		"findings with a prediction, whose changes are made together"},
	{"all_ms", POSITIVE(all_ms), "ms", "the base with all of them; null: fewer than two"},
	{"all_fps", POSITIVE(all_fps), "frames/s", "FPS with all of them; null: unavailable"},
	{"all_steps_per_s", POSITIVE(all_steps_per_s), "steps/s",
		"steps or iterations per second with all of them; null: unavailable"},
	{"all_at_least", FLAG(all_at_least), NULL,
		"one of them brings as much as predicted, or more"},
	{"stages", ROWS(forecast_stage, stages, stage_count), NULL,
		"what the mean block or request is made of, in order; the times add up; empty: "
		"stages "
		"overlap, or there are none"},
};
const struct vpa_fields vpa_fields_forecast = FIELDS("forecast",
	"what a replay of the trace says; the predictions are in the findings", forecast_fields);
#undef ROW

/* ---- the whole ---- */

static const char *schema_choice(size_t i)
{
	return i ? NULL : VPA_REPORT_SCHEMA;
}

static int is_forecast(const struct vpa_at *at)
{
	return at->report->forecast.is_asked;
}

static int has_rivals(const struct vpa_at *at)
{
	return at->report->step_rival_count > 0;
}

static int has_inferred(const struct vpa_at *at)
{
	return at->report->inferred_count > 0;
}

static int has_marked(const struct vpa_at *at)
{
	size_t i;

	for (i = 0; i < at->report->request_count; i++)
		if (at->report->requests[i].blocks.measured)
			return 0;
	return at->report->step_part_count > 0;
}

#define ROW struct vpa_report
static const struct vpa_field report_fields[] = {
	{"schema", COMPUTED(CHOICE), NULL, "name and version of this schema",
		.number = vpa_first_choice, .choice = schema_choice},
	{"input", PART(input), NULL, "what was analyzed"},
	{"system", PART(vpa_fields_system), NULL, "where it was recorded"},
	{"verdict", PART(verdict), NULL, "whether it is complete"},
	{"counts", PART(counts), NULL, "events in the window"},
	{"devices", ROWS(device, devices, device_count), NULL,
		"GPUs with ops of positive duration"},
	{"gaps", ROWS(gap, gaps, gap_count), NULL,
		"the longest gaps, at most --top; by duration, descending"},
	{"families", ROWS(family, families, family_count), NULL, "by exclusive time, descending"},
	{"kernels", ROWS(kernel, kernels, kernel_count), NULL,
		"at most --top; by exclusive time, descending"},
	{"attention", MEMBER(attention, attention), NULL, "attention of all devices"},
	{"requests", ROWS(vpa_fields_request, requests, request_count), NULL,
		"by start; empty without blocks and steps"},
	{"stages", ROWS(vpa_fields_stage, stages, stage_count), NULL,
		"stages of all requests, in order of their first op"},
	{"ranges", ROWS(range, ranges, range_count), NULL,
		"at most --top of each domain; by host time, descending"},
	{"copies", ROWS(copy, copies, copy_count), NULL, "by direction and kinds of memory"},
	{"syncs", ROWS(sync, syncs, sync_count), NULL, "by idle_ns, then total_ns, descending"},
	{"counters", ROWS(vpa_fields_counter, counters, counter_count), NULL,
		"series of samples; by device, those of none last, then by name"},
	{"findings", ROWS(finding, findings, finding_count), NULL, "most important first"},
	{"gemm_precisions", ROWS(precision, precisions, precision_count), NULL,
		"as far as kernel names show it; by exclusive time, descending"},
	{"elementwise_chains", MEMBER(chains, chains), NULL,
		"elementwise kernels, casts, reductions and norms that run one after the other"},
	{"steps_inferred", ROWS(vpa_fields_inferred, inferred, inferred_count), NULL,
		"steps inferred from the kernel sequence, a row per GPU; absent if there are none, "
		"or if anything is marked",
		.known = has_inferred, .optional = 1},
	{"steps_unclear", ROWS(vpa_fields_rival, step_rivals, step_rival_count), NULL,
		"two repetitions, the smaller first, of which either may be the steps; absent if "
		"there "
		"are none",
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
};
const struct vpa_fields vpa_fields_report = FIELDS(
	"report", "where the time of a GPU trace went, and why the GPU was idle", report_fields);
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
		.first = "name family calls exclusive_ns mean_ns p50_ns p95_ns max_ns",
		.prefix = "K",
		VPA_TEXT_COLUMNS({"ms", .key = "exclusive_ns"},
			{"% busy", .key = "exclusive_ns", .form = VPA_CELL_OF_BUSY},
			{"calls", .key = "calls", .drop = 1},
			{"mean", .key = "total_ns", .over = "calls", .drop = 2})},
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
	{"ranges", "Ranges by time on the host", .section = "ranges",
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
			.least_rows = 2, .most = 32, .label = "{gpu}"},
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
