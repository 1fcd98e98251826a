/* asked_changes.c - what changes bring that somebody asks about, one replay for all of them. */
#include "analysis/retime/predictions.h"

#include "formats/base/memory.h"

#include <string.h>

/* Lists of changes that somebody asks about. */
struct asking {
	const struct vpt_trace *trace;
	unsigned jobs;
	uint64_t most;
	struct vpa_report *r;
	struct vpa_spans spans;
	struct vpa_asked_change *asked[VPA_CHANGE_LISTS_MOST]; /* by list */
	struct vpa_change changes[VPA_CHANGE_LISTS_MOST][VPA_CHANGES_MOST];
	struct vpa_change_list lists[VPA_CHANGE_LISTS_MOST];
	size_t count;
};

/* Answers the `count` lists from `first`. Whatever the replay says of the report stays as it is. */
static void answer_asked(
	const struct asking *a, size_t first, size_t count, const struct vpa_retiming *t)
{
	struct vpa_forecast kept = a->r->forecast, now;
	const uint64_t *hits = t->hits;
	size_t i, k;

	vpa_forecast_write(a->r, &a->spans, t);
	now = a->r->forecast;
	a->r->forecast = kept;
	for (i = 0; i < count; i++) {
		struct vpa_asked_change *out = a->asked[first + i];

		out->why_not = now.why_not;
		out->base = now.base;
		out->replayed_share = now.replayed_share;
		out->gain_share = now.why_not ? 0
					      : 1 - vpa_spans_ratio(a->r, &a->spans, t,
							    VPA_WORLD_FIRST + i, now.base);
		for (k = 0; k < a->lists[first + i].count; k++)
			out->hits += *hits++;
	}
}

/* Says of the `count` lists from `first` why they are not answered. */
static void refuse_asked(const struct asking *a, size_t first, size_t count, struct vpt_err *err)
{
	size_t i;

	for (i = first; i < first + count; i++)
		a->asked[i]->why_not = vpa_arena_text(&a->r->arena, err->text, strlen(err->text));
	*err = (struct vpt_err){0};
}

/* One replay for all of them. If one of several cannot be made, each has a replay of its own. */
static int replay_asked(struct asking *a, size_t first, size_t count, struct vpt_err *err)
{
	struct vpa_retiming t = {0};
	size_t i;
	int rc = vpa_retime(a->trace, a->jobs, a->most, &a->lists[first], count, a->spans.at,
		a->spans.count, &t, err);

	if (!rc)
		answer_asked(a, first, count, &t);
	vpa_retiming_free(&t);
	if (rc == VPT_EINVAL && count > 1) {
		*err = (struct vpt_err){0};
		for (i = 0, rc = VPT_OK; i < count && !rc; i++)
			rc = replay_asked(a, first + i, 1, err);
	} else if (rc == VPT_EUNSUPPORTED || rc == VPT_EINVAL) {
		refuse_asked(a, first, count, err);
		rc = VPT_OK;
	}
	return rc;
}

/* Adds a list. One that cannot be read is answered at once. */
static int ask(struct asking *a, struct vpa_asked_change *asked, struct vpt_err *err)
{
	struct vpa_change_list *list = &a->lists[a->count];
	int rc = vpa_changes_read(asked->change, a->changes[a->count], &list->count, err);

	a->asked[a->count] = asked;
	if (rc == VPT_EINVAL) {
		refuse_asked(a, a->count, 1, err);
		return VPT_OK;
	}
	list->changes = a->changes[a->count++];
	return rc;
}

static int ask_all(struct asking *a, const char *const *changes, size_t count, struct vpt_err *err)
{
	struct vpa_forecast *f = &a->r->forecast;
	int rc = VPT_OK;

	vpa_spans_of(a->r, &a->spans);
	while (f->asked_count < count && !rc) {
		struct vpa_asked_change *asked = &f->asked[f->asked_count];
		const char *change = changes[f->asked_count++];

		asked->change = vpa_arena_text(&a->r->arena, change, strlen(change));
		rc = asked->change ? ask(a, asked, err) : VPT_ENOMEM;
	}
	return rc || !a->count ? rc : replay_asked(a, 0, a->count, err);
}

int vpa_predict_asked(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	const char *const *changes, size_t count, struct vpa_report *r, struct vpt_err *err)
{
	struct asking *a = vpt_calloc(1, sizeof(*a));
	int rc = VPT_ENOMEM;

	r->forecast.asked = vpa_arena_alloc(&r->arena, count + 1, sizeof(*r->forecast.asked));
	r->forecast.asked_count = 0;
	if (a && r->forecast.asked) {
		a->trace = trace;
		a->jobs = jobs;
		a->most = most;
		a->r = r;
		rc = ask_all(a, changes, count, err);
	}
	vpt_free(a);
	if ((!rc && r->arena.failed) || rc == VPT_ENOMEM)
		return vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
	return rc;
}
