/* launch_links.h - links ops to the calls that launched them or waited for them. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_LAUNCH_LINKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_LAUNCH_LINKS_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"
#include "analysis/join/call_waits.h"

/* A pending call. */
struct vpa_ex_call {
	uint64_t start_ns, end_ns, correlation;
	uint32_t name; /* text */
	uint32_t link; /* row of vpa_ex_links; EX_NO_INDEX: none */
	uint32_t result;
	uint32_t order; /* of arrival, breaks ties */
};

/* A call that ops may refer to. */
struct vpa_ex_link {
	uint64_t correlation, start_ns, end_ns;
	int64_t pid;
	uint32_t thread, next; /* next in its bucket, or free; EX_NO_INDEX: the last */
	uint32_t count, first; /* number of ops; number of the first op */
	uint32_t list;         /* of all numbers, if count > 1: row of vpa_ex_links.lists */
	uint32_t stream;       /* of the first op */
	uint8_t used, waits, done, replaced; /* replaced: the call around it launched the ops */
};

/* END: a synchronising call, held until all ops that it may have waited for are written. */
enum { EX_WAITS_NOT, EX_WAITS_OP, EX_WAITS_OPS, EX_WAITS_SHORTLY, EX_WAITS_END };

struct vpa_ex_links {
	struct vpa_ex_link *items;
	size_t count, cap, used;
	struct vpa_ex_list {
		uint32_t *numbers;
		size_t cap;
		uint32_t next; /* free one; EX_NO_INDEX: the last */
	} * lists;
	size_t list_count, list_cap;
	uint32_t unused_list;
	uint32_t unused, *buckets;
	size_t bucket_count;
	struct vpa_ex_last {
		uint64_t correlation;
		uint32_t link;
	} * last; /* by stream: of its newest op, if the op's call still expects others */
	size_t last_cap;
	size_t held; /* pending spans and calls of all threads; beyond a limit calls wait no longer */
};

int vpa_ex_links_new(struct vpa_ex_out *x); /* x->links; 0 or VPT_ENOMEM */
void vpa_ex_links_free(struct vpa_ex_links *h);

/* Makes room for `count` more links. 0 or VPT_ENOMEM. */
int vpa_ex_links_reserve(struct vpa_ex_links *h, size_t count);
/* Makes the link of a call on this thread. EX_NO_INDEX: none, or no memory. */
uint32_t vpa_ex_link_new(
	struct vpa_ex_out *x, const struct vpa_ex_call *call, uint32_t thread, uint8_t waits);
void vpa_ex_link_drop(struct vpa_ex_links *h, uint32_t link);
/* Adds the number of an op that call `correlation` launched. */
void vpa_ex_links_join(
	struct vpa_ex_out *x, uint32_t stream, uint64_t correlation, uint32_t number);
/* The numbers of the ops that a call launched, link->count of them. */
static inline const uint32_t *vpa_ex_link_ops(
	const struct vpa_ex_links *h, const struct vpa_ex_link *link)
{
	return link->count > 1 ? h->lists[link->list].numbers : &link->first;
}
/* The numbers of the ops that a call from start to end waited for; *count is 0 if the call does not
 * wait or they are unknown. */
static inline const uint32_t *vpa_ex_link_waits(const struct vpa_ex_out *x,
	const struct vpa_ex_link *link, uint64_t start_ns, uint64_t end_ns, size_t *count)
{
	const struct vpa_waiting_call call = {link->correlation, start_ns, end_ns, link->pid};

	*count = 0;
	return link->waits == EX_WAITS_END ? vpa_call_waits_of(x->call_waits, &call, count) : NULL;
}
/* Whether the call no longer needs to be held for its ops. `times_from_ns` ~0: no op is to come. */
int vpa_ex_link_is_settled_yet(const struct vpa_ex_links *h, uint32_t link, uint64_t times_from_ns);
static inline int vpa_ex_link_is_settled(
	const struct vpa_ex_links *h, uint32_t link, uint64_t times_from_ns)
{
	/* Nearly every call launches one op, which is there. */
	return (h->items[link].waits == EX_WAITS_OP && h->items[link].count) ||
	       vpa_ex_link_is_settled_yet(h, link, times_from_ns);
}

#endif
