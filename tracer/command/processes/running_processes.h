/* running_processes.h - processes of a run that outlive its command, such as daemons.
 *
 * They are known by VPTRACE_LIST in the environment that they were started with, see run_list.h. */
#ifndef VPTRACE_TRACER_COMMAND_PROCESSES_RUNNING_PROCESSES_H
#define VPTRACE_TRACER_COMMAND_PROCESSES_RUNNING_PROCESSES_H

#include <stddef.h>

struct vtr_running {
	size_t count;
	long pid;      /* of the first; 0: none */
	char name[32]; /* its command */
};

/* Looks at all processes of this machine whose environment this user may read. */
void vtr_running_find(struct vtr_running *out);

/* Whether this one is of this run, and has not ended. */
int vtr_running_has(long pid);

#endif
