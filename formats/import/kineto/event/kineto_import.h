/* kineto_import.h - the state of an import of a profiler's file.
 *
 *	source --> bytes (gunzip) --> one JSON value at a time --> rows --> collector
 *	           kineto_bytes.c     kineto.c                     kineto_rows.c
 *
 * kineto_rows.c calls for each event the function of kineto_put.h that makes its row; these get
 * members and lanes from kineto_event.c. All of these headers are private to the importer. */
#ifndef VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_IMPORT_H
#define VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_IMPORT_H

#include "formats/base/map.h"
#include "formats/chunk/strings.h"
#include "formats/import/collect/collect.h"
#include "formats/import/import.h"
#include "formats/import/kineto/text/kineto_value.h"

#include <stddef.h>
#include <stdint.h>

/* ---- kineto_processes.c: the processes of a file, and whose the lanes of GPUs are.
 *
 * The profiler writes a process's number, and on GPU lanes the device's in its place. A program that
 * merges ranks puts the rank in front, "[TP00] 100" and "[TP00] 0", or changes the numbers. A text is a
 * number and, around it, a label: what has one label is of one rank. */

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
	/* What the file says of processes by their labels, until their numbers are known. */
	struct vpt_kineto_said {
		uint64_t label, key, value; /* texts of the collector */
	} * said;
	size_t said_count, said_cap;
	struct vpt_kineto_said_device {
		uint64_t label;
		struct vpt_device row;
	} * devices;
	size_t device_count, device_cap;
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

/* What the file says of the process of GPU lanes with such a "pid": a text under a key, as META of the whole file would have it; one of
 * its GPUs. Nothing of those whose pid is a number. */
void vpt_kineto_say_of_process(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	struct vpt_text key, struct vpt_text value);
void vpt_kineto_device_of_process(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	const struct vpt_device *device);

/* Call at the end: names the processes that have rows, and tells the collector which process is whose. */
void vpt_kineto_processes_end(struct vpt_kineto_rows *r);
void vpt_kineto_processes_free(struct vpt_kineto_processes *p);

/* ---- kineto_threads.c: the threads that a trace names or uses ---- */

struct vpt_kineto_thread {
	int64_t pid, tid;
	uint64_t lane; /* of the collector; 0 until it has a row */
	uint64_t name; /* of the collector's strings; 0 until it is named */
};

/* All zeros is an empty table. */
struct vpt_kineto_threads {
	struct vpt_kineto_thread *at;
	size_t count, cap;
	struct vpt_map map; /* by both ids */
};

/* The entry of a thread, added on first use; valid until the next get. NULL: no memory. */
struct vpt_kineto_thread *vpt_kineto_threads_get(
	struct vpt_kineto_threads *all, int64_t pid, int64_t tid);

/* Names the lanes of all threads that have rows. Call it at the end, since names may come late. */
void vpt_kineto_threads_name_lanes(const struct vpt_kineto_threads *all, struct vpt_collect *c);

void vpt_kineto_threads_free(struct vpt_kineto_threads *all);

/* What a file written by vptrace-analyze says about itself; all zeros for others. */
struct vpt_kineto_own {
	int is_own;
	int is_merged; /* several of ours in one: ranges are as in ours, the rest is the profiler's */
	uint64_t start_ns, end_ns; /* of the capture; 0: unknown */
	uint64_t shift_ns;         /* add this to all times */
	int has_realtime;
	uint64_t unix_offset_ns; /* see vpt_collect_realtime(); undefined unless has_realtime */
};

/* Rows that wait for an arrow, and the arrows; see kineto_flows.h. All zeros is empty. */
struct vpt_kineto_flows {
	struct vpt_kineto_waiting *rows;
	struct vpt_kineto_arrow *arrows;
	size_t row_count, row_cap, arrow_count, arrow_cap;
};

/* Events that are recorded, as far as only waits for them say so; see kineto_parts.h. All zeros is empty. */
struct vpt_kineto_records {
	struct vpt_kineto_record *items;
	size_t count, cap;
	int are_written; /* the file has them itself */
};

/* Collectives of which only their kernels say what they are; see kineto_parts.h. All zeros is empty. */
struct vpt_kineto_unsaid {
	struct vpt_kineto_unsaid_range *ranges;
	struct vpt_kineto_unsaid_launch *launches;
	struct vpt_kineto_unsaid_kernel *kernels;
	size_t range_count, range_cap, launch_count, launch_cap, kernel_count, kernel_cap;
};

/* Calls of Python functions; see kineto_parts.h. All zeros is empty. */
struct vpt_kineto_python {
	struct vpt_kineto_call *calls;
	size_t call_count, call_cap;
	struct vpt_strings names, places; /* of functions; where they are called */
	struct vpt_strings sites;         /* pairs of ids in names and places */
	struct vpt_recent recent_names, recent_places, recent_sites;
	struct vpt_kineto_function *functions; /* by id in names */
	struct vpt_kineto_place *callers;      /* by id in places */
	size_t function_cap, caller_cap;
};

/* The thread of the event before, which is nearly always the next one's, by its members as they are written. */
struct vpt_kineto_last_thread {
	char pid[24], tid[24];
	uint32_t pid_len, tid_len; /* pid_len 0: there is none */
	uint32_t thread;           /* in the table */
};

/* To begin, set the first two members and zero the rest. */
struct vpt_kineto_rows {
	struct vpt_collect *collect;    /* borrowed */
	struct vpt_import_stats *stats; /* borrowed */
	struct vpt_kineto_threads threads;
	struct vpt_kineto_last_thread last_thread;
	struct vpt_kineto_processes processes;
	struct vpt_kineto_own own;
	struct vpt_kineto_flows flows;
	struct vpt_kineto_records records;
	struct vpt_kineto_unsaid unsaid;
	struct vpt_kineto_python python;
	int64_t base_ns;        /* baseTimeNanoseconds, 0 if absent */
	uint64_t last_start_ns; /* of the latest row, 0 before the first */
	int has_rows;
	const char *other; /* the tool that names its processes so; NULL: none is known */
	int no_memory;     /* sticky */
};

#endif
