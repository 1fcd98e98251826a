/* speedscope.c - a flame graph as the JSON that speedscope opens: one profile of weighted samples. */
#include "analysis/flame/flame.h"

#include "formats/io/json_writer.h"
#include "formats/base/memory.h"

enum { NAME = 512 };

/* Functions at a line are one frame wherever they are in the tree, so that speedscope can sum them up. */
struct frames {
	struct vpa_index names; /* (function, file): the report has each text once */
	struct vpa_index
		frames; /* (twice the row of names, 1 more if merged; line), (kind, cause or device) */
	uint32_t *of_node;
	uint32_t *node_of; /* of frames: the first node */
	size_t node_cap;
};

static int find_frames(struct frames *s, const struct vpa_flame *f)
{
	uint32_t i, row, before;

	s->of_node = vpt_alloc(f->count, sizeof(*s->of_node));
	if (!s->of_node)
		return VPT_ENOMEM;
	for (i = 1; i < f->count; i++) {
		const struct vpa_flame_node *node = &f->nodes[i];
		uint64_t a = UINT64_MAX - (uint64_t)node->kind, b = (uint64_t)node->cause;

		if (node->kind == VPA_FLAME_DEVICE)
			b = (uint64_t)node->device;
		if (node->kind == VPA_FLAME_FRAME) {
			row = vpa_index_put(&s->names, (uintptr_t)node->row->frame.function,
				(uintptr_t)node->row->frame.file);
			if (row == UINT32_MAX)
				return VPT_ENOMEM;
			a = 2 * (uint64_t)row + (node->members > 0);
			b = node->row->frame.number;
		}
		before = (uint32_t)s->frames.count;
		row = vpa_index_row(
			&s->frames, a, b, &s->node_of, &s->node_cap, sizeof(*s->node_of));
		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		if (row == before)
			s->node_of[row] = i;
		s->of_node[i] = row;
	}
	return VPT_OK;
}

static void free_frames(struct frames *s)
{
	vpa_index_free(&s->names);
	vpa_index_free(&s->frames);
	vpt_free(s->of_node);
	vpt_free(s->node_of);
}

static void put_frames(struct vpt_json *j, const struct vpa_flame *f, const struct frames *s)
{
	char name[NAME];
	size_t i;

	vpt_json_object(j, "shared");
	vpt_json_array(j, "frames");
	for (i = 0; i < s->frames.count; i++) {
		const struct vpa_flame_node *node = &f->nodes[s->node_of[i]];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "name", vpa_flame_name(node, name, sizeof(name)));
		if (node->kind == VPA_FLAME_FRAME && node->row->frame.file &&
			node->row->frame.file[0]) {
			vpt_json_string(j, "file", node->row->frame.file);
			if (node->row->frame.number)
				vpt_json_u64(j, "line", node->row->frame.number);
		}
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_samples(
	struct vpt_json *j, const struct vpa_flame *f, const struct frames *s, uint32_t *path)
{
	uint32_t i, at;

	vpt_json_array(j, "samples");
	for (i = 1; i < f->count; i++) {
		size_t depth = 0;

		if (!f->nodes[i].self_ns)
			continue;
		for (at = i; at; at = f->nodes[at].parent)
			path[depth++] = at;
		vpt_json_array(j, NULL);
		while (depth-- > 0)
			vpt_json_u64(j, NULL, s->of_node[path[depth]]);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_array(j, "weights");
	for (i = 1; i < f->count; i++)
		if (f->nodes[i].self_ns)
			vpt_json_u64(j, NULL, f->nodes[i].self_ns);
	vpt_json_end(j);
}

int vpa_flame_speedscope(
	const struct vpa_flame *f, const char *title, struct vpt_sink *sink, struct vpt_err *err)
{
	uint32_t *path = vpt_alloc(f->count, sizeof(*path));
	struct frames s = {.of_node = NULL};
	struct vpt_json j;

	if (!path || find_frames(&s, f)) {
		vpt_free(path);
		free_frames(&s);
		return vpt_fail(err, VPT_ENOMEM, "no memory for a stack");
	}
	vpt_json_init(&j, sink, 0);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	put_frames(&j, f, &s);
	vpt_json_array(&j, "profiles");
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "type", "sampled");
	vpt_json_string(&j, "name", title);
	vpt_json_string(&j, "unit", "nanoseconds");
	vpt_json_u64(&j, "startValue", 0);
	vpt_json_u64(&j, "endValue", f->nodes[0].ns);
	put_samples(&j, f, &s, path);
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_string(&j, "name", title);
	vpt_json_u64(&j, "activeProfileIndex", 0);
	vpt_json_string(&j, "exporter", "vptrace");
	vpt_json_end(&j);
	vpt_json_newline(&j);
	vpt_free(path);
	free_frames(&s);
	return vpt_json_finish(&j, err);
}
