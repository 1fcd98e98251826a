/* flame.c - makes the tree of a flame graph. */
#include "analysis/flame/flame.h"

#include "formats/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A child of a node: what vpa_index knows it by. */
static uint64_t key_of(enum vpa_flame_kind kind, uint64_t which)
{
	return (uint64_t)kind << 56 | which;
}

/* The child of `parent`, made if it is new. UINT32_MAX: no memory. */
static uint32_t child(
	struct vpa_flame *f, uint32_t parent, const struct vpa_flame_node *what, uint64_t which)
{
	uint32_t row = vpa_index_row(&f->index, parent, key_of(what->kind, which), &f->nodes,
		&f->cap, sizeof(*f->nodes));

	if (row == UINT32_MAX || row < f->count)
		return row;
	f->count = row + 1;
	f->nodes[row] = *what;
	f->nodes[row].parent = parent;
	f->nodes[row].depth = row ? f->nodes[parent].depth + 1 : 0;
	return row;
}

/* The node of a stack below `base`. `path` has room for all stacks. */
static uint32_t node_of_stack(struct vpa_flame *f, const struct vpa_report *r, uint32_t base,
	uint32_t stack, uint32_t *path)
{
	const struct vpa_lines *lines = &r->lines;
	size_t depth = 0;

	if (!stack)
		return child(f, base, &(struct vpa_flame_node){.kind = VPA_FLAME_NONE}, 0);
	for (; stack && stack < lines->stack_count; stack = lines->stacks[stack].caller)
		path[depth++] = stack;
	while (depth-- && base != UINT32_MAX) {
		const struct vpa_flame_node frame = {
			.kind = VPA_FLAME_FRAME, .row = &lines->stacks[path[depth]]};

		base = child(f, base, &frame, path[depth]);
	}
	return base;
}

static int add_weight(struct vpa_flame *f, const struct vpa_report *r,
	const struct vpa_stack_weight *w, const struct vpa_flame_node *leaf, uint32_t *path)
{
	const struct vpa_flame_node device = {.kind = VPA_FLAME_DEVICE, .device = w->device};
	uint32_t at = 0;

	if (r->device_count > 1)
		at = child(f, at, &device, (uint32_t)w->device);
	if (at != UINT32_MAX)
		at = node_of_stack(f, r, at, w->stack, path);
	if (at != UINT32_MAX)
		at = child(f, at, leaf, leaf->cause);
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	f->nodes[at].self_ns += w->ns;
	return VPT_OK;
}

static int add_all(struct vpa_flame *f, const struct vpa_report *r, uint32_t *path)
{
	const struct vpa_lines *lines = &r->lines;
	const struct vpa_flame_node work = {.kind = VPA_FLAME_WORK};
	int rc = VPT_OK;
	size_t i;

	for (i = 0; f->of != VPA_FLAME_LAUNCHES && i < lines->idle_stack_count && !rc; i++) {
		const struct vpa_stack_weight *w = &lines->idle_stacks[i];
		const struct vpa_flame_node leaf = {.kind = VPA_FLAME_CAUSE, .cause = w->cause};

		if (f->of != VPA_FLAME_SYNC || w->cause == VPA_CAUSE_SYNC ||
			w->cause == VPA_CAUSE_BLOCKING_COPY)
			rc = add_weight(f, r, w, &leaf, path);
	}
	for (i = 0; f->of >= VPA_FLAME_LAUNCHES && i < lines->launch_stack_count && !rc; i++)
		rc = add_weight(f, r, &lines->launch_stacks[i], &work, path);
	return rc;
}

/* ---- totals and places ---- */

static int compare(const void *pa, const void *pb)
{
	const struct vpa_flame_node *a = *(const struct vpa_flame_node *const *)pa;
	const struct vpa_flame_node *b = *(const struct vpa_flame_node *const *)pb;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a < b ? -1 : 1;
}

/* Siblings stand side by side; the parents of all nodes come before them. */
static int place(struct vpa_flame *f)
{
	struct vpa_flame_node **order = vpt_alloc(f->count, sizeof(*order));
	uint64_t next = 0;
	size_t i;

	if (!order)
		return VPT_ENOMEM;
	for (i = 1; i < f->count; i++)
		order[i - 1] = &f->nodes[i];
	qsort(order, f->count - 1, sizeof(*order), compare);
	for (i = 0; i + 1 < f->count; i++) {
		if (!i || order[i]->parent != order[i - 1]->parent)
			next = f->nodes[order[i]->parent].start_ns;
		order[i]->start_ns = next;
		next += order[i]->ns;
	}
	vpt_free(order);
	return VPT_OK;
}

int vpa_flame_build(const struct vpa_report *r, enum vpa_flame_of of, struct vpa_flame *out)
{
	uint32_t *path = vpt_alloc(r->lines.stack_count + 1, sizeof(*path));
	size_t i;
	int rc;

	*out = (struct vpa_flame){.of = of};
	rc = !path || child(out, 0, &(struct vpa_flame_node){.kind = VPA_FLAME_ROOT}, 0)
		     ? VPT_ENOMEM
		     : add_all(out, r, path);
	vpt_free(path);
	if (rc)
		return rc;
	for (i = out->count; i-- > 0;) {
		out->nodes[i].ns += out->nodes[i].self_ns;
		if (i)
			out->nodes[out->nodes[i].parent].ns += out->nodes[i].ns;
	}
	return place(out);
}

void vpa_flame_free(struct vpa_flame *f)
{
	vpa_index_free(&f->index);
	vpt_free(f->nodes);
	*f = (struct vpa_flame){0};
}

/* ---- names ---- */

static const char *frame_name(const struct vpa_code_line *frame, char *text, size_t cap)
{
	char line[256];

	if (!frame->function || !frame->function[0])
		return vpa_line_text(text, cap, frame);
	if (!frame->file || !frame->file[0])
		snprintf(text, cap, "%s", frame->function);
	else
		snprintf(text, cap, "%s (%s)", frame->function,
			vpa_line_text(line, sizeof(line), frame));
	return text;
}

const char *vpa_flame_name(const struct vpa_flame_node *node, char *text, size_t cap)
{
	switch (node->kind) {
	case VPA_FLAME_ROOT:
		snprintf(text, cap, "all");
		break;
	case VPA_FLAME_DEVICE:
		snprintf(text, cap, "GPU %" PRId64, node->device);
		break;
	case VPA_FLAME_FRAME:
		return frame_name(&node->row->frame, text, cap);
	case VPA_FLAME_NONE:
		snprintf(text, cap, "(no stack)");
		break;
	case VPA_FLAME_CAUSE:
		snprintf(text, cap, "[%s]", vpa_cause_text(node->cause));
		break;
	case VPA_FLAME_WORK:
		snprintf(text, cap, "[work on the GPU]");
		break;
	}
	return text;
}
