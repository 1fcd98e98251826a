/* chrome_waits.h - synchronisation, CUDA events, overhead, counters, and the kinds that the profiler has no
 * form for. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_WAITS_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_WAITS_H

#include "analysis/export/chrome/chrome_event.h"

enum { VPA_CHROME_RECORDS = 4096 }; /* places of x->records */

vpa_chrome_put_fn vpa_chrome_put_sync, vpa_chrome_put_record, vpa_chrome_put_overhead,
	vpa_chrome_put_counter, vpa_chrome_put_other;

/* Reads the recorded CUDA events. Call it before writing the chunk's waits. */
void vpa_chrome_read_records(struct vpa_chrome *x, const struct vpt_section *s);

#endif
