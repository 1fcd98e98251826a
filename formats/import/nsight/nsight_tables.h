/* nsight_tables.h - the tables of an export, and how each row becomes a row of ours. */
#ifndef VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_TABLES_H
#define VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_TABLES_H

#include "formats/import/nsight/nsight_import.h"

/* Each array ends with a table that has no name. */
extern const struct vpt_nsight_table vpt_nsight_session[]; /* what was recorded, on which devices */
extern const struct vpt_nsight_table vpt_nsight_tables[];  /* CUPTI's events */
extern const struct vpt_nsight_table vpt_nsight_lifetimes[]; /* graphs and memory */
extern const struct vpt_nsight_table vpt_nsight_metrics[];   /* samples of the GPUs' counters */
extern const struct vpt_nsight_table vpt_nsight_nvtx;
extern const struct vpt_nsight_table vpt_nsight_nvtx_domains; /* read it before vpt_nsight_nvtx */

/* Put the rows that had to wait for the end of the trace. */
void vpt_nsight_put_losses(struct vpt_nsight *im);
void vpt_nsight_put_unmatched(struct vpt_nsight *im);
void vpt_nsight_put_meta(struct vpt_nsight *im);

#endif
