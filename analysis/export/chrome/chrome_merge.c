/* chrome_merge.c - ranks of a job, one after the other, on the clock of the first one's machine. */
#include "analysis/export/chrome/chrome_rows.h"

#include "analysis/ranks/job.h"
#include "analysis/ranks/rank/rank_read.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>

/* A trace, and what is known of its ranks. */
struct member {
	uint64_t start_ns; /* on its own clock */
	struct vpa_clock clock;
	int64_t number; /* of its first rank; where none is known, its place */
	char label[32];
};

struct merge {
	const struct vpa_export_job *job;
	const char *const *paths;
	size_t count;
	struct member *members;
	size_t *order; /* of members, by number */
	int64_t start_ns;
	uint64_t base_ns;
	const char *unaligned;
};

/* ---- clocks ---- */

static int read_rank(struct merge *m, size_t i, struct vpa_rank_list *ranks, struct vpt_err *err)
{
	struct vpa_options options = *m->job->analysis;
	struct vpt_trace *trace;
	int rc = vpt_trace_open(m->paths[i], &trace, err);

	if (rc)
		return rc;
	options.observer = NULL;
	options.top = 1;
	m->members[i] = (struct member){.start_ns = vpt_trace_start(trace), .number = -1};
	m->members[i].clock.origin_ns = m->members[i].start_ns;
	rc = vpa_ranks_read(trace, m->paths[i], &options, ranks, NULL, err);
	vpt_trace_close(trace);
	return rc;
}

/* Traces without a GPU are no rank: they begin with the others. */
static void take_clocks(struct merge *m, const struct vpa_job *job)
{
	size_t i, k, unplaced = 0;

	for (i = 0; i < m->count; i++)
		for (k = job->rank_count; k-- > 0;)
			if (job->ranks[k].rank->capture &&
				!strcmp(job->ranks[k].rank->capture, m->paths[i])) {
				m->members[i].clock = job->clocks.items[job->clocks.of_rank[k]];
				m->members[i].number = job->ranks[k].number;
			}
	for (k = 0; k < job->clocks.count; k++)
		unplaced += !job->clocks.items[k].is_placed;
	if (unplaced)
		m->unaligned = "machines have no collective in common";
	for (k = 0; k < job->rank_count && !m->base_ns; k++) {
		const struct vpa_rank *r = job->ranks[k].rank;

		/* The first clock is neither moved nor stretched. */
		if (r->has_realtime && !job->clocks.of_rank[k])
			m->base_ns = r->unix_offset_ns + job->clocks.items[0].origin_ns;
	}
}

/* In the order of ranks, each with a name that no other has. */
static void name_members(struct merge *m)
{
	size_t i, k;

	for (i = 0; i < m->count; i++) {
		for (k = i; k && m->members[m->order[k - 1]].number > m->members[i].number; k--)
			m->order[k] = m->order[k - 1];
		m->order[k] = i;
	}
	m->start_ns = INT64_MAX;
	for (i = 0; i < m->count; i++) {
		struct member *own = &m->members[i];
		int64_t start = vpa_clock_time(&own->clock, own->start_ns);

		m->start_ns = start < m->start_ns ? start : m->start_ns;
		if (own->number >= 0)
			snprintf(own->label, sizeof(own->label), "rank %" PRId64, own->number);
		else
			snprintf(own->label, sizeof(own->label), "trace %zu", i);
	}
	if (m->base_ns)
		m->base_ns += (uint64_t)m->start_ns;
}

static int align(struct merge *m, struct vpt_err *err)
{
	struct vpa_rank_list ranks = {.count = 0};
	struct vpa_job *job;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < m->count && !rc; i++)
		rc = read_rank(m, i, &ranks, err);
	if (!rc)
		rc = vpa_job_new(&ranks, &job, err);
	vpa_rank_list_free(&ranks);
	if (rc)
		return rc;
	take_clocks(m, job);
	vpa_job_free(job);
	name_members(m);
	return VPT_OK;
}

/* ---- events ---- */

static int put_member(const struct merge *m, size_t at, size_t incomplete,
	struct vpa_export_totals *totals, struct vpt_err *err)
{
	const struct member *own = &m->members[m->order[at]];
	const struct vpa_export_part part = {.number = at,
		.count = m->count,
		.label = own->label,
		.clock = &own->clock,
		.start_ns = m->start_ns,
		.base_ns = m->base_ns,
		.incomplete = incomplete};
	struct vpa_export_options options = *m->job->options;
	struct vpa_export_job job = *m->job;
	struct vpt_trace *trace;
	int rc = vpt_trace_open(m->paths[m->order[at]], &trace, err);

	if (rc)
		return rc;
	options.part = &part;
	job.options = &options;
	job.trace = trace;
	job.path = m->paths[m->order[at]];
	rc = vpa_export(&job, totals, err);
	vpt_trace_close(trace);
	return rc;
}

int vpa_chrome_merge(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err)
{
	struct merge m = {.job = job, .paths = paths, .count = count};
	uint64_t before = job->sink->written_bytes;
	size_t i, incomplete = 0;
	int rc;

	(void)folder;
	*totals = (struct vpa_export_totals){.complete = 1};
	m.members = vpt_calloc(count + 1, sizeof(*m.members));
	m.order = vpt_calloc(count + 1, sizeof(*m.order));
	rc = m.members && m.order ? align(&m, err)
				  : vpt_fail(err, VPT_ENOMEM, "no memory to merge traces");
	for (i = 0; i < count && !rc; i++) {
		struct vpa_export_totals one;

		rc = put_member(&m, i, incomplete, &one, err);
		if (rc)
			break;
		vpa_export_totals_add(totals, &one);
		incomplete += !one.complete;
	}
	totals->unaligned = m.unaligned;
	totals->bytes = job->sink->written_bytes - before;
	vpt_free(m.members);
	vpt_free(m.order);
	return rc;
}
