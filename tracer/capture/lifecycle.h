/* lifecycle.h - how the library enters a process: by dlopen, by the driver's or NVTX's injection,
 * by fork. */
#ifndef VPTRACE_TRACER_CAPTURE_LIFECYCLE_H
#define VPTRACE_TRACER_CAPTURE_LIFECYCLE_H

/* NVTX has found us. Starts a capture of ranges if the user set NVTX_INJECTION64_PATH; not if our
 * own constructor set it. Called by InitializeInjectionNvtx2(), any thread, each time a library
 * initialises its NVTX. */
void vtr_lifecycle_nvtx(void);

#endif
