/* chain_ops.h - which ops of a tape belong to chains that a change of the program makes go whole. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_CHAIN_OPS_H
#define VPA_ANALYSIS_RETIME_REPLAY_CHAIN_OPS_H

#include "analysis/retime/tape/tape.h"

/* Bits. */
enum {
	VPA_CHAIN_ADAPTER = 1,   /* beside a layer, see ../../model/adapter.h */
	VPA_CHAIN_UNPACKING = 2, /* of weights, see ../../model/unpacking.h */
	VPA_CHAIN_REDUCTION =
		4, /* all-reduces of gradients that a later pass does again, see ../../model/reductions.h */
	VPA_CHAIN_RECOMPUTED = 8 /* see ../../model/recomputation.h */
};

/* By op: of which chains it is. The caller frees it, whatever this returns. 0 or VPT_ENOMEM. */
int vpa_chain_ops_find(const struct vpa_tape *t, uint8_t **out);

/* recomputed_ops.c: sets VPA_CHAIN_RECOMPUTED of those ops. 0 or VPT_ENOMEM. */
int vpa_recomputed_ops_find(const struct vpa_tape *t, uint8_t *chains);

#endif
