/* captured_nodes.h - which range a node of a CUDA graph was captured in, and how long its ops took in all launches of the graph.
 *
 *	range of thread 7   |-- aten::mm ---------|
 *	GRAPH rows               node 21 created           node 40 cloned from 21: the graph is made executable
 *	ops                                                                       node 40     node 40
 *
 * Nothing of it is known when an op comes: the ranges of the capture may still be open. So all is put together at the end. */
#ifndef VPA_ANALYSIS_FOLDS_KERNELS_CAPTURED_NODES_H
#define VPA_ANALYSIS_FOLDS_KERNELS_CAPTURED_NODES_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"

enum { VPA_CAPTURED_MAX = 1 << 20 }; /* nodes; further ones are left out */

/* All zeros is empty. */
struct vpa_captured {
	struct vpa_index index; /* process, node */
	struct vpa_captured_node {
		uint64_t time_ns; /* when it was created */
		uint64_t ops, gpu_ns;
		uint32_t origin; /* 1 + row of the node it was cloned from; 0: none */
		uint32_t owner;  /* 1 + whose it is; 0: not known */
	} * nodes;
	size_t node_cap;
	struct vpa_index threads; /* by key of the model */
	struct vpa_captured_thread {
		uint32_t *rows; /* of nodes created on the thread, by time */
		size_t count, cap;
	} * of_thread;
	size_t thread_cap;
};

/* All return 0 or VPT_ENOMEM. */

/* Takes a section of GRAPH rows. */
int vpa_captured_section(
	struct vpa_captured *s, const struct vpa_model *m, const struct vpt_section *section);
/* Takes ops. Those that are nodes of graphs count if a GRAPH row named their node. */
int vpa_captured_ops(struct vpa_captured *s, const struct vpa_model *m, const struct vpa_ops *ops);
/* A range has ended: what was captured in it, and in none that ended before, is `owner`'s. */
void vpa_captured_range(struct vpa_captured *s, const struct vpa_range *range, uint32_t owner);

/* The owner of the node in a row of `nodes`; UINT32_MAX: not known. */
uint32_t vpa_captured_owner(const struct vpa_captured *s, size_t row);

void vpa_captured_free(struct vpa_captured *s);

#endif
