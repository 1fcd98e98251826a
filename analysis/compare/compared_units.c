/* compared_units.c - reads units from reports, and pairs them. */
#include "analysis/compare/comparison.h"

#include "formats/base/error.h"
#include "formats/base/map.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

/* ---- parts ---- */

/* Adds what the host did in idle time of a cause. */
static void add_instead(uint64_t *sums, enum vpa_cause cause, enum vpa_cause host, uint64_t ns)
{
	unsigned number = vpa_instead_number(cause, host);

	if (number < VPA_INSTEADS)
		vpt_sat_add_to(&sums[VPA_OVERVIEW_PARTS + number], ns);
}

static int add_rows(
	const struct vpa_block_part *parts, size_t count, uint64_t *sums, int *lacks_instead)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		const struct vpa_block_part *p = &parts[i];

		if (p->part == VPA_PART_UNKNOWN)
			return 0;
		vpt_sat_add_to(&sums[p->kind == VPA_PART_PAUSED ? (unsigned)VPA_UNIT_PAUSED
								: p->part - VPA_PART_FIRST],
			p->ns);
		if (p->kind != VPA_PART_IDLE)
			continue;
		*lacks_instead |= !p->instead;
		for (k = 0; k < p->instead_count; k++)
			add_instead(sums, vpa_part_cause(p->part), p->instead[k].host,
				p->instead[k].ns);
	}
	return count > 0;
}

/* ---- blocks ---- */

/* Whether no two measured blocks have the same index. They are not in order of it. */
static int differ(const struct vpa_blocks *b)
{
	struct vpt_map seen = {NULL, 0, 0};
	int rc = 1;
	size_t i;

	for (i = 0; i < b->count && rc == 1; i++) {
		uint64_t hash = vpt_hash_number((uint64_t)b->series[i].index), at = hash;
		uint32_t other;

		if (b->series[i].warmup)
			continue;
		while ((other = vpt_map_next(&seen, hash, &at)) != VPT_MAP_NONE)
			if (b->series[other].index == b->series[i].index)
				rc = 0;
		if (rc && (i >= VPT_MAP_NONE || vpt_map_put(&seen, hash, (uint32_t)i)))
			rc = VPT_ENOMEM;
	}
	vpt_map_free(&seen);
	return rc;
}

/* Whether all measured blocks have an index of their own; VPT_ENOMEM. */
static int has_indices(const struct vpa_blocks *b)
{
	int64_t most = -1;
	int rises = 1;
	size_t i;

	for (i = 0; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		if (b->series[i].index < 0)
			return 0;
		rises &= b->series[i].index > most;
		most = b->series[i].index;
	}
	return rises ? 1 : differ(b); /* nearly always they rise */
}

static int by_key(const void *pa, const void *pb)
{
	const struct vpa_unit *a = pa, *b = pb;

	if (a->request != b->request)
		return a->request < b->request ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int blocks_of(const struct vpa_report *r, struct vpa_arena *arena, struct vpa_units *out)
{
	uint64_t request = 0;
	size_t i, k, count = 0;

	for (i = 0; i < r->request_count; i++)
		count += r->requests[i].blocks.measured;
	out->units = vpa_arena_alloc(arena, count, sizeof(*out->units));
	if (!out->units)
		return VPT_ENOMEM;
	for (i = 0; i < r->request_count; i++) {
		const struct vpa_blocks *b = &r->requests[i].blocks;
		int indexed = has_indices(b);

		if (indexed < 0)
			return VPT_ENOMEM;
		out->in_window += b->count;
		for (k = 0; k < b->count; k++) {
			const struct vpa_block_row *row = &b->series[k];

			if (row->warmup)
				continue;
			out->units[out->count++] = (struct vpa_unit){.request = request,
				.index = indexed ? row->index : (int64_t)k,
				.period_ns = row->period_ns,
				.frames = row->frames,
				.devices = row->devices,
				.busy_ns = row->busy_ns,
				.idle_ns = row->idle_ns,
				.paused_ns = row->paused_ns,
				.parts_ns = row->parts_ns,
				.touched = row->touched};
		}
		request += b->measured > 0;
	}
	qsort(out->units, out->count, sizeof(*out->units), by_key);
	return VPT_OK;
}

/* ---- steps ---- */

/* Whether the steps' places are known: reports of earlier versions do not say, and have no steps in blocks. */
static int orders_rise(const struct vpa_report *r)
{
	size_t i;

	for (i = 1; i < r->step_part_count; i++)
		if (r->step_parts[i].request == r->step_parts[i - 1].request &&
			r->step_parts[i].order <= r->step_parts[i - 1].order)
			return 0;
	return 1;
}

/* The only one, which no other follows: from its start to its end. */
static int only_step_of(const struct vpa_report *r, struct vpa_arena *arena, struct vpa_units *out)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t *parts = vpa_arena_alloc(arena, VPA_UNIT_PARTS, sizeof(*parts));

	out->units = vpa_arena_alloc(arena, 1, sizeof(*out->units));
	if (!out->units || !parts)
		return VPT_ENOMEM;
	out->units[0] = (struct vpa_unit){.block = -1,
		.period_ns = unit.span_ns,
		.devices = unit.devices,
		.busy_ns = unit.busy_ns,
		.idle_ns = unit.idle_ns,
		.touched = vpa_is_touched(r, unit.start_ns, unit.end_ns)};
	if (add_rows(r->only_step.parts, r->only_step.part_count, parts,
		    &out->units[0].lacks_instead))
		out->units[0].parts_ns = parts;
	out->count = out->in_window = 1;
	return VPT_OK;
}

static int marked_of(const struct vpa_report *r, enum vpa_unit_kind kind, struct vpa_arena *arena,
	struct vpa_units *out)
{
	size_t i;
	int rises = orders_rise(r);
	int64_t place = 0;

	if (!vpa_unit_count(r, kind))
		return VPT_OK;
	if (!r->step_part_count)
		return only_step_of(r, arena, out);
	out->units = vpa_arena_alloc(arena, r->step_part_count, sizeof(*out->units));
	if (!out->units)
		return VPT_ENOMEM;
	for (i = 0; i < r->step_part_count; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];

		if (!rises)
			place = i && r->step_parts[i - 1].request == s->request ? place + 1 : 0;
		out->units[out->count++] = (struct vpa_unit){.request = s->request,
			.index = rises ? s->order : place,
			.block = s->block,
			.in_block = s->order_in_block,
			.period_ns = s->period_ns,
			.devices = s->devices,
			.busy_ns = s->busy_ns,
			.idle_ns = s->idle_ns,
			.paused_ns = s->paused_ns,
			.parts_ns = s->parts_ns,
			.touched = vpa_is_touched(
				r, s->start_ns, vpt_sat_add(s->start_ns, s->period_ns))};
	}
	out->in_window = r->steps_marked;
	return VPT_OK;
}

/* Whether some steps are known to be followed by a pass: reports of earlier versions do not say. */
static int says_followed(const struct vpa_report *r, enum vpa_unit_kind kind)
{
	size_t i, k;

	for (i = 0; i < r->inferred_count; i++) {
		struct vpa_unit_turns turns = vpa_unit_turns_of(&r->inferred[i], kind);

		for (k = 0; k < turns.count; k++)
			if (turns.at[k].followed)
				return 1;
	}
	return 0;
}

static int inferred_of(const struct vpa_report *r, struct vpa_arena *arena, struct vpa_units *out)
{
	int all = !says_followed(r, out->kind);
	size_t i, k, count = 0;

	for (i = 0; i < r->inferred_count; i++)
		count += vpa_unit_turns_of(&r->inferred[i], out->kind).count;
	out->units = vpa_arena_alloc(arena, count, sizeof(*out->units));
	if (!out->units)
		return VPT_ENOMEM;
	for (i = 0; i < r->inferred_count; i++) {
		struct vpa_unit_turns turns = vpa_unit_turns_of(&r->inferred[i], out->kind);

		for (k = 0; k < turns.count; k++) {
			const struct vpa_inferred_step *s = &turns.at[k];
			uint64_t known = vpt_sat_add(s->busy_ns, s->idle_ns);

			if (!all && !s->followed)
				continue;
			out->units[out->count++] = (struct vpa_unit){.request = i,
				.index = (int64_t)k,
				.period_ns = s->period_ns,
				.devices = 1,
				.busy_ns = s->busy_ns,
				.idle_ns = s->idle_ns,
				.paused_ns = s->period_ns > known ? s->period_ns - known : 0,
				.touched = r->inferred[i].touched};
		}
	}
	out->in_window = count;
	return VPT_OK;
}

/* ---- instances ---- */

static int instances_of(
	const struct vpa_range_row *range, struct vpa_arena *arena, struct vpa_units *out)
{
	int64_t index = 0;
	size_t i;

	out->units = vpa_arena_alloc(arena, range->instance_count, sizeof(*out->units));
	if (!out->units)
		return VPT_ENOMEM;
	for (i = 0; i < range->instance_count; i++) {
		const struct vpa_range_instance *instance = &range->instances[i];

		index = i && range->instances[i - 1].device == instance->device ? index + 1 : 0;
		if (!instance->envelope_ns)
			continue;
		out->units[out->count++] = (struct vpa_unit){.request = instance->device,
			.index = index,
			.period_ns = instance->envelope_ns,
			.devices = 1,
			.busy_ns = instance->envelope_ns - instance->idle_ns,
			.idle_ns = instance->idle_ns,
			.touched = vpa_is_touched(out->report, instance->first_ns,
				instance->first_ns + instance->envelope_ns)};
	}
	out->in_window = range->gpu.count;
	return VPT_OK;
}

/* ---- the window ---- */

static int window_of(const struct vpa_report *r, struct vpa_arena *arena, struct vpa_units *out)
{
	uint64_t *parts = vpa_arena_alloc(arena, VPA_OVERVIEW_ALL, sizeof(*parts)), known = 0;
	struct vpa_unit *u = vpa_arena_alloc(arena, 1, sizeof(*u));
	size_t i, k;

	if (!parts || !u)
		return VPT_ENOMEM;
	*out = (struct vpa_units){r, VPA_UNIT_WINDOW, u, r->device_count > 0, 1};
	u->period_ns = vpa_window_ns(r);
	u->devices = (unsigned)r->device_count;
	u->touched = r->touched;
	for (i = 0; i < r->family_count; i++) {
		vpt_sat_add_to(&parts[r->families[i].family], r->families[i].exclusive_ns);
		vpt_sat_add_to(&known, r->families[i].exclusive_ns);
	}
	for (i = 0; i < r->device_count; i++) {
		vpt_sat_add_to(&u->busy_ns, r->devices[i].busy_ns);
		vpt_sat_add_to(&u->idle_ns, r->devices[i].window_idle_ns);
		for (k = 0; k < r->devices[i].cause_count; k++) {
			const struct vpa_idle_part *p = &r->devices[i].causes[k];

			vpt_sat_add_to(&parts[VPA_OVERVIEW_IDLE + p->cause], p->ns);
			vpt_sat_add_to(&known, p->ns);
		}
		u->lacks_instead |= !r->devices[i].instead;
		for (k = 0; k < r->devices[i].instead_count; k++) {
			const struct vpa_instead_row *instead = &r->devices[i].instead[k];

			add_instead(parts, instead->cause, instead->host, instead->ns);
		}
	}
	if (known == vpt_sat_add(u->busy_ns, u->idle_ns))
		u->parts_ns = parts;
	return VPT_OK;
}

/* ---- requests ---- */

static int add_request(const struct vpa_request *q, uint64_t request, struct vpa_arena *arena,
	struct vpa_unit *out)
{
	const struct vpa_request_gpu *g = &q->gpu;
	uint64_t *parts = vpa_arena_alloc(arena, VPA_UNIT_PARTS, sizeof(*parts));

	if (!parts)
		return VPT_ENOMEM;
	*out = (struct vpa_unit){.request = request,
		.period_ns = g->period_ns,
		.frames = q->frames,
		.devices = g->devices,
		.busy_ns = g->busy_ns,
		.idle_ns = g->idle_ns,
		.paused_ns = g->paused_ns,
		.touched = q->touched};
	if (add_rows(g->parts, g->part_count, parts, &out->lacks_instead))
		out->parts_ns = parts;
	return VPT_OK;
}

static int requests_of(const struct vpa_report *r, struct vpa_arena *arena, struct vpa_units *out)
{
	size_t i, count = 0;

	for (i = 0; i < r->request_count; i++)
		count += r->requests[i].gpu.period_ns > 0;
	out->units = vpa_arena_alloc(arena, count, sizeof(*out->units));
	if (!out->units)
		return VPT_ENOMEM;
	for (i = 0; i < r->request_count; i++) {
		const struct vpa_request *q = &r->requests[i];

		if (q->gpu.period_ns && add_request(q, out->count, arena, &out->units[out->count]))
			return VPT_ENOMEM;
		out->count += q->gpu.period_ns > 0;
	}
	out->in_window = r->request_count;
	return VPT_OK;
}

int vpa_units_of(const struct vpa_report *r, enum vpa_unit_kind kind,
	const struct vpa_range_row *range, struct vpa_arena *arena, struct vpa_units *out)
{
	*out = (struct vpa_units){.report = r, .kind = kind};
	if (kind == VPA_UNIT_BLOCK)
		return blocks_of(r, arena, out);
	if (kind == VPA_UNIT_REQUEST)
		return requests_of(r, arena, out);
	if (kind == VPA_UNIT_STEP || kind == VPA_UNIT_ITERATION)
		return marked_of(r, kind, arena, out);
	if (vpa_unit_is_inferred(kind))
		return inferred_of(r, arena, out);
	if (kind == VPA_UNIT_INSTANCE)
		return range ? instances_of(range, arena, out) : VPT_OK;
	return window_of(r, arena, out);
}

/* ---- pairs ---- */

static int by_block(const void *pa, const void *pb)
{
	const struct vpa_unit *a = pa, *b = pb;

	if (a->request != b->request)
		return a->request < b->request ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->in_block < b->in_block ? -1 : a->in_block > b->in_block;
}

/* Sorts steps by block. Returns 0, and their old order, if some are in none, or two have one place. */
static int sort_by_block(struct vpa_units *u)
{
	size_t i;
	int is_unique = 1;

	for (i = 0; i < u->count; i++)
		if (u->units[i].block < 0)
			return 0;
	qsort(u->units, u->count, sizeof(*u->units), by_block);
	for (i = 1; i < u->count; i++)
		is_unique &= by_block(&u->units[i - 1], &u->units[i]) != 0;
	return is_unique;
}

/* Sorts all series, and returns the order in which they now are. */
static int (*sort_all(struct vpa_units *all, size_t count))(const void *, const void *)
{
	size_t i;
	int by_blocks = count && all[0].kind == VPA_UNIT_STEP;

	for (i = 0; i < count && by_blocks; i++)
		by_blocks = sort_by_block(&all[i]);
	for (i = 0; i < count && !by_blocks; i++)
		if (all[i].count)
			qsort(all[i].units, all[i].count, sizeof(*all[i].units), by_key);
	return by_blocks ? by_block : by_key;
}

size_t vpa_units_pair(struct vpa_units *all, size_t count)
{
	int (*order)(const void *, const void *) = sort_all(all, count);
	size_t i, k, paired = 0;

	for (i = 0; count && i < all[0].count; i++) {
		struct vpa_unit *found[2 * 64] = {&all[0].units[i]};

		for (k = 1; k < count && k < 2 * 64; k++) {
			found[k] = all[k].count
					   ? bsearch(&all[0].units[i], all[k].units, all[k].count,
						     sizeof(*all[k].units), order)
					   : NULL;
			if (!found[k])
				break;
		}
		if (k < count)
			continue;
		while (k-- > 0)
			found[k]->paired = 1;
		paired++;
	}
	return paired;
}

/* ---- sums ---- */

/* The sums of all units, where the parts of single ones are not known. */
static int sum_totals(const struct vpa_units *u, uint64_t *sums, int *lacks_instead)
{
	const struct vpa_report *r = u->report;
	size_t i;

	for (i = 0; i < u->count; i++)
		if (!u->units[i].paired)
			return 0;
	if (u->kind == VPA_UNIT_STEP || u->kind == VPA_UNIT_ITERATION)
		return add_rows(
			r->step_totals.parts, r->step_totals.part_count, sums, lacks_instead);
	for (i = 0; u->kind == VPA_UNIT_BLOCK && i < r->request_count; i++) {
		const struct vpa_blocks *b = &r->requests[i].blocks;

		if (b->measured && !add_rows(b->parts, b->part_count, sums, lacks_instead))
			return 0;
	}
	return u->kind == VPA_UNIT_BLOCK;
}

static void add_unit(const struct vpa_unit *unit, int by_part, uint64_t *sums)
{
	size_t i;

	vpt_sat_add_to(&sums[VPA_UNIT_PAUSED], unit->paused_ns);
	if (!by_part) {
		vpt_sat_add_to(&sums[VPA_UNIT_BUSY], unit->busy_ns);
		vpt_sat_add_to(&sums[VPA_UNIT_IDLE], unit->idle_ns);
		return;
	}
	for (i = 0; i < VPA_OVERVIEW_ALL; i++)
		vpt_sat_add_to(&sums[i], unit->parts_ns[i]);
}

int vpa_units_sum(const struct vpa_units *u, int by_part, uint64_t *sums, int *lacks_instead)
{
	size_t i;

	for (i = 0; i < u->count && by_part; i++)
		if (!u->units[i].parts_ns)
			return sum_totals(u, sums, lacks_instead);
	for (i = 0; i < u->count; i++)
		if (u->units[i].paired) {
			add_unit(&u->units[i], by_part, sums);
			*lacks_instead |= u->units[i].lacks_instead;
		}
	return 1;
}
