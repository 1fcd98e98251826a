/* test_tracer_nvtx.c - the tracer as NVTX's tool, on slots made up here: what callers hand over, well-formed or not.
 * Long, since each function of NVTX is a case of the same slots. */
#include "tracer/nvtx/nvtx_injection.h"

#include "formats/event_schema.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/nvtx/nvtx_event.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/ranges/thread_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- NVTX as the tracer sees it ---- */

static vtr_nvtx_function functions[VTR_NVTX_MODULES][VTR_NVTX_CORE_COUNT];
static vtr_nvtx_function *slots[VTR_NVTX_MODULES][VTR_NVTX_CORE_COUNT];
static unsigned core_count = VTR_NVTX_CORE_COUNT;
static uint32_t tool_version;

static void not_set(void)
{
}

static int get_module(int module, vtr_nvtx_function ***table, unsigned *count)
{
	if (module <= 0 || module >= VTR_NVTX_MODULES)
		return 0;
	*table = slots[module];
	*count = core_count;
	return 1;
}

static void set_version(uint32_t version)
{
	tool_version = version;
}

static struct vtr_nvtx_callbacks callbacks = {sizeof(callbacks), get_module};
static struct vtr_nvtx_version versions = {sizeof(versions), 3, 0, set_version};

static const void *get_table(uint32_t table)
{
	return table == VTR_NVTX_TABLE_CALLBACKS ? (const void *)&callbacks
	       : table == VTR_NVTX_TABLE_VERSION ? (const void *)&versions
						 : NULL;
}

static const void *get_no_table(uint32_t table)
{
	(void)table;
	return NULL;
}

static void reset_slots(void)
{
	int module, id;

	for (module = 0; module < VTR_NVTX_MODULES; module++)
		for (id = 0; id < VTR_NVTX_CORE_COUNT; id++) {
			functions[module][id] = not_set;
			slots[module][id] = id ? &functions[module][id] : NULL;
		}
}

#define CALL(module, id, type) ((type)functions[VTR_NVTX_##module][VTR_NVTX_##id])

static intptr_t extra[VTR_NVTX_PAYLOAD_SLOTS];
#define EXTRA(id, type) ((type)extra[VTR_NVTX_##id])

typedef void *domain_handle;
typedef int push_fn(const char *), push_w_fn(const wchar_t *), pop_fn(void);
typedef int push_ex_fn(const struct vtr_nvtx_event *);
typedef void mark_fn(const char *), mark_ex_fn(const struct vtr_nvtx_event *);
typedef int domain_push_fn(domain_handle, const struct vtr_nvtx_event *);
typedef int domain_pop_fn(domain_handle);
typedef void *create_fn(const char *), *create_w_fn(const wchar_t *);
typedef void *string_fn(domain_handle, const char *), *string_w_fn(domain_handle, const wchar_t *);

/* ---- what comes out ---- */

static struct vtr_event last;
static unsigned char last_blob[VTR_BLOB_MAX];
static size_t drained;

static void keep(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	last = *e;
	if (e->payload.bytes)
		memcpy(last_blob, e->payload.blob, e->payload.bytes);
}

static size_t drain(void)
{
	memset(&last, 0, sizeof(last));
	drained = vtr_threads_drain(keep, NULL);
	return drained;
}

static const char *text(uint32_t name)
{
	static char out[4][VTR_NAME_BYTES_MAX + 1];
	static int next;
	size_t len;
	const char *there = vtr_name_text(name, &len);
	char *mine = out[next++ % 4];

	memcpy(mine, there, len);
	mine[len] = 0;
	return mine;
}

static int begin(void **state)
{
	(void)state;
	reset_slots();
	if (InitializeInjectionNvtx2(get_table) != 1)
		return -1;
	vtr_threads_record(vtr_now());
	return 0;
}

static int finish(void **state)
{
	(void)state;
	vtr_threads_stop();
	drain();
	return vtr_range_pop(VTR_NAME_EMPTY) != -1;
}

/* ---- attaching ---- */

static void our_functions_are_put_into_the_slots(void **state)
{
	static const struct {
		int module, first, last;
	} ours[] = {
		{VTR_NVTX_CORE, VTR_NVTX_MARK_EX, VTR_NVTX_POP},
		{VTR_NVTX_CORE, VTR_NVTX_NAME_THREAD_A, VTR_NVTX_NAME_THREAD_W},
		{VTR_NVTX_CORE2, VTR_NVTX_DOMAIN_MARK, VTR_NVTX_DOMAIN_POP},
		{VTR_NVTX_CORE2, VTR_NVTX_DOMAIN_STRING_A, VTR_NVTX_DOMAIN_CREATE_W},
		{VTR_NVTX_CUDA, VTR_NVTX_CU_STREAM_A, VTR_NVTX_CU_STREAM_W},
		{VTR_NVTX_CUDART, VTR_NVTX_CUDA_STREAM_A, VTR_NVTX_CUDA_STREAM_W},
	};
	int module, id;
	size_t i;

	(void)state;
	assert_int_equal(tool_version, VTR_NVTX_VERSION);
	for (module = 0; module < VTR_NVTX_MODULES; module++)
		for (id = 1; id < VTR_NVTX_CORE_COUNT; id++) {
			int wanted = 0;

			for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
				wanted |= ours[i].module == module && id >= ours[i].first &&
					  id <= ours[i].last;
			if (wanted != (functions[module][id] != not_set))
				fail_msg("module %d, slot %d", module, id);
		}
}

static void strange_hosts_are_left_alone(void **state)
{
	unsigned before = vtr_nvtx_attached();

	(void)state;
	assert_int_equal(InitializeInjectionNvtx2(NULL), 1);
	assert_int_equal(InitializeInjectionNvtx2(get_no_table), 1);
	callbacks.struct_bytes = 8;
	assert_int_equal(InitializeInjectionNvtx2(get_table), 1);
	callbacks.struct_bytes = sizeof(callbacks);
	assert_int_equal(vtr_nvtx_attached(), before);

	reset_slots();
	core_count = VTR_NVTX_PUSH_A; /* one that has no such function yet */
	versions.set_tool_version = NULL;
	assert_int_equal(InitializeInjectionNvtx2(get_table), 1);
	assert_int_equal(vtr_nvtx_attached(), before + 1);
	assert_true(functions[VTR_NVTX_CORE][VTR_NVTX_PUSH_A] == not_set);
	assert_true(functions[VTR_NVTX_CORE][VTR_NVTX_PUSH_EX] != not_set);
	core_count = VTR_NVTX_CORE_COUNT;
	versions.set_tool_version = set_version;

	reset_slots();
	slots[VTR_NVTX_CORE][VTR_NVTX_POP] = NULL;
	assert_int_equal(InitializeInjectionNvtx2(get_table), 1);
	assert_true(functions[VTR_NVTX_CORE][VTR_NVTX_POP] == not_set);
}

/* ---- ranges ---- */

static void levels_are_those_of_the_domain(void **state)
{
	domain_handle d = CALL(CORE2, DOMAIN_CREATE_A, create_fn *)("library");

	(void)state;
	assert_non_null(d);
	assert_int_equal(CALL(CORE, PUSH_A, push_fn *)("a"), 0);
	assert_int_equal(CALL(CORE, PUSH_W, push_w_fn *)(L"b"), 1);
	assert_int_equal(CALL(CORE2, DOMAIN_PUSH, domain_push_fn *)(d, NULL), 0);
	assert_int_equal(CALL(CORE, POP, pop_fn *)(), 1);
	assert_int_equal(CALL(CORE2, DOMAIN_POP, domain_pop_fn *)(d), 0);
	assert_int_equal(CALL(CORE2, DOMAIN_POP, domain_pop_fn *)(d), VTR_NVTX_NO_TRACKING);
	assert_int_equal(CALL(CORE, POP, pop_fn *)(), 0);
	assert_int_equal(CALL(CORE, POP, pop_fn *)(), VTR_NVTX_NO_TRACKING);
	assert_int_equal(drain(), 3);
	assert_string_equal(text(last.name), "a");
}

static void text_is_copied(void **state)
{
	char temporary[] = "temporary";

	(void)state;
	CALL(CORE, PUSH_A, push_fn *)(temporary);
	memset(temporary, 'x', sizeof(temporary) - 1);
	CALL(CORE, POP, pop_fn *)();
	drain();
	assert_string_equal(text(last.name), "temporary");
	CALL(CORE, MARK_A, mark_fn *)(NULL);
	assert_int_equal(drain(), 1);
	assert_string_equal(text(last.name), "");
}

static void wide_text_becomes_utf_8(void **state)
{
	static const struct {
		const char *rule;
		wchar_t text[8];
		const char *utf8;
	} cases[] = {
		{"ASCII", L"abc", "abc"},
		{"nothing", L"", ""},
		{"two bytes", {0xe9, 0x7ff, 0}, "\xc3\xa9\xdf\xbf"},
		{"three bytes", {0x800, 0x20ac, 0xffff, 0}, "\xe0\xa0\x80\xe2\x82\xac\xef\xbf\xbf"},
		{"four bytes", {0x10000, 0x1f680, 0x10ffff, 0},
			"\xf0\x90\x80\x80\xf0\x9f\x9a\x80\xf4\x8f\xbf\xbf"},
		{"half of a pair", {0xd83d, 'x', 0}, "\xef\xbf\xbdx"},
		{"beyond Unicode", {0x110000, -1, 0}, "\xef\xbf\xbd\xef\xbf\xbd"},
	};
	static wchar_t longest[100000];
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CALL(CORE, PUSH_W, push_w_fn *)(cases[i].text);
		CALL(CORE, POP, pop_fn *)();
		assert_int_equal(drain(), 1);
		if (strcmp(text(last.name), cases[i].utf8))
			fail_msg("%s: \"%s\"", cases[i].rule, text(last.name));
	}
	assert_int_equal(vtr_nvtx_wide(NULL), VTR_NAME_EMPTY);
	for (i = 0; i + 1 < sizeof(longest) / sizeof(longest[0]); i++)
		longest[i] = 0x20ac;
	vtr_name_text(vtr_nvtx_wide(longest), &len);
	assert_int_equal(len, VTR_NAME_BYTES_MAX / 3 * 3);
}

static void a_range_may_be_started_here_and_ended_anywhere(void **state)
{
	typedef uint64_t start_fn(const char *), start_ex_fn(const struct vtr_nvtx_event *);
	typedef uint64_t start_w_fn(const wchar_t *);
	typedef uint64_t domain_start_fn(domain_handle, const struct vtr_nvtx_event *);
	typedef void end_fn(uint64_t), domain_end_fn(domain_handle, uint64_t);
	domain_handle d = CALL(CORE2, DOMAIN_CREATE_W, create_w_fn *)(L"library");
	uint64_t a = CALL(CORE, START_A, start_fn *)("a");
	uint64_t w = CALL(CORE, START_W, start_w_fn *)(L"w");
	uint64_t ex = CALL(CORE, START_EX, start_ex_fn *)(NULL);
	uint64_t in = CALL(CORE2, DOMAIN_START, domain_start_fn *)(d, NULL);

	(void)state;
	assert_true(a && w && ex && in);
	CALL(CORE, END, end_fn *)(a);
	assert_int_equal(drain(), 1);
	assert_string_equal(text(last.name), "a");
	assert_int_equal(last.range_kind, VPT_RANGEKIND_START_END);
	CALL(CORE2, DOMAIN_END, domain_end_fn *)(d, in);
	assert_int_equal(drain(), 1);
	assert_string_equal(text(last.domain), "library");
	CALL(CORE, END, end_fn *)(w);
	CALL(CORE, END, end_fn *)(ex);
	CALL(CORE, END, end_fn *)(ex);
	CALL(CORE, END, end_fn *)(0);
	assert_int_equal(drain(), 2);
}

/* ---- attributes ---- */

static struct vtr_nvtx_event full_event(void)
{
	return (struct vtr_nvtx_event){.version = 3,
		.size = sizeof(struct vtr_nvtx_event),
		.category = 5,
		.colour_type = VTR_NVTX_COLOUR_ARGB,
		.colour = 0xff112233,
		.payload_type = 2,
		.payload = 77,
		.text_type = VTR_NVTX_TEXT_ASCII,
		.text = "message"};
}

static void attributes_are_read_up_to_their_size(void **state)
{
	static const struct {
		unsigned size, category, colour, payload;
		const char *name;
	} cases[] = {
		{0, 0, 0, 0, ""},
		{4, 0, 0, 0, ""},
		{7, 0, 0, 0, ""},
		{8, 5, 0, 0, ""},
		{12, 5, 0, 0, ""},
		{16, 5, 0xff112233, 0, ""},
		{24, 5, 0xff112233, 0, ""},
		{31, 5, 0xff112233, 0, ""},
		{32, 5, 0xff112233, 77, ""},
		{40, 5, 0xff112233, 77, ""},
		{47, 5, 0xff112233, 77, ""},
		{48, 5, 0xff112233, 77, "message"},
		{64, 5, 0xff112233, 77, "message"},
		{65535, 5, 0xff112233, 77, "message"},
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vtr_nvtx_event event = full_event();
		size_t there = cases[i].size < sizeof(event) ? cases[i].size & ~7u : sizeof(event);
		char *at;

		/* What the size does not cover is not there at all, except that the size itself must be. */
		there = there < 8 ? 8 : there;
		at = pages + page - there;
		event.size = (uint16_t)cases[i].size;
		memcpy(at, &event, there);
		CALL(CORE, MARK_EX, mark_ex_fn *)((const void *)at);
		assert_int_equal(drain(), 1);
		if (last.category != cases[i].category || last.colour != cases[i].colour ||
			last.payload.value != cases[i].payload ||
			strcmp(text(last.name), cases[i].name))
			fail_msg("size %u: category %u, colour %x, payload %lu, name \"%s\"",
				cases[i].size, last.category, last.colour,
				(unsigned long)last.payload.value, text(last.name));
	}
	munmap(pages, 2 * page);
	CALL(CORE, MARK_EX, mark_ex_fn *)(NULL);
	assert_int_equal(drain(), 1);
	assert_int_equal(CALL(CORE, PUSH_EX, push_ex_fn *)(NULL), 0);
	assert_int_equal(CALL(CORE, POP, pop_fn *)(), 0);
	assert_int_equal(drain(), 1);
}

static void attributes_of_unknown_types_are_left_out(void **state)
{
	static const int32_t types[] = {0, -1, 4, 99, INT32_MIN, INT32_MAX};
	struct vtr_nvtx_event event;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		event = full_event();
		event.text_type = types[i];
		event.text = (const void *)8;
		event.colour_type = types[i] == 1 ? 2 : types[i];
		event.payload_type = types[i] == 4 ? 7 : types[i];
		CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
		assert_int_equal(drain(), 1);
		assert_int_equal(last.name, VTR_NAME_EMPTY);
		assert_int_equal(last.colour, 0);
		assert_int_equal(last.payload.type, VPT_PAYLOAD_NONE);
	}
	for (i = 1; i <= 3; i++) { /* a text that is not there */
		event = full_event();
		event.text_type = (int32_t)i;
		event.text = NULL;
		CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
		assert_int_equal(drain(), 1);
		assert_int_equal(last.name, VTR_NAME_EMPTY);
	}
	for (i = 1; i <= 6; i++) { /* every type of number */
		event = full_event();
		event.payload_type = (int32_t)i;
		CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
		assert_int_equal(drain(), 1);
		assert_int_equal(last.payload.type, i);
	}
}

static void handles_are_ours(void **state)
{
	domain_handle d = CALL(CORE2, DOMAIN_CREATE_A, create_fn *)("library");
	domain_handle nameless = CALL(CORE2, DOMAIN_CREATE_A, create_fn *)(NULL);
	void *a = CALL(CORE2, DOMAIN_STRING_A, string_fn *)(d, "registered");
	void *w = CALL(CORE2, DOMAIN_STRING_W, string_w_fn *)(d, L"registered");
	struct vtr_nvtx_event event = full_event();
	static const void *const strange[] = {
		(void *)1, (void *)8, (void *)UINTPTR_MAX, (void *)0x767472ff00000005};
	size_t i;

	(void)state;
	assert_true(d && nameless && a && w);
	assert_ptr_equal(a, w);
	assert_ptr_equal(d, CALL(CORE2, DOMAIN_CREATE_A, create_fn *)("library"));
	event.text_type = VTR_NVTX_TEXT_REGISTERED;
	event.text = a;
	CALL(CORE2, DOMAIN_PUSH, domain_push_fn *)(d, &event);
	CALL(CORE2, DOMAIN_POP, domain_pop_fn *)(d);
	assert_int_equal(drain(), 1);
	assert_string_equal(text(last.name), "registered");
	assert_string_equal(text(last.domain), "library");
	event.text = d; /* a domain is no string */
	CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
	drain();
	assert_int_equal(last.name, VTR_NAME_EMPTY);
	for (i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		typedef void domain_mark_fn(const void *, const struct vtr_nvtx_event *);

		event.text = strange[i];
		CALL(CORE2, DOMAIN_MARK, domain_mark_fn *)(strange[i], &event);
		assert_int_equal(drain(), 1);
		assert_int_equal(last.name, VTR_NAME_EMPTY);
		assert_int_equal(last.domain, VTR_NAME_EMPTY);
	}
}

/* ---- the payload extension ---- */

static void extend(void)
{
	struct vtr_nvtx_segment segment = {0, VTR_NVTX_PAYLOAD_SLOTS, extra};
	struct vtr_nvtx_extension extension = {.version = 3,
		.struct_bytes = sizeof(extension),
		.module = VTR_NVTX_PAYLOAD_MODULE,
		.compatibility = 0x0104,
		.segment_count = 1,
		.segments = &segment};

	memset(extra, 0, sizeof(extra));
	assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
}

static void extensions_are_hooked_as_far_as_they_go(void **state)
{
	struct vtr_nvtx_segment segment = {0, 3, extra};
	struct vtr_nvtx_extension extension = {.struct_bytes = sizeof(extension),
		.module = VTR_NVTX_PAYLOAD_MODULE,
		.segment_count = 1,
		.segments = &segment};
	int i;

	(void)state;
	memset(extra, 0, sizeof(extra));
	assert_int_equal(InitializeInjectionNvtxExtension(NULL), 1);
	assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
	for (i = 0; i < VTR_NVTX_PAYLOAD_SLOTS; i++)
		assert_int_equal(extra[i] != 0, i < 3);
	memset(extra, 0, sizeof(extra));
	extension.module = 7;
	assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
	extension.module = VTR_NVTX_PAYLOAD_MODULE;
	extension.segment_count = 0;
	assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
	extension.segment_count = 1;
	segment.slots = NULL;
	assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
	extension.segments = NULL;
	assert_int_equal(InitializeInjectionNvtxExtension(&extension), 1);
	for (i = 0; i < VTR_NVTX_PAYLOAD_SLOTS; i++)
		assert_int_equal(extra[i], 0);
}

typedef uint64_t schema_fn(domain_handle, const struct vtr_nvtx_schema *);
typedef int push_payload_fn(domain_handle, const struct vtr_nvtx_blob *, size_t);

static uint64_t schema(domain_handle d, const char *name, size_t bytes, uint64_t id)
{
	struct vtr_nvtx_schema attr = {.name = name, .static_bytes = bytes, .id = id};

	attr.fields = (name ? VTR_NVTX_SCHEMA_HAS_NAME : 0) |
		      (bytes ? VTR_NVTX_SCHEMA_HAS_SIZE : 0) | (id ? VTR_NVTX_SCHEMA_HAS_ID : 0);
	return EXTRA(SCHEMA_REGISTER, schema_fn *)(d, &attr);
}

static void schemas_get_ids(void **state)
{
	domain_handle d = CALL(CORE2, DOMAIN_CREATE_A, create_fn *)("library");
	uint64_t first, second;
	typedef uint64_t any_fn(domain_handle, const void *);
	typedef uint8_t enabled_fn(domain_handle);

	(void)state;
	extend();
	first = schema(d, "one", 8, 0);
	second = schema(d, NULL, 0, 0);
	assert_true(first >= VTR_NVTX_FIRST_DYNAMIC_ID && second > first);
	assert_int_equal(schema(d, "static", 8, 1 << 24), 1 << 24);
	assert_int_equal(EXTRA(SCHEMA_REGISTER, schema_fn *)(d, NULL), 0);
	assert_true(EXTRA(ENUM_REGISTER, any_fn *)(d, NULL) > second);
	assert_true(EXTRA(SCOPE_REGISTER, any_fn *)(d, NULL) > second);
	assert_int_equal(EXTRA(DOMAIN_ENABLED, enabled_fn *)(d), 1);
}

static void payloads_arrive_with_their_schema(void **state)
{
	domain_handle d = CALL(CORE2, DOMAIN_CREATE_A, create_fn *)("library");
	struct vptrace_note note = {VPTRACE_NOTE_STEP, 3, -1, -1, 500};
	unsigned char bytes[300];
	struct vtr_nvtx_blob blobs[3];
	struct vtr_nvtx_event event = full_event();
	uint64_t plain, notes, wrong;

	(void)state;
	memset(bytes, 9, sizeof(bytes));
	extend();
	plain = schema(d, "plain", 12, 1 << 24);
	notes = schema(d, "vptrace", sizeof(note), 0);
	wrong = schema(d, "vptrace", sizeof(note) - 8, 0);
	event.payload_type = VTR_NVTX_PAYLOAD_EXTENDED;
	event.payload_count = 1;
	event.payload = (uint64_t)(uintptr_t)blobs;

	blobs[0] = (struct vtr_nvtx_blob){plain, SIZE_MAX, bytes};
	CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
	drain();
	assert_int_equal(
		last.payload.type, VPT_PAYLOAD_NONE); /* its size is known in its domain only */
	CALL(CORE2, DOMAIN_PUSH, domain_push_fn *)(d, &event);
	CALL(CORE2, DOMAIN_POP, domain_pop_fn *)(d);
	drain();
	assert_int_equal(last.payload.bytes, 12);
	assert_int_equal(last.payload.schema, plain);

	blobs[0] = (struct vtr_nvtx_blob){wrong, sizeof(bytes), bytes};
	CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
	drain();
	assert_int_equal(last.payload.bytes, VTR_BLOB_MAX);
	assert_int_equal(last.payload.schema, wrong);

	blobs[0] = (struct vtr_nvtx_blob){plain, 5, bytes};
	blobs[1] = (struct vtr_nvtx_blob){notes, 8, &note}; /* too short for a note */
	blobs[2] = (struct vtr_nvtx_blob){notes, sizeof(note), &note};
	event.payload_count = 3;
	CALL(CORE, PUSH_EX, push_ex_fn *)(&event);
	CALL(CORE, POP, pop_fn *)();
	drain();
	assert_true(last.payload.schema == VTR_SCHEMA_NOTE);
	assert_int_equal(last.payload.bytes, sizeof(note));
	assert_memory_equal(last_blob, &note, sizeof(note));
	assert_string_equal(text(last.name), "message");

	EXTRA(PUSH_PAYLOAD, push_payload_fn *)(d, blobs, 1);
	EXTRA(POP_PAYLOAD, push_payload_fn *)(d, NULL, 0);
	assert_int_equal(drain(), 1);
	assert_string_equal(text(last.name), "plain");
	assert_string_equal(text(last.domain), "library");
	assert_int_equal(last.payload.bytes, 5);
}

static void payloads_may_be_nonsense(void **state)
{
	typedef uint64_t start_payload_fn(domain_handle, const struct vtr_nvtx_blob *, size_t);
	typedef void mark_payload_fn(domain_handle, const struct vtr_nvtx_blob *, size_t);
	typedef void end_payload_fn(domain_handle, uint64_t, const void *, size_t);
	struct vtr_nvtx_event event = full_event();
	struct vtr_nvtx_blob blob = {1, 0, &event};
	static const struct {
		int32_t count;
		int there;
		size_t bytes;
	} cases[] = {{0, 1, 8}, {-1, 1, 8}, {1, 0, 8}, {1, 1, 0}, {1, 1, SIZE_MAX}};
	size_t i;

	(void)state;
	extend();
	event.payload_type = VTR_NVTX_PAYLOAD_EXTENDED;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		event.payload_count = cases[i].count;
		event.payload = cases[i].there ? (uint64_t)(uintptr_t)&blob : 0;
		blob.bytes = cases[i].bytes;
		CALL(CORE, MARK_EX, mark_ex_fn *)(&event);
		assert_int_equal(drain(), 1);
		assert_int_equal(last.payload.type, VPT_PAYLOAD_NONE);
	}
	blob = (struct vtr_nvtx_blob){1, 8, NULL};
	EXTRA(MARK_PAYLOAD, mark_payload_fn *)(NULL, &blob, 1);
	EXTRA(MARK_PAYLOAD, mark_payload_fn *)(NULL, NULL, 5);
	EXTRA(END_PAYLOAD, end_payload_fn *)
	(NULL, EXTRA(START_PAYLOAD, start_payload_fn *)(NULL, NULL, 0), NULL, 0);
	EXTRA(END_PAYLOAD, end_payload_fn *)(NULL, 12345, NULL, 0);
	assert_int_equal(drain(), 3);
}

/* ---- names ---- */

static char reported[256];

static void tell_thread(void *ctx, uint32_t tid, uint32_t name)
{
	(void)ctx;
	sprintf(reported + strlen(reported), "%u=%s ", tid, text(name));
}

static void threads_have_names(void **state)
{
	typedef void thread_fn(uint32_t, const char *), thread_w_fn(uint32_t, const wchar_t *);

	(void)state;
	*reported = 0;
	CALL(CORE, NAME_THREAD_A, thread_fn *)(11, "loader");
	CALL(CORE, NAME_THREAD_W, thread_w_fn *)(11, L"saver");
	vtr_thread_names(tell_thread, NULL);
	assert_string_equal(reported, "11=saver ");
}

#define ATTACHED(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ATTACHED(our_functions_are_put_into_the_slots),
		ATTACHED(strange_hosts_are_left_alone),
		ATTACHED(levels_are_those_of_the_domain),
		ATTACHED(text_is_copied),
		ATTACHED(wide_text_becomes_utf_8),
		ATTACHED(a_range_may_be_started_here_and_ended_anywhere),
		ATTACHED(attributes_are_read_up_to_their_size),
		ATTACHED(attributes_of_unknown_types_are_left_out),
		ATTACHED(handles_are_ours),
		ATTACHED(extensions_are_hooked_as_far_as_they_go),
		ATTACHED(schemas_get_ids),
		ATTACHED(payloads_arrive_with_their_schema),
		ATTACHED(payloads_may_be_nonsense),
		ATTACHED(threads_have_names),
	};

	unsetenv("VPTRACE_NVTX_CHAIN");
	if (vtr_names_init() || vtr_threads_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
