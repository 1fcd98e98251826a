/* loaded_symbols.h - symbols of the program and the libraries in this process.
 *
 * Unlike dlsym() it does not take the loader's lock, which the host may hold for as long as a library
 * initializes, and it finds symbols of libraries that were loaded RTLD_LOCAL. Any thread. */
#ifndef VPTRACE_TRACER_LOADED_LOADED_SYMBOLS_H
#define VPTRACE_TRACER_LOADED_LOADED_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* How many libraries the process has loaded so far, those that are gone included. 0: unknown. */
uint64_t vtr_loaded_count(void);

/* The address of a function or variable: the first definition in the order of loading. Versions of
 * symbols are ignored. 0: there is none. The library may be unloaded at any time. */
uint64_t vtr_loaded_symbol(const char *name);

/* ---- nccl_version.c: the NCCL that the process has loaded ---- */

/* Puts a version such as "2.27.3" into `out`. Loads nothing. Returns 1, or 0: no library of the
 * process exports it. */
int vtr_nccl_version(char *out, size_t size);

#endif
