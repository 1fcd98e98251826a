/* thread_names.h - the names that the host gives its threads, from NVTX to the writer. */
#ifndef VPTRACE_TRACER_RANGES_THREAD_NAMES_H
#define VPTRACE_TRACER_RANGES_THREAD_NAMES_H

#include <stdint.h>

/* Records the name (range_strings.h) of a thread; a later one replaces it. Does nothing for thread 0. Any
 * thread; takes no lock. */
void vtr_thread_name(uint32_t tid, uint32_t name);

/* Emits the recorded names, each once per capture and when it changes. The writer's thread. */
void vtr_thread_names(void (*take)(void *ctx, uint32_t tid, uint32_t name), void *ctx);

/* Forgets all names, while no other thread runs. */
void vtr_thread_names_forget(void);

#endif
