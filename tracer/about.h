/* about.h - what is known of the run, as keys and values, and of its GPUs; and which of it the file
 * does not have yet. The writer's thread only. */
#ifndef VPTRACE_TRACER_ABOUT_H
#define VPTRACE_TRACER_ABOUT_H

#include "formats/batch.h"

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

/* Takes a device or a fact in place of the former one. Text is copied and cut at 256 (key) and 4,096
 * (value) bytes; more than 1,024 keys or 256 devices are left out, and so is what there is no memory
 * for. */
void vtr_about_device(struct vtr_about *a, const struct vtr_device *device);
void vtr_about_fact(struct vtr_about *a, const char *key, const char *value);

/* Puts the rows that the file does not have yet, as they are now. */
void vtr_about_put(struct vtr_about *a, struct vpt_batch *batch);

/* The chunk they were put into is lost: all are put again. */
void vtr_about_again(struct vtr_about *a);

void vtr_about_free(struct vtr_about *a);

#endif
