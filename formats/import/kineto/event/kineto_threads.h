/* kineto_threads.h - the threads that a trace names or uses. */
#ifndef VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_THREADS_H
#define VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_THREADS_H

#include "formats/base/map.h"
#include "formats/import/collect/collect.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
