/* render_reports.h - reports made by hand for test_render.c, with numbers that add up where a
 * reader would check them. */
#ifndef TESTS_RENDER_REPORTS_H
#define TESTS_RENDER_REPORTS_H

#include "analysis/report/report.h"
#include "formats/base/count.h"

#define MS(n) ((uint64_t)((n)*1e6 + 0.5))

/* ---- a run that waits for its host ---- */

static const char *lost[] = {"509 of 1,707 ops have no launch record",
	"1,204 events were dropped between 0.113 s and 0.126 s",
	"chunk 7 is damaged: its checksum is wrong", "the file ends in the middle of a chunk"};

static struct vpa_gpu h100[] = {
	{0, "NVIDIA H100 80GB HBM3", "GPU-0f3c", "0000:18:00.0", 9, 0, 132, 2048, 65536, 233472,
		85899345920, 0},
	{1, "NVIDIA H100 80GB HBM3", "GPU-11aa", "0000:2a:00.0", 9, 0, 132, 2048, 65536, 233472,
		85899345920, 0},
};

static struct vpa_pair meta[] = {
	{"command", "python demo.py --prompt \"a cat\" --frames 81"},
	{"host", "node7"},
	{"cuda_driver", "580.65"},
	{"cuda_runtime", "12.8"},
	{"torch", "2.11"},
	{"rank", "3"},
	{"tag.session", "nightly"},
	{"torch", "2.11"},
};

static struct vpa_gain_row gains[] = {
	{VPA_CAUSE_SYNC, MS(98.12), MS(5.1)},
	{VPA_CAUSE_LAUNCH_RATE, MS(12.4), 0},
};
/* The line of .item() in the attention, and that of a wait in the scheduler. */
static const struct vpa_top_line item_line = {
	.line = {"forward", "/srv/wan/modules/causal_model.py", 212},
	.samples = 412,
	.share = 0.97};
static const struct vpa_top_line step_line = {.line = {"step", "/srv/wan/scheduler.py", 60},
	.share = 1,
	.wait_ns = MS(1.5),
	.covers_calls = 1};

static struct vpa_idle_line idle_lines[] = {
	{0, VPA_CAUSE_SYNC, {"forward", "/srv/wan/modules/causal_model.py", 212}, MS(95.18), 400},
	{0, VPA_CAUSE_SYNC, {"step", "/srv/wan/scheduler.py", 60}, MS(9.1), 0},
	{0, VPA_CAUSE_BLOCKING_COPY, {"<built-in method cpu>", "", 0}, MS(6.4), 27},
	{0, VPA_CAUSE_LAUNCH_RATE, {NULL, NULL, 0}, MS(19.4), 0},
	{0, VPA_CAUSE_BLOCKING_COPY, {NULL, NULL, 0}, MS(15.2), 0},
	{0, VPA_CAUSE_SYNC, {NULL, NULL, 0}, MS(3.96), 0},
};
static struct vpa_launch_line launch_lines[] = {
	{0, {"forward", "/srv/wan/modules/attention.py", 71}, 300, MS(290)},
	{0, {"decode", "/srv/wan/vae.py", 640}, 84, MS(96.3)},
	{0, {NULL, NULL, 0}, 19, MS(1.1)},
};

#define IN(name)                                                                                   \
	{                                                                                          \
		VPA_PLACE_IN, name                                                                 \
	}
#define BEFORE(name)                                                                               \
	{                                                                                          \
		VPA_PLACE_BEFORE, name                                                             \
	}
#define SEVERAL                                                                                    \
	{                                                                                          \
		VPA_PLACE_SEVERAL, VPA_SEVERAL_TEXT                                                \
	}
#define NOWHERE                                                                                    \
	{                                                                                          \
		VPA_PLACE_IN, NULL                                                                 \
	}

static struct vpa_idle_part opened[] = {
	{VPA_CAUSE_SYNC, IN("self_attn"), "cudaStreamSynchronize", "cudaMalloc", MS(40.5),
		MS(98.12), 300, &item_line, 0, 0, NULL},
	{VPA_CAUSE_BLOCKING_COPY, IN("to_host"), "cudaMemcpy", NULL, 0, MS(21.6), 7, NULL, 0, 0,
		NULL},
	{VPA_CAUSE_LAUNCH_RATE, IN("mlp"), NULL, NULL, 0, MS(12.4), 4100, NULL, 0, 0, NULL},
	{VPA_CAUSE_BEFORE_FIRST_WORK, NOWHERE, NULL, NULL, 0, MS(9.9), 1, NULL, 0, 0, NULL},
	{VPA_CAUSE_SYNC, IN("scheduler"), "cudaDeviceSynchronize", NULL, 0, MS(9.1), 24, &step_line,
		0, 0, NULL},
	{VPA_CAUSE_LAUNCH_RATE, BEFORE("before norm"), NULL, NULL, 0, MS(7), 2090, NULL, 0, 0,
		NULL},
	{VPA_CAUSE_SCHEDULING, NOWHERE, NULL, NULL, 0, MS(4.1), 610, NULL, 0, 0, NULL},
	{VPA_CAUSE_ALLOCATION, IN("vae_decode"), "cudaMalloc", NULL, 0, MS(3.1), 12, NULL, 0, 0,
		NULL},
	{VPA_CAUSE_SYNC, SEVERAL, "(other)", NULL, 0, MS(1.02), 4, NULL, 0, 0, NULL},
	{VPA_CAUSE_NO_LAUNCH, NOWHERE, NULL, NULL, 0, MS(0.3), 1, NULL, 0, 0, NULL},
};

/* What the host did in the 9.9 ms before the first work; of 0.3 ms nothing is known. */
static struct vpa_idle_part head[] = {
	{VPA_CAUSE_MODULE_LOAD, IN("text_encode"), "cuModuleLoadData", NULL, 0, MS(6.2), 1, NULL, 0,
		0, NULL},
	{VPA_CAUSE_HOST_CODE, BEFORE("before text_encode"), NULL, NULL, 0, MS(3.4), 1, NULL, 0, 0,
		NULL},
};

/* What the host did in time that counts to an earlier call. */
static struct vpa_instead_row instead[] = {
	{VPA_CAUSE_SYNC, IN("self_attn"), "cudaStreamSynchronize", VPA_CAUSE_ALLOCATION,
		IN("self_attn"), "cudaMalloc", MS(40.5), 280, NULL},
	{VPA_CAUSE_SYNC, IN("self_attn"), "cudaStreamSynchronize", VPA_CAUSE_LAUNCH_RATE,
		IN("self_attn"), NULL, MS(20), 100, NULL},
	{VPA_CAUSE_BLOCKING_COPY, IN("to_host"), "cudaMemcpy", VPA_CAUSE_HOST_CODE, IN("save"),
		NULL, MS(14.6), 7, &step_line},
};

static struct vpa_device one_device[] = {{
	.device = 0,
	.ops = 12345,
	.streams = 2,
	.first_ns = 1000000000 + MS(9.9),
	.last_ns = 1000000000 + MS(817),
	.active_ns = MS(807.1),
	.busy_ns = MS(650.36),
	.idle_ns = MS(156.74),
	.gaps = 7148,
	.longest_gap_ns = MS(12.3),
	.histogram = {4022, 2001, 610, 170, 338, 6, 1},
	.kernel_ns = MS(655),
	.same_stream_overlaps = 4,
	.compute_ns = MS(640.86),
	.exposed_copy_ns = MS(9.5),
	.window_idle_ns = MS(166.64),
	.small_grid_ns = MS(31),
	.cpu_wait_ns = MS(0.9),
	.causes = opened,
	.cause_count = COUNT(opened),
	.instead = instead,
	.instead_count = COUNT(instead),
	.gains = gains,
	.gain_count = COUNT(gains),
	.before_first_work = head,
	.before_first_work_count = COUNT(head),
	.first_use_ns = MS(6.2),
	.first_use_head_ns = MS(6.2),
}};

static struct vpa_gap_piece pieces[] = {
	{VPA_CAUSE_BLOCKING_COPY, "cudaMemcpy", IN("to_host"), MS(7), VPA_CAUSE_HOST_CODE,
		IN("save"), NULL, NOWHERE, 0, 0},
	{VPA_CAUSE_HOST_CODE, NULL, IN("scheduler"), MS(4.8), VPA_CAUSE_NOT_IDLE, NOWHERE, NULL,
		NOWHERE, 0, 0},
	{VPA_CAUSE_LAUNCH_CALL, "cudaLaunchKernel", IN("scheduler"), MS(0.5), VPA_CAUSE_NOT_IDLE,
		NOWHERE, NULL, NOWHERE, 0, 0},
};

static struct vpa_gap_row gaps[] = {
	{"G1", 0, 1000000000 + MS(790.5), MS(12.3), VPA_CAUSE_BLOCKING_COPY, "cudaMemcpy",
		IN("to_host"), 4242, 4243, "void cudnn::conv3d<float>(int)", "Memcpy DtoH", pieces,
		COUNT(pieces), NULL, {0, 0, NOWHERE}},
	{"G2", 0, 1000000000, MS(9.9), VPA_CAUSE_BEFORE_FIRST_WORK, NULL, NOWHERE, -1, -1, NULL,
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
		"std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, "
		"1ul>)",
		NULL, 0, NULL, {0, 0, NOWHERE}},
	{"G3", 0, 1000000000 + MS(101.25), MS(0.51), VPA_CAUSE_SYNC, "cudaStreamSynchronize",
		IN("self_attn"), 4242, 4243, "a", "void flash::flash_fwd_kernel<Traits>(Params)",
		NULL, 0, &item_line, {0, 0, NOWHERE}},
};

static struct vpa_family_row families[] = {
	{VPA_FAMILY_ATTENTION, 300, MS(290), MS(286.1), 0.4399},
	{VPA_FAMILY_GEMM, 1400, MS(190), MS(188.7), 0.2901},
	{VPA_FAMILY_CONV, 84, MS(96.3), MS(96.3), 0.1481},
	{VPA_FAMILY_ELEMENTWISE, 8000, MS(69.8), MS(69.8), 0.1073},
	{VPA_FAMILY_MEMCPY, 30, MS(12), MS(9.4), 0.0145},
	{VPA_FAMILY_MEMSET, 14, MS(0.06), MS(0.06), 0.0001},
};

#define SPREAD(n, total)                                                                           \
	{                                                                                          \
		n, MS(total), 1000, 2000, 3000, 4000, 5000, 6000, 2500.5, 100.25, 0                \
	}

static struct vpa_kernel_row kernels[] = {
	{"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
	 "cutlass::bfloat16_t>, false, true>(flash::Flash_fwd_params)",
		VPA_FAMILY_ATTENTION, VPA_BACKEND_FLASH_ATTN_2, MS(286.1), SPREAD(300, 290), 264, 2,
		8, 0.125, 1, 0, 1, NULL, 0, {0}},
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", VPA_FAMILY_GEMM,
		VPA_BACKEND_NONE, MS(188.7), SPREAD(1400, 190), 1056.5, 8.003, 96.045, 0.1875,
		0.985, 0, 1, NULL, 0, {0}},
	{"cudnn_infer_conv3d", VPA_FAMILY_CONV, VPA_BACKEND_NONE, MS(96.3), SPREAD(84, 96.3), 0, -1,
		-1, -1, -1, 0, 0, NULL, 0, {0}},
};

static struct vpa_backend_row backends[] = {
	{VPA_BACKEND_FLASH_ATTN_2, 300, MS(286.1), 300, MS(3.9), 150, MS(2.5), 0.4399}};
static struct vpa_eager_row eager[] = {
	{"text_encoder", "ampere_sgemm", "softmax_warp_forward", 12, MS(4.2), MS(1.1)}};
static struct vpa_backend_change changes[] = {{VPA_BACKEND_FLASH_ATTN_3, VPA_BACKEND_MEM_EFFICIENT,
	30, 570, 114000000, 30, 15000000, 9000000.5}};
static struct vpa_precision_row precisions[] = {
	{VPA_PRECISION_16, 1200, 84000000, 83500000}, {VPA_PRECISION_FP32, 31, 2000000, 2000000}};
static const char *fallbacks[] = {
	"FlashAttention 2 on an sm_90 device, where FlashAttention 3 exists: 300 calls, 286.1 ms"};

static struct vpa_copy_row copies[] = {
	{VPT_COPYKIND_DTOH, VPT_MEMKIND_DEVICE, VPT_MEMKIND_PAGEABLE, 7, 58000000, MS(11.6), 5.0},
	{VPT_COPYKIND_HTOD, VPT_MEMKIND_PINNED, VPT_MEMKIND_DEVICE, 23, 1840, MS(0.04), 0},
	{VPT_COPYKIND_MEMSET, 0, 0, 14, 120000, MS(0.06), 2.0},
};

static struct vpa_sync_row syncs[] = {
	{"cudaStreamSynchronize", 300, MS(612), 300, MS(98.12)},
	{"cudaMemcpy", 7, MS(30.2), 7, MS(21.6)},
	{"cudaDeviceSynchronize", 24, MS(1.5), 24, MS(9.1)},
};

static struct vpa_range_row ranges[] = {
	{.name = "self_attn",
		.domain = "",
		.host = SPREAD(150, 410),
		.ops = 900,
		.launches = 900,
		.envelope_ns = MS(470),
		.busy_ns = MS(360),
		.foreign_ns = MS(10),
		.idle_ns = MS(100),
		.idle_host_ns = MS(104.3),
		.lag = SPREAD(150, 3),
		.gpu = SPREAD(150, 470)},
	{.name = "to_host",
		.domain = "video",
		.unmatched = 1,
		.host = SPREAD(7, 34.1),
		.ops = 7,
		.launches = 7,
		.envelope_ns = MS(11.6),
		.busy_ns = MS(11.6)},
};

static const char *drain_evidence[] = {"S1", "G3"}, *copy_evidence[] = {"C1", "G1"};
static struct vpa_finding findings[] = {
	{VPA_FOUND_SYNC_DRAIN,
		"cudaStreamSynchronize drains the GPU 300 times, in self_attn: keep what it reads "
		"on the GPU, or read it one step later",
		"98.1 ms idle", "1 % of window", 98.12, drain_evidence, 2, VPA_FINDING_FAIL, NULL,
		.gain_shared_ms = 5.1, .base = VPA_BASE_ACTIVE, .base_ms = 807.1,
		.base_gain_ms = 98.12, .note = "91 % of it: cudaStreamSynchronize in self_attn"},
	{VPA_FOUND_EAGER_ATTENTION, "attention is not fused", "4.2 ms", "1 % of the window", 4.2,
		NULL, 0, VPA_FINDING_WARN, NULL, .gain_from_ms = 1.1, .base = VPA_BASE_ACTIVE,
		.base_ms = 807.1, .base_gain_ms = 4.2, .base_gain_from_ms = 1.1},
	{VPA_FOUND_EXPOSED_COPY, "frames to host: pinned memory and a separate copy stream",
		"21.6 ms idle", "1 % of window", 21.6, copy_evidence, 2, VPA_FINDING_WARN,
		"assumes that the copy can overlap", .base = VPA_BASE_NONE},
	{VPA_FOUND_LARGEST_KERNELS,
		"31.0 ms of kernels have fewer thread blocks than the GPU has SMs", "31.0 ms", NULL,
		0, NULL, 0, VPA_FINDING_INFO, NULL, .base = VPA_BASE_NONE},
};

static struct vpa_misfit_row misfits[] = {
	{"align1-gemm", "products of unaligned operands (align1)",
		"pad the innermost dimension to a multiple of 8 elements",
		"cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_nn_align1", 7, MS(8.1), MS(8),
		0.012},
};

static struct vpa_flop_row flop_rates[] = {
	{0, "attention", VPA_PRECISION_16, 300, MS(286.1), 98704500000000, 345, 989.5, 0.348661},
	{0, "gemm", VPA_PRECISION_UNKNOWN, 1400, MS(188.7), 75480000000000, 400, -1, -1},
};
static struct vpa_stage_work_row stage_work[] = {
	{"denoise step", VPA_SCOPE_STEP, MS(900), 0.52, 1700, MS(474.8), 174.1845, 193.54, -1},
	{"vae_decode", VPA_SCOPE_STAGE, MS(120), 0.75, 12, MS(90), 35.6, 296.67, 0.2998},
	{"outside all stages", VPA_SCOPE_NONE, MS(4), 0, 0, 0, -1, -1, -1},
};
static struct vpa_byte_row byte_rates[] = {
	{0, "void at::native::vectorized_elementwise_kernel<4, Add>(int)", VPA_FAMILY_ELEMENTWISE,
		0, 1200, MS(24), UINT64_C(68340000000), 2847.5, 3350, 0.85},
	{0, "void at::native::CatArrayBatchedCopy<OpaqueType<2u>>(int)", VPA_FAMILY_LAYOUT, 1, 84,
		MS(4.2), 2814000000, 670, -1, -1},
};

static struct vpa_module_row modules[] = {
	{"WanModel", "WanModel", "WanModel", 0, 1, 11200, MS(560), MS(10)},
	{"WanAttentionBlock", "WanModel/WanAttentionBlock", "  WanAttentionBlock", 1, 30, 10900,
		MS(550), MS(550)},
};

/* 8 ranks: the bus moves 7/8 of an all-to-all's message. */
static struct vpa_collective_row collectives[] = {
	{0, "all-to-all", "nccl:all_to_all", "0x5f3a", 8, UINT64_C(25165824), 480, MS(57.6), 100000,
		183.501, 220.2},
	{0, "collective", "ncclDevKernel_Generic", NULL, 0, 0, 3, MS(1.2), 380000, -1, -1},
};

static struct vpa_operator_row operators[] = {
	{"aten::addmm", "3072 4096x768 768x3072", 360, 360, MS(94.3), MS(7.2), MS(7.9), 720,
		MS(188.2), 622.4, -1},
	{"aten::copy_", NULL, 84, 90, MS(4.2), MS(30.1), MS(30.1), 0, 0, -1, 670},
};

static struct vpa_memory_label memory_labels[] = {
	{"after_load", 0, 1, 1000000000 + MS(2), UINT64_C(16106127360), UINT64_C(17179869184),
		UINT64_C(16642998272), 1, 0.0625, 0},
	{"after_block", 0, 4, 1000000000 + MS(250), UINT64_C(18253611008), UINT64_C(25769803776),
		UINT64_C(21474836480), 0, 0.291667, UINT64_C(2147483648)},
	{"before_exit", -1, 1, 1000000000 + MS(800), UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, -1, 0},
};

static struct vpa_component components[] = {
	{"world_model", 1, 48, 1,
		{4, MS(600), MS(120), MS(150), MS(180), MS(180), MS(180), MS(180), MS(150),
			MS(22.4), 0},
		{4, MS(20), MS(4), MS(5), MS(6), MS(6), MS(6), MS(6), MS(5), MS(0.7), 0}, 80,
		UINT64_C(21474836480)},
	{"vae_decode", 0, 0, 0,
		{1, MS(90), MS(90), MS(90), MS(90), MS(90), MS(90), MS(90), MS(90), 0, 0},
		{1, MS(90), MS(90), MS(90), MS(90), MS(90), MS(90), MS(90), MS(90), 0, 0}, -1,
		UINT64_MAX},
};

static struct vpa_model_size models[] = {
	{"CausalWanModel", "transformer", 1300000000, UINT64_C(2600004096),
		"bfloat16:1299998976 float32:1024"},
	{"AutoencoderKL", NULL, 83819683, 335278732, NULL},
};

static struct vpa_compilation compilations[] = {
	{"0/0", NULL, NULL, 0, 0, "step", 1000000000 + MS(5), MS(310)},
	{"0/1", "forward in causal_model.py:212",
		"0/0: tensor 'x' size mismatch at index 1. expected 1560, actual 3120", 1, 0,
		"step", 1000000000 + MS(420), MS(120)},
};

static struct vpa_moment moments[] = {
	{"seed set", NULL, 1, 1000000000 + MS(1), MS(1), 0},
	{"frame saved", "app", 84, 1000000000 + MS(640), MS(640), MS(9200)},
};

static struct vpa_iteration each_iteration[] = {
	{VPA_SCOPE_STEP, 0, 0, 1000, 0, 1000000000 + MS(3), MS(9), MS(48), MS(44), MS(2), 310},
	{VPA_SCOPE_CONTEXT, 1, 0, -1, 0, 1000000000 + MS(60), MS(7), 0, 0, 0, 0},
};

static const struct vpa_verdict complete_verdict = {.complete = 1,
	.received = 131204,
	.written = 131204,
	.overhead_ns = MS(1.2),
	.tracing_cost_share = 0.013,
	.zero_duration = 3};
static const struct vpa_counts counts = {.kernels = 12301,
	.memcpy = 30,
	.memset = 14,
	.calls = 25011,
	.ranges = 1057,
	.marks = 2,
	.syncs = 324,
	.samples = 3110,
	.counters = 70,
	.other = 9};

static const struct vpa_attention attention = {.calls = 312,
	.share_of_busy = 0.4416,
	.backends = backends,
	.backend_count = 1,
	.eager = eager,
	.eager_count = 1,
	.fallbacks = fallbacks,
	.fallback_count = 1,
	.changes = changes,
	.change_count = COUNT(changes)};

static struct vpa_report host_limited(void)
{
	struct vpa_report r = {
		.path = "runs/demo.zst",
		.format = "vptrace",
		.window_start_ns = 1000000000,
		.window_end_ns = 1000000000 + MS(817),
		.has_realtime = 1,
		.unix_offset_ns = 1700000000000000000,
		.min_gap_ns = 10000,
		.meta = meta,
		.meta_count = COUNT(meta),
		.gpus = h100,
		.gpu_count = 1,
		.verdict = complete_verdict,
		.counts = counts,
		.devices = one_device,
		.device_count = 1,
		.gaps = gaps,
		.gap_count = COUNT(gaps),
		.gaps_listed_of = 515,
		.families = families,
		.family_count = COUNT(families),
		.kernels = kernels,
		.kernel_count = COUNT(kernels),
		.kernel_names = 61,
		.attention = attention,
		.precisions = precisions,
		.precision_count = COUNT(precisions),
		.expert = {.misfits = misfits,
			.misfit_count = COUNT(misfits),
			.flop_rates = flop_rates,
			.flop_rate_count = COUNT(flop_rates),
			.stage_work = stage_work,
			.stage_work_count = COUNT(stage_work),
			.byte_rates = byte_rates,
			.byte_rate_count = COUNT(byte_rates),
			.byte_rates_used = COUNT(byte_rates),
			.collectives = collectives,
			.collective_count = COUNT(collectives),
			.collectives_used = COUNT(collectives),
			.operators = operators,
			.operator_count = COUNT(operators),
			.operators_used = COUNT(operators)},
		.ranges = ranges,
		.range_count = COUNT(ranges),
		.range_names = 17,
		.copies = copies,
		.copy_count = COUNT(copies),
		.syncs = syncs,
		.sync_count = COUNT(syncs),
		.lines = {.launches_are_sampled = 1,
			.idle = idle_lines,
			.idle_count = COUNT(idle_lines),
			.launches = launch_lines,
			.launch_count = COUNT(launch_lines),
			.modules = modules,
			.module_count = COUNT(modules),
			.modules_used = 5},
		.findings = findings,
		.finding_count = COUNT(findings),
		.said = {.memory_labels = memory_labels,
			.memory_label_count = COUNT(memory_labels),
			.memory_labels_used = COUNT(memory_labels),
			.components = components,
			.component_count = COUNT(components),
			.models = models,
			.model_count = COUNT(models),
			.moments = moments,
			.moment_count = COUNT(moments),
			.moments_used = COUNT(moments),
			.compilations = compilations,
			.compilation_count = COUNT(compilations),
			.compilations_used = COUNT(compilations),
			.iterations = each_iteration,
			.iteration_count = COUNT(each_iteration),
			.iterations_used = COUNT(each_iteration)},
	};

	return r;
}

/* ---- two devices that work all the time, in a lossy capture of the stand-in ---- */

static struct vpa_idle_part opened_0[] = {
	{VPA_CAUSE_LAUNCH_LATENCY, NOWHERE, NULL, NULL, 0, MS(6), 2100, NULL, 0, 0, NULL}};
static struct vpa_idle_part opened_1[] = {
	{VPA_CAUSE_LAUNCH_LATENCY, NOWHERE, NULL, NULL, 0, MS(3), 1200, NULL, 0, 0, NULL},
	{VPA_CAUSE_SYNC, NOWHERE, "cudaDeviceSynchronize", NULL, 0, MS(2), 12, NULL, 0, 0, NULL}};
static struct vpa_device two_devices[] = {
	{.device = 0,
		.ops = 2184,
		.streams = 1,
		.active_ns = MS(968),
		.busy_ns = MS(962),
		.idle_ns = MS(6),
		.gaps = 2100,
		.longest_gap_ns = MS(0.76),
		.histogram = {420, 1400, 265, 3, 12},
		.compute_ns = MS(900),
		.exposed_comm_ns = MS(60),
		.exposed_copy_ns = MS(2),
		.comm_ns = MS(70),
		.comm_wait_ns = MS(12.5),
		.window_idle_ns = MS(6),
		.causes = opened_0,
		.cause_count = 1},
	{.device = 1,
		.ops = 2184,
		.streams = 1,
		.active_ns = MS(968),
		.busy_ns = MS(963),
		.idle_ns = MS(5),
		.gaps = 1212,
		.longest_gap_ns = MS(0.5),
		.histogram = {0, 1200, 12},
		.compute_ns = MS(901),
		.exposed_comm_ns = MS(60),
		.exposed_copy_ns = MS(2),
		.window_idle_ns = MS(5),
		.causes = opened_1,
		.cause_count = 2},
};
static struct vpa_gap_row second_gap[] = {
	{"G1", 1, MS(400), MS(0.5), VPA_CAUSE_SYNC, "cudaDeviceSynchronize", NOWHERE, 1, 2, "x",
		"ncclDevKernel_AllReduce", NULL, 0, NULL, {0, 0, NOWHERE}}};

static struct vpa_report two_bound(void)
{
	struct vpa_report r = {
		.path = "a b.zst",
		.format = "vptrace",
		.simulated = 1,
		.window_end_ns = MS(968),
		.window_note = "the first \"block 3\" range, 0.120 s to 1.088 s",
		.min_gap_ns = 10000,
		.gpus = h100,
		.gpu_count = 2,
		.verdict = {.reasons = lost,
			.reason_count = COUNT(lost),
			.received = 9000,
			.written = 7796,
			.dropped = 1204,
			.ops_without_launch = 509,
			.tracing_cost_share = -1,
			.damaged_chunks = 1,
			.reversed = 2,
			.zero_time = 1,
			.gaps = VPA_DEGRADED},
		.counts = {.kernels = 4300, .memcpy = 60, .memset = 8, .calls = 6002},
		.devices = two_devices,
		.device_count = 2,
		.gaps = second_gap,
		.gap_count = 1,
		.gaps_listed_of = 1,
		.families = families,
		.family_count = 3,
	};

	return r;
}

static struct vpa_report no_gpu(void)
{
	struct vpa_report r = {
		.path = "cpu.json.gz",
		.format = "kineto",
		.is_import = 1,
		.window_end_ns = MS(3.2),
		.verdict = {.complete = 1, .tracing_cost_share = -1},
		.counts = {.calls = 12, .ranges = 8, .cpu_ops = 120},
		.ranges = ranges,
		.range_count = 1,
		.range_names = 1,
	};

	return r;
}

static struct vpa_report nothing(void)
{
	return (struct vpa_report){.verdict = {.tracing_cost_share = -1}};
}

#endif
