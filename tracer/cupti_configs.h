/* cupti_configs.h - kernel records to configurations of the open chunk, most of the time by one
 * look into a cache.
 *
 * A record names its kernel by a pointer into CUPTI's memory, which may go away or change when a
 * module is unloaded. So texts are copied, and a known pointer is compared with its copy once for
 * every buffer that uses it: promptly after delivery, never later. */
#ifndef VPTRACE_TRACER_CUPTI_CONFIGS_H
#define VPTRACE_TRACER_CUPTI_CONFIGS_H

#include "tracer/cupti_abi.h"
#include "tracer/recorder.h"

struct vtr_configs;

struct vtr_configs *vtr_configs_new(void); /* NULL: no memory */
void vtr_configs_free(struct vtr_configs *c);

/* Another recorder: its chunks are others. */
void vtr_configs_begin(struct vtr_configs *c);

/* Another buffer begins: every pointer is compared again before it is believed. Called before the
 * first one too. */
void vtr_configs_buffer(struct vtr_configs *c);

/* The configuration of a kernel in the open chunk of `r`. */
uint64_t vtr_configs_kernel(
	struct vtr_configs *c, struct vtr_recorder *r, const struct vtr_record_kernel *k);

/* The configuration that stands for a whole CUDA graph run as one. */
uint64_t vtr_configs_graph(struct vtr_configs *c, struct vtr_recorder *r, uint32_t graph);

#endif
