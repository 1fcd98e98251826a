/* system_file.c - reads a file of /proc or /sys by one read(2), as the kernel expects. */
#include "tracer/doctor/checks/system_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

size_t vtr_system_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t used = 0;
	ssize_t n;

	while (fd >= 0 && used < size - 1) {
		n = read(fd, out + used, size - 1 - used);
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
