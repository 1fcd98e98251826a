/* graphs_table.h - what graph_costs.c gathers and graphs_write.c writes. Private to them. */
#ifndef VPA_ANALYSIS_FOLDS_KERNELS_GRAPHS_TABLE_H
#define VPA_ANALYSIS_FOLDS_KERNELS_GRAPHS_TABLE_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"

/* One launch of a graph. */
struct vpa_graph_launch {
	uint64_t hash, nodes; /* the sum of its nodes' hashes */
	uint64_t first_ns, last_ns, kernel_ns;
	uint32_t kernel, place; /* of its first op */
};

/* A step that is not over, by number of its scope. */
struct vpa_graph_step {
	uint64_t hash, ops; /* outside graphs */
};

/* Steps with the same ops. */
struct vpa_graph_steps {
	uint64_t count, ops; /* ops: of each */
};

struct vpa_setup_sum {
	uint64_t count, total_ns;
};

struct vpa_setup_call {
	uint64_t start_ns, ns;
	uint32_t name;
	enum vpa_setup_kind kind;
};

struct vpa_setup_thread {
	uint64_t capture_ns;           /* when the open capture began; 0: none is open */
	struct vpa_setup_call *recent; /* the newest calls, which a later one may enclose */
	size_t count, cap;
};

struct vpa_graphs_table {
	struct vpa_index launch_index; /* process, correlation id */
	struct vpa_graph_launch *launches;
	size_t launch_cap;
	uint64_t left_out;
	struct vpa_graph_step *steps;
	size_t step_cap;
	struct vpa_index step_index; /* hash, ops */
	struct vpa_graph_steps *kinds;
	size_t kind_cap;
	struct vpa_index setup_index; /* kind, name of the call */
	struct vpa_setup_sum *setups;
	size_t setup_cap;
	struct vpa_setup_thread *threads;
	size_t thread_cap;
	int failed;
};

/* Writes the tables. 0 or VPT_ENOMEM. */
int vpa_graphs_write(
	struct vpa_graphs_table *s, const struct vpa_fold_context *c, struct vpa_report *out);

#endif
