/* sound_rows.h - shows that the rows of a capture fit each other, without an analysis.
 *
 *	s = vpa_sound_new(trace)
 *	vpa_sound_chunk(s, batch)     each chunk, in order, until one is in doubt
 *	vpa_sound_end(s, n)           whether all of them fit
 *
 * An analysis counts what does not fit: ops without a launch, launches without a kernel, rows that came too late, invalid
 * times, what exceeds its own limits. Of most captures nothing does, and that takes a tenth of an analysis to show. The rules
 * here are stricter than those of the analysis and know less: what they leave in doubt may be complete all the same, and
 * only the analysis can tell. What they do not doubt, the verdict of verdict.h calls complete.
 *
 * Only for captures of one process. */
#ifndef VPA_ANALYSIS_TRUST_SOUND_ROWS_H
#define VPA_ANALYSIS_TRUST_SOUND_ROWS_H

#include "analysis/trust/completeness.h"

struct vpa_sound;

struct vpa_sound *vpa_sound_new(const struct vpt_trace *trace); /* NULL: no memory */
void vpa_sound_free(struct vpa_sound *s);                       /* accepts NULL */

/* Takes an unpacked chunk, and may cut its strings. 0: nothing is in doubt; VPT_END: something is, take no more;
 * VPT_ENOMEM. */
int vpa_sound_chunk(struct vpa_sound *s, struct vpt_batch *b);

/* After the last chunk: whether nothing is in doubt, neither of the rows nor of the file, by its completeness, which has ended. */
int vpa_sound_end(const struct vpa_sound *s, const struct vpa_completeness *n);

#endif
