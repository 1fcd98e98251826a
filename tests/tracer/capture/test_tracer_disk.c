/* test_tracer_disk.c - a write that never ends, or ends when nobody waits for it any more. */
#include "tracer/files/capture_file.h"
#include "tracer/files/disk.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/vptrace-disk-XXXXXX", path[64];
static atomic_int calls, hang_at, fail_at, released;
static struct vpt_sink *_Atomic to_give_up; /* in the middle of its write */
static struct vpt_err err;

static long scripted_write(int fd, const void *data, size_t size)
{
	int call = atomic_fetch_add(&calls, 1) + 1;

	if (call == fail_at) {
		errno = ENOSPC;
		return -1;
	}
	while (call == hang_at && !released)
		usleep(200);
	if (to_give_up)
		vtr_disk_give_up(to_give_up, 70);
	return write(fd, data, size);
}

static struct vpt_sink *new_disk(void)
{
	static const struct vpt_io_ops ops = {NULL, scripted_write};
	struct vpt_sink *file, *disk;

	atomic_store(&calls, 0);
	hang_at = fail_at = released = 0;
	memset(&err, 0, sizeof(err));
	unlink(path);
	vpt_io_use(&ops);
	assert_int_equal(vtr_capture_file_new(path, 0, &file, &err), VPT_OK);
	assert_int_equal(vtr_disk_new(file, &disk, &err), VPT_OK);
	vpt_io_use(NULL);
	return disk;
}

static int put(struct vpt_sink *disk, const char *text)
{
	return vpt_sink_write(disk, text, strlen(text), &err);
}

static void expect_file(const char *text)
{
	char bytes[256];
	FILE *f = fopen(path, "rb");
	size_t size;

	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes) - 1, f);
	bytes[size] = '\0';
	fclose(f);
	assert_string_equal(bytes, text);
}

static int is_open(void)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *entry;
	struct stat file, st;
	int found = 0;

	assert_non_null(all);
	assert_int_equal(stat(path, &file), 0);
	while ((entry = readdir(all)) && !found)
		found = !fstat(atoi(entry->d_name), &st) && st.st_ino == file.st_ino &&
			st.st_dev == file.st_dev;
	closedir(all);
	return found;
}

/* Waits until the disk's thread, which nobody else waits for, has closed the file. */
static void await_file(const char *text)
{
	int i;

	for (i = 0; i < 5000 && is_open(); i++)
		usleep(1000);
	expect_file(text);
}

static void frames_arrive_in_order(void **state)
{
	struct vpt_sink *disk = new_disk();

	(void)state;
	assert_string_equal(vtr_disk_path(disk), "");
	assert_int_equal(put(disk, "one "), VPT_OK);
	assert_string_equal(vtr_disk_path(disk), path);
	assert_int_equal(put(disk, "two "), VPT_OK);
	assert_int_equal(put(disk, "a longer third"), VPT_OK);
	assert_int_equal(disk->written_bytes, 22);
	assert_int_equal(disk->finish(disk, 1, &err), VPT_OK);
	expect_file("one two a longer third");
}

static void a_failure_is_repeated(void **state)
{
	struct vpt_sink *disk = new_disk();
	struct vpt_err first;

	(void)state;
	fail_at = 2;
	assert_int_equal(put(disk, "one "), VPT_OK);
	assert_int_equal(put(disk, "two "), VPT_EIO);
	assert_non_null(strstr(err.text, "No space left"));
	first = err;
	assert_int_equal(put(disk, "three "), VPT_EIO);
	assert_string_equal(err.text, first.text);
	assert_int_equal(disk->written_bytes, 4);
	assert_int_equal(disk->finish(disk, 1, &err), VPT_EIO);
	expect_file("one ");
}

static void *give_up(void *disk)
{
	while (atomic_load(&calls) < hang_at)
		usleep(200);
	vtr_disk_give_up(disk, 70);
	return NULL;
}

/* The write ends after all, but it was counted as lost: what it wrote goes again. */
static void a_given_up_frame_is_no_part_of_the_file(void **state)
{
	struct vpt_sink *disk = new_disk();
	pthread_t thread;

	(void)state;
	hang_at = 2;
	assert_int_equal(put(disk, "one "), VPT_OK);
	assert_int_equal(pthread_create(&thread, NULL, give_up, disk), 0);
	assert_int_equal(put(disk, "two "), VPT_EIO);
	pthread_join(thread, NULL);
	assert_non_null(strstr(err.text, "writing did not end within 70 ms"));
	assert_int_equal(put(disk, "three "), VPT_EIO);
	assert_int_equal(disk->written_bytes, 4);
	assert_int_equal(disk->finish(disk, 1, &err), VPT_EIO); /* does not wait */
	released = 1;
	await_file("one ");
}

/* Whoever of the two threads comes first. */
static void a_write_that_ends_as_it_is_given_up_is_none(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct vpt_sink *disk = new_disk();

		assert_int_equal(put(disk, "one "), VPT_OK);
		to_give_up = disk;
		assert_int_equal(put(disk, "two "), VPT_EIO);
		to_give_up = NULL;
		assert_int_equal(disk->written_bytes, 4);
		assert_int_equal(disk->finish(disk, 1, &err), VPT_EIO);
		await_file("one ");
	}
}

static void what_ended_before_counts(void **state)
{
	struct vpt_sink *disk = new_disk();

	(void)state;
	assert_int_equal(put(disk, "one "), VPT_OK);
	vtr_disk_give_up(disk, 1);
	assert_int_equal(put(disk, "two "), VPT_EIO);
	assert_int_equal(disk->finish(disk, 1, &err), VPT_EIO);
	expect_file("one ");
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t.zst", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_arrive_in_order),
		cmocka_unit_test(a_failure_is_repeated),
		cmocka_unit_test(a_given_up_frame_is_no_part_of_the_file),
		cmocka_unit_test(a_write_that_ends_as_it_is_given_up_is_none),
		cmocka_unit_test(what_ended_before_counts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
