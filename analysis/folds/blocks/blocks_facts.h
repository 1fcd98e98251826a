/* blocks_facts.h - what a request was asked for and what it made: facts, marks of its thread while it was open, and
 * the passes of the model in each of its steps. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_FACTS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_FACTS_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Keeps a mark's fact until the requests are known. 0 or VPT_ENOMEM. */
int vpa_blocks_fact_add(struct vpa_blocks_table *s, const struct vpa_mark *mark);

/* Gives each request that is written its facts; before vpa_group_measure(), which needs them. 0 or VPT_ENOMEM. */
int vpa_blocks_facts_write(struct vpa_blocks_writer *w);

/* Whether its facts say that it failed, or made latents that nothing has decoded: its frames are none that one can see. */
int vpa_request_has_no_video(const struct vpa_request *r);

/* Sets vpa_request.passes_per_step of the group's request, whose steps are known. 0 or VPT_ENOMEM. */
int vpa_group_passes(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);

#endif
