/* graph_rows.h - the report's rows of CUDA graphs and of compilation. Part of report.h; ../../folds/kernels/graph_costs.c
 * defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_GRAPH_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_GRAPH_ROWS_H

#include "analysis/report/rows/place.h"

#include <stddef.h>
#include <stdint.h>

/* Launches of graphs with the same nodes: kernels, grids and node ids. */
struct vpa_graph_row {
	struct vpa_place place; /* of the first launch */
	const char *kernel;     /* of its first op; NULL: a copy or memset */
	uint64_t replays, nodes;
	uint64_t total_ns;  /* first node's start to last node's end, over all replays */
	uint64_t kernel_ns; /* sum of the nodes' durations */
};

/* "module", "graph", "capture": what such calls do; the last is from a capture's begin to its end. */
enum vpa_setup_kind { VPA_SETUP_MODULE, VPA_SETUP_GRAPH, VPA_SETUP_CAPTURE };

/* Calls of one name that load code or make graphs; "capture": from a capture's begin to its end. */
struct vpa_setup_row {
	enum vpa_setup_kind what;
	const char *call;
	uint64_t count, total_ns;
};

/* Steps of the loop whose ops outside graphs are the same: kernels and grids, equally often. */
struct vpa_repeats {
	uint64_t steps, distinct; /* steps that equal another one; kinds of them */
	uint64_t all_steps, ops;  /* ops: of those that equal another one */
	uint64_t save_at_most_ns; /* see DEFINITIONS.md */
};

struct vpa_graphs {
	uint64_t launches, nodes, left_out; /* left_out: launches after the first million */
	struct vpa_graph_row *rows;         /* by total_ns, descending; at most --top */
	size_t row_count, distinct;
	struct vpa_setup_row *setup; /* by total_ns, descending */
	size_t setup_count;
	struct vpa_repeats repeats;
	/* Of torch.compile, where ranges tell: regions, those of them that are a later version, and
	 * ranges of the compiler. */
	uint64_t compiled_regions, recompiles, compiler_ranges, compiler_ns;
};

#endif
