/* misspelt.h - variables of the environment that look as if they were meant for us, and do nothing. */
#ifndef VPTRACE_TRACER_MISSPELT_H
#define VPTRACE_TRACER_MISSPELT_H

#include <stddef.h>

/* The first variable of `environment` (NULL: there is none) that is no variable of ours, but nearly called like one: 1, and
 * a sentence with the name that it should have; 0: there is none. */
int vtr_misspelt_find(char *const *environment, char *out, size_t size);

/* The same for an injection that names a file which does not exist: CUDA and NVTX say nothing about that. A name without a
 * folder is for the loader to find, and taken as good. */
int vtr_misspelt_injection(char *const *environment, char *out, size_t size);

#endif
