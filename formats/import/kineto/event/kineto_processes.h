/* kineto_processes.h - the processes of a file, and whose the lanes of GPUs are.
 *
 * The profiler writes a process's number, and on GPU lanes the device's in its place. A program that
 * merges ranks puts the rank in front, "[TP00] 100" and "[TP00] 0", or changes the numbers. A text is a
 * number and, around it, a label: what has one label is of one rank. */
#ifndef VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_PROCESSES_H
#define VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_PROCESSES_H

#include "formats/import/collect/collect.h"
#include "formats/import/kineto/text/kineto_value.h"

#include <stddef.h>
#include <stdint.h>

struct vpt_kineto_rows;

/* Texts in the place of numbers: process or thread ids. */
struct vpt_kineto_ids {
	struct vpt_strings texts;
	int64_t *numbers; /* by id in texts */
	size_t cap;
	struct vpt_map taken; /* texts, by number */
};

/* All zeros is empty. */
struct vpt_kineto_processes {
	struct vpt_kineto_ids pids, tids;
	struct vpt_strings labels;
	struct vpt_kineto_process *at; /* that are named, or that call */
	size_t count, cap;
	struct vpt_map by_pid;
	uint64_t newest_caller; /* lane of the thread that called last: its process is known */
	struct vpt_kineto_owner *owners;
	size_t owner_count, owner_cap, newest; /* newest: the one found last */
	struct vpt_map by_id;
};

/* The number of a process or thread, member "pid" or "tid". If it is a text: the number in it if no other
 * text has that, else one that no process has. Returns 0 if there is none. */
int vpt_kineto_pid(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, int64_t *pid);
int vpt_kineto_tid(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, int64_t *tid);
/* The number that the text of a member holds, as the profiler wrote it; 0 if it holds none. */
int vpt_kineto_number_in(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	const char *key, int64_t *number);

/* The process has a thread, which names it if its id is a text; it calls CUDA; it has a name. */
void vpt_kineto_process_seen(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object);
void vpt_kineto_process_calls(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object);
void vpt_kineto_name_process(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, struct vpt_text name);

/* The lane of a stream that the object's "pid" identifies further. */
uint64_t vpt_kineto_owned_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	int64_t device, uint64_t context, int64_t stream);

/* Call at the end: names the processes that have rows, and tells the collector which process is whose. */
void vpt_kineto_processes_end(struct vpt_kineto_rows *r);
void vpt_kineto_processes_free(struct vpt_kineto_processes *p);

#endif
