/* first_use.c - idle time of a device due to first use: code was loaded or compiled, a library or the
 * driver initialised. A second run of the same work in the process would not have it.
 *
 * That is all idle time of cause module load and, before the first work, every call of 1 ms or longer
 * that allocates, launches, or has no class: the first call of a process initialises the driver, the
 * first launch loads its code. Copies, waits and what a program captures itself count as work. */
#include "analysis/folds/fold.h"

#include "analysis/cause.h"
#include "formats/memory.h"

#include <string.h>

struct state {
	uint64_t *head_ns; /* by device */
	size_t cap;
};

static int sets_up(const struct vpa_cause_piece *p)
{
	switch (p->cause) {
	case VPA_CAUSE_MODULE_LOAD:
		return 1;
	case VPA_CAUSE_ALLOCATION:
	case VPA_CAUSE_OTHER_CALL:
	case VPA_CAUSE_LAUNCH_CALL:
		return p->call && p->end_ns - p->start_ns >= VPA_LOAD_NS;
	default:
		return 0;
	}
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct state *s = state;
	size_t i;

	(void)c;
	if (vpt_grow_zeroed(&s->head_ns, &s->cap, (size_t)gap->device + 1, sizeof(*s->head_ns)))
		return VPT_ENOMEM;
	for (i = 0; i < gap->host_piece_count; i++)
		if (sets_up(&gap->host_pieces[i]))
			s->head_ns[gap->device] +=
				gap->host_pieces[i].end_ns - gap->host_pieces[i].start_ns;
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct state *s = state;
	size_t i, k;

	for (i = 0; i < out->device_count; i++) {
		struct vpa_device *d = &out->devices[i];
		uint32_t index = vpa_find_device(c->model, d->device);

		d->first_use_head_ns = index < s->cap ? s->head_ns[index] : 0;
		d->first_use_ns = d->first_use_head_ns;
		for (k = 0; k < d->cause_count; k++)
			if (d->causes[k].cause == VPA_CAUSE_MODULE_LOAD)
				d->first_use_ns += d->causes[k].ns;
	}
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->head_ns);
}

const struct vpa_fold vpa_fold_first_use = {
	.name = "first_use",
	.help = "idle time that happens only in the first run of the same work",
	.state_bytes = sizeof(struct state),
	.gap = fold_gap,
	.gap_causes = 1u << VPA_CAUSE_BEFORE_FIRST_WORK,
	.finish = finish,
	.free = free_state,
};
