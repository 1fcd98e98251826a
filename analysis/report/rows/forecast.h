/* forecast.h - what a replay of the trace says: the two paces, and how far predictions can be trusted. Part of report.h;
 * ../../retime/predictions.c fills it. Predictions of findings are in the findings. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_FORECAST_H
#define VPA_ANALYSIS_REPORT_ROWS_FORECAST_H

#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

enum vpa_confidence {
	VPA_CONFIDENCE_NONE, /* no prediction: `why_not` */
	VPA_CONFIDENCE_LOW,
	VPA_CONFIDENCE_FAIR,
	VPA_CONFIDENCE_HIGH,
	VPA_CONFIDENCES
};

/* A part of the mean unit: a stage in which no other one is, or, without a name, what is between them. */
struct vpa_forecast_stage {
	const char *name; /* NULL: between stages */
	int is_replayed; /* 0: of a large trace no replayed part has it, so nothing is known of it; all others are 0 */
	double host_ms; /* its part of the host's pace */
	double recorded_ms,
		predicted_ms; /* of the base, and of all_ms, or, where one finding only has a change, of that */
};

/* A change that somebody asked about. */
struct vpa_asked_change {
	const char *change;
	enum vpa_base base;    /* as of the paces */
	uint64_t hits;         /* calls or ops that it is about; 0: none, so it brings nothing */
	double gain_share;     /* by how much of its time the base is shorter */
	double replayed_share; /* of the trace, as below */
	const char *why_not;   /* no prediction, and why; NULL: there is one */
};

struct vpa_forecast {
	int is_asked; /* 0: nobody asked for predictions; all others are 0 */
	enum vpa_confidence confidence;
	const char *why_not; /* a sentence; NULL: there are predictions */
	enum vpa_base
		base; /* what the paces are of: a unit, or the time from the first op to the last */
	double base_ms;
	double host_ms; /* the base if no op took time: the host's pace */
	double gpu_ms;  /* if the host took no time and waited for nothing: the GPUs' pace */
	/* Of the time from the first op to the last: delay of ops for which no reason is known; that for which one was
	 * inferred. May exceed 1 where streams wait at the same time. */
	double unexplained_share, inferred_share;
	/* The same for host code that was taken to wait for another thread's call: such a thread may as well have run its
	 * own. */
	double handed_over_share;
	double replayed_share; /* of the trace: of a large one only parts are replayed, spread evenly */
	double without_call_share; /* of ops: their launch is not known, so no change of the host moves them */
	/* All changes of findings together, in the base; 0: there are fewer than two, or no prediction. */
	size_t all_count;
	double all_ms, all_fps, all_steps_per_s;
	int all_at_least; /* one of them brings at least what is predicted */
	/* In order, then what is between them; host_ms, recorded_ms and predicted_ms add up to those of the whole. None: the
	 * unit is no block and no request, its stages overlap, or the options do not request stage_spans. */
	struct vpa_forecast_stage *stages;
	size_t stage_count;
	struct vpa_asked_change *asked;
	size_t asked_count;
};

/* "none", "low", "fair", "high" */
static inline const char *vpa_confidence_word(enum vpa_confidence confidence)
{
	static const char *const words[VPA_CONFIDENCES] = {
		[VPA_CONFIDENCE_NONE] = "none",
		[VPA_CONFIDENCE_LOW] = "low",
		[VPA_CONFIDENCE_FAIR] = "fair",
		[VPA_CONFIDENCE_HIGH] = "high",
	};

	return confidence < VPA_CONFIDENCES ? words[confidence] : words[VPA_CONFIDENCE_NONE];
}

#endif
