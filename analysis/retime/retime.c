/* retime.c - from a trace to the lengths of spans in each world. */
#include "analysis/retime/retime.h"

#include "analysis/base/sort.h"
#include "analysis/retime/replay/replay_clocks.h"
#include "analysis/retime/replay/replay.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/event_schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)VPA_WORLD_FIRST + (int)VPA_CHANGE_LISTS_MOST <= (int)VPA_WORLDS_MOST, "worlds");

/* What all parts of a trace share. */
struct retiming {
	struct vpa_world worlds[VPA_WORLDS_MOST];
	const struct vpa_span *spans;
	double *rates;
	uint64_t *ns; /* room for the moments of all spans */
	const char *lines[VPA_TAPE_LINES];
	size_t line_count;
	struct vpa_retiming *out;
};

/* ---- a part ---- */

/* Of a span, what is to be measured in this part. */
static struct vpa_span in_part(const struct vpa_tape *t, const struct vpa_span *s)
{
	struct vpa_span part = *s;

	if (part.from_ns < t->from_ns)
		part.from_ns = t->from_ns;
	if (part.to_ns > t->to_ns)
		part.to_ns = t->to_ns;
	return part;
}

/* The ends of all spans, each once. Returns how many. */
static size_t list_moments(const struct retiming *r, const struct vpa_tape *t)
{
	size_t i, count = 0, once = 0;

	for (i = 0; i < r->out->span_count; i++) {
		struct vpa_span s = in_part(t, &r->spans[i]);

		if (s.to_ns <= s.from_ns)
			continue;
		r->ns[count++] = s.from_ns;
		r->ns[count++] = s.to_ns;
	}
	if (count)
		qsort(r->ns, count, sizeof(*r->ns), vpa_by_u64);
	for (i = 0; i < count; i++)
		if (!once || r->ns[once - 1] != r->ns[i])
			r->ns[once++] = r->ns[i];
	return once;
}

/* The times of a moment, by world. */
static const int64_t *times_at(const struct vpa_moments *m, uint64_t ns)
{
	const uint64_t *found = bsearch(&ns, m->ns, m->count, sizeof(*m->ns), vpa_by_u64);

	return &m->times_ns[(size_t)(found - m->ns) * m->worlds];
}

static void measure(const struct retiming *r, const struct vpa_tape *t, const struct vpa_moments *m)
{
	struct vpa_retiming *out = r->out;
	size_t w, i;

	for (i = 0; i < out->span_count; i++) {
		struct vpa_span s = in_part(t, &r->spans[i]);
		const int64_t *from_ns, *to_ns;

		if (s.to_ns <= s.from_ns)
			continue;
		from_ns = times_at(m, s.from_ns);
		to_ns = times_at(m, s.to_ns);
		for (w = 0; w < out->world_count; w++)
			if (to_ns[w] > from_ns[w])
				vpt_sat_add_to(
					&out->span_ns[r->worlds[w].number * out->span_count + i],
					(uint64_t)to_ns[w] - (uint64_t)from_ns[w]);
	}
}

static int run_part(const struct retiming *r, const struct vpa_tape *t, const struct vpa_edges *e,
	uint64_t *error_ns)
{
	struct vpa_effects *effects = NULL;
	struct vpa_moments moments = {0};
	size_t worlds = r->out->world_count, count = list_moments(r, t);
	int rc = vpa_effects_new(t, e, r->worlds, worlds, &effects);

	if (!rc)
		rc = vpa_moments_new(&moments, r->ns, count,
			(worlds + VPA_CLOCKS - 1) / VPA_CLOCKS * VPA_CLOCKS, t->start_ns);
	if (!rc)
		rc = vpa_replay(t, e, effects, r->worlds, worlds, &moments, error_ns);
	if (!rc)
		measure(r, t, &moments);
	vpa_moments_free(&moments);
	vpa_effects_free(effects);
	return rc;
}

static int replay_part(const struct retiming *r, struct vpa_tape *t, struct vpt_err *err)
{
	struct vpa_retiming *out = r->out;
	struct vpa_edges edges = {0};
	uint64_t error_ns = 0;
	int rc = vpa_edges_find(t, &edges);

	if (!rc)
		rc = run_part(r, t, &edges, &error_ns);
	vpt_sat_add_to(&out->unexplained_ns, edges.unexplained_ns);
	vpt_sat_add_to(&out->inferred_ns, edges.inferred_ns);
	vpt_sat_add_to(&out->handed_over_ns, edges.handed_over_ns);
	out->ops += t->measured_ops;
	out->ops_without_call += t->ops_without_call;
	out->parts++;
	vpa_edges_free(&edges);
	if (rc)
		return vpt_fail(err, rc, "no memory to replay the trace");
	if (error_ns)
		return vpt_fail(err, VPT_EUNSUPPORTED,
			"the replay without a change differs from the recording by %" PRIu64 " ns",
			error_ns);
	return VPT_OK;
}

/* ---- all parts ---- */

static int replay_all(
	const struct retiming *r, struct vpa_tape_reading *reading, struct vpt_err *err)
{
	struct vpa_tape *t;
	int rc;

	while ((rc = vpa_tape_next(reading, &t, err)) == VPT_OK) {
		rc = replay_part(r, t, err);
		if (rc)
			break;
	}
	if (rc != VPT_END)
		return rc;
	r->out->share = vpa_tape_share(reading);
	r->out->ops += vpa_tape_unjoined_ops(reading);
	r->out->ops_without_call += vpa_tape_unjoined_ops(reading);
	if (vpa_tape_has_calls(reading) && vpa_tape_has_ops(reading))
		return VPT_OK;
	return vpt_fail(err, VPT_EUNSUPPORTED, "the trace has no %s",
		vpa_tape_has_ops(reading) ? "CUDA calls" : "ops");
}

/* Whether each change has what it needs. */
static int check_rates(const struct retiming *r, struct vpt_err *err)
{
	size_t w, i;

	for (w = 0; w < r->out->world_count; w++)
		for (i = 0; i < r->worlds[w].change_count; i++) {
			const struct vpa_change *c = &r->worlds[w].changes[i];

			if (c->kind == VPA_CHANGE_PIN && !(r->worlds[w].rates[i] > 0))
				return vpt_fail(err, VPT_EINVAL,
					"no copy of this kind from or to pinned memory shows how "
					"fast they are: expected pin %s GB/s",
					vpt_word(VPT_UNIT_COPY_KIND, c->number));
		}
	return VPT_OK;
}

/* Those in which launches disappear come last. */
static void list_worlds(struct retiming *r, const struct vpa_change_list *lists, size_t list_count)
{
	struct vpa_world all[VPA_WORLDS_MOST] = {
		[VPA_WORLD_HOST] = {.no_ops = 1}, [VPA_WORLD_GPU] = {.no_host = 1}};
	size_t i, count = VPA_WORLD_FIRST + list_count, at = 0, changes = 0;

	for (i = 0; i < list_count; changes += lists[i++].count)
		all[VPA_WORLD_FIRST + i] = (struct vpa_world){.changes = lists[i].changes,
			.change_count = lists[i].count,
			.hits = r->out->hits + changes,
			.rates = r->rates + changes};
	for (i = 0; i < count; i++) {
		all[i].number = i;
		if (!vpa_world_deletes(&all[i]))
			r->worlds[at++] = all[i];
	}
	for (i = 0; i < count; i++)
		if (vpa_world_deletes(&all[i]))
			r->worlds[at++] = all[i];
}

/* The lines of Python that changes name, each once. VPT_EINVAL: they are too many. */
static int list_lines(struct retiming *r, struct vpt_err *err)
{
	size_t w, i, k;

	for (w = 0; w < r->out->world_count; w++)
		for (i = 0; i < r->worlds[w].change_count; i++) {
			const char *line = r->worlds[w].changes[i].line;

			for (k = 0; k < r->line_count && strcmp(r->lines[k], line) != 0; k++)
				;
			if (!*line || k < r->line_count)
				continue;
			if (k == VPA_TAPE_LINES)
				return vpt_fail(err, VPT_EINVAL,
					"expected changes at no more than %d lines",
					(int)VPA_TAPE_LINES);
			r->lines[r->line_count++] = line;
		}
	return VPT_OK;
}

/* Room for the answer, which is all zeros. */
static int start(struct retiming *r, const struct vpa_change_list *lists, size_t list_count,
	size_t span_count)
{
	struct vpa_retiming *out = r->out;
	size_t i, changes = 0;

	for (i = 0; i < list_count; i++)
		changes += lists[i].count;
	*out = (struct vpa_retiming){
		.world_count = VPA_WORLD_FIRST + list_count, .span_count = span_count};
	out->span_ns = vpt_calloc(out->world_count * (span_count + 1), sizeof(*out->span_ns));
	out->hits = vpt_calloc(changes + 1, sizeof(*out->hits));
	r->rates = vpt_calloc(changes + 1, sizeof(*r->rates));
	r->ns = vpt_alloc(2 * span_count + 1, sizeof(*r->ns));
	if (!out->span_ns || !out->hits || !r->rates || !r->ns)
		return VPT_ENOMEM;
	list_worlds(r, lists, list_count);
	return VPT_OK;
}

/* From the first span's start to the last one's end. */
static void find_window(const struct vpa_span *spans, size_t count, struct vpa_tape_limits *limits)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!i || spans[i].from_ns < limits->window_from_ns)
			limits->window_from_ns = spans[i].from_ns;
		if (!i || spans[i].to_ns > limits->window_to_ns)
			limits->window_to_ns = spans[i].to_ns;
	}
}

int vpa_retime_in_parts(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	uint64_t at_once, const struct vpa_change_list *lists, size_t list_count,
	const struct vpa_span *spans, size_t span_count, struct vpa_retiming *out,
	struct vpt_err *err)
{
	struct vpa_tape_limits limits = {.part = at_once, .most = most, .window_to_ns = UINT64_MAX};
	struct vpa_tape_reading *reading = NULL;
	struct retiming r = {.spans = spans, .out = out};
	int rc;

	if (list_count > VPA_CHANGE_LISTS_MOST)
		list_count = VPA_CHANGE_LISTS_MOST;
	rc = start(&r, lists, list_count, span_count)
		     ? vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace")
		     : list_lines(&r, err);
	find_window(spans, span_count, &limits);
	limits.lines = r.lines;
	limits.line_count = r.line_count;
	if (!rc)
		rc = vpa_tape_open(trace, jobs, &limits, &reading, err);
	if (!rc)
		rc = replay_all(&r, reading, err);
	if (!rc)
		rc = check_rates(&r, err);
	vpa_tape_close(reading);
	vpt_free(r.rates);
	vpt_free(r.ns);
	return rc;
}

int vpa_retime(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	const struct vpa_change_list *lists, size_t list_count, const struct vpa_span *spans,
	size_t span_count, struct vpa_retiming *out, struct vpt_err *err)
{
	return vpa_retime_in_parts(trace, jobs, most, VPA_REPLAYED_AT_ONCE, lists, list_count,
		spans, span_count, out, err);
}

void vpa_retiming_free(struct vpa_retiming *r)
{
	vpt_free(r->span_ns);
	vpt_free(r->hits);
	*r = (struct vpa_retiming){0};
}
