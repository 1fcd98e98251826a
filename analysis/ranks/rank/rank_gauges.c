/* rank_gauges.c - samples of the rank's GPU, its rate of blocks and its stages, out of the report of its capture. */
#include "analysis/ranks/rank/rank_gauges.h"

#include "analysis/base/sort.h"
#include "analysis/pipeline/unit.h"
#include "analysis/ranks/rank/rank_summary.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

static const struct {
	enum vpt_series series;
	unsigned scale;
} gauges[VPA_GAUGES] = {
	[VPA_GAUGE_MEMORY_USED] = {VPT_SERIES_MEMORY_USED, 1},
	[VPA_GAUGE_ALLOCATED] = {VPT_SERIES_TORCH_ALLOCATED, 1},
	[VPA_GAUGE_RESERVED] = {VPT_SERIES_TORCH_RESERVED, 1},
	[VPA_GAUGE_POWER] = {VPT_SERIES_POWER, 1000},
	[VPA_GAUGE_TEMPERATURE] = {VPT_SERIES_TEMPERATURE, 1000},
	[VPA_GAUGE_SM_CLOCK] = {VPT_SERIES_SM_CLOCK, 1000},
};

enum vpt_series vpa_gauge_series(enum vpa_gauge gauge)
{
	return gauges[gauge].series;
}

unsigned vpa_gauge_scale(enum vpa_gauge gauge)
{
	return gauges[gauge].scale;
}

static uint64_t scaled(enum vpa_gauge gauge, double value)
{
	return vpt_sat_u64(value * gauges[gauge].scale + 0.5);
}

static void read_gauge(const struct vpa_report *r, int64_t device, enum vpa_gauge gauge,
	struct vpa_rank_gauge *out)
{
	const struct vpa_counter *c = vpa_find_counter(r, device, gauges[gauge].series);

	if (!c || !c->samples)
		return;
	*out = (struct vpa_rank_gauge){.samples = c->samples,
		.least = scaled(gauge, c->min),
		.mean = scaled(gauge, c->covered_ns ? c->mean_by_time : c->mean),
		.most = scaled(gauge, c->max)};
}

static void read_clock(struct vpa_rank *rank, const struct vpa_report *r)
{
	const struct vpa_counter *c = vpa_find_counter(r, rank->device, VPT_SERIES_CLOCK_REASONS);

	if (!c || !c->awake_ns)
		return;
	rank->clock = (struct vpa_rank_clock){.awake_ns = c->awake_ns, .limited_ns = c->limited_ns};
	if (c->reason_count)
		rank->clock.reason = vpa_arena_text(
			&rank->arena, c->reasons[0].reason, strlen(c->reasons[0].reason));
}

void vpa_rank_take_rate(struct vpa_rank *rank, const struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);

	if (rank->unit == VPA_UNIT_BLOCK && q && q->blocks.measured && q->blocks.bps > 0)
		rank->blocks_per_1e9s = vpt_sat_u64(q->blocks.bps * 1e9 + 0.5);
}

/* ---- stages ---- */

static struct vpa_rank_stage stage_of(const struct vpa_stage_row *row)
{
	uint64_t count = row->time.count;
	double mean_ns = count ? (double)row->time.total_ns / (double)count : 0;
	int in_blocks = row->in_blocks && row->per_block > 0;

	return (struct vpa_rank_stage){.name = row->name,
		.in_blocks = in_blocks,
		.count = count,
		.time_ns = vpt_sat_u64(mean_ns * (in_blocks ? row->per_block : 1) + 0.5)};
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*y > *x) - (*y < *x);
}

/* What a stage must take to be one of those that are kept. */
static int find_least(const struct vpa_report *r, uint64_t *least_ns)
{
	uint64_t *times = vpt_calloc(r->stage_count + 1, sizeof(*times));
	size_t i;
	int rc;

	*least_ns = 0;
	if (!times)
		return VPT_ENOMEM;
	for (i = 0; i < r->stage_count; i++)
		times[i] = r->stages[i].nested ? 0 : stage_of(&r->stages[i]).time_ns;
	rc = vpa_sort(times, r->stage_count, sizeof(*times), by_time);
	if (r->stage_count > VPA_RANK_STAGES_MOST)
		*least_ns = times[VPA_RANK_STAGES_MOST - 1];
	vpt_free(times);
	return rc;
}

int vpa_rank_take_stages(struct vpa_rank *rank, const struct vpa_report *r)
{
	uint64_t least_ns;
	size_t i;

	rank->stages = vpt_calloc(VPA_RANK_STAGES_MOST + 1, sizeof(*rank->stages));
	if (!rank->stages || find_least(r, &least_ns))
		return VPT_ENOMEM;
	for (i = 0; i < r->stage_count && rank->stage_count < VPA_RANK_STAGES_MOST; i++) {
		const struct vpa_stage_row *row = &r->stages[i];
		struct vpa_rank_stage stage = stage_of(row);

		if (row->nested || !row->name || !stage.time_ns || stage.time_ns < least_ns)
			continue;
		stage.name = vpa_arena_text(&rank->arena, row->name, strlen(row->name));
		rank->stages[rank->stage_count++] = stage;
	}
	return VPT_OK;
}

void vpa_rank_measure(struct vpa_rank *rank, const struct vpa_report *r)
{
	unsigned i;

	for (i = 0; i < VPA_GAUGES; i++)
		read_gauge(r, rank->device, (enum vpa_gauge)i, &rank->gauges[i]);
	read_clock(rank, r);
}
