/* table_columns.c - the tables of a report, each with its place. A table's rows, labels and title in the text are in the function
 * that prints it. */
#include "analysis/render/table_columns.h"

#define COLUMNS(...)                                                                               \
	.text = (const struct vpa_column[]){__VA_ARGS__},                                          \
	.text_count = sizeof((struct vpa_column[]){__VA_ARGS__}) / sizeof(struct vpa_column)

const struct vpa_view vpa_views[] = {
	{"requests", "Requests",
		.first = "name frames fps_end_to_end blocks.fps blocks.bps blocks.count "
			 "blocks.period.mean_ns blocks.period.p95_ns steps.count steps.s_per_it "
			 "ttfb_ns ttff_ns frames_asked width height steps_asked guidance "
			 "passes_per_step batch seed error",
		COLUMNS({"blocks", .key = "blocks.count"}, {"frames", .key = "frames"},
			{"FPS", .key = "blocks.fps", .form = VPA_CELL_RATE},
			{"end to end", .key = "fps_end_to_end", .form = VPA_CELL_RATE,
				.unit = "FPS"},
			{"BPS", .key = "blocks.bps", .form = VPA_CELL_RATE, .drop = 1},
			{"first block", .key = "ttfb_ns", .form = VPA_CELL_DURATION})},
	{"requests.blocks.series", "Blocks",
		.first = "index period_ns latency_ns busy_ns idle_ns attention_ns frames warmup "
			 "missed",
		.prefix = "B"},
	{"stages", "The measured instances of a stage together",
		.first = "name time.count per_block time.mean_ns time.total_ns share busy_ns "
			 "idle_ns attention_ns"},
	{"counters", "Series",
		.first = "name unit device samples min mean mean_of p95 max energy_wh"},

	{"attention.backends", "Fused attention by back-end", .section = "attention",
		.first = "backend calls total_ns aux_calls aux_ns share_of_busy",
		COLUMNS({"ms", .key = "total_ns"}, {"helpers ms", .key = "aux_ns", .drop = 1},
			{"% busy", .key = "share_of_busy"}, {"calls", .key = "calls"})},
	{"attention.eager", "Attention that is not fused", .section = "attention",
		.first = "range softmax count total_ns softmax_ns gemm",
		COLUMNS({"ms", .key = "total_ns"}, {.head = "helpers ms"},
			{"% busy", .key = "total_ns", .form = VPA_CELL_OF_BUSY},
			{"calls", .key = "count"})},
	{"attention.changes", "Places with more than one back-end", .section = "attention"},
	{"attention_shapes", "Fused attention by kernel and grid", .section = "attention",
		COLUMNS({"ms", .key = "total_ns"}, {"calls", .key = "calls"},
			{"mean", .key = "total_ns", .over = "calls"},
			{"min", .key = "min_ns", .form = VPA_CELL_DURATION, .drop = 2},
			{"max", .key = "max_ns", .form = VPA_CELL_DURATION, .drop = 1},
			{"blocks", .key = "blocks"})},
	{"gemm_precisions", "Matrix products by precision", .section = "attention"},
	{"flop_rates", "Operations per second, where shapes are known", .section = "attention",
		.first = "device family precision calls kernel_ns tflops peak_tflops share_of_peak",
		COLUMNS({"TFLOP/s", .key = "tflops"}, {"% of peak", .key = "share_of_peak"},
			{"peak", .key = "peak_tflops", .form = VPA_CELL_WHOLE, .drop = 1},
			{"ms", .key = "kernel_ns"}, {"calls", .key = "calls", .drop = 2})},
	{"byte_rates", "Bytes per second, where shapes are known", .section = "kernels",
		.first = "device kernel family calls kernel_ns gb_per_s peak_gb_per_s "
			 "share_of_peak"},

	{"checklist.checks", "Checks", .section = "checklist",
		.first = "title status value pass_bound warn_bound note"},
	{"step_kinds.kinds", "Steps by their kernels", .section = "checklist",
		.first = "role steps ops of_full mean_ns total_ns second_half_ns saved_ns",
		COLUMNS({"ms", .key = "total_ns"}, {"mean", .key = "total_ns", .over = "steps"},
			{"steps", .key = "steps"}, {"ops/step", .key = "ops", .drop = 1},
			{"% of full", .key = "of_full", .drop = 2, .blank = 1})},

	{"misfits", "Alignment, precision, layout", .section = "kernels",
		.first = "title kernel calls exclusive_ns share_of_busy advice",
		COLUMNS({"ms", .key = "exclusive_ns"},
			{"% busy", .key = "exclusive_ns", .form = VPA_CELL_OF_BUSY},
			{"calls", .key = "calls", .drop = 1})},
	{"families", "Kernel families", .section = "kernels"},
	{"stage_families", "Families by stage", .section = "kernels",
		.first = "stage family exclusive_ns stage_ns"},
	{"kernels", "Kernels by exclusive time", .section = "kernels",
		.first = "name family calls exclusive_ns mean_ns p50_ns p95_ns max_ns",
		.prefix = "K",
		COLUMNS({"ms", .key = "exclusive_ns"},
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
		COLUMNS({"ms", .key = "total_ns"}, {"bytes", .key = "bytes"},
			{"GB/s", .key = "gb_per_s"}, {"count", .key = "count"})},

	{"syncs", "Calls that wait for the GPU", .section = "syncs", .prefix = "S",
		COLUMNS({"idle ms", .key = "idle_ns"}, {"gaps", .key = "gaps"},
			{"in call ms", .key = "total_ns", .drop = 1}, {"calls", .key = "count"})},

	{"ranges", "Ranges by time on the host", .section = "ranges",
		.first = "name domain count host.mean_ns host.p95_ns host.total_ns busy_ns "
			 "idle_host_ns ops",
		.prefix = "R",
		COLUMNS({"n", .key = "count"},
			{"host mean", .key = "host.total_ns", .over = "count"},
			{"host ms", .key = "host.total_ns", .drop = 2},
			{"GPU busy ms", .key = "busy_ns"},
			{"GPU idle ms", .key = "idle_host_ns", .drop = 1})},

	{"cuda_graphs.graphs", "CUDA graphs by time", .section = "graphs",
		COLUMNS({"ms", .key = "total_ns"}, {"kernels ms", .key = "nodes_ns", .drop = 2},
			{"replays", .key = "replays"}, {"nodes", .key = "nodes"},
			{"mean", .key = "total_ns", .over = "replays", .drop = 1})},
	{"cuda_graphs.setup", "Calls that load code or make graphs", .section = "graphs",
		COLUMNS({"host ms", .key = "total_ns"}, {"calls", .key = "count"},
			{"mean", .key = "total_ns", .over = "count", .drop = 1})},

	{"overlap", "What runs at the same time", .section = "devices"},
	{"streams", "Streams", .section = "devices",
		COLUMNS({"busy ms", .key = "busy_ns"}, {.head = "% window"},
			{"ops", .key = "ops"})},
	{"devices", "GPUs with work", .section = "devices",
		.first = "device active_ns busy_ns idle_ns compute_ns exposed_copy_ns "
			 "exposed_comm_ns gaps longest_gap_ns ops streams limit",
		COLUMNS({"active ms", .key = "active_ns", .drop = 3}, {"busy ms", .key = "busy_ns"},
			{"compute", .key = "compute_ns", .unit = "ms"},
			{"copies *", .key = "exposed_copy_ns", .unit = "ms"},
			{"comm *", .key = "exposed_comm_ns", .unit = "ms"},
			{"idle ms", .key = "idle_ns"},
			{"longest", .key = "longest_gap_ns", .form = VPA_CELL_DURATION, .drop = 1},
			{"waits +", .key = "comm_wait_ns", .drop = 2, .unit = "ms"})},

	{"lines.idle", COLUMNS({"ms", .key = "ns"},
			       {"% window", .key = "ns", .form = VPA_CELL_OF_WINDOW, .drop = 1},
			       {"samples", .key = "samples", .drop = 2, .blank = 1})},
	{"lines.launches", COLUMNS({"ms", .key = "busy_ns"}, {"ops", .key = "ops", .drop = 1})},
	{.path = NULL},
};

const struct vpa_view *vpa_view_of(const char *path)
{
	const struct vpa_view *v = vpa_views;

	while (v->path && strcmp(v->path, path) != 0)
		v++;
	return v->path ? v : NULL;
}
