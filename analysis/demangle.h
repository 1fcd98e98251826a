/* demangle.h - C++ names for people. */
#ifndef VPA_ANALYSIS_DEMANGLE_H
#define VPA_ANALYSIS_DEMANGLE_H

#include "analysis/arena.h"

/* The demangled form of a kernel's name, or the name itself where it is not mangled, or no demangler can be
 * loaded, or the name could grow beyond reason. Never NULL; in the arena or borrowed. One thread at a time. */
const char *vpa_demangle(struct vpa_arena *arena, const char *name);

#endif
