/* options.h - what a capture was asked to be: the host's struct, then the environment, then the
 * defaults, checked once. */
#ifndef VPTRACE_TRACER_OPTIONS_H
#define VPTRACE_TRACER_OPTIONS_H

#include "formats/error.h"
#include "tracer/vptrace.h"

#include <stdint.h>

enum { VTR_PATH_MAX = 4096 };

struct vtr_options {
	char path[VTR_PATH_MAX];       /* expanded; a free number is found when the file is made */
	char cupti_path[VTR_PATH_MAX]; /* "": the one that is found */
	int overwrite, synchronize;    /* 0 or 1 */
	enum vptrace_profile profile;
	uint64_t memory_limit_bytes;
	uint32_t flush_interval_ms, stop_timeout_ms;
	uint32_t device_buffers; /* 0: CUPTI's own limit */
	int compression_level;
	long rank; /* RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK or PMIX_RANK, the first
		      that is a number; -1: none */
};

/* `given` may be NULL; it may be of an older version, shorter, and of a newer one as long as what
 * this one does not know is zero. VPT_EINVAL names the field or the variable, what it must be and
 * what it is; `out` is all zeros then. Memory is written 256M or 256MiB (2^20 bytes each), or 268MB
 * (10^6); times are milliseconds, or written 500ms or 2s. */
int vtr_options_resolve(
	const struct vptrace_options *given, struct vtr_options *out, struct vpt_err *err);

/* The variables of the environment that set options, by number. */
size_t vtr_options_count(void);
const char *vtr_options_variable(size_t i);

/* The command's name for file names and metadata, from /proc/self/cmdline, else comm; "program"
 * when unknown. Without folder; of an interpreter of Python the script's or the module's name,
 * without ".py". */
void vtr_command_name(char *out, size_t size);
/* Its words joined by spaces, control bytes as "?"; cut where `size` ends; "" when unknown. */
void vtr_command_line(char *out, size_t size);

#endif
