/* fields_lines.c - the JSON report: lines of Python. */
#include "analysis/render/fields/fields.h"

/* Fields of a line: a member of ROW. */
#define LINE_FIELDS(m)                                                                             \
	{"function", TEXT_OR_NULL(m.function), NULL, "name of the function; null: no line known"}, \
		{"file", TEXT_OR_NULL(m.file), NULL,                                               \
			"its file, as recorded; empty: built in; null: no line known"},            \
	{                                                                                          \
		"line", KNOWN(m.number), "id", "number of the line; null: not known"               \
	}

#define ROW struct vpa_top_line
static const struct vpa_field top_fields[] = {
	LINE_FIELDS(line),
	{"samples", KNOWN(samples), "samples",
		"samples that belong to the time; null: the stacks are exact"},
	{"share", SHARE(share), "fraction",
		"of all the time, by the samples' weight, that is at the line; 0: no line known"},
	{"cpu_wait_ns", U64(wait_ns), "ns",
		"of the time: the thread could run, but no CPU was free"},
};
TABLE(vpa_fields_top_line, "top_line", "the line of Python where most of some idle time was spent",
	top_fields);
#undef ROW

#define ROW struct vpa_idle_line
static const struct vpa_field idle_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"why the device was idle"},
	LINE_FIELDS(line),
	{"ns", .head = "time", U64(ns), "ns",
		"idle time; of a device and cause they sum to all of it"},
	{"samples", U64(samples), "samples", "at the line; 0: none, or the stacks are exact"},
};
static TABLE(idle, "idle_line", "idle time of one cause at one line", idle_fields);
#undef ROW

#define ROW struct vpa_launch_line
static const struct vpa_field launch_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	LINE_FIELDS(line),
	{"ops", U64(ops), "ops", "kernels, copies and memsets that it launched"},
	{"busy_ns", U64(busy_ns), "ns", "sum of their durations"},
};
static TABLE(launch, "launch_line", "work that one line launched", launch_fields);
#undef ROW

#define ROW struct vpa_module_row
static const struct vpa_field module_fields[] = {
	{"name", TEXT(name), NULL, "class of the module"},
	{"path", TEXT(path), NULL, "classes of the modules around it, and its own"},
	{"label", TEXT(label), NULL, "the name, indented by the modules around it"},
	{"depth", UNSIGNED(depth), "modules", "modules around it"},
	{"instances", U64(instances), "modules", "of this class in this place that launched work"},
	{"ops", U64(ops), "ops", "that they and the modules inside them launched"},
	{"gpu_ns", U64(gpu_ns), "ns", "sum of the durations of these ops", .head = "GPU"},
	{"own_ns", U64(own_ns), "ns", "of gpu_ns: not launched by a module inside",
		.head = "GPU, own"},
};
static TABLE(module, "module", "work by the torch.nn.Module that launched it", module_fields);
#undef ROW

#define ROW struct vpa_lines
static const struct vpa_field lines_fields[] = {
	{"idle", ROWS(idle, idle, idle_count), NULL,
		"idle time by line and cause, descending; small lines summed as \"(other)\", time "
		"without a line last"},
	{"launches", ROWS(launch, launches, launch_count), NULL,
		"launched work by line, of sampled stacks the line of the next sample; by "
		"busy_ns, descending"},
	{"modules", ROWS(module, modules, module_count), NULL,
		"each after the module around it, by gpu_ns, descending; at most --top, the "
		"largest; empty where no profiler recorded calls of modules"},
};
TABLE(vpa_fields_lines, "lines", "lines of Python, from samples of stacks or a profiler's records",
	lines_fields);
#undef ROW

/* ---- what people see of these rows ---- */

const struct vpa_view vpa_views_lines[] = {
	{"lines.idle", VPA_TEXT_COLUMNS({"ms", .key = "ns"},
			       {"% window", .key = "ns", .form = VPA_CELL_OF_WINDOW, .drop = 1},
			       {"samples", .key = "samples", .drop = 2, .blank = 1})},
	{"lines.launches",
		VPA_TEXT_COLUMNS({"ms", .key = "busy_ns"}, {"ops", .key = "ops", .drop = 1})},
	{"lines.modules", "Modules by the work that they launch", .section = "lines",
		.first = "label instances ops gpu_ns own_ns",
		.text = {"modules", .after = "lines", .rank = 29,
			.title = "MODULES, by the work that they launch", .label = "{label}",
			.used_at = offsetof(struct vpa_report, lines.modules_used)},
		VPA_TEXT_COLUMNS({"GPU ms", .key = "gpu_ns"}, {"own ms", .key = "own_ns"},
			{"ops", .key = "ops", .drop = 1},
			{"modules", .key = "instances", .drop = 2})},
	{.path = NULL},
};
