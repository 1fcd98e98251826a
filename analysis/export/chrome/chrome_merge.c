/* chrome_merge.c - ranks of a job, one after the other, on the clock of the first one's machine. */
#include "analysis/export/chrome/chrome_rows.h"

#include "analysis/export/text_line.h"
#include "analysis/export/trace_clocks.h"
#include "analysis/ranks/job.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>

struct merge {
	const struct vpa_export_job *job;
	const char *const *paths;
	size_t count;
	struct vpa_trace_clocks clocks;
	struct member {
		char label[32];
	} * members;   /* in the order of the traces */
	size_t *order; /* of traces, by number of rank */
	struct vpa_line gpus;
	int64_t start_ns;
	uint64_t base_ns;
};

/* In the order of ranks, each with a name that no other has. */
static void name_members(struct merge *m)
{
	const struct vpa_trace_clock *clocks = m->clocks.items;
	size_t i, k;

	for (i = 0; i < m->count; i++) {
		for (k = i; k && clocks[m->order[k - 1]].number > clocks[i].number; k--)
			m->order[k] = m->order[k - 1];
		m->order[k] = i;
	}
	m->start_ns = INT64_MAX;
	for (i = 0; i < m->count; i++) {
		struct member *own = &m->members[i];
		int64_t start = vpa_clock_time(&clocks[i].clock, clocks[i].start_ns);

		m->start_ns = start < m->start_ns ? start : m->start_ns;
		if (clocks[i].number >= 0)
			snprintf(own->label, sizeof(own->label), "rank %" PRId64, clocks[i].number);
		else
			snprintf(own->label, sizeof(own->label), "trace %zu", i);
	}
	if (m->clocks.base_ns)
		m->base_ns = m->clocks.base_ns + (uint64_t)m->start_ns;
}

/* ---- events ---- */

static int put_member(struct merge *m, size_t at, size_t incomplete,
	struct vpa_export_totals *totals, struct vpt_err *err)
{
	const struct vpa_export_part part = {.number = at,
		.count = m->count,
		.label = m->members[m->order[at]].label,
		.clock = &m->clocks.items[m->order[at]].clock,
		.rank = m->clocks.items[m->order[at]].rank,
		.gpus = &m->gpus,
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
	rc = m.members && m.order
		     ? vpa_trace_clocks_find(paths, count, job->analysis, &m.clocks, err)
		     : vpt_fail(err, VPT_ENOMEM, "no memory to merge traces");
	if (!rc && m.clocks.job->duplicate_count)
		rc = vpt_fail(err, VPT_EINVAL, "%s: one file has each rank once",
			m.clocks.job->duplicates[0]);
	if (!rc)
		name_members(&m);
	for (i = 0; i < count && !rc; i++) {
		struct vpa_export_totals one;

		rc = put_member(&m, i, incomplete, &one, err);
		if (rc)
			break;
		vpa_export_totals_add(totals, &one);
		incomplete += !one.complete;
	}
	totals->aligned = m.clocks.machines - m.clocks.unplaced;
	totals->uncertainty_ns = m.clocks.uncertainty_ns;
	if (m.clocks.unplaced)
		totals->unaligned = "machines have no collective in common. Each begins at the "
				    "start of the file";
	totals->bytes = job->sink->written_bytes - before;
	vpa_trace_clocks_free(&m.clocks);
	vpt_free(m.gpus.data);
	vpt_free(m.members);
	vpt_free(m.order);
	return rc;
}
