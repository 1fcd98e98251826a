/* json.h - what the files behind vpa_render_json() share; nobody else includes it. */
#ifndef VPA_ANALYSIS_RENDER_JSON_H
#define VPA_ANALYSIS_RENDER_JSON_H

#include "analysis/report.h"
#include "formats/json.h"

void vpa_json_spread(struct vpt_json *j, const char *key, const struct vpa_spread *s);

/* json_blocks.c */
void vpa_json_request(struct vpt_json *j, const struct vpa_request *r);
void vpa_json_stage(struct vpt_json *j, const struct vpa_stage_row *s);
void vpa_json_finding(struct vpt_json *j, const struct vpa_finding *f);

#endif
