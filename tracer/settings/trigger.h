/* trigger.h - when a capture records: the text of VPTRACE_CAPTURE, read once. */
#ifndef VPTRACE_TRACER_SETTINGS_TRIGGER_H
#define VPTRACE_TRACER_SETTINGS_TRIGGER_H

#include "formats/base/error.h"

#include <stdint.h>

enum vtr_trigger_kind {
	VTR_TRIGGER_NOW,
	VTR_TRIGGER_API,      /* the program's first vptrace_start() or vptrace_resume() */
	VTR_TRIGGER_PROFILER, /* between cudaProfilerStart() and cudaProfilerStop() */
	VTR_TRIGGER_RANGE,    /* while a range of some name is open */
	VTR_TRIGGER_UNITS,    /* some of the program's steps, blocks or requests */
	VTR_TRIGGER_DELAY     /* some time after the capture's start */
};

enum { VTR_TRIGGER_NAME_MAX = 256, VTR_TRIGGER_TEXT_MAX = 320 };

struct vtr_trigger {
	enum vtr_trigger_kind kind;
	char name[VTR_TRIGGER_NAME_MAX]; /* RANGE */
	uint64_t count;                  /* RANGE: windows to record; 0: all */
	/* UNITS: enum vptrace_note_kind. After `skip` units come cycles of `wait` units that are not recorded
	 * and `active` that are; `repeat` cycles, 0: without end. A to B: wait A, active B - A + 1, once. */
	int64_t unit;
	uint64_t skip, wait, active, repeat;
	uint64_t delay_ns;               /* DELAY */
	char text[VTR_TRIGGER_TEXT_MAX]; /* as it was given */
};

/* Reads now, api, cudaProfilerApi, nvtx:RANGE, nvtx:RANGE:COUNT, delay:SECONDS, and of step, block and
 * request :A-B, :A or :KEY=N,..., with the keys skip_first, wait, warmup, active and repeat, as
 * PyTorch's schedule has them; NULL and "" are now. VPT_EINVAL: the error says what is expected and what was found; `out` is
 * VTR_TRIGGER_NOW. */
int vtr_trigger_read(const char *text, struct vtr_trigger *out, struct vpt_err *err);

/* Reads seconds with at most nine decimals, as "10" or "0.25", exactly, and whatever the locale says.
 * 0, or -1: it is none, or more than a hundred years. Any thread. */
int vtr_seconds_read(const char *text, uint64_t *ns);

#endif
