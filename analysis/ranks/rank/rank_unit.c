/* rank_unit.c - the unit and the stages of a rank as texts, and back. Nothing of them is trusted: whoever reads them gets numbers that
 * could be. */
#include "analysis/ranks/rank/rank_unit.h"

#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int vpa_rank_unit_write(const struct vpa_rank *rank, char out[VPA_RANK_UNIT_SIZE])
{
	int is_stretch = rank->units_to_ns > rank->units_from_ns;

	if (rank->unit == VPA_UNIT_WINDOW || !rank->units || !rank->unit_ns)
		return 0;
	snprintf(out, VPA_RANK_UNIT_SIZE,
		"%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %.9g %" PRIu64 " %s", rank->units,
		rank->unit_ns, is_stretch ? (int64_t)(rank->units_from_ns - rank->first_ns) : 0,
		is_stretch ? (int64_t)(rank->units_to_ns - rank->first_ns) : 0, rank->fps,
		rank->blocks_per_1e9s, vpa_unit_kind_name(rank->unit));
	return 1;
}

static int find_kind(const char *name, enum vpa_unit_kind *kind)
{
	unsigned i;

	for (i = 0; i < VPA_UNIT_KINDS; i++)
		if (i != VPA_UNIT_WINDOW &&
			!strcmp(vpa_unit_kind_name((enum vpa_unit_kind)i), name)) {
			*kind = (enum vpa_unit_kind)i;
			return 1;
		}
	return 0;
}

/* A time of the rank; nothing is before 0 or after the latest one. */
static uint64_t time_at(const struct vpa_rank *rank, int64_t since_ns)
{
	__int128 at_ns = (__int128)rank->first_ns + since_ns;

	return at_ns < 0 ? 0 : at_ns > VPA_RANK_LATEST_NS ? VPA_RANK_LATEST_NS : (uint64_t)at_ns;
}

int vpa_rank_unit_read(struct vpa_rank *rank, const char *text)
{
	uint64_t units, unit_ns, bps;
	int64_t from_ns, to_ns;
	enum vpa_unit_kind kind;
	double fps;
	int at = 0;

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %lf %" SCNu64 " %n",
		    &units, &unit_ns, &from_ns, &to_ns, &fps, &bps, &at) != 6 ||
		!at || !find_kind(text + at, &kind))
		return 0;
	if (!units || !unit_ns || unit_ns > VPA_RANK_LATEST_NS ||
		!(fps >= 0 && fps < VPA_RANK_FPS_MOST))
		return 0;
	rank->unit = kind;
	rank->units = units;
	rank->unit_ns = unit_ns;
	rank->fps = fps;
	rank->is_end_to_end = fps > 0 && kind != VPA_UNIT_BLOCK;
	rank->blocks_per_1e9s = kind == VPA_UNIT_BLOCK ? bps : 0;
	rank->units_from_ns = to_ns > from_ns ? time_at(rank, from_ns) : 0;
	rank->units_to_ns = to_ns > from_ns ? time_at(rank, to_ns) : 0;
	return 1;
}

/* ---- stages ---- */

const char *vpa_rank_stages_write(const struct vpa_rank *rank, struct vpa_arena *a)
{
	const char *text = NULL;
	size_t i;

	for (i = 0; i < rank->stage_count; i++) {
		const struct vpa_rank_stage *s = &rank->stages[i];
		int len = (int)strcspn(s->name, "\n");

		text = vpa_arena_printf(a, "%s%" PRIu64 " %" PRIu64 " %d %.*s\n", text ? text : "",
			s->count, s->time_ns, s->in_blocks, len, s->name);
	}
	return text;
}

/* Reads a line. Returns 0 if it is none. */
static int read_stage(struct vpa_rank *rank, const char *line, size_t len)
{
	struct vpa_rank_stage s = {.name = NULL};
	int at = 0;

	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %d %n", &s.count, &s.time_ns, &s.in_blocks,
		    &at) != 3 ||
		!at || (size_t)at >= len)
		return 0;
	if (!s.count || !s.time_ns || s.time_ns > VPA_RANK_LATEST_NS || (unsigned)s.in_blocks > 1)
		return 0;
	s.name = vpa_arena_text(&rank->arena, line + at, len - (size_t)at);
	rank->stages[rank->stage_count++] = s;
	return 1;
}

int vpa_rank_stages_read(struct vpa_rank *rank, const char *text)
{
	rank->stages = vpt_calloc(VPA_RANK_STAGES_MOST, sizeof(*rank->stages));
	if (!rank->stages)
		return VPT_ENOMEM;
	while (*text && rank->stage_count < VPA_RANK_STAGES_MOST) {
		size_t len = strcspn(text, "\n");

		if (!read_stage(rank, text, len))
			break;
		text += len + (text[len] == '\n');
	}
	return VPT_OK;
}
