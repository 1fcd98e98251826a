/* budget.h - one account of the tracer's memory, against the user's limit.
 *
 *	limit >= buffers for CUPTI        each at most three quarters of the limit,
 *	       + rings and stacks         so that a storm of one kind leaves room
 *	       + names                    for the other
 *	       + the writer's room        what it has allocated, at least an eighth
 *
 * The first three take memory here before they use it, and drop data when refused. The writer is
 * never refused: it must be able to empty full buffers, and the size of a chunk bounds its
 * needs. */
#ifndef VPTRACE_TRACER_GUEST_BUDGET_H
#define VPTRACE_TRACER_GUEST_BUDGET_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_BUDGET_DEFAULT = 256 << 20 }; /* before another limit is set */

enum vtr_budget_owner {
	VTR_BUDGET_BUFFERS,
	VTR_BUDGET_THREADS,
	VTR_BUDGET_NAMES,
	VTR_BUDGET_OWNERS
};

/* Sets the limit. Memory held already stays, even if it exceeds the new limit. Any thread. */
void vtr_budget_limit(uint64_t bytes);

/* 1: taken. 0: refused, nothing changed. No lock, no system call: for callbacks too. */
int vtr_budget_take(enum vtr_budget_owner owner, uint64_t bytes);
/* The same without a check, for memory that cannot be refused. */
void vtr_budget_add(enum vtr_budget_owner owner, uint64_t bytes);
void vtr_budget_give(enum vtr_budget_owner owner, uint64_t bytes);

/* Reports what the compressor holds; it allocates by itself. The writer only. */
void vtr_budget_compressor(uint64_t bytes);

/* Bytes held now: by one owner, by the writer, in total. Any thread; each a snapshot. */
uint64_t vtr_budget_of(enum vtr_budget_owner owner);
uint64_t vtr_budget_held(void);

#endif
