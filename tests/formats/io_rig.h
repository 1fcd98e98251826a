/* io_rig.h - what tests of sources and sinks share: an empty folder for each test, system calls that fail on demand,
 * and file systems that know less. */
#ifndef TESTS_FORMATS_IO_IO_RIG_H
#define TESTS_FORMATS_IO_IO_RIG_H

#include "formats/io/io.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/test_folder.h"

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

static struct {
	int calls, at, times; /* calls `at` to `at + times - 1` fail */
	int error;            /* their errno; 0: they move nothing */
	size_t part;          /* the most that one call moves; 0: all */
	char out[1 << 19];    /* what was written to standard output */
	size_t out_size;
} script;

static inline int scripted_failure(void)
{
	script.calls++;
	errno = script.error;
	return script.calls >= script.at && script.calls < script.at + script.times;
}

static inline long scripted_read(int fd, void *buf, size_t size, uint64_t offset)
{
	if (scripted_failure())
		return script.error ? -1 : 0;
	if (script.part && size > script.part)
		size = script.part;
	return pread(fd, buf, size, (off_t)offset);
}

static inline long scripted_write(int fd, const void *buf, size_t size)
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

static inline void use_script(int at, int times, int error, size_t part)
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

static inline int enter_folder(void **state)
{
	(void)state;
	return folder_enter("test_io");
}

static inline int leave_folder(void **state)
{
	(void)state;
	vpt_io_use(NULL);
	vpt_memory_use(NULL);
	no_renameat2 = no_linkat = no_renameat = no_close = 0;
	before_naming = NULL;
	return folder_leave();
}

static inline void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static inline void expect_words(const char *rule, int rc, int code, const char *words)
{
	if (rc != code || !strstr(err.text, words))
		fail_msg(
			"%s: expected %d \"%s\", found %d \"%s\"", rule, code, words, rc, err.text);
}

static inline int save(const char *path, int flags, const char *text, int commit)
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

static const size_t pieces[] = {0, 1, 65535, 1, 65536, 0, 7, 65537, 100, 65436, 1};
enum { PIECES_BYTES = 262154 };

static inline char pattern(size_t i)
{
	return (char)('a' + i % 26 + i / 4096 % 3);
}

static inline int write_pieces(struct vpt_sink *sink)
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

static inline void expect_pieces(const char *rule, const char *text, size_t size)
{
	size_t i;

	if (size != PIECES_BYTES)
		fail_msg("%s: %zu bytes", rule, size);
	for (i = 0; i < size; i++)
		if (text[i] != pattern(i))
			fail_msg("%s: byte %zu differs", rule, i);
}

/* Descriptors are few: whatever a test above did, it gave them back. */
static inline int open_descriptors(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int descriptors_before;

static inline int count_before(void **state)
{
	(void)state;
	descriptors_before = open_descriptors();
	return 0;
}

static inline void no_descriptor_was_kept(void **state)
{
	(void)state;
	assert_int_equal(open_descriptors(), descriptors_before);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

#endif
