/* driver.h - the CUDA driver of this process: whether it works, and its version. Nothing here
 * starts CUDA. */
#ifndef VPTRACE_TRACER_LOADED_DRIVER_H
#define VPTRACE_TRACER_LOADED_DRIVER_H

#include "formats/base/error.h"

#include <stdint.h>

/* Maps the driver permanently, as CUPTI would, and asks for its version: 13000 is CUDA 13.0. VPT_OK;
 * VPTRACE_ENOCUPTI with *version = 0: none, or it does not work, like the toolkit's stub for
 * linking. */
int vtr_driver_load(int *version, struct vpt_err *err);

/* Whether CUPTI 13.2 would accept the mapped driver: it looks for some functions and a table of its own
 * there, and without them it calls itself until the stack ends. */
int vtr_driver_serves_cupti(void);

/* A function of the driver if the process has mapped one; NULL otherwise. Any thread. */
void *vtr_driver_symbol(const char *name);

/* The number of GPUs that CUDA shows to this process; 0 until it has started CUDA, and without a
 * driver. Any thread. */
int vtr_driver_gpus(void);
/* The UUID of one of them, of its GPU instance where it has one. 0 or -1. */
int vtr_driver_uuid(int device, uint8_t uuid[16]);

/* Its address on the PCI bus, as "0000:3b:00.0"; of a GPU instance, the GPU's. 0, or -1 and "". Any
 * thread; does not take the loader's lock. */
int vtr_driver_pci(int device, char *out, int size);

/* "CUDA driver 13.0", or why there is none, for error messages. */
const char *vtr_driver_words(char *out, size_t size);

/* Why the driver may find no device: "; ..." to append to a sentence, or "". */
const char *vtr_driver_hint(void);

#endif
