/* test_corpus.c - the files of tests/corpus are what tests/support/corpus/corpus.c makes, and are read as it says.
 *
 * After a change that is meant, VPT_RECORD=1 writes them again, README.md with them. Captures are compared by
 * what their frames hold, not by their bytes: another zstd, or other settings, compress differently. */
#include "tests/support/corpus/corpus.h"

#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

enum { CONTENT_MAX = 32 << 20, FOLDER_MAX = 300 << 10 };

static char folder[1024];
static int recording;

static void path_of(const char *name, char path[1200])
{
	snprintf(path, 1200, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *data, size_t size)
{
	char path[1200];
	FILE *f;

	path_of(name, path);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(size ? fwrite(data, 1, size, f) : 0, size);
	assert_int_equal(fclose(f), 0);
}

static void read_file(const char *name, struct vpt_buffer *out)
{
	struct vpt_source *src;
	struct vpt_err err = {0};
	char path[1200];

	path_of(name, path);
	if (vpt_source_open(path, &src, &err))
		fail_msg("%s (VPT_RECORD=1 writes it)", err.text);
	out->size = (size_t)src->size_bytes;
	out->data = vpt_alloc(out->size, 1);
	assert_int_equal(src->read_at(src, 0, out->data, out->size, &out->size, &err), VPT_OK);
	vpt_source_close(src);
}

/* The content of the frame at `at`, which is moved behind it; 0 when there is no whole frame. */
static int take_frame(const struct vpt_buffer *file, size_t *at, struct vpt_buffer *content)
{
	unsigned long long size = ZSTD_getFrameContentSize(file->data + *at, file->size - *at);
	size_t frame = ZSTD_findFrameCompressedSize(file->data + *at, file->size - *at);

	content->size = 0;
	if (ZSTD_isError(frame) || size > CONTENT_MAX ||
		vpt_grow(&content->data, &content->cap, (size_t)size + 1, 1))
		return 0;
	content->size = ZSTD_decompress(content->data, (size_t)size, file->data + *at, frame);
	*at += frame;
	return content->size == size;
}

/* Equal in bytes or, for captures, in the content of the frames up to the first damage. */
static int equal(
	const struct vpt_corpus_file *file, const struct vpt_buffer *a, const struct vpt_buffer *b)
{
	struct vpt_buffer ca = {0}, cb = {0};
	size_t at_a = 0, at_b = 0, frames = 0;
	int same = a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));

	if (same || !strstr(file->name, ".zst"))
		return same;
	for (;; frames++) {
		int more_a = take_frame(a, &at_a, &ca), more_b = take_frame(b, &at_b, &cb);

		same = more_a == more_b;
		if (!more_a || !more_b)
			break;
		if (ca.size != cb.size || memcmp(ca.data, cb.data, ca.size))
			same = 0;
		if (!same)
			break;
	}
	vpt_free(ca.data);
	vpt_free(cb.data);
	return same && frames;
}

static void files_are_what_their_program_makes(void **state)
{
	const struct vpt_corpus_file *file;
	size_t i, total = 0;

	(void)state;
	for (i = 0; (file = vpt_corpus_at(i)); i++) {
		struct vpt_buffer made = {0}, found = {0};

		file->make(&made);
		if (recording)
			write_file(file->name, made.data, made.size);
		read_file(file->name, &found);
		if (!equal(file, &made, &found))
			fail_msg("%s differs from what its program makes", file->name);
		total += found.size;
		vpt_free(made.data);
		vpt_free(found.data);
	}
	assert_true(total < FOLDER_MAX);
}

static void read_chunks(
	const struct vpt_corpus_file *file, const struct vpt_reader *r, char found[600])
{
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_batch b;
	size_t i;

	vpt_batch_init(&b);
	for (i = 0; i < vpt_reader_chunks(r) && i < 599; i++) {
		int state = vpt_reader_info(r, i)->state, rc = vpt_reader_chunk(r, d, i, &b, NULL);

		if (rc && rc != VPT_EDATA)
			fail_msg("%s: chunk %zu: code %d", file->name, i, rc);
		found[i] = state == VPT_CHUNK_DAMAGED ? 'd'
			   : rc                       ? 'e'
			   : state == VPT_CHUNK_TORN  ? 't'
						      : 'w';
	}
	found[i] = '\0';
	vpt_batch_free(&b);
	vpt_decoder_free(d);
}

static void captures_are_read_as_described(void **state)
{
	const struct vpt_corpus_file *file;
	size_t i;

	(void)state;
	for (i = 0; (file = vpt_corpus_at(i)); i++) {
		struct vpt_reader *r;
		struct vpt_source *src;
		char path[1200], found[600];
		int rc;

		if (!strstr(file->name, ".zst"))
			continue;
		path_of(file->name, path);
		assert_int_equal(vpt_source_open(path, &src, NULL), VPT_OK);
		rc = vpt_reader_open(src, &r, NULL);
		if (rc != file->code)
			fail_msg("%s: code %d", file->name, rc);
		if (rc)
			continue;
		read_chunks(file, r, found);
		if (file->chunks && strcmp(found, file->chunks))
			fail_msg("%s: chunks %s, expected %s", file->name, found, file->chunks);
		if (!strncmp(file->name, "good-", 5) && (strchr(found, 'd') || strchr(found, 'e')))
			fail_msg("%s is not good", file->name);
		vpt_reader_free(r);
	}
}

static void the_readme_has_a_sentence_for_each(void **state)
{
	struct vpt_buffer made = {0}, found = {0};
	const struct vpt_corpus_file *file;
	struct vpt_sink *sink;
	size_t i;

	(void)state;
	assert_int_equal(vpt_sink_memory(&made, &sink, NULL), VPT_OK);
	{
		static const char intro[] =
			"# The corpus\n\n"
			"Each of these small files tests one promise. A `good-` file is read "
			"without "
			"complaint.\n"
			"A `bad-` file is damaged, hostile or not a trace, and must affect nothing "
			"but itself.\n"
			"`tests/support/corpus/corpus.c` makes the files; `VPT_RECORD=1 "
			"test_corpus` "
			"writes "
			"them and\n"
			"this list again. The fuzz targets start from them.\n\n";

		vpt_sink_write(sink, intro, strlen(intro), NULL);
	}
	for (i = 0; (file = vpt_corpus_at(i)); i++) {
		char line[400];
		int len = snprintf(line, sizeof(line), "- `%s`: %s\n", file->name, file->about);

		vpt_sink_write(sink, line, (size_t)len, NULL);
	}
	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
	if (recording)
		write_file("README.md", made.data, made.size);
	read_file("README.md", &found);
	assert_int_equal(found.size, made.size);
	assert_memory_equal(found.data, made.data, made.size);
	vpt_free(made.data);
	vpt_free(found.data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_what_their_program_makes),
		cmocka_unit_test(captures_are_read_as_described),
		cmocka_unit_test(the_readme_has_a_sentence_for_each),
	};
	const char *source = getenv("VPT_SOURCE_DIR");

	snprintf(folder, sizeof(folder), "%s/tests/corpus", source ? source : ".");
	recording = getenv("VPT_RECORD") != NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
