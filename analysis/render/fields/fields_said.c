/* fields_said.c - the JSON report: what the program said of itself, by annotations and metadata. */
#include "analysis/render/fields/fields.h"

/* ---- facts ---- */

#define ROW struct vpa_fact_of_run
static const struct vpa_field fact_fields[] = {
	{"key", TEXT(key), NULL, "as the program gave it"},
	{"value", TEXT(value), NULL, "its newest value"},
};
static TABLE(fact, "fact", "what the program said of the run", fact_fields);
#undef ROW

/* ---- memory by label ---- */

VPA_KNOWN(
	has_growth, struct vpa_memory_label, row->count > 1 && row->allocated_bytes != UINT64_MAX);
VPA_KNOWN(has_peak, struct vpa_memory_label, row->peak_bytes != UINT64_MAX);

#define ROW struct vpa_memory_label
static const struct vpa_field memory_label_fields[] = {
	{"label", TEXT(label), NULL, "that the program gave the moment"},
	{"device", KNOWN_GPU(device), "id", "CUDA's device number; null: not said"},
	{"count", U64(count), "count", "moments with the label"},
	{"first_ns", U64(first_ns), "ns", "the first one, on the trace clock"},
	{"allocated_bytes", KNOWN_END(allocated_bytes), "bytes",
		"that the allocator had given out, at the newest one; null: not said"},
	{"reserved_bytes", KNOWN_END(reserved_bytes), "bytes",
		"that the allocator held, at the newest one; null: not said"},
	{"peak_bytes", KNOWN_END(peak_bytes), "bytes",
		"the most that was allocated since the label before, of all of them; null: not "
		"said",
		.head = "peak since the label before"},
	{"peak_exact", FLAG(peak_exact), NULL,
		"false: it may have been more, since the allocator's peak was not reset; null: no "
		"peak",
		.known = has_peak},
	{"unused_share", RATE(unused_share), "fraction",
		"of reserved_bytes: not allocated, at the newest one. Much of it hints at "
		"fragmentation; null: not known",
		.head = "reserved, not allocated"},
	{"growth_bytes", I64(growth_bytes), "bytes",
		"allocated_bytes less that of the first one; null: the label is there once",
		.known = has_growth},
};
static TABLE(memory_label, "memory_label", "what an allocator held at moments with one label",
	memory_label_fields);
#undef ROW

/* ---- components ---- */

#define ROW struct vpa_component
static const struct vpa_field component_fields[] = {
	{"name", TEXT(name), NULL, "of the component or stage"},
	{"is_component", FLAG(is_component), NULL, "the program calls it a component"},
	{"frames", KNOWN(frames), "frames", "that its calls make; null: not said"},
	{"fps", RATE(fps), "frames/s",
		"frames for each second of the time of the calls that say some; null: no frames",
		.head = "FPS"},
	{"on_gpu", FLAG(on_gpu), NULL, "some call launched work on a GPU"},
	{"time", SPREAD(time), NULL,
		"of calls with work on a GPU: first op's start to last op's end; if none has "
		"any, as host"},
	{"host", SPREAD(host), NULL, "from start to end on the host"},
	{"peak_bytes", KNOWN_END(peak_bytes), "bytes",
		"the most that PyTorch's allocator had given out in it; null: not sampled"},
};
static TABLE(component, "component", "a part of the pipeline: its calls, frames and memory",
	component_fields);
#undef ROW

/* ---- models ---- */

#define ROW struct vpa_model_size
static const struct vpa_field model_fields[] = {
	{"name", TEXT(name), NULL, "that the program gave it"},
	{"stage", TEXT_OR_NULL(stage), NULL, "the stage that runs it; null: not said"},
	{"parameters", U64(parameters), "count", "of the network"},
	{"bytes", KNOWN_END(bytes), "bytes", "of its parameters and buffers; null: not said"},
	{"dtypes", TEXT_OR_NULL(dtypes), NULL,
		"parameters by type, \"bfloat16:1300000000 float32:1024\"; null: not said"},
};
static TABLE(model, "model", "a network of the program", model_fields);
#undef ROW

/* ---- compilations ---- */

#define ROW struct vpa_compilation
static const struct vpa_field compilation_fields[] = {
	{"id", .look = VPA_LOOK_SINGLE | VPA_LOOK_ID, TEXT(id), NULL,
		"\"3/1\": code 3 in its second version; \"?\": only a reason was said"},
	{"function", TEXT_OR_NULL(function), NULL, "function and line; null: not said"},
	{"reason", TEXT_OR_NULL(reason), NULL,
		"why it was compiled again; null: not said, or it is the first version"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"when it began, on the trace clock"},
	{"host_ns", U64(host_ns), "ns", "how long it took"},
	{"block", NATURAL(block), "id", "index of the block around it; null: none"},
	{"step", NATURAL(step), "id", "index of the step around it; null: none"},
	{"place", TEXT_OR_NULL(place), NULL, "the innermost range around it; null: none"},
};
static TABLE(compilation, "compilation", "a compilation of torch.compile", compilation_fields);
#undef ROW

/* ---- moments ---- */

#define ROW struct vpa_moment
static const struct vpa_field moment_fields[] = {
	{"name", TEXT(name), NULL, "of the mark"},
	{"domain", TEXT_OR_NULL(domain), NULL, "of NVTX; null: the default one"},
	{"count", U64(count), "count", "how often it was marked"},
	{"first_ns", U64(first_ns), "ns", "the first time, on the trace clock"},
	{"after_ns", U64(after_ns), "ns", "from the window's start to the first time"},
	{"span_ns", U64(span_ns), "ns", "from the first time to the last"},
};
static TABLE(moment, "moment", "moments that the program marked with one name", moment_fields);
#undef ROW

/* ---- iterations ---- */

#define ROW struct vpa_iteration
static const struct vpa_field iteration_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, SCOPE(kind), NULL,
		"step, context, iteration; block or request where there is none"},
	{"index", NATURAL(index), "id", "its number; null: not given"},
	{"block", NATURAL(block), "id", "index of the block around it; null: none"},
	{"request", NATURAL(request), "id", "number of the request around it, from 0; null: none"},
	{"timestep", NATURAL(timestep), "timestep", "of the diffusion schedule; null: not given"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"its start on the host, on the trace clock"},
	{"host_ns", U64(host_ns), "ns", "from start to end on the host"},
	{"gpu_ns", KNOWN(gpu_ns), "ns",
		"first op's start to last op's end; null: no work on a GPU"},
	{"busy_ns", U64(busy_ns), "ns", "time its own ops ran, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "of gpu_ns: the device ran nothing, summed over devices"},
	{"ops", U64(ops), "ops", "kernels, copies and memsets launched in it"},
};
static TABLE(iteration, "iteration", "a step or iteration, one by one", iteration_fields);
#undef ROW

/* ---- the tables ---- */

#define ROW struct vpa_report
static const struct vpa_field said_fields[] = {
	{"memory_labels", ROWS(memory_label, said.memory_labels, said.memory_label_count), NULL,
		"at most --top; by first_ns; empty where the program gave none"},
	{"components", ROWS(component, said.components, said.component_count), NULL,
		"components, then stages, by time, descending; empty where no component and no "
		"frames of a stage are said"},
	{"models", ROWS(model, said.models, said.model_count), NULL,
		"by parameters, descending; empty where the program gave none"},
	{"compilations", ROWS(compilation, said.compilations, said.compilation_count), NULL,
		"the first 4,096, by start_ns; empty where the program was not asked to tell"},
	{"facts", ROWS(fact, said.facts, said.fact_count), NULL,
		"of the run, in keys of the program's own; empty where it gave none, and of a "
		"trace of another tool"},
	{"moments", ROWS(moment, said.moments, said.moment_count), NULL,
		"marks that are no annotations; at most --top; by first_ns"},
	{"iterations", ROWS(iteration, said.iterations, said.iteration_count), NULL,
		"the first 4,096, by start_ns"},
};
TABLE(vpa_fields_said, "said", "what the program said of itself", said_fields);
#undef ROW

/* ---- what people see of these rows ---- */

const struct vpa_view vpa_views_said[] = {
	{"memory_labels", "Memory by label", .section = "said",
		.first = "label allocated_bytes reserved_bytes unused_share peak_bytes "
			 "growth_bytes count",
		.text = {"memory-labels", .after = "counters", .rank = 36,
			.title = "MEMORY, by label", .label = "{label}[, {device}]",
			.used_at = offsetof(struct vpa_report, said.memory_labels_used)},
		VPA_TEXT_COLUMNS({"allocated", .key = "allocated_bytes"},
			{"reserved", .key = "reserved_bytes"},
			{"% unused", .key = "unused_share",
				.note = "% unused: of the reserved; much hints at fragmentation"},
			{"peak", .key = "peak_bytes",
				.note = "peak: the most allocated since the label before"},
			{"growth", .key = "growth_bytes", .blank = 1, .rare = 1},
			{"n", .key = "count", .drop = 1})},
	{"facts", "Facts of the run", .section = "said",
		.text = {"said", .after = "facts", .rank = 35, .title = "THE PROGRAM SAID",
			.label = "{key}: {value}"},
		VPA_TEXT_COLUMNS({.head = ""})},
	{"components", "Components and stages", .section = "said",
		.first = "name is_component frames fps time.count time.mean_ns time.min_ns "
			 "time.max_ns time.deviation_ns host.mean_ns peak_bytes",
		.text = {"components", .after = "stages", .rank = 31,
			.title = "COMPONENTS AND STAGES", .label = "{name}"},
		VPA_TEXT_COLUMNS({"FPS", .key = "fps", .form = VPA_CELL_RATE},
			{"mean", .key = "time.total_ns", .over = "time.count"},
			{"on host", .key = "host.total_ns", .over = "host.count", .drop = 2},
			{"min", .key = "time.min_ns", .form = VPA_CELL_DURATION},
			{"max", .key = "time.max_ns", .form = VPA_CELL_DURATION},
			{"std", .key = "time.deviation_ns", .form = VPA_CELL_DURATION, .drop = 1},
			{"memory", .key = "peak_bytes"}, {"n", .key = "host.count", .drop = 3})},
	{"models", "Networks", .section = "said",
		.text = {"models", .after = "components", .rank = 32, .title = "NETWORKS",
			.label = "{name}[, in {stage}]", .below = "[{dtypes}]"},
		VPA_TEXT_COLUMNS({"parameters", .key = "parameters"}, {"memory", .key = "bytes"})},
	{"compilations", "Compilations", .section = "said",
		.first = "id function reason host_ns block step place start_ns",
		.text = {"compilations", .after = "graphs", .rank = 33, .title = "COMPILATIONS",
			.most = 10, .used_at = offsetof(struct vpa_report, said.compilations_used),
			.label = "{id}[ {function}][, in block {block}][, step {step}]",
			.below = "[{reason}]"},
		VPA_TEXT_COLUMNS({"host ms", .key = "host_ns"})},
	{"moments", "Moments", .section = "said",
		.first = "name count after_ns span_ns domain first_ns",
		.text = {"moments", .after = "memory-labels", .rank = 41, .title = "MOMENTS",
			.most = 10, .used_at = offsetof(struct vpa_report, said.moments_used),
			.label = "[{domain}: ]{name}"},
		VPA_TEXT_COLUMNS({"n", .key = "count"},
			{"after", .key = "after_ns", .form = VPA_CELL_DURATION,
				.note = "after: from the window's start to the first; to last: "
					"from that to the last"},
			{"to last", .key = "span_ns", .form = VPA_CELL_DURATION})},
	{"iterations", "Iterations, one by one", .section = "said",
		.first = "kind index block request timestep host_ns gpu_ns busy_ns idle_ns ops",
		.text = {"iterations", .after = "steps", .rank = 39, .is_asked = 1,
			.title = "ITERATIONS, one by one",
			.used_at = offsetof(struct vpa_report, said.iterations_used),
			.label = "[request {request}, ][block {block}, ]{kind}[ {index}]"},
		VPA_TEXT_COLUMNS({"GPU ms", .key = "gpu_ns"}, {"busy ms", .key = "busy_ns"},
			{"idle ms", .key = "idle_ns"}, {"host ms", .key = "host_ns"},
			{"ops", .key = "ops", .drop = 2},
			{"timestep", .key = "timestep", .rare = 1, .blank = 1, .drop = 1})},
	{.path = NULL},
};
