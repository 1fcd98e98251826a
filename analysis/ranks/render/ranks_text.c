/* ranks_text.c - the first screen of a job: is anybody late, who, with what, and what do the others lose. */
#include "analysis/ranks/late_ranks.h"
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/render/renderer.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	PARTS_SHOWN = 5,  /* of what ranks are later by */
	LESS_SHOWN = 3,   /* of what they did less of */
	GROUPS_SHOWN = 4, /* where there are several */
	NOTES_SHOWN = 3,  /* of each kind */
	PATTERNS_SHOWN = 2
};

/* ---- RANKS ---- */

static size_t count_hosts(const struct vpa_job *job, int *known)
{
	size_t i, k, count = 0;

	*known = 1;
	for (i = 0; i < job->rank_count; i++) {
		const char *host = job->ranks[i].rank->host;

		*known &= host != NULL;
		for (k = 0; host && k < i; k++)
			if (vpt_same_text(host, job->ranks[k].rank->host))
				break;
		count += host && k == i;
	}
	return count;
}

/* ", on 2 hosts, each GPU an A100"; "" where nothing is known. */
static void add_machines(const struct vpa_job *job, struct vpa_words *w)
{
	const char *gpu = job->ranks[0].rank->gpu;
	size_t i, hosts;
	int known;

	hosts = count_hosts(job, &known);
	if (known)
		vpa_words_add(w, "", " on %zu host%s", hosts, vpa_plural(hosts));
	for (i = 1; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		/* A capture that lacks records may lack that one. */
		if (r->gpu ? !vpt_same_text(gpu, r->gpu) : r->complete)
			gpu = NULL;
	}
	if (gpu)
		vpa_words_add(w, "", " (%s each)", gpu);
}

/* Clocks of ranks whose captures lost the name of their machine: that they are other clocks is not known. */
static size_t count_nameless(const struct vpa_job *job, struct vpa_words *ranks)
{
	size_t i, count = 0;
	uint32_t newest = 1; /* clocks are numbered as ranks come; the first is that of rank 0 */

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		if (r->complete || r->host || r->boot_id || job->clocks.of_rank[i] < newest)
			continue;
		newest = job->clocks.of_rank[i] + 1;
		vpa_words_add(ranks, ", ", "%" PRId64, job->ranks[i].number);
		count++;
	}
	return count;
}

static void put_clocks(struct vpa_page *p, const struct vpa_job *job)
{
	const struct vpa_clocks *c = &job->clocks;
	struct vpa_words ranks = {.used = 0};
	size_t i, lost = 0, nameless = count_nameless(job, &ranks);

	for (i = 0; i < c->count; i++)
		lost += !c->items[i].is_placed;
	if (!job->rows)
		return;
	if (nameless)
		vpa_page_words(p, "", VPA_YELLOW,
			"The capture of rank %s lost the name of its machine: its clock is laid "
			"beside the others as if it were of another one.",
			ranks.text);
	if (c->count - nameless == 1)
		vpa_page_words(p, "", VPA_PLAIN, "Clocks: one host; ends agree within %s.",
			vpa_duration(c->bias_ns).text);
	else
		vpa_page_words(p, "", VPA_PLAIN,
			"Clocks: %zu, aligned by the ends of collectives; waits below %s count as "
			"none.",
			c->count - nameless, vpa_duration(job->uncertainty_ns).text);
	if (lost)
		vpa_page_words(p, "", VPA_YELLOW,
			"%zu clocks have no collective in common with the others: their ranks' "
			"waits are not known.",
			lost);
}

static void put_ranks(struct vpa_page *p, const struct vpa_job *job)
{
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%zu", job->rank_count);
	if (job->world_size > 0)
		vpa_words_add(&w, "", " of %" PRId64, job->world_size);
	add_machines(job, &w);
	vpa_words_add(&w, "", ", %s collective%s of %zu group%s", vpa_count(job->rows).text,
		vpa_plural(job->rows), job->group_count, vpa_plural(job->group_count));
	if (job->unmatched)
		vpa_words_add(&w, "", "; %s kernels of collectives have no partner",
			vpa_count(job->unmatched).text);
	else if (job->rows)
		vpa_words_add(&w, "", ", all matched");
	vpa_page_words(p, "RANKS", VPA_PLAIN, "%s.", w.text);
	put_clocks(p, job);
}

/* Of the patterns, those that say that the figures lack something, or the others. */
static void put_patterns(struct vpa_page *p, const struct vpa_job *job, int is_lack)
{
	static const char *const labels[VPA_PATTERNS] = {
		[VPA_PATTERN_TRUNCATED] = "CUT", [VPA_PATTERN_LOCKSTEP] = "GROUPS"};
	enum vpa_pattern_kind before = VPA_PATTERNS;
	size_t i, shown = 0;

	for (i = 0; i < job->pattern_count; i++) {
		const struct vpa_job_pattern *x = &job->patterns[i];

		if ((labels[x->kind] != NULL) != is_lack)
			continue;
		shown = x->kind == before ? shown + 1 : 0;
		if (shown < PATTERNS_SHOWN)
			vpa_page_words(p,
				!is_lack && before == VPA_PATTERNS ? "PATTERN"
				: is_lack && !shown                ? labels[x->kind]
								   : "",
				is_lack ? VPA_YELLOW : VPA_PLAIN, "%s",
				vpa_ranks_pattern_words(job, x).text);
		before = x->kind;
	}
}

/* Sentences of errors, which end without a full stop. */
static void put_unread(struct vpa_page *p, const struct vpa_rank_list *list)
{
	size_t i;

	for (i = 0; i < list->unread_count && i < NOTES_SHOWN; i++)
		vpa_page_words(p, i ? "" : "DAMAGED", VPA_YELLOW, "%s.", list->unread[i]);
	if (i < list->unread_count)
		vpa_page_words(p, "", VPA_YELLOW, "%zu more files could not be read.",
			list->unread_count - i);
}

/* What the figures lack, and what differs that should not. */
static void put_notes(struct vpa_page *p, const struct vpa_job *job)
{
	size_t i;

	if (job->simulated == 1)
		vpa_page_words(p, "DATA", VPA_YELLOW,
			"SIMULATED: no GPU ran; a stand-in made up every device time.");
	put_unread(p, &job->list);
	if (job->missing)
		vpa_page_words(p, "MISSING", VPA_YELLOW,
			"no capture%s of %zu of %" PRId64
			" ranks%s%s. Waits may be longer than shown.",
			job->list.unread_count ? " that can be read" : "", job->missing,
			job->world_size, job->missing_text ? ": " : "",
			vpa_text_or(job->missing_text, ""));
	for (i = 0; i < job->duplicate_count && i < NOTES_SHOWN; i++)
		vpa_page_words(p, "TWICE", VPA_YELLOW, "%s.", job->duplicates[i]);
	if (i < job->duplicate_count)
		vpa_page_words(p, "", VPA_YELLOW,
			"%zu ranks are there twice: give the captures of one run, each once.",
			job->duplicate_count);
	if (job->namesakes)
		vpa_page_words(p, "HOSTS", VPA_YELLOW,
			"the host of rank %s has the name of another one, but another clock: taken "
			"for "
			"another machine.",
			job->namesakes);
	if (job->apart)
		vpa_page_words(p, "RUNS", VPA_YELLOW,
			"rank %s worked a minute or more before or after rank %" PRId64
			": of another run, or the clocks of hosts are wrong.",
			job->apart, job->ranks[0].number);
	for (i = 0; i < job->rank_count; i++)
		if (!job->ranks[i].rank->complete) {
			vpa_page_words(p, "LOSS", VPA_YELLOW,
				"records are missing from %s of rank %" PRId64 "%s: %s.",
				"the capture", job->ranks[i].number,
				job->incomplete > 1 ? " and others" : "",
				vpa_text_or(job->ranks[i].rank->missing, "see its report"));
			break;
		}
	for (i = 0; i < job->difference_count && i < NOTES_SHOWN; i++) {
		const struct vpa_job_difference *d = &job->differences[i];

		vpa_page_words(p, i ? "" : "SETUP", VPA_YELLOW, "%s is %s on rank %s, %s on most.",
			d->name, vpa_text_or(d->value, "not set"), d->ranks,
			vpa_text_or(d->most, "not set"));
	}
	put_patterns(p, job, 1);
	if (job->negative && !vpa_ranks_pattern(job, VPA_PATTERN_LOCKSTEP))
		vpa_page_words(p, "TIMES", VPA_YELLOW,
			"%s collectives end on a rank before they have started on all: clocks or "
			"matches are wrong there.",
			vpa_count(job->negative).text);
}

/* ---- tables ---- */

static const struct vpa_column part_columns[] = {
	{.head = "ms"},
	{.head = "most by"},
};

/* Who has most of a part; of one below 0, least. NULL: nobody. */
static const struct vpa_job_rank *most_by(
	const struct vpa_job *job, const struct vpa_job_part *part)
{
	const struct vpa_job_rank *most = NULL;
	int64_t most_ns = 0;
	size_t k, n;

	for (k = 0; k < job->rank_count; k++)
		for (n = 0; n < job->ranks[k].part_count; n++) {
			const struct vpa_job_part *x = &job->ranks[k].parts[n];

			if (x->klass != part->klass || x->kind != part->kind ||
				!vpt_same_text(x->place, part->place))
				continue;
			if (part->ns < 0 ? x->ns < most_ns : x->ns > most_ns) {
				most = &job->ranks[k];
				most_ns = x->ns;
			}
		}
	return most;
}

static void put_part(
	struct vpa_table *t, const struct vpa_job *job, const struct vpa_job_part *part)
{
	const struct vpa_job_rank *most = most_by(job, part);
	struct vpa_row *row = vpa_table_row(t, 0, "%s%s%s%s", part->ns < 0 ? "less: " : "",
		vpa_job_part_words(part), part->place ? ", " : "", vpa_text_or(part->place, ""));

	row->cells[0] = vpa_fixed((double)part->ns / 1e6, 1);
	if (most)
		snprintf(row->cells[1].text, sizeof(row->cells[1].text), "rank %" PRId64,
			most->number);
}

/* What the last rank did more of, from a hundredth of the waits on; and less of, from a tenth: without that the rest is more than the
 * waits. */
static void put_parts(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	/* Beside a start that is said already the rest is small. */
	uint64_t said_ns = late->with_start ? 0 : vpa_job_start_wait(job);
	const double waits_ns = (double)vpt_sat_sub(job->blame_ns, said_ns);
	struct vpa_table t;
	size_t i, shown = 0;

	if (!job->blame_ns)
		return;
	vpa_table_init(&t, part_columns, 2, "LATER BY, summed over waits");
	for (i = 0; i < job->part_count && shown < PARTS_SHOWN; i++) {
		const struct vpa_job_part *part = &job->parts[i];

		if (said_ns && part->klass == VPA_LATE_BEGAN)
			continue;
		if (part->ns <= 0 || (double)part->ns < waits_ns / 100)
			break;
		put_part(&t, job, part);
		shown++;
	}
	for (i = job->part_count, shown = 0; i-- > 0 && shown < LESS_SHOWN; shown++) {
		if (job->parts[i].ns >= 0 || (double)job->parts[i].ns > -waits_ns / 10)
			break;
		put_part(&t, job, &job->parts[i]);
	}
	vpa_page_table(p, &t);
}

static const struct vpa_column fix_columns[] = {
	{.head = "now"},
	{.head = "predicted"},
	{.head = "saves, %"},
};

static void put_fixes(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_fix *fixes[VPA_FIXES_MOST];
	size_t count = vpa_ranks_fixes(job, late, fixes), i;
	struct vpa_table t;

	vpa_table_init(&t, fix_columns, 3, "FIX FIRST, by replaying all ranks together");
	for (i = 0; i < count; i++) {
		struct vpa_row *row = vpa_table_row(
			&t, 0, "%zu %s", i + 1, vpa_ranks_fix_words(job, fixes[i]).text);

		row->cells[0] = vpa_duration(job->unit_ns);
		row->cells[1] = vpa_duration(fixes[i]->unit_ns);
		row->cells[2] = vpa_fixed(100 * fixes[i]->share, 1);
	}
	vpa_page_table(p, &t);
}

static const struct vpa_column group_columns[] = {
	{.head = "ranks"},
	{.head = "collectives"},
	{.head = "waits, ms"},
	{.head = "transfers, ms"},
};

static void put_groups(struct vpa_page *p, const struct vpa_job *job)
{
	struct vpa_table t;
	size_t i;

	if (job->group_count < 2)
		return;
	vpa_table_init(&t, group_columns, 4, "GROUP, sums over ranks");
	for (i = 0; i < job->group_count && i < GROUPS_SHOWN; i++) {
		const struct vpa_job_group *g = &job->groups[i];
		struct vpa_row *row = vpa_table_row(&t, 0, "%s%s%s", vpa_collective_name(g->kind),
			g->name ? ", group " : "", vpa_text_or(g->name, ""));

		row->cells[0] = vpa_count(g->rank_count);
		row->cells[1] = vpa_count(g->row_count);
		row->cells[2] = vpa_scaled(g->wait_ns, 1000000, 1);
		row->cells[3] = vpa_scaled(vpt_sat_mul(g->transfer_ns, g->rank_count), 1000000, 1);
	}
	if (i < job->group_count)
		vpa_table_more(&t, job->group_count - i);
	vpa_page_table(p, &t);
}

struct scaling_part {
	enum vpa_scaling_part part;
	int64_t ns;
};

static int by_size(const void *a, const void *b)
{
	const struct scaling_part *x = a, *y = b;

	return (y->ns > x->ns) - (y->ns < x->ns);
}

/* "communication 282 us, copies 3.00 us": the largest first; what is 0 is left out. */
static void add_scaling_parts(const struct vpa_scaling *s, struct vpa_words *w)
{
	struct scaling_part parts[VPA_SCALING_PARTS];
	size_t i;

	for (i = 0; i < VPA_SCALING_PARTS; i++)
		parts[i] = (struct scaling_part){(enum vpa_scaling_part)i, s->part_ns[i]};
	qsort(parts, VPA_SCALING_PARTS, sizeof(*parts), by_size);
	for (i = 0; i < VPA_SCALING_PARTS; i++)
		if (parts[i].ns)
			vpa_words_add(w, ", ", "%s %s%s", vpa_scaling_words(parts[i].part),
				parts[i].ns < 0 ? "-" : "",
				vpa_duration(
					(uint64_t)(parts[i].ns < 0 ? -parts[i].ns : parts[i].ns))
					.text);
}

static void put_scaling(struct vpa_page *p, const struct vpa_job *job)
{
	const struct vpa_scaling *s = job->scaling;
	struct vpa_words parts = {.used = 0};

	if (!s)
		return;
	add_scaling_parts(s, &parts);
	vpa_page_blank(p);
	vpa_page_words(p, "SCALING", VPA_PLAIN,
		"%zu GPUs are %s times as fast as one, efficiency %s %%: %s takes %s, on one GPU "
		"%s.",
		job->rank_count, vpa_fixed(s->speedup, 2).text, vpa_share(s->efficiency).text,
		job->unit == VPA_UNIT_WINDOW ? "all" : vpa_unit_words(job->unit)->a_name,
		vpa_duration(s->many_ns).text, vpa_duration(s->one_ns).text);
	vpa_page_words(p, "", VPA_PLAIN, "At 100 %% it would take %s. The rest: %s.",
		vpa_duration(s->ideal_ns).text, parts.text);
}

void vpa_ranks_put(struct vpa_page *p, const struct vpa_job *job, int is_full)
{
	struct vpa_late_ranks late = vpa_late_ranks_of(job);

	if (job->rank_count == 1) {
		vpa_rank_put(p, job->ranks[0].rank);
		return;
	}
	put_ranks(p, job);
	put_notes(p, job);
	vpa_ranks_put_result(p, job, &late);
	if (!job->rows) {
		vpa_ranks_put_metrics(p, job, is_full);
		return;
	}
	put_patterns(p, job, 0);
	put_fixes(p, job, &late);
	put_parts(p, job, &late);
	vpa_ranks_put_table(p, job);
	vpa_ranks_put_metrics(p, job, is_full);
	put_groups(p, job);
	put_scaling(p, job);
}

static void put_any(struct vpa_page *p, const void *job)
{
	vpa_ranks_put(p, job, 1);
}

int vpa_ranks_markdown(const struct vpa_job *job, struct vpt_sink *sink, struct vpt_err *err)
{
	return vpa_markdown_page(put_any, job, 20, sink, err);
}
