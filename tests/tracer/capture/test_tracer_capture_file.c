/* test_tracer_capture_file.c - the capture's file under every mishap: disks that fail, names that
 * are taken, hosts that close and reuse our descriptor. Each test has an empty folder of its own.
 * The yardstick is a capture made in memory: what a file holds must be that capture, byte for byte,
 * up to the end of one of its frames.
 * Long, since every mishap is a case beside the same failing disk. */
#include "tracer/write/capture_file.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "formats/file/capture_writer.h"
#include "tests/support/traces/hand.h"
#include "tests/support/skip.h"

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

/* ---- a system that knows less, or fails ---- */

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

/* ---- writes that fail on demand ---- */

static struct {
	int calls, at, times;    /* calls `at` to `at + times - 1` fail */
	int every;               /* so does each call whose number it divides; 0: none */
	int error;               /* their errno; 0: they move nothing */
	size_t part;             /* the most that one call moves; 0: all */
	void (*instead)(int fd); /* what else a failing call does */
} script;

static long plain_read(int fd, void *buf, size_t size, uint64_t offset)
{
	return pread(fd, buf, size, (off_t)offset);
}

static long scripted_write(int fd, const void *buf, size_t size)
{
	script.calls++;
	if ((script.every && script.calls % script.every == 0) ||
		(script.calls >= script.at && script.calls - script.at < script.times)) {
		if (script.instead)
			script.instead(fd);
		errno = script.error;
		return script.error ? -1 : 0;
	}
	if (script.part && size > script.part)
		size = script.part;
	return write(fd, buf, size);
}

static void use_script(int at, int times, int error, size_t part)
{
	static const struct vpt_io_ops ops = {plain_read, scripted_write};

	memset(&script, 0, sizeof(script));
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
	memset(&err, 0, sizeof(err));
	snprintf(folder, sizeof(folder), "%s/test_capture_file.XXXXXX", base ? base : P_tmpdir);
	if (!getcwd(start_folder, sizeof(start_folder)) || !mkdtemp(folder))
		return -1;
	return chdir(folder) || !getcwd(folder, sizeof(folder)) ? -1 : 0;
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
	memset(&broken, 0, sizeof(broken));
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

static void expect_text(const char *name, const char *text)
{
	size_t size;

	assert_string_equal(get_file(name, &size), text);
	assert_int_equal(size, strlen(text));
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode & 07777;
}

/* ---- captures ---- */

/* How a capture begins: a zstd frame that says so. */
#define OLD "\x28\xb5\x2f\xfd\x20\x40VPTRACE\n"

static struct vpt_sink *new_file(const char *path, int overwrite)
{
	struct vpt_sink *sink;

	assert_int_equal(vtr_capture_file_new(path, overwrite, &sink, &err), VPT_OK);
	return sink;
}

static int put_text(struct vpt_sink *sink, const char *text)
{
	return vpt_sink_write(sink, text, strlen(text), &err);
}

/* Writes the capture until something fails. Returns the first code that was not VPT_OK; err has the
 * words. */
static int write_capture(struct vpt_sink *sink)
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
static int frames_of(const char *name)
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
static int descriptor_of(const char *name)
{
	struct stat wanted, st;
	int fd;

	assert_int_equal(stat(name, &wanted), 0);
	for (fd = 0; fd < 1024; fd++)
		if (!fstat(fd, &st) && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
			return fd;
	return -1;
}

/* ---- making the file ---- */

static void the_file_comes_with_its_first_byte(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);
	char path[8192];
	int fd;

	(void)state;
	assert_string_equal(vtr_capture_file_path(sink), "");
	assert_int_equal(vpt_sink_write(sink, "", 0, &err), VPT_OK);
	assert_string_equal(names(), "");
	assert_int_equal(write_capture(sink), VPT_OK);
	snprintf(path, sizeof(path), "%s/t.zst", folder);
	assert_string_equal(vtr_capture_file_path(sink), path);
	assert_int_equal(sink->written_bytes, whole.size);
	fd = descriptor_of("t.zst");
	assert_true(fd >= DESCRIPTOR_MIN);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND), O_WRONLY | O_APPEND);
	assert_int_equal(frames_of("t.zst"), FRAMES);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_int_equal(descriptor_of("t.zst"), -1);
	assert_int_equal(frames_of("t.zst"), FRAMES);
	assert_string_equal(names(), "t.zst ");
}

static void without_a_byte_there_is_no_file(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 1);

	(void)state;
	put_file("t.zst", "old");
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	expect_text("t.zst", "old");
}

static void a_file_made_for_nothing_goes_again(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	assert_int_equal(vtr_capture_file_create(sink, &err), VPT_OK);
	assert_string_equal(names(), "t.zst ");
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_string_equal(names(), "");

	/* Neither what was there before nor what took its name. */
	put_file("t.zst", "");
	sink = new_file("t.zst", 1);
	assert_int_equal(vtr_capture_file_create(sink, &err), VPT_OK);
	assert_int_equal(sink->finish(sink, 0, &err), VPT_OK);
	assert_string_equal(names(), "t.zst ");
	sink = new_file("u.zst", 0);
	assert_int_equal(vtr_capture_file_create(sink, &err), VPT_OK);
	assert_int_equal(unlink("u.zst"), 0);
	put_file("u.zst", "another's");
	assert_int_equal(sink->finish(sink, 0, &err), VPT_OK);
	expect_text("u.zst", "another's");
}

static void what_was_written_stays_without_a_commit(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	assert_int_equal(write_capture(sink), VPT_OK);
	assert_int_equal(sink->finish(sink, 0, NULL), VPT_OK);
	assert_int_equal(frames_of("t.zst"), FRAMES);
}

static void the_path_means_the_folder_of_its_time(void **state)
{
	struct vpt_sink *sink;

	(void)state;
	assert_int_equal(mkdir("elsewhere", 0700), 0);
	sink = new_file("t.zst", 0);
	assert_int_equal(chdir("elsewhere"), 0);
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_string_equal(names(), "");
	assert_int_equal(chdir(folder), 0);
	assert_string_equal(names(), "elsewhere t.zst ");
}

static void taken_names_get_a_free_number(void **state)
{
	static const struct {
		const char *rule, *there, *path, *expected;
	} cases[] = {
		{"before the suffix", "trace.zst", "trace.zst", "trace-2.zst"},
		{"the first that is free", "trace.zst trace-2.zst trace-4.zst", "trace.zst",
			"trace-3.zst"},
		{"a name that is numbered already", "trace-2.zst", "trace-2.zst", "trace-2-2.zst"},
		{"without suffix", "trace", "trace", "trace-2"},
		{"the last suffix", "a.b.c", "a.b.c", "a.b-2.c"},
		{"a dot in front begins none", ".zst", ".zst", ".zst-2"},
		{"a dot at the end", "a.", "a.", "a-2."},
		{"a free name stays", "trace-2.zst", "trace.zst", "trace.zst"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char there[128], *name, *rest = there;
		struct vpt_sink *sink = new_file(cases[i].path, 0);
		const char *path;

		snprintf(there, sizeof(there), "%s", cases[i].there);
		while ((name = strtok_r(rest, " ", &rest)) != NULL)
			put_file(name, "old");
		assert_int_equal(put_text(sink, "new"), VPT_OK);
		path = vtr_capture_file_path(sink);
		if (strcmp(strrchr(path, '/') + 1, cases[i].expected))
			fail_msg("%s: found %s", cases[i].rule, path);
		expect_text(cases[i].expected, "new");
		assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
		snprintf(there, sizeof(there), "%s", cases[i].there);
		for (rest = there; (name = strtok_r(rest, " ", &rest)) != NULL;)
			expect_text(name, "old");
		remove_all();
	}
}

static void a_dot_in_a_folder_is_no_suffix(void **state)
{
	struct vpt_sink *sink = new_file("a.b/trace", 0);

	(void)state;
	assert_int_equal(mkdir("a.b", 0700), 0);
	put_file("a.b/trace", "old");
	assert_int_equal(put_text(sink, "new"), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	expect_text("a.b/trace-2", "new");
	assert_int_equal(unlink("a.b/trace-2") | unlink("a.b/trace"), 0);
}

static void names_run_out_after_ten_thousand(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);
	char words[8192];

	(void)state;
	broken.names_taken = 1;
	assert_int_equal(put_text(sink, "x"), VPT_EIO);
	snprintf(words, sizeof(words),
		"%.200s/t-9999.zst: cannot create: 10,000 names in a row are in use", folder);
	assert_string_equal(err.text, words);
	assert_string_equal(vtr_capture_file_path(sink), "");
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
}

/* Ten thousand captures of one name, and another: found in a few looks. */
static void a_free_number_is_found_at_once(void **state)
{
	struct vpt_sink *sink;
	char name[32];
	size_t i;

	(void)state;
	put_file("t.zst", "old");
	for (i = 2; i <= 12000; i++) {
		snprintf(name, sizeof(name), "t-%zu.zst", i);
		assert_int_equal(link("t.zst", name), 0);
	}
	sink = new_file("t.zst", 0);
	broken.opens = 0;
	assert_int_equal(vtr_capture_file_create(sink, &err), VPT_OK);
	assert_in_range(broken.opens, 1, 20);
	assert_non_null(strstr(vtr_capture_file_path(sink), "/t-12001.zst"));
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
}

static void opens_are_repeated_after_a_signal(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	broken.open_signals = 3;
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	sink = new_file("u.zst", 0);
	broken.open_signals = 1000;
	assert_int_equal(put_text(sink, "x"), VPT_EIO);
	assert_true(broken.open_signals > 0);
	assert_non_null(strstr(err.text, "u.zst: cannot create: Interrupted system call"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
}

static void a_name_that_cannot_be_is_one_sentence(void **state)
{
	static char long_name[300];
	static const struct {
		const char *path, *words;
	} cases[] = {
		{"absent/t.zst", "/absent/t.zst: cannot create: No such file or directory"},
		{"file/t.zst", "/file/t.zst: cannot create: Not a directory"},
		{"loop/t.zst", "/loop/t.zst: cannot create: Too many levels of symbolic links"},
		{"dir", "/dir: is a folder; "},
		{long_name, ": cannot create: File name too long"},
	};
	size_t i;
	int overwrite;

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	put_file("file", "");
	assert_int_equal(mkdir("dir", 0700) | symlink("loop", "loop"), 0);
	for (i = 0; i < 2 * COUNT(cases); i++) {
		struct vpt_sink *sink;
		char first[sizeof(err.text)];

		overwrite = i % 2;
		sink = new_file(cases[i / 2].path, overwrite);
		assert_int_equal(put_text(sink, "x"), VPT_EIO);
		if (!strstr(err.text, cases[i / 2].words))
			fail_msg("%s: found \"%s\"", cases[i / 2].path, err.text);
		snprintf(first, sizeof(first), "%s", err.text);
		assert_string_equal(vtr_capture_file_path(sink), "");
		assert_int_equal(put_text(sink, "x"), VPT_EIO);
		assert_string_equal(err.text, first); /* the same again, and nothing tried */
		assert_int_equal(sink->finish(sink, 0, &err), VPT_OK);
	}
	assert_string_equal(names(), "dir file loop ");
}

static void modes_do_not_depend_on_the_umask(void **state)
{
	static const mode_t masks[] = {0, 022, 077, 0777};
	struct vpt_sink *sink;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(masks); i++) {
		mode_t former = umask(masks[i]);

		sink = new_file("t.zst", 0);
		assert_int_equal(put_text(sink, "x"), VPT_OK);
		umask(former);
		assert_int_equal(mode_of("t.zst"), 0600);
		assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
		assert_int_equal(unlink("t.zst"), 0);
	}
	put_file("t.zst", OLD "and longer");
	assert_int_equal(chmod("t.zst", 0644), 0);
	sink = new_file("t.zst", 1);
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_int_equal(mode_of("t.zst"), 0600);
	expect_text("t.zst", "x");
}

static void only_plain_files_are_overwritten(void **state)
{
	static const struct {
		const char *path, *found;
	} cases[] = {
		{"link", "a symbolic link"},
		{"dangling", "a symbolic link"},
		{"full", "a symbolic link"},
		{"fifo", "a FIFO"},
		{"dir", "a folder"},
		{"socket", "a socket"},
		{"hard", "a file with several links"},
		{"/dev/full", "a device"},
		{"/dev/null", "a device"},
	};
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), reader;
	char byte;
	size_t i;

	(void)state;
	put_file("victim", "dear");
	assert_int_equal(chmod("victim", 0644), 0);
	assert_int_equal(symlink("victim", "link") | symlink("nowhere", "dangling") |
				 symlink("/dev/full", "full") | mkfifo("fifo", 0600) |
				 mkdir("dir", 0700) | link("victim", "hard") |
				 bind(fd, (struct sockaddr *)&address, sizeof(address)),
		0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_sink *sink = new_file(cases[i].path, 1);
		char words[256];

		snprintf(words, sizeof(words),
			"%s: is %s; only a regular file of this user without other links is "
			"overwritten",
			cases[i].path, cases[i].found);
		assert_int_equal(put_text(sink, "x"), VPT_EIO);
		if (!strstr(err.text, words))
			fail_msg("expected \"%s\", found \"%s\"", words, err.text);
		assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	}
	assert_string_equal(names(), "dangling dir fifo full hard link socket victim ");
	expect_text("victim", "dear");
	assert_int_equal(mode_of("victim"), 0644);
	assert_int_equal(read(reader, &byte, 1), 0); /* nobody had opened it to write */
	close(reader);
	close(fd);
}

static void nothing_is_followed_without_leave_to_overwrite(void **state)
{
	static const char *const paths[] = {"link", "dangling", "full", "hard"};
	size_t i;

	(void)state;
	put_file("victim", "dear");
	assert_int_equal(symlink("victim", "link") | symlink("nowhere", "dangling") |
				 symlink("/dev/full", "full") | mkfifo("fifo", 0600) |
				 link("victim", "hard"),
		0);
	for (i = 0; i < COUNT(paths); i++) {
		struct vpt_sink *sink = new_file(paths[i], 0);

		assert_int_equal(put_text(sink, paths[i]), VPT_OK);
		assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	}
	assert_string_equal(
		names(), "dangling dangling-2 fifo full full-2 hard hard-2 link link-2 victim ");
	expect_text("victim", "dear");
	expect_text("full-2", "full");
}

/* A number would make another file of it, where nobody looks for it. */
static void what_is_no_file_is_never_numbered(void **state)
{
	static const struct {
		const char *path, *found;
	} cases[] = {
		{"fifo", "a FIFO"},
		{"dir", "a folder"},
		{"/dev/full", "a device"},
		{"/dev/null", "a device"},
	};
	struct vpt_sink *sink;
	char words[256];
	size_t i;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600) | mkdir("dir", 0700), 0);
	for (i = 0; i < COUNT(cases); i++) {
		sink = new_file(cases[i].path, 0);
		snprintf(words, sizeof(words), "%s: is %s; expected the name of a regular file",
			cases[i].path, cases[i].found);
		assert_int_equal(vtr_capture_file_create(sink, &err), VPT_EIO);
		if (!strstr(err.text, words))
			fail_msg("expected \"%s\", found \"%s\"", words, err.text);
		assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	}
	assert_string_equal(names(), "dir fifo ");
	assert_int_not_equal(access("/dev/full-2", F_OK) & access("/dev/null-2", F_OK), 0);
}

/* Needs to be root: another user's file, which root could well write to. */
static void files_of_others_are_not_overwritten(void **state)
{
	struct vpt_sink *sink;

	(void)state;
	if (geteuid() != 0)
		vpt_skip("files of another user can only be made by root");
	put_file("t.zst", "theirs");
	assert_int_equal(chown("t.zst", 65534, 65534), 0);
	sink = new_file("t.zst", 1);
	assert_int_equal(put_text(sink, "x"), VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: is another user's file; only"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	expect_text("t.zst", "theirs");
}

/* Whoever names a script of the run, a picture or a table as the output does not want to lose it. */
static void only_captures_are_overwritten(void **state)
{
	static const struct {
		const char *rule, *text;
		int is_replaced;
	} cases[] = {
		{"a capture",
			OLD "and all the rest of it, which is longer than a header of 64 bytes", 1},
		{"nothing", "", 1},
		{"a capture that was killed at once", "\x28\xb5\x2f\xfd\x20", 1},
		{"its first byte", "\x28", 1},
		{"a script", "import torch\n", 0},
		{"a long script",
			"#!/usr/bin/env python3\n# all of the pipeline, which is longer than 64 "
			"bytes\nimport torch\n",
			0},
		{"one letter", "x", 0},
		{"a program",
			"\x7f"
			"ELF",
			0},
		{"another file packed by zstd",
			"\x28\xb5\x2f\xfd\x20 a table, which is longer than "
			"a header of 64 bytes, and no capture",
			0},
		{"a text about VPTRACE", "VPTRACE\nwrites captures", 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_err checked = {0};
		struct vpt_sink *sink;
		int wanted = cases[i].is_replaced ? VPT_OK : VPT_EIO;

		remove_all();
		put_file("t.zst", cases[i].text);
		assert_int_equal(vtr_capture_file_check("t.zst", 1, &checked),
			cases[i].is_replaced ? VPT_OK : VPT_EINVAL);
		sink = new_file("t.zst", 1);
		if (put_text(sink, "x") != wanted)
			fail_msg("%s: %s", cases[i].rule, err.text);
		if (!cases[i].is_replaced) {
			assert_non_null(strstr(err.text, "t.zst: is a file that is no capture; "));
			assert_non_null(
				strstr(checked.text, "t.zst: is a file that is no capture; "));
		}
		assert_int_equal(sink->finish(sink, 1, &err), wanted);
		expect_text("t.zst", cases[i].is_replaced ? "x" : cases[i].text);
		assert_string_equal(names(), "t.zst ");
	}
}

static void numbered_names_are_never_overwritten(void **state)
{
	struct vpt_sink *first = new_file("t.zst", 1), *second = new_file("t.zst", 1);

	(void)state;
	put_file("t.zst", OLD);
	put_file("t-2.zst", "older");
	assert_int_equal(put_text(first, "first"), VPT_OK);
	assert_int_equal(put_text(second, "second"), VPT_OK); /* t.zst is being written to */
	assert_int_equal(put_text(first, " and last"), VPT_OK);
	assert_int_equal(first->finish(first, 1, &err), VPT_OK);
	assert_int_equal(second->finish(second, 1, &err), VPT_OK);
	assert_string_equal(names(), "t-2.zst t-3.zst t.zst ");
	expect_text("t.zst", "first and last");
	expect_text("t-2.zst", "older");
	expect_text("t-3.zst", "second");
}

static void file_systems_may_lack_locks_and_modes(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	broken.flock_error = ENOLCK;
	broken.fchmod_error = EPERM;
	assert_int_equal(write_capture(sink), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_int_equal(frames_of("t.zst"), FRAMES);
}

/* ---- many processes, one name ---- */

enum { RACERS = 16 };

/* A racer: waits for the start, writes who it is, says so, waits until all are done. Returns its
 * exit status. */
static int race(int overwrite, int number, int start, int done, int leave)
{
	char text[32], byte;
	struct vpt_sink *sink;
	int rc = vtr_capture_file_new("race.zst", overwrite, &sink, NULL), i;

	if (rc || read(start, &byte, 1) != 0)
		return 1;
	snprintf(text, sizeof(text), "%d ", number);
	for (i = 0; i < 50 && !rc; i++)
		rc = vpt_sink_write(sink, text, strlen(text), NULL);
	if (write(done, "x", 1) != 1 || read(leave, &byte, 1) != 0)
		return 1;
	return sink->finish(sink, 1, NULL) || rc ? 1 : 0;
}

static void expect_racers(void)
{
	int seen[RACERS] = {0}, i, k, number;
	char name[64], expected[512];

	for (i = 0; i < RACERS; i++) {
		size_t size, used = 0;
		const char *text;

		snprintf(name, sizeof(name), i ? "race-%d.zst" : "race.zst", i + 1);
		text = get_file(name, &size);
		number = atoi(text);
		assert_in_range(number, 0, RACERS - 1);
		assert_int_equal(seen[number]++, 0);
		for (k = 0; k < 50; k++)
			used += (size_t)snprintf(
				expected + used, sizeof(expected) - used, "%d ", number);
		assert_string_equal(text, expected);
	}
}

static void racers_get_a_file_each(void **state)
{
	int overwrite, i, status, start[2], done[2], leave[2];
	pid_t children[RACERS];
	char byte;

	(void)state;
	for (overwrite = 0; overwrite < 2; overwrite++) {
		remove_all();
		if (overwrite)
			put_file("race.zst", OLD "a much older capture");
		assert_int_equal(pipe(start) | pipe(done) | pipe(leave), 0);
		for (i = 0; i < RACERS; i++) {
			children[i] = fork();
			assert_true(children[i] >= 0);
			if (children[i])
				continue;
			close(start[1]);
			close(leave[1]);
			_exit(race(overwrite, i, start[0], done[1], leave[0]));
		}
		close(start[1]);
		close(done[1]);
		for (i = 0; i < RACERS; i++)
			assert_int_equal(read(done[0], &byte, 1), 1);
		close(leave[1]);
		for (i = 0; i < RACERS; i++) {
			assert_int_equal(waitpid(children[i], &status, 0), children[i]);
			assert_int_equal(status, 0);
		}
		close(start[0]);
		close(done[0]);
		close(leave[0]);
		expect_racers();
	}
}

/* ---- disks that fail ---- */

static void writes_go_on_until_they_are_done(void **state)
{
	static const struct {
		const char *rule;
		int at, times, error;
		size_t part;
		int every;
	} cases[] = {
		{"one byte at a time", 0, 0, 0, 1, 0},
		{"a signal first", 1, 1, EINTR, 0, 0},
		{"signals between", 3, 50, EINTR, 99, 0},
		{"a file system that is busy", 2, 100, EAGAIN, 500, 0},
		{"a write that moves nothing", 2, 3, 0, 500, 0},
		{"a signal before every byte", 0, 0, EINTR, 1, 2},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpt_sink *sink;

		use_script(cases[i].at, cases[i].times, cases[i].error, cases[i].part);
		script.every = cases[i].every;
		sink = new_file("t.zst", 0);
		if (write_capture(sink) || sink->finish(sink, 1, &err) ||
			frames_of("t.zst") != FRAMES)
			fail_msg("%s: %s", cases[i].rule, err.text);
		assert_int_equal(unlink("t.zst"), 0);
	}
}

/* A write fails, and so do those after it if `times` says so: what is there ends with a whole
 * frame. */
static void fail_one(int at, int times, int error, size_t part)
{
	int retried = error == EINTR || error == EAGAIN || !error;
	int expected = retried && times == 1 ? VPT_OK : VPT_EIO, frames;
	struct vpt_sink *sink = NULL;

	use_script(at, times, error, part);
	broken.sleeps = 0;
	sink = new_file("t.zst", 0);
	assert_int_equal(write_capture(sink), expected);
	frames = frames_of("t.zst");
	if (!expected) {
		assert_int_equal(frames, FRAMES);
		assert_int_equal(broken.sleeps, 1);
	} else {
		assert_in_range(frames, 0, FRAMES - 1);
		if (!part)
			assert_int_equal(frames, at - 1);
		assert_int_equal(broken.sleeps, retried ? 100 : 0);
		assert_non_null(strstr(err.text, "t.zst: cannot write: "));
		vpt_io_use(NULL); /* a disk that is well again is not asked */
		assert_int_equal(put_text(sink, "x"), VPT_EIO);
	}
	assert_int_equal(sink->finish(sink, 1, &err), expected);
	assert_int_equal(frames_of("t.zst"), frames);
	assert_int_equal(unlink("t.zst"), frames ? 0 : -1); /* an empty file goes by itself */
}

/* The n-th write fails for every n, with whole frames and with parts of 700 bytes. */
static void a_failing_disk_leaves_whole_frames(void **state)
{
	static const int errors[] = {
		EIO, ENOSPC, EDQUOT, EFBIG, EPIPE, ENXIO, ESTALE, EINTR, EAGAIN, 0};
	static const size_t parts[] = {0, 700};
	struct vpt_sink *sink;
	int at, calls;
	size_t e, p;

	(void)state;
	for (p = 0; p < COUNT(parts); p++) {
		use_script(0, 0, 0, parts[p]);
		sink = new_file("scale", 0);
		assert_int_equal(write_capture(sink), VPT_OK);
		assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
		assert_int_equal(unlink("scale"), 0);
		calls = script.calls;
		assert_true(parts[p] ? calls > 2 * FRAMES : calls == FRAMES);
		for (e = 0; e < COUNT(errors); e++)
			for (at = 1; at <= calls; at++) {
				fail_one(at, 1, errors[e], parts[p]);
				fail_one(at, INT32_MAX, errors[e], parts[p]);
			}
	}
}

static void a_tail_that_cannot_be_cut_off_costs_only_itself(void **state)
{
	struct vpt_sink *sink;
	struct vpt_source *source;
	struct vpt_reader *reader;
	size_t size;

	(void)state;
	broken.ftruncate_error = 0;
	use_script(0, 0, 0, 100);
	sink = new_file("t.zst", 0);
	assert_int_equal(vpt_sink_write(sink, whole.data, ends[2], &err), VPT_OK);
	script.at = script.calls + 3;
	script.times = 1;
	script.error = ENOSPC;
	broken.ftruncate_error = EIO;
	assert_int_equal(
		vpt_sink_write(sink, whole.data + ends[2], ends[3] - ends[2], &err), VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: cannot write: No space left on device"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	get_file("t.zst", &size);
	assert_int_equal(size, ends[2] + 200);
	assert_int_equal(vpt_source_open("t.zst", &source, &err), VPT_OK);
	assert_int_equal(vpt_reader_open(source, &reader, &err), VPT_OK);
	assert_true(vpt_reader_chunks(reader) >= 2);
	assert_int_equal(vpt_reader_info(reader, 1)->state, VPT_CHUNK_WHOLE);
	vpt_reader_free(reader);
}

static void a_close_that_fails_is_told(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);
	int rc;

	(void)state;
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	broken.close_error = EDQUOT;
	rc = sink->finish(sink, 1, &err);
	broken.close_error = 0;
	assert_int_equal(rc, VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: cannot write: Disk quota exceeded"));
	sink = new_file("u.zst", 0);
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	broken.close_error = EINTR; /* closed all the same */
	rc = sink->finish(sink, 1, &err);
	broken.close_error = 0;
	assert_int_equal(rc, VPT_OK);
}

static void a_size_limit_leaves_whole_frames(void **state)
{
	struct rlimit former, limit;
	sigset_t blocked, mask;
	int step, rc, frames, expected;

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &blocked, &mask);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	for (step = 0; step < 50; step++) {
		struct vpt_sink *sink = new_file("t.zst", 0);

		limit = former;
		limit.rlim_cur = whole.size * (size_t)step / 49;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		rc = write_capture(sink);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
		for (expected = 0; expected < FRAMES && ends[expected] <= limit.rlim_cur;)
			expected++;
		frames = frames_of("t.zst");
		if (frames != expected || rc != (expected == FRAMES ? VPT_OK : VPT_EIO))
			fail_msg("limit %lu: %d frames, expected %d, code %d",
				(unsigned long)limit.rlim_cur, frames, expected, rc);
		if (rc)
			assert_non_null(strstr(err.text, "t.zst: cannot write: File too large"));
		assert_int_equal(sink->finish(sink, 1, NULL), rc);
		assert_int_equal(
			unlink("t.zst"), frames ? 0 : -1); /* an empty file goes by itself */
	}
	sigemptyset(&blocked);
	sigpending(&blocked);
	if (sigismember(&blocked, SIGXFSZ)) {
		signal(SIGXFSZ, SIG_IGN); /* takes the pending one away */
		signal(SIGXFSZ, SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* ---- hosts that meddle ---- */

static void a_closed_descriptor_is_noticed(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	assert_int_equal(vpt_sink_write(sink, whole.data, ends[1], &err), VPT_OK);
	assert_int_equal(close(descriptor_of("t.zst")), 0);
	assert_int_equal(vpt_sink_write(sink, "x", 1, &err), VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: cannot write: the program closed the descriptor"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	assert_int_equal(frames_of("t.zst"), 2);
}

static void a_reused_descriptor_is_left_alone(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);
	int victim, fd;

	(void)state;
	put_file("victim", "dear");
	victim = open("victim", O_RDWR);
	assert_int_equal(vpt_sink_write(sink, whole.data, ends[1], &err), VPT_OK);
	fd = descriptor_of("t.zst");
	assert_int_equal(dup2(victim, fd), fd);
	assert_int_equal(vpt_sink_write(sink, "x", 1, &err), VPT_EIO);
	assert_non_null(strstr(
		err.text, "t.zst: cannot write: the program gave the descriptor to another file"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	assert_int_equal(fcntl(fd, F_GETFD), 0); /* open still */
	expect_text("victim", "dear");
	assert_int_equal(frames_of("t.zst"), 2);
	close(fd);
	close(victim);
}

static void a_descriptor_reused_after_the_last_byte_is_left_open(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);
	int victim, fd;

	(void)state;
	put_file("victim", "dear");
	victim = open("victim", O_RDWR);
	assert_int_equal(write_capture(sink), VPT_OK);
	fd = descriptor_of("t.zst");
	assert_int_equal(dup2(victim, fd), fd);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	assert_int_equal(frames_of("t.zst"), FRAMES);
	close(fd);
	close(victim);
}

static void put_victim_there(int fd)
{
	int victim = open("victim", O_RDWR);

	assert_int_equal(dup2(victim, fd), fd);
	close(victim);
}

/* The number changes hands between a failing write and the cutting off. */
static void a_reused_descriptor_is_not_cut_off(void **state)
{
	struct vpt_sink *sink;

	(void)state;
	put_file("victim", "dear, and longer than a byte");
	use_script(2, 1, EIO, 1);
	script.instead = put_victim_there;
	sink = new_file("t.zst", 0);
	assert_int_equal(put_text(sink, "xyz"), VPT_EIO);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	expect_text("victim", "dear, and longer than a byte");
	close(descriptor_of("victim"));
}

static void a_deleted_file_is_noticed(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	assert_int_equal(unlink("t.zst"), 0);
	assert_int_equal(put_text(sink, "x"), VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: cannot write: the file was deleted"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	assert_string_equal(names(), "");
}

static void a_renamed_file_goes_on(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	assert_int_equal(put_text(sink, "x"), VPT_OK);
	assert_int_equal(rename("t.zst", "u.zst"), 0);
	assert_int_equal(put_text(sink, "y"), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	expect_text("u.zst", "xy");
}

static void shorten(int fd)
{
	(void)fd;
	assert_int_equal(truncate("t.zst", 1), 0);
}

/* A file that the host cut short, before a write or during it, is not made longer by cutting off. */
static void a_shortened_file_is_not_lengthened(void **state)
{
	struct vpt_sink *sink;
	int during;

	(void)state;
	for (during = 0; during < 2; during++) {
		use_script(3, 1, ENOSPC, 2);
		script.instead = during ? shorten : NULL;
		sink = new_file("t.zst", 0);
		assert_int_equal(put_text(sink, "ab"), VPT_OK);
		if (!during)
			shorten(-1);
		assert_int_equal(put_text(sink, "cdef"), VPT_EIO);
		assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
		expect_text("t.zst", "a");
		assert_int_equal(unlink("t.zst"), 0);
	}
}

/* Between two writes, and the words say so. */
static void what_was_done_to_the_file_is_said(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);

	(void)state;
	assert_int_equal(put_text(sink, "abcdef"), VPT_OK);
	assert_int_equal(truncate("t.zst", 2), 0);
	assert_int_equal(put_text(sink, "gh"), VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: cannot write: the file was truncated"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	expect_text("t.zst", "ab");
}

static void a_host_without_standard_output_gets_none(void **state)
{
	static const struct rlimit few = {16, 16};
	int limited, status;

	(void)state;
	for (limited = 0; limited < 2; limited++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child) {
			struct vpt_sink *sink;
			int rc;

			close(0);
			close(1);
			close(2);
			if (limited && setrlimit(RLIMIT_NOFILE, &few))
				_exit(1);
			rc = vtr_capture_file_new("t.zst", 0, &sink, NULL);
			if (rc || write_capture(sink))
				_exit(2);
			if (write(0, "x", 1) > 0 || write(1, "x", 1) > 0 || write(2, "x", 1) > 0)
				_exit(3);
			_exit(sink->finish(sink, 1, NULL) ? 4 : 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(frames_of("t.zst"), FRAMES);
		assert_int_equal(unlink("t.zst"), 0);
	}
}

static void a_host_out_of_descriptors_is_told(void **state)
{
	struct rlimit former, none;
	struct vpt_sink *sink = new_file("t.zst", 0);
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &former), 0);
	none = former;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = put_text(sink, "x");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &former), 0);
	assert_int_equal(rc, VPT_EIO);
	assert_non_null(strstr(err.text, "t.zst: cannot create: Too many open files"));
	assert_int_equal(sink->finish(sink, 1, &err), VPT_EIO);
	assert_string_equal(names(), "");
}

static void a_forked_child_writes_nothing(void **state)
{
	struct vpt_sink *sink = new_file("t.zst", 0);
	int status, fd;
	pid_t child;

	(void)state;
	assert_int_equal(vpt_sink_write(sink, whole.data, ends[1], &err), VPT_OK);
	fd = descriptor_of("t.zst");
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		vtr_capture_file_abandon(sink);
		if (fcntl(fd, F_GETFD) >= 0)
			_exit(1);
		if (put_text(sink, "x") != VPT_EIO)
			_exit(2);
		vtr_capture_file_abandon(sink);
		_exit(sink->finish(sink, 0, &err) ? 3 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(
		vpt_sink_write(sink, whole.data + ends[1], whole.size - ends[1], &err), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	assert_int_equal(frames_of("t.zst"), FRAMES);
}

/* ---- no memory ---- */

static int allocations_left;

static void *scarce(void *ptr, size_t size)
{
	return allocations_left-- > 0 ? realloc(ptr, size) : NULL;
}

static void without_memory_there_is_no_sink(void **state)
{
	static const struct vpt_memory_ops ops = {scarce, free};
	struct vpt_sink *sink = (struct vpt_sink *)&ops;
	int n, rc = VPT_ENOMEM;

	(void)state;
	vpt_memory_use(&ops);
	for (n = 0; rc; n++) {
		allocations_left = n;
		rc = vtr_capture_file_new("t.zst", 0, &sink, &err);
		if (rc) {
			assert_int_equal(rc, VPT_ENOMEM);
			assert_null(sink);
			assert_string_equal(err.text, "t.zst: no memory to write it");
		}
	}
	assert_int_equal(n, 4);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_file_comes_with_its_first_byte),
		TEST(without_a_byte_there_is_no_file),
		TEST(a_file_made_for_nothing_goes_again),
		TEST(what_was_written_stays_without_a_commit),
		TEST(the_path_means_the_folder_of_its_time),
		TEST(taken_names_get_a_free_number),
		TEST(a_dot_in_a_folder_is_no_suffix),
		TEST(names_run_out_after_ten_thousand),
		TEST(a_free_number_is_found_at_once),
		TEST(opens_are_repeated_after_a_signal),
		TEST(a_name_that_cannot_be_is_one_sentence),
		TEST(modes_do_not_depend_on_the_umask),
		TEST(only_plain_files_are_overwritten),
		TEST(nothing_is_followed_without_leave_to_overwrite),
		TEST(only_captures_are_overwritten),
		TEST(what_is_no_file_is_never_numbered),
		TEST(files_of_others_are_not_overwritten),
		TEST(numbered_names_are_never_overwritten),
		TEST(file_systems_may_lack_locks_and_modes),
		TEST(racers_get_a_file_each),
		TEST(writes_go_on_until_they_are_done),
		TEST(a_failing_disk_leaves_whole_frames),
		TEST(a_tail_that_cannot_be_cut_off_costs_only_itself),
		TEST(a_close_that_fails_is_told),
		TEST(a_size_limit_leaves_whole_frames),
		TEST(a_closed_descriptor_is_noticed),
		TEST(a_reused_descriptor_is_left_alone),
		TEST(a_descriptor_reused_after_the_last_byte_is_left_open),
		TEST(a_reused_descriptor_is_not_cut_off),
		TEST(a_deleted_file_is_noticed),
		TEST(a_renamed_file_goes_on),
		TEST(a_shortened_file_is_not_lengthened),
		TEST(what_was_done_to_the_file_is_said),
		TEST(a_host_without_standard_output_gets_none),
		TEST(a_host_out_of_descriptors_is_told),
		TEST(a_forked_child_writes_nothing),
		TEST(without_memory_there_is_no_sink),
	};
	int rc;

	vpt_hand_capture(&whole, SEED, CHUNKS, ROWS, ends);
	rc = cmocka_run_group_tests_name("tracer_capture_file", tests, NULL, NULL);
	vpt_free(whole.data);
	return rc;
}
