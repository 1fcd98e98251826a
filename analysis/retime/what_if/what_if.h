/* what_if.h - the answer to "what if": a report's unit, its blocks, stages and steps, as recorded, as predicted with some
 * changes, and, if the run that has the changes was recorded too, as measured there. */
#ifndef VPA_ANALYSIS_RETIME_WHAT_IF_WHAT_IF_H
#define VPA_ANALYSIS_RETIME_WHAT_IF_WHAT_IF_H

#include "analysis/report/report.h"
#include "analysis/retime/predictions.h"
#include "analysis/retime/what_if_parts.h"

struct vpt_trace;

/* One change, and how many calls or ops it is about. */
struct vpa_what_if_change {
	const char *text;
	uint64_t hits;
	const char *noun; /* what these are: "calls", "op" ...; a constant */
};

/* A unit: the mean one, or one of several. */
struct vpa_what_if_row {
	enum vpa_base unit;
	int64_t number; /* -1: the mean one */
	double recorded_ms, predicted_ms;
	double measured_ms;   /* of the other trace; 0: none */
	double error_percent; /* of the prediction, beside that; 0 if there is none */
	/* The same as rates; 0: unavailable. */
	double fps_recorded, fps_predicted, fps_measured;
	double steps_per_s_recorded, steps_per_s_predicted, steps_per_s_measured;
};

/* A stage, or the step: the mean instance with the changes, beside that without. */
struct vpa_what_if_part {
	enum vpa_part_kind kind;
	const char *name;
	int64_t number;     /* of a step in its block, from 0; -1: of all */
	uint64_t instances; /* that the predicted mean is of; 0: the changes remove all of them */
	double recorded_ms, predicted_ms;
	double measured_ms, error_percent; /* as of a unit */
};

struct vpa_what_if {
	struct vpa_arena arena;
	const struct vpa_report *report; /* borrowed */
	const char *path, *other;        /* other: the trace to check against; NULL: none */
	int simulated;
	struct vpa_what_if_change *changes;
	size_t change_count;
	struct vpa_what_if_row *rows; /* the mean unit, then each block */
	size_t row_count;
	struct vpa_what_if_part *parts; /* stages by their first op, then steps */
	size_t part_count;
	const char **parts_left_out; /* names */
	size_t parts_left_out_count;
	struct vpa_forecast forecast;
};

/* `text`: changes that semicolons separate. `other`: the report of the run that has them, or NULL. The caller calls
 * vpa_what_if_free(), whatever this returns. 0; VPT_EINVAL: a change is wrong; VPT_EUNSUPPORTED: the trace cannot be
 * replayed; VPT_ENOMEM; VPT_EIO. */
int vpa_what_if(const struct vpt_trace *trace, unsigned jobs, struct vpa_report *report,
	const char *text, const struct vpa_report *other, struct vpa_what_if *out,
	struct vpt_err *err);
void vpa_what_if_free(struct vpa_what_if *w);

#endif
