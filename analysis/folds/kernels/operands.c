/* operands.c - goes through the ops of a stream with what each of them is.
 *
 * PyTorch's own operators quantise in up to eight kernels: absolute values, their maximum, limits and a division for the scale; then a
 * cast to FP32, a product, limits and the cast to 8 bits. What begins so and ends right before a product of 8 bits is that. */
#include "analysis/folds/kernels/operands.h"

#include "analysis/model/unpacking.h"
#include "analysis/names/number_format.h"
#include "formats/base/text.h"

uint8_t vpa_operand_part(const struct vpa_kernel_class *k, struct vpt_text name)
{
	int is_product = k->family == VPA_FAMILY_GEMM,
	    narrows = vpt_text_holds(name, "float8_copy_kernel"),
	    scales = vpt_text_holds(name, "abs_kernel") || vpt_text_holds(name, "clamp");
	unsigned part = 0;

	part |= vpa_is_fusible(k) ? VPA_OPERAND_FUSIBLE : 0;
	part |= scales && vpa_is_fusible(k) ? VPA_OPERAND_SCALES : 0;
	part |= narrows ? VPA_OPERAND_NARROWS : 0;
	part |= is_product ? VPA_OPERAND_PRODUCT : 0;
	part |= is_product && vpa_precision_of(name.text, name.len) == VPA_PRECISION_8
			? VPA_OPERAND_NARROW
			: 0;
	part |= vpa_is_marked(k->marks, VPA_MARK_VOL2COL) ? VPA_OPERAND_COLUMNS : 0;
	part |= vpt_text_holds(name, "FillFunctor") ? VPA_OPERAND_FILL : 0;
	part |= vpt_text_holds(name, "CUDAFunctor_add") ? VPA_OPERAND_ADD : 0;
	return (uint8_t)part;
}

static uint64_t length_of(const struct vpa_ops *ops, size_t i)
{
	return ops->end_ns[i] - ops->start_ns[i];
}

/* ---- quantising ---- */

static void begin_chain(struct vpa_operand_lane *l)
{
	l->packing.count++;
	l->packing.longest_ns += l->chain_longest_ns;
	l->chain_longest_ns = 0;
}

static void add_to_chain(struct vpa_operand_lane *l, uint64_t ns)
{
	l->packing.kernels++;
	l->packing.total_ns += ns;
	l->chain_longest_ns = ns > l->chain_longest_ns ? ns : l->chain_longest_ns;
}

static void end_packing(struct vpa_operands *s, struct vpa_operand_lane *l, int is_used)
{
	if (is_used) {
		s->packing.count += l->packing.count;
		s->packing.kernels += l->packing.kernels;
		s->packing.total_ns += l->packing.total_ns;
		s->packing.longest_ns += l->packing.longest_ns + l->chain_longest_ns;
	}
	l->packing = (struct vpa_quantised){.count = 0};
	l->chain_longest_ns = 0;
}

void vpa_packing_find(struct vpa_operands *s, struct vpa_operand_lane *l, const struct vpa_ops *ops,
	const uint8_t *parts, uint8_t *joins, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++) {
		uint8_t part = parts[i];

		if (part & VPA_OPERAND_NARROW && l->packing.count) {
			s->product = s->product ? s->product : ops->kernel[i] + 1;
			end_packing(s, l, 1);
		} else if (part & (VPA_OPERAND_SCALES | VPA_OPERAND_NARROWS) ||
			   (l->packing.count && part & VPA_OPERAND_FUSIBLE)) {
			/* An operand that is cast has its scale: what follows is of another one. */
			if (!l->packing.count || l->narrowed)
				begin_chain(l);
			add_to_chain(l, length_of(ops, i));
			joins[i] = 0;
		} else if (l->packing.count) {
			end_packing(s, l, 0);
		}
		l->narrowed = (part & VPA_OPERAND_NARROWS) != 0;
	}
}

/* ---- convolutions of columns ---- */

static void add_columns(struct vpa_operands *s, struct vpa_operand_lane *l, uint64_t ns)
{
	s->convs.count++;
	s->convs.copy_ns += ns;
	s->convs.total_ns += ns + l->fill_ns;
	l->conv = 1;
}

void vpa_column_convs_find(struct vpa_operands *s, struct vpa_operand_lane *l,
	const struct vpa_ops *ops, const uint8_t *parts, uint8_t *joins, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++) {
		uint64_t ns = length_of(ops, i);

		if (parts[i] & VPA_OPERAND_COLUMNS) {
			add_columns(s, l, ns);
		} else if (l->conv == 1 && parts[i] & VPA_OPERAND_PRODUCT) {
			s->convs.total_ns += ns;
			l->conv = 2;
		} else {
			if (l->conv == 2 && parts[i] & VPA_OPERAND_ADD) {
				s->convs.total_ns += ns;
				joins[i] = 0;
			}
			l->conv = 0;
		}
		l->fill_ns = parts[i] & VPA_OPERAND_FILL ? ns : 0;
		if (l->fill_ns && i + 1 < end && parts[i + 1] & VPA_OPERAND_COLUMNS)
			joins[i] = 0;
	}
}
