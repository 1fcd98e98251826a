/* kineto_shapes.c - reads lists of sizes. */
#include "formats/import/kineto/text/kineto_shapes.h"

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

uint64_t vpt_kineto_product(const uint64_t *factors, size_t count)
{
	uint64_t all = 1;
	size_t i;

	for (i = 0; i < count; i++)
		if (__builtin_mul_overflow(all, factors[i], &all))
			return 0;
	return all >> 63 ? 0 : all;
}
