/* ranks_metrics.c - how much ranks differ, metric by metric: a table, and what of it belongs on the first screen; the rates of the
 * job in a sentence. */
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/render/digest.h"

#include <inttypes.h>
#include <stdio.h>

enum { METRICS_SHOWN = 6 /* on the first screen */ };

static const struct vpa_column columns[] = {
	{.head = "min"},
	{.head = "mean"},
	{.head = "max"},
	{.head = "rank"},
};

/* What the table of ranks has, and what follows from it. */
static int is_in_rank_table(enum vpa_metric kind)
{
	return kind == VPA_METRIC_BUSY || kind == VPA_METRIC_COMPUTES || kind == VPA_METRIC_WAITS ||
	       kind == VPA_METRIC_IDLE;
}

static void put_metric(
	const struct vpa_job *job, const struct vpa_job_metric *m, struct vpa_table *t)
{
	int is_cause = m->kind == VPA_METRIC_CAUSE;
	struct vpa_row *row = vpa_table_row(t, is_cause ? 1 : 0, "%s%s%s%s",
		is_cause ? "idle: " : "", vpa_metric_words(m->kind, m->cause), m->why ? "; " : "",
		m->why ? m->why : "");

	row->wrap = 1;
	row->cells[0] = vpa_metric_number(m->kind, m->least);
	row->cells[1] = vpa_metric_number(m->kind, m->mean);
	row->cells[2] = vpa_metric_number(m->kind, m->most);
	if (m->rank < job->rank_count)
		snprintf(row->cells[3].text, sizeof(row->cells[3].text), "%" PRId64,
			job->ranks[m->rank].number);
	else
		row->cells[3] = vpa_missing();
}

void vpa_ranks_put_metrics(struct vpa_page *p, const struct vpa_job *job, int is_full)
{
	struct vpa_table t;
	size_t i, shown = 0;

	if (is_full)
		vpa_table_init(&t, columns, 4, "METRIC, times %s; rank: that stands out",
			vpa_unit_words(job->unit)->a_name);
	else
		vpa_table_init(&t, columns, 4, "METRIC that differs by more than %d %%",
			VPA_METRIC_DIFFERS);
	for (i = 0; i < job->metric_count; i++) {
		const struct vpa_job_metric *m = &job->metrics[i];

		if (!is_full && (!m->differs || is_in_rank_table(m->kind)))
			continue;
		if (is_full || shown < METRICS_SHOWN)
			put_metric(job, m, &t);
		shown++;
	}
	if (!is_full && shown > METRICS_SHOWN)
		vpa_text_row(&t, 0, "and %zu more: --full", shown - METRICS_SHOWN);
	vpa_page_table(p, &t);
}

/* "223 FPS and 18.6 blocks/s" */
static void add_rates(const struct vpa_job_rates *r, struct vpa_words *w)
{
	if (r->fps > 0)
		vpa_words_add(w, "", "%s FPS%s", vpa_rate(r->fps).text,
			r->is_end_to_end ? " end to end" : "");
	if (r->bps > 0)
		vpa_words_add(w, " and ", "%s blocks/s", vpa_rate(r->bps).text);
}

struct vpa_words vpa_ranks_rate_words(const struct vpa_job *job)
{
	const struct vpa_job_rates *r = &job->rates;
	struct vpa_words w = {.used = 0}, rates = {.used = 0};

	add_rates(r, &rates);
	if (r->of == VPA_RATES_OF_JOB)
		vpa_words_add(&w, "", "The job makes %s.", rates.text);
	else if (r->of == VPA_RATES_OF_REPLICAS)
		vpa_words_add(&w, "", "%zu replicas make %s together.", r->replicas, rates.text);
	else if (r->of == VPA_RATES_OF_RANK)
		vpa_words_add(&w, "",
			"A rank makes %s, the mean; the captures do not say whether all make the "
			"same.",
			rates.text);
	return w;
}
