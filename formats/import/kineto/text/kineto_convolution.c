/* kineto_convolution.c - operations of a convolution.
 *
 *	input (b, c, x...), weight (o, c / groups, k...)   2 b o (c / groups) k... for each place of the result
 *
 * A transposed one multiplies at each place of its input instead. The result has as many places along a dimension as the
 * kernel has positions there: (size + 2 padding - dilation (k - 1) - 1) / stride + 1. */
#include "formats/import/kineto/text/kineto_work.h"

#include "formats/base/text.h"
#include "formats/import/kineto/text/kineto_shapes.h"

enum { NO_INPUT = 255 };

/* The operators that aten::convolution calls, one of them; input and weight come first. */
static const struct convolution {
	const char *name;
	int transposed;
	/* Inputs that say it. NO_INPUT: of dilation it has none, and groups follow from the shapes. */
	unsigned padding, stride, dilation, groups;
} operators[] = {
	{"aten::cudnn_convolution", 0, 2, 3, 4, 5},
	{"aten::cudnn_convolution_relu", 0, 4, 3, 5, 6},
	{"aten::cudnn_convolution_add_relu", 0, 6, 5, 7, 8},
	{"aten::miopen_convolution", 0, 3, 4, 5, 6},
	{"aten::miopen_depthwise_convolution", 0, 3, 4, 5, 6},
	{"aten::_conv_depthwise2d", 0, 5, 4, 6, NO_INPUT},
	{"aten::conv_depthwise3d", 0, 5, 4, 6, NO_INPUT},
	{"aten::_slow_conv2d_forward", 0, 5, 4, NO_INPUT, NO_INPUT},
	{"aten::slow_conv_dilated2d", 0, 5, 4, 6, NO_INPUT},
	{"aten::slow_conv_dilated3d", 0, 5, 4, 6, NO_INPUT},
	{"aten::cudnn_convolution_transpose", 1, 2, 4, 5, 6},
	{"aten::miopen_convolution_transpose", 1, 3, 5, 6, 7},
	{"aten::slow_conv_transpose2d", 1, 5, 4, 7, NO_INPUT},
	{"aten::slow_conv_transpose3d", 1, 5, 4, 7, NO_INPUT},
};

static const struct convolution *find(struct vpt_text name)
{
	size_t i;

	/* Most operators are none. */
	for (i = 0; vpt_text_holds(name, "conv") && i < sizeof(operators) / sizeof(operators[0]);
		i++)
		if (vpt_text_is(name, operators[i].name))
			return &operators[i];
	return NULL;
}

static const struct vpt_kineto_value *concrete(const struct vpt_kineto_value *args, unsigned input)
{
	const struct vpt_kineto_value *values = vpt_kineto_member(args, "Concrete Inputs");

	return input == NO_INPUT ? NULL : vpt_kineto_element(values, input);
}

/* Reads "[1, 2, 2]", or one number for all: a number for each of `count` dimensions. Returns 0 where it is something else. */
static int read_sizes(struct vpt_text text, uint64_t *out, size_t count)
{
	const char *at = text.text, *end = text.text + text.len;
	size_t found = 0, i;

	if (text.len < 2 || *at != '[' || end[-1] != ']')
		return 0;
	for (at++; at < end - 1 && found < count; found++) {
		if (!vpt_is_digit(*at))
			return 0;
		for (out[found] = 0; at < end - 1 && vpt_is_digit(*at); at++)
			if (__builtin_mul_overflow(out[found], 10, &out[found]) ||
				__builtin_add_overflow(
					out[found], (uint64_t)(*at - '0'), &out[found]))
				return 0;
		at += at < end - 1 && *at == ',';
		at += at < end - 1 && *at == ' ';
	}
	for (i = found; found == 1 && i < count; i++)
		out[i] = out[0];
	return found && at == end - 1;
}

/* How many places the kernel has along a dimension; 0: none, or numbers that cannot be. */
static uint64_t places(uint64_t size, uint64_t kernel, const uint64_t *how)
{
	uint64_t padding = how[0], stride = how[1], dilation = how[2], wide, reach;

	if (!stride || !dilation || __builtin_mul_overflow(padding, 2, &wide) ||
		__builtin_add_overflow(wide, size, &wide) ||
		__builtin_mul_overflow(kernel - 1, dilation, &reach) || reach >= wide)
		return 0;
	return (wide - reach - 1) / stride + 1;
}

/* Fills how[dimension] with padding, stride and dilation. */
static int read_how(const struct convolution *op, const struct vpt_kineto_value *args,
	uint64_t how[VPT_KINETO_RANK_MAX][3], size_t count)
{
	const unsigned inputs[] = {op->padding, op->stride, op->dilation};
	uint64_t sizes[VPT_KINETO_RANK_MAX];
	size_t k, i;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < count; i++)
			sizes[i] = 1;
		if (inputs[k] != NO_INPUT &&
			!read_sizes(vpt_kineto_text(concrete(args, inputs[k])), sizes, count))
			return 0;
		for (i = 0; i < count; i++)
			how[i][k] = sizes[i];
	}
	return 1;
}

/* Whether the input's channels are the weight's, in as many groups as the operator says. */
static int has_channels(const struct convolution *op, const struct vpt_kineto_value *args,
	const struct vpt_kineto_shape *in, const struct vpt_kineto_shape *weight)
{
	uint64_t each = weight->sizes[op->transposed ? 0 : 1], groups = 0;
	struct vpt_text text = vpt_kineto_text(concrete(args, op->groups));

	if (op->transposed)
		return in->sizes[1] == each;
	if (op->groups == NO_INPUT)
		return in->sizes[1] % each == 0;
	for (; text.len && vpt_is_digit(*text.text) && groups <= in->sizes[1];
		text.text++, text.len--)
		groups = 10 * groups + (uint64_t)(*text.text - '0');
	return !text.len && groups && in->sizes[1] / groups == each && in->sizes[1] % groups == 0;
}

static uint64_t of_convolution(const struct convolution *op, const struct vpt_kineto_value *args,
	const struct vpt_kineto_shape *in, const struct vpt_kineto_shape *weight)
{
	uint64_t how[VPT_KINETO_RANK_MAX][3], factors[2 * VPT_KINETO_RANK_MAX + 1] = {2};
	size_t count = 1, i;

	if (in->rank != weight->rank || in->rank < 3 || !has_channels(op, args, in, weight) ||
		!read_how(op, args, how, in->rank - 2))
		return 0;
	factors[count++] = in->sizes[0];
	for (i = 0; i < weight->rank; i++)
		factors[count++] = weight->sizes[i];
	for (i = 2; i < in->rank; i++)
		factors[count++] = op->transposed
					   ? in->sizes[i]
					   : places(in->sizes[i], weight->sizes[i], how[i - 2]);
	return vpt_kineto_product(factors, count);
}

uint64_t vpt_kineto_convolution(struct vpt_text name, const struct vpt_kineto_value *args)
{
	const struct convolution *op = find(name);
	const struct vpt_kineto_value *dims = op ? vpt_kineto_dims(args) : NULL;
	struct vpt_kineto_shape in, weight;

	return dims && vpt_kineto_shape(vpt_kineto_element(dims, 0), &in) &&
			       vpt_kineto_shape(vpt_kineto_element(dims, 1), &weight)
		       ? of_convolution(op, args, &in, &weight)
		       : 0;
}
