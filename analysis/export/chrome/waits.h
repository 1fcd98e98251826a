/* waits.h - synchronisation, CUDA events, overhead, counters, and the kinds that the profiler has no form for. For this
 * folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_WAITS_H
#define VPA_ANALYSIS_EXPORT_CHROME_WAITS_H

#include "analysis/export/chrome/event.h"

enum { VPA_CHROME_RECORDS = 4096 }; /* places of x->records */

vpa_chrome_put_fn vpa_chrome_put_sync, vpa_chrome_put_record, vpa_chrome_put_overhead,
	vpa_chrome_put_counter, vpa_chrome_put_other;

/* Reads what events were recorded, before the waits of the chunk are written. */
void vpa_chrome_read_records(struct vpa_chrome *x, const struct vpt_section *s);

#endif
