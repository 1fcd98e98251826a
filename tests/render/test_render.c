/* test_render.c - the report as people and programs see it, against golden files.
 *
 * Reports are made by hand, so the goldens tell about layout alone. VPT_RECORD=1 rewrites them;
 * look at them before they are committed.
 * Long, since the reports of all goldens are made here. */
#include "analysis/base/numbers.h"
#include "analysis/report/report.h"
#include "tests/render/render_block_reports.h"
#include "tests/render/render_steps_report.h"

#include "analysis/render/renderer.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- rendering into memory ---- */

enum { JSON = 1 };

static struct vpt_buffer render_form(
	const struct vpa_report *r, unsigned width, int colour, int full)
{
	struct vpt_buffer out;
	struct vpt_sink *sink;
	struct vpt_err err;
	int rc;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	rc = width == JSON
		     ? vpa_render_json(r, sink, &err)
		     : vpa_render_text(r,
			       &(struct vpa_text){.full = full, .width = width, .colour = colour},
			       sink, &err);
	if (rc)
		fail_msg("render: %s", err.text);
	assert_int_equal(vpt_sink_write(sink, "", 1, NULL), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
	return out;
}

/* All sections. */
static struct vpt_buffer render(const struct vpa_report *r, unsigned width, int colour)
{
	return render_form(r, width, colour, 1);
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
} goldens[] =
	{
		{"render_host_limited.txt", host_limited, 80, 0},
		{"render_host_limited_60.txt", host_limited, 60, 0},
		{"render_host_limited_120.txt", host_limited, 120, 0},
		{"render_host_limited.json", host_limited, JSON, 0},
		{"render_two_bound.txt", two_bound, 80, 0},
		{"render_two_bound_colour.txt", two_bound, 80, 1},
		{"render_two_bound.json", two_bound, JSON, 0},
		{"render_no_gpu.txt", no_gpu, 80, 0},
		{"render_no_gpu.json", no_gpu, JSON, 0},
		{"render_blocks.txt", with_blocks, 80, 0},
		{"render_blocks_60.txt", with_blocks, 60, 0},
		{"render_blocks_120.txt", with_blocks, 120, 0},
		{"render_blocks_colour.txt", with_blocks, 80, 1},
		{"render_blocks.json", with_blocks, JSON, 0},
		{"render_lossy.txt", lossy, 80, 0},
		{"render_lossy.json", lossy, JSON, 0},
		{"render_decoded_late.txt", decoded_late, 80, 0},
		{"render_decoded_late.json", decoded_late, JSON, 0},
		{"render_steps.txt", steps_alone, 80, 0},
		{"render_unmarked_steps.txt", unmarked_steps, 80, 0},
		{"render_unmarked_steps.json", unmarked_steps, JSON, 0},
		{"render_iterations.txt", stages_alone, 80, 0},
		{"render_nothing.txt", nothing, 80, 0},
		{"render_nothing.json", nothing, JSON, 0},
},
  screens[] = {
	  {"screen_host_limited.txt", host_limited, 80, 0},
	  {"screen_two_bound.txt", two_bound, 80, 0},
	  {"screen_no_gpu.txt", no_gpu, 80, 0},
	  {"screen_blocks.txt", with_blocks, 80, 0},
	  {"screen_blocks_60.txt", with_blocks, 60, 0},
	  {"screen_blocks_colour.txt", with_blocks, 80, 1},
	  {"screen_lossy.txt", lossy, 80, 0},
	  {"screen_steps.txt", steps_alone, 80, 0},
	  {"screen_unmarked_steps.txt", unmarked_steps, 80, 0},
	  {"screen_iterations.txt", stages_alone, 80, 0},
	  {"screen_nothing.txt", nothing, 80, 0},
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
	for (i = 0; i < COUNT(screens); i++) {
		struct vpa_report r = screens[i].report();
		struct vpt_buffer out = render_form(&r, screens[i].width, screens[i].colour, 0);

		expect_golden(screens[i].golden, out.data);
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
			fail_msg(
				"%s: a line without end, or of over %zu bytes", rule, sizeof(line));
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
	struct vpa_report (*const reports[])(void) = {host_limited, two_bound, no_gpu, nothing,
		with_blocks, decoded_late, steps_alone, stages_alone};
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

/* ---- what the summary says ---- */

static void expect_words(const char *rule, const struct vpa_report *r, const char *words)
{
	struct vpt_buffer out = render(r, 120, 0);
	char *from, *to;

	/* Wherever its lines are broken. */
	for (from = to = out.data; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from == '\n' && from[1] == ' ' ? ' ' : *from;
	*to = '\0';
	for (from = to = out.data; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
	if (!strstr(out.data, words))
		fail_msg("%s: no \"%s\" in\n%s", rule, words, out.data);
	vpt_free(out.data);
}

static void a_device_that_always_works_is_bound_by_what_it_does_most(void **state)
{
	static const struct {
		const char *rule, *words;
		uint64_t busy_ns, copy_ns, comm_ns;
	} cases[] = {
		{"nine tenths are bound", "CAUSE GPU-BOUND:", 90, 20, 20},
		{"less is not", "CAUSE GPU-BOUND: the GPU never waits.", 89, 0, 0},
		{"copies that take more than anything else", "CAUSE COPY-BOUND:", 95, 41, 20},
		{"communication that does", "CAUSE COMM-BOUND:", 95, 20, 41},
		{"copies need no nine tenths", "CAUSE COPY-BOUND:", 60, 45, 0},
		{"but more than the idle time", "CAUSE GPU-BOUND: the GPU never waits.", 60, 35, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_device dev = {.active_ns = 100,
			.busy_ns = cases[i].busy_ns,
			.exposed_copy_ns = cases[i].copy_ns,
			.exposed_comm_ns = cases[i].comm_ns};
		struct vpa_report r = {.devices = &dev, .device_count = 1, .window_end_ns = 100};

		expect_words(cases[i].rule, &r, cases[i].words);
	}
}

static void a_cause_is_told_by_where_most_of_it_is(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct vpa_idle_part parts[4];
	struct vpa_device dev = {.active_ns = MS(100),
		.busy_ns = MS(60),
		.idle_ns = MS(40),
		.window_idle_ns = MS(40),
		.causes = parts,
		.cause_count = COUNT(parts)};
	struct vpa_report r = {.devices = &dev, .device_count = 1, .window_end_ns = MS(100)};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(parts); i++)
		parts[i] = (struct vpa_idle_part){VPA_CAUSE_BLOCKING_COPY, IN(names[i]),
			"cudaMemcpy", NULL, 0, MS(10), 1, NULL, 0, 0, NULL};
	expect_words("spread over ranges", &r, "For 40.0 ms the host waited for a copy.");
	parts[2].ns = MS(40);
	dev.idle_ns = dev.window_idle_ns = MS(70);
	expect_words("most in one", &r,
		"For 70.0 ms the host waited for a copy, about half of it cudaMemcpy in c.");
	for (i = 0; i < COUNT(parts); i++)
		parts[i].place.text = "a";
	expect_words("all in one", &r, "For 70.0 ms the host waited for a copy, cudaMemcpy in a.");
	for (i = 0; i < COUNT(parts); i++)
		parts[i].cause = VPA_CAUSE_BEFORE_FIRST_WORK;
	expect_words("the head of the window limits nothing", &r, "CAUSE");
	expect_words("but is reported", &r, "For 70.0 ms nothing had been launched yet");
}

enum { ROWS = 10 };

/* A report with ten rows in every table, of which the page shows some. */
struct ten {
	char names[ROWS][8];
	struct vpa_copy_row copies[ROWS];
	struct vpa_finding findings[ROWS];
	struct vpa_range_row ranges[ROWS];
	struct vpa_setup_row setup[ROWS];
	struct vpa_graph_row graphs[ROWS];
	struct vpa_stage_family_row stages[ROWS];
	struct vpa_backend_row backends[ROWS];
	struct vpa_misfit_row misfits[ROWS];
	struct vpa_family_row family;
	struct vpa_device device;
};

static struct vpa_report ten_rows(struct ten *t)
{
	size_t i;

	t->family = (struct vpa_family_row){.family = VPA_FAMILY_GEMM, .exclusive_ns = MS(10)};
	t->device = (struct vpa_device){.active_ns = MS(10), .busy_ns = MS(10)};
	for (i = 0; i < ROWS; i++) {
		const char *name = t->names[i];

		snprintf(t->names[i], sizeof(t->names[i]), "n%zu", i);
		t->copies[i] = (struct vpa_copy_row){
			VPT_COPYKIND_DTOD, VPT_MEMKIND_DEVICE, VPT_MEMKIND_DEVICE, 1, 1, MS(1), 1};
		t->findings[i] = (struct vpa_finding){.id = VPA_FOUND_LARGEST_KERNELS,
			.title = name,
			.status = VPA_FINDING_WARN,
			.gain_at_most_ms = 1};
		t->ranges[i] = (struct vpa_range_row){.name = name};
		t->setup[i] = (struct vpa_setup_row){VPA_SETUP_MODULE, name, 1, MS(1)};
		t->graphs[i] = (struct vpa_graph_row){.place = IN(name), .total_ns = MS(1)};
		t->stages[i] = (struct vpa_stage_family_row){.stage = name,
			.kind = VPA_SCOPE_STAGE,
			.family = VPA_FAMILY_GEMM,
			.exclusive_ns = MS(1),
			.stage_ns = MS(1)};
		t->backends[i] = (struct vpa_backend_row){.backend = VPA_BACKEND_OTHER, .calls = 1};
		t->misfits[i] = (struct vpa_misfit_row){.title = name,
			.advice = "none",
			.kernel = "k",
			.exclusive_ns = i ? 1 : MS(1)};
	}
	return (struct vpa_report){.devices = &t->device,
		.device_count = 1,
		.window_end_ns = MS(10),
		.copies = t->copies,
		.copy_count = ROWS,
		.findings = t->findings,
		.finding_count = ROWS,
		.ranges = t->ranges,
		.range_count = ROWS,
		.range_names = ROWS,
		.families = &t->family,
		.family_count = 1,
		.attention = {.backends = t->backends, .backend_count = ROWS},
		.expert = {.graphs = {.launches = 20,
				   .rows = t->graphs,
				   .row_count = ROWS,
				   .distinct = ROWS,
				   .setup = t->setup,
				   .setup_count = ROWS},
			.misfits = t->misfits,
			.misfit_count = ROWS,
			.stage_families = t->stages,
			.stage_family_count = ROWS}};
}

static void a_table_that_lacks_rows_says_of_how_many(void **state)
{
	static const struct {
		const char *rule, *words;
	} cases[] = {
		{"findings", "FIX FIRST, 5 of 10 "},
		{"copies", "COPIES, 4 of 10 "},
		{"ranges", "RANGES, 5 of 10 "},
		{"setup", "SETUP, code and CUDA graphs, 4 of 10 "},
		{"graphs", "CUDA GRAPHS, 20 launches of 10 graphs, 4 of 10 "},
		{"stages", "STAGES BY FAMILY, 8 of 10 "},
		{"back-ends, of which six are shown", " and 4 more in the JSON report"},
		{"small misfits", "ALIGNMENT, PRECISION, LAYOUT, 1 of 10 "},
	};
	struct ten ten;
	struct vpa_report r = ten_rows(&ten);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		expect_words(cases[i].rule, &r, cases[i].words);
}

static void a_single_block_is_no_series(void **state)
{
	struct vpa_report r = with_blocks();

	(void)state;
	r.requests = &block_requests[1];
	r.request_count = 1;
	expect_words("no rate", &r, "RESULT The GPU works 650 ms of 817 ms.");
	expect_words("the window's cause remains", &r,
		"CAUSE HOST-BOUND: the GPU waits 167 ms. For 108 ms the host waited for the GPU");
}

static void a_trace_without_gpu_work_says_how_its_recorder_records_some(void **state)
{
	static const struct {
		const char *format, *words;
	} cases[] = {
		{"kineto", "that the profiler's activities include ProfilerActivity.CUDA."},
		{"nsight", "that nsys traced CUDA (--trace=cuda)."},
		{"vptrace", "that the self-test of \"vptrace doctor\" passes on its machine."},
		{NULL, "that GPU activities were enabled."},
	};
	struct vpa_report r = {.verdict.complete = 1};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		r.format = cases[i].format;
		r.counts = (struct vpa_counts){.ranges = 1};
		expect_words("host events", &r, "only host events.");
		expect_words("the recorder", &r, cases[i].words);
		r.counts = (struct vpa_counts){0};
		expect_words("none at all", &r, "it has no events.");
		expect_words("the recorder of nothing", &r, cases[i].words);
	}
}

/* ---- names from hell ---- */

/* A report of one row each, every text of which is the same. */
struct named {
	const char *texts[5];
	struct vpa_pair pairs[4];
	struct vpa_gpu gpu;
	struct vpa_idle_part parts[3];
	struct vpa_device device;
	struct vpa_gap_piece piece;
	struct vpa_instead_row instead;
	struct vpa_gap_row gap;
	struct vpa_family_row family;
	struct vpa_kernel_row kernel;
	struct vpa_backend_row backend;
	struct vpa_eager_row triple;
	struct vpa_range_row range;
	struct vpa_copy_row copy;
	struct vpa_sync_row sync;
	struct vpa_finding findings[3];
	struct vpa_request request;
	struct vpa_outlier_row outlier;
	struct vpa_stage_row stage;
	struct vpa_report report;
};

static void name_run(struct named *n, const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(n->texts); i++)
		n->texts[i] = name;
	n->pairs[0] = (struct vpa_pair){name, name};
	n->pairs[1] = (struct vpa_pair){"command", name};
	n->pairs[2] = (struct vpa_pair){"host", name};
	n->pairs[3] = (struct vpa_pair){"cuda", name};
	n->gpu = (struct vpa_gpu){.name = name, .uuid = name, .pci = name, .compute_major = 9};
	n->report.path = n->report.format = n->report.window_note = name;
	n->report.window_end_ns = MS(10);
	n->report.meta = n->pairs;
	n->report.meta_count = COUNT(n->pairs);
	n->report.gpus = &n->gpu;
	n->report.gpu_count = 1;
	n->report.verdict.reasons = n->texts;
	n->report.verdict.reason_count = COUNT(n->texts);
}

static void name_idle_time(struct named *n, const char *name)
{
	n->parts[0] = (struct vpa_idle_part){
		VPA_CAUSE_SYNC, IN(name), name, name, MS(3), MS(3), 3, NULL, 0, 0, NULL};
	n->parts[1] = (struct vpa_idle_part){
		VPA_CAUSE_SYNC, NOWHERE, name, name, MS(1), MS(2), 1, NULL, 0, 0, NULL};
	n->parts[2] = (struct vpa_idle_part){
		VPA_CAUSE_QUEUED, IN(name), NULL, NULL, 0, MS(1), 0, NULL, 0, 0, NULL};
	n->device = (struct vpa_device){.active_ns = MS(10),
		.busy_ns = MS(4),
		.idle_ns = MS(6),
		.gaps = 4,
		.window_idle_ns = MS(6),
		.causes = n->parts,
		.cause_count = COUNT(n->parts),
		.before_first_work = n->parts,
		.before_first_work_count = COUNT(n->parts),
		.comm_ns = MS(2),
		.comm_wait_ns = MS(1)};
	n->instead = (struct vpa_instead_row){VPA_CAUSE_SYNC, IN(name), name, VPA_CAUSE_HOST_CODE,
		IN(name), name, MS(2), 3, NULL};
	n->device.instead = &n->instead;
	n->device.instead_count = 1;
	n->piece = (struct vpa_gap_piece){VPA_CAUSE_SYNC, name, IN(name), MS(3),
		VPA_CAUSE_HOST_CODE, IN(name), name, IN(name), MS(2), 0};
	n->gap = (struct vpa_gap_row){"G1", 0, 0, MS(3), VPA_CAUSE_SYNC, name, IN(name), 1, 1, name,
		name, &n->piece, 1, NULL, {0, 0, NOWHERE}};
	n->report.devices = &n->device;
	n->report.device_count = 1;
	n->report.gaps = &n->gap;
	n->report.gap_count = 1;
}

static void name_work(struct named *n, const char *name)
{
	n->family = (struct vpa_family_row){VPA_FAMILY_GEMM, 1, MS(4), MS(4), 1};
	n->kernel = (struct vpa_kernel_row){name, VPA_FAMILY_GEMM, VPA_BACKEND_OTHER, MS(4),
		SPREAD(1, 4), 0, -1, -1, -1, -1, 0, 0, NULL, 0, {0}};
	n->backend = (struct vpa_backend_row){VPA_BACKEND_OTHER, 1, 1, 1, 1, 1, 1, 0.5};
	n->triple = (struct vpa_eager_row){name, name, name, 1, 1, 1};
	n->range = (struct vpa_range_row){.name = name, .domain = name, .host = SPREAD(1, 1)};
	n->copy = (struct vpa_copy_row){1, 1, 1, 1, 1, 1, 1};
	n->sync = (struct vpa_sync_row){name, 1, 1, 1, 1};
	n->report.families = &n->family;
	n->report.kernels = &n->kernel;
	n->report.attention = (struct vpa_attention){.calls = 1,
		.share_of_busy = 0.5,
		.backends = &n->backend,
		.backend_count = 1,
		.eager = &n->triple,
		.eager_count = 1,
		.fallbacks = n->texts,
		.fallback_count = COUNT(n->texts)};
	n->report.ranges = &n->range;
	n->report.copies = &n->copy;
	n->report.syncs = &n->sync;
	n->report.family_count = n->report.kernel_count = n->report.range_count = 1;
	n->report.copy_count = n->report.sync_count = 1;
}

/* A plain one, one with a range of gains in blocks, and one that is information. */
static void name_findings(struct named *n, const char *name)
{
	n->findings[0] = (struct vpa_finding){VPA_FOUND_LARGEST_KERNELS, name, name, name, 1,
		n->texts, 5, VPA_FINDING_FAIL, name, .base = VPA_BASE_NONE};
	n->findings[1] = (struct vpa_finding){VPA_FOUND_LARGEST_KERNELS, name, name, name, 1,
		n->texts, 5, VPA_FINDING_FAIL, name, .gain_from_ms = 0.5,
		.base = vpa_base_of_unit(VPA_UNIT_BLOCK), .base_ms = 2, .base_gain_ms = 1,
		.base_gain_from_ms = 0.5, .fps_from = 1, .fps_to = 2, .note = name};
	n->findings[2] = (struct vpa_finding){VPA_FOUND_LARGEST_KERNELS, name, name, name, 0,
		n->texts, 5, VPA_FINDING_INFO, name, .base = VPA_BASE_NONE};
	n->report.findings = n->findings;
	n->report.finding_count = COUNT(n->findings);
}

static void name_requests(struct named *n, const char *name)
{
	n->outlier = (struct vpa_outlier_row){1, 5, CAUSE(SYNC), 5, name, 5};
	n->request = block_requests[0];
	n->request.name = name;
	n->request.blocks.includes = n->texts;
	n->request.blocks.include_count = COUNT(n->texts);
	n->request.blocks.outliers = &n->outlier;
	n->request.blocks.outlier_count = 1;
	n->stage = stages[1];
	n->stage.name = name;
	n->report.requests = &n->request;
	n->report.request_count = 1;
	n->report.stages = &n->stage;
	n->report.stage_count = 1;
}

static void check_name(const char *rule, const char *name)
{
	static const unsigned widths[] = {60, 80, 120};
	struct named n = {.report = {.path = NULL}};
	struct vpt_buffer out;
	size_t i;

	name_run(&n, name);
	name_idle_time(&n, name);
	name_work(&n, name);
	name_findings(&n, name);
	name_requests(&n, name);
	for (i = 0; i < COUNT(widths); i++) {
		out = render(&n.report, widths[i], 0);
		check_page(rule, out.data, widths[i]);
		vpt_free(out.data);
		out = render(&n.report, widths[i], 1);
		vpt_free(out.data);
	}
	out = render(&n.report, JSON, 0);
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
	static const size_t sizes[] = {1, 80, 511, 2100};
	static char name[65536 + 1];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		for (k = 0; k < COUNT(sizes); k++) {
			size_t len = strlen(cases[i].piece), at;

			for (at = 0; at + len <= sizes[k] || !at; at += len)
				memcpy(name + at, cases[i].piece, len);
			name[at] = '\0';
			check_name(cases[i].rule, name);
		}
	}
	memset(name, 'k', sizeof(name) - 1);
	check_name("a very long name", name);
	check_name("an empty name", "");
	check_name("no names at all", NULL);
}

static void tables_of_any_length_stay_short(void **state)
{
	struct vpa_device many[70];
	struct vpa_idle_part parts[100];
	char names[100][16];
	struct vpa_report r = {
		.window_end_ns = MS(10), .devices = many, .device_count = COUNT(many)};
	struct vpt_buffer out;
	size_t i, lines = 0;

	(void)state;
	for (i = 0; i < COUNT(parts); i++) {
		snprintf(names[i], sizeof(names[i]), "range %zu", i);
		parts[i] = (struct vpa_idle_part){(enum vpa_cause)(i % (VPA_CAUSES + 3)),
			IN(names[i]), NULL, NULL, 0, MS(0.01), 1, NULL, 0, 0, NULL};
	}
	for (i = 0; i < COUNT(many); i++)
		many[i] = (struct vpa_device){.device = (int64_t)i,
			.active_ns = MS(2),
			.busy_ns = MS(1),
			.idle_ns = MS(1),
			.gaps = 100,
			.window_idle_ns = MS(1),
			.causes = parts,
			.cause_count = COUNT(parts)};
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

		assert_int_equal(vpa_render_text(&r, &(struct vpa_text){.full = 1, .width = 80},
					 &sink, &err),
			VPT_EIO);
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
	text = vpa_render_text(&r, &(struct vpa_text){.full = 1, .width = 80}, &sink, &err);
	json = vpa_render_json(&r, &sink, &err);
	vpt_memory_use(NULL);
	assert_int_equal(text, VPT_OK);
	assert_int_equal(json, VPT_ENOMEM);
	assert_non_null(strstr(err.text, "metadata"));
}

/* Kernels "k1", "k2", ... of 1 us each, and a page that is asked for all of them. */
static struct vpa_report many_kernels(struct vpa_kernel_row *rows, char (*names)[16], size_t count)
{
	struct vpa_report r = host_limited();
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "k%zu_", i + 1);
		rows[i] = r.kernels[0];
		rows[i].name = names[i];
	}
	r.kernels = rows;
	r.kernel_count = r.kernel_names = r.top = count;
	return r;
}

static void a_long_table_has_all_its_rows(void **state)
{
	enum { KERNELS = 1000 };
	static struct vpa_kernel_row rows[KERNELS];
	static char names[KERNELS][16];
	static const struct vpt_memory_ops none = {no_memory, free};
	struct vpa_report r = many_kernels(rows, names, KERNELS);
	struct vpt_buffer text = render(&r, 80, 0);
	struct vpt_sink sink = {.write = refuse, .written_bytes = UINT64_MAX};
	struct vpt_err err = {0};
	char wanted[32];
	size_t i;
	int rc;

	(void)state;
	for (i = 0; i < KERNELS; i++) {
		snprintf(wanted, sizeof(wanted), " K%zu %s ", i + 1, names[i]);
		assert_non_null(strstr((const char *)text.data, wanted));
	}
	vpt_free(text.data);
	vpt_memory_use(&none);
	rc = vpa_render_text(&r, &(struct vpa_text){.full = 1, .width = 80}, &sink, &err);
	vpt_memory_use(NULL);
	assert_int_equal(rc, VPT_ENOMEM);
	assert_non_null(strstr(err.text, "no memory for a table"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_look_like_their_goldens),
		cmocka_unit_test(every_line_keeps_to_the_width),
		cmocka_unit_test(without_colour_there_is_no_escape_sequence),
		cmocka_unit_test(the_page_is_the_same_in_every_locale),
		cmocka_unit_test(a_device_that_always_works_is_bound_by_what_it_does_most),
		cmocka_unit_test(a_cause_is_told_by_where_most_of_it_is),
		cmocka_unit_test(a_table_that_lacks_rows_says_of_how_many),
		cmocka_unit_test(a_single_block_is_no_series),
		cmocka_unit_test(a_trace_without_gpu_work_says_how_its_recorder_records_some),
		cmocka_unit_test(names_of_any_bytes_and_length_keep_the_layout),
		cmocka_unit_test(tables_of_any_length_stay_short),
		cmocka_unit_test(a_sink_that_fails_is_reported_once),
		cmocka_unit_test(a_page_needs_no_memory_and_json_says_when_it_has_none),
		cmocka_unit_test(a_long_table_has_all_its_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
