/* random_causes.h - random captures for the question why a device was idle.
 *
 * A seed makes a small program: threads of one or two processes that call CUDA, nested, overlapping and in captures;
 * streams of several devices that run what was launched, or what nobody launched; waits, overhead, loss, pauses and
 * ranges around. All times come from values around the thresholds of the definitions, on four scales, so that every
 * cause is common and edges meet often. A record stands in the chunk that was open when it was complete, or up to
 * two chunks later where the format lets a reader wait for it. */
#ifndef VPT_TESTS_SUPPORT_RANDOM_CAUSES_H
#define VPT_TESTS_SUPPORT_RANDOM_CAUSES_H

#include "analysis/report/analysis_options.h"
#include "formats/io/io.h"

struct random_causes {
	uint64_t seed;
	/* The chunks are closed at most so often, at random moments; the rows are the same for any number. 0: one chunk. */
	unsigned cuts;
	/* 1: nothing that only the whole trace can tell. So no op begins before its launch call, or belongs to a call
	 * that does not count for a chunk's t_min; a copy that blocks by its memory begins with its call; the first
	 * record that names a stream as waiting comes first of all, and each begins with its call; no chunk ends inside
	 * a call that has others inside. */
	int orderly;
};

/* The trace in the language of script.h: the caller's to free with vpt_free(). `window` receives the options to
 * analyze it with: all of the trace, or a window. */
char *random_causes_script(const struct random_causes *how, struct vpa_options *window);

/* The trace as the bytes of a capture; out->data is the caller's to free with vpt_free(). 0, or why it could not be
 * written. */
int random_causes_write(const struct random_causes *how, struct vpa_options *window,
	struct vpt_buffer *out, struct vpt_err *err);

#endif
