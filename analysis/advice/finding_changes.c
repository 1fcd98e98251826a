/* finding_changes.c - the change that a finding asks for, in the words of ../retime/change.h.
 *
 * A change is what the remedy does to calls and ops. Of host code half is taken, as in the order of findings; of launches all,
 * since a CUDA graph leaves nearly none. A wait with long code after it stays: that code most likely needs
 * what was waited for. Copies that overlap kernels take no time of their own; what waits for them still does.
 * Fused attention has no change: how long its kernels would take is not in the trace. That it no longer grows has one. */
#include "analysis/advice/finding.h"

#include "analysis/advice/findings.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"

static const struct {
	const char *id, *change;
} changes[] = {
	{"small-reads", "delete small-reads"},
	{"sync-drain", "drop syncs under 1ms"},
	{"blocking-copy", "drop copies under 1ms"},
	{"host-waits", "delete small-reads; drop copies under 1ms; drop syncs under 1ms"},
	{"host-stall", "host 0.5 over 100us"},
	{"launch-rate", "host 0 under 100us"},
};

/* The kind of copies that take most time. NULL: none. */
static const char *main_copies(struct vpa_report *r)
{
	const struct vpa_copy_row *most = NULL;
	size_t i;

	for (i = 0; i < r->copy_count; i++)
		if (!most || r->copies[i].total_ns > most->total_ns)
			most = &r->copies[i];
	return most ? vpa_arena_printf(
			      &r->arena, "scale %s 0", vpt_word(VPT_UNIT_COPY_KIND, most->kind))
		    : NULL;
}

/* Attention as in the block with least of it: how long its kernels take with fewer keys is in the trace. Of attention that is not
 * fused the products grow too, which are not told apart from others. NULL: not known. */
static const char *steady_attention(struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);
	uint64_t least_ns = UINT64_MAX, all_ns = 0;
	const char *text = NULL;
	size_t i, count = 0;

	for (i = 0; q && i < q->blocks.count; i++) {
		const struct vpa_block_row *b = &q->blocks.series[i];

		if (b->warmup)
			continue;
		if (b->eager_ns)
			return NULL;
		least_ns = vpa_earlier(b->attention_ns, least_ns);
		vpt_sat_add_to(&all_ns, b->attention_ns);
		count++;
	}
	for (i = 0; all_ns && i < r->family_count; i++)
		if (vpa_family_has_backend(r->families[i].family))
			text = vpa_arena_printf(&r->arena, "%s%sscale %s %s", text ? text : "",
				text ? "; " : "", vpa_family_name(r->families[i].family),
				vpa_fixed((double)least_ns * (double)count / (double)all_ns, 6)
					.text);
	return text;
}

void vpa_finding_changes(struct vpa_report *r)
{
	size_t i, k;

	for (i = 0; i < r->finding_count; i++) {
		struct vpa_finding *f = &r->findings[i];

		for (k = 0; k < sizeof(changes) / sizeof(changes[0]); k++)
			if (!strcmp(changes[k].id, f->id))
				f->change = changes[k].change;
		if (!strcmp(f->id, "exposed-copy"))
			f->change = main_copies(r);
		if (!strcmp(f->id, "attention-growth"))
			f->change = steady_attention(r);
	}
}
