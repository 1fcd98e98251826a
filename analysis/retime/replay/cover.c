/* cover.c - lanes of ranges, and the innermost one at a moment. */
#include "analysis/retime/replay/rules.h"

#include "analysis/base/intervals.h"
#include "formats/base/memory.h"

#include <fnmatch.h>
#include <string.h>

enum { NAME_MOST = 4096, STEPS = 4 };

int vpa_name_matches(const struct vpa_tape *t, uint32_t name, const char *pattern)
{
	struct vpt_text text = vpt_strings_get(&t->names, name);
	char copy[NAME_MOST];

	if (text.len == strlen(pattern) && !memcmp(text.text, pattern, text.len))
		return 1;
	if (text.len >= sizeof(copy) || memchr(text.text, '\0', text.len))
		return 0;
	memcpy(copy, text.text, text.len);
	copy[text.len] = '\0';
	return !fnmatch(pattern, copy, FNM_EXTMATCH);
}

/* ---- names ---- */

/* By name: 1 if it is a range's. NULL: no memory. */
static uint8_t *names_of_ranges(const struct vpa_tape *t)
{
	uint8_t *is_range = vpt_calloc(t->names.count, 1);
	size_t i;

	for (i = 0; is_range && i < t->range_count; i++)
		is_range[t->ranges[i].name] = 1;
	return is_range;
}

static int match_names(struct vpa_cover *c, const char *const *patterns)
{
	const struct vpa_tape *t = c->t;
	uint8_t *is_range = names_of_ranges(t);
	size_t name, p, count = 0, cap = 0;
	int rc = VPT_OK;

	c->first_place = vpt_calloc(t->names.count + 1, sizeof(*c->first_place));
	if (!is_range || !c->first_place)
		rc = VPT_ENOMEM;
	for (name = 0; name < t->names.count && !rc; name++) {
		for (p = 0; is_range[name] && p < c->place_count && !rc; p++) {
			if (!vpa_name_matches(t, (uint32_t)name, patterns[p]))
				continue;
			rc = vpt_grow(&c->places, &cap, count + 1, sizeof(*c->places));
			if (!rc)
				c->places[count++] = (uint32_t)p;
		}
		c->first_place[name + 1] = (uint32_t)count;
	}
	vpt_free(is_range);
	return rc;
}

static int is_matched(const struct vpa_cover *c, uint32_t name)
{
	return c->first_place[name] < c->first_place[name + 1];
}

/* ---- lanes ---- */

/* Of the ranges of a whole process, after the lanes of all threads. */
static uint32_t wide_lane(const struct vpa_tape *t, uint32_t thread)
{
	return (uint32_t)t->thread_count + t->threads[thread].process;
}

static uint32_t lane_of(const struct vpa_cover *c, const struct vpa_tape_range *r)
{
	return r->is_wide ? wide_lane(c->t, r->thread) : r->thread;
}

/* What is open in a lane when the range at `at` begins. */
static uint32_t open_below(const struct vpa_cover *c, uint32_t lane, uint32_t at)
{
	uint32_t below = at > c->lanes[lane] ? at - 1 : VPA_TAPE_NONE;

	while (below != VPA_TAPE_NONE && c->ranges[below].end_ns <= c->ranges[at].start_ns)
		below = c->ranges[below].below;
	return below;
}

static int fill_lanes(struct vpa_cover *c)
{
	const struct vpa_tape *t = c->t;
	uint32_t *next, lane, sum = 0, at;
	size_t i;

	c->lanes = vpt_calloc((size_t)c->lane_count + 1, sizeof(*c->lanes));
	next = vpt_calloc((size_t)c->lane_count + 1, sizeof(*next));
	c->ranges = vpt_alloc(t->range_count + 1, sizeof(*c->ranges));
	if (!c->lanes || !next || !c->ranges) {
		vpt_free(next);
		return VPT_ENOMEM;
	}
	for (i = 0; i < t->range_count; i++)
		if (is_matched(c, t->ranges[i].name))
			next[lane_of(c, &t->ranges[i])]++;
	for (lane = 0; lane < c->lane_count; lane++) {
		c->lanes[lane] = sum;
		sum += next[lane];
		next[lane] = c->lanes[lane];
	}
	c->lanes[c->lane_count] = sum;
	for (i = 0; i < t->range_count; i++) {
		const struct vpa_tape_range *r = &t->ranges[i];

		if (!is_matched(c, r->name))
			continue;
		lane = lane_of(c, r);
		at = next[lane]++;
		c->ranges[at] = (struct vpa_cover_range){
			.start_ns = r->start_ns, .end_ns = r->end_ns, .range = (uint32_t)i + 1};
		c->ranges[at].below = open_below(c, lane, at);
	}
	vpt_free(next);
	return VPT_OK;
}

int vpa_cover_find(
	const struct vpa_tape *t, const char *const *patterns, size_t count, struct vpa_cover *out)
{
	int rc;

	*out = (struct vpa_cover){.t = t, .place_count = count};
	if (!count)
		return VPT_OK;
	out->lane_count = (uint32_t)t->thread_count + t->process_count;
	rc = match_names(out, patterns);
	return rc ? rc : fill_lanes(out);
}

void vpa_cover_free(struct vpa_cover *c)
{
	vpt_free(c->first_place);
	vpt_free(c->places);
	vpt_free(c->ranges);
	vpt_free(c->lanes);
	*c = (struct vpa_cover){0};
}

/* ---- moments ---- */

/* The first range of a lane that begins after a moment. */
static uint32_t search(const struct vpa_cover *c, uint32_t lane, uint64_t ns)
{
	uint32_t low = c->lanes[lane], high = c->lanes[lane + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->ranges[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same, most likely near where it was last. */
static uint32_t begins_after(const struct vpa_cover *c, uint32_t lane, uint64_t ns, uint32_t at)
{
	uint32_t first = c->lanes[lane], end = c->lanes[lane + 1], steps = 0;

	at = at < first ? first : at;
	while (at < end && c->ranges[at].start_ns <= ns && steps++ < STEPS)
		at++;
	while (at > first && c->ranges[at - 1].start_ns > ns && steps++ < STEPS)
		at--;
	return steps <= STEPS ? at : search(c, lane, ns);
}

/* The range that began last of those around a moment; NONE. `last`: the answer for an earlier moment, or NULL. */
static uint32_t innermost(const struct vpa_cover *c, uint32_t lane, uint64_t ns, uint32_t *cursor,
	const uint32_t *last)
{
	uint32_t at;

	if (c->lanes[lane] == c->lanes[lane + 1])
		return VPA_TAPE_NONE;
	at = begins_after(c, lane, ns, *cursor);
	if (last && at == *cursor)
		at = *last;
	else {
		*cursor = at;
		at = at > c->lanes[lane] ? at - 1 : VPA_TAPE_NONE;
	}
	while (at != VPA_TAPE_NONE && c->ranges[at].end_ns <= ns)
		at = c->ranges[at].below;
	return at;
}

/* Adds the ranges from one outwards. */
static void add_ranges(
	const struct vpa_cover *c, uint32_t at, uint64_t ns, struct vpa_whereabouts *w)
{
	for (; at != VPA_TAPE_NONE; at = c->ranges[at].below) {
		const struct vpa_cover_range *r = &c->ranges[at];
		uint32_t name = c->t->ranges[r->range - 1].name, i;

		if (r->end_ns <= ns)
			continue;
		if (r->end_ns < w->until_ns)
			w->until_ns = r->end_ns;
		for (i = c->first_place[name]; i < c->first_place[name + 1]; i++)
			if (w->ranges[c->places[i]] < r->range)
				w->ranges[c->places[i]] = r->range;
	}
}

/* When the next range of a lane begins. */
static uint64_t next_start(const struct vpa_cover *c, uint32_t lane, uint32_t cursor)
{
	uint32_t first = c->lanes[lane], end = c->lanes[lane + 1];

	cursor = cursor < first ? first : cursor;
	return cursor < end ? c->ranges[cursor].start_ns : UINT64_MAX;
}

int vpa_cover_find_at(
	const struct vpa_cover *c, uint32_t thread, uint64_t ns, struct vpa_whereabouts *w)
{
	uint32_t own, wide, lane;
	int is_same;

	w->same_until_ns = UINT64_MAX;
	if (!c->place_count)
		return 0;
	lane = wide_lane(c->t, thread);
	own = innermost(c, thread, ns, &w->own_cursor, w->is_known ? &w->own : NULL);
	wide = innermost(c, lane, ns, &w->wide_cursor, w->is_known ? &w->wide : NULL);
	is_same = w->is_known && own == w->own && wide == w->wide && ns < w->until_ns;
	if (!is_same) {
		w->own = own;
		w->wide = wide;
		w->until_ns = UINT64_MAX;
		w->is_known = 1;
		memset(w->ranges, 0, c->place_count * sizeof(*w->ranges));
		add_ranges(c, own, ns, w);
		add_ranges(c, wide, ns, w);
	}
	w->same_until_ns =
		vpa_earlier(w->until_ns, vpa_earlier(next_start(c, thread, w->own_cursor),
						 next_start(c, lane, w->wide_cursor)));
	return !is_same;
}
