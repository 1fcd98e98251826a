/* sound_ranges.c - ranges: none is known later than the format allows, and none lies in too many others.
 *
 * A chunk lists the ranges that are open at its end, so one that began before that is listed when it ends. All ranges that are
 * open at some moment of a chunk are rows of it, or are listed there. */
#include "analysis/trust/sound_parts.h"

#include "analysis/base/rare.h"

#include "analysis/model/model.h"

/* Open at once, of all lanes. */
enum { OPEN_MAX = 1024 };

/* A range by what tells it from others. */
static struct vpa_sound_open open_of(
	const struct vpt_batch *b, uint32_t lane, uint64_t start_ns, uint64_t name, uint64_t domain)
{
	struct vpt_text own = vpt_batch_text(b, name), of = vpt_batch_text(b, domain);

	return (struct vpa_sound_open){.start_ns = start_ns,
		.name = vpt_hash(own.text, own.len),
		.domain = vpt_hash(of.text, of.len),
		.lane = lane};
}

/* The range among those that were open at the end of the last chunk; NULL: it is not. */
static struct vpa_sound_open *find_open(struct vpa_sound *s, const struct vpa_sound_open *as)
{
	size_t i;

	for (i = 0; i < s->open.count; i++) {
		struct vpa_sound_open *o = &s->open.items[i];

		if (o->start_ns == as->start_ns && o->lane == as->lane && !o->is_known &&
			o->name == as->name && o->domain == as->domain)
			return o;
	}
	return NULL;
}

/* Whether a range that begins at this time was listed, if the lane's earlier chunks reach as far. */
static int was_listed(struct vpa_sound *s, const struct vpa_sound_open *as)
{
	struct vpa_sound_open *open = find_open(s, as);

	if (open)
		open->is_known = 1;
	return open != NULL;
}

/* Whether a range is one of all threads. */
static int is_wide(
	const struct vpa_sound *s, const struct vpt_batch *b, uint64_t kind, uint64_t name)
{
	return kind == VPT_RANGEKIND_START_END ||
	       (name < b->strings.count && s->name_facts[name] & VPA_SOUND_WIDE);
}

/* The lane whose ranges end in order: the thread, or the process. 0, VPT_END or VPT_ENOMEM. */
static int find_lane(struct vpa_sound *s, uint64_t key, int wide, uint32_t *lane)
{
	return wide ? vpa_sound_lane(s, 0, VPT_LANETYPE_UNKNOWN, lane)
		    : vpa_sound_lane(s, key, VPT_LANETYPE_THREAD, lane);
}

static int take_opened(
	struct vpa_sound *s, const struct vpt_batch *b, const struct vpt_section *rows)
{
	struct vpa_sound_opens *opened = &s->opened;
	uint32_t i, lane;
	int rc = VPT_OK;

	if (!rows)
		return VPT_OK;
	if (rows->row_count > OPEN_MAX)
		return VPT_END;
	if (vpt_grow(&opened->items, &opened->cap, rows->row_count, sizeof(*opened->items)))
		return VPT_ENOMEM;
	for (i = 0; i < rows->row_count && !rc; i++) {
		uint64_t start = rows->col[VPT_OPEN_START][i], name = rows->col[VPT_OPEN_NAME][i];
		struct vpa_sound_open open;
		struct vpa_sound_lane *own;

		rc = find_lane(s, rows->col[VPT_OPEN_LANE][i],
			is_wide(s, b, rows->col[VPT_OPEN_RANGE_KIND][i], name), &lane);
		if (rc)
			break;
		own = &s->lane_of[lane];
		open = open_of(b, lane, start, name, rows->col[VPT_OPEN_DOMAIN][i]);
		if (start >> 63 || (start <= own->settled_ns && !was_listed(s, &open)))
			return VPT_END;
		opened->items[opened->count++] = open;
		own->newest_ns = start > own->newest_ns ? start : own->newest_ns;
		own->opens++;
	}
	return rc;
}

/* Whether all that was open at the end of the last chunk has ended or still is. */
static int are_all_known(const struct vpa_sound_opens *open)
{
	size_t i;

	for (i = 0; i < open->count && open->items[i].is_known; i++)
		;
	return i == open->count;
}

/* How deep the ranges of a section are nested; their number, if they overlap without nesting or end out of order. */
static int measure_depth(struct vpa_sound *s, const struct vpt_section *rows, size_t *depth)
{
	const uint64_t *starts = rows->col[VPT_RANGE_START];
	const uint64_t *durations = rows->col[VPT_RANGE_DURATION];
	size_t count = 0, all = rows->row_count, most = 0;
	uint64_t last_ns = 0;
	uint32_t i;

	*depth = all;
	if (all < VPA_NESTING_MAX)
		return VPT_OK;
	if (vpt_grow(&s->nests, &s->nest_cap, all, sizeof(*s->nests)))
		return VPT_ENOMEM;
	for (i = 0; i < all; i++) {
		struct vpa_sound_nest nest = {starts[i], starts[i] + durations[i], 1};

		if (nest.end_ns < last_ns)
			return VPT_OK;
		last_ns = nest.end_ns;
		for (; count && s->nests[count - 1].start_ns >= nest.start_ns; count--)
			if (s->nests[count - 1].depth >= nest.depth)
				nest.depth = s->nests[count - 1].depth + 1;
		if (count && s->nests[count - 1].end_ns > nest.start_ns)
			return VPT_OK;
		s->nests[count++] = nest;
		most = nest.depth > most ? nest.depth : most;
	}
	*depth = most;
	return VPT_OK;
}

/* Whether a row of a range was to come with this chunk: it began after those before, or was listed there. */
VPA_RARE static int is_timely(struct vpa_sound *s, const struct vpt_batch *b,
	const struct vpt_section *rows, uint32_t i, uint32_t lane)
{
	struct vpa_sound_open open = open_of(b, lane, rows->col[VPT_RANGE_START][i],
		rows->col[VPT_RANGE_NAME][i], rows->col[VPT_RANGE_DOMAIN][i]);

	return open.start_ns > s->lane_of[lane].settled_ns || was_listed(s, &open);
}

/* Whether all ranges of a section that belong to their thread, or to the process, are timely; their number. */
static int are_timely(struct vpa_sound *s, const struct vpt_batch *b,
	const struct vpt_section *rows, uint32_t lane, int wide, size_t *count)
{
	const uint64_t *names = rows->col[VPT_RANGE_NAME], *kinds = rows->col[VPT_RANGE_RANGE_KIND];
	const uint64_t *starts = rows->col[VPT_RANGE_START];
	const uint64_t *durations = rows->col[VPT_RANGE_DURATION];
	uint64_t newest_ns = 0, settled_ns = s->lane_of[lane].settled_ns, bad = 0;
	size_t ranges = 0;
	uint32_t i;

	*count = 0;
	for (i = 0; i < rows->row_count; i++) {
		uint64_t start = starts[i], end = start + durations[i];

		if (is_wide(s, b, kinds[i], names[i]) != wide)
			continue;
		ranges++;
		newest_ns = end > newest_ns ? end : newest_ns;
		bad |= end | durations[i];
		if (start <= settled_ns && !is_timely(s, b, rows, i, lane))
			return 0;
	}
	if (bad >> 63)
		return 0;
	if (newest_ns > s->lane_of[lane].newest_ns)
		s->lane_of[lane].newest_ns = newest_ns;
	*count = ranges;
	return 1;
}

static int take_ended(
	struct vpa_sound *s, const struct vpt_batch *b, const struct vpt_section *rows)
{
	uint32_t process, own;
	size_t depth, narrow, wide = 0;
	int rc = measure_depth(s, rows, &depth);

	if (!rc)
		rc = find_lane(s, rows->lane, 0, &own);
	if (!rc)
		rc = find_lane(s, 0, 1, &process);
	if (rc)
		return rc;
	if (!are_timely(s, b, rows, own, 0, &narrow))
		return VPT_END;
	if (narrow < rows->row_count && !are_timely(s, b, rows, process, 1, &wide))
		return VPT_END;
	s->lane_of[own].ranges += depth;
	s->lane_of[process].ranges += wide;
	return VPT_OK;
}

int vpa_sound_take_ranges(struct vpa_sound *s, const struct vpt_batch *b)
{
	int rc = take_opened(s, b, vpt_batch_find(b, VPT_OPEN));
	size_t i;

	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_RANGE)
			rc = take_ended(s, b, &b->sections[i]);
	if (!rc && !are_all_known(&s->open))
		rc = VPT_END;
	for (i = 0; i < s->touched_count && !rc; i++) {
		const struct vpa_sound_lane *lane = &s->lane_of[s->touched[i]];

		rc = lane->ranges + lane->opens >= VPA_NESTING_MAX ? VPT_END : VPT_OK;
	}
	return rc;
}
