/* job_change.c - reads them, and which parts they are about. */
#include "analysis/ranks/job_change.h"

#include "analysis/names/families.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- read ---- */

struct words {
	const char *at, *end;
};

static void skip_blanks(struct words *w)
{
	while (w->at < w->end && *w->at == ' ')
		w->at++;
}

static int take_word(struct words *w, const char *word)
{
	size_t len = strlen(word);

	skip_blanks(w);
	if ((size_t)(w->end - w->at) < len || memcmp(w->at, word, len) != 0)
		return 0;
	w->at += len;
	return 1;
}

static int take_number(struct words *w, int64_t *out)
{
	char *end;

	skip_blanks(w);
	if (w->at == w->end || *w->at < '0' || *w->at > '9')
		return 0;
	errno = 0;
	*out = strtoll(w->at, &end, 10);
	if (errno || end > w->end)
		return 0;
	w->at = end;
	return 1;
}

/* "3", "4 to 7". 0: it is neither, or there are too many. */
static int take_ranks(struct words *w, struct vpa_job_change *out)
{
	int64_t first, last, i;

	if (!take_number(w, &first))
		return 0;
	last = first;
	if (take_word(w, "to") && (!take_number(w, &last) || last < first))
		return 0;
	if (last - first >= VPA_JOB_CHANGE_RANKS - (int64_t)out->rank_count)
		return 0;
	for (i = 0; i <= last - first; i++)
		out->ranks[out->rank_count++] = first + i;
	return 1;
}

/* "all", "3", "0, 4 to 7", perhaps after "ranks" or "rank", and nothing else. */
static int read_ranks(struct words w, struct vpa_job_change *out)
{
	int is_read;

	out->rank_count = 0;
	if (!take_word(&w, "ranks "))
		take_word(&w, "rank ");
	is_read = take_word(&w, "all");
	if (!is_read)
		do
			is_read = take_ranks(&w, out);
		while (is_read && take_word(&w, ","));
	skip_blanks(&w);
	return is_read && w.at == w.end;
}

/* Where "like median" begins if the text ends with that; FIX FIRST's own words too. */
static const char *find_like_median(const char *text)
{
	static const char *const words[] = {
		"like median", "like-median", "like the median", "like the median of the others"};
	size_t len = strlen(text), i;

	while (len && text[len - 1] == ' ')
		len--;
	for (i = 0; i < COUNT(words); i++) {
		size_t size = strlen(words[i]);

		if (len > size && !memcmp(text + len - size, words[i], size) &&
			strchr(" :", text[len - size - 1]))
			return text + len - size;
	}
	return NULL;
}

/* The kind of collectives of this name; of "comm" any, VPA_COLLECTIVE_KINDS. 0: there is none. */
static int find_collective(const struct vpa_change *c, enum vpa_collective_kind *out)
{
	unsigned kind;

	*out = VPA_COLLECTIVE_KINDS;
	if (c->what == VPA_WHAT_FAMILY)
		return vpa_family_is_comm((enum vpa_family)c->number);
	for (kind = VPA_COLLECTIVE_OTHER + 1; kind < VPA_COLLECTIVE_KINDS; kind++)
		if (!strcmp(vpa_collective_name((enum vpa_collective_kind)kind), c->name)) {
			*out = (enum vpa_collective_kind)kind;
			return 1;
		}
	return 0;
}

/* Why a condensed rank does not know what a change would bring; NULL: it does. */
static const char *why_not(const struct vpa_change *c)
{
	static const char calls[] = "which calls it made, and what waited for them, is not kept",
			  launches[] = "its single launches are not kept",
			  ranges[] = "its single ranges are not kept",
			  copies[] = "of its copies the time is kept, not the bytes: \"scale "
				     "KIND X\" can be asked";
	static const char *const kinds[] = {
		[VPA_CHANGE_DROP] = calls,
		[VPA_CHANGE_DELETE] = calls,
		[VPA_CHANGE_HOST_AFTER] = calls,
		[VPA_CHANGE_RATE] = copies,
		[VPA_CHANGE_PIN] = copies,
		[VPA_CHANGE_ASIDE] = launches,
		[VPA_CHANGE_GRAPH] = launches,
		[VPA_CHANGE_SKIP] = ranges,
		[VPA_CHANGE_STEPS] = ranges,
	};

	if (c->kind != VPA_CHANGE_HOST && c->kind != VPA_CHANGE_SCALE)
		return kinds[c->kind];
	if (c->kind == VPA_CHANGE_HOST &&
		(*c->line || *c->thread || c->per_launch || c->least_ns || c->most_ns))
		return "of its host code the sum is kept, not each stretch, thread and line";
	if (c->kind == VPA_CHANGE_SCALE && c->on_gpu)
		return "it is one GPU: say its rank, as in \"3: scale gemm 0.5\"";
	if (c->kind == VPA_CHANGE_SCALE && c->what == VPA_WHAT_KERNELS)
		return "of its kernels the families are kept, not the names";
	return c->factor > 1 ? "how soon it can begin with more to do is not kept: X is at most 1"
			     : NULL;
}

static int read_change(const char *change, struct vpa_job_change *out, struct vpt_err *err)
{
	const char *why;
	int rc = vpa_change_read(change, &out->change, err);

	if (rc)
		return rc;
	if (out->change.kind == VPA_CHANGE_SCALE &&
		find_collective(&out->change, &out->collective)) {
		out->is_of_transfers = 1;
		if (!out->rank_count && !*out->change.place && !out->change.on_gpu)
			return VPT_OK;
		return vpt_fail(err, VPT_EINVAL,
			"--change \"%s\": expected \"all: scale %s X\": a collective is of all "
			"its ranks",
			out->text, out->change.name);
	}
	why = why_not(&out->change);
	if (!why)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"--change \"%s\": a rank beside others is what it did between its collectives: "
		"%s. Of one rank alone: vptrace-analyze what-if FILE --change \"%s\"",
		out->text, why, change);
}

int vpa_job_change_read(const char *text, struct vpa_job_change *out, struct vpt_err *err)
{
	const char *like = find_like_median(text), *colon = strchr(text, ':'),
		   *end = like && !colon ? like : colon;

	*out = (struct vpa_job_change){.text = text, .is_like_median = like != NULL};
	if (!end || !read_ranks((struct words){text, end}, out) ||
		(like && colon && colon + 1 + strspn(colon + 1, " ") != like))
		return vpt_fail(err, VPT_EINVAL,
			"--change: expected \"all: CHANGE\", \"3: CHANGE\" or \"3 like median\", "
			"of up "
			"to %d ranks, found \"%s\"",
			VPA_JOB_CHANGE_RANKS, text);
	return like ? VPT_OK : read_change(colon + 1 + strspn(colon + 1, " "), out, err);
}

/* ---- what it is about ---- */

static int is_host_code(const struct vpa_part_name *part)
{
	return part->klass == VPA_TIME_IDLE &&
	       (part->kind == VPA_CAUSE_HOST_CODE || part->kind == VPA_CAUSE_LAUNCH_RATE);
}

static int is_about(const struct vpa_change *c, const struct vpa_part_name *part)
{
	int is_of_kind;

	if (c->kind == VPA_CHANGE_HOST)
		is_of_kind = is_host_code(part);
	else
		is_of_kind = part->klass == (c->what == VPA_WHAT_FAMILY ? VPA_TIME_COMPUTE
									: VPA_TIME_COPY) &&
			     part->kind == c->number;
	return is_of_kind &&
	       (!*c->place || (part->place && !fnmatch(c->place, part->place, FNM_EXTMATCH)));
}

/* How much of a part of this name is left of the rank with this number: 1: all of it. */
static double change_left(const struct vpa_job_change *asked, size_t count, int64_t rank,
	const struct vpa_part_name *part)
{
	double left = 1;
	size_t i;

	for (i = 0; i < count; i++)
		if (vpa_job_change_is_of_parts(&asked[i]) &&
			vpa_job_change_is_of(&asked[i], rank) && is_about(&asked[i].change, part))
			left *= asked[i].change.factor;
	return left;
}

/* ---- sums ---- */

int vpa_asked_sums_init(struct vpa_asked_sums *s, size_t count)
{
	s->items = vpt_calloc(count + 2, sizeof(*s->items));
	s->busy_ns = vpt_calloc(count + 2, sizeof(*s->busy_ns));
	s->idle_ns = vpt_calloc(count + 2, sizeof(*s->idle_ns));
	return s->items && s->busy_ns && s->idle_ns ? VPT_OK : VPT_ENOMEM;
}

void vpa_asked_sums_free(struct vpa_asked_sums *s)
{
	vpt_free(s->items);
	vpt_free(s->names);
	vpt_free(s->busy_ns);
	vpt_free(s->idle_ns);
}

/* The kind of a part; VPA_ASKED_KINDS: no change is about it. */
static unsigned kind_of(const struct vpa_part_name *part)
{
	if (part->klass == VPA_TIME_COMPUTE || part->klass == VPA_TIME_COPY)
		return vpa_busy_kind_of(part->klass, part->kind);
	return is_host_code(part) ? VPA_ASKED_HOST : VPA_ASKED_KINDS;
}

/* A thousand parts have the same name, and places are patterns: each name is looked at once. */
static int set_names(struct vpa_asked_sums *s, const struct vpa_job_change *asked, size_t count,
	int64_t rank, const struct vpa_rank *r)
{
	size_t i;

	if (vpt_grow(&s->names, &s->name_cap, r->part_name_count + 1, sizeof(*s->names)))
		return VPT_ENOMEM;
	for (i = 0; i < r->part_name_count; i++)
		s->names[i] = (struct vpa_asked_name){
			1 - change_left(asked, count, rank, &r->part_names[i]),
			kind_of(&r->part_names[i])};
	return VPT_OK;
}

static void set_shares(struct vpa_asked_sums *s, const struct vpa_job_change *asked, size_t count,
	int64_t rank, const struct vpa_rank *r)
{
	static const struct vpa_part_name anywhere = {VPA_TIME_IDLE, VPA_CAUSE_HOST_CODE, NULL};
	double ns[VPA_ASKED_KINDS] = {0}, less[VPA_ASKED_KINDS] = {0};
	size_t i;

	for (i = 0; i < r->part_name_count; i++) {
		unsigned kind = s->names[i].kind;

		if (kind == VPA_ASKED_KINDS)
			continue;
		ns[kind] += (double)r->part_ns[i];
		less[kind] += (double)r->part_ns[i] * s->names[i].less;
	}
	for (i = 0; i < VPA_ASKED_KINDS; i++)
		s->less[i] = ns[i] > 0 ? less[i] / ns[i] : 0;
	/* Host code of a rank whose GPU never waits for it is in no part. */
	if (!(ns[VPA_ASKED_HOST] > 0))
		s->less[VPA_ASKED_HOST] = 1 - change_left(asked, count, rank, &anywhere);
}

int vpa_asked_sums_set(struct vpa_asked_sums *s, const struct vpa_job_change *asked, size_t count,
	int64_t rank, const struct vpa_rank *r, const struct vpa_rank_detail *d)
{
	struct vpa_asked_item sum = {.ns = {0}};
	int64_t busy = 0, idle = 0;
	uint32_t from = 0;
	size_t i, k;

	if (set_names(s, asked, count, rank, r))
		return VPT_ENOMEM;
	set_shares(s, asked, count, rank, r);
	for (i = 0; i < r->collective_count; i++) {
		for (k = i ? d->marks[from].part_end : 0;
			k < d->marks[vpa_start_mark(d, i)].part_end; k++) {
			const struct vpa_rank_part *part = &d->parts[k];
			unsigned kind = s->names[part->name].kind;
			int64_t less = 0;

			if (kind < VPA_ASKED_KINDS) {
				less = (int64_t)(s->names[part->name].less * (double)part->ns);
				sum.ns[kind] += (int64_t)part->ns;
				sum.less_ns[kind] += less;
			}
			*(kind < VPA_ASKED_HOST ? &busy : &idle) += less;
		}
		s->items[i + 1] = sum;
		s->busy_ns[i + 1] = busy;
		s->idle_ns[i + 1] = idle;
		from = vpa_end_mark(d, i) > from ? vpa_end_mark(d, i) : from;
	}
	s->items[i + 1] = sum;
	s->busy_ns[i + 1] = busy;
	s->idle_ns[i + 1] = idle;
	return VPT_OK;
}

/* ---- terms ---- */

static int64_t of_whole(int64_t ns, unsigned share)
{
	return (int64_t)((double)ns * share / VPA_TERM_WHOLE);
}

double vpa_asked_of_term(
	const struct vpa_cut_sums *c, size_t from, size_t item, const struct vpa_rank_term *x)
{
	double less = (double)of_whole(x->ns, x->code) *
		      vpa_asked_less(c->asked, VPA_ASKED_HOST, from, item);
	unsigned k;

	for (k = 0; k < VPA_BUSY_KINDS; k++)
		if (x->work[k])
			less += (double)of_whole(x->ns, x->work[k]) *
				vpa_asked_less(c->asked, k, from, item);
	return less;
}

int64_t vpa_cut_of_pace(const struct vpa_cut_sums *c, enum vpa_pace pace, size_t from, size_t item,
	const struct vpa_rank_term *x)
{
	static const int parts[VPA_PACES] = {1, 2, 0}; /* its code times that is all */
	int64_t code = of_whole(x->ns, x->code), rest = x->ns - code, less, less_busy, busy;

	if (x->ns <= 0)
		return 0;
	if (!c->asked)
		return x->ns;
	less = (int64_t)((double)(parts[pace] * code) *
			 vpa_asked_less(c->asked, VPA_ASKED_HOST, from, item));
	less -= pace == VPA_PACE_HALF ? code : 0;
	less_busy = c->less_busy_ns[item] - c->less_busy_ns[from];
	busy = c->busy_ns[item] - c->busy_ns[from];
	if (pace != VPA_PACE_HOST && busy > 0)
		less += (int64_t)((double)rest * (double)less_busy / (double)busy);
	return less;
}
