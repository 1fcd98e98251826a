/* capture.h - one capture, from its begin to its end. For the session alone, which holds its lock during each of these. */
#ifndef VPTRACE_TRACER_CAPTURE_H
#define VPTRACE_TRACER_CAPTURE_H

#include "formats/error.h"
#include "tracer/cupti.h"
#include "tracer/facts.h"
#include "tracer/vptrace.h"

#include <stdint.h>

struct vtr_capture;

/* What its threads have to say, at any moment; `why` is good until the capture is freed. */
struct vtr_capture_hooks {
	void (*file_failed)(const char *why);  /* nothing more is recorded */
	void (*cupti_failed)(const char *why); /* only ranges are, from here on */
	void (*cupti_taken)(int is_taken);     /* by another client, or (0) no longer */
};

/* Begins a capture of ranges. `always`: the file is made at once, even if nothing happens. Facts are copied. VPTRACE_OK;
 * VPTRACE_EINVAL, _ENOMEM, _EFILE: nothing has begun, *out is NULL. */
int vtr_capture_begin(const struct vptrace_options *options, int always,
	const struct vtr_facts *facts, const struct vtr_capture_hooks *hooks,
	struct vtr_capture **out, struct vpt_err *err);

/* Adds CUPTI's records. VPTRACE_OK, or why only ranges are recorded, which the capture then says too. Once. */
int vtr_capture_join_cupti(struct vtr_capture *c, struct vpt_err *err);
/* Whether its profile asks for CUPTI at all. */
int vtr_capture_wants_cupti(const struct vtr_capture *c);
/* NULL: ranges only. Borrowed. */
struct vtr_cupti *vtr_capture_cupti(const struct vtr_capture *c);

/* -1: the writer is too far behind to take more. */
int vtr_capture_meta(struct vtr_capture *c, const char *key, const char *value);
void vtr_capture_pause(struct vtr_capture *c, int pausing);

/* All but struct_bytes and stop_code. `path` has room for VTR_PATH_MAX bytes and is filled in when it is empty and the
 * file has a name. */
void vtr_capture_stats(const struct vtr_capture *c, struct vptrace_stats *out, char *path);

/* Waits for the work that has been launched, within the time its options give for CUPTI, unless they say not to. Recording goes
 * on meanwhile. Once, before the end. `exiting`: the process is, so that only CUPTI is waited for, see cupti_drain.h. */
void vtr_capture_drain(struct vtr_capture *c, int exiting);

/* Ends it, within what is left of that time, at least a second of it, and as long again for the file. Writes no memory that must be allocated:
 * the process may be exiting. VPTRACE_OK; VPTRACE_ETIMEOUT, _EFILE: something is missing, `err` says what. */
int vtr_capture_end(struct vtr_capture *c, struct vpt_err *err);

/* After its end. 0: it is gone, or what is left of it is left alone for ever. -1: its writer is still blocked in a write to
 * `*path`; ask again later. */
int vtr_capture_free(struct vtr_capture *c, const char **path);

/* In a forked child: closes the file's descriptor, frees nothing. */
void vtr_capture_abandon(struct vtr_capture *c);

#endif
