/* text.c - the first screen: can it be trusted, what ran, what limits it, and where.
 *
 * The reader has 20 seconds. So the verdict comes first, then one line a device with the word that
 * names its limit, then the cause in a sentence, then what to fix; tables that prove it follow.
 * Without GPU work one sentence says so. Every number has a unit, and a share says of what.
 *
 * Where a capture has video blocks, FPS and the mean block lead: text_blocks.c. Otherwise a line says how to
 * mark a pipeline. */
#include "analysis/gpu_arch.h"
#include "analysis/render/render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	RESULTS = 8,     /* devices with a line of their own */
	LIMIT_NAMES = 3, /* causes or families in the sentence */
	BOUND_PERCENT = 90
};

/* ---- sums over devices ---- */

int vpa_is_edge(enum vpa_cause cause)
{
	return cause == VPA_CAUSE_BEFORE_FIRST_WORK || cause == VPA_CAUSE_AFTER_LAST_WORK;
}

enum vpa_cause vpa_known_cause(enum vpa_cause cause)
{
	return (unsigned)cause < VPA_CAUSES ? cause : VPA_CAUSE_UNKNOWN;
}

static int same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void add_place(struct vpa_digest *d, const struct vpa_idle_part *part)
{
	struct vpa_idle_place *p = d->places, *end = p + d->place_count;

	for (; p < end; p++)
		if (p->cause == part->cause && same(p->call, part->call) &&
			same(p->range, part->range))
			break;
	if (p == end) {
		if (d->place_count == VPA_PLACES)
			return;
		*p = (struct vpa_idle_place){
			.cause = part->cause, .call = part->call, .range = part->range};
		d->place_count++;
	}
	p->ns += part->ns;
	p->gaps += part->gaps;
}

static void add_device(struct vpa_digest *d, const struct vpa_device *dev)
{
	size_t i;

	d->windows_ns += d->window_ns;
	d->active_ns += dev->active_ns;
	d->busy_ns += dev->busy_ns;
	d->idle_ns += dev->idle_ns;
	d->gaps += dev->gaps;
	d->window_idle_ns += dev->window_idle_ns;
	for (i = 0; i < dev->opened_by_count; i++) {
		struct vpa_idle_part part = dev->opened_by[i];

		part.cause = vpa_known_cause(part.cause);
		d->opened_ns[part.cause] += part.ns;
		d->opened_gaps[part.cause] += part.gaps;
		d->window_gaps += part.gaps;
		add_place(d, &part);
	}
	for (i = 0; i < dev->spent_in_count; i++)
		d->spent_ns[vpa_known_cause(dev->spent_in[i].cause)] += dev->spent_in[i].ns;
}

/* Insertion sorts: there are few, and equal ones keep their order, on every machine. */
static void sort_places(struct vpa_digest *d)
{
	size_t i, at;

	for (i = 1; i < d->place_count; i++) {
		struct vpa_idle_place p = d->places[i];

		for (at = i; at && d->places[at - 1].ns < p.ns; at--)
			d->places[at] = d->places[at - 1];
		d->places[at] = p;
	}
}

static void sort_causes(struct vpa_digest *d)
{
	unsigned cause;
	size_t at;

	for (cause = 0; cause < VPA_CAUSES; cause++) {
		if (!d->opened_ns[cause])
			continue;
		for (at = d->opened_count++; at; at--) {
			if (d->opened_ns[d->opened[at - 1]] >= d->opened_ns[cause])
				break;
			d->opened[at] = d->opened[at - 1];
		}
		d->opened[at] = (enum vpa_cause)cause;
	}
}

static int is_bound(uint64_t busy_ns, uint64_t active_ns)
{
	return active_ns &&
	       (unsigned __int128)busy_ns * 100 >= (unsigned __int128)active_ns * BOUND_PERCENT;
}

void vpa_digest_of(const struct vpa_report *r, struct vpa_digest *d)
{
	size_t i;

	memset(d, 0, sizeof(*d));
	d->window_ns = vpa_window_ns(r);
	for (i = 0; i < r->device_count; i++)
		add_device(d, &r->devices[i]);
	sort_places(d);
	sort_causes(d);
	d->edge_ns =
		d->opened_ns[VPA_CAUSE_BEFORE_FIRST_WORK] + d->opened_ns[VPA_CAUSE_AFTER_LAST_WORK];
	d->unknown = vpa_unknown_label(r);
	d->gpu_bound = is_bound(d->busy_ns, d->active_ns);
	d->decimals = d->window_ns < 10000000 ? 3 : d->window_ns < 1000000000 ? 2 : 1;
}

const char *vpa_family_text(const struct vpa_digest *d, const char *family)
{
	return same(family, "unknown") ? d->unknown.text : vpa_text_or(family, "?");
}

struct vpa_label vpa_place(const char *call, const char *range, size_t columns)
{
	struct vpa_label where = {{0}}, first, second;
	size_t width;

	/* Small places were added up: both say so. */
	if (!range || same(call, range))
		return vpa_fit(call, columns);
	if (!call) {
		first = vpa_fit(range, columns > 3 ? columns - 3 : 0);
		snprintf(where.text, sizeof(where.text), "in %.500s", first.text);
		return where;
	}
	width = vpa_columns(call);
	if (width > columns / 2)
		width = columns / 2;
	first = vpa_fit(call, width);
	second = vpa_fit(range, columns > width + 4 ? columns - width - 4 : 0);
	snprintf(where.text, sizeof(where.text), "%.250s in %.250s", first.text, second.text);
	return where;
}

/* ---- words put together ---- */

void vpa_words_add(struct vpa_words *w, const char *separator, const char *fmt, ...)
{
	char part[512];
	size_t before, len;
	va_list args;

	va_start(args, fmt);
	if (vsnprintf(part, sizeof(part), fmt, args) < 0)
		part[0] = '\0';
	va_end(args);
	len = strlen(part);
	before = w->used ? strlen(separator) : 0;
	if (!len || w->used + before + len >= sizeof(w->text))
		return;
	memcpy(w->text + w->used, separator, before);
	memcpy(w->text + w->used + before, part, len + 1);
	w->used += before + len;
}

static const char *meta(const struct vpa_report *r, const char *key)
{
	size_t i;

	for (i = 0; i < r->meta_count; i++)
		if (r->meta[i].key && r->meta[i].value && !strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- DATA ---- */

static void put_verdict(struct vpa_page *p, const struct vpa_report *r, const char *section)
{
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%s ", v->complete ? "COMPLETE" : "INCOMPLETE");
	if (v->received && !v->dropped && r->format && strcmp(r->format, "vptrace")) {
		/* Other tools' files do not tell what was dropped. */
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
			vpa_count(v->ops_without_launch).text, plural(v->ops_without_launch));
	vpa_page_words(p, section, v->complete ? VPA_GREEN : VPA_RED, "%s", w.text);
}

static void put_data(struct vpa_page *p, const struct vpa_report *r)
{
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_words cost = {.used = 0};
	size_t i;

	if (r->simulated)
		vpa_page_words(p, "DATA", VPA_RED,
			"SIMULATED: no GPU ran. A stand-in made up every device time below.");
	put_verdict(p, r, r->simulated ? "" : "DATA");
	for (i = 0; i < v->reason_count && i < VPA_REASONS; i++)
		vpa_page_words(p, "", VPA_PLAIN, "- %s", vpa_text_or(v->reasons[i], "?"));
	if (v->reason_count > VPA_REASONS)
		vpa_page_words(p, "", VPA_PLAIN, "- %s more under NOTES",
			vpa_count(v->reason_count - VPA_REASONS).text);
	if (v->tracing_cost_share >= 0)
		vpa_words_add(&cost, ", ", "Tracing cost %s %% of the window",
			vpa_share(v->tracing_cost_share).text);
	if (v->overhead_ns)
		vpa_words_add(&cost, ", ", "profiling library at work %s",
			vpa_duration(v->overhead_ns).text);
	if (cost.used)
		vpa_page_words(p, "", VPA_PLAIN, "%s", cost.text);
}

/* ---- RUN ---- */

static void add_gpus(struct vpa_words *w, const struct vpa_report *r)
{
	size_t i, run;

	for (i = 0; i < r->gpu_count; i += run) {
		const struct vpa_gpu *g = &r->gpus[i];
		char arch[VPA_ARCH_BYTES];

		for (run = 1; i + run < r->gpu_count && same(g->name, r->gpus[i + run].name); run++)
			;
		vpa_gpu_arch(g, arch);
		vpa_words_add(
			w, ", ", "%zu x %s", run, vpa_fit(vpa_text_or(g->name, "GPU"), 40).text);
		if (arch[0])
			vpa_words_add(w, " ", "(%s)", arch);
	}
	if (r->device_count && r->device_count < r->gpu_count)
		vpa_words_add(w, ", ", "%zu at work", r->device_count);
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

static void put_run(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct {
		const char *form, *key, *other;
	} facts[] = {
		{"host %s", "host", "hostname"},
		{"rank %s", "rank", "rank"},
		{"driver %s", "driver", "cuda_driver"},
		{"CUDA %s", "cuda_runtime", "cuda"},
		{"torch %s", "torch", "torch_version"},
	};
	struct vpa_words w = {.used = 0};
	const char *command = meta(r, "command");
	size_t i;

	if (command)
		vpa_page_words(
			p, "RUN", VPA_PLAIN, "%s", vpa_fit(command, p->width - VPA_INDENT).text);
	add_gpus(&w, r);
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *value = vpa_text_or(meta(r, facts[i].key), meta(r, facts[i].other));

		if (value)
			vpa_words_add(&w, ", ", facts[i].form, vpa_fit(value, 32).text);
	}
	if (w.used)
		vpa_page_words(p, command ? "" : "RUN", VPA_PLAIN, "%s", w.text);
	vpa_page_words(p, command || w.used ? "" : "RUN", VPA_PLAIN, "%s in %s trace %s",
		vpa_duration(d->window_ns).text,
		vpa_fit(vpa_text_or(r->format, "unknown"), 20).text,
		vpa_fit(r->path, p->width - VPA_INDENT - 30).text);
	put_counts(p, &r->counts);
	if (r->window_note)
		vpa_page_words(p, "", VPA_YELLOW, "WINDOW %s", r->window_note);
}

/* ---- RESULT ---- */

/* What opened most of a device's idle time between its first and its last op. */
static enum vpa_cause main_cause(const struct vpa_device *dev)
{
	uint64_t sums[VPA_CAUSES] = {0};
	unsigned best = VPA_CAUSES, cause;
	size_t i;

	for (i = 0; i < dev->opened_by_count; i++)
		sums[vpa_known_cause(dev->opened_by[i].cause)] += dev->opened_by[i].ns;
	for (cause = 0; cause < VPA_CAUSES; cause++)
		if (sums[cause] && !vpa_is_edge((enum vpa_cause)cause) &&
			(best == VPA_CAUSES || sums[cause] > sums[best]))
			best = cause;
	return (enum vpa_cause)best;
}

static void put_device_result(struct vpa_page *p, const struct vpa_device *dev,
	const struct vpa_digest *d, const char *section)
{
	enum vpa_cause cause = main_cause(dev);
	struct vpa_words w = {.used = 0};

	if (is_bound(dev->busy_ns, dev->active_ns))
		vpa_words_add(&w, "", "GPU-BOUND%s",
			dev->exposed_copy_ns > dev->busy_ns / 2   ? ", by copies"
			: dev->exposed_comm_ns > dev->busy_ns / 2 ? ", by communication"
								  : "");
	else if (cause < VPA_CAUSES)
		vpa_words_add(&w, "", "limited by %s", vpa_cause_text(cause));
	else
		vpa_words_add(&w, "", "idle for reasons not known");
	vpa_page_words(p, section, VPA_PLAIN, "GPU %lld busy %s %% of active, %s %% of window: %s",
		(long long)dev->device, vpa_percent(dev->busy_ns, dev->active_ns).text,
		vpa_percent(dev->busy_ns, d->window_ns).text, w.text);
}

static void put_busy(struct vpa_page *p, const struct vpa_device *dev)
{
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "busy %s: compute %s", vpa_duration(dev->busy_ns).text,
		vpa_duration(dev->compute_ns).text);
	if (dev->exposed_copy_ns)
		vpa_words_add(&w, ", ", "copies and memsets no kernel hides %s",
			vpa_duration(dev->exposed_copy_ns).text);
	if (dev->exposed_comm_ns)
		vpa_words_add(&w, ", ", "communication no compute hides %s",
			vpa_duration(dev->exposed_comm_ns).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

static void put_result(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t i;

	for (i = 0; i < r->device_count && i < RESULTS; i++)
		put_device_result(p, &r->devices[i], d, i ? "" : "RESULT");
	if (r->device_count > RESULTS)
		vpa_page_words(
			p, "", VPA_PLAIN, "and %zu more GPUs, below", r->device_count - RESULTS);
	if (r->device_count == 1)
		put_busy(p, &r->devices[0]);
	/* A twentieth of the window is no longer a matter of when the recording began. */
	if (d->edge_ns > d->windows_ns / 20)
		vpa_page_words(p, "", VPA_PLAIN,
			"no work for %s before the first op, %s after the last",
			vpa_duration(d->opened_ns[VPA_CAUSE_BEFORE_FIRST_WORK]).text,
			vpa_duration(d->opened_ns[VPA_CAUSE_AFTER_LAST_WORK]).text);
}

/* ---- CAUSE ---- */

static const struct vpa_idle_place *place_of(const struct vpa_digest *d, enum vpa_cause cause)
{
	size_t i;

	for (i = 0; i < d->place_count; i++)
		if (d->places[i].cause == cause)
			return &d->places[i];
	return NULL;
}

struct vpa_idle_place vpa_call_of(const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges)
{
	const struct vpa_idle_place *first = place_of(d, cause);
	struct vpa_idle_place sum = {.cause = cause};
	size_t i;

	*ranges = 0;
	if (!first || !first->call || same(first->call, first->range))
		return sum;
	sum.call = first->call;
	for (i = 0; i < d->place_count; i++) {
		if (d->places[i].cause != cause || !same(d->places[i].call, sum.call))
			continue;
		sum.ns += d->places[i].ns;
		sum.gaps += d->places[i].gaps;
		*ranges += 1;
	}
	return sum;
}

/* "98.1 ms of it: cudaStreamSynchronize in self_attn." Where no place has half of it, the call over
 * all its ranges says more. */
static void add_main_place(struct vpa_words *w, const struct vpa_digest *d, enum vpa_cause cause)
{
	const struct vpa_idle_place *at = place_of(d, cause);
	uint64_t all_ns = d->opened_ns[cause];
	struct vpa_idle_place call;
	struct vpa_label where;
	size_t ranges;
	uint64_t ns;

	if (!at)
		return;
	call = vpa_call_of(d, cause, &ranges);
	where = vpa_place(at->call, at->range, 64);
	ns = at->ns;
	if (ns < all_ns / 2 && ranges > 1) {
		snprintf(where.text, sizeof(where.text), "%.300s in %zu ranges",
			vpa_fit(call.call, 48).text, ranges);
		ns = call.ns;
	}
	if (where.text[0])
		vpa_words_add(w, " ", "%s of it: %s.", ns < all_ns ? vpa_duration(ns).text : "All",
			where.text);
}

/* "sync drain: 108 ms of 157 ms idle, 328 gaps, mean 330 us.", where, and what it means. */
static void put_first_cause(struct vpa_page *p, const struct vpa_digest *d, enum vpa_cause cause)
{
	const char *help = vpa_cause_help(cause);
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%s: %s of %s idle, %s gap%s, mean %s.", vpa_cause_text(cause),
		vpa_duration(d->opened_ns[cause]).text, vpa_duration(d->idle_ns).text,
		vpa_count(d->opened_gaps[cause]).text, plural(d->opened_gaps[cause]),
		vpa_mean(d->opened_ns[cause], d->opened_gaps[cause]).text);
	add_main_place(&w, d, cause);
	if (help && help[0] >= 'a' && help[0] <= 'z')
		vpa_words_add(&w, " ", "%c%s.", help[0] - 'a' + 'A', help + 1);
	vpa_page_words(p, "CAUSE", VPA_PLAIN, "%s", w.text);
}

/* The place only where most of it is. */
static void add_next_cause(struct vpa_words *w, const struct vpa_digest *d, enum vpa_cause cause)
{
	const struct vpa_idle_place *at = place_of(d, cause);
	struct vpa_label where = {{0}};

	if (at && at->ns >= d->opened_ns[cause] / 2)
		where = vpa_place(at->call, at->range, 40);
	vpa_words_add(w, "; ", "%s %s%s%s", vpa_cause_text(cause),
		vpa_duration(d->opened_ns[cause]).text, where.text[0] ? ", " : "", where.text);
}

/* Without head and tail of the window; what is under a twentieth of the idle time is not why. */
static void put_idle_cause(struct vpa_page *p, const struct vpa_digest *d)
{
	struct vpa_words then = {.used = 0};
	size_t i, shown = 0;

	for (i = 0; i < d->opened_count && shown < LIMIT_NAMES; i++) {
		enum vpa_cause cause = d->opened[i];

		if (vpa_is_edge(cause) || d->opened_ns[cause] < d->idle_ns / 20)
			continue;
		if (!shown++)
			put_first_cause(p, d, cause);
		else
			add_next_cause(&then, d, cause);
	}
	if (then.used)
		vpa_page_words(p, "", VPA_PLAIN, "Then %s.", then.text);
}

/* A device that always works is limited by its work. */
static void put_busy_cause(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_words w = {.used = 0}, idle = {.used = 0};
	size_t i;

	for (i = 0; i < r->family_count && i < LIMIT_NAMES; i++)
		vpa_words_add(&w, ", ", "%s %s %%",
			vpa_fit(vpa_family_text(d, r->families[i].family), 96).text,
			vpa_share(r->families[i].share_of_busy).text);
	for (i = 0; i < d->opened_count && !idle.used; i++)
		if (!vpa_is_edge(d->opened[i]))
			add_next_cause(&idle, d, d->opened[i]);
	vpa_page_words(p, "CAUSE", VPA_PLAIN, "the work itself: %s of busy time.",
		w.used ? w.text : "all");
	if (idle.used)
		vpa_page_words(p, "", VPA_PLAIN, "Idle %s %% of active, first of all: %s.",
			vpa_percent(d->idle_ns, d->active_ns).text, idle.text);
}

static void put_no_work(struct vpa_page *p, const struct vpa_report *r)
{
	uint64_t ops = r->counts.kernels + r->counts.memcpy + r->counts.memset;

	if (!ops && r->window_note)
		vpa_page_words(p, "RESULT", VPA_YELLOW,
			"No GPU work in this window: no kernel, copy or memset lies in it, only "
			"what the host did.");
	else if (ops)
		vpa_page_words(p, "RESULT", VPA_YELLOW,
			"No GPU work in this trace: of its %s kernels, copies and memsets none has "
			"a "
			"duration.",
			vpa_count(ops).text);
	else
		vpa_page_words(p, "RESULT", VPA_YELLOW,
			"No GPU work in this trace: it holds no kernel, copy or memset, only what "
			"the "
			"host did. Check that the GPU was used while it was recorded, and that GPU "
			"activities were switched on.");
}

void vpa_text_summary(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	put_data(p, r);
	put_run(p, r, d);
	vpa_text_pipeline(p, r);
	if (!r->device_count) {
		put_no_work(p, r);
		return;
	}
	if (!vpa_has_blocks(r))
		put_result(p, r, d);
	else if (vpa_text_block_result(p, r, d))
		return;
	if (d->gpu_bound)
		put_busy_cause(p, r, d);
	else
		put_idle_cause(p, d);
}

/* ---- the page ---- */

int vpa_render_text(const struct vpa_report *r, unsigned width, int colour, struct vpt_sink *sink,
	struct vpt_err *err)
{
	struct vpa_digest d;
	struct vpa_page p;

	vpa_digest_of(r, &d);
	vpa_page_init(&p, sink, width ? width : 80, colour, err);
	vpa_text_summary(&p, r, &d);
	vpa_text_findings(&p, r);
	vpa_text_blocks(&p, r, &d);
	if (r->device_count) {
		vpa_text_devices(&p, r, &d);
		vpa_text_window(&p, r, &d);
		vpa_text_gaps(&p, r, &d);
	}
	vpa_text_work(&p, r, &d);
	vpa_text_notes(&p, r);
	vpa_text_next(&p, r);
	return p.rc;
}
