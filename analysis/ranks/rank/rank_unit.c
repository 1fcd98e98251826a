/* rank_unit.c - the unit of a rank as text, and back. Nothing of it is trusted: whoever reads it gets numbers of a unit that could be. */
#include "analysis/ranks/rank/rank_unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int vpa_rank_unit_write(const struct vpa_rank *rank, char out[VPA_RANK_UNIT_SIZE])
{
	int is_stretch = rank->units_to_ns > rank->units_from_ns;

	if (rank->unit == VPA_UNIT_WINDOW || !rank->units || !rank->unit_ns)
		return 0;
	snprintf(out, VPA_RANK_UNIT_SIZE, "%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %.9g %s",
		rank->units, rank->unit_ns,
		is_stretch ? (int64_t)(rank->units_from_ns - rank->first_ns) : 0,
		is_stretch ? (int64_t)(rank->units_to_ns - rank->first_ns) : 0, rank->fps,
		vpa_unit_kind_name(rank->unit));
	return 1;
}

static int find_kind(const char *name, enum vpa_unit_kind *kind)
{
	unsigned i;

	for (i = 0; i < VPA_UNIT_WINDOW; i++)
		if (!strcmp(vpa_unit_kind_name((enum vpa_unit_kind)i), name)) {
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
	uint64_t units, unit_ns;
	int64_t from_ns, to_ns;
	enum vpa_unit_kind kind;
	double fps;
	int at = 0;

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %lf %n", &units, &unit_ns,
		    &from_ns, &to_ns, &fps, &at) != 5 ||
		!at || !find_kind(text + at, &kind))
		return 0;
	if (!units || !unit_ns || unit_ns > VPA_RANK_LATEST_NS || !isfinite(fps) || fps < 0)
		return 0;
	rank->unit = kind;
	rank->units = units;
	rank->unit_ns = unit_ns;
	rank->fps = fps;
	rank->units_from_ns = to_ns > from_ns ? time_at(rank, from_ns) : 0;
	rank->units_to_ns = to_ns > from_ns ? time_at(rank, to_ns) : 0;
	return 1;
}
