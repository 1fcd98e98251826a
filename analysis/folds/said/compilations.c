/* compilations.c - what torch.compile compiled: when, in which step, for how long, and why again.
 *
 * A compilation is a range with the annotation {"kind":"range","compile":"3/1"}: code 3 in its second version. Why it was
 * compiled again is the name of a mark {"kind":"recompile","function":"forward in model.py:12"} on its thread, in it or
 * before it: torch.compile says so as soon as it knows. A reason that no compilation follows is a row too. */
#include "analysis/folds/fold.h"

#include "analysis/pipeline/annotation.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum { ROWS_MAX = 4096 };

struct compilation {
	uint64_t start_ns, end_ns;
	uint32_t thread, payload, place; /* place: name of the range around it; 0: none */
	uint32_t reason, told;           /* name and payload of the mark; 0: none */
	int64_t block, step;
};

struct state {
	struct compilation *rows, *reasons; /* of reasons: start_ns, thread, reason and told */
	size_t count, cap, seen;
	size_t reason_count, reason_cap;
};

/* The text of a key in an annotation; nothing: it has none, or cannot be read. */
static struct vpt_text text_of(const struct vpa_model *m, uint32_t payload, const char *key)
{
	struct vpa_annotation_reader r = vpa_annotation_begin(vpa_name(m, payload));
	struct vpt_text found = {"", 0};
	struct vpa_annotation_member member;

	while (vpa_annotation_next(&r, &member))
		if (member.is_text && vpt_text_is(member.key, key))
			found = member.text;
	return r.failed ? (struct vpt_text){"", 0} : found;
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	const struct vpa_range *around;
	struct vpa_where where;

	if (range->unmatched || range->level == VPA_LEVEL_OPERATOR ||
		!vpt_text_holds(vpa_name(c->model, range->payload), "\"compile\"") ||
		!text_of(c->model, range->payload, "compile").len || s->seen++ >= ROWS_MAX)
		return VPT_OK;
	if (vpt_grow(&s->rows, &s->cap, s->count + 1, sizeof(*s->rows)) ||
		vpa_pipeline_where(c->pipeline, vpa_range_around(range, range->start_ns), NULL,
			range->start_ns, &where))
		return VPT_ENOMEM;
	around = vpa_range_around(range, range->start_ns);
	s->rows[s->count++] = (struct compilation){.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.thread = range->thread,
		.payload = range->payload,
		.place = around ? around->name : 0,
		.block = where.block,
		.step = where.step};
	return VPT_OK;
}

static int fold_mark(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark)
{
	struct state *s = state;

	if (!vpt_text_is(text_of(c->model, mark->payload, "kind"),
		    vpa_scope_kind_name(VPA_SCOPE_RECOMPILE)) ||
		s->reason_count == ROWS_MAX)
		return VPT_OK;
	if (vpt_grow(&s->reasons, &s->reason_cap, s->reason_count + 1, sizeof(*s->reasons)))
		return VPT_ENOMEM;
	s->reasons[s->reason_count++] = (struct compilation){.start_ns = mark->time_ns,
		.end_ns = mark->time_ns,
		.thread = mark->thread,
		.reason = mark->name,
		.told = mark->payload,
		.block = -1,
		.step = -1};
	return VPT_OK;
}

/* ---- which reason is that of which compilation ---- */

static int by_thread(const void *pa, const void *pb)
{
	const struct compilation *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int by_start(const void *pa, const void *pb)
{
	const struct vpa_compilation *a = pa, *b = pb;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Gives each reason to the first compilation of its thread that ends after it and has none. What finds none becomes a row. */
static int join(struct state *s)
{
	size_t i, k = 0, count = s->count;

	qsort(s->rows, count, sizeof(*s->rows), by_thread);
	qsort(s->reasons, s->reason_count, sizeof(*s->reasons), by_thread);
	for (i = 0; i < s->reason_count; i++) {
		const struct compilation *reason = &s->reasons[i];

		while (k < count && (s->rows[k].thread < reason->thread ||
					    (s->rows[k].thread == reason->thread &&
						    (s->rows[k].end_ns < reason->start_ns ||
							    s->rows[k].reason))))
			k++;
		if (k < count && s->rows[k].thread == reason->thread) {
			s->rows[k].reason = reason->reason;
			s->rows[k].told = reason->told;
			continue;
		}
		if (vpt_grow(&s->rows, &s->cap, s->count + 1, sizeof(*s->rows)))
			return VPT_ENOMEM;
		s->rows[s->count++] = *reason;
	}
	return VPT_OK;
}

/* ---- writing down ---- */

static const char *copy(struct vpa_report *out, struct vpt_text text)
{
	return text.len ? vpa_arena_text(&out->arena, text.text, text.len) : NULL;
}

static struct vpa_compilation row_of(
	struct vpa_report *out, const struct vpa_model *m, const struct compilation *at)
{
	const char *id = copy(out, text_of(m, at->payload, "compile"));

	return (struct vpa_compilation){.id = id ? id : "?",
		.function = copy(out, text_of(m, at->told, "function")),
		.reason = vpa_fold_name(out, m, at->reason),
		.place = vpa_fold_name(out, m, at->place),
		.block = at->block,
		.step = at->step,
		.start_ns = at->start_ns,
		.host_ns = at->end_ns - at->start_ns};
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	struct vpa_said *said = &out->said;
	size_t i;

	if (!s->count && !s->reason_count)
		return VPT_OK;
	if (join(s))
		return VPT_ENOMEM;
	said->compilations = vpa_arena_alloc(&out->arena, s->count, sizeof(*said->compilations));
	if (!said->compilations)
		return VPT_ENOMEM;
	for (i = 0; i < s->count; i++)
		said->compilations[i] = row_of(out, c->model, &s->rows[i]);
	qsort(said->compilations, s->count, sizeof(*said->compilations), by_start);
	said->compilation_count = s->count;
	said->compilations_used = s->count + (s->seen > ROWS_MAX ? s->seen - ROWS_MAX : 0);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->rows);
	vpt_free(s->reasons);
}

const struct vpa_fold vpa_fold_compilations = {
	.name = "compilations",
	.help = "compilations: in which step, for how long, and why again",
	.state_bytes = sizeof(struct state),
	.annotated = fold_range,
	.mark = fold_mark,
	.finish = finish,
	.free = free_state,
};
