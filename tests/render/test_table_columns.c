/* test_table_columns.c - tables of the report show rows and values that there are. */
#include "analysis/render/fields/fields.h"
#include "analysis/render/table_columns.h"

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

static void views_name_rows_and_values_of_the_report(void **state)
{
	const struct vpa_view *v, *before;
	size_t i, keys = 0;

	(void)state;
	for (v = vpa_views; v->path; v++) {
		int inside_rows;
		const struct vpa_fields *fields =
			vpa_fields_at(&vpa_fields_report, v->path, &inside_rows);
		char first[512], *key, *rest = first;

		if (!fields)
			fail_msg("the report has no rows %s", v->path);
		for (before = vpa_views; before != v; before++)
			assert_string_not_equal(before->path, v->path);
		snprintf(first, sizeof(first), "%s", v->first ? v->first : "");
		for (; (key = strtok_r(rest, " ", &rest)); keys++)
			assert_key(v->path, fields, key);
		assert_true(v->text_count <= VPA_TABLE_COLUMNS);
		for (i = 0; i < v->text_count; i++) {
			if (v->text[i].key)
				assert_key(v->path, fields, v->text[i].key);
			if (v->text[i].over)
				assert_key(v->path, fields, v->text[i].over);
		}
		keys += v->text_count;
	}
	assert_true(keys > 100);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_name_rows_and_values_of_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
