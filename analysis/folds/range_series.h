/* range_series.h - ranges whose names differ by a number alone, one after the other: "section 0" to "section 4". Together they are
 * instances of one range, "section".
 *
 * An instance lasts from its first op to that of the next one on its device, whose number is higher; so what the host does between
 * two of them belongs to the first, and the last one has no time. Series are written if they hold most of the devices' time, and an
 * instance lasts a hundredth of the window or more: what is shorter is a part of a model. None lies in another of its series. */
#ifndef VPA_ANALYSIS_FOLDS_RANGE_SERIES_H
#define VPA_ANALYSIS_FOLDS_RANGE_SERIES_H

#include "analysis/folds/fold.h"

enum { VPA_SERIES_LEAST = 3 /* instances with a time */ };

/* An instance of a range, and the time that its device had been idle until its first op. */
struct vpa_timed_instance {
	struct vpa_range_instance own;
	uint64_t idle_first_ns;
};

/* A range that may be in a series: no operator, and nothing that its name gives a meaning. Texts live as long as the report. */
struct vpa_numbered_range {
	const char *name, *domain;
	const struct vpa_timed_instance *instances;
	size_t count;
};

/* Sets out->series. 0 or VPT_ENOMEM. */
int vpa_range_series_write(const struct vpa_fold_context *c,
	const struct vpa_numbered_range *ranges, size_t count, struct vpa_report *out);

#endif
