/* same_calls.c - call by call; where there are nothing but messages, captures that begin at different moments look alike too. */
#include "analysis/ranks/rank/same_calls.h"

#include "formats/base/text.h"

enum {
	APART_NS = 1000000, /* ends of one collective, on one clock */
	SLACK_NS = 20000    /* by which two clocks are not exact */
};

static int are_alike(const struct vpa_collective_key *x, const struct vpa_collective_key *y)
{
	if (x == y)
		return 1;
	if (x->kind != y->kind || x->lane != y->lane || x->bytes != y->bytes)
		return 0;
	/* One sends what the other receives. */
	return x->kind == VPA_COLLECTIVE_SEND_RECV || vpt_same_text(x->text, y->text);
}

static int has_messages(const struct vpa_rank *r)
{
	size_t i;

	for (i = 0; i < r->key_count; i++)
		if (r->keys[i].kind == VPA_COLLECTIVE_SEND_RECV)
			return 1;
	return 0;
}

/* A collective that both ranks are in, and leave together. */
static int is_anchor(const struct vpa_collective_key *x, const struct vpa_collective_key *y)
{
	return x->group && vpt_same_text(x->group, y->group) &&
	       vpa_collective_is_symmetric(x->kind);
}

int vpa_same_calls(const struct vpa_rank *a, const struct vpa_rank *b, int share_clock)
{
	size_t i, anchors = 0;

	if (!a->complete || !b->complete || a->collective_count != b->collective_count ||
		!has_messages(a))
		return 0;
	for (i = 0; i < a->collective_count; i++) {
		const struct vpa_collective_key *x = vpa_rank_key(a, i), *y = vpa_rank_key(b, i);
		int64_t by_ns;

		if (!are_alike(x, y))
			return 0;
		if (!is_anchor(x, y))
			continue;
		by_ns = (int64_t)(vpa_rank_end_ns(b, i) - vpa_rank_end_ns(a, i));
		if (share_clock && (by_ns > APART_NS || by_ns < -APART_NS))
			return 0;
		anchors++;
	}
	return anchors > 1;
}

size_t vpa_messages_apart(const struct vpa_rank *a, const struct vpa_rank *b, const uint32_t *items,
	size_t count, int share_clock)
{
	int64_t later_ns = 0, slack_ns = share_clock ? 0 : SLACK_NS;
	size_t i, k = 0, apart = 0;

	for (i = 0; i < a->collective_count && k < count; i++) {
		if (!share_clock && is_anchor(vpa_rank_key(a, i), vpa_rank_key(b, i)))
			later_ns = (int64_t)(vpa_rank_end_ns(b, i) - vpa_rank_end_ns(a, i));
		if (items[k] != i)
			continue;
		k++;
		apart += (int64_t)(vpa_rank_start_ns(b, i) - vpa_rank_end_ns(a, i)) - later_ns >
				 slack_ns ||
			 (int64_t)(vpa_rank_start_ns(a, i) - vpa_rank_end_ns(b, i)) + later_ns >
				 slack_ns;
	}
	return apart;
}
