/* range_window.c - the window of a range: a first pass that only finds it, from its start on the host to the end of its last op,
 * begins shortly before it, and reads no further. */
#include "analysis/trace_pass.h"

#include "analysis/pipeline/range_choice.h"
#include "analysis/pipeline/range_seek.h"
#include "analysis/trust/window_errors.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <string.h>

struct look {
	struct vpa_trace_pass pass;
	struct vpa_range_choice choice;
	struct vpa_range_census census; /* until the range is found */
	int is_annotated; /* a request is: then those that only have its name are none */
};

static void look_chain(struct vpa_range *range, uint64_t launch_ns, uint64_t end_ns)
{
	range = vpa_range_open_at(range, launch_ns);
	for (; range; range = vpa_range_around(range, launch_ns))
		if (end_ns > range->gpu.last_ns)
			range->gpu.last_ns = end_ns;
}

static int look_ops(void *ctx, struct vpa_ops *ops)
{
	size_t i, k = 0;

	(void)ctx;
	for (i = 0; i < ops->count; i++) {
		const struct vpa_op_stretch *s = vpa_ops_stretch(ops, i, &k);

		look_chain(s->range, ops->launch_start_ns[i], ops->end_ns[i]);
		look_chain(s->process_range, ops->launch_start_ns[i], ops->end_ns[i]);
	}
	return VPT_OK;
}

/* Whether the window may be this range's. */
static int is_meant(void *ctx, const struct vpa_range *range)
{
	struct look *l = ctx;
	struct vpa_scope_label label = {.kind = VPA_SCOPE_NONE};

	if (l->pass.options->range)
		return vpa_range_choice_takes(&l->choice, vpa_name(&l->pass.model, range->name),
			vpa_range_name(&l->pass.model, range));
	l->pass.resolver.failed |= vpa_pipeline_request(&l->pass.pipeline, range, &label);
	if (label.kind == VPA_SCOPE_REQUEST && label.source == VPA_SOURCE_ANNOTATION &&
		!l->is_annotated) {
		l->is_annotated = 1;
		l->choice.count = 0;
	}
	return label.kind == VPA_SCOPE_REQUEST &&
	       (label.source == VPA_SOURCE_ANNOTATION || !l->is_annotated);
}

/* Whether the rest of the file changes nothing. */
static int is_found(void *ctx)
{
	struct look *l = ctx;
	const struct vpa_range_time *time;

	if (l->choice.left + l->choice.count < l->choice.number)
		return 0;
	time = vpa_range_choice_early(
		&l->choice, vpa_resolver_unfinished(&l->pass.resolver, is_meant, ctx));
	return time && time->end_ns > time->start_ns;
}

static int look_range(void *ctx, struct vpa_range *range)
{
	struct look *l = ctx;
	struct vpa_range_choice *choice = &l->choice;
	uint64_t end_ns = range->end_ns > range->gpu.last_ns ? range->end_ns : range->gpu.last_ns;

	if (is_meant(l, range))
		return vpa_range_choice_add(choice, range->start_ns, end_ns);
	return choice->count ? VPT_OK : vpa_range_census_add(&l->census, range->name);
}

/* The range was not found, or nothing can be inside it. */
static int fail_range(struct look *l, struct vpt_err *err)
{
	const char *range = l->pass.options->range;

	if (vpa_completeness_end(&l->pass.reading))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the report");
	if (vpa_range_choice_get(&l->choice))
		return vpa_window_of_nothing(&l->pass.reading, range, err);
	if (l->choice.count || !range)
		return vpa_window_of_too_many(&l->pass.reading, &l->choice, err);
	return vpa_range_census_fail(&l->census, &l->pass.model, &l->pass.reading, range, err);
}

static const char *note_of(struct vpa_report *r, const struct vpa_range_choice *c)
{
	if (!c->text)
		return vpa_arena_printf(&r->arena, "request %" PRIu64, c->number);
	if (c->number == 1)
		return vpa_arena_printf(
			&r->arena, "range \"%.*s\", first instance", (int)c->name_len, c->text);
	return vpa_arena_printf(&r->arena, "range \"%.*s\", instance %" PRIu64, (int)c->name_len,
		c->text, c->number);
}

static int read_until_found(struct look *l, struct vpt_err *err)
{
	const struct vpa_resolver_sink sink = {.ops = look_ops, .range = look_range, .ctx = l};
	struct vpa_trace_pass *p = &l->pass;
	int rc = vpa_trace_pass_start(p, &sink, err);

	if (!rc)
		rc = vpa_trace_pass_read(p, err);
	if (!rc)
		rc = vpa_resolver_release(&p->resolver, UINT64_MAX);
	vpa_trace_pass_end_window(p);
	return rc ? rc : vpa_resolver_end(&p->resolver, p->model.window_end_ns);
}

/* Leaves out the chunks before `from`. */
static int read_from(struct vpa_trace_pass *p, size_t from)
{
	struct vpt_chunk_choice *c = &p->chosen;

	if (!from)
		return VPT_OK;
	c->count = vpt_trace_chunks(p->trace);
	c->uses = vpt_calloc(c->count, 1);
	if (!c->uses)
		return VPT_ENOMEM;
	memset(c->uses + from, VPT_CHUNK_READ, c->count - from);
	c->read = c->count - from;
	c->until_ns = UINT64_MAX;
	return VPT_OK;
}

/* VPT_END: the range may have begun before the first chunk that is read. */
static int look_from(struct look *l, const struct vpa_range_seek *seek, size_t from,
	struct vpa_interval *out, struct vpt_err *err)
{
	const struct vpa_options *options = l->pass.options;
	struct vpa_report *report = l->pass.report;
	const struct vpa_range_time *time;
	int rc;

	l->pass.is_enough = is_found;
	l->pass.is_enough_ctx = l;
	l->pass.model.window_end_ns = UINT64_MAX;
	/* The chunks that a pass reads are told once. */
	report->gpu_count = report->meta_count = 0;
	vpa_range_choice_init(&l->choice, options->range, options->request);
	vpa_range_seek_leave(seek, l->pass.trace, from, &l->choice);
	rc = read_from(&l->pass, from);
	rc = rc ? vpt_fail(err, rc, "no memory to choose chunks") : read_until_found(l, err);
	time = vpa_range_choice_get(&l->choice);
	if (time)
		*out = (struct vpa_interval){time->start_ns, time->end_ns};
	report->window_note = note_of(report, &l->choice);
	if (!rc && !(time && time->end_ns > time->start_ns))
		rc = from ? VPT_END : fail_range(l, err);
	vpa_range_census_free(&l->census);
	vpa_range_choice_free(&l->choice);
	vpa_trace_pass_free(&l->pass);
	return rc;
}

/* Reads a few chunks before the one in which the instance ends, and more where it began earlier. */
int vpa_range_window(const struct vpt_trace *trace, const struct vpa_options *options,
	struct vpa_report *report, struct vpa_interval *out, struct vpt_err *err)
{
	enum { FEW = 2, MORE = 8 };
	struct vpa_range_seek seek = {.is_known = 0};
	size_t back = FEW, from;
	int rc = options->range ? vpa_range_seek(trace, options->range, options->jobs, &seek)
				: VPT_OK;

	if (rc)
		rc = vpt_fail(err, rc, "cannot look for a range");
	else
		do {
			struct look l = {
				.pass = {.trace = trace, .options = options, .report = report}};

			from = seek.is_known && seek.target > back ? seek.target - back : 0;
			rc = look_from(&l, &seek, from, out, err);
			back *= MORE;
		} while (rc == VPT_END && from);
	vpa_range_seek_free(&seek);
	return rc;
}
