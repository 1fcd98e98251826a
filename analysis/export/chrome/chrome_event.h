/* chrome_event.h - the state of an export as Chrome's JSON, and what its events share. Private to this folder.
 *
 *	first chunk --> chrome_export.c   what precedes the events
 *	chunk       --> chrome_rows.c     sections, flow arrows, names of threads; then each row's event:
 *	                chrome_ops.c      kernels, copies, calls
 *	                chrome_ranges.c     ranges, marks
 *	                chrome_waits.c    synchronisation and the rest
 *	                chrome_python.c   stacks
 *	ops, ranges --> gpu_ranges.c      ranges as they were on each stream
 *	report      --> chrome_export.c   devices, what is known of the run
 */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_EVENT_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_EVENT_H

#include "analysis/base/index.h"
#include "analysis/export/chunk_names.h"
#include "analysis/export/exported_rows.h"

struct vpa_chrome {
	const struct vpa_export_context *c;
	int has_event;
	uint64_t shift_ns; /* the moment from which times count */
	const struct vpa_export_part
		*part;       /* of a file of several traces; NULL: it is of this one */
	struct vpa_line out; /* pending, before the groups */

	/* Of the current chunk and section. */
	const struct vpt_batch *batch;
	const struct vpt_section *configs;
	struct vpa_chunk_lanes lanes;
	struct vpa_pieces strings, kernel_names, kernel_args;
	struct vpa_line place; /* of the section's rows: `,"pid":0,"tid":7,"ts":` */
	struct vpa_line args;  /* arguments from the section's lane: `"device":0,` */
	uint64_t flow_base;    /* keeps correlation ids of several processes apart */

	struct vpa_index named; /* threads and streams already named */
	struct vpa_index pids;
	/* Recorded CUDA events by the low bits of their sync id; a newer one replaces an older one. */
	struct vpa_chrome_record {
		uint64_t sync_id, correlation, device, context, stream;
	} * records;
	struct vpa_chrome_python *python;
	uint64_t rows; /* that the report counts as events read */
};

/* Begins an event: a comma, except before the first, and a new line. */
void vpa_chrome_event(struct vpa_chrome *x);

/* A string of the chunk as JSON. */
void vpa_chrome_string(struct vpa_chrome *x, struct vpa_line *l, uint64_t id);

/* Writes a moment of the trace. Time 0 means that none was recorded: such an event is placed at the
 * window's start, for other tools, and marked "no time". */
static inline void vpa_chrome_time(struct vpa_chrome *x, uint64_t t)
{
	uint64_t at = t ? t : x->c->view.context->model->window_start_ns;

	vpa_line_micros(&x->out,
		x->part ? (uint64_t)vpa_clock_time(x->part->clock, at) - (uint64_t)x->part->start_ns
			: at - x->shift_ns);
	if (!t)
		vpa_line_words(&x->out, ",\"no time\":1");
}

static inline void vpa_chrome_words(struct vpa_chrome *x, const char *text)
{
	vpa_line_words(&x->out, text);
}

/* A whole number. JSON readers keep those up to 2^63; larger ones are written as text. */
void vpa_chrome_put_natural(struct vpa_line *l, uint64_t value);
/* The same after a label. optional() omits a 0; the value of integer() is in two's complement. */
void vpa_chrome_natural(struct vpa_line *l, const char *label, uint64_t value);
void vpa_chrome_optional(struct vpa_line *l, const char *label, uint64_t value);
void vpa_chrome_integer(struct vpa_line *l, const char *label, uint64_t value);
/* A payload's or a sample's bits as a number. */
void vpa_chrome_real(struct vpa_line *l, uint64_t type, uint64_t bits);

/* The parts of an event in order: everything before its name, which the caller adds; the section's
 * place, which ends with the label of the time; the times of a span; and the arguments, those of the
 * lane first. */
void vpa_chrome_begin(struct vpa_chrome *x, const char *phase_and_category);
void vpa_chrome_place(struct vpa_chrome *x);
void vpa_chrome_times(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row);
void vpa_chrome_begin_args(struct vpa_chrome *x);
void vpa_chrome_end_args(struct vpa_chrome *x);
/* Sets the line to `,"pid":1,"tid":2,"ts":`. */
void vpa_chrome_place_of(
	const struct vpa_chrome *x, struct vpa_line *l, uint64_t pid, uint64_t tid);
/* Appends a process, or the device in its place: of one of several traces "[rank 3] 1". */
void vpa_chrome_pid(
	const struct vpa_chrome *x, struct vpa_line *l, const char *label, uint64_t pid);

/* An arrow from a launch to its op, at the section's place; `begin_with` ends with the id's label. */
void vpa_chrome_flow(struct vpa_chrome *x, const char *begin_with, uint64_t correlation,
	uint64_t time_ns, const char *end_with);
void vpa_chrome_flow_ends(struct vpa_chrome *x, uint64_t correlation, uint64_t time_ns);

/* A column of LANE, by a row from vpa_chunk_lane(). */
uint64_t vpa_chrome_lane(const struct vpa_chrome *x, uint32_t row, unsigned column);

/* Writes the event of one row. */
typedef void vpa_chrome_put_fn(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row);

#endif
