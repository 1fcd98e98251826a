/* test_perfetto.c - packets and containers: bytes computed by hand, and what other tools' libraries make of them. */
#include "formats/perfetto/packet_container.h"
#include "formats/perfetto/perfetto_packets.h"

#include "analysis/export/exporter.h"
#include "formats/base/error.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/skip.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include <cmocka.h>

/* ---- packets ---- */

static struct vpt_pb taken;
static size_t groups;

static int take(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	groups++;
	vpt_pb_raw(&taken, data, size);
	return 0;
}

static void expect_bytes(struct vpt_pf *p, const char *want, size_t size)
{
	assert_int_equal(vpt_pf_finish(p), 0);
	assert_memory_equal(taken.data, want, size < taken.size ? size : taken.size);
	assert_int_equal(taken.size, size);
	vpt_pb_reset(&taken);
}

#define EXPECT(p, bytes) expect_bytes(p, bytes, sizeof(bytes) - 1)

static void first_packet(void **state)
{
	struct vpt_pf_sequence meta;
	struct vpt_pf p;

	(void)state;
	vpt_pf_init(&p, 1 << 20, take, NULL);
	vpt_pf_clocks(&p, &meta, &(struct vpt_pf_clocks){1000, 5, 7});
	/* In a packet of 30 bytes: sequence 1, state cleared, first; clocks 6, 3, 1; primary 6 */
	EXPECT(&p, "\x0a\x1e\x50\x01\x68\x01\xb8\x05\x01\x32\x15"
		   "\x0a\x05\x08\x06\x10\xe8\x07"
		   "\x0a\x04\x08\x03\x10\x05"
		   "\x0a\x04\x08\x01\x10\x07"
		   "\x10\x06"
		   "");
	vpt_pf_free(&p);
	vpt_pf_sequence_free(&meta);
}

static void sequences(void **state)
{
	struct vpt_pf_sequence s;
	struct vpt_pf p;

	(void)state;
	vpt_pf_init(&p, 1 << 20, take, NULL);
	vpt_pf_sequence(&p, &s, 16, 100, 9);
	/* clock 64 counts on from 100; times are on it, events on track 9, unless they say otherwise */
	EXPECT(&p, "\x0a\x23\x50\x10\x68\x01\xb8\x05\x01"
		   "\x32\x10\x0a\x06\x08\x40\x10\x64\x18\x01\x0a\x04\x08\x06\x10\x64\x10\x06"
		   "\xda\x03\x07\xd0\x03\x40\x5a\x02\x58\x09"
		   "");
	vpt_pf_begin(&p, &s, 130);
	vpt_pf_end(&p);
	vpt_pf_begin(&p, &s, 130);
	vpt_pf_end(&p);
	EXPECT(&p, "\x0a\x06\x40\x1e\x50\x10\x68\x02"
		   "\x0a\x06\x40\x00\x50\x10\x68\x02");
	/* Back in time: absolute, and the next distance is as if it had not been. */
	vpt_pf_begin(&p, &s, 110);
	vpt_pf_end(&p);
	vpt_pf_begin(&p, &s, 140);
	vpt_pf_end(&p);
	EXPECT(&p, "\x0a\x09\x40\x6e\xd0\x03\x06\x50\x10\x68\x02"
		   "\x0a\x06\x40\x0a\x50\x10\x68\x02");
	vpt_pf_free(&p);
	vpt_pf_sequence_free(&s);
}

static void by_hand(struct vpt_pf *p, struct vpt_pf_sequence *s, uint64_t time_ns)
{
	uint8_t *to = vpt_pf_packet_at(p, 0);

	assert_non_null(to);
	vpt_pf_packet_end(p, vpt_pf_padded_time_at(s, to, time_ns));
}

/* Padded, packets of a kind have one length, however little time goes by between them. */
static void packets_by_hand(void **state)
{
	struct vpt_pf_sequence s = {.id = 2, .generation = 1};
	struct vpt_pf p;
	uint8_t *to;

	(void)state;
	vpt_pf_init(&p, 1 << 20, take, NULL);
	vpt_pf_sequence(&p, &s, 16, 100, 0);
	vpt_pb_reset(&p.out);
	by_hand(&p, &s, 130);
	by_hand(&p, &s, 130);
	by_hand(&p, &s, 130 + 0x1fffff);
	EXPECT(&p, "\x0a\x08\x50\x10\x68\x02\x40\x9e\x80\x00"
		   "\x0a\x08\x50\x10\x68\x02\x40\x80\x80\x00"
		   "\x0a\x08\x50\x10\x68\x02\x40\xff\xff\x7f");
	by_hand(&p, &s, 130 + 0x1fffff + 0x200000);
	/* Back in time: absolute, and the next distance is as if it had not been. */
	by_hand(&p, &s, 110);
	by_hand(&p, &s, 130 + 0x1fffff + 0x200000);
	EXPECT(&p, "\x0a\x09\x50\x10\x68\x02\x40\x80\x80\x80\x01"
		   "\x0a\x09\x50\x10\x68\x02\x40\x6e\xd0\x03\x06"
		   "\x0a\x08\x50\x10\x68\x02\x40\x80\x80\x00");
	to = vpt_pf_packet_at(&p, 0);
	assert_non_null(to);
	vpt_pf_packet_end(&p, vpt_pf_time_at(&s, to, 160 + 0x1fffff + 0x200000));
	EXPECT(&p, "\x0a\x06\x50\x10\x68\x02\x40\x1e");
	vpt_pf_free(&p);
	vpt_pf_sequence_free(&s);
}

static void interning(void **state)
{
	static const unsigned tables[] = {VPT_PF_INTERNED_CATEGORIES, VPT_PF_INTERNED_NAMES,
		VPT_PF_INTERNED_ARG_NAMES, VPT_PF_INTERNED_TEXTS};
	struct vpt_pf_sequence s = {.id = 2, .generation = 1}, other = {.id = 3, .generation = 1};
	struct vpt_pf p;
	int is_new;
	uint64_t key;
	size_t t;

	(void)state;
	vpt_pf_init(&p, 1 << 20, take, NULL);
	for (key = 0; key < 1000; key++)
		for (t = 0; t < 4; t++) {
			assert_int_equal(vpt_pf_intern(&p, &s, tables[t], key, &is_new), key + 1);
			assert_int_equal(is_new, 1);
		}
	for (key = 0; key < 1000; key++)
		for (t = 0; t < 4; t++) {
			assert_int_equal(vpt_pf_intern(&p, &s, tables[t], key, &is_new), key + 1);
			assert_int_equal(is_new, 0);
		}
	assert_int_equal(vpt_pf_intern(&p, &other, VPT_PF_INTERNED_NAMES, 500, &is_new), 1);
	assert_int_equal(is_new, 1);
	vpt_pf_tell(&p, &s, VPT_PF_INTERNED_NAMES, 1, "ab", 2);
	EXPECT(&p, "\x0a\x0e\x50\x02\x68\x02\x62\x08\x12\x06\x08\x01\x12\x02"
		   "ab");
	vpt_pf_free(&p);
	vpt_pf_sequence_free(&s);
	vpt_pf_sequence_free(&other);
}

static void grouping(void **state)
{
	struct vpt_pf_sequence s = {.id = 2, .generation = 1};
	struct vpt_pf p;
	int i;

	(void)state;
	vpt_pf_init(&p, 64, take, NULL);
	groups = 0;
	for (i = 0; i < 100; i++) {
		vpt_pf_begin(&p, &s, (uint64_t)i);
		vpt_pf_end(&p);
	}
	assert_int_equal(vpt_pf_finish(&p), 0);
	assert_int_equal(taken.size, 800);
	assert_int_equal(groups, 13); /* 12 of 64 bytes, one of 32 */
	assert_int_equal(p.bytes, 800);
	assert_int_equal(p.packets, 100);
	vpt_pb_reset(&taken);
	vpt_pf_free(&p);
}

static int refuse(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	groups++;
	return VPT_EIO;
}

static void refused(void **state)
{
	struct vpt_pf_sequence s = {.id = 2, .generation = 1};
	struct vpt_pf p;
	int i;

	(void)state;
	vpt_pf_init(&p, 64, refuse, NULL);
	groups = 0;
	for (i = 0; i < 100; i++) {
		vpt_pf_begin(&p, &s, (uint64_t)i);
		vpt_pf_end(&p);
	}
	assert_int_equal(vpt_pf_finish(&p), VPT_EIO);
	assert_int_equal(groups, 1);
	vpt_pf_free(&p);
}

/* FNV-1a, 64 bits: values from its description. */
static void hashing(void **state)
{
	(void)state;
	assert_true(vpt_pf_hash(0, "", 0) == 0xcbf29ce484222325u);
	assert_true(vpt_pf_hash(0, "a", 1) == 0xaf63dc4c8601ec8cu);
	assert_true(vpt_pf_hash(0, "foobar", 6) == 0x85944171f73967e8u);
}

/* ---- containers ---- */

static void fill(struct vpt_pb *b, size_t size, int random)
{
	uint32_t x = 1;

	vpt_pb_reset(b);
	while (b->size < size) {
		x = x * 1664525u + 1013904223u;
		vpt_pb_bytes(b, 1, random ? (const void *)&x : "abcd", 4);
	}
}

static void zstd_frames(void **state)
{
	struct vpt_packer *p = vpt_packer_new(VPT_CONTAINER_ZSTD, 0);
	struct vpt_pb raw = {0}, packed = {0}, file = {0};
	char *back = malloc(2 << 20);
	int i;

	(void)state;
	assert_non_null(p);
	fill(&raw, 600 << 10, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(vpt_packer_run(p, raw.data, raw.size, &packed), 0);
		assert_memory_equal(packed.data, "\x28\xb5\x2f\xfd", 4);
		vpt_pb_raw(&file, packed.data, packed.size);
	}
	assert_int_equal(file.size, 2 * packed.size); /* no group depends on the one before */
	assert_int_equal(ZSTD_decompress(back, 2 << 20, file.data, file.size), 2 * raw.size);
	assert_memory_equal(back, raw.data, raw.size);
	assert_memory_equal(back + raw.size, raw.data, raw.size);
	free(back);
	vpt_pb_free(&raw);
	vpt_pb_free(&packed);
	vpt_pb_free(&file);
	vpt_packer_free(p);
}

static void packed_packets(void **state)
{
	struct vpt_packer *p;
	struct vpt_pb raw = {0}, packed = {0};

	(void)state;
	if (!vpt_container_available(VPT_CONTAINER_PACKETS))
		vpt_skip("built without libdeflate or zlib");
	p = vpt_packer_new(VPT_CONTAINER_PACKETS, 0);
	assert_non_null(p);
	fill(&raw, 600 << 10, 0);
	assert_int_equal(vpt_packer_run(p, raw.data, raw.size, &packed), 0);
	assert_int_equal(packed.data[0], 0x0a);
	assert_true(packed.size < raw.size / 50);
	assert_non_null(memmem(packed.data, 8, "\x92\x03", 2)); /* field 50 */
	/* What does not shrink, or not below what readers take, stays as it is. */
	fill(&raw, 2 << 20, 1);
	assert_int_equal(vpt_packer_run(p, raw.data, raw.size, &packed), 0);
	assert_int_equal(packed.size, raw.size);
	assert_memory_equal(packed.data, raw.data, raw.size);
	assert_int_equal(vpt_packer_run(p, "\x0a\x00", 2, &packed), 0);
	assert_int_equal(packed.size, 2);
	vpt_pb_free(&raw);
	vpt_pb_free(&packed);
	vpt_packer_free(p);
}

/* ---- threads ---- */

static void write_groups(unsigned jobs, struct vpt_buffer *out)
{
	struct vpt_pb raw = {0};
	struct vpa_groups *g;
	struct vpt_err err;
	struct vpt_sink *sink;
	int i;

	assert_int_equal(vpt_sink_memory(out, &sink, &err), 0);
	assert_int_equal(vpa_groups_start(sink, VPT_CONTAINER_ZSTD, 0, jobs, &g, &err), 0);
	for (i = 0; i < 50; i++) {
		vpt_pb_reset(&raw);
		/* Of very different sizes, so that threads finish out of order. */
		do
			vpt_pb_uint(&raw, 1, (uint64_t)i);
		while (raw.size < (i % 5 ? 100u : 200000u));
		assert_int_equal(vpa_groups_put(g, raw.data, raw.size, &err), 0);
	}
	assert_int_equal(vpa_groups_flush(g, &err), 0);
	vpa_groups_free(g);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	vpt_pb_free(&raw);
}

static void any_number_of_threads(void **state)
{
	struct vpt_buffer one = {0}, many = {0};
	unsigned jobs;

	(void)state;
	write_groups(1, &one);
	for (jobs = 2; jobs < 9; jobs++) {
		write_groups(jobs, &many);
		assert_int_equal(many.size, one.size);
		assert_memory_equal(many.data, one.data, one.size);
		vpt_free(many.data);
		many = (struct vpt_buffer){0};
	}
	vpt_free(one.data);
}

static int broken_write(struct vpt_sink *s, const void *data, size_t size, struct vpt_err *err)
{
	(void)s;
	(void)data;
	(void)size;
	return vpt_fail(err, VPT_EIO, "full");
}

static void broken_sink(void **state)
{
	struct vpt_sink sink = {.write = broken_write};
	struct vpt_err err;
	struct vpa_groups *g;
	unsigned jobs;
	int rc, i;

	(void)state;
	for (jobs = 1; jobs < 4; jobs++) {
		assert_int_equal(vpa_groups_start(&sink, VPT_CONTAINER_ZSTD, 0, jobs, &g, &err), 0);
		rc = 0;
		for (i = 0; i < 50 && !rc; i++)
			rc = vpa_groups_put(g, "abc", 3, &err);
		assert_int_equal(rc, VPT_EIO);
		assert_string_equal(err.text, "full");
		assert_int_equal(vpa_groups_flush(g, &err), VPT_EIO);
		vpa_groups_free(g);
	}
}

static int teardown(void **state)
{
	(void)state;
	vpt_pb_free(&taken);
	return 0;
}

/* ---- the list of fields ---- */

static const struct {
	const char *message, *field;
	unsigned number;
} fields[] = {
#define VPT_PF_FIELD(message, field, number) {#message, #field, number},
#include "formats/perfetto/perfetto_fields.def"
#undef VPT_PF_FIELD
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

/* "CounterSpec" is COUNTER_SPEC, arg_names is ARG_NAMES. */
static int is_name(const char *schema, const char *ours)
{
	for (; *schema; schema++, ours++) {
		ours += *ours == '_' && *schema != '_';
		if (toupper((unsigned char)*schema) != *ours)
			return 0;
	}
	return !*ours;
}

/* The schema is what two decoders read exports with, so a number that is not Perfetto's is found by other tests. */
static void fields_are_those_of_the_schema(void **state)
{
	const char *source = getenv("VPT_SOURCE_DIR");
	char path[4096], line[256], message[64] = "", field[64];
	int seen[FIELDS] = {0}, count = 0;
	unsigned number, i;
	FILE *schema;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/support/outputs/pftrace.proto",
		source ? source : ".");
	schema = fopen(path, "r");
	if (!schema)
		fail_msg("cannot read %s", path);
	while (fgets(line, sizeof(line), schema)) {
		if (sscanf(line, "message %63[A-Za-z]", message) == 1 ||
			sscanf(line, " %*[a-z] %*[A-Za-z0-9] %63[a-z_] = %u;", field, &number) != 2)
			continue;
		for (i = 0; i < FIELDS; i++)
			if (is_name(message, fields[i].message) && is_name(field, fields[i].field))
				break;
		if (i == FIELDS)
			fail_msg("%s.%s is not in perfetto_fields.def", message, field);
		if (fields[i].number != number)
			fail_msg("%s.%s is %u in the schema, %u in perfetto_fields.def", message,
				field, number, fields[i].number);
		seen[i]++;
		count++;
	}
	fclose(schema);
	for (i = 0; i < FIELDS; i++)
		if (seen[i] != 1)
			fail_msg("%s %s is %d times in the schema", fields[i].message,
				fields[i].field, seen[i]);
	assert_int_equal(count, FIELDS);
	assert_true(count > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_those_of_the_schema),
		cmocka_unit_test(first_packet),
		cmocka_unit_test(sequences),
		cmocka_unit_test(packets_by_hand),
		cmocka_unit_test(interning),
		cmocka_unit_test(grouping),
		cmocka_unit_test(refused),
		cmocka_unit_test(hashing),
		cmocka_unit_test(zstd_frames),
		cmocka_unit_test(packed_packets),
		cmocka_unit_test(any_number_of_threads),
		cmocka_unit_test(broken_sink),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
