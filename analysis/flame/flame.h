/* flame.h - a report's stacks as a tree in which each node has the nanoseconds of its stacks: what a flame
 * graph draws.
 *
 * The leaf of idle time is its cause, so a picture shows for what each line kept the GPU waiting. Time
 * without a stack is a node of its own: the root has all time. */
#ifndef VPA_ANALYSIS_FLAME_FLAME_H
#define VPA_ANALYSIS_FLAME_FLAME_H

#include "analysis/base/index.h"
#include "analysis/report/report.h"
#include "analysis/report/rows/code_line.h"

struct vpt_sink;

/* What the time of a stack is. */
enum vpa_flame_of {
	VPA_FLAME_IDLE, /* a GPU was idle because of it */
	VPA_FLAME_SYNC, /* the part of it in which the host waited in a sync or a blocking copy */
	VPA_FLAME_LAUNCHES, /* durations of the ops that it launched */
	VPA_FLAME_ALL       /* idle time and launched work */
};

enum vpa_flame_kind {
	VPA_FLAME_ROOT,
	VPA_FLAME_DEVICE, /* a GPU; only where there are several */
	VPA_FLAME_FRAME,  /* a function of Python */
	VPA_FLAME_NONE,   /* stands for a stack that is not known */
	VPA_FLAME_CAUSE,  /* a leaf: why the GPU was idle */
	VPA_FLAME_WORK    /* a leaf: work on the GPU */
};

struct vpa_flame_node {
	enum vpa_flame_kind kind;
	enum vpa_cause cause;            /* of CAUSE */
	int64_t device;                  /* of DEVICE */
	const struct vpa_stack_row *row; /* of FRAME; of several members any */
	uint32_t parent;                 /* a smaller node; the root's is 0 */
	uint32_t depth;                  /* the root's is 0 */
	uint64_t ns;                     /* with all below it */
	uint64_t self_ns;                /* without */
	uint64_t start_ns;               /* where it begins in a picture: siblings by ns, falling */
	/* Frames that differ only in a number at the end of their names (below), drawn as one; 0: nothing is merged. */
	uint32_t members;
	const struct vpa_stack_row *longest; /* the member with most time */
	uint64_t longest_ns;
};

/* The time of a numbered frame in a node. */
struct vpa_flame_member {
	uint32_t node, stack;
	uint64_t ns;
};

struct vpa_flame {
	enum vpa_flame_of of;
	struct vpa_flame_node *nodes; /* the root first, parents before their children */
	size_t count, cap;
	struct vpa_index index; /* (parent, what the child is) */
	struct vpa_flame_member *members;
	size_t member_cap;
	struct vpa_index member_index; /* (node, stack) */
};

/* Fills *out from a report, whose arena must outlive it. `merges`: siblings that differ only in a number at the end of
 * their names are one node, with the stacks of all. 0 or VPT_ENOMEM; free it with vpa_flame_free() also after a
 * failure. */
int vpa_flame_build(
	const struct vpa_report *r, enum vpa_flame_of of, int merges, struct vpa_flame *out);
void vpa_flame_free(struct vpa_flame *f);

/* "forward (wan/modules/model.py:212)", "[sync]", "GPU 1"; "Block_*" for several members. At most cap - 1 bytes; returns text. */
const char *vpa_flame_name(const struct vpa_flame_node *node, char *text, size_t cap);

/* ---- forms ---- */

/* One line a stack, "main (run.py:3);step (model.py:40);[sync] 1200": what flamegraph.pl, inferno and
 * others read. Semicolons and line ends in names become ':' and ' '. */
int vpa_flame_folded(const struct vpa_flame *f, struct vpt_sink *sink, struct vpt_err *err);

/* The JSON that speedscope opens. `title` is any text. */
int vpa_flame_speedscope(
	const struct vpa_flame *f, const char *title, struct vpt_sink *sink, struct vpt_err *err);

/* A picture that needs nothing else. Its script zooms and searches; without scripts it is complete. */
int vpa_flame_svg(
	const struct vpa_flame *f, const char *title, struct vpt_sink *sink, struct vpt_err *err);

/* ---- numbered.c: frames whose names differ only in a number at their end: "Block_0" to "Block_35", the layers of a model.
 *
 * PyTorch's profiler numbers the modules of a class. Such frames run the same code, and apart they make a picture of as many thin
 * towers. */

/* Of each stack, the first one whose innermost frame is the same: its kind, apart from such a number; itself, in all. */
struct vpa_numbered {
	uint32_t *kind, *self;
};

/* Fills *out for all stacks. 0 or VPT_ENOMEM; free it with vpa_numbered_free() also after a failure. */
int vpa_numbered_find(const struct vpa_lines *lines, struct vpa_numbered *out);
void vpa_numbered_free(struct vpa_numbered *n);

/* The length of a name without the number at its end, which follows '_', '.' or '#'. The whole length if it has none. */
size_t vpa_numbered_stem(const char *name);

#endif
