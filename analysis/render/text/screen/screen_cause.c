/* screen_cause.c - CAUSE of the first screen: what limits the unit, and why, in sentences of one idea each. What a sentence has said
 * the next one leaves out, so all are in one file of more than 600 lines. */
#include "analysis/render/text/screen/screen.h"
#include "analysis/advice/finding.h"
#include "analysis/base/intervals.h"
#include "analysis/model/small_copies.h"
#include "analysis/render/kernel_names.h"
#include "analysis/report/main_line.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	CAUSES = 3,
	FAMILIES = 3,
	LEAST = 10 /* a part below 1 / this of the waits, or of the work, is left out */
};

const char *vpa_screen_limit(const struct vpa_screen *s)
{
	static const char *const groups[VPA_GROUPS] = {
		[VPA_GROUP_NONE] = "GPU-BOUND",
		[VPA_GROUP_PACE] = "HOST-BOUND",
		[VPA_GROUP_WAITS] = "HOST-BOUND",
		[VPA_GROUP_SETUP] = "HOST-BOUND",
		[VPA_GROUP_CALLS] = "HOST-BOUND",
		[VPA_GROUP_STREAMS] = "GPUS WAIT FOR EACH OTHER",
		[VPA_GROUP_STARTS] = "STARTS OF WORK LIMIT",
		[VPA_GROUP_QUEUED] = "IDLE, AND THE TRACE DOES NOT SAY WHY",
		[VPA_GROUP_RECORDING] = "IDLE, AND THE RECORDING DOES NOT SAY WHY",
	};
	uint64_t before_ns = s->cause_ns[VPA_CAUSE_BEFORE_FIRST_WORK],
		 after_ns = s->cause_ns[VPA_CAUSE_AFTER_LAST_WORK];

	if (s->limit.bound == VPA_LIMIT_UNUSED)
		return "HARDLY USED";
	if (vpa_devices_take_turns(s->report))
		return "GPUS WORK IN TURNS";
	/* What bounds the work of a window is not what bounds the window, if most of that is before or after. */
	if (!(s->unit.units > 0) && vpa_device_limit_is_bound(s->limit.bound) &&
		before_ns + after_ns > s->works_ns)
		return before_ns >= after_ns ? "IDLE BEFORE ITS FIRST OP"
					     : "IDLE AFTER ITS LAST OP";
	if (vpa_device_limit_words(s->limit.bound))
		return vpa_device_limit_words(s->limit.bound);
	return groups[s->limit.idle.group];
}

/* "the GPU works 633 ms of a block and waits 20.1 ms." RESULT has the work of a window, unless it is of units. */
static void add_account(struct vpa_words *w, const struct vpa_screen *s, int result_is_of_units)
{
	const char *who = s->devices > 1 ? "each GPU, on average," : "the GPU";

	if (!(s->unit.units > 0) && !result_is_of_units)
		vpa_words_add(w, " ", "%s %s%s.", who, s->waits_ns ? "waits " : "never waits",
			s->waits_ns ? vpa_duration(s->waits_ns).text : "");
	else
		vpa_words_add(w, " ", "%s works %s of %s and %s%s.", who,
			vpa_duration(s->works_ns).text, s->a_noun,
			s->waits_ns ? "waits " : "never waits",
			s->waits_ns ? vpa_duration(s->waits_ns).text : "");
	if (s->unit.from_host && s->rest_ns >= s->ns / 20)
		vpa_words_add(
			w, " ", "For %s it still did earlier work.", vpa_duration(s->rest_ns).text);
}

/* ---- what the work is ---- */

/* The next largest of the families, each once. */
static size_t next_family(const struct vpa_screen *s, uint64_t below_ns, size_t after)
{
	size_t i, best = VPA_FAMILY_COUNT;

	for (i = 0; i < VPA_FAMILY_COUNT; i++) {
		uint64_t ns = s->family_ns[i];
		int is_left = ns < below_ns || (ns == below_ns && i > after);

		if (ns && is_left && (best == VPA_FAMILY_COUNT || ns > s->family_ns[best]))
			best = i;
	}
	return best;
}

/* Copies beside kernels have half of that time each. " (about 660 ms of it with no kernel beside)" of the copies' part `ns`, as
 * in the window; nothing where nearly all are alone, or few. */
static void add_alone(struct vpa_words *w, const struct vpa_screen *s, uint64_t ns)
{
	const struct vpa_expert *e = &s->report->expert;
	uint64_t alone_ns = 0, all_ns = vpa_family_ns(s->report, VPA_FAMILY_MEMCPY);
	size_t i;

	for (i = 0; i < e->overlap_count; i++)
		vpt_sat_add_to(&alone_ns, e->overlaps[i].ns[VPA_OVERLAP_COPY]);
	if (e->overlap_count && alone_ns < all_ns - all_ns / LEAST)
		vpa_words_add(w, "", " (about %s of it with no kernel beside)",
			vpa_duration(vpt_sat_scale(ns, alone_ns, all_ns)).text);
}

static void add_work(struct vpa_words *w, const struct vpa_screen *s)
{
	uint64_t below_ns = UINT64_MAX, all_ns = s->has_parts ? s->works_ns : s->digest->busy_ns;
	size_t shown, after = 0;
	struct vpa_words list = {.used = 0};

	for (shown = 0; shown < FAMILIES; shown++) {
		size_t i = next_family(s, below_ns, after);

		if (i == VPA_FAMILY_COUNT || s->family_ns[i] < all_ns / LEAST)
			break;
		vpa_words_add(&list, ", ", "%s %s%s",
			vpa_fit(vpa_family_text(s->digest, (enum vpa_family)i), 64).text,
			s->has_parts ? vpa_duration(s->family_ns[i]).text
				     : vpa_percent(s->family_ns[i], all_ns).text,
			s->has_parts ? "" : " %");
		if (i == VPA_FAMILY_MEMCPY && s->has_parts)
			add_alone(&list, s, s->family_ns[i]);
		below_ns = s->family_ns[i];
		after = i;
	}
	if (list.used)
		vpa_words_add(w, " ", "Most of %s: %s.",
			s->has_parts ? "the work" : "the work in the window", list.text);
}

/* What families do not show: work of several that is for one thing, and old kernels of one. */
static void add_joint_work(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	uint64_t old_ns;
	const char *old = vpa_old_attention(r, &old_ns);
	const struct {
		uint64_t ns;
		const char *words;
	} works[] = {
		{old_ns, old},
		{r->quantised.total_ns, vpa_packs_in_several(r)
						? "quantises operands, in several kernels each"
						: "quantises operands, in a kernel each"},
		{vpa_unpacking_ns(r), "unpacks weights, at every use"},
		{r->column_convs.total_ns, "is convolutions as vol2col and a product"},
	};
	size_t i;

	for (i = 0; i < COUNT(works); i++)
		if (works[i].ns && works[i].ns >= s->digest->busy_ns / LEAST)
			vpa_words_add(w, " ", "%s %% of the work in the window %s.",
				vpa_percent(works[i].ns, s->digest->busy_ns).text, works[i].words);
}

/* Clocks that heat or power lowered, where that took time: of the GPU that had them lowest. */
static void add_clocks(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	const struct vpa_finding *f = vpa_finding_find(r, VPA_FOUND_THROTTLING);
	const struct vpa_counter *lowest = NULL;
	size_t i;

	for (i = 0; f && f->base_gain_ms > 0 && i < r->counter_count; i++) {
		const struct vpa_counter *c = &r->counters[i];

		if (vpa_clock_slowdown(c) && c->limited_mhz > 0 &&
			(!lowest || c->limited_mhz < lowest->limited_mhz))
			lowest = c;
	}
	if (lowest)
		vpa_words_add(w, " ",
			"For %s %% of the time %s kept the GPU's clock at %s instead of %s MHz.",
			vpa_percent(lowest->limited_ns, lowest->awake_ns).text,
			vpa_clock_culprit(vpa_clock_slowdown(lowest)->bit),
			vpa_fixed(lowest->limited_mhz, 0).text,
			vpa_fixed(lowest->highest_mhz, 0).text);
}

/* The kernel that most of the communication is; NULL: there is none. */
static const struct vpa_kernel_row *main_collective(const struct vpa_report *r)
{
	const struct vpa_kernel_row *most = NULL;
	size_t i;

	for (i = 0; i < r->kernel_count; i++)
		if (r->kernels[i].family == VPA_FAMILY_COMM &&
			(!most || r->kernels[i].exclusive_ns > most->exclusive_ns))
			most = &r->kernels[i];
	return most;
}

/* How many calls of a kernel a GPU makes in a unit, if they are spread as the time of the family is. 0: not known. */
static double calls_in_unit(const struct vpa_screen *s, const struct vpa_kernel_row *k)
{
	uint64_t all_ns = vpa_family_ns(s->report, k->family);
	double calls = (double)k->time.count;

	return s->has_parts && s->unit.units > 0 && s->devices && all_ns
		       ? calls * (double)s->family_ns[k->family] / (double)all_ns
		       : 0;
}

/* "Most communication is ncclDevKernel_SendRecv, 336 calls in a step." */
static void add_collective(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_kernel_row *k = main_collective(s->report);
	double calls;

	if (!k || s->limit.bound != VPA_LIMIT_COMM)
		return;
	calls = calls_in_unit(s, k);
	vpa_words_add(w, " ", "Most communication is %s", vpa_kernel_label(k->name, 40).text);
	if (calls >= 1)
		vpa_words_add(w, ", ", "%s call%s in %s", vpa_fixed(calls, 0).text,
			vpa_plural((uint64_t)(calls + 0.5)), s->a_noun);
	vpa_words_add(w, "", ".");
}

/* ", up to 351 ms of it waits for other ranks, mostly in vae_decode" */
static void add_peers(struct vpa_words *w, const struct vpa_screen *s, uint64_t ns)
{
	const struct vpa_finding *f = vpa_finding_find(s->report, VPA_FOUND_PEER_WAIT);

	if (!ns)
		return;
	vpa_words_add(w, ", ", "up to %s of it waits for other ranks", vpa_duration(ns).text);
	if (f && f->where)
		vpa_words_add(w, ", ", "%s%s",
			f->is_mostly ? "mostly "
			: f->is_half ? "half "
				     : "",
			f->where);
}

/* All communication of a GPU in the unit, beside compute or not, if it is spread as its exclusive time is. "2.17 s of communication,
 * 1.07 s of it exposed." */
static void add_communication(struct vpa_words *w, const struct vpa_screen *s)
{
	uint64_t comm_ns = 0, exposed_ns = 0, wait_ns = 0, ns = s->family_ns[VPA_FAMILY_COMM],
		 window_ns = vpa_family_ns(s->report, VPA_FAMILY_COMM);
	size_t i;

	if (!s->has_parts || !window_ns || ns < s->works_ns / LEAST)
		return;
	for (i = 0; i < s->report->device_count; i++) {
		const struct vpa_device *d = &s->report->devices[i];

		vpt_sat_add_to(&comm_ns, vpt_sat_scale(d->comm_ns, ns, window_ns));
		vpt_sat_add_to(&exposed_ns, vpt_sat_scale(d->exposed_comm_ns, ns, window_ns));
		vpt_sat_add_to(&wait_ns, vpt_sat_scale(d->comm_wait_ns, ns, window_ns));
	}
	if (!comm_ns)
		return;
	vpa_words_add(w, " ", "%s of communication", vpa_duration(comm_ns).text);
	if (exposed_ns >= comm_ns - comm_ns / 100)
		vpa_words_add(w, ", ", "all of it exposed");
	else
		vpa_words_add(w, ", ", "%s of it exposed",
			exposed_ns ? vpa_duration(exposed_ns).text : "none");
	add_peers(w, s, wait_ns);
	if (s->report->reducing.passes)
		vpa_words_add(w, "; ", "each of %zu passes sums the gradients",
			s->report->reducing.passes);
	vpa_words_add(w, "", ".");
}

/* ---- what the waits are ---- */

/* Whether copies that the host waited for were mostly reads of a few bytes. A read of pinned memory does not wait: the
 * synchronisation after it does. */
static int copies_are_reads(const struct vpa_report *r)
{
	uint64_t reads_ns = 0, all_ns = 0;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *p = &r->devices[d].causes[i];

			if (p->cause != VPA_CAUSE_BLOCKING_COPY)
				continue;
			vpt_sat_add_to(&all_ns, p->ns);
			if (vpa_small_copies(r, vpa_place_range(&p->place)))
				vpt_sat_add_to(&reads_ns, p->ns);
		}
	return reads_ns > all_ns / 2;
}

/* "the host ran other code", "it waited inside a CUDA graph" */
static struct vpa_label clause_of(const struct vpa_screen *s, enum vpa_cause cause)
{
	static const char *const subjects[] = {"host ", "stream ", "GPU ", "profiling ", "CUDA "};
	const char *words = vpa_cause_words(cause);
	struct vpa_label out = {{0}};
	size_t i;

	if (cause == VPA_CAUSE_BLOCKING_COPY && copies_are_reads(s->report)) {
		snprintf(out.text, sizeof(out.text),
			"the host waited for reads of a few bytes (.item())");
		return out;
	}
	for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		if (!strncmp(words, subjects[i], strlen(subjects[i])))
			break;
	if (cause == VPA_CAUSE_BEFORE_FIRST_WORK || cause == VPA_CAUSE_AFTER_LAST_WORK)
		snprintf(out.text, sizeof(out.text), "%s", vpa_cause_help(cause));
	else if (vpa_cause_is_unknown(cause))
		snprintf(out.text, sizeof(out.text), "the cause is unknown: %s",
			words + strlen(VPA_CAUSE_UNKNOWN));
	else if (cause == VPA_CAUSE_INSIDE_GRAPH)
		snprintf(out.text, sizeof(out.text), "the GPU was between nodes of a CUDA graph");
	else if (cause == VPA_CAUSE_LAUNCH_RATE)
		snprintf(out.text, sizeof(out.text), "the host launched too slowly");
	else if (cause == VPA_CAUSE_QUEUED)
		snprintf(out.text, sizeof(out.text), "queued work started late");
	else
		snprintf(out.text, sizeof(out.text), "%s%s",
			i < sizeof(subjects) / sizeof(subjects[0]) ? "the " : "", words);
	return out;
}

/* The only gap of that cause, which may be known better than its place. NULL: none, or several. */
static const struct vpa_gap_row *only_gap(const struct vpa_report *r, enum vpa_cause cause)
{
	const struct vpa_gap_row *found = NULL;
	size_t i, count = 0;

	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].cause == cause && !count++)
			found = &r->gaps[i];
	return count == 1 ? found : NULL;
}

/* Where the host was before the first op, if that is most of the cause in a unit. */
static const struct vpa_idle_place *head_place(const struct vpa_screen *s, enum vpa_cause cause)
{
	const struct vpa_digest *d = s->digest;
	size_t i;

	if (cause == VPA_CAUSE_BEFORE_FIRST_WORK && d->head_count)
		return &d->heads[0];
	if (s->unit.head_ns < s->cause_ns[cause] / 2)
		return NULL;
	for (i = 0; i < d->head_count; i++)
		if (d->heads[i].cause == cause)
			return &d->heads[i];
	return NULL;
}

/* Whether places are the units themselves: that steps wait in steps says nothing. */
static int names_units(const struct vpa_screen *s, const struct vpa_idle_place *at)
{
	return s->unit.units > 0 && at->place.text && strstr(at->place.text, s->noun);
}

/* The call, unless it is one that launches: CAUSE says that. */
static struct vpa_label call_alone(const struct vpa_idle_place *at)
{
	return at->call && !strstr(at->call, "Launch") ? vpa_fit(at->call, 56)
						       : (struct vpa_label){{0}};
}

/* The place, or all that are alike, with the call. */
static struct vpa_label label_of_all(const struct vpa_idle_place *at, const struct vpa_alike *names)
{
	struct vpa_label name;
	struct vpa_place all = at->place;

	if (names->count > 1) {
		name = vpa_alike_label(names, at->place.text);
		all.text = name.text;
	}
	return vpa_place_label(at->call, &all, 56);
}

/* What stands before a place that has so much of a wait. */
static const char *const parts[] = {[VPA_AMOUNT_ALL] = "",
	[VPA_AMOUNT_NEARLY_ALL] = "nearly all of it ",
	[VPA_AMOUNT_MOST] = "most of it ",
	[VPA_AMOUNT_HALF] = "about half of it "};

/* ", most of it in self_attn, at model.py:212 (97 %, 412 samples)" */
static void add_where(struct vpa_words *w, const struct vpa_screen *s, enum vpa_cause cause)
{
	const struct vpa_digest *d = s->digest;
	const struct vpa_idle_place *head = head_place(s, cause),
				    *at = head ? head : vpa_first_place(d, cause);
	const struct vpa_gap_row *gap =
		head ? only_gap(s->report, VPA_CAUSE_BEFORE_FIRST_WORK) : NULL;
	uint64_t all_ns = head ? head->ns : d->cause_ns[cause], ns = at ? at->ns : 0;
	struct vpa_top_line top = {.samples = 0};
	struct vpa_label where = {{0}};
	char line[320];
	struct vpa_alike names = {.count = 0};
	enum vpa_amount amount;

	if (!head)
		top = vpa_line_of_cause(d, cause);
	else if (gap && gap->top)
		top = *gap->top;
	if (at && ns < all_ns / 2)
		ns = vpa_similar_of(d, cause, &names).ns;
	amount = vpa_mean_unit_amount_at(head ? NULL : &s->unit, 1u << cause, ns, all_ns);
	if (!head && amount > VPA_AMOUNT_HALF)
		return;
	if (at && amount <= VPA_AMOUNT_HALF)
		where = names.count > 1 && names_units(s, at) ? call_alone(at)
							      : label_of_all(at, &names);
	if (where.text[0])
		vpa_words_add(w, ", ", "%s%s", parts[amount], where.text);
	if (vpa_main_line_text(line, sizeof(line), &top, "")[0])
		vpa_words_add(w, ", ", "%s", line);
}

/* What the host did for most of a wait's time, once the wait was over, if that is a call with a remedy of its own. Its ns is 0:
 * nothing. */
static struct vpa_host_code call_after(const struct vpa_screen *s, enum vpa_cause cause)
{
	struct vpa_host_code call = {.ns = 0};

	if (cause == VPA_CAUSE_SYNC || cause == VPA_CAUSE_BLOCKING_COPY)
		call = vpa_host_call_of(
			s->report, 1u << cause, NULL, 0, s->digest->cause_ns[cause]);
	return vpa_host_call_has_remedy(call.host) ? call : (struct vpa_host_code){.ns = 0};
}

/* ". For most of it the GPU had finished, and the host built a CUDA graph, in runner" */
static void add_call_after(struct vpa_words *w, const struct vpa_screen *s, enum vpa_cause cause)
{
	struct vpa_host_code call = call_after(s, cause);

	if (!call.ns)
		return;
	vpa_words_add(w, ". ", "For %s of it the GPU had finished, and the %s",
		vpa_part_word(call.ns, s->digest->cause_ns[cause]), vpa_cause_words(call.host));
	if (vpa_host_code_has_place(&call))
		vpa_words_add(w, ", ", "%s%s", call.place.kind == VPA_PLACE_IN ? "in " : "",
			vpa_fit(call.place.text, 56).text);
}

/* "5 times it took 33.4 ms to 36.2 ms, as garbage collection may." */
static void add_pauses(struct vpa_words *w, const struct vpa_report *r)
{
	const struct vpa_pauses *p = vpa_rare_pauses(r);

	if (p)
		vpa_words_add(w, " ", "%" PRIu64 " times it took %s, as garbage collection may.",
			p->count, vpa_pause_lengths(p).text);
}

static void add_wait(
	struct vpa_words *w, const struct vpa_screen *s, enum vpa_cause cause, int is_first)
{
	if (s->has_parts)
		vpa_words_add(w, " ", "For %s %s", vpa_duration(s->cause_ns[cause]).text,
			clause_of(s, cause).text);
	else
		vpa_words_add(w, " ", "For %s %%%s %s",
			vpa_percent(s->cause_ns[cause], s->digest->window_idle_ns).text,
			is_first ? " of all waits in the window" : "", clause_of(s, cause).text);
	add_where(w, s, cause);
	add_call_after(w, s, cause);
	vpa_words_add(w, "", ".");
	if (cause == VPA_CAUSE_HOST_CODE)
		add_pauses(w, s->report);
}

/* The largest cause that is not in `done`, a bit each. */
static enum vpa_cause largest(const struct vpa_screen *s, uint32_t done)
{
	enum vpa_cause best = VPA_CAUSE_NOT_IDLE;
	unsigned i;

	for (i = 0; i < VPA_CAUSES; i++)
		if (!(done >> i & 1) && s->cause_ns[i] > s->cause_ns[best])
			best = (enum vpa_cause)i;
	return best;
}

static uint64_t all_waits(const struct vpa_screen *s)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < VPA_CAUSES; i++)
		vpt_sat_add_to(&ns, s->cause_ns[i]);
	return ns;
}

/* The cause that limits, else the largest. */
static enum vpa_cause first_wait(const struct vpa_screen *s)
{
	enum vpa_cause cause = s->limit.idle.group ? s->limit.idle.cause : VPA_CAUSE_NOT_IDLE;

	return vpa_device_limit_is_bound(s->limit.bound) || !s->cause_ns[cause]
		       ? largest(s, 1u << VPA_CAUSE_NOT_IDLE)
		       : cause;
}

int vpa_screen_cause_is_longest(const struct vpa_screen *s)
{
	return vpa_device_limit_is_bound(s->limit.bound) ||
	       first_wait(s) == largest(s, 1u << VPA_CAUSE_NOT_IDLE);
}

/* Takes stops of the host out of the causes that they have, as far as the unit has them. Returns their time. */
static uint64_t take_stops(struct vpa_screen *s)
{
	const struct vpa_host_stops *stops = &s->report->host_stops;
	uint64_t ns = 0;
	size_t i;

	if (!vpa_finding_find(s->report, VPA_FOUND_HOST_STOPS))
		return 0;
	for (i = 0; i < VPA_CAUSES; i++) {
		uint64_t stop_ns =
			vpt_sat_scale(s->cause_ns[i], stops->cause_ns[i], s->digest->cause_ns[i]);

		stop_ns = stop_ns < s->cause_ns[i] ? stop_ns : s->cause_ns[i];
		vpt_sat_add_to(&ns, stop_ns);
		s->cause_ns[i] -= stop_ns;
	}
	return ns;
}

/* "For 13.4 ms the host stood still: 14 times, for 13.0 ms to 68.7 ms, in 4 places, each time until the next period of 100 ms, as
 * with a CPU quota." The times and places are of the window. */
static void add_stops(struct vpa_words *w, const struct vpa_screen *s, uint64_t ns, uint64_t all_ns)
{
	const struct vpa_host_stops *stops = &s->report->host_stops;

	if (s->has_parts)
		vpa_words_add(w, " ", "For %s", vpa_duration(ns).text);
	else
		vpa_words_add(w, " ", "For %s %% of all waits in the window",
			vpa_percent(ns, all_ns).text);
	vpa_words_add(w, " ",
		"the host stood still: %" PRIu64 " times, for %s to %s, in %" PRIu64 " places",
		stops->count, vpa_duration(stops->shortest_ns).text,
		vpa_duration(stops->longest_ns).text, stops->places);
	if (stops->clock.every_ns)
		vpa_words_add(w, "", ", each time until the next period of %s, as with a CPU quota",
			vpa_duration(stops->clock.every_ns).text);
	vpa_words_add(w, "", ".");
}

/* That one GPU works all the time; NULL: none does while others wait for it. */
static const struct vpa_finding *full_gpu(const struct vpa_screen *s)
{
	return vpa_finding_find(s->report, VPA_FOUND_GPU_BALANCE);
}

/* What not to wait saves of the unit, with what it makes late: predicted, else at most. */
static double saved_ms(const struct vpa_finding *f)
{
	return f->predicted_ms > 0 ? f->base_ms - f->predicted_ms : f->base_gain_ms;
}

/* The first fix of the host's waits. NULL: there is none, or it is not of the unit. */
static const struct vpa_finding *fix_of_waits(const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	enum vpa_base base = s->unit.units > 0 ? vpa_base_of_unit(s->unit.kind) : VPA_BASE_ACTIVE;
	size_t i;

	for (i = 0; s->has_parts && i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if ((f->id == VPA_FOUND_SMALL_READS || f->id == VPA_FOUND_BLOCKING_COPY ||
			    f->id == VPA_FOUND_SYNC_DRAIN || f->id == VPA_FOUND_HOST_WAITS) &&
			f->base == base && vpa_screen_is_fix(s, f))
			return f;
	}
	return NULL;
}

/* "Not to read saves 110 ms." FIX FIRST has that number: what follows is launched earlier, too, so it is more than the `waits_ns` of
 * the sentences before, which is a quarter of all or more. */
static void add_saved(
	struct vpa_words *w, const struct vpa_screen *s, uint64_t waits_ns, uint64_t all_ns)
{
	const struct vpa_finding *f = waits_ns >= all_ns / 4 ? fix_of_waits(s) : NULL;
	double ms = f ? saved_ms(f) : 0;

	if (ms * 1e6 <= (1 + 1.0 / LEAST) * (double)waits_ns)
		return;
	vpa_words_add(w, " ", "Not to %s saves %s%s.",
		f->id == VPA_FOUND_SMALL_READS ? "read" : "wait",
		f->predicted_ms > 0 ? "" : "at most ",
		vpa_duration(vpt_sat_u64(ms * 1e6 + 0.5)).text);
}

/* The first, then others by time. */
static void add_waits(struct vpa_words *w, const struct vpa_screen *all)
{
	uint64_t all_ns = all_waits(all), stops_ns, waits_ns = 0;
	struct vpa_screen rest = *all, *s = &rest;
	enum vpa_cause cause;
	int is_full = full_gpu(s) != NULL; /* add_turns() has said who waits */
	uint32_t done = 1u << VPA_CAUSE_NOT_IDLE | (uint32_t)is_full << VPA_CAUSE_DEPENDENCY;
	size_t shown;

	stops_ns = take_stops(s);
	if (stops_ns >= all_ns / LEAST && stops_ns)
		add_stops(w, s, stops_ns, all_ns);
	cause = stops_ns || is_full ? largest(s, done) : first_wait(s);

	for (shown = 0; shown < CAUSES && cause; shown++) {
		if (s->cause_ns[cause] < all_ns / LEAST)
			break;
		add_wait(w, s, cause, !shown);
		if (cause == VPA_CAUSE_SYNC || cause == VPA_CAUSE_BLOCKING_COPY)
			vpt_sat_add_to(&waits_ns, s->cause_ns[cause]);
		done |= 1u << cause;
		cause = largest(s, done);
	}
	if (waits_ns)
		add_saved(w, s, waits_ns, all_ns);
}

#define CAUSE(name)  (1u << VPA_CAUSE_##name)
#define FAMILY(name) ((uint64_t)1 << VPA_FAMILY_##name)
#define FAMILIES_OF_ATTENTION                                                                      \
	(FAMILY(ATTENTION) | FAMILY(ATTENTION_SPARSE) | FAMILY(ATTENTION_LINEAR) |                 \
		FAMILY(ATTENTION_AUX) | FAMILY(EAGER_SOFTMAX))

/* What findings are about: causes and families, a bit each. */
static const struct {
	uint32_t causes;
	uint64_t families;
} about[VPA_FOUND_COUNT] = {
	[VPA_FOUND_SYNC_DRAIN] = {CAUSE(SYNC), 0},
	[VPA_FOUND_BLOCKING_COPY] = {CAUSE(BLOCKING_COPY), 0},
	[VPA_FOUND_SMALL_READS] = {CAUSE(BLOCKING_COPY), 0},
	[VPA_FOUND_HOST_WAITS] = {CAUSE(SYNC) | CAUSE(BLOCKING_COPY), 0},
	[VPA_FOUND_ALLOCATION] = {CAUSE(ALLOCATION), 0},
	[VPA_FOUND_MODULE_LOAD] = {CAUSE(MODULE_LOAD), 0},
	[VPA_FOUND_FIRST_USE] = {CAUSE(FIRST_USE), 0},
	[VPA_FOUND_GRAPH_BUILD] = {CAUSE(GRAPH_BUILD), 0},
	[VPA_FOUND_OTHER_CALL] = {CAUSE(OTHER_CALL), 0},
	[VPA_FOUND_LAUNCH_RATE] = {CAUSE(LAUNCH_RATE), 0},
	[VPA_FOUND_HOST_STALL] = {CAUSE(HOST_CODE), 0},
	[VPA_FOUND_LAUNCH_CALL] = {CAUSE(LAUNCH_CALL), 0},
	[VPA_FOUND_HOST_STOPS] = {CAUSE(LAUNCH_CALL) | CAUSE(SYNC) | CAUSE(HOST_CODE), 0},
	[VPA_FOUND_LAUNCH_LATENCY] = {CAUSE(LAUNCH_LATENCY), 0},
	[VPA_FOUND_DEPENDENCY] = {CAUSE(DEPENDENCY), 0},
	[VPA_FOUND_INSIDE_GRAPH] = {CAUSE(INSIDE_GRAPH), 0},
	[VPA_FOUND_GRAPH_START] = {CAUSE(GRAPH_START), 0},
	[VPA_FOUND_SCHEDULING] = {CAUSE(SCHEDULING), 0},
	[VPA_FOUND_QUEUED] = {CAUSE(QUEUED), 0},
	[VPA_FOUND_BEFORE_FIRST_WORK] = {CAUSE(BEFORE_FIRST_WORK), 0},
	[VPA_FOUND_AFTER_LAST_WORK] = {CAUSE(AFTER_LAST_WORK), 0},
	[VPA_FOUND_EXPOSED_COPY] = {0, FAMILY(MEMCPY)},
	[VPA_FOUND_HOST_UPDATES] = {CAUSE(HOST_CODE), FAMILY(MEMCPY)},
	[VPA_FOUND_EXPOSED_COMM] = {0, FAMILY(COMM)},
	[VPA_FOUND_SMALL_COLLECTIVES] = {0, FAMILY(COMM)},
	[VPA_FOUND_REPEATED_REDUCTIONS] = {0, FAMILY(COMM)},
	[VPA_FOUND_PEER_WAIT] = {0, FAMILY(COMM)},
	[VPA_FOUND_EAGER_ATTENTION] = {0, FAMILIES_OF_ATTENTION},
	[VPA_FOUND_FLASH_2_ON_HOPPER] = {0, FAMILIES_OF_ATTENTION},
	[VPA_FOUND_MEM_EFFICIENT_ATTENTION] = {0, FAMILIES_OF_ATTENTION},
	[VPA_FOUND_ATTENTION_CHANGE] = {0, FAMILIES_OF_ATTENTION},
	[VPA_FOUND_ATTENTION_GROWTH] = {0, FAMILIES_OF_ATTENTION},
	[VPA_FOUND_ATTENTION_COST] = {0, FAMILIES_OF_ATTENTION},
	[VPA_FOUND_VOL2COL] = {0, FAMILY(LAYOUT) | FAMILY(CONV)},
	[VPA_FOUND_FP32_GEMM] = {0, FAMILY(GEMM)},
	[VPA_FOUND_FP32_CONV] = {0, FAMILY(CONV)},
	[VPA_FOUND_TF32_GEMM] = {0, FAMILY(GEMM)},
	[VPA_FOUND_TF32_CONV] = {0, FAMILY(CONV)},
	[VPA_FOUND_PARAMETERS] = {0, FAMILY(LAYOUT) | FAMILY(ELEMENTWISE)},
	[VPA_FOUND_UNFUSED_ELEMENTWISE] = {0,
		FAMILY(ELEMENTWISE) | FAMILY(REDUCE) | FAMILY(LAYOUT) | FAMILY(INDEX)},
	[VPA_FOUND_TENSOR_JOINS] = {0, FAMILY(LAYOUT)},
	[VPA_FOUND_TYPE_CASTS] = {0, FAMILY(LAYOUT)},
	[VPA_FOUND_TENSOR_COPIES] = {0, FAMILY(LAYOUT)},
	[VPA_FOUND_THROTTLING] = {0, UINT64_MAX},
	[VPA_FOUND_FEW_BLOCKS] = {0, UINT64_MAX},
	[VPA_FOUND_QUANTISING] = {0, FAMILY(QUANT)},
	[VPA_FOUND_UNMERGED_ADAPTER] = {CAUSE(LAUNCH_RATE) | CAUSE(LAUNCH_CALL),
		FAMILY(GEMM) | FAMILY(ELEMENTWISE)},
	[VPA_FOUND_PROMPT_AGAIN] = {0, UINT64_MAX},
	[VPA_FOUND_STAGE_GROWTH] = {0, UINT64_MAX},
	[VPA_FOUND_FALLBACK_KERNELS] = {0, FAMILY(CONV) | FAMILY(GEMM)},
	[VPA_FOUND_GPU_BALANCE] = {CAUSE(DEPENDENCY), 0},
	[VPA_FOUND_WORK_AGAIN] = {CAUSE(HOST_CODE), UINT64_MAX},
	[VPA_FOUND_ENCODED_AGAIN] = {0, UINT64_MAX},
	[VPA_FOUND_RECOMPUTATION] = {0, UINT64_MAX},
	[VPA_FOUND_TRIALS] = {CAUSE(SYNC) | CAUSE(ALLOCATION), FAMILY(CONV) | FAMILY(GEMM)},
	/* The largest kernels are of the largest family, or more of a smaller one. */
	[VPA_FOUND_LARGEST_KERNELS] = {0, UINT64_MAX},
};

int vpa_screen_is_of_cause(const struct vpa_screen *s, const struct vpa_finding *f)
{
	size_t family;

	/* CAUSE says by the host's deeds what a unit waits for before its first op. */
	if (!vpa_device_limit_is_bound(s->limit.bound) && call_after(s, first_wait(s)).ns)
		return about[f->id].causes >> call_after(s, first_wait(s)).host & 1;
	if (!vpa_device_limit_is_bound(s->limit.bound))
		return (f->id == VPA_FOUND_BEFORE_FIRST_WORK && head_place(s, first_wait(s))) ||
		       (about[f->id].causes >> first_wait(s) & 1);
	family = next_family(s, UINT64_MAX, 0);
	return family < VPA_FAMILY_COUNT && (about[f->id].families >> family & 1);
}

/* No host is to blame, so what helps is said here. */
static void add_turns(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_finding *full = full_gpu(s);

	if (full)
		vpa_words_add(w, " ", "%s.", full->measured);
	else if (vpa_devices_take_turns(s->report))
		vpa_words_add(w, " ",
			"While one works the others wait: give each work of its own, such as "
			"another request or a part of the batch.");
}

/* The host's pace. The GPU's is what it works. Where the GPU is busy for nearly all of the time and the host needs more than
 * that, both limit: what the host needs would be left. */
static void add_pace(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_forecast *f = &s->report->forecast;
	uint64_t host_ns = vpt_sat_u64(f->host_ms * 1e6 + 0.5),
		 left_ns = vpt_sat_sub(s->ns, host_ns);

	if (!(f->host_ms > 0) || !(s->unit.units > 0) || f->base != vpa_base_of_unit(s->unit.kind))
		return;
	vpa_words_add(w, " ", "The host alone would need %s", vpa_duration(host_ns).text);
	if (vpa_device_limit_is_bound(s->limit.bound) &&
		host_ns > vpt_sat_add(s->works_ns, s->rest_ns))
		vpa_words_add(w, ", ", "so less GPU work alone saves %s%s",
			left_ns < s->ns / 1000 ? "nothing" : vpa_duration(left_ns).text,
			left_ns < s->ns / 1000 ? "" : " at most");
	vpa_words_add(w, "", ".");
}

/* What bounds a part of the window is not what bounds the rest. */
static int is_of_part(const struct vpa_screen *s)
{
	return !(s->unit.units > 0) && vpa_device_limit_is_bound(s->limit.bound) &&
	       vpa_device_limit_is_of_part(&s->limit.load);
}

void vpa_screen_cause(struct vpa_page *p, const struct vpa_screen *screen)
{
	struct vpa_screen window;
	const struct vpa_screen *s = screen;
	struct vpa_words w = {.used = 0};
	const char *limit;

	if (!s->report->device_count)
		return;
	/* Of units without parts only the window's are known, so where these are little they stand for themselves. */
	if (vpa_screen_units_are_little(s) && !s->has_parts) {
		vpa_screen_of_window(screen, &window);
		s = &window;
	}
	limit = vpa_screen_limit(s);
	if (s->blocks)
		p->touched = s->blocks->touched;
	vpa_words_add(&w, "", "%s%s:", limit,
		is_of_part(s) && vpt_same_text(limit, vpa_device_limit_words(s->limit.bound))
			? " WHILE IT WORKS"
			: "");
	add_account(&w, s, s != screen);
	add_pace(&w, s);
	add_turns(&w, s);
	if (vpa_device_limit_is_bound(s->limit.bound))
		add_work(&w, s);
	if (vpa_device_limit_is_bound(s->limit.bound))
		add_joint_work(&w, s);
	if (vpa_device_limit_is_bound(s->limit.bound))
		add_clocks(&w, s);
	add_collective(&w, s);
	add_communication(&w, s);
	/* Waits of less than a tenth of the unit need no cause. */
	if (s->waits_ns >= s->ns / LEAST)
		add_waits(&w, s);
	vpa_screen_add_pace(&w, s);
	vpa_screen_add_rest_causes(&w, screen);
	vpa_page_words(p, "CAUSE", VPA_BOLD, "%s", w.text);
}
