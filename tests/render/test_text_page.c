/* test_text_page.c - tables of a page of text: which columns are printed. */
#include "analysis/render/text_page.h"

#include "formats/base/memory.h"
#include "formats/io/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Two columns and a text over the whole width; `first` and `second` are the values of two rows. */
static char *table_of(const char *const first[2], const char *const second[2])
{
	static const struct vpa_column columns[] = {{.head = "predicted"}, {.head = "in --full"}};
	struct vpt_buffer out;
	struct vpt_sink *sink;
	struct vpt_err err = {0};
	struct vpa_page page;
	struct vpa_table t;
	size_t i;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	vpa_page_init(&page, sink, 80, 0, &err);
	vpa_table_init(&t, columns, 2, "FIXES");
	for (i = 0; i < 2; i++) {
		struct vpa_row *row = vpa_table_row(&t, 1, "fix %zu", i);

		snprintf(row->cells[0].text, sizeof(row->cells[0].text), "%s", first[i]);
		snprintf(row->cells[1].text, sizeof(row->cells[1].text), "%s", second[i]);
	}
	vpa_text_row(&t, 1, "a sentence");
	vpa_page_table(&page, &t);
	if (page.rc || vpt_sink_write(sink, "", 1, &err) || sink->finish(sink, 1, &err))
		fail_msg("%s", err.text);
	return out.data;
}

static void a_column_without_a_value_is_left_out(void **state)
{
	static const struct {
		const char *rule, *first[2], *second[2], *page;
	} cases[] = {
		{"both have values", {"17.9", "16.4"}, {"S1", ""},
			"FIXES                                                       predicted  in "
			"--full\n"
			" fix 0                                                           17.9     "
			"    S1\n"
			" fix 1                                                           16.4\n"
			" a sentence\n"},
		{"one has none", {"17.9", ""}, {"", ""},
			"FIXES                                                                  "
			"predicted\n"
			" fix 0                                                                    "
			"  17.9\n"
			" fix 1\n a sentence\n"},
		{"no column has one", {"", ""}, {"", ""}, "FIXES\n fix 0\n fix 1\n a sentence\n"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *page = table_of(cases[i].first, cases[i].second);

		if (strcmp(page, cases[i].page) != 0)
			fail_msg("%s:\n%s", cases[i].rule, page);
		vpt_free(page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_column_without_a_value_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
