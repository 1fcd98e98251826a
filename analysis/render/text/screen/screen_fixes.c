/* screen_fixes.c - FIX FIRST, for every form of the report: a line for each change, with what it would bring by a replay, and the
 * most that it could.
 *
 * All lines have one unit: frames, steps or iterations per second, or, where nothing follows anything, milliseconds
 * saved of one time. What has another one, or none, is advice: screen_more.c; a full report lists it without numbers. Fixes of
 * idle time save the same time in part; a line says what all of them bring together. */
#include "analysis/render/text/screen/screen.h"
#include "analysis/advice/finding.h"
#include "analysis/model/gpu_arch.h"
#include "analysis/names/number_format.h"
#include "analysis/render/kernel_names.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FIXES = 5,
	NUMBERS = 30,      /* columns for the bound and the evidence */
	PREDICTED = 8,     /* for a prediction */
	PLACE_COLUMNS = 12 /* where less is left, words stand without a place */
};

/* ---- which ---- */

/* "FPS", "steps/s", "rounds/s"; NULL: the gain is a time. */
static const char *rate_of(const struct vpa_finding *f)
{
	if (f->fps_to > 0)
		return "FPS";
	if (!(f->steps_per_s_to > 0))
		return NULL;
	return f->base == vpa_base_of_unit(VPA_UNIT_ITERATION) ? "it/s" : vpa_base_rate(f->base);
}

static int is_gain_of(const struct vpa_finding *f, enum vpa_base base)
{
	return f->base == base && f->base_gain_ms > 0 && !vpa_finding_vanishes(f);
}

/* What all gains are a part of: of the first finding, but where RESULT leaves out the first request, what that one alone needs
 * stands back. NONE: no finding has a gain. */
static enum vpa_base base_of(const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	enum vpa_base first = VPA_BASE_NONE;
	size_t i;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (f->base == VPA_BASE_IDLE || !is_gain_of(f, f->base))
			continue;
		if (!unit->without_first || f->base == vpa_base_of_unit(unit->kind))
			return f->base;
		first = first == VPA_BASE_NONE ? f->base : first;
	}
	return first;
}

/* The one whose unit all lines have; NULL: no finding has a gain. A gain that may be all of the base has no rate, so
 * it is the first that has one. */
static const struct vpa_finding *first_fix(
	const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	enum vpa_base base = base_of(r, unit);
	const struct vpa_finding *first = NULL;
	size_t i;

	for (i = 0; base != VPA_BASE_NONE && i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (!is_gain_of(f, base))
			continue;
		if (rate_of(f))
			return f;
		first = first ? first : f;
	}
	return first;
}

int vpa_screen_is_fix(const struct vpa_screen *s, const struct vpa_finding *f)
{
	const struct vpa_finding *first = first_fix(s->report, &s->unit);

	return first && is_gain_of(f, first->base);
}

/* Whether a list has the finding. In full it has all but notes. */
static int is_listed(const struct vpa_screen *s, const struct vpa_finding *f, int in_full)
{
	return in_full ? !vpa_is_note(f) : vpa_screen_is_fix(s, f);
}

/* ---- words ---- */

/* What to do when a wait is not what costs the time, but what the host does after it. */
static const char *words_of(const struct vpa_finding *f)
{
	static const char *const fixes[VPA_FOUND_COUNT] = {
#define VPA_FIX(name, words) [VPA_FOUND_##name] = (words),
#include "analysis/render/text/screen/fix_words.def"
	};

	if (f->is_code && f->id != VPA_FOUND_SMALL_READS)
		return "launch before the host code";
	return f->words ? f->words : fixes[f->id];
}

/* What to do, where the title says it after what is wrong; NULL: it does not. */
static const char *how_of(const struct vpa_finding *f)
{
	const char *colon = strstr(vpa_text_or(f->title, ""), ": ");

	return colon ? colon + 2 : NULL;
}

/* The line of the finding that saves the same time, of those before it; 0: it is not listed. */
static size_t number_of(const struct vpa_screen *s, enum vpa_finding_id id, int in_full)
{
	const struct vpa_report *r = s->report;
	size_t i, number = 0;

	for (i = 0; i < r->finding_count; i++) {
		number += is_listed(s, &r->findings[i], in_full) != 0;
		if (r->findings[i].id == id)
			return is_listed(s, &r->findings[i], in_full) ? number : 0;
	}
	return 0;
}

/* By how much the predictions of single findings save more than all of them together. */
static double predicted_twice_ms(const struct vpa_report *r)
{
	const struct vpa_forecast *all = &r->forecast;
	double ms = all->all_ms - all->base_ms;
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (r->findings[i].predicted_ms > 0 && r->findings[i].base == all->base)
			ms += r->findings[i].base_ms - r->findings[i].predicted_ms;
	return ms;
}

/* The share of a gain that an earlier line may save too: by bounds; if both are predicted, not more than what is
 * predicted twice. */
static double same_share(const struct vpa_screen *s, const struct vpa_finding *f)
{
	const struct vpa_finding *before = vpa_finding_find(s->report, f->instead_of);
	double share = 1 - f->adds_ms / f->gain_at_most_ms, twice;

	if (!(f->predicted_ms > 0) || !before || !(before->predicted_ms > 0) ||
		!s->report->forecast.all_count || s->report->forecast.base != f->base)
		return share;
	twice = predicted_twice_ms(s->report) / (f->base_ms - f->predicted_ms);
	return twice < share ? twice : share;
}

/* " (as 1)", " (some as 1)"; empty: it adds nearly all that it saves. */
static struct vpa_label same_as(
	const struct vpa_screen *s, const struct vpa_finding *f, int in_full)
{
	size_t number = f->instead_of ? number_of(s, f->instead_of, in_full) : 0;
	double share = number ? same_share(s, f) : 0;
	struct vpa_label out = {{0}};

	if (share > 0.1)
		snprintf(out.text, sizeof(out.text), " (%sas %zu)", share > 0.9 ? "" : "some ",
			number);
	return out;
}

/* What stands between the words and the place. "allocate before the loop in step 3" would be about a loop that is in it. */
static const char *before_place(const struct vpa_finding *f, const char *words)
{
	const char *loop = words ? strstr(words, " loop") : NULL;

	if (f->is_half)
		return ", about half ";
	if (f->is_mostly)
		return ", mostly ";
	return loop && !loop[strlen(" loop")] ? ", " : " ";
}

struct vpa_label vpa_fix_words(const struct vpa_finding *f, size_t columns)
{
	const char *words = words_of(f), *title = vpa_text_or(f->title, "?"), *how = how_of(f);
	const char *joint = before_place(f, words);
	struct vpa_label out = {{0}};

	/* Better a second line than half a name. */
	if (words && f->where && columns >= strlen(words) + 1 + PLACE_COLUMNS)
		snprintf(out.text, sizeof(out.text), "%.100s%s%.390s", words, joint,
			vpa_fit(f->where, columns).text);
	else if (words)
		snprintf(out.text, sizeof(out.text), "%s", words);
	if (words)
		return out;
	snprintf(out.text, sizeof(out.text), "%.*s",
		how ? (int)(how - title) - 2 : (int)sizeof(out.text) - 1, title);
	return out;
}

static struct vpa_num evidence_of(const struct vpa_finding *f)
{
	struct vpa_num out = {{0}};
	size_t i, used = 0;

	for (i = 0; i < f->evidence_count; i++) {
		struct vpa_label id = vpa_fit(vpa_text_or(f->evidence[i], "?"), 16);

		if (used + strlen(id.text) + 2 > 14 ||
			strspn(id.text, "SGKC0123456789") != strlen(id.text))
			break;
		used += (size_t)snprintf(out.text + used, sizeof(out.text) - used, "%s%.16s",
			used ? ", " : "", id.text);
	}
	return out;
}

/* ---- the table ---- */

static uint64_t ns_of(double ms)
{
	return ms > 0 ? vpt_sat_u64(ms * 1e6 + 0.5) : 0;
}

/* The rate of the table if the base takes `ms`. */
static double rate_after(const struct vpa_finding *first, double ms)
{
	return (first->fps_to > 0 ? first->fps_from : first->steps_per_s_from) * first->base_ms /
	       ms;
}

/* In the unit of `first`; "-": it may be all of the base, of which no rate is left. */
static struct vpa_num at_most(const struct vpa_finding *first, const struct vpa_finding *f)
{
	if (rate_of(first) && !rate_of(f))
		return vpa_missing();
	if (rate_of(f))
		return vpa_rate(f->fps_to > 0 ? f->fps_to : f->steps_per_s_to);
	return vpa_in_column(ns_of(f->base_gain_ms), ns_of(f->base_ms));
}

/* As the replay of the trace says, in the unit of `first`; "-": it says nothing. */
static struct vpa_num predicted(const struct vpa_finding *first, const struct vpa_finding *f)
{
	struct vpa_num n, out = {{0}};

	if (!(f->predicted_ms > 0))
		return vpa_missing();
	if (rate_of(f))
		n = vpa_rate(f->fps_to > 0 ? f->fps_predicted : f->steps_per_s_predicted);
	else if (rate_of(first))
		n = vpa_rate(rate_after(first, f->predicted_ms));
	else
		n = vpa_in_column(ns_of(f->base_ms - f->predicted_ms), ns_of(f->base_ms));
	snprintf(out.text, sizeof(out.text), "%s%.30s", f->predicted_at_least ? ">=" : "", n.text);
	return out;
}

static struct vpa_num all_predicted(const struct vpa_screen *s, const struct vpa_finding *first)
{
	const struct vpa_forecast *all = &s->report->forecast;
	struct vpa_finding f = *first;

	if (!all->all_count || all->base != first->base)
		return vpa_missing();
	f.predicted_ms = all->all_ms;
	f.fps_predicted = all->all_fps;
	f.steps_per_s_predicted = all->all_steps_per_s;
	f.predicted_at_least = all->all_at_least;
	return predicted(first, &f);
}

/* Whether a line of the list has a prediction. */
static int has_predictions(const struct vpa_screen *s, int in_full)
{
	const struct vpa_report *r = s->report;
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (r->findings[i].predicted_ms > 0 && is_listed(s, &r->findings[i], in_full))
			return 1;
	return 0;
}

/* The same of fixes of idle time together: what they save, if that is not more than the GPU waits. */
static struct vpa_num all_at_most(
	const struct vpa_screen *s, const struct vpa_finding *first, double saved_ms)
{
	int is_active = first->base == VPA_BASE_ACTIVE;
	double waits_ms = (double)(is_active ? s->digest->idle_ns : s->waits_ns) / 1e6;
	struct vpa_finding f = *first;

	f.base_gain_ms = saved_ms < waits_ms ? saved_ms : waits_ms;
	if (f.base_gain_ms >= f.base_ms)
		return vpa_missing();
	if (f.fps_to > 0)
		f.fps_to = f.fps_from * f.base_ms / (f.base_ms - f.base_gain_ms);
	else if (f.steps_per_s_to > 0)
		f.steps_per_s_to = f.steps_per_s_from * f.base_ms / (f.base_ms - f.base_gain_ms);
	return at_most(first, &f);
}

/* Lines that together bring more than the best of them. */
struct joint {
	size_t numbers[FIXES], count;
	double saved_ms; /* by bounds; 0: predicted */
};

/* By predictions, these are of all findings that have one. */
static struct joint joint_of(const struct vpa_screen *s, int in_full)
{
	const struct vpa_report *r = s->report;
	int is_predicted = has_predictions(s, in_full);
	struct joint out = {.count = 0};
	size_t i, number = 0;

	for (i = 0; i < r->finding_count && out.count < FIXES; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (!is_listed(s, f, in_full) || ++number > FIXES || !vpa_screen_is_fix(s, f))
			continue;
		if (is_predicted ? f->predicted_ms > 0 : f->is_idle) {
			out.numbers[out.count++] = number;
			out.saved_ms += f->base_gain_ms * f->adds_ms / f->gain_at_most_ms;
		}
	}
	return out;
}

const char *vpa_screen_gain_unit(const struct vpa_screen *s)
{
	const struct vpa_finding *first = first_fix(s->report, &s->unit);

	if (!first)
		return "";
	return rate_of(first) ? rate_of(first) : vpa_column_unit(ns_of(first->base_ms));
}

int vpa_screen_together(const struct vpa_screen *s, int in_full, size_t most, struct vpa_words *who,
	struct vpa_num *gain)
{
	const struct vpa_finding *first = first_fix(s->report, &s->unit);
	struct joint j = joint_of(s, in_full);
	int is_predicted = has_predictions(s, in_full);
	size_t i;

	if (!first || j.count < 2 || j.numbers[j.count - 1] > most ||
		(!is_predicted && s->devices > 1))
		return 0;
	*gain = is_predicted ? all_predicted(s, first) : all_at_most(s, first, j.saved_ms);
	if (is_predicted && vpa_is_missing(gain))
		return 0;
	for (i = 0; i < j.count; i++)
		vpa_words_add(who, i + 1 == j.count ? " and " : ", ", "%zu", j.numbers[i]);
	vpa_words_add(who, "", " together");
	return 1;
}

/* Whether the order of some findings is by less than their bound. */
static int is_part_counted(const struct vpa_report *r)
{
	size_t i, gains = 0, parts = 0;

	for (i = 0; i < r->finding_count; i++) {
		gains += r->findings[i].base_gain_ms > 0;
		parts += r->findings[i].base_likely_ms > 0 &&
			 r->findings[i].base_likely_ms < r->findings[i].base_gain_ms;
	}
	return gains > 1 && parts;
}

/* Whether a fix of the list's unit has none: kernels would be others, or it needs no change of calls. */
static int lacks_prediction(const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	const struct vpa_finding *first = first_fix(r, &s->unit);
	size_t i;

	for (i = 0; first && i < r->finding_count; i++)
		if (r->findings[i].base == first->base && r->findings[i].base_gain_ms > 0 &&
			!(r->findings[i].predicted_ms > 0))
			return 1;
	return 0;
}

/* Whether a bound of a list of rates is all of the base, so that it has none. */
static int lacks_rate(const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	const struct vpa_finding *first = first_fix(r, &s->unit);
	size_t i;

	for (i = 0; first && rate_of(first) && i < r->finding_count; i++)
		if (is_gain_of(&r->findings[i], first->base) && !rate_of(&r->findings[i]))
			return 1;
	return 0;
}

/* Whether some fix of the list brings at least what is predicted. */
static int has_least(const struct vpa_screen *s, int in_full)
{
	const struct vpa_report *r = s->report;
	size_t i;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (is_listed(s, f, in_full) && f->predicted_ms > 0 && f->predicted_at_least)
			return 1;
	}
	return 0;
}

/* What a prediction of the list takes half of, see ../../../advice/findings/finding_changes.c. NULL: none does. */
static const char *half_of(const struct vpa_screen *s, int in_full)
{
	const struct vpa_report *r = s->report;
	size_t i;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (f->takes_half && is_listed(s, f, in_full) && f->predicted_ms > 0 &&
			!vpa_finding_vanishes(f))
			return f->id != VPA_FOUND_HOST_STALL ? "less host code"
			       : strchr(words_of(f), ':')    ? "host code"
							     : words_of(f);
	}
	return NULL;
}

/* Whether a prediction of the list rests on what others measured, see ../../../advice/findings/findings_attention.c. */
static int lists_newer_attention(const struct vpa_screen *s, int in_full)
{
	static const enum vpa_finding_id ids[] = {
		VPA_FOUND_FLASH_2_ON_HOPPER, VPA_FOUND_MEM_EFFICIENT_ATTENTION};
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct vpa_finding *f = vpa_finding_find(s->report, ids[i]);

		if (f && is_listed(s, f, in_full) && f->predicted_ms > 0)
			return 1;
	}
	return 0;
}

static int has_several(const struct vpa_screen *s, int in_full)
{
	const struct vpa_report *r = s->report;
	size_t i, count = 0;

	for (i = 0; i < r->finding_count; i++)
		count += r->findings[i].gain_at_most_ms > 0 &&
			 is_listed(s, &r->findings[i], in_full);
	return count > 1;
}

void vpa_screen_add_meaning(
	struct vpa_words *w, const struct vpa_screen *s, int in_full, int is_same)
{
	const struct vpa_report *r = s->report;
	int is_predicted = has_predictions(s, in_full);

	if (is_predicted && r->forecast.replayed_share < 1)
		vpa_words_add(w, " ", "predicted: by a replay of %s %% of the trace, in parts;",
			vpa_share(r->forecast.replayed_share).text);
	else if (is_predicted)
		vpa_words_add(w, " ", "predicted: by a replay;");
	if (is_predicted)
		vpa_words_add(w, " ", "confidence %s, %s %% unexplained.",
			vpa_confidence_word(r->forecast.confidence),
			vpa_share(r->forecast.unexplained_share).text);
	if (is_predicted && r->forecast.handed_over_share > 0.05)
		vpa_words_add(
			w, " ", "Threads seem to take turns, so a change is made in all of them.");
	if (is_predicted && vpa_has_collectives(r))
		vpa_words_add(w, " ", "Collectives last as recorded: see vptrace-analyze ranks.");
	if (is_predicted && has_least(s, in_full))
		vpa_words_add(w, " ", ">=: at least.");
	if (is_predicted && half_of(s, in_full))
		vpa_words_add(w, " ", "%s: if half of it goes.", half_of(s, in_full));
	if (is_predicted && !in_full && lists_newer_attention(s, in_full))
		vpa_words_add(w, " ", "Newer attention: 1.5 times as fast, see --full.");
	if (is_predicted && lacks_prediction(s))
		vpa_words_add(w, " ", "-: no prediction.");
	vpa_words_add(w, " ", "at most: if nothing else limits%s.",
		lacks_rate(s) ? "; - where that is all of it" : "");
	if (!is_predicted && has_several(s, in_full))
		vpa_words_add(w, " ", "Gains do not add up.");
	if (is_same)
		vpa_words_add(w, " ", "as N: the same time as line N.");
	if (!is_predicted && is_part_counted(r))
		vpa_words_add(w, " ", "Order: by what is likely saved.");
	if (!is_predicted && r->forecast.why_not)
		vpa_words_add(w, " ", "No prediction: %s.", r->forecast.why_not);
}

/* "FIX FIRST, now 14.7 FPS", "FIX FIRST, ms saved of 19.5 ms"; first NULL: nothing has a gain. */
static void begin_table(struct vpa_table *t, const struct vpa_column *columns, size_t count,
	const struct vpa_finding *first)
{
	double now = !first ? 0 : first->fps_to > 0 ? first->fps_from : first->steps_per_s_from;

	if (!first)
		vpa_table_init(t, columns, count, "FIX FIRST");
	else if (rate_of(first))
		vpa_table_init(t, columns, count, "FIX FIRST, now %s %s", vpa_rate(now).text,
			rate_of(first));
	else
		vpa_table_init(t, columns, count, "FIX FIRST, %s saved of %s%s",
			vpa_column_unit(ns_of(first->base_ms)),
			vpa_duration(ns_of(first->base_ms)).text,
			first->base == VPA_BASE_ACTIVE ? " from first to last op" : "");
}

/* What the gain is a part of and what that means, and where it is; of what has no words of its own, how to do it. */
static void put_detail(struct vpa_table *t, const struct vpa_screen *s, const struct vpa_finding *f)
{
	const char *how = words_of(f) ? NULL : how_of(f);
	struct vpa_words w = {.used = 0};

	if (how)
		vpa_text_row(t, 4, "%s", how);
	vpa_finding_time(&w, s->report, f);
	vpa_finding_meaning(&w, f);
	vpa_finding_note(&w, f);
	if (w.used)
		vpa_text_row(t, 4, "%s", w.text);
}

/* The table as it grows. */
struct fixes {
	struct vpa_table *table;
	size_t bound, number, all; /* bound: its column */
	size_t columns;            /* of the words */
	int is_predicted, in_full, touched, is_same;
	const struct vpa_finding *first;   /* line 1 */
	const struct vpa_finding *unit_of; /* has the unit of all lines; NULL: none has a gain */
};

static void put_fix(struct fixes *x, const struct vpa_screen *s, const struct vpa_finding *f)
{
	struct vpa_label same = same_as(s, f, x->in_full);
	struct vpa_row *row = vpa_table_row(x->table, 1, "%zu %s%s", ++x->number,
		vpa_fix_words(f, x->columns - strlen(same.text)).text, same.text);
	int is_fix = vpa_screen_is_fix(s, f);

	row->wrap = 1;
	row->style = f->status == VPA_FINDING_FAIL ? VPA_YELLOW : VPA_PLAIN;
	if (x->is_predicted && is_fix)
		row->cells[0] = predicted(x->unit_of, f);
	if (is_fix)
		row->cells[x->bound] = at_most(x->unit_of, f);
	row->cells[x->bound + 1] = evidence_of(f);
	x->touched |= f->touched;
	x->is_same |= same.text[0] != '\0';
	x->first = x->first ? x->first : f;
}

/* On the first screen also why its order is not that of CAUSE. */
static void put_meaning(struct fixes *x, const struct vpa_screen *s)
{
	struct vpa_words w = {.used = 0};

	vpa_screen_add_meaning(&w, s, x->in_full, x->is_same);
	if (!x->in_full && x->number > 1 && !vpa_screen_is_of_cause(s, x->first))
		vpa_words_add(&w, " ", "Largest gain first; CAUSE has %s first.",
			vpa_screen_cause_is_longest(s) ? "the longest time" : "what limits");
	vpa_text_row(x->table, 1, "%s", w.text);
}

/* Whether most work of a family is in 8 bits or fewer already: products by their names, attention by its library. */
static int is_narrow(const struct vpa_report *r, enum vpa_family family)
{
	uint64_t narrow_ns = 0, all_ns = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (k->family != family)
			continue;
		vpt_sat_add_to(&all_ns, k->exclusive_ns);
		if (k->backend == VPA_BACKEND_SAGE ||
			vpa_precision_of(k->name, strlen(k->name)) == VPA_PRECISION_8)
			vpt_sat_add_to(&narrow_ns, k->exclusive_ns);
	}
	return narrow_ns > all_ns / 2;
}

/* How products get less work: in the formats of 8 bits that NVIDIA's tensor cores multiply, FP8 from compute capability 8.9 on and
 * whole numbers from 7.5 on. */
static const char *less_of_products(const struct vpa_report *r)
{
	const struct vpa_gpu *gpu = r->gpu_count ? &r->gpus[0] : NULL;
	unsigned cc =
		gpu && !vpa_gpu_is_amd(gpu) ? gpu->compute_major * 10 + gpu->compute_minor : 0;

	if (is_narrow(r, VPA_FAMILY_GEMM) || (cc && cc < 75))
		return "fewer steps, or steps that reuse others' results";
	return cc && cc < 89 ? "fewer steps, steps that reuse others' results, or INT8"
			     : "fewer steps, steps that reuse others' results, or FP8";
}

/* How work of a family gets less in training, which has no steps to leave out. */
static const char *less_in_training(enum vpa_family family)
{
	switch (family) {
	case VPA_FAMILY_ATTENTION:
		return "fewer tokens, or sparse attention";
	case VPA_FAMILY_GEMM:
		return "fewer tokens, or products in fewer bits";
	case VPA_FAMILY_CONV:
		return "smaller frames";
	default:
		return NULL;
	}
}

/* How work of a family gets less, where nothing of it is wasted; NULL: no general way. */
static const char *less_of(const struct vpa_report *r, enum vpa_family family)
{
	if (vpa_unit_trains(r))
		return less_in_training(family);
	switch (family) {
	case VPA_FAMILY_ATTENTION:
		return is_narrow(r, family)
			       ? "fewer steps, fewer tokens, or sparse attention"
			       : "fewer steps, fewer tokens, or sparse or quantised attention";
	case VPA_FAMILY_GEMM:
		return less_of_products(r);
	case VPA_FAMILY_CONV:
		return "a smaller decoder, or smaller frames";
	default:
		return NULL;
	}
}

/* The kernel that takes most of a family's time. They come by time, falling. */
static void add_largest(struct vpa_words *w, const struct vpa_report *r, enum vpa_family family)
{
	const struct vpa_kernel_row *k = NULL;
	size_t i;

	for (i = 0; i < r->kernel_count && !k; i++)
		if (r->kernels[i].family == family)
			k = &r->kernels[i];
	if (k && k->time.count)
		vpa_words_add(w, " ", "Its largest kernel is %s, %s call%s of %s.",
			vpa_kernel_label(k->name, 40).text, vpa_count(k->time.count).text,
			vpa_plural(k->time.count),
			vpa_duration(k->time.total_ns / k->time.count).text);
}

/* Where the GPU is what limits, and nothing is known to be wasted, that is the answer. */
static void put_nothing(struct vpa_page *p, const struct vpa_screen *s)
{
	uint64_t works_ns = s->has_parts ? s->works_ns : s->digest->busy_ns;
	struct vpa_words w = {.used = 0};
	struct vpa_table table;
	const char *less;
	size_t i, most = 0;

	if (s->limit.bound != VPA_LIMIT_WORK)
		return;
	for (i = 1; i < VPA_FAMILY_COUNT; i++)
		if (s->family_ns[i] > s->family_ns[most])
			most = i;
	less = s->family_ns[most] >= works_ns / 4 ? less_of(s->report, (enum vpa_family)most)
						  : NULL;
	if (vpa_finding_find(s->report, VPA_FOUND_MEMORY_OVER))
		vpa_words_add(&w, "",
			"Make the program fit into the GPU's memory first, see MORE. Nothing else "
			"is found");
	else
		vpa_words_add(&w, "", "Nothing found");
	vpa_words_add(
		&w, " ", "that is wasted. Only less work of the GPU helps%s", less ? ": " : ".");
	if (less)
		vpa_words_add(&w, "", "%s, since %s is %s %% of it.", less,
			vpa_family_name((enum vpa_family)most),
			vpa_percent(s->family_ns[most], works_ns).text);
	if (s->family_ns[most] > works_ns / 2)
		add_largest(&w, s->report, (enum vpa_family)most);
	vpa_table_init(&table, NULL, 0, "FIX FIRST");
	vpa_text_row(&table, 1, "%s", w.text);
	vpa_page_table(p, &table);
}

void vpa_screen_put_fixes(struct vpa_page *p, const struct vpa_screen *s, size_t most, int in_full)
{
	const struct vpa_report *r = s->report;
	const struct vpa_finding *first = first_fix(r, &s->unit);
	struct vpa_column columns[3] = {{.head = "predicted"}};
	struct vpa_table table;
	struct fixes x = {.table = &table,
		.is_predicted = has_predictions(s, in_full),
		.in_full = in_full,
		.unit_of = first};
	struct vpa_words together = {.used = 0};
	struct vpa_num gain;
	size_t i;

	if (!first && !in_full) {
		put_nothing(p, s);
		return;
	}
	x.bound = (size_t)x.is_predicted;
	x.columns = p->width - NUMBERS - (x.is_predicted ? PREDICTED : 0);
	columns[x.bound] = (struct vpa_column){.head = "at most"};
	columns[x.bound + 1] = (struct vpa_column){in_full ? "evidence" : "in --full", .drop = 1};
	begin_table(&table, columns, x.bound + 2, first);
	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (!is_listed(s, f, in_full) || ++x.all > most)
			continue;
		put_fix(&x, s, f);
		if (in_full)
			put_detail(&table, s, f);
	}
	if (vpa_screen_together(s, in_full, most, &together, &gain))
		vpa_table_row(&table, 3, "%s", together.text)->cells[0] = gain;
	if (first)
		put_meaning(&x, s);
	vpa_table_of(&table, x.number, x.all);
	p->touched = x.touched;
	vpa_page_table(p, &table);
}

void vpa_screen_fixes(struct vpa_page *p, const struct vpa_screen *s)
{
	vpa_screen_put_fixes(p, s, FIXES, 0);
}
