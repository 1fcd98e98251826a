/* proc.c - readings of /proc, getrusage(2) and the cgroup's cpu.stat; rates are differences of
 * counts over CLOCK_MONOTONIC. */
#include "tracer/counters/proc.h"

#include "tracer/clock/capture_clock.h"
#include "tracer/guest/system_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int bit(unsigned known, enum vtr_proc_quantity quantity)
{
	return known >> quantity & 1;
}

/* The number after `key` at the start of a line. 0, or -1: there is none. */
static int find_number(const char *text, const char *key, uint64_t *out)
{
	const char *at = text;
	size_t len = strlen(key);
	char *end;

	while (at && strncmp(at, key, len)) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return -1;
	*out = strtoull(at + len, &end, 10);
	return end == at + len ? -1 : 0;
}

/* ---- counts ---- */

static void count_process(struct vtr_proc *now, unsigned wanted)
{
	struct rusage usage;
	struct timespec cpu;
	char text[512];

	if (bit(wanted, VTR_PROC_CPU) && !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu)) {
		now->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
		now->known |= 1u << VTR_PROC_CPU;
	}
	if (bit(wanted, VTR_PROC_MAJOR_FAULTS) && !getrusage(RUSAGE_SELF, &usage)) {
		now->major_faults = (uint64_t)usage.ru_majflt;
		now->minor_faults = (uint64_t)usage.ru_minflt;
		now->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
		now->known |= 1u << VTR_PROC_MAJOR_FAULTS | 1u << VTR_PROC_MINOR_FAULTS |
			      1u << VTR_PROC_CONTEXT_SWITCHES;
	}
	if (bit(wanted, VTR_PROC_DISK_READ) &&
		vtr_system_file("/proc/self/io", text, sizeof(text)) &&
		!find_number(text, "read_bytes:", &now->disk_bytes))
		now->known |= 1u << VTR_PROC_DISK_READ;
}

/* "cpu  user nice system idle iowait irq softirq steal": the rest is counted in these already. */
static void count_machine(struct vtr_proc *now)
{
	enum { FIELDS = 8, IDLE = 3, IOWAIT = 4 };
	char text[512], *at = text + 3, *end;
	uint64_t ticks;
	int i;

	if (!vtr_system_file("/proc/stat", text, sizeof(text)) || strncmp(text, "cpu ", 4))
		return;
	for (i = 0; i < FIELDS; i++, at = end) {
		ticks = strtoull(at, &end, 10);
		if (end == at)
			break;
		now->system_ticks += ticks;
		now->busy_ticks += i == IDLE || i == IOWAIT ? 0 : ticks;
	}
	if (i > IOWAIT)
		now->known |= 1u << VTR_PROC_SYSTEM_CPU;
}

static void count_cgroup(struct vtr_proc *now)
{
	char text[1024];

	if (!now->cgroup[0])
		vtr_cgroup_path("cpu.stat", now->cgroup, sizeof(now->cgroup));
	if (vtr_system_file(now->cgroup, text, sizeof(text)) &&
		!find_number(text, "nr_periods ", &now->periods) &&
		!find_number(text, "nr_throttled ", &now->throttled))
		now->known |= 1u << VTR_PROC_THROTTLED;
}

/* ---- values ---- */

static void put(struct vtr_proc_values *out, enum vtr_proc_quantity quantity, double value)
{
	out->known |= 1u << quantity;
	out->value[quantity] = value;
}

static void put_memory(struct vtr_proc_values *out)
{
	unsigned long long size, resident;
	char text[1024];
	uint64_t kib;

	if (vtr_system_file("/proc/self/statm", text, sizeof(text)) &&
		sscanf(text, "%llu %llu", &size, &resident) == 2)
		put(out, VTR_PROC_RESIDENT, (double)resident * (double)sysconf(_SC_PAGESIZE));
	if (vtr_system_file("/proc/meminfo", text, sizeof(text)) &&
		!find_number(text, "MemAvailable:", &kib))
		put(out, VTR_PROC_AVAILABLE_MEMORY, (double)kib * 1024);
}

/* 100 * part / whole of two differences; the kernel's counts may step back a little. */
static void put_share(
	struct vtr_proc_values *out, enum vtr_proc_quantity quantity, uint64_t part, uint64_t whole)
{
	if ((int64_t)part >= 0 && (int64_t)whole > 0)
		put(out, quantity, 100 * (double)part / (double)whole);
}

static void put_rates(
	const struct vtr_proc *before, const struct vtr_proc *now, struct vtr_proc_values *out)
{
	const struct {
		enum vtr_proc_quantity quantity;
		uint64_t from, to;
	} counts[] = {
		{VTR_PROC_DISK_READ, before->disk_bytes, now->disk_bytes},
		{VTR_PROC_MAJOR_FAULTS, before->major_faults, now->major_faults},
		{VTR_PROC_MINOR_FAULTS, before->minor_faults, now->minor_faults},
		{VTR_PROC_CONTEXT_SWITCHES, before->switches, now->switches},
	};
	uint64_t ns = now->time_ns - before->time_ns;
	unsigned known = before->known & now->known;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (bit(known, counts[i].quantity) && counts[i].to >= counts[i].from)
			put(out, counts[i].quantity,
				(double)(counts[i].to - counts[i].from) * 1e9 / (double)ns);
	if (bit(known, VTR_PROC_CPU))
		put_share(out, VTR_PROC_CPU, now->cpu_ns - before->cpu_ns, ns);
	if (bit(known, VTR_PROC_SYSTEM_CPU))
		put_share(out, VTR_PROC_SYSTEM_CPU, now->busy_ticks - before->busy_ticks,
			now->system_ticks - before->system_ticks);
	/* Without a quota there are no periods. */
	if (bit(known, VTR_PROC_THROTTLED))
		put_share(out, VTR_PROC_THROTTLED, now->throttled - before->throttled,
			now->periods - before->periods);
}

void vtr_proc_read(struct vtr_proc *p, unsigned wanted, struct vtr_proc_values *out)
{
	struct vtr_proc now = {.time_ns = vtr_clock_ns(CLOCK_MONOTONIC)};

	out->known = 0;
	memcpy(now.cgroup, p->cgroup, sizeof(now.cgroup));
	count_process(&now, wanted);
	if (bit(wanted, VTR_PROC_SYSTEM_CPU))
		count_machine(&now);
	if (bit(wanted, VTR_PROC_THROTTLED))
		count_cgroup(&now);
	if (bit(wanted, VTR_PROC_RESIDENT))
		put_memory(out);
	if (p->time_ns && now.time_ns > p->time_ns)
		put_rates(p, &now, out);
	*p = now;
}
