/* kineto_shapes.c - reads lists of sizes. */
#include "formats/import/kineto/text/kineto_shapes.h"

#include <string.h>

const struct vpt_kineto_value *vpt_kineto_dims(const struct vpt_kineto_value *args)
{
	const struct vpt_kineto_value *dims = vpt_kineto_member(args, "Input Dims");

	return dims ? dims : vpt_kineto_member(args, "Input dims"); /* older versions */
}

int vpt_kineto_shape(const struct vpt_kineto_value *sizes, struct vpt_kineto_shape *out)
{
	const struct vpt_kineto_value *v = vpt_kineto_element(sizes, 0);
	int64_t size;

	for (out->rank = 0; v; v = vpt_kineto_next(sizes, v)) {
		if (out->rank == VPT_KINETO_RANK_MAX ||
			vpt_kineto_number(v, 0, &size) != VPT_KINETO_EXACT || size <= 0)
			return 0;
		out->sizes[out->rank++] = (uint64_t)size;
	}
	return out->rank != 0;
}

struct shapes_text {
	char *text;
	size_t len;
	int is_too_long;
};

static void put(struct shapes_text *t, const char *bytes, size_t len)
{
	t->is_too_long |= len > VPT_KINETO_SHAPES_BYTES - t->len;
	if (t->is_too_long)
		return;
	memcpy(t->text + t->len, bytes, len);
	t->len += len;
}

/* Puts a list of sizes; of another list, and of an empty one, nothing. */
static void put_shape(struct shapes_text *t, const struct vpt_kineto_value *sizes)
{
	const struct vpt_kineto_value *v = vpt_kineto_element(sizes, 0);

	for (; v && v->type == VPT_KINETO_INTEGER; v = vpt_kineto_next(sizes, v))
		;
	if (v || !vpt_kineto_element(sizes, 0))
		return;
	if (t->len && t->text[t->len - 1] != '(')
		put(t, " ", 1);
	for (v = vpt_kineto_element(sizes, 0); v; v = vpt_kineto_next(sizes, v)) {
		if (v != vpt_kineto_element(sizes, 0))
			put(t, "x", 1);
		put(t, v->text, v->len);
	}
}

/* Puts a list of tensors, as of aten::cat. */
static void put_list(struct shapes_text *t, const struct vpt_kineto_value *list)
{
	const struct vpt_kineto_value *v = vpt_kineto_element(list, 0);
	size_t begin = t->len, open;

	if (begin)
		put(t, " ", 1);
	put(t, "(", 1);
	for (open = t->len; v; v = vpt_kineto_next(list, v))
		put_shape(t, v);
	if (t->len == open)
		t->len = begin;
	else
		put(t, ")", 1);
}

size_t vpt_kineto_shapes_text(
	const struct vpt_kineto_value *dims, char text[VPT_KINETO_SHAPES_BYTES])
{
	const struct vpt_kineto_value *v = vpt_kineto_element(dims, 0), *inner;
	struct shapes_text t = {.text = text};

	for (; v && !t.is_too_long; v = vpt_kineto_next(dims, v)) {
		inner = vpt_kineto_element(v, 0);
		if (inner && inner->type == VPT_KINETO_ARRAY)
			put_list(&t, v);
		else
			put_shape(&t, v);
	}
	return t.is_too_long ? 0 : t.len;
}

uint64_t vpt_kineto_product(const uint64_t *factors, size_t count)
{
	uint64_t all = 1;
	size_t i;

	for (i = 0; i < count; i++)
		if (__builtin_mul_overflow(all, factors[i], &all))
			return 0;
	return all >> 63 ? 0 : all;
}
