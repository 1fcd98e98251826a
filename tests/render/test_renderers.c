/* test_renderers.c - every form of the report: Markdown against golden files, and what all of them do
 * without room or memory. VPT_RECORD=1 rewrites the goldens. */
#include "analysis/render/renderer.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/render/render_block_reports.h"
#include "tests/render/render_steps_report.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const forms[] = {"text", "json", "md", "html"};

static struct vpa_report (*const reports[])(void) = {host_limited, two_bound, no_gpu, nothing,
	with_blocks, lossy, decoded_late, steps_alone, unmarked_steps, stages_alone};

static int render(
	const char *form, const struct vpa_report *r, struct vpt_buffer *out, struct vpt_err *err)
{
	const struct vpa_text layout = {.full = 1, .width = 80, .command = "vptrace-analyze x"};
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(out, &sink, err), ended;

	if (rc)
		return rc;
	rc = vpa_renderer_find(form)->render(r, &layout, sink, err);
	if (!rc)
		rc = vpt_sink_write(sink, "", 1, err);
	ended = sink->finish(sink, !rc, NULL);
	return rc ? rc : ended;
}

/* ---- Markdown ---- */

static char *read_golden(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "rb");

	if (!file)
		fail_msg("%s: cannot be read; VPT_RECORD=1 writes it", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void expect_golden(const char *name, const char *found)
{
	const char *root = getenv("VPT_SOURCE_DIR"), *record = getenv("VPT_RECORD");
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/golden/%s", root ? root : ".", name);
	if (record && !strcmp(record, "1")) {
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(found, 1, strlen(found), file), strlen(found));
		assert_int_equal(fclose(file), 0);
	}
	assert_string_equal(found, read_golden(path));
}

static void markdown_looks_like_its_goldens(void **state)
{
	static const struct {
		const char *golden;
		struct vpa_report (*report)(void);
	} cases[] = {
		{"render_host_limited.md", host_limited},
		{"render_blocks.md", with_blocks},
		{"render_lossy.md", lossy},
		{"render_nothing.md", nothing},
	};
	struct vpt_err err = {0};
	struct vpt_buffer out;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report r = cases[i].report();

		assert_int_equal(render("md", &r, &out, &err), VPT_OK);
		expect_golden(cases[i].golden, out.data);
		vpt_free(out.data);
	}
}

/* ---- every form ---- */

static void the_list_has_every_form(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(forms); i++)
		assert_string_equal(vpa_renderer_find(forms[i])->name, forms[i]);
	assert_null(vpa_renderer_find("xml"));
}

/* A page is made of any report, also of one without an overview. */
static void every_report_has_every_form(void **state)
{
	struct vpt_err err = {0};
	struct vpt_buffer out;
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(reports); i++)
		for (k = 0; k < COUNT(forms); k++) {
			struct vpa_report r = reports[i]();

			assert_int_equal(render(forms[k], &r, &out, &err), VPT_OK);
			assert_true(strlen(out.data) > 100);
			vpt_free(out.data);
		}
}

static void a_page_says_what_it_must(void **state)
{
	struct vpa_report r = lossy();
	struct vpt_err err = {0};
	struct vpt_buffer out;

	(void)state;
	assert_int_equal(render("html", &r, &out, &err), VPT_OK);
	assert_non_null(strstr(out.data, "<span class=\"badge red\">INCOMPLETE</span>"));
	assert_non_null(strstr(out.data, "[!]"));
	assert_non_null(strstr(out.data, "<pre class=\"command\">vptrace-analyze x</pre>"));
	vpt_free(out.data);
}

/* Facts of a request that no column of their own has are in one. */
static void a_page_has_what_the_program_said_of_requests(void **state)
{
	struct vpa_report r = with_blocks();
	struct vpt_err err = {0};
	struct vpt_buffer out;

	(void)state;
	assert_int_equal(render("html", &r, &out, &err), VPT_OK);
	assert_non_null(strstr(out.data, "<td class=\"t\"><span>scheduler: UniPC</span></td>"));
	vpt_free(out.data);
}

/* Moments count from the window's start; what the script sorts by is the moment on the trace clock. */
static void a_page_says_when_from_its_start(void **state)
{
	struct vpa_report r = lossy();
	struct vpt_err err = {0};
	struct vpt_buffer out;
	uint64_t from_ns = 1712867402348256000;

	(void)state;
	r.window_start_ns += from_ns;
	r.window_end_ns += from_ns;
	r.gaps[0].start_ns += from_ns;
	assert_int_equal(render("html", &r, &out, &err), VPT_OK);
	assert_non_null(strstr(out.data, "data-v=\"1712867404138756000\">0.790500 s</td>"));
	vpt_free(out.data);
	r.gaps[0].start_ns -= from_ns;
}

static void forms_are_the_same_in_every_locale(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
	struct vpt_buffer before, after;
	struct vpt_err err = {0};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(names); i++)
		for (k = 0; k < COUNT(forms); k++) {
			struct vpa_report r = with_blocks();

			assert_int_equal(render(forms[k], &r, &before, &err), VPT_OK);
			setlocale(LC_ALL, names[i]);
			assert_int_equal(render(forms[k], &r, &after, &err), VPT_OK);
			setlocale(LC_ALL, "C");
			assert_string_equal(before.data, after.data);
			vpt_free(before.data);
			vpt_free(after.data);
		}
}

static int refuse(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	(void)data;
	if (sink->written_bytes < size)
		return vpt_fail(err, VPT_EIO, "disk full");
	sink->written_bytes -= size;
	return VPT_OK;
}

static void a_sink_that_fails_is_reported(void **state)
{
	static const uint64_t room[] = {0, 100, 1500};
	const struct vpa_text layout = {.full = 1, .width = 80};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(room); i++)
		for (k = 0; k < COUNT(forms); k++) {
			struct vpt_sink sink = {.write = refuse, .written_bytes = room[i]};
			struct vpa_report r = with_blocks();
			struct vpt_err err = {0};

			assert_int_equal(
				vpa_renderer_find(forms[k])->render(&r, &layout, &sink, &err),
				VPT_EIO);
			assert_string_equal(err.text, "disk full");
		}
}

static size_t allocations_left;

static void *some_memory(void *ptr, size_t size)
{
	return allocations_left && allocations_left-- ? realloc(ptr, size) : NULL;
}

static void missing_memory_is_reported(void **state)
{
	static const struct vpt_memory_ops scarce = {some_memory, free};
	struct vpa_report r = with_blocks();
	size_t k, n;

	(void)state;
	for (k = 0; k < COUNT(forms); k++) {
		int rc = VPT_ENOMEM;

		for (n = 0; rc && n < 10000; n++) {
			struct vpt_buffer out = {0};
			struct vpt_err err = {0};

			allocations_left = n;
			vpt_memory_use(&scarce);
			rc = render(forms[k], &r, &out, &err);
			vpt_memory_use(NULL);
			assert_true(!rc || (rc == VPT_ENOMEM && err.text[0]));
			if (!rc)
				free(out.data);
		}
		assert_int_equal(rc, VPT_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markdown_looks_like_its_goldens),
		cmocka_unit_test(the_list_has_every_form),
		cmocka_unit_test(every_report_has_every_form),
		cmocka_unit_test(a_page_says_what_it_must),
		cmocka_unit_test(a_page_has_what_the_program_said_of_requests),
		cmocka_unit_test(a_page_says_when_from_its_start),
		cmocka_unit_test(forms_are_the_same_in_every_locale),
		cmocka_unit_test(a_sink_that_fails_is_reported),
		cmocka_unit_test(missing_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
