/* heap.c - libstandin_heap.so, to be preloaded: counts calls of the heap and of mmap that a client
 * makes inside its CUPTI callbacks.
 *
 * The stand-in's libcupti finds it by name and raises the guard around each callback; the numbers
 * appear in standin_counts(). It only counts: everything goes on to libc. Not built with
 * sanitizers, which have a malloc of their own. */
#include "tests/standin/clients/heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* libc's own, under the names that it keeps for this purpose. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *pointer);

static __thread int guarded __attribute__((tls_model("initial-exec")));
static atomic_ulong calls;

void standin_heap_guard(int on)
{
	guarded += on ? 1 : -1;
}

uint64_t standin_heap_calls(void)
{
	return atomic_load(&calls);
}

static void note(void)
{
	if (guarded > 0)
		atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void *malloc(size_t size)
{
	note();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	note();
	return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
	note();
	return __libc_realloc(pointer, size);
}

void free(void *pointer)
{
	if (pointer)
		note();
	__libc_free(pointer);
}

void *memalign(size_t alignment, size_t size)
{
	note();
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	note();
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p;

	note();
	p = __libc_memalign(alignment, size);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	note();
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int munmap(void *at, size_t size)
{
	note();
	return (int)syscall(SYS_munmap, at, size);
}
