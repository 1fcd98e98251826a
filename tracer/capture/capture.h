/* capture.h - one capture, from begin to end. For the session only, which holds its lock around
 * each of these calls. */
#ifndef VPTRACE_TRACER_CAPTURE_CAPTURE_H
#define VPTRACE_TRACER_CAPTURE_CAPTURE_H

#include "formats/base/error.h"
#include "formats/metadata.h"
#include "tracer/capture/attached_facts.h"
#include "tracer/cupti/cupti.h"
#include "tracer/vptrace.h"

#include <stdint.h>

struct vtr_capture;

/* Called by the capture's threads at any moment. `why` is valid until the capture is freed. */
struct vtr_capture_hooks {
	void (*file_failed)(const char *why);  /* nothing more is recorded */
	void (*cupti_failed)(const char *why); /* from now on only ranges are recorded */
	void (*over)(void);                    /* nothing more will be recorded: end the capture */
	/* another client has taken CUPTI, or (0) no longer holds it */
	void (*cupti_taken)(int is_taken);
};

/* Begins a capture of ranges. `always`: create the file at once, even if nothing happens. Facts are
 * copied. VPTRACE_OK; VPTRACE_EINVAL, _ENOMEM, _EFILE: nothing was started, *out is NULL. */
int vtr_capture_begin(const struct vptrace_options *options, int always,
	const struct vtr_facts *facts, const struct vtr_capture_hooks *hooks,
	struct vtr_capture **out, struct vpt_err *err);

/* Adds CUPTI's records. VPTRACE_OK, or why only ranges are recorded; the capture's metadata gets
 * the reason too. Once. */
int vtr_capture_join_cupti(struct vtr_capture *c, struct vpt_err *err);
/* Whether its profile asks for CUPTI at all. */
int vtr_capture_wants_cupti(const struct vtr_capture *c);
/* NULL: ranges only. Borrowed. */
struct vtr_cupti *vtr_capture_cupti(const struct vtr_capture *c);

/* Its VPTRACE_CAPTURE. Borrowed. */
const char *vtr_capture_window(const struct vtr_capture *c);

/* Records a key of the host's own. -1: the writer has too much pending to accept more. */
int vtr_capture_meta(struct vtr_capture *c, const char *key, const char *value);
/* A fact of the tracer's. */
void vtr_capture_fact(struct vtr_capture *c, enum vpt_metadata fact, const char *value);

/* Fills in everything but struct_bytes and stop_code. `path` has room for VTR_PATH_MAX bytes; it is
 * set if it is empty and the file has a name. */
void vtr_capture_stats(const struct vtr_capture *c, struct vptrace_stats *out, char *path);

/* Writes what its ring holds. For vptrace_snapshot(), whose codes it returns; the one call without
 * the session's lock, while nothing can end the capture but the process's exit. */
int vtr_capture_snapshot(struct vtr_capture *c, const char *path, struct vpt_err *err);

/* Waits for launched work, for at most the time that the options give CUPTI, unless they turn it
 * off. Recording continues. Once, before the end. `exiting`: the process is exiting, so wait for
 * CUPTI only; see cupti_parts.h. */
void vtr_capture_drain(struct vtr_capture *c, int exiting);

/* Ends it within the rest of that time, but at least a second, and as long again for the file.
 * Allocates no memory: the process may be exiting. VPTRACE_OK; VPTRACE_ETIMEOUT, _EFILE: something
 * is missing, `err` says what. */
int vtr_capture_end(struct vtr_capture *c, struct vpt_err *err);

/* After its end. 0: freed, or what remains is leaked permanently. -1: its writer is still blocked in a
 * write to `*path`; try again later. */
int vtr_capture_free(struct vtr_capture *c, const char **path);

/* In a forked child: closes the file's descriptor, frees nothing. */
void vtr_capture_abandon(struct vtr_capture *c);

#endif
