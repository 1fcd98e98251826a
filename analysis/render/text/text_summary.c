/* text_summary.c - how a full report, Markdown and the page begin: can it be trusted and what ran, with more detail than the first
 * screen has, then that screen's RESULT and CAUSE. */
#include "analysis/model/gpu_arch.h"
#include "analysis/render/text/screen/screen.h"
#include "analysis/report/device_limit.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- DATA ---- */

static void put_verdict(struct vpa_page *p, const struct vpa_report *r, const char *section)
{
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%s ", vpa_verdict_word(v->complete));
	if (v->received && !v->dropped && r->is_import) {
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
		vpa_text_reason(p, v, i, 1);
	if (v->reason_count > VPA_REASONS)
		vpa_page_item(p, "", "%s more under NOTES",
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

		for (run = 1;
			i + run < r->gpu_count && vpt_same_text(g->name, r->gpus[i + run].name);
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
		const char *form;
		enum vpt_metadata fact, other;
		const char *numbered; /* the form of CUDA's own number */
	} facts[] = {
		{"host %s", VPT_METADATA_HOST, VPT_METADATA_HOST, NULL},
		{"rank %s", VPT_METADATA_RANK, VPT_METADATA_RANK, NULL},
		{"driver %s", VPT_METADATA_DRIVER, VPT_METADATA_CUDA_DRIVER, "driver for CUDA %s"},
		{"CUDA %s", VPT_METADATA_CUDA_RUNTIME, VPT_METADATA_CUDA, "CUDA %s"},
		{"torch %s", VPT_METADATA_TORCH, VPT_METADATA_TORCH_VERSION, NULL},
	};
	struct vpa_words w = {.used = 0};
	int begun = vpa_text_command(p, r);
	size_t i;
	vpa_text_gpus(&w, r);
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *value =
			vpa_text_or(vpa_meta(r, facts[i].fact), vpa_meta(r, facts[i].other));

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

/* ---- the summary ---- */

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

/* What the work of the only GPU is, if some is communication. */
static void put_work(struct vpa_page *p, const struct vpa_report *r, const struct vpa_device *dev)
{
	struct vpa_words w = {.used = 0};

	if (!dev->exposed_comm_ns && !dev->comm_wait_ns)
		return;
	vpa_words_add(&w, "", "Work in the window: compute %s", vpa_duration(dev->compute_ns).text);
	if (dev->exposed_copy_ns)
		vpa_words_add(&w, ", ", "exposed copies and memsets %s",
			vpa_duration(dev->exposed_copy_ns).text);
	if (dev->exposed_comm_ns)
		vpa_words_add(&w, ", ", "exposed communication %s",
			vpa_duration(dev->exposed_comm_ns).text);
	vpa_words_add(&w, "", ".");
	if (dev->comm_wait_ns) {
		vpa_words_add(&w, " ",
			"Communication %s in total, up to %s of it waiting for other ranks%s",
			vpa_duration(dev->comm_ns).text, vpa_duration(dev->comm_wait_ns).text,
			dev->comm_sized_ns == dev->comm_ns
				? ""
				: ", if calls of one kernel and grid move equal amounts");
		add_hidden_wait(&w, r, dev);
		vpa_words_add(&w, "", ".");
	}
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

/* RESULT and CAUSE are those of the first screen, in every form of the report. */
void vpa_text_summary(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_screen s;

	vpa_screen_of(r, d, &s);
	p->touched = 0;
	put_data(p, r);
	put_run(p, r, d);
	vpa_text_pipeline(p, r);
	p->touched = r->touched;
	vpa_screen_result(p, &s);
	p->touched = r->touched;
	vpa_screen_cause(p, &s);
	p->touched = r->touched;
	if (r->device_count == 1)
		put_work(p, r, &r->devices[0]);
}
