/* stack_slices.c - samples of Python stacks, in the form that Perfetto shows as flame graphs.
 *
 * Perfetto has stack samples since v58; older versions ignore them. There are two sources, each with a
 * track per thread: samples, of which each counts as one, and exact stacks, which weigh as many
 * nanoseconds as they held. An exact stack is written when its thread's next one is known. Frames and
 * stacks are interned for the whole file, since a chunk has ids of its own. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/export/perfetto/lanes/thread_tracks.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"
#include "formats/chunk/batch_stacks.h"

#include <stdlib.h>

enum { SEQUENCE_SAMPLES = 6, SEQUENCE_EXACT = 7 };

/* A row of the current chunk. */
struct sampled {
	uint64_t time_ns;
	uint32_t stack; /* of the file's table */
	uint32_t thread, order;
	int is_exact;
};

/* The exact stack that a thread has since a time. */
struct held {
	uint64_t since_ns;
	uint32_t stack; /* 0: none */
};

struct vpa_ex_stacks {
	struct vpa_ex_out *x;
	struct vpt_pf_sequence samples, exact;
	int samples_begun, exact_begun;
	struct vpt_stack_table table; /* of the file; functions and files are texts */
	uint32_t *ids;                /* by the chunk's stacks: the table's; 0: not looked up yet */
	size_t id_cap;
	struct sampled *rows;
	size_t count, cap;
	struct held *held; /* by thread of the model */
	size_t held_cap;
};

struct vpa_ex_stacks *vpa_ex_stacks_new(struct vpa_ex_out *x)
{
	struct vpa_ex_stacks *all = vpt_calloc(1, sizeof(*all));

	if (all)
		all->x = x;
	return all;
}

void vpa_ex_stacks_free(struct vpa_ex_stacks *all)
{
	if (!all)
		return;
	vpt_pf_sequence_free(&all->samples);
	vpt_pf_sequence_free(&all->exact);
	vpt_stack_table_free(&all->table);
	vpt_free(all->ids);
	vpt_free(all->rows);
	vpt_free(all->held);
	vpt_free(all);
}

/* ---- stacks of the file ---- */

static uint64_t add_frame(
	struct vpa_ex_stacks *all, const struct vpt_batch *b, const struct vpt_frame *frame)
{
	struct vpt_text function = vpt_batch_text(b, frame->function);
	struct vpt_text file = vpt_batch_text(b, frame->file);
	struct vpt_frame row = {.function = vpa_ex_text(all->x, function.text, function.len),
		.file = vpa_ex_text(all->x, file.text, file.len),
		.line = frame->line};

	return vpt_stack_table_frame(&all->table, &row);
}

/* The table's number of a chunk's stack. 0: none. */
static uint32_t find_stack(
	struct vpa_ex_stacks *all, const struct vpt_stacks *stacks, uint64_t stack)
{
	struct vpt_frame frames[VPT_STACK_DEPTH_MAX]; /* that are new, innermost first */
	uint64_t ids[VPT_STACK_DEPTH_MAX], found = 0;
	uint32_t left = vpt_stacks_depth(stacks, stack), count = 0;

	for (; left && !all->ids[stack]; left--) {
		ids[count] = stack;
		frames[count++] = vpt_stacks_pop(stacks, &stack);
	}
	found = left ? all->ids[stack] : 0;
	while (count && !all->x->pf.failed) {
		uint64_t frame = add_frame(all, stacks->batch, &frames[--count]);

		if (frame != VPT_NO_ID)
			found = vpt_stack_table_stack(&all->table, found, frame);
		if (frame == VPT_NO_ID || found == VPT_NO_ID)
			all->x->pf.failed = VPT_ENOMEM;
		else
			all->ids[ids[count]] = (uint32_t)found;
	}
	return all->x->pf.failed ? 0 : (uint32_t)found;
}

/* ---- packets ---- */

/* Interns the frame and its names. */
static uint32_t tell_frame(struct vpa_ex_stacks *all, struct vpt_pf_sequence *s, uint64_t frame)
{
	enum { KIND_INTERPRETED = 3 };
	struct vpt_frame row = vpt_stack_table_frame_row(&all->table, frame);
	struct vpa_ex_out *x = all->x;
	struct vpt_pb *b = &x->pf.out;
	uint32_t function, file, iid;
	int is_new;

	iid = vpt_pf_intern(&x->pf, s, VPT_PF_INTERNED_FRAMES, frame, &is_new);
	if (!is_new)
		return iid;
	function = vpa_ex_text_iid(x, s, VPT_PF_INTERNED_FUNCTIONS, (uint32_t)row.function);
	file = row.file ? vpa_ex_text_iid(x, s, VPT_PF_INTERNED_FILES, (uint32_t)row.file) : 0;
	vpa_ex_begin_interned(x, s);
	vpt_pb_begin(b, VPT_PF_INTERNED_FRAMES);
	vpt_pb_uint(b, VPT_PF_FRAME_IID, iid);
	vpt_pb_uint(b, VPT_PF_FRAME_FUNCTION, function);
	if (file) {
		vpt_pb_uint(b, VPT_PF_FRAME_FILE, file);
		if (row.line && row.line <= UINT32_MAX)
			vpt_pb_uint(b, VPT_PF_FRAME_LINE, row.line);
		vpt_pb_uint(b, VPT_PF_FRAME_KIND, KIND_INTERPRETED);
	}
	vpt_pb_end(b);
	vpa_ex_end_interned(x);
	return iid;
}

static uint32_t tell_stack(struct vpa_ex_stacks *all, struct vpt_pf_sequence *s, uint64_t stack)
{
	uint32_t frames[VPT_STACK_DEPTH_MAX], count = 0, iid; /* innermost first */
	struct vpa_ex_out *x = all->x;
	struct vpt_pb *b = &x->pf.out;
	int is_new;

	iid = vpt_pf_intern(&x->pf, s, VPT_PF_INTERNED_CALLSTACKS, stack, &is_new);
	if (!is_new)
		return iid;
	while (stack) {
		struct vpt_stack row = vpt_stack_table_stack_row(&all->table, stack);

		frames[count++] = tell_frame(all, s, row.frame);
		stack = row.caller;
	}
	vpa_ex_begin_interned(x, s);
	vpt_pb_begin(b, VPT_PF_INTERNED_CALLSTACKS);
	vpt_pb_uint(b, VPT_PF_CALLSTACK_IID, iid);
	while (count)
		vpt_pb_uint(b, VPT_PF_CALLSTACK_FRAMES, frames[--count]);
	vpt_pb_end(b);
	vpa_ex_end_interned(x);
	return iid;
}

static uint32_t tell_thread(struct vpa_ex_out *x, struct vpt_pf_sequence *s, uint32_t thread)
{
	int64_t pid = vpa_ex_pid(x, x->model->threads[thread].pid);
	struct vpt_pb *b = &x->pf.out;
	int is_new;
	uint32_t iid = vpt_pf_intern(&x->pf, s, VPT_PF_INTERNED_TASKS, thread, &is_new);

	if (!is_new)
		return iid;
	vpa_ex_process(x, pid);
	vpa_ex_begin_interned(x, s);
	vpt_pb_begin(b, VPT_PF_INTERNED_TASKS);
	vpt_pb_uint(b, VPT_PF_TASK_IID, iid);
	vpt_pb_uint(b, VPT_PF_TASK_PID, (uint64_t)pid);
	vpt_pb_uint(b, VPT_PF_TASK_TID, vpa_ex_thread_id(x, thread));
	vpt_pb_end(b);
	vpa_ex_end_interned(x);
	return iid;
}

static struct vpt_pf_sequence *sequence_of(struct vpa_ex_stacks *all, int is_exact)
{
	uint64_t start_ns = vpa_ex_time(all->x, all->x->start_ns);
	int *begun = is_exact ? &all->exact_begun : &all->samples_begun;

	if (!*begun && is_exact)
		vpt_pf_stack_sequence(&all->x->pf, &all->exact, SEQUENCE_EXACT, start_ns,
			"vptrace.python.calls", 1);
	else if (!*begun)
		vpt_pf_stack_sequence(&all->x->pf, &all->samples, SEQUENCE_SAMPLES, start_ns,
			"vptrace.python.samples", 0);
	*begun = 1;
	return is_exact ? &all->exact : &all->samples;
}

/* `weight_ns` 0: a sample that counts as one. */
static void put(struct vpa_ex_stacks *all, uint32_t thread, uint32_t stack, uint64_t time_ns,
	uint64_t weight_ns)
{
	struct vpa_ex_out *x = all->x;
	struct vpt_pb *b = &x->pf.out;
	struct vpt_pf_sequence *s;
	uint32_t task, callstack;

	vpt_pf_next(&x->pf);
	s = sequence_of(all, weight_ns != 0);
	task = tell_thread(x, s, thread);
	callstack = tell_stack(all, s, stack);
	vpt_pf_begin(&x->pf, s, vpa_ex_time(x, time_ns));
	vpt_pb_begin(b, VPT_PF_PACKET_STACK_SAMPLE);
	vpt_pb_uint(b, VPT_PF_STACK_SAMPLE_TASK, task);
	vpt_pb_uint(b, VPT_PF_STACK_SAMPLE_CALLSTACK, callstack);
	if (weight_ns)
		vpt_pb_uint(b, VPT_PF_STACK_SAMPLE_WEIGHT, weight_ns);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	x->expected.stack_samples++;
	/* Perfetto keeps weights as counters. */
	x->expected.counter_samples += weight_ns != 0;
}

/* ---- rows ---- */

/* Writes the exact stack of a thread, which held until now, as far as it lies in the window. */
static void release(struct vpa_ex_stacks *all, uint32_t thread, uint64_t until_ns)
{
	const struct vpa_model *m = all->x->model;
	struct held held = all->held[thread];
	uint64_t from_ns = held.since_ns;

	from_ns = from_ns > m->window_start_ns ? from_ns : m->window_start_ns;
	until_ns = until_ns < m->window_end_ns ? until_ns : m->window_end_ns;
	if (held.stack && from_ns < until_ns)
		put(all, thread, held.stack, from_ns, until_ns - from_ns);
	all->held[thread].stack = 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct sampled *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void put_rows(struct vpa_ex_stacks *all)
{
	size_t i;

	if (all->count)
		qsort(all->rows, all->count, sizeof(*all->rows), compare);
	for (i = 0; i < all->count && !all->x->pf.failed; i++) {
		const struct sampled *row = &all->rows[i];

		if (row->is_exact) {
			release(all, row->thread, row->time_ns);
			all->held[row->thread] = (struct held){row->time_ns, row->stack};
		} else if (row->stack && vpa_in_window(all->x->model, row->time_ns)) {
			put(all, row->thread, row->stack, row->time_ns, 0);
		}
	}
	all->count = 0;
}

static int take_rows(
	struct vpa_ex_stacks *all, const struct vpt_stacks *stacks, const struct vpt_section *s)
{
	uint32_t thread, row;

	if (vpa_maps_thread(all->x->view.resolver, s->lane, &thread) ||
		vpt_grow_zeroed(
			&all->held, &all->held_cap, (size_t)thread + 1, sizeof(*all->held)) ||
		vpt_grow(&all->rows, &all->cap, all->count + s->row_count, sizeof(*all->rows)))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count; row++) {
		all->rows[all->count] = (struct sampled){.time_ns = s->col[VPT_SAMPLE_TIME][row],
			.stack = find_stack(all, stacks, s->col[VPT_SAMPLE_STACK][row]),
			.thread = thread,
			.order = (uint32_t)all->count,
			.is_exact = (s->col[VPT_SAMPLE_FLAGS][row] & VPT_SAMPLE_EXACT) != 0};
		all->count++;
	}
	return all->x->pf.failed;
}

int vpa_ex_stacks_add(struct vpa_ex_stacks *all, const struct vpt_batch *b)
{
	size_t count = b->stacks.depth_count, i;
	struct vpt_stacks stacks;
	int rc = VPT_OK;

	vpt_stacks_view(&stacks, b);
	if (vpt_grow(&all->ids, &all->id_cap, count, sizeof(*all->ids)))
		return VPT_ENOMEM;
	if (count)
		memset(all->ids, 0, count * sizeof(*all->ids));
	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_SAMPLE)
			rc = take_rows(all, &stacks, &b->sections[i]);
	if (!rc)
		put_rows(all);
	return rc ? rc : all->x->pf.failed;
}

int vpa_ex_stacks_end(struct vpa_ex_stacks *all)
{
	uint32_t thread;

	for (thread = 0; thread < all->held_cap; thread++)
		release(all, thread, UINT64_MAX);
	return all->x->pf.failed;
}
