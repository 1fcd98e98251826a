/* ranks_result.c - RESULT and CAUSE of a job's first screen: who is late, what the others lose by that, and what it is late with. */
#include "analysis/ranks/late_ranks.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/ranks/slow_gpus.h"
#include "analysis/render/digest.h"

#include "formats/base/saturate.h"
#include "formats/metadata.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_UNKNOWN = 10 /* of the time is more: what of transfers is worth a look */ };

/* ---- numbers of a job ---- */

static uint64_t mean(uint64_t sum, size_t count)
{
	return count ? sum / count : 0;
}

static uint64_t natural(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

/* Of a unit, the mean of the ranks, each by the units that it has. */
static struct vpa_num mean_per_unit(
	const struct vpa_job *job, int64_t (*of)(const struct vpa_job_rank *r))
{
	double sum = 0;
	size_t i;

	for (i = 0; i < job->rank_count; i++)
		sum += vpa_job_rank_per_unit(job, &job->ranks[i], (double)of(&job->ranks[i]));
	return vpa_duration(vpt_sat_u64(sum / (double)job->rank_count + 0.5));
}

static int64_t compute_of(const struct vpa_job_rank *r)
{
	return (int64_t)r->rank->class_ns[VPA_TIME_COMPUTE];
}

static int64_t transfer_of(const struct vpa_job_rank *r)
{
	return r->transfer_ns;
}

/* ---- RESULT ---- */

static void add_late_ranks(
	const struct vpa_job *job, const struct vpa_late_ranks *late, struct vpa_words *w)
{
	int64_t numbers[sizeof(late->ranks) / sizeof(late->ranks[0])];
	size_t i;

	for (i = 0; i < late->rank_count; i++)
		numbers[i] = job->ranks[late->ranks[i]].number;
	qsort(numbers, late->rank_count, sizeof(*numbers), vpa_by_i64);
	for (i = 0; i < late->rank_count; i++)
		vpa_words_add(
			w, i + 1 == late->rank_count ? " and " : ", ", "%" PRId64, numbers[i]);
}

static const char *all_late_words(enum vpa_late_class klass)
{
	static const char *const words[VPA_LATE_CLASSES] = {
		[VPA_LATE_COMPUTE] = "ALL RANKS LATE IN TURNS, with their kernels",
		[VPA_LATE_COMM] = "ALL RANKS LATE IN TURNS, after other collectives",
		[VPA_LATE_COPY] = "ALL RANKS LATE IN TURNS, with copies",
		[VPA_LATE_IDLE] = "ALL RANKS HOST-BOUND, in turns",
		[VPA_LATE_BEGAN] = "RANKS BEGIN AT DIFFERENT TIMES",
		[VPA_LATE_ENDED] = "ALL RANKS LATE IN TURNS: collectives end unevenly",
		[VPA_LATE_CLOCK] = "THE CLOCKS OF RANKS DIFFER",
	};

	return words[klass];
}

/* What a rank waits for others, the mean of those that are not late, and whose captures do not end early unless all of them do. */
static uint64_t lost_ns(const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	uint64_t sum = 0;
	size_t count = 0, whole = 0, i;

	if (late->with_cut && late->rank_count)
		return vpa_late_loss(job, late);
	for (i = 0; i < job->rank_count; i++)
		whole += !vpa_is_late(late, i) && !job->ranks[i].cut_ns;
	for (i = 0; i < job->rank_count; i++)
		if (!vpa_is_late(late, i) && (!whole || !job->ranks[i].cut_ns)) {
			vpt_sat_add_to(&sum, late->with_start
						     ? job->ranks[i].wait_ns
						     : vpa_job_wait_of(job, &job->ranks[i]));
			count++;
		}
	return mean(sum, count);
}

/* What a part makes rank `r` later by, beside one that waits: of a unit, but for a late start, which is once. */
static struct vpa_num later_by(
	const struct vpa_job *job, const struct vpa_job_rank *r, const struct vpa_job_part *part)
{
	uint64_t ns = mean(natural(part->ns), job->rank_count - 1);

	return vpa_duration(part->klass == VPA_LATE_BEGAN
				    ? ns
				    : vpt_sat_u64(vpa_job_rank_per_unit(job, r, (double)ns) + 0.5));
}

/* "1.21 ms of each 3.44 ms iteration (35.1 %)"; "70.0 ms, once" */
static void add_loss(
	const struct vpa_job *job, const struct vpa_late_ranks *late, struct vpa_words *w)
{
	uint64_t lost = vpt_sat_u64(vpa_job_per_unit(job, (double)lost_ns(job, late)) + 0.5);
	int is_window = job->unit == VPA_UNIT_WINDOW;

	if (late->klass == VPA_LATE_BEGAN && late->part) {
		vpa_words_add(w, "", "%s, once",
			later_by(job, &job->ranks[late->ranks[0]], late->part).text);
		return;
	}
	vpa_words_add(w, "", "%s of %s%s%s%s", vpa_duration(lost).text, is_window ? "" : "each ",
		vpa_duration(job->unit_ns).text, is_window ? "" : " ",
		is_window ? "" : vpa_unit_kind_name(job->unit));
	vpa_words_add(w, "", "%s (%s %%)", late->rank_count ? "" : " for others",
		vpa_percent(lost, job->unit_ns).text);
}

/* "A rank computes 42.0 ms a block and transfers 4.52 ms, the mean." */
static struct vpa_words work_words(const struct vpa_job *job)
{
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "A rank computes %s %s and transfers %s, the mean.",
		mean_per_unit(job, compute_of).text, vpa_unit_words(job->unit)->a_name,
		mean_per_unit(job, transfer_of).text);
	return w;
}

static void add_rates(const struct vpa_job *job, struct vpa_words *w)
{
	struct vpa_words rates = vpa_ranks_rate_words(job);

	if (rates.used)
		vpa_words_add(w, " ", "%s", rates.text);
}

enum { SETTINGS_MOST = 8 };

/* What the program set of NCCL's, of the first rank: "NCCL_ALGO=Ring, ...". */
static void add_settings(const struct vpa_job *job, struct vpa_words *w)
{
	const struct vpa_rank *r = job->list.items[0];
	size_t i, count = 0;

	for (i = 0; i < r->fact_count && count < SETTINGS_MOST; i++) {
		const char *name = r->facts[i].name;

		if (!strncmp(name, VPT_METADATA_ENV, strlen(VPT_METADATA_ENV)))
			name += strlen(VPT_METADATA_ENV);
		if (!strncmp(name, "NCCL_", 5))
			vpa_words_add(
				w, count++ ? ", " : " Set: ", "%s=%s", name, r->facts[i].value);
	}
	if (count)
		vpa_words_add(w, "", ".");
}

static void put_link_checks(struct vpa_page *p, const struct vpa_job *job)
{
	struct vpa_words w = {.used = 0};

	if (job->slow_link_ranks)
		vpa_words_add(&w, "",
			"The link of rank%s %s, which is in each of the slow groups. ",
			strpbrk(job->slow_link_ranks, ",t") ? "s" : "", job->slow_link_ranks);
	vpa_words_add(&w, "",
		"How these GPUs are connected: nvidia-smi topo -m, nvidia-smi nvlink -s, and of a "
		"network the state and errors of its ports; what NCCL chose: NCCL_DEBUG=INFO.");
	add_settings(job, &w);
	vpa_page_words(p, "CHECK", VPA_PLAIN, "%s", w.text);
}

static void put_link(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_job_pattern *link)
{
	uint64_t ns = vpt_sat_u64(vpa_job_per_unit(job, (double)vpa_ranks_link_ns(link)) + 0.5);
	int is_window = job->unit == VPA_UNIT_WINDOW;
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "SLOW LINK of ");
	if (job->slow_link_ranks)
		vpa_words_add(&w, "", "rank%s %s, as in the group of ",
			strpbrk(job->slow_link_ranks, ",t") ? "s" : "", job->slow_link_ranks);
	vpa_words_add(&w, "", "ranks %s: it costs %s of %s%s%s%s (%s %%)", link->ranks,
		vpa_duration(ns).text, is_window ? "" : "each ", vpa_duration(job->unit_ns).text,
		is_window ? "" : " ", is_window ? "" : vpa_unit_kind_name(job->unit),
		vpa_percent(ns, job->unit_ns).text);
	vpa_words_end(&w);
	add_rates(job, &w);
	vpa_words_add(&w, " ", "%s", work_words(job).text);
	vpa_page_answer(p, "RESULT", VPA_RED, &w);
	put_link_checks(p, job);
}

/* The group whose transfers take a tenth of the time or more, and of whose link no other group tells. NULL: there is none. */
static const struct vpa_job_group *unknown_link(const struct vpa_job *job)
{
	const struct vpa_job_group *most = NULL;
	size_t i;

	for (i = 0; i < job->group_count && !vpa_ranks_pattern(job, VPA_PATTERN_SLOW_LINK); i++)
		if (job->groups[i].call_ns &&
			(!most || job->groups[i].transfer_ns > most->transfer_ns))
			most = &job->groups[i];
	return most && !most->is_compared && most->transfer_ns >= job->span_ns / LINK_UNKNOWN
		       ? most
		       : NULL;
}

static void add_rate(
	struct vpa_words *w, enum vpa_collective_kind call, uint64_t bytes, double rate)
{
	vpa_words_add(w, "", "%s of %s moves %s GB/s over the bus", vpa_collective_name(call),
		vpa_bytes(bytes).text, vpa_rate(rate).text);
}

/* A link that is slow for all of them looks like any other: its rate is what a person can compare. */
static void put_unknown_link(struct vpa_page *p, const struct vpa_job *job)
{
	const struct vpa_job_group *g = unknown_link(job);
	struct vpa_words w = {.used = 0};

	if (!g)
		return;
	vpa_words_add(&w, "", "Transfers take %s %% of the time",
		vpa_percent(g->transfer_ns, job->span_ns).text);
	if (g->bus_gb_per_s > 0) {
		vpa_words_add(&w, "", ": ");
		add_rate(&w, g->call, g->call_bytes, g->bus_gb_per_s);
		if (g->bus_gb_per_s_most > g->bus_gb_per_s) {
			vpa_words_add(&w, "", ", ");
			add_rate(&w, g->fastest_call, g->fastest_bytes, g->bus_gb_per_s_most);
		}
	} else {
		vpa_words_add(&w, "", "; how much they move is not recorded");
	}
	vpa_page_words(p, "LINK", VPA_PLAIN,
		"%s. Whether it should be more does not show, since no other group makes the same "
		"calls: see what nccl-tests reaches on these GPUs, or compare with another job.",
		w.text);
}

static void put_result(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_pattern *link = vpa_ranks_slow_link(job, late);
	int is_cut = late->kind == VPA_LATE_NONE &&
		     vpa_ranks_pattern(job, VPA_PATTERN_TRUNCATED) != NULL;
	int is_unknown = late->kind == VPA_LATE_NONE && job->missing != 0;
	struct vpa_words w = {.used = 0}, ranks = {.used = 0}, loss = {.used = 0};

	if (link) {
		put_link(p, job, link);
		return;
	}

	add_late_ranks(job, late, &ranks);
	if (late->rank_count)
		vpa_words_add(&w, "", "RANK%s %s", late->rank_count == 1 ? "" : "S", ranks.text);
	switch (late->kind) {
	case VPA_LATE_NONE:
		vpa_words_add(&w, "", "THE RANKS%s KEEP STEP%s: a rank waits",
			is_unknown ? " THAT ARE HERE" : "",
			is_cut ? " as far as their captures go" : "");
		break;
	case VPA_LATE_ALL:
		vpa_words_add(&w, "", "%s: a rank waits", all_late_words(late->klass));
		break;
	default:
		vpa_words_add(&w, "", "%s LATE%s%s, the others wait for %s:",
			late->rank_count == 1 ? " IS" : " ARE",
			late->rank_count > 1 && vpa_ranks_pattern(job, VPA_PATTERN_TURNS)
				? " IN TURNS"
				: "",
			late->with_cut ? " as far as the capture goes" : "",
			late->rank_count == 1 ? "it" : "them");
		break;
	}
	add_loss(job, late, &loss);
	vpa_words_add(&w, " ", "%s", loss.text);
	vpa_words_end(&w);
	add_rates(job, &w);
	vpa_words_add(&w, " ", "%s", work_words(job).text);
	if (is_unknown)
		vpa_words_add(&w, " ",
			"What all of them wait for one that is missing counts as a transfer.");
	else if (is_cut)
		vpa_words_add(&w, " ",
			"What the others wait for one whose capture has ended counts as a "
			"transfer.");
	vpa_page_answer(p, "RESULT",
		late->kind != VPA_LATE_NONE ? VPA_RED
		: is_unknown || is_cut      ? VPA_YELLOW
					    : VPA_GREEN,
		&w);
}

static void put_nothing(struct vpa_page *p, const struct vpa_job *job)
{
	struct vpa_words w = {.used = 0};

	vpa_words_add(
		&w, "", "The ranks have no collective in common: nothing shows who waits for whom");
	vpa_words_end(&w);
	vpa_words_add(&w, " ",
		"If they are of one job, record its communication: kernels of NCCL. If each works "
		"by itself, report each alone: vptrace-analyze FILE.");
	add_rates(job, &w);
	vpa_page_answer(p, "RESULT", VPA_YELLOW, &w);
}

/* ---- CAUSE ---- */

/* Ranks that would be late if the late ones were not: what both together bring says so. */
static void put_next(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_fix *alone, *together;
	size_t i;

	vpa_late_fixes(job, &alone, &together);
	if (!together || together->share < 0.01 || (alone && together->share < 1.25 * alone->share))
		return;
	for (i = 0; i < together->member_count; i++) {
		const struct vpa_job_rank *r = &job->ranks[together->members[i]];
		const struct vpa_job_part *part = r->part_count ? &r->parts[0] : NULL;

		if (vpa_is_late(late, together->members[i]) || !part || part->ns <= 0)
			continue;
		vpa_page_words(p, "", VPA_PLAIN, "Rank %" PRId64 " would be late next: %s%s%s.",
			r->number, vpa_job_part_words(part), part->place ? " in " : "",
			vpa_text_or(part->place, ""));
	}
}

/* What others wait for a rank; and all of that. */
static uint64_t blame_ns(const struct vpa_job *job, const struct vpa_late_ranks *late, size_t rank)
{
	const struct vpa_job_rank *r = &job->ranks[rank];

	return late->with_start ? r->blame_ns : vpa_job_blame_of(job, r);
}

static uint64_t all_waits(const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	return job->wait_ns - (late->with_start ? 0 : vpa_job_start_wait(job));
}

/* Late ranks that come just before another late one: the others wait for that one only. */
static void put_unblamed(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	struct vpa_late_ranks unblamed = {.rank_count = 0};
	struct vpa_words who = {.used = 0};
	size_t i;

	for (i = 1; i < late->rank_count; i++)
		if (blame_ns(job, late, late->ranks[i]) < blame_ns(job, late, late->ranks[0]) / 10)
			unblamed.ranks[unblamed.rank_count++] = late->ranks[i];
	if (!unblamed.rank_count)
		return;
	add_late_ranks(job, &unblamed, &who);
	vpa_page_words(p, "", VPA_PLAIN, "Rank%s %s %s late too, but come%s before it.",
		vpa_plural(unblamed.rank_count), who.text, unblamed.rank_count == 1 ? "is" : "are",
		unblamed.rank_count == 1 ? "s" : "");
}

/* Of a rank whose kernels are longer: its clock says why, or where to look. */
static struct vpa_words clock_words(const struct vpa_job *job, size_t rank)
{
	double mhz = job->ranks[rank].metrics[VPA_METRIC_SM_CLOCK];
	const struct vpa_job_metric *m = NULL;
	struct vpa_words w = {.used = 0};
	size_t i;

	for (i = 0; i < job->metric_count; i++)
		if (job->metrics[i].kind == VPA_METRIC_SM_CLOCK)
			m = &job->metrics[i];
	if (!m || m->rank != rank)
		vpa_words_add(&w, "",
			"it has more work, or a slower GPU. See its clock, power and temperature: "
			"nvidia-smi -q -d CLOCK,POWER,TEMPERATURE,PERFORMANCE.");
	else
		vpa_words_add(&w, "", "its SM clock is %s, the mean of all %s%s%s.",
			vpa_metric_number(m->kind, mhz).text,
			vpa_metric_number(m->kind, m->mean).text, m->why ? ": " : "",
			vpa_text_or(m->why, ""));
	return w;
}

/* Nearly all kernels of the rank are longer: what is longest among them is not the cause. */
static void put_slow_gpu(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	struct vpa_num least, most;
	struct vpa_slow_gpu slow;
	int are_alike;

	if (late->klass != VPA_LATE_COMPUTE || late->rank_count != 1)
		return;
	if (vpa_slow_gpu_of(job, late->ranks[0], &slow)) {
		p->rc = vpt_fail(p->err, VPT_ENOMEM, "no memory for the kernels of a rank");
		return;
	}
	if (!slow.family_count)
		return;
	least = vpa_fixed(slow.least, 2);
	most = vpa_fixed(slow.most, 2);
	are_alike = !strcmp(least.text, most.text);
	vpa_page_words(p, "", VPA_PLAIN,
		"Its kernels are longer throughout, %s%s%s times the others': %s", least.text,
		are_alike ? "" : " to ", are_alike ? "" : most.text,
		clock_words(job, late->ranks[0]).text);
}

/* What a late rank did less of than those that wait, if that is a tenth of what they wait or more: they would wait longer else. */
static void put_less(struct vpa_page *p, const struct vpa_job *job,
	const struct vpa_late_ranks *late, const struct vpa_job_rank *first)
{
	struct vpa_job_part less = {.ns = 0};

	if (first->part_count)
		less = first->parts[first->part_count - 1];
	less.ns = less.ns < 0 ? -less.ns : 0;
	if (!less.ns || (uint64_t)less.ns < blame_ns(job, late, late->ranks[0]) / 10)
		return;
	vpa_page_words(p, "", VPA_PLAIN, "It had less of something else: %s%s%s, %s %s.",
		vpa_job_part_words(&less), less.place ? " in " : "", vpa_text_or(less.place, ""),
		later_by(job, first, &less).text, vpa_unit_words(job->unit)->a_name);
}

/* A summary has ranges, not lines of code: the report of the rank alone names them, by stacks or the calls of Python functions. */
static void put_where(
	struct vpa_page *p, const struct vpa_job_part *part, const struct vpa_rank *rank)
{
	if (part->klass == VPA_LATE_IDLE && rank->capture)
		vpa_page_words(p, "", VPA_PLAIN,
			"The line of code, if stacks were recorded: vptrace-analyze %s.",
			rank->capture);
}

/* A late rank whose stage of a pipeline has more work: that is what all wait for, whatever a single wait is for. */
static void put_heavy_stage(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_pattern *pipeline = vpa_ranks_heavy_stage(job, late);

	if (!pipeline)
		return;
	vpa_page_words(p, "", VPA_PLAIN,
		"The stage of rank %s has %s times the work of the median stage of its pipeline: "
		"give some of its layers to others.",
		pipeline->busiest,
		vpa_fixed((double)pipeline->found_ns /
				  (double)(pipeline->usual_ns + !pipeline->usual_ns),
			2)
			.text);
}

static void put_cause(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_rank *first = late->rank_count ? &job->ranks[late->ranks[0]] : NULL;
	const struct vpa_job_part *part = late->part;
	struct vpa_words what = {.used = 0}, who = {.used = 0};
	/* Beside a slow link it is no cause. */
	const struct vpa_job_pattern *link = vpa_ranks_slow_link(job, late);
	int has_words;

	if (!job->blame_ns || !part || (link && late->klass != VPA_LATE_BEGAN))
		return;
	has_words = part->klass == VPA_LATE_COMPUTE || part->klass == VPA_LATE_COPY ||
		    part->klass == VPA_LATE_IDLE;
	vpa_words_add(&what, "", "%s%s%s", vpa_late_words(part->klass), has_words ? ": " : "",
		has_words ? vpa_job_part_words(part) : "");
	vpa_words_add(&what, "", "%s%s", part->place ? " in " : "", vpa_text_or(part->place, ""));
	if (!first) {
		vpa_page_words(p, "CAUSE", VPA_PLAIN,
			"The last rank %s, %s %% of %s of waiting, summed over ranks.", what.text,
			vpa_percent(natural(part->ns), all_waits(job, late)).text,
			vpa_duration(all_waits(job, late)).text);
		return;
	}
	add_late_ranks(job, late, &who);
	if (part->klass == VPA_LATE_BEGAN)
		vpa_page_words(p, link ? "ALSO" : "CAUSE", VPA_PLAIN,
			"Rank%s %s started %s later than a rank that waits for %s.",
			vpa_plural(late->rank_count), who.text, later_by(job, first, part).text,
			late->rank_count == 1 ? "it" : "them");
	else
		vpa_page_words(p, "CAUSE", VPA_PLAIN,
			"Rank %" PRId64 " %s, %s %s more than a rank that waits for it.",
			first->number, what.text, later_by(job, first, part).text,
			vpa_unit_words(job->unit)->a_name);
	if (link)
		return;
	put_where(p, part, first->rank);
	put_less(p, job, late, first);
	vpa_page_words(p, "", VPA_PLAIN, "%s %% of all waiting is for rank %" PRId64 ".",
		vpa_percent(blame_ns(job, late, late->ranks[0]), all_waits(job, late)).text,
		first->number);
	put_slow_gpu(p, job, late);
	put_heavy_stage(p, job, late);
	put_unblamed(p, job, late);
	put_next(p, job, late);
}

/* Before the first op, once: in no time of a unit. */
static void put_late_start(struct vpa_page *p, const struct vpa_job *job)
{
	int are_several;

	if (!job->init_late_ranks)
		return;
	are_several = strpbrk(job->init_late_ranks, ",t") != NULL;
	vpa_page_words(p, "START", VPA_PLAIN,
		"Rank%s %s started %s later: the others waited in ncclCommInitRank, before their "
		"first collective. It is once, and in no %s.",
		are_several ? "s" : "", job->init_late_ranks, vpa_duration(job->init_late_ns).text,
		vpa_unit_words(job->unit)->name);
}

/* Of which rank most of it is for. */
static void put_start(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	const struct vpa_job_rank *last = &job->ranks[0];
	size_t i;

	if (!job->start_ns)
		return;
	if (late->with_start) {
		vpa_page_words(p, "", VPA_PLAIN, "What is said of %s is without that.",
			vpa_unit_words(job->unit)->a_name);
		return;
	}
	for (i = 1; i < job->rank_count; i++)
		if (job->ranks[i].start_blame_ns > last->start_blame_ns)
			last = &job->ranks[i];
	vpa_page_words(p, "START", VPA_PLAIN,
		"At their first collectives the ranks waited %s, the mean, %s %% of it for rank "
		"%" PRId64 ". What is said of %s is without that.",
		vpa_duration(job->start_ns).text,
		vpa_percent(last->start_blame_ns, vpa_job_start_wait(job)).text, last->number,
		vpa_unit_words(job->unit)->a_name);
}

void vpa_ranks_put_result(
	struct vpa_page *p, const struct vpa_job *job, const struct vpa_late_ranks *late)
{
	if (!job->rows) {
		put_nothing(p, job);
		return;
	}
	vpa_page_blank(p);
	put_result(p, job, late);
	put_cause(p, job, late);
	put_unknown_link(p, job);
	put_late_start(p, job);
	put_start(p, job, late);
}
