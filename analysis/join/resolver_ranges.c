/* resolver_ranges.c - adds ranges: rows of ended ones, and of those open at the chunk's end. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"
#include "formats/base/text.h"

#include <string.h>

/* Maximum number of open ranges; ranges beyond it are added when they end. */
enum { OPEN_MAX = 1 << 16 };

#define SHAPES "\"shapes\""

/* A range as a row describes it. */
struct range_row {
	uint64_t start_ns, end_ns; /* end ~0: still open */
	struct vpa_range_name name;
	uint32_t domain, payload;
	uint8_t kind, unmatched;
};

static struct vpa_timeline *timeline_of(
	struct vpa_resolver *r, uint32_t thread, const struct range_row *row)
{
	if (row->kind == VPT_RANGEKIND_START_END || row->name.is_wide)
		return &r->processes[r->model->threads[thread].process].ranges;
	return &r->pasts[thread].ranges;
}

int vpa_resolver_annotation(struct vpa_resolver *r, const struct vpt_batch *b, uint32_t domain,
	uint64_t type, uint64_t value, uint32_t *payload)
{
	const uint32_t *domains = r->maps->domains;
	struct vpt_text text;

	*payload = 0;
	if (type != VPT_PAYLOAD_JSON || (domain && domain != domains[VPT_DOMAIN_OWN] &&
						domain != domains[VPT_DOMAIN_OPERATORS] &&
						domain != domains[VPT_DOMAIN_NCCL]))
		return VPT_OK;
	if (vpa_maps_name(r, b, value, payload))
		return VPT_ENOMEM;
	text = vpa_name(r->model, *payload);
	if (!r->model->has_flop)
		r->model->has_flop = vpt_text_holds(text, "\"flop\"");
	if (!r->model->has_shapes)
		r->model->has_shapes = vpt_text_holds(text, SHAPES);
	if (!r->model->has_traffic)
		r->model->has_traffic =
			vpt_text_holds(text, "\"bytes\"") || vpt_text_holds(text, "\"elements\"");
	return VPT_OK;
}

static enum vpa_range_level level_of(const struct vpa_resolver *r, const struct range_row *row)
{
	static const char iteration[] = "ProfilerStep#";
	struct vpt_text name = vpa_name(r->model, row->name.name);

	if (name.len >= sizeof(iteration) - 1 &&
		!memcmp(name.text, iteration, sizeof(iteration) - 1))
		return VPA_LEVEL_ITERATION;
	if (row->kind == VPT_RANGEKIND_START_END || !row->domain)
		return VPA_LEVEL_ANNOTATION;
	return row->domain == r->maps->domains[VPT_DOMAIN_OPERATORS]   ? VPA_LEVEL_OPERATOR
	       : row->domain == r->maps->domains[VPT_DOMAIN_FUNCTIONS] ? VPA_LEVEL_FUNCTION
								       : VPA_LEVEL_ANNOTATION;
}

static int add_range(struct vpa_resolver *r, struct vpa_timeline *t, uint32_t thread,
	const struct range_row *row)
{
	struct vpa_range *range = vpa_range_new(&r->pool);

	if (!range)
		return VPT_ENOMEM;
	range->start_ns = row->start_ns;
	range->end_ns = row->end_ns;
	range->name = row->name.name;
	range->recorded = row->name.recorded;
	range->domain = row->domain;
	range->kind = (uint8_t)(row->kind & 15u);
	range->unmatched = row->unmatched & 1u;
	range->like_operator =
		row->name.like_operator ||
		(row->domain && row->domain == r->maps->domains[VPT_DOMAIN_OPERATORS]);
	range->loads = row->name.loads & 1u;
	range->payload = row->payload;
	range->thread = thread;
	range->level = (uint8_t)(level_of(r, row) & 7u);
	range->says_shapes = row->payload && r->model->has_shapes &&
			     range->level == VPA_LEVEL_ANNOTATION &&
			     vpt_text_holds(vpa_name(r->model, row->payload), SHAPES);
	r->model->has_operators |= vpa_range_is_operator(range);
	return vpa_timeline_add(t, range);
}

/* Notes marks as their ranges are added. */
static int note_mark(struct vpa_resolver *r, uint32_t thread, const struct range_row *row)
{
	if (!row->name.mark)
		return VPT_OK;
	return vpa_marked_spans_note(&r->marked_spans,
		&(struct vpa_marked_span_note){.mark = (enum vpa_marked_span_mark)row->name.mark,
			.thread = thread,
			.process = r->model->threads[thread].process,
			.name = row->name.name,
			.start_ns = row->start_ns,
			.end_ns = row->end_ns});
}

/* Whether an earlier chunk listed the range. */
static int is_listed(struct vpa_timeline *t, const struct range_row *row)
{
	const struct vpa_range as = {.start_ns = row->start_ns,
		.name = row->name.name,
		.domain = row->domain,
		.payload = row->payload};

	return vpa_timeline_still_open(t, &as);
}

static int add_open_ranges(struct vpa_resolver *r, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_OPEN);
	struct vpa_timeline *t;
	uint64_t left_out = 0;
	uint32_t row, thread;
	int rc = VPT_OK;

	for (row = 0; s && !rc && row < s->row_count; row++) {
		struct range_row values = {.start_ns = s->col[VPT_OPEN_START][row],
			.end_ns = UINT64_MAX,
			.kind = s->col[VPT_OPEN_RANGE_KIND][row] == VPT_RANGEKIND_START_END};

		rc = vpa_maps_thread(r, s->col[VPT_OPEN_LANE][row], &thread);
		if (!rc)
			rc = vpa_maps_range_name(r, b, s->col[VPT_OPEN_NAME][row], &values.name);
		if (!rc)
			rc = vpa_maps_name(r, b, s->col[VPT_OPEN_DOMAIN][row], &values.domain);
		if (!rc)
			rc = vpa_resolver_annotation(r, b, values.domain,
				s->col[VPT_OPEN_PAYLOAD][row], s->col[VPT_OPEN_VALUE][row],
				&values.payload);
		if (!rc)
			rc = note_mark(r, thread, &values);
		if (rc)
			break;
		t = timeline_of(r, thread, &values);
		if (is_listed(t, &values))
			continue;
		if (r->open_count < OPEN_MAX) {
			rc = add_range(r, t, thread, &values);
			r->open_count++;
		} else {
			left_out++;
		}
	}
	/* Each chunk lists all open ranges. */
	if (left_out > r->open_left_out)
		r->open_left_out = left_out;
	return rc;
}

static void count_range(struct vpa_resolver *r, const struct range_row *v)
{
	if (v->start_ns < r->model->window_start_ns || v->start_ns > r->model->window_end_ns ||
		v->unmatched)
		return;
	if (v->domain && v->domain == r->maps->domains[VPT_DOMAIN_OPERATORS])
		r->counts.cpu_ops++;
	else
		r->counts.ranges++;
}

/* Ends the range if it was open at the end of the last chunk. */
VPA_RARE static int end_range(struct vpa_timeline *t, const struct range_row *row, int *ended)
{
	const struct vpa_range as = {.start_ns = row->start_ns,
		.end_ns = row->end_ns,
		.name = row->name.name,
		.domain = row->domain,
		.payload = row->payload,
		.unmatched = row->unmatched & 1u};

	return vpa_timeline_end_open(t, &as, ended);
}

static int add_range_rows(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	const uint64_t *const *col = (const uint64_t *const *)s->col;
	uint32_t thread, row;
	int rc = vpa_maps_thread(r, s->lane, &thread);

	for (row = 0; !rc && row < s->row_count; row++) {
		uint64_t start = col[VPT_RANGE_START][row],
			 end = start + col[VPT_RANGE_DURATION][row];
		struct range_row values = {.start_ns = start,
			.end_ns = end < start ? start : end,
			.kind = col[VPT_RANGE_RANGE_KIND][row] == VPT_RANGEKIND_START_END,
			.unmatched = col[VPT_RANGE_UNMATCHED][row] != 0};
		struct vpa_timeline *t;
		int ended = 0;

		rc = vpa_maps_range_name(r, b, col[VPT_RANGE_NAME][row], &values.name);
		if (!rc)
			rc = vpa_maps_name(r, b, col[VPT_RANGE_DOMAIN][row], &values.domain);
		if (!rc)
			rc = vpa_resolver_annotation(r, b, values.domain,
				col[VPT_RANGE_PAYLOAD][row], col[VPT_RANGE_VALUE][row],
				&values.payload);
		if (!rc)
			rc = note_mark(r, thread, &values);
		if (rc)
			break;
		count_range(r, &values);
		t = timeline_of(r, thread, &values);
		if (vpa_open_may_have(&t->open, start))
			rc = end_range(t, &values, &ended);
		if (ended)
			r->open_count--;
		else if (!rc)
			rc = add_range(r, t, thread, &values);
	}
	return rc;
}

static int settle_ranges(struct vpa_resolver *r)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; !rc && i < r->threads.count; i++)
		rc = vpa_timeline_settle(&r->pasts[r->threads.items[i]].ranges, &r->pool);
	for (i = 0; !rc && i < r->process_count; i++)
		rc = vpa_timeline_settle(&r->processes[i].ranges, &r->pool);
	return rc;
}

int vpa_resolver_add_ranges(struct vpa_resolver *r, const struct vpt_batch *b)
{
	size_t i;
	int rc = add_open_ranges(r, b);

	for (i = 0; !rc && i < b->section_count; i++)
		if (b->sections[i].kind == VPT_RANGE)
			rc = add_range_rows(r, b, &b->sections[i]);
	if (!rc)
		rc = vpa_marked_spans_settle(&r->marked_spans);
	return rc ? rc : settle_ranges(r);
}

uint64_t vpa_resolver_unfinished(
	const struct vpa_resolver *r, vpa_range_is_meant *is_meant, void *ctx)
{
	uint64_t earliest = r->open_left_out ? 0 : UINT64_MAX;
	size_t i;

	for (i = 0; i < r->model->thread_count; i++)
		earliest = vpa_earlier(
			earliest, vpa_timeline_unfinished(&r->pasts[i].ranges, is_meant, ctx));
	for (i = 0; i < r->process_count; i++)
		earliest = vpa_earlier(
			earliest, vpa_timeline_unfinished(&r->processes[i].ranges, is_meant, ctx));
	return earliest;
}
