/* moment_terms.c - shares of a term's way, and times of paces as files keep them.
 *
 * A term of a pace is left out if another one has a collective that late anyway, whatever a change leaves. A collective ends later
 * than it starts, so
 *
 *	start of i >= end of i - 1 + a, start of i - 1 >= end of i - 2 + b:  start of i > end of i - 2 + b + a
 *
 * Of each way a change leaves some of the host code, in HALF up to twice what it says, and in HALF and GPU some of the rest. */
#include "analysis/ranks/rank/moments.h"

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

/* A collective takes that long, or as long as it took if that is less; no change makes it shorter. */
enum { COLLECTIVE_NS = 2000 };

/* How much later than the collective before one starts, at least, as a sum from `chain` on, 0 the rank's start; what breaks the
 * sum begins a chain. */
struct vpa_pace_step {
	uint32_t chain;
	int64_t code_ns, rest_ns, collective_ns;
};

static int64_t rest_of(const struct term *x)
{
	return vpt_sat_diff_i64(x->ns, x->code_ns);
}

/* Whether a way after a later collective makes this one needless. */
static int outweighs(const struct vpa_pace_step *steps, enum world pace, const struct term *later,
	const struct term *x)
{
	const struct vpa_pace_step *a = &steps[rank_of(later->after)],
				   *b = &steps[rank_of(x->after)];
	int64_t more_ns = a->collective_ns - b->collective_ns;
	int64_t code_ns = minus(plus(a->code_ns, later->code_ns), plus(b->code_ns, x->code_ns));
	int64_t rest_ns = minus(plus(a->rest_ns, rest_of(later)), plus(b->rest_ns, rest_of(x)));
	int64_t twice_ns = plus(code_ns, code_ns);

	if (a->chain != b->chain || plus(more_ns, rest_ns) < 0)
		return 0;
	if (pace != OF_HALF)
		return plus(more_ns, plus(rest_ns, code_ns)) >= 0;
	return plus(more_ns, plus(rest_ns, twice_ns)) >= 0 && plus(more_ns, twice_ns) >= 0;
}

static void set_step(const struct vpa_rank *r, struct vpa_pace_step *steps, size_t collective,
	const struct term *first)
{
	struct vpa_pace_step *step = &steps[collective + 1], *before = &steps[collective];
	int64_t ns;

	*step = (struct vpa_pace_step){.chain = (uint32_t)collective + 1};
	if (rank_of(first->after) != collective || collective == r->collective_count)
		return;
	ns = (int64_t)(vpa_rank_end_ns(r, collective) - vpa_rank_start_ns(r, collective));
	*step = (struct vpa_pace_step){before->chain, plus(before->code_ns, first->code_ns),
		plus(before->rest_ns, rest_of(first)),
		before->collective_ns + (ns < COLLECTIVE_NS ? ns : COLLECTIVE_NS)};
}

int vpa_moment_terms_init(struct vpa_moment_terms *to, struct vpa_rank *rank)
{
	unsigned i;

	to->rank = rank;
	for (i = 0; i < VPA_PACES; i++) {
		to->steps[i] = vpt_calloc(rank->collective_count + 2, sizeof(*to->steps[i]));
		if (!to->steps[i])
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

void vpa_moment_terms_free(struct vpa_moment_terms *to)
{
	unsigned i;

	for (i = 0; i < VPA_PACES; i++)
		vpt_free(to->steps[i]);
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
	const struct term *terms = terms_of(at, pace);
	uint32_t i, k, count = at->count[pace];

	if (vpt_grow(&p->terms, &p->term_cap, *used + count + 1, sizeof(*p->terms)))
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		struct vpa_rank_term term;

		for (k = 0; k < i && !outweighs(to->steps[pace], pace, &terms[k], &terms[i]); k++)
			;
		if (k < i)
			continue;
		term = as_shares(&terms[i], 1);
		term.ns = rounded(r, at_ns, &terms[i]);
		p->terms[(*used)++] = term;
	}
	set_step(r, to->steps[pace], collective, terms);
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
