/* test_tracer_nvtx_layouts.c - payloads of registered layouts become JSON text, and nothing else does. */
#include "tracer/nvtx/nvtx_layouts.h"

#include "tracer/nvtx/nvtx_schemas.h"
#include "tracer/ranges/words/range_strings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct layout_case {
	const char *rule;
	struct vtr_nvtx_entry entries[VTR_LAYOUT_FIELDS_MAX + 1];
	size_t count, bytes; /* of the layout; of the blob that is given */
	const char *expected;
};

#define FIELD(name_, type_, offset_)                                                               \
	{                                                                                          \
		.name = (name_), .type = (type_), .offset = (offset_)                              \
	}
#define OPERATION (VTR_NVTX_FIRST_STATIC_ID + 14)

static void register_layout(
	uint32_t domain, uint64_t id, const struct vtr_nvtx_entry *entries, size_t count)
{
	/* As NCCL does it: with a name that no flag announces, and a size of 0. */
	struct vtr_nvtx_schema attr = {.name = "unused",
		.type = VTR_NVTX_SCHEMA_STATIC,
		.entries = entries,
		.entry_count = count,
		.id = id,
		.fields = VTR_NVTX_SCHEMA_HAS_TYPE | VTR_NVTX_SCHEMA_HAS_ENTRIES |
			  VTR_NVTX_SCHEMA_HAS_COUNT | VTR_NVTX_SCHEMA_HAS_SIZE |
			  VTR_NVTX_SCHEMA_HAS_ID};

	assert_int_equal(vtr_nvtx_schema_register(&attr, domain, 0), id);
}

/* 24 bytes: a hash, a size, two numbers. */
static const unsigned char reduce_bytes[24] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0xf1, 0, 0,
	1, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 4, 0, 0, 0};

static const struct layout_case layout_cases[] = {
	{"NCCL's reduce",
		{FIELD("NCCL communicator ID", VTR_NVTX_UINT64, 0),
			FIELD("Message size [bytes]", VTR_NVTX_SIZE, 8),
			FIELD("Root", VTR_NVTX_INT, 16),
			FIELD("Reduction operation", OPERATION, 20)},
		4, 24,
		"{\"NCCL communicator ID\":17375808098319191535,\"Message size [bytes]\":65536,"
		"\"Root\":-2,\"Reduction operation\":4}"},
	{"offsets are those of the compiler where none are given",
		{FIELD("a", VTR_NVTX_UINT8, 0), FIELD("b", VTR_NVTX_UINT16, 0),
			FIELD("c", VTR_NVTX_UINT32, 0), FIELD("d", VTR_NVTX_INT64, 0)},
		4, 24, "{\"a\":239,\"b\":35243,\"c\":4045620583,\"d\":65536}"},
	{"a field beyond the payload is left out",
		{FIELD("a", VTR_NVTX_INT, 0), FIELD("b", VTR_NVTX_INT, 20)}, 2, 23,
		"{\"a\":-1985229329}"},
	{"a payload of no whole field is a blob", {FIELD("a", VTR_NVTX_UINT64, 0)}, 1, 7, ""},
	{"names are safe between quotes", {FIELD("a\"\\\n\xc3", VTR_NVTX_UCHAR, 0)}, 1, 24,
		"{\"a\?\?\?\?\":239}"},
	{"a text is no number",
		{FIELD("a", VTR_NVTX_INT, 0), {.name = "b", .type = 75, .offset = 8}}, 2, 24, ""},
	{"nor is an array", {{.name = "a", .type = VTR_NVTX_INT, .flags = 1 << 4, .detail = 3}}, 1,
		24, ""},
	{"nor is a pointer", {{.name = "a", .type = VTR_NVTX_INT, .flags = 1 << 1}}, 1, 24, ""},
	{"nor is a type that nobody registered",
		{FIELD("a", VTR_NVTX_UCHAR, 0), FIELD("b", OPERATION + 1, 8)}, 2, 24,
		"{\"a\":239}"},
	{"no fields", {FIELD("a", VTR_NVTX_UCHAR, 0)}, 0, 24, ""},
	{"too many fields", {FIELD("a", VTR_NVTX_UCHAR, 0)}, VTR_LAYOUT_FIELDS_MAX + 1, 24, ""},
	{"an offset far away", {FIELD("a", VTR_NVTX_UCHAR, UINT64_MAX - 1)}, 1, 24, ""},
};

static void payloads_of_known_layouts_become_text(void **state)
{
	uint32_t domain = vtr_name_of("NCCL"), i;
	struct vtr_nvtx_enum operations = {.fields = VTR_NVTX_ENUM_HAS_SIZE | VTR_NVTX_ENUM_HAS_ID,
		.value_bytes = 4,
		.id = OPERATION};
	char found[VTR_LAYOUT_TEXT_MAX];

	(void)state;
	for (i = 0; i < sizeof(layout_cases) / sizeof(layout_cases[0]); i++) {
		const struct layout_case *c = &layout_cases[i];
		uint64_t id = VTR_NVTX_FIRST_STATIC_ID + 100 + i;
		size_t len;

		register_layout(domain, id, c->entries, c->count);
		/* A type may be registered after the layouts with it. */
		assert_int_equal(vtr_nvtx_enum_register(&operations, domain, 0), OPERATION);
		len = vtr_nvtx_payload_text(id, domain, reduce_bytes, c->bytes, found);
		found[len] = '\0';
		if (strcmp(found, c->expected))
			fail_msg("%s: found %s", c->rule, found);
		/* The number means something else in another domain. */
		assert_int_equal(vtr_nvtx_payload_text(id, 0, reduce_bytes, c->bytes, found), 0);
	}
}

static void floating_payloads_are_decimals(void **state)
{
	uint32_t domain = vtr_name_of("floats");
	static const struct vtr_nvtx_entry entries[] = {FIELD("a", VTR_NVTX_DOUBLE, 0),
		FIELD("b", VTR_NVTX_FLOAT, 8), FIELD("c", VTR_NVTX_FLOAT32, 12)};
	struct {
		double a;
		float b, c;
	} values = {-0.125, 1.5e9F, INFINITY};
	char found[VTR_LAYOUT_TEXT_MAX];

	(void)state;
	register_layout(domain, VTR_NVTX_FIRST_STATIC_ID, entries, 3);
	assert_true(vtr_nvtx_payload_text(
			    VTR_NVTX_FIRST_STATIC_ID, domain, &values, sizeof(values), found) > 0);
	assert_string_equal(found, "{\"a\":-0.125,\"b\":1.5e+09,\"c\":null}");
}

/* As each library does that has its own copy of NVTX. */
static void a_layout_that_is_registered_again_takes_no_room(void **state)
{
	uint32_t domain = vtr_name_of("again");
	struct vtr_nvtx_entry entry = FIELD("a", VTR_NVTX_UCHAR, 0);
	char found[VTR_LAYOUT_TEXT_MAX];
	uint64_t id = VTR_NVTX_FIRST_STATIC_ID;
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		register_layout(domain, id, &entry, 1);
	register_layout(domain, id + 1, &entry, 1);
	assert_true(vtr_nvtx_payload_text(id + 1, domain, "x", 1, found) > 0);
	assert_string_equal(found, "{\"a\":120}");
	/* Another one replaces it. */
	entry.type = VTR_NVTX_UINT16;
	register_layout(domain, id, &entry, 1);
	assert_true(vtr_nvtx_payload_text(id, domain, "xy", 2, found) > 0);
	assert_string_equal(found, "{\"a\":31096}");
	/* When all room is taken, payloads stay blobs. */
	for (i = 0; i < 300; i++) {
		entry.offset = (uint64_t)i;
		register_layout(domain, id + 2 + (uint64_t)i, &entry, 1);
	}
	assert_int_equal(vtr_nvtx_payload_text(id + 301, domain, reduce_bytes, 24, found), 0);
	assert_true(vtr_nvtx_payload_text(id, domain, "xy", 2, found) > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(payloads_of_known_layouts_become_text),
		cmocka_unit_test(floating_payloads_are_decimals),
		cmocka_unit_test(a_layout_that_is_registered_again_takes_no_room),
	};

	if (vtr_names_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
