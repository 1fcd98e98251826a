/* finding.c - builds a finding: its place in the report, its evidence, and what a fix would
 * save. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/report/device_limit.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { EVIDENCE_MAX = 3 };

/* A saving is worth a line from these shares. */
static const double window_share = 0.01, active_share = 0.02;

/* A prediction is worth a line from this share of its base: less of a bound comes true. */
static const double predicted_share = 0.01;

/* A saving is said to be of the mean block or step if its share there is at least this part of its share of the
 * active time; where there is a steady FPS, or the first request is left out, also if it is at least the second part of
 * the unit. What comes before and after them is no part of them. */
static const double inside_share = 0.25, steady_share = 0.01;

/* A device that is busy for less of its active time is named. */
static const double busy_share = 0.25;

int vpa_findings_begin(struct vpa_report *r)
{
	r->findings = vpa_arena_alloc(&r->arena, VPA_FINDINGS_MAX, sizeof(*r->findings));
	r->candidates = vpa_arena_alloc(&r->arena, VPA_CANDIDATES_MAX, sizeof(*r->candidates));
	return r->findings && r->candidates ? VPT_OK : VPT_ENOMEM;
}

struct vpa_finding *vpa_finding_add(
	struct vpa_report *r, enum vpa_finding_id id, enum vpa_finding_status status)
{
	struct vpa_finding *f;

	if (r->finding_count == VPA_FINDINGS_MAX)
		return NULL;
	f = &r->findings[r->finding_count++];
	f->id = id;
	f->status = status;
	f->evidence = vpa_arena_alloc(&r->arena, EVIDENCE_MAX, sizeof(*f->evidence));
	return f->evidence ? f : NULL;
}

void vpa_finding_is_candidate(struct vpa_report *r)
{
	struct vpa_finding *f = &r->findings[--r->finding_count];

	if (r->candidate_count < VPA_CANDIDATES_MAX)
		r->candidates[r->candidate_count++] = *f;
	*f = (struct vpa_finding){.id = VPA_FOUND_NONE};
}

void vpa_finding_promote(struct vpa_report *r, const struct vpa_finding *candidate)
{
	if (r->finding_count < VPA_FINDINGS_MAX && !vpa_finding_find(r, candidate->id))
		r->findings[r->finding_count++] = *candidate;
}

void vpa_finding_evidence(struct vpa_finding *f, const char *text)
{
	size_t i;

	if (!text || f->evidence_count == EVIDENCE_MAX)
		return;
	for (i = 0; i < f->evidence_count; i++)
		if (!strcmp(f->evidence[i], text))
			return;
	f->evidence[f->evidence_count++] = text;
}

void vpa_finding_add_note(struct vpa_report *r, struct vpa_finding *f, const char *more)
{
	if (more)
		f->note = vpa_arena_printf(
			&r->arena, "%s%s%s", f->note ? f->note : "", f->note ? "; " : "", more);
}

const struct vpa_finding *vpa_finding_find(const struct vpa_report *r, enum vpa_finding_id id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (r->findings[i].id == id)
			return &r->findings[i];
	return NULL;
}

uint64_t vpa_active_ns(const struct vpa_report *r)
{
	uint64_t active = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		vpt_sat_add_to(&active, r->devices[i].active_ns);
	return active;
}

/* The device whose ends lie nearest to the run's needs least time beyond its own, in which a pause would count. */
uint64_t vpa_run_ns(const struct vpa_report *r)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0, run_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < r->device_count; i++) {
		first_ns = vpa_earlier(first_ns, r->devices[i].first_ns);
		last_ns = r->devices[i].last_ns > last_ns ? r->devices[i].last_ns : last_ns;
	}
	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		run_ns = vpa_earlier(
			run_ns, vpt_sat_add(d->active_ns,
					vpt_sat_add(d->first_ns - first_ns, last_ns - d->last_ns)));
	}
	return r->device_count ? run_ns : 0;
}

uint64_t vpa_idle_most_ns(const struct vpa_report *r)
{
	uint64_t run_ns = vpa_run_ns(r);

	return run_ns - vpa_earlier(vpa_most_work_ns(r), run_ns);
}

/* The least that any device waits for the cause. */
static uint64_t common_ns(const struct vpa_report *r, enum vpa_cause cause)
{
	uint64_t common = UINT64_MAX;
	size_t d, i;

	for (d = 0; d < r->device_count; d++) {
		uint64_t ns = 0;

		for (i = 0; i < r->devices[d].cause_count; i++)
			if (r->devices[d].causes[i].cause == cause)
				vpt_sat_add_to(&ns, r->devices[d].causes[i].ns);
		common = vpa_earlier(common, ns);
	}
	return common;
}

void vpa_limit_gain(const struct vpa_report *r, struct vpa_gain_row *gain)
{
	int is_edge = gain->cause == VPA_CAUSE_BEFORE_FIRST_WORK ||
		      gain->cause == VPA_CAUSE_AFTER_LAST_WORK;
	uint64_t most_ns = is_edge ? common_ns(r, gain->cause) : vpa_idle_most_ns(r),
		 own_ns = vpa_earlier(gain->ns - vpa_earlier(gain->shared_ns, gain->ns), most_ns);

	gain->ns = vpa_earlier(gain->ns, most_ns);
	gain->shared_ns = gain->ns - own_ns;
}

int vpa_is_window_share(const struct vpa_report *r, uint64_t ns)
{
	return (double)ns >= window_share * (double)vpa_windows_ns(r);
}

int vpa_saving_is_worth(const struct vpa_report *r, const struct vpa_saving *s)
{
	return s->ns && vpa_is_window_share(r, s->ns) &&
	       (double)s->ns >= active_share * (double)vpa_active_ns(r);
}

int vpa_saving_may_be_worth(const struct vpa_report *r, const struct vpa_saving *s)
{
	return (double)s->ns >= predicted_share * (double)vpa_active_ns(r);
}

int vpa_prediction_is_worth(double gain_ms, double base_ms)
{
	return gain_ms >= predicted_share * base_ms;
}

enum vpa_finding_status vpa_saving_status(const struct vpa_report *r, const struct vpa_saving *s)
{
	return (double)s->ns >= 0.1 * (double)vpa_windows_ns(r) ? VPA_FINDING_FAIL
								: VPA_FINDING_WARN;
}

uint64_t vpa_device_idle_ns(const struct vpa_device *d, uint32_t causes)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < d->cause_count; i++)
		if (causes >> d->causes[i].cause & 1)
			vpt_sat_add_to(&ns, d->causes[i].ns);
	return ns;
}

const struct vpa_device *vpa_busiest_device(const struct vpa_report *r)
{
	const struct vpa_device *most = &r->devices[0];
	size_t i;

	for (i = 1; i < r->device_count; i++)
		if (r->devices[i].busy_ns > most->busy_ns)
			most = &r->devices[i];
	return most;
}

/* A gain in the mean unit, as a rate if one is known. */
static void gain_in_unit(const struct vpa_report *r, struct vpa_finding *f,
	const struct vpa_mean_unit *base, double gain_ms)
{
	double fps = vpa_unit_fps(r, base->kind), left;

	f->base = vpa_base_of_unit(base->kind);
	f->base_ms = vpa_in_ms(base->span_ns) / base->units * base->stretch;
	f->base_gain_ms = gain_ms;
	f->fps_from = f->fps_to = f->steps_per_s_from = f->steps_per_s_to = 0;
	left = (f->base_ms - gain_ms) / f->base_ms;
	if (left <= 0)
		return;
	if (base->has_rate) {
		f->steps_per_s_from = 1e3 / f->base_ms;
		f->steps_per_s_to = f->steps_per_s_from / left;
	} else if (fps > 0) {
		f->fps_from = fps;
		f->fps_to = fps / left;
	}
}

void vpa_finding_is_of_unit(const struct vpa_report *r, struct vpa_finding *f, double gain_ms)
{
	struct vpa_mean_unit base = vpa_mean_unit_of(r);

	gain_in_unit(r, f, &base, gain_ms);
	f->base_gain_from_ms = 0;
	f->base_likely_ms = gain_ms;
}

/* The saving in the mean unit. 0: it lies elsewhere. */
static int save_in_unit(const struct vpa_report *r, struct vpa_finding *f,
	const struct vpa_saving *s, uint64_t device_ns)
{
	struct vpa_mean_unit base = vpa_mean_unit_of(r);
	uint64_t ns = vpa_portion(s->base_ns, device_ns, s->ns);
	double fps = vpa_unit_fps(r, base.kind);

	/* The only request has its own way, below. */
	if (!(base.units > 0) || !s->base_ns ||
		(base.kind == VPA_UNIT_REQUEST && r->request_count == 1))
		return 0;
	ns = vpa_earlier(ns, base.span_ns);
	if ((double)ns * (double)vpa_run_ns(r) <
			inside_share * (double)device_ns * (double)base.span_ns &&
		((fps <= 0 && !base.without_first) ||
			(double)ns < steady_share * (double)base.span_ns))
		return 0;
	gain_in_unit(r, f, &base, vpa_in_ms(ns) / base.units * base.stretch);
	f->base_gain_from_ms = f->base_gain_ms * (double)s->from_ns / (double)s->ns;
	return 1;
}

static uint64_t span_ns(const struct vpa_request *q)
{
	return q->end_ns > q->start_ns ? q->end_ns - q->start_ns : 0;
}

/* The saving as a part of a request; its FPS end to end if that is known. */
static void save_of_request(
	struct vpa_finding *f, const struct vpa_request *q, const struct vpa_saving *s, uint64_t ns)
{
	f->base = vpa_base_of_unit(VPA_UNIT_REQUEST);
	f->base_ms = vpa_in_ms(span_ns(q));
	f->base_gain_ms = vpa_in_ms(ns);
	f->base_gain_from_ms = vpa_in_ms(vpa_portion(ns, s->from_ns, s->ns));
	if (!(q->fps_end_to_end > 0))
		return;
	f->fps_from = q->fps_end_to_end;
	f->fps_to = q->fps_end_to_end * (double)span_ns(q) / (double)(span_ns(q) - ns);
}

/* The saving in the only request, if its frames per second end to end are known, or if it is marked and
 * nothing else ran. 0: there is none. */
static int save_in_request(
	const struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s, uint64_t ns)
{
	const struct vpa_request *q = r->request_count == 1 ? r->requests : NULL;
	size_t i;

	if (!q || ns >= span_ns(q))
		return 0;
	for (i = 0; i < r->device_count && !(q->fps_end_to_end > 0); i++)
		if (!q->source || q->blocks.measured || q->gpu.period_ns < r->devices[i].active_ns)
			return 0;
	save_of_request(f, q, s, ns);
	return 1;
}

uint64_t vpa_request_head_ns(const struct vpa_report *r, uint64_t head_ns)
{
	const struct vpa_request *q = r->request_count == 1 ? r->requests : NULL;
	uint64_t first_ns = vpt_sat_add(r->window_start_ns, head_ns);

	if (!q || !q->source || q->start_ns < r->window_start_ns || first_ns <= q->start_ns ||
		first_ns >= q->end_ns)
		return 0;
	return first_ns - q->start_ns;
}

void vpa_finding_saves_head(const struct vpa_report *r, struct vpa_finding *f, struct vpa_saving *s)
{
	uint64_t head_ns = vpa_request_head_ns(r, s->device_ns);

	if (!head_ns)
		return;
	s->ns = vpa_portion(s->ns, head_ns, s->device_ns);
	s->device_ns = head_ns;
	f->gain_at_most_ms = vpa_in_ms(s->ns);
	save_of_request(f, r->requests, s, head_ns);
}

void vpa_finding_is_at(struct vpa_report *r, struct vpa_finding *f, const struct vpa_place *at,
	enum vpa_amount amount)
{
	if (!at->text || amount > VPA_AMOUNT_HALF)
		return;
	f->where = vpa_arena_printf(
		&r->arena, "%s%.60s", at->kind == VPA_PLACE_IN ? "in " : "", at->text);
	f->is_mostly = amount == VPA_AMOUNT_MOST;
	f->is_half = amount == VPA_AMOUNT_HALF;
}

void vpa_finding_work_is_at(struct vpa_report *r, struct vpa_finding *f, const struct vpa_place *at,
	uint64_t ns, uint64_t all_ns)
{
	enum vpa_amount amount = vpa_mean_unit_amount_at(NULL, 0, ns, all_ns);

	/* An operator's own name says nothing new. */
	if (at->text && strncmp(at->text, "aten::", 6) && amount <= VPA_AMOUNT_MOST)
		vpa_finding_is_at(r, f, at, amount);
}

/* A gain of a device that is hardly busy may be large and still matter little. */
static void name_device(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	const struct vpa_device *d = s->device;

	if (r->device_count < 2 || !d || s->device_ns <= s->ns / 2 ||
		(double)d->busy_ns >= busy_share * (double)d->active_ns)
		return;
	f->note = vpa_arena_printf(&r->arena, "GPU %lld, %s %% busy%s%s", (long long)d->device,
		vpa_percent(d->busy_ns, d->active_ns).text, f->note ? "; " : "",
		f->note ? f->note : "");
}

void vpa_finding_saves(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	const struct vpa_device *d = s->device ? s->device : vpa_busiest_device(r);
	uint64_t ns = s->device ? s->device_ns : vpa_portion(s->ns, d->busy_ns, vpa_busy_ns(r));

	f->gain_at_most_ms = vpa_in_ms(s->ns);
	f->gain_from_ms = vpa_in_ms(s->from_ns);
	if (s->ns)
		name_device(r, f, s);
	if (!s->ns || save_in_unit(r, f, s, ns) || save_in_request(r, f, s, ns))
		return;
	f->base = VPA_BASE_ACTIVE;
	f->base_ms = vpa_in_ms(vpa_run_ns(r));
	f->base_gain_ms = vpa_in_ms(ns);
	f->base_gain_from_ms = vpa_in_ms(vpa_portion(ns, s->from_ns, s->ns));
}
