/* memory.c - the allocation table and the few helpers on top of it. */
#include "formats/memory.h"

#include "formats/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct vpt_memory_ops libc_ops = {.resize = realloc, .release = free};
static const struct vpt_memory_ops *current = &libc_ops;

const struct vpt_memory_ops *vpt_memory_use(const struct vpt_memory_ops *ops)
{
	const struct vpt_memory_ops *former = current;

	current = ops ? ops : &libc_ops;
	return former;
}

static void *resize_checked(void *ptr, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		return NULL;
	return current->resize(ptr, bytes ? bytes : 1);
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
