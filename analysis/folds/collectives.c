/* collectives.c - waiting in communication. A collective begins on each rank when that rank is ready and ends
 * after the last one is. So a call's time beyond what the transfer takes is time spent waiting for other ranks. No record says how long
 * a transfer takes. It is at most
 *
 *	the shortest call of as many bytes or more
 *	the shortest call of fewer bytes, times how many times as many bytes these are: latency weighs less in a larger message
 *	VPA_LATENCY_NS, if the message is small, or the call a barrier
 *
 * of calls of one kind and communicator, whose links are the same. In a broadcast or a send some ranks leave before the others have their
 * data, so only calls of one size, kernel and grid are compared.
 *
 * Without a size, it is at most the shortest call of its kernel and grid on its stream, provided that such calls move the same
 * number of bytes. Communicators have streams of their own: a small group may move less with the same kernel.
 *
 * Calls cut by the window do not count for the shortest.
 *
 * Transfers of one size differ, too, by what else uses the links: only a call half as long again as its transfer, or longer, has
 * waited. */
#include "analysis/folds/fold.h"

#include "analysis/base/durations.h"
#include "analysis/base/index.h"
#include "analysis/base/intervals.h"
#include "analysis/model/collective_facts.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

/* What a small message takes is latency: tens of microseconds within a host, and below 100 also where a tree of many hosts is some
 * steps deep. 64 KiB take 2 us at the 30 GB/s of a PCIe bus, and 5 at the 12.5 of a network. */
enum { VPA_LATENCY_NS = 100000, SMALL_MESSAGE_BYTES = 65536 };

struct row {
	uint64_t count, total_ns, shortest_ns;
	uint32_t device;
	uint64_t transfer_ns; /* of a call, at most */
	struct vpa_collective_said said;
};

/* Calls of a row and place that are about as long, by vpa_durations_bucket(). */
struct part {
	uint64_t count, total_ns;
};

struct state {
	struct vpa_index index; /* (stream, kernel), (annotation, grid) */
	struct row *rows;
	size_t row_cap;
	struct vpa_index places; /* row, (place of launch, length) */
	struct part *parts;
	size_t part_cap;
};

static int add(struct state *s, const struct vpa_model *m, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	uint64_t kernel = (uint64_t)ops->stream[i] << 32 | ops->kernel[i];
	uint64_t at_ns = ops->launch_start_ns[i], ns = ops->end_ns[i] - ops->start_ns[i];
	uint64_t call = (uint64_t)vpa_collective_payload(m, stretch, at_ns) << 32 | ops->blocks[i];
	uint32_t at = vpa_index_row(
			 &s->index, kernel, call, &s->rows, &s->row_cap, sizeof(*s->rows)),
		 in;
	struct row *row;

	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	in = vpa_index_row(&s->places, at,
		(uint64_t)vpa_collective_place(m, stretch, at_ns) << 32 | vpa_durations_bucket(ns),
		&s->parts, &s->part_cap, sizeof(*s->parts));
	if (in == UINT32_MAX)
		return VPT_ENOMEM;
	row = &s->rows[at];
	row->device = ops->device[i];
	row->shortest_ns = row->count++ ? vpa_earlier(row->shortest_ns, ns) : ns;
	row->total_ns += ns;
	s->parts[in].count++;
	s->parts[in].total_ns += ns;
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_model *m = c->model;
	size_t i, k, stretch = 0;
	int rc = VPT_OK;

	for (k = 0; k < ops->other_count && !rc; k++) {
		i = ops->others[k];
		if (ops->is_comm[i] && ops->start_ns[i] > m->window_start_ns &&
			ops->end_ns[i] < m->window_end_ns)
			rc = add(state, m, ops, i, vpa_ops_stretch(ops, i, &stretch));
	}
	return rc;
}

/* ---- how long a transfer takes ---- */

/* Of calls without a size: the shortest of their kernel and grid. */
static int bound_by_grid(struct state *s)
{
	struct vpa_index grids = {0};
	struct row *shortest = NULL;
	size_t cap = 0, i;
	int pass, rc = VPT_OK;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < s->index.count && !rc; i++) {
			const struct vpa_index_entry *e = &s->index.entries[i];
			struct row *row = &s->rows[i], *grid;
			uint32_t at = vpa_index_row(
				&grids, e->a, (uint32_t)e->b, &shortest, &cap, sizeof(*shortest));

			if (at == UINT32_MAX) {
				rc = VPT_ENOMEM;
				continue;
			}
			grid = &shortest[at];
			if (!grid->count++ || row->shortest_ns < grid->shortest_ns)
				grid->shortest_ns = row->shortest_ns;
			row->transfer_ns = row->said.bytes ? row->shortest_ns : grid->shortest_ns;
		}
	vpa_index_free(&grids);
	vpt_free(shortest);
	return rc;
}

/* Whether the calls tell about each other: 0, or the order. */
static int compare_links(const struct row *a, const struct row *b)
{
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->said.kind != b->said.kind)
		return a->said.kind < b->said.kind ? -1 : 1;
	return strcmp(a->said.group, b->said.group);
}

static int compare(const void *pa, const void *pb)
{
	const struct row *a = *(struct row *const *)pa, *b = *(struct row *const *)pb;
	int order = compare_links(a, b);

	if (order || a->said.bytes == b->said.bytes)
		return order;
	return a->said.bytes < b->said.bytes ? -1 : 1;
}

static int tells_others(const struct row *row)
{
	return row->said.bytes && row->said.group && vpa_collective_is_symmetric(row->said.kind);
}

/* Bounds each call by those of as many bytes or more, and by those of fewer. */
static void bound_by_others(struct row **rows, size_t count)
{
	const struct row *fastest = NULL;
	uint64_t least_ns = UINT64_MAX;
	size_t i;

	for (i = count; i-- > 0;) {
		if (i + 1 < count && compare_links(rows[i], rows[i + 1]))
			least_ns = UINT64_MAX;
		least_ns = vpa_earlier(least_ns, rows[i]->shortest_ns);
		rows[i]->transfer_ns = vpa_earlier(rows[i]->transfer_ns, least_ns);
	}
	for (i = 0; i < count; i++) {
		if (!fastest || compare_links(fastest, rows[i]) ||
			(double)rows[i]->shortest_ns * (double)fastest->said.bytes <
				(double)fastest->shortest_ns * (double)rows[i]->said.bytes)
			fastest = rows[i];
		rows[i]->transfer_ns = vpa_earlier(
			rows[i]->transfer_ns, vpt_sat_scale(fastest->shortest_ns,
						      rows[i]->said.bytes, fastest->said.bytes));
	}
}

static int find_transfers(
	struct state *s, const struct vpa_fold_context *c, struct vpa_arena *texts)
{
	struct row **rows = vpt_alloc(s->index.count + 1, sizeof(*rows));
	const struct vpa_model *m = c->model;
	size_t count = 0, i;
	int rc = rows ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < s->index.count && !rc; i++) {
		const struct vpa_index_entry *e = &s->index.entries[i];
		struct row *row = &s->rows[i];

		vpa_collective_describe(texts, vpa_name(m, m->kernels[(uint32_t)e->a].name),
			vpa_name(m, (uint32_t)(e->b >> 32)), &row->said);
		if (tells_others(row))
			rows[count++] = row;
	}
	rc = rc ? rc : bound_by_grid(s);
	if (!rc && count) {
		qsort(rows, count, sizeof(*rows), compare);
		bound_by_others(rows, count);
	}
	for (i = 0; i < s->index.count && !rc; i++) {
		const struct vpa_collective_said *said = &s->rows[i].said;

		if (said->kind == VPA_COLLECTIVE_BARRIER ||
			(said->bytes && said->bytes <= SMALL_MESSAGE_BYTES))
			s->rows[i].transfer_ns =
				vpa_earlier(s->rows[i].transfer_ns, VPA_LATENCY_NS);
	}
	vpt_free(rows);
	return rc;
}

/* ---- what the report says ---- */

static struct vpa_device *device_of(
	struct vpa_report *out, const struct vpa_model *m, const struct row *row)
{
	return (struct vpa_device *)vpa_report_device(out, m->devices[row->device]);
}

/* What calls of about one length wait: nothing, if that is ordinary for their transfer. */
static uint64_t wait_of(const struct row *row, const struct part *p)
{
	uint64_t transfers_ns = p->count * row->transfer_ns;

	return p->total_ns >= transfers_ns + transfers_ns / 2 ? p->total_ns - transfers_ns : 0;
}

static void write_row(const struct row *row, struct vpa_device *d)
{
	d->comm_ns += row->total_ns;
	d->comm_sized_ns += row->said.bytes ? row->total_ns : 0;
	if (row->transfer_ns > VPA_SMALL_COMM_NS)
		return;
	d->comm_small_calls += row->count;
	d->comm_small_ns += row->count * row->transfer_ns;
}

struct place_sum {
	uint64_t wait_ns, total_ns;
};

/* What each device waits, and the place where it waits most. */
static int write_places(
	const struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_index places = {0}; /* device, place */
	struct place_sum *sums = NULL;
	size_t cap = 0, i;
	int rc = VPT_OK;

	for (i = 0; i < s->places.count && !rc; i++) {
		const struct row *row = &s->rows[s->places.entries[i].a];
		struct vpa_device *d = device_of(out, c->model, row);
		uint64_t wait_ns = wait_of(row, &s->parts[i]);
		uint32_t at = vpa_index_row(&places, row->device, s->places.entries[i].b >> 32,
			&sums, &cap, sizeof(*sums));

		if (at == UINT32_MAX) {
			rc = VPT_ENOMEM;
			continue;
		}
		sums[at].wait_ns += wait_ns;
		sums[at].total_ns += s->parts[i].total_ns;
		if (d)
			d->comm_wait_ns += wait_ns;
	}
	for (i = 0; i < places.count && !rc; i++) {
		const struct row at = {.device = (uint32_t)places.entries[i].a};
		struct vpa_device *d = device_of(out, c->model, &at);

		if (!d || sums[i].wait_ns <= d->comm_wait_place_ns)
			continue;
		d->comm_wait_place =
			vpa_fold_place(&out->arena, c->model, (uint32_t)places.entries[i].b);
		d->comm_wait_place_ns = sums[i].wait_ns;
		d->comm_place_ns = sums[i].total_ns;
	}
	vpa_index_free(&places);
	vpt_free(sums);
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	int rc = find_transfers(s, c, &out->arena);
	size_t i;

	for (i = 0; i < s->index.count && !rc; i++) {
		struct vpa_device *d = device_of(out, c->model, &s->rows[i]);

		if (d)
			write_row(&s->rows[i], d);
	}
	return rc ? rc : write_places(s, c, out);
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpa_index_free(&s->places);
	vpt_free(s->rows);
	vpt_free(s->parts);
}

const struct vpa_fold vpa_fold_comm = {
	.name = "comm",
	.help = "communication of each GPU, and how much of it waited for other ranks",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};
