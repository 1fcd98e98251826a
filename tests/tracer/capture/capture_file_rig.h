/* capture_file_rig.h - what tests of the capture file share: an empty folder for each test, a capture made in memory,
 * and a system that fails on demand. */
#ifndef TESTS_TRACER_CAPTURE_CAPTURE_FILE_RIG_H
#define TESTS_TRACER_CAPTURE_CAPTURE_FILE_RIG_H

#include "tracer/files/capture_file.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "formats/file/capture_writer.h"
#include "tests/support/traces/hand.h"
#include "tests/support/skip.h"
#include "tests/support/test_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { CHUNKS = 4, FRAMES = CHUNKS + 1, SEED = 7, ROWS = 60, DESCRIPTOR_MIN = 64 };

static struct vpt_err err;
static struct vpt_buffer whole; /* the capture that a good disk holds */
static size_t ends[FRAMES];     /* of its frames, the file header first */

static struct {
	int flock_error, fchmod_error, ftruncate_error, close_error;
	int names_taken;  /* every name */
	int open_signals; /* number of opens to interrupt */
	unsigned sleeps, opens;
} broken;

int flock(int fd, int operation)
{
	errno = broken.flock_error;
	return errno ? -1 : (int)syscall(SYS_flock, fd, operation);
}

int fchmod(int fd, mode_t mode)
{
	errno = broken.fchmod_error;
	return errno ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int ftruncate(int fd, off_t size)
{
	errno = broken.ftruncate_error;
	return errno ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int close(int fd)
{
	int rc = (int)syscall(SYS_close, fd);

	errno = broken.close_error ? broken.close_error : errno;
	return broken.close_error ? -1 : rc;
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	broken.opens++;
	errno = EEXIST;
	if (broken.names_taken && (flags & O_EXCL))
		return -1;
	errno = EINTR;
	if (broken.open_signals && broken.open_signals--)
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)wanted;
	(void)left;
	broken.sleeps++;
	return 0;
}

static inline int enter_folder(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	return folder_enter("test_capture_file");
}

static inline int leave_folder(void **state)
{
	(void)state;
	vpt_io_use(NULL);
	vpt_memory_use(NULL);
	memset(&broken, 0, sizeof(broken));
	return folder_leave();
}

static inline void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

/* The bytes of a file and, in *size, how many; a NUL behind them. */
static const char *get_file(const char *name, size_t *size)
{
	static char bytes[1 << 20];
	FILE *f = fopen(name, "rb");

	assert_non_null(f);
	*size = fread(bytes, 1, sizeof(bytes) - 1, f);
	bytes[*size] = '\0';
	fclose(f);
	return bytes;
}

static inline void expect_text(const char *name, const char *text)
{
	size_t size;

	assert_string_equal(get_file(name, &size), text);
	assert_int_equal(size, strlen(text));
}

static inline struct vpt_sink *new_file(const char *path, int overwrite)
{
	struct vpt_sink *sink;

	assert_int_equal(vtr_capture_file_new(path, overwrite, &sink, &err), VPT_OK);
	return sink;
}

static inline int put_text(struct vpt_sink *sink, const char *text)
{
	return vpt_sink_write(sink, text, strlen(text), &err);
}

/* Writes the capture until something fails. Returns the first code that was not VPT_OK; err has the
 * words. */
static inline int write_capture(struct vpt_sink *sink)
{
	struct vpt_header header = {.t0_ns = 1000, .capture_id = SEED};
	struct vpt_random r = {SEED};
	struct vpt_writer *w;
	struct vpt_batch b;
	int rc, i;

	vpt_batch_init(&b);
	rc = vpt_writer_open(sink, &header, 0, &w, &err);
	for (i = 0; i < CHUNKS && !rc; i++) {
		vpt_hand_batch(&b, &r, ROWS);
		if (i + 1 == CHUNKS)
			b.flags |= VPT_BATCH_LAST;
		rc = vpt_writer_put(w, &b, &err);
	}
	vpt_writer_free(w);
	vpt_batch_free(&b);
	return rc;
}

/* The frames of the capture that a file holds, and nothing else; read back by the reader too. -1:
 * something else. No file holds none. */
static inline int frames_of(const char *name)
{
	struct vpt_source *source;
	struct vpt_reader *reader;
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_batch b;
	size_t size, i, chunks;
	const char *bytes;
	int frames = 0;

	if (access(name, F_OK)) {
		vpt_decoder_free(decoder);
		return 0;
	}
	bytes = get_file(name, &size);
	while (frames < FRAMES && ends[frames] <= size)
		frames++;
	if (memcmp(bytes, whole.data, size < whole.size ? size : whole.size) ||
		size != (frames ? ends[frames - 1] : 0)) {
		vpt_decoder_free(decoder);
		return -1;
	}
	if (frames) {
		vpt_batch_init(&b);
		assert_int_equal(vpt_source_open(name, &source, &err), VPT_OK);
		assert_int_equal(vpt_reader_open(source, &reader, &err), VPT_OK);
		chunks = vpt_reader_chunks(reader);
		assert_int_equal(chunks, frames - 1);
		for (i = 0; i < chunks; i++)
			assert_int_equal(vpt_reader_chunk(reader, decoder, i, &b, &err), VPT_OK);
		assert_int_equal(vpt_reader_damaged_bytes(reader), 0);
		vpt_reader_free(reader);
		vpt_batch_free(&b);
	}
	vpt_decoder_free(decoder);
	return frames;
}

/* The descriptor of ours that stands for a file; -1: there is none. */
static inline int descriptor_of(const char *name)
{
	struct stat wanted, st;
	int fd;

	assert_int_equal(stat(name, &wanted), 0);
	for (fd = 0; fd < 1024; fd++)
		if (!fstat(fd, &st) && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
			return fd;
	return -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

#endif
