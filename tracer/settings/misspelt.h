/* misspelt.h - finds environment variables that seem meant for us but have no effect. */
#ifndef VPTRACE_TRACER_SETTINGS_MISSPELT_H
#define VPTRACE_TRACER_SETTINGS_MISSPELT_H

#include <stddef.h>

/* Finds the first variable of `environment` (NULL: no environment) whose name is close to one of
 * ours but is none. 1, and a sentence with the right name; 0: none. */
int vtr_misspelt_find(char *const *environment, char *out, size_t size);

/* The same for an injection variable that names a missing file: CUDA and NVTX ignore that silently.
 * A name without a folder is left to the loader and passes. */
int vtr_misspelt_injection(char *const *environment, char *out, size_t size);

/* Tells of both, once per process. One thread at a time. */
void vtr_misspelt_tell(void);

#endif
