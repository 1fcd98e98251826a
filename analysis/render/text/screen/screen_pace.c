/* screen_pace.c - blocks that something on the host keeps at a pace, as a player does.
 *
 * Where the host waits for as long as a block needs in any case, periods follow the GPU's work: what a block works more it takes
 * longer. If instead the waits make up for the work, so that periods stay equal, something ends the wait at a time of its own. A trace
 * does not say whether that is meant, so the screen says that it may be, and which rate it makes. */
#include "analysis/base/intervals.h"
#include "analysis/render/text/screen/screen.h"
#include "formats/base/saturate.h"

enum {
	PACED = 4,   /* blocks or more */
	GAPS = 2,    /* of a block, at most: a host that launches too slowly makes many */
	WAITED = 10, /* 1 / this of the time, or more, is waited */
	MOSTLY = 10  /* all but 1 / this of the waits are for the host's own code */
};

/* Of the mean period: none is further from it, and the GPU's work differs by more. */
static const double equal = 0.005, unlike = 0.01;
/* The work differs by at least this many times as much as the periods. */
static const double in_spite = 2;

struct spread {
	uint64_t least, most, sum;
};

static void add_to(struct spread *s, uint64_t ns, size_t count)
{
	s->least = count ? vpa_earlier(s->least, ns) : ns;
	s->most = vpa_later(s->most, ns);
	vpt_sat_add_to(&s->sum, ns);
}

/* Whether blocks with these periods and this work are paced. */
static int are_paced(const struct spread *period, const struct spread *work, size_t count)
{
	double mean = (double)period->sum / (double)count,
	       differ = (double)(period->most - period->least),
	       work_differs = (double)(work->most - work->least);

	return work_differs > unlike * mean && work_differs > in_spite * differ;
}

static int are_equal(const struct spread *period, size_t count)
{
	double mean = (double)period->sum / (double)count;

	return (double)period->most - mean < equal * mean &&
	       mean - (double)period->least < equal * mean;
}

/* The last measured blocks whose periods are equal: as many as are paced. */
static void find_blocks(const struct vpa_blocks *b, struct vpa_screen_pace *out)
{
	struct spread period = {0}, work = {0};
	uint64_t frames = 0;
	size_t i, count = 0;

	for (i = b->count; i-- > 0 && !b->series[i].warmup && b->series[i].devices;) {
		const struct vpa_block_row *row = &b->series[i];

		if (row->idle_ns < row->period_ns / WAITED * row->devices)
			break;
		add_to(&period, row->period_ns, count);
		add_to(&work, row->busy_ns / row->devices, count);
		vpt_sat_add_to(&frames, row->frames);
		count++;
		if (count < PACED || !are_equal(&period, count) ||
			!are_paced(&period, &work, count))
			continue;
		*out = (struct vpa_screen_pace){.blocks = count,
			.first = i,
			.period_ns = period.sum / count,
			.fps = b->fps >= 0 ? (double)frames * 1e9 / (double)period.sum : -1};
	}
}

/* Whether the waits are for host code, once or twice a block. */
static int waits_for_host_code(const struct vpa_screen *s)
{
	uint64_t ns = s->cause_ns[VPA_CAUSE_HOST_CODE], gaps = 0;
	size_t i;

	for (i = 0; i < s->blocks->part_count; i++)
		if (vpa_part_cause(s->blocks->parts[i].part) == VPA_CAUSE_HOST_CODE)
			gaps += s->blocks->parts[i].count;
	return ns && ns >= s->waits_ns - s->waits_ns / MOSTLY &&
	       gaps <= GAPS * (uint64_t)s->blocks->measured;
}

int vpa_screen_pace_of(const struct vpa_screen *s, struct vpa_screen_pace *out)
{
	const struct vpa_idle_place *at;

	*out = (struct vpa_screen_pace){.blocks = 0};
	if (!s->blocks || s->unit.kind != VPA_UNIT_BLOCK || !s->has_parts ||
		!waits_for_host_code(s))
		return 0;
	find_blocks(s->blocks, out);
	at = vpa_first_place(s->digest, VPA_CAUSE_HOST_CODE);
	if (at && at->place.kind == VPA_PLACE_IN &&
		at->ns > s->digest->cause_ns[VPA_CAUSE_HOST_CODE] / 2)
		out->place = at->place.text;
	return out->blocks != 0;
}

void vpa_screen_add_pace(struct vpa_words *w, const struct vpa_screen *s)
{
	struct vpa_screen_pace pace;

	if (!vpa_screen_pace_of(s, &pace))
		return;
	vpa_words_add(w, " ",
		"The last %zu blocks take %s each, whatever the GPU works: %s may keep a pace",
		pace.blocks, vpa_duration(pace.period_ns).text,
		pace.place ? vpa_fit(pace.place, 40).text : "the host");
	if (pace.fps >= 0)
		vpa_words_add(w, "", " (%s FPS)", vpa_rate(pace.fps).text);
	vpa_words_add(w, "", ".");
}
