/* verdict_counts.c - counts what is missing, damaged or doubtful. */
#include "analysis/trust/verdict.h"

#include "formats/base/saturate.h"

#include <inttypes.h>

/* Ranges that are in no step, over all timelines. */
struct left_out {
	uint64_t late, deep;
};

static struct left_out left_out_ranges(const struct vpa_resolver *r)
{
	struct left_out sum = {0};
	size_t i;

	for (i = 0; i < r->model->thread_count; i++) {
		sum.late += r->pasts[i].ranges.late;
		sum.deep += r->pasts[i].ranges.deep;
	}
	for (i = 0; i < r->process_count; i++) {
		sum.late += r->processes[i].ranges.late;
		sum.deep += r->processes[i].ranges.deep;
	}
	return sum;
}

static uint64_t unsorted_samples(const struct vpa_resolver *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->model->thread_count; i++)
		sum += r->pasts[i].samples.late;
	return sum;
}

/* Reports what exceeded the analysis' own limits. */
int vpa_verdict_launched_in_pauses(const struct vpa_resolver *r)
{
	return r->ops_without_launch && r->paused.count &&
	       r->first_unlaunched_ns >= vpa_intervals_first(&r->paused)->start_ns;
}

static void put_meta(struct vpa_verdict *v, enum vpt_metadata fact, const char *value)
{
	v->reading_meta[v->reading_meta_count++] = (struct vpa_pair){vpt_metadata_key(fact), value};
}

static int copy_meta(struct vpa_report *out, const struct vpa_completeness *n)
{
	struct vpa_verdict *v = &out->verdict;
	unsigned i;

	v->reading_meta =
		vpa_arena_alloc(&out->arena, VPA_READING_COUNT + 2, sizeof(*v->reading_meta));
	if (!v->reading_meta)
		return VPT_ENOMEM;
	for (i = 0; i < VPA_READING_COUNT; i++)
		if (n->counts[i])
			put_meta(v, vpa_completeness_fact(i),
				vpa_arena_printf(&out->arena, "%" PRIu64, n->counts[i]));
	if (n->first_damage[0])
		put_meta(v, VPT_METADATA_MISSING_FIRST_DAMAGE,
			vpa_arena_printf(&out->arena, "%s", n->first_damage));
	if (n->unknown_names[0])
		put_meta(v, VPT_METADATA_MISSING_CATEGORIES,
			vpa_arena_printf(&out->arena, "%s", n->unknown_names));
	return VPT_OK;
}

int vpa_verdict_count(
	const struct vpa_resolver *r, const struct vpa_completeness *n, struct vpa_report *out)
{
	struct vpa_verdict *v = &out->verdict;
	struct left_out ranges = left_out_ranges(r);

	v->written = n->rows;
	v->dropped = n->has_stats ? n->dropped : n->header_lost;
	v->received = n->has_stats ? n->received : v->written + v->dropped;
	v->ops_without_launch = r->ops_without_launch;
	v->early_ops = vpa_resolver_launched_before(r);
	/* A loss of launches that is none of these is known as a loss. */
	if (vpa_verdict_launched_in_pauses(r) || n->ring[0])
		v->early_ops = r->ops_without_launch;
	v->launches_without_op = r->launches_without_op;
	/* A ring leaves out what is old, and ops whose times are invalid are there. */
	v->launches_lost =
		n->ring[0] ? 0
			   : vpt_sat_sub(r->launches_lost, r->zero_time + r->reversed + r->far_ops);
	v->late_ops = r->late_ops;
	v->zero_duration = r->zero_duration;
	v->reversed = r->reversed;
	v->zero_time = r->zero_time + r->far_ops;
	/* Ops of invalid times are there, but not joined with their launch. */
	v->launches_lost -= vpa_earlier(v->launches_lost, v->zero_time + r->reversed);
	v->unmatched_ranges = r->unmatched_ranges;
	v->late_ranges = ranges.late;
	v->deep_ranges = ranges.deep;
	v->late_samples = r->late_samples;
	v->unsorted_samples = unsorted_samples(r);
	v->damaged_chunks = n->counts[VPA_READING_DAMAGED];
	v->torn_chunks = n->counts[VPA_READING_TORN];
	v->unknown_sections = n->unknown_sections;
	v->is_refused = n->unavailable[0] && !n->ops;
	v->is_ranges_only = n->is_ranges_only;
	return copy_meta(out, n);
}
