/* matching.h - which collectives of different ranks are one.
 *
 *	rank 0   A0 B0 A1 A2 B1            group A: ranks 0, 1     row 0: A0 A0
 *	rank 1      A0 A1 A2                                       row 1: A1 A1 ...
 *
 * Collectives of one communicator are a *group*: those with its name, where the trace has it, else those of one stream.
 * In a group each rank has a sequence in order of start. Captures begin at different moments and may lack some, so the
 * sequences are laid beside each other: the lag is the one with the smallest median deviation of ends, whatever the
 * clocks say; then they are followed, and what has no partner is left out and counted. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_MATCHING_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_MATCHING_H

#include "analysis/ranks/alignment/item_list.h"
#include "analysis/ranks/alignment/lags.h"
#include "analysis/ranks/rank/rank_summary.h"
#include "formats/chunk/strings.h"

#define VPA_NO_COLLECTIVE UINT32_MAX

struct vpa_group {
	const char *name; /* the communicator's; NULL: not known */
	uint32_t lane;    /* of the reference: its stream, if there is no name */
	uint32_t *ranks;  /* indexes in the list of ranks, ascending */
	size_t rank_count;
	/* Of row i and the k-th rank: columns[k][i], an index in the rank's collectives, or VPA_NO_COLLECTIVE. Each row has two
	 * or more. A rank that lacks none has the column of its own list, which other ranks may have too. */
	uint32_t **columns;
	struct vpa_item_list **lists; /* by rank; NULL: the column is the group's */
	size_t row_count;
	uint32_t
		reference; /* k of the rank with the longest sequence, beside which the others were laid */
	int lacks_ranks; /* the job's: one of its ranks may have no capture */
};

struct vpa_matching {
	struct vpa_group *groups; /* of two or more ranks */
	size_t group_count, group_cap;
	uint64_t *unmatched; /* by rank: collectives without a partner */
	/* 1: no trace names communicators, so they were told apart by stream. */
	int is_by_stream;
};

/* Matches the collectives of a list of ranks, which is borrowed. The caller calls vpa_matching_free(), whatever this
 * returns: 0 or VPT_ENOMEM. */
int vpa_match(const struct vpa_rank_list *list, struct vpa_matching *out);
void vpa_matching_free(struct vpa_matching *m);

static inline uint32_t vpa_group_cell(const struct vpa_group *g, size_t row, size_t k)
{
	return g->columns[k][row];
}

/* The place of a rank in a group; rank_count: it is not in it. */
static inline size_t vpa_group_member(const struct vpa_group *g, size_t rank)
{
	size_t k;

	for (k = 0; k < g->rank_count && g->ranks[k] < rank; k++)
		;
	return k < g->rank_count && g->ranks[k] == rank ? k : g->rank_count;
}

/* ---- members.c: the collectives of one rank in one communicator, and which of them are of one communicator.
 *
 * Without names a stream may be another communicator on each rank: a sequence joins the cluster with whose reference its
 * ends agree best, and begins one of its own if they agree with none. */

struct vpa_member {
	uint32_t rank;
	struct vpa_item_list *items;
	const char *name; /* of the communicator; NULL: not known */
	uint64_t group;   /* 1 + id of the name; 0: not known */
	uint32_t lane;
	uint32_t cluster; /* members with the same are one group */
};

struct vpa_members {
	const struct vpa_rank_list *list;
	struct vpt_strings names;
	struct vpa_member *items; /* rank by rank */
	size_t count, cap;
	uint32_t *references; /* by cluster: index of a member */
	size_t cluster_count, reference_cap;
	uint32_t *partner; /* room for the longest sequence */
	int is_by_stream;  /* no communicator has a name */
};

/* Finds the members of a list of ranks, which is borrowed, and their clusters. The caller calls vpa_members_free(), whatever
 * this returns: 0 or VPT_ENOMEM. */
int vpa_members_find(const struct vpa_rank_list *list, struct vpa_members *out);
void vpa_members_free(struct vpa_members *m);

#endif
