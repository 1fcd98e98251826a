/* own_memory.h - checked reads of this process's memory: an address that is not mapped gives an
 * error, never a fault.
 *
 * The kernel copies the bytes: by process_vm_readv() and process_vm_writev() on our own process, or,
 * where those are refused, by pread() of /proc/self/mem. A pointer that another thread has freed is
 * as good as any other here. No signal, no allocation; the memory that is read is not changed.
 *
 * A seccomp filter may end the process for a call that it forbids. Where there is a filter, a child
 * that shares nothing with the host but its memory tries the calls first, on kernels where its death
 * concerns nobody else (5.16); on older ones, a filter means /proc/self/mem.
 *
 * One thread at a time; not in a forked child. */
#ifndef VPTRACE_TRACER_GUEST_OWN_MEMORY_H
#define VPTRACE_TRACER_GUEST_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum vtr_own_memory_way {
	VTR_OWN_MEMORY_REFUSED,
	VTR_OWN_MEMORY_PROC, /* /proc/self/mem: a system call per piece */
	VTR_OWN_MEMORY_VM    /* a system call for all pieces */
};

enum { VTR_PIECES_MAX = 1024 }; /* IOV_MAX */

struct vtr_own_memory {
	enum vtr_own_memory_way way;
	pid_t pid;
	int fd;               /* /proc/self/mem, or -1 */
	const uint64_t *mark; /* what the descriptor must show, or it is no longer ours */
};

/* Tries the ways; tells which one works, in m->way. Release with vtr_own_memory_close(). */
void vtr_own_memory_open(struct vtr_own_memory *m);
void vtr_own_memory_close(struct vtr_own_memory *m);

/* Copies `bytes` bytes at the address `at`. 0: all of them; -1: not all are mapped, or reading is
 * refused. After -1, `out` holds anything. Once reading is refused, it stays so. */
int vtr_own_memory_read(struct vtr_own_memory *m, uint64_t at, void *out, size_t bytes);

/* Copies `count` pieces, at most VTR_PIECES_MAX, one after the other in this order, into `out`,
 * without gaps. `bytes` is their sum. By VTR_OWN_MEMORY_VM a piece is read some 20 ns after the one
 * before it. 0 or -1, as above. */
int vtr_own_memory_gather(struct vtr_own_memory *m, const struct iovec *pieces, size_t count,
	void *out, size_t bytes);

/* ---- foreign_text.c: reads text that somebody else owns and may have freed.
 *
 * Kernel names in CUPTI's records point into memory that is freed when a module is unloaded,
 * perhaps before a slow disk lets us read it. So a system call reads them: freed memory is an
 * error, not a crash. */

/* Copies the text at `from`, without its NUL, at most `size` bytes. Returns the length, or -1:
 * unreadable. Where the system forbids the call, reads the text directly. The writer's thread only;
 * costs a system call. */
ssize_t vtr_foreign_text(const char *from, char *out, size_t size);

#endif
