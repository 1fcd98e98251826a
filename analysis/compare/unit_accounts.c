/* unit_accounts.c - why the mean unit takes longer: its parts, and those of the whole window. */
#include "analysis/compare/comparison_steps.h"

#include "analysis/base/choices.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the mean unit ---- */

static int by_part_change(const void *pa, const void *pb)
{
	const struct vpa_compared_part *a = pa, *b = pb;
	uint64_t ma = vpa_magnitude(a->times.delta_ns), mb = vpa_magnitude(b->times.delta_ns);

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (ma != mb)
		return ma > mb ? -1 : 1;
	ma = vpt_sat_add(a->times.a_ns, a->times.b_ns);
	mb = vpt_sat_add(b->times.a_ns, b->times.b_ns);
	if (ma != mb)
		return ma > mb ? -1 : 1;
	if (strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	return a->host < b->host ? -1 : a->host > b->host;
}

static struct vpa_compared_part part_at(size_t part)
{
	struct vpa_compared_part out = {
		.kind = VPA_PART_BUSY, .part = (unsigned)part, .name = "all"};
	unsigned instead = (unsigned)(part - VPA_OVERVIEW_PARTS);

	if (part >= VPA_OVERVIEW_PARTS && instead < VPA_INSTEADS) {
		out.kind = VPA_PART_IDLE;
		out.part = VPA_OVERVIEW_IDLE + (unsigned)vpa_instead_cause(instead);
		out.name = vpa_overview_part_name(out.part);
		out.host = vpa_instead_host(instead);
	} else if (part < VPA_OVERVIEW_PARTS) {
		out.kind = part < VPA_OVERVIEW_IDLE ? VPA_PART_BUSY : VPA_PART_IDLE;
		out.name = vpa_overview_part_name(part);
	} else if (part == VPA_UNIT_PAUSED) {
		out.kind = VPA_PART_PAUSED;
		out.name = "recording paused";
	} else if (part == VPA_UNIT_IDLE) {
		out.kind = VPA_PART_IDLE;
	}
	return out;
}

/* Units, each times its GPUs or frames. */
static uint64_t add_over(uint64_t over, uint64_t units, uint64_t each)
{
	uint64_t sum = vpt_sat_add(over, vpt_sat_mul(units, each));

	return sum > VPA_ACCOUNT_UNITS_MAX ? VPA_ACCOUNT_UNITS_MAX : sum;
}

/* What the totals of a side's paired units are divided by. */
static uint64_t over_of(const struct vpa_comparison *c, const struct vpa_units *all, size_t count)
{
	uint64_t over = 0;
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < all[i].count; k++)
			if (all[i].units[k].paired)
				over = add_over(over, all[i].units[k].devices,
					c->per_frame ? all[i].units[k].frames : 1);
	return over;
}

static int sum_units(const struct vpa_compared_units *u, int by_part, uint64_t *a, uint64_t *b)
{
	int lacks_instead = 0;
	size_t i;

	memset(a, 0, VPA_UNIT_PARTS * sizeof(*a));
	memset(b, 0, VPA_UNIT_PARTS * sizeof(*b));
	for (i = 0; i < u->count; i++)
		if (!vpa_units_sum(&u->all[i], by_part, i < u->a_count ? a : b, &lacks_instead))
			return 0;
	vpa_compare_take_instead(a, b, lacks_instead);
	return 1;
}

/* A difference of means, of A's whole. */
static double share_of(int64_t delta_ns, uint64_t a_ns, uint64_t over)
{
	return a_ns && over ? (double)delta_ns * (double)over / (double)a_ns : 0;
}

/* Divides the difference; both arrays have `count` elements. */
static int divide(struct vpa_comparison *c, struct vpa_account_part *times, size_t count)
{
	size_t i;
	int rc = vpa_account(times, count, c->a_over, c->b_over, &c->delta_ns);

	for (i = 0; i < count; i++) {
		struct vpa_compared_part *p = &c->parts[i];

		p->times = times[i];
		p->a_mean_ns = vpa_rounded_mean(p->times.a_ns, c->a_over);
		p->b_mean_ns = vpa_rounded_mean(p->times.b_ns, c->b_over);
		vpt_sat_add_to(&c->a_total_ns, p->times.a_ns);
		vpt_sat_add_to(&c->b_total_ns, p->times.b_ns);
		if (p->kind == VPA_PART_BUSY)
			c->busy_delta_ns = vpt_sat_add_i64(c->busy_delta_ns, p->times.delta_ns);
		else if (p->kind == VPA_PART_IDLE)
			c->idle_delta_ns = vpt_sat_add_i64(c->idle_delta_ns, p->times.delta_ns);
	}
	for (i = 0; i < count; i++) {
		struct vpa_compared_part *p = &c->parts[i];

		p->share = share_of(p->times.delta_ns, c->a_total_ns, c->a_over);
		if (p->host)
			vpa_compare_place_instead(c, p);
	}
	qsort(c->parts, count, sizeof(*c->parts), by_part_change);
	return rc;
}

int vpa_compare_parts(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	struct vpa_account_part times[VPA_UNIT_PARTS];
	uint64_t a[VPA_UNIT_PARTS], b[VPA_UNIT_PARTS];
	size_t part;

	c->parts = vpa_arena_alloc(&c->arena, VPA_UNIT_PARTS, sizeof(*c->parts));
	if (!c->parts)
		return VPT_ENOMEM;
	c->a_over = over_of(c, u->all, u->a_count);
	c->b_over = over_of(c, u->all + u->a_count, u->count - u->a_count);
	c->by_part = sum_units(u, 1, a, b);
	if (!c->by_part)
		sum_units(u, 0, a, b);
	for (part = 0; part < VPA_UNIT_PARTS; part++) {
		if (!a[part] && !b[part])
			continue;
		times[c->part_count] = (struct vpa_account_part){a[part], b[part], 0};
		c->parts[c->part_count++] = part_at(part);
	}
	return divide(c, times, c->part_count);
}

size_t vpa_compare_leading(
	const struct vpa_comparison *c, struct vpa_compared_part *out, size_t most)
{
	size_t count = 0, i, k;

	for (i = 0; i < c->part_count; i++) {
		struct vpa_compared_part part;
		int is_shown = vpa_compare_whole_instead(c, i, &part);
		uint64_t size = vpa_magnitude(part.times.delta_ns);

		if (!is_shown || !size || (part.times.delta_ns < 0) != (c->delta_ns < 0))
			continue;
		for (k = count; k > 0 && vpa_magnitude(out[k - 1].times.delta_ns) < size; k--)
			if (k < most)
				out[k] = out[k - 1];
		if (k < most)
			out[k] = part;
		count += count < most;
	}
	while (count > 1 && vpa_magnitude(out[count - 1].times.delta_ns) <
				    vpa_magnitude(out[0].times.delta_ns) / 20)
		count--;
	return count;
}

/* ---- the window ---- */

VPA_WORDS_OF(enum vpa_row_state, vpa_row_state_name, [VPA_ROW_BOTH] = "both", [VPA_ROW_NEW] = "new",
	[VPA_ROW_GONE] = "gone", [VPA_ROW_OTHER_SHAPE] = "other shape");

static const char other_kernels[] = "(other kernels)";

/* Orders places that differ in more than the numbers of their ranges. */
static int compare_alike(const struct vpa_place *a, const struct vpa_place *b)
{
	int order = vpa_compare_alike(a->text, b->text);

	return order ? order : (int)a->kind - (int)b->kind;
}

static int compare_rows(const struct vpa_compared_row *a, const struct vpa_compared_row *b)
{
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	order = order ? order : vpt_text_order(a->name, b->name);
	order = order ? order : vpt_text_order(a->family, b->family);
	order = order ? order : compare_alike(&a->place, &b->place);
	order = order ? order : vpt_text_order(a->call, b->call);
	order = order ? order : (a->host > b->host) - (a->host < b->host);
	order = order ? order : compare_alike(&a->host_place, &b->host_place);
	return order ? order : vpt_text_order(a->host_call, b->host_call);
}

/* The place that a row shows. */
static const struct vpa_place *place_of(const struct vpa_compared_row *row)
{
	return row->host ? &row->host_place : &row->place;
}

/* Among equal ones by name, so that the first of them does not depend on the order of the runs. */
static int by_row(const void *pa, const void *pb)
{
	const struct vpa_compared_row *a = pa, *b = pb;
	int order = compare_rows(a, b);

	return order ? order : vpa_place_compare(place_of(a), place_of(b));
}

static int by_row_change(const void *pa, const void *pb)
{
	const struct vpa_compared_row *a = pa, *b = pb;
	uint64_t ma = vpa_magnitude(a->times.delta_ns), mb = vpa_magnitude(b->times.delta_ns);

	if (ma != mb)
		return ma > mb ? -1 : 1;
	return compare_rows(a, b);
}

static void set_side(struct vpa_compared_row *row, int in_b, uint64_t count, uint64_t ns)
{
	*(in_b ? &row->b_count : &row->a_count) = count;
	*(in_b ? &row->times.b_ns : &row->times.a_ns) = ns;
}

/* The families of copies, and what kernels that are not listed leave of the others. */
static void add_families(struct vpa_comparison *c, const struct vpa_report *r, int in_b)
{
	uint64_t listed_ns = 0, all_ns = 0, listed = 0, all = 0;
	size_t i;

	for (i = 0; i < r->kernel_count; i++) {
		vpt_sat_add_to(&listed_ns, r->kernels[i].exclusive_ns);
		vpt_sat_add_to(&listed, r->kernels[i].time.count);
	}
	for (i = 0; i < r->family_count; i++) {
		const struct vpa_family_row *f = &r->families[i];
		struct vpa_compared_row *row;

		if (f->family != VPA_FAMILY_MEMCPY && f->family != VPA_FAMILY_MEMSET) {
			vpt_sat_add_to(&all_ns, f->exclusive_ns);
			vpt_sat_add_to(&all, f->calls);
			continue;
		}
		row = &c->rows[c->row_count++];
		*row = (struct vpa_compared_row){.kind = VPA_PART_BUSY,
			.name = vpa_family_name(f->family),
			.family = vpa_family_name(f->family)};
		set_side(row, in_b, f->calls, f->exclusive_ns);
	}
	if (all_ns <= listed_ns)
		return;
	*(in_b ? &c->b_lists_all : &c->a_lists_all) = 0;
	c->rows[c->row_count] = (struct vpa_compared_row){
		.kind = VPA_PART_BUSY, .name = other_kernels, .is_kernel = 1, .family = ""};
	set_side(&c->rows[c->row_count++], in_b, vpt_sat_sub(all, listed), all_ns - listed_ns);
}

/* The idle time of a device; `divide`: by what the host did, too. */
static void add_idle(struct vpa_comparison *c, const struct vpa_device *d, int in_b, int divide)
{
	struct vpa_compared_row *rows = &c->rows[c->row_count];
	size_t i;

	for (i = 0; i < d->cause_count; i++) {
		const struct vpa_idle_part *p = &d->causes[i];

		rows[i] = (struct vpa_compared_row){.kind = VPA_PART_IDLE,
			.name = vpa_cause_text(p->cause),
			.cause = p->cause,
			.place = p->place,
			.call = p->call};
		set_side(&rows[i], in_b, p->gaps, p->ns);
	}
	c->row_count += divide ? vpa_compare_divide_rows(d, rows, i, in_b) : i;
}

static void add_report(struct vpa_comparison *c, const struct vpa_report *r, int in_b, int divide)
{
	size_t i;

	for (i = 0; i < r->kernel_count; i++) {
		const struct vpa_kernel_row *kernel = &r->kernels[i];
		struct vpa_compared_row *row = &c->rows[c->row_count++];

		*row = (struct vpa_compared_row){.kind = VPA_PART_BUSY,
			.name = kernel->name,
			.is_kernel = 1,
			.family = vpa_family_name(kernel->family)};
		set_side(row, in_b, kernel->time.count, kernel->exclusive_ns);
		/* A sum until all runs are joined. */
		*(in_b ? &row->b_blocks : &row->a_blocks) =
			kernel->blocks_mean * (double)kernel->time.count;
	}
	add_families(c, r, in_b);
	for (i = 0; i < r->device_count; i++)
		add_idle(c, &r->devices[i], in_b, divide);
}

static size_t most_rows(const struct vpa_report *r)
{
	size_t rows = r->kernel_count + r->family_count + 1, i;

	for (i = 0; i < r->device_count; i++)
		rows += r->devices[i].cause_count + r->devices[i].instead_count;
	return rows;
}

static void add_row(struct vpa_compared_row *to, const struct vpa_compared_row *row)
{
	vpt_sat_add_to(&to->a_count, row->a_count);
	vpt_sat_add_to(&to->b_count, row->b_count);
	vpa_compare_add_times(&to->times, &row->times);
	to->a_blocks += row->a_blocks;
	to->b_blocks += row->b_blocks;
}

static void add_range(struct vpa_compared_row *to, const struct vpa_place *place)
{
	if (!place->text)
		return;
	vpa_alike_add(&to->ranges, place->text);
	to->similar = to->ranges.count - 1;
}

/* Joins equal rows, which stand side by side, and those whose ranges are alike. */
static void join_rows(struct vpa_comparison *c)
{
	struct vpa_place last = {VPA_PLACE_IN, NULL};
	size_t i, kept = 0;

	for (i = 0; i < c->row_count; i++) {
		struct vpa_compared_row *to = kept ? &c->rows[kept - 1] : NULL;

		struct vpa_place place = *place_of(&c->rows[i]);

		if (!to || compare_rows(to, &c->rows[i])) {
			c->rows[kept++] = c->rows[i];
			add_range(&c->rows[kept - 1], &place);
		} else {
			if (vpa_place_compare(&last, &place) != 0)
				add_range(to, &place);
			add_row(to, &c->rows[i]);
		}
		last = place;
	}
	c->row_count = kept;
}

/* Whether a kernel may have a counterpart among those that the other side does not list. */
static int may_be_other(const struct vpa_comparison *c, const struct vpa_compared_row *row)
{
	if (!row->is_kernel || row->name == other_kernels)
		return 0;
	return (!c->a_lists_all && !row->a_count) || (!c->b_lists_all && !row->b_count);
}

/* Adds to the other kernels those that cannot be matched. */
static void fold_unlisted(struct vpa_comparison *c)
{
	struct vpa_compared_row *other = NULL;
	size_t i, kept = 0;

	for (i = 0; i < c->row_count && !other; i++)
		if (c->rows[i].name == other_kernels)
			other = &c->rows[i];
	for (i = 0; i < c->row_count && other; i++)
		if (may_be_other(c, &c->rows[i])) {
			add_row(other, &c->rows[i]);
			c->rows[i].name = NULL;
		}
	for (i = 0; i < c->row_count; i++)
		if (c->rows[i].name)
			c->rows[kept++] = c->rows[i];
	c->row_count = kept;
}

static enum vpa_row_state state_of(
	const struct vpa_comparison *c, const struct vpa_compared_row *row)
{
	/* A kernel that a report does not list may have run all the same. */
	if (!row->a_count && (c->a_lists_all || !row->is_kernel))
		return VPA_ROW_NEW;
	if (!row->b_count && (c->b_lists_all || !row->is_kernel))
		return VPA_ROW_GONE;
	if (row->a_blocks > 0 && row->b_blocks > 0 &&
		fabs(row->b_blocks - row->a_blocks) >
			VPA_SHAPE_MARGIN * fmax(row->a_blocks, row->b_blocks))
		return VPA_ROW_OTHER_SHAPE;
	return VPA_ROW_BOTH;
}

/* Whether a row takes a ten thousandth of a mean unit on one side. */
static int is_seen(const struct vpa_comparison *c, const struct vpa_compared_row *row)
{
	uint64_t least = vpa_compare_mean_a(c) / 10000;

	return row->a_mean_ns >= least || row->b_mean_ns >= least;
}

size_t vpa_compare_kernels(const struct vpa_comparison *c, enum vpa_row_state state)
{
	size_t i, count = 0;

	for (i = 0; i < c->row_count; i++)
		count += c->rows[i].kind == VPA_PART_BUSY && c->rows[i].state == state &&
			 is_seen(c, &c->rows[i]);
	return count;
}

static double per_unit(uint64_t count, uint64_t units)
{
	return units ? (double)count / (double)units : 0;
}

/* Of several kernels no mean is known. */
static double mean_blocks(const struct vpa_compared_row *row, double sum, uint64_t count)
{
	return count && row->name != other_kernels ? sum / (double)count : 0;
}

static void set_means(struct vpa_comparison *c)
{
	uint64_t a_ns = 0;
	size_t i;

	for (i = 0; i < c->row_count; i++)
		vpt_sat_add_to(&a_ns, c->rows[i].times.a_ns);
	for (i = 0; i < c->row_count; i++) {
		struct vpa_compared_row *row = &c->rows[i];

		row->a_blocks = mean_blocks(row, row->a_blocks, row->a_count);
		row->b_blocks = mean_blocks(row, row->b_blocks, row->b_count);
		row->state = state_of(c, row);
		row->a_per_unit = per_unit(row->a_count, c->a_window_units);
		row->b_per_unit = per_unit(row->b_count, c->b_window_units);
		row->a_mean_ns = vpa_rounded_mean(row->times.a_ns, c->a_window_over);
		row->b_mean_ns = vpa_rounded_mean(row->times.b_ns, c->b_window_over);
		row->share = share_of(row->times.delta_ns, a_ns, c->a_window_over);
		row->a_call_ns = vpa_rounded_mean(row->times.a_ns, row->a_count);
		row->b_call_ns = vpa_rounded_mean(row->times.b_ns, row->b_count);
	}
}

static int divide_rows(struct vpa_comparison *c)
{
	struct vpa_account_part *times = vpt_alloc(c->row_count + 1, sizeof(*times));
	size_t i;
	int rc;

	if (!times)
		return VPT_ENOMEM;
	for (i = 0; i < c->row_count; i++)
		times[i] = c->rows[i].times;
	rc = vpa_account(
		times, c->row_count, c->a_window_over, c->b_window_over, &c->window_delta_ns);
	for (i = 0; i < c->row_count; i++)
		c->rows[i].times = times[i];
	vpt_free(times);
	set_means(c);
	qsort(c->rows, c->row_count, sizeof(*c->rows), by_row_change);
	return rc;
}

/* Whether all of the report's devices say what the host did. */
static int knows_dids(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->device_count; i++)
		if (!r->devices[i].instead)
			return 0;
	return 1;
}

int vpa_compare_rows(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	size_t i, most = 0;
	int divide = 1;

	for (i = 0; i < u->count; i++) {
		most += most_rows(u->all[i].report);
		divide &= knows_dids(u->all[i].report);
	}
	c->rows = vpa_arena_alloc(&c->arena, most, sizeof(*c->rows));
	if (!c->rows)
		return VPT_ENOMEM;
	for (i = 0; i < u->count; i++) {
		const struct vpa_report *r = u->all[i].report;
		int in_b = i >= u->a_count;
		uint64_t *units = in_b ? &c->b_window_units : &c->a_window_units;
		uint64_t *over = in_b ? &c->b_window_over : &c->a_window_over;

		add_report(c, r, in_b, divide);
		*units = vpt_sat_add(*units, u->all[i].in_window);
		*over = add_over(*over, u->all[i].in_window, r->device_count);
	}
	qsort(c->rows, c->row_count, sizeof(*c->rows), by_row);
	join_rows(c);
	fold_unlisted(c);
	return divide_rows(c);
}
