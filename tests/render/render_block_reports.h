/* render_block_reports.h - a report with video blocks made by hand for test_render.c: its parts add up. */
#ifndef TESTS_RENDER_BLOCK_REPORTS_H
#define TESTS_RENDER_BLOCK_REPORTS_H

#include "analysis/report/overview.h"
#include "tests/render/render_reports.h"

/* Six measured blocks that grow by 58.5 ms each, of which 112 ms are syncs. WAITED: with lines of Python. */
#define BLOCK(k, ms, start, up, miss)                                                              \
	{                                                                                          \
		.index = (k), .frames = (k) ? 12 : 9, .latents = 3, .start_ns = MS(start),         \
		.end_ns = MS((start) + (ms)), .latency_ns = MS(ms), .period_ns = MS(ms),           \
		.busy_ns = MS((ms)-164.6), .idle_ns = MS(164.6), .attention_ns = MS((ms)-530.9),   \
		.devices = 1, .warmup = (up), .missed = (miss)                                     \
	}
#define WAITED(k, ms, start, miss, n, at)                                                          \
	{                                                                                          \
		.index = (k), .frames = 12, .latents = 3, .start_ns = MS(start),                   \
		.end_ns = MS((start) + (ms)), .latency_ns = MS(ms), .period_ns = MS(ms),           \
		.busy_ns = MS((ms)-164.6), .idle_ns = MS(164.6), .attention_ns = MS((ms)-530.9),   \
		.devices = 1, .missed = (miss), .waited_ns = MS(164.6), .line_samples = (n),       \
		.line = (at)                                                                       \
	}

/* Of five blocks; one has too few samples. */
static const struct vpa_stage_line block_lines[] = {
	{{"forward", "/srv/wan/modules/causal_model.py", 212}, VPA_CAUSE_SYNC, MS(110), .668},
	{{"forward", "/srv/wan/modules/causal_model.py", 212}, VPA_CAUSE_SYNC, MS(95), .577},
	{{"step", "/srv/wan/scheduler.py", 60}, VPA_CAUSE_HOST_CODE, MS(84), .505},
};

static struct vpa_block_row series[] = {
	BLOCK(0, 1200, 740, 1, 0),
	WAITED(1, 670.8, 1940, 0, 30, &block_lines[0]),
	WAITED(2, 729.3, 2610.8, 0, 31, &block_lines[1]),
	WAITED(3, 787.8, 3340.1, 1, 33, &block_lines[0]),
	WAITED(4, 846.2, 4127.9, 1, 29, &block_lines[0]),
	WAITED(5, 904.7, 4974.1, 1, 27, &block_lines[2]),
	WAITED(6, 963.2, 5878.8, 1, 3, NULL),
};

static struct vpa_block_instead sync_did[] = {
	{VPA_CAUSE_ALLOCATION, MS(270)},
	{VPA_CAUSE_LAUNCH_RATE, MS(140)},
};
static struct vpa_block_instead copy_did[] = {{VPA_CAUSE_HOST_CODE, MS(87.6)}};

#define FAMILY(name) (VPA_PART_FIRST + VPA_FAMILY_##name)
#define CAUSE(name)  (VPA_PART_FIRST + VPA_OVERVIEW_IDLE + VPA_CAUSE_##name)

static struct vpa_block_part block_parts[] = {
	{VPA_PART_BUSY, FAMILY(ATTENTION), MS(1716.6), 1800, NULL, 0},
	{VPA_PART_BUSY, FAMILY(GEMM), MS(1132.2), 9000, NULL, 0},
	{VPA_PART_BUSY, FAMILY(CONV), MS(577.8), 1200, NULL, 0},
	{VPA_PART_BUSY, FAMILY(ELEMENTWISE), MS(430.8), 21000, NULL, 0},
	{VPA_PART_BUSY, FAMILY(MEMCPY), MS(57), 6, NULL, 0},
	{VPA_PART_IDLE, CAUSE(SYNC), MS(673.2), 1800, sync_did, 2},
	{VPA_PART_IDLE, CAUSE(BLOCKING_COPY), MS(129.6), 6, copy_did, 1},
	{VPA_PART_IDLE, CAUSE(LAUNCH_RATE), MS(116.4), 30000, NULL, 0},
	{VPA_PART_IDLE, CAUSE(SCHEDULING), MS(43.2), 9000, NULL, 0},
	{VPA_PART_IDLE, CAUSE(ALLOCATION), MS(18.6), 12, NULL, 0},
	{VPA_PART_IDLE, CAUSE(NO_LAUNCH), MS(6.6), 6, NULL, 0},
};

static struct vpa_outlier_row outliers[] = {
	{4, -12345678, CAUSE(HOST_CODE), -12000000, "to_host", -11000000},
	{5, 84345678, CAUSE(HOST_CODE), 84000000, NULL, 0},
	{2, 4200000, FAMILY(GEMM), 4000000, NULL, 0},
};

static const char *includes[] = {
	"denoise step", "context pass", "vae_decode", "copies to the host"};

#define TIMES(n, total, p50, least, most)                                                          \
	{                                                                                          \
		.count = (n), .total_ns = MS(total), .min_ns = MS(least), .p50_ns = MS(p50),       \
		.p90_ns = MS(most), .p95_ns = MS(most), .p99_ns = MS(most), .max_ns = MS(most),    \
		.mean_ns = (total)*1e6 / (n), .deviation_ns = 0.15 * (total)*1e6 / (n)             \
	}

static struct vpa_pair block_facts[] = {{"scheduler", "UniPC"}};

static struct vpa_request block_requests[] = {
	{.name = "clip 1",
		.frames_asked = 84,
		.height = 480,
		.width = 832,
		.steps_asked = 28,
		.batch = 1,
		.guidance = 7.5,
		.passes_per_step = 2,
		.seed = "18446744073709551615",
		.facts = block_facts,
		.fact_count = COUNT(block_facts),
		.source = VPA_SOURCE_ANNOTATION,
		.start_ns = 0,
		.end_ns = MS(6842),
		.frames = 81,
		.fps_end_to_end = 81 / 6.842,
		.ttfb_ns = MS(1940),
		.ttff_ns = MS(1950),
		.blocks = {.count = COUNT(series),
			.warmup = 1,
			.measured = 6,
			.frames = 72,
			.span_ns = MS(4902),
			.fps = 72 / 4.902,
			.denoise_rate = -1,
			.bps = 6 / 4.902,
			.fps_busy = 72 / 3.9144,
			.fps_denoise = 22.6,
			.latent_fps = 18 / 4.902,
			.includes = includes,
			.include_count = COUNT(includes),
			.latency = TIMES(6, 4902, 787.8, 670.8, 963.2),
			.period = TIMES(6, 4902, 787.8, 670.8, 963.2),
			.attention = TIMES(6, 1716.6, 256.9, 139.9, 432.3),
			.jitter_ns = MS(175.4),
			.misses = 4,
			.longest_miss_run = 4,
			.prebuffer_frames = 33,
			.has_drift = 1,
			.period_drift_ns = 58.5e6,
			.attention_drift_ns = 58.5e6,
			.attention_drift_most_ns = 58.5e6,
			.saturated_at = 6,
			.grown_until = 6,
			.busy_ns = MS(3914.4),
			.idle_ns = MS(987.6),
			.devices = 1,
			.parts = block_parts,
			.part_count = COUNT(block_parts),
			.series = series,
			.outliers = outliers,
			.outlier_count = COUNT(outliers)},
		.steps = {.count = 28,
			.time = TIMES(24, 3192, 131, 100, 162.2),
			.context_count = 7,
			.context = TIMES(6, 795, 131, 100, 161.7),
			.per_block = 4,
			.periods = 18,
			.steps_per_s = 1 / 0.133,
			.s_per_it = 0.133}},
	{.name = NULL,
		.start_ns = MS(7000),
		.end_ns = MS(7300),
		.error = "OutOfMemoryError",
		.guidance = -1,
		.passes_per_step = -1,
		.fps_end_to_end = -1,
		.blocks = {.count = 1,
			.warmup = 1,
			.fps = -1,
			.denoise_rate = -1,
			.bps = -1,
			.fps_busy = -1,
			.fps_denoise = -1,
			.latent_fps = -1,
			.misses = -1,
			.longest_miss_run = -1,
			.prebuffer_frames = -1,
			.saturated_at = -1,
			.grown_until = -1,
			.series = series},
		.steps = {.per_block = -1, .steps_per_s = -1, .s_per_it = -1}},
};

/* What a stage waited for, and its lines. */
#define NO_LINES    0, NULL, 0, 0, 0
#define NEVER_ALONE 0, 0

static struct vpa_stage_line step_lines[] = {
	{{"step", "/srv/wan/schedulers/unipc.py", 212}, VPA_CAUSE_SYNC, MS(420), 0.6},
	{{"<built-in method item>", "", 0}, VPA_CAUSE_HOST_CODE, MS(70), 0.1},
	{{NULL, "/srv/wan/pipeline.py", 0}, VPA_CAUSE_HOST_CODE, MS(7), 0.01},
};

static struct vpa_stage_row stages[] = {
	{"text_encode", VPA_SOURCE_RULE, VPA_SCOPE_STAGE, 1, 0, 0, 0, TIMES(1, 40, 40, 40, 40),
		MS(40), MS(40), 0, 0, 310, 0.005, 0, 0, NO_LINES, MS(40), 0.005, MS(40)},
	{"denoise step", VPA_SOURCE_ANNOTATION, VPA_SCOPE_STEP, 28, 24, 4, 0,
		TIMES(24, 3192, 131, 100, 162.2), MS(3192), MS(2553.6), MS(638.4), MS(1372.8),
		29760, 0.65, 0, 0, MS(700), step_lines, COUNT(step_lines), 0, 0, NEVER_ALONE,
		MS(3192)},
	{"self_attn", VPA_SOURCE_ANNOTATION, VPA_SCOPE_STAGE, 840, 720, 120, 1,
		TIMES(720, 1440, 2, 1, 3), 0, MS(1000), MS(440), MS(1372.8), 7200, 0.29, 0, 0,
		NO_LINES, NEVER_ALONE, MS(1440)},
	{"context pass", VPA_SOURCE_ANNOTATION, VPA_SCOPE_CONTEXT, 7, 6, 1, 0,
		TIMES(6, 795, 131, 100, 161.7), MS(795), MS(635.4), MS(159.6), MS(343.8), 7440,
		0.16, 0, 0, NO_LINES, NEVER_ALONE, MS(795)},
	{"vae_decode", VPA_SOURCE_ANNOTATION, VPA_SCOPE_STAGE, 7, 6, 1, 0,
		TIMES(6, 651, 108, 108, 109.2), MS(651), MS(596.4), MS(54.6), 0, 2160, 0.13, 0, 0,
		NO_LINES, MS(600), 0.12, MS(651)},
	{"to_host", VPA_SOURCE_ANNOTATION, VPA_SCOPE_STAGE, 7, 6, 1, 0, TIMES(6, 204.6, 34, 34, 35),
		MS(204.6), MS(75), MS(129.6), 0, 18, 0.04, 0, 0, NO_LINES, MS(204.6), 0.04,
		MS(204.6)},
};

/* Guidance in all steps but the last ones of each video; a step cache that holds every second time. */
static struct vpa_step_kind step_kinds[] = {
	{VPA_STEP_FULL, 1, 14, 1240, MS(2268), 1, 612, MS(1106), 0},
	{VPA_STEP_HALF, 20, 4, 628, MS(340), 0.506452, 0, 0, 0},
	{VPA_STEP_FEWER, 4, 9, 148, MS(189), 0.119355, 0, 0, MS(1269)},
	{VPA_STEP_OTHER, 3, 1, 1266, MS(171.5), 1.020968, 0, 0, 0},
};

static struct vpa_report with_blocks(void)
{
	struct vpa_report r = host_limited();

	r.expert.step_kinds = (struct vpa_step_kinds){.source = VPA_STEPS_MARKED,
		.steps = 28,
		.total_ns = MS(2968.5),
		.full_ops = 1240,
		.fewer = 9,
		.saved_ns = MS(1269),
		.paired = 14,
		.second_ns = MS(1106),
		.rows = step_kinds,
		.row_count = COUNT(step_kinds),
		.distinct = COUNT(step_kinds)};

	r.requests = block_requests;
	r.request_count = COUNT(block_requests);
	r.stages = stages;
	r.stage_count = COUNT(stages);
	r.target_millifps = 16000;
	return r;
}

/* The VAE comes after the blocks, and there is no target. */
static struct vpa_report decoded_late(void)
{
	static struct vpa_request request;
	struct vpa_report r = with_blocks();

	request = block_requests[0];
	request.blocks.denoise_rate = request.blocks.fps;
	request.blocks.after = VPA_REST_VAE;
	request.blocks.fps = -1;
	request.blocks.misses = request.blocks.longest_miss_run = request.blocks.prebuffer_frames =
		-1;
	request.blocks.outlier_count = 0;
	request.blocks.has_drift = 0;
	request.blocks.devices = 2;
	request.blocks.paused_ns = MS(100);
	request.ttff_ns = 0;
	r.requests = &request;
	r.request_count = 1;
	r.target_millifps = 0;
	return r;
}

/* Denoising steps, and no block at all. */
static struct vpa_report steps_alone(void)
{
	static struct vpa_request request;
	struct vpa_report r = host_limited();

	r.is_diffusion = 1;
	request = block_requests[1];
	request.steps = block_requests[0].steps;
	request.steps.per_block = -1;
	request.blocks.count = request.blocks.warmup = 0;
	r.requests = &request;
	r.request_count = 1;
	r.stages = stages + 1;
	r.stage_count = 1;
	return r;
}

/* Stages, and neither blocks nor steps: no request, no rate. */
static struct vpa_report stages_alone(void)
{
	static struct vpa_stage_row iterations[] = {
		{"iteration (ProfilerStep)", VPA_SOURCE_RULE, VPA_SCOPE_ITERATION, 5, 0, 0, 0,
			TIMES(5, 1713.6, 342.7, 331.7, 360.3), MS(1713.6), MS(1000), MS(713.6), 0,
			22290, 0.985, 0, 0, NO_LINES, NEVER_ALONE, MS(1713.6)},
		/* 1.87 s of work in 1.55 s: its passes overlap. */
		{"window", VPA_SOURCE_RULE, VPA_SCOPE_ITERATION, 5, 0, 0, 0,
			TIMES(5, 1866, 373.2, 371, 375.3), MS(1866), MS(381), MS(1168.5), 0, 7000,
			0.9, 0, 0, NO_LINES, NEVER_ALONE, MS(1550)},
	};
	struct vpa_report r = host_limited();

	r.stages = iterations;
	r.stage_count = COUNT(iterations);
	return r;
}

/* Records of the last two blocks are missing: what they touch is marked, the other request and blocks are not. */
static struct vpa_report lossy(void)
{
	static const char *reasons[] = {"12345 records lost while recording"};
	static const char *remedies[] = {"record with VPTRACE_MEMORY=512M (it was 256M)"};
	static struct vpa_block_row rows[COUNT(series)];
	static struct vpa_request requests[COUNT(block_requests)];
	static struct vpa_stage_row own_stages[COUNT(stages)];
	static struct vpa_loss losses[2];
	struct vpa_report r = with_blocks();
	struct vpa_blocks *b = &requests[0].blocks;

	memcpy(requests, block_requests, sizeof(requests));
	memcpy(rows, series, sizeof(rows));
	memcpy(own_stages, stages, sizeof(own_stages));
	b->series = rows;
	r.stages = own_stages;
	losses[0] = (struct vpa_loss){r.window_end_ns - 1, r.window_end_ns};
	losses[1] = (struct vpa_loss){rows[b->count - 2].end_ns, UINT64_MAX};
	r.requests = requests;
	r.verdict.complete = 0;
	r.verdict.dropped = 12345;
	r.verdict.received = r.verdict.written + r.verdict.dropped;
	r.verdict.reasons = reasons;
	r.verdict.remedies = remedies;
	r.verdict.reason_count = 1;
	r.verdict.losses = losses;
	r.verdict.loss_count = COUNT(losses);
	vpa_mark_touched(&r);
	return r;
}

#endif
