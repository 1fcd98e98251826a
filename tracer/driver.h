/* driver.h - the CUDA driver of this process: whether there is one that works, and how new it is. Nothing here starts CUDA. */
#ifndef VPTRACE_TRACER_DRIVER_H
#define VPTRACE_TRACER_DRIVER_H

#include "formats/error.h"

/* Maps the driver for good, as CUPTI would, and asks for its version: 13000 is CUDA 13.0. VPT_OK; VPTRACE_ENOCUPTI with
 * *version = 0: there is none, or one that does not work, such as the toolkit's stub for linking. */
int vtr_driver_load(int *version, struct vpt_err *err);

/* A function of the driver if the process has mapped one; NULL otherwise. Any thread. */
void *vtr_driver_symbol(const char *name);

/* "CUDA driver 13.0", or why there is none, for error messages. */
const char *vtr_driver_words(char *out, size_t size);

/* Why the driver may have no device to work with: "; ..." to be put behind a sentence, or "". */
const char *vtr_driver_hint(void);

#endif
