/* step_kinds.h - denoising steps by what they run: which are alike, which run less than the others, and
 * which run the model twice.
 *
 *	ops of a step -> struct vpa_step_ops -> vpa_step_kinds_add() -> kinds -> vpa_step_kinds_write()
 *
 * Steps are alike if they run the same kernels with the same grids in the same order. Where a step's ops are
 * of several streams or of a CUDA graph, their order varies from run to run, so it does not count. Copies and
 * memsets are all alike.
 *
 * Memory: 12 bytes an op of a step until it has ended; of each kind 4 bytes an op, at most 16 MiB in all. */
#ifndef VPA_ANALYSIS_STEPS_STEP_KINDS_H
#define VPA_ANALYSIS_STEPS_STEP_KINDS_H

#include "analysis/base/index.h"
#include "analysis/report/report.h"

#include <stddef.h>
#include <stdint.h>

/* ---- step_halves.c: whether a step runs the model twice: whether one half of its ops repeats the other.
 *
 *	embed, layer layer ... layer, head, embed, layer layer ... layer, head, scheduler
 *	|------ first half ---------------||------ second half ---------------|
 *
 * Layers repeat too, so an even number of them has equal halves as well. Only what occurs once in a pass of
 * the model tells: three ops in a row that occur exactly twice in the step. Three quarters of them, and at
 * least three, must be equally far apart, give or take a fiftieth of the step; that distance is the length of
 * a half. The halves must have nine of ten ops in common, in any order, make up four fifths of the step, and
 * be passes of a model: a third of their ops belong to layers, of which a half holds three, or they have 256
 * ops, since a convolutional network repeats no layer. */

struct vpa_step_halves {
	/* The halves are the ops [first, second) and [second, end). All 0: the step has none. */
	uint32_t first, second, end;
};

/* What two equal ops have in common is their symbol, any number. Linear time, up to 100 bytes an op while it
 * works. 0 or VPT_ENOMEM. */
int vpa_step_halves_find(const uint32_t *symbols, size_t count, struct vpa_step_halves *out);

/* Counts symbols: how many of a sequence's ops another one has too, in any order. */
struct vpa_symbol_counts {
	struct vpa_symbol_count *slots;
	size_t slot_count;
	uint32_t round;
};

/* Counts the symbols of a sequence. 0 or VPT_ENOMEM; free it in both cases. */
int vpa_symbol_counts_make(struct vpa_symbol_counts *c, const uint32_t *symbols, size_t count);
/* How many ops of this sequence the counted one has too. */
size_t vpa_symbol_counts_common(struct vpa_symbol_counts *c, const uint32_t *symbols, size_t count);
void vpa_symbol_counts_free(struct vpa_symbol_counts *c);

enum {
	VPA_STEP_OPS_MAX = 1 << 16, /* ops of a step that are looked at; later ones are counted */
	VPA_STEP_KINDS_MAX = 4096,  /* further kinds are left out */
	VPA_STEP_SYMBOLS_MAX = 1 << 22, /* of all kinds together; further kinds are only counted */
};

/* What equal ops have in common: kernel and grid. VPA_NONE and 0 for copies and memsets. */
static inline uint32_t vpa_op_symbol(uint32_t kernel, uint32_t blocks)
{
	uint32_t h = (kernel ^ blocks * 0x9e3779b1u) * 0x85ebca6bu;

	return (h ^ h >> 15) * 0xc2b2ae35u;
}

/* The ops of one step so far, in order of start. All 0: none. */
struct vpa_step_ops {
	uint32_t *symbols; /* any numbers */
	uint64_t *starts_ns;
	size_t kept, symbol_cap, start_cap; /* kept: at most VPA_STEP_OPS_MAX */
	uint64_t ops;
	uint64_t first_ns, last_ns; /* from the first op's start to the largest end */
	int in_any_order;           /* 1: of several streams, or of a graph */
};

/* Makes room for `count` more ops. 0 or VPT_ENOMEM. */
int vpa_step_ops_reserve(struct vpa_step_ops *s, size_t count);
void vpa_step_ops_reset(struct vpa_step_ops *s); /* empty, memory kept */
void vpa_step_ops_free(struct vpa_step_ops *s);

/* Steps with the same ops. */
struct vpa_step_group {
	uint64_t count, total_ns, ops;
	uint64_t first;     /* its first step, counted from 0 */
	uint64_t set_hash;  /* of its ops in any order: a sum */
	uint64_t half_hash; /* the same of its second half */
	uint64_t second_ns; /* time of the second halves */
	uint32_t *symbols;  /* NULL: not retained */
	size_t kept;
	struct vpa_step_halves halves;
};

/* All zeros is empty. */
struct vpa_step_groups {
	struct vpa_index index; /* hash, number of ops */
	struct vpa_step_group *rows;
	size_t row_cap, symbols; /* symbols: retained, of all kinds */
	uint64_t steps, left_out, total_ns;
};

/* Adds a step that has ended; without ops it is ignored. 0 or VPT_ENOMEM. */
int vpa_step_groups_add(struct vpa_step_groups *g, const struct vpa_step_ops *step);
/* Fills *out: at most `top` rows, in the report's arena. `source`: "marked" or "inferred". 0 or
 * VPT_ENOMEM. */
int vpa_step_groups_write(struct vpa_step_groups *g, enum vpa_steps_source source, size_t top,
	struct vpa_arena *arena, struct vpa_step_kinds *out);
void vpa_step_groups_free(struct vpa_step_groups *g);

#endif
