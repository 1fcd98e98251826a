/* memory.h - every allocation of formats/ and analysis/ goes through one replaceable table.
 *
 * A test swaps the table to make the n-th allocation fail; the program itself never does. Sizes
 * are multiplied only in here, where overflow is checked. */
#ifndef VPT_FORMATS_MEMORY_H
#define VPT_FORMATS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct vpt_memory_ops {
	/* Like realloc(3): ptr NULL allocates; size is never 0. Returns NULL when there is none. */
	void *(*resize)(void *ptr, size_t size_bytes);
	void (*release)(void *ptr);
};

/* Installs another table (NULL: libc again) and returns the former one. Not thread-safe: call it
 * before any thread of ours runs, and free memory with the table that allocated it. */
const struct vpt_memory_ops *vpt_memory_use(const struct vpt_memory_ops *ops);

/* Counts what is allocated by libc's table from now on, and refuses what would be more than `bytes` together. Not
 * thread-safe, as above, but for raising the bound. */
void vpt_memory_bound(uint64_t bytes);
/* Whether something has been refused for that; whether more than half of it is taken. Any thread. */
int vpt_memory_was_refused(void);
int vpt_memory_is_scarce(void);

/* `count * size` bytes, uninitialised / zeroed. NULL on overflow or when there is none; never NULL
 * for a product of zero. Free with vpt_free(). Any thread. */
void *vpt_alloc(size_t count, size_t size);
void *vpt_calloc(size_t count, size_t size);

/* Makes room for at least `need` elements of `size` bytes in a growing array: doubles *cap, moves
 * *array. Returns 0 or VPT_ENOMEM, and then array and *cap are as before. `array` is the address of
 * the pointer variable. */
int vpt_grow_more(void *array, size_t *cap, size_t need, size_t size);

static inline int vpt_grow(void *array, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? 0 : vpt_grow_more(array, cap, need, size);
}

/* The same, and the elements from the former *cap on are zeroed: for tables by number, where what
 * nobody has written yet reads as 0. */
int vpt_grow_zeroed_more(void *array, size_t *cap, size_t need, size_t size);

static inline int vpt_grow_zeroed(void *array, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? 0 : vpt_grow_zeroed_more(array, cap, need, size);
}

void vpt_free(void *ptr); /* accepts NULL */

char *vpt_strndup(const char *text, size_t len); /* NUL-terminated copy; NULL when no memory */

#endif
