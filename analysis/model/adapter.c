/* adapter.c - finds low-rank adapters among the ops of a stream. */
#include "analysis/model/adapter.h"

#include "formats/base/count.h"

#include <string.h>

enum {
	SMALL = 3, /* a product of the adapter takes at most 1 / this of the layer's */
	SCALES = 2 /* multiplications by a scale, and by another one */
};

/* ---- names ---- */

/* The operators of a kernel that a compiler fused, and that an adapter may end with. Others have more to do. */
static int is_scale_and_add(struct vpt_text name)
{
	static const char begin[] = "triton_poi_fused_";
	static const char *const known[] = {
		"", "add", "mul", "mm", "addmm", "t", "to", "copy", "unsafe", "view", "clone"};
	size_t at = sizeof(begin) - 1, adds = 0, scales = 0, i;

	if (name.len < at || memcmp(name.text, begin, at) != 0)
		return 0;
	while (at < name.len) {
		const char *end = memchr(name.text + at, '_', name.len - at);
		struct vpt_text word = {
			name.text + at, end ? (size_t)(end - name.text) - at : name.len - at};

		at += word.len + 1;
		adds += (size_t)vpt_text_is(word, "add");
		scales += (size_t)vpt_text_is(word, "mul");
		if (word.len && word.text[0] >= '0' && word.text[0] <= '9')
			continue;
		for (i = 0; i < COUNT(known) && !vpt_text_is(word, known[i]); i++)
			;
		if (i == COUNT(known))
			return 0;
	}
	return adds && scales;
}

static int is_split_k(struct vpt_text name)
{
	return vpt_text_holds(name, "plitKreduce") || vpt_text_holds(name, "plitkreduce") ||
	       vpt_text_holds(name, "educeSplitK");
}

uint8_t vpa_adapter_part(const struct vpa_kernel_class *k, struct vpt_text name)
{
	if (k->family == VPA_FAMILY_GEMM || k->family == VPA_FAMILY_REDUCE)
		return is_split_k(name)               ? VPA_PART_SPLIT_K
		       : k->family == VPA_FAMILY_GEMM ? VPA_PART_PRODUCT
						      : 0;
	if (k->family == VPA_FAMILY_LAYOUT)
		return vpa_is_marked(k->marks, VPA_MARK_DIRECT_COPY) ||
				       vpa_is_marked(k->marks, VPA_MARK_CAST)
			       ? VPA_PART_CAST
			       : 0;
	if (k->family != VPA_FAMILY_ELEMENTWISE)
		return 0;
	if (is_scale_and_add(name))
		return VPA_PART_SCALE | VPA_PART_ADD;
	return vpt_text_holds(name, "MulFunctor")        ? VPA_PART_SCALE
	       : vpt_text_holds(name, "CUDAFunctor_add") ? VPA_PART_ADD
							 : 0;
}

/* ---- ops ---- */

static uint64_t length_of(const struct vpa_adapter_op *o)
{
	return o->end_ns - o->start_ns;
}

/* How many of the `count` first ops are left without the last one, if that is such a part. */
static size_t without(const struct vpa_adapter_op *ops, size_t count, uint8_t part)
{
	return count && ops[count - 1].part == part ? count - 1 : count;
}

/* The scale and the sum, in either order. Returns how many ops are left; 0: they do not end the ops. */
static size_t before_sum(const struct vpa_adapter_op *ops, size_t count)
{
	size_t left = without(ops, count, VPA_PART_SCALE | VPA_PART_ADD), i;

	if (left < count)
		return left;
	left = without(ops, count, VPA_PART_ADD);
	if (left < count) {
		for (i = 0; i < SCALES; i++)
			left = without(ops, left, VPA_PART_SCALE);
		return left + 1 < count ? left : 0;
	}
	left = without(ops, without(ops, count, VPA_PART_SCALE), VPA_PART_ADD);
	return left + 2 == count ? left : 0;
}

static int are_of_one_shape(const struct vpa_adapter_op *a, const struct vpa_adapter_op *b)
{
	return a->kernel == b->kernel && a->blocks && a->blocks == b->blocks;
}

int vpa_adapter_ends(const struct vpa_adapter_op *ops, size_t count, struct vpa_adapter *out)
{
	const struct vpa_adapter_op *first, *second, *layer;
	size_t left = before_sum(ops, count);

	left = without(ops, left, VPA_PART_SPLIT_K);
	if (left < 3 || ops[left - 1].part != VPA_PART_PRODUCT)
		return 0;
	second = &ops[--left];
	left = without(ops, left, VPA_PART_SPLIT_K);
	if (left < 2 || ops[left - 1].part != VPA_PART_PRODUCT)
		return 0;
	first = &ops[--left];
	left = without(ops, left, VPA_PART_CAST);
	out->kernels = count - left;
	left = without(ops, left, VPA_PART_SPLIT_K);
	if (!left || ops[left - 1].part != VPA_PART_PRODUCT || are_of_one_shape(first, second))
		return 0;
	layer = &ops[left - 1];
	out->first = first->kernel;
	out->second = second->kernel;
	out->is_small = length_of(first) <= length_of(layer) / SMALL &&
			length_of(second) <= length_of(layer) / SMALL;
	return 1;
}

/* ---- pairs ---- */

struct vpa_adapter_pair *vpa_adapter_pair_of(
	struct vpa_adapter_pairs *p, const struct vpa_adapter *a)
{
	size_t i;

	for (i = 0; i < p->count; i++, p->last = p->last + 1 < p->count ? p->last + 1 : 0)
		if (p->pairs[p->last].first == a->first && p->pairs[p->last].second == a->second)
			return &p->pairs[p->last];
	if (p->count == VPA_ADAPTER_PAIRS)
		return NULL;
	p->last = p->count++;
	p->pairs[p->last] = (struct vpa_adapter_pair){.first = a->first, .second = a->second};
	return &p->pairs[p->last];
}
