/* test_io_files.c - sinks to files: names, targets, disks that fail, several programs that save the same file. Each
 * test has an empty folder of its own; what is left in it at the end is part of the expectation. */
#include "tests/formats/io_rig.h"

#include <cmocka.h>

/* ---- an empty folder ---- */

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

/* ---- sinks to files ---- */

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

/* Writes the pieces while the script runs; `words` is NULL where nobody must notice. */
static void save_pieces(const char *rule, const char *path, int failing_call, const char *words)
{
	struct vpt_sink *sink;
	const char *text;
	int rc, end, code;

	memset(&err, 0, sizeof(err));
	assert_int_equal(vpt_sink_open(path, 0, &sink, &err), VPT_OK);
	rc = write_pieces(sink);
	/* asking for a commit after a failure must not commit */
	end = sink->finish(sink, 1, rc ? NULL : &err);
	code = script.error == EPIPE && !strcmp(path, "-") ? VPT_EGONE : VPT_EIO;
	assert_int_equal(end, words ? code : VPT_OK);
	if (words) {
		expect_words(rule, rc ? rc : end, code, words);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(no_descriptor_was_kept),
	};

	return cmocka_run_group_tests(tests, count_before, NULL);
}
