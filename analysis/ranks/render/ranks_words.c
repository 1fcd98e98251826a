/* ranks_words.c - what the text and the page of a job both say. */
#include "analysis/ranks/render/ranks_pages.h"

#include "formats/base/saturate.h"

#include <string.h>

enum { LINK_LEAST = 100 /* of the time is more: what a slow link takes to be the result */ };

const struct vpa_job_pattern *vpa_ranks_pattern(
	const struct vpa_job *job, enum vpa_pattern_kind kind)
{
	size_t i;

	for (i = 0; i < job->pattern_count; i++)
		if (job->patterns[i].kind == kind)
			return &job->patterns[i];
	return NULL;
}

uint64_t vpa_ranks_link_ns(const struct vpa_job_pattern *p)
{
	return vpt_sat_mul(p->found_ns - p->usual_ns, p->collectives);
}

const struct vpa_job_pattern *vpa_ranks_slow_link(
	const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_pattern *p = vpa_ranks_pattern(job, VPA_PATTERN_SLOW_LINK);
	int is_own = late->kind != VPA_LATE_NONE && late->klass != VPA_LATE_BEGAN &&
		     late->klass != VPA_LATE_ENDED && late->klass != VPA_LATE_COMM;

	return p && !is_own && vpa_ranks_link_ns(p) >= job->span_ns / LINK_LEAST ? p : NULL;
}

/* The order in which changes are named. */
enum fix_order { FIX_ASKED, FIX_OF_LATE, FIX_SAME_ON_ALL, FIX_OTHER, FIX_ORDERS };

static enum fix_order order_of(const struct vpa_job_fix *f)
{
	if (f->kind == VPA_FIX_ASKED)
		return FIX_ASKED;
	if (f->kind != VPA_FIX_LIKE_MEDIAN)
		return FIX_OTHER;
	return f->member_count ? FIX_OF_LATE : FIX_SAME_ON_ALL;
}

/* What is compared with: what late ranks bring. */
struct late_fixes {
	int count;    /* they may be named */
	double alone; /* the most that one of them brings; 0: none brings anything */
};

static int is_named(const struct vpa_job_fix *f, enum fix_order order, struct late_fixes late,
	size_t named_of_late)
{
	switch (order) {
	case FIX_ASKED:
		return 1;
	case FIX_OF_LATE:
		/* Also if it is little: that is an answer. Several ranks that bring no more than one of them are none. */
		return late.count && (f->member_count == 1 || f->share >= 1.02 * late.alone) &&
		       (f->share >= 0.01 || !named_of_late);
	case FIX_SAME_ON_ALL:
		/* Beside that of late ranks it says whether others would be late next. */
		return named_of_late || f->share >= 0.01;
	default:
		return f->share >= 0.01;
	}
}

size_t vpa_ranks_fixes(const struct vpa_job *job, const struct vpa_late_ranks *late,
	const struct vpa_job_fix *out[VPA_FIXES_MOST])
{
	/* A slow link is no rank's fault, and of a start no replay knows. */
	int is_of_start = job->start_ns && late->with_start;
	/* Nor does another stage tell what one of a pipeline would take: their work lies between other messages. */
	int can_be_even = late->kind != VPA_LATE_NONE && !vpa_ranks_slow_link(job, late) &&
			  !vpa_ranks_heavy_stage(job, late);
	struct late_fixes of_late = {can_be_even && late->rank_count && !is_of_start, 0};
	size_t count = 0, named_of_late = 0, i;
	enum fix_order order;

	for (i = 0; i < job->fix_count; i++)
		if (job->fixes[i].member_count == 1 && job->fixes[i].share > of_late.alone)
			of_late.alone = job->fixes[i].share;
	for (order = FIX_ASKED; order < FIX_ORDERS; order++)
		for (i = 0; i < job->fix_count; i++) {
			const struct vpa_job_fix *f = &job->fixes[i];

			if (order_of(f) != order || !is_named(f, order, of_late, named_of_late) ||
				(order == FIX_SAME_ON_ALL && (!can_be_even || is_of_start)))
				continue;
			named_of_late += order == FIX_OF_LATE;
			out[count++] = f;
		}
	return count;
}

const struct vpa_job_pattern *vpa_ranks_heavy_stage(
	const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	size_t i;

	for (i = 0; i < job->pattern_count; i++)
		if (job->patterns[i].kind == VPA_PATTERN_PIPELINE && job->patterns[i].busiest &&
			vpa_is_late(late, job->patterns[i].busiest_rank))
			return &job->patterns[i];
	return NULL;
}

struct vpa_words vpa_ranks_fix_words(const struct vpa_job *job, const struct vpa_job_fix *f)
{
	struct vpa_words w = {.used = 0};

	if (f->kind == VPA_FIX_ASKED)
		vpa_words_add(&w, "", "%s%s", job->asked_text,
			!job->asked_ns && f->share < 0.0001 ? " (no rank has such time)"
			: job->asked_is_bound               ? " (at most: an older summary)"
							    : "");
	else if (f->kind == VPA_FIX_HOST_CODE)
		vpa_words_add(&w, "", "no GPU waits for its host, on any rank");
	else if (!f->member_count)
		vpa_words_add(&w, "", "all ranks like the median");
	else
		vpa_words_add(&w, "", "rank%s %s like the median of the others",
			vpa_plural(f->member_count), f->ranks);
	return w;
}

const char *vpa_scaling_words(enum vpa_scaling_part part)
{
	static const char *const words[VPA_SCALING_PARTS] = {
		[VPA_SCALING_TRANSFERS] = "communication",
		[VPA_SCALING_WAITS] = "waiting for other ranks",
		[VPA_SCALING_HOST] = "host work that does not divide",
		[VPA_SCALING_IDLE] = "other idle time",
		[VPA_SCALING_COPIES] = "copies",
		[VPA_SCALING_COMPUTE] = "compute that does not shrink",
	};

	return words[part];
}

/* ---- patterns ---- */

/* "rank 3", "ranks 2, 5". */
static void add_ranks(struct vpa_words *w, const char *ranks, int is_first)
{
	int are_several = strpbrk(ranks, ",t") != NULL; /* "2, 5", "4 to 7" */

	vpa_words_add(w, "", "%sank%s %s", is_first ? "R" : "r", are_several ? "s" : "", ranks);
}

/* A sum over the job as that of one unit: "1.21 ms an iteration". */
static void add_per_unit(const struct vpa_job *job, uint64_t ns, struct vpa_words *w)
{
	vpa_words_add(w, "", "%s %s",
		vpa_duration(vpt_sat_u64(vpa_job_per_unit(job, (double)ns) + 0.5)).text,
		vpa_unit_words(job->unit)->a_name);
}

/* "an all-reduce", "send/recv". */
static void add_collective(enum vpa_collective_kind kind, struct vpa_words *w)
{
	const char *name = vpa_collective_name(kind);

	vpa_words_add(w, "", "%s%s",
		kind == VPA_COLLECTIVE_SEND_RECV ? ""
		: strchr("aeiou", *name)         ? "an "
						 : "a ",
		name);
}

/* ", 24.0 MB each, 9.0 % of the time." */
static void add_sizes(
	const struct vpa_job *job, const struct vpa_job_pattern *p, struct vpa_words *w)
{
	if (p->bytes)
		vpa_words_add(w, "", ", %s each", vpa_bytes(p->bytes).text);
	vpa_words_add(w, "", ", %s %% of the time.", vpa_percent(p->ns, job->span_ns).text);
}

static void add_slow_link(const struct vpa_job_pattern *p, struct vpa_words *w)
{
	vpa_words_add(w, "", "The link of ");
	add_ranks(w, p->ranks, 0);
	vpa_words_add(w, "", " is slow: ");
	add_collective(p->collective, w);
	vpa_words_add(w, "", " transfers for %s there, for %s elsewhere, ",
		vpa_duration(p->found_ns).text, vpa_duration(p->usual_ns).text);
	vpa_words_add(w, "", "%s times.", vpa_count(p->collectives).text);
	if (p->bytes && p->found_ns && p->usual_ns)
		vpa_words_add(w, " ", "Of %s it moves %s GB/s, elsewhere %s.",
			vpa_bytes(p->bytes).text,
			vpa_fixed((double)p->bytes / (double)p->found_ns, 1).text,
			vpa_fixed((double)p->bytes / (double)p->usual_ns, 1).text);
}

static void add_late_peer(
	const struct vpa_job *job, const struct vpa_job_pattern *p, struct vpa_words *w)
{
	vpa_words_add(w, "", "Rank %s %s: rank %s waits ", p->ranks,
		p->kind == VPA_PATTERN_LATE_SENDER     ? "sends late"
		: p->kind == VPA_PATTERN_LATE_RECEIVER ? "receives late"
						       : "comes late to send/recv",
		p->peers);
	add_per_unit(job, p->ns, w);
	vpa_words_add(w, "", " for it.");
}

struct vpa_words vpa_ranks_pattern_words(const struct vpa_job *job, const struct vpa_job_pattern *p)
{
	struct vpa_words w = {.used = 0};

	switch (p->kind) {
	case VPA_PATTERN_TURNS:
		add_ranks(&w, p->ranks, 1);
		vpa_words_add(&w, "", " come last in turns, each to about %s collectives.",
			vpa_fixed((double)p->collectives / (double)(p->changes + 1), 1).text);
		break;
	case VPA_PATTERN_TRUNCATED:
		vpa_words_add(&w, "",
			"The capture of rank %s ends %s before another one: %s collective%s "
			"there lack%s it.",
			p->ranks, vpa_duration(p->ns).text, vpa_count(p->collectives).text,
			vpa_plural(p->collectives), p->collectives == 1 ? "s" : "");
		break;
	case VPA_PATTERN_SLOW_LINK:
		add_slow_link(p, &w);
		break;
	case VPA_PATTERN_LATE_SENDER:
	case VPA_PATTERN_LATE_RECEIVER:
	case VPA_PATTERN_LATE_PEER:
		add_late_peer(job, p, &w);
		break;
	case VPA_PATTERN_ULYSSES:
		add_ranks(&w, p->ranks, 1);
		vpa_words_add(&w, "",
			" share attention by Ulysses: %s exchanges all to all a layer",
			vpa_count(p->a_layer).text);
		add_sizes(job, p, &w);
		break;
	case VPA_PATTERN_RING:
		add_ranks(&w, p->ranks, 1);
		vpa_words_add(&w, "",
			" share attention in a ring: they pass keys and values on beside it");
		add_sizes(job, p, &w);
		break;
	case VPA_PATTERN_CFG:
		vpa_words_add(&w, "",
			"Halves of the ranks compute the passes of guidance (CFG parallel): pairs "
			"of ranks %s gather %s times each",
			p->ranks, vpa_count(p->collectives).text);
		add_sizes(job, p, &w);
		break;
	case VPA_PATTERN_PIPELINE:
		add_ranks(&w, p->ranks, 1);
		vpa_words_add(&w, "", " are a pipeline: ");
		if (p->busiest) {
			vpa_words_add(&w, "", "rank %s computes ", p->busiest);
			add_per_unit(job, p->found_ns, &w);
			vpa_words_add(&w, "", ", %s times the median stage; ",
				vpa_fixed(
					(double)p->found_ns / (double)(p->usual_ns + !p->usual_ns),
					2)
					.text);
		}
		vpa_words_add(&w, "", "rank %s waits longest in its bubbles, ", p->peers);
		add_per_unit(job, p->ns, &w);
		vpa_words_add(&w, "", ".");
		break;
	default:
		vpa_words_add(&w, "",
			"A group without a name is several in lockstep, of ranks %s: %s of its "
			"collectives did not hold them all. They do not wait for each other.",
			p->ranks, vpa_count(p->collectives).text);
		break;
	}
	return w;
}
