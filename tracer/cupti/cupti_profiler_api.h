/* cupti_profiler_api.h - cudaProfilerStart() and cudaProfilerStop(), and the driver's cuProfilerStart()
 * and cuProfilerStop(), as reported by callbacks.
 *
 * The calls do nothing by themselves: they are for tools to see. Recording begins when the start
 * returns, and ends when the stop is entered, so neither is recorded itself. */
#ifndef VPTRACE_TRACER_CUPTI_CUPTI_PROFILER_API_H
#define VPTRACE_TRACER_CUPTI_CUPTI_PROFILER_API_H

#include "tracer/cupti/library/cupti_abi.h"

#include <stdint.h>

/* CUPTI's start: finds the calls' numbers, and enables the callbacks of just these calls if they
 * are `wanted`. */
void vtr_profiler_api_begin(const struct vtr_cupti_functions *fn, void *subscriber, int wanted);

/* A callback: no lock, no allocation, no CUDA call. */
void vtr_profiler_api_on_call(uint32_t domain, uint32_t cbid, const struct vtr_call_data *data);

#endif
