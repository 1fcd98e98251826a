/* modules_write.c - which torch.nn.Module launched the work, where a profiler recorded their calls.
 *
 * A stack has a frame for each call of a module, "nn.Module: Linear_3", the third Linear of the program. The frames of a
 * stack without their numbers are a path, "Wan/Block/Linear"; paths are nodes of a tree. The work of a stack is that of
 * its innermost module, and in the sum of all modules around it. */
#include "analysis/folds/lines/lines_write.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/chunk/strings.h"

#include <stdlib.h>
#include <string.h>

enum {
	NODES_MAX = 1 << 12, /* work of more is that of the innermost module that has one */
	DEPTH_MAX = 64,      /* modules inside each other; those further in have no node */
	ROOT = 0
};

struct node {
	uint32_t around, name, depth; /* depth: of its children */
	uint64_t instances, ops, gpu_ns, own_ns;
};

struct tree {
	const struct vpa_model *model;
	struct vpt_strings names;    /* of classes */
	struct vpa_index node_index; /* (node around, name) */
	struct node *nodes;
	size_t node_cap;
	struct vpa_index instance_index; /* (node, name with its number) */
};

/* ---- adding up ---- */

/* The class in a frame's name; empty: it is not a call of a module. */
static struct vpt_text class_of(struct vpt_text function)
{
	static const char prefix[] = "nn.Module: ";
	const size_t len = sizeof(prefix) - 1;
	size_t end = function.len;

	if (function.len <= len || memcmp(function.text, prefix, len) != 0)
		return (struct vpt_text){"", 0};
	while (end > len && vpt_is_digit(function.text[end - 1]))
		end--;
	if (end == function.len || end <= len + 1 || function.text[end - 1] != '_')
		end = function.len + 1; /* without a number */
	return (struct vpt_text){function.text + len, end - 1 - len};
}

/* The names of the modules that a stack calls, from the innermost to the outermost; returns how many. */
static size_t modules_of(const struct tree *t, uint32_t stack, uint32_t names[DEPTH_MAX])
{
	size_t n = 0;

	while (stack) {
		struct vpt_frame frame = vpa_stacks_frame(&t->model->stacks, stack, &stack);

		if (!class_of(vpa_name(t->model, (uint32_t)frame.function)).len)
			continue;
		if (n == DEPTH_MAX) /* the outermost ones are kept */
			memmove(names, names + 1, --n * sizeof(*names));
		names[n++] = (uint32_t)frame.function;
	}
	return n;
}

/* The node of a module inside another; that other if there is no room. UINT32_MAX: no memory. */
static uint32_t node_inside(struct tree *t, uint32_t around, uint32_t name)
{
	struct vpt_text text = class_of(vpa_name(t->model, name));
	uint64_t id = vpt_strings_put(&t->names, text.text, text.len);
	uint32_t node, instances = (uint32_t)t->instance_index.count;

	if (id == VPT_NO_ID)
		return UINT32_MAX;
	node = vpa_index_find(&t->node_index, around, id + 1);
	if (node == UINT32_MAX && t->node_index.count == NODES_MAX)
		return around;
	node = vpa_index_row(
		&t->node_index, around, id + 1, &t->nodes, &t->node_cap, sizeof(*t->nodes));
	if (node == UINT32_MAX || vpa_index_put(&t->instance_index, node, name) == UINT32_MAX)
		return UINT32_MAX;
	t->nodes[node].around = around;
	t->nodes[node].name = (uint32_t)id;
	t->nodes[node].depth = t->nodes[around].depth + 1;
	t->nodes[node].instances += t->instance_index.count > instances;
	return node;
}

static int add_stack(struct tree *t, uint32_t stack, const struct line_launches *work)
{
	uint32_t names[DEPTH_MAX], node = ROOT, inside;
	size_t n = modules_of(t, stack, names);

	while (n--) {
		inside = node_inside(t, node, names[n]);
		if (inside == UINT32_MAX)
			return VPT_ENOMEM;
		if (inside == node)
			break;
		node = inside;
		t->nodes[node].ops += work->ops;
		t->nodes[node].gpu_ns += work->busy_ns;
	}
	t->nodes[node].own_ns += work->busy_ns;
	return VPT_OK;
}

static int add_all(struct tree *t, const struct lines_state *s)
{
	size_t i;

	if (vpa_index_row(&t->node_index, ROOT, 0, &t->nodes, &t->node_cap, sizeof(*t->nodes)) ==
		UINT32_MAX)
		return VPT_ENOMEM;
	for (i = 0; i < s->launches_index.count; i++)
		if (add_stack(t, (uint32_t)s->launches_index.entries[i].b, &s->launches[i]))
			return VPT_ENOMEM;
	return VPT_OK;
}

/* ---- writing down ---- */

static int compare_nodes(const void *pa, const void *pb, void *ctx)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct tree *t = ctx;

	if ((a == ROOT) != (b == ROOT))
		return a == ROOT ? 1 : -1;
	if (t->nodes[a].gpu_ns != t->nodes[b].gpu_ns)
		return t->nodes[a].gpu_ns > t->nodes[b].gpu_ns ? -1 : 1;
	/* A module around another one has at least its work, and came first. */
	return a < b ? -1 : a > b;
}

static int put_row(const struct tree *t, uint32_t at, struct vpa_report *out)
{
	struct vpa_lines *lines = &out->lines;
	const struct node *n = &t->nodes[at];
	struct vpt_text name = vpt_strings_get(&t->names, n->name);
	struct vpa_module_row *row = &lines->modules[lines->module_count];
	const char *around = "";
	size_t i;

	/* The last row of one less depth is that of the module around it. */
	for (i = lines->module_count; i-- && lines->modules[i].depth + 2 > n->depth;)
		;
	if (n->depth > 1)
		around = lines->modules[i].path;
	*row = (struct vpa_module_row){.name = vpa_arena_text(&out->arena, name.text, name.len),
		.path = vpa_arena_printf(&out->arena, "%s%s%.*s", around, *around ? "/" : "",
			(int)name.len, name.text),
		.label = vpa_arena_printf(&out->arena, "%*s%.*s", (int)(2 * (n->depth - 1)), "",
			(int)name.len, name.text),
		.depth = n->depth - 1,
		.instances = n->instances,
		.ops = n->ops,
		.gpu_ns = n->gpu_ns,
		.own_ns = n->own_ns};
	lines->module_count++;
	return row->name && row->path && row->label ? VPT_OK : VPT_ENOMEM;
}

/* Writes the nodes inside `around` that are among the largest, each with those inside it. `order` has all by size. */
static int put_inside(const struct tree *t, uint32_t around, const uint32_t *order, size_t most,
	struct vpa_report *out)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < most && !rc; i++)
		if (order[i] != ROOT && t->nodes[order[i]].around == around) {
			rc = put_row(t, order[i], out);
			if (!rc)
				rc = put_inside(t, order[i], order, most, out);
		}
	return rc;
}

static int put_rows(struct tree *t, const struct vpa_fold_context *c, struct vpa_report *out)
{
	size_t i, count = t->node_index.count;
	size_t most = count - 1 < c->top ? count - 1 : c->top;
	uint32_t *order = vpt_calloc(count, sizeof(*order));
	int rc = VPT_ENOMEM;

	out->lines.modules_used = count - 1;
	out->lines.modules = vpa_arena_alloc(&out->arena, most + 1, sizeof(*out->lines.modules));
	for (i = 0; order && i < count; i++)
		order[i] = (uint32_t)i;
	if (order && out->lines.modules) {
		qsort_r(order, count, sizeof(*order), compare_nodes, t);
		rc = put_inside(t, ROOT, order, most, out);
	}
	vpt_free(order);
	return rc;
}

int vpa_modules_write(
	const struct lines_state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct tree t = {.model = c->model};
	int rc = add_all(&t, s);

	if (!rc)
		rc = put_rows(&t, c, out);
	vpt_strings_free(&t.names);
	vpa_index_free(&t.node_index);
	vpa_index_free(&t.instance_index);
	vpt_free(t.nodes);
	return rc;
}
