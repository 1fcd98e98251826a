/* test_render.c - the report as people and programs see it, against golden files.
 *
 * Reports are made by hand, so the goldens tell about layout alone. VPT_RECORD=1 writes them anew; look at
 * them before they are committed. */
#include "analysis/report.h"
#include "analysis/units.h"

#include "formats/io.h"
#include "formats/memory.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS(n)    ((uint64_t)((n) * 1e6))

/* ---- a run that waits for its host ---- */

static const char *lost[] = {"509 of 1,707 ops have no launch record",
	"1,204 events were dropped between 0.113 s and 0.126 s",
	"chunk 7 is damaged: its checksum is wrong", "the file ends in the middle of a chunk"};

static struct vpa_gpu h100[] = {
	{0, "NVIDIA H100 80GB HBM3", "GPU-0f3c", "0000:18:00.0", 9, 0, 132, 85899345920, 0},
	{1, "NVIDIA H100 80GB HBM3", "GPU-11aa", "0000:2a:00.0", 9, 0, 132, 85899345920, 0},
};

static struct vpa_pair meta[] = {
	{"command", "python demo.py --prompt \"a cat\" --frames 81"},
	{"hostname", "node7"},
	{"cuda_driver", "580.65"},
	{"cuda_runtime", "12.8"},
	{"torch", "2.11"},
	{"rank", "3"},
	{"tag.session", "nightly"},
	{"torch", "2.11"},
};

static struct vpa_idle_part opened[] = {
	{VPA_CAUSE_SYNC_DRAIN, "self_attn", "cudaStreamSynchronize", MS(98.12), 300},
	{VPA_CAUSE_BLOCKING_COPY, "to_host", "cudaMemcpy", MS(21.6), 7},
	{VPA_CAUSE_LAUNCH_RATE, "mlp", NULL, MS(12.4), 4100},
	{VPA_CAUSE_BEFORE_FIRST_WORK, NULL, NULL, MS(9.9), 1},
	{VPA_CAUSE_SYNC_DRAIN, "scheduler", "cudaDeviceSynchronize", MS(9.1), 24},
	{VPA_CAUSE_LAUNCH_RATE, "norm", NULL, MS(7), 2090},
	{VPA_CAUSE_SCHEDULING, NULL, NULL, MS(4.1), 610},
	{VPA_CAUSE_ALLOCATION, "vae_decode", "cudaMalloc", MS(3.1), 12},
	{VPA_CAUSE_SYNC_DRAIN, "(other)", "(other)", MS(1.02), 4},
	{VPA_CAUSE_UNKNOWN, NULL, NULL, MS(0.3), 1},
};

static struct vpa_idle_part spent[] = {
	{VPA_CAUSE_HOST_CODE, NULL, NULL, MS(101), 0},
	{VPA_CAUSE_LAUNCH_LATENCY, NULL, NULL, MS(30), 0},
	{VPA_CAUSE_BLOCKING_COPY, NULL, NULL, MS(20.64), 0},
	{VPA_CAUSE_LAUNCH_CALL, NULL, NULL, MS(13), 0},
	{VPA_CAUSE_SYNC, NULL, NULL, MS(2), 0},
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
	.opened_by = opened,
	.opened_by_count = COUNT(opened),
	.spent_in = spent,
	.spent_in_count = COUNT(spent),
}};

static struct vpa_gap_piece pieces[] = {
	{VPA_CAUSE_BLOCKING_COPY, "to_host", MS(10)},
	{VPA_CAUSE_HOST_CODE, NULL, MS(2.3)},
};

static struct vpa_gap_row gaps[] = {
	{"G1", 0, 1000000000 + MS(790.5), MS(12.3), VPA_CAUSE_BLOCKING_COPY, "cudaMemcpy", "to_host",
		4242, 4243, "void cudnn::conv3d<float>(int)", "Memcpy DtoH", pieces, COUNT(pieces)},
	{"G2", 0, 1000000000, MS(9.9), VPA_CAUSE_BEFORE_FIRST_WORK, NULL, NULL, -1, -1, NULL,
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
		"std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
		NULL, 0},
	{"G3", 0, 1000000000 + MS(101.25), MS(0.51), VPA_CAUSE_SYNC_DRAIN, "cudaStreamSynchronize",
		"self_attn", 4242, 4243, "a", "void flash::flash_fwd_kernel<Traits>(Params)", NULL, 0},
};

static struct vpa_family_row families[] = {
	{"attention", 300, MS(290), MS(286.1), 0.4399},
	{"gemm", 1400, MS(190), MS(188.7), 0.2901},
	{"conv", 84, MS(96.3), MS(96.3), 0.1481},
	{"elementwise", 8000, MS(69.8), MS(69.8), 0.1073},
	{"memcpy", 30, MS(12), MS(9.4), 0.0145},
	{"memset", 14, MS(0.06), MS(0.06), 0.0001},
};

#define SPREAD(n, total) {n, MS(total), 1000, 2000, 3000, 4000, 5000, 6000, 2500.5, 100.25, 0}

static struct vpa_kernel_row kernels[] = {
	{"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
	 "cutlass::bfloat16_t>, false, true>(flash::Flash_fwd_params)",
		"attention", "flash-attn-2", MS(286.1), SPREAD(300, 290)},
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "gemm", NULL, MS(188.7),
		SPREAD(1400, 190)},
	{"cudnn_infer_conv3d", "conv", NULL, MS(96.3), SPREAD(84, 96.3)},
};

static struct vpa_backend_row backends[] = {{"flash-attn-2", 300, MS(286.1), 300, MS(3.9), 0.4399}};
static struct vpa_eager_row eager[] = {
	{"text_encoder", "ampere_sgemm", "softmax_warp_forward", 12, MS(4.2), MS(1.1)}};
static const char *fallbacks[] = {
	"FlashAttention 2 on an sm_90 device, where FlashAttention 3 exists: 300 calls, 286.1 ms"};

static struct vpa_copy_row copies[] = {
	{"DtoH", "device", "pageable", 7, 58000000, MS(11.6), 5.0},
	{"HtoD", "pinned", "device", 23, 1840, MS(0.04), 0},
	{"memset", NULL, NULL, 14, 120000, MS(0.06), 2.0},
};

static struct vpa_sync_row syncs[] = {
	{"cudaStreamSynchronize", 300, MS(612), 300, MS(98.12)},
	{"cudaMemcpy", 7, MS(30.2), 7, MS(21.6)},
	{"cudaDeviceSynchronize", 24, MS(1.5), 24, MS(9.1)},
};

static struct vpa_range_row ranges[] = {
	{.name = "self_attn", .domain = "", .host = SPREAD(150, 410), .ops = 900, .launches = 900,
		.envelope_ns = MS(470), .busy_ns = MS(360), .foreign_ns = MS(10), .idle_ns = MS(100),
		.lag = SPREAD(150, 3), .gpu = SPREAD(150, 470)},
	{.name = "to_host", .domain = "video", .unmatched = 1, .host = SPREAD(7, 34.1), .ops = 7,
		.launches = 7, .envelope_ns = MS(11.6), .busy_ns = MS(11.6)},
};

static const char *drain_evidence[] = {"S1", "G3"}, *copy_evidence[] = {"C1", "G1"};
static struct vpa_finding findings[] = {
	{"sync-drain", "cudaStreamSynchronize drains the GPU 300 times, in self_attn: keep what it reads "
		       "on the GPU, or read it one step later",
		"98.1 ms idle", "1 % of window", 98.12, drain_evidence, 2, "fail", NULL},
	{"pageable-copy", "frames to host: pinned memory and a copy stream of its own", "21.6 ms idle",
		"1 % of window", 21.6, copy_evidence, 2, "warn", "assumes that the copy can overlap"},
	{"small-grid", "31.0 ms of kernels have fewer thread blocks than the GPU has SMs", "31.0 ms", NULL,
		0, NULL, 0, "info", NULL},
};

static struct vpa_report host_limited(void)
{
	struct vpa_report r = {
		.path = "runs/demo.zst",
		.format = "vptrace",
		.window_start_ns = 1000000000,
		.window_end_ns = 1000000000 + MS(817),
		.unix_offset_ns = 1700000000000000000,
		.min_gap_ns = 10000,
		.meta = meta,
		.meta_count = COUNT(meta),
		.gpus = h100,
		.gpu_count = 1,
		.verdict = {.complete = 1, .received = 131204, .written = 131204, .overhead_ns = MS(1.2),
			.tracing_cost_share = 0.013, .zero_duration = 3},
		.counts = {.kernels = 12301, .memcpy = 30, .memset = 14, .calls = 25011, .ranges = 1057,
			.marks = 2, .syncs = 324, .counters = 70, .other = 9},
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
		.attention = {.calls = 312, .share_of_busy = 0.4416, .backends = backends,
			.backend_count = 1, .eager = eager, .eager_count = 1, .fallbacks = fallbacks,
			.fallback_count = 1},
		.ranges = ranges,
		.range_count = COUNT(ranges),
		.range_names = 17,
		.copies = copies,
		.copy_count = COUNT(copies),
		.syncs = syncs,
		.sync_count = COUNT(syncs),
		.findings = findings,
		.finding_count = COUNT(findings),
	};

	return r;
}

/* ---- two devices that work all the time, in a lossy capture of the stand-in ---- */

static struct vpa_idle_part opened_0[] = {{VPA_CAUSE_LAUNCH_LATENCY, NULL, NULL, MS(6), 2100}};
static struct vpa_idle_part opened_1[] = {{VPA_CAUSE_LAUNCH_LATENCY, NULL, NULL, MS(3), 1200},
	{VPA_CAUSE_SYNC_DRAIN, NULL, "cudaDeviceSynchronize", MS(2), 12}};
static struct vpa_device two_devices[] = {
	{.device = 0, .ops = 2184, .streams = 1, .active_ns = MS(968), .busy_ns = MS(962),
		.idle_ns = MS(6), .gaps = 2100, .longest_gap_ns = MS(0.76),
		.histogram = {420, 1400, 265, 3, 12}, .compute_ns = MS(900), .exposed_comm_ns = MS(60),
		.exposed_copy_ns = MS(2), .window_idle_ns = MS(6), .opened_by = opened_0,
		.opened_by_count = 1},
	{.device = 1, .ops = 2184, .streams = 1, .active_ns = MS(968), .busy_ns = MS(963),
		.idle_ns = MS(5), .gaps = 1212, .longest_gap_ns = MS(0.5), .histogram = {0, 1200, 12},
		.compute_ns = MS(901), .exposed_comm_ns = MS(60), .exposed_copy_ns = MS(2),
		.window_idle_ns = MS(5), .opened_by = opened_1, .opened_by_count = 2},
};
static struct vpa_gap_row second_gap[] = {{"G1", 1, MS(400), MS(0.5), VPA_CAUSE_SYNC_DRAIN,
	"cudaDeviceSynchronize", NULL, 1, 2, "x", "ncclDevKernel_AllReduce", NULL, 0}};

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
		.verdict = {.reasons = lost, .reason_count = COUNT(lost), .received = 9000, .written = 7796,
			.dropped = 1204, .ops_without_launch = 509, .tracing_cost_share = -1,
			.damaged_chunks = 1, .reversed = 2, .zero_time = 1, .gaps = VPA_DEGRADED},
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

/* ---- rendering into memory ---- */

enum { JSON = 1 };

static struct vpt_buffer render(const struct vpa_report *r, unsigned width, int colour)
{
	struct vpt_buffer out;
	struct vpt_sink *sink;
	struct vpt_err err;
	int rc;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	rc = width == JSON ? vpa_render_json(r, sink, &err) : vpa_render_text(r, width, colour, sink, &err);
	if (rc)
		fail_msg("render: %s", err.text);
	assert_int_equal(vpt_sink_write(sink, "", 1, NULL), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
	return out;
}

static void golden_path(char *path, size_t size, const char *name)
{
	const char *root = getenv("VPT_SOURCE_DIR");

	snprintf(path, size, "%s/tests/golden/%s", root ? root : ".", name);
}

static char *read_file(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		fail_msg("%s: cannot be read; VPT_RECORD=1 writes it", path);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	return text;
}

static void expect_golden(const char *name, const char *found)
{
	const char *record = getenv("VPT_RECORD"), *expected;
	char path[4096];
	size_t at, line = 1;

	golden_path(path, sizeof(path), name);
	if (record && !strcmp(record, "1")) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		assert_int_equal(fwrite(found, 1, strlen(found), file), strlen(found));
		assert_int_equal(fclose(file), 0);
		return;
	}
	expected = read_file(path);
	for (at = 0; expected[at] && expected[at] == found[at]; at++)
		line += found[at] == '\n';
	if (expected[at] != found[at])
		fail_msg("%s: differs in line %zu:\n%s", name, line, found);
}

static const struct {
	const char *golden;
	struct vpa_report (*report)(void);
	unsigned width;
	int colour;
} goldens[] = {
	{"render_host_limited.txt", host_limited, 80, 0},
	{"render_host_limited_60.txt", host_limited, 60, 0},
	{"render_host_limited_120.txt", host_limited, 120, 0},
	{"render_host_limited.json", host_limited, JSON, 0},
	{"render_two_bound.txt", two_bound, 80, 0},
	{"render_two_bound_colour.txt", two_bound, 80, 1},
	{"render_two_bound.json", two_bound, JSON, 0},
	{"render_no_gpu.txt", no_gpu, 80, 0},
	{"render_no_gpu.json", no_gpu, JSON, 0},
	{"render_nothing.txt", nothing, 80, 0},
	{"render_nothing.json", nothing, JSON, 0},
};

static void reports_look_like_their_goldens(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(goldens); i++) {
		struct vpa_report r = goldens[i].report();
		struct vpt_buffer out = render(&r, goldens[i].width, goldens[i].colour);

		expect_golden(goldens[i].golden, out.data);
		vpt_free(out.data);
	}
}

/* ---- rules that hold for every report ---- */

/* Lines within the width, of characters that a terminal shows as they are. */
static void check_page(const char *rule, const char *text, unsigned width)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		char line[1024];
		size_t columns;

		if (!end || (size_t)(end - text) >= sizeof(line))
			fail_msg("%s: a line without end, or of over %zu bytes", rule, sizeof(line));
		memcpy(line, text, (size_t)(end - text));
		line[end - text] = '\0';
		columns = vpa_columns(line);
		if (columns > width)
			fail_msg("%s: %zu columns of %u: %s", rule, columns, width, line);
		if (strcmp(vpa_fit(line, VPA_COLUMNS_MAX).text, line))
			fail_msg("%s: not fit for a terminal: %s", rule, line);
		text = end + 1;
	}
}

static void every_line_keeps_to_the_width(void **state)
{
	struct vpa_report (*const reports[])(void) = {host_limited, two_bound, no_gpu, nothing};
	size_t i;
	unsigned width;

	(void)state;
	for (i = 0; i < COUNT(reports); i++) {
		for (width = 0; width < 300; width += 11) {
			unsigned kept = !width ? 80 : width < 60 ? 60 : width > 120 ? 120 : width;
			struct vpa_report r = reports[i]();
			struct vpt_buffer out = render(&r, width, 0);

			check_page("width", out.data, kept);
			vpt_free(out.data);
		}
	}
}

static void without_colour_there_is_no_escape_sequence(void **state)
{
	struct vpa_report r = two_bound();
	struct vpt_buffer plain = render(&r, 80, 0), colour = render(&r, 80, 1);
	char *from, *to;

	(void)state;
	assert_null(strchr(plain.data, '\x1b'));
	assert_non_null(strchr(colour.data, '\x1b'));
	/* With them taken out both are the same: colour carries no meaning of its own. */
	for (from = to = colour.data; *from; from++) {
		if (*from == '\x1b')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(plain.data, colour.data);
	vpt_free(plain.data);
	vpt_free(colour.data);
}

static void the_page_is_the_same_in_every_locale(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C.UTF-8"};
	struct vpa_report r = host_limited();
	struct vpt_buffer text = render(&r, 80, 0), json = render(&r, JSON, 0);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		struct vpt_buffer text_here, json_here;

		if (!setlocale(LC_ALL, names[i]))
			continue;
		text_here = render(&r, 80, 0);
		json_here = render(&r, JSON, 0);
		setlocale(LC_ALL, "C");
		assert_string_equal(text.data, text_here.data);
		assert_string_equal(json.data, json_here.data);
		vpt_free(text_here.data);
		vpt_free(json_here.data);
	}
	vpt_free(text.data);
	vpt_free(json.data);
}

/* ---- names from hell ---- */

/* A report of one row each, every text of which is `name`. */
static void check_name(const char *rule, const char *name)
{
	const char *texts[5] = {name, name, name, name, name};
	struct vpa_pair pairs[] = {{name, name}, {"command", name}, {"host", name}, {"cuda", name}};
	struct vpa_gpu gpu = {.name = name, .uuid = name, .pci = name, .compute_major = 9};
	struct vpa_idle_part parts[] = {{VPA_CAUSE_SYNC_DRAIN, name, name, MS(3), 3},
		{VPA_CAUSE_SYNC_DRAIN, NULL, name, MS(2), 1}, {VPA_CAUSE_QUEUED, name, NULL, MS(1), 0}};
	struct vpa_device device = {.active_ns = MS(10), .busy_ns = MS(4), .idle_ns = MS(6), .gaps = 4,
		.window_idle_ns = MS(6), .opened_by = parts, .opened_by_count = 3};
	struct vpa_gap_piece piece = {VPA_CAUSE_SYNC, name, 1};
	struct vpa_gap_row gap = {"G1", 0, 0, MS(3), VPA_CAUSE_SYNC_DRAIN, name, name, 1, 1, name, name,
		&piece, 1};
	struct vpa_family_row family = {name, 1, MS(4), MS(4), 1};
	struct vpa_kernel_row kernel = {name, name, name, MS(4), SPREAD(1, 4)};
	struct vpa_backend_row backend = {name, 1, 1, 1, 1, 0.5};
	struct vpa_eager_row triple = {name, name, name, 1, 1, 1};
	struct vpa_range_row range = {.name = name, .domain = name, .host = SPREAD(1, 1)};
	struct vpa_copy_row copy = {name, name, name, 1, 1, 1, 1};
	struct vpa_sync_row sync = {name, 1, 1, 1, 1};
	struct vpa_finding found = {name, name, name, name, 1, texts, 5, name, name};
	struct vpa_finding info = {name, name, name, name, 0, texts, 5, "info", name};
	struct vpa_finding both[] = {found, info};
	struct vpa_report r = {.path = name, .format = name, .window_end_ns = MS(10), .window_note = name,
		.meta = pairs, .meta_count = COUNT(pairs), .gpus = &gpu, .gpu_count = 1,
		.verdict = {.reasons = texts, .reason_count = 5}, .devices = &device, .device_count = 1,
		.gaps = &gap, .gap_count = 1, .families = &family, .family_count = 1,
		.kernels = &kernel, .kernel_count = 1,
		.attention = {1, 0.5, &backend, 1, &triple, 1, texts, 5}, .ranges = &range,
		.range_count = 1, .copies = &copy, .copy_count = 1, .syncs = &sync, .sync_count = 1,
		.findings = both, .finding_count = 2};
	static const unsigned widths[] = {60, 80, 120};
	struct vpt_buffer out;
	size_t i;

	for (i = 0; i < COUNT(widths); i++) {
		out = render(&r, widths[i], 0);
		check_page(rule, out.data, widths[i]);
		vpt_free(out.data);
		out = render(&r, widths[i], 1);
		vpt_free(out.data);
	}
	out = render(&r, JSON, 0);
	if (strpbrk(out.data, "\x1b\x07\x7f\xff"))
		fail_msg("%s: a control byte in the JSON report", rule);
	vpt_free(out.data);
}

static void names_of_any_bytes_and_length_keep_the_layout(void **state)
{
	static const struct {
		const char *rule, *piece;
	} cases[] = {
		{"a word", "kernel"},
		{"escape sequences", "\x1b[2J\x07"},
		{"line ends", "a\r\n"},
		{"spaces", " "},
		{"tabs", "\t"},
		{"bytes that are no UTF-8", "\xff\xc0\xe8"},
		{"wide characters", "\xe8\xa7\x86\xe9\xa2\x91"},
		{"characters of four bytes", "\xf0\x90\x80\x80"},
		{"turned text", "\xe2\x80\xae"},
		{"brackets that open", "("},
		{"brackets that close", ")"},
		{"what printf would read", "%s%n%"},
	};
	static const size_t sizes[] = {0, 1, 79, 80, 1023, 2047, 10240, 65536};
	static char name[65536 + 1];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		for (k = 0; k < COUNT(sizes); k++) {
			size_t len = strlen(cases[i].piece), at;

			for (at = 0; at + len <= sizes[k] || (!at && sizes[k]); at += len)
				memcpy(name + at, cases[i].piece, len);
			name[at] = '\0';
			check_name(cases[i].rule, name);
		}
	}
	check_name("no names at all", NULL);
}

static void tables_of_any_length_stay_short(void **state)
{
	struct vpa_device many[70];
	struct vpa_idle_part parts[100];
	char names[100][16];
	struct vpa_report r = {.window_end_ns = MS(10), .devices = many, .device_count = COUNT(many)};
	struct vpt_buffer out;
	size_t i, lines = 0;

	(void)state;
	for (i = 0; i < COUNT(parts); i++) {
		snprintf(names[i], sizeof(names[i]), "range %zu", i);
		parts[i] = (struct vpa_idle_part){
			(enum vpa_cause)(i % (VPA_CAUSES + 3)), names[i], NULL, MS(0.01), 1};
	}
	for (i = 0; i < COUNT(many); i++)
		many[i] = (struct vpa_device){.device = (int64_t)i, .active_ns = MS(2), .busy_ns = MS(1),
			.idle_ns = MS(1), .gaps = 100, .window_idle_ns = MS(1), .opened_by = parts,
			.opened_by_count = COUNT(parts)};
	out = render(&r, 80, 0);
	check_page("many", out.data, 80);
	for (i = 0; out.data[i]; i++)
		lines += out.data[i] == '\n';
	assert_true(lines < 100);
	vpt_free(out.data);
}

/* ---- failures ---- */

static int refuse(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	(void)data;
	if (sink->written_bytes < size)
		return vpt_fail(err, VPT_EIO, "disk full");
	sink->written_bytes -= size;
	return VPT_OK;
}

static void a_sink_that_fails_is_reported_once(void **state)
{
	static const uint64_t room[] = {0, 100, 2000};
	struct vpa_report r = host_limited();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(room); i++) {
		struct vpt_sink sink = {.write = refuse, .written_bytes = room[i]};
		struct vpt_err err = {0};

		assert_int_equal(vpa_render_text(&r, 80, 0, &sink, &err), VPT_EIO);
		assert_string_equal(err.text, "disk full");
		sink.written_bytes = room[i];
		assert_int_equal(vpa_render_json(&r, &sink, &err), VPT_EIO);
		assert_int_equal(vpa_render_json(&r, &sink, NULL), VPT_EIO);
	}
}

static void *no_memory(void *ptr, size_t size)
{
	(void)ptr;
	(void)size;
	return NULL;
}

static void a_page_needs_no_memory_and_json_says_when_it_has_none(void **state)
{
	static const struct vpt_memory_ops none = {no_memory, free};
	struct vpt_sink sink = {.write = refuse, .written_bytes = UINT64_MAX};
	struct vpa_report r = host_limited();
	struct vpt_err err = {0};
	int text, json;

	(void)state;
	vpt_memory_use(&none);
	text = vpa_render_text(&r, 80, 0, &sink, &err);
	json = vpa_render_json(&r, &sink, &err);
	vpt_memory_use(NULL);
	assert_int_equal(text, VPT_OK);
	assert_int_equal(json, VPT_ENOMEM);
	assert_non_null(strstr(err.text, "metadata"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_look_like_their_goldens),
		cmocka_unit_test(every_line_keeps_to_the_width),
		cmocka_unit_test(without_colour_there_is_no_escape_sequence),
		cmocka_unit_test(the_page_is_the_same_in_every_locale),
		cmocka_unit_test(names_of_any_bytes_and_length_keep_the_layout),
		cmocka_unit_test(tables_of_any_length_stay_short),
		cmocka_unit_test(a_sink_that_fails_is_reported_once),
		cmocka_unit_test(a_page_needs_no_memory_and_json_says_when_it_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
