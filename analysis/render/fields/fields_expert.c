/* fields_expert.c - the JSON report: what people who tune a pipeline look up by hand. */
#include "analysis/render/fields/fields.h"

/* ---- the checklist ---- */

static VPA_WORDS(status_choice, [VPA_CHECK_PASS] = "pass", [VPA_CHECK_WARN] = "warn",
	[VPA_CHECK_FAIL] = "fail", [VPA_CHECK_UNKNOWN] = "unknown");

#define ROW struct vpa_check
static const struct vpa_field check_fields[] = {
	{"id", .look = VPA_LOOK_SINGLE | VPA_LOOK_ID, TEXT(id), NULL,
		"id of the check, which does not change: \"gpu-busy\" ..."},
	{"title", TEXT(title), NULL, "what is looked up"},
	{"status", .look = VPA_LOOK_STATUS, CHOICE(vpa_check_status, status), NULL,
		"pass, warn, fail; unknown: not in the capture, or records are missing",
		.choice = status_choice},
	{"value", RATE(value), "unit", "the figure; null: not known"},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, TEXT(unit), NULL,
		"of value and bounds: fraction, ns"},
	{"pass_bound", REAL(pass_bound), "unit", "passes below it, or from it on: at_least"},
	{"warn_bound", REAL(warn_bound), "unit", "fails beyond it"},
	{"at_least", FLAG(at_least), NULL, "larger values are better"},
	{"note", TEXT_OR_NULL(note), NULL,
		"what it is a figure of, or why it is not known; null: nothing to add"},
};
static TABLE(check, "check", "a figure of the checklist, and its bounds", check_fields);
#undef ROW

VPA_KNOWN(has_loop, void, at->report->expert.loop.count != 0);

#define ROW struct vpa_check_loop
static const struct vpa_field loop_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, CHOICE(vpa_unit_kind, kind), NULL,
		"the unit of the report: what its gains, too, are parts of; never a window",
		.choice = vpa_unit_kind_choice},
	{"count", U64(count), "count", "units: measured blocks, requests, steps ..."},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"where it begins, on the trace clock"},
	{"end_ns", .look = VPA_LOOK_MOMENT, U64(end_ns), "ns", "where it ends"},
	{"span_ns", U64(span_ns), "ns",
		"its units' periods; of steps, their number * the mean period"},
	{"busy_ns", U64(busy_ns), "ns",
		"busy time in its units, of steps in their periods, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "idle time there, summed over devices"},
	{"blocking_calls", U64(blocking_calls), "calls",
		"calls that wait for a device and begin in it"},
	{"ops", U64(ops), "ops", "kernels, copies and memsets launched in it"},
	{"ops_count", U64(ops_count), "count",
		"steps, else blocks or iterations, that launched them"},
};
static TABLE(loop, "loop", "what a pipeline spends its time in", loop_fields);
#undef ROW

#define ROW struct vpa_expert
static const struct vpa_field checks_fields[] = {
	{"loop", MEMBER(loop, loop), NULL, "null: nothing is known to repeat", .known = has_loop},
	{"checks", ROWS(check, checks, check_count), NULL, "none without GPU work"},
};
static TABLE(checklist, "checklist", "the questions of diffusers' profiling guide, with answers",
	checks_fields);
#undef ROW

/* ---- CUDA graphs ---- */

#define ROW struct vpa_graph_row
static const struct vpa_field graph_fields[] = {
	{"nodes", U64(nodes), "ops", "kernels, copies and memsets of a replay"},
	{"replays", U64(replays), "count", "launches with the same nodes"},
	{"total_ns", U64(total_ns), "ns", "first node's start to last node's end, of all replays"},
	{"nodes_ns", U64(kernel_ns), "ns", "sum of the nodes' durations"},
	{"range", PLACE(place), NULL, "the range around the first launch; null: none"},
	{"kernel", .look = VPA_LOOK_KERNEL, TEXT_OR_NULL(kernel), NULL,
		"its first node; null: a copy or memset, or no name"},
};
static TABLE(graph, "cuda_graph", "launches of CUDA graphs with the same nodes", graph_fields);
#undef ROW

static VPA_WORDS(setup_choice, [VPA_SETUP_MODULE] = "module", [VPA_SETUP_GRAPH] = "graph",
	[VPA_SETUP_CAPTURE] = "capture");

#define ROW struct vpa_setup_row
static const struct vpa_field setup_fields[] = {
	{"what", .look = VPA_LOOK_SINGLE, .choice = setup_choice, WORD(vpa_setup_kind, what), NULL,
		"module: loads code; graph: makes a graph; capture: records one, begin to end"},
	{"call", TEXT(call), NULL, "name of the CUDA call"},
	{"count", U64(count), "calls", "its calls, without those inside other rows' calls"},
	{"total_ns", U64(total_ns), "ns", "their time, summed over all threads"},
};
static TABLE(setup, "setup", "calls that load code or make CUDA graphs", setup_fields);
#undef ROW

VPA_KNOWN(has_repeats, void, at->report->expert.graphs.repeats.steps > 0);

#define ROW struct vpa_repeats
static const struct vpa_field repeats_fields[] = {
	{"steps", U64(steps), "count", "steps whose ops outside graphs equal another one's"},
	{"distinct", U64(distinct), "count", "different ones among them"},
	{"all_steps", U64(all_steps), "count", "steps that were compared"},
	{"ops", U64(ops), "ops", "ops outside graphs in steps that repeat"},
	{"save_at_most_ns", U64(save_at_most_ns), "ns",
		"idle time for launching them, less one launch per step"},
};
static TABLE(repeats, "repeats", "steps that could be CUDA graphs", repeats_fields);
#undef ROW

#define ROW struct vpa_graphs
static const struct vpa_field graphs_fields[] = {
	{"launches", U64(launches), "calls", "launches of graphs whose nodes are in the trace"},
	{"nodes", U64(nodes), "ops", "their nodes"},
	{"left_out", U64(left_out), "calls", "launches after the first 1,048,576: not in the rows"},
	{"distinct", SIZE(distinct), "count", "different graphs, by their nodes"},
	{"graphs", ROWS(graph, rows, row_count), NULL, "at most --top; by total_ns, descending"},
	{"setup", ROWS(setup, setup, setup_count), NULL, "by total_ns, descending"},
	{"repeats", MEMBER(repeats, repeats), NULL,
		"null: no step equals another one, or there are none", .known = has_repeats},
	{"compiled_regions", U64(compiled_regions), "count",
		"of torch.compile, as far as names of ranges show"},
	{"recompiles", U64(recompiles), "count", "of them: a later version, compiled again"},
	{"compiler_ranges", U64(compiler_ranges), "ranges", "ranges of torch.compile at work"},
	{"compiler_ns", U64(compiler_ns), "ns", "their time on the host"},
};
static TABLE(cuda_graphs, "cuda_graphs", "CUDA graphs, and what could be one", graphs_fields);
#undef ROW

/* ---- overlap ---- */

static uint64_t busy_of(const struct vpa_at *at)
{
	const struct vpa_overlap_row *o = at->row;
	uint64_t ns = 0;
	size_t i;

	for (i = 1; i < VPA_OVERLAPS; i++)
		ns += o->ns[i];
	return ns;
}

#define OVERLAP(bits) .type = VPA_FIELD_U64, .offset = offsetof(ROW, ns) + sizeof(uint64_t) * (bits)
#define ROW           struct vpa_overlap_row
static const struct vpa_field overlap_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"busy_ns", COMPUTED(U64), "ns", "sum of all others", .number = busy_of},
	{"compute_ns", OVERLAP(VPA_OVERLAP_COMPUTE), "ns", "compute alone"},
	{"comm_ns", OVERLAP(VPA_OVERLAP_COMM), "ns", "communication alone",
		.head = "communication"},
	{"copy_ns", OVERLAP(VPA_OVERLAP_COPY), "ns", "copies and memsets alone", .head = "copies"},
	{"compute_comm_ns", OVERLAP(VPA_OVERLAP_COMPUTE | VPA_OVERLAP_COMM), "ns",
		"compute and communication at once", .head = "compute and comm."},
	{"compute_copy_ns", OVERLAP(VPA_OVERLAP_COMPUTE | VPA_OVERLAP_COPY), "ns",
		"compute and copies at once", .head = "compute and copies"},
	{"comm_copy_ns", OVERLAP(VPA_OVERLAP_COMM | VPA_OVERLAP_COPY), "ns",
		"communication and copies at once", .head = "comm. and copies"},
	{"all_ns", OVERLAP(VPA_OVERLAPS - 1), "ns", "all three at once", .head = "all three"},
};
static TABLE(overlap, "overlap", "busy time of a device by what runs at once", overlap_fields);
#undef ROW
#undef OVERLAP

#define ROW struct vpa_stream_row
static const struct vpa_field stream_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"stream", I64(stream), "id", "CUDA's stream number"},
	{"pid", .look = VPA_LOOK_PROCESS, I64(pid), "id", "its process"},
	{"ops", U64(ops), "ops", "its ops of positive duration"},
	{"busy_ns", U64(busy_ns), "ns", "time in which at least one of them runs"},
};
static TABLE(stream, "stream", "the work of one stream", stream_fields);
#undef ROW

/* ---- formats ---- */

#define ROW struct vpa_misfit_row
static const struct vpa_field misfit_fields[] = {
	{"id", .look = VPA_LOOK_SINGLE | VPA_LOOK_ID, TEXT(id), NULL,
		"align1-gemm, fp32-gemm, layout-copy, pytorch-layout-copy"},
	{"title", TEXT(title), NULL, "what these kernels are"},
	{"advice", TEXT(advice), NULL, "what to change"},
	{"kernel", .look = VPA_LOOK_KERNEL, TEXT(kernel), NULL, "the largest of them"},
	{"calls", U64(calls), "ops", "how often they ran"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k"},
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"exclusive_ns of all devices' busy time; null: not known"},
};
static TABLE(
	misfit, "misfit", "kernels whose alignment, precision or layout costs time", misfit_fields);
#undef ROW

/* ---- stages ---- */

#define ROW struct vpa_stage_family_row
static const struct vpa_field stage_family_fields[] = {
	{"stage", TEXT(stage), NULL, "name of the innermost stage, step, block or request"},
	{"kind", .look = VPA_LOOK_SINGLE, .choice = vpa_scope_choice,
		WORD_OR_NULL(vpa_scope_kind, kind), NULL,
		"stage, step, context, block ...; null: outside all"},
	{"family", .look = VPA_LOOK_SINGLE | VPA_LOOK_FAMILY, FAMILY(family), NULL,
		"kernel family; \"memcpy\", \"memset\""},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"its time, each of k concurrent ops counts 1/k; all rows sum to busy time"},
	{"stage_ns", U64(stage_ns), "ns", "the same, of all families of the stage",
		.head = "all of the stage"},
	{"tensor_ns", U64(tensor_ns), "ns",
		"of exclusive_ns: kernels that multiply with tensor cores, by their name",
		.head = "tensor cores"},
};
static TABLE(
	stage_family, "stage_family", "kernels of one family in one stage", stage_family_fields);
#undef ROW

#define ROW struct vpa_stage_work_row
static const struct vpa_field stage_work_fields[] = {
	{"stage", TEXT(stage), NULL,
		"as in stage_families; \"all\" if nothing marks a stage; \"in several stages\": "
		"ranges whose kernels are of more than one"},
	{"kind", .look = VPA_LOOK_SINGLE, .choice = vpa_scope_choice,
		WORD_OR_NULL(vpa_scope_kind, kind), NULL,
		"stage, step, context, block ...; null: none of these"},
	{"busy_ns", KNOWN(busy_ns), "ns",
		"its ops' time, each of k concurrent ops counts 1/k; null: of several stages"},
	{"tensor_share", RATE(tensor_share), "fraction",
		"of busy_ns: kernels that multiply with tensor cores, by their name; null: of "
		"several stages",
		.head = "tensor cores"},
	{"calls", U64(calls), "ranges", "ranges that say how many operations their kernels do"},
	{"kernel_ns", U64(flop_ns), "ns", "sum of the durations of these kernels",
		.head = "kernel time"},
	{"tflop", RATE(tflop), "TFLOP",
		"operations of these ranges, in 10^12; null: none says how many", .head = "work"},
	{"tflops", RATE(tflops), "TFLOP/s",
		"the same for each second of busy_ns, at least; null: not known", .head = "rate"},
	{"share_of_peak", RATE(share_of_peak), "fraction",
		"of busy_ns, what the operations take at the maker's dense rates of their "
		"formats; at least; null: a rate is not known"},
};
static TABLE(stage_work, "stage_work", "how a stage uses the multipliers of the GPUs",
	stage_work_fields);
#undef ROW

static VPA_NAMES(attention_kind, vpa_attention_kind_name, VPA_ATTENTION_CROSS + 1);

#define ROW struct vpa_attention_shape
static const struct vpa_field shape_fields[] = {
	{"kernel", .look = VPA_LOOK_KERNEL, TEXT(kernel), NULL,
		"the kernel, demangled where possible"},
	{"backend", .look = VPA_LOOK_SINGLE, BACKEND_OR_NULL(backend), NULL,
		"its attention back-end; null: not known"},
	{"kind", .look = VPA_LOOK_SINGLE, CHOICE(vpa_attention_kind, kind), NULL,
		"self or cross, if a range around the launch says so; else unknown",
		.choice = attention_kind},
	{"blocks", KNOWN(blocks), "blocks", "thread blocks of the grid; null: not known",
		.head = "grid blocks"},
	{"calls", U64(calls), "ops", "how often it ran with that grid"},
	{"total_ns", U64(total_ns), "ns", "sum of the durations"},
	{"min_ns", U64(min_ns), "ns", "the shortest"},
	{"max_ns", U64(max_ns), "ns", "the longest"},
};
static TABLE(shape, "attention_shape", "calls of one attention kernel with one grid", shape_fields);
#undef ROW

/* ---- operations per second ---- */

#define ROW struct vpa_flop_row
static const struct vpa_field flop_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"family", .look = VPA_LOOK_SINGLE | VPA_LOOK_FAMILY, TEXT(family), NULL,
		"of the kernels: gemm, attention, conv, several of these, other"},
	{"precision", .look = VPA_LOOK_SINGLE, PRECISION(precision), NULL,
		"what their names show: 16 bit, tf32 ... unknown"},
	{"calls", U64(calls), "ranges", "ranges that say how many operations they do"},
	{"flop", U64(flop), "flop", "floating-point operations of all of them"},
	{"kernel_ns", U64(kernel_ns), "ns", "sum of the durations of all kernels in them",
		.head = "kernel time"},
	{"tflops", SHARE(tflops), "TFLOP/s", "flop / kernel_ns, in 10^12 per second",
		.head = "rate"},
	{"peak_tflops", RATE(peak_tflops), "TFLOP/s",
		"the maker's dense rate for that precision; null: not known", .head = "peak rate"},
	{"share_of_peak", RATE(share_of_peak), "fraction", "tflops / peak_tflops; null: not known"},
};
static TABLE(
	flop_rate, "flop_rate", "operations per second, where ranges say how many", flop_fields);
#undef ROW

/* ---- bytes per second ---- */

#define ROW struct vpa_byte_row
static const struct vpa_field byte_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"kernel", .look = VPA_LOOK_KERNEL, TEXT(kernel), NULL, "name"},
	{"family", .look = VPA_LOOK_SINGLE | VPA_LOOK_FAMILY, FAMILY(family), NULL, "its family"},
	{"calls", U64(calls), "ranges", "ranges of this kernel alone that say how much they move"},
	{"bytes", U64(bytes), "bytes", "read and written by all of them, at least"},
	{"kernel_ns", U64(kernel_ns), "ns", "sum of the durations of their kernels",
		.head = "kernel time"},
	{"gb_per_s", SHARE(gb_per_s), "GB/s", "bytes / kernel_ns, in 10^9 per second",
		.head = "rate"},
	{"peak_gb_per_s", RATE(peak_gb_per_s), "GB/s",
		"the maker's rate of the GPU's memory; null: not known", .head = "peak rate"},
	{"share_of_peak", RATE(share_of_peak), "fraction",
		"gb_per_s / peak_gb_per_s; more than 1: the data stay in a cache; null: not known"},
};
static TABLE(byte_rate, "byte_rate", "bytes per second, where ranges say how many", byte_fields);
#undef ROW

/* ---- operators ---- */

#define ROW struct vpa_operator_row
static const struct vpa_field operator_fields[] = {
	{"name", TEXT(name), NULL, "the operator, as aten::addmm"},
	{"shapes", TEXT_OR_NULL(shapes), NULL,
		"of its inputs, \"4096x768 768x3072\"; null: the trace does not have them"},
	{"calls", U64(calls), "calls", "that began in the window"},
	{"ops", U64(ops), "ops", "that it launched itself, not in an operator inside it"},
	{"gpu_ns", U64(gpu_ns), "ns", "sum of the durations of these ops", .head = "GPU, own"},
	{"host_own_ns", U64(host_own_ns), "ns",
		"of the calls, without the operators inside them; CUDA calls included",
		.head = "host, own"},
	{"host_ns", U64(host_ns), "ns", "of the calls from start to end", .head = "host"},
	{"graph_ops", U64(graph_ops), "ops",
		"nodes of CUDA graphs that were captured in it, in all launches of the graphs",
		.head = "in graphs"},
	{"graph_ns", U64(graph_ns), "ns", "sum of the durations of these",
		.head = "GPU, in graphs"},
	{"tflops", RATE(tflops), "TFLOP/s",
		"operations / gpu_ns of the calls that say how many they do, in 10^12 per second; "
		"null: none does"},
	{"gb_per_s", RATE(gb_per_s), "GB/s",
		"bytes / gpu_ns of the calls that say how many they read and write at least, in "
		"10^9 per second; null: none does"},
};
static TABLE(operator_row, "operator", "calls of an operator with inputs of the same shapes",
	operator_fields);
#undef ROW

/* ---- marks on the host ---- */

#define ROW struct vpa_marked_row
static const struct vpa_field marked_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, TEXT(kind), NULL,
		"request, block, step, context, iteration or stage"},
	{"name", TEXT_OR_NULL(name), NULL,
		"of requests and stages; null: those of a kind are one row"},
	{"depth", UNSIGNED(depth), "marks", "marks around it"},
	{"label", TEXT(label), NULL, "kind and name, indented by the marks around it"},
	{"host", SPREAD(host), NULL, "from start to end on the host"},
};
static TABLE(marked, "marked", "marks of one kind in one place, of a trace without work on a GPU",
	marked_fields);
#undef ROW

/* ---- the tables ---- */

VPA_KNOWN(has_step_kinds, void, at->report->expert.step_kinds.source != VPA_STEPS_UNKNOWN);

#define ROW struct vpa_report
static const struct vpa_field expert_fields[] = {
	{"checklist", MEMBER(checklist, expert), NULL,
		"what to look up first: passed, failed, or not in the capture"},
	{"cuda_graphs", MEMBER(cuda_graphs, expert.graphs), NULL,
		"CUDA graphs, calls that load code or make graphs, and what could be a graph"},
	{"overlap", ROWS(overlap, expert.overlaps, expert.overlap_count), NULL,
		"a row per device with ops of positive duration"},
	{"streams", ROWS(stream, expert.streams, expert.stream_count), NULL,
		"at most --top; by device, then busy_ns, descending"},
	{"collectives", ROWS(vpa_fields_collective, expert.collectives, expert.collective_count),
		NULL,
		"at most --top; by device, then total_ns, descending; those that the window cuts "
		"are left out"},
	{"short_kernels", U64(expert.short_kernels), "kernels", "of less than 10 us"},
	{"short_kernel_ns", U64(expert.short_kernel_ns), "ns", "the sum of their durations"},
	{"short_runs", ROWS(vpa_fields_short_run, expert.short_runs, expert.short_run_count), NULL,
		"at most --top; by span_ns, descending"},
	{"queues", ROWS(vpa_fields_queue, expert.queues, expert.queue_count), NULL,
		"at most --top; by device, then launches, descending; empty where the clocks of "
		"GPU and host disagree"},
	{"misfits", ROWS(misfit, expert.misfits, expert.misfit_count), NULL,
		"kernels whose format costs time; by exclusive_ns, descending"},
	{"stage_families", ROWS(stage_family, expert.stage_families, expert.stage_family_count),
		NULL, "by stage_ns, then exclusive_ns, descending; empty if nothing marks a stage"},
	{"stage_work", ROWS(stage_work, expert.stage_work, expert.stage_work_count), NULL,
		"tensor cores and operations by stage; by busy_ns, descending"},
	{"attention_shapes", ROWS(shape, expert.shapes, expert.shape_count), NULL,
		"fused attention by kernel and grid, at most --top; by total_ns, descending"},
	{"step_kinds", MEMBER(vpa_fields_step_kinds, expert.step_kinds), NULL,
		"steps by the kernels that they run; null: no steps are known",
		.known = has_step_kinds},
	{"flop_rates", ROWS(flop_rate, expert.flop_rates, expert.flop_rate_count), NULL,
		"by device, then kernel_ns, descending; empty where nothing says how many "
		"operations ranges do"},
	{"byte_rates", ROWS(byte_rate, expert.byte_rates, expert.byte_rate_count), NULL,
		"at most --top; by kernel_ns, descending; empty where nothing says how much "
		"memory ranges read and write"},
	{"operators", ROWS(operator_row, expert.operators, expert.operator_count), NULL,
		"of PyTorch, where its profiler or emit_nvtx() recorded them; at most --top; by "
		"gpu_ns, then host_own_ns, descending"},
	{"marked", ROWS(marked, expert.marked, expert.marked_count), NULL,
		"what the marks of a pipeline found, each after the one around it; empty if there "
		"is work on a GPU"},
};
TABLE(vpa_fields_expert, "expert", "tables of what people look up by hand", expert_fields);
#undef ROW

/* ---- what people see of these rows ---- */

const struct vpa_view vpa_views_expert[] = {
	{"checklist.checks", "Checks", .section = "checklist",
		.first = "title status value pass_bound warn_bound note"},
	{"step_kinds.kinds", "Steps by their kernels", .section = "checklist",
		.first = "role steps ops of_full mean_ns total_ns second_half_ns saved_ns",
		VPA_TEXT_COLUMNS({"ms", .key = "total_ns"},
			{"mean", .key = "total_ns", .over = "steps"}, {"steps", .key = "steps"},
			{"ops/step", .key = "ops", .drop = 1},
			{"% of full", .key = "of_full", .drop = 2, .blank = 1})},
	{"attention_shapes", "Fused attention by kernel and grid", .section = "attention",
		.after = "attention.changes",
		VPA_TEXT_COLUMNS({"ms", .key = "total_ns"}, {"calls", .key = "calls"},
			{"mean", .key = "total_ns", .over = "calls"},
			{"min", .key = "min_ns", .form = VPA_CELL_DURATION, .drop = 2},
			{"max", .key = "max_ns", .form = VPA_CELL_DURATION, .drop = 1},
			{"blocks", .key = "blocks"})},
	{"flop_rates", "Operations per second, where shapes are known", .section = "attention",
		.after = "gemm_precisions",
		.first = "device family precision calls kernel_ns tflops peak_tflops share_of_peak",
		.text = {.title = "FLOP RATES, where shapes are known",
			.label = "[{device} ]{family}, {precision}"},
		VPA_TEXT_COLUMNS({"TFLOP/s", .key = "tflops"},
			{"% of peak", .key = "share_of_peak"},
			{"peak", .key = "peak_tflops", .form = VPA_CELL_WHOLE, .drop = 1},
			{"ms", .key = "kernel_ns"}, {"calls", .key = "calls", .drop = 2})},
	{"byte_rates", "Bytes per second, where shapes are known", .section = "kernels",
		.first = "device kernel family calls kernel_ns gb_per_s peak_gb_per_s "
			 "share_of_peak"},
	{"operators", "Operators by their own time on the GPU", .section = "ranges",
		.after = "ranges",
		.first = "name shapes calls gpu_ns graph_ns host_own_ns tflops gb_per_s",
		.text = {"operators", .after = "ranges", .rank = 30,
			.title = "OPERATORS, by their own time", .most = 10,
			.used_at = offsetof(struct vpa_report, expert.operators_used),
			.label = "{name}[ {shapes}]"},
		VPA_TEXT_COLUMNS({"GPU ms", .key = "gpu_ns"},
			{"in graphs", .key = "graph_ns", .blank = 1, .rare = 1},
			{"host ms", .key = "host_own_ns"}, {"calls", .key = "calls"},
			{"TFLOP/s", .key = "tflops", .blank = 1, .rare = 1},
			{"GB/s", .key = "gb_per_s", .blank = 1, .rare = 1, .drop = 1})},
	{"misfits", "Alignment, precision, layout", .section = "kernels", .after = "byte_rates",
		.first = "title kernel calls exclusive_ns share_of_busy advice",
		.text = {"misfits", .after = "kernels", .rank = 16,
			.title = "ALIGNMENT, PRECISION, LAYOUT", .label = "{title}",
			.below = "mostly {kernel:40}: {advice}", .worth = "exclusive_ns",
			.worth_of = VPA_CELL_OF_BUSY},
		VPA_TEXT_COLUMNS({"ms", .key = "exclusive_ns"},
			{"% busy", .key = "exclusive_ns", .form = VPA_CELL_OF_BUSY},
			{"calls", .key = "calls", .drop = 1})},
	{"stage_families", "Families by stage", .section = "kernels", .after = "families",
		.first = "stage family exclusive_ns stage_ns"},
	{"stage_work", "Tensor cores and operations by stage", .section = "kernels",
		.after = "stage_families",
		.first = "stage busy_ns tensor_share tflop tflops share_of_peak",
		.text = {"stage-work", .after = "flop-rates", .rank = 40,
			.title = "WORK BY STAGE, tensor cores by kernel name", .most = 8,
			.label = "{stage}", .worth = "busy_ns", .worth_of = VPA_CELL_OF_BUSY},
		VPA_TEXT_COLUMNS({"busy ms", .key = "busy_ns"}, {"% tensor", .key = "tensor_share"},
			{"TFLOP", .key = "tflop", .blank = 1, .rare = 1},
			{"TFLOP/s", .key = "tflops", .blank = 1, .rare = 1,
				.note = "TFLOP/s, % of peak: at least, of all busy time"},
			{"% of peak", .key = "share_of_peak", .blank = 1, .rare = 1})},
	{"cuda_graphs.graphs", "CUDA graphs by time", .section = "graphs",
		VPA_TEXT_COLUMNS({"ms", .key = "total_ns"},
			{"kernels ms", .key = "nodes_ns", .drop = 2}, {"replays", .key = "replays"},
			{"nodes", .key = "nodes"},
			{"mean", .key = "total_ns", .over = "replays", .drop = 1})},
	{"cuda_graphs.setup", "Calls that load code or make graphs", .section = "graphs",
		VPA_TEXT_COLUMNS({"host ms", .key = "total_ns"}, {"calls", .key = "count"},
			{"mean", .key = "total_ns", .over = "count", .drop = 1})},
	{"overlap", "What runs at the same time", .section = "devices"},
	{"marked", "Marks on the host", .section = "ranges",
		.first = "label host.count host.mean_ns host.total_ns",
		.text = {"marks", .after = "ranges", .rank = 28, .title = "MARKS, on the host",
			.label = "{label}"},
		VPA_TEXT_COLUMNS({"n", .key = "host.count"},
			{"mean", .key = "host.total_ns", .over = "host.count"},
			{"host ms", .key = "host.total_ns"})},
	{"streams", "Streams", .section = "devices",
		VPA_TEXT_COLUMNS({"busy ms", .key = "busy_ns"}, {.head = "% window"},
			{"ops", .key = "ops"})},
	{"collectives", "Collectives", .section = "devices",
		.first = "device kind group bytes calls total_ns bus_gb_per_s bus_gb_per_s_most",
		.text = {"collectives", .after = "overlap", .rank = 34, .title = "COLLECTIVES",
			.most = 10, .label = "[{device} ]{kind}[, {ranks} ranks]",
			.below = "[group {group}]"},
		VPA_TEXT_COLUMNS({"size", .key = "bytes", .blank = 1, .rare = 1},
			{"calls", .key = "calls"}, {"ms", .key = "total_ns"},
			{"shortest", .key = "shortest_ns", .form = VPA_CELL_DURATION, .drop = 2},
			{"GB/s", .key = "bus_gb_per_s", .blank = 1, .rare = 1},
			{"at most", .key = "bus_gb_per_s_most", .blank = 1, .rare = 1, .drop = 1,
				.note = "GB/s: what each link carries; at most: in the shortest "
					"call"})},
	{"short_runs", "Sequences of short kernels", .section = "kernels",
		.first = "device kernels count runs busy_ns span_ns",
		.text = {"short-runs", .after = "kernels", .rank = 38,
			.title = "SHORT KERNELS IN A ROW, what to fuse or launch as a graph",
			.most = 5, .label = "[{device} ]{kernels}", .worth = "span_ns",
			.worth_of = VPA_CELL_OF_WINDOW},
		VPA_TEXT_COLUMNS({"ms", .key = "span_ns"}, {"busy ms", .key = "busy_ns", .drop = 1},
			{"times", .key = "runs"}, {"kernels", .key = "count"})},
	{"queues", "Launches that wait", .section = "devices",
		.first = "device stream launches delay.p50_ns delay.p95_ns delay.max_ns "
			 "waiting_p50 waiting_p95 waiting_max",
		.text = {"queues", .after = "overlap", .rank = 37,
			.title = "LAUNCHES THAT WAIT, by stream", .most = 8,
			.label = "[{device} ]stream {stream}",
			.below = "begun within 10 us: {delays_under_10us}, 100 us: "
				 "{delays_under_100us}, 1 ms: {delays_under_1ms}, 10 ms: "
				 "{delays_under_10ms}, later: {delays_longer}"},
		VPA_TEXT_COLUMNS({"launches", .key = "launches"},
			{"wait p50", .key = "delay.p50_ns", .form = VPA_CELL_DURATION},
			{"p95", .key = "delay.p95_ns", .form = VPA_CELL_DURATION, .drop = 2},
			{"max", .key = "delay.max_ns", .form = VPA_CELL_DURATION, .drop = 1},
			{"ahead p50", .key = "waiting_p50",
				.note = "ahead: launches made and not begun, by time"},
			{"p95", .key = "waiting_p95", .drop = 2}, {"max", .key = "waiting_max"})},
	{.path = NULL},
};
