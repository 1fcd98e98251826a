/* text_summary.c - the first screen: can it be trusted, what ran, what limits it, and where.
 *
 * The reader has 20 seconds. So the verdict comes first, then one line per device that names its limit,
 * then the cause in a sentence, then what to fix, then tables as evidence. Without GPU work one sentence
 * says so. Every number has a unit, and every share its base.
 *
 * In a capture with video blocks, FPS and the mean block come first: text_fps.c, text_blocks.c. In any
 * other a line says how to mark a pipeline. */
#include "analysis/model/gpu_arch.h"
#include "analysis/pipeline/unit.h"
#include "analysis/render/text/text_report.h"
#include "analysis/report/main_line.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RESULTS = 8,    /* devices with a line of their own */
	LIMIT_NAMES = 3 /* causes or families in the sentence */
};

/* ---- DATA ---- */

static void put_verdict(struct vpa_page *p, const struct vpa_report *r, const char *section)
{
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%s ", vpa_verdict_word(v->complete));
	if (v->received && !v->dropped && r->format && strcmp(r->format, "vptrace")) {
		/* Other tools' files do not record drops. */
		vpa_words_add(&w, " ", "%s events read%s", vpa_count(v->received).text,
			r->device_count || v->ops_without_launch ? "," : "");
	} else if (v->received || v->dropped) {
		vpa_words_add(&w, " ", "%s events received,", vpa_count(v->received).text);
		if (v->received != v->written)
			vpa_words_add(&w, " ", "%s written,", vpa_count(v->written).text);
		vpa_words_add(&w, " ", "%s dropped%s", vpa_count(v->dropped).text,
			r->device_count || v->ops_without_launch ? "," : "");
	}
	if (r->device_count || v->ops_without_launch)
		vpa_words_add(&w, " ", "%s op%s without launch",
			vpa_count(v->ops_without_launch).text, vpa_plural(v->ops_without_launch));
	vpa_page_words(p, section, v->complete ? VPA_GREEN : VPA_RED, "%s", w.text);
}

static void put_reason(struct vpa_page *p, const struct vpa_verdict *v, size_t i)
{
	const char *remedy = v->remedies ? v->remedies[i] : NULL;

	vpa_page_words(p, "", VPA_PLAIN, "- %s%s%s",
		vpa_grouped(vpa_text_or(v->reasons[i], "?")).text, remedy ? ". To avoid it: " : "",
		vpa_text_or(remedy, ""));
}

static void put_data(struct vpa_page *p, const struct vpa_report *r)
{
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_words cost = {.used = 0};
	size_t i;

	if (r->simulated > 0)
		vpa_page_words(p, "DATA", VPA_RED,
			"SIMULATED: no GPU ran. A stand-in made up every device time below.");
	else if (r->simulated)
		vpa_page_words(p, "DATA", VPA_RED,
			"PERHAPS SIMULATED: the records that identify a simulated GPU are "
			"missing.");
	put_verdict(p, r, r->simulated ? "" : "DATA");
	for (i = 0; i < v->reason_count && i < VPA_REASONS; i++)
		put_reason(p, v, i);
	if (v->reason_count > VPA_REASONS)
		vpa_page_words(p, "", VPA_PLAIN, "- %s more under NOTES",
			vpa_count(v->reason_count - VPA_REASONS).text);
	if (r->has_marks)
		vpa_page_words(p, "", VPA_YELLOW,
			VPA_TOUCHED " marks sections and tables whose figures the missing records "
				    "may change.");
	if (v->tracing_cost_share >= 0)
		vpa_words_add(&cost, ", ", "Tracing cost %s %% of the window",
			vpa_share(v->tracing_cost_share).text);
	if (v->overhead_ns)
		vpa_words_add(&cost, ", ", "profiling library busy %s",
			vpa_duration(v->overhead_ns).text);
	if (cost.used)
		vpa_page_words(p, "", VPA_PLAIN, "%s", cost.text);
}

/* ---- RUN ---- */

void vpa_text_gpus(struct vpa_words *w, const struct vpa_report *r)
{
	size_t i, run;

	for (i = 0; i < r->gpu_count; i += run) {
		const struct vpa_gpu *g = &r->gpus[i];
		char arch[VPA_ARCH_BYTES];

		for (run = 1; i + run < r->gpu_count && vpa_same(g->name, r->gpus[i + run].name);
			run++)
			;
		vpa_gpu_arch(g, arch);
		vpa_words_add(w, ", ", "%zu x %s", run,
			g->name && g->name[0] ? vpa_fit(g->name, 40).text : "GPU");
		if (arch[0])
			vpa_words_add(w, " ", "(%s)", arch);
	}
	if (r->device_count && r->device_count < r->gpu_count)
		vpa_words_add(w, ", ", "%zu used", r->device_count);
}

static void put_counts(struct vpa_page *p, const struct vpa_counts *c)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} kinds[] = {
		{c->kernels, "kernel", "kernels"},
		{c->memcpy, "copy", "copies"},
		{c->memset, "memset", "memsets"},
		{c->calls, "CUDA call", "CUDA calls"},
		{c->ranges, "range", "ranges"},
	};
	struct vpa_words w = {.used = 0};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		vpa_words_add(&w, ", ", "%s %s", vpa_count(kinds[i].count).text,
			kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

/* CUDA's number of a version, such as 12040, as "12.4"; empty if it is none. */
static struct vpa_label version_of(const char *value)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long number = strtoul(value, NULL, 10);
	struct vpa_label out = {{0}};

	if (!value[digits] && digits >= 4 && digits <= 6)
		snprintf(out.text, sizeof(out.text), "%lu.%lu", number / 1000, number % 1000 / 10);
	return out;
}

static void put_run(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct {
		const char *form, *key, *other;
		const char *numbered; /* the form of CUDA's own number */
	} facts[] = {
		{"host %s", "host", "host", NULL},
		{"rank %s", "rank", "rank", NULL},
		{"driver %s", "driver", "cuda_driver", "driver for CUDA %s"},
		{"CUDA %s", "cuda_runtime", "cuda", "CUDA %s"},
		{"torch %s", "torch", "torch_version", NULL},
	};
	struct vpa_words w = {.used = 0};
	int begun = vpa_text_command(p, r);
	size_t i;
	vpa_text_gpus(&w, r);
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *value =
			vpa_text_or(vpa_meta(r, facts[i].key), vpa_meta(r, facts[i].other));

		struct vpa_label version = {{0}};

		if (value && facts[i].numbered)
			version = version_of(value);
		if (version.text[0])
			vpa_words_add(&w, ", ", facts[i].numbered, version.text);
		else if (value)
			vpa_words_add(&w, ", ", facts[i].form, vpa_fit(value, 32).text);
	}
	if (w.used)
		vpa_page_words(p, begun ? "" : "RUN", VPA_PLAIN, "%s", w.text);
	vpa_page_words(p, begun || w.used ? "" : "RUN", VPA_PLAIN, "%s in %s trace %s",
		vpa_duration(d->window_ns).text,
		vpa_fit(vpa_text_or(r->format, "unknown"), 20).text,
		vpa_fit(r->path, p->width - VPA_INDENT - 30).text);
	put_counts(p, &r->counts);
	if (r->window_note)
		vpa_page_words(p, "", VPA_YELLOW, "WINDOW %s", r->window_note);
}

/* ---- RESULT ---- */

static int is_same_limit(const struct vpa_unit_limit *a, const struct vpa_unit_limit *b)
{
	return a->bound == b->bound &&
	       (a->bound != VPA_LIMIT_IDLE || a->idle.cause == b->idle.cause);
}

/* What limits the only device, in the report's unit; one that is hardly used has no unit that matters. */
static struct vpa_unit_limit limit_of(
	const struct vpa_report *r, const struct vpa_device *dev, const char **unit)
{
	struct vpa_unit_limit of_device = vpa_unit_limit_of_device(r, dev),
			      of_unit = vpa_unit_limit_of(r);

	*unit = NULL;
	if (r->device_count > 1 || of_device.bound == VPA_LIMIT_UNUSED ||
		is_same_limit(&of_device, &of_unit))
		return of_device;
	*unit = vpa_unit_kind_name(vpa_unit_of(r));
	return of_unit;
}

static void put_device_result(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_device *dev, const char *section)
{
	const char *unit;
	struct vpa_unit_limit limit = limit_of(r, dev, &unit);
	struct vpa_words w = {.used = 0};

	if (unit)
		vpa_words_add(&w, "", "in a%s %s ", strchr("aeiou", unit[0]) ? "n" : "", unit);
	vpa_words_add(&w, "", "%s%s", vpa_limit_sentence(&limit).text,
		vpa_limit_is_bound(limit.bound) && vpa_limit_is_of_part(&limit.load)
			? " while it worked"
			: "");
	vpa_page_words(p, section, VPA_PLAIN, "GPU %lld busy %s %% of active, %s %% of window: %s",
		(long long)dev->device, vpa_percent(dev->busy_ns, dev->active_ns).text,
		vpa_percent(dev->busy_ns, vpa_device_window_ns(dev)).text, w.text);
}

/* How much of the waiting costs nothing, since the GPU computes meanwhile. */
static void add_hidden_wait(
	struct vpa_words *w, const struct vpa_report *r, const struct vpa_device *dev)
{
	int all;
	uint64_t ns = vpa_hidden_wait_ns(r, dev, &all);

	if (all)
		vpa_words_add(w, "; ", "all of it is hidden behind compute");
	else if (ns)
		vpa_words_add(w, "; ", "at least %s of the waiting is hidden behind compute",
			vpa_duration(ns).text);
}

static void put_busy(struct vpa_page *p, const struct vpa_report *r, const struct vpa_device *dev)
{
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "busy %s: compute %s", vpa_duration(dev->busy_ns).text,
		vpa_duration(dev->compute_ns).text);
	if (dev->exposed_copy_ns)
		vpa_words_add(&w, ", ", "exposed copies and memsets %s",
			vpa_duration(dev->exposed_copy_ns).text);
	if (dev->exposed_comm_ns)
		vpa_words_add(&w, ", ", "exposed communication %s",
			vpa_duration(dev->exposed_comm_ns).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
	if (!dev->comm_wait_ns)
		return;
	w.used = 0;
	vpa_words_add(&w, "",
		"communication %s in total, up to %s of it waiting for other ranks, if calls of "
		"one kernel and grid move equal amounts",
		vpa_duration(dev->comm_ns).text, vpa_duration(dev->comm_wait_ns).text);
	add_hidden_wait(&w, r, dev);
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

/* "host code 218 ms in ProfilerStep#6, allocation 1.20 ms" */
static void add_heads(struct vpa_words *w, const struct vpa_digest *d)
{
	uint64_t all = d->cause_ns[VPA_CAUSE_BEFORE_FIRST_WORK];
	size_t i, shown = 0;

	for (i = 0; i < d->head_count && shown < LIMIT_NAMES; i++) {
		const struct vpa_idle_place *at = &d->heads[i];
		struct vpa_label where = vpa_place_label(at->call, &at->place, 40);

		if (at->ns < all / 10)
			break;
		vpa_words_add(w, shown++ ? ", " : ": ", "%s %s%s%s", vpa_cause_text(at->cause),
			vpa_duration(at->ns).text, where.text[0] ? " " : "", where.text);
	}
}

static void put_edges(struct vpa_page *p, const struct vpa_digest *d)
{
	uint64_t head = d->cause_ns[VPA_CAUSE_BEFORE_FIRST_WORK];
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "no work for %s after the last op",
		vpa_duration(d->cause_ns[VPA_CAUSE_AFTER_LAST_WORK]).text);
	if (head) {
		w.used = 0;
		vpa_words_add(
			&w, "", "no work for %s before the first op", vpa_duration(head).text);
		add_heads(&w, d);
		if (d->edge_ns > head)
			vpa_words_add(&w, "; ", "for %s after the last",
				vpa_duration(d->edge_ns - head).text);
	}
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

/* A step's length is on the device; what it might gain is also before its first op. */
static void put_only_step(struct vpa_page *p, const struct vpa_report *r)
{
	const struct vpa_only_step *s = &r->only_step;
	struct vpa_mean_unit base = vpa_mean_unit_of(r);

	if (s->is_iteration || s->end_ns <= s->start_ns || !base.head_ns ||
		vpa_same(vpa_duration(base.span_ns).text,
			vpa_duration(vpt_sat_sub(s->last_ns, s->first_ns)).text))
		return;
	vpa_page_words(p, "", VPA_PLAIN,
		"From its start on the host it takes %s, %s of that before its first op.",
		vpa_duration(base.span_ns).text, vpa_duration(base.head_ns).text);
}

static void put_result(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	int begun = vpa_text_request_result(p, r);
	size_t i;

	if (begun)
		put_only_step(p, r);
	for (i = 0; i < r->device_count && i < RESULTS; i++)
		put_device_result(p, r, &r->devices[i], i || begun ? "" : "RESULT");
	if (r->device_count > RESULTS)
		vpa_page_words(p, "", VPA_PLAIN, "and %zu more GPUs, see below",
			r->device_count - RESULTS);
	if (r->device_count == 1)
		put_busy(p, r, &r->devices[0]);
	/* More than a twentieth of the window is not just a matter of when the recording began. */
	if (d->edge_ns > d->windows_ns / 20)
		put_edges(p, d);
}

/* ---- CAUSE ---- */

/* "98.1 ms of it: cudaStreamSynchronize in self_attn." If no place has half of it, names the call over
 * all its ranges. */
static void add_main_place(struct vpa_words *w, const struct vpa_digest *d, enum vpa_cause cause)
{
	const struct vpa_idle_place *at = vpa_first_place(d, cause);
	uint64_t all_ns = d->cause_ns[cause];
	struct vpa_idle_place call, alike;
	struct vpa_top_line top = vpa_line_of_cause(d, cause);
	struct vpa_label where;
	char line[320];
	size_t ranges, count;
	uint64_t ns;

	if (!at)
		return;
	call = vpa_call_of(d, cause, &ranges);
	where = vpa_place_label(at->call, &at->place, 64);
	ns = at->ns;
	alike = vpa_similar_of(d, cause, &count);
	if (ns < all_ns / 2 && count > 1 && alike.ns >= all_ns / 2) {
		snprintf(where.text, sizeof(where.text), "%.400s and %zu similar",
			vpa_place_label(at->call, &at->place, 64).text, count - 1);
		ns = alike.ns;
	} else if (ns < all_ns / 2 && ranges > 1) {
		snprintf(where.text, sizeof(where.text), "%.300s in %zu ranges",
			vpa_fit(call.call, 48).text, ranges);
		ns = call.ns;
	}
	vpa_main_line_text(line, sizeof(line), &top, "most often ");
	if (where.text[0])
		vpa_words_add(w, " ", "%s of it: %s%s%s.",
			ns < all_ns ? vpa_duration(ns).text : "All", where.text,
			line[0] ? "; " : "", line);
	else if (line[0])
		vpa_words_add(w, " ", "%s of it is %s.",
			top.share >= VPA_LINE_MOST ? "Most" : "The largest part",
			vpa_top_line_text(line, sizeof(line), &top));
}

/* "host waited for the GPU (sync): 108 ms of 157 ms idle, 328 gaps, mean 330 us.", where, and what it means. */
static void put_first_cause(
	struct vpa_page *p, const struct vpa_digest *d, enum vpa_cause cause, const char *section)
{
	struct vpa_idle_place inside = vpa_inside_of(d, cause);
	struct vpa_host_code code = vpa_code_of(d, cause);
	const char *help = vpa_cause_help(cause);
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%s", vpa_cause_label(cause).text);
	if (inside.ns)
		vpa_words_add(&w, ", ", "of which %s inside %s%s", vpa_duration(inside.ns).text,
			vpa_fit(inside.call, 48).text,
			inside.is_inside_others ? " and other calls" : "");
	vpa_words_add(&w, ": ", "%s of %s idle", vpa_duration(d->cause_ns[cause]).text,
		vpa_duration(d->idle_ns).text);
	if (d->report->device_count > 1)
		vpa_words_add(&w, " ", "on %zu GPUs together", d->report->device_count);
	vpa_words_add(&w, ", ", "%s gap%s, mean %s.", vpa_count(d->cause_gaps[cause]).text,
		vpa_plural(d->cause_gaps[cause]),
		vpa_mean(d->cause_ns[cause], d->cause_gaps[cause]).text);
	add_main_place(&w, d, cause);
	if (code.ns)
		vpa_add_code(&w, &code, code.ns);
	if (help && help[0] >= 'a' && help[0] <= 'z')
		vpa_words_add(&w, " ", "%c%s.", help[0] - 'a' + 'A', help + 1);
	vpa_page_words(p, section, VPA_PLAIN, "%s", w.text);
}

/* The place only where most of it is. */
static void add_next_cause(struct vpa_words *w, const struct vpa_digest *d, enum vpa_cause cause)
{
	const struct vpa_idle_place *at = vpa_first_place(d, cause);
	struct vpa_label where = {{0}};

	if (at && at->ns >= d->cause_ns[cause] / 2)
		where = vpa_place_label(at->call, &at->place, 40);
	vpa_words_add(w, "; ", "%s %s%s%s", vpa_cause_label(cause).text,
		vpa_duration(d->cause_ns[cause]).text, where.text[0] ? ", " : "", where.text);
}

/* "host ran other code (host code): before the first op, 218 ms in ProfilerStep#6." Of the only unit, most of whose
 * waiting comes before its first op. */
static void put_head_cause(
	struct vpa_page *p, const struct vpa_digest *d, enum vpa_cause cause, const char *section)
{
	struct vpa_words w = {.used = 0};
	size_t i;

	vpa_words_add(&w, "", "%s: before the first op", vpa_cause_label(cause).text);
	for (i = 0; i < d->head_count; i++)
		if (d->heads[i].cause == cause) {
			vpa_words_add(&w, ", ", "%s %s", vpa_duration(d->heads[i].ns).text,
				vpa_place_label(d->heads[i].call, &d->heads[i].place, 64).text);
			break;
		}
	vpa_page_words(p, section, VPA_PLAIN, "%s.", w.text);
}

/* The cause that limits, then others by time. Ignores the window's head and tail, and others under a twentieth of the
 * idle time. */
static void put_idle_cause(struct vpa_page *p, const struct vpa_digest *d,
	const struct vpa_idle_limit *limit, const char *section)
{
	struct vpa_words then = {.used = 0};
	size_t i, shown = 1;

	if (!limit->group)
		return;
	if (limit->cause_ns > vpt_sat_mul(2, d->cause_ns[limit->cause]))
		put_head_cause(p, d, limit->cause, section);
	else
		put_first_cause(p, d, limit->cause, section);
	for (i = 0; i < d->cause_count && shown < LIMIT_NAMES; i++) {
		enum vpa_cause cause = d->causes[i];

		if (vpa_is_edge(cause) || cause == limit->cause ||
			d->cause_ns[cause] < d->idle_ns / 20)
			continue;
		add_next_cause(&then, d, cause);
		shown++;
	}
	if (then.used)
		vpa_page_words(p, "", VPA_PLAIN, "Next: %s.", then.text);
}

/* For a window that a device used little of. */
static void put_unused_cause(
	struct vpa_page *p, const struct vpa_digest *d, const struct vpa_idle_limit *limit)
{
	vpa_page_words(p, "CAUSE", VPA_PLAIN,
		"little GPU work: %s of %s are before the first op or after the last. Shares "
		"of the rest mean little.",
		vpa_duration(d->edge_ns).text, vpa_duration(d->windows_ns).text);
	put_idle_cause(p, d, limit, "");
}

/* A device that is always busy is limited by its work. */
static void put_busy_cause(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_digest *d, const struct vpa_unit_limit *limit)
{
	struct vpa_words w = {.used = 0}, idle = {.used = 0}, what = {.used = 0};
	size_t i;

	vpa_limit_cause(&what, r, limit->bound, limit->load);
	for (i = 0; i < r->family_count && i < LIMIT_NAMES; i++)
		vpa_words_add(&w, ", ", "%s %s %%",
			vpa_fit(vpa_family_text(d, vpa_family_name(r->families[i].family)), 96)
				.text,
			vpa_share(r->families[i].share_of_busy).text);
	for (i = 0; i < d->cause_count && !idle.used; i++)
		if (!vpa_is_edge(d->causes[i]))
			add_next_cause(&idle, d, d->causes[i]);
	vpa_page_words(
		p, "CAUSE", VPA_PLAIN, "%s: %s of busy time.", what.text, w.used ? w.text : "all");
	if (idle.used)
		vpa_page_words(p, "", VPA_PLAIN, "Idle %s %% of active; largest cause: %s.",
			vpa_percent(d->idle_ns, d->active_ns).text, idle.text);
}

static void put_cause(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_load load = vpa_load_of_all(r);
	struct vpa_unit_limit limit = {load, d->limit, vpa_idle_limit_of(d->cause_ns)};
	const char *unit;

	if (r->device_count == 1)
		limit = limit_of(r, &r->devices[0], &unit);
	if (vpa_limit_is_bound(limit.bound))
		put_busy_cause(p, r, d, &limit);
	else if (limit.bound == VPA_LIMIT_UNUSED)
		put_unused_cause(p, d, &limit.idle);
	else
		put_idle_cause(p, d, &limit.idle, "CAUSE");
}

/* What the devices that matter wait for: one that does little work waits most of the time, and that is no loss. */
static void put_main_cause(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_device *devices = vpt_alloc(r->device_count, sizeof(*devices));
	struct vpa_report of_main = *r;
	struct vpa_digest digest;
	size_t i = 0;

	if (devices)
		vpa_only_that_matter(r, devices, &of_main);
	if (of_main.device_count == r->device_count) {
		put_cause(p, r, d);
	} else {
		vpa_digest_of(&of_main, &digest);
		put_cause(p, &of_main, &digest);
		while (vpa_device_matters(r, &r->devices[i]))
			i++;
		vpa_page_words(p, "", VPA_PLAIN,
			"Left out here: GPU %lld%s, with less than a quarter of the busiest GPU's "
			"work.",
			(long long)r->devices[i].device,
			r->device_count - of_main.device_count > 1 ? " and others" : "");
	}
	vpt_free(devices);
}

void vpa_text_summary(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	p->touched = 0;
	put_data(p, r);
	put_run(p, r, d);
	vpa_text_pipeline(p, r);
	p->touched = r->touched;
	if (!r->device_count) {
		vpa_text_no_work(p, r);
		return;
	}
	if (!vpa_has_blocks(r))
		put_result(p, r, d);
	else if (vpa_text_block_result(p, r, d))
		return;
	put_main_cause(p, r, d);
}
