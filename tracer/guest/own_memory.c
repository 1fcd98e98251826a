/* own_memory.c - checked reads of our own memory.
 *
 * A gather is a process_vm_writev() into our own buffer: the kernel then pins the buffer's pages
 * once and copies the pieces one after the other, as it copies any argument from user memory. With
 * process_vm_readv() it would pin the pages of each piece, which takes ten times as long and spreads
 * the copies over time. The calls are made by number, so that no sanitizer's wrapper looks at memory
 * that is another thread's. */
#include "tracer/guest/own_memory.h"

#include "tracer/guest/system_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* What trial reads must find. */
static const uint64_t mark = UINT64_C(0x7670747261636521);

static long vm_read(pid_t pid, uint64_t at, void *out, size_t bytes)
{
	struct iovec to = {out, bytes}, from = {(void *)(uintptr_t)at, bytes};

	return syscall(SYS_process_vm_readv, pid, &to, 1UL, &from, 1UL, 0UL);
}

static long vm_gather(pid_t pid, const struct iovec *pieces, size_t count, void *out, size_t bytes)
{
	struct iovec to = {out, bytes};

	return syscall(SYS_process_vm_writev, pid, pieces, count, &to, 1UL, 0UL);
}

static int vm_works(pid_t pid)
{
	struct iovec piece = {(void *)(uintptr_t)&mark, sizeof(mark)};
	uint64_t a = 0, b = 0;

	return vm_read(pid, (uint64_t)(uintptr_t)&mark, &a, sizeof(a)) == sizeof(a) &&
	       vm_gather(pid, &piece, 1, &b, sizeof(b)) == sizeof(b) && a == mark && b == mark;
}

/* ---- seccomp ---- */

/* Whether a filter applies to this thread. Unknown counts as yes. */
static int is_filtered(void)
{
	char text[4096], *line;

	vtr_system_file("/proc/thread-self/status", text, sizeof(text));
	line = strstr(text, "\nSeccomp:");
	return !line || strtol(line + strlen("\nSeccomp:"), NULL, 10) != 0;
}

/* Whether the death of a process with our memory leaves us alone: since 5.16 a core dump ends one
 * process and not all that share its memory. */
static int kernel_spares_us(void)
{
	struct utsname os;
	char *dot;
	long major, minor;

	if (uname(&os))
		return 0;
	major = strtol(os.release, &dot, 10);
	minor = *dot == '.' ? strtol(dot + 1, NULL, 10) : 0;
	return major > 5 || (major == 5 && minor >= 16);
}

/* In the child, which has our memory and no thread pointer of its own: system calls only. */
static int try_calls(void *arg)
{
	syscall(SYS_exit, vm_works(*(const pid_t *)arg) ? 0 : 1);
	return 1;
}

/* Lets a child make the calls. Nobody is notified of its end, and only a wait that asks for such
 * children finds it. */
__attribute__((noinline)) static int survives_calls(pid_t pid)
{
	_Alignas(16) char stack[16384];
	int saved = errno, status = -1, found;
	pid_t child;

	child = clone(try_calls, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, &pid);
	if (child > 0) {
		while ((found = waitpid(child, &status, (int)__WCLONE)) < 0 && errno == EINTR)
			;
		if (found < 0)
			status = -1;
	}
	errno = saved;
	return child > 0 && status == 0;
}

/* ---- ways ---- */

static int proc_works(struct vtr_own_memory *m)
{
	uint64_t found = 0;

	return m->fd >= 0 &&
	       pread(m->fd, &found, sizeof(found), (off_t)(uintptr_t)m->mark) == sizeof(found) &&
	       found == *m->mark;
}

static void open_proc(struct vtr_own_memory *m)
{
	m->way = VTR_OWN_MEMORY_REFUSED;
	m->fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (proc_works(m))
		m->way = VTR_OWN_MEMORY_PROC;
}

void vtr_own_memory_open(struct vtr_own_memory *m)
{
	m->pid = getpid();
	m->fd = -1;
	m->mark = &mark;
	m->way = VTR_OWN_MEMORY_VM;
	if (is_filtered() && (!kernel_spares_us() || !survives_calls(m->pid)))
		open_proc(m);
	else if (!vm_works(m->pid))
		open_proc(m);
}

void vtr_own_memory_close(struct vtr_own_memory *m)
{
	if (proc_works(m)) /* else the host has closed it, and the number may be its own file's */
		close(m->fd);
	m->fd = -1;
	m->way = VTR_OWN_MEMORY_REFUSED;
}

/* A call failed: the address is bad, or reading is no longer allowed. */
static void judge(struct vtr_own_memory *m)
{
	if (m->way == VTR_OWN_MEMORY_VM && !vm_works(m->pid))
		open_proc(m);
	else if (m->way == VTR_OWN_MEMORY_PROC && !proc_works(m))
		m->way = VTR_OWN_MEMORY_REFUSED;
}

static int proc_read(struct vtr_own_memory *m, uint64_t at, void *out, size_t bytes)
{
	if (at > INT64_MAX) /* an offset of a file */
		return -1;
	return pread(m->fd, out, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

int vtr_own_memory_read(struct vtr_own_memory *m, uint64_t at, void *out, size_t bytes)
{
	int rc = -1;

	if (m->way == VTR_OWN_MEMORY_VM)
		rc = vm_read(m->pid, at, out, bytes) == (long)bytes ? 0 : -1;
	else if (m->way == VTR_OWN_MEMORY_PROC)
		rc = proc_read(m, at, out, bytes);
	if (rc)
		judge(m);
	return rc;
}

/* The descriptor may have become another file's: what it shows is trusted only after a look. */
static int proc_gather(
	struct vtr_own_memory *m, const struct iovec *pieces, size_t count, uint8_t *out)
{
	size_t i;

	if (!proc_works(m))
		return -1;
	for (i = 0; i < count; i++) {
		if (proc_read(m, (uint64_t)(uintptr_t)pieces[i].iov_base, out, pieces[i].iov_len))
			return -1;
		out += pieces[i].iov_len;
	}
	return 0;
}

int vtr_own_memory_gather(
	struct vtr_own_memory *m, const struct iovec *pieces, size_t count, void *out, size_t bytes)
{
	int rc = -1;

	if (m->way == VTR_OWN_MEMORY_VM)
		rc = vm_gather(m->pid, pieces, count, out, bytes) == (long)bytes ? 0 : -1;
	else if (m->way == VTR_OWN_MEMORY_PROC)
		rc = proc_gather(m, pieces, count, out);
	if (rc)
		judge(m);
	return rc;
}
