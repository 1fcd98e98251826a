/* test_tracer_capture_file.c - the capture's file under every mishap: disks that fail, names that
 * are taken, hosts that close and reuse our descriptor. Each test has an empty folder of its own.
 * The yardstick is a capture made in memory: what a file holds must be that capture, byte for byte,
 * up to the end of one of its frames. */
#include "tests/tracer/capture/capture_file_rig.h"

#include <cmocka.h>

/* ---- an empty folder ---- */

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode & 07777;
}

/* ---- captures ---- */

/* How a capture begins: a zstd frame that says so. */
#define OLD "\x28\xb5\x2f\xfd\x20\x40VPTRACE\n"

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
	};
	int rc;

	vpt_hand_capture(&whole, SEED, CHUNKS, ROWS, ends);
	rc = cmocka_run_group_tests_name("tracer_capture_file", tests, NULL, NULL);
	vpt_free(whole.data);
	return rc;
}
