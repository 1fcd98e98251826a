/* unit_choice.c - chooses the units that all runs are compared by, and the rate that they make.
 *
 * Blocks that do not hold the VAE's work make no frames that can be shown: their rate is not FPS, and blocks that hold it
 * take longer. So blocks of both kinds are never compared, and requests, which hold all work, come before blocks that
 * lack it. */
#include "analysis/base/numbers.h"
#include "analysis/compare/comparison_steps.h"

#include "analysis/advice/finding.h"

#include <stdlib.h>

enum { ALL_KINDS = (1u << VPA_UNIT_KINDS) - 1 };

/* ---- what comes after the blocks ---- */

/* How many of the runs from `from` on have work after their blocks. */
static size_t count_after(const struct vpa_comparison *c, size_t from, size_t end)
{
	size_t i, count = 0;

	for (i = from; i < end; i++)
		count += vpa_unit_after_blocks(vpa_compare_run(c, i)) != VPA_REST_NONE;
	return count;
}

/* Of no run unless all have blocks. */
static enum vpa_compared_after after_of(const struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, count = count_after(c, 0, runs), i;

	for (i = 0; i < runs; i++)
		if (!vpa_unit_count(vpa_compare_run(c, i), VPA_UNIT_BLOCK))
			return VPA_AFTER_NONE;
	return !count ? VPA_AFTER_NONE : count < runs ? VPA_AFTER_SOME : VPA_AFTER_ALL;
}

/* ---- the unit ---- */

/* The first capture that has too few of these units; count: none has. */
static size_t first_without(const struct vpa_compared_units *u, size_t least)
{
	size_t i;

	for (i = 0; i < u->count && u->all[i].count >= least; i++)
		;
	return i;
}

static int has_any(const struct vpa_compared_units *u, size_t least)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (u->all[i].count >= least)
			return 1;
	return 0;
}

/* Why these units are not used; NULL: there are none, or no memory. */
static const char *why_unused(struct vpa_comparison *c, const struct vpa_compared_units *u,
	enum vpa_unit_kind kind, size_t least)
{
	size_t without = first_without(u, least);

	if (!has_any(u, least))
		return NULL;
	if (without < u->count)
		return vpa_arena_printf(&c->arena, "not compared by %s: %s has %s to measure",
			vpa_unit_kind_name(kind), vpa_compare_run(c, without)->path,
			least > 1 ? "fewer than 3" : "none");
	return vpa_arena_printf(&c->arena,
		"not compared by %s: none is in all captures, by request and index",
		vpa_unit_kind_name(kind));
}

/* ---- the range ---- */

static const struct vpa_range_row *choose_range(const struct vpa_comparison *c, int of_series)
{
	const struct vpa_report *runs[2 * VPA_RUNS_MOST];
	size_t i, count = c->a.count + c->b.count;

	for (i = 0; i < count; i++)
		runs[i] = vpa_compare_run(c, i);
	return vpa_unit_range(runs, count, of_series);
}

static void note_range(struct vpa_comparison *c, const struct vpa_range_row *range)
{
	double share = vpa_unit_range_share(vpa_compare_run(c, 0), range);

	vpa_compare_note(
		c, vpa_arena_printf(&c->arena,
			   range->is_series ? "compared by the ranges of %s, from one to the next: "
					      "they have work for %s %% of A's window"
					    : "compared by the instances of the range %s, by their "
					      "time on a GPU: %s %% of A's window",
			   range->name, vpa_fixed(100 * (share < 1 ? share : 1), 0).text));
}

/* Whether each run has at least `least` units of requests after the first. */
static int have_later(const struct vpa_compared_units *u, size_t least)
{
	size_t i, k, later;

	for (i = 0; i < u->count; i++) {
		for (k = later = 0; k < u->all[i].count; k++)
			later += u->all[i].units[k].request > 0;
		if (later < least)
			return 0;
	}
	return u->count > 0;
}

static int is_of_requests(enum vpa_unit_kind kind)
{
	return kind == VPA_UNIT_BLOCK || kind == VPA_UNIT_STEP || kind == VPA_UNIT_ITERATION ||
	       kind == VPA_UNIT_REQUEST;
}

/* The first of several requests sets up what the others reuse. */
static void leave_first(struct vpa_units *u)
{
	size_t i = 0;

	while (i < u->count && !u->units[i].request)
		i++;
	if (i == u->count)
		return;
	u->units += i;
	u->count -= i;
}

/* Pairs the runs' units of a kind, of which each run has `least`; of requests without the first if `later` are left. `range`: of instances;
 * NULL: none. */
static int try_kind(struct vpa_comparison *c, struct vpa_compared_units *u, enum vpa_unit_kind kind,
	const struct vpa_range_row *range, size_t least, size_t later)
{
	int has_all;
	size_t i;

	c->unit = kind;
	for (i = 0; i < u->count; i++) {
		const struct vpa_report *r = vpa_compare_run(c, i);

		if (vpa_units_of(r, kind, range ? vpa_unit_range_like(r, range) : NULL, &c->arena,
			    &u->all[i]))
			return VPT_ENOMEM;
	}
	has_all = first_without(u, least) == u->count;
	c->without_first =
		is_of_requests(kind) && have_later(u, kind == VPA_UNIT_REQUEST ? later : 1);
	for (i = 0; i < u->count && c->without_first; i++)
		leave_first(&u->all[i]);
	c->pairs = has_all ? vpa_units_pair(u->all, u->count) : 0;
	return VPT_OK;
}

static unsigned bit(enum vpa_unit_kind kind)
{
	return 1u << kind;
}

/* Blocks of which only some hold the VAE's work are no unit; then the requests as a whole
 * are compared, unless other kinds are asked for. */
static int choose_unit(struct vpa_comparison *c, struct vpa_compared_units *u,
	const struct vpa_compare_options *options)
{
	unsigned kinds = options->kinds;
	const struct vpa_unit_choice *choice = NULL;
	const char *unused[VPA_UNIT_KINDS] = {NULL};
	const struct vpa_range_row *range = NULL;
	int lacks_vae = c->after == VPA_AFTER_ALL;
	size_t least;

	if (c->after == VPA_AFTER_SOME)
		kinds = kinds ? kinds & ~bit(VPA_UNIT_BLOCK) : bit(VPA_UNIT_REQUEST);
	else if (!kinds)
		kinds = ALL_KINDS;
	kinds |= bit(VPA_UNIT_WINDOW);
	while (!c->pairs && (choice = vpa_unit_next(choice, lacks_vae)) != NULL) {
		if (!(kinds & bit(choice->kind)))
			continue;
		least = c->after == VPA_AFTER_SOME ? 1 : choice->least;
		range = choice->kind == VPA_UNIT_INSTANCE ? choose_range(c, choice->of_series)
							  : NULL;
		if (choice->of_series && !range)
			continue;
		if (try_kind(c, u, choice->kind, range, least,
			    options->is_of_itself ? 1 : VPA_UNIT_REQUESTS))
			return VPT_ENOMEM;
		if (!c->pairs && !unused[c->unit])
			unused[c->unit] = why_unused(c, u, c->unit, least);
	}
	for (choice = vpa_unit_next(NULL, lacks_vae); choice;
		choice = vpa_unit_next(choice, lacks_vae))
		if (choice->kind != c->unit)
			vpa_compare_note(c, unused[choice->kind]);
	if (c->unit == VPA_UNIT_INSTANCE)
		note_range(c, range);
	return VPT_OK;
}

/* ---- the rate ---- */

/* All frames of a side, over the time of their requests from start to end; below 0: not known. */
static double fps_end_to_end(const struct vpa_side *side)
{
	double frames = 0, ns = 0;
	size_t i, k;

	for (i = 0; i < side->count; i++)
		for (k = 0; k < side->reports[i]->request_count; k++) {
			const struct vpa_request *q = &side->reports[i]->requests[k];

			if (!(q->fps_end_to_end > 0))
				continue;
			frames += (double)q->frames;
			ns += (double)q->frames * 1e9 / q->fps_end_to_end;
		}
	return ns > 0 ? frames * 1e9 / ns : -1;
}

/* Whether the frames of all paired units are known. Units are measured by frame if some units of a pair have different
 * numbers of them. */
static int count_frames(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	int all_known = 1;
	size_t i, k, at;

	for (i = 0; i < u->count; i++)
		for (k = 0; k < u->all[i].count; k++)
			all_known &= !u->all[i].units[k].paired || u->all[i].units[k].frames > 0;
	for (i = 1; i < u->count && all_known; i++)
		for (k = at = 0; k < u->all[i].count; k++) {
			if (!u->all[i].units[k].paired)
				continue;
			while (!u->all[0].units[at].paired)
				at++;
			c->per_frame |= u->all[i].units[k].frames != u->all[0].units[at++].frames;
		}
	return all_known;
}

/* Judges each run by the rate of its requests, since it has too few to judge by their periods. */
static void use_requests(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	size_t i, k;

	c->judges_requests = c->a_fps_end_to_end > 0 && c->b_fps_end_to_end > 0;
	for (i = 0; i < u->count && c->judges_requests; i++) {
		const struct vpa_report *r = vpa_compare_run(c, i);
		double fps = fps_end_to_end(&(struct vpa_side){&r, 1});

		for (k = 0; k < u->all[i].count && fps > 0; k++)
			u->all[i].units[k].judged_ns = 1e9 / fps;
	}
}

static void choose_rate(struct vpa_comparison *c, const struct vpa_compared_units *u)
{
	int is_whole = c->unit == VPA_UNIT_REQUEST || c->unit == VPA_UNIT_WINDOW;

	c->counts_frames = count_frames(c, u);
	c->a_fps_end_to_end = fps_end_to_end(&c->a);
	c->b_fps_end_to_end = fps_end_to_end(&c->b);
	c->is_fps = c->counts_frames && (c->unit != VPA_UNIT_BLOCK || !c->after);
	if (c->unit == VPA_UNIT_WINDOW)
		c->is_fps = c->a_fps_end_to_end > 0 && c->b_fps_end_to_end > 0;
	if (c->is_fps && is_whole && c->pairs < VPA_UNIT_REQUESTS)
		use_requests(c, u);
	c->rate_name = c->is_fps          ? is_whole ? "FPS end to end" : "FPS"
		       : c->counts_frames ? "denoise rate"
					  : vpa_unit_words(c->unit)->rate;
}

/* ---- notes ---- */

static void note_after(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, i = 0;
	enum vpa_rest after = VPA_REST_NONE;

	while (i < runs && !after)
		after = vpa_unit_after_blocks(vpa_compare_run(c, i++));
	if (!after)
		return;
	if (c->after == VPA_AFTER_SOME) {
		size_t in_a = count_after(c, 0, c->a.count);

		vpa_compare_note(
			c, vpa_arena_printf(&c->arena,
				   "not compared by block: %s after the last block, only in %s",
				   vpa_rest_comes(after),
				   in_a && count_after(c, c->a.count, runs) ? "some runs"
				   : in_a                                   ? "A"
									    : "B"));
	} else if (c->unit == VPA_UNIT_BLOCK && c->a_fps_end_to_end > 0 &&
		   c->b_fps_end_to_end > 0) {
		vpa_compare_note(c,
			vpa_arena_printf(&c->arena,
				"%s after the last block, so blocks make a denoise rate; "
				"FPS end to end %s -> %s, and nothing says how much that "
				"differs by chance: record 4 runs a side, or 4 requests in a run",
				vpa_rest_comes(after), vpa_fixed(c->a_fps_end_to_end, 2).text,
				vpa_fixed(c->b_fps_end_to_end, 2).text));
	} else if (c->unit == VPA_UNIT_BLOCK) {
		vpa_compare_note(c,
			vpa_arena_printf(&c->arena, "%s after the last block and is not compared",
				vpa_rest_comes(after)));
	}
}

int vpa_compare_choose(struct vpa_comparison *c, struct vpa_compared_units *u,
	const struct vpa_compare_options *options)
{
	size_t i;

	u->a_count = c->a.count;
	u->count = c->a.count + c->b.count;
	u->all = vpa_arena_alloc(&c->arena, u->count, sizeof(*u->all));
	if (!u->all)
		return VPT_ENOMEM;
	c->after = after_of(c);
	if (choose_unit(c, u, options))
		return VPT_ENOMEM;
	for (i = 0; i < u->count; i++)
		*(i < u->a_count ? &c->a_units : &c->b_units) += u->all[i].count;
	choose_rate(c, u);
	note_after(c);
	return VPT_OK;
}
