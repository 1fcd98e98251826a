/* python_threads.h - finds the interpreter's state of a thread, by the thread's id.
 *
 * The interpreters of the process and their threads are linked lists, which other threads change
 * while they are walked: walks are bounded, and what they find is a candidate until the caller has
 * checked it with vtr_python_thread_is(). A thread that uses several interpreters has a state in
 * each; found is the one of the newest interpreter in which it runs Python.
 *
 * Python 3.9 and 3.10 know a thread by its pthread_t alone. Its id is then read from the C library's
 * struct, where it lies at the same place in every thread; our own thread shows where. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_THREADS_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_THREADS_H

#include "tracer/python_stacks/python_layout.h"

#include <stdint.h>

enum {
	VTR_PYTHON_INTERPRETERS_MAX = 64,
	VTR_PYTHON_STATES_MAX = 4096,
	VTR_PYTHON_STATE_BYTES = 320 /* of a thread's state, from its start: all that we read */
};

struct vtr_python_threads {
	struct vtr_own_memory *m;        /* borrowed */
	const struct vtr_python *python; /* borrowed */
	uint32_t state_bytes;
	uint32_t tid_in_pthread; /* VTR_NO_FIELD: not needed, or not found */
};

/* One thread's state, as last found. */
struct vtr_python_thread {
	uint64_t at, interpreter, pthread, serial; /* at 0: none */
	uint32_t tid;
};

/* Borrows both. */
void vtr_python_threads_init(
	struct vtr_python_threads *t, struct vtr_own_memory *m, const struct vtr_python *python);

/* Finds the state of thread `tid`. 0, or -1: it has none, or the lists changed meanwhile. */
int vtr_python_thread_find(
	struct vtr_python_threads *t, uint32_t tid, struct vtr_python_thread *out);

/* Whether `head`, the first state_bytes bytes of a state, is that thread's. */
int vtr_python_thread_is(const struct vtr_python_threads *t, const struct vtr_python_thread *thread,
	const uint8_t *head);

/* A number of 8 bytes in memory that was read. */
static inline uint64_t vtr_word(const uint8_t *bytes, uint32_t offset)
{
	uint64_t word;

	__builtin_memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

#endif
