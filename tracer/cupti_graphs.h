/* cupti_graphs.h - whether CUDA graphs still come node by node.
 *
 * Once the kind GRAPH_TRACE has been enabled, as the profile coarse does, CUPTI may record graphs as a whole for as long as
 * the process lives: its headers say, from 13.5 on, that disabling the kind does not restore the records of nodes. A later
 * capture with another profile then has nothing of its graphs. It cannot be asked which of the two it does, so such a
 * capture is suspect, and looked at: where graphs were launched and no op says that it is a node, the nodes are missing,
 * and the capture says so. The writer's thread only, except where said. */
#ifndef VPTRACE_TRACER_CUPTI_GRAPHS_H
#define VPTRACE_TRACER_CUPTI_GRAPHS_H

#include "tracer/cupti_calls.h"
#include "tracer/cupti_sizes.h"
#include "tracer/pool.h"
#include "tracer/recorder.h"

/* All zeros: not suspect. */
struct vtr_graphs {
	int as_a_whole;    /* GRAPH_TRACE was enabled in this process, for life */
	int suspect;       /* and it is not in this capture */
	int has_nodes;     /* an op was one */
	uint64_t whole;    /* launches of graphs */
	uint64_t since_ns; /* the first of them */
};

/* A capture begins, with the kind enabled or not. CUPTI's start, before there is a writer. */
void vtr_graphs_begin(struct vtr_graphs *g, int is_enabled);

/* Looks through a buffer of a suspect capture, before it is recycled. */
void vtr_graphs_buffer(struct vtr_graphs *g, const struct vtr_sizes *sizes,
	const struct vtr_calls *calls, const struct vtr_full *full);

/* Puts the reason and a LOSS row, from the first launch of a graph to `stop_ns`, if nodes are missing. Once, after all
 * buffers. */
void vtr_graphs_put(const struct vtr_graphs *g, struct vtr_recorder *r, uint64_t stop_ns);

/* The reason; NULL: nothing is missing. After the writer's end any thread. */
const char *vtr_graphs_failure(const struct vtr_graphs *g);

#endif
