#include "tests/support/ranks_rig.h"

#include "formats/base/memory.h"
#include "formats/event_schema.h"
#include "analysis/names/families.h"
#include "analysis/report/causes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { START_NS = 2000000000, TRANSFER_NS = 50000 };

static int takes_part(const struct rig_job *job, const struct rig_row *row, unsigned rank)
{
	return (int)(job->members[row->group] >> rank & 1);
}

void rig_run(struct rig_job *job, struct vpt_random *random)
{
	uint64_t at[RIG_RANKS];
	unsigned i, r, p;

	for (r = 0; r < job->ranks; r++)
		at[r] = START_NS;
	for (i = 0; i < job->rows; i++) {
		struct rig_row *row = &job->row[i];
		uint64_t last = 0;

		for (r = 0; r < job->ranks; r++) {
			if (!takes_part(job, row, r))
				continue;
			row->start_ns[r] = at[r];
			for (p = 0; p < RIG_PARTS; p++)
				row->start_ns[r] += row->part_ns[r][p];
			last = row->start_ns[r] > last ? row->start_ns[r] : last;
		}
		for (r = 0; r < job->ranks; r++) {
			if (!takes_part(job, row, r))
				continue;
			row->end_ns[r] =
				last + TRANSFER_NS + job->bias_ns[r] +
				(job->skew_ns ? vpt_random_below(random, job->skew_ns) : 0);
			at[r] = row->end_ns[r];
		}
	}
}

uint64_t rig_clock(const struct rig_job *job, unsigned rank, uint64_t t_ns)
{
	int64_t since = (int64_t)t_ns - START_NS;

	return (uint64_t)((int64_t)t_ns + job->shift_ns[rank] +
			  (int64_t)((__int128)since * job->ppb[rank] / 1000000000));
}

static void put_mark(
	struct vpa_rank *r, uint64_t time_ns, const uint64_t *part_ns, uint64_t comm_ns)
{
	uint32_t p;

	for (p = 0; p < RIG_PARTS; p++)
		if (part_ns && part_ns[p])
			r->parts[r->part_count++] = (struct vpa_rank_part){p, part_ns[p]};
	if (comm_ns)
		r->parts[r->part_count++] = (struct vpa_rank_part){RIG_PARTS, comm_ns};
	r->marks[r->mark_count++] = (struct vpa_rank_mark){time_ns, r->part_count};
}

static void put_keys(const struct rig_job *job, struct vpa_rank *r)
{
	unsigned g;

	r->keys = vpt_calloc(RIG_GROUPS, sizeof(*r->keys));
	r->key_count = job->groups;
	for (g = 0; g < job->groups; g++)
		r->keys[g] = (struct vpa_collective_key){.kind = VPA_COLLECTIVE_ALL_REDUCE,
			.group = job->has_names ? vpa_arena_printf(&r->arena, "group %u", g) : NULL,
			.text = "allreduce",
			.lane = job->has_names ? 0 : g};
}

static void put_rank(const struct rig_job *job, unsigned number, struct vpa_rank *r)
{
	static const struct vpa_part_name names[RIG_PARTS + 1] = {
		{VPA_TIME_COMPUTE, VPA_FAMILY_GEMM, "denoise"},
		{VPA_TIME_COPY, VPT_COPYKIND_HTOD, NULL},
		{VPA_TIME_IDLE, VPA_CAUSE_HOST_CODE, "denoise"},
		{VPA_TIME_IDLE, VPA_CAUSE_LAUNCH_RATE, NULL}, {VPA_TIME_COMM, 0, NULL}};
	uint64_t missed_ns[RIG_PARTS + 1] = {0}, before = START_NS;
	unsigned i, p;

	r->rank = r->local_rank = number;
	r->world_size = job->ranks;
	r->host = job->host[number];
	r->pid = 100 + number;
	r->complete = 1;
	r->part_names = vpt_calloc(RIG_PARTS + 1, sizeof(*names));
	r->part_ns = vpt_calloc(RIG_PARTS + 1, sizeof(*r->part_ns));
	r->part_name_count = RIG_PARTS + 1;
	memcpy(r->part_names, names, sizeof(names));
	put_keys(job, r);
	r->collectives = vpt_calloc(job->rows + 1, sizeof(*r->collectives));
	r->marks = vpt_calloc(2 * (job->rows + 1), sizeof(*r->marks));
	r->parts = vpt_calloc((RIG_PARTS + 1) * (job->rows + 1) * 2, sizeof(*r->parts));
	for (i = 0; i < job->rows; i++) {
		const struct rig_row *row = &job->row[i];

		if (!takes_part(job, row, number))
			continue;
		for (p = 0; p < RIG_PARTS; p++)
			missed_ns[p] += row->part_ns[number][p];
		/* What the capture lacks was no collective to it, but time all the same. */
		if (row->lacks >> number & 1) {
			missed_ns[RIG_PARTS] += row->end_ns[number] - row->start_ns[number];
			continue;
		}
		put_mark(r, rig_clock(job, number, row->start_ns[number]), missed_ns,
			missed_ns[RIG_PARTS]);
		put_mark(r, rig_clock(job, number, row->end_ns[number]), NULL,
			row->end_ns[number] - row->start_ns[number]);
		r->collectives[r->collective_count++] =
			(struct vpa_rank_collective){rig_clock(job, number, row->start_ns[number]),
				rig_clock(job, number, row->end_ns[number]), row->group,
				(uint32_t)r->mark_count - 2, (uint32_t)r->mark_count - 1};
		memset(missed_ns, 0, sizeof(missed_ns));
		before = row->end_ns[number];
	}
	r->first_ns = rig_clock(job, number, START_NS);
	r->last_ns = rig_clock(job, number, before);
	r->units = 1;
	r->unit = VPA_UNIT_WINDOW;
	r->unit_ns = r->last_ns - r->first_ns;
}

void rig_ranks(const struct rig_job *job, struct vpa_rank_list *out)
{
	unsigned r;

	for (r = 0; r < job->ranks; r++)
		put_rank(job, r, vpa_rank_add(out));
}
