/* moment_terms.c - shares of a term's way, and times of paces as files keep them. */
#include "analysis/ranks/rank/moment_terms.h"

#include "formats/base/memory.h"

/* Takes what it is off `left`. */
static uint8_t share_of(double part_ns, int64_t ns, unsigned *left)
{
	double share = ns > 0 && part_ns > 0 ? part_ns / (double)ns * VPA_TERM_WHOLE + 0.5 : 0;
	unsigned out = share < *left ? (unsigned)share : *left;

	*left -= out;
	return (uint8_t)out;
}

/* Of a pace a term has no work. */
static struct vpa_rank_term as_shares(const struct term *x, int of_pace)
{
	struct vpa_rank_term out = {.after = x->after, .ns = x->ns};
	unsigned left = VPA_TERM_WHOLE, k;

	for (k = 0; k < VPA_BUSY_KINDS && !of_pace; k++)
		out.work[k] = share_of((double)x->work[k] * WORK_UNIT_NS, x->ns, &left);
	out.code = share_of((double)x->code_ns, x->ns, &left);
	return out;
}

/* Of a pace, a time is rounded down to what a file keeps. */
static int64_t rounded(const struct vpa_rank *r, uint64_t at_ns, const struct term *x)
{
	int64_t early_ns = vpt_sat_diff_i64((int64_t)at_ns - end_of(r, x->after), x->ns), over_ns;

	over_ns = early_ns % VPA_PACE_TERM_NS;
	return vpt_sat_diff_i64(x->ns, over_ns > 0 ? VPA_PACE_TERM_NS - over_ns
				       : over_ns   ? -over_ns
						   : 0);
}

static int put_terms(struct vpa_moment_terms *to, size_t collective, const struct moment *at)
{
	struct vpa_rank_detail *d = &to->rank->detail;
	size_t *used = &to->count[RECORDED];
	uint32_t i, count = at->count[RECORDED];

	if (vpt_grow(&d->terms, &d->term_cap, *used + count + 1, sizeof(*d->terms)))
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		d->terms[(*used)++] = as_shares(&terms_of(at, RECORDED)[i], 0);
	d->term_ends[collective] = *used;
	return VPT_OK;
}

static int put_pace(
	struct vpa_moment_terms *to, enum world pace, size_t collective, const struct moment *at)
{
	struct vpa_rank *r = to->rank;
	struct vpa_rank_pace *p = &r->detail.paces[pace];
	uint64_t at_ns =
		collective < r->collective_count ? vpa_rank_start_ns(r, collective) : r->last_ns;
	size_t *used = &to->count[pace];
	uint32_t i, count = at->count[pace];

	if (vpt_grow(&p->terms, &p->term_cap, *used + count + 1, sizeof(*p->terms)))
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		const struct term *x = &terms_of(at, pace)[i];
		struct vpa_rank_term term = as_shares(x, 1);

		term.ns = rounded(r, at_ns, x);
		p->terms[(*used)++] = term;
	}
	p->term_ends[collective] = *used;
	return VPT_OK;
}

int vpa_put_moment(struct vpa_moment_terms *to, size_t collective, const struct moment *at)
{
	enum world pace;
	int rc = put_terms(to, collective, at);

	for (pace = 0; pace < RECORDED && !rc; pace++)
		rc = put_pace(to, pace, collective, at);
	return rc;
}
