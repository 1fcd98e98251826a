/* collective_facts.h - what a trace says of a collective: its kernel's name, and the annotation of the range around its
 * launch,
 *
 *	{"collective":"allreduce","group":"0","ranks":"[0, 1]","message_bytes":4096}     of PyTorch's profiler
 *	{"NCCL communicator ID":133,"Message size [bytes]":4096,"Reduction operation":0}   of NCCL itself
 *
 * The communicator of NCCL's messages is not known, since what launches them is the end of their group. */
#ifndef VPA_ANALYSIS_MODEL_COLLECTIVE_FACTS_H
#define VPA_ANALYSIS_MODEL_COLLECTIVE_FACTS_H

#include "analysis/model/model.h"
#include "analysis/names/collective_kinds.h"

/* The annotation of a collective in the innermost ranges around a launch, as in vpa_range.payload; 0: none. */
uint32_t vpa_collective_payload(
	const struct vpa_model *m, const struct vpa_op_stretch *stretch, uint64_t at_ns);

/* The place of a collective's launch: the name of the innermost range around it that is not the collective's own, as "nccl:all_reduce"
 * is; 0: none. */
uint32_t vpa_collective_place(
	const struct vpa_model *m, const struct vpa_op_stretch *stretch, uint64_t at_ns);

struct vpa_collective_said {
	enum vpa_collective_kind kind;
	const char *text;  /* the collective's name, or the kernel's; never NULL */
	const char *group; /* the communicator, as the job names it; NULL: not known */
	uint64_t bytes;    /* of the message; 0: not known */
	uint64_t ranks;    /* of the communicator; 0: not known */
};

/* What a kernel's name and an annotation, which may be empty, say of a collective. Texts are in the arena. */
void vpa_collective_describe(struct vpa_arena *texts, struct vpt_text kernel,
	struct vpt_text annotation, struct vpa_collective_said *out);

/* How many ranks a communicator has by its name, as above: "0 [0, 1]"; 0: it does not say, as NCCL's do not. NULL is no name. */
uint64_t vpa_communicator_ranks(const char *name);

#endif
