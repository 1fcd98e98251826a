/* test_tracer_system_files.c - what the words of /proc/PID/cgroup mean, and small files are read. */
#include "tracer/guest/system_file.h"

#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
	const char *rule, *groups, *path;
} groups[] = {
	{"the line of version 2 names the group", "0::/user/1.scope\n", "/user/1.scope"},
	{"lines of version 1 come before it", "12:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/c\n",
		"/c"},
	{"a line of version 1 may end in 0", "10::/a\n", ""},
	{"a name may have colons", "0::/run/a:b::c\n1:cpu:/d\n", "/run/a:b::c"},
	{"the last line needs no end", "0::/a", "/a"},
	{"the top has no name", "0::/\n", ""},
	{"version 1 alone has none", "2:memory:/a\n1:cpu:/b\n", ""},
	{"there is nothing to read", "", ""},
};

static void the_groups_name_follows_from_its_line(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < COUNT(groups); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s", groups[i].groups);
		if (strcmp(vtr_cgroup_of(text), groups[i].path))
			fail_msg("%s: expected \"%s\"", groups[i].rule, groups[i].path);
	}
}

static void a_file_of_the_group_has_a_path(void **unused)
{
	char path[256], cut[24];

	(void)unused;
	vtr_cgroup_path("no-such.file", path, sizeof(path)); /* not in its own folder */
	assert_string_equal(path, "/sys/fs/cgroup/no-such.file");
	vtr_cgroup_path("cpu.stat", cut, sizeof(cut)); /* only the top's fits */
	assert_string_equal(cut, "/sys/fs/cgroup/cpu.stat");
}

static void a_file_is_read_to_its_end_or_the_rooms(void **unused)
{
	char path[] = "/tmp/vpt-system-file-XXXXXX", text[8];
	int fd = mkstemp(path);

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "four\n\n", 6), 6);
	assert_int_equal(vtr_system_file(path, text, sizeof(text)), 4);
	assert_string_equal(text, "four");
	assert_int_equal(write(fd, "seven", 5), 5);
	assert_int_equal(vtr_system_file(path, text, sizeof(text)), 7);
	assert_string_equal(text, "four\n\ns");
	close(fd);
	unlink(path);
	assert_int_equal(vtr_system_file(path, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_groups_name_follows_from_its_line),
		cmocka_unit_test(a_file_of_the_group_has_a_path),
		cmocka_unit_test(a_file_is_read_to_its_end_or_the_rooms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
