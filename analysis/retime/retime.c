/* retime.c - from a trace to the lengths of spans in each world. */
#include "analysis/retime/retime.h"

#include "analysis/retime/replay.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

_Static_assert((int)VPA_WORLD_FIRST + (int)VPA_CHANGE_LISTS_MOST <= (int)VPA_WORLDS_MOST, "worlds");

static int by_time(const void *a, const void *b)
{
	const struct vpa_moment *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The ends of all spans, each once. */
static size_t list_moments(
	struct vpa_moment *moments, const struct vpa_span *spans, size_t span_count)
{
	size_t i, count = 0;

	for (i = 0; i < span_count; i++) {
		moments[2 * i].ns = spans[i].from_ns;
		moments[2 * i + 1].ns = spans[i].to_ns;
	}
	if (span_count)
		qsort(moments, 2 * span_count, sizeof(*moments), by_time);
	for (i = 0; i < 2 * span_count; i++)
		if (!count || moments[count - 1].ns != moments[i].ns)
			moments[count++] = moments[i];
	return count;
}

static const struct vpa_moment *moment_at(
	const struct vpa_moment *moments, size_t count, uint64_t ns)
{
	struct vpa_moment key = {.ns = ns};

	return bsearch(&key, moments, count, sizeof(*moments), by_time);
}

static void measure(struct vpa_retiming *out, const struct vpa_span *spans,
	const struct vpa_moment *moments, size_t count)
{
	size_t w, i;

	for (w = 0; w < out->world_count; w++)
		for (i = 0; i < out->span_count; i++) {
			int64_t from_ns = moment_at(moments, count, spans[i].from_ns)->times_ns[w];
			int64_t to_ns = moment_at(moments, count, spans[i].to_ns)->times_ns[w];

			out->span_ns[w * out->span_count + i] =
				to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
		}
}

static int replay(struct vpa_tape *t, const struct vpa_edges *e, const struct vpa_world *worlds,
	const struct vpa_span *spans, struct vpa_moment *moments, struct vpa_retiming *out,
	struct vpt_err *err)
{
	struct vpa_effects effects = {0};
	size_t count = list_moments(moments, spans, out->span_count);
	uint64_t error_ns = 0;
	int rc = vpa_effects_find(t, e, worlds, out->world_count, &effects, out->hits, err);

	if (!rc && vpa_replay(t, e, &effects, worlds, out->world_count, moments, count, &error_ns))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	if (!rc && error_ns)
		rc = vpt_fail(err, VPT_EUNSUPPORTED,
			"the replay without a change differs from the recording by %" PRIu64 " ns",
			error_ns);
	if (!rc)
		measure(out, spans, moments, count);
	vpa_effects_free(&effects);
	return rc;
}

static void list_worlds(
	struct vpa_world *worlds, const struct vpa_change_list *lists, size_t list_count)
{
	size_t i;

	worlds[VPA_WORLD_RECORDED] = (struct vpa_world){0};
	worlds[VPA_WORLD_HOST] = (struct vpa_world){.no_ops = 1};
	worlds[VPA_WORLD_GPU] = (struct vpa_world){.no_host = 1};
	for (i = 0; i < list_count; i++)
		worlds[VPA_WORLD_FIRST + i] = (struct vpa_world){
			.changes = lists[i].changes, .change_count = lists[i].count};
}

int vpa_retime(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	const struct vpa_change_list *lists, size_t list_count, const struct vpa_span *spans,
	size_t span_count, struct vpa_retiming *out, struct vpt_err *err)
{
	struct vpa_world worlds[VPA_WORLDS_MOST];
	struct vpa_tape tape = {0};
	struct vpa_edges edges = {0};
	struct vpa_moment *moments = vpt_calloc(2 * span_count + 1, sizeof(*moments));
	size_t i, hits = 0;
	int rc;

	if (list_count > VPA_CHANGE_LISTS_MOST)
		list_count = VPA_CHANGE_LISTS_MOST;
	for (i = 0; i < list_count; i++)
		hits += lists[i].count;
	list_worlds(worlds, lists, list_count);
	*out = (struct vpa_retiming){
		.world_count = VPA_WORLD_FIRST + list_count, .span_count = span_count};
	out->span_ns = vpt_calloc(out->world_count * (span_count + 1), sizeof(*out->span_ns));
	out->hits = vpt_calloc(hits + 1, sizeof(*out->hits));
	rc = moments && out->span_ns && out->hits
		     ? vpa_tape_read(trace, jobs, most, &tape, err)
		     : vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
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
