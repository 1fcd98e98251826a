/* gap_parts.c - finds the row of a cause, place and call, and sorts the rows. */
#include "analysis/folds/gaps/gap_parts.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdlib.h>

enum { ROWS_MAX = 1 << 16, SHOWN = 64 };

/* The names of a row for all places and calls beyond the limit. */
static const uint64_t OTHER = UINT64_MAX;

VPA_RARE void vpa_gap_drawer_empty(
	struct vpa_gap_drawer *d, struct vpa_gap_owner owner, uint32_t place)
{
	size_t i;

	*d = (struct vpa_gap_drawer){.owner = owner.packed + 1, .place = place};
	for (i = 0; i < VPA_GAP_DRAWER_CALLS; i++)
		d->calls[i].call = VPA_NONE;
}

/* UINT32_MAX: no memory. */
static uint32_t row_of(struct vpa_gap_parts *p, uint64_t owner, uint64_t names)
{
	return vpa_index_row(&p->index, owner, p->index.count < ROWS_MAX ? names : OTHER, &p->rows,
		&p->row_cap, sizeof(*p->rows));
}

VPA_RARE int vpa_gap_drawer_find(struct vpa_gap_parts *p, struct vpa_gap_drawer *d, uint32_t call)
{
	uint32_t row = row_of(p, d->owner - 1, (uint64_t)d->place << 32 | call);

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	d->calls[call % VPA_GAP_DRAWER_CALLS].call = call;
	d->calls[call % VPA_GAP_DRAWER_CALLS].part = row;
	return VPT_OK;
}

void vpa_gap_part_vote(struct vpa_gap_part *part, uint32_t beside, uint64_t ns)
{
	part->beside_ns += ns;
	if (part->beside == beside) {
		part->votes_ns += ns;
	} else if (part->votes_ns < ns) {
		part->beside = beside;
		part->votes_ns = ns - part->votes_ns;
	} else {
		part->votes_ns -= ns;
	}
}

/* The call with the votes of both: those for different calls cancel each other. */
static void merge_votes(struct vpa_gap_part *into, const struct vpa_gap_part *from)
{
	if (!into->beside_ns || into->beside == from->beside) {
		into->beside = from->beside;
		into->votes_ns += from->votes_ns;
	} else if (into->votes_ns < from->votes_ns) {
		into->beside = from->beside;
		into->votes_ns = from->votes_ns - into->votes_ns;
	} else {
		into->votes_ns -= from->votes_ns;
	}
	into->beside_ns += from->beside_ns;
}

int vpa_gap_parts_merge(struct vpa_gap_parts *into, const struct vpa_gap_parts *from)
{
	size_t i;

	for (i = 0; i < from->index.count; i++) {
		const struct vpa_index_entry *e = &from->index.entries[i];
		uint32_t row = row_of(into, e->a, e->b);

		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		into->rows[row].ns += from->rows[i].ns;
		into->rows[row].gaps += from->rows[i].gaps;
		if (from->rows[i].beside_ns)
			merge_votes(&into->rows[row], &from->rows[i]);
	}
	return VPT_OK;
}

/* ---- writing ---- */

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_idle_part *a = pa, *b = pb;
	int order;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	order = vpa_place_compare(&a->place, &b->place);
	return order ? order : vpt_text_order(a->call, b->call);
}

/* Merges all rows of a device and cause beyond those shown. */
static size_t merge_small(struct vpa_idle_part *rows, size_t count)
{
	size_t kept = SHOWN, i, k;

	for (i = SHOWN; i < count; i++) {
		for (k = SHOWN; k < kept && rows[k].cause != rows[i].cause; k++)
			;
		if (k == kept) {
			rows[kept] = (struct vpa_idle_part){.cause = rows[i].cause,
				.place = vpa_place_several(),
				.call = VPA_SEVERAL_TEXT,
				.ns = rows[i].ns,
				.gaps = rows[i].gaps};
			kept++;
		} else {
			rows[k].ns += rows[i].ns;
			rows[k].gaps += rows[i].gaps;
		}
	}
	return count > SHOWN ? kept : count;
}

/* Writes the other call: the host was in it, or its own code followed it. */
static void write_beside(
	struct vpa_idle_part *row, const struct vpa_gap_part *from, const char *call)
{
	if (row->cause == VPA_CAUSE_HOST_CODE) {
		row->instead = call;
		row->instead_ns = from->beside_ns;
		return;
	}
	row->inside = call;
	row->inside_ns = from->beside_ns;
	row->is_inside_others = from->votes_ns != from->beside_ns;
}

static int by_time(const void *pa, const void *pb)
{
	const struct vpa_cause_time *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (int)a->cause - (int)b->cause;
}

struct vpa_cause_time *vpa_cause_times(
	struct vpa_arena *arena, const uint64_t *cause_ns, size_t *count)
{
	struct vpa_cause_time *rows = vpa_arena_alloc(arena, VPA_CAUSES, sizeof(*rows));
	size_t i, found = 0;

	for (i = 0; rows && i < VPA_CAUSES; i++)
		if (cause_ns[i])
			rows[found++] = (struct vpa_cause_time){(enum vpa_cause)i, cause_ns[i]};
	if (rows)
		qsort(rows, found, sizeof(*rows), by_time);
	*count = found;
	return rows;
}

/* Whether an entry belongs to a device: to its causes, or to those before its first work. */
static int is_of(const struct vpa_index_entry *e, uint32_t device, int is_head)
{
	return e->a >> 8 == device && !!(e->a & VPA_GAP_HEAD) == is_head;
}

int vpa_gap_parts_write(const struct vpa_gap_parts *p, const struct vpa_fold_context *c,
	uint32_t device, int is_head, struct vpa_report *out, struct vpa_idle_part **rows,
	size_t *count)
{
	size_t i, found = 0;

	for (i = 0; i < p->index.count; i++)
		found += (size_t)is_of(&p->index.entries[i], device, is_head);
	*rows = vpa_arena_alloc(&out->arena, found + VPA_CAUSES, sizeof(**rows));
	if (!*rows)
		return VPT_ENOMEM;
	found = 0;
	for (i = 0; i < p->index.count; i++) {
		const struct vpa_index_entry *e = &p->index.entries[i];
		const struct vpa_gap_part *from = &p->rows[i];
		struct vpa_idle_part *row = &(*rows)[found];

		if (!is_of(e, device, is_head))
			continue;
		found++;
		*row = (struct vpa_idle_part){.cause = (enum vpa_cause)(e->a & (VPA_GAP_HEAD - 1)),
			.place = vpa_place_several(),
			.call = VPA_SEVERAL_TEXT,
			.ns = from->ns,
			.gaps = from->gaps};
		write_beside(row, from, vpa_fold_name(out, c->model, from->beside));
		if (e->b == OTHER)
			continue;
		row->place = vpa_fold_place(&out->arena, c->model, (uint32_t)(e->b >> 32));
		row->call = vpa_fold_name(out, c->model, (uint32_t)e->b);
	}
	qsort(*rows, found, sizeof(**rows), compare_rows);
	*count = merge_small(*rows, found);
	qsort(*rows, *count, sizeof(**rows), compare_rows);
	return VPT_OK;
}

void vpa_gap_parts_free(struct vpa_gap_parts *p)
{
	vpa_index_free(&p->index);
	vpt_free(p->rows);
	*p = (struct vpa_gap_parts){.rows = NULL};
}
