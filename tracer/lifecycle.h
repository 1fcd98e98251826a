/* lifecycle.h - how the library comes into a process: by dlopen, by the driver's or NVTX's
 * injection, by fork. */
#ifndef VPTRACE_TRACER_LIFECYCLE_H
#define VPTRACE_TRACER_LIFECYCLE_H

/* NVTX has found us. Starts a capture of ranges if the user asked for it by NVTX_INJECTION64_PATH;
 * not if it was our own constructor that set it. Called by InitializeInjectionNvtx2(), any thread,
 * each time a library initialises its NVTX. */
void vtr_lifecycle_nvtx(void);

#endif
