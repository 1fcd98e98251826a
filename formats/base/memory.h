/* memory.h - the one replaceable table behind every allocation of formats/ and analysis/.
 *
 * A test replaces the table to make the n-th allocation fail; the program itself never does. Sizes
 * are multiplied only here, with a check for overflow. */
#ifndef VPT_FORMATS_BASE_MEMORY_H
#define VPT_FORMATS_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct vpt_memory_ops {
	/* Like realloc(3): ptr NULL allocates; size is never 0. Returns NULL when out of memory. */
	void *(*resize)(void *ptr, size_t size_bytes);
	void (*release)(void *ptr);
};

/* Installs a table (NULL: libc's) and returns the former one. Not thread-safe: call it before any
 * thread of ours runs. Free memory with the table that allocated it. */
const struct vpt_memory_ops *vpt_memory_use(const struct vpt_memory_ops *ops);

/* Counts what libc's table allocates from now on, and refuses allocations that would take the total
 * above `bytes`. Not thread-safe, as above, except to raise the bound. */
void vpt_memory_bound(uint64_t bytes);
/* Whether the bound has refused an allocation; whether more than half of it is in use. Any
 * thread. */
int vpt_memory_was_refused(void);
int vpt_memory_is_scarce(void);

/* Allocate `count * size` bytes, uninitialised / zeroed. NULL on overflow or out of memory; a
 * product of zero still gives a pointer. Free with vpt_free(). Any thread. */
void *vpt_alloc(size_t count, size_t size);
void *vpt_calloc(size_t count, size_t size);

/* Makes room for at least `need` elements of `size` bytes in a growing array: doubles *cap, moves
 * *array. Returns 0, or VPT_ENOMEM and leaves both as they were. `array` is the address of the
 * pointer variable. */
int vpt_grow_more(void *array, size_t *cap, size_t need, size_t size);

static inline int vpt_grow(void *array, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? 0 : vpt_grow_more(array, cap, need, size);
}

/* The same, and zeroes the elements from the former *cap on: for tables indexed by number, whose
 * unwritten elements read as 0. */
int vpt_grow_zeroed_more(void *array, size_t *cap, size_t need, size_t size);

static inline int vpt_grow_zeroed(void *array, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? 0 : vpt_grow_zeroed_more(array, cap, need, size);
}

void vpt_free(void *ptr); /* accepts NULL */

char *vpt_strndup(const char *text, size_t len); /* NUL-terminated copy; NULL when no memory */

#endif
