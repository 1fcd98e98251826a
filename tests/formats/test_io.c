/* test_io.c - sources and sinks, each test in an empty folder of its own; what is left in it at the
 * end is part of the expectation. Failing disks and odd file systems are made by replacing the
 * system calls: reads and writes through vpt_io_use(), the rest by definitions in io_rig.h. */
#include "tests/formats/io_rig.h"

#include <cmocka.h>

/* ---- sources ---- */

static void only_regular_files_are_read(void **state)
{
	static const struct {
		const char *rule, *path, *words;
	} cases[] = {
		{"nothing there", "absent", "absent: cannot open: No such file or directory"},
		{"a directory", "dir", "dir: is a directory, expected a file"},
		{"a FIFO nobody writes to does not hang", "fifo", "fifo: is not a regular file"},
		{"a device", "/dev/null", "is not a regular file"},
		{"a file as folder", "file/x", "Not a directory"},
		{"a link to itself", "loop", "Too many levels of symbolic links"},
		{"no name", "", "No such file or directory"},
	};
	struct vpt_source *src;
	size_t i;

	(void)state;
	put_file("file", "x");
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	for (i = 0; i < COUNT(cases); i++) {
		src = (struct vpt_source *)&script;
		memset(&err, 0, sizeof(err));
		expect_words(cases[i].rule, vpt_source_open(cases[i].path, &src, &err), VPT_EIO,
			cases[i].words);
		assert_null(src);
		assert_int_equal(vpt_source_open(cases[i].path, &src, NULL), VPT_EIO);
	}
	vpt_source_close(NULL);
}

static void reads_stop_at_the_end(void **state)
{
	static const struct {
		const char *rule;
		uint64_t offset;
		size_t size;
		const char *got;
	} cases[] = {
		{"all of it", 0, 10, "0123456789"},
		{"the middle", 3, 4, "3456"},
		{"nothing", 3, 0, ""},
		{"more than there is", 0, 64, "0123456789"},
		{"across the end", 8, 10, "89"},
		{"the last byte", 9, 1, "9"},
		{"at the end", 10, 1, ""},
		{"beyond the end", 11, 10, ""},
		{"beyond what an off_t holds", UINT64_MAX, 64, ""},
		{"an end that wraps", UINT64_MAX - 3, SIZE_MAX, ""},
		{"a size that wraps", 1, SIZE_MAX, "123456789"},
	};
	struct vpt_source *src[2];
	char buf[64];
	size_t i, s, got;

	(void)state;
	put_file("ten", "0123456789");
	assert_int_equal(vpt_source_open("ten", &src[0], &err), VPT_OK);
	assert_int_equal(vpt_source_memory("0123456789", 10, &src[1], &err), VPT_OK);
	assert_string_equal(src[0]->name, "ten");
	for (s = 0; s < 2; s++) {
		assert_int_equal(src[s]->size_bytes, 10);
		for (i = 0; i < COUNT(cases); i++) {
			got = 99;
			assert_int_equal(src[s]->read_at(src[s], cases[i].offset, buf,
						 cases[i].size, &got, &err),
				VPT_OK);
			if (got != strlen(cases[i].got) || memcmp(buf, cases[i].got, got))
				fail_msg("%s: got %zu bytes", cases[i].rule, got);
		}
		vpt_source_close(src[s]);
	}
}

static void no_bytes_in_memory_are_a_source(void **state)
{
	struct vpt_source *src;
	size_t got = 99;

	(void)state;
	assert_int_equal(vpt_source_memory(NULL, 0, &src, &err), VPT_OK);
	assert_int_equal(src->read_at(src, 0, &err, 1, &got, NULL), VPT_OK);
	assert_int_equal(got, 0);
	vpt_source_close(src);
}

static void reads_go_on_until_they_are_done(void **state)
{
	static const struct {
		const char *rule;
		int at, times, error;
		size_t part;
		int code;
		const char *outcome; /* the bytes, or the words */
	} cases[] = {
		{"one byte at a time", 0, 0, 0, 1, VPT_OK, "0123456789"},
		{"a signal first", 1, 1, EINTR, 0, VPT_OK, "0123456789"},
		{"signals between", 2, 5, EINTR, 3, VPT_OK, "0123456789"},
		{"a bad disk", 1, 1, EIO, 0, VPT_EIO,
			"ten: cannot read 10 bytes at offset 0: Input/output error"},
		{"a bad disk later", 3, 99, EIO, 3, VPT_EIO,
			"ten: cannot read 4 bytes at offset 6: Input/output error"},
		{"a file cut in between", 2, 99, 0, 4, VPT_OK, "0123"},
		{"an error without a name", 1, 1, 99999, 0, VPT_EIO, "unknown error"},
	};
	struct vpt_source *src;
	char buf[64];
	size_t i, got;
	int rc;

	(void)state;
	put_file("ten", "0123456789");
	for (i = 0; i < COUNT(cases); i++) {
		use_script(cases[i].at, cases[i].times, cases[i].error, cases[i].part);
		assert_int_equal(vpt_source_open("ten", &src, &err), VPT_OK);
		memset(&err, 0, sizeof(err));
		got = 99;
		rc = src->read_at(src, 0, buf, sizeof(buf), &got, &err);
		vpt_source_close(src);
		if (cases[i].code)
			expect_words(cases[i].rule, rc, cases[i].code, cases[i].outcome);
		else if (rc || got != strlen(cases[i].outcome) ||
			 memcmp(buf, cases[i].outcome, got))
			fail_msg("%s: code %d, %zu bytes", cases[i].rule, rc, got);
		if (rc)
			assert_int_equal(got, 0);
	}
}

static void a_source_keeps_its_size(void **state)
{
	struct vpt_source *src;
	char buf[64];
	size_t got;

	(void)state;
	put_file("file", "0123456789");
	assert_int_equal(vpt_source_open("file", &src, &err), VPT_OK);
	put_file("file", "0123456789abcdef");
	assert_int_equal(src->read_at(src, 0, buf, sizeof(buf), &got, &err), VPT_OK);
	assert_int_equal(got, 10);
	put_file("file", "012");
	assert_int_equal(src->read_at(src, 0, buf, sizeof(buf), &got, &err), VPT_OK);
	assert_int_equal(got, 3);
	vpt_source_close(src);
}

struct reading {
	pthread_t thread;
	struct vpt_source *src;
	unsigned seed;
	int wrong;
};

static void *read_many(void *arg)
{
	struct reading *r = arg;
	uint32_t values[64];
	size_t got, i;
	int round;

	for (round = 0; round < 500; round++) {
		uint32_t first;

		r->seed = r->seed * 1664525u + 1013904223u;
		first = (r->seed >> 8) % 4000;
		if (r->src->read_at(r->src, first * 4ull, values, sizeof(values), &got, NULL))
			r->wrong++;
		for (i = 0; i < got / 4; i++)
			r->wrong += values[i] != first + i;
	}
	return NULL;
}

static void threads_may_read_at_once(void **state)
{
	struct reading readers[4];
	static uint32_t values[4096];
	struct vpt_source *src;
	struct vpt_sink *sink;
	uint32_t i;

	(void)state;
	for (i = 0; i < COUNT(values); i++)
		values[i] = i;
	assert_int_equal(vpt_sink_open("values", 0, &sink, &err), VPT_OK);
	assert_int_equal(vpt_sink_write(sink, values, sizeof(values), &err), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_int_equal(vpt_source_open("values", &src, &err), VPT_OK);
	for (i = 0; i < COUNT(readers); i++) {
		readers[i] = (struct reading){.src = src, .seed = i};
		assert_int_equal(
			pthread_create(&readers[i].thread, NULL, read_many, &readers[i]), 0);
	}
	for (i = 0; i < COUNT(readers); i++) {
		pthread_join(readers[i].thread, NULL);
		assert_int_equal(readers[i].wrong, 0);
	}
	vpt_source_close(src);
}

/* ---- standard output ---- */

static void standard_output_is_flushed_at_commit(void **state)
{
	(void)state;
	use_script(0, 0, 0, 0);
	assert_int_equal(save("-", 0, "answer\n", 1), VPT_OK);
	assert_int_equal(script.out_size, 7);
	assert_memory_equal(script.out, "answer\n", 7);

	use_script(0, 0, 0, 0);
	assert_int_equal(save("-", 0, "unfinished", 0), VPT_OK);
	assert_int_equal(script.out_size, 0);
	assert_int_equal(fcntl(STDOUT_FILENO, F_GETFD) >= 0, 1);
	assert_string_equal(names(), "");
}

static void a_pipe_without_reader_is_told(void **state)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int ends[2], keep, rc;

	(void)state;
	fflush(stdout);
	keep = dup(STDOUT_FILENO);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	rc = save("-", 0, "answer\n", 1);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	signal(SIGPIPE, before);
	expect_words("broken", rc, VPT_EGONE, "standard output: cannot write: Broken pipe");
}

static void *drain(void *arg)
{
	static char got[PIECES_BYTES + 1];
	size_t size = 0;
	ssize_t n;

	while ((n = read(*(int *)arg, got + size, sizeof(got) - 1 - size)) > 0)
		size += (size_t)n;
	got[size] = '\0';
	return got;
}

static void a_pipe_that_does_not_block_is_waited_for(void **state)
{
	int ends[2], keep, rc, end;
	struct vpt_sink *sink;
	pthread_t reader;
	void *got;

	(void)state;
	fflush(stdout);
	keep = dup(STDOUT_FILENO);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	assert_int_equal(vpt_sink_open("-", 0, &sink, &err), VPT_OK);
	assert_int_equal(pthread_create(&reader, NULL, drain, &ends[0]), 0);
	rc = write_pieces(sink);
	end = sink->finish(sink, 1, &err);
	dup2(keep, STDOUT_FILENO); /* the last writing end: the reader sees the end now */
	close(keep);
	pthread_join(reader, &got);
	close(ends[0]);
	assert_int_equal(rc, VPT_OK);
	assert_int_equal(end, VPT_OK);
	expect_pieces("a pipe", got, strlen(got));
}

/* ---- memory ---- */

static void a_sink_to_memory_gives_its_bytes(void **state)
{
	struct vpt_buffer buf = {.size = 77};
	struct vpt_sink *sink;

	(void)state;
	assert_int_equal(vpt_sink_memory(&buf, &sink, &err), VPT_OK);
	assert_int_equal(buf.size, 0);
	assert_int_equal(write_pieces(sink), VPT_OK);
	expect_pieces("before finish", buf.data, buf.size);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	expect_pieces("after finish", buf.data, buf.size);
	vpt_free(buf.data);

	assert_int_equal(vpt_sink_memory(&buf, &sink, &err), VPT_OK);
	assert_int_equal(write_pieces(sink), VPT_OK);
	assert_int_equal(sink->finish(sink, 0, &err), VPT_OK);
	assert_null(buf.data);
	assert_int_equal(buf.size, 0);
}

static int allocations, allowed;

static void *limited_resize(void *ptr, size_t size_bytes)
{
	return ++allocations > allowed ? NULL : realloc(ptr, size_bytes);
}

static const struct vpt_memory_ops limited = {limited_resize, free};

static int save_to_memory(void)
{
	struct vpt_buffer buf;
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(&buf, &sink, &err), end;

	if (rc)
		return rc;
	rc = write_pieces(sink);
	if (rc)
		assert_int_equal(vpt_sink_write(sink, "x", 1, NULL), rc);
	end = sink->finish(sink, 1, rc ? NULL : &err);
	assert_int_equal(end, rc);
	assert_int_equal(!buf.data, !!rc);
	vpt_free(buf.data);
	return rc;
}

static int save_to_file(void)
{
	int rc = save("dir/out", VPT_SINK_FORCE, "new", 1);

	if (rc)
		assert_int_equal(access("dir/out", F_OK), -1);
	return rc;
}

static int read_file(void)
{
	struct vpt_source *src;
	int rc = vpt_source_open("file", &src, &err);

	vpt_source_close(src);
	return rc;
}

static int read_memory(void)
{
	struct vpt_source *src;
	int rc = vpt_source_memory("x", 1, &src, &err);

	vpt_source_close(src);
	return rc;
}

static void memory_may_run_out_anywhere(void **state)
{
	static int (*const uses[])(void) = {save_to_memory, save_to_file, read_file, read_memory};
	size_t i;
	int rc;

	(void)state;
	put_file("file", "x");
	assert_int_equal(mkdir("dir", 0700), 0);
	vpt_memory_use(&limited);
	for (i = 0; i < COUNT(uses); i++)
		for (allowed = 0;; allowed++) {
			allocations = 0;
			memset(&err, 0, sizeof(err));
			rc = uses[i]();
			if (!rc)
				break;
			expect_words("no memory", rc, VPT_ENOMEM, "no memory");
			assert_true(allowed < 20);
		}
	assert_int_equal(unlink("dir/out"), 0);
	assert_int_equal(rmdir("dir"), 0);
}

static void tables_of_calls_are_given_back(void **state)
{
	static const struct vpt_io_ops other = {scripted_read, scripted_write};
	const struct vpt_io_ops *real = vpt_io_use(&other);

	(void)state;
	assert_non_null(real);
	assert_ptr_equal(vpt_io_use(NULL), &other);
	assert_ptr_equal(vpt_io_use(real), real);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(only_regular_files_are_read),
		RULE(reads_stop_at_the_end),
		RULE(no_bytes_in_memory_are_a_source),
		RULE(reads_go_on_until_they_are_done),
		RULE(a_source_keeps_its_size),
		RULE(threads_may_read_at_once),
		RULE(standard_output_is_flushed_at_commit),
		RULE(a_pipe_without_reader_is_told),
		RULE(a_pipe_that_does_not_block_is_waited_for),
		RULE(a_sink_to_memory_gives_its_bytes),
		RULE(memory_may_run_out_anywhere),
		RULE(tables_of_calls_are_given_back),
		cmocka_unit_test(no_descriptor_was_kept),
	};

	return cmocka_run_group_tests(tests, count_before, NULL);
}
