/* findings.c - conclusions, ranked by what they are likely to save. Nothing is reported below its
 * threshold.
 *
 * "At most" is the idle or busy time that would vanish if nothing else became the bottleneck; the
 * gains of several findings do not add up. A wait, a copy or a launch can go away whole. Code of the
 * host can hardly, it only gets shorter; so its most says little about which repair is the better one. */
#include "analysis/advice/findings.h"

#include "analysis/advice/finding.h"

#include <string.h>

/* Below this share of its base a gain changes no figure that is shown. */
static const double visible_share = 0.005;

/* Where no replay can say what a change brings and a bound is all that is known, it brings between nothing and that. After a warm-up no
 * first use is left. */
static double middle_ms(const struct vpa_finding *f)
{
	int is_bound = f->id != VPA_FOUND_FIRST_USE && !f->change && !(f->base_gain_from_ms > 0) &&
		       !(f->base_likely_ms < f->base_gain_ms);

	return is_bound ? f->base_likely_ms / 2 : f->base_likely_ms;
}

/* The part of its base that a finding saves: of a range its middle. Idle time is less than what other gains are a part of: the
 * window stands for it. */
static double saved_share(const struct vpa_report *r, const struct vpa_finding *f)
{
	double base_ms = f->base_ms;

	if (f->base == VPA_BASE_IDLE)
		base_ms = vpa_in_ms(vpa_windows_ns(r));
	if (base_ms > 0 && f->predicted_ms > 0 && f->predicted_at_least)
		return (f->base_ms - f->predicted_ms + f->base_gain_ms) / 2 / base_ms;
	if (base_ms > 0 && f->predicted_ms > 0)
		return (f->base_ms - f->predicted_ms) / base_ms;
	return base_ms > 0 ? middle_ms(f) / base_ms : 0;
}

/* What findings are ordered by. */
static double share_of(const struct vpa_report *r, const struct vpa_finding *f)
{
	return saved_share(r, f) * (f->is_unsure ? 0.5 : 1);
}

/* Problems of the recording come before everything else: they are not the program's. */
static int is_of_recording(enum vpa_finding_id id)
{
	static const enum vpa_finding_id ids[] = {
		VPA_FOUND_RECORDS_LOST, VPA_FOUND_NO_LAUNCH, VPA_FOUND_PROFILER};
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (id == ids[i])
			return 1;
	return 0;
}

static int rank_of(const struct vpa_finding *f)
{
	if (is_of_recording(f->id))
		return 0;
	if (f->gain_at_most_ms > 0)
		return 1;
	return f->id == VPA_FOUND_SEVERAL_GPUS ? 2 : 3; /* whether the target is in reach */
}

static int is_before(
	const struct vpa_report *r, const struct vpa_finding *a, const struct vpa_finding *b)
{
	double share_a = share_of(r, a), share_b = share_of(r, b);

	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b);
	if (share_a > share_b || share_a < share_b)
		return share_a > share_b;
	if (a->status != b->status)
		return a->status > b->status;
	return strcmp(vpa_finding_text(a->id), vpa_finding_text(b->id)) < 0;
}

static void set_likely(struct vpa_finding *f)
{
	if (!(f->base_likely_ms > 0))
		f->base_likely_ms = f->base_gain_from_ms > 0
					    ? (f->base_gain_from_ms + f->base_gain_ms) / 2
					    : f->base_gain_ms;
}

int vpa_finding_vanishes(const struct vpa_finding *f)
{
	double most_ms = f->predicted_at_least ? f->base_gain_ms : f->base_ms - f->predicted_ms;

	return f->predicted_ms > 0 && most_ms < visible_share * f->base_ms;
}

/* A gain that is too small to be seen in what it is a part of is none. */
static void drop_invisible(struct vpa_report *r)
{
	size_t i, kept = 0;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (f->base == VPA_BASE_NONE || f->base_gain_ms >= visible_share * f->base_ms)
			r->findings[kept++] = *f;
	}
	r->finding_count = kept;
}

/* There are few. */
void vpa_findings_sort(struct vpa_report *r)
{
	size_t i, at;

	for (i = 1; i < r->finding_count; i++) {
		struct vpa_finding f = r->findings[i];

		for (at = i; at && is_before(r, &f, &r->findings[at - 1]); at--)
			r->findings[at] = r->findings[at - 1];
		r->findings[at] = f;
	}
	vpa_findings_claim(r);
}

/* Fills attention.fallbacks. */
static int list_fallbacks(struct vpa_report *r)
{
	static const enum vpa_finding_id ids[] = {VPA_FOUND_EAGER_ATTENTION,
		VPA_FOUND_FLASH_2_ON_HOPPER, VPA_FOUND_MEM_EFFICIENT_ATTENTION,
		VPA_FOUND_ATTENTION_CHANGE};
	struct vpa_attention *a = &r->attention;
	size_t i, k;

	a->fallbacks = vpa_arena_alloc(&r->arena, VPA_FINDINGS_MAX, sizeof(*a->fallbacks));
	if (!a->fallbacks)
		return VPT_ENOMEM;
	for (i = 0; i < r->finding_count; i++)
		for (k = 0; k < sizeof(ids) / sizeof(ids[0]); k++)
			if (r->findings[i].id == ids[k])
				a->fallbacks[a->fallback_count++] = vpa_arena_printf(&r->arena,
					"%s (%s)", r->findings[i].title, r->findings[i].measured);
	return VPT_OK;
}

int vpa_findings_write(struct vpa_report *r)
{
	size_t i;

	if (vpa_findings_begin(r))
		return VPT_ENOMEM;
	if (r->device_count) {
		vpa_find_work(r);
		vpa_find_idle(r);
		vpa_find_again(r);
		vpa_find_blocks(r);
		vpa_find_counters(r);
		vpa_find_uneven(r);
		vpa_find_not_named(r);
		vpa_find_model(r);
		vpa_find_gpus(r);
	}
	if (list_fallbacks(r))
		return VPT_ENOMEM;
	drop_invisible(r);
	for (i = 0; i < r->finding_count; i++)
		set_likely(&r->findings[i]);
	for (i = 0; i < r->candidate_count; i++)
		set_likely(&r->candidates[i]);
	vpa_finding_changes(r);
	vpa_findings_sort(r);
	return r->arena.failed ? VPT_ENOMEM : VPT_OK;
}
