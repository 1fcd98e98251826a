/* kineto_traffic.c - bytes that an operator moves, from the sizes and types of its inputs.
 *
 * Inputs are broadcast to the result of an elementwise operator: one of size 1, or without a dimension, is read
 * once. So is one that was expanded: its stride is 0. The result has the widest type of the inputs, of an operator
 * in place, as aten::add_, the type of the first.
 *
 * Left out are operators that only call one of these, so nothing counts twice, and those of which the shapes
 * do not say what is written: upsampling, indexing. */
#include "formats/import/kineto/text/kineto_work.h"

#include "formats/base/count.h"
#include "formats/base/text.h"
#include "formats/import/kineto/text/kineto_shapes.h"

enum { INPUTS_MAX = 8 };

enum form {
	NONE,
	MAP,   /* the result is as large as all inputs, broadcast */
	TEST,  /* the same, of booleans */
	FIRST, /* the result is as large as the first input */
	READ,  /* the result is small */
	FILL,  /* the first input is written */
	COPY,  /* the first input is written, the second read */
	JOIN   /* the first input is a list, which is read and written */
};

/* Their names after "aten::". Those of MAP come first: they also work in place, with "_" at the end. */
static const struct operator
{
	const char *name;
	enum form form;
}
operators[] = {
	{"add", MAP},
	{"sub", MAP},
	{"mul", MAP},
	{"div", MAP},
	{"pow", MAP},
	{"neg", MAP},
	{"abs", MAP},
	{"exp", MAP},
	{"log", MAP},
	{"cos", MAP},
	{"sin", MAP},
	{"erf", MAP},
	{"lerp", MAP},
	{"relu", MAP},
	{"silu", MAP},
	{"gelu", MAP},
	{"tanh", MAP},
	{"mish", MAP},
	{"sqrt", MAP},
	{"rsub", MAP},
	{"where", MAP},
	{"rsqrt", MAP},
	{"clamp", MAP},
	{"round", MAP},
	{"floor", MAP},
	{"sigmoid", MAP},
	{"addcmul", MAP},
	{"addcdiv", MAP},
	{"maximum", MAP},
	{"minimum", MAP},
	{"softplus", MAP},
	{"clamp_min", MAP},
	{"clamp_max", MAP},
	{"hardswish", MAP},
	{"leaky_relu", MAP},
	{"reciprocal", MAP},
	{"masked_fill", MAP},
	{"eq", TEST},
	{"ne", TEST},
	{"lt", TEST},
	{"le", TEST},
	{"gt", TEST},
	{"ge", TEST},
	{"isnan", TEST},
	{"logical_or", TEST},
	{"logical_and", TEST},
	{"logical_not", TEST},
	{"flip", FIRST},
	{"roll", FIRST},
	{"cumsum", FIRST},
	{"_softmax", FIRST},
	{"_log_softmax", FIRST},
	{"_fused_rms_norm", FIRST},
	{"native_layer_norm", FIRST},
	{"native_group_norm", FIRST},
	{"sum", READ},
	{"any", READ},
	{"all", READ},
	{"mean", READ},
	{"amax", READ},
	{"amin", READ},
	{"argmax", READ},
	{"linalg_vector_norm", READ},
	{"fill_", FILL},
	{"zero_", FILL},
	{"copy_", COPY},
	{"cat", JOIN},
};

/* Most differ in the first byte. */
static inline int is_called(const struct operator* op, struct vpt_text name)
{
	return *op->name == *name.text && vpt_text_is(name, op->name);
}

static enum form find(struct vpt_text name, int *is_in_place)
{
	size_t i;

	*is_in_place = 0;
	if (name.len < 7 || memcmp(name.text, "aten::", 6) != 0)
		return NONE;
	name.text += 6;
	name.len -= 6;
	for (i = 0; i < COUNT(operators); i++)
		if (is_called(&operators[i], name))
			return operators[i].form;
	if (name.len < 2 || name.text[name.len - 1] != '_')
		return NONE;
	name.len--;
	*is_in_place = 1;
	for (i = 0; i < COUNT(operators) && operators[i].form == MAP; i++)
		if (is_called(&operators[i], name))
			return MAP;
	return NONE;
}

/* ---- inputs ---- */

/* Of two types the result has the one of higher rank. */
static const struct type {
	const char *name;
	unsigned bytes, rank;
} types[] = {
	{"bool", 1, 0},
	{"unsigned char", 1, 1},
	{"signed char", 1, 1},
	{"short", 2, 2},
	{"short int", 2, 2},
	{"int", 4, 3},
	{"long int", 8, 4},
	{"long", 8, 4},
	{"c10::Float8_e4m3fn", 1, 5},
	{"c10::Float8_e5m2", 1, 5},
	{"c10::BFloat16", 2, 6},
	{"c10::Half", 2, 6},
	{"float", 4, 7},
	{"double", 8, 8},
	{"c10::complex<float>", 8, 9},
	{"c10::complex<double>", 16, 10},
};

/* The tensors among the inputs; scalars, and tensors of one number, are none. */
struct inputs {
	struct vpt_kineto_shape shapes[INPUTS_MAX];
	const struct type *types[INPUTS_MAX];
	uint64_t read[INPUTS_MAX]; /* bytes */
	size_t count;
};

static const struct type *type_of(const struct vpt_kineto_value *value)
{
	struct vpt_text name = vpt_kineto_text(value);
	size_t i;

	for (i = 0; name.text && i < COUNT(types); i++)
		if (vpt_text_is(name, types[i].name))
			return &types[i];
	return NULL;
}

static size_t count_of(const struct vpt_kineto_value *list)
{
	const struct vpt_kineto_value *v = vpt_kineto_element(list, 0);
	size_t count = 0;

	for (; v; v = vpt_kineto_next(list, v))
		count++;
	return count;
}

/* The input's elements that differ: those of a dimension with stride 0 are one. */
static uint64_t elements_of(
	const struct vpt_kineto_shape *shape, const struct vpt_kineto_value *strides)
{
	const struct vpt_kineto_value *v = vpt_kineto_element(strides, 0);
	struct vpt_kineto_shape distinct = *shape;
	int is_known = count_of(strides) == shape->rank;
	int64_t stride;
	size_t i;

	for (i = 0; is_known && v; v = vpt_kineto_next(strides, v), i++)
		if (vpt_kineto_number(v, 0, &stride) == VPT_KINETO_EXACT && !stride)
			distinct.sizes[i] = 1;
	return vpt_kineto_product(distinct.sizes, distinct.rank);
}

/* Returns 0 if an input is not understood. */
static int read_inputs(const struct vpt_kineto_value *args, const struct vpt_kineto_value *dims,
	struct inputs *out)
{
	const struct vpt_kineto_value *names = vpt_kineto_member(args, "Input type");
	const struct vpt_kineto_value *strides = vpt_kineto_member(args, "Input Strides");
	const struct vpt_kineto_value *sizes = vpt_kineto_element(dims, 0);
	size_t i;

	out->count = 0;
	for (i = 0; sizes; sizes = vpt_kineto_next(dims, sizes), i++) {
		const struct type *type = type_of(vpt_kineto_element(names, i));
		size_t n = out->count;

		if (!vpt_kineto_element(sizes, 0))
			continue;
		if (!type || n == INPUTS_MAX || !vpt_kineto_shape(sizes, &out->shapes[n]))
			return 0;
		out->types[n] = type;
		out->read[n] = elements_of(&out->shapes[n], vpt_kineto_element(strides, i));
		if (__builtin_mul_overflow(out->read[n], type->bytes, &out->read[n]) ||
			!out->read[n])
			return 0;
		out->count++;
	}
	return out->count > 0;
}

/* ---- results ---- */

/* How many elements all inputs make, broadcast; 0: they do not fit, or are too many. */
static uint64_t broadcast(const struct inputs *in)
{
	uint64_t sizes[VPT_KINETO_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
	size_t i, k;

	for (i = 0; i < in->count; i++)
		for (k = 0; k < in->shapes[i].rank; k++) {
			/* The last dimensions stand below each other. */
			uint64_t *size = &sizes[VPT_KINETO_RANK_MAX - in->shapes[i].rank + k];

			if (in->shapes[i].sizes[k] != 1 && *size != 1 &&
				*size != in->shapes[i].sizes[k])
				return 0;
			if (in->shapes[i].sizes[k] != 1)
				*size = in->shapes[i].sizes[k];
		}
	return vpt_kineto_product(sizes, VPT_KINETO_RANK_MAX);
}

static unsigned widest(const struct inputs *in)
{
	const struct type *type = in->types[0];
	size_t i;

	for (i = 1; i < in->count; i++)
		if (in->types[i]->rank > type->rank)
			type = in->types[i];
	return type->bytes;
}

static uint64_t first_elements(const struct inputs *in)
{
	return vpt_kineto_product(in->shapes[0].sizes, in->shapes[0].rank);
}

/* 0: too many. */
static uint64_t bytes_of(const struct inputs *in, size_t read, uint64_t elements, unsigned size)
{
	uint64_t bytes;
	size_t i;

	if (__builtin_mul_overflow(elements, size, &bytes))
		return 0;
	for (i = 0; i < read; i++)
		if (__builtin_add_overflow(bytes, in->read[i], &bytes))
			return 0;
	return bytes >> 63 ? 0 : bytes;
}

static uint64_t of_form(enum form form, const struct inputs *in, int is_in_place)
{
	uint64_t all = form == MAP || form == TEST ? broadcast(in) : 0;

	switch (form) {
	case MAP:
		return all ? bytes_of(in, in->count, all,
				     is_in_place ? in->types[0]->bytes : widest(in))
			   : 0;
	case TEST:
		return all ? bytes_of(in, in->count, all, 1) : 0;
	case FIRST:
		return bytes_of(in, in->count, first_elements(in), in->types[0]->bytes);
	case READ:
		return bytes_of(in, in->count, 0, 0);
	case FILL:
		return bytes_of(in, 0, first_elements(in), in->types[0]->bytes);
	case COPY:
		if (in->count != 2)
			return 0;
		/* What is written comes first, and is not read. */
		all = bytes_of(in, 0, first_elements(in), in->types[0]->bytes);
		return all && !__builtin_add_overflow(all, in->read[1], &all) && !(all >> 63) ? all
											      : 0;
	default:
		return 0;
	}
}

/* The elements of a list of tensors, read and written; 0: it is none. */
static uint64_t of_list(const struct vpt_kineto_value *dims)
{
	const struct vpt_kineto_value *list = vpt_kineto_element(dims, 0);
	const struct vpt_kineto_value *v = vpt_kineto_element(list, 0);
	uint64_t all = 0, elements;
	struct vpt_kineto_shape shape;

	for (; v; v = vpt_kineto_next(list, v)) {
		if (!vpt_kineto_shape(v, &shape))
			return 0;
		elements = vpt_kineto_product(shape.sizes, shape.rank);
		if (!elements || __builtin_add_overflow(all, elements, &all))
			return 0;
	}
	return all >> 62 ? 0 : 2 * all;
}

uint64_t vpt_kineto_traffic(
	struct vpt_text name, const struct vpt_kineto_value *args, int *is_elements)
{
	const struct vpt_kineto_value *dims = args ? vpt_kineto_dims(args) : NULL;
	struct inputs inputs;
	int is_in_place;
	enum form form = dims ? find(name, &is_in_place) : NONE;

	*is_elements = form == JOIN;
	if (form == JOIN)
		return of_list(dims);
	return form != NONE && read_inputs(args, dims, &inputs)
		       ? of_form(form, &inputs, is_in_place)
		       : 0;
}
