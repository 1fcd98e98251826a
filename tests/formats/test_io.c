/* test_io.c - sources and sinks, each test in an empty folder of its own; what is left in it at the
 * end is part of the expectation. Failing disks and odd file systems are made by replacing the
 * system calls: reads and writes through vpt_io_use(), the rest by definitions in this file.
 * Long, since every case needs the replaced system calls of this file. */
#include "formats/base/io.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

static struct vpt_err err;

/* ---- file systems that know less ---- */

static int no_renameat2, no_linkat, no_renameat, no_close;
static void (*before_naming)(void); /* runs between the last write and the naming */

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	if (before_naming)
		before_naming();
	errno = no_renameat2;
	return no_renameat2 ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	errno = no_linkat;
	return no_linkat ? -1 : (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	errno = no_renameat;
	return no_renameat ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int close(int fd)
{
	int rc = (int)syscall(SYS_close, fd);

	if (no_close)
		errno = no_close;
	return no_close ? -1 : rc;
}

/* ---- reads and writes that fail on demand ---- */

static struct {
	int calls, at, times; /* calls `at` to `at + times - 1` fail */
	int error;            /* their errno; 0: they move nothing */
	size_t part;          /* the most that one call moves; 0: all */
	char out[1 << 19];    /* what was written to standard output */
	size_t out_size;
} script;

static int scripted_failure(void)
{
	script.calls++;
	errno = script.error;
	return script.calls >= script.at && script.calls < script.at + script.times;
}

static long scripted_read(int fd, void *buf, size_t size, uint64_t offset)
{
	if (scripted_failure())
		return script.error ? -1 : 0;
	if (script.part && size > script.part)
		size = script.part;
	return pread(fd, buf, size, (off_t)offset);
}

static long scripted_write(int fd, const void *buf, size_t size)
{
	if (scripted_failure())
		return script.error ? -1 : 0;
	if (script.part && size > script.part)
		size = script.part;
	if (fd != STDOUT_FILENO)
		return write(fd, buf, size);
	assert_true(size <= sizeof(script.out) - script.out_size);
	memcpy(script.out + script.out_size, buf, size);
	script.out_size += size;
	return (long)size;
}

static void use_script(int at, int times, int error, size_t part)
{
	static const struct vpt_io_ops ops = {scripted_read, scripted_write};

	script.calls = 0;
	script.out_size = 0;
	script.at = at;
	script.times = times;
	script.error = error;
	script.part = part;
	vpt_io_use(&ops);
}

/* ---- an empty folder ---- */

static char folder[4096], start_folder[4096];

static int enter_folder(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/test_io.XXXXXX", base ? base : P_tmpdir);
	if (!getcwd(start_folder, sizeof(start_folder)) || !mkdtemp(folder))
		return -1;
	return chdir(folder);
}

static int is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* The names in the current folder, sorted, with a space after each. */
static const char *names(void)
{
	static char text[2048];
	struct dirent **list;
	int count = scandir(".", &list, is_name, alphasort), i;

	assert_true(count >= 0);
	text[0] = '\0';
	for (i = 0; i < count; i++) {
		strncat(text, list[i]->d_name, sizeof(text) - strlen(text) - 1);
		strncat(text, " ", sizeof(text) - strlen(text) - 1);
		free(list[i]);
	}
	free(list);
	return text;
}

static void remove_all(void)
{
	struct dirent **list;
	int count = scandir(".", &list, is_name, alphasort), i;

	for (i = 0; i < count; i++) {
		if (unlink(list[i]->d_name))
			rmdir(list[i]->d_name);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
}

static int leave_folder(void **state)
{
	(void)state;
	vpt_io_use(NULL);
	vpt_memory_use(NULL);
	no_renameat2 = no_linkat = no_renameat = no_close = 0;
	before_naming = NULL;
	if (chdir(folder))
		return -1;
	remove_all();
	return chdir(start_folder) || rmdir(folder) ? -1 : 0;
}

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static const char *get_file(const char *name)
{
	static char text[1 << 19];
	FILE *f = fopen(name, "rb");
	size_t size;

	assert_non_null(f);
	size = fread(text, 1, sizeof(text) - 1, f);
	text[size] = '\0';
	fclose(f);
	return text;
}

static void expect_words(const char *rule, int rc, int code, const char *words)
{
	if (rc != code || !strstr(err.text, words))
		fail_msg(
			"%s: expected %d \"%s\", found %d \"%s\"", rule, code, words, rc, err.text);
}

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

/* ---- sinks to files ---- */

static int save(const char *path, int flags, const char *text, int commit)
{
	struct vpt_sink *sink;
	int rc = vpt_sink_open(path, flags, &sink, &err), end;

	if (rc) {
		assert_null(sink);
		return rc;
	}
	rc = vpt_sink_write(sink, text, strlen(text), &err);
	/* the words of the first failure are the ones to keep */
	end = sink->finish(sink, commit, rc ? NULL : &err);
	return rc ? rc : end;
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
	struct vpt_sink *sink;
	int commit;

	(void)state;
	for (commit = 1; commit >= 0; commit--) {
		assert_int_equal(vpt_sink_open("out", 0, &sink, &err), VPT_OK);
		assert_int_equal(vpt_sink_write(sink, "half", 4, &err), VPT_OK);
		assert_int_equal(access("out", F_OK), -1);
		assert_memory_equal(names(), ".out.", 5);
		assert_int_equal(vpt_sink_write(sink, " done", 5, &err), VPT_OK);
		assert_int_equal(sink->written_bytes, 9);
		assert_int_equal(sink->finish(sink, commit, &err), VPT_OK);
		assert_string_equal(names(), commit ? "out " : "");
		if (commit)
			assert_string_equal(get_file("out"), "half done");
		unlink("out");
	}
}

static void a_file_is_private_whatever_the_umask(void **state)
{
	mode_t before = umask(0);
	struct stat st;
	int rc = save("out", 0, "x", 1);

	(void)state;
	umask(before);
	assert_int_equal(rc, VPT_OK);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
}

static void targets_are_checked_first(void **state)
{
	static const struct {
		const char *rule, *path;
		int flags, code;
		const char *words;
	} cases[] = {
		{"a file", "file", 0, VPT_EINVAL,
			"file: exists already; use --force to replace it"},
		{"a link to a file", "link", 0, VPT_EINVAL, "link: exists already; use --force"},
		{"a link to nothing", "dangling", 0, VPT_EINVAL, "dangling: exists already"},
		{"a directory", "dir", 0, VPT_EINVAL, "dir: is a directory, expected a file name"},
		{"a directory, forced", "dir", VPT_SINK_FORCE, VPT_EINVAL, "is a directory"},
		{"this directory", ".", VPT_SINK_FORCE, VPT_EINVAL, ".: is a directory"},
		{"a name that ends in a slash", "new/", 0, VPT_EINVAL, "found a folder"},
		{"no name", "", 0, VPT_EINVAL, "expected a file name, found nothing"},
		{"a FIFO, forced", "fifo", VPT_SINK_FORCE, VPT_EINVAL,
			"fifo: is not a regular file; use - to write to standard output"},
		{"no such folder", "absent/out", 0, VPT_EIO,
			"absent/out: cannot open its folder: No such file or directory"},
		{"a folder that takes no files", "/proc/out", 0, VPT_EIO,
			"/proc/out: cannot create: "},
		{"a file as folder", "file/out", 0, VPT_EIO,
			"file/out: cannot open its folder: Not a directory"},
	};
	struct vpt_sink *sink;
	const char *before = "dangling dir fifo file link ";
	size_t i;

	(void)state;
	put_file("file", "old");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (i = 0; i < COUNT(cases); i++) {
		sink = (struct vpt_sink *)&script;
		memset(&err, 0, sizeof(err));
		expect_words(cases[i].rule,
			vpt_sink_open(cases[i].path, cases[i].flags, &sink, &err), cases[i].code,
			cases[i].words);
		assert_null(sink);
		assert_string_equal(names(), before);
		assert_string_equal(get_file("file"), "old");
	}
}

static void force_replaces(void **state)
{
	static const struct {
		const char *rule, *path;
		int commit;
		const char *path_after, *file_after;
	} cases[] = {
		{"a file", "file", 1, "new", "new"},
		{"a file, but not on abort", "file", 0, "old", "old"},
		{"a link, not what it points to", "link", 1, "new", "old"},
		{"a link to nothing", "dangling", 1, "new", "old"},
		{"a link to a directory", "dirlink", 1, "new", "old"},
		{"nothing", "fresh", 1, "new", "old"},
		{"a file elsewhere", "dir/out", 1, "new", "old"},
	};
	struct stat st;
	size_t i;

	(void)state;
	assert_int_equal(mkdir("dir", 0700), 0);
	for (i = 0; i < COUNT(cases); i++) {
		put_file("file", "old");
		unlink("link");
		unlink("dangling");
		unlink("dirlink");
		assert_int_equal(symlink("dir", "dirlink"), 0);
		assert_int_equal(symlink("file", "link"), 0);
		assert_int_equal(symlink("nowhere", "dangling"), 0);
		if (save(cases[i].path, VPT_SINK_FORCE, "new", cases[i].commit))
			fail_msg("%s: %s", cases[i].rule, err.text);
		assert_string_equal(get_file(cases[i].path), cases[i].path_after);
		assert_string_equal(get_file("file"), cases[i].file_after);
		assert_int_equal(lstat(cases[i].path, &st), 0);
		assert_true(S_ISREG(st.st_mode));
		assert_int_equal(access("nowhere", F_OK), -1);
	}
	assert_int_equal(unlink("dir/out"), 0);
	assert_string_equal(names(), "dangling dir dirlink file fresh link ");
	assert_int_equal(rmdir("dir"), 0); /* nothing hidden was left in it */
}

/* Ways to name a file, best first; each is tried where the ones before are refused. */
static const struct {
	const char *rule;
	int no_renameat2, no_linkat;
} file_systems[] = {
	{"one with everything", 0, 0},
	{"one without a refusing rename", EINVAL, 0},
	{"an old kernel", ENOSYS, 0},
	{"one without links either", EINVAL, EPERM},
	{"one that does not know what links are", EINVAL, ENOSYS},
};

static void every_file_system_gets_the_file(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(file_systems); i++) {
		no_renameat2 = file_systems[i].no_renameat2;
		no_linkat = file_systems[i].no_linkat;
		if (save("out", 0, "new", 1))
			fail_msg("%s: %s", file_systems[i].rule, err.text);
		assert_string_equal(get_file("out"), "new");
		assert_string_equal(names(), "out ");
		unlink("out");
	}
}

static void somebody_else_saves_first(void)
{
	put_file("out", "theirs");
}

static void a_file_that_came_first_stays(void **state)
{
	size_t i;

	(void)state;
	before_naming = somebody_else_saves_first;
	for (i = 0; i < COUNT(file_systems); i++) {
		no_renameat2 = file_systems[i].no_renameat2;
		no_linkat = file_systems[i].no_linkat;
		memset(&err, 0, sizeof(err));
		expect_words(file_systems[i].rule, save("out", 0, "ours", 1), VPT_EINVAL,
			"out: exists already; use --force to replace it");
		assert_string_equal(get_file("out"), "theirs");
		assert_string_equal(names(), "out ");
		unlink("out");
	}
}

static void a_name_that_is_refused_leaves_nothing(void **state)
{
	(void)state;
	no_renameat2 = EINVAL;
	no_linkat = EPERM;
	no_renameat = EACCES;
	expect_words("no way at all", save("out", 0, "new", 1), VPT_EIO,
		"out: cannot rename the file: Permission denied");
	assert_string_equal(names(), "");

	put_file("out", "old");
	expect_words("forced", save("out", VPT_SINK_FORCE, "new", 1), VPT_EIO, "Permission denied");
	assert_string_equal(names(), "out ");
	assert_string_equal(get_file("out"), "old");
}

static void a_disk_that_is_full_at_close_is_told(void **state)
{
	struct vpt_sink *sink;
	int rc;

	(void)state;
	assert_int_equal(vpt_sink_open("out", 0, &sink, &err), VPT_OK);
	assert_int_equal(vpt_sink_write(sink, "x", 1, &err), VPT_OK);
	no_close = EDQUOT;
	rc = sink->finish(sink, 1, &err);
	no_close = 0;
	expect_words("at close", rc, VPT_EIO, "out: cannot write: Disk quota exceeded");
	assert_string_equal(names(), "");
}

static void a_signal_at_close_is_no_failure(void **state)
{
	struct vpt_sink *sink;
	int rc;

	(void)state;
	assert_int_equal(vpt_sink_open("out", 0, &sink, &err), VPT_OK);
	no_close = EINTR;
	rc = sink->finish(sink, 1, &err);
	no_close = 0;
	assert_int_equal(rc, VPT_OK);
	assert_string_equal(names(), "out ");
}

static void long_names_work(void **state)
{
	static const struct {
		const char *rule, *unit;
	} cases[] = {
		{"255 bytes", "n"},
		{"85 characters of three bytes", "\xe2\x82\xac"},
	};
	char name[256], end[300];
	size_t i, at;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		size_t unit = strlen(cases[i].unit);

		for (at = 0; at + unit <= 255; at += unit)
			memcpy(name + at, cases[i].unit, unit);
		name[at] = '\0';
		if (save(name, 0, "x", 1))
			fail_msg("%s: %s", cases[i].rule, err.text);
		snprintf(end, sizeof(end), "%s ", name);
		assert_string_equal(names(), end);
		unlink(name);
	}
}

/* Also where the name is so long that the temporary one has to be cut. */
static void two_may_save_at_once_and_the_first_stays(void **state)
{
	static const size_t lengths[] = {1, 20, 255};
	struct vpt_sink *first, *second;
	char name[256] = {0};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(lengths); i++) {
		memset(name, 'n', lengths[i]);
		memset(&err, 0, sizeof(err));
		assert_int_equal(vpt_sink_open(name, 0, &first, &err), VPT_OK);
		assert_int_equal(vpt_sink_open(name, 0, &second, &err), VPT_OK);
		assert_int_equal(vpt_sink_write(first, "first", 5, &err), VPT_OK);
		assert_int_equal(vpt_sink_write(second, "second", 6, &err), VPT_OK);
		assert_int_equal(first->finish(first, 1, &err), VPT_OK);
		expect_words("the second", second->finish(second, 1, &err), VPT_EINVAL, "exists");
		assert_string_equal(get_file(name), "first");
		assert_int_equal(unlink(name), 0);
		assert_string_equal(names(), "");
	}
}

static void a_target_survives_a_change_of_folder(void **state)
{
	struct vpt_sink *sink;

	(void)state;
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(vpt_sink_open("out", 0, &sink, &err), VPT_OK);
	assert_int_equal(chdir("dir"), 0);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_string_equal(names(), "");
	assert_int_equal(chdir(".."), 0);
	assert_string_equal(names(), "dir out ");
}

static void absolute_paths_work(void **state)
{
	char path[5000];

	(void)state;
	snprintf(path, sizeof(path), "%s//out", folder);
	assert_int_equal(save(path, 0, "x", 1), VPT_OK);
	assert_string_equal(names(), "out ");
}

/* ---- what is written, in pieces around the buffer's size ---- */

static const size_t pieces[] = {0, 1, 65535, 1, 65536, 0, 7, 65537, 100, 65436, 1};
enum { PIECES_BYTES = 262154 };

static char pattern(size_t i)
{
	return (char)('a' + i % 26 + i / 4096 % 3);
}

static int write_pieces(struct vpt_sink *sink)
{
	static char all[PIECES_BYTES];
	size_t i, at = 0;
	int rc = VPT_OK;

	for (i = 0; i < sizeof(all); i++)
		all[i] = pattern(i);
	for (i = 0; i < COUNT(pieces) && !rc; i++) {
		rc = vpt_sink_write(sink, all + at, pieces[i], &err);
		at += pieces[i];
		if (!rc)
			assert_int_equal(sink->written_bytes, at);
	}
	return rc;
}

static void expect_pieces(const char *rule, const char *text, size_t size)
{
	size_t i;

	if (size != PIECES_BYTES)
		fail_msg("%s: %zu bytes", rule, size);
	for (i = 0; i < size; i++)
		if (text[i] != pattern(i))
			fail_msg("%s: byte %zu differs", rule, i);
}

/* Writes the pieces while the script runs; `words` is NULL where nobody must notice. */
static void save_pieces(const char *rule, const char *path, int failing_call, const char *words)
{
	struct vpt_sink *sink;
	const char *text;
	int rc, end;

	memset(&err, 0, sizeof(err));
	assert_int_equal(vpt_sink_open(path, 0, &sink, &err), VPT_OK);
	rc = write_pieces(sink);
	/* asking for a commit after a failure must not commit */
	end = sink->finish(sink, 1, rc ? NULL : &err);
	assert_int_equal(end, words ? VPT_EIO : VPT_OK);
	if (words) {
		expect_words(rule, rc ? rc : end, VPT_EIO, words);
		/* a sink that failed leaves the disk alone */
		assert_int_equal(script.calls, failing_call);
	} else if (!strcmp(path, "-")) {
		expect_pieces(rule, script.out, script.out_size);
	} else {
		text = get_file(path);
		expect_pieces(rule, text, strlen(text));
		unlink(path);
	}
	assert_string_equal(names(), "");
}

static void disks_may_fail_anywhere(void **state)
{
	static const struct {
		const char *rule;
		int error;
		size_t part;
		const char *words; /* NULL: no failure for the caller */
	} cases[] = {
		{"a disk without fault", 0, 0, NULL},
		{"short writes", EINTR, 1000, NULL},
		{"signals", EINTR, 0, NULL},
		{"a full disk", ENOSPC, 0, "cannot write: No space left on device"},
		{"a bad disk", EIO, 0, "cannot write: Input/output error"},
		{"a bad disk after short writes", EIO, 1000, "cannot write: Input/output error"},
		{"a reader that left", EPIPE, 0, "cannot write: Broken pipe"},
		{"a file too large", EFBIG, 4000, "cannot write: File too large"},
		{"a write that moves nothing", 0, 0, "cannot write: Input/output error"},
	};
	static const int spans[] = {1, 1 << 20}; /* once, and from then on */
	size_t i, span;
	int at;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		for (span = 0; span < COUNT(spans); span++)
			for (at = 1; at <= 3; at++) {
				const char *words = cases[i].words;
				int times = words ? spans[span] : cases[i].error ? 1 : 0;

				use_script(at, times, cases[i].error, cases[i].part);
				save_pieces(cases[i].rule, "out", at, words);
				use_script(at, times, cases[i].error, cases[i].part);
				save_pieces(cases[i].rule, "-", at, words);
			}
}

static void a_failed_sink_refuses_more(void **state)
{
	struct vpt_sink *sink;
	static char big[70000];

	(void)state;
	use_script(1, 1, ENOSPC, 0);
	assert_int_equal(vpt_sink_open("out", 0, &sink, &err), VPT_OK);
	assert_int_equal(vpt_sink_write(sink, big, sizeof(big), &err), VPT_EIO);
	assert_int_equal(vpt_sink_write(sink, "x", 1, &err), VPT_EIO);
	assert_int_equal(sink->written_bytes, 0);
	assert_int_equal(sink->finish(sink, 0, &err), VPT_OK);
	assert_string_equal(names(), "");
}

static void a_target_is_untouched_when_its_replacement_fails(void **state)
{
	(void)state;
	put_file("out", "old");
	use_script(1, 1, ENOSPC, 0);
	expect_words("forced", save("out", VPT_SINK_FORCE, "new", 1), VPT_EIO,
		"out: cannot write: No space left on device");
	assert_string_equal(get_file("out"), "old");
	assert_string_equal(names(), "out ");
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
	expect_words("broken", rc, VPT_EIO, "standard output: cannot write: Broken pipe");
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

/* Descriptors are few: whatever a test above did, it gave them back. */
static int open_descriptors(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int descriptors_before;

static int count_before(void **state)
{
	(void)state;
	descriptors_before = open_descriptors();
	return 0;
}

static void no_descriptor_was_kept(void **state)
{
	(void)state;
	assert_int_equal(open_descriptors(), descriptors_before);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(only_regular_files_are_read),
		RULE(reads_stop_at_the_end),
		RULE(no_bytes_in_memory_are_a_source),
		RULE(reads_go_on_until_they_are_done),
		RULE(a_source_keeps_its_size),
		RULE(threads_may_read_at_once),
		RULE(a_file_appears_whole_or_not_at_all),
		RULE(a_file_is_private_whatever_the_umask),
		RULE(targets_are_checked_first),
		RULE(force_replaces),
		RULE(every_file_system_gets_the_file),
		RULE(a_file_that_came_first_stays),
		RULE(a_name_that_is_refused_leaves_nothing),
		RULE(a_disk_that_is_full_at_close_is_told),
		RULE(a_signal_at_close_is_no_failure),
		RULE(long_names_work),
		RULE(two_may_save_at_once_and_the_first_stays),
		RULE(a_target_survives_a_change_of_folder),
		RULE(absolute_paths_work),
		RULE(disks_may_fail_anywhere),
		RULE(a_failed_sink_refuses_more),
		RULE(a_target_is_untouched_when_its_replacement_fails),
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
