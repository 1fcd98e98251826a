/* chain_ops.c - finds chains on each stream of a tape. Whether a chain is an adapter, most chains with the same products tell: a first
 * pass over the ops counts them, the second one takes the ops. */
#include "analysis/retime/replay/chain_ops.h"

#include "analysis/model/adapter.h"
#include "analysis/model/unpacking.h"
#include "analysis/retime/replay/reduction_ops.h"
#include "formats/base/memory.h"

#include <string.h>

enum { KNOWN = 128 /* of a name, beside VPA_PART_* */ };

/* The last ops of a stream, the newest last. */
struct recent {
	struct vpa_adapter_op ops[VPA_ADAPTER_OPS];
	uint32_t numbers[VPA_ADAPTER_OPS];
	size_t count;
};

/* Ops of a stream that unpack a weight, if a product follows. */
struct unpacking {
	uint32_t *numbers;
	size_t count, cap;
};

struct finding {
	const struct vpa_tape *t;
	struct recent *streams;
	struct unpacking *unpackings; /* by stream */
	uint8_t *parts;               /* by name */
	uint8_t *unpacks;             /* by name: enum vpa_unpacking_part */
	struct vpa_adapter_pairs pairs;
};

static void know_name(struct finding *f, uint32_t name)
{
	struct vpt_text text = vpt_strings_get(&f->t->names, name);
	struct vpa_kernel_class klass;

	vpa_classify(text.text, text.len, &klass);
	f->parts[name] = KNOWN | vpa_adapter_part(&klass, text);
	f->unpacks[name] = (uint8_t)vpa_unpacking_part(&klass, text);
}

static uint8_t part_of(struct finding *f, const struct vpa_tape_op *o)
{
	if (!o->is_kernel)
		return 0;
	if (!f->parts[o->name])
		know_name(f, o->name);
	return f->parts[o->name] & (uint8_t)~KNOWN;
}

/* The stream's last ops with this one. */
static struct recent *add_op(struct finding *f, uint32_t number)
{
	const struct vpa_tape_op *o = &f->t->ops[number];
	struct recent *r = &f->streams[o->stream];

	if (r->count == VPA_ADAPTER_OPS) {
		memmove(r->ops, r->ops + 1, (VPA_ADAPTER_OPS - 1) * sizeof(*r->ops));
		memmove(r->numbers, r->numbers + 1, (VPA_ADAPTER_OPS - 1) * sizeof(*r->numbers));
		r->count--;
	}
	r->ops[r->count] = (struct vpa_adapter_op){.start_ns = o->start_ns,
		.end_ns = o->end_ns,
		.kernel = o->name,
		.part = part_of(f, o)};
	r->numbers[r->count++] = number;
	return r;
}

static void find_pairs(struct finding *f)
{
	struct vpa_adapter_pair *pair;
	struct vpa_adapter a;
	uint32_t i;

	for (i = 0; i < f->t->op_count; i++) {
		const struct recent *r = add_op(f, i);

		pair = vpa_adapter_ends(r->ops, r->count, &a) ? vpa_adapter_pair_of(&f->pairs, &a)
							      : NULL;
		if (!pair)
			continue;
		pair->count++;
		pair->small += (uint64_t)a.is_small;
	}
}

static void take_adapters(struct finding *f, uint8_t *chains)
{
	const struct vpa_adapter_pair *pair;
	struct vpa_adapter a;
	uint32_t i;
	size_t k;

	for (i = 0; i < f->t->op_count; i++) {
		const struct recent *r = add_op(f, i);

		pair = vpa_adapter_ends(r->ops, r->count, &a) ? vpa_adapter_pair_of(&f->pairs, &a)
							      : NULL;
		for (k = 1; pair && vpa_adapter_pair_is_one(pair) && k <= a.kernels; k++)
			chains[r->numbers[r->count - k]] |= VPA_CHAIN_ADAPTER;
	}
}

/* After names are known. Copies stay: what they bring may be for something else. */
static int take_unpacking(struct finding *f, uint8_t *chains)
{
	uint32_t i;
	size_t k;

	for (i = 0; i < f->t->op_count; i++) {
		const struct vpa_tape_op *o = &f->t->ops[i];
		struct unpacking *u = &f->unpackings[o->stream];
		enum vpa_unpacking_part part =
			o->is_kernel ? (enum vpa_unpacking_part)f->unpacks[o->name]
				     : VPA_UNPACKING_GOES_ON;

		if (part == VPA_UNPACKING_BEGINS || (part == VPA_UNPACKING_GOES_ON && u->count)) {
			if (vpt_grow(&u->numbers, &u->cap, u->count + 1, sizeof(*u->numbers)))
				return VPT_ENOMEM;
			u->numbers[u->count++] = i;
			continue;
		}
		for (k = 0; part == VPA_UNPACKING_IS_USED && k < u->count; k++)
			if (f->t->ops[u->numbers[k]].is_kernel)
				chains[u->numbers[k]] |= VPA_CHAIN_UNPACKING;
		u->count = 0;
	}
	return VPT_OK;
}

static void free_finding(struct finding *f)
{
	size_t i;

	for (i = 0; f->unpackings && i < f->t->stream_count; i++)
		vpt_free(f->unpackings[i].numbers);
	vpt_free(f->unpackings);
	vpt_free(f->streams);
	vpt_free(f->parts);
	vpt_free(f->unpacks);
	vpt_free(f);
}

int vpa_chain_ops_find(const struct vpa_tape *t, uint8_t **out)
{
	struct finding *f = vpt_calloc(1, sizeof(*f));
	int rc = VPT_ENOMEM;

	*out = vpt_calloc(t->op_count + 1, 1);
	if (!f)
		return VPT_ENOMEM;
	f->t = t;
	f->streams = vpt_calloc(t->stream_count + 1, sizeof(*f->streams));
	f->unpackings = vpt_calloc(t->stream_count + 1, sizeof(*f->unpackings));
	f->parts = vpt_calloc(t->names.count + 1, 1);
	f->unpacks = vpt_calloc(t->names.count + 1, 1);
	if (*out && f->streams && f->unpackings && f->parts && f->unpacks) {
		find_pairs(f);
		memset(f->streams, 0, t->stream_count * sizeof(*f->streams));
		take_adapters(f, *out);
		rc = take_unpacking(f, *out);
		rc = rc ? rc : vpa_reduction_ops_find(t, *out, VPA_CHAIN_REDUCTION);
		rc = rc ? rc : vpa_recomputed_ops_find(t, *out);
	}
	free_finding(f);
	return rc;
}
