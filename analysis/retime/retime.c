/* retime.c - from a trace to the lengths of spans in each world. */
#include "analysis/retime/retime.h"

#include "analysis/retime/clocks.h"
#include "analysis/retime/replay.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

_Static_assert((int)VPA_WORLD_FIRST + (int)VPA_CHANGE_LISTS_MOST <= (int)VPA_WORLDS_MOST, "worlds");

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The ends of all spans, each once. Returns how many. */
static size_t list_moments(uint64_t *ns, const struct vpa_span *spans, size_t span_count)
{
	size_t i, count = 0;

	for (i = 0; i < span_count; i++) {
		ns[2 * i] = spans[i].from_ns;
		ns[2 * i + 1] = spans[i].to_ns;
	}
	if (span_count)
		qsort(ns, 2 * span_count, sizeof(*ns), by_time);
	for (i = 0; i < 2 * span_count; i++)
		if (!count || ns[count - 1] != ns[i])
			ns[count++] = ns[i];
	return count;
}

/* The times of a moment, by world. */
static const int64_t *times_at(const struct vpa_moments *m, uint64_t ns)
{
	const uint64_t *found = bsearch(&ns, m->ns, m->count, sizeof(*m->ns), by_time);

	return &m->times_ns[(size_t)(found - m->ns) * m->worlds];
}

static void measure(struct vpa_retiming *out, const struct vpa_span *spans,
	const struct vpa_world *worlds, const struct vpa_moments *m)
{
	size_t w, i;

	for (i = 0; i < out->span_count; i++) {
		const int64_t *from_ns = times_at(m, spans[i].from_ns),
			      *to_ns = times_at(m, spans[i].to_ns);

		for (w = 0; w < out->world_count; w++)
			out->span_ns[worlds[w].number * out->span_count + i] =
				to_ns[w] > from_ns[w] ? (uint64_t)to_ns[w] - (uint64_t)from_ns[w]
						      : 0;
	}
}

static int replay(struct vpa_tape *t, const struct vpa_edges *e, const struct vpa_world *worlds,
	const struct vpa_span *spans, uint64_t *ns, struct vpa_retiming *out, struct vpt_err *err)
{
	struct vpa_effects *effects = NULL;
	struct vpa_moments moments = {0};
	size_t count = list_moments(ns, spans, out->span_count);
	size_t row = (out->world_count + VPA_CLOCKS - 1) / VPA_CLOCKS * VPA_CLOCKS;
	uint64_t error_ns = 0;
	int rc = vpa_effects_new(t, e, worlds, out->world_count, &effects, err);

	if (!rc &&
		(vpa_moments_new(&moments, ns, count, row, t->start_ns) ||
			vpa_replay(t, e, effects, worlds, out->world_count, &moments, &error_ns)))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	if (!rc && error_ns)
		rc = vpt_fail(err, VPT_EUNSUPPORTED,
			"the replay without a change differs from the recording by %" PRIu64 " ns",
			error_ns);
	if (!rc)
		measure(out, spans, worlds, &moments);
	vpa_moments_free(&moments);
	vpa_effects_free(effects);
	return rc;
}

/* Those in which launches disappear come last. */
static void list_worlds(struct vpa_world *worlds, const struct vpa_change_list *lists,
	size_t list_count, uint64_t *hits)
{
	struct vpa_world all[VPA_WORLDS_MOST] = {
		[VPA_WORLD_HOST] = {.no_ops = 1}, [VPA_WORLD_GPU] = {.no_host = 1}};
	size_t i, count = VPA_WORLD_FIRST + list_count, at = 0;

	for (i = 0; i < list_count; hits += lists[i++].count)
		all[VPA_WORLD_FIRST + i] = (struct vpa_world){
			.changes = lists[i].changes, .change_count = lists[i].count, .hits = hits};
	for (i = 0; i < count; i++) {
		all[i].number = i;
		if (!vpa_world_deletes(&all[i]))
			worlds[at++] = all[i];
	}
	for (i = 0; i < count; i++)
		if (vpa_world_deletes(&all[i]))
			worlds[at++] = all[i];
}

int vpa_retime(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	const struct vpa_change_list *lists, size_t list_count, const struct vpa_span *spans,
	size_t span_count, struct vpa_retiming *out, struct vpt_err *err)
{
	struct vpa_world worlds[VPA_WORLDS_MOST];
	struct vpa_tape tape = {0};
	struct vpa_edges edges = {0};
	uint64_t *moments = vpt_calloc(2 * span_count + 1, sizeof(*moments));
	size_t i, hits = 0;
	int rc;

	if (list_count > VPA_CHANGE_LISTS_MOST)
		list_count = VPA_CHANGE_LISTS_MOST;
	for (i = 0; i < list_count; i++)
		hits += lists[i].count;
	*out = (struct vpa_retiming){
		.world_count = VPA_WORLD_FIRST + list_count, .span_count = span_count};
	out->span_ns = vpt_calloc(out->world_count * (span_count + 1), sizeof(*out->span_ns));
	out->hits = vpt_calloc(hits + 1, sizeof(*out->hits));
	rc = moments && out->span_ns && out->hits
		     ? vpa_tape_read(trace, jobs, most, &tape, err)
		     : vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	if (!rc)
		list_worlds(worlds, lists, list_count, out->hits);
	if (!rc && vpa_edges_find(&tape, &edges))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	if (!rc) {
		out->unexplained_ns = edges.unexplained_ns;
		out->inferred_ns = edges.inferred_ns;
		out->handed_over_ns = edges.handed_over_ns;
		out->ops = tape.op_count;
		out->ops_without_call = tape.ops_without_call;
		rc = replay(&tape, &edges, worlds, spans, moments, out, err);
	}
	vpa_edges_free(&edges);
	vpa_tape_free(&tape);
	vpt_free(moments);
	return rc;
}

void vpa_retiming_free(struct vpa_retiming *r)
{
	vpt_free(r->span_ns);
	vpt_free(r->hits);
	*r = (struct vpa_retiming){0};
}
