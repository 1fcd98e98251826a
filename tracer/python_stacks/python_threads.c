/* python_threads.c - walks the interpreter's lists of threads. */
#include "tracer/python_stacks/python_threads.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { PTHREAD_BYTES = 2048 }; /* of the C library's struct, in which to look for the id */

/* The place of the id in our own thread's struct. A number that only happens to be equal would have
 * to come before it. */
static uint32_t find_tid(struct vtr_own_memory *m)
{
	uint64_t self = (uint64_t)(uintptr_t)pthread_self();
	int32_t word, tid = (int32_t)gettid();
	uint32_t at;

	for (at = 0; at < PTHREAD_BYTES; at += (uint32_t)sizeof(word))
		if (!vtr_own_memory_read(m, self + at, &word, sizeof(word)) && word == tid)
			return at;
	return VTR_NO_FIELD;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void vtr_python_threads_init(
	struct vtr_python_threads *t, struct vtr_own_memory *m, const struct vtr_python *python)
{
	const struct vtr_python_layout *at = &python->at;
	uint32_t last = larger(at->thread_pthread, at->thread_serial);

	memset(t, 0, sizeof(*t));
	t->m = m;
	t->python = python;
	t->tid_in_pthread = VTR_NO_FIELD;
	last = larger(
		larger(last, at->thread_interpreter), larger(at->thread_next, at->thread_frame));
	if (at->thread_native != VTR_NO_FIELD)
		last = larger(last, at->thread_native);
	else
		t->tid_in_pthread = find_tid(m);
	t->state_bytes = last + 8;
	if (t->state_bytes > VTR_PYTHON_STATE_BYTES)
		t->state_bytes = 0; /* nothing will be found */
}

/* The id of the thread with this state; 0: unknown. */
static uint32_t tid_of(struct vtr_python_threads *t, const uint8_t *head)
{
	const struct vtr_python_layout *at = &t->python->at;
	int32_t tid = 0;

	if (at->thread_native != VTR_NO_FIELD)
		return (uint32_t)vtr_word(head, at->thread_native);
	if (t->tid_in_pthread == VTR_NO_FIELD ||
		vtr_own_memory_read(t->m, vtr_word(head, at->thread_pthread) + t->tid_in_pthread,
			&tid, sizeof(tid)))
		return 0;
	return (uint32_t)tid;
}

/* Whether the thread runs Python there. */
static int has_frames(struct vtr_python_threads *t, const uint8_t *head)
{
	const struct vtr_python_layout *at = &t->python->at;
	uint64_t frame = vtr_word(head, at->thread_frame);

	if (frame && at->cframe_frame != VTR_NO_FIELD &&
		vtr_own_memory_read(t->m, frame + at->cframe_frame, &frame, sizeof(frame)))
		return 0;
	return frame != 0;
}

/* Looks through one interpreter's threads. Returns 1 if the thread runs Python there; *found is set
 * if it has a state at all and none was found before. */
static int find_in(struct vtr_python_threads *t, uint64_t interpreter, uint32_t tid,
	struct vtr_python_thread *found, unsigned *left)
{
	const struct vtr_python_layout *at = &t->python->at;
	uint8_t head[VTR_PYTHON_STATE_BYTES];
	uint64_t state;
	int runs;

	if (vtr_own_memory_read(t->m, interpreter + at->interpreter_threads, &state, sizeof(state)))
		return 0;
	for (; state && *left; --*left, state = vtr_word(head, at->thread_next)) {
		if (vtr_own_memory_read(t->m, state, head, t->state_bytes) ||
			vtr_word(head, at->thread_interpreter) != interpreter)
			return 0;
		if (tid_of(t, head) != tid)
			continue;
		runs = has_frames(t, head);
		if (runs || !found->at)
			*found = (struct vtr_python_thread){.at = state,
				.interpreter = interpreter,
				.pthread = vtr_word(head, at->thread_pthread),
				.serial = vtr_word(head, at->thread_serial),
				.tid = tid};
		if (runs)
			return 1;
	}
	return 0;
}

int vtr_python_thread_find(
	struct vtr_python_threads *t, uint32_t tid, struct vtr_python_thread *out)
{
	const struct vtr_python_layout *at = &t->python->at;
	unsigned interpreters = VTR_PYTHON_INTERPRETERS_MAX, states = VTR_PYTHON_STATES_MAX;
	uint64_t interpreter;

	memset(out, 0, sizeof(*out));
	if (!t->state_bytes ||
		vtr_own_memory_read(t->m, t->python->runtime + at->runtime_interpreters,
			&interpreter, sizeof(interpreter)))
		return -1;
	while (interpreter && interpreters--) {
		if (find_in(t, interpreter, tid, out, &states))
			break;
		if (vtr_own_memory_read(t->m, interpreter + at->interpreter_next, &interpreter,
			    sizeof(interpreter)))
			break;
	}
	return out->at ? 0 : -1;
}

int vtr_python_thread_is(const struct vtr_python_threads *t, const struct vtr_python_thread *thread,
	const uint8_t *head)
{
	const struct vtr_python_layout *at = &t->python->at;

	return vtr_word(head, at->thread_interpreter) == thread->interpreter &&
	       vtr_word(head, at->thread_pthread) == thread->pthread &&
	       vtr_word(head, at->thread_serial) == thread->serial &&
	       (at->thread_native == VTR_NO_FIELD ||
		       (uint32_t)vtr_word(head, at->thread_native) == thread->tid);
}
