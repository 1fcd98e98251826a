/* launch_links.c - links ops to the calls that launched them.
 *
 * A call's slice refers to the ops it launched, which come later. So calls wait in a table by
 * correlation id: a plain call until its op is there; a graph launch until its stream goes on to other
 * work, which happens only after all of the graph is done. */
#include "analysis/export/perfetto/lanes/launch_links.h"

#include "analysis/model/model.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <string.h>

#define WAIT_NS       ((uint64_t)10000000000)
#define SHORT_WAIT_NS ((uint64_t)1000000000)

enum { HELD_MAX = 1 << 20 };

int vpa_ex_links_new(struct vpa_ex_out *x)
{
	x->links = vpt_calloc(1, sizeof(*x->links));
	if (!x->links)
		return VPT_ENOMEM;
	x->links->unused = x->links->unused_list = EX_NO_INDEX;
	return VPT_OK;
}

void vpa_ex_links_free(struct vpa_ex_links *h)
{
	size_t i;

	if (!h)
		return;
	for (i = 0; i < h->list_count; i++)
		vpt_free(h->lists[i].numbers);
	vpt_free(h->lists);
	vpt_free(h->items);
	vpt_free(h->buckets);
	vpt_free(h->last);
	vpt_free(h);
}

static inline uint32_t *bucket_of(const struct vpa_ex_links *h, uint64_t correlation)
{
	return &h->buckets[vpt_hash_near(correlation) & (h->bucket_count - 1)];
}

static int grow_buckets(struct vpa_ex_links *h)
{
	size_t count = h->bucket_count ? h->bucket_count * 2 : 1024, i;
	uint32_t *buckets = vpt_alloc(count, sizeof(*buckets));

	if (!buckets)
		return VPT_ENOMEM;
	memset(buckets, 0xff, count * sizeof(*buckets));
	vpt_free(h->buckets);
	h->buckets = buckets;
	h->bucket_count = count;
	for (i = 0; i < h->count; i++) {
		struct vpa_ex_link *l = &h->items[i];
		uint32_t *bucket = bucket_of(h, l->correlation);

		if (!l->used)
			continue;
		l->next = *bucket;
		*bucket = (uint32_t)i;
	}
	return VPT_OK;
}

/* The call with this id that ops of a process may refer to. */
static struct vpa_ex_link *find(const struct vpa_ex_links *h, uint64_t correlation, int64_t pid)
{
	uint32_t i = h->bucket_count ? *bucket_of(h, correlation) : EX_NO_INDEX;
	struct vpa_ex_link *other = NULL;

	for (; i != EX_NO_INDEX; i = h->items[i].next) {
		struct vpa_ex_link *l = &h->items[i];

		if (l->correlation != correlation || l->replaced)
			continue;
		if (l->pid == pid)
			return l;
		if (pid == -1 || l->pid == -1)
			other = l;
	}
	return other;
}

int vpa_ex_links_reserve(struct vpa_ex_links *h, size_t count)
{
	return vpt_grow(&h->items, &h->cap, count, sizeof(*h->items));
}

uint32_t vpa_ex_link_new(
	struct vpa_ex_out *x, const struct vpa_ex_call *call, uint32_t thread, uint8_t waits)
{
	struct vpa_ex_links *h = x->links;
	int64_t pid = x->model->threads[thread].pid;
	struct vpa_ex_link *twin = NULL;
	uint32_t link = h->unused, *bucket;

	if (h->used >= h->bucket_count && grow_buckets(h))
		return EX_NO_INDEX;
	bucket = bucket_of(h, call->correlation);
	/* The runtime's call and the driver's inside it have the same id: the outer one launched. */
	if (*bucket != EX_NO_INDEX)
		twin = find(h, call->correlation, pid);
	if (twin && twin->thread == thread && !twin->count) {
		if (call->start_ns > twin->start_ns || call->end_ns < twin->end_ns)
			return EX_NO_INDEX;
		twin->replaced = 1;
		twin->waits = EX_WAITS_NOT;
	} else if (twin) {
		return EX_NO_INDEX;
	}
	if (link != EX_NO_INDEX) {
		h->unused = h->items[link].next;
		/* The next one has not been looked at for long. */
		if (h->unused != EX_NO_INDEX)
			__builtin_prefetch(&h->items[h->unused], 1);
	} else {
		if (vpt_grow(&h->items, &h->cap, h->count + 1, sizeof(*h->items)))
			return EX_NO_INDEX;
		link = (uint32_t)h->count++;
	}
	h->items[link] = (struct vpa_ex_link){.correlation = call->correlation,
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.pid = pid,
		.thread = thread,
		.next = *bucket,
		.used = 1,
		.waits = waits};
	*bucket = link;
	h->used++;
	return link;
}

void vpa_ex_link_drop(struct vpa_ex_links *h, uint32_t link)
{
	struct vpa_ex_link *l = &h->items[link];
	uint32_t *at = bucket_of(h, l->correlation);

	while (*at != link)
		at = &h->items[*at].next;
	*at = l->next;
	if (l->count > 1) {
		h->lists[l->list].next = h->unused_list;
		h->unused_list = l->list;
	}
	l->used = 0;
	l->next = h->unused;
	h->unused = link;
	h->used--;
}

/* Lists retain their memory from call to call. */
static int begin_list(struct vpa_ex_links *h, struct vpa_ex_link *l)
{
	if (h->unused_list == EX_NO_INDEX) {
		if (vpt_grow(&h->lists, &h->list_cap, h->list_count + 1, sizeof(*h->lists)))
			return VPT_ENOMEM;
		h->lists[h->list_count] = (struct vpa_ex_list){.next = EX_NO_INDEX};
		h->unused_list = (uint32_t)h->list_count++;
	}
	l->list = h->unused_list;
	h->unused_list = h->lists[l->list].next;
	return VPT_OK;
}

static int add_number(struct vpa_ex_links *h, struct vpa_ex_link *l, uint32_t number)
{
	struct vpa_ex_list *list;

	if (!l->count) {
		l->first = number;
		l->count = 1;
		return VPT_OK;
	}
	if (l->count == 1 && begin_list(h, l))
		return VPT_ENOMEM;
	list = &h->lists[l->list];
	if (vpt_grow(&list->numbers, &list->cap, (size_t)l->count + 1, sizeof(*list->numbers)))
		return VPT_ENOMEM;
	list->numbers[0] = l->first;
	list->numbers[l->count++] = number;
	return VPT_OK;
}

static int grow_last(struct vpa_ex_links *h, uint32_t stream)
{
	if (vpt_grow_zeroed(&h->last, &h->last_cap, (size_t)stream + 1, sizeof(*h->last)))
		return VPT_ENOMEM;
	return VPT_OK;
}

/* The stream has gone on to other work: the former call has all of its ops. */
static void settle_last(struct vpa_ex_links *h, struct vpa_ex_last *last, uint32_t stream)
{
	struct vpa_ex_link *former = &h->items[last->link];

	if (former->used && former->correlation == last->correlation && former->stream == stream)
		former->done = 1;
	last->correlation = 0;
}

void vpa_ex_links_join(struct vpa_ex_out *x, uint32_t stream, uint64_t correlation, uint32_t number)
{
	struct vpa_ex_links *h = x->links;
	struct vpa_ex_link *l = find(h, correlation, x->model->streams[stream].pid);
	struct vpa_ex_last *last;

	if (stream >= h->last_cap && grow_last(h, stream)) {
		x->pf.failed = VPT_ENOMEM;
		return;
	}
	last = &h->last[stream];
	if (last->correlation && last->correlation != correlation)
		settle_last(h, last, stream);
	if (!l)
		return;
	if (!l->count)
		l->stream = stream;
	if (add_number(h, l, number))
		x->pf.failed = VPT_ENOMEM;
	x->joined++;
	if (l->waits == EX_WAITS_OPS)
		*last = (struct vpa_ex_last){correlation, (uint32_t)(l - h->items)};
}

int vpa_ex_link_is_settled_yet(const struct vpa_ex_links *h, uint32_t link, uint64_t times_from_ns)
{
	const struct vpa_ex_link *l = &h->items[link];
	uint64_t waited = times_from_ns > l->end_ns ? times_from_ns - l->end_ns : 0;

	if (h->held > HELD_MAX || times_from_ns == UINT64_MAX)
		return 1;
	switch (l->waits) {
	case EX_WAITS_OP:
		return l->count || waited > WAIT_NS;
	case EX_WAITS_OPS:
		return l->done || waited > WAIT_NS;
	case EX_WAITS_SHORTLY:
		return l->count || waited > SHORT_WAIT_NS;
	case EX_WAITS_END:
		return times_from_ns >= l->end_ns;
	default:
		return 1;
	}
}
