/* cupti_graphs.h - whether CUPTI still records CUDA graphs node by node.
 *
 * Once the kind GRAPH_TRACE was enabled, as by the profile coarse, CUPTI may record graphs as a
 * whole for the rest of the process: its headers say, from 13.5 on, that disabling the kind does
 * not restore node records. A later capture with another profile then lacks its graphs. CUPTI does
 * not reveal which it does, so we check such a suspect capture: if graphs were launched but no op
 * is a node, nodes are missing and the capture reports it. The writer's thread only, except where
 * noted. */
#ifndef VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_GRAPHS_H
#define VPTRACE_TRACER_CUPTI_RECORDS_CUPTI_GRAPHS_H

#include "tracer/cupti/library/cupti_calls.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/handover/buffer_pool.h"
#include "tracer/write/recorder.h"

/* All zeros: not suspect. */
struct vtr_graphs {
	int as_a_whole;    /* GRAPH_TRACE was enabled in this process, ever */
	int suspect;       /* and is not in this capture */
	int has_nodes;     /* an op was a node */
	uint64_t whole;    /* graph launches */
	uint64_t since_ns; /* the first of them */
};

/* A capture begins, with GRAPH_TRACE enabled or not. For CUPTI's start, before there is a
 * writer. */
void vtr_graphs_begin(struct vtr_graphs *g, int is_enabled);

/* Scans a buffer of a suspect capture before it is recycled. */
void vtr_graphs_buffer(struct vtr_graphs *g, const struct vtr_sizes *sizes,
	const struct vtr_calls *calls, const struct vtr_full *full);

/* If nodes are missing, puts the reason and a LOSS row from the first graph launch to `stop_ns`.
 * Once, after all buffers. */
void vtr_graphs_put(const struct vtr_graphs *g, struct vtr_recorder *r, uint64_t stop_ns);

/* The reason; NULL: nothing is missing. Any thread, after the writer's end. */
const char *vtr_graphs_failure(const struct vtr_graphs *g);

#endif
