/* predicted_change.c - which findings of A are gone in B, and the replay with their changes. */
#include "analysis/compare/conditions/predicted_condition.h"

#include "analysis/advice/finding.h"
#include "analysis/retime/what_if/what_if.h"

#include <stdio.h>
#include <string.h>

/* Of A's gain, as a share of the time it is a part of, B may have so much left. */
static const double left_share = 0.2;

static double share_of(const struct vpa_finding *f)
{
	return f->base_ms > 0 ? f->base_gain_ms / f->base_ms : 0;
}

/* What a part of the host's code would save is a guess. So is a gain of which only the least is known. */
static int is_guess(const char *text)
{
	struct vpa_change changes[VPA_CHANGES_MOST];
	struct vpt_err err;
	size_t count, i;

	if (vpa_changes_read(text, changes, &count, &err))
		return 1;
	for (i = 0; i < count; i++)
		if (changes[i].kind == VPA_CHANGE_HOST && changes[i].factor > 0)
			return 1;
	return 0;
}

static int is_gone(const struct vpa_finding *f, const struct vpa_report *b)
{
	const struct vpa_finding *left = vpa_finding_find(b, f->id);

	return f->change && share_of(f) > 0 && !f->predicted_at_least && !is_guess(f->change) &&
	       (!left || share_of(left) < left_share * share_of(f));
}

/* All waits together are no other change than each kind of them. */
static int is_of_others(const struct vpa_finding *f)
{
	return f->id == VPA_FOUND_HOST_WAITS;
}

struct gone {
	const struct vpa_finding *findings[VPA_CHANGES_MOST];
	size_t count;
	char changes[2048];
};

static void find_gone(const struct vpa_report *a, const struct vpa_report *b, struct gone *out)
{
	size_t i, used;

	*out = (struct gone){.count = 0};
	for (i = 0; i < a->finding_count && out->count < VPA_CHANGES_MOST; i++) {
		const struct vpa_finding *f = &a->findings[i];

		used = strlen(out->changes);
		if (is_of_others(f) || !is_gone(f, b) ||
			used + strlen(f->change) + 3 > sizeof(out->changes))
			continue;
		snprintf(out->changes + used, sizeof(out->changes) - used, "%s%s", used ? "; " : "",
			f->change);
		out->findings[out->count++] = f;
	}
}

static int put(struct vpa_comparison *c, const struct gone *gone, const struct vpa_what_if *w)
{
	const struct vpa_what_if_row *mean = &w->rows[0];
	struct vpa_compared_prediction *p;
	size_t i;

	if (!w->row_count || !(mean->measured_ms > 0) || !(mean->predicted_ms > 0))
		return VPT_OK;
	p = vpa_arena_alloc(&c->arena, 1, sizeof(*p));
	if (!p)
		return VPT_ENOMEM;
	*p = (struct vpa_compared_prediction){.unit = mean->unit,
		.confidence = vpa_confidence_word(w->forecast.confidence),
		.change = vpa_arena_text(&c->arena, gone->changes, strlen(gone->changes)),
		.titles = vpa_arena_alloc(&c->arena, gone->count, sizeof(*p->titles)),
		.ids = vpa_arena_alloc(&c->arena, gone->count, sizeof(*p->ids)),
		.recorded_ms = mean->recorded_ms,
		.predicted_ms = mean->predicted_ms,
		.measured_ms = mean->measured_ms,
		.error_percent = mean->error_percent,
		.fps_predicted = mean->fps_predicted,
		.fps_measured = mean->fps_measured};
	for (i = 0; p->titles && p->ids && i < gone->count; i++) {
		p->titles[i] = gone->findings[i]->title;
		p->ids[i] = vpa_finding_text(gone->findings[i]->id);
	}
	p->finding_count = p->id_count = gone->count;
	if (c->arena.failed)
		return VPT_ENOMEM;
	c->prediction = p;
	return VPT_OK;
}

int vpa_compare_predict(struct vpa_comparison *c, struct vpa_report *a,
	const struct vpt_trace *trace, unsigned jobs, struct vpt_err *err)
{
	struct vpa_forecast kept = a->forecast;
	struct vpa_what_if w = {.row_count = 0};
	struct gone gone;
	int rc;

	if (c->a.count != 1 || c->b.count != 1)
		return VPT_OK;
	find_gone(a, c->b.reports[0], &gone);
	if (!gone.count)
		return VPT_OK;
	rc = vpa_what_if(trace, jobs, a, gone.changes, c->b.reports[0], &w, err);
	a->forecast = kept;
	if (!rc && put(c, &gone, &w))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a prediction");
	vpa_what_if_free(&w);
	if (rc == VPT_EUNSUPPORTED || rc == VPT_EINVAL) {
		*err = (struct vpt_err){0};
		rc = VPT_OK;
	}
	return rc;
}
