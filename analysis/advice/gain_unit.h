/* gain_unit.h - how much of a gain is in the units of ../pipeline/unit.h.
 *
 * A gain is known for the whole window: its part inside the units is the same share as of the idle time of its
 * cause, or of the busy time of its kernel family. Of units whose time is not known by cause and family, such as
 * inferred steps, all of it may be inside that there is room for, if at least half of it must be; else how much
 * is inside is not known. A gain that lies elsewhere is a part of the active time, from the first op of any device to
 * the last. */
#ifndef VPA_ANALYSIS_ADVICE_GAIN_UNIT_H
#define VPA_ANALYSIS_ADVICE_GAIN_UNIT_H

#include "analysis/pipeline/unit.h"

/* How much of `gain_ns` is inside the units, if devices waited `ns` for the causes, a bit each; 0: nothing, or not
 * known. */
uint64_t vpa_gain_unit_idle(const struct vpa_report *r, const struct vpa_mean_unit *unit,
	uint32_t causes, uint64_t gain_ns, uint64_t ns);

/* How much of `ns` of busy time is inside them; of a kernel family's time, or of all: VPA_FAMILY_UNKNOWN. 0: nothing, or not known. */
uint64_t vpa_gain_unit_busy(const struct vpa_report *r, uint64_t ns, enum vpa_family family);
/* The same of the time of several families, a bit each. */
uint64_t vpa_gain_unit_busy_of(const struct vpa_report *r, uint64_t ns, uint32_t families);

/* How much of `ns`, which the measured blocks of all requests have together, is in the units: of blocks those of one request, of
 * requests all but the first. */
uint64_t vpa_gain_unit_blocks(const struct vpa_report *r, uint64_t ns);

#endif
