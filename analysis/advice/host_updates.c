/* host_updates.c - looks at the places of the host's code, and how many copies there are for them.
 *
 * Nothing says which tensors an operator reads. It is work with what was copied if nearly all copies go to the host, nearly all of
 * the host's own code is in PyTorch's operators, too long for those that only launch, and at least one copy in four is followed by
 * one of them. */
#include "analysis/advice/host_updates.h"

#include "analysis/advice/finding.h"
#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* Nearly all. */
static const double most_share = 0.9;

enum {
	COMPUTES_NS = 100000, /* the mean at a place: launching takes less */
	COPIES = 4,           /* at most, for each piece of the code */
	NAMED = 3
};

struct updates {
	uint64_t ns, pieces, code_ns; /* code_ns: all code of the host */
	const char *names;            /* "add_, mul_" */
	const char *change;
	size_t named;
};

/* The operator's name without its library, if it computes. NULL: it is none, or moves data or sets it up. */
static const char *operator_of(const struct vpa_idle_part *p)
{
	static const char prefix[] = "aten::";
	static const char *const others[] = {
		"copy_", "_to_copy", "to", "normal_", "uniform_", "fill_", "zero_", "item"};
	const char *name = p->place.kind == VPA_PLACE_IN ? p->place.text : NULL;
	size_t i;

	if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	name += sizeof(prefix) - 1;
	for (i = 0; i < COUNT(others); i++)
		if (!strcmp(name, others[i]))
			return NULL;
	return p->gaps && p->ns / p->gaps >= COMPUTES_NS ? name : NULL;
}

/* Parts come by time, falling. */
static struct updates updates_of(struct vpa_report *r, const struct vpa_device *d)
{
	struct updates u = {.names = "", .change = "scale DtoH 0"};
	size_t i;

	for (i = 0; i < d->cause_count; i++) {
		const struct vpa_idle_part *p = &d->causes[i];
		const char *name = p->cause == VPA_CAUSE_HOST_CODE ? operator_of(p) : NULL;

		if (p->cause == VPA_CAUSE_HOST_CODE)
			vpt_sat_add_to(&u.code_ns, p->ns);
		if (!name || !vpa_is_plain_name(p->place.text))
			continue;
		vpt_sat_add_to(&u.ns, p->ns);
		vpt_sat_add_to(&u.pieces, p->gaps);
		u.change = vpa_arena_printf(&r->arena, "%s; host 0 in %s", u.change, p->place.text);
		if (u.named++ < NAMED)
			u.names = vpa_arena_printf(
				&r->arena, "%s%s%.30s", u.names, *u.names ? ", " : "", name);
	}
	return u;
}

/* How many copies go to the host; 0: a part goes elsewhere. */
static uint64_t copies_to_host(const struct vpa_report *r)
{
	struct vpa_copy_sum to_host = vpa_copies_of(r, VPT_COPYKIND_DTOH);
	uint64_t all_ns = 0;
	size_t i;

	for (i = 0; i < r->copy_count; i++)
		vpt_sat_add_to(&all_ns, r->copies[i].total_ns);
	return (double)to_host.ns >= most_share * (double)all_ns ? to_host.count : 0;
}

static void drop(struct vpa_report *r, enum vpa_finding_id id)
{
	size_t i, kept = 0;

	for (i = 0; i < r->finding_count; i++)
		if (r->findings[i].id != id)
			r->findings[kept++] = r->findings[i];
	/* What is added next is all zeros. */
	memset(&r->findings[kept], 0, (r->finding_count - kept) * sizeof(*r->findings));
	r->finding_count = kept;
}

void vpa_find_host_updates(struct vpa_report *r)
{
	const struct vpa_finding *copies = vpa_finding_find(r, VPA_FOUND_EXPOSED_COPY),
				 *code = vpa_finding_find(r, VPA_FOUND_HOST_STALL);
	const struct vpa_device *d = r->devices;
	uint64_t to_host = copies_to_host(r);
	struct vpa_saving s;
	struct vpa_finding *f;
	struct updates u;

	if (!copies || !code || r->device_count != 1)
		return;
	u = updates_of(r, d);
	if ((double)u.ns < most_share * (double)u.code_ns || !to_host ||
		u.pieces < to_host / COPIES)
		return;
	s = (struct vpa_saving){.ns = vpt_sat_add(d->exposed_copy_ns, u.ns), .device = d};
	s.device_ns = s.ns;
	/* Of both findings, or of neither, if it is outside the units. */
	if (copies->base == vpa_base_of_unit(vpa_mean_unit_of(r).kind) &&
		code->base == copies->base)
		s.base_ns = vpt_sat_u64((copies->base_gain_ms + code->base_gain_ms) * 1e6 + 0.5);
	drop(r, VPA_FOUND_EXPOSED_COPY);
	drop(r, VPA_FOUND_HOST_STALL);
	f = vpa_finding_add(r, VPA_FOUND_HOST_UPDATES, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = "tensors are copied to the host for operators on the CPU, while the GPU waits: "
		   "keep them and do it on the GPU, or less often";
	f->words = vpa_arena_printf(&r->arena, "on the GPU, not the CPU: %s", u.names);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " copies to the host, %s, and %s between them in %s", to_host,
		vpa_duration(d->exposed_copy_ns).text, vpa_duration(u.ns).text, u.names);
	f->threshold = "those of exposed-copy and host-stall; 9 of 10 of both";
	f->note = f->measured;
	f->caveat = "what is kept on the GPU needs its memory";
	f->change = u.change;
	vpa_finding_evidence(f, "C1");
}
