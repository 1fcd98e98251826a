#include "tests/support/ranks_rig.h"

#include "analysis/names/families.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/memory.h"
#include "formats/event_schema.h"

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
				last + TRANSFER_NS + job->link_ns[row->group] + job->bias_ns[r] +
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

/* What was done before a moment: the parts up to it. Moments may coincide. */
struct moment {
	uint64_t time_ns;
	size_t part_end;
};

struct moments {
	struct moment items[2 * RIG_ROWS];
	size_t count;
};

static void put_moment(struct vpa_rank *r, struct moments *m, uint64_t time_ns,
	const uint64_t *part_ns, uint64_t comm_ns)
{
	struct vpa_rank_detail *d = &r->detail;
	uint32_t p;

	for (p = 0; p < RIG_PARTS; p++)
		if (part_ns && part_ns[p])
			d->parts[d->part_count++] = (struct vpa_rank_part){p, part_ns[p]};
	if (comm_ns)
		d->parts[d->part_count++] = (struct vpa_rank_part){RIG_PARTS, comm_ns};
	m->items[m->count++] = (struct moment){time_ns, d->part_count};
}

static void set_marks(struct vpa_rank *r, const struct moments *m)
{
	size_t i, k;

	assert(!vpa_rank_set_marks(r, &r->detail));
	for (i = k = 0; k < r->detail.mark_count; k++) {
		while (i + 1 < m->count && m->items[i + 1].time_ns == m->items[i].time_ns)
			i++;
		assert(r->detail.marks[k].time_ns == m->items[i].time_ns);
		r->detail.marks[k].part_end = m->items[i++].part_end;
	}
}

static void put_keys(const struct rig_job *job, unsigned number, struct vpa_rank *r)
{
	unsigned g;

	r->keys = vpt_calloc(RIG_GROUPS, sizeof(*r->keys));
	r->key_count = job->groups;
	for (g = 0; g < job->groups; g++)
		r->keys[g] = (struct vpa_collective_key){.kind = job->kind == VPA_COLLECTIVE_OTHER
									 ? VPA_COLLECTIVE_ALL_REDUCE
									 : job->kind,
			.group = job->has_names ? vpa_arena_printf(&r->arena, "group %u", g) : NULL,
			.text = job->text[number] ? job->text[number] : "allreduce",
			.lane = job->has_names || job->is_one_lane ? 0 : g};
}

static void put_rank(const struct rig_job *job, unsigned number, struct vpa_rank *r)
{
	static const struct vpa_part_name names[RIG_PARTS + 1] = {
		{VPA_TIME_COMPUTE, VPA_FAMILY_GEMM, "denoise"},
		{VPA_TIME_COPY, VPT_COPYKIND_HTOD, NULL},
		{VPA_TIME_IDLE, VPA_CAUSE_HOST_CODE, "denoise"},
		{VPA_TIME_IDLE, VPA_CAUSE_LAUNCH_RATE, NULL}, {VPA_TIME_COMM, 0, NULL}};
	uint64_t missed_ns[RIG_PARTS + 1] = {0}, before = START_NS;
	struct moments moments = {.count = 0};
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
	put_keys(job, number, r);
	assert(!vpa_rank_begin_collectives(r, job->rows, NULL));
	r->detail.parts =
		vpt_calloc((RIG_PARTS + 1) * (job->rows + 1) * 2, sizeof(*r->detail.parts));
	for (i = 0; i < job->rows; i++) {
		const struct rig_row *row = &job->row[i];

		if (!takes_part(job, row, number))
			continue;
		for (p = 0; p < RIG_PARTS; p++)
			missed_ns[p] += row->part_ns[number][p];
		r->class_ns[VPA_TIME_COMPUTE] += row->part_ns[number][0];
		/* What the capture lacks was no collective to it, but time all the same. */
		if (row->lacks >> number & 1) {
			missed_ns[RIG_PARTS] += row->end_ns[number] - row->start_ns[number];
			continue;
		}
		put_moment(r, &moments, rig_clock(job, number, row->start_ns[number]), missed_ns,
			missed_ns[RIG_PARTS]);
		put_moment(r, &moments, rig_clock(job, number, row->end_ns[number]), NULL,
			row->end_ns[number] - row->start_ns[number]);
		assert(!vpa_rank_put_collective(r,
			(struct vpa_rank_collective){rig_clock(job, number, row->start_ns[number]),
				rig_clock(job, number, row->end_ns[number]), row->group}));
		memset(missed_ns, 0, sizeof(missed_ns));
		before = row->end_ns[number];
	}
	set_marks(r, &moments);
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

void rig_terms(struct vpa_rank *r)
{
	struct vpa_rank_detail *d = &r->detail;
	size_t i;

	d->term_ends = vpt_calloc(r->collective_count + 1, sizeof(*d->term_ends));
	d->terms = vpt_calloc(r->collective_count + 1, sizeof(*d->terms));
	for (i = 0; i <= r->collective_count; i++) {
		uint64_t before_ns = i ? vpa_rank_end_ns(r, i - 1) : r->first_ns;
		uint64_t at_ns = i < r->collective_count ? vpa_rank_start_ns(r, i) : r->last_ns;

		d->terms[i] = (struct vpa_rank_term){.after = i ? (uint32_t)i - 1 : VPA_RANK_START,
			.ns = (int64_t)(at_ns - before_ns)};
		d->term_ends[i] = i + 1;
	}
	r->has_terms = 1;
}

void rig_paces(struct vpa_rank *r)
{
	static const uint8_t codes[VPA_PACES] = {[VPA_PACE_HOST] = 255, [VPA_PACE_HALF] = 127};
	struct vpa_rank_detail *d = &r->detail;
	size_t i, k;

	for (k = 0; k < VPA_PACES; k++) {
		struct vpa_rank_pace *p = &d->paces[k];

		p->term_ends = vpt_calloc(r->collective_count + 1, sizeof(*p->term_ends));
		p->terms = vpt_calloc(r->collective_count + 1, sizeof(*p->terms));
		for (i = 0; i <= r->collective_count; i++) {
			struct vpa_rank_term term = d->terms[i];

			d->terms[i].code = VPA_TERM_WHOLE / 2;
			d->terms[i].work[VPA_BUSY_GEMM] = VPA_TERM_WHOLE / 2;
			term.code = codes[k];
			/* Times are multiples of a unit before that of the start. */
			term.ns -= (int64_t)(term.ns / 2 / VPA_PACE_TERM_NS) * VPA_PACE_TERM_NS;
			p->terms[i] = term;
			p->term_ends[i] = i + 1;
		}
	}
	r->units_from_ns = r->first_ns;
	r->units_to_ns = r->last_ns;
	r->has_paces = VPA_PACES_BESIDE;
}

void rig_small(struct rig_job *job, unsigned rows, struct vpt_random *random)
{
	unsigned i, r, p;

	memset(job, 0, sizeof(*job));
	job->ranks = 3;
	job->rows = rows;
	job->groups = 2;
	job->has_names = 1;
	job->members[0] = 7;
	job->members[1] = 5;
	job->skew_ns = 3000;
	for (r = 0; r < 3; r++)
		job->host[r] = r ? "b" : "a";
	for (i = 0; i < rows; i++) {
		job->row[i].group = i % 2;
		for (r = 0; r < 3; r++)
			for (p = 0; p < RIG_PARTS; p++)
				job->row[i].part_ns[r][p] =
					vpt_random_below(random, 3)
						? vpt_random_below(random, 90000)
						: 0;
	}
	rig_run(job, random);
}
