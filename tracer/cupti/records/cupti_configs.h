/* cupti_configs.h - maps kernel records to configurations of the open chunk, mostly with one cache
 * lookup.
 *
 * A record names its kernel by a pointer into CUPTI's memory, which may be freed or reused when a
 * module is unloaded. So we copy the text, and compare a known pointer with its copy once per
 * buffer that uses it: promptly after delivery, never later. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_CONFIGS_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_CONFIGS_H

#include "tracer/cupti/library/cupti_abi.h"
#include "tracer/write/recorder.h"

struct vtr_configs;

struct vtr_configs *vtr_configs_new(void); /* NULL: no memory */
void vtr_configs_free(struct vtr_configs *c);

/* A new recorder begins, with chunks of its own. */
void vtr_configs_begin(struct vtr_configs *c);

/* A buffer begins, also the first: compare every pointer again before trusting it. */
void vtr_configs_buffer(struct vtr_configs *c);

/* The configuration of a kernel in the open chunk of `r`. */
uint64_t vtr_configs_kernel(
	struct vtr_configs *c, struct vtr_recorder *r, const struct vtr_record_kernel *k);

/* The configuration for a CUDA graph recorded as a whole. */
uint64_t vtr_configs_graph(struct vtr_configs *c, struct vtr_recorder *r, uint32_t graph);

#endif
