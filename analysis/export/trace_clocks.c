/* trace_clocks.c - reads the ranks of each trace, and takes the clocks that their job has. */
#include "analysis/export/trace_clocks.h"

#include "analysis/ranks/job.h"
#include "analysis/ranks/rank/rank_read.h"
#include "formats/base/memory.h"
#include "formats/import/any_trace.h"

#include <string.h>

static int read_rank(struct vpa_trace_clock *c, const char *path, const struct vpa_options *options,
	struct vpa_rank_list *ranks, struct vpt_err *err)
{
	struct vpa_options own = *options;
	struct vpt_trace *trace;
	int rc = vpt_trace_open(path, &trace, err);

	if (rc)
		return rc;
	own.observer = NULL;
	own.top = 1;
	*c = (struct vpa_trace_clock){.start_ns = vpt_trace_start(trace), .number = -1};
	c->clock.origin_ns = c->start_ns;
	rc = vpa_ranks_read(trace, path, &own, ranks, NULL, err);
	vpt_trace_close(trace);
	return rc;
}

static void take_ranks(
	struct vpa_trace_clocks *c, const char *const *paths, const struct vpa_job *job)
{
	size_t i, k;

	for (i = 0; i < c->count; i++)
		for (k = job->rank_count; k-- > 0;) {
			const struct vpa_rank *rank = job->ranks[k].rank;
			struct vpa_trace_clock *own = &c->items[i];

			if (!rank->capture || strcmp(rank->capture, paths[i]) != 0)
				continue;
			own->clock = job->clocks.items[job->clocks.of_rank[k]];
			own->number = job->ranks[k].number;
			own->rank = own->is_rank ? NULL : rank;
			own->is_rank = 1;
		}
}

static void take_clocks(struct vpa_trace_clocks *c, const struct vpa_job *job)
{
	size_t k;

	c->machines = job->clocks.count;
	for (k = 0; k < job->clocks.count; k++) {
		const struct vpa_clock *clock = &job->clocks.items[k];

		c->unplaced += !clock->is_placed;
		if (clock->is_placed && clock->uncertainty_ns > c->uncertainty_ns)
			c->uncertainty_ns = clock->uncertainty_ns;
	}
	for (k = 0; k < job->rank_count && !c->base_ns; k++) {
		const struct vpa_rank *r = job->ranks[k].rank;

		/* The first clock is neither moved nor stretched. */
		if (r->has_realtime && !job->clocks.of_rank[k])
			c->base_ns = r->unix_offset_ns + job->clocks.items[0].origin_ns;
	}
}

int vpa_trace_clocks_find(const char *const *paths, size_t count, const struct vpa_options *options,
	struct vpa_trace_clocks *out, struct vpt_err *err)
{
	struct vpa_rank_list ranks = {.count = 0};
	size_t i;
	int rc = VPT_OK;

	*out = (struct vpa_trace_clocks){.items = vpt_calloc(count + 1, sizeof(*out->items))};
	if (!out->items)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the clocks of traces");
	out->count = count;
	for (i = 0; i < count && !rc; i++)
		rc = read_rank(&out->items[i], paths[i], options, &ranks, err);
	if (!rc)
		rc = vpa_job_new(&ranks, &out->job, err);
	vpa_rank_list_free(&ranks);
	if (rc)
		return rc;
	take_ranks(out, paths, out->job);
	take_clocks(out, out->job);
	return VPT_OK;
}

void vpa_trace_clocks_free(struct vpa_trace_clocks *c)
{
	vpa_job_free(c->job);
	vpt_free(c->items);
	*c = (struct vpa_trace_clocks){0};
}
