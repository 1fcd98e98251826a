/* capture_options.h - a capture's options, from the host's struct, the environment and the defaults,
 * checked once. */
#ifndef VPTRACE_TRACER_SETTINGS_CAPTURE_OPTIONS_H
#define VPTRACE_TRACER_SETTINGS_CAPTURE_OPTIONS_H

#include "formats/base/error.h"
#include "tracer/settings/monitors.h"
#include "tracer/settings/trigger.h"
#include "tracer/vptrace.h"

#include <stdint.h>

/* ---- tags.c: the text of VPTRACE_TAGS: what somebody calls a run, "model=wan,steps=50" ---- */

enum { VTR_TAGS_TEXT_MAX = 4096, VTR_TAG_KEY_MAX = 64 };

struct vtr_tags {
	char text[VTR_TAGS_TEXT_MAX]; /* "": none */
};

/* Reads KEY=VALUE, or several with commas between. NULL and "" are none. VPT_EINVAL: the error says what is expected and what
 * was found. */
int vtr_tags_read(const char *text, struct vtr_tags *out, struct vpt_err *err);

/* Calls `put` for each tag with its key, after "tag.", and its value. Any thread. */
void vtr_tags_each(const struct vtr_tags *tags,
	void (*put)(void *ctx, const char *key, const char *value), void *ctx);

/* ---- ring_options.c: the texts of VPTRACE_RING and VPTRACE_SNAPSHOT_ON, read once ---- */

enum { VTR_RING_TEXT_MAX = 32, VTR_SNAPSHOT_TEXT_MAX = 512, VTR_SNAPSHOT_NAME_MAX = 256 };

/* The least that a ring may hold: several chunks, which are smaller in a small ring. */
enum { VTR_RING_BYTES_MIN = 1 << 20, VTR_RING_CHUNKS = 8 };

/* How much a flight recorder keeps: of time or of bytes; both 0: there is no ring. */
struct vtr_ring {
	uint64_t keep_ns, bytes;
	char text[VTR_RING_TEXT_MAX]; /* as it was given */
};

/* When it is written, besides vptrace_snapshot() and the end; all 0: at the end. */
struct vtr_snapshot_on {
	char mark[VTR_SNAPSHOT_NAME_MAX]; /* a mark of this name */
	double slow;                      /* a step slower than this many medians */
	int signal;
	char signal_name[8];
	char text[VTR_SNAPSHOT_TEXT_MAX];
};

/* Reads "30s", "2m", "1h"; "64M", "1G", "64MiB". NULL and "" are no ring. VPT_EINVAL: the error says
 * what is expected and what was found. */
int vtr_ring_read(const char *text, struct vtr_ring *out, struct vpt_err *err);

/* Reads "mark:NAME", "slow:K", "signal:USR2", or several of them with commas between. */
int vtr_snapshot_on_read(const char *text, struct vtr_snapshot_on *out, struct vpt_err *err);

/* Whether the end of a capture is written too. */
static inline int vtr_snapshot_at_end(const struct vtr_snapshot_on *on)
{
	return !on->text[0];
}

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
