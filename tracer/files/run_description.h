/* run_description.h - facts about the run (keys and values) and its GPUs, and which of them the file still
 * lacks. The writer's thread only. */
#ifndef VPTRACE_TRACER_FILES_RUN_DESCRIPTION_H
#define VPTRACE_TRACER_FILES_RUN_DESCRIPTION_H

#include "formats/chunk/batch.h"

#include <stddef.h>
#include <stdint.h>

/* What CUPTI says of a GPU. Text is NUL-terminated, "" unknown. */
struct vtr_device {
	uint32_t device; /* CUDA ordinal */
	char name[128], uuid[48], pci[32];
	uint64_t compute_major, compute_minor, sm_count, sm_threads, sm_registers, sm_shared;
	uint64_t memory_bytes;
	int simulated; /* no real GPU */
};

/* All zeros is empty. */
struct vtr_about {
	struct vtr_meta *metas;
	size_t meta_count, meta_cap;
	struct vtr_device *devices;
	int *device_fresh; /* by device: not in the file yet */
	size_t device_count, device_cap, device_fresh_cap;
};

/* Add a device or a fact, or replace it. Text is copied, and cut at 256 (key) and 4,096 (value)
 * bytes. Dropped: keys beyond 1,024, devices beyond 256, and anything that finds no memory. */
void vtr_about_device(struct vtr_about *a, const struct vtr_device *device);
void vtr_about_fact(struct vtr_about *a, const char *key, const char *value);

/* Puts the rows that the file lacks into `batch`, with their current values. */
void vtr_about_put(struct vtr_about *a, struct vpt_batch *batch);

/* Whether there are such rows. */
int vtr_about_is_fresh(const struct vtr_about *a);

/* The chunk that held them is lost: put all of them again. */
void vtr_about_again(struct vtr_about *a);

void vtr_about_free(struct vtr_about *a);

#endif
