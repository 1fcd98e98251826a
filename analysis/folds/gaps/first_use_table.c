/* first_use_table.c - idle time of a device due to first use: code was loaded or compiled, a library or the
 * driver initialised. A second run of the same work in the process would not have it.
 *
 * That is the idle time of cause first use (gap_first_use.c), and of cause module load in gaps that end with the
 * first op of its name on the device: what is loaded again before ops that have run before recurs. Before the first
 * work it is also every call of 1 ms or longer that allocates, launches, or has no class: the first call of a
 * process initialises the driver, the first launch loads its code. Copies, waits and what a program captures itself
 * count as work. */
#include "analysis/folds/fold.h"

#include "analysis/idle/gap_causes.h"
#include "formats/base/memory.h"

struct first_use {
	uint64_t head_ns;          /* before the first work */
	uint64_t load_ns, code_ns; /* in gaps after it: module load, and first use */
};

struct state {
	struct first_use *devices;
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

static uint64_t length_of(const struct vpa_cause_piece *p)
{
	return p->end_ns - p->start_ns;
}

/* Adds a gap that ends with the first op of its name. */
static void add_gap(struct first_use *u, const struct vpa_gap *gap)
{
	size_t i;

	for (i = 0; i < gap->piece_count; i++) {
		const struct vpa_cause_piece *p = &gap->pieces[i];

		u->load_ns += p->cause == VPA_CAUSE_MODULE_LOAD ? length_of(p) : 0;
		u->code_ns += p->cause == VPA_CAUSE_FIRST_USE ? length_of(p) : 0;
	}
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct state *s = state;
	struct first_use *u;
	size_t i;

	(void)c;
	if (!gap->first_use && !gap->host_piece_count)
		return VPT_OK;
	if (vpt_grow_zeroed(&s->devices, &s->cap, (size_t)gap->device + 1, sizeof(*s->devices)))
		return VPT_ENOMEM;
	u = &s->devices[gap->device];
	for (i = 0; i < gap->host_piece_count; i++)
		if (sets_up(&gap->host_pieces[i]))
			u->head_ns += length_of(&gap->host_pieces[i]);
	if (gap->first_use)
		add_gap(u, gap);
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct state *s = state;
	size_t i;

	for (i = 0; i < out->device_count; i++) {
		struct vpa_device *d = &out->devices[i];
		uint32_t index = vpa_find_device(c->model, d->device);
		struct first_use u = index < s->cap ? s->devices[index] : (struct first_use){0};

		d->first_use_head_ns = u.head_ns;
		d->first_use_load_ns = u.load_ns;
		d->first_use_code_ns = u.code_ns;
		d->first_use_ns = u.head_ns + u.load_ns + u.code_ns;
	}
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->devices);
}

const struct vpa_fold vpa_fold_first_use = {
	.name = "first_use",
	.help = "idle time that happens only in the first run of the same work",
	.state_bytes = sizeof(struct state),
	.gap = fold_gap,
	.finish = finish,
	.free = free_state,
};
