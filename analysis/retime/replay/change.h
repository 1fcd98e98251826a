/* change.h - a change of a program in words, as `what-if --change` and findings have it.
 *
 *	drop CALL [under TIME] [in PLACE]       the call no longer waits; call and copy stay; under: only where less host
 *	                                        code follows, since more of it most likely needs what was waited for
 *	drop stops [every TIME from TIME] [in PLACE]
 *	                                        where the host stood still, see ../../report/rows/host_stop.h, calls take as
 *	                                        long as is usual; every, from: only where that ended at such a moment or up to
 *	                                        2 ms after it; then host code of 5 ms and longer that did so too is gone
 *	delete small-reads|CALL [in PLACE]      the calls are gone, with their ops and the host code of the launch
 *	delete copies KIND [in PLACE]           the same for copies of a kind: HtoD, DtoH ...
 *	delete graph-builds [in PLACE]          graphs are there: no capture, with all calls and code in it, and no other call
 *	                                        that makes or frees graphs
 *	delete adapters [in PLACE]              the launches of low-rank adapters beside layers, see ../../model/adapter.h
 *	delete recomputation [in PLACE]         those of activation checkpointing, which run a part of the model again in the
 *	                                        backward pass, see ../../model/recomputation.h
 *	delete unpacking [in PLACE]             those that unpack weights for a product, see ../../model/unpacking.h
 *	delete reductions [in PLACE]            all-reduces of gradients that a later pass of the same optimizer step does
 *	                                        again, see ../../model/reductions.h
 *	host X [over TIME] [under TIME] [in PLACE]  host code between calls takes X times as long; 0: none; over, under:
 *	                                        only stretches of at least, of less than this time
 *	host X ... after small-reads|CALL [in PLACE]  the same for what follows such calls, without what any launch needs
 *	host X per launch [in PLACE]            the same for what each launch and copy needs: all of the code before it if
 *	                                        that is under 100 us, else as much as is usual
 *	host X ... on THREAD [in PLACE]         the same of one thread only: its name, or number
 *	host X ... at FILE:LINE [in PLACE]      the same while the thread's Python stack has this line in it; FILE: the end
 *	                                        of a path
 *	scale FAMILY|KERNEL|KIND X [on GPU N] [in PLACE]  kernels, or copies of a kind, take X times as long
 *	rate KIND GB/s [in PLACE]               copies of a kind run at this rate
 *	pin KIND [GB/s] [in PLACE]              they run at this rate, or that of other such copies of pinned memory, and
 *	                                        nothing waits for them
 *	aside PLACE                             its ops run on a stream of their own, after what they need
 *	graph PLACE [each OUTER]                its launches become one; captured anew in each OUTER, else once in all
 *	skip 1/N PLACE                          every N-th instance of the range does not run
 *	steps N PLACE                           of the instances in each range around them N run, spread evenly
 *
 * PLACE, OUTER, CALL and KERNEL are names as a report has them, or patterns as of a shell. PLACE is the rest of the
 * line, so it may have blanks. CALL may be "syncs", "launches", "copies", "allocations" (and what frees), "loads" (of code) or
 * "graph-builds" for all of that kind. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_CHANGE_H
#define VPA_ANALYSIS_RETIME_REPLAY_CHANGE_H

#include "analysis/report/rows/host_stop.h"
#include "formats/base/error.h"

#include <stdint.h>

enum vpa_change_kind {
	VPA_CHANGE_DROP,
	VPA_CHANGE_DELETE,
	VPA_CHANGE_HOST,
	VPA_CHANGE_HOST_AFTER,
	VPA_CHANGE_SCALE,
	VPA_CHANGE_RATE,
	VPA_CHANGE_PIN,
	VPA_CHANGE_ASIDE,
	VPA_CHANGE_GRAPH,
	VPA_CHANGE_SKIP,
	VPA_CHANGE_STEPS
};

/* What a change is about. */
enum vpa_change_what {
	VPA_WHAT_CALLS, /* whose name matches */
	VPA_WHAT_SYNCS,
	VPA_WHAT_LAUNCHES,    /* of kernels and graphs */
	VPA_WHAT_COPIES,      /* of any kind */
	VPA_WHAT_ALLOCATIONS, /* and what frees */
	VPA_WHAT_LOADS,       /* of code */
	VPA_WHAT_BUILDS,      /* of CUDA graphs, and what a capture records */
	VPA_WHAT_SMALL_READS, /* copies of a few bytes to the host, and the wait that follows */
	VPA_WHAT_STOPS,       /* of the host */
	VPA_WHAT_ADAPTERS,    /* launches whose kernels are all of one */
	VPA_WHAT_UNPACKING,   /* the same of unpacking */
	VPA_WHAT_REDUCTIONS,  /* the same of all-reduces that are done again */
	VPA_WHAT_RECOMPUTED,  /* and of recomputation */
	VPA_WHAT_COPY_KIND,
	VPA_WHAT_FAMILY, /* of kernels */
	VPA_WHAT_KERNELS /* whose name matches */
};

enum { VPA_CHANGE_NAME = 200 };

struct vpa_change {
	enum vpa_change_kind kind;
	enum vpa_change_what what;
	char name[VPA_CHANGE_NAME];   /* of calls, kernels */
	char place[VPA_CHANGE_NAME];  /* "": everywhere */
	char outer[VPA_CHANGE_NAME];  /* of `graph`; "": once in all */
	char line[VPA_CHANGE_NAME];   /* of `host`, FILE:LINE; "": any */
	char thread[VPA_CHANGE_NAME]; /* of `host`; "": all */
	uint32_t on_gpu;              /* of `scale`: 1 + the number of the GPU; 0: all */
	int per_launch;               /* of `host`: only what launches need */
	uint64_t least_ns, most_ns;   /* of stretches of host code, most_ns excluded; 0: any */
	struct vpa_stop_clock stops;  /* of `drop stops` */
	double factor;                /* or GB/s; of `pin` 0: that of other copies */
	uint32_t number;              /* a copy kind, a family, or N of `skip` and `steps` */
};

/* Reads one change. VPT_EINVAL with what was expected. */
int vpa_change_read(const char *text, struct vpa_change *out, struct vpt_err *err);

#endif
