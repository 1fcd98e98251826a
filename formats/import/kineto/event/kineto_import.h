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
#include "formats/import/kineto/event/kineto_processes.h"

#include <stddef.h>
#include <stdint.h>

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
	struct vpt_kineto_python python;
	int64_t base_ns;        /* baseTimeNanoseconds, 0 if absent */
	uint64_t last_start_ns; /* of the latest row, 0 before the first */
	int has_rows;
	const char *other; /* the tool that names its processes so; NULL: none is known */
	int no_memory;     /* sticky */
};

#endif
