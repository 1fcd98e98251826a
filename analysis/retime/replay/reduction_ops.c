/* reduction_ops.c - once over the ops for what their GPU says of passes, then back: the first reductions before an optimizer step are
 * of its last pass, up to work of its thread. */
#include "analysis/retime/replay/reduction_ops.h"

#include "analysis/model/reductions.h"
#include "analysis/names/collective_kinds.h"
#include "analysis/names/families.h"
#include "analysis/report/rows/device.h"
#include "formats/base/memory.h"

/* On the way back, by GPU. */
enum place {
	PLACE_NOT_KNOWN, /* after the last optimizer step */
	PLACE_AFTER_PASS,
	PLACE_LAST_PASS,
	PLACE_EARLIER
};

struct finding {
	const struct vpa_tape *t;
	struct vpa_training *gpus;
	uint8_t *places; /* enum place */
};

/* What an op is in training. 0: nothing. */
static int is_of_training(
	const struct vpa_tape *t, const struct vpa_tape_op *o, struct vpa_training_op *out)
{
	struct vpt_text name;
	enum vpa_collective_kind kind;

	if (!o->is_kernel || o->call == VPA_TAPE_NONE)
		return 0;
	*out = (struct vpa_training_op){
		.kind = (uint64_t)o->blocks << 32 | o->name, .thread = t->calls[o->call].thread};
	if (o->family == VPA_FAMILY_OPTIMIZER)
		out->part = VPA_TRAINING_OPTIMIZER;
	if (o->family != VPA_FAMILY_COMM)
		return 1;
	name = vpt_strings_get(&t->names, o->name);
	kind = vpa_collective_kind_of(name.text, name.len);
	out->part =
		kind == VPA_COLLECTIVE_ALL_REDUCE ? VPA_TRAINING_ALL_REDUCE : VPA_TRAINING_SCATTER;
	return kind == VPA_COLLECTIVE_ALL_REDUCE || kind == VPA_COLLECTIVE_REDUCE_SCATTER;
}

/* One more op on the way back. Whether it is a reduction that is done again. */
static int is_repeated(
	const struct vpa_training *g, uint8_t *place, const struct vpa_training_op *op)
{
	int is_own = op->thread == g->thread;

	if (op->part == VPA_TRAINING_OPTIMIZER)
		*place = PLACE_AFTER_PASS;
	else if (op->part == VPA_TRAINING_WORK && is_own && *place == PLACE_LAST_PASS)
		*place = PLACE_EARLIER;
	else if (op->part == VPA_TRAINING_ALL_REDUCE && !is_own && *place == PLACE_AFTER_PASS)
		*place = PLACE_LAST_PASS;
	return op->part == VPA_TRAINING_ALL_REDUCE && !is_own && *place == PLACE_EARLIER;
}

static void mark(const struct finding *f, uint8_t *marks, uint8_t bit)
{
	struct vpa_training_op op;
	size_t i;

	for (i = f->t->op_count; i-- > 0;) {
		const struct vpa_tape_op *o = &f->t->ops[i];
		uint32_t gpu = f->t->streams[o->stream].gpu;

		/* Short ones are of statistics, as those of normalisation over ranks, which each pass needs. */
		if (f->gpus[gpu].passes && is_of_training(f->t, o, &op) &&
			is_repeated(&f->gpus[gpu], &f->places[gpu], &op) &&
			o->end_ns - o->start_ns > VPA_SMALL_COMM_NS)
			marks[i] |= bit;
	}
}

int vpa_reduction_ops_find(const struct vpa_tape *t, uint8_t *marks, uint8_t bit)
{
	struct finding f = {.t = t,
		.gpus = vpt_calloc((size_t)t->gpu_count + 1, sizeof(*f.gpus)),
		.places = vpt_calloc((size_t)t->gpu_count + 1, 1)};
	int rc = f.gpus && f.places ? VPT_OK : VPT_ENOMEM;
	struct vpa_training_op op;
	size_t i;

	for (i = 0; i < t->op_count && !rc; i++)
		if (is_of_training(t, &t->ops[i], &op))
			vpa_training_take(&f.gpus[t->streams[t->ops[i].stream].gpu], &op);
	if (!rc && vpa_training_says(f.gpus, t->gpu_count).passes)
		mark(&f, marks, bit);
	vpt_free(f.gpus);
	vpt_free(f.places);
	return rc;
}
