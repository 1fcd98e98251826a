/* capture_options.h - a capture's options, from the host's struct, the environment and the defaults,
 * checked once. */
#ifndef VPTRACE_TRACER_SETTINGS_CAPTURE_OPTIONS_H
#define VPTRACE_TRACER_SETTINGS_CAPTURE_OPTIONS_H

#include "formats/base/error.h"
#include "tracer/settings/monitors.h"
#include "tracer/settings/ring_options.h"
#include "tracer/settings/tags.h"
#include "tracer/settings/trigger.h"
#include "tracer/vptrace.h"

#include <stdint.h>

enum { VTR_PATH_MAX = 4096 };

struct vtr_options {
	char path[VTR_PATH_MAX];       /* expanded; a free number is chosen on creation */
	char cupti_path[VTR_PATH_MAX]; /* "": search for one */
	int overwrite, synchronize;    /* 0 or 1 */
	enum vptrace_profile profile;
	uint64_t memory_limit_bytes;
	uint32_t flush_interval_ms, stop_timeout_ms;
	uint32_t device_buffers; /* 0: CUPTI's own limit */
	struct vtr_monitors monitors;
	int stacks_hz; /* -1: off */
	int compression_level;
	struct vtr_trigger capture;
	uint64_t duration_ns, max_bytes; /* 0: no limit */
	struct vtr_ring ring;
	struct vtr_snapshot_on snapshot_on; /* without a ring: all zeros */
	struct vtr_tags tags;
	/* the first of RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK, PMIX_RANK that is a
	 * number; -1: none */
	long rank;
};

/* `given` may be NULL. It may come from an older version, and be shorter, or from a newer one, if
 * all fields unknown here are zero. VPT_EINVAL: the error names the field or variable, its valid
 * range and its value; `out` is all zeros. Memory is written 256M or 256MiB (units of 2^20 bytes),
 * or 268MB (10^6); times are milliseconds, or written 500ms or 2s. */
int vtr_options_resolve(
	const struct vptrace_options *given, struct vtr_options *out, struct vpt_err *err);

/* The environment variables that set options, by number. */
size_t vtr_options_count(void);
const char *vtr_options_variable(size_t i);
/* Its default in words; "": there is none. */
void vtr_options_default(size_t i, char *out, size_t size);

/* The command's name for file names and metadata, from /proc/self/cmdline, else comm; "program"
 * when unknown. Without folder; for a Python interpreter, the name of the script or module, without
 * ".py". */
void vtr_command_name(char *out, size_t size);
/* The command line, words joined by spaces, control bytes as "?"; cut at `size`; "" when
 * unknown. */
void vtr_command_line(char *out, size_t size);

#endif
