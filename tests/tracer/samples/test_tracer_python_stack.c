/* Reads stacks from an interpreter made by hand, whole and damaged: pointers that lead nowhere, round
 * in circles or into other objects, also while they are followed. VPT_PERCENT scales the work. */
#include "tests/support/random.h"
#include "tests/tracer/ranges/scaled.h"
#include "tracer/python_stacks/python_code.h"
#include "tracer/python_stacks/python_stack.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARENA_BYTES = 1 << 20, CODES = 8, FRAME_BYTES = 256, DEPTH = 40 };

/* Where things are in the arena. */
enum {
	RUNTIME = 0,
	INTERPRETER = 4096,
	THREAD = 8192,
	CFRAME = 12288,
	CODE_TYPE = 16384,
	CODE = 20480, /* 1 KiB each: the code, its texts and its table */
	FRAMES = 65536
};

static _Alignas(4096) uint8_t arena[ARENA_BYTES], pristine[ARENA_BYTES];
static struct vtr_own_memory memory;
static struct vtr_python python;
static struct vtr_python_reader *reader;
static struct vtr_python_codes *codes;
static struct vtr_code_places places;
static struct vtr_python_plan plan;
static struct vtr_python_stack stack;
static uint32_t names[VTR_PYTHON_DEPTH_MAX];

static uint64_t at(size_t offset)
{
	return (uint64_t)(uintptr_t)(arena + offset);
}

static void put(size_t offset, uint16_t field, uint64_t value, size_t bytes)
{
	if (field != VTR_NO_FIELD)
		memcpy(arena + offset + field, &value, bytes);
}

static void put_text(size_t offset, const char *text)
{
	const struct vtr_python_layout *l = &python.at;

	put(offset, l->text_length, strlen(text), 8);
	put(offset, l->text_state, VTR_TEXT_COMPACT | VTR_TEXT_ASCII | 1 << VTR_TEXT_KIND_SHIFT, 4);
	memcpy(arena + offset + l->text_ascii, text, strlen(text) + 1);
}

/* Every instruction of code N is at line 100 N + 7. */
static void put_code(unsigned n)
{
	static const uint8_t lnotab[] = {0, 7}, table[] = {254, 7, 254, 0};
	/* 8 units without columns, 7 lines on; the same line again */
	static const uint8_t locations[] = {0x80 | 13 << 3 | 7, 14, 0x80 | 13 << 3 | 7, 0};
	const struct vtr_python_layout *l = &python.at;
	size_t code = CODE + (size_t)n * 1024, name = code + 384, file = code + 512,
	       lines = code + 640;
	char text[32];

	put(code, l->object_type, python.code_type, 8);
	put(code, l->object_size, 16, 8);
	put(code, l->code_file, at(file), 8);
	put(code, l->code_name, at(name), 8);
	put(code, l->code_qualified_name, at(name), 8);
	put(code, l->code_lines, at(lines), 8);
	put(code, l->code_first_line, 100 * n, 4);
	put(code, l->code_first_traceable, 0, 4);
	put(code, l->code_words, FRAME_BYTES / 8, 4);
	snprintf(text, sizeof(text), "function%u", n);
	put_text(name, text);
	put_text(file, "program.py");
	if (l->lines == VTR_LINES_LNOTAB) {
		put(lines, l->object_size, sizeof(lnotab), 8);
		memcpy(arena + lines + l->bytes_data, lnotab, sizeof(lnotab));
	} else if (l->lines == VTR_LINES_TABLE) {
		put(lines, l->object_size, sizeof(table), 8);
		memcpy(arena + lines + l->bytes_data, table, sizeof(table));
	} else {
		put(lines, l->object_size, sizeof(locations), 8);
		memcpy(arena + lines + l->bytes_data, locations, sizeof(locations));
	}
}

static size_t frame_at(unsigned level)
{
	return FRAMES + 24 + (size_t)level * FRAME_BYTES;
}

/* Level 0 is the outermost; from 3.12 on it marks the call from C. */
static void put_frame(unsigned level)
{
	const struct vtr_python_layout *l = &python.at;
	size_t frame = frame_at(level), code = CODE + level % CODES * 1024;
	uint64_t instruction = 4;

	if (l->instruction == VTR_INSTRUCTION_POINTER)
		instruction = at(code) + l->code_instructions + 4;
	put(frame, l->frame_code, at(code), 8);
	put(frame, l->frame_previous, level ? at(frame_at(level - 1)) : 0, 8);
	put(frame, l->frame_instruction, instruction,
		l->instruction == VTR_INSTRUCTION_POINTER ? 8 : 4);
	put(frame, l->frame_owner, l->minor >= 12 && !level ? VTR_OWNER_C : VTR_OWNER_THREAD, 1);
	put(frame, l->frame_is_entry, !level, 1);
	put(frame, l->frame_generator, 0, 8);
	put(frame, l->frame_live, l->minor == 9 ? VTR_LIVE_39 : VTR_LIVE_310, 1);
}

static void build(const struct vtr_python_layout *layout, unsigned depth)
{
	const struct vtr_python_layout *l = &python.at;
	unsigned i;

	python = (struct vtr_python){
		.at = *layout, .runtime = at(RUNTIME), .code_type = at(CODE_TYPE)};
	memset(arena, 0, sizeof(arena));
	put(RUNTIME, l->runtime_interpreters, at(INTERPRETER), 8);
	put(INTERPRETER, l->interpreter_threads, at(THREAD), 8);
	put(THREAD, l->thread_interpreter, at(INTERPRETER), 8);
	put(THREAD, l->thread_pthread, (uint64_t)(uintptr_t)pthread_self(), 8);
	put(THREAD, l->thread_native, (uint64_t)gettid(), 8);
	put(THREAD, l->thread_serial, 1, 8);
	for (i = 0; i < CODES; i++)
		put_code(i);
	for (i = 0; i < depth; i++)
		put_frame(i);
	put(THREAD, l->thread_frame, at(frame_at(depth - 1)), 8);
	if (l->cframe_frame != VTR_NO_FIELD) {
		put(THREAD, l->thread_frame, at(CFRAME), 8);
		put(CFRAME, l->cframe_frame, at(frame_at(depth - 1)), 8);
	}
	if (l->thread_data_stack != VTR_NO_FIELD) {
		put(THREAD, l->thread_data_stack, at(FRAMES), 8);
		put(THREAD, (uint16_t)(l->thread_data_stack + 8), at(frame_at(depth)), 8);
	}
	memcpy(pristine, arena, sizeof(arena));
	vtr_own_memory_open(&memory);
	assert_int_not_equal(memory.way, VTR_OWN_MEMORY_REFUSED);
	reader = vtr_python_reader_new(&memory, &python);
	assert_int_equal(vtr_code_places_init(&places), 0);
	codes = vtr_python_codes_new(&memory, &python, &places);
	assert_non_null(reader);
	assert_non_null(codes);
	plan = (struct vtr_python_plan){.tid = (uint32_t)gettid()};
}

static void demolish(void)
{
	vtr_python_codes_free(codes);
	vtr_code_places_free(&places);
	vtr_python_reader_free(reader);
	vtr_own_memory_close(&memory);
}

static enum vtr_python_outcome read_now(void)
{
	return vtr_python_stack_read(reader, &plan, &stack);
}

/* The layouts of 3.9 to 3.12; and that of 3.12 as 3.13 uses it, without a struct between. */
static struct vtr_python_layout layout_of(unsigned minor)
{
	struct vtr_python_layout l = *vtr_python_layout_of(minor < 13 ? minor : 12);

	if (minor == 13) {
		l.minor = 13;
		l.cframe_frame = VTR_NO_FIELD;
	}
	return l;
}

#define FOR_EACH_VERSION(minor) for (unsigned minor = 9; minor <= 13; minor++)

static void expect_whole(unsigned minor, unsigned depth)
{
	unsigned from = minor >= 12, i;
	uint32_t count;
	int rc;

	assert_int_equal(read_now(), VTR_PYTHON_WHOLE);
	assert_int_equal(stack.depth, depth - from);
	for (i = 0; i < stack.depth; i++)
		assert_int_equal(stack.frames[i].code, at(CODE + (depth - 1 - i) % CODES * 1024));
	do
		rc = vtr_python_codes_name(codes, &stack, names, &count);
	while (rc == 1);
	assert_int_equal(rc, 0);
	assert_int_equal(count, stack.depth);
	for (i = 0; i < count; i++) {
		unsigned n = (depth - 1 - i) % CODES;
		char text[32];
		struct vpt_text name = vtr_code_place_function(&places, names[i]);

		snprintf(text, sizeof(text), "function%u", n);
		assert_int_equal(name.len, strlen(text));
		assert_memory_equal(name.text, text, name.len);
		assert_int_equal(places.all[names[i]].line, 100 * n + 7);
	}
}

static void a_stack_that_rests_is_whole(void **state)
{
	static const unsigned depths[] = {2, 3, DEPTH, 300};

	(void)state;
	FOR_EACH_VERSION(minor)
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct vtr_python_layout l = layout_of(minor);

		build(&l, depths[i]);
		expect_whole(minor, depths[i]);
		expect_whole(minor, depths[i]); /* from the plan, and with known codes */
		demolish();
	}
}

static void a_code_object_at_the_address_of_another_is_learnt_anew(void **state)
{
	(void)state;
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);
		struct vpt_text name;
		uint32_t count;
		unsigned tries;

		build(&l, 3);
		expect_whole(minor, 3);
		/* The same objects, another text: all that a check by address would miss. */
		put_text(CODE + 2 * 1024 + 384, "freshname");
		for (tries = 0; tries < 3; tries++) {
			assert_int_equal(read_now(), VTR_PYTHON_WHOLE);
			if (!vtr_python_codes_name(codes, &stack, names, &count))
				break;
		}
		assert_true(tries < 3);
		name = vtr_code_place_function(&places, names[0]);
		assert_int_equal(name.len, 9);
		assert_memory_equal(name.text, "freshname", 9);
		demolish();
	}
}

static void too_many_frames_and_circles_end(void **state)
{
	(void)state;
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);

		build(&l, VTR_PYTHON_DEPTH_MAX + 2);
		assert_int_equal(read_now(), VTR_PYTHON_DEEP);
		demolish();
		build(&l, DEPTH);
		put(frame_at(3), l.frame_previous, at(frame_at(9)), 8);
		assert_in_range(read_now(), VTR_PYTHON_TORN, VTR_PYTHON_DEEP);
		demolish();
	}
}

static void a_pointer_that_leads_nowhere_tears_the_stack(void **state)
{
	void *closed = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t bad[] = {1, 8, 4095, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63,
		(UINT64_C(1) << 47) - 8, UINT64_C(0xdddddddddddddddd), (uint64_t)(uintptr_t)closed,
		(uint64_t)(uintptr_t)closed + 4088};
	enum vtr_python_outcome got;
	size_t i;

	(void)state;
	assert_true(closed != MAP_FAILED);
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);

		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			build(&l, DEPTH);
			put(frame_at(5), l.frame_previous, bad[i], 8);
			assert_int_equal(read_now(), VTR_PYTHON_TORN);
			memcpy(arena, pristine, sizeof(arena));
			expect_whole(minor, DEPTH); /* and it recovers */
			put(THREAD, l.thread_frame, bad[i], 8);
			got = read_now();
			assert_true(got == VTR_PYTHON_TORN || got == VTR_PYTHON_NONE);
			memcpy(arena, pristine, sizeof(arena));
			put(INTERPRETER, l.interpreter_threads, bad[i], 8);
			plan = (struct vtr_python_plan){.tid = (uint32_t)gettid()};
			assert_int_equal(read_now(), VTR_PYTHON_NONE);
			demolish();
		}
	}
	munmap(closed, 8192);
}

/* Then its caller, which has begun, cannot be one either. */
static void code_that_begins_beyond_all_code_tears_the_stack(void **state)
{
	(void)state;
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);
		uint32_t count;
		unsigned i;
		int rc;

		if (l.code_first_traceable == VTR_NO_FIELD)
			continue;
		build(&l, DEPTH);
		for (i = 0; i < CODES; i++)
			put(CODE + (size_t)i * 1024, l.code_first_traceable, INT32_MAX, 4);
		assert_int_equal(read_now(), VTR_PYTHON_WHOLE);
		do
			rc = vtr_python_codes_name(codes, &stack, names, &count);
		while (rc == 1);
		assert_int_equal(rc, -1);
		demolish();
	}
}

static void a_thread_that_is_another_or_ended_has_no_stack(void **state)
{
	(void)state;
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);

		build(&l, DEPTH);
		expect_whole(minor, DEPTH);
		put(THREAD, l.thread_serial, 2, 8); /* the state of a later thread */
		put(THREAD, l.thread_native, 1, 8);
		put(THREAD, l.thread_pthread, at(0), 8);
		assert_int_equal(read_now(), VTR_PYTHON_NONE);
		plan.tid = 0x3ffffff; /* beyond any limit of the kernel */
		assert_int_equal(read_now(), VTR_PYTHON_ENDED);
		demolish();
	}
}

/* ---- anything ---- */

static uint64_t any_word(struct vpt_random *random)
{
	static const uint64_t bad[] = {0, 1, 8, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 47};

	switch (vpt_random_below(random, 4)) {
	case 0:
		return vpt_random_nasty(random);
	case 1:
		return bad[vpt_random_below(random, sizeof(bad) / sizeof(bad[0]))];
	case 2:
		return at(vpt_random_below(random, ARENA_BYTES / 8) * 8);
	default:
		return at(frame_at((unsigned)vpt_random_below(random, DEPTH)));
	}
}

static void damage(struct vpt_random *random)
{
	static const size_t parts[] = {RUNTIME, INTERPRETER, THREAD, CFRAME, CODE, FRAMES};
	static const size_t sizes[] = {64, 128, 320, 16, CODES * 1024, DEPTH * FRAME_BYTES};
	size_t part = vpt_random_below(random, 6);
	uint64_t word = any_word(random);

	memcpy(arena + parts[part] + vpt_random_below(random, sizes[part] / 8) * 8, &word, 8);
}

/* Whatever comes, results are within their bounds. */
static void read_anything(void)
{
	enum vtr_python_outcome outcome = read_now();
	uint32_t count = 0, i;

	assert_in_range(outcome, VTR_PYTHON_WHOLE, VTR_PYTHON_ENDED);
	if (outcome != VTR_PYTHON_WHOLE && outcome != VTR_PYTHON_CUT)
		return;
	assert_in_range(stack.depth, 1, VTR_PYTHON_DEPTH_MAX);
	if (vtr_python_codes_name(codes, &stack, names, &count))
		return;
	assert_in_range(count, 0, stack.depth);
	for (i = 0; i < count; i++)
		assert_true(names[i] < places.count);
}

static void damaged_memory_is_survived(void **state)
{
	struct vpt_random random;
	unsigned i, k;

	(void)state;
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);

		random.state = minor;
		build(&l, DEPTH);
		for (i = 0; i < scaled(1500); i++) {
			/* Before the first read, or with the plan of a good one. */
			memcpy(arena, pristine, sizeof(arena));
			if (i & 1)
				plan = (struct vtr_python_plan){.tid = (uint32_t)gettid()};
			else
				read_anything();
			for (k = 1 + (unsigned)vpt_random_below(&random, 6); k; k--)
				damage(&random);
			read_anything();
		}
		demolish();
	}
}

static atomic_int stop;

/* Writes without order, as a host's threads do. */
__attribute__((no_sanitize("address"))) static void *move_all_the_time(void *arg)
{
	struct vpt_random random;
	unsigned i = 0;

	random.state = *(unsigned *)arg;
	while (!stop) {
		damage(&random);
		if (++i % 8 == 0)
			memcpy(arena, pristine, FRAMES + DEPTH * FRAME_BYTES);
	}
	return NULL;
}

static void memory_that_changes_is_survived(void **state)
{
	pthread_t thread;
	unsigned i;

	(void)state;
	FOR_EACH_VERSION(minor)
	{
		struct vtr_python_layout l = layout_of(minor);

		build(&l, DEPTH);
		stop = 0;
		assert_int_equal(pthread_create(&thread, NULL, move_all_the_time, &minor), 0);
		for (i = 0; i < scaled(1500); i++)
			read_anything();
		stop = 1;
		pthread_join(thread, NULL);
		demolish();
	}
}

static void any_bytes_are_a_table_of_lines(void **state)
{
	struct vpt_random random;
	uint8_t *table;
	size_t bytes, k;
	unsigned i;

	(void)state;
	random.state = 1;
	for (i = 0; i < scaled(20000); i++) {
		bytes = vpt_random_below(&random, 24);
		table = malloc(bytes ? bytes : 1); /* of just this size, for the sanitizer */
		assert_non_null(table);
		for (k = 0; k < bytes; k++)
			table[k] = (uint8_t)vpt_random(&random);
		vtr_python_line((enum vtr_python_lines)(i % 3), table, bytes,
			(int32_t)vpt_random(&random), (int32_t)vpt_random(&random));
		free(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_that_rests_is_whole),
		cmocka_unit_test(a_code_object_at_the_address_of_another_is_learnt_anew),
		cmocka_unit_test(too_many_frames_and_circles_end),
		cmocka_unit_test(a_pointer_that_leads_nowhere_tears_the_stack),
		cmocka_unit_test(code_that_begins_beyond_all_code_tears_the_stack),
		cmocka_unit_test(a_thread_that_is_another_or_ended_has_no_stack),
		cmocka_unit_test(damaged_memory_is_survived),
		cmocka_unit_test(memory_that_changes_is_survived),
		cmocka_unit_test(any_bytes_are_a_table_of_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
