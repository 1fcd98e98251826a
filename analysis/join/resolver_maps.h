/* resolver_maps.h - translates a chunk's numbers (strings, configurations, lanes) to the model's.
 * Private to the resolver. All functions return 0 or VPT_ENOMEM. */
#ifndef VPA_ANALYSIS_JOIN_RESOLVER_MAPS_H
#define VPA_ANALYSIS_JOIN_RESOLVER_MAPS_H

#include "analysis/base/index.h"
#include "analysis/join/resolver.h"
#include "formats/domains.h"

/* The names of a range. */
struct vpa_range_name {
	uint32_t name;         /* what it is summed by; VPA_NONE: not looked up yet */
	uint32_t recorded;     /* see vpa_range.recorded */
	uint8_t is_wide;       /* 1: whatever its kind, it belongs to all threads */
	uint8_t like_operator; /* 1: operators are called so */
	uint8_t loads;         /* see vpa_range.loads */
	uint16_t mark;         /* enum vpa_marked_span_mark */
};

/* What is known from a CUDA call's number. */
struct vpa_call_kind {
	struct vpa_call call; /* a call of this kind inside the window, without time and place */
	uint8_t known;
	uint8_t usual;    /* 1: its number says all, it only needs adding to the history */
	uint8_t launches; /* 1: puts ops on a device */
	uint8_t unknown;  /* 1: may put ops on a device, as far as is known */
	uint8_t blocks;   /* 1: waits for a device: for all that it does, or for an event on it */
	uint8_t for_all, for_event;
	uint8_t queries; /* 1: state is VPA_CALL_NONE */
	uint8_t sets_up; /* 1: loads code, or makes a CUDA graph */
};

struct vpa_resolver_maps {
	uint32_t *names; /* by string of the chunk; VPA_NONE: not looked up yet */
	size_t name_count, name_cap;
	struct vpa_range_name *range_names; /* the same for names of ranges */
	size_t range_name_cap;
	struct vpa_config_entry *configs; /* by row of CONFIG */
	size_t config_count, config_cap;
	struct vpa_index
		lanes;     /* (key, VPT_LANETYPE_THREAD or _STREAM): files may use a key for both */
	uint32_t *lane_of; /* the thread or stream of the model, by row of `lanes` */
	size_t lane_cap;
	uint32_t *kernel_of_name; /* 1 + kernel, by name */
	size_t kernel_of_name_cap;
	struct vpa_call_kind call_kinds[256]; /* by call number */
	/* Of calls, by name: 1 + enum vpt_call_class, with a bit for silent ones; 0: not looked up
	 * yet. */
	uint8_t *classes;
	size_t class_cap;
	uint32_t domains[VPT_DOMAINS]; /* their names; 0 until seen */
	uint32_t too_many;             /* name that replaces all beyond the limit */
};

struct vpa_resolver_maps *vpa_maps_new(void);
void vpa_maps_free(struct vpa_resolver_maps *m);

int vpa_maps_begin_chunk(struct vpa_resolver *r, const struct vpt_batch *b);
int vpa_maps_new_name(
	struct vpa_resolver *r, const struct vpt_batch *b, uint64_t string, uint32_t *name);
int vpa_maps_new_range_name(struct vpa_resolver *r, const struct vpt_batch *b, uint64_t string,
	struct vpa_range_name *name);
/* The kind of a call with this number and, if the number does not decide it, this name. */
int vpa_maps_call_kind(struct vpa_resolver *r, const struct vpt_batch *b, uint64_t id,
	uint64_t string, struct vpa_call_kind *kind);
/* Classifies a CONFIG row on first use, or one that is absent; a vpa_op_configs.find. */
int vpa_maps_new_config(void *resolver, uint64_t config, struct vpa_config_entry *entry);
/* The lane with this key and type; VPA_NONE: no LANE row has described it yet. */
uint32_t vpa_maps_find(const struct vpa_resolver *r, uint64_t key, uint8_t type);
int vpa_maps_thread(struct vpa_resolver *r, uint64_t key, uint32_t *index);
int vpa_maps_stream(struct vpa_resolver *r, uint64_t key, uint32_t *index);

/* The model's name for a string of the chunk; 0: none. */
static inline int vpa_maps_name(
	struct vpa_resolver *r, const struct vpt_batch *b, uint64_t string, uint32_t *name)
{
	*name = 0;
	if (!string)
		return VPT_OK;
	if (string >= r->maps->name_count || r->maps->names[string] == VPA_NONE)
		return vpa_maps_new_name(r, b, string, name);
	*name = r->maps->names[string];
	return VPT_OK;
}

/* The same for a range's name. */
static inline int vpa_maps_range_name(struct vpa_resolver *r, const struct vpt_batch *b,
	uint64_t string, struct vpa_range_name *name)
{
	*name = (struct vpa_range_name){0};
	if (!string)
		return VPT_OK;
	if (string >= r->maps->name_count || r->maps->range_names[string].name == VPA_NONE)
		return vpa_maps_new_range_name(r, b, string, name);
	*name = r->maps->range_names[string];
	return VPT_OK;
}

static inline int vpa_in_window(const struct vpa_model *m, uint64_t t)
{
	return t >= m->window_start_ns && t <= m->window_end_ns;
}

static inline int vpa_hand_out_call(struct vpa_resolver *r, const struct vpa_call *call)
{
	return r->sink.call ? r->sink.call(r->sink.ctx, call) : VPT_OK;
}

#endif
