/* unit_parts.c - where the time of the mean unit went on both sides, and what changed: a row for each part. */
#include "analysis/compare/render/compare_pages.h"

#include "analysis/base/intervals.h"
#include "analysis/compare/comparison_steps.h"
#include "analysis/compare/render/change_numbers.h"
#include "analysis/render/html/markup/bar_pairs.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <stdlib.h>

struct waterfall {
	struct vpa_bar_pairs pairs;
	const struct vpa_comparison *c;
	unsigned decimals;
};

/* A row: means of the sides. */
struct waterfall_row {
	const char *name, *label; /* label: for people; unused in a sum */
	enum vpa_block_part_kind kind;
	uint64_t a_ns, b_ns;
	int64_t delta_ns;
	int is_sum;
};

/* By kind, then the longer of both sides. */
static int by_size(const void *pa, const void *pb)
{
	const struct vpa_compared_part *a = *(const struct vpa_compared_part *const *)pa;
	const struct vpa_compared_part *b = *(const struct vpa_compared_part *const *)pb;
	uint64_t na = vpa_later(a->a_mean_ns, a->b_mean_ns),
		 nb = vpa_later(b->a_mean_ns, b->b_mean_ns);

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (na != nb)
		return na > nb ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- cells ---- */

static struct vpa_bar_pair pair_of(const struct waterfall *f, const struct waterfall_row *row)
{
	int is_idle = row->kind == VPA_PART_IDLE;
	struct vpa_bar_pair pair = {.a_ns = row->a_ns,
		.b_ns = row->b_ns,
		.delta_ns = row->delta_ns,
		.a = vpa_compared_plain_ms(row->a_ns, 1, f->decimals),
		.b = vpa_compared_plain_ms(row->b_ns, 1, f->decimals),
		.delta = vpa_compared_change_ms(row->delta_ns, f->decimals + 1),
		.kind = "",
		.is_sum = row->is_sum};

	if (row->is_sum)
		pair.plain = "whole";
	else if (!f->c->by_part && row->kind != VPA_PART_PAUSED)
		pair.plain = is_idle ? "p-other-idle idle" : "p-other-busy";
	else {
		pair.slug = row->name;
		pair.kind = is_idle ? " idle" : "";
	}
	return pair;
}

static void put_row(struct waterfall *f, const struct waterfall_row *row)
{
	const struct vpa_bar_pair pair = pair_of(f, row);

	vpa_html_pair_begin(f->pairs.h, &pair);
	if (row->is_sum || !f->c->by_part)
		vpa_html_text(f->pairs.h, row->name);
	else
		vpa_html_key(f->pairs.h, row->name, row->kind == VPA_PART_IDLE ? " idle" : "",
			row->label);
	vpa_html_pair_bars(&f->pairs, &pair);
}

/* ---- rows ---- */

static void put_sum(struct waterfall *f, enum vpa_block_part_kind kind)
{
	static const char *const titles[] = {[VPA_PART_BUSY] = "GPU busy, by kernel family",
		[VPA_PART_IDLE] = "GPU idle, by cause",
		[VPA_PART_PAUSED] = "recording paused"};
	struct waterfall_row sum = {.name = titles[kind], .kind = kind, .is_sum = 1};
	struct vpa_account_part times = {0};
	size_t i;

	for (i = 0; i < f->c->part_count; i++)
		if (f->c->parts[i].kind == kind)
			vpa_compare_add_times(&times, &f->c->parts[i].times);
	sum.a_ns = vpa_rounded_mean(times.a_ns, f->c->a_over);
	sum.b_ns = vpa_rounded_mean(times.b_ns, f->c->b_over);
	sum.delta_ns = times.delta_ns;
	put_row(f, &sum);
}

/* "gemm"; "blocking copy: host code in post_process" */
static struct vpa_label label_of(const struct vpa_compared_part *part)
{
	struct vpa_label label = {{0}};

	snprintf(label.text, sizeof(label.text), "%.200s%s%.200s", part->name,
		part->host ? ": " : "",
		part->host
			? vpa_compared_instead(part->host, part->host_call, &part->host_place).text
			: "");
	return label;
}

static void put_rows(struct waterfall *f)
{
	const struct vpa_compared_part *parts[VPA_UNIT_PARTS];
	size_t i, count = f->c->part_count < VPA_UNIT_PARTS ? f->c->part_count : VPA_UNIT_PARTS;

	for (i = 0; i < count; i++)
		parts[i] = &f->c->parts[i];
	qsort(parts, count, sizeof(parts[0]), by_size);
	for (i = 0; i < count; i++) {
		struct vpa_label label = label_of(parts[i]);
		const struct waterfall_row row = {.name = parts[i]->name,
			.label = label.text,
			.kind = parts[i]->kind,
			.a_ns = parts[i]->a_mean_ns,
			.b_ns = parts[i]->b_mean_ns,
			.delta_ns = parts[i]->times.delta_ns};

		if (!i || parts[i]->kind != parts[i - 1]->kind)
			put_sum(f, parts[i]->kind);
		/* Where a kind is not divided, its sum says it all. */
		if (f->c->by_part && row.kind != VPA_PART_PAUSED)
			put_row(f, &row);
		else {
			const struct vpa_bar_pair pair = pair_of(f, &row);

			vpa_bar_pairs_add(&f->pairs, &pair);
		}
	}
}

static uint64_t largest_change(const struct vpa_comparison *c)
{
	uint64_t most = vpa_later(vpa_magnitude(c->delta_ns),
		vpa_later(vpa_magnitude(c->busy_delta_ns), vpa_magnitude(c->idle_delta_ns)));
	size_t i;

	for (i = 0; i < c->part_count; i++)
		most = vpa_later(most, vpa_magnitude(c->parts[i].times.delta_ns));
	return most;
}

static const char *title_of(const struct vpa_comparison *c)
{
	return c->per_frame ? "The mean frame" : vpa_unit_words(c->unit)->mean;
}

void vpa_compare_put_unit_parts(struct vpa_html *h, const struct vpa_comparison *c)
{
	const struct waterfall_row whole = {
		.name = c->unit == VPA_UNIT_WINDOW ? "window" : "period",
		.a_ns = vpa_rounded_mean(c->a_total_ns, c->a_over),
		.b_ns = vpa_rounded_mean(c->b_total_ns, c->b_over),
		.delta_ns = c->delta_ns,
		.is_sum = 1};
	struct waterfall f = {.pairs = {.h = h,
				      .scale_ns = vpa_later(whole.a_ns, whole.b_ns),
				      .delta_scale_ns = largest_change(c)},
		.c = c,
		.decimals = vpa_compared_decimals_of(whole.a_ns)};

	if (!c->part_count)
		return;
	vpa_html_begin(h, "waterfall", title_of(c),
		"Each bar of A and of B begins where the one above it ends, on one scale; the "
		"changes have their own, red for more time.");
	vpa_html_pairs_begin(h, "A", "B", "mean.parts");
	put_row(&f, &whole);
	put_rows(&f);
	vpa_html_pairs_end(h);
	vpa_html_end(h);
}
