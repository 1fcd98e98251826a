/* resolver_maps.h - a chunk's own numbers (strings, configurations, lanes) into the model's. Private to the
 * resolver. All functions return 0 or VPT_ENOMEM. */
#ifndef VPA_ANALYSIS_RESOLVER_MAPS_H
#define VPA_ANALYSIS_RESOLVER_MAPS_H

#include "analysis/resolver.h"

struct vpa_lane_entry {
	uint64_t key; /* 0: free */
	uint32_t index;
	uint8_t type; /* VPT_LANETYPE_THREAD or _STREAM */
};

struct vpa_resolver_maps {
	uint32_t *names; /* by string of the chunk; VPA_NONE: not asked yet */
	size_t name_count, name_cap;
	struct vpa_config_entry *configs; /* by row of CONFIG */
	size_t config_count, config_cap;
	struct vpa_lane_entry *lanes;
	size_t lane_slots, lane_count;
	uint32_t *kernel_of_name; /* 1 + kernel, by name */
	size_t kernel_of_name_cap;
	uint32_t call_names[256]; /* 1 + name, by call number */
	uint32_t cpu_op;          /* name of the domain of imported operators; 0 until met */
	uint32_t too_many;        /* name that stands for all beyond the limit */
};

struct vpa_resolver_maps *vpa_maps_new(void);
void vpa_maps_free(struct vpa_resolver_maps *m);

int vpa_maps_begin_chunk(struct vpa_resolver *r, const struct vpt_batch *b);
int vpa_maps_name(struct vpa_resolver *r, const struct vpt_batch *b, uint64_t string, uint32_t *name);
int vpa_maps_call_name(
	struct vpa_resolver *r, const struct vpt_batch *b, uint64_t id, uint64_t string, uint32_t *name);
int vpa_maps_config(struct vpa_resolver *r, const struct vpt_batch *b, uint64_t config, uint32_t *kernel,
	uint32_t *blocks);
int vpa_maps_thread(struct vpa_resolver *r, uint64_t key, uint32_t *index);
int vpa_maps_stream(struct vpa_resolver *r, uint64_t key, uint32_t *index);

#endif
