/* figures_touched_by_loss.c - marks the figures that missing records may change. A figure whose time no loss
 * overlaps is as good as in a complete trace; if it is unknown when records were lost, all are
 * touched. Ops without a launch have exact times: they touch the figures that depend on the range
 * they were launched in, unless a known loss took their launches. */
#include "analysis/report/report.h"

static int places_are_unknown(const struct vpa_report *r)
{
	const struct vpa_verdict *v = &r->verdict;

	return !v->loss_count && v->ops_without_launch > v->early_ops;
}

static int block_is_touched(const struct vpa_report *r, const struct vpa_block_row *b)
{
	uint64_t from_ns = b->end_ns > b->period_ns ? b->end_ns - b->period_ns : 0;

	return vpa_is_touched(r, from_ns < b->start_ns ? from_ns : b->start_ns, b->end_ns);
}

/* A block missing from the middle lengthens the period of the next one, which then spans the
 * loss. */
static void mark_request(struct vpa_report *r, struct vpa_request *q)
{
	struct vpa_blocks *b = &q->blocks;
	int all = places_are_unknown(r);
	size_t i;

	q->touched = all || vpa_is_touched(r, q->start_ns, q->end_ns);
	for (i = 0; i < b->count; i++) {
		b->series[i].touched = all || block_is_touched(r, &b->series[i]);
		b->touched |= b->series[i].touched && !b->series[i].warmup;
	}
}

void vpa_mark_touched(struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);
	int blocks = 0, places = places_are_unknown(r);
	size_t i;

	r->touched = vpa_is_touched(r, r->window_start_ns, r->window_end_ns);
	for (i = 0; i < r->request_count; i++) {
		mark_request(r, &r->requests[i]);
		blocks |= r->requests[i].blocks.touched;
	}
	for (i = 0; i < r->stage_count; i++)
		r->stages[i].touched = places || (r->stages[i].in_blocks ? blocks : r->touched);
	for (i = 0; i < r->inferred_count; i++)
		r->inferred[i].touched = r->touched;
	r->has_marks = r->touched || (places && (r->request_count || r->stage_count));
	for (i = 0; i < r->finding_count; i++) {
		r->findings[i].touched =
			q && r->findings[i].base == vpa_base_of_unit(VPA_UNIT_BLOCK)
				? q->blocks.touched
				: r->touched;
	}
}
