/* fields_pipeline.c - requests, their blocks and steps, and stages in the JSON report. The README defines
 * each; parts of periods add up: busy_ns + idle_ns + paused_ns = period_ns * devices. */
#include "analysis/render/fields/fields.h"
#include "analysis/report/overview.h"

/* ---- blocks ---- */

#define ROW struct vpa_stage_line
static const struct vpa_field stage_line_fields[] = {
	{"function", TEXT_OR_NULL(line.function), NULL, "name of the function; null: no name"},
	{"file", TEXT(line.file), NULL, "its file, as recorded; empty: built in"},
	{"line", KNOWN(line.number), "id", "number of the line; null: not known"},
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL,
		"why the device was idle"},
	{"idle_ns", U64(idle_ns), "ns", "idle time of this cause at this line"},
	{"share", SHARE(share), "fraction", "of waited_ns of the stage or block"},
};
static TABLE(stage_line, "stage_line", "idle time at one line before ops of a stage or block",
	stage_line_fields);
#undef ROW

/* Blocks are late only against a target. */
static int has_target(const struct vpa_at *at)
{
	const struct vpa_blocks *b = at->above->row;

	return b->misses >= 0;
}

#define ROW struct vpa_block_row
static const struct vpa_field block_fields[] = {
	{"index", NATURAL(index), "index",
		"the block's number within its request; null: its range does not give it"},
	{"frames", KNOWN(frames), "frames", "video frames of the block; null: not known"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of its first op, on the trace clock"},
	{"end_ns", .look = VPA_LOOK_MOMENT, U64(end_ns), "ns",
		"end of its last op, or of the last one before its frames-ready mark"},
	{"latency_ns", U64(latency_ns), "ns", "end_ns - start_ns"},
	{"period_ns", U64(period_ns), "ns",
		"end_ns - end_ns of the block before; of a request's first block, and of the first "
		"after a pause, its latency"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in the period, summed over its devices"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in the period, summed over its devices"},
	{"paused_ns", U64(paused_ns), "ns",
		"paused recording in the period, summed over its devices"},
	{"devices", UNSIGNED(devices), "count", "devices that the block used"},
	{"attention_ns", U64(attention_ns), "ns", "of busy_ns: attention"},
	{"latents", KNOWN(latents), "frames", "latent frames of the block; null: not known"},
	{"warmup", FLAG(warmup), NULL, "not measured: warm-up, or the first block after a pause",
		.head = "warm-up"},
	{"ready_mark", FLAG(ready_mark), NULL, "end_ns follows from a frames-ready mark"},
	{"missed", FLAG(missed), NULL,
		"the period is longer than its frames play at --target; null: no target",
		.known = has_target, .head = "late"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
	{"waited_ns", U64(waited_ns), "ns",
		"gaps between ops that ended with one launched in it, summed over devices"},
	{"line_samples", U64(line_samples), "samples",
		"samples of stacks that belong to waited_ns"},
	{"line", POINTER(stage_line, line), NULL,
		"the line of Python with most of waited_ns; null: not known, or fewer than 5 "
		"samples"},
};
static TABLE(block, "block", "a generated video block", block_fields);
#undef ROW

#define ROW struct vpa_block_instead
static const struct vpa_field instead_fields[] = {
	{"host", CAUSE(host), NULL, "what the host did, as in host_did of devices"},
	{"ns", .head = "time", U64(ns), "ns", "idle time in which it did this"},
};
static TABLE(
	instead, "block_did", "what the host did in idle time of an earlier call", instead_fields);
#undef ROW

#define ROW struct vpa_block_part
static const struct vpa_field part_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, CHOICE(vpa_block_part_kind, kind), NULL,
		"what the GPU did", .choice = vpa_part_choice},
	{"name", .choice = vpa_block_part_name, NUMBERED(part), NULL,
		"the kernel family of busy time, the cause of idle time"},
	{"ns", .head = "time", U64(ns), "ns",
		"exclusive time of the family, idle time of the cause"},
	{"count", U64(count), "count", "ops, or pieces of gaps, that began in the periods"},
	{"host_did", ROWS(instead, instead, instead_count), NULL,
		"of ns: idle time that counts to an earlier call, by what the host did in it, "
		"descending"},
};
TABLE(vpa_fields_block_part, "block_part", "a part of the measured periods", part_fields);
#undef ROW

#define ROW struct vpa_outlier_row
static const struct vpa_field outlier_fields[] = {
	{"row", SIZE(block), "index", "index of the block in series"},
	{"delta_ns", CHANGE(delta_ns), "ns", "its period - the median period of its neighbours"},
	{"part", .choice = vpa_block_part_name, .null = VPA_NULL_ZERO, NUMBERED(part), NULL,
		"the family or cause that differs most, in the same direction; null: none"},
	{"part_delta_ns", CHANGE(part_delta_ns), "ns", "by how much that part differs"},
	{"stage", TEXT_OR_NULL(stage), NULL,
		"the stage that differs most, in the same direction; null: none"},
	{"stage_delta_ns", CHANGE(stage_delta_ns), "ns", "by how much that stage differs"},
};
static TABLE(outlier, "outlier", "a block whose period differs from that of its neighbours",
	outlier_fields);
#undef ROW

VPA_KNOWN(has_drift, struct vpa_blocks, row->has_drift);
VPA_KNOWN(has_measured, struct vpa_blocks, row->measured > 0);

#define ROW struct vpa_blocks
static const struct vpa_field drift_fields[] = {
	{"grown_until_row", NATURAL(grown_until), "index",
		"index in series of the last block of which the slopes tell, those after it being "
		"as long; null: of all measured ones"},
	{"period_slope_ns_per_block", REAL(period_drift_ns), "ns/block",
		"Theil-Sen slope of the period"},
	{"attention_slope_ns_per_block", REAL(attention_drift_ns), "ns/block",
		"Theil-Sen slope of the attention time; of unfused attention its softmax only"},
	{"attention_at_most_slope_ns_per_block", REAL(attention_drift_most_ns), "ns/block",
		"the same if the GEMMs of unfused attention grow as its softmax does"},
	{"saturated_at_row", NATURAL(saturated_at), "index",
		"index in series from which attention no longer grows; null: it always grows"},
};
static TABLE(drift, "drift", "how measured blocks change over the series", drift_fields);

static VPA_NAMES(rest_choice, vpa_rest_name, VPA_RESTS);

static const struct vpa_field blocks_fields[] = {
	{"count", SIZE(count), "count", "blocks with GPU work that lie wholly in the window",
		.head = "blocks"},
	{"warmup", SIZE(warmup), "count",
		"of these: not measured, the first ones and the first after each pause"},
	{"frames", KNOWN(frames), "frames", "video frames of the measured blocks; null: not known"},
	{"fps", RATE(fps), "frames/s",
		"frames / span_ns; null: unavailable, or VAE or frame copies come after the blocks",
		.head = "FPS steady"},
	{"fps_includes", TEXTS(includes, include_count), NULL, "what lies inside the span"},
	{"after", .look = VPA_LOOK_KERNEL, .choice = rest_choice, WORD_OR_NULL(vpa_rest, after),
		NULL,
		"what of the VAE's work and the copies of frames comes after the last block; null: "
		"nothing"},
	{"bps", RATE(bps), "blocks/s", "measured blocks / span_ns; null: none measured",
		.head = "blocks per second"},
	{"fps_busy", RATE(fps_busy), "frames/s",
		"frames / busy time of the busiest GPU in the span; null: unavailable"},
	{"fps_denoise", RATE(fps_denoise), "frames/s",
		"frames / time of the denoising steps; null: unavailable"},
	{"period_p50_ns", KNOWN(period.p50_ns), "ns", "median period; null: none measured"},
	{"period_p95_ns", KNOWN(period.p95_ns), "ns", "95th percentile; null: none measured"},
	{"period_p99_ns", KNOWN(period.p99_ns), "ns", "99th percentile; null: none measured"},
	{"series", ROWS(block, series, count), NULL, "every block, by its end"},
	{"measured", SIZE(measured), "count", "measured blocks: count - warmup"},
	{"left_out", SIZE(left_out), "count",
		"blocks cut off by the window or a pause, or without GPU work"},
	{"span_ns", KNOWN(span_ns), "ns", "sum of the measured periods; null: none measured"},
	{"denoise_rate", RATE(denoise_rate), "frames/s",
		"frames / span_ns where VAE or frame copies come after the blocks; else null"},
	{"latent_fps", RATE(latent_fps), "frames/s",
		"latent frames / span_ns; null: latent frames are not known"},
	{"period", SOME_SPREAD(period), NULL, "periods of the measured blocks; null: none"},
	{"latency", SOME_SPREAD(latency), NULL, "latencies of the measured blocks; null: none"},
	{"attention", SOME_SPREAD(attention), NULL,
		"attention times of the measured blocks; null: none"},
	{"jitter_ns", U64(jitter_ns), "ns", "p99 - p50 of the period; null: none measured",
		.known = has_measured},
	{"deadline_misses", NATURAL(misses), "count",
		"measured blocks that missed their deadline; null: no --target"},
	{"longest_miss_run", NATURAL(longest_miss_run), "count",
		"most misses in a row; null: no --target"},
	{"prebuffer_frames", NATURAL(prebuffer_frames), "frames",
		"frames to buffer for stall-free playback; null: no --target"},
	{"drift", PART(drift), NULL, "slopes over the series; null: too few blocks",
		.known = has_drift},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in measured periods, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in measured periods, summed over devices"},
	{"paused_ns", U64(paused_ns), "ns", "paused recording in measured periods"},
	{"devices", UNSIGNED(devices), "count", "most devices that a measured block used"},
	{"parts", ROWS(vpa_fields_block_part, parts, part_count), NULL,
		"parts of the measured periods; by kind, then time, descending"},
	{"outliers", ROWS(outlier, outliers, outlier_count), NULL,
		"blocks whose period differs from that of their neighbours"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
};
static TABLE(blocks, "blocks", "the video blocks of a request", blocks_fields);
#undef ROW

/* ---- requests, stages ---- */

#define ROW struct vpa_step_times
static const struct vpa_field steps_fields[] = {
	{"count", U64(count), "count", "denoising steps with GPU work, without context passes",
		.head = "steps"},
	{"time", SOME_SPREAD(time), NULL, "first op's start to last op's end; null: no steps"},
	{"per_block", RATE(per_block), "steps/block", "in measured blocks; null: none measured"},
	{"periods", U64(periods), "count",
		"from the start of a step to that of the next in its block or request"},
	{"period", SOME_SPREAD(period), NULL, "these periods; null: none"},
	{"steps_per_s", RATE(steps_per_s), "steps/s", "1 / s_per_it; null: no steps"},
	{"s_per_it", RATE(s_per_it), "s/step",
		"mean of these periods; without any, the mean of time; null: no steps",
		.head = "from step to step"},
	{"context_count", U64(context_count), "count", "passes that write the KV cache"},
	{"context", SOME_SPREAD(context), NULL, "the same for context passes; null: none"},
};
static TABLE(steps, "steps", "the denoising steps of a request", steps_fields);
#undef ROW

#define ROW struct vpa_request_gpu
static const struct vpa_field gpu_fields[] = {
	{"period_ns", U64(period_ns), "ns",
		"first op's start to that of the next request; to last op's end if none has a next "
		"one"},
	{"busy_ns", U64(busy_ns), "ns", "GPU busy time in it, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "GPU idle time in it, summed over devices"},
	{"paused_ns", U64(paused_ns), "ns", "of period_ns * devices: recording was paused"},
	{"devices", UNSIGNED(devices), "count", "devices of the sums"},
	{"parts", ROWS(vpa_fields_block_part, parts, part_count), NULL,
		"period_ns * devices by part; by kind, then time, descending"},
};
static TABLE(gpu, "request_gpu", "what the devices did in a request", gpu_fields);
#undef ROW

VPA_KNOWN(has_gpu, struct vpa_request, row->gpu.period_ns > 0);

static int put_facts(const struct vpa_at *at, struct vpt_json *j)
{
	const struct vpa_request *q = at->row;
	size_t i;

	for (i = 0; i < q->fact_count; i++)
		vpt_json_string(j, q->facts[i].key, q->facts[i].value);
	return VPT_OK;
}

static const char *fact_at(const struct vpa_at *at, size_t i, const char **value)
{
	const struct vpa_request *q = at->row;

	if (i >= q->fact_count)
		return NULL;
	*value = q->facts[i].value;
	return q->facts[i].key;
}

#define ROW struct vpa_request
static const struct vpa_field request_fields[] = {
	{"frames", KNOWN(frames), "frames",
		"video frames that it made, else those of all its blocks; null: not known"},
	{"fps_end_to_end", RATE(fps_end_to_end), "frames/s",
		"frames / (end_ns - start_ns); null: unavailable", .head = "FPS end to end"},
	{"ttfb_ns", KNOWN(ttfb_ns), "ns", "start_ns to the end of the first block; null: no block",
		.head = "first block after"},
	{"blocks", MEMBER(blocks, blocks), NULL, "its video blocks"},
	{"steps", MEMBER(steps, steps), NULL, "its denoising steps"},
	{"name", TEXT_OR_NULL(name), NULL, "name of its range; null: the whole window"},
	{"source", .look = VPA_LOOK_SINGLE, .choice = vpa_scope_source_choice,
		WORD_OR_NULL(vpa_scope_source, source), NULL,
		"what made the range a request: annotation or rule; null: the whole window"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of its range on the host, on the trace clock"},
	{"end_ns", .look = VPA_LOOK_MOMENT, U64(end_ns), "ns",
		"end of its last op; without ops, of its range"},
	{"ttff_ns", KNOWN(ttff_ns), "ns",
		"start_ns to the first frames-ready mark; null: no such mark",
		.head = "first frames after"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
	{"gpu", MEMBER(gpu, gpu), NULL,
		"from its first op to that of the next request; absent if no request follows it, "
		"or the window cuts it",
		.known = has_gpu, .optional = 1},
	{"frames_asked", KNOWN(frames_asked), "frames",
		"video frames that it was asked for; null: not known"},
	{"height", KNOWN(height), "pixels", "height of a frame; null: not known"},
	{"width", KNOWN(width), "pixels", "width of a frame; null: not known"},
	{"steps_asked", KNOWN(steps_asked), "count",
		"denoising steps that it was asked for; null: not known"},
	{"guidance", RATE(guidance), "scale", "scale of the guidance; null: not known"},
	{"passes_per_step", RATE(passes_per_step), "passes/step",
		"calls in a step of the stage with most of the steps' time: 2 and more for "
		"guidance; null: no stages in steps",
		.head = "passes a step"},
	{"batch", KNOWN(batch), "count", "videos or images that it made; null: not known"},
	{"seed", TEXT_OR_NULL(seed), NULL, "seed of its noise; null: not known"},
	{"error", TEXT_OR_NULL(error), NULL,
		"class of the exception with which it failed; null: none was seen"},
	{"facts", COMPUTED(MAP), NULL, "what else the program said of it", .put = put_facts,
		.member = fact_at},
};
TABLE(vpa_fields_request, "request", "a request, or the whole window if none is marked",
	request_fields);
#undef ROW

#define ROW struct vpa_stage_row
static const struct vpa_field stage_fields[] = {
	{"name", TEXT(name), NULL, "name of the stage"},
	{"kind", .look = VPA_LOOK_SINGLE, SCOPE(kind), NULL,
		"request, step, context, stage, iteration ..."},
	{"source", .look = VPA_LOOK_SINGLE, .choice = vpa_scope_source_choice,
		WORD(vpa_scope_source, source), NULL,
		"what identifies it: annotation, rule, marks or place"},
	{"count", U64(count), "count", "instances with GPU work"},
	{"in_measured_blocks", U64(in_blocks), "count",
		"instances in measured blocks; if there are any, the figures cover only these"},
	{"per_block", SHARE(per_block), "instances/block", "in measured blocks"},
	{"nested", FLAG(nested), NULL, "every instance lies inside another stage or step"},
	{"time", SOME_SPREAD(time), NULL, "first op's start to last op's end; null: none"},
	{"busy_ns", U64(busy_ns), "ns", "time its own ops ran, summed over devices"},
	{"idle_ns", U64(idle_ns), "ns", "time the device ran nothing, summed over devices"},
	{"attention_ns", U64(attention_ns), "ns", "of busy_ns: attention"},
	{"top_ns", U64(top_ns), "ns", "time of instances outside all others"},
	{"covered_ns", U64(covered_ns), "ns",
		"some instance lasts: those that overlap, in threads or on devices, count once"},
	{"share", SHARE(share), "fraction",
		"covered_ns of the measured blocks' time, else of the window; at most 1"},
	{"alone_ns", U64(alone_ns), "ns",
		"only its work ran, on the device with most of it; of instances outside all "
		"others"},
	{"incomplete", FLAG(touched), NULL, "missing records may change these figures"},
	{"ops", U64(ops), "ops", "kernels, copies and memsets launched in it"},
	{"waited_ns", U64(waited_ns), "ns",
		"in the whole window: gaps between ops that ended with one launched in it, "
		"summed over devices"},
	{"lines", ROWS(stage_line, lines, line_count), NULL,
		"the lines of Python with most of waited_ns, at most 5, descending"},
};
TABLE(vpa_fields_stage, "stage", "a named part of the pipeline", stage_fields);
#undef ROW

/* ---- what people see of these rows ---- */

const struct vpa_view vpa_views_pipeline[] = {
	{"requests", "Requests",
		.first = "name frames fps_end_to_end blocks.fps blocks.bps blocks.count "
			 "blocks.period.mean_ns blocks.period.p95_ns steps.count steps.s_per_it "
			 "ttfb_ns ttff_ns frames_asked width height steps_asked guidance "
			 "passes_per_step batch seed facts error",
		VPA_TEXT_COLUMNS({"blocks", .key = "blocks.count"}, {"frames", .key = "frames"},
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
	{.path = NULL},
};
