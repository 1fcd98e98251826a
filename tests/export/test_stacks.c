/* test_stacks.c - stacks are interned as a tree, come back from a chunk frame by frame, and no file can make a
 * reader walk in a circle or without end. */
#include "formats/chunk/chunk.h"

#include "formats/base/memory.h"
#include "formats/chunk/batch_stacks.h"
#include "formats/import/collect/collect.h"
#include "tests/support/traces/hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpt_batch batch, decoded;
static struct vpt_payload payload;
static struct vpt_buffer hand;

static int setup(void **state)
{
	(void)state;
	vpt_batch_init(&batch);
	vpt_batch_init(&decoded);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vpt_batch_free(&batch);
	vpt_batch_free(&decoded);
	vpt_payload_free(&payload);
	vpt_free(hand.data);
	hand = (struct vpt_buffer){0};
	return 0;
}

static uint64_t string(const char *text)
{
	return vpt_batch_string(&batch, text, strlen(text));
}

static uint64_t frame(const char *function, const char *file, uint64_t line)
{
	struct vpt_frame f = {.function = string(function), .file = string(file), .line = line};

	return vpt_batch_frame(&batch, &f);
}

static void round_trip(void)
{
	struct vpt_err err = {0};
	const char *differ;

	vpt_batch_measure(&batch);
	if (vpt_chunk_encode(&batch, &payload, &err) ||
		vpt_chunk_decode(payload.data, payload.size, 0, &decoded, &err))
		fail_msg("%s", err.text);
	differ = vpt_hand_differ(&batch, &decoded);
	if (differ)
		fail_msg("%s differ", differ);
}

/* A stack of a batch as "outer:LINE inner:LINE". */
static const char *shown(const struct vpt_batch *b, uint64_t stack)
{
	static char text[4096];
	char copy[sizeof(text)];
	struct vpt_stacks s;
	uint32_t left;

	vpt_stacks_view(&s, b);
	text[0] = '\0';
	if (!vpt_stacks_depth(&s, stack))
		return text;
	for (left = vpt_stacks_depth(&s, stack); left; left--) {
		struct vpt_frame f = vpt_stacks_pop(&s, &stack);
		struct vpt_text name = vpt_batch_text(b, f.function);

		memcpy(copy, text, sizeof(copy));
		snprintf(text, sizeof(text), "%.*s:%llu%s%.4000s", (int)name.len, name.text,
			(unsigned long long)f.line, copy[0] ? " " : "", copy);
	}
	assert_int_equal(stack, 0);
	return text;
}

/* ---- writing ---- */

static void equal_frames_and_stacks_are_kept_once(void **state)
{
	uint64_t outer, inner, stack;

	(void)state;
	outer = frame("main", "train.py", 12);
	inner = frame("forward", "model.py", 40);
	assert_int_equal(frame("main", "train.py", 12), outer);
	assert_int_not_equal(frame("main", "train.py", 13), outer);
	assert_int_not_equal(frame("main", "other.py", 12), outer);
	stack = vpt_batch_stack(&batch, 0, outer);
	assert_int_equal(stack, 1);
	assert_int_equal(vpt_batch_stack(&batch, stack, inner), 2);
	assert_int_equal(vpt_batch_stack(&batch, 0, outer), 1);
	assert_int_equal(vpt_batch_stack(&batch, 1, inner), 2);
	assert_int_equal(vpt_batch_stack(&batch, 0, inner), 3);
	assert_int_equal(vpt_batch_find(&batch, VPT_FRAME)->row_count, 4);
	assert_int_equal(vpt_batch_find(&batch, VPT_STACK)->row_count, 4); /* and the empty one */
	round_trip();
	assert_string_equal(shown(&decoded, 2), "main:12 forward:40");
	assert_string_equal(shown(&decoded, 3), "forward:40");
	assert_string_equal(shown(&decoded, 0), "");
	assert_string_equal(shown(&decoded, 4), "");
	assert_string_equal(shown(&decoded, UINT64_MAX), "");
	vpt_batch_reset(&batch);
	assert_int_equal(vpt_batch_stack(&batch, 0, frame("b", "", 0)), 1);
	round_trip();
	assert_string_equal(shown(&decoded, 1), "b:0");
}

static void a_batch_without_stacks_has_none(void **state)
{
	struct vpt_sample sample = {.time_ns = 5, .stack = 7};

	(void)state;
	vpt_batch_put(&batch, VPT_SAMPLE, 1, &sample);
	round_trip();
	assert_string_equal(shown(&decoded, 7), "");
	assert_string_equal(shown(&batch, 7), "");
}

static void a_frame_beyond_the_table_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(vpt_batch_stack(&batch, 0, 1234), 1);
	round_trip();
	assert_string_equal(shown(&decoded, 1), "?:0");
}

static void a_stack_takes_no_more_frames_than_the_limit(void **state)
{
	uint64_t stack = 0, f = frame("recurse", "", 0);
	unsigned i;

	(void)state;
	for (i = 1; i <= VPT_STACK_DEPTH_MAX; i++) {
		stack = vpt_batch_stack(&batch, stack, f);
		assert_int_equal(stack, i);
	}
	assert_int_equal(vpt_batch_stack(&batch, stack, f), stack);
	assert_int_equal(vpt_batch_stack(&batch, stack, f + 1), stack);
	assert_int_equal(vpt_batch_error(&batch), VPT_OK);
	round_trip();
}

static void a_caller_that_is_none_fails_the_batch(void **state)
{
	(void)state;
	assert_int_equal(vpt_batch_stack(&batch, 3, 0), 0);
	assert_int_not_equal(vpt_batch_error(&batch), VPT_OK);
	vpt_batch_reset(&batch);
	assert_int_equal(vpt_batch_stack(&batch, 0, 0), 1);
	assert_int_equal(vpt_batch_error(&batch), VPT_OK);
}

static void stacks_fill_a_chunk(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 0; !vpt_batch_full(&batch); i++)
		vpt_batch_stack(&batch, 0, i);
	assert_int_equal(i, VPT_CHUNK_STACKS - 1);
	for (; !vpt_batch_crowded(&batch); i++)
		vpt_batch_stack(&batch, 0, i);
	assert_int_equal(i, 2 * VPT_CHUNK_STACKS - 1);
	round_trip();
}

static size_t fuse;

static void *failing_resize(void *ptr, size_t size)
{
	return fuse && --fuse ? realloc(ptr, size) : NULL;
}

static void without_memory_the_batch_has_failed_and_can_be_reset(void **state)
{
	static const struct vpt_memory_ops failing = {failing_resize, free};
	const struct vpt_memory_ops *before = vpt_memory_use(&failing);
	size_t at, failures = 0;

	(void)state;
	for (at = 1; at < 60; at++) {
		struct vpt_batch b;
		uint64_t stack = 0, i;

		vpt_batch_init(&b);
		fuse = at;
		for (i = 0; i < 100; i++) {
			struct vpt_frame f = {.line = i};

			stack = vpt_batch_stack(&b, stack, vpt_batch_frame(&b, &f));
		}
		failures += vpt_batch_error(&b) != VPT_OK;
		assert_int_equal(stack, vpt_batch_error(&b) ? 0 : 100);
		fuse = SIZE_MAX;
		vpt_batch_reset(&b);
		assert_int_equal(vpt_batch_stack(&b, 0, 5), 1);
		vpt_batch_free(&b);
	}
	vpt_memory_use(before);
	assert_true(failures > 20 && failures < 59);
}

/* ---- against something dumber: a list of frames for each stack ---- */

enum { STACKS = 400, DEPTH = 30 };

static struct {
	char text[DEPTH * 16];
	uint64_t id;
} model[STACKS];

/* A stack that has its outer frames in common with one before, most of the time. */
static void put_random_stack(struct vpt_random *r, unsigned n)
{
	uint64_t stack = 0, depth = vpt_random_below(r, DEPTH), i;
	char name[32];

	model[n].text[0] = '\0';
	for (i = 0; i < depth; i++) {
		uint64_t which = vpt_random_below(r, i < 20 ? 2 : 9);

		snprintf(name, sizeof(name), "f%llu", (unsigned long long)which);
		stack = vpt_batch_stack(&batch, stack, frame(name, "x.py", i));
		snprintf(model[n].text + strlen(model[n].text),
			sizeof(model[n].text) - strlen(model[n].text), "%s%s:%llu", i ? " " : "",
			name, (unsigned long long)i);
	}
	model[n].id = stack;
}

static void any_stacks_come_back(void **state)
{
	struct vpt_random r = {17};
	unsigned round, n, m;

	(void)state;
	for (round = 0; round < 20; round++) {
		vpt_batch_reset(&batch);
		for (n = 0; n < STACKS; n++) {
			struct vpt_sample sample = {.time_ns = n, .state = n % 5};

			put_random_stack(&r, n);
			sample.stack = model[n].id;
			vpt_batch_put(&batch, VPT_SAMPLE, n % 3, &sample);
			for (m = 0; m < n; m++)
				assert_int_equal(model[m].id == model[n].id,
					!strcmp(model[m].text, model[n].text));
		}
		assert_int_equal(vpt_batch_error(&batch), VPT_OK);
		round_trip();
		for (n = 0; n < STACKS; n++)
			assert_string_equal(shown(&decoded, model[n].id), model[n].text);
	}
}

/* The same rows through a collector, which spreads them over chunks: every sample keeps its frames. */
static void stacks_of_an_import_are_those_that_were_put(void **state)
{
	enum { SAMPLES = 200000 };
	struct vpt_collect *c = vpt_collect_new();
	uint64_t lane = vpt_collect_thread(c, 1, 2), i, seen = 0;
	size_t k, chunks;

	(void)state;
	for (i = 0; i < SAMPLES; i++) {
		struct vpt_sample sample = {.time_ns = 1000 + (i * 7919) % SAMPLES};
		uint64_t depth = sample.time_ns % 40, d;

		for (d = 0; d < depth; d++) {
			struct vpt_frame f = {.function = vpt_collect_string(c, "f", 1),
				.file = vpt_collect_string(c, "unused.py", d % 2 ? 9 : 0),
				.line = d ? d : sample.time_ns % 5000};

			sample.stack = vpt_collect_stack(c, sample.stack, vpt_collect_frame(c, &f));
		}
		vpt_collect_put(c, VPT_SAMPLE, lane, &sample);
	}
	assert_int_equal(vpt_collect_finish(c, NULL), VPT_OK);
	chunks = vpt_collect_chunks(c);
	assert_true(chunks > 2);
	for (k = 0; k < chunks; k++) {
		const struct vpt_section *s;
		struct vpt_stacks stacks;
		uint32_t row;

		assert_int_equal(vpt_collect_chunk(c, k, &batch, NULL), VPT_OK);
		round_trip();
		s = vpt_batch_find(&decoded, VPT_SAMPLE);
		vpt_stacks_view(&stacks, &decoded);
		for (row = 0; s && row < s->row_count; row++, seen++) {
			uint64_t stack = s->col[VPT_SAMPLE_STACK][row], d;

			assert_int_equal(s->col[VPT_SAMPLE_TIME][row], 1000 + seen);
			d = vpt_stacks_depth(&stacks, stack);
			assert_int_equal(d, (1000 + seen) % 40);
			while (d--)
				assert_int_equal(vpt_stacks_pop(&stacks, &stack).line,
					d ? d : (1000 + seen) % 5000);
		}
	}
	assert_int_equal(seen, SAMPLES);
	vpt_collect_free(c);
}

/* ---- what nobody should write ---- */

static void a_caller_is_a_smaller_row(void **state)
{
	static const struct {
		const char *rule, *callers;
		uint32_t rows;
		int accepted;
	} cases[] = {
		{"a chain", "\0\0\1\2", 4, 1},
		{"a tree", "\0\0\1\1", 4, 1},
		{"the empty stack alone", "\0", 1, 1},
		{"the empty stack has a caller", "\1\0", 2, 0},
		{"a row calls itself", "\0\1", 2, 0},
		{"a caller stands below", "\0\2\0", 3, 0},
		{"a circle", "\0\2\3\1", 4, 0},
		{"a caller beyond the table", "\0\0\377", 3, 0},
	};
	size_t i, s;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc;

		vpt_hand_chunk(&hand);
		s = vpt_hand_section(&hand, VPT_STACK, 0, cases[i].rows, 0);
		vpt_hand_column(
			&hand, s, 1, VPT_ENC_PLAIN, 1, 0, 0, cases[i].callers, cases[i].rows);
		vpt_hand_section_end(&hand, s);
		vpt_hand_chunk_end(&hand);
		rc = vpt_chunk_decode((unsigned char *)hand.data, hand.size, 0, &decoded, NULL);
		if (rc != (cases[i].accepted ? VPT_OK : VPT_EDATA))
			fail_msg("%s: %d", cases[i].rule, rc);
		if (rc)
			assert_int_equal(decoded.stacks.depth_count, 0);
	}
}

static void columns_that_are_missing_make_stacks_of_one_frame(void **state)
{
	size_t s;

	(void)state;
	vpt_hand_chunk(&hand);
	s = vpt_hand_section(&hand, VPT_STACK, 0, 3, 0);
	vpt_hand_section_end(&hand, s);
	vpt_hand_chunk_end(&hand);
	assert_int_equal(
		vpt_chunk_decode((unsigned char *)hand.data, hand.size, 0, &decoded, NULL), VPT_OK);
	assert_string_equal(shown(&decoded, 2), "?:0");
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(equal_frames_and_stacks_are_kept_once),
		RULE(a_batch_without_stacks_has_none),
		RULE(a_frame_beyond_the_table_is_unknown),
		RULE(a_stack_takes_no_more_frames_than_the_limit),
		RULE(a_caller_that_is_none_fails_the_batch),
		RULE(stacks_fill_a_chunk),
		RULE(without_memory_the_batch_has_failed_and_can_be_reset),
		RULE(any_stacks_come_back),
		RULE(stacks_of_an_import_are_those_that_were_put),
		RULE(a_caller_is_a_smaller_row),
		RULE(columns_that_are_missing_make_stacks_of_one_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
