/* plan.h - what the host does, deed by deed. The pipeline is written once, as a list of deeds;
 * play.c does them on CUDA, print.c prints them, and a model in another language works out from
 * the printed list when everything must happen. */
#ifndef VPT_BENCH_DEMO_PLAN_H
#define VPT_BENCH_DEMO_PLAN_H

#include "bench/demo/options.h"
#include "tracer/vptrace.h"

#include <stdint.h>

enum demo_kernel_id {
#define DEMO_KERNEL(ID, name, grid_x, grid_y, block, ns) DEMO_K_##ID,
#include "bench/demo/kernels.def"
	DEMO_KERNELS
};

struct demo_kernel {
	const char *name;
	uint32_t grid_x, grid_y, block;
	uint64_t ns;
};
extern const struct demo_kernel demo_kernels[DEMO_KERNELS];

enum demo_stream {
	DEMO_LEGACY, /* CUDA's stream 0 */
	DEMO_MAIN,   /* waits for the legacy stream and it for this one */
	DEMO_SIDE,   /* independent */
	DEMO_STREAMS
};
/* Ranks that exchange something. */
enum demo_group_id {
	DEMO_ALL_RANKS,
	DEMO_SEQUENCE, /* --cfg-parallel: which share a pass, as all do without it */
	DEMO_GUIDANCE, /* --cfg-parallel: the two that have the same part of two passes */
	DEMO_GROUPS
};
struct demo_group {
	uint64_t ranks, rank, number; /* ranks: 1, where there is nobody to exchange with */
};
enum demo_event {
	DEMO_RING_BEGIN,
	DEMO_RING_END,
	DEMO_DENOISED,
	DEMO_DECODED,
	DEMO_DECODED_ODD,
	DEMO_EVENTS
};

enum demo_deed_kind {
	DEMO_WORK,   /* host code of `ns` */
	DEMO_LAUNCH, /* `kernel` of `ns` on `stream` */
	DEMO_COLLECTIVE, /* the same with the ranks of `group`: `bytes` of this rank, `ns` if nobody is late */
	DEMO_TO_DEVICE, /* copies of `bytes` on `stream`: cudaMemcpy if `blocking`, else ... */
	DEMO_TO_HOST,   /* ... cudaMemcpyAsync; the host's side is `pinned` or pageable */
	DEMO_ON_DEVICE,
	DEMO_CLEAR,       /* cudaMemsetAsync of `bytes` */
	DEMO_ALLOCATE,    /* cudaMalloc of `bytes` */
	DEMO_FREE,        /* cudaFree of the latest that is left */
	DEMO_SYNC_STREAM, /* the host waits for `stream` */
	DEMO_SYNC_EVENT,  /* ... for `event` */
	DEMO_RECORD,      /* `event` on `stream` */
	DEMO_WAIT,        /* `stream` waits for `event` */
	DEMO_CAPTURE,     /* begins capturing `stream` into a graph */
	DEMO_CAPTURED,    /* ends it: graph number `graph`, ready to replay */
	DEMO_REPLAY,      /* launches `graph` on `stream` */
	DEMO_PUSH,        /* a range `name` with `note` */
	DEMO_POP,         /* the one pushed last, of `note.kind` */
	DEMO_MARK,        /* a mark `name` with `note` */
	DEMO_END,         /* the process is killed */
	DEMO_DEEDS
};

struct demo_deed {
	enum demo_deed_kind kind;
	int thread; /* 0: the program's first; 1: the one that copies frames, see --threads */
	uint64_t ns, bytes;
	enum demo_kernel_id kernel;
	enum demo_stream stream;
	enum demo_event event;
	uint64_t graph;
	enum demo_group_id group;
	int to_next; /* a message around a ring, not one to each */
	int blocking, pinned;
	char name[32];
	struct vptrace_note note;
};

/* Whoever is handed the deeds, in order. `deed` is borrowed for the call. */
struct demo_player {
	void (*put)(void *ctx, const struct demo_deed *deed);
	void *ctx;
};

void demo_plan(const struct demo_options *options, struct demo_player player);

/* The largest copy of any plan, in bytes. */
enum { DEMO_COPY_BYTES_MAX = 64 << 20 };
enum { DEMO_FIRST_FRAMES = 9, DEMO_FRAMES = 12, DEMO_LATENTS = 3 };

/* This rank's place in a group. */
struct demo_group demo_group(const struct demo_options *o, enum demo_group_id group);

/* Prints the plan as a JSON list, a deed a line. */
void demo_print(const struct demo_options *options);

/* Does the plan on CUDA's current libraries. Returns 0, or -1 after a sentence on stderr. */
int demo_play(const struct demo_options *options);

/* Prints in a line which GPU the demo would run on. Returns 0, or -1 after a sentence on stderr:
 * there is none. */
int demo_probe(void);

#endif
