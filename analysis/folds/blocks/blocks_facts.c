/* blocks_facts.c - facts of requests, and passes per step.
 *
 * A fact belongs to the newest request of its thread that had begun, if that one was open. What it says is text of
 * the traced program: a number that cannot be one is unknown. */
#include "analysis/folds/blocks/blocks_facts.h"

#include "analysis/join/resolver.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 1 << 18, OTHER_FACTS_MAX = 32, DIGITS_MAX = 15 };

int vpa_blocks_fact_add(struct vpa_blocks_table *s, const struct vpa_mark *mark)
{
	if (s->fact_count == FACTS_MAX) {
		s->too_many++;
		return VPT_OK;
	}
	if (vpt_grow(&s->facts, &s->fact_cap, s->fact_count + 1, sizeof(*s->facts)))
		return VPT_ENOMEM;
	s->facts[s->fact_count++] = *mark;
	return VPT_OK;
}

/* ---- values ---- */

/* A whole number of up to 15 digits; 0: it is none. */
static uint64_t natural_of(struct vpt_text text)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (!vpt_is_digit(text.text[i]) || i == DIGITS_MAX)
			return 0;
		value = value * 10 + (uint64_t)(text.text[i] - '0');
	}
	return value;
}

/* A number such as 5, 7.5 or 0.125, whatever the locale; below 0: it is none. */
static double decimal_of(struct vpt_text text)
{
	const char *point = memchr(text.text, '.', text.len);
	size_t whole = point ? (size_t)(point - text.text) : text.len, i;
	double value = 0, place = 1;

	if (!whole || whole > DIGITS_MAX || text.len > 2 * DIGITS_MAX)
		return -1;
	for (i = 0; i < text.len; i++) {
		if (i == whole)
			continue;
		if (!vpt_is_digit(text.text[i]))
			return -1;
		place /= i > whole ? 10 : 1;
		value = i > whole ? value + place * (text.text[i] - '0')
				  : value * 10 + (text.text[i] - '0');
	}
	return value;
}

/* ---- the facts of a request ---- */

static int put_other(struct vpa_report *out, struct vpa_request *r, const struct vpa_fact *fact)
{
	size_t i;

	if (!r->facts)
		r->facts = vpa_arena_alloc(&out->arena, OTHER_FACTS_MAX, sizeof(*r->facts));
	if (!r->facts)
		return VPT_ENOMEM;
	for (i = 0; i < r->fact_count; i++)
		if (vpt_text_is(fact->name, r->facts[i].key))
			break;
	if (i == OTHER_FACTS_MAX)
		return VPT_OK;
	r->facts[i].key = vpa_arena_text(&out->arena, fact->name.text, fact->name.len);
	r->facts[i].value = vpa_arena_text(&out->arena, fact->value.text, fact->value.len);
	r->fact_count += i == r->fact_count;
	return r->facts[i].key && r->facts[i].value ? VPT_OK : VPT_ENOMEM;
}

static int put_fact(struct vpa_report *out, struct vpa_request *r, const struct vpa_fact *fact)
{
	const struct {
		const char *name;
		uint64_t *natural;
		double *decimal;
		const char **text;
	} known[] = {
		{"height", &r->height, NULL, NULL},
		{"width", &r->width, NULL, NULL},
		{"steps", &r->steps_asked, NULL, NULL},
		{"batch", &r->batch, NULL, NULL},
		{"frames_asked", &r->frames_asked, NULL, NULL},
		{"frames", &r->frames_told, NULL, NULL},
		{"guidance", NULL, &r->guidance, NULL},
		{"seed", NULL, NULL, &r->seed},
		{"error", NULL, NULL, &r->error},
	};
	size_t i;

	for (i = 0; i < COUNT(known) && !vpt_text_is(fact->name, known[i].name); i++)
		;
	if (i == COUNT(known))
		return put_other(out, r, fact);
	if (known[i].natural)
		*known[i].natural = natural_of(fact->value);
	else if (known[i].decimal)
		*known[i].decimal = decimal_of(fact->value);
	else
		*known[i].text = vpa_arena_text(&out->arena, fact->value.text, fact->value.len);
	return known[i].text && !*known[i].text ? VPT_ENOMEM : VPT_OK;
}

static int by_time(const void *pa, const void *pb)
{
	const struct vpa_mark *a = pa, *b = pb;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Goes through facts and requests in the order of time. `newest`, by thread: 1 + the group of the newest request. */
static int write_in_order(struct vpa_blocks_writer *w, uint32_t *newest)
{
	const struct vpa_blocks_table *s = w->s;
	size_t group = 0, i;
	int rc = VPT_OK;

	for (i = 0; i < s->fact_count && !rc; i++) {
		const struct vpa_mark *mark = &s->facts[i];
		struct vpt_text text = vpa_name(w->c->model, mark->payload);
		struct vpa_fact fact;
		const struct vpa_blocks_group *g;

		for (; group < w->group_count && w->groups[group].start_ns <= mark->time_ns;
			group++)
			if (w->groups[group].scope)
				newest[w->groups[group].scope->thread] = (uint32_t)group + 1;
		if (!newest[mark->thread])
			continue;
		g = &w->groups[newest[mark->thread] - 1];
		if (g->request && g->host_end_ns >= mark->time_ns &&
			!vpa_fact_read(text.text, text.len, &fact))
			rc = put_fact(w->out, g->request, &fact);
	}
	return rc;
}

int vpa_blocks_facts_write(struct vpa_blocks_writer *w)
{
	struct vpa_blocks_table *s = w->s;
	uint32_t *newest;
	int rc;

	if (!s->fact_count)
		return VPT_OK;
	newest = vpt_calloc(w->c->model->thread_count, sizeof(*newest));
	if (!newest)
		return VPT_ENOMEM;
	qsort(s->facts, s->fact_count, sizeof(*s->facts), by_time);
	rc = write_in_order(w, newest);
	vpt_free(newest);
	return rc;
}

int vpa_request_has_no_video(const struct vpa_request *r)
{
	size_t i;

	for (i = 0; i < r->fact_count; i++)
		if (!strcmp(r->facts[i].key, "output") &&
			!strncmp(r->facts[i].value, "latent", strlen("latent")))
			return 1;
	return r->error != NULL;
}

/* ---- passes ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct vpa_stage_sample *const *a = pa, *const *b = pb;

	return (*a)->first_ns < (*b)->first_ns ? -1 : (*a)->first_ns > (*b)->first_ns;
}

/* Whether a moment is in one of these steps, which are in the order of their starts. */
static int is_in(const struct vpa_stage_sample *const *steps, size_t count, uint64_t time_ns)
{
	size_t low = 0, high = count;

	VPT_SEARCH(low, high, middle, steps[middle]->first_ns <= time_ns);
	return low && time_ns - steps[low - 1]->first_ns < steps[low - 1]->ns;
}

/* The model is the stage with most time in the steps: it holds its parts. */
static double passes_of(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	const struct vpa_stage_sample *const *steps, size_t count)
{
	struct {
		uint64_t count, ns;
	} rows[VPA_STAGE_ROWS_MAX] = {{0}};
	size_t i, best = 0;

	for (i = 0; i < g->sample_count; i++) {
		const struct vpa_stage_sample *sample = &w->s->samples[g->samples[i]];

		if (sample->row >= VPA_STAGE_ROWS_MAX ||
			vpa_row_kind(w, &w->s->rows[sample->row]) != VPA_SCOPE_STAGE ||
			!is_in(steps, count, sample->first_ns))
			continue;
		rows[sample->row].count++;
		rows[sample->row].ns += sample->ns;
	}
	for (i = 1; i < VPA_STAGE_ROWS_MAX; i++)
		if (rows[i].ns > rows[best].ns)
			best = i;
	return rows[best].count ? (double)rows[best].count / (double)count : -1;
}

int vpa_group_passes(struct vpa_blocks_writer *w, struct vpa_blocks_group *g)
{
	const struct vpa_stage_sample **steps = vpt_alloc(g->sample_count, sizeof(*steps));
	size_t count = 0, i;

	if (!steps)
		return VPT_ENOMEM;
	for (i = 0; i < g->sample_count; i++) {
		const struct vpa_stage_sample *sample = &w->s->samples[g->samples[i]];

		if (vpa_row_kind(w, &w->s->rows[sample->row]) == VPA_SCOPE_STEP)
			steps[count++] = sample;
	}
	qsort(steps, count, sizeof(*steps), by_start);
	if (count)
		g->request->passes_per_step = passes_of(w, g, steps, count);
	vpt_free(steps);
	return VPT_OK;
}
