/* instead_changes.c - idle time that counts to a wait which had held the host before, by what the host did in it.
 *
 * Work on what a wait brought is idle time of the wait, so a change of that work looks like one of the wait. Where all
 * reports know what the host did, such time is a part of its own. What the host launches after a wait stays with the
 * wait, since that is what waits cost. */
#include "analysis/compare/comparison_steps.h"

#include "analysis/base/intervals.h"
#include "analysis/report/host_code.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <math.h>
#include <string.h>

/* Whether time of a cause in which the host did this is told apart. */
static int is_apart(enum vpa_cause cause, enum vpa_cause host)
{
	return vpa_instead_number(cause, host) < VPA_INSTEADS && host != cause &&
	       host != VPA_CAUSE_LAUNCH_RATE && host != VPA_CAUSE_LAUNCH_CALL;
}

/* ---- the mean unit ---- */

/* Clears what is not told apart, and takes the rest out of its cause. Returns 0 if there is more of it than of the
 * cause, as a file may say. */
static int take(uint64_t *sums)
{
	uint64_t *insteads = sums + VPA_OVERVIEW_PARTS;
	unsigned i;

	for (i = 0; i < VPA_INSTEADS; i++) {
		enum vpa_cause cause = vpa_instead_cause(i);
		uint64_t *whole = &sums[VPA_OVERVIEW_IDLE + cause];

		if (!is_apart(cause, vpa_instead_host(i)))
			insteads[i] = 0;
		if (insteads[i] > *whole)
			return 0;
		*whole -= insteads[i];
	}
	return 1;
}

void vpa_compare_take_instead(uint64_t *a, uint64_t *b, int lacks_instead)
{
	uint64_t taken_a[VPA_OVERVIEW_ALL], taken_b[VPA_OVERVIEW_ALL];

	memcpy(taken_a, a, sizeof(taken_a));
	memcpy(taken_b, b, sizeof(taken_b));
	if (!lacks_instead && take(taken_a) && take(taken_b)) {
		memcpy(a, taken_a, sizeof(taken_a));
		memcpy(b, taken_b, sizeof(taken_b));
		return;
	}
	memset(a + VPA_OVERVIEW_PARTS, 0, VPA_INSTEADS * sizeof(*a));
	memset(b + VPA_OVERVIEW_PARTS, 0, VPA_INSTEADS * sizeof(*b));
}

void vpa_compare_place_instead(const struct vpa_comparison *c, struct vpa_compared_part *part)
{
	const struct vpa_side *side = part->times.delta_ns < 0 ? &c->a : &c->b;
	struct vpa_host_code most = {.ns = 0};
	size_t i;

	for (i = 0; i < side->count; i++) {
		struct vpa_host_code at =
			vpa_instead_of(side->reports[i], vpa_compared_cause(part), part->host);

		if (at.place_ns > most.place_ns)
			most = at;
	}
	if (vpa_host_code_has_place(&most))
		part->host_place = most.place;
	part->host_call = most.inside;
	part->call = most.call;
}

/* What the host did in a part of the mean unit, of what is told apart; VPA_CAUSE_NOT_IDLE: something else. */
static enum vpa_cause instead_of(const struct vpa_compared_part *part)
{
	enum vpa_cause cause = vpa_compared_cause(part);

	if (part->host)
		return part->host;
	return is_apart(VPA_CAUSE_SYNC, cause) ? cause : VPA_CAUSE_NOT_IDLE;
}

/* How often a call waited, per unit in the windows of a side; below 0: not known. */
static double waits_of(const struct vpa_side *side, const char *call, uint64_t units)
{
	uint64_t count = 0;
	size_t i, k;

	for (i = 0; i < side->count; i++)
		for (k = 0; k < side->reports[i]->sync_count; k++)
			if (vpt_same_text(side->reports[i]->syncs[k].call, call))
				vpt_sat_add_to(&count, side->reports[i]->syncs[k].count);
	return units ? (double)count / (double)units : -1;
}

/* Whether a side has more of the waits, or fewer: then these are what changed, whatever the host did after them. */
static int are_other_waits(const struct vpa_comparison *c, const char *call)
{
	double a = waits_of(&c->a, call, c->a_window_units),
	       b = waits_of(&c->b, call, c->b_window_units);

	return a >= 0 && b >= 0 && fabs(a - b) > 0.1 * fmax(a, b);
}

/* Whether a part counts as its cause: it is no more than that, or is with more waits than before. */
static int is_of_cause(const struct vpa_comparison *c, const struct vpa_compared_part *part)
{
	return part->kind == VPA_PART_IDLE && (!part->host || are_other_waits(c, part->call));
}

/* What the host did in all parts, if these cancel by a quarter or more, else -1. 0 unless `part` is the largest of these. */
static int net_instead(const struct vpa_comparison *c, size_t part, struct vpa_compared_part *out)
{
	enum vpa_cause instead = instead_of(&c->parts[part]);
	uint64_t more = 0, less = 0, size, most = 0;
	size_t i, largest = part;

	for (i = 0; i < c->part_count; i++) {
		int64_t delta = c->parts[i].times.delta_ns;

		if (instead_of(&c->parts[i]) != instead)
			continue;
		size = vpa_magnitude(delta);
		if (delta < 0)
			vpt_sat_add_to(&less, size);
		else
			vpt_sat_add_to(&more, size);
		largest = size > most ? i : largest;
		most = size > most ? size : most;
	}
	if (!more || !less || vpa_earlier(more, less) < vpa_later(more, less) / 4)
		return -1;
	*out = (struct vpa_compared_part){.kind = VPA_PART_IDLE,
		.part = VPA_OVERVIEW_IDLE + (unsigned)instead,
		.name = vpa_cause_text(instead),
		.times = {.delta_ns = vpt_sat_diff(more, less)}};
	return part == largest;
}

/* A cause with what the host did after waits that are new or gone; 0 unless `part` is the first of these. */
static int join_cause(const struct vpa_comparison *c, size_t part, struct vpa_compared_part *out)
{
	size_t i;

	out->host = VPA_CAUSE_NOT_IDLE;
	for (i = 0; i < c->part_count; i++) {
		struct vpa_compared_part net;

		if (i == part || !is_of_cause(c, &c->parts[i]) || c->parts[i].part != out->part ||
			(instead_of(&c->parts[i]) && net_instead(c, i, &net) >= 0))
			continue;
		if (i < part)
			return 0;
		out->times.delta_ns =
			vpt_sat_add_i64(out->times.delta_ns, c->parts[i].times.delta_ns);
	}
	return 1;
}

int vpa_compare_whole_instead(
	const struct vpa_comparison *c, size_t part, struct vpa_compared_part *out)
{
	int is_shown = -1;

	*out = c->parts[part];
	if (instead_of(out))
		is_shown = net_instead(c, part, out);
	if (is_shown < 0 && is_of_cause(c, out))
		is_shown = join_cause(c, part, out);
	return is_shown != 0;
}

/* ---- the window ---- */

/* The row of a cause, place and call, else the sum of the cause's small rows; NULL: there is none. */
static struct vpa_compared_row *find_row(
	struct vpa_compared_row *rows, size_t count, const struct vpa_instead_row *instead)
{
	struct vpa_compared_row *sum = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (rows[i].host || rows[i].cause != instead->cause)
			continue;
		if (!vpa_place_compare(&rows[i].place, &instead->place) &&
			vpt_same_text(rows[i].call, instead->call))
			return &rows[i];
		if (rows[i].place.kind == VPA_PLACE_SEVERAL)
			sum = &rows[i];
	}
	return sum;
}

size_t vpa_compare_divide_rows(
	const struct vpa_device *d, struct vpa_compared_row *rows, size_t count, int in_b)
{
	size_t i, end = count;

	for (i = 0; i < d->instead_count; i++) {
		const struct vpa_instead_row *instead = &d->instead[i];
		struct vpa_compared_row *row = find_row(rows, count, instead), *part = &rows[end];
		uint64_t *ns;

		if (!row || !is_apart(instead->cause, instead->host) ||
			instead->host_place.kind == VPA_PLACE_SEVERAL)
			continue;
		ns = in_b ? &row->times.b_ns : &row->times.a_ns;
		if (*ns < instead->ns)
			continue;
		*ns -= instead->ns;
		*part = (struct vpa_compared_row){.kind = VPA_PART_IDLE,
			.name = row->name,
			.cause = row->cause,
			.call = row->call,
			.host = instead->host,
			.host_place = instead->host_place,
			.host_call = instead->host_call};
		*(in_b ? &part->b_count : &part->a_count) = instead->gaps;
		*(in_b ? &part->times.b_ns : &part->times.a_ns) = instead->ns;
		end++;
	}
	return end;
}
