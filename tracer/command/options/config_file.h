/* config_file.h - options of a command in a file, in a part of TOML:
 *
 *	# comments
 *	capture = "request:1-3"
 *	max-bytes = "500M"
 *	stacks = 100
 *	overwrite = true
 *	tag = ["model=wan", "steps=50"]
 *
 * or, where the file's name ends in .yaml or .yml, in a part of YAML:
 *
 *	capture: request:1-3
 *	overwrite: true
 *	tag:
 *	  - model=wan
 *	  - steps=50
 *
 * Keys are bare or quoted. Values are strings of one line, numbers, true and false, and arrays of these. Tables and nested keys, dates,
 * strings of several lines, and YAML's anchors, tags and null are refused with the line where they stand. */
#ifndef VPTRACE_TRACER_COMMAND_OPTIONS_CONFIG_FILE_H
#define VPTRACE_TRACER_COMMAND_OPTIONS_CONFIG_FILE_H

#include "formats/base/error.h"

#include <stddef.h>

enum { VTR_CONFIG_BYTES_MAX = 1 << 20 };

struct vtr_config_value {
	const char *key,
		*text; /* a number as it is written, true or false, a string without its quotes and escapes */
	int is_word; /* true or false */
	int in_array;
	unsigned line; /* from 1 */
};

struct vtr_config {
	struct vtr_config_value
		*values; /* in the order of the file; those of an array have its key */
	size_t count;
	char *bytes; /* which they point into */
};

/* VPT_EINVAL: the file cannot be read, or is not such TOML or YAML; a key stands twice. The error begins with the path and the line.
 * VPT_ENOMEM. `out` is then empty. */
int vtr_config_read(const char *path, struct vtr_config *out, struct vpt_err *err);

void vtr_config_free(struct vtr_config *c);

#endif
