/* Tables as columns in memory, and Arrow's structs around them: what may outlive what, and what they hold. */
#include "analysis/export/columns/column_store.h"
#include "tests/support/scarce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_store *load(const char *name, const char *tables)
{
	const char *source = getenv("VPT_SOURCE_DIR");
	const struct vpa_store_options o = {.tables = tables};
	struct vpa_store *s = NULL;
	struct vpt_err err = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/corpus/%s", source ? source : ".", name);
	if (vpa_store_load(path, &o, &s, &err))
		fail_msg("%s: %s", path, err.text);
	return s;
}

static struct ArrowArrayStream stream_of(struct vpa_store *s, const char *name)
{
	struct ArrowArrayStream stream;

	assert_non_null(vpa_store_find(s, name));
	assert_int_equal(vpa_arrow_stream(s, vpa_store_find(s, name), &stream), VPT_OK);
	return stream;
}

static void names_choose_tables(void **unused)
{
	struct vpa_store *s = load("good-small.zst", "ops,causes,report_stages");

	(void)unused;
	assert_non_null(vpa_store_find(s, "kernel"));
	assert_non_null(vpa_store_find(s, "copy"));
	assert_non_null(vpa_store_find(s, "ops"));
	assert_non_null(vpa_store_find(s, "idle"));
	assert_non_null(vpa_store_find(s, "causes"));
	assert_non_null(vpa_store_find(s, "stages"));
	assert_null(vpa_store_find(s, "call"));
	assert_null(vpa_store_find(s, "calls"));
	vpa_store_drop(s);
	vpa_store_drop(NULL);
}

/* A child that was moved out, its dictionary, and a schema's field, after all else is gone. */
static void parts_outlive_the_whole(void **unused)
{
	struct vpa_store *s = load("good-small.zst", "kernel");
	uint64_t rows = vpa_store_find(s, "kernel")->parts[0].rows;
	struct ArrowArrayStream stream = stream_of(s, "kernel");
	struct ArrowSchema schema, field;
	struct ArrowArray batch, child;
	const int64_t *ends;
	const char *texts;
	int64_t i;

	(void)unused;
	vpa_store_drop(s);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_string_equal(schema.format, "+s");
	assert_int_equal(batch.length, rows);
	assert_int_equal(schema.n_children, batch.n_children);
	for (i = 0; strcmp(schema.children[i]->name, "name") != 0; i++)
		assert_true(i + 1 < schema.n_children);
	child = *batch.children[i];
	batch.children[i]->release = NULL; /* moved */
	field = *schema.children[i];
	schema.children[i]->release = NULL;
	batch.release(&batch);
	schema.release(&schema);
	stream.release(&stream);
	assert_null(batch.release);
	assert_null(schema.release);
	assert_null(stream.release);

	assert_string_equal(field.format, "i");
	assert_string_equal(field.dictionary->format, "U");
	assert_int_equal(child.length, rows);
	assert_int_equal(child.n_buffers, 2);
	assert_int_equal(child.dictionary->n_buffers, 3);
	ends = child.dictionary->buffers[1];
	texts = child.dictionary->buffers[2];
	for (i = 0; i < child.length; i++) {
		int32_t id = ((const int32_t *)child.buffers[1])[child.offset + i];

		assert_in_range(id, 0, child.dictionary->length - 1);
		assert_true(ends[id + 1] > ends[id] && texts[ends[id]]);
	}
	child.release(&child);
	field.release(&field);
}

static void the_end_is_a_released_array(void **unused)
{
	struct vpa_store *s = load("good-empty.zst", "ops,kernel");
	struct ArrowArrayStream stream = stream_of(s, "ops");
	struct ArrowSchema schema;
	struct ArrowArray batch;

	(void)unused;
	vpa_store_drop(s);
	assert_int_equal(stream.get_schema(&stream, &schema), 0); /* of a table without rows too */
	assert_string_equal(schema.children[0]->name, "op");
	assert_string_equal(schema.children[1]->name, "name");
	schema.release(&schema);
	memset(&batch, 0xff, sizeof(batch));
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_null(batch.release);
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_null(batch.release);
	stream.release(&stream);
}

static void unknown_values_have_no_bit(void **unused)
{
	struct vpa_store *s = load("good-small.zst", "kernel");
	const struct vpa_stored_part *part = &vpa_store_find(s, "kernel")->parts[0];
	size_t i, unknown = 0;

	(void)unused;
	for (i = 0; i < vpa_store_find(s, "kernel")->column_count; i++) {
		const struct vpa_stored_column *c = part->columns[i];
		uint64_t row, none = 0;

		for (row = 0; row < part->rows; row++)
			none += !(c->known[row / 8] >> row % 8 & 1);
		assert_int_equal(none, c->unknown);
		unknown += none != 0;
	}
	assert_true(unknown > 0 && unknown < i);
	vpa_store_drop(s);
}

static struct vpa_store *scarce;

static int stream_all(struct vpt_err *err)
{
	struct ArrowArrayStream stream;
	struct ArrowSchema schema = {.release = NULL};
	struct ArrowArray batch = {.release = NULL};
	int rc = vpa_arrow_stream(scarce, vpa_store_find(scarce, "ops"), &stream);

	if (!rc) {
		rc = stream.get_schema(&stream, &schema) || stream.get_next(&stream, &batch);
		assert_non_null(stream.get_last_error(&stream));
		stream.release(&stream);
	}
	if (schema.release)
		schema.release(&schema);
	if (batch.release)
		batch.release(&batch);
	return rc ? vpt_fail(err, VPT_ENOMEM, "no memory for a batch") : VPT_OK;
}

static int load_little(struct vpt_err *err)
{
	const struct vpa_store_options o = {.tables = "kernel,copy"};
	struct vpa_store *s;
	char path[4096];
	int rc;

	snprintf(
		path, sizeof(path), "%s/tests/corpus/good-one-block.zst", getenv("VPT_SOURCE_DIR"));
	rc = vpa_store_load(path, &o, &s, err);
	vpa_store_drop(s);
	return rc;
}

static void no_memory_leaves_nothing(void **unused)
{
	(void)unused;
	scarce = load("good-small.zst", "ops");
	vpt_fail_each_allocation(stream_all);
	vpa_store_drop(scarce);
	vpt_fail_each_allocation(load_little);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_choose_tables),
		cmocka_unit_test(parts_outlive_the_whole),
		cmocka_unit_test(the_end_is_a_released_array),
		cmocka_unit_test(unknown_values_have_no_bit),
		cmocka_unit_test(no_memory_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
