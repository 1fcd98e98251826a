/* chrome_python.c - Python stacks as the profiler would show them.
 *
 * An exact stack holds until the next one of its thread. Where it changes, the frames that the new one
 * lacks return, and those that it adds are called:
 *
 *	stacks  main 0, step 2, main 4, none 9        calls  main  |---------|
 *	                                                     step    |---|
 *
 * Where a trace has the lines of calls, the line of a caller changes with what it calls. That is one
 * call, which has the line of its own time; the calls from other lines say so.
 *
 * A sample is an event of phase P; its stack is a number of the member stackFrames, which follows the
 * events, since only then are all stacks known. Both number stacks as the model does. */
#include "analysis/export/chrome/chrome_python.h"

#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"

/* A call that has not returned. */
struct open_call {
	uint64_t start_ns, id;
	uint32_t stack, named; /* now; the one whose frame gives the name */
	int was_inner;         /* and this frame was the innermost one */
};

struct open_stack {
	struct open_call *calls; /* outermost first */
	size_t count, cap;
	uint64_t last_ns; /* of its newest row */
};

struct vpa_chrome_python {
	struct vpa_chrome *x;
	struct open_stack *threads; /* by thread of the model */
	size_t thread_cap;
	uint8_t *is_used; /* by stack: 1: a sample has it */
	size_t used_cap;
	struct vpa_line name;
	uint64_t last_id;
	int has_lines; /* the trace has the lines of calls */
	uint32_t path[VPT_STACK_DEPTH_MAX];
};

struct vpa_chrome_python *vpa_chrome_python_new(struct vpa_chrome *x)
{
	struct vpa_chrome_python *p = vpt_calloc(1, sizeof(*p));

	if (p)
		p->x = x;
	return p;
}

void vpa_chrome_python_free(struct vpa_chrome_python *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->thread_cap; i++)
		vpt_free(p->threads[i].calls);
	vpt_free(p->threads);
	vpt_free(p->is_used);
	vpt_free(p->name.data);
	vpt_free(p);
}

static struct vpa_model *model_of(const struct vpa_chrome_python *p)
{
	return p->x->c->view.context->model;
}

/* ---- calls ---- */

/* As a JSON string: "FILE(LINE): FUNCTION"; of code without a file only the function. */
static void put_name(struct vpa_chrome_python *p, uint32_t stack)
{
	const struct vpa_model *m = model_of(p);
	uint32_t caller;
	struct vpt_frame frame = vpa_stacks_frame(&m->stacks, stack, &caller);
	struct vpt_text file = vpa_name(m, (uint32_t)frame.file),
			function = vpa_name(m, (uint32_t)frame.function);

	p->name.size = 0;
	if (file.len) {
		vpa_line_put(&p->name, file.text, file.len);
		vpa_line_words(&p->name, "(");
		vpa_line_unsigned(&p->name, frame.line);
		vpa_line_words(&p->name, "): ");
	}
	vpa_line_put(&p->name, function.text, function.len);
	p->x->out.failed |= p->name.failed;
	vpa_line_json(&p->x->out, p->name.data ? p->name.data : "", p->name.size);
}

static int is_shown(const struct vpa_chrome *x, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_model *m = x->c->view.context->model;

	return !x->c->windowed || (start_ns < m->window_end_ns && end_ns > m->window_start_ns);
}

/* Where a call was made, unless its caller's name says that. */
static void put_place(struct vpa_chrome_python *p, const struct open_call *caller)
{
	const struct vpa_model *m = model_of(p);
	uint32_t outer;
	struct vpt_frame at = vpa_stacks_frame(&m->stacks, caller->stack, &outer);
	struct vpt_text file = vpa_name(m, (uint32_t)at.file);

	if (!p->has_lines || !file.len || !at.line ||
		(caller->was_inner &&
			at.line == vpa_stacks_frame(&m->stacks, caller->named, &outer).line))
		return;
	p->name.size = 0;
	vpa_line_put(&p->name, file.text, file.len);
	vpa_line_words(&p->name, ":");
	vpa_line_unsigned(&p->name, at.line);
	p->x->out.failed |= p->name.failed;
	vpa_line_words(&p->x->out, "\"CallFrom\":");
	vpa_line_json(&p->x->out, p->name.data ? p->name.data : "", p->name.size);
	vpa_line_words(&p->x->out, ",");
}

/* The innermost call of a thread returns. One without length leaves no trace. */
static void end_call(struct vpa_chrome_python *p, struct open_stack *open, uint64_t end_ns)
{
	struct open_call *call = &open->calls[--open->count];
	struct vpa_line *l = &p->x->out;

	if (end_ns <= call->start_ns || !is_shown(p->x, call->start_ns, end_ns))
		return;
	vpa_chrome_begin(p->x, "{\"ph\":\"X\",\"cat\":\"python_function\"");
	put_name(p, call->named);
	vpa_chrome_place(p->x);
	vpa_chrome_time(p->x, call->start_ns);
	vpa_line_words(l, ",\"dur\":");
	vpa_line_micros(l, end_ns - call->start_ns);
	vpa_line_words(l, ",\"args\":{");
	if (open->count)
		put_place(p, call - 1);
	vpa_line_words(l, "\"Python parent id\":");
	if (open->count)
		vpa_line_unsigned(l, call[-1].id);
	else
		vpa_line_words(l, "null");
	vpa_chrome_natural(l, ",\"Python id\":", call->id);
	vpa_line_words(l, "}}");
}

/* Whether a call goes on at another line: what it called returns, or it calls something. */
static int goes_on(const struct vpa_chrome_python *p, uint32_t before, uint32_t now, int was_inner,
	int is_inner)
{
	const struct vpa_stacks *all = &model_of(p)->stacks;
	uint32_t caller;
	struct vpt_frame a = vpa_stacks_frame(all, before, &caller);
	struct vpt_frame b = vpa_stacks_frame(all, now, &caller);

	return p->has_lines && !(was_inner && is_inner) && a.function == b.function &&
	       a.file == b.file;
}

/* From `time_ns` on a thread has this stack. */
static int change(
	struct vpa_chrome_python *p, struct open_stack *open, uint32_t stack, uint64_t time_ns)
{
	const struct vpa_stacks *all = &model_of(p)->stacks;
	size_t depth = vpa_stacks_depth(all, stack), same = depth, i, kept;

	for (i = depth; i-- > 0; vpa_stacks_frame(all, stack, &stack)) {
		if (i < open->count && open->calls[i].stack == stack)
			break;
		p->path[i] = stack;
		same = i;
	}
	kept = same;
	if (same < depth && same < open->count)
		kept += (size_t)goes_on(p, open->calls[same].stack, p->path[same],
			same + 1 == open->count, same + 1 == depth);
	while (open->count > kept)
		end_call(p, open, time_ns);
	if (kept > same)
		open->calls[same].stack = p->path[same];
	if (vpt_grow(&open->calls, &open->cap, depth, sizeof(*open->calls)))
		return VPT_ENOMEM;
	while (open->count < depth) {
		i = open->count++;
		open->calls[i] = (struct open_call){.start_ns = time_ns,
			.id = ++p->last_id,
			.stack = p->path[i],
			.named = p->path[i]};
	}
	if (depth && !open->calls[depth - 1].was_inner) {
		open->calls[depth - 1].named = open->calls[depth - 1].stack;
		open->calls[depth - 1].was_inner = 1;
	}
	open->last_ns = time_ns;
	return VPT_OK;
}

/* ---- samples ---- */

static int put_sample(struct vpa_chrome_python *p, uint32_t stack, uint64_t time_ns)
{
	if (!stack || !is_shown(p->x, time_ns, time_ns + 1) || p->x->part)
		return VPT_OK; /* stacks have numbers in one trace only */
	if (vpt_grow_zeroed(&p->is_used, &p->used_cap, (size_t)stack + 1, sizeof(*p->is_used)))
		return VPT_ENOMEM;
	p->is_used[stack] = 1;
	vpa_chrome_begin(p->x, "{\"ph\":\"P\",\"cat\":\"python_function\"");
	vpa_chrome_words(p->x, "\"Python stack\"");
	vpa_chrome_place(p->x);
	vpa_chrome_time(p->x, time_ns);
	vpa_chrome_natural(&p->x->out, ",\"sf\":", stack);
	vpa_chrome_words(p->x, "}");
	return VPT_OK;
}

/* Writes a frame of the member, "main (run.py:3)". */
static void put_frame(struct vpa_chrome_python *p, uint32_t stack, int is_first)
{
	const struct vpa_model *m = model_of(p);
	struct vpa_line *l = &p->x->out;
	uint32_t caller;
	struct vpt_frame frame = vpa_stacks_frame(&m->stacks, stack, &caller);
	struct vpt_text file = vpa_name(m, (uint32_t)frame.file),
			function = vpa_name(m, (uint32_t)frame.function);

	p->name.size = 0;
	vpa_line_put(&p->name, function.text, function.len);
	if (file.len) {
		vpa_line_words(&p->name, " (");
		vpa_line_put(&p->name, file.text, file.len);
		if (frame.line) {
			vpa_line_words(&p->name, ":");
			vpa_line_unsigned(&p->name, frame.line);
		}
		vpa_line_words(&p->name, ")");
	}
	p->x->out.failed |= p->name.failed;
	vpa_chrome_natural(l, is_first ? "\n\"" : ",\n\"", stack);
	vpa_line_words(l, "\":{\"category\":\"python\",\"name\":");
	vpa_line_json(l, p->name.data ? p->name.data : "", p->name.size);
	if (caller) {
		vpa_chrome_natural(l, ",\"parent\":\"", caller);
		vpa_line_words(l, "\"");
	}
	vpa_line_words(l, "}");
}

void vpa_chrome_python_frames(struct vpa_chrome_python *p)
{
	struct vpa_line *l = &p->x->out;
	uint32_t stack, caller, last = (uint32_t)p->used_cap;
	int is_first = 1;

	if (!p->used_cap)
		return;
	/* The callers of a stack are needed with it. */
	while (last-- > 1)
		if (p->is_used[last]) {
			vpa_stacks_frame(&model_of(p)->stacks, last, &caller);
			p->is_used[caller] = 1;
		}
	vpa_line_words(l, ",\n\"stackFrames\":{");
	for (stack = 1; stack < p->used_cap; stack++)
		if (p->is_used[stack]) {
			put_frame(p, stack, is_first);
			is_first = 0;
		}
	vpa_line_words(l, "}");
}

/* ---- rows ---- */

int vpa_chrome_python_rows(struct vpa_chrome_python *p, const struct vpt_section *s)
{
	const struct vpa_stacks *stacks = &model_of(p)->stacks;
	struct open_stack *open;
	uint32_t thread, row;
	int rc = VPT_OK;

	if (vpa_maps_thread(p->x->c->view.resolver, s->lane, &thread) ||
		vpt_grow_zeroed(
			&p->threads, &p->thread_cap, (size_t)thread + 1, sizeof(*p->threads)))
		return VPT_ENOMEM;
	open = &p->threads[thread];
	p->has_lines = vpa_meta(p->x->c->view.report, VPT_METADATA_TORCH_CALL_LINES) != NULL;
	for (row = 0; row < s->row_count && !rc; row++) {
		uint64_t time_ns = s->col[VPT_SAMPLE_TIME][row];
		uint32_t stack = vpa_stacks_of_row(stacks, s->col[VPT_SAMPLE_STACK][row]);

		if (!(s->col[VPT_SAMPLE_FLAGS][row] & VPT_SAMPLE_EXACT))
			rc = put_sample(p, stack, time_ns);
		else if (time_ns >= open->last_ns)
			rc = change(p, open, stack, time_ns);
	}
	return rc;
}

void vpa_chrome_python_end(struct vpa_chrome_python *p, uint64_t end_ns)
{
	const struct vpa_model *m = model_of(p);
	size_t i;

	for (i = 0; i < p->thread_cap; i++) {
		if (!p->threads[i].count)
			continue;
		vpa_chrome_place_of(p->x, &p->x->place, (uint64_t)m->threads[i].pid,
			(uint64_t)m->threads[i].tid);
		change(p, &p->threads[i], 0, end_ns);
	}
}
