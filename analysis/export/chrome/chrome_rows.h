/* chrome_rows.h - the rows of a chunk as events. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_ROWS_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_ROWS_H

#include "analysis/export/chrome/chrome_event.h"

/* Writes the rows of a chunk that are events of their own. 0 or an error code. */
int vpa_chrome_chunk(struct vpa_chrome *x, const struct vpt_batch *b);

#endif
