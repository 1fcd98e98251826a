/* kineto_flows.c - correlation ids from flow arrows.
 *
 * The profiler writes each id twice: among an event's arguments, and as an arrow from the call to
 * its op. Other tools that write this format write only the arrows. So rows without an id wait, and
 * at the end each gets the id of an arrow that begins or ends inside it on its own line. Arrows
 * before the first such row are ignored: an arrow comes after the events that it joins, and so the
 * profiler's own files pay nothing. */
#include "formats/import/kineto/kineto_flows.h"

#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>
#include <string.h>

struct vpt_kineto_waiting {
	int64_t pid, tid;
	uint64_t start_ns, end_ns, lane;
	enum vpt_kind kind;
	uint64_t row[VPT_COLUMNS_MAX];
};

struct vpt_kineto_arrow {
	int64_t pid, tid;
	uint64_t time_ns, id;
};

static int place_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *pid, int64_t *tid)
{
	return vpt_kineto_pid(r, e->object, pid) && vpt_kineto_tid(r, e->object, tid);
}

void vpt_kineto_put_joined(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	enum vpt_kind kind, uint64_t lane, const void *row)
{
	struct vpt_kineto_flows *f = &r->flows;
	struct vpt_kineto_waiting w = {.start_ns = e->start_ns,
		.end_ns = e->start_ns + e->duration_ns,
		.lane = lane,
		.kind = kind};

	if (vpt_kineto_member(e->args, "correlation") || !place_of(r, e, &w.pid, &w.tid)) {
		vpt_collect_put(r->collect, kind, lane, row);
		return;
	}
	memcpy(w.row, row, vpt_kind_desc(kind)->n_columns * sizeof(*w.row));
	if (vpt_grow(&f->rows, &f->row_cap, f->row_count + 1, sizeof(*f->rows)))
		r->no_memory = 1;
	else
		f->rows[f->row_count++] = w;
}

void vpt_kineto_flow(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_kineto_flows *f = &r->flows;
	struct vpt_kineto_arrow a = {.time_ns = e->start_ns};

	a.id = vpt_kineto_natural(r, e->object, "id");
	if (!a.id || !place_of(r, e, &a.pid, &a.tid))
		return;
	if (vpt_grow(&f->arrows, &f->arrow_cap, f->arrow_count + 1, sizeof(*f->arrows)))
		r->no_memory = 1;
	else
		f->arrows[f->arrow_count++] = a;
}

static int compare_arrows(const void *pa, const void *pb)
{
	const struct vpt_kineto_arrow *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The id of the first arrow at or after the row's start; 0 if none is inside the row. */
static uint64_t find_id(const struct vpt_kineto_flows *f, const struct vpt_kineto_waiting *w)
{
	const struct vpt_kineto_arrow key = {w->pid, w->tid, w->start_ns, 0}, *found;
	size_t low = 0, high = f->arrow_count;

	VPT_SEARCH(low, high, middle, compare_arrows(&f->arrows[middle], &key) < 0);
	if (low == f->arrow_count)
		return 0;
	found = &f->arrows[low];
	return found->pid == w->pid && found->tid == w->tid && found->time_ns <= w->end_ns
		       ? found->id
		       : 0;
}

static unsigned correlation_of(enum vpt_kind kind)
{
	return kind == VPT_KERNEL ? VPT_KERNEL_CORRELATION
	       : kind == VPT_COPY ? VPT_COPY_CORRELATION
				  : VPT_CALL_CORRELATION;
}

void vpt_kineto_flows_end(struct vpt_kineto_rows *r)
{
	struct vpt_kineto_flows *f = &r->flows;
	size_t i;

	if (f->arrow_count)
		qsort(f->arrows, f->arrow_count, sizeof(*f->arrows), compare_arrows);
	for (i = 0; i < f->row_count; i++) {
		struct vpt_kineto_waiting *w = &f->rows[i];

		w->row[correlation_of(w->kind)] = find_id(f, w);
		vpt_collect_put(r->collect, w->kind, w->lane, w->row);
	}
}

void vpt_kineto_flows_free(struct vpt_kineto_flows *f)
{
	vpt_free(f->rows);
	vpt_free(f->arrows);
	*f = (struct vpt_kineto_flows){0};
}
