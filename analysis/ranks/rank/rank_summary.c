/* rank_summary.c - the memory of ranks. */
#include "analysis/ranks/rank/rank_summary.h"

#include "analysis/base/sort.h"
#include "analysis/names/families.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <ctype.h>

enum vpa_busy_kind vpa_busy_kind_of(enum vpa_part_class klass, unsigned family)
{
	if (klass == VPA_TIME_COPY)
		return VPA_BUSY_COPY;
	switch ((enum vpa_family)family) {
	case VPA_FAMILY_GEMM:
		return VPA_BUSY_GEMM;
	case VPA_FAMILY_ATTENTION:
	case VPA_FAMILY_ATTENTION_SPARSE:
	case VPA_FAMILY_ATTENTION_LINEAR:
		return VPA_BUSY_ATTENTION;
	case VPA_FAMILY_ELEMENTWISE:
	case VPA_FAMILY_REDUCE:
	case VPA_FAMILY_LAYOUT:
	case VPA_FAMILY_INDEX:
		return VPA_BUSY_GLUE;
	case VPA_FAMILY_NORM:
	case VPA_FAMILY_ROPE:
	case VPA_FAMILY_ATTENTION_AUX:
	case VPA_FAMILY_EAGER_SOFTMAX:
		return VPA_BUSY_NORM;
	case VPA_FAMILY_MEMCPY:
	case VPA_FAMILY_MEMSET:
		return VPA_BUSY_COPY;
	case VPA_FAMILY_CONV:
		return VPA_BUSY_CONV;
	case VPA_FAMILY_QUANT:
		return VPA_BUSY_QUANT;
	default:
		return VPA_BUSY_OTHER;
	}
}

int vpa_rank_begin_collectives(struct vpa_rank *r, size_t count, struct vpa_slab **slab)
{
	size_t times = vpa_rank_times_bytes(count), keys = (count + 1) * sizeof(*r->key_low);
	int is_high = r->key_count > 1 + (size_t)UINT16_MAX;
	struct vpa_slab *own = NULL;
	unsigned char *bytes;

	if (count > UINT32_MAX)
		return VPT_ENOMEM;
	bytes = vpa_slab_take(slab ? slab : &own, times + keys + (is_high ? keys : 0), &r->slab);
	vpa_slab_drop(own);
	if (!bytes)
		return VPT_ENOMEM;
	vpa_rank_times_init(&r->times, count, bytes);
	r->key_low = (uint16_t *)(bytes + times);
	r->key_high = is_high ? r->key_low + count + 1 : NULL;
	return VPT_OK;
}

/* Collectives in order of their ends; NULL: they are in order already, or there is no memory. */
struct end {
	uint64_t ns;
	uint32_t item;
};

static int by_end(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static int list_ends(const struct vpa_rank *r, struct end **out)
{
	size_t n = r->collective_count, i;

	for (i = 1; i < n && vpa_rank_end_ns(r, i - 1) <= vpa_rank_end_ns(r, i); i++)
		;
	*out = NULL;
	if (i >= n)
		return VPT_OK;
	*out = vpt_alloc(n, sizeof(**out));
	if (!*out)
		return VPT_ENOMEM;
	for (i = 0; i < n; i++)
		(*out)[i] = (struct end){vpa_rank_end_ns(r, i), (uint32_t)i};
	return vpa_sort(*out, n, sizeof(**out), by_end);
}

/* Each collective ends before the next one starts: the usual case. Returns how many collectives that holds for. */
static size_t set_plain_marks(const struct vpa_rank *r, struct vpa_rank_detail *d)
{
	uint64_t before_ns = 0;
	size_t i;

	for (i = 0; i < r->collective_count; i++) {
		uint64_t start_ns = vpa_rank_start_ns(r, i), end_ns = vpa_rank_end_ns(r, i);

		if ((i && start_ns <= before_ns) || start_ns == end_ns)
			break;
		d->marks[2 * i].time_ns = start_ns;
		d->marks[2 * i + 1].time_ns = before_ns = end_ns;
		d->mark_of[2 * i] = (uint32_t)(2 * i);
		d->mark_of[2 * i + 1] = (uint32_t)(2 * i + 1);
	}
	return i;
}

static int set_marks_in_order(const struct vpa_rank *r, struct vpa_rank_detail *d)
{
	size_t n = r->collective_count, starts = 0, ends = 0, count = 0;
	struct end *order;
	int rc = list_ends(r, &order);

	if (rc) {
		vpt_free(order);
		return rc;
	}
	while (ends < n) {
		size_t item = order ? order[ends].item : ends;
		uint64_t end_ns = vpa_rank_end_ns(r, item), at_ns = end_ns;
		int is_start = starts < n && vpa_rank_start_ns(r, starts) <= end_ns;

		if (is_start) {
			at_ns = vpa_rank_start_ns(r, starts);
			item = starts++;
		} else {
			ends++;
		}
		if (!count || d->marks[count - 1].time_ns != at_ns)
			d->marks[count++] = (struct vpa_rank_mark){at_ns, 0};
		d->mark_of[2 * item + !is_start] = (uint32_t)count - 1;
	}
	d->mark_count = count;
	vpt_free(order);
	return VPT_OK;
}

int vpa_rank_set_marks(const struct vpa_rank *r, struct vpa_rank_detail *d)
{
	size_t n = r->collective_count;

	if (n >= UINT32_MAX / 4 ||
		vpt_grow(&d->marks, &d->mark_cap, 2 * n + 1, sizeof(*d->marks)) ||
		vpt_grow(&d->mark_of, &d->mark_of_cap, 2 * n + 1, sizeof(*d->mark_of)))
		return VPT_ENOMEM;
	d->mark_count = 2 * n;
	return set_plain_marks(r, d) == n ? VPT_OK : set_marks_in_order(r, d);
}

static int is_host(unsigned cause)
{
	return cause == VPA_CAUSE_HOST_CODE || cause == VPA_CAUSE_LAUNCH_RATE ||
	       cause == VPA_CAUSE_LAUNCH_CALL || cause == VPA_CAUSE_LAUNCH_LATENCY;
}

struct vpa_rank_sums vpa_part_counts_as(const struct vpa_part_name *name)
{
	int is_idle = name->klass == VPA_TIME_IDLE;

	return (struct vpa_rank_sums){
		.busy_ns = -(name->klass == VPA_TIME_COMPUTE || name->klass == VPA_TIME_COPY),
		.idle_ns = -is_idle,
		.host_ns = -(is_idle && is_host(name->kind))};
}

void vpa_rank_detail_free(struct vpa_rank_detail *d)
{
	size_t i;

	vpt_free(d->marks);
	vpt_free(d->mark_of);
	vpt_free(d->parts);
	vpt_free(d->sums);
	vpt_free(d->term_ends);
	vpt_free(d->terms);
	for (i = 0; i < VPA_PACES; i++) {
		vpt_free(d->paces[i].term_ends);
		vpt_free(d->paces[i].terms);
	}
	*d = (struct vpa_rank_detail){0};
}

void vpa_rank_drop_folded(struct vpa_rank *r)
{
	if (r->folded.slab)
		vpa_slab_drop(r->folded.slab);
	else
		vpt_free(r->folded.packed);
	r->folded.slab = NULL;
	r->folded.packed = NULL;
}

void vpa_rank_free(struct vpa_rank *r)
{
	vpt_free(r->facts);
	vpt_free(r->part_ns);
	vpt_free(r->part_names);
	vpt_free(r->keys);
	vpt_free(r->stages);
	vpa_rank_times_free(&r->times);
	vpa_slab_drop(r->slab);
	vpa_rank_detail_free(&r->detail);
	vpa_rank_drop_folded(r);
	vpa_arena_free(&r->arena);
	*r = (struct vpa_rank){0};
}

struct vpa_rank *vpa_rank_add(struct vpa_rank_list *list)
{
	struct vpa_rank *r;

	if (vpt_grow(&list->items, &list->cap, list->count + 1, sizeof(struct vpa_rank *)))
		return NULL;
	r = vpt_calloc(1, sizeof(*r));
	if (r)
		list->items[list->count++] = r;
	return r;
}

int vpa_rank_list_unread(struct vpa_rank_list *list, const char *sentence)
{
	char *own = vpt_strndup(sentence, strlen(sentence));

	if (!own || vpt_grow(&list->unread, &list->unread_cap, list->unread_count + 1,
			    sizeof(*list->unread))) {
		vpt_free(own);
		return VPT_ENOMEM;
	}
	list->unread[list->unread_count++] = own;
	return VPT_OK;
}

void vpa_rank_list_free(struct vpa_rank_list *list)
{
	size_t i;

	for (i = 0; i < list->unread_count; i++)
		vpt_free((void *)(uintptr_t)list->unread[i]);
	vpt_free(list->unread);

	for (i = 0; i < list->count; i++) {
		vpa_rank_free(list->items[i]);
		vpt_free(list->items[i]);
	}
	vpt_free(list->items);
	vpa_slab_drop(list->slab);
	*list = (struct vpa_rank_list){0};
}
