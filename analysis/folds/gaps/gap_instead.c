/* gap_instead.c - one index of pairs of a place and a call; a second one of rows, each made of two such pairs. */
#include "analysis/folds/gaps/gap_parts.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdlib.h>

enum { ROWS_MAX = 1 << 16, SHOWN = 64 };

/* The names of a row for all places and calls beyond the limit. */
static const uint64_t OTHER = UINT64_MAX;

/* ---- adding ---- */

static uint64_t names_of(struct vpa_instead *h, const struct vpa_cause_piece *piece)
{
	uint32_t held, instead;

	if (h->index.count >= ROWS_MAX)
		return OTHER;
	held = vpa_index_put(&h->pairs, piece->place, piece->call);
	instead = vpa_index_put(&h->pairs, piece->host_place, piece->inside);
	return held == UINT32_MAX || instead == UINT32_MAX ? OTHER : (uint64_t)held << 32 | instead;
}

static int is_newest(
	const struct vpa_instead *h, uint32_t device, const struct vpa_cause_piece *piece)
{
	const struct vpa_cause_piece *n = &h->newest;

	return n->cause == piece->cause && n->host == piece->host && n->place == piece->place &&
	       n->call == piece->call && n->host_place == piece->host_place &&
	       n->inside == piece->inside && h->newest_device == device;
}

int vpa_instead_add(
	struct vpa_instead *h, uint32_t device, const struct vpa_cause_piece *piece, uint64_t gap)
{
	uint64_t owner = (uint64_t)device << 16 | (uint64_t)piece->host << 8 | piece->cause;
	struct vpa_instead_part *part;

	if (!piece->host)
		return VPT_OK;
	if (!is_newest(h, device, piece)) {
		h->row = vpa_index_row(&h->index, owner, names_of(h, piece), &h->parts,
			&h->part_cap, sizeof(*h->parts));
		if (h->row == UINT32_MAX)
			return VPT_ENOMEM;
		h->newest = *piece;
		h->newest_device = device;
	}
	part = &h->parts[h->row];
	part->ns += piece->end_ns - piece->start_ns;
	part->gaps += part->newest_gap != gap;
	part->newest_gap = gap;
	return VPT_OK;
}

/* ---- writing ---- */

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_instead_row *a = pa, *b = pb;
	int order;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	order = vpa_place_compare(&a->place, &b->place);
	order = order ? order : vpt_text_order(a->call, b->call);
	order = order ? order : vpa_place_compare(&a->host_place, &b->host_place);
	return order ? order : vpt_text_order(a->host_call, b->host_call);
}

/* Merges all rows of a cause and what the host did beyond those shown. */
static size_t merge_small(struct vpa_instead_row *rows, size_t count)
{
	size_t kept = SHOWN, i, k;

	for (i = SHOWN; i < count; i++) {
		for (k = SHOWN; k < kept &&
				(rows[k].cause != rows[i].cause || rows[k].host != rows[i].host);
			k++)
			;
		if (k == kept) {
			rows[kept] = rows[i];
			rows[kept].place = rows[kept].host_place = vpa_place_several();
			rows[kept].call = rows[kept].host_call = VPA_SEVERAL_TEXT;
			kept++;
		} else {
			rows[k].ns += rows[i].ns;
			rows[k].gaps += rows[i].gaps;
		}
	}
	return count > SHOWN ? kept : count;
}

static void write_row(const struct vpa_instead *h, const struct vpa_fold_context *c, size_t i,
	struct vpa_report *out, struct vpa_instead_row *row)
{
	const struct vpa_index_entry *e = &h->index.entries[i], *held, *instead;

	*row = (struct vpa_instead_row){.cause = (enum vpa_cause)(e->a & 0xff),
		.place = vpa_place_several(),
		.call = VPA_SEVERAL_TEXT,
		.host = (enum vpa_cause)(e->a >> 8 & 0xff),
		.host_place = vpa_place_several(),
		.host_call = VPA_SEVERAL_TEXT,
		.ns = h->parts[i].ns,
		.gaps = h->parts[i].gaps};
	if (e->b == OTHER)
		return;
	held = &h->pairs.entries[e->b >> 32];
	instead = &h->pairs.entries[(uint32_t)e->b];
	row->place = vpa_fold_place(&out->arena, c->model, (uint32_t)held->a);
	row->call = vpa_fold_name(out, c->model, (uint32_t)held->b);
	row->host_place = vpa_fold_place(&out->arena, c->model, (uint32_t)instead->a);
	row->host_call = vpa_fold_name(out, c->model, (uint32_t)instead->b);
}

int vpa_instead_write(const struct vpa_instead *h, const struct vpa_fold_context *c,
	uint32_t device, struct vpa_report *out, struct vpa_device *to)
{
	size_t i, found = 0;

	for (i = 0; i < h->index.count; i++)
		found += h->index.entries[i].a >> 16 == device;
	to->instead = vpa_arena_alloc(&out->arena, found + 1, sizeof(*to->instead));
	if (!to->instead)
		return VPT_ENOMEM;
	found = 0;
	for (i = 0; i < h->index.count; i++)
		if (h->index.entries[i].a >> 16 == device)
			write_row(h, c, i, out, &to->instead[found++]);
	qsort(to->instead, found, sizeof(*to->instead), compare_rows);
	to->instead_count = merge_small(to->instead, found);
	qsort(to->instead, to->instead_count, sizeof(*to->instead), compare_rows);
	return VPT_OK;
}

void vpa_instead_free(struct vpa_instead *h)
{
	vpa_index_free(&h->pairs);
	vpa_index_free(&h->index);
	vpt_free(h->parts);
	*h = (struct vpa_instead){.parts = NULL};
}
