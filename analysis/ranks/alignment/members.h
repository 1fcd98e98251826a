/* members.h - the collectives of one rank in one communicator, and which of them are of one communicator.
 *
 * Without names a stream may be another communicator on each rank: a sequence joins the cluster with whose reference its
 * ends agree best, and begins one of its own if they agree with none. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_MEMBERS_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_MEMBERS_H

#include "analysis/ranks/alignment/item_list.h"
#include "analysis/ranks/alignment/lags.h"
#include "formats/chunk/strings.h"

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
