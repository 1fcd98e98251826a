/* predictions.c - a world for each finding that has a change, and one for all of them. */
#include "analysis/retime/predictions.h"

#include "analysis/advice/finding.h"
#include "analysis/advice/findings.h"
#include "analysis/base/intervals.h"
#include "analysis/pipeline/unit.h"
#include "analysis/retime/what_if_parts.h"
#include "formats/base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of the time from the first op to the last: with less unexplained delay of ops the confidence is that, with more
 * there is no prediction. */
static const double high_share = 0.01, fair_share = 0.05, low_share = 0.2;

/* With more ops whose launch is not known the confidence is low, with this share of them there is none. */
static const double few_lost = 0.02, most_lost = 0.5;

int vpa_changes_read(
	const char *text, struct vpa_change *changes, size_t *count, struct vpt_err *err)
{
	char one[3 * VPA_CHANGE_NAME];
	int rc = VPT_OK;

	for (*count = 0; !rc && *text; ++*count) {
		size_t len = strcspn(text, ";"), end;

		if (*count == VPA_CHANGES_MOST || len >= sizeof(one))
			return vpt_fail(err, VPT_EINVAL,
				"\"%.120s\": expected at most %d changes of less than %zu bytes",
				text, (int)VPA_CHANGES_MOST, sizeof(one));
		memcpy(one, text, len);
		for (end = len; end && one[end - 1] == ' '; end--)
			;
		one[end] = '\0';
		rc = vpa_change_read(one, &changes[*count], err);
		text += len + (text[len] == ';');
	}
	return rc;
}

/* ---- spans ---- */

static void add_span(struct vpa_spans *s, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns > from_ns && s->count < VPA_SPANS_MOST - 2)
		s->at[s->count++] = (struct vpa_span){from_ns, to_ns};
}

/* The same, as part of the span before if that ends where this begins. */
static void add_to_run(struct vpa_spans *s, uint64_t from_ns, uint64_t to_ns)
{
	struct vpa_span *last = s->count ? &s->at[s->count - 1] : NULL;

	if (last && last->to_ns == from_ns)
		last->to_ns = to_ns;
	else
		add_span(s, from_ns, to_ns);
}

/* Of iterations that make cycles RESULT is the mean of whole ones, the last. */
static size_t first_of_mean(const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	size_t whole = vpa_unit_in_cycles(r);

	return unit->kind == VPA_UNIT_ITERATION && !unit->without_first && whole
		       ? r->step_part_count - whole
		       : 0;
}

/* From each step to the next, as far as one follows: what lies between two loops is in no step. */
static void add_steps(
	const struct vpa_report *r, const struct vpa_mean_unit *unit, struct vpa_spans *s)
{
	int is_inferred = vpa_unit_is_inferred(unit->kind);
	struct vpa_unit_turns turns = {0};
	size_t i;

	if (is_inferred)
		turns = vpa_unit_turns_of(&r->inferred[0], unit->kind);
	for (i = 0; i < turns.count; i++)
		if (turns.at[i].followed)
			add_to_run(s, turns.at[i].start_ns,
				turns.at[i].start_ns + turns.at[i].period_ns);
	for (i = first_of_mean(r, unit); !is_inferred && i < r->step_part_count; i++)
		if (r->step_parts[i].start_ns >= unit->start_ns)
			add_to_run(s, r->step_parts[i].start_ns,
				r->step_parts[i].start_ns + r->step_parts[i].period_ns);
}

static int has_steps(const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	return vpa_unit_is_inferred(unit->kind) ||
	       ((unit->kind == VPA_UNIT_STEP || unit->kind == VPA_UNIT_ITERATION) &&
		       r->step_part_count);
}

static void add_unit(
	const struct vpa_report *r, const struct vpa_mean_unit *unit, struct vpa_spans *s)
{
	size_t i;

	if (!(unit->units > 0))
		return;
	if (has_steps(r, unit)) {
		add_steps(r, unit, s);
		if (s->count && s->count < VPA_SPANS_MOST - 2)
			return;
		s->count = 0;
	}
	if (!unit->range) {
		add_span(s, unit->start_ns, unit->end_ns);
		return;
	}
	for (i = 0; i < unit->range->instance_count; i++) {
		const struct vpa_range_instance *at = &unit->range->instances[i];

		if (at->device == unit->range->instances[0].device)
			add_span(s, at->first_ns, at->first_ns + at->envelope_ns);
	}
}

void vpa_spans_of(const struct vpa_report *r, struct vpa_spans *out)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	size_t i;

	out->count = 0;
	add_unit(r, &unit, out);
	out->unit_count = out->request = out->count;
	if (r->request_count == 1)
		add_span(out, r->requests[0].start_ns, r->requests[0].end_ns);
	out->active = out->count;
	for (i = 0; i < r->device_count; i++) {
		first_ns = vpa_earlier(first_ns, r->devices[i].first_ns);
		last_ns = vpa_later(last_ns, r->devices[i].last_ns);
	}
	add_span(out, first_ns, last_ns);
	if (out->request == out->active)
		out->request = out->count;
}

static double ratio(const struct vpa_retiming *t, size_t world, size_t from, size_t to)
{
	double now = 0, then = 0;

	for (; from < to; from++) {
		now += (double)vpa_retimed_ns(t, VPA_WORLD_RECORDED, from);
		then += (double)vpa_retimed_ns(t, world, from);
	}
	return now > 0 ? then / now : 1;
}

double vpa_spans_ratio(const struct vpa_report *r, const struct vpa_spans *s,
	const struct vpa_retiming *t, size_t world, enum vpa_base base)
{
	if (s->request < s->count && base == vpa_base_of_unit(VPA_UNIT_REQUEST) &&
		vpa_unit_of(r) != VPA_UNIT_REQUEST)
		return ratio(t, world, s->request, s->request + 1);
	if (s->unit_count && (base == VPA_BASE_NONE || base == vpa_base_of_unit(vpa_unit_of(r))))
		return ratio(t, world, 0, s->unit_count);
	return s->active < s->count ? ratio(t, world, s->active, s->active + 1) : 1;
}

/* ---- the forecast ---- */

static double whole_ns(const struct vpa_spans *s)
{
	return s->active < s->count ? (double)(s->at[s->active].to_ns - s->at[s->active].from_ns)
				    : 0;
}

/* The same, as far as it was replayed. */
static double active_ns(const struct vpa_spans *s, const struct vpa_retiming *t)
{
	return s->active < s->count ? (double)vpa_retimed_ns(t, VPA_WORLD_RECORDED, s->active) : 0;
}

static enum vpa_confidence confidence_of(const struct vpa_forecast *f)
{
	if (f->unexplained_share > low_share || f->without_call_share > most_lost)
		return VPA_CONFIDENCE_NONE;
	if (f->unexplained_share > fair_share || f->without_call_share > few_lost)
		return VPA_CONFIDENCE_LOW;
	return f->unexplained_share > high_share || f->handed_over_share > fair_share
		       ? VPA_CONFIDENCE_FAIR
		       : VPA_CONFIDENCE_HIGH;
}

static const char *why_not(struct vpa_report *r)
{
	const struct vpa_forecast *f = &r->forecast;

	if (f->confidence != VPA_CONFIDENCE_NONE)
		return NULL;
	if (f->without_call_share > most_lost)
		return vpa_arena_printf(&r->arena, "the launch of %.0f %% of the ops is not known",
			100 * f->without_call_share);
	if (f->unexplained_share > 1)
		return "what most ops waited for is not known";
	return vpa_arena_printf(&r->arena,
		"what ops waited for is not known for %.0f %% of the time",
		100 * f->unexplained_share);
}

void vpa_forecast_write(
	struct vpa_report *r, const struct vpa_spans *s, const struct vpa_retiming *t)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_forecast *f = &r->forecast;
	double active = active_ns(s, t);

	f->is_asked = 1;
	f->unexplained_share = active > 0 ? (double)t->unexplained_ns / active : 0;
	f->inferred_share = active > 0 ? (double)t->inferred_ns / active : 0;
	f->handed_over_share = active > 0 ? (double)t->handed_over_ns / active : 0;
	f->without_call_share = t->ops ? (double)t->ops_without_call / (double)t->ops : 0;
	f->replayed_share = t->share;
	f->confidence = confidence_of(f);
	f->why_not = why_not(r);
	f->base = s->unit_count ? vpa_base_of_unit(unit.kind) : VPA_BASE_ACTIVE;
	f->base_ms = s->unit_count ? (double)vpa_mean_unit_ns(&unit) / 1e6 : whole_ns(s) / 1e6;
	if (f->confidence == VPA_CONFIDENCE_NONE)
		return;
	f->host_ms = f->base_ms * vpa_spans_ratio(r, s, t, VPA_WORLD_HOST, f->base);
	f->gpu_ms = f->base_ms * vpa_spans_ratio(r, s, t, VPA_WORLD_GPU, f->base);
}

/* ---- predictions ---- */

struct predicting {
	struct vpa_report *r;
	struct vpa_spans spans;
	struct vpa_timed_parts stages;
	struct vpa_span *at; /* the bases' spans, then the stages' */
	size_t span_count;
	struct vpa_change_list lists[VPA_CHANGE_LISTS_MOST];
	struct vpa_finding *finding[VPA_CHANGE_LISTS_MOST]; /* by list; findings, then candidates */
	size_t count, finding_count, all_count;
	/* Undefined where no list has one: it is much, and mostly few are used. */
	struct vpa_change changes[VPA_CHANGE_LISTS_MOST][VPA_CHANGES_MOST];
	struct vpa_change all[VPA_CHANGE_LISTS_MOST * VPA_CHANGES_MOST];
};

static int list_each(
	struct predicting *p, struct vpa_finding *findings, size_t count, struct vpt_err *err)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < count && p->count < VPA_CHANGE_LISTS_MOST - 1 && !rc; i++) {
		struct vpa_change_list *list = &p->lists[p->count];

		if (!findings[i].change || !(findings[i].base_ms > 0))
			continue;
		list->changes = p->changes[p->count];
		rc = vpa_changes_read(findings[i].change, p->changes[p->count], &list->count, err);
		if (!rc)
			p->finding[p->count++] = &findings[i];
	}
	return rc;
}

/* Adds what a finding's list has to that of all. */
static void add_to_all(struct predicting *p, size_t list)
{
	const struct vpa_change_list *l = &p->lists[list];

	memcpy(&p->all[p->all_count], l->changes, l->count * sizeof(*p->all));
	p->all_count += l->count;
}

/* A list for each finding and candidate with a change. The last one is of all findings. */
static int list_changes(struct predicting *p, struct vpt_err *err)
{
	size_t i;
	int rc = list_each(p, p->r->findings, p->r->finding_count, err);

	p->finding_count = p->count;
	if (!rc)
		rc = list_each(p, p->r->candidates, p->r->candidate_count, err);
	for (i = 0; i < p->finding_count; i++)
		add_to_all(p, i);
	p->lists[p->count] = (struct vpa_change_list){p->all, p->all_count};
	return rc;
}

static double shortened(double rate, double by)
{
	return rate > 0 && by > 0 ? rate / by : 0;
}

/* The bound counts the idle time that a cause is to blame for. Without a wait the host may also run so far ahead that idle
 * time of other causes goes: then the bound is what the replay shows. */
static void raise_bound(struct vpa_finding *f)
{
	double gain_ms = f->base_ms - f->predicted_ms;

	if (gain_ms <= f->base_gain_ms || !(f->base_gain_ms > 0))
		return;
	f->gain_excess_ms = f->gain_at_most_ms * (gain_ms / f->base_gain_ms - 1);
	f->gain_at_most_ms += f->gain_excess_ms;
	f->base_gain_ms = gain_ms;
	f->fps_to = f->fps_to > 0 ? f->fps_predicted : f->fps_to;
	f->steps_per_s_to = f->steps_per_s_to > 0 ? f->steps_per_s_predicted : f->steps_per_s_to;
}

/* Whether it makes only the GPU's work shorter: no call goes, and none costs less. */
static int is_about_gpu(const struct vpa_finding *f)
{
	switch (f->id) {
	case VPA_FOUND_FP32_GEMM:
	case VPA_FOUND_FP32_CONV:
	case VPA_FOUND_TF32_GEMM:
	case VPA_FOUND_TF32_CONV:
	case VPA_FOUND_VOL2COL:
	case VPA_FOUND_FLASH_2_ON_HOPPER:
	case VPA_FOUND_MEM_EFFICIENT_ATTENTION:
	case VPA_FOUND_EAGER_ATTENTION:
	case VPA_FOUND_EXPOSED_COMM:
	case VPA_FOUND_PEER_WAIT:
		return 1;
	default:
		return 0;
	}
}

/* However short ops become, the host's pace is left. */
static void lower_bound(
	const struct predicting *p, const struct vpa_retiming *t, struct vpa_finding *f)
{
	double by = vpa_spans_ratio(p->r, &p->spans, t, VPA_WORLD_HOST, f->base),
	       most_ms = f->base_ms * (1 - by), part = most_ms / f->base_gain_ms;

	if (!is_about_gpu(f) || !(f->base_gain_ms > most_ms))
		return;
	f->gain_at_most_ms *= part;
	f->gain_from_ms = fmin(f->gain_from_ms, f->gain_at_most_ms);
	f->gain_shared_ms *= part;
	f->adds_ms *= part;
	f->base_gain_ms = most_ms;
	f->base_gain_from_ms = fmin(f->base_gain_from_ms, most_ms);
	f->base_likely_ms = fmin(f->base_likely_ms, most_ms);
	f->fps_to = f->fps_to > 0 ? shortened(f->fps_from, by) : 0;
	f->steps_per_s_to = f->steps_per_s_to > 0 ? shortened(f->steps_per_s_from, by) : 0;
	/* If that is nothing to speak of, it vanishes. */
	if (!(f->predicted_ms > 0) && !vpa_prediction_is_worth(most_ms, f->base_ms))
		f->predicted_ms = f->base_ms - most_ms;
}

/* Of all findings with a base that the replay has. */
static void lower_bounds(const struct predicting *p, const struct vpa_retiming *t)
{
	size_t i;

	for (i = 0; i < p->r->finding_count; i++) {
		struct vpa_finding *f = &p->r->findings[i];

		if (f->base != VPA_BASE_NONE && f->base != VPA_BASE_IDLE && f->base_gain_ms > 0)
			lower_bound(p, t, f);
	}
}

/* Of idle time that lies elsewhere for the most part, what is inside the unit may be too little to count by itself. If
 * the replay gains enough there, that is what the reader's rates are of. */
static void move_to_unit(
	struct predicting *p, const struct vpa_retiming *t, size_t world, struct vpa_finding *f)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(p->r);
	double unit_ms = vpa_in_ms(vpa_mean_unit_ns(&unit)), gain_ms;

	if (!p->spans.unit_count || f->base == vpa_base_of_unit(unit.kind))
		return;
	gain_ms = unit_ms *
		  (1 - vpa_spans_ratio(p->r, &p->spans, t, world, vpa_base_of_unit(unit.kind)));
	if (vpa_prediction_is_worth(gain_ms, unit_ms))
		vpa_finding_is_of_unit(p->r, f, gain_ms);
}

/* Whether the change of a list is about some call or op of the trace. */
static int hits(const struct predicting *p, const struct vpa_retiming *t, size_t list)
{
	size_t i, from = 0;

	for (i = 0; i < list; i++)
		from += p->lists[i].count;
	for (i = 0; i < p->lists[list].count; i++)
		if (t->hits[from + i])
			return 1;
	return 0;
}

static void predict_finding(struct predicting *p, const struct vpa_retiming *t, size_t list)
{
	struct vpa_finding *f = p->finding[list];
	double by;

	/* Code before a thread's first call is no stretch between calls, and adapters in a CUDA graph have no launches: the replay does
	 * not know them. */
	if ((f->id == VPA_FOUND_BEFORE_FIRST_WORK || f->id == VPA_FOUND_UNMERGED_ADAPTER) &&
		!hits(p, t, list))
		return;
	move_to_unit(p, t, VPA_WORLD_FIRST + list, f);
	by = vpa_spans_ratio(p->r, &p->spans, t, VPA_WORLD_FIRST + list, f->base);
	f->predicted_ms = f->base_ms * by;
	f->fps_predicted = shortened(f->fps_from, by);
	f->steps_per_s_predicted = shortened(f->steps_per_s_from, by);
	raise_bound(f);
}

/* What all of them together bring to the base of the paces, in that world. */
static void predict_all(struct predicting *p, const struct vpa_retiming *t, size_t world)
{
	struct vpa_forecast *f = &p->r->forecast;
	double by = vpa_spans_ratio(p->r, &p->spans, t, world, f->base);
	size_t i;

	if (p->finding_count < 2)
		return;
	f->all_count = p->finding_count;
	f->all_ms = f->base_ms * by;
	for (i = 0; i < p->finding_count; i++) {
		const struct vpa_finding *one = p->finding[i];

		f->all_at_least |= one->predicted_at_least;
		if (one->base == VPA_BASE_NONE || one->base != f->base)
			continue;
		f->all_fps = shortened(one->fps_from, by);
		f->all_steps_per_s = shortened(one->steps_per_s_from, by);
	}
}

/* Whether all waits together bring more than each kind of them alone. */
static int brings_more(const struct vpa_report *r, const struct vpa_finding *joint)
{
	static const double visible_share = 0.005;
	static const enum vpa_finding_id parts[] = {
		VPA_FOUND_SMALL_READS, VPA_FOUND_BLOCKING_COPY, VPA_FOUND_SYNC_DRAIN};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct vpa_finding *f = vpa_finding_find(r, parts[i]);

		if (f && f->predicted_ms > 0 &&
			f->predicted_ms - joint->predicted_ms < visible_share * f->base_ms)
			return 0;
	}
	return 1;
}

/* Two lines with one effect would look like two effects. */
static void drop_joint(struct vpa_report *r)
{
	const struct vpa_finding *joint = vpa_finding_find(r, VPA_FOUND_HOST_WAITS);
	size_t i, kept = 0;

	if (!joint || !(joint->predicted_ms > 0) || brings_more(r, joint))
		return;
	r->forecast.all_count -= r->forecast.all_count > 0;
	for (i = 0; i < r->finding_count; i++)
		if (&r->findings[i] != joint)
			r->findings[kept++] = r->findings[i];
	r->finding_count = kept;
}

/* Longer lists of stages than this cost too much. */
enum { STAGE_SPANS_MOST = 2048 };

static int list_spans(struct predicting *p)
{
	struct vpa_arena *arena = &p->r->arena;

	vpa_spans_of(p->r, &p->spans);
	if (vpa_unit_stages_of(p->r, &p->spans, arena, &p->stages))
		return VPT_ENOMEM;
	if (p->stages.span_count > STAGE_SPANS_MOST)
		p->stages = (struct vpa_timed_parts){.part_count = 0};
	p->span_count = p->spans.count + p->stages.span_count;
	p->at = vpa_arena_alloc(arena, p->span_count + 1, sizeof(*p->at));
	if (!p->at)
		return VPT_ENOMEM;
	memcpy(p->at, p->spans.at, p->spans.count * sizeof(*p->at));
	if (p->stages.span_count)
		memcpy(p->at + p->spans.count, p->stages.spans,
			p->stages.span_count * sizeof(*p->at));
	return VPT_OK;
}

/* The world of all changes together, and the stages there; where there is one, that is the last list too. */
static int write_all(
	struct predicting *p, const struct vpa_retiming *t, size_t world, struct vpt_err *err)
{
	predict_all(p, t, world);
	return vpa_unit_stages_write(p->r, &p->spans, &p->stages, t, p->spans.count,
		       p->finding_count ? world : VPA_WORLD_RECORDED)
		       ? vpt_fail(err, VPT_ENOMEM, "no memory for predictions")
		       : VPT_OK;
}

/* Makes findings of candidates that bring enough, if that is certain enough. Returns how many. */
static size_t promote(struct predicting *p)
{
	enum vpa_confidence confidence = p->r->forecast.confidence;
	size_t i, count = 0;

	for (i = p->finding_count; i < p->count && confidence > VPA_CONFIDENCE_LOW; i++) {
		struct vpa_finding *f = p->finding[i];
		size_t before = p->r->finding_count;

		if (!vpa_prediction_is_worth(f->base_ms - f->predicted_ms, f->base_ms) ||
			(f->id == VPA_FOUND_HOST_WAITS && !brings_more(p->r, f)))
			continue;
		vpa_finding_promote(p->r, f);
		if (p->r->finding_count == before)
			continue;
		add_to_all(p, i);
		p->finding[p->finding_count + count++] = &p->r->findings[before];
	}
	p->finding_count += count;
	return count;
}

/* Replays again what all of them bring, which now are more. */
static int predict_promoted(struct predicting *p, const struct vpt_trace *trace, unsigned jobs,
	uint64_t most, struct vpt_err *err)
{
	struct vpa_change_list all = {p->all, p->all_count};
	struct vpa_retiming t = {0};
	int rc = vpa_retime(trace, jobs, most, &all, 1, p->at, p->span_count, &t, err);

	if (!rc)
		rc = write_all(p, &t, VPA_WORLD_FIRST, err);
	vpa_retiming_free(&t);
	return rc;
}

static int predict(struct predicting *p, const struct vpt_trace *trace, unsigned jobs,
	uint64_t most, struct vpt_err *err)
{
	struct vpa_retiming t = {0};
	size_t i;
	int rc = list_changes(p, err);

	if (!rc)
		rc = vpa_retime(
			trace, jobs, most, p->lists, p->count + 1, p->at, p->span_count, &t, err);
	if (!rc)
		vpa_forecast_write(p->r, &p->spans, &t);
	if (!rc && !p->r->forecast.why_not) {
		for (i = 0; i < p->count; i++)
			predict_finding(p, &t, i);
		if (p->r->forecast.confidence > VPA_CONFIDENCE_LOW)
			lower_bounds(p, &t);
		rc = promote(p) ? predict_promoted(p, trace, jobs, most, err)
				: write_all(p, &t, VPA_WORLD_FIRST + p->count, err);
		drop_joint(p->r);
		vpa_findings_sort(p->r);
	}
	vpa_retiming_free(&t);
	return rc;
}

int vpa_predict(const struct vpt_trace *trace, unsigned jobs, uint64_t most, struct vpa_report *r,
	struct vpt_err *err)
{
	struct predicting *p = vpt_alloc(1, sizeof(*p));
	int rc;

	r->forecast = (struct vpa_forecast){.is_asked = 1};
	if (!p)
		return vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
	memset(p, 0, offsetof(struct predicting, changes));
	p->r = r;
	rc = list_spans(p) ? VPT_OK : predict(p, trace, jobs, most, err);
	if (rc == VPT_EUNSUPPORTED || rc == VPT_EINVAL || rc == VPT_ENOMEM) {
		r->forecast.why_not = vpa_arena_text(&r->arena, err->text, strlen(err->text));
		*err = (struct vpt_err){0};
		rc = VPT_OK;
	}
	if (!rc && r->arena.failed)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for predictions");
	r->candidate_count = 0;
	vpt_free(p);
	return rc;
}
