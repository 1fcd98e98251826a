/* test_view.c - tables of the report show rows and values that there are, and stand after tables and sections that there are. */
#include "analysis/render/fields/fields.h"
#include "analysis/render/renderer.h"
#include "analysis/render/text/sections/text_sections.h"
#include "analysis/render/text_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_key(const char *path, const struct vpa_fields *fields, const char *key)
{
	struct vpa_way way;

	if (!vpa_way_find(fields, key, &way))
		fail_msg("%s has no value %s", path, key);
}

/* The keys in braces. */
static size_t assert_label(const char *path, const struct vpa_fields *fields, const char *label)
{
	size_t keys = 0;
	char key[64];

	for (; label && (label = strchr(label, '{')) != NULL; keys++) {
		assert_int_equal(sscanf(label++, "{%63[^:}]", key), 1);
		assert_key(path, fields, strcmp(key, "gpu") ? key : "device");
	}
	return keys;
}

static void views_name_rows_and_values_of_the_report(void **state)
{
	const struct vpa_view *v, *before;
	size_t i, k, keys = 0, labels = 0;

	(void)state;
	for (k = 0; (v = vpa_view_at(k)) != NULL; k++) {
		const struct vpa_field *owner;
		const struct vpa_fields *fields =
			vpa_fields_at(&vpa_fields_report, v->path, &owner);
		char first[512], *key, *rest = first;

		if (!fields)
			fail_msg("the report has no rows %s", v->path);
		for (i = 0; (before = vpa_view_at(i)) != v; i++)
			assert_string_not_equal(before->path, v->path);
		snprintf(first, sizeof(first), "%s", v->first ? v->first : "");
		for (; (key = strtok_r(rest, " ", &rest)); keys++)
			assert_key(v->path, fields, key);
		assert_true(v->column_count <= VPA_TABLE_COLUMNS);
		for (i = 0; i < v->column_count; i++) {
			if (v->columns[i].key)
				assert_key(v->path, fields, v->columns[i].key);
			if (v->columns[i].over)
				assert_key(v->path, fields, v->columns[i].over);
		}
		if (v->text.worth)
			assert_key(v->path, fields, v->text.worth);
		labels += assert_label(v->path, fields, v->text.label);
		labels += assert_label(v->path, fields, v->text.below);
		keys += v->column_count;
	}
	assert_true(keys > 100);
	assert_true(labels >= 9);
}

/* Else a table would be on no page. */
static void views_follow_tables_and_sections_that_there_are(void **state)
{
	const struct vpa_view *v, *before;
	size_t k, after = 0;

	(void)state;
	for (k = 0; (v = vpa_view_at(k)) != NULL; k++) {
		if (v->after) {
			before = vpa_view_of(v->after);
			assert_non_null(before);
			assert_string_equal(before->section, v->section);
			after++;
		}
		if (v->text.section) {
			assert_true(vpa_text_has_section(v->text.after));
			assert_true(vpa_text_has_section(v->text.section));
			assert_non_null(v->text.title);
			assert_non_null(v->text.label);
			after++;
		}
	}
	assert_true(after >= 10);
}

/* A page of Markdown that is too long loses them in the order of their ranks. */
static void each_section_of_the_text_has_a_rank_of_its_own(void **state)
{
	const struct vpa_text_sections all = vpa_text_sections();
	size_t i, k;

	(void)state;
	assert_true(all.count >= 28);
	for (i = 0; i < all.count; i++) {
		assert_true(all.at[i].rank < all.count);
		for (k = 0; k < i; k++) {
			assert_int_not_equal(all.at[k].rank, all.at[i].rank);
			assert_string_not_equal(all.at[k].name, all.at[i].name);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_name_rows_and_values_of_the_report),
		cmocka_unit_test(views_follow_tables_and_sections_that_there_are),
		cmocka_unit_test(each_section_of_the_text_has_a_rank_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
