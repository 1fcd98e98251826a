/* ranks_page.c - a job as one page for browsers: the first screen, ranks over time, and tables made from the keys of the
 * JSON. */
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/base/sort.h"
#include "analysis/render/html/page_tables.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>

enum { ROWS_OPEN = 40 /* of the tables of a section; more are folded */ };

struct page {
	const struct vpa_job *job;
	struct vpa_late_ranks late;
	struct vpa_job listed; /* the job with its ranks in the order of the table */
};

/* ---- the head ---- */

static void put_name(struct vpa_html *h, const void *ctx)
{
	const struct vpa_job *job = ((const struct page *)ctx)->job;

	vpa_html_print(h, "%zu rank%s", job->rank_count, vpa_plural(job->rank_count));
	if (job->job) {
		vpa_html_raw(h, " of ");
		vpa_html_text(h, job->job);
	}
}

static void put_badges(struct vpa_html *h, const void *ctx)
{
	const struct page *p = ctx;
	const struct vpa_job *job = p->job;
	int complete = !job->incomplete && !job->missing && !job->list.unread_count;

	if (job->simulated > 0)
		vpa_html_raw(h, "<span class=\"badge red\">SIMULATED: no GPU ran</span> ");
	vpa_html_print(h, "<span class=\"badge %s\">%s</span>", complete ? "green" : "red",
		vpa_verdict_word(complete));
}

/* ---- the first screen ---- */

static void put_words(struct vpa_page *p, const void *ctx)
{
	vpa_ranks_put(p, ((const struct page *)ctx)->job, 0);
}

static void put_fixes(struct vpa_html *h, const struct page *p)
{
	const struct vpa_job_fix *fixes[VPA_FIXES_MOST];
	size_t count = vpa_ranks_fixes(p->job, &p->late, fixes), i;

	if (!count)
		return;
	vpa_html_raw(h, "<dl id=\"fix-top\">\n<dt>FIX FIRST</dt><dd>\n");
	for (i = 0; i < count; i++) {
		vpa_html_print(h, "<div class=\"fix\"><span class=\"number\">%zu</span><p>", i + 1);
		vpa_html_text(h, vpa_ranks_fix_words(p->job, fixes[i]).text);
		vpa_html_print(h, "</p><p class=\"gain\">%s instead of %s</p></div>\n",
			vpa_duration(fixes[i]->unit_ns).text, vpa_duration(p->job->unit_ns).text);
	}
	vpa_html_print(h,
		"<p class=\"note\">What %s would take, by replaying all ranks together.</p>\n"
		"</dd>\n</dl>\n",
		p->job->unit == VPA_UNIT_WINDOW ? "all" : vpa_unit_words(p->job->unit)->a_name);
}

/* ---- scaling ---- */

struct waterfall_row {
	struct vpa_html *h;
	uint64_t done_ns, all_ns;
};

/* A bar from where the last one ended; of less than 0 back from there. */
static void put_bar(struct waterfall_row *f, const char *look, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, from = f->done_ns;

	if (ns < 0)
		from = f->done_ns -= size < f->done_ns ? size : f->done_ns;
	vpa_html_print(f->h,
		"<td class=\"bar\"><svg class=\"bar\" width=\"100%%\" height=\"16\"><rect "
		"class=\"track\" width=\"100%%\" height=\"16\"/><rect height=\"16\" class=\"%s\" "
		"x=\"",
		look);
	vpa_html_percent(f->h, from, f->all_ns);
	vpa_html_raw(f->h, "%\" width=\"");
	vpa_html_percent(f->h, size, f->all_ns);
	vpa_html_raw(f->h, "%\"/></svg></td>");
	if (ns > 0)
		vpt_sat_add_to(&f->done_ns, size);
}

static void put_part(
	struct waterfall_row *f, const char *name, const char *look, int64_t ns, int is_sum)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	vpa_html_print(f->h, "<tr%s><td class=\"t\">%s</td>", is_sum ? " class=\"sum\"" : "", name);
	if (is_sum)
		f->done_ns = 0;
	put_bar(f, look, ns);
	vpa_html_print(f->h,
		"<td class=\"n\" data-v=\"%" PRId64
		"\">%s%s</td><td class=\"n\">%s%s %%</td></tr>\n",
		ns,
		ns < 0   ? "-"
		: is_sum ? ""
			 : "+",
		vpa_duration(size).text, ns < 0 ? "-" : "", vpa_percent(size, f->all_ns).text);
}

static void put_scaling(struct vpa_html *h, const struct vpa_job *job)
{
	const struct vpa_scaling *s = job->scaling;
	struct waterfall_row f = {h, 0, 0};
	struct vpa_words lead = {.used = 0};
	unsigned i;

	if (!s)
		return;
	f.all_ns = s->many_ns > s->ideal_ns ? s->many_ns : s->ideal_ns;
	vpa_words_add(&lead, "", "%s on one GPU, %s on %zu: %s times as fast, efficiency %s %%.",
		vpa_duration(s->one_ns).text, vpa_duration(s->many_ns).text, job->rank_count,
		vpa_fixed(s->speedup, 2).text, vpa_share(s->efficiency).text);
	vpa_html_begin(h, "scaling", "Scaling", lead.text);
	vpa_html_print(h,
		"<div class=\"scroll\"><table class=\"fall four\"><thead><tr><th "
		"class=\"t\">part</th><th class=\"bar\">of %s</th><th class=\"n\">time</th><th "
		"class=\"n\">share</th></tr></thead>\n<tbody>\n",
		vpa_unit_words(job->unit)->a_name);
	put_part(&f, "at full efficiency", "whole", (int64_t)s->ideal_ns, 1);
	for (i = 0; i < VPA_SCALING_PARTS; i++)
		put_part(&f, vpa_scaling_words((enum vpa_scaling_part)i),
			s->part_ns[i] < 0 ? "less" : "more", s->part_ns[i], 0);
	put_part(&f, "as it is", "whole", (int64_t)s->many_ns, 1);
	vpa_html_raw(h, "</tbody></table></div>\n");
	vpa_html_end(h);
}

/* ---- tables ---- */

struct list {
	const char *id, *title, *lead; /* lead NULL: none */
	struct vpa_view views[2];      /* of the second the path may be NULL */
};

static const struct list lists[] = {
	{"ranks", "Ranks", "Sums over the whole capture of each rank.",
		{{"ranks", "Ranks",
			.first = "rank blame_ns last collectives compute_ns transfer_ns wait_ns "
				 "idle_ns copy_ns host gpu"}}},
	{"metrics", "Metrics",
		"What is known of the ranks, and which of them stands out. Times are of a unit.",
		{{"metrics", "Metrics",
			.first = "metric cause min mean max rank why known differs"}}},
	{"late-by", "Later by",
		"What the last ranks did more of than those that waited for them. It sums to the "
		"waits.",
		{{"late_by", "All ranks", .first = "class what place ns"},
			{"ranks.late_by", "By rank", .first = "class what place ns"}}},
	{"patterns", "Patterns", "What several collectives have in common.",
		{{"patterns", "Patterns",
			.first = "pattern ranks peers ns collectives changes found_ns usual_ns "
				 "collective group"}}},
	{"fixes", "Fixes",
		"Predicted by replaying all ranks together, and those that bring nothing.",
		{{"fixes", "Fixes", .first = "change ranks unit_ns saves_share"}}},
	{"groups", "Groups and hosts", NULL,
		{{"groups", "Communicators",
			 .first = "name kind ranks collectives wait_ns transfer_ns"},
			{"clocks", "Clocks, one for each machine",
				.first = "host placed uncertainty_ns offset_ns drift_ns_per_s "
					 "ends"}}},
	{"setup", "Set-up", "What some ranks do not share with most.",
		{{"differences", "What differs", .first = "name value most ranks"}}},
};

/* "Communicators: 65 rows; ..." */
static size_t count_rows(
	const struct vpa_html_source *source, const struct list *list, struct vpa_words *counts)
{
	size_t all = 0, rows, i;

	for (i = 0; i < COUNT(list->views) && list->views[i].path; i++) {
		rows = vpa_html_source_rows(source, &list->views[i]);
		if (rows)
			vpa_words_add(counts, "; ", "%s: %s row%s", list->views[i].title,
				vpa_count(rows).text, vpa_plural(rows));
		all += rows;
	}
	return all;
}

static void put_list(struct vpa_html *h, const struct vpa_job *job, const struct list *list)
{
	const struct vpa_html_source source = {&vpa_fields_ranks, NULL, job, NULL};
	struct vpa_words counts = {.used = 0};
	size_t rows = count_rows(&source, list, &counts), i;
	int is_folded = rows > ROWS_OPEN;

	if (!rows)
		return;
	if (is_folded) {
		vpa_html_begin_folded(h, list->id, list->title);
		vpa_html_text(h, counts.text);
		vpa_html_raw(h, "</summary>\n");
		if (list->lead)
			vpa_html_print(h, "<p class=\"lead\">%s</p>\n", list->lead);
	} else {
		vpa_html_begin(h, list->id, list->title, list->lead);
	}
	for (i = 0; i < COUNT(list->views) && list->views[i].path; i++)
		vpa_html_put_source(h, &source, &list->views[i]);
	if (is_folded)
		vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}

/* ---- help ---- */

static const struct vpa_html_word words[] = {
	{"rank", "A process of the job with its GPU. Each has a capture, or a part of one."},
	{"waits", "From the start of a collective's kernel on this rank until the last rank has "
		  "started it. Nothing moves until then."},
	{"transfers", "From the last rank's start until the first one has ended: what the "
		      "collective itself takes."},
	{"last, blame",
		"To a collective one rank comes last. It is to blame for the waits of the others: "
		"since the collective before, it did more of something than each of them."},
	{"later by", "That something: kernels, copies, idle time by cause, with the range around "
		     "it. Times below 0 are of what the last rank did less of. Together they are "
		     "the wait, to the nanosecond."},
	{"at least", "Some rank of the group has no capture, or lacks that collective: it may "
		     "have come later still."},
	{"metrics",
		"A rank stands out that is at the bad end of a metric, or where neither end is "
		"bad, "
		"farthest from the mean. differs: by more than a tenth of the mean. What a capture "
		"does not have is missing, and counts in no mean."},
	{"patterns",
		"turns: a few ranks come last in turns. truncated: a capture ends early. "
		"slow-link: "
		"the same call transfers longer there than elsewhere. late-sender, late-receiver, "
		"late-peer: one of two ranks comes late to a message. ulysses: ranks exchange all "
		"to "
		"all before and after attention. ring-attention: they pass keys and values on "
		"beside it. cfg-parallel: halves of them compute the passes of guidance. "
		"pipeline: they pass results on from one to the next. lockstep: "
		"a group without a "
		"name is several."},
	{"like the median",
		"What the job would take if this rank took no longer between collectives than the "
		"median of the others."},
};

static void put_help(struct vpa_html *h)
{
	vpa_html_how_to_read(h, words, COUNT(words), NULL, 0);
}

/* ---- the whole ---- */

static void put_sections(struct vpa_html *h, const void *ctx)
{
	const struct page *p = ctx;
	size_t i;

	vpa_html_begin(h, "summary", "Result", NULL);
	vpa_html_words(h, put_words, p);
	if (p->job->rows)
		put_fixes(h, p);
	vpa_html_end(h);
	vpa_ranks_put_timeline(h, p->job, &p->late);
	vpa_ranks_put_close_up(h, p->job, &p->late);
	vpa_ranks_put_matrix(h, p->job, &p->late);
	put_scaling(h, p->job);
	for (i = 0; i < COUNT(lists); i++)
		put_list(h, &p->listed, &lists[i]);
	put_help(h);
}

static int by_blame(const void *a, const void *b)
{
	const struct vpa_job_rank *x = a, *y = b;

	if (x->blame_ns != y->blame_ns)
		return x->blame_ns < y->blame_ns ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The table has a limit: of more ranks it has those that others wait for most. *own: to free. */
static int list_ranks(struct page *p, struct vpa_job_rank **own)
{
	size_t i;

	*own = NULL;
	p->listed = *p->job;
	if (p->job->rank_count <= VPA_HTML_ROWS)
		return VPT_OK;
	*own = vpt_alloc(p->job->rank_count, sizeof(**own));
	if (!*own)
		return VPT_ENOMEM;
	for (i = 0; i < p->job->rank_count; i++)
		(*own)[i] = p->job->ranks[i];
	p->listed.ranks = *own;
	return vpa_sort(*own, p->job->rank_count, sizeof(**own), by_blame);
}

int vpa_ranks_html(
	const struct vpa_job *job, const char *command, struct vpt_sink *sink, struct vpt_err *err)
{
	struct page ctx = {.job = job, .late = vpa_late_ranks_of(job)};
	const struct vpa_html_page page = {.kind = "report of ranks",
		.command = command,
		.put_name = put_name,
		.put_badges = put_badges,
		.put_sections = put_sections,
		.ctx = &ctx};
	struct vpa_job_rank *own;
	int rc = list_ranks(&ctx, &own);

	rc = rc ? vpt_fail(err, rc, "no memory for a page") : vpa_html_page(&page, sink, err);
	vpt_free(own);
	return rc;
}
