/* screen_data.c - DATA and RUN of the first screen: whether it can be trusted, and what ran. */
#include "analysis/render/text/screen/screen.h"
#include "analysis/render/fields/run_tags.h"
#include "formats/base/saturate.h"

enum {
	REASONS = 3,
	COMMAND_LINES = 5, /* of the command: as many options as that */
	COST_PERCENT = 1   /* of the window: tracing that costs less is not mentioned */
};

/* ---- DATA ---- */

static void put_verdict(struct vpa_page *p, const struct vpa_report *r, const char *section)
{
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%s:", vpa_verdict_word(v->complete));
	if (r->is_import)
		vpa_words_add(&w, " ", "%s events read.", vpa_count(v->received).text);
	else if (v->complete || v->dropped)
		vpa_words_add(&w, " ", "%s of %s events are missing.", vpa_count(v->dropped).text,
			vpa_count(vpt_sat_add(v->received, v->dropped)).text);
	else
		vpa_words_add(&w, " ", "%s events read; how many are missing is not known.",
			vpa_count(v->received).text);
	vpa_page_words(p, section, v->complete ? VPA_GREEN : VPA_RED, "%s", w.text);
}

void vpa_text_reason(struct vpa_page *p, const struct vpa_verdict *v, size_t i, int with_remedy)
{
	const char *remedy = with_remedy && v->remedies ? v->remedies[i] : NULL;

	vpa_page_item(p, "", "%s%s%s", vpa_grouped(vpa_text_or(v->reasons[i], "?")).text,
		remedy ? ". To avoid it: " : "", vpa_text_or(remedy, ""));
}

void vpa_screen_data(struct vpa_page *p, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	const struct vpa_verdict *v = &r->verdict;
	size_t i;

	p->touched = 0;
	if (r->simulated)
		vpa_page_words(p, "DATA", VPA_RED, "%s",
			r->simulated > 0
				? "SIMULATED: no GPU ran. A stand-in made up every device time."
				: "PERHAPS SIMULATED: the records that identify a simulated GPU "
				  "are missing.");
	put_verdict(p, r, r->simulated ? "" : "DATA");
	/* The remedy of the first one only, and of those that take something from a capture. */
	for (i = 0; i < v->reason_count && i < REASONS; i++)
		vpa_text_reason(p, v, i, !v->complete && !i);
	if (v->reason_count > REASONS)
		vpa_page_item(p, "", "%s more: --only summary",
			vpa_count(v->reason_count - REASONS).text);
	if (r->has_marks)
		vpa_page_words(p, "", VPA_YELLOW,
			VPA_TOUCHED " marks figures that the missing records may change.");
	if (v->tracing_cost_share * 100 >= COST_PERCENT)
		vpa_page_words(p, "", VPA_PLAIN, "Tracing took %s %% of the window.",
			vpa_share(v->tracing_cost_share).text);
}

/* ---- RUN ---- */

/* Used and in all, of the GPU that uses most. */
static void add_memory(struct vpa_words *w, const struct vpa_report *r)
{
	const struct vpa_counter *most = NULL, *total;
	size_t i;

	for (i = 0; i < r->counter_count; i++) {
		const struct vpa_counter *c = &r->counters[i];

		if (c->device >= 0 && c->series == VPT_SERIES_MEMORY_USED &&
			(!most || c->max > most->max))
			most = c;
	}
	if (!most)
		return;
	total = vpa_find_counter(r, most->device, VPT_SERIES_MEMORY_TOTAL);
	vpa_words_add(w, ", ", "memory used %s",
		vpa_bytes(vpt_sat_u64(most->max > 0 ? most->max : 0)).text);
	if (total)
		vpa_words_add(w, " ", "of %s", vpa_bytes(vpt_sat_u64(total->max)).text);
}

/* Of a trace without a pipeline: what the GPU did. */
static void add_counts(struct vpa_words *w, const struct vpa_counts *c)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} kinds[] = {{c->kernels, "kernel", "kernels"}, {c->memcpy, "copy", "copies"},
		{c->memset, "memset", "memsets"}, {c->calls, "CUDA call", "CUDA calls"}};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].count)
			vpa_words_add(w, ", ", "%s %s", vpa_count(kinds[i].count).text,
				kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
}

/* "tags model=wan, steps=50", below the command. */
static int put_tags(struct vpa_page *p, const struct vpa_report *r, int begun)
{
	struct vpa_words w = {.used = 0};
	const struct vpa_pair *tag;
	size_t at = 0;

	while ((tag = vpa_tag_next(r, &at)) != NULL)
		vpa_words_add(&w, w.used ? ", " : "", "%s=%s", vpa_tag_of(tag->key), tag->value);
	if (w.used)
		vpa_page_words(p, begun ? "" : "RUN", VPA_PLAIN, "tags %s", w.text);
	return begun || w.used;
}

static int put_command(struct vpa_page *p, const struct vpa_report *r)
{
	const char *command = vpa_meta(r, VPT_METADATA_COMMAND);
	size_t most = COMMAND_LINES * (size_t)(p->width - VPA_INDENT);
	struct vpa_words w = {.used = 0};

	if (!command || !*command)
		return 0;
	if (vpa_columns(command) <= most) {
		vpa_page_words(p, "RUN", VPA_PLAIN, "%s", command);
		return 1;
	}
	vpa_words_add(&w, "", "%.*s ...", (int)(most - 16), command);
	vpa_page_words(p, "RUN", VPA_PLAIN, "%s", w.text);
	return 1;
}

int vpa_text_command(struct vpa_page *p, const struct vpa_report *r)
{
	return put_tags(p, r, put_command(p, r));
}

void vpa_screen_run(struct vpa_page *p, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	struct vpa_words machine = {.used = 0}, work = {.used = 0};
	size_t room;
	int begun;

	p->touched = 0;
	begun = vpa_text_command(p, r);
	vpa_text_gpus(&machine, r);
	add_memory(&machine, r);
	if (machine.used)
		vpa_page_words(p, begun ? "" : "RUN", VPA_PLAIN, "%s", machine.text);
	begun |= machine.used != 0;
	vpa_text_pipeline_work(&work, r);
	if (!work.used)
		add_counts(&work, &r->counts);
	if (work.used || s->digest->window_ns)
		vpa_words_add(&work, " ", "%s%s", work.used ? "in " : "",
			vpa_duration(s->digest->window_ns).text);
	room = p->width - VPA_INDENT - 2;
	room = room > work.used + 16 ? room - work.used : 16;
	vpa_words_add(&work, ": ", "%s", vpa_fit(r->path, room).text);
	if (work.used)
		vpa_page_words(p, begun ? "" : "RUN", VPA_PLAIN, "%s", work.text);
	if (r->window_note)
		vpa_page_words(p, "", VPA_YELLOW, "WINDOW %s", r->window_note);
}
