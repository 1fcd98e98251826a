/* unit.c - chooses the unit of a report, and sums its units. */
#include "analysis/pipeline/unit.h"

#include "analysis/base/intervals.h"
#include "analysis/report/overview.h"
#include "formats/base/saturate.h"

#include <string.h>

struct vpa_unit_turns vpa_unit_turns_of(const struct vpa_inferred *row, enum vpa_unit_kind kind)
{
	return kind == VPA_UNIT_ROUND
		       ? (struct vpa_unit_turns){row->rounds, row->round_count,
				 row->round_left_first_ns}
		       : (struct vpa_unit_turns){row->steps, row->step_count, row->left_first_ns};
}

/* ---- the order ---- */

const struct vpa_unit_choice *vpa_unit_next(const struct vpa_unit_choice *choice, int lacks_vae)
{
	static const struct vpa_unit_choice order[] = {
		{.kind = VPA_UNIT_REQUEST,
			.least = VPA_UNIT_REQUESTS}, /* where blocks lack the VAE's work */
		{.kind = VPA_UNIT_BLOCK, .least = 1},
		{.kind = VPA_UNIT_REQUEST, .least = VPA_UNIT_REQUESTS},
		{.kind = VPA_UNIT_STEP, .least = 1},
		{.kind = VPA_UNIT_ITERATION, .least = 1},
		{.kind = VPA_UNIT_REQUEST, .least = 1},
		{.kind = VPA_UNIT_INSTANCE, .least = 1, .of_series = 1},
		{.kind = VPA_UNIT_ROUND, .least = 1},
		{.kind = VPA_UNIT_INFERRED, .least = 1},
		{.kind = VPA_UNIT_INSTANCE, .least = 1},
		{.kind = VPA_UNIT_WINDOW, .least = 1},
	};

	if (!choice)
		return lacks_vae ? order : order + 1;
	return choice->kind == VPA_UNIT_WINDOW ? NULL : choice + 1;
}

enum vpa_rest vpa_unit_after_blocks(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		const struct vpa_blocks *b = &r->requests[i].blocks;

		if (b->measured && b->after)
			return b->after;
		if (b->measured && b->denoise_rate > 0) /* of a report of an earlier version */
			return VPA_REST_EITHER;
	}
	return VPA_REST_NONE;
}

/* ---- ranges ---- */

const struct vpa_range_row *vpa_unit_range_like(
	const struct vpa_report *r, const struct vpa_range_row *range)
{
	const struct vpa_range_row *rows = range->is_series ? r->series : r->ranges;
	size_t i, count = range->is_series ? r->series_count : r->range_count;

	for (i = 0; i < count; i++)
		if (rows[i].instance_count >= VPA_UNIT_INSTANCES &&
			!strcmp(rows[i].name, range->name) &&
			!strcmp(rows[i].domain, range->domain))
			return &rows[i];
	return NULL;
}

/* Whether instances of a series are shorter than the inferred steps, to a tenth: they are parts of these. */
static int lies_in_steps(const struct vpa_report *r, const struct vpa_range_row *series)
{
	uint64_t steps_ns = 0, all_ns = 0;
	size_t i, count = 0;

	for (i = 0; r->inferred_count && i < r->inferred[0].step_count; i++) {
		const struct vpa_inferred_step *step = &r->inferred[0].steps[i];

		vpt_sat_add_to(&steps_ns, step->followed ? step->period_ns : 0);
		count += step->followed != 0;
	}
	for (i = 0; i < series->instance_count; i++)
		vpt_sat_add_to(&all_ns, series->instances[i].envelope_ns);
	return count && (double)all_ns / (double)series->instance_count <
				0.9 * (double)steps_ns / (double)count;
}

double vpa_unit_range_share(const struct vpa_report *r, const struct vpa_range_row *range)
{
	double all = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		all += (double)vpa_device_window_ns(&r->devices[i]);
	range = vpa_unit_range_like(r, range);
	if (!range || !(all > 0) || (range->is_series && lies_in_steps(r, range)))
		return -1;
	return (double)range->envelope_ns / all;
}

static double least_share(
	const struct vpa_report *const *reports, size_t count, const struct vpa_range_row *range)
{
	double least = vpa_unit_range_share(reports[0], range);
	size_t i;

	for (i = 1; i < count && least >= 0; i++) {
		double share = vpa_unit_range_share(reports[i], range);

		least = share < least ? share : least;
	}
	return least;
}

const struct vpa_range_row *vpa_unit_range(
	const struct vpa_report *const *reports, size_t count, int of_series)
{
	const struct vpa_report *r = reports[0];
	const struct vpa_range_row *rows = of_series ? r->series : r->ranges, *best = NULL;
	size_t i, row_count = of_series ? r->series_count : r->range_count;
	double most = 0.1;

	for (i = 0; i < row_count; i++) {
		const struct vpa_range_row *range = &rows[i];
		double share = range->instance_count < VPA_UNIT_INSTANCES
				       ? -1
				       : least_share(reports, count, range);
		int is_first =
			share == most && (!best || strcmp(range->name, best->name) < 0 ||
						 (!strcmp(range->name, best->name) &&
							 strcmp(range->domain, best->domain) < 0));

		if (share > most || is_first)
			best = range;
		most = share > most ? share : most;
	}
	return best;
}

const struct vpa_range_row *vpa_unit_range_of(const struct vpa_report *r)
{
	const struct vpa_range_row *series = vpa_unit_range(&r, 1, 1);

	return series ? series : vpa_unit_range(&r, 1, 0);
}

/* ---- how many there are ---- */

static size_t count_blocks(const struct vpa_report *r)
{
	size_t i, count = 0;

	for (i = 0; i < r->request_count; i++)
		count += r->requests[i].blocks.measured;
	return count;
}

static size_t count_requests(const struct vpa_report *r)
{
	size_t i, count = 0;

	for (i = 0; i < r->request_count; i++)
		count += r->requests[i].gpu.period_ns > 0;
	return count;
}

static size_t count_marked(const struct vpa_report *r, int iterations)
{
	const struct vpa_only_step *s = &r->only_step;

	if (r->step_part_count)
		return r->steps_are_iterations == iterations ? r->step_part_count : 0;
	return s->end_ns > s->start_ns && s->is_iteration == iterations;
}

/* Of those that a pass follows. Reports of earlier versions do not say: all. */
static size_t count_inferred(const struct vpa_report *r, enum vpa_unit_kind kind)
{
	size_t i, k, count = 0, all = 0;

	for (i = 0; i < r->inferred_count; i++) {
		struct vpa_unit_turns turns = vpa_unit_turns_of(&r->inferred[i], kind);

		all += turns.count;
		for (k = 0; k < turns.count; k++)
			count += turns.at[k].followed != 0;
	}
	return count ? count : all;
}

static size_t count_instances(const struct vpa_report *r)
{
	const struct vpa_range_row *range = vpa_unit_range_of(r);

	return range ? range->instance_count : 0;
}

size_t vpa_unit_count(const struct vpa_report *r, enum vpa_unit_kind kind)
{
	switch (kind) {
	case VPA_UNIT_BLOCK:
		return count_blocks(r);
	case VPA_UNIT_REQUEST:
		return count_requests(r);
	case VPA_UNIT_STEP:
	case VPA_UNIT_ITERATION:
		return count_marked(r, kind == VPA_UNIT_ITERATION);
	case VPA_UNIT_INFERRED:
	case VPA_UNIT_ROUND:
		return count_inferred(r, kind);
	case VPA_UNIT_INSTANCE:
		return count_instances(r);
	default:
		return 1;
	}
}

int vpa_unit_trains(const struct vpa_report *r)
{
	size_t i;

	if (vpa_unit_of(r) != VPA_UNIT_ITERATION)
		return 0;
	for (i = 0; i < r->kernel_names; i++)
		if (r->kernels[i].family == VPA_FAMILY_OPTIMIZER ||
			(r->kernels[i].family != VPA_FAMILY_CONV &&
				vpa_is_marked(r->kernels[i].marks, VPA_MARK_BACKWARD)))
			return 1;
	return 0;
}

static int has_units(const struct vpa_report *r, const struct vpa_unit_choice *choice)
{
	return choice->of_series ? vpa_unit_range(&r, 1, 1) != NULL
				 : vpa_unit_count(r, choice->kind) >= choice->least;
}

enum vpa_unit_kind vpa_unit_of(const struct vpa_report *r)
{
	int lacks_vae = vpa_unit_after_blocks(r) != VPA_REST_NONE;
	const struct vpa_unit_choice *choice = vpa_unit_next(NULL, lacks_vae);

	while (choice->kind != VPA_UNIT_WINDOW && !has_units(r, choice))
		choice = vpa_unit_next(choice, lacks_vae);
	return choice->kind;
}

double vpa_unit_fps(const struct vpa_report *r, enum vpa_unit_kind kind)
{
	const struct vpa_request *q = vpa_main_request(r);
	double fps = 0;

	if (q && kind == VPA_UNIT_BLOCK)
		fps = q->blocks.fps;
	else if (q && kind == VPA_UNIT_REQUEST)
		fps = q->fps_end_to_end;
	return fps > 0 ? fps : 0;
}

double vpa_result_fps(const struct vpa_report *r)
{
	double fps = vpa_unit_fps(r, VPA_UNIT_BLOCK);

	return fps > 0 ? fps : vpa_unit_fps(r, VPA_UNIT_REQUEST);
}

/* ---- the sums ---- */

static void add_parts(
	struct vpa_mean_unit *u, const struct vpa_block_part *parts, size_t part_count)
{
	size_t i;

	u->has_parts |= part_count > 0;
	for (i = 0; i < part_count; i++) {
		enum vpa_family family = vpa_part_family(parts[i].part);
		enum vpa_cause cause = vpa_part_cause(parts[i].part);

		if (cause < VPA_CAUSES)
			vpt_sat_add_to(&u->cause_ns[cause], parts[i].ns);
		else if (family < VPA_FAMILY_COUNT)
			vpt_sat_add_to(&u->family_ns[family], parts[i].ns);
		if (parts[i].kind == VPA_PART_BUSY)
			vpt_sat_add_to(&u->ops, parts[i].count);
	}
}

static void sum_blocks(const struct vpa_report *r, struct vpa_mean_unit *out)
{
	const struct vpa_blocks *b = &vpa_main_request(r)->blocks;
	size_t i;

	out->units = (double)b->measured;
	out->devices = b->devices;
	out->span_ns = b->span_ns;
	out->busy_ns = b->busy_ns;
	out->idle_ns = b->idle_ns;
	out->work_ns = b->work_ns;
	add_parts(out, b->parts, b->part_count);
	for (i = 0; i < b->count; i++) {
		const struct vpa_block_row *row = &b->series[i];

		if (row->warmup)
			continue;
		if (!out->end_ns)
			out->start_ns = vpt_sat_sub(row->end_ns, row->period_ns);
		out->end_ns = row->end_ns;
	}
	out->first_end_ns = out->start_ns;
}

static uint64_t span_of(const struct vpa_request *q)
{
	return q->end_ns > q->start_ns ? q->end_ns - q->start_ns : 0;
}

/* RESULT shows the time of its request from start to end. The first one of several sets up what the others reuse. */
static void sum_requests(const struct vpa_report *r, struct vpa_mean_unit *out)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i;

	out->without_first = count_requests(r) > 1;
	for (i = (size_t)out->without_first; i < r->request_count; i++) {
		const struct vpa_request_gpu *g = &r->requests[i].gpu;

		if (!g->period_ns)
			continue;
		if (!(out->units > 0))
			out->start_ns = r->requests[i].start_ns;
		if (!(out->units > 0))
			out->first_end_ns = r->requests[i].end_ns;
		out->end_ns = r->requests[i].end_ns;
		out->units++;
		vpt_sat_add_to(&out->span_ns, g->period_ns);
		vpt_sat_add_to(&out->busy_ns, g->busy_ns);
		vpt_sat_add_to(&out->idle_ns, g->idle_ns);
		add_parts(out, g->parts, g->part_count);
	}
	if (q->fps_end_to_end > 0 && span_of(q) && out->span_ns)
		out->stretch = (double)span_of(q) * out->units / (double)out->span_ns;
}

/* ---- cycles ---- */

static int runs(const struct vpa_step_part *s, enum vpa_family family)
{
	return s->parts_ns && s->parts_ns[family] > 0;
}

size_t vpa_unit_cycle(const struct vpa_report *r)
{
	size_t i, before = 0, seen = 0, cycle = 0;

	for (i = 0; i < r->step_part_count && r->steps_are_iterations; i++) {
		if (!runs(&r->step_parts[i], VPA_FAMILY_OPTIMIZER))
			continue;
		if (seen > 1 && i - before != cycle)
			return 0;
		cycle = seen ? i - before : 0;
		before = i;
		seen++;
	}
	return cycle > 1 && cycle <= r->step_part_count ? cycle : 0;
}

int vpa_unit_reduces_in_each(const struct vpa_report *r)
{
	uint64_t least_ns = UINT64_MAX, most_ns = 0;
	size_t i;

	for (i = 0; i < r->step_part_count; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];
		uint64_t ns = s->parts_ns ? s->parts_ns[VPA_FAMILY_COMM] : 0;

		least_ns = vpa_earlier(ns, least_ns);
		most_ns = vpa_later(ns, most_ns);
	}
	return most_ns && least_ns > most_ns / 2;
}

size_t vpa_unit_in_cycles(const struct vpa_report *r)
{
	uint64_t cycle = r->iterations_per_cycle;

	return cycle ? (size_t)(r->step_part_count / cycle * cycle) : 0;
}

/* The mean of the last iterations that are whole cycles, to that of all. */
static double whole_cycles(const struct vpa_report *r)
{
	size_t i, count = r->step_part_count, whole = vpa_unit_in_cycles(r);
	uint64_t all_ns = 0, whole_ns = 0;

	for (i = 0; i < count && whole; i++) {
		vpt_sat_add_to(&all_ns, r->step_parts[i].period_ns);
		vpt_sat_add_to(&whole_ns, i >= count - whole ? r->step_parts[i].period_ns : 0);
	}
	return all_ns ? (double)whole_ns / (double)whole * (double)count / (double)all_ns : 1;
}

/* The first step of those that are summed: the first request of several sets up what the others reuse. */
static size_t first_steady_step(const struct vpa_report *r)
{
	size_t i = 0;

	while (r->steady_totals.part_count && i < r->step_part_count && !r->step_parts[i].request)
		i++;
	return i < r->step_part_count ? i : 0;
}

/* Marked steps or iterations, from each to the next. RESULT shows the mean period of its request; shares of
 * all steady requests' periods are taken as shares of that. */
static void sum_periods(const struct vpa_report *r, struct vpa_mean_unit *out)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i, first = first_steady_step(r);
	const struct vpa_step_totals *totals = first ? &r->steady_totals : &r->step_totals;

	out->has_rate = 1;
	out->without_first = first > 0;
	out->units = (double)(r->step_part_count - first);
	out->work_ns = totals->work_ns;
	add_parts(out, totals->parts, totals->part_count);
	for (i = first; i < r->step_part_count; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];

		vpt_sat_add_to(&out->span_ns, s->period_ns);
		vpt_sat_add_to(&out->busy_ns, s->busy_ns);
		vpt_sat_add_to(&out->idle_ns, s->idle_ns);
		out->end_ns = vpt_sat_add(s->start_ns, s->period_ns);
		if (i == first)
			out->first_end_ns = out->end_ns;
	}
	out->start_ns = r->step_parts[first].start_ns;
	if (!r->steps_are_iterations && q && q->steps.periods && out->span_ns)
		out->stretch = q->steps.s_per_it * 1e9 * out->units / (double)out->span_ns;
	if (r->steps_are_iterations && !first)
		out->stretch = whole_cycles(r);
}

/* The devices' first op of all. */
static uint64_t first_op_ns(const struct vpa_report *r)
{
	uint64_t first_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		first_ns = vpa_earlier(first_ns, r->devices[i].first_ns);
	return first_ns;
}

static uint64_t last_op_ns(const struct vpa_report *r)
{
	uint64_t last_ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		last_ns = vpa_later(last_ns, r->devices[i].last_ns);
	return last_ns;
}

/* Its own length gives steps a rate elsewhere in the report, without what the host does first. That is part of
 * a step only if no device had work until then; an iteration is all that the host did in it. */
static void sum_only_step(const struct vpa_report *r, struct vpa_mean_unit *out)
{
	const struct vpa_only_step *s = &r->only_step;
	int is_first = s->first_ns <= first_op_ns(r), from_host = is_first || s->is_iteration;

	out->start_ns = from_host ? s->start_ns : s->first_ns;
	out->end_ns = from_host ? s->end_ns : s->last_ns;
	out->first_end_ns = out->end_ns;
	if (out->end_ns <= out->start_ns)
		return;
	out->has_rate = s->is_iteration;
	out->units = 1;
	out->span_ns = out->end_ns - out->start_ns;
	out->busy_ns = s->busy_ns;
	out->idle_ns = s->idle_ns;
	/* What is idle before the first op of all is in head_ns. */
	out->idle_before_ns = is_first ? 0 : s->idle_before_ns;
	out->work_ns = s->work_ns;
	add_parts(out, s->parts, s->part_count);
	out->from_host = from_host;
	out->head_ns = is_first ? s->first_ns - s->start_ns : 0;
	out->tail_ns = s->last_ns >= last_op_ns(r) ? vpt_sat_sub(out->end_ns, s->last_ns) : 0;
}

static uint64_t exposed_comm_of(const struct vpa_report *r, int64_t device)
{
	const struct vpa_device *d = vpa_report_device(r, device);

	return d ? d->exposed_comm_ns : 0;
}

/* Steps or rounds of all devices that have some, which are assumed to go through them together, from one to the next. */
static void sum_inferred(const struct vpa_report *r, struct vpa_mean_unit *out)
{
	struct vpa_unit_turns turns;
	size_t i, k, first;

	out->has_rate = 1;
	for (i = 0; i < r->inferred_count; i++) {
		const struct vpa_inferred *row = &r->inferred[i];
		uint64_t busy_ns = 0, comm_ns = exposed_comm_of(r, row->device);

		turns = vpa_unit_turns_of(row, out->kind);
		for (k = 0; k < turns.count; k++) {
			const struct vpa_inferred_step *step = &turns.at[k];

			if (!step->followed) {
				vpt_sat_add_to(&out->rest_busy_ns, step->busy_ns);
				vpt_sat_add_to(&out->rest_idle_ns, step->idle_ns);
				continue;
			}
			vpt_sat_add_to(&busy_ns, step->busy_ns);
			vpt_sat_add_to(&out->idle_ns, step->idle_ns);
			vpt_sat_add_to(&out->span_ns, i ? 0 : step->period_ns);
			out->units += !i;
		}
		vpt_sat_add_to(&out->busy_ns, busy_ns);
		if (busy_ns > comm_ns && busy_ns - comm_ns > out->work_ns)
			out->work_ns = busy_ns - comm_ns;
	}
	turns = vpa_unit_turns_of(&r->inferred[0], out->kind);
	if (!turns.count)
		return;
	first = turns.left_first_ns > 0;
	out->start_ns = turns.at[first].start_ns;
	out->first_end_ns = turns.at[first].end_ns;
	out->end_ns = turns.at[turns.count - 1].end_ns;
}

uint32_t vpa_unit_slowest_device(const struct vpa_range_row *range)
{
	uint32_t best = range->instances[0].device;
	uint64_t ns = 0, most_ns = 0;
	size_t i;

	for (i = 0; i < range->instance_count; i++) {
		const struct vpa_range_instance *instance = &range->instances[i];

		ns = i && instance->device == instance[-1].device ? ns : 0;
		vpt_sat_add_to(&ns, instance->envelope_ns);
		best = ns > most_ns ? instance->device : best;
		most_ns = vpa_later(ns, most_ns);
	}
	return best;
}

/* Devices are assumed to go through them together. */
static void sum_instances(const struct vpa_report *r, struct vpa_mean_unit *out)
{
	uint32_t slowest;
	size_t i;

	out->range = vpa_unit_range_of(r);
	slowest = vpa_unit_slowest_device(out->range);
	for (i = 0; i < out->range->instance_count; i++) {
		const struct vpa_range_instance *instance = &out->range->instances[i];
		uint64_t end_ns = vpt_sat_add(instance->first_ns, instance->envelope_ns);

		if (!instance->envelope_ns)
			continue;
		if (!(out->units > 0) || instance->first_ns < out->start_ns) {
			out->start_ns = instance->first_ns;
			out->first_end_ns = end_ns;
		}
		out->end_ns = end_ns > out->end_ns ? end_ns : out->end_ns;
		vpt_sat_add_to(
			&out->busy_ns, vpt_sat_sub(instance->envelope_ns, instance->idle_ns));
		vpt_sat_add_to(&out->idle_ns, instance->idle_ns);
		if (instance->device != slowest)
			continue;
		out->units++;
		vpt_sat_add_to(&out->span_ns, instance->envelope_ns);
	}
}

struct vpa_mean_unit vpa_mean_unit_of(const struct vpa_report *r)
{
	struct vpa_mean_unit out = {
		.kind = vpa_unit_of(r), .stretch = 1, .devices = (unsigned)r->device_count};

	switch (out.kind) {
	case VPA_UNIT_BLOCK:
		sum_blocks(r, &out);
		break;
	case VPA_UNIT_REQUEST:
		sum_requests(r, &out);
		break;
	case VPA_UNIT_STEP:
	case VPA_UNIT_ITERATION:
		if (r->step_part_count)
			sum_periods(r, &out);
		else
			sum_only_step(r, &out);
		break;
	case VPA_UNIT_INFERRED:
	case VPA_UNIT_ROUND:
		sum_inferred(r, &out);
		break;
	case VPA_UNIT_INSTANCE:
		sum_instances(r, &out);
		break;
	default:
		break;
	}
	if (!out.span_ns)
		out.units = 0;
	return out;
}

uint64_t vpa_mean_unit_ns(const struct vpa_mean_unit *u)
{
	return u->units > 0 ? vpt_sat_u64((double)u->span_ns / u->units * u->stretch + 0.5) : 0;
}

uint64_t vpa_mean_unit_idle(const struct vpa_mean_unit *u, uint32_t causes)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < VPA_CAUSES; i++)
		vpt_sat_add_to(&ns, causes >> i & 1 ? u->cause_ns[i] : 0);
	return ns;
}

enum vpa_amount vpa_mean_unit_amount_at(
	const struct vpa_mean_unit *u, uint32_t causes, uint64_t place_ns, uint64_t all_ns)
{
	uint64_t inside_ns = u && u->has_parts ? vpa_mean_unit_idle(u, causes) : all_ns,
		 outside_ns = vpt_sat_sub(all_ns, inside_ns),
		 rest_ns = vpa_earlier(vpt_sat_sub(all_ns, place_ns), inside_ns);
	enum vpa_amount least = vpa_amount_of(inside_ns - rest_ns, inside_ns);

	if (place_ns < all_ns / 2 ||
		(outside_ns > inside_ns && vpt_sat_sub(place_ns, outside_ns) < inside_ns / 2))
		return VPA_AMOUNT_SOME;
	if (least < VPA_AMOUNT_MOST)
		return least;
	return vpa_amount_of(place_ns, all_ns) <= VPA_AMOUNT_MOST ? VPA_AMOUNT_MOST
								  : VPA_AMOUNT_HALF;
}

void vpa_mean_unit_head(
	const struct vpa_report *r, const struct vpa_mean_unit *u, uint64_t *cause_ns)
{
	size_t d, i;

	for (d = 0; d < r->device_count && u->head_ns; d++) {
		const struct vpa_device *dev = &r->devices[d];
		uint64_t all_ns = 0, known_ns = 0;

		for (i = 0; i < dev->before_first_work_count; i++)
			vpt_sat_add_to(&all_ns, dev->before_first_work[i].ns);
		for (i = 0; i < dev->before_first_work_count; i++) {
			const struct vpa_idle_part *part = &dev->before_first_work[i];
			uint64_t ns = vpt_sat_scale(u->head_ns, part->ns, all_ns);

			vpt_sat_add_to(&known_ns, ns);
			vpt_sat_add_to(&cause_ns[part->cause < VPA_CAUSES && part->cause
							 ? part->cause
							 : VPA_CAUSE_BEFORE_FIRST_WORK],
				ns);
		}
		vpt_sat_add_to(
			&cause_ns[VPA_CAUSE_BEFORE_FIRST_WORK], vpt_sat_sub(u->head_ns, known_ns));
	}
}

uint64_t vpa_mean_unit_busy(const struct vpa_mean_unit *u, enum vpa_family family)
{
	return u->family_ns[family];
}
