/* system_file.c - small text files of /proc and /sys. */
#include "tracer/guest/system_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"

size_t vtr_system_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t used = 0;
	ssize_t n;

	while (fd >= 0 && used < size - 1) {
		n = read(fd, out + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	while (used && out[used - 1] == '\n')
		used--;
	out[used] = '\0';
	return used;
}

size_t vtr_clock_source(char *out, size_t size)
{
	return vtr_system_file(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource", out, size);
}

/* ---- control groups ---- */

/* The line "0::/PATH" names the group as this process sees it. */
const char *vtr_cgroup_of(char *groups)
{
	char *path = strncmp(groups, "0::", 3) ? strstr(groups, "\n0::") : groups;

	if (!path)
		return "";
	path += *path == '\n' ? 4 : 3;
	path[strcspn(path, "\n")] = '\0';
	return strcmp(path, "/") ? path : "";
}

void vtr_cgroup_path(const char *name, char *out, size_t size)
{
	char groups[PATH_MAX];
	int length;

	vtr_system_file("/proc/self/cgroup", groups, sizeof(groups));
	length = snprintf(out, size, CGROUPS "%s/%s", vtr_cgroup_of(groups), name);
	if (length < 0 || (size_t)length >= size || access(out, R_OK))
		snprintf(out, size, CGROUPS "/%s", name);
}
