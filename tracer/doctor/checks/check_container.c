/* check_container.c - what the container or the shell allows this process. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/guest/system_file.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* Beyond VPTRACE_MEMORY, see vptrace.h. */
enum { MORE_MIB = 16, FILES_MIN = 64, SHM_MIN_MIB = 64 };

#define MIB (UINT64_C(1) << 20)

/* ---- memory ---- */

/* A file of this process's control group, version 2 or 1; a container sees its own at the top. */
static int read_group(const char *v2, const char *v1, char *out, size_t size)
{
	char path[PATH_MAX];

	vtr_cgroup_path(v2, path, sizeof(path));
	if (vtr_system_file(path, out, size))
		return 1;
	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s", v1);
	return vtr_system_file(path, out, size) != 0;
}

static void find_memory(const struct vtr_patient *p, struct vtr_answer *a)
{
	uint64_t wanted = p->options.memory_limit_bytes + MORE_MIB * MIB, limit, used;
	char text[128];
	static const char remedy[] =
		"Set VPTRACE_MEMORY lower, as 64M, or give the container more memory.";

	limit = read_group("memory.max", "memory/memory.limit_in_bytes", text, sizeof(text))
			? strtoull(text, NULL, 10)
			: 0; /* "max" is 0 too */
	if (!limit || limit > UINT64_C(1) << 60) {
		vtr_find(a, VTR_STATUS_OK, NULL, "no memory limit; VPTRACE_MEMORY is %llu MiB",
			(unsigned long long)(p->options.memory_limit_bytes / MIB));
		return;
	}
	used = read_group("memory.current", "memory/memory.usage_in_bytes", text, sizeof(text))
		       ? strtoull(text, NULL, 10)
		       : 0;
	vtr_find(a,
		wanted > limit                                   ? VTR_STATUS_FAIL
		: wanted > (limit > used ? limit - used : 0) / 2 ? VTR_STATUS_WARN
								 : VTR_STATUS_OK,
		wanted > (limit > used ? limit - used : 0) / 2 ? remedy : NULL,
		"memory limit of %llu MiB, %llu in use; the tracer takes up to %llu",
		(unsigned long long)(limit / MIB), (unsigned long long)(used / MIB),
		(unsigned long long)(wanted / MIB));
}

/* ---- processors ---- */

static void find_processors(struct vtr_answer *a)
{
	long long quota = 0, period = 0;
	double allowed;
	char text[128];
	cpu_set_t set;
	int count = 0;

	CPU_ZERO(&set);
	if (!sched_getaffinity(0, sizeof(set), &set))
		count = CPU_COUNT(&set);
	allowed = count;
	if (read_group("cpu.max", "cpu/cpu.cfs_quota_us", text, sizeof(text)) &&
		sscanf(text, "%lld %lld", &quota, &period) >= 1 && quota > 0) {
		allowed = (double)quota / (double)(period > 0 ? period : 100000);
	}
	if (count && allowed > count)
		allowed = count;
	if (allowed > 0 && allowed < 2)
		vtr_find(a, VTR_STATUS_WARN,
			"Give the program two processors or more (docker run --cpus), and compare "
			"with an untraced run.",
			"%.1f processors: the tracer's writer takes turns with the program",
			allowed);
	else
		vtr_find(a, VTR_STATUS_OK, NULL, "%.1f processors", allowed);
}

/* ---- the rest ---- */

static void find_resources(struct vtr_answer *a)
{
	struct rlimit size, files;
	struct statvfs shm;

	if (!getrlimit(RLIMIT_FSIZE, &size) && size.rlim_cur != RLIM_INFINITY)
		vtr_find(a, VTR_STATUS_WARN,
			"ulimit -f unlimited, or VPTRACE_MAX_BYTES below that size.",
			"files may have at most %llu MiB (ulimit -f): a capture ends at this size",
			(unsigned long long)(size.rlim_cur / MIB));
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < FILES_MIN)
		vtr_find(a, VTR_STATUS_WARN, "ulimit -n 1024, or more.",
			"only %llu files may be open (ulimit -n)",
			(unsigned long long)files.rlim_cur);
	if (statvfs("/dev/shm", &shm))
		vtr_find(a, VTR_STATUS_OK, NULL, "no /dev/shm: vptrace needs none");
	else if ((uint64_t)shm.f_blocks * shm.f_frsize < SHM_MIN_MIB * MIB)
		vtr_find(a, VTR_STATUS_OK, NULL,
			"/dev/shm has %llu MiB: enough for vptrace, little for torch's loaders",
			(unsigned long long)((uint64_t)shm.f_blocks * shm.f_frsize / MIB));
}

static void find_calls(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *names = vtr_probe_value(&p->system, "process_vm_readv", 0);
	const char *memory = vtr_probe_value(&p->system, "memfd_create", 0);
	char failure[512];

	if (vtr_probe_failed(&p->system, failure, sizeof(failure)))
		vtr_find(a, VTR_STATUS_WARN,
			"Allow process_vm_readv and memfd_create in the container's seccomp "
			"profile.",
			"a filter of system calls ends processes: %s", failure);
	if (names)
		vtr_find(a, VTR_STATUS_WARN,
			"Allow it in the container's seccomp profile; docker's own does from Linux "
			"4.8 on.",
			"process_vm_readv is forbidden (%s): a kernel's name is read unchecked, "
			"which is unsafe if its module has been unloaded",
			names);
	if (memory)
		vtr_find(a, VTR_STATUS_OK, NULL,
			"memfd_create is forbidden (%s): the driver may need it, vptrace does not",
			memory);
}

void vtr_check_limits(const struct vtr_patient *p, struct vtr_answer *a)
{
	find_memory(p, a);
	find_processors(a);
	find_resources(a);
	find_calls(p, a);
}
