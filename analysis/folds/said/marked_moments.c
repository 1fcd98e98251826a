/* marked_moments.c - marks that say no more than their name: how often, and when. A mark with an annotation of a known kind has a
 * table of its own. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/pipeline/range_scopes.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 4096 };

struct moment {
	uint64_t count, first_ns, last_ns;
};

struct state {
	struct vpa_index index; /* (name, domain) */
	struct moment *moments;
	size_t cap;
};

static int is_annotation(const struct vpa_model *m, uint32_t payload)
{
	struct vpt_text text = vpa_name(m, payload);
	struct vpa_scope_label label;

	return payload && !vpa_scope_read(text.text, text.len, &label) &&
	       label.kind != VPA_SCOPE_NONE;
}

static int fold_mark(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark)
{
	struct state *s = state;
	size_t before = s->index.count;
	struct moment *m;
	uint32_t at;

	if (is_annotation(c->model, mark->payload) ||
		!vpa_index_has_room(&s->index, NAMES_MAX, mark->name, mark->domain))
		return VPT_OK;
	at = vpa_index_row(
		&s->index, mark->name, mark->domain, &s->moments, &s->cap, sizeof(*s->moments));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	m = &s->moments[at];
	if (s->index.count > before)
		*m = (struct moment){.first_ns = UINT64_MAX};
	m->count++;
	m->first_ns = mark->time_ns < m->first_ns ? mark->time_ns : m->first_ns;
	m->last_ns = mark->time_ns > m->last_ns ? mark->time_ns : m->last_ns;
	return VPT_OK;
}

static int by_first(const void *pa, const void *pb)
{
	const struct vpa_moment *a = pa, *b = pb;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_said *said = &out->said;
	struct state *s = state;
	size_t i, count = s->index.count;

	if (!count)
		return VPT_OK;
	said->moments = vpa_arena_alloc(&out->arena, count, sizeof(*said->moments));
	if (!said->moments)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		const struct vpa_index_entry *key = &s->index.entries[i];
		const struct moment *m = &s->moments[i];
		const char *name = vpa_fold_name(out, c->model, (uint32_t)key->a);

		said->moments[i] = (struct vpa_moment){.name = name ? name : "(no name)",
			.domain = vpa_fold_name(out, c->model, (uint32_t)key->b),
			.count = m->count,
			.first_ns = m->first_ns,
			.after_ns = vpt_sat_sub(m->first_ns, c->model->window_start_ns),
			.span_ns = m->last_ns - m->first_ns};
	}
	qsort(said->moments, count, sizeof(*said->moments), by_first);
	said->moments_used = count;
	said->moment_count = count < c->top ? count : c->top;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->moments);
}

const struct vpa_fold vpa_fold_moments = {
	.name = "moments",
	.help = "marks without an annotation: how often, and when",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.mark = fold_mark,
	.finish = finish,
	.free = free_state,
};
