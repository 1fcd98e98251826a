/* thread_state.c - reads /proc/self/task/TID.
 *
 * A thread that ends leaves its descriptors valid, and reads of them failing. What a descriptor
 * shows counts only if it has the form expected. */
#include "tracer/python_stacks/thread_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void open_file(struct vtr_thread_file *f, uint32_t tid, const char *name)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd >= 0 && !fstat(f->fd, &st)) {
		f->device = st.st_dev;
		f->inode = st.st_ino;
	}
}

static void close_file(struct vtr_thread_file *f)
{
	struct stat st;

	if (f->fd >= 0 && !fstat(f->fd, &st) && st.st_dev == f->device && st.st_ino == f->inode)
		close(f->fd);
	f->fd = -1;
}

void vtr_thread_state_open(struct vtr_thread_state *t, uint32_t tid)
{
	t->tid = tid;
	open_file(&t->schedule, tid, "schedstat");
	open_file(&t->stat, tid, "stat");
}

void vtr_thread_state_close(struct vtr_thread_state *t)
{
	close_file(&t->schedule);
	close_file(&t->stat);
}

/* "TID (NAME) STATE ...", where the name may contain anything but has at most 15 bytes. */
static char read_letter(const struct vtr_thread_state *t)
{
	char text[64], *end;
	ssize_t n = t->stat.fd < 0 ? -1 : pread(t->stat.fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (strtoul(text, &end, 10) != t->tid || strncmp(end, " (", 2) != 0)
		return 0;
	end = strrchr(end, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

int vtr_thread_state_times(const struct vtr_thread_state *t, struct vtr_thread_times *out)
{
	char text[96], *at = text;
	ssize_t n = t->schedule.fd < 0 ? -1 : pread(t->schedule.fd, text, sizeof(text) - 1, 0);
	unsigned long long number[3];
	int i;

	memset(out, 0, sizeof(*out));
	if (n <= 0 || text[n - 1] != '\n')
		return -1;
	text[n] = '\0';
	for (i = 0; i < 3; i++) { /* ns on a processor, ns of waiting for one, times */
		char *end;

		number[i] = strtoull(at, &end, 10);
		if (end == at)
			return -1;
		at = end;
	}
	if (*at != '\n')
		return -1;
	out->wait_ns = number[1];
	out->switches = number[2];
	return 0;
}

uint32_t vtr_thread_state_now(const struct vtr_thread_state *t)
{
	switch (read_letter(t)) {
	case 'R':
		return VPT_THREADSTATE_RUNNING;
	case 'S':
		return VPT_THREADSTATE_SLEEPING;
	case 'D':
		return VPT_THREADSTATE_UNINTERRUPTIBLE;
	default:
		return VPT_THREADSTATE_UNKNOWN;
	}
}

uint64_t vtr_thread_cpu_ns(uint32_t tid)
{
	/* The kernel's number for the clock of a thread: the inverted id, and the kind. */
	clockid_t id = (clockid_t)(~tid << 3 | 6);
	struct timespec ts;

	if (clock_gettime(id, &ts))
		return UINT64_MAX;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}
