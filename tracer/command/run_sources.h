/* run_sources.h - where each option of `vptrace run` has its value from: the command line, else the environment, else the
 * file of --config, else the default. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_SOURCES_H
#define VPTRACE_TRACER_COMMAND_RUN_SOURCES_H

#include "formats/cli/command.h"

enum vtr_origin { VTR_FROM_DEFAULT, VTR_FROM_FILE, VTR_FROM_ENVIRONMENT, VTR_FROM_COMMAND_LINE };

struct vtr_source {
	const char *name;     /* of the option, or of a variable that is none */
	const char *variable; /* NULL: none sets the option */
	enum vtr_origin origin;
	unsigned line; /* FILE */
	char *value;   /* NULL: there is none */
};

struct vtr_sources {
	const char *file; /* of --config; NULL: none */
	char *texts;      /* of the file, which args points into */
	struct vtr_source *all;
	size_t count;
};

/* Reads the file of --config, adds to `args` what neither the command line nor the environment says, and sets variables that
 * are no options. VPT_EINVAL: the file, a key or a value's type; VPT_ENOMEM. Free `out` after `args`, also after a failure. */
int vtr_sources_take(struct vpt_args *args, struct vtr_sources *out, struct vpt_err *err);

/* Says which line of the file an error is about, if its text begins with an option or variable from there. */
void vtr_sources_explain(const struct vtr_sources *s, struct vpt_err *err);

/* A line for each option: name, value, origin. */
void vtr_sources_print(const struct vtr_sources *s, struct vpt_out *out);

void vtr_sources_free(struct vtr_sources *s);

#endif
