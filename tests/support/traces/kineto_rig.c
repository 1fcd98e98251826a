/* kineto_rig.c - the importer of PyTorch profiler traces on a test bench; empty where it is not
 * built. */
#ifdef VPT_HAVE_KINETO

#include "tests/support/traces/kineto_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kineto_rig rig;

void rig_drop(void)
{
	vpt_collect_free(rig.collect);
	vpt_batch_free(&rig.batch);
	vpt_batch_init(&rig.batch);
	rig.collect = NULL;
}

int rig_import(struct vpt_source *src)
{
	int rc;

	rig_drop();
	rig.collect = vpt_collect_new();
	assert_non_null(rig.collect);
	memset(&rig.err, 0, sizeof(rig.err));
	rc = vpt_import_kineto.read(src, rig.collect, &rig.stats, &rig.err);
	if (rc)
		return rc;
	assert_int_equal(vpt_collect_finish(rig.collect, &rig.err), 0);
	if (vpt_collect_chunks(rig.collect))
		assert_int_equal(vpt_collect_chunk(rig.collect, 0, &rig.batch, &rig.err), 0);
	return 0;
}

int rig_bytes(const void *data, size_t size)
{
	struct vpt_source *src;
	int rc;

	assert_int_equal(vpt_source_memory(data, size, &src, &rig.err), 0);
	rc = rig_import(src);
	vpt_source_close(src);
	return rc;
}

void rig_quote(char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (text[i] == '\'')
			text[i] = '"';
}

int rig_json(const char *text, size_t size)
{
	char *copy = malloc(size + 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, size);
	rig_quote(copy, size);
	rc = rig_bytes(copy, size);
	free(copy);
	return rc;
}

int rig_text(const char *text)
{
	return rig_json(text, strlen(text));
}

void rig_events(const char *events)
{
	static char text[65536];
	int len = snprintf(text, sizeof(text), "{'traceEvents': [%s]}", events);

	assert_in_range(len, 0, sizeof(text) - 1);
	if (rig_text(text))
		fail_msg("%s: %s", events, rig.err.text);
}

size_t rig_rows(enum vpt_kind kind)
{
	size_t i, rows = 0;

	for (i = 0; i < rig.batch.section_count; i++)
		if (rig.batch.sections[i].kind == kind)
			rows += rig.batch.sections[i].row_count;
	return rows;
}

const struct vpt_section *rig_only(enum vpt_kind kind)
{
	const struct vpt_section *s = vpt_batch_find(&rig.batch, kind);

	if (!s)
		fail_msg("no row of kind %s", vpt_kind_desc(kind)->name);
	return s;
}

uint64_t rig_value(enum vpt_kind kind, int column)
{
	return rig_only(kind)->col[column][0];
}

uint64_t rig_lane(uint64_t key, int column)
{
	const struct vpt_section *s = rig_only(VPT_LANE);
	uint32_t i;

	for (i = 0; i < s->row_count; i++)
		if (s->col[VPT_LANE_KEY][i] == key)
			return s->col[column][i];
	fail_msg("lane %" PRIu64 " is not described", key);
	return 0;
}

const char *rig_meta(const char *key)
{
	const struct vpt_section *s = rig_only(VPT_META);
	static char text[256];
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct vpt_text k = vpt_batch_text(&rig.batch, s->col[VPT_META_KEY][i]);
		struct vpt_text v = vpt_batch_text(&rig.batch, s->col[VPT_META_VALUE][i]);

		if (k.len == strlen(key) && !memcmp(k.text, key, k.len)) {
			snprintf(text, sizeof(text), "%.*s", (int)v.len, v.text);
			return text;
		}
	}
	return NULL;
}

void rig_expect_text(uint64_t id, const char *expected, size_t len)
{
	struct vpt_text t = vpt_batch_text(&rig.batch, id);

	assert_int_equal(t.len, len);
	assert_memory_equal(t.text, expected, len);
}

void rig_expect_stats(const char *rule, const struct vpt_import_stats *want)
{
	const struct {
		const char *name;
		uint64_t found, expected;
	} counts[] = {
		{"events", rig.stats.events, want->events},
		{"skipped", rig.stats.skipped, want->skipped},
		{"unknown_category", rig.stats.unknown_category, want->unknown_category},
		{"malformed", rig.stats.malformed, want->malformed},
		{"unreadable", rig.stats.unreadable, want->unreadable},
		{"bad_text", rig.stats.bad_text, want->bad_text},
		{"bad_numbers", rig.stats.bad_numbers, want->bad_numbers},
		{"truncated", (uint64_t)rig.stats.truncated, (uint64_t)want->truncated},
	};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].found != counts[i].expected)
			fail_msg("%s: %s is %" PRIu64 ", expected %" PRIu64, rule, counts[i].name,
				counts[i].found, counts[i].expected);
}

#else

typedef int kineto_rig_is_not_built; /* a file must not be empty */

#endif
