/* memory.c - the allocation table and its few helpers. */
#include "formats/base/memory.h"

#include "formats/base/error.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20, ADVISED_LEAST = 8 << 20 };

static const struct vpt_memory_ops libc_ops = {.resize = realloc, .release = free};
static const struct vpt_memory_ops *current = &libc_ops;

/* ---- a bound on all memory ---- */

static uint64_t bound_bytes, taken_bytes;
static int was_refused;

/* Counts libc's block sizes, so that no block needs a header of ours. Each thread may exceed the
 * bound by one block. */
static void *bounded_resize(void *ptr, size_t size)
{
	size_t before = ptr ? malloc_usable_size(ptr) : 0;
	uint64_t taken = __atomic_load_n(&taken_bytes, __ATOMIC_RELAXED);
	uint64_t bound = __atomic_load_n(&bound_bytes, __ATOMIC_RELAXED);
	void *fresh;

	if (size > before && (taken > bound || size - before > bound - taken)) {
		__atomic_store_n(&was_refused, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	fresh = realloc(ptr, size);
	if (fresh)
		__atomic_add_fetch(&taken_bytes, (uint64_t)malloc_usable_size(fresh) - before,
			__ATOMIC_RELAXED);
	return fresh;
}

static void bounded_release(void *ptr)
{
	__atomic_sub_fetch(&taken_bytes, (uint64_t)malloc_usable_size(ptr), __ATOMIC_RELAXED);
	free(ptr);
}

static const struct vpt_memory_ops bounded_ops = {bounded_resize, bounded_release};

void vpt_memory_bound(uint64_t bytes)
{
	__atomic_store_n(&bound_bytes, bytes, __ATOMIC_RELAXED);
	if (current == &libc_ops)
		current = &bounded_ops;
}

int vpt_memory_was_refused(void)
{
	return __atomic_load_n(&was_refused, __ATOMIC_RELAXED);
}

int vpt_memory_is_scarce(void)
{
	uint64_t taken = __atomic_load_n(&taken_bytes, __ATOMIC_RELAXED);

	return current == &bounded_ops &&
	       taken > __atomic_load_n(&bound_bytes, __ATOMIC_RELAXED) / 2;
}

/* ---- through the table ---- */

const struct vpt_memory_ops *vpt_memory_use(const struct vpt_memory_ops *ops)
{
	const struct vpt_memory_ops *former = current;

	current = ops ? ops : &libc_ops;
	return former;
}

/* Asks for large pages where a block has many: a page that is used first costs as much as a thousand instructions. */
static void advise(void *ptr, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	uintptr_t begin = ((uintptr_t)ptr + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)ptr + bytes) & ~(uintptr_t)(LARGE_PAGE - 1);

	if (ptr && bytes >= ADVISED_LEAST && begin < end)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
	(void)ptr;
	(void)bytes;
#endif
}

static void *resize_checked(void *ptr, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		return NULL;
	ptr = current->resize(ptr, bytes ? bytes : 1);
	advise(ptr, bytes);
	return ptr;
}

void *vpt_alloc(size_t count, size_t size)
{
	return resize_checked(NULL, count, size);
}

void *vpt_calloc(size_t count, size_t size)
{
	void *ptr = resize_checked(NULL, count, size);

	if (ptr)
		memset(ptr, 0, count * size);
	return ptr;
}

int vpt_grow_more(void *array, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap ? *cap : 16;
	void *ptr;

	while (want < need) {
		if (want > SIZE_MAX / 2)
			return VPT_ENOMEM;
		want *= 2;
	}
	memcpy(&ptr, array, sizeof(ptr));
	ptr = resize_checked(ptr, want, size);
	if (!ptr)
		return VPT_ENOMEM;
	memcpy(array, &ptr, sizeof(ptr));
	*cap = want;
	return VPT_OK;
}

int vpt_grow_zeroed_more(void *array, size_t *cap, size_t need, size_t size)
{
	size_t before = *cap;
	char *first;

	if (vpt_grow_more(array, cap, need, size))
		return VPT_ENOMEM;
	memcpy(&first, array, sizeof(first));
	memset(first + before * size, 0, (*cap - before) * size);
	return VPT_OK;
}

void vpt_free(void *ptr)
{
	if (ptr)
		current->release(ptr);
}

char *vpt_strndup(const char *text, size_t len)
{
	char *copy = len < SIZE_MAX ? vpt_alloc(len + 1, 1) : NULL;

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}
