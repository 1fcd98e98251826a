/* output_name.h - how a capture's file is called: the pattern that a user gave, or a name made of
 * the command. */
#ifndef VPTRACE_TRACER_OUTPUT_NAME_H
#define VPTRACE_TRACER_OUTPUT_NAME_H

#include "formats/error.h"

#include <stddef.h>

/* Replaces %p by the process id, %h by the host's name, %r by the rank ("0" where `rank` is
 * negative), %q{VAR} by a variable of the environment ("none" where it is unset), %% by a percent
 * sign. Of what is put in, everything but letters, digits and ._+- becomes "_", and so do dots in
 * front: no variable leads into another folder. The pattern's own text stays as it is. VPT_EINVAL:
 * an unknown sequence, no file name at the end, too long for `size`; `out` is "" then. */
int vtr_output_expand(const char *pattern, long rank, char *out, size_t size, struct vpt_err *err);

/* vptrace-<command>-<pid>.zst, with -r<rank> unless `rank` is negative. `command` is cleaned in the
 * same way, and cut after 64 characters. */
void vtr_output_default(const char *command, long rank, char *out, size_t size);

/* The name of a command line, given as /proc/self/cmdline has it: words, each ended by NUL. Its
 * first word without folder; if that is an interpreter of Python, the script's name without folder
 * and ".py", or the module's after -m. "" when there is none. */
void vtr_output_command(const char *words, size_t words_bytes, char *out, size_t size);

#endif
