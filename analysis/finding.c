/* finding.c - builds a finding: its place in the report, its evidence, and what a fix would
 * save. */
#include "analysis/finding.h"

#include "analysis/limit.h"

#include <string.h>

enum { EVIDENCE_MAX = 3 };

/* A saving is worth a line from these shares. */
static const double window_share = 0.01, active_share = 0.02;

int vpa_findings_begin(struct vpa_report *r)
{
	r->findings = vpa_arena_alloc(&r->arena, VPA_FINDINGS_MAX, sizeof(*r->findings));
	return r->findings ? VPT_OK : VPT_ENOMEM;
}

struct vpa_finding *vpa_finding_add(struct vpa_report *r, const char *id, const char *status)
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

void vpa_finding_evidence(struct vpa_finding *f, const char *text)
{
	size_t i;

	if (!text || vpa_is_sum(text) || f->evidence_count == EVIDENCE_MAX)
		return;
	for (i = 0; i < f->evidence_count; i++)
		if (!strcmp(f->evidence[i], text))
			return;
	f->evidence[f->evidence_count++] = text;
}

const struct vpa_finding *vpa_finding_find(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(r->findings[i].id, id))
			return &r->findings[i];
	return NULL;
}

uint64_t vpa_windows_ns(const struct vpa_report *r)
{
	return vpa_window_ns(r) * r->device_count;
}

uint64_t vpa_active_ns(const struct vpa_report *r)
{
	uint64_t active = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		active += r->devices[i].active_ns;
	return active;
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

const char *vpa_saving_status(const struct vpa_report *r, const struct vpa_saving *s)
{
	return (double)s->ns >= 0.1 * (double)vpa_windows_ns(r) ? "fail" : "warn";
}

/* The busiest device: stands for savings that are not known per device. */
static const struct vpa_device *busiest(const struct vpa_report *r)
{
	const struct vpa_device *most = &r->devices[0];
	size_t i;

	for (i = 1; i < r->device_count; i++)
		if (r->devices[i].busy_ns > most->busy_ns)
			most = &r->devices[i];
	return most;
}

/* The saving in the mean measured block, as FPS if that is known. 0: none of it is in the
 * blocks. */
static int save_in_blocks(const struct vpa_report *r, struct vpa_finding *f,
	const struct vpa_saving *s, uint64_t device_ns)
{
	const struct vpa_request *q = vpa_main_request(r);
	const struct vpa_blocks *b = q ? &q->blocks : NULL;
	uint64_t ns;

	if (!b || !b->measured || !s->blocks_ns)
		return 0;
	ns = vpa_portion(s->blocks_ns, device_ns, s->ns);
	ns = ns < b->span_ns ? ns : b->span_ns;
	f->base = "block";
	f->base_ms = vpa_in_ms(b->span_ns) / (double)b->measured;
	f->base_gain_ms = vpa_in_ms(ns) / (double)b->measured;
	f->base_gain_from_ms = vpa_in_ms(vpa_portion(ns, s->from_ns, s->ns)) / (double)b->measured;
	if (b->fps > 0 && ns < b->span_ns) {
		f->fps_from = b->fps;
		f->fps_to = (double)b->frames * 1e9 / (double)(b->span_ns - ns);
	}
	return 1;
}

void vpa_finding_saves(
	const struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	const struct vpa_device *d = s->device ? s->device : busiest(r);
	uint64_t ns = s->device ? s->device_ns : vpa_portion(s->ns, d->busy_ns, vpa_busy_ns(r));

	f->gain_at_most_ms = vpa_in_ms(s->ns);
	f->gain_from_ms = vpa_in_ms(s->from_ns);
	if (!s->ns || save_in_blocks(r, f, s, ns))
		return;
	f->base = "active";
	f->base_ms = vpa_in_ms(d->active_ns);
	f->base_gain_ms = vpa_in_ms(ns);
	f->base_gain_from_ms = vpa_in_ms(vpa_portion(ns, s->from_ns, s->ns));
}
