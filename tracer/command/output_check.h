/* output_check.h - what can be known of the output before the command runs.
 *
 * A wrong name would otherwise show only at the end, when the command has run for nothing. */
#ifndef VPTRACE_TRACER_COMMAND_OUTPUT_CHECK_H
#define VPTRACE_TRACER_COMMAND_OUTPUT_CHECK_H

#include "formats/base/error.h"
#include "tracer/settings/capture_options.h"

#include <time.h>

/* The folder of the output; "": it differs between processes. */
void vtr_output_folder(const struct vtr_options *options, char out[VTR_PATH_MAX]);

/* VPT_EINVAL: it is not there, or cannot be written. "" passes. */
int vtr_output_check_folder(const char *folder, struct vpt_err *err);

/* Writes this many bytes into a file without a name, which is gone afterwards. 0, or errno: nothing
 * could be written, or with `all` not everything. */
int vtr_output_try(const char *folder, size_t bytes, int all);

/* VPT_EINVAL with a sentence: the folder, or what has the file's name, cannot be written, or there
 * is no space. What differs between processes is not examined. */
int vtr_output_check(const struct vtr_options *options, struct vpt_err *err);

/* Whether a file of the output's name was written at `since` or later; its name is the same for all
 * processes then. */
int vtr_output_is_newer(const struct vtr_options *options, time_t since);

#endif
