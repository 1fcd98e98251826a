/* budget.c - one account of the tracer's memory.
 *
 * Memory from vpt_alloc() and its kind, nearly all for the writer, is counted where it is
 * allocated. */
#include "tracer/guest/budget.h"

#include "formats/base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic uint64_t limit = VTR_BUDGET_DEFAULT;
static _Atomic uint64_t of_owner[VTR_BUDGET_OWNERS], of_all;
static _Atomic int64_t heap;
static _Atomic uint64_t compressor;

void vtr_budget_limit(uint64_t bytes)
{
	atomic_store_explicit(&limit, bytes, memory_order_relaxed);
}

static uint64_t of_writer(void)
{
	int64_t allocated = atomic_load_explicit(&heap, memory_order_relaxed);

	return (allocated > 0 ? (uint64_t)allocated : 0) +
	       atomic_load_explicit(&compressor, memory_order_relaxed);
}

/* Adds to a sum if it stays within `most`. 0: it would not. */
static int add_within(_Atomic uint64_t *sum, uint64_t bytes, uint64_t most)
{
	uint64_t before = atomic_load_explicit(sum, memory_order_relaxed);

	do {
		if (bytes > most || before > most - bytes)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		sum, &before, before + bytes, memory_order_relaxed, memory_order_relaxed));
	return 1;
}

int vtr_budget_take(enum vtr_budget_owner owner, uint64_t bytes)
{
	uint64_t most = atomic_load_explicit(&limit, memory_order_relaxed);
	uint64_t room = of_writer();

	if (room < most / 8)
		room = most / 8;
	if (room > most || !add_within(&of_owner[owner], bytes, most / 4 * 3))
		return 0;
	if (add_within(&of_all, bytes, most - room))
		return 1;
	atomic_fetch_sub_explicit(&of_owner[owner], bytes, memory_order_relaxed);
	return 0;
}

void vtr_budget_add(enum vtr_budget_owner owner, uint64_t bytes)
{
	atomic_fetch_add_explicit(&of_owner[owner], bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&of_all, bytes, memory_order_relaxed);
}

void vtr_budget_give(enum vtr_budget_owner owner, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&of_owner[owner], bytes, memory_order_relaxed);
	atomic_fetch_sub_explicit(&of_all, bytes, memory_order_relaxed);
}

void vtr_budget_compressor(uint64_t bytes)
{
	atomic_store_explicit(&compressor, bytes, memory_order_relaxed);
}

uint64_t vtr_budget_of(enum vtr_budget_owner owner)
{
	return atomic_load_explicit(&of_owner[owner], memory_order_relaxed);
}

uint64_t vtr_budget_held(void)
{
	return atomic_load_explicit(&of_all, memory_order_relaxed) + of_writer();
}

/* ---- what is allocated ---- */

static void *counted_resize(void *ptr, size_t size_bytes)
{
	int64_t before = ptr ? (int64_t)malloc_usable_size(ptr) : 0;
	void *fresh = realloc(ptr, size_bytes);

	if (fresh)
		atomic_fetch_add_explicit(
			&heap, (int64_t)malloc_usable_size(fresh) - before, memory_order_relaxed);
	return fresh;
}

static void counted_release(void *ptr)
{
	atomic_fetch_sub_explicit(&heap, (int64_t)malloc_usable_size(ptr), memory_order_relaxed);
	free(ptr);
}

__attribute__((constructor)) static void count_allocations(void)
{
	static const struct vpt_memory_ops counted = {counted_resize, counted_release};

	vpt_memory_use(&counted);
}
