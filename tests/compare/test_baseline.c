/* test_baseline.c - a report read back from its JSON: each type of field, the goldens, and files that lie. */
#include "analysis/compare/baseline.h"

#include "analysis/compare/comparison.h"
#include "analysis/compare/render/compare_pages.h"
#include "analysis/pipeline/unit.h"
#include "analysis/render/fields/fields.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define REPORT "{\"schema\": \"vptrace.report/1\""

static struct vpa_report *report_of(const char *text)
{
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};

	if (vpa_baseline_read(text, strlen(text), "a.json", &r, &err))
		fail_msg("%s: %s", text, err.text);
	return r;
}

static void refuses(const char *text, const char *sentence)
{
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};

	assert_int_equal(vpa_baseline_read(text, strlen(text), "a.json", &r, &err), VPT_EDATA);
	assert_null(r);
	if (!strstr(err.text, sentence))
		fail_msg("expected \"%s\", found \"%s\"", sentence, err.text);
}

/* ---- the tables ---- */

enum { COUNTS_MAX = 128 };

/* The counts of a struct's lists, also of lists in the structs inside it. */
struct counts {
	const struct vpa_field *field[COUNTS_MAX];
	size_t offset[COUNTS_MAX], count;
};

static void check_lists(const struct vpa_fields *fields, size_t base, struct counts *all)
{
	size_t i, k;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];

		if (f->type == VPA_FIELD_OBJECT || f->type == VPA_FIELD_SAME)
			check_lists(f->fields, base + f->offset, all);
		if ((f->type != VPA_FIELD_ROWS && f->type != VPA_FIELD_TEXTS) ||
			f->null == VPA_NULL_COUNT)
			continue;
		for (k = 0; k < all->count; k++)
			if (all->offset[k] == base + f->count)
				fail_msg("%s.%s has the count of %s", fields->name, f->key,
					all->field[k]->key);
		assert_true(all->count < COUNTS_MAX);
		all->field[all->count] = f;
		all->offset[all->count++] = base + f->count;
	}
}

/* Values lie inside their struct, and a nested table describes the struct that is there. */
static size_t check_table(const struct vpa_fields *fields)
{
	struct counts counts = {.count = 0};
	size_t i, rows = 1;

	check_lists(fields, 0, &counts);
	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		size_t bytes = vpa_field_bytes(f);

		if (f->offset + bytes > fields->bytes && bytes)
			fail_msg("%s.%s ends outside its struct", fields->name, f->key);
		if (!f->fields)
			continue;
		if (f->bytes != f->fields->bytes)
			fail_msg("%s.%s: a struct of %zu bytes, of which the table describes %zu",
				fields->name, f->key ? f->key : "", f->bytes, f->fields->bytes);
		assert_true(f->type == VPA_FIELD_ROWS || f->type == VPA_FIELD_SAME ||
			    vpa_field_is_object(f));
		if (f->type == VPA_FIELD_ROWS)
			assert_true(f->count + sizeof(size_t) <= fields->bytes);
		rows += check_table(f->fields);
	}
	return rows;
}

static void tables_describe_their_structs(void **state)
{
	(void)state;
	assert_true(check_table(&vpa_fields_report) > 60);
	assert_true(check_table(&vpa_fields_comparison) > 10);
}

/* ---- a value of each type ---- */

static void numbers_and_flags(void **state)
{
	struct vpa_report *r = report_of(REPORT
		", \"input\": {\"window_ns\": 5, \"window_start_ns\": 7, \"simulated\": true},"
		"\"counts\": {\"kernel_names\": 9, \"kernels\": 8},"
		"\"devices\": [{\"device\": -3, \"streams\": 11}],"
		"\"verdict\": {\"complete\": true},"
		"\"counters\": [{\"name\": \"power\", \"mean\": -1.5}],"
		"\"overlap\": [{\"device\": 1}]}");

	(void)state;
	assert_int_equal(r->window_start_ns, 7); /* uint64_t */
	assert_int_equal(r->window_end_ns, 12);
	assert_int_equal(r->simulated, 1);
	assert_int_equal(r->kernel_names, 9); /* size_t */
	assert_int_equal(r->counts.kernels, 8);
	assert_int_equal(r->device_count, 1);
	assert_int_equal(r->devices[0].device, -3); /* int64_t */
	assert_int_equal(r->devices[0].streams, 11);
	assert_int_equal(r->verdict.complete, 1);
	assert_int_equal(r->counter_count, 1);
	assert_true(r->counters[0].mean == -1.5);
	assert_string_equal(r->counters[0].name, "power");
	vpa_report_free(r);
}

/* The length and the end differ by pauses; reports of older versions have no end. */
static void the_window_has_an_end(void **state)
{
	static const struct {
		const char *input;
		uint64_t end_ns, window_ns;
	} cases[] = {
		{"\"window_ns\": 5, \"window_start_ns\": 7", 12, 5},
		{"\"window_ns\": 5, \"window_start_ns\": 7, \"window_end_ns\": 30", 30, 5},
		{"\"window_ns\": 5, \"window_start_ns\": 7, \"window_end_ns\": 9", 12, 5},
		{"\"window_ns\": 5, \"window_start_ns\": 7, \"window_end_ns\": 3", 12, 5},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct vpa_report *r;

		snprintf(text, sizeof(text), "%s, \"input\": {%s}}", REPORT, cases[i].input);
		r = report_of(text);
		assert_int_equal(r->window_end_ns, cases[i].end_ns);
		assert_int_equal(vpa_window_ns(r), cases[i].window_ns);
		vpa_report_free(r);
	}
}

static void texts_choices_and_maps(void **state)
{
	struct vpa_report *r =
		report_of(REPORT ", \"input\": {\"format\": \"kineto\", \"window_note\": null},"
				 "\"system\": {\"host\": \"node7\", \"rank\": 3, \"tags\": "
				 "{\"session\": \"nightly\"}},"
				 "\"verdict\": {\"reasons\": [\"one\", null, \"a \\u00e9\"]},"
				 "\"gaps\": [{\"id\": \"G1\", \"cause\": \"sync\", \"thread\": "
				 "{\"pid\": 5, \"tid\": 6}}]}");

	(void)state;
	assert_string_equal(r->format, "kineto");
	assert_null(r->window_note);
	assert_int_equal(r->verdict.reason_count, 3);
	assert_string_equal(r->verdict.reasons[0], "one");
	assert_string_equal(r->verdict.reasons[1], "");
	assert_string_equal(r->verdict.reasons[2], "a \xc3\xa9");
	assert_int_equal(r->gap_count, 1);
	assert_int_equal(r->gaps[0].cause, VPA_CAUSE_SYNC);
	assert_int_equal(r->gaps[0].tid, 6); /* another object of the same struct */
	assert_int_equal(r->meta_count, 3);
	assert_string_equal(r->meta[0].key, "host");
	assert_string_equal(r->meta[0].value, "node7");
	assert_string_equal(r->meta[2].key, "tag.session");
	vpa_report_free(r);
	refuses(REPORT ", \"gaps\": [{\"cause\": \"bad luck\"}]}", "an unknown word");
}

static void objects_inside_and_behind_pointers(void **state)
{
	struct vpa_report *r = report_of(REPORT
		", \"attention\": {\"calls\": 3},"
		"\"devices\": [{\"causes\": [{\"cause\": \"sync\", \"ns\": 4, \"line\": {"
		"\"function\": \"f\", \"file\": \"m.py\", \"line\": 40, \"samples\": 8, \"share\": "
		"0.5,"
		"\"cpu_wait_ns\": 9}}, {\"cause\": \"sync\", \"ns\": 5, \"line\": null}]}],"
		"\"kernels\": [{\"name\": \"k\", \"calls\": 6, \"total_ns\": 60, \"p50_ns\": 10}],"
		"\"requests\": [{\"blocks\": {\"series\": [{\"index\": 2, \"line\": {\"function\": "
		"\"g\","
		"\"line\": 7}, \"latents\": 3}]}}]}");
	const struct vpa_idle_part *parts = r->devices[0].causes;
	const struct vpa_block_row *block = r->requests[0].blocks.series;

	(void)state;
	assert_int_equal(r->devices[0].cause_count, 2);
	assert_string_equal(parts[0].top->line.function, "f");
	assert_string_equal(parts[0].top->line.file, "m.py");
	assert_int_equal(parts[0].top->line.number, 40);
	assert_int_equal(parts[0].top->samples, 8);
	assert_true(parts[0].top->share == 0.5);
	assert_int_equal(parts[0].top->wait_ns, 9);
	assert_int_equal(parts[0].ns, 4);
	assert_null(parts[1].top);
	assert_int_equal(parts[1].ns, 5);
	assert_int_equal(r->kernels[0].time.count, 6);
	assert_int_equal(r->kernels[0].time.total_ns, 60);
	assert_int_equal(r->kernels[0].time.p50_ns, 10);
	assert_int_equal(r->requests[0].blocks.count, 1);
	assert_int_equal(block->index, 2);
	assert_int_equal(block->latents, 3);
	assert_string_equal(block->line->line.function, "g");
	assert_int_equal(block->line->line.number, 7);
	vpa_report_free(r);
}

/* An object of the wrong type is skipped; so is a key that the table has under another object. */
static void other_types_in_place_of_an_object(void **state)
{
	struct vpa_report *r = report_of(
		REPORT ", \"attention\": [1, {\"calls\": 3}], \"checklist\": \"none\","
		       "\"gaps\": [{\"line\": \"model.py\"}, {\"line\": [7]}, {\"line\": 7},"
		       "{\"line\": {}, \"line\": {\"line\": 8}}]}");

	(void)state;
	assert_int_equal(r->gap_count, 4);
	assert_null(r->gaps[0].top);
	assert_null(r->gaps[1].top);
	assert_null(r->gaps[2].top);
	assert_int_equal(r->gaps[3].top->line.number, 8);
	vpa_report_free(r);
}

/* A list's count is what was read, whatever other keys say, and in whatever order. */
static void counts_come_from_their_lists(void **state)
{
	struct vpa_report *r = report_of(REPORT
		", \"verdict\": {\"remedies\": [\"a\", \"b\", \"c\"], \"reasons\": [\"a\"],"
		"\"remedies\": [\"a\", \"b\", \"c\", \"d\"]},"
		"\"requests\": [{\"blocks\": {\"count\": 900, \"series\": [{}], \"count\": 900},"
		"\"facts\": {\"a\": \"b\"}, \"facts\": {\"c\": \"d\", \"n\": null, \"e\": 5}}],"
		"\"devices\": [{}, {}], \"devices\": [{}]}");

	(void)state;
	assert_int_equal(r->verdict.reason_count, 1);
	assert_null(r->verdict.remedies);
	assert_int_equal(r->requests[0].blocks.count, 1);
	assert_int_equal(r->requests[0].fact_count, 2);
	assert_string_equal(r->requests[0].facts[1].key, "e");
	assert_string_equal(r->requests[0].facts[1].value, "5");
	assert_int_equal(r->meta_count, 0);
	assert_int_equal(r->device_count, 1);
	vpa_report_free(r);
}

/* 100,000 empty rows of a large struct in 300 kB. */
/* RESULT's mean is of the same iterations as that of the trace. */
static void cycles_come_back(void **state)
{
	static const struct {
		const char *cycle;
		size_t in_cycles;
		uint64_t mean_ns;
	} cases[] = {
		{"3", 3, 40}, {"null", 0, 33}, {"5", 0, 33}, /* more than there are */
	};
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_report *r;
		struct vpa_mean_unit unit;

		snprintf(text, sizeof(text),
			REPORT ", \"marked_steps\": {\"iterations\": true, \"series\": ["
			       "{\"period_ns\": 10}, {\"period_ns\": 10}, {\"period_ns\": 100},"
			       "{\"period_ns\": 10}], \"iterations_per_cycle\": %s}}",
			cases[i].cycle);
		r = report_of(text);
		unit = vpa_mean_unit_of(r);
		assert_int_equal(unit.kind, VPA_UNIT_ITERATION);
		assert_int_equal(vpa_unit_in_cycles(r), cases[i].in_cycles);
		assert_int_equal(vpa_mean_unit_ns(&unit), cases[i].mean_ns);
		vpa_report_free(r);
	}
}

static void rows_beyond_the_text_are_refused(void **state)
{
	enum { ROWS = 100000 };
	static const char head[] = REPORT ", \"requests\": [";
	char *text = malloc(sizeof(head) + ROWS * 3 + 8), *p = text;
	size_t i;

	(void)state;
	assert_non_null(text);
	p += sprintf(p, "%s", head);
	for (i = 0; i < ROWS; i++)
		p += sprintf(p, "%s{}", i ? "," : "");
	sprintf(p, "]}");
	refuses(text, "more rows than a text of this length describes");
	free(text);
}

/* ---- the goldens ---- */

static struct vpt_buffer json_of(const struct vpa_report *r)
{
	struct vpt_err err = {0};
	struct vpt_buffer text;
	struct vpt_sink *sink;

	assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
	assert_int_equal(vpa_render_json(r, sink, &err), 0);
	assert_int_equal(vpt_sink_write(sink, "", 1, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	return text;
}

static char *golden(const char *name)
{
	const char *root = getenv("VPT_SOURCE_DIR");
	char path[512], *text = calloc(1, 1 << 18);
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/golden/%s", root ? root : ".", name);
	file = fopen(path, "rb");
	if (!file || !text)
		fail_msg("%s: cannot be read", path);
	assert_true(fread(text, 1, (1 << 18) - 1, file) > 1000);
	fclose(file);
	return text;
}

/* Keys that a comparison does not need, or that are not the file's: the path, times of the trace's clock, ids, texts beside
 * others, lengths of gaps, slopes. */
static const char *const unread[] = {"path", "unix_offset_ns", "id", "remedies", "lt_1us", "1_5us",
	"5_20us", "20_100us", "100us_1ms", "1_10ms", "gt_10ms", "thread", "pid", "tid", "drift",
	"grown_until_row", "period_slope_ns_per_block", "attention_slope_ns_per_block",
	"attention_at_most_slope_ns_per_block", "saturated_at_row"};

/* Whether a line is to come back as it is: it has a key that is read. */
static int is_read(const char *line, size_t len)
{
	size_t blanks = strspn(line, " "), i;

	if (len <= blanks || line[blanks] != '"')
		return 0;
	for (i = 0; i < COUNT(unread); i++) {
		size_t key = strlen(unread[i]);

		if (!strncmp(line + blanks + 1, unread[i], key) && line[blanks + 1 + key] == '"')
			return 0;
	}
	return memchr(line, ':', len) != NULL;
}

/* The next line that is to come back; NULL at the end. */
static const char *next_read(const char *at, size_t *len)
{
	for (; *at; at += *len + (at[*len] == '\n')) {
		*len = strcspn(at, "\n");
		if (is_read(at, *len))
			return at;
	}
	return NULL;
}

static size_t same_lines(const char *name, const char *a, const char *b)
{
	size_t lines = 0, a_len = 0, b_len = 0;

	a = next_read(a, &a_len);
	b = next_read(b, &b_len);
	for (; a && b; lines++) {
		if (a_len != b_len || strncmp(a, b, a_len) != 0)
			fail_msg("%s: expected \"%.*s\", found \"%.*s\"", name, (int)a_len, a,
				(int)b_len, b);
		a = next_read(a + a_len, &a_len);
		b = next_read(b + b_len, &b_len);
	}
	assert_true(!a && !b);
	return lines;
}

static const char *const goldens[] = {"render_blocks.json", "render_decoded_late.json",
	"render_host_limited.json", "render_lossy.json", "render_no_gpu.json",
	"render_nothing.json", "render_two_bound.json", "render_unmarked_steps.json"};

/* What was read is written again as it was. */
/* A range may be named like a place before another one, or like the sum of small ones. */
static void places_keep_their_kind(void **state)
{
	static const char text[] = REPORT ", \"devices\": [{\"causes\": ["
					  "{\"range\": \"before decode\"},"
					  "{\"range\": \"before decode\", \"range_kind\": \"in\"},"
					  "{\"range\": \"(other)\", \"range_kind\": \"in\"},"
					  "{\"range\": \"decode\", \"range_kind\": \"elsewhere\"},"
					  "{\"range\": null}]}]}";
	static const enum vpa_place_kind kinds[] = {
		VPA_PLACE_BEFORE, VPA_PLACE_IN, VPA_PLACE_IN, VPA_PLACE_IN, VPA_PLACE_IN};
	struct vpa_report *once = report_of(text), *twice;
	struct vpt_buffer json = json_of(once);
	size_t i;

	(void)state;
	twice = report_of((const char *)json.data);
	assert_int_equal(twice->devices[0].cause_count, COUNT(kinds));
	for (i = 0; i < COUNT(kinds); i++) {
		assert_int_equal(once->devices[0].causes[i].place.kind, kinds[i]);
		assert_int_equal(twice->devices[0].causes[i].place.kind, kinds[i]);
	}
	vpt_free(json.data);
	vpa_report_free(once);
	vpa_report_free(twice);
}

static void parts_keep_their_family_and_cause(void **state)
{
	struct vpa_report *r =
		report_of(REPORT ", \"requests\": [{\"blocks\": {\"parts\": ["
				 "{\"kind\": \"idle\", \"name\": \"sync\"},"
				 "{\"kind\": \"busy\", \"name\": \"gemm\"},"
				 "{\"kind\": \"busy\", \"name\": \"newer\"},"
				 "{\"kind\": \"paused\", \"name\": \"recording paused\"}]}}]}");
	const struct vpa_block_part *parts = r->requests[0].blocks.parts;

	(void)state;
	assert_int_equal(vpa_part_cause(parts[0].part), VPA_CAUSE_SYNC);
	assert_int_equal(vpa_part_family(parts[0].part), VPA_FAMILY_COUNT);
	assert_int_equal(vpa_part_family(parts[1].part), VPA_FAMILY_GEMM);
	assert_int_equal(vpa_part_cause(parts[1].part), VPA_CAUSES);
	assert_int_equal(parts[2].part, VPA_PART_UNKNOWN);
	assert_int_equal(vpa_part_family(parts[2].part), VPA_FAMILY_COUNT);
	assert_int_equal(vpa_part_cause(parts[2].part), VPA_CAUSES);
	assert_int_equal(parts[3].part, VPA_PART_PAUSE);
	assert_int_equal(vpa_part_cause(parts[3].part), VPA_CAUSES);
	vpa_report_free(r);
}

static void goldens_come_back(void **state)
{
	size_t i, lines = 0;

	(void)state;
	for (i = 0; i < COUNT(goldens); i++) {
		char *text = golden(goldens[i]);
		struct vpa_report *r = report_of(text);
		struct vpt_buffer again = json_of(r);

		lines += same_lines(goldens[i], text, (const char *)again.data);
		vpt_free(again.data);
		vpa_report_free(r);
		free(text);
	}
	assert_true(lines > 2000);
}

/* A golden beside itself, read twice. */
static void goldens_are_the_same_as_themselves(void **state)
{
	static const struct vpa_compare_options how = {.margin = 0.005};
	size_t i, compared = 0;

	(void)state;
	for (i = 0; i < COUNT(goldens); i++) {
		char *text = golden(goldens[i]);
		struct vpa_report *a = report_of(text), *b = report_of(text);
		const struct vpa_report *both[] = {a, b};
		const struct vpa_side side_a = {both, 1}, side_b = {both + 1, 1};
		struct vpa_comparison *c = NULL;
		struct vpt_err err = {0};
		int rc = vpa_compare(&side_a, &side_b, &how, &c, &err);

		if (a->device_count) {
			assert_int_equal(rc, VPT_OK);
			assert_int_equal(c->verdict, VPA_CHANGE_SAME);
			assert_int_equal(c->delta_ns, 0);
			assert_int_equal(c->window_delta_ns, 0);
			assert_int_equal(c->lines_delta_ns, 0);
			assert_int_equal(c->fact_count, 0);
			compared++;
		} else {
			assert_int_equal(rc, a->verdict.complete ? VPT_EINVAL : VPT_EDATA);
		}
		vpa_comparison_free(c);
		vpa_report_free(a);
		vpa_report_free(b);
		free(text);
	}
	assert_int_equal(compared, 6);
}

#define DEVICE ", \"devices\": [{\"busy_ns\": 1000}], \"findings\": "

/* An id that this version does not know is none: nothing says whether the other side has it. */
static void findings_of_one_side_are_listed_once(void **state)
{
	struct vpa_report *a = report_of(REPORT DEVICE
		"[{\"id\": \"allocation\", \"title\": \"A\"}, {\"id\": \"of-tomorrow\"},"
		" {\"id\": \"allocation\", \"title\": \"B\"},"
		" {\"id\": \"sync-drain\", \"instead_of\": \"allocation\"}]}");
	struct vpa_report *b = report_of(REPORT DEVICE
		"[{\"id\": \"sync-drain\"}, {\"id\": \"vol2col\", \"title\": \"C\"}]}");
	const struct vpa_report *reports_a[] = {a}, *reports_b[] = {b};
	const struct vpa_side side_a = {reports_a, 1}, side_b = {reports_b, 1};
	const struct vpa_compare_options how = {.margin = 0.005};
	struct vpa_comparison *c = NULL;
	struct vpt_err err = {0};

	(void)state;
	assert_int_equal(a->findings[1].id, VPA_FOUND_NONE);
	assert_int_equal(a->findings[3].instead_of, VPA_FOUND_ALLOCATION);
	assert_int_equal(vpa_compare(&side_a, &side_b, &how, &c, &err), VPT_OK);
	assert_int_equal(c->finding_count, 2);
	assert_int_equal(c->findings[0].id, VPA_FOUND_ALLOCATION);
	assert_string_equal(c->findings[0].title, "A");
	assert_false(c->findings[0].in_b);
	assert_int_equal(c->findings[1].id, VPA_FOUND_VOL2COL);
	assert_true(c->findings[1].in_b);
	vpa_comparison_free(c);
	vpa_report_free(a);
	vpa_report_free(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_describe_their_structs),
		cmocka_unit_test(numbers_and_flags),
		cmocka_unit_test(the_window_has_an_end),
		cmocka_unit_test(texts_choices_and_maps),
		cmocka_unit_test(objects_inside_and_behind_pointers),
		cmocka_unit_test(other_types_in_place_of_an_object),
		cmocka_unit_test(counts_come_from_their_lists),
		cmocka_unit_test(cycles_come_back),
		cmocka_unit_test(rows_beyond_the_text_are_refused),
		cmocka_unit_test(places_keep_their_kind),
		cmocka_unit_test(parts_keep_their_family_and_cause),
		cmocka_unit_test(goldens_come_back),
		cmocka_unit_test(goldens_are_the_same_as_themselves),
		cmocka_unit_test(findings_of_one_side_are_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
