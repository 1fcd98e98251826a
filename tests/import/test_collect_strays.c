/* test_collect_strays.c - rows of foreign traces that are far away from all others, of every kind, and ops at 0. */
#include "formats/base/count.h"
#include "formats/calls.h"
#include "formats/import/collect/collect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

/* A row is "K<seconds>": k kernel, m copy, c call, r range, p mark, n counter, a memory, y sync, v overhead, s sample, o a range
 * without an end. Each lasts a second if it can. "k<seconds>/<id>" and "c<seconds>/<id>" have a correlation id. DAYS is ten days
 * later. `window`: first and last second. */
struct row {
	const char *rule;
	uint64_t base; /* added to each time */
	const char *rows, *found, *window;
	unsigned left_out;
};

#define BASE (1000000 * S)
#define DAYS "864000"
#define NEAR "c0/1 k1/1 c2/2 k3/2 c4/3 k5/3 "

static const struct row table[] = {
	{"all are near", BASE, NEAR "r0 n1 p2", "c0 k1 c2 k3 c4 k5 r0 n1 p2", "0 6", 0},
	{"a kernel", BASE, NEAR "k" DAYS "/9", "c0 k1 c2 k3 c4 k5 k!", "0 6", 0},
	{"a copy", BASE, NEAR "m1 m" DAYS, "c0 k1 c2 k3 c4 k5 m1 m!", "0 6", 0},
	{"a call", BASE, NEAR "c" DAYS "/9", "c0 k1 c2 k3 c4 k5", "0 6", 1},
	{"a call long before", BASE + 864000 * S, NEAR "c-" DAYS "/9", "c0 k1 c2 k3 c4 k5", "0 6",
		1},
	{"a range", BASE, NEAR "r0 r1 r" DAYS, "c0 k1 c2 k3 c4 k5 r0 r1", "0 6", 1},
	{"a mark", BASE, NEAR "p1 p2 p" DAYS, "c0 k1 c2 k3 c4 k5 p1 p2", "0 6", 1},
	{"a counter", BASE, NEAR "n1 n2 n" DAYS, "c0 k1 c2 k3 c4 k5 n1 n2", "0 6", 1},
	{"an allocation", BASE, NEAR "a1 a2 a" DAYS, "c0 k1 c2 k3 c4 k5 a1 a2", "0 6", 1},
	{"a synchronisation", BASE, NEAR "y1 y2 y" DAYS, "c0 k1 c2 k3 c4 k5 y1 y2", "0 6", 1},
	{"an overhead", BASE, NEAR "v1 v2 v" DAYS, "c0 k1 c2 k3 c4 k5 v1 v2", "0 6", 1},
	{"a stack", BASE, NEAR "s1 s2 s" DAYS, "c0 k1 c2 k3 c4 k5 s1 s2", "0 6", 1},
	{"a range without an end", BASE, NEAR "o1 o2 o" DAYS, "c0 k1 c2 k3 c4 k5 o1 o2", "0 6", 1},
	{"one of each", BASE, NEAR "k" DAYS "/8 c" DAYS "/9 r1 r2 r" DAYS " n1 n2 n" DAYS,
		"c0 k1 c2 k3 c4 k5 k! r1 r2 n1 n2", "0 6", 3},
	{"most of a kind", BASE, NEAR "n" DAYS " n" DAYS " n1", "c0 k1 c2 k3 c4 k5 n1", "0 6", 2},
	{"most that a device stamped: its clock differs", BASE,
		"c0/1 k" DAYS "/1 c2/2 k" DAYS "/2 c4/3 k5/3", "c0 k" DAYS " c2 k" DAYS " c4 k5",
		"0 864001", 0},
	{"an hour later it is not far", BASE, NEAR "r1 r3600", "c0 k1 c2 k3 c4 k5 r1 r3600",
		"0 3601", 0},
	{"two hours later it is", BASE, NEAR "r1 r7200", "c0 k1 c2 k3 c4 k5 r1", "0 6", 1},
	{"a long trace has far ends", BASE, "c0/1 k1/1 c3000/2 k3001/2 r0 r30000",
		"c0 k1 c3000 k3001 r0 r30000", "0 30001", 0},
	{"a server that waited for two days and worked before", BASE,
		"c0/1 k1/1 c172800/2 k172801/2 c172802/3 k172803/3 c172804/4 k172805/4",
		"c0 k1 c172800 k172801 c172802 k172803 c172804 k172805", "0 172806", 0},
	{"one that calls once in two hours", BASE, "c0/1 c7200/2 c14400/3 c21600/4",
		"c0 c7200 c14400 c21600", "0 21601", 0},
	{"ranges alone", BASE, "r0 r1 r2 r" DAYS, "r0 r1 r2", "0 3", 1},
	{"a device alone", BASE, "k0 k2 k4 k" DAYS, "k0 k2 k4 k!", "0 5", 0},

	{"an op at 0 of a trace that begins there", 0, "k0/9 c1/1 k2/1", "k0 c1 k2", "0 3", 0},
	{"with a call at 0", 0, "c0/1 k0/1 c1/2 k2/2", "c0 k0 c1 k2", "0 3", 0},
	{"of a device alone", 0, "k0 k2 k4", "k0 k2 k4", "0 5", 0},
	{"a copy", 0, "m0 c1/1 k2/1", "m0 c1 k2", "0 3", 0},
	{"one on each of two streams", 0, "k0 m0 c1/1 k2/1", "k0 m0 c1 k2", "0 3", 0},
	{"two of one stream: their times were not read", 0, "k0 k0 c1/1 k2/1", "k! k! c1 k2", "1 3",
		0},
	{"an op at 0 of a trace that begins elsewhere", BASE, NEAR "k@/9", "c0 k1 c2 k3 c4 k5 k!",
		"0 6", 0},
	{"a call at 0 of such a trace", BASE, NEAR "c@/9", "c0 k1 c2 k3 c4 k5", "0 6", 1},
	{"nothing but ops at 0", 0, "k0 m0", "k! m!", "0 0", 0},
};

static const struct {
	char letter;
	uint8_t kind;
	unsigned start, correlation; /* columns; 0: the first, none */
} letters[] = {
	{'k', VPT_KERNEL, 0, VPT_KERNEL_CORRELATION},
	{'m', VPT_COPY, 0, VPT_COPY_CORRELATION},
	{'c', VPT_CALL, 0, VPT_CALL_CORRELATION},
	{'r', VPT_RANGE, 0, 0},
	{'p', VPT_MARK, 0, 0},
	{'n', VPT_COUNTER, 0, 0},
	{'a', VPT_MEMORY, 0, 0},
	{'y', VPT_SYNC, 0, 0},
	{'v', VPT_OVERHEAD, 0, 0},
	{'o', VPT_OPEN, VPT_OPEN_START, 0},
	{'s', VPT_SAMPLE, 0, 0},
};

static void put(struct vpt_collect *c, char letter, uint64_t start, uint64_t id)
{
	uint64_t row[VPT_COLUMNS_MAX] = {0}, lane;
	const struct vpt_kind_desc *kind;
	size_t i = 0;

	while (i < COUNT(letters) && letters[i].letter != letter)
		i++;
	assert_true(i < COUNT(letters));
	kind = vpt_kind_desc(letters[i].kind);
	row[letters[i].start] = start;
	if (kind->flags & VPT_KIND_SPAN)
		row[1] = S;
	if (letters[i].correlation)
		row[letters[i].correlation] = id;
	if (letter == 'c')
		row[VPT_CALL_ID] = vpt_call_find("cudaLaunchKernel", 16);
	lane = strchr("kmay", letter) ? vpt_collect_stream(c, 1, 0, 1, letter == 'm' ? 8 : 7)
	       : letter == 'n'        ? vpt_collect_series(c, 1, 0, 0, 0)
				      : vpt_collect_thread(c, 1, 1);
	vpt_collect_put(c, letters[i].kind, lane, row);
}

static void fill(struct vpt_collect *c, const struct row *row)
{
	const char *at = row->rows;

	while (*at) {
		char letter = *at++, *end = (char *)at + 1;
		int is_zero = *at == '@';
		long long seconds = is_zero ? 0 : strtoll(at, &end, 10);
		uint64_t id = *end == '/' ? strtoull(end + 1, &end, 10) : 0;

		put(c, letter, is_zero ? 0 : row->base + (uint64_t)seconds * S, id);
		at = end + strspn(end, " ");
	}
}

/* '\0': it is not compared. */
static char letter_of(unsigned kind)
{
	size_t i;

	for (i = 0; i < COUNT(letters); i++)
		if (letters[i].kind == kind)
			return letters[i].letter;
	return '\0';
}

/* Whether a word is among those of a text, and takes it out. */
static int take(char *text, const char *word)
{
	char *at = text;
	size_t len = strlen(word);

	while ((at = strstr(at, word)) != NULL) {
		if ((at == text || at[-1] == ' ') && (!at[len] || at[len] == ' ')) {
			memset(at, ' ', len);
			return 1;
		}
		at++;
	}
	return 0;
}

static int is_valid(const struct vpt_batch *b, uint64_t start)
{
	size_t s;
	uint32_t row;

	for (s = 0; !start && s < b->section_count; s++)
		for (row = 0; b->sections[s].kind == VPT_META && row < b->sections[s].row_count;
			row++)
			if (vpt_text_is(vpt_batch_text(b, b->sections[s].col[VPT_META_KEY][row]),
				    "clock.from_zero"))
				return 1;
	return start != 0;
}

/* Each row of the only chunk is expected, and none is missing. */
static void check_rows(const struct vpt_collect *c, const struct row *row)
{
	struct vpt_batch b;
	char left[200], word[32];
	size_t s;
	uint32_t i;

	snprintf(left, sizeof(left), "%s", row->found);
	vpt_batch_init(&b);
	assert_int_equal(vpt_collect_chunks(c), 1);
	assert_int_equal(vpt_collect_chunk(c, 0, &b, NULL), 0);
	for (s = 0; s < b.section_count; s++) {
		unsigned kind = b.sections[s].kind;
		const uint64_t *starts = b.sections[s].col[kind == VPT_OPEN ? VPT_OPEN_START : 0];
		int is_op = kind == VPT_KERNEL || kind == VPT_COPY;

		for (i = 0; letter_of(kind) && i < b.sections[s].row_count; i++) {
			if (is_op && !is_valid(&b, starts[i]))
				snprintf(word, sizeof(word), "%c!", letter_of(kind));
			else
				snprintf(word, sizeof(word), "%c%lld", letter_of(kind),
					(long long)((int64_t)(starts[i] - row->base) / (int64_t)S));
			if (!take(left, word))
				fail_msg("%s: did not expect %s", row->rule, word);
		}
	}
	vpt_batch_free(&b);
	if (left[strspn(left, " ")])
		fail_msg("%s: missing: %s", row->rule, left);
}

static uint64_t end_of(const struct vpt_collect *c)
{
	struct vpt_batch b;
	uint64_t end = 0;
	size_t s;

	vpt_batch_init(&b);
	assert_int_equal(vpt_collect_chunk(c, 0, &b, NULL), 0);
	for (s = 0; s < b.section_count; s++)
		if (b.sections[s].kind == VPT_CLOCK)
			end = b.sections[s].col[VPT_CLOCK_TRACE][0];
	vpt_batch_free(&b);
	return end;
}

static void strays_are_left_out(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		const struct row *row = &table[i];
		struct vpt_collect *c = vpt_collect_new();
		char window[64];

		assert_non_null(c);
		fill(c, row);
		assert_int_equal(vpt_collect_finish(c, NULL), 0);
		check_rows(c, row);
		snprintf(window, sizeof(window), "%lld %lld",
			(long long)((vpt_collect_header(c)->t0_ns - row->base) / S),
			(long long)((end_of(c) - row->base) / S));
		if (strcmp(window, row->window) || vpt_collect_doubts(c)->far_rows != row->left_out)
			fail_msg("%s: window %s, %u left out", row->rule, window,
				(unsigned)vpt_collect_doubts(c)->far_rows);
		vpt_collect_free(c);
	}
}

/* Many rows are no more work than they must be, wherever they are. */
static void many_far_rows_cost_a_look_each(void **state)
{
	enum { ROWS = 100000 };
	struct vpt_collect *c = vpt_collect_new();
	unsigned i;

	(void)state;
	assert_non_null(c);
	for (i = 0; i < ROWS; i++)
		put(c, 'c', BASE + (i % 2 ? 0 : 864000 * S), 1);
	put(c, 'c', BASE, 1);
	for (i = 0; i < ROWS; i++)
		put(c, 'k', BASE + 2 * 864000 * S, 1);
	assert_int_equal(vpt_collect_finish(c, NULL), 0);
	assert_int_equal(vpt_collect_doubts(c)->far_rows, ROWS / 2);
	vpt_collect_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(strays_are_left_out),
		cmocka_unit_test(many_far_rows_cost_a_look_each)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
