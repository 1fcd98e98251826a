/* kineto_flop.c - operations of an operator, from the sizes of its inputs.
 *
 *	product     (m, k) (k, n)                     2 m k n, for each of a batch
 *	attention   (b, h, q, d) (b, h, k, d) (.., v)   2 b h q k (d + v): scores, then the weighted sum
 *
 * A causal mask halves attention; kineto_convolution.c has convolutions. Left out are operators that only call
 * one of these, so nothing counts twice; backward ones; and attention over sequences of different lengths, whose
 * lengths are not shapes. */
#include "formats/import/kineto/text/kineto_work.h"

#include "formats/base/text.h"
#include "formats/import/kineto/text/kineto_shapes.h"

enum form {
	PRODUCT,     /* two matrices, or two batches of them */
	HEADS_FIRST, /* attention: batch, heads, length, size */
	HEADS_AFTER_LENGTH
};

static const struct operator
{
	const char *name;
	enum form form;
	unsigned first;  /* input that is the first factor, or the queries */
	unsigned causal; /* input that says whether the mask is causal */
}
operators[] = {
	{"aten::mm", PRODUCT, 0, 0},
	{"aten::addmm", PRODUCT, 1, 0},
	{"aten::bmm", PRODUCT, 0, 0},
	{"aten::baddbmm", PRODUCT, 1, 0},
	{"aten::_addmm_activation", PRODUCT, 1, 0},
	{"aten::_scaled_mm", PRODUCT, 0, 0},
	{"aten::_int_mm", PRODUCT, 0, 0},
	{"aten::_scaled_dot_product_flash_attention", HEADS_FIRST, 0, 4},
	{"aten::_scaled_dot_product_efficient_attention", HEADS_FIRST, 0, 6},
	{"aten::_scaled_dot_product_cudnn_attention", HEADS_FIRST, 0, 6},
	{"flash_attn::_flash_attn_forward", HEADS_AFTER_LENGTH, 0, 5},
};

static const struct operator* find(struct vpt_text name)
{
	size_t i;

	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (vpt_text_is(name, operators[i].name))
			return &operators[i];
	return NULL;
}

/* ---- operators ---- */

static uint64_t of_product(const struct vpt_kineto_shape *a, const struct vpt_kineto_shape *b)
{
	const uint64_t *left = a->sizes + a->rank - 2, *right = b->sizes + b->rank - 2;

	if (a->rank != b->rank || a->rank < 2 || a->rank > 3 || left[1] != right[0] ||
		(a->rank == 3 && a->sizes[0] != b->sizes[0]))
		return 0;
	return vpt_kineto_product(
		(uint64_t[]){2, a->rank == 3 ? a->sizes[0] : 1, left[0], left[1], right[1]}, 5);
}

/* 1: causal, 0: not, -1: nothing says so. */
static int is_causal(const struct vpt_kineto_value *args, unsigned input)
{
	const struct vpt_kineto_value *values = vpt_kineto_member(args, "Concrete Inputs");
	struct vpt_text value;

	value = vpt_kineto_text(vpt_kineto_element(values, input));
	return vpt_text_is(value, "True") ? 1 : vpt_text_is(value, "False") ? 0 : -1;
}

static uint64_t of_attention(const struct operator* op, const struct vpt_kineto_value *args,
	const struct vpt_kineto_shape *q, const struct vpt_kineto_shape *k,
	const struct vpt_kineto_shape *v)
{
	size_t length = op->form == HEADS_FIRST ? 2 : 1, heads = op->form == HEADS_FIRST ? 1 : 2;
	int causal = is_causal(args, op->causal);
	uint64_t flop;

	if (q->rank != 4 || k->rank != 4 || v->rank != 4 || causal < 0 ||
		q->sizes[0] != k->sizes[0] || q->sizes[3] != k->sizes[3] ||
		k->sizes[length] != v->sizes[length] || q->sizes[3] > UINT64_MAX - v->sizes[3])
		return 0;
	flop = vpt_kineto_product((uint64_t[]){2, q->sizes[0], q->sizes[heads], q->sizes[length],
					  k->sizes[length], q->sizes[3] + v->sizes[3]},
		6);
	return causal ? flop / 2 : flop;
}

uint64_t vpt_kineto_flop(struct vpt_text name, const struct vpt_kineto_value *args)
{
	const struct operator* op = args ? find(name) : NULL;
	const struct vpt_kineto_value *dims = op ? vpt_kineto_dims(args) : NULL;
	struct vpt_kineto_shape a, b, c;

	if (args && !op)
		return vpt_kineto_convolution(name, args);
	if (!dims || !vpt_kineto_shape(vpt_kineto_element(dims, op->first), &a) ||
		!vpt_kineto_shape(vpt_kineto_element(dims, op->first + 1), &b))
		return 0;
	if (op->form == PRODUCT)
		return of_product(&a, &b);
	return vpt_kineto_shape(vpt_kineto_element(dims, op->first + 2), &c)
		       ? of_attention(op, args, &a, &b, &c)
		       : 0;
}
