/* budget.h - one account of the memory that the tracer holds, against the limit that its user set.
 *
 *	limit >= buffers for CUPTI        each at most three quarters of the limit,
 *	       + rings and stacks         so that a storm of one kind leaves room
 *	       + names                    for the other
 *	       + the writer's room        what it has allocated, at least an eighth
 *
 * Whoever wants memory of the first three takes it here first, and drops what it has no place for
 * when it is refused. The writer is never refused: it must be able to empty what is full, and its
 * needs are bounded by what a chunk may hold. */
#ifndef VPTRACE_TRACER_BUDGET_H
#define VPTRACE_TRACER_BUDGET_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_BUDGET_DEFAULT = 256 << 20 }; /* before another limit is set */

enum vtr_budget_owner {
	VTR_BUDGET_BUFFERS,
	VTR_BUDGET_THREADS,
	VTR_BUDGET_NAMES,
	VTR_BUDGET_OWNERS
};

/* What is held already stays, also where it is more. Any thread. */
void vtr_budget_limit(uint64_t bytes);

/* 1: taken. 0: refused, nothing changed. No lock, no system call: for callbacks too. */
int vtr_budget_take(enum vtr_budget_owner owner, uint64_t bytes);
/* The same where there is no choice. */
void vtr_budget_add(enum vtr_budget_owner owner, uint64_t bytes);
void vtr_budget_give(enum vtr_budget_owner owner, uint64_t bytes);

/* What the compressor holds; it allocates by itself. The writer. */
void vtr_budget_compressor(uint64_t bytes);

/* Bytes held now: by one of them, by the writer, by all. Any thread; each a snapshot. */
uint64_t vtr_budget_of(enum vtr_budget_owner owner);
uint64_t vtr_budget_of_writer(void);
uint64_t vtr_budget_held(void);

#endif
