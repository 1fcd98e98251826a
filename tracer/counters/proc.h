/* proc.h - what the kernel counts of this process and its machine.
 *
 * One thread. A value that the kernel does not give, or not to this process, is left out. */
#ifndef VPTRACE_TRACER_COUNTERS_PROC_H
#define VPTRACE_TRACER_COUNTERS_PROC_H

#include <stdint.h>

enum vtr_proc_quantity {
	/* Of this process, with the tracer's threads. */
	VTR_PROC_CPU,              /* per cent of one processor */
	VTR_PROC_RESIDENT,         /* bytes */
	VTR_PROC_DISK_READ,        /* bytes per second from storage, pages of mapped files too */
	VTR_PROC_MAJOR_FAULTS,     /* per second: a page had to be read */
	VTR_PROC_MINOR_FAULTS,     /* per second */
	VTR_PROC_CONTEXT_SWITCHES, /* per second, wanted and unwanted */
	/* Of the machine. */
	VTR_PROC_SYSTEM_CPU,       /* per cent of all processors */
	VTR_PROC_AVAILABLE_MEMORY, /* bytes */
	/* Of its cgroup (v2): per cent of the periods in which its processor quota ran out. */
	VTR_PROC_THROTTLED,
	VTR_PROC_QUANTITIES
};

struct vtr_proc_values {
	unsigned known; /* bit by quantity */
	double value[VTR_PROC_QUANTITIES];
};

/* Counts at the last reading. All zeros before the first. */
struct vtr_proc {
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0: no reading yet */
	uint64_t cpu_ns, disk_bytes, major_faults, minor_faults, switches;
	uint64_t system_ticks, busy_ticks;
	uint64_t periods, throttled;
	unsigned known;   /* the counts above that were read, by the quantity that they give */
	char cgroup[512]; /* its cpu.stat; "": not looked for */
};

/* `wanted`: bit by quantity, the same in each reading of `p`; the kernel is asked for these alone. Rates are means since the
 * last reading, so the first one gives none. */
void vtr_proc_read(struct vtr_proc *p, unsigned wanted, struct vtr_proc_values *out);

#endif
