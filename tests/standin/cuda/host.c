/* host.c - the host that a process of a simulated job is on: name, boot, and the GPUs of its own.
 *
 * With host=N in VPT_STANDIN_RANK, callers in a program that is linked to libcuda ahead of libc are
 * on host "standin-N", which has a boot id of its own. Nothing else of the machine changes. */
#include "tests/standin/cuda/world.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static int host_name(char *out, size_t size)
{
	int64_t number;

	if (!sim_rank_word("host", &number))
		return 0;
	snprintf(out, size, "standin-%" PRId64, number);
	return 1;
}

int uname(struct utsname *out)
{
	if (syscall(SYS_uname, out))
		return -1;
	host_name(out->nodename, sizeof(out->nodename));
	return 0;
}

int gethostname(char *name, size_t size)
{
	struct utsname host;

	if (uname(&host))
		return -1;
	if (size <= strlen(host.nodename)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name, host.nodename);
	return 0;
}

/* A file with the boot id of a simulated host. */
static int open_boot_id(int64_t host)
{
	int fd = memfd_create("boot_id", MFD_CLOEXEC);

	if (fd >= 0 &&
		(dprintf(fd, "00000000-0000-4000-8000-%012" PRIx64 "\n", (uint64_t)host) < 0 ||
			lseek(fd, 0, SEEK_SET))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int open(const char *path, int flags, ...)
{
	int64_t host;
	mode_t mode = 0;
	va_list arguments;

	if (!strcmp(path, BOOT_ID) && sim_rank_word("host", &host))
		return open_boot_id(host);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
