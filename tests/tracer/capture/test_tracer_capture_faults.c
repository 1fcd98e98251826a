/* test_tracer_capture_faults.c - the file of a capture on disks that fail, and under hosts that close, reuse, move or
 * shorten it. What the file holds must be the capture made in memory, byte for byte, up to the end of one of its
 * frames. */
#include "tests/tracer/capture/capture_file_rig.h"

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
