/* demangle.h - C++ names for people. */
#ifndef VPA_ANALYSIS_NAMES_DEMANGLE_H
#define VPA_ANALYSIS_NAMES_DEMANGLE_H

#include "analysis/base/arena.h"

/* The demangled kernel name. Returns the name itself if it is not mangled, if no demangler can be
 * loaded, or if the result could grow beyond reason. Never NULL; in the arena or borrowed. One
 * thread at a time. */
const char *vpa_demangle(struct vpa_arena *arena, const char *name);

#endif
