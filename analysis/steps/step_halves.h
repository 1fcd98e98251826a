/* step_halves.h - whether a step runs the model twice: whether one half of its ops repeats the other.
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
#ifndef VPA_ANALYSIS_STEPS_STEP_HALVES_H
#define VPA_ANALYSIS_STEPS_STEP_HALVES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
