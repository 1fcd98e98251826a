/* arena.c - slabs of memory, newest first. */
#include "analysis/base/arena.h"

#include "formats/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct vpa_arena_slab {
	struct vpa_arena_slab *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

/* Bytes of the first slab, and most that a usual one has. The first is small: there may be thousands of arenas with a few
 * texts each. */
enum { SLAB_LEAST = 2 << 10, SLAB = 64 << 10 };

static void *take(struct vpa_arena *a, size_t bytes)
{
	struct vpa_arena_slab *b = a->slabs;
	void *p;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!b || b->size - b->used < bytes) {
		size_t usual = !b ? SLAB_LEAST : b->size < SLAB / 4 ? 4 * b->size : SLAB;
		size_t size = bytes > usual ? bytes : usual;

		b = vpt_alloc(1, sizeof(*b) + size);
		if (!b) {
			a->failed = 1;
			return NULL;
		}
		b->next = a->slabs;
		b->used = 0;
		b->size = size;
		a->slabs = b;
	}
	p = b->data + b->used;
	b->used += bytes;
	return p;
}

void *vpa_arena_alloc(struct vpa_arena *a, size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (a->failed || __builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX / 2) {
		a->failed = 1;
		return NULL;
	}
	p = take(a, bytes ? bytes : 1);
	if (p)
		memset(p, 0, bytes);
	return p;
}

const char *vpa_arena_text(struct vpa_arena *a, const char *text, size_t len)
{
	char *copy = a->failed ? NULL : take(a, len + 1), *at = copy;

	if (!copy)
		return "";
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	/* Zeros within the text are replaced. */
	while ((at += strlen(at)) < copy + len)
		*at = ' ';
	return copy;
}

const char *vpa_arena_printf(struct vpa_arena *a, const char *fmt, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (n < 0)
		return "";
	return vpa_arena_text(a, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void vpa_arena_free(struct vpa_arena *a)
{
	struct vpa_arena_slab *b = a->slabs, *next;

	for (; b; b = next) {
		next = b->next;
		vpt_free(b);
	}
	a->slabs = NULL;
	a->failed = 0;
}
