/* text_findings.c - what is known of a finding's gain, in words. FIX FIRST itself is that of the first screen. Information without a
 * gain goes to NOTES. */
#include "analysis/advice/finding.h"
#include "analysis/pipeline/unit.h"
#include "analysis/render/text/screen/screen.h"
#include "formats/base/saturate.h"

#include <stdio.h>

enum { FINDINGS = 5 }; /* rows */

static uint64_t nearest(double ns)
{
	return ns > 0 ? vpt_sat_u64(ns + 0.5) : 0;
}

int vpa_is_note(const struct vpa_finding *f)
{
	return !(f->gain_at_most_ms > 0) && f->status == VPA_FINDING_INFO;
}

struct vpa_label vpa_ms_range(double from_ms, double to_ms)
{
	return vpa_duration_range(nearest(from_ms * 1e6), nearest(to_ms * 1e6));
}

static struct vpa_num rate_of(double rate)
{
	return vpa_fixed(rate, rate < 1 ? 3 : rate < 10 ? 2 : rate < 100 ? 1 : 0);
}

/* `scale` times the speed-up factor; "-" if nothing of the base is left. */
static struct vpa_num speed_up(double scale, double base_ms, double gain_ms)
{
	return base_ms > gain_ms ? rate_of(scale * base_ms / (base_ms - gain_ms)) : vpa_missing();
}

/* The unit of the rate that the gain raises; NULL: there is none. */
static const char *rate_unit(const struct vpa_finding *f)
{
	if (f->fps_to > 0)
		return f->base == vpa_base_of_unit(VPA_UNIT_REQUEST) ? "FPS end to end" : "FPS";
	if (!(f->steps_per_s_to > 0))
		return NULL;
	return vpa_base_rate(f->base);
}

/* Where less than a tenth would be left, other limits decide: the host would have to keep up. What would be
 * left is a fact, a factor would be a promise. */
static int is_no_promise(const struct vpa_finding *f)
{
	return f->base_gain_ms > 0.9 * f->base_ms;
}

static void add_rest(struct vpa_words *w, const struct vpa_finding *f, const char *least)
{
	double rest_ms = f->base_ms - f->base_gain_ms;

	vpa_words_add(w, ": ", "%s%sat best %s would be left",
		f->base_gain_from_ms > 0 ? least : "",
		f->base_gain_from_ms > 0 ? "x as fast, " : "",
		vpa_duration(nearest(rest_ms * 1e6)).text);
}

/* Whether its order is by half of host code. */
static int is_half(const struct vpa_finding *f)
{
	return !(f->base_gain_from_ms > 0) && f->base_likely_ms > 0 &&
	       f->base_likely_ms < f->base_gain_ms;
}

/* Whether the gain is a part of something that the reader knows. */
static int has_base(const struct vpa_finding *f)
{
	return f->base != VPA_BASE_NONE && f->base != VPA_BASE_IDLE;
}

/* What the replay says, in front of the bound: "17.9 predicted, ", "at least 17.9 predicted, ". */
static struct vpa_label prediction(const struct vpa_finding *f, double scale, const char *after)
{
	struct vpa_label out = {{0}};

	if (f->predicted_ms > 0)
		snprintf(out.text, sizeof(out.text), "%s%.20s%s predicted, ",
			f->predicted_at_least ? "at least " : "",
			rate_of(scale * f->base_ms / f->predicted_ms).text, after);
	return out;
}

void vpa_finding_meaning(struct vpa_words *w, const struct vpa_finding *f)
{
	const char *unit = rate_unit(f);
	double now = f->fps_to > 0 ? f->fps_from : f->steps_per_s_from, scale = unit ? now : 1;
	struct vpa_num most = speed_up(scale, f->base_ms, f->base_gain_ms),
		       least = speed_up(scale, f->base_ms, f->base_gain_from_ms);
	struct vpa_label replayed = prediction(f, scale, unit ? "" : "x");

	if (!has_base(f) || vpa_is_missing(&most))
		return;
	if (vpa_finding_vanishes(f)) {
		vpa_words_add(w, ": ", "alone it saves nothing, something else takes the time");
		return;
	}
	if (unit)
		vpa_words_add(w, ": ", "%s -> %s%s%sat most %s %s", rate_of(now).text,
			replayed.text, f->base_gain_from_ms > 0 ? least.text : "",
			f->base_gain_from_ms > 0 ? " to " : "", most.text, unit);
	else if (is_no_promise(f))
		add_rest(w, f, least.text);
	else
		vpa_words_add(w, ": ", "%s%s%sat most %sx as fast", replayed.text,
			f->base_gain_from_ms > 0 ? least.text : "",
			f->base_gain_from_ms > 0 ? "x to " : "", most.text);
	if (is_half(f) && !(f->predicted_ms > 0) && (unit || !is_no_promise(f)))
		vpa_words_add(w, ", ", "%s%s with half of it",
			speed_up(scale, f->base_ms, f->base_likely_ms).text, unit ? "" : "x");
}

/* "the mean block's 764 ms", "the mean 10.0 ms from one step to the next", which is longer than a step under STAGES. */
static void add_base(struct vpa_words *w, const struct vpa_report *r, const struct vpa_finding *f)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_num base = vpa_duration(nearest(f->base_ms * 1e6));
	int is_several = unit.units > 1 || !(unit.units > 0);

	if (f->base == vpa_base_of_unit(VPA_UNIT_REQUEST))
		vpa_words_add(w, " ", "of the %srequest's %s", r->request_count > 1 ? "mean " : "",
			base.text);
	else if (f->base == vpa_base_of_unit(VPA_UNIT_BLOCK))
		vpa_words_add(w, " ", "of the mean block's %s", base.text);
	else if (unit.range)
		vpa_words_add(w, " ", "of the mean %s of %s", base.text,
			vpa_fit(unit.range->name, 48).text);
	else if (is_several)
		vpa_words_add(w, " ", "of the mean %s from one %s to the next", base.text,
			vpa_base_name(f->base));
	else
		vpa_words_add(w, " ", "of the only %s's %s%s", vpa_base_name(f->base), base.text,
			unit.from_host ? " from its start on the host" : "");
}

void vpa_finding_time(struct vpa_words *w, const struct vpa_report *r, const struct vpa_finding *f)
{
	struct vpa_label gain = vpa_ms_range(f->base_gain_from_ms, f->base_gain_ms);
	struct vpa_num base = vpa_duration(nearest(f->base_ms * 1e6));
	const char *where = r->device_count > 1 ? " on the GPU that gains most" : "";

	if (!has_base(f))
		return;
	if (f->base == VPA_BASE_ACTIVE)
		vpa_words_add(w, "", "%s of %s %s%s", gain.text, base.text,
			*where ? "from the first to the last op of all GPUs," : "active", where);
	else {
		vpa_words_add(w, "", "%s", gain.text);
		add_base(w, r, f);
		vpa_words_add(w, "", "%s", where);
	}
}

void vpa_finding_note(struct vpa_words *w, const struct vpa_finding *f)
{
	if (f->note)
		vpa_words_add(w, "; ", "%.400s", f->note);
}

void vpa_finding_instead(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_finding *f)
{
	size_t i, number = 0;

	for (i = 0; f->instead_of && i < r->finding_count; i++) {
		number += !vpa_is_note(&r->findings[i]);
		if (r->findings[i].id == f->instead_of)
			break;
	}
	if (number && f->adds_ms < 0.9 * f->gain_at_most_ms)
		vpa_words_add(w, "; ", "may save %s as %zu",
			f->adds_ms < 0.1 * f->gain_at_most_ms ? "the same time"
							      : "in part the same time",
			number);
}

struct vpa_num vpa_finding_gain(const struct vpa_finding *f)
{
	struct vpa_num out = vpa_missing();
	struct vpa_label ms;
	const char *unit = rate_unit(f);

	if (unit) {
		snprintf(out.text, sizeof(out.text), "%.20s %.15s",
			rate_of(f->fps_to > 0 ? f->fps_to : f->steps_per_s_to).text,
			unit[0] == 'i' ? "it/s" : unit);
	} else if (f->gain_at_most_ms > 0) {
		ms = f->base_ms > 0 ? vpa_ms_range(f->base_gain_from_ms, f->base_gain_ms)
				    : vpa_ms_range(f->gain_from_ms, f->gain_at_most_ms);
		snprintf(out.text, sizeof(out.text), "%.39s", ms.text);
	}
	return out;
}

void vpa_text_findings(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_screen s;

	vpa_screen_of(r, d, &s);
	vpa_screen_put_fixes(p, &s, vpa_rows(r, FINDINGS), 1);
}
