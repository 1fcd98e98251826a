/* output_name.h - the name of a capture's file: from the user's pattern or from the command. */
#ifndef VPTRACE_TRACER_SETTINGS_OUTPUT_NAME_H
#define VPTRACE_TRACER_SETTINGS_OUTPUT_NAME_H

#include "formats/base/error.h"

#include <stddef.h>

/* Replaces %p by the process id, %h by the host's name, %r by the rank ("0" where `rank` is
 * negative), %q{VAR} by an environment variable ("none" if unset), %% by a percent sign. In the
 * inserted text, everything but letters, digits and ._+- becomes "_", and so do leading dots: no
 * variable can lead into another folder. The pattern's own text is kept. VPT_EINVAL: an unknown
 * sequence, no file name at the end, too long for `size`; `out` is "" then. */
int vtr_output_expand(const char *pattern, long rank, char *out, size_t size, struct vpt_err *err);

/* The length of the sequence at the beginning of `pattern`, as 2 of "%r.zst"; of any other text 1. */
size_t vtr_output_width(const char *pattern);

/* Whether some process's expansion of `pattern` may be `path`: the pattern's own text is there, and between
 * it only what its sequences may insert. A pattern that ends with "/" is followed by a default name. */
int vtr_output_fits(const char *pattern, const char *path);

/* vptrace-<command>-<pid>.zst, with -r<rank> unless `rank` is negative. `command` is cleaned the
 * same way and cut at 64 characters. */
void vtr_output_default(const char *command, long rank, char *out, size_t size);

/* The name of a command line in the format of /proc/self/cmdline: words, each ended by NUL. The
 * first word without folder; for a Python interpreter, the script's name without folder and ".py",
 * or the module's after -m. "" when there is none. */
void vtr_output_command(const char *words, size_t words_bytes, char *out, size_t size);

#endif
