/* screen_account.c - the mean unit on one GPU: what it takes, and for how long the GPU works and waits in it. */
#include "analysis/render/text/screen/screen.h"

#include "formats/base/saturate.h"

#include <string.h>

/* A sum over all units and GPUs as that of the mean unit on one GPU. */
static uint64_t mean(const struct vpa_screen *s, uint64_t sum_ns)
{
	double of = (s->unit.units > 0 ? s->unit.units : 1) * (double)s->devices;

	return vpt_sat_u64((double)sum_ns / of * s->unit.stretch + 0.5);
}

static void take_parts(struct vpa_screen *s, const uint64_t *family_ns, const uint64_t *cause_ns)
{
	size_t i;

	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		s->family_ns[i] = mean(s, family_ns[i]);
	for (i = 0; i < VPA_CAUSES; i++)
		s->cause_ns[i] = mean(s, cause_ns[i]);
}

static void take_window_parts(struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	uint64_t family_ns[VPA_FAMILY_COUNT], cause_ns[VPA_CAUSES] = {0};
	size_t i, k;

	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		family_ns[i] = vpa_family_ns(r, (enum vpa_family)i);
	for (i = 0; i < r->device_count; i++)
		for (k = 0; k < r->devices[i].cause_count; k++)
			vpt_sat_add_to(&cause_ns[vpa_known_cause(r->devices[i].causes[k].cause)],
				r->devices[i].causes[k].ns);
	memcpy(s->family_ns, family_ns, sizeof(family_ns));
	memcpy(s->cause_ns, cause_ns, sizeof(cause_ns));
}

static void take_window(struct vpa_screen *s)
{
	const struct vpa_digest *d = s->digest;

	s->devices = s->report->device_count ? (unsigned)s->report->device_count : 1;
	s->noun = "window";
	s->a_noun = "the window";
	s->ns = mean(s, d->windows_ns);
	s->works_ns = mean(s, d->busy_ns);
	s->waits_ns = vpt_sat_sub(s->ns, s->works_ns);
	s->has_parts = 1;
	take_window_parts(s);
	take_parts(s, s->family_ns, s->cause_ns);
}

/* What is not work is a wait: between ops, and of the only unit before its first op and after its last. */
static void take_unit(struct vpa_screen *s)
{
	const struct vpa_mean_unit *u = &s->unit;
	uint64_t head_ns[VPA_CAUSES] = {0};
	size_t i;

	s->devices = u->devices ? u->devices : 1;
	s->ns = vpa_mean_unit_ns(u);
	s->works_ns = mean(s, u->busy_ns);
	if (u->from_host)
		s->waits_ns = mean(s, u->idle_ns + u->idle_before_ns) + u->head_ns + u->tail_ns;
	else if (s->blocks && u->kind == VPA_UNIT_BLOCK)
		s->waits_ns = vpt_sat_sub(s->ns, s->works_ns + mean(s, s->blocks->paused_ns));
	else
		s->waits_ns = vpt_sat_sub(s->ns, s->works_ns);
	s->rest_ns = vpt_sat_sub(s->ns, vpt_sat_add(s->works_ns, s->waits_ns));
	s->has_parts = u->has_parts;
	if (!u->has_parts) {
		take_window_parts(s);
		return;
	}
	vpa_mean_unit_head(s->report, u, head_ns);
	head_ns[VPA_CAUSE_AFTER_LAST_WORK] = u->tail_ns;
	for (i = 0; i < VPA_CAUSES; i++)
		vpt_sat_add_to(&head_ns[i], u->cause_ns[i]);
	take_parts(s, u->family_ns, head_ns);
}

void vpa_screen_of_window(const struct vpa_screen *screen, struct vpa_screen *out)
{
	*out = *screen;
	out->unit = (struct vpa_mean_unit){.kind = VPA_UNIT_WINDOW, .stretch = 1};
	out->limit = vpa_window_limit_of(screen->report);
	out->blocks = NULL;
	out->rest_ns = 0;
	take_window(out);
}

void vpa_screen_of(const struct vpa_report *r, const struct vpa_digest *d, struct vpa_screen *s)
{
	*s = (struct vpa_screen){.report = r, .digest = d, .request = vpa_main_request(r)};
	if (s->request && s->request->blocks.measured)
		s->blocks = &s->request->blocks;
	s->unit = vpa_mean_unit_of(r);
	s->limit = vpa_unit_limit_of(r);
	if (!(s->unit.units > 0)) {
		take_window(s);
		return;
	}
	s->noun = vpa_unit_words(s->unit.kind)->noun;
	s->a_noun = vpa_unit_words(s->unit.kind)->a_noun;
	if (s->unit.range && s->unit.range->a_name) {
		s->a_noun = s->unit.range->a_name;
		s->noun = strchr(s->a_noun, ' ') + 1;
	}
	take_unit(s);
}

const char *vpa_column_unit(uint64_t ns)
{
	return ns < 1000000 ? "us" : "ms";
}

struct vpa_num vpa_in_column(uint64_t ns, uint64_t most_ns)
{
	unsigned decimals = 3;
	uint64_t unit = most_ns < 1000000 ? 1000 : 1000000, at;

	for (at = most_ns / unit; at >= 10 && decimals; at /= 10)
		decimals--;
	return ns ? vpa_scaled(ns, unit, decimals) : (struct vpa_num){"0"};
}
