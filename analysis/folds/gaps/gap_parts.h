/* gap_parts.h - idle time added up by device, cause, place and call.
 *
 * The index has a row for each pair (owner, names). `head` marks what the host did in the gap before a
 * device's first work, which is added up apart from the gap's own causes:
 *
 *	owner   63          40 39              8  7   6        0
 *	        |      0      |     device      |head|  cause   |
 *
 *	names   63                32 31                        0
 *	        |       place       |           call           |     all ones: (other)
 *
 * Beyond 65,536 rows only owners are distinguished. Most gaps are like one of the last few, so a small
 * cache of drawers comes before the index. A drawer has one owner and place, and some of its calls. */
#ifndef VPA_ANALYSIS_FOLDS_GAPS_GAP_PARTS_H
#define VPA_ANALYSIS_FOLDS_GAPS_GAP_PARTS_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"
#include "formats/base/error.h"

enum {
	VPA_GAP_DRAWERS = 64,
	VPA_GAP_DRAWER_CALLS = 8,
	VPA_GAP_HEAD = 0x80 /* the bit `head` */
};

/* Whose time it is, packed as above. */
struct vpa_gap_owner {
	uint64_t packed;
};

struct vpa_gap_part {
	uint64_t ns, gaps;
	/* Of ns: in another call, or of host code: after one that the host had waited in. */
	uint64_t beside_ns;
	/* That call, most of the time: what is left after each has outvoted others. */
	uint32_t beside;
	uint64_t votes_ns;
	uint64_t newest_gap; /* the number of the last gap counted */
};

struct vpa_gap_drawer {
	uint64_t owner; /* 1 + owner; 0: empty */
	uint32_t place;
	struct {
		uint32_t call; /* VPA_NONE: empty */
		uint32_t part;
	} calls[VPA_GAP_DRAWER_CALLS];
};

/* All zeros is empty. */
struct vpa_gap_parts {
	struct vpa_index index; /* owner, names */
	struct vpa_gap_part *rows;
	size_t row_cap;
	struct vpa_gap_drawer drawers[VPA_GAP_DRAWERS];
};

static inline struct vpa_gap_owner vpa_gap_owner_of(uint32_t device, unsigned cause, int is_head)
{
	return (struct vpa_gap_owner){
		(uint64_t)device << 8 | (is_head ? VPA_GAP_HEAD : 0u) | cause};
}

/* Writes the rows of a device into the report's arena, the longest time first; those beyond 64 as one
 * row per cause. `is_head`: what hosts did before its first work, else the causes of its gaps. 0 or
 * VPT_ENOMEM. */
int vpa_gap_parts_write(const struct vpa_gap_parts *p, const struct vpa_fold_context *c,
	uint32_t device, int is_head, struct vpa_report *out, struct vpa_idle_part **rows,
	size_t *count);

/* The causes with time among VPA_CAUSES of them, the longest first, in the arena; NULL: no memory. */
struct vpa_cause_time *vpa_cause_times(
	struct vpa_arena *arena, const uint64_t *cause_ns, size_t *count);

/* Adds what another has added up. 0 or VPT_ENOMEM. */
int vpa_gap_parts_merge(struct vpa_gap_parts *into, const struct vpa_gap_parts *from);

void vpa_gap_parts_free(struct vpa_gap_parts *p);

/* ---- adding ---- */

/* Private: empties a drawer for an owner and place; finds a call that is not in its drawer. */
void vpa_gap_drawer_empty(struct vpa_gap_drawer *d, struct vpa_gap_owner owner, uint32_t place);
int vpa_gap_drawer_find(struct vpa_gap_parts *p, struct vpa_gap_drawer *d, uint32_t call);

/* The drawer of an owner and place. Valid until the next call. */
static inline struct vpa_gap_drawer *vpa_gap_drawer_of(
	struct vpa_gap_parts *p, struct vpa_gap_owner owner, uint32_t place)
{
	struct vpa_gap_drawer *d = &p->drawers[(owner.packed * 29 + place) % VPA_GAP_DRAWERS];

	if (d->owner != owner.packed + 1 || d->place != place)
		vpa_gap_drawer_empty(d, owner, place);
	return d;
}

/* The part of a drawer's call. Valid until the next call. NULL: no memory. */
static inline struct vpa_gap_part *vpa_gap_part_of(
	struct vpa_gap_parts *p, struct vpa_gap_drawer *d, uint32_t call)
{
	if (d->calls[call % VPA_GAP_DRAWER_CALLS].call != call && vpa_gap_drawer_find(p, d, call))
		return NULL;
	return &p->rows[d->calls[call % VPA_GAP_DRAWER_CALLS].part];
}

/* Private: some of a part's time was in another call, or after it. */
void vpa_gap_part_vote(struct vpa_gap_part *part, uint32_t beside, uint64_t ns);

/* Adds a piece of a gap. `gap` is the gap's number, from 1 on: pieces of one gap come one after the other,
 * and a part counts the gap once. 0 or VPT_ENOMEM. */
static inline int vpa_gap_parts_add_piece(struct vpa_gap_parts *p, struct vpa_gap_owner owner,
	const struct vpa_cause_piece *piece, uint64_t gap)
{
	struct vpa_gap_drawer *d = vpa_gap_drawer_of(p, owner, piece->place);
	struct vpa_gap_part *part = vpa_gap_part_of(p, d, piece->call);
	uint64_t ns = piece->end_ns - piece->start_ns;
	uint32_t beside = piece->inside ? piece->inside : piece->instead_call;

	if (!part)
		return VPT_ENOMEM;
	part->ns += ns;
	part->gaps += part->newest_gap != gap;
	part->newest_gap = gap;
	if (beside)
		vpa_gap_part_vote(part, beside, ns);
	return VPT_OK;
}

/* Adds a gap of one piece. 0 or VPT_ENOMEM. */
static inline int vpa_gap_parts_add(
	struct vpa_gap_parts *p, struct vpa_gap_drawer *d, uint32_t call, uint64_t ns)
{
	struct vpa_gap_part *part = vpa_gap_part_of(p, d, call);

	if (!part)
		return VPT_ENOMEM;
	part->ns += ns;
	part->gaps++;
	return VPT_OK;
}

/* ---- gap_instead.c: what the host did in idle time that counts to an earlier call, which had held it: added up
 * by device, cause, call and place, and by what the host did, in which call, where ---- */

struct vpa_instead_part {
	uint64_t ns, gaps;
	uint64_t newest_gap; /* the number of the last gap counted */
};

/* All zeros is empty. */
struct vpa_instead {
	struct vpa_index pairs; /* (place, call): of the call that held the host, of what it did */
	/* (device << 16 | host << 8 | cause, pair that held it << 32 | pair that it did) */
	struct vpa_index index;
	struct vpa_instead_part *parts;
	size_t part_cap;
	/* The row found last, and for what: the next piece is often like it. */
	struct vpa_cause_piece newest;
	uint32_t newest_device, row;
};

/* Adds a piece of a gap, if it has such a call. `gap` is the gap's number, from 1 on: pieces of one gap come
 * one after the other. 0 or VPT_ENOMEM. */
int vpa_instead_add(
	struct vpa_instead *h, uint32_t device, const struct vpa_cause_piece *piece, uint64_t gap);

/* Writes the rows of a device into the report's arena, the longest time first; those beyond 64 as one row for
 * each cause and what the host did. 0 or VPT_ENOMEM. */
int vpa_instead_write(const struct vpa_instead *h, const struct vpa_fold_context *c,
	uint32_t device, struct vpa_report *out, struct vpa_device *to);

void vpa_instead_free(struct vpa_instead *h);

#endif
