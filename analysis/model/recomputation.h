/* recomputation.h - what activation checkpointing (gradient checkpointing) computes again.
 *
 * torch.utils.checkpoint keeps no activations of a part of the model. In the backward pass its node of the graph,
 * CheckpointFunctionBackward, first runs that part forward again, then its gradients, in a range of its own for each of their nodes.
 * So what the node launches before the first gradient in it is computed a second time. Checkpoints without re-entry run the
 * part inside the node that needs it first; its ops have no range of their own, so they are not told apart. */
#ifndef VPA_ANALYSIS_MODEL_RECOMPUTATION_H
#define VPA_ANALYSIS_MODEL_RECOMPUTATION_H

#include "formats/base/text.h"

/* What the node is called. */
#define VPA_RECOMPUTES "CheckpointFunctionBackward"

/* Whether a range of this name runs a part of the model forward again, and then its gradients. */
static inline int vpa_recomputes(struct vpt_text name)
{
	return vpt_text_is(name, VPA_RECOMPUTES);
}

/* Whether a range of this name is of gradients: a node of autograd, or an operator of one. */
static inline int vpa_is_of_gradients(struct vpt_text name)
{
	return vpt_text_holds(name, "autograd::engine::") || vpt_text_holds(name, "Backward") ||
	       vpt_text_holds(name, "_backward");
}

#endif
