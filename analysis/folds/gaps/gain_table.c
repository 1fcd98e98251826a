/* gain_table.c - the time each device would save without one cause of its idle time. gain.c computes it for
 * causes of host time; for what the device itself waited for it is the sum of the pieces. */
#include "analysis/folds/fold.h"

#include <stdlib.h>

static struct vpa_gain_row row_of(
	const struct vpa_gain *gain, const struct vpa_device *d, enum vpa_cause cause)
{
	struct vpa_gain_row row = {.cause = cause};
	size_t i;

	if (vpa_gain_is_counted(cause)) {
		row.ns = gain->ns[cause - VPA_GAIN_FIRST];
		row.shared_ns = row.ns - gain->own_ns[cause - VPA_GAIN_FIRST];
		return row;
	}
	for (i = 0; i < d->cause_count; i++)
		row.ns += d->causes[i].cause == cause ? d->causes[i].ns : 0;
	return row;
}

static struct vpa_wait_gain wait_of(const struct vpa_gain *gain, enum vpa_cause cause, size_t part)
{
	uint64_t ns = gain->ns[part];

	return (struct vpa_wait_gain){
		.row = {.cause = cause, .ns = ns, .shared_ns = ns - gain->own_ns[part]},
		.claim_ns = gain->claim_ns[part]};
}

static void set_parts(struct vpa_device *d, const struct vpa_gain *gain)
{
	d->small_reads = wait_of(gain, VPA_CAUSE_BLOCKING_COPY, VPA_GAIN_SMALL_READS);
	d->large_copies = wait_of(gain, VPA_CAUSE_BLOCKING_COPY, VPA_GAIN_LARGE_COPIES);
	d->other_syncs = wait_of(gain, VPA_CAUSE_SYNC, VPA_GAIN_OTHER_SYNCS);
	d->waits = wait_of(gain, VPA_CAUSE_SYNC, VPA_GAIN_WAITS);
	d->half_code_ns = gain->ns[VPA_GAIN_HALF_CODE];
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_gain_row *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->cause < b->cause ? -1 : a->cause > b->cause;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	size_t i;
	unsigned cause;

	(void)state;
	for (i = 0; i < out->device_count; i++) {
		struct vpa_device *d = &out->devices[i];
		uint32_t index = vpa_find_device(c->model, d->device);

		d->gains = vpa_arena_alloc(&out->arena, VPA_CAUSES, sizeof(*d->gains));
		if (!d->gains)
			return VPT_ENOMEM;
		for (cause = 0; cause < VPA_CAUSES; cause++) {
			struct vpa_gain_row *row = &d->gains[d->gain_count];

			if (!vpa_cause_has_gain((enum vpa_cause)cause))
				continue;
			*row = row_of(&c->idle->devices[index].gain, d, (enum vpa_cause)cause);
			d->gain_count += row->ns > 0;
		}
		set_parts(d, &c->idle->devices[index].gain);
		qsort(d->gains, d->gain_count, sizeof(*d->gains), compare_rows);
	}
	return VPT_OK;
}

const struct vpa_fold vpa_fold_gains = {
	.name = "gains",
	.help = "time that each GPU would save without one cause of its idle time",
	.finish = finish,
};
