/* test_import_kineto_damage.c - one unreadable event is one lost event: good traces are broken at random
 * places in every way that profilers and their users have found, and all other events are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/kineto_rig.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEEDLESS = 3 }; /* a kind of events */
enum { EVENTS = 24, EVENT_BYTES = 1024, TEXT_BYTES = (2 * EVENTS + 4) * EVENT_BYTES };

/* ---- ways to break the text of an event ---- */

/* The events begin with "ph"; all have "name", "tail" and, as the last member, "args". */

static void insert(char *text, char *at, const char *what)
{
	memmove(at + strlen(what), at, strlen(at) + 1);
	memcpy(at, what, strlen(what));
	(void)text;
}

static char *in_name(char *text)
{
	return strstr(text, "\"name\": \"") + 10;
}

static void cut(char *at, size_t size)
{
	memmove(at, at + size, strlen(at + size) + 1);
}

static void bad_escape(char *t, struct vpt_random *r)
{
	static const char *const escapes[] = {"\\c", "\\_", "\\x41", "\\u12g4", "\\ ", "\\0"};

	insert(t, in_name(t), escapes[vpt_random_below(r, COUNT(escapes))]);
}

static void quote_in_name(char *t, struct vpt_random *r)
{
	static const char *const names[] = {"\"", "{\"device\": \"cpu\", \"dtype\": \"f\"}(12)",
		"\"a\"", "\"\"\"", "}, {\"b\": [", "x\"y", "{\"name\": \"x\"}",
		"\", \"a\": \"b\"c"};

	insert(t, in_name(t), names[vpt_random_below(r, COUNT(names))]);
}

static void bare_word(char *t, struct vpt_random *r)
{
	static const char *const words[] = {"inf", "-inf", "-nan", "-nan(ind)", "1.#INF", "0x1f",
		"None", "<object>", "1,5e", "--1", "tensor(3)"};
	char *at = strstr(t, "\"tail\": ") + 8;

	cut(at, 1);
	insert(t, at, words[vpt_random_below(r, COUNT(words))]);
}

static void missing_comma(char *t, struct vpt_random *r)
{
	(void)r;
	*strstr(t, ", \"tail\"") = ' ';
}

static void missing_colon(char *t, struct vpt_random *r)
{
	(void)r;
	*(strstr(t, "\"tail\":") + 6) = ' ';
}

static void open_string(char *t, struct vpt_random *r)
{
	(void)r;
	cut(strstr(t, "\", \"tail\""), 1);
}

static void unquoted_key(char *t, struct vpt_random *r)
{
	(void)r;
	cut(strstr(t, "\"tail\""), 1);
}

static void missing_end(char *t, struct vpt_random *r)
{
	t[strlen(t) - 1 - vpt_random_below(r, 2)] = ' ';
}

static void bracket_too_many(char *t, struct vpt_random *r)
{
	static const char *const brackets[] = {"{", "[", "[[", "{["};

	insert(t, strstr(t, "\"tail\": ") + 8, brackets[vpt_random_below(r, COUNT(brackets))]);
}

static void wrong_bracket(char *t, struct vpt_random *r)
{
	(void)r;
	t[strlen(t) - 1] = ']';
}

static void binary(char *t, struct vpt_random *r)
{
	static const char *const bytes[] = {"\x01", "\x7f", "\xff\xfe", "\x1b[0m", "\xc3\x28"};

	insert(t, strstr(t, "\"tail\""), bytes[vpt_random_below(r, COUNT(bytes))]);
}

/* Any place after the first member and before the last bracket. */
static void ends_early(char *t, struct vpt_random *r)
{
	size_t from = 14, len = strlen(t);

	t[from + vpt_random_below(r, len - from - 1)] = '\0';
}

static const struct {
	const char *name;
	void (*make)(char *text, struct vpt_random *r);
} ways[] = {
	{"an escape that is none", bad_escape},
	{"a quote in a name", quote_in_name},
	{"a word for a number", bare_word},
	{"a missing comma", missing_comma},
	{"a missing colon", missing_colon},
	{"a string without an end", open_string},
	{"a name of a member without a quote", unquoted_key},
	{"a missing bracket", missing_end},
	{"a bracket too many", bracket_too_many},
	{"the wrong bracket", wrong_bracket},
	{"bytes that are no text", binary},
	{"an event that stops", ends_early},
};

/* ---- documents ---- */

/* Event number `i`: any kind that is read in a way of its own. */
static void write_event(char *to, unsigned i, unsigned kind, const char *gap)
{
	static const char *const heads[] = {
		"\"cat\": \"kernel\", \"pid\": 0, \"tid\": 7",
		"\"cat\": \"cpu_op\", \"pid\": 1, \"tid\": 2",
		"\"cat\": \"python_function\", \"pid\": 1, \"tid\": 2",
		"\"cat\": \"Trace\", \"pid\": \"Spans\", \"tid\": \"t\"",
		"\"cat\": \"cuda_runtime\", \"pid\": 1, \"tid\": 2",
	};

	sprintf(to,
		"{\"ph\": \"X\",%s %s, \"name\": \"name %u\", \"tail\": 1, \"ts\": %u.5,%s "
		"\"dur\": 0.25, "
		"\"args\":%s {\"Python id\": %u, \"Python parent id\": null, \"grid\": [1, 2, 3]}}",
		gap, heads[kind], i, 10 + i, gap, gap, i + 1);
}

struct document {
	char text[TEXT_BYTES];
	size_t used;
	/* An event that is not needed may be skipped although it is broken. */
	size_t begin[EVENTS + 1];
	unsigned kinds[EVENTS], broken[EVENTS], broken_count, needless_count;
};

static void put_text(struct document *d, const char *text)
{
	size_t len = strlen(text);

	assert_true(d->used + len + 1 < sizeof(d->text));
	memcpy(d->text + d->used, text, len + 1);
	d->used += len;
}

static void write_document(struct document *d, unsigned way, struct vpt_random *r)
{
	static const char *const gaps[] = {"", "\n    ", "\r\n\t"};
	const char *gap = gaps[vpt_random_below(r, COUNT(gaps))];
	unsigned i, sparse = 1 + (unsigned)vpt_random_below(r, 6);

	d->used = 0;
	d->broken_count = d->needless_count = 0;
	put_text(d, "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [");
	for (i = 0; i < EVENTS; i++) {
		char event[EVENT_BYTES];

		d->kinds[i] = (unsigned)vpt_random_below(r, 5);
		d->broken[i] = !vpt_random_below(r, sparse + 1);
		d->broken_count += d->broken[i];
		d->needless_count += d->broken[i] && d->kinds[i] == NEEDLESS;
		write_event(event, i, d->kinds[i], gap);
		if (d->broken[i])
			ways[way].make(event, r);
		put_text(d, i ? ",\n" : "\n");
		d->begin[i] = d->used;
		put_text(d, event);
	}
	d->begin[EVENTS] = d->used;
	put_text(d, "\n],\n\"traceName\": \"end\"}");
}

/* The row of a kernel, range or call that begins at this time. */
static int is_read(uint64_t start_ns)
{
	size_t i;
	uint32_t row;

	for (i = 0; i < rig.batch.section_count; i++) {
		const struct vpt_section *s = &rig.batch.sections[i];

		for (row = 0; (s->kind == VPT_KERNEL || s->kind == VPT_RANGE ||
				      s->kind == VPT_CALL || s->kind == VPT_SAMPLE) &&
			      row < s->row_count;
			row++)
			if (s->col[0][row] == start_ns)
				return 1;
	}
	return 0;
}

static void expect_document(const struct document *d, const char *way, uint64_t seed)
{
	unsigned i;
	uint64_t unreadable, events;

	if (rig_bytes(d->text, d->used))
		fail_msg("%s, seed %" PRIu64 ": %s", way, seed, rig.err.text);
	unreadable = rig.stats.unreadable;
	events = EVENTS - unreadable;
	for (i = 0; i < EVENTS; i++)
		if (d->kinds[i] != NEEDLESS && is_read(10500 + i * 1000) == (int)d->broken[i])
			fail_msg("%s, seed %" PRIu64 ": event %u is %s\n%.*s", way, seed, i,
				d->broken[i] ? "broken and read" : "lost",
				(int)(d->begin[i + 1] - d->begin[i]), d->text + d->begin[i]);
	if (unreadable > d->broken_count || unreadable + d->needless_count < d->broken_count ||
		rig.stats.events != events || rig.stats.truncated || rig.stats.malformed)
		fail_msg("%s, seed %" PRIu64 ": %" PRIu64 " unreadable of %u, %" PRIu64
			 " events of %" PRIu64 ", %" PRIu64 " malformed, truncated %d",
			way, seed, unreadable, d->broken_count, rig.stats.events, events,
			rig.stats.malformed, rig.stats.truncated);
	assert_string_equal(rig_meta("trace_name"), "end");
}

static void one_unreadable_event_is_one_lost_event(void **state)
{
	enum { TIMES = 60 };
	struct document *d = malloc(sizeof(*d));
	unsigned way, i;

	(void)state;
	assert_non_null(d);
	for (way = 0; way < COUNT(ways); way++)
		for (i = 0; i < TIMES; i++) {
			uint64_t seed = way * TIMES + i + 1;
			struct vpt_random r = {seed};

			write_document(d, way, &r);
			expect_document(d, ways[way].name, seed);
		}
	free(d);
	rig_drop();
}

/* ---- the members around the events ---- */

static void one_unreadable_member_is_one_lost_member(void **state)
{
	static const char *const members[] = {
		"\"deviceProperties\": [{\"id\": 0, \"name\": \"a \"b\"\"}]",
		"\"deviceProperties\": [{\"id\": 0, \"clockRate\": inf}]",
		"\"deviceProperties\": [{\"id\": 0, \"name\": \"C:\\gpu\"}]",
		"\"deviceProperties\": [{\"id\": 0,, \"name\": \"a\"]",
		"\"distributedInfo\": {\"rank\": -nan, \"backend\": \"nccl\"}",
		"\"distributedInfo\": {\"pg_config\": [{\"name\": \"x\" \"y\"}]}",
		"\"unknown\": {\"path\": \"a\"b\"}",
		"\"unknown\": {\"a\": {\"b\": 1]}",
		"\"unknown\" {\"a\": 1}",
		"unknown: 1",
		"\"metadata\": <none>",
	};
	char text[1024];
	size_t i, place;

	(void)state;
	for (i = 0; i < COUNT(members); i++)
		for (place = 0; place < 2; place++) {
			char event[EVENT_BYTES];
			int len;

			write_event(event, 0, 0, "");
			len = snprintf(text, sizeof(text),
				"{%s%s\"with_stack\": 1, \"traceEvents\": [%s]%s%s, \"traceName\": "
				"\"end\"}",
				place ? "" : members[i], place ? "" : ", ", event,
				place ? ", " : "", place ? members[i] : "");
			if (rig_bytes(text, (size_t)len))
				fail_msg("%s: %s", text, rig.err.text);
			if (rig.stats.unreadable != 1 || rig.stats.events != 1 ||
				rig.stats.truncated)
				fail_msg("%s: %" PRIu64 " unreadable, %" PRIu64
					 " events, truncated %d",
					text, rig.stats.unreadable, rig.stats.events,
					rig.stats.truncated);
			assert_string_equal(rig_meta("torch_with_stack"), "1");
			assert_string_equal(rig_meta("trace_name"), "end");
		}
	rig_drop();
}

/* ---- what loses nothing ---- */

static void marks_between_events_lose_nothing(void **state)
{
	static const char *const between[] = {",", ", ,", "", " ", "\r\n", ",\n,\n", ",,,"};
	static const char *const ends[] = {"", ",", ",,", "\n"};
	char text[4096];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(between); i++)
		for (k = 0; k < COUNT(ends); k++) {
			char a[EVENT_BYTES], b[EVENT_BYTES];
			int len;

			write_event(a, 0, 0, "");
			write_event(b, 1, 1, "");
			len = snprintf(text, sizeof(text), "{\"traceEvents\": [%s%s%s%s]%s}", a,
				between[i], b, ends[k], ends[k]);
			assert_int_equal(rig_bytes(text, (size_t)len), 0);
			if (rig.stats.events != 2 || rig.stats.unreadable || rig.stats.truncated)
				fail_msg("\"%s\" and \"%s\"", between[i], ends[k]);
		}
	rig_drop();
}

/* ---- two writers ---- */

/* Both write their text in pieces. The events that no other text divides are read, but for a few that stand
 * where another one has a value. */
static void texts_that_interleave_lose_what_they_divide(void **state)
{
	struct document *one = malloc(2 * sizeof(*one)), *both = malloc(sizeof(*both));
	unsigned seed, i, whole, all = 0, lost = 0;

	(void)state;
	assert_non_null(one);
	assert_non_null(both);
	for (seed = 1; seed <= 100; seed++) {
		struct vpt_random r = {seed};
		size_t at[2] = {0, 0};

		both->used = whole = 0;
		for (i = 0; i < 2; i++) {
			struct vpt_random same = {seed * 2 + i};

			write_document(&one[i], 0, &same);
		}
		for (i = 0; at[0] < one[0].used || at[1] < one[1].used; i ^= 1) {
			size_t left = one[i & 1].used - at[i & 1];
			size_t size = 1 + vpt_random_below(&r, 1500);

			size = size < left ? size : left;
			memcpy(both->text + both->used, one[i & 1].text + at[i & 1], size);
			both->used += size;
			at[i & 1] += size;
		}
		both->text[both->used] = '\0';
		for (i = 0; i < 2 * EVENTS; i++) {
			const struct document *d = &one[i / EVENTS];
			size_t begin = d->begin[i % EVENTS], end = d->begin[i % EVENTS + 1] - 2;
			char event[EVENT_BYTES];

			snprintf(event, sizeof(event), "%.*s", (int)(end - begin), d->text + begin);
			whole += !d->broken[i % EVENTS] && strstr(both->text, event) != NULL;
		}
		assert_int_equal(rig_bytes(both->text, both->used), 0);
		assert_true(rig.stats.unreadable > 0);
		assert_int_equal(rig.stats.truncated, 0);
		all += whole;
		lost += rig.stats.events < whole ? whole - (unsigned)rig.stats.events : 0;
	}
	assert_true(all > 2000);
	assert_true(lost <= all / 200);
	free(one);
	free(both);
	rig_drop();
}

/* ---- hostile texts ---- */

/* Files made of what looks like the beginning of an event, each of which promises to be long. A reader that
 * went back for each would take hours. */
static void hostile_texts_take_linear_time(void **state)
{
	static const char *const pieces[] = {"{\"ph\":", "{\"ph\":[", "{\"ph\":{", "{\"ph\":\"",
		"{\"ph\":1,", "[{\"ph\":[1,", "}]", "\"", "{\"ph\":'", "{\"ph\":1}}", "\\", "{",
		"[{\"ph\":\"X\",\"a\":[", "\"traceEvents\":[", "\0{\"ph\":"};
	enum { SIZE = 1 << 20 };
	char *text = malloc(SIZE + 64);
	size_t i, at;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < COUNT(pieces); i++) {
		size_t len = *pieces[i] ? strlen(pieces[i]) : 7;

		at = (size_t)sprintf(text, "{\"traceEvents\": [");
		while (at < SIZE) {
			memcpy(text + at, pieces[i], len);
			at += len;
		}
		assert_int_equal(rig_bytes(text, at), 0);
		assert_int_equal(rig.stats.truncated || rig.stats.unreadable, 1);
	}
	free(text);
	rig_drop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_unreadable_event_is_one_lost_event),
		cmocka_unit_test(one_unreadable_member_is_one_lost_member),
		cmocka_unit_test(marks_between_events_lose_nothing),
		cmocka_unit_test(texts_that_interleave_lose_what_they_divide),
		cmocka_unit_test(hostile_texts_take_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	print_message("SKIPPED: built without zlib\n");
	return 77;
}

#endif
