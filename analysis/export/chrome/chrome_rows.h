/* chrome_rows.h - the rows of a chunk as events. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_ROWS_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_ROWS_H

#include "analysis/export/chrome/chrome_event.h"
#include "analysis/export/export_pass.h"

/* A row of each kind: chrome_ops.c, chrome_ranges.c, chrome_waits.c. */
vpa_chrome_put_fn vpa_chrome_put_kernel, vpa_chrome_put_copy, vpa_chrome_put_call,
	vpa_chrome_put_range, vpa_chrome_put_mark, vpa_chrome_put_sync, vpa_chrome_put_record,
	vpa_chrome_put_overhead, vpa_chrome_put_counter, vpa_chrome_put_other;

enum { VPA_CHROME_RECORDS = 4096 }; /* places of x->records */

/* Reads the recorded CUDA events. Call it before writing the chunk's waits. */
void vpa_chrome_read_records(struct vpa_chrome *x, const struct vpt_section *s);

/* Writes the rows of a chunk that are events of their own. 0 or an error code. */
int vpa_chrome_chunk(struct vpa_chrome *x, const struct vpt_batch *b);

/* ---- chrome_part.c: what is known of one rank of several ---- */

/* Writes it after the rank's events; nothing for a part that is not of one rank. `devices`: its GPUs as JSON. */
void vpa_chrome_put_part(struct vpa_chrome *x, const struct vpa_line *devices);

/* ---- chrome_merge.c: the traces of several ranks as one file of Chrome's JSON: "[rank 3] 100" are the processes of rank 3, and all
 * times are on one clock ---- */

/* Reads each trace twice: as a rank, so that collectives align the clocks of machines, and as events. See exporter.h. */
int vpa_chrome_merge(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
