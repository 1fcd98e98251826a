/* flame.c - makes the tree of a flame graph. */
#include "analysis/flame/flame.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct building {
	struct vpa_flame *flame;
	const struct vpa_report *report;
	struct vpa_numbered numbered; /* without arrays: nothing is merged */
	uint32_t *path;               /* has room for all stacks */
};

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

/* Adds the time of a stack to its frame's in a node, if the frame has a number. */
static int add_member(struct building *b, uint32_t node, uint32_t stack, uint64_t ns)
{
	const char *name = b->report->lines.stacks[stack].frame.function;
	struct vpa_flame *f = b->flame;
	uint32_t row;

	if (!name || !name[vpa_numbered_stem(name)])
		return VPT_OK;
	stack = b->numbered.self[stack];
	row = vpa_index_row(
		&f->member_index, node, stack, &f->members, &f->member_cap, sizeof(*f->members));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	f->members[row].node = node;
	f->members[row].stack = stack;
	vpt_sat_add_to(&f->members[row].ns, ns);
	return VPT_OK;
}

/* The node of a weight's stack below `base`. UINT32_MAX: no memory. */
static uint32_t node_of_stack(struct building *b, const struct vpa_stack_weight *w, uint32_t base)
{
	const struct vpa_lines *lines = &b->report->lines;
	uint32_t stack = w->stack;
	size_t depth = 0;

	if (!stack)
		return child(b->flame, base, &(struct vpa_flame_node){.kind = VPA_FLAME_NONE}, 0);
	for (; stack && stack < lines->stack_count; stack = lines->stacks[stack].caller)
		b->path[depth++] = stack;
	while (depth-- && base != UINT32_MAX) {
		const struct vpa_flame_node frame = {
			.kind = VPA_FLAME_FRAME, .row = &lines->stacks[b->path[depth]]};

		stack = b->path[depth];
		base = child(
			b->flame, base, &frame, b->numbered.kind ? b->numbered.kind[stack] : stack);
		if (base != UINT32_MAX && b->numbered.kind && add_member(b, base, stack, w->ns))
			return UINT32_MAX;
	}
	return base;
}

static int add_weight(
	struct building *b, const struct vpa_stack_weight *w, const struct vpa_flame_node *leaf)
{
	const struct vpa_flame_node device = {.kind = VPA_FLAME_DEVICE, .device = w->device};
	uint32_t at = 0;

	if (b->report->device_count > 1)
		at = child(b->flame, at, &device, (uint32_t)w->device);
	if (at != UINT32_MAX)
		at = node_of_stack(b, w, at);
	if (at != UINT32_MAX)
		at = child(b->flame, at, leaf, leaf->cause);
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	vpt_sat_add_to(&b->flame->nodes[at].self_ns, w->ns);
	return VPT_OK;
}

static int add_all(struct building *b)
{
	const struct vpa_lines *lines = &b->report->lines;
	enum vpa_flame_of of = b->flame->of;
	const struct vpa_flame_node work = {.kind = VPA_FLAME_WORK};
	int rc = VPT_OK;
	size_t i;

	for (i = 0; of != VPA_FLAME_LAUNCHES && i < lines->idle_stack_count && !rc; i++) {
		const struct vpa_stack_weight *w = &lines->idle_stacks[i];
		const struct vpa_flame_node leaf = {.kind = VPA_FLAME_CAUSE, .cause = w->cause};

		if (of != VPA_FLAME_SYNC || w->cause == VPA_CAUSE_SYNC ||
			w->cause == VPA_CAUSE_BLOCKING_COPY)
			rc = add_weight(b, w, &leaf);
	}
	for (i = 0; of >= VPA_FLAME_LAUNCHES && i < lines->launch_stack_count && !rc; i++)
		rc = add_weight(b, &lines->launch_stacks[i], &work);
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

/* What the nodes of several members stand for. */
static void count_members(struct building *b)
{
	const struct vpa_stack_row *stacks = b->report->lines.stacks;
	struct vpa_flame *f = b->flame;
	size_t i;

	for (i = 0; i < f->member_index.count; i++) {
		const struct vpa_flame_member *m = &f->members[i];
		struct vpa_flame_node *node = &f->nodes[m->node];

		if (!node->members++ || m->ns > node->longest_ns) {
			node->longest = &stacks[m->stack];
			node->longest_ns = m->ns;
		}
	}
	for (i = 0; i < f->count; i++)
		if (f->nodes[i].members < 2)
			f->nodes[i].members = 0;
		else /* the same wherever the kind is in the tree */
			f->nodes[i].row = &stacks[b->numbered.kind[f->nodes[i].row - stacks]];
}

int vpa_flame_build(
	const struct vpa_report *r, enum vpa_flame_of of, int merges, struct vpa_flame *out)
{
	struct building b = {.flame = out, .report = r};
	size_t i;
	int rc = VPT_OK;

	*out = (struct vpa_flame){.of = of};
	b.path = vpt_alloc(r->lines.stack_count + 1, sizeof(*b.path));
	if (!b.path || child(out, 0, &(struct vpa_flame_node){.kind = VPA_FLAME_ROOT}, 0))
		rc = VPT_ENOMEM;
	if (!rc && merges)
		rc = vpa_numbered_find(&r->lines, &b.numbered);
	if (!rc)
		rc = add_all(&b);
	if (!rc)
		count_members(&b);
	vpa_numbered_free(&b.numbered);
	vpt_free(b.path);
	if (rc)
		return rc;
	for (i = out->count; i-- > 0;) {
		vpt_sat_add_to(&out->nodes[i].ns, out->nodes[i].self_ns);
		if (i)
			vpt_sat_add_to(&out->nodes[out->nodes[i].parent].ns, out->nodes[i].ns);
	}
	return place(out);
}

void vpa_flame_free(struct vpa_flame *f)
{
	vpa_index_free(&f->index);
	vpa_index_free(&f->member_index);
	vpt_free(f->members);
	vpt_free(f->nodes);
	*f = (struct vpa_flame){0};
}

/* ---- names ---- */

static const char *frame_name(const struct vpa_flame_node *node, char *text, size_t cap)
{
	const struct vpa_code_line *frame = &node->row->frame;
	const char *name = frame->function, *star = node->members ? "*" : "";
	char line[256];
	int stem;

	if (!name || !name[0])
		return vpa_line_text(text, cap, frame);
	stem = (int)(node->members ? vpa_numbered_stem(name) : strlen(name));
	if (!frame->file || !frame->file[0])
		snprintf(text, cap, "%.*s%s", stem, name, star);
	else
		snprintf(text, cap, "%.*s%s (%s)", stem, name, star,
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
		return frame_name(node, text, cap);
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
