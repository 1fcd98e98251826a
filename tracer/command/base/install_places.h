/* install_places.h - where the library, the analyzer and the Python part are. */
#ifndef VPTRACE_TRACER_COMMAND_BASE_INSTALL_PLACES_H
#define VPTRACE_TRACER_COMMAND_BASE_INSTALL_PLACES_H

#include "formats/base/error.h"

#include <limits.h>

struct vtr_places {
	char library[PATH_MAX];  /* libvptrace.so, absolute */
	char analyzer[PATH_MAX]; /* vptrace-analyze; "": there is none beside this program */
	char site[PATH_MAX];     /* the folder with sitecustomize.py; "": there is none */
};

/* Looks beside this program, then in the folders of its installation; VPTRACE_LIBRARY names another
 * library. VPT_EINVAL: no library; the error says what to do. The analyzer and the Python part may
 * be missing. */
int vtr_places_find(struct vtr_places *out, struct vpt_err *err);

/* The analyzer alone. */
void vtr_places_analyzer(char out[PATH_MAX]);

/* The program that `vptrace doctor` runs; "": there is none. */
void vtr_places_doctor(char out[PATH_MAX]);

/* `name`, if it names a file or folder, made absolute against the current folder; else "". Returns
 * whether it does. */
int vtr_places_absolute(const char *name, char out[PATH_MAX]);

#endif
