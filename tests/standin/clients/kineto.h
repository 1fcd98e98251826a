/* kineto.h - scripts how PyTorch's profiler uses CUPTI: the other client in a process with the
 * tracer.
 *
 *	begin    before August 2026 the first one subscribes, for life; then: register callbacks, enable kinds
 *	end      disable the kinds, flush by force, clear the attribute of per-thread buffers
 *
 * Like the profiler, it ignores buffers that it did not give. One per process; link with
 * standin_rig. */
#ifndef VPT_STANDIN_KINETO_H
#define VPT_STANDIN_KINETO_H

#include <stddef.h>
#include <stdint.h>

enum kineto_age { KINETO_SUBSCRIBES, KINETO_DOES_NOT };

/* Loads libcupti. */
void kineto_open(enum kineto_age age);

/* Begins a profile. Returns whether it records: one that subscribes does not while another client
 * has subscribed. */
int kineto_begin(void);
void kineto_end(void);

/* The single steps; they return CUPTI's results. */
int kineto_subscribe(void);
int kineto_unsubscribe(void);
int kineto_register(void);
void kineto_enable(void);
void kineto_disable(void);
void kineto_flush(int forced);
void kineto_clear_attribute(void);

/* Kernels in the buffers that came back, of which `unknown` were not its own. */
uint64_t kineto_kernels(void);
uint64_t kineto_unknown(void);

#endif
