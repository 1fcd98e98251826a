/* tape_parts.c - reads a trace part by part. */
#include "analysis/retime/tape/tape_reading.h"

#include "analysis/join/prefetch.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum {
	CONTEXT = 8192, /* ops before a part that may matter to it */
	PARTS_MOST = 16 /* as many rows as these have may be in memory, if rows reach back */
};

/* ---- what one part leaves to the next ---- */

/* The end of the op that ended last by a time, or 0. Of ops before number `before` only, in order of start. */
static uint64_t last_end(const struct vpa_tape *t, uint64_t by_ns, size_t before)
{
	uint64_t end_ns = 0;
	size_t i;

	for (i = 0; i < before; i++)
		if (t->ops[i].end_ns <= by_ns && t->ops[i].end_ns > end_ns)
			end_ns = t->ops[i].end_ns;
	return end_ns;
}

static int keep_ops(struct vpa_tape_reading *r, size_t first)
{
	struct vpa_tape *t = r->tape;
	size_t count = t->op_count - first, i;
	uint64_t *correlations = vpt_alloc(count + 1, sizeof(*correlations));

	if (!correlations)
		return VPT_ENOMEM;
	if (first)
		memmove(t->ops, t->ops + first, count * sizeof(*t->ops));
	for (i = 0; i < count; i++) {
		correlations[i] = r->correlations[t->ops[i].row];
		t->ops[i].row = (uint32_t)i;
		t->ops[i].call = VPA_TAPE_NONE;
	}
	vpt_free(r->correlations);
	r->correlations = correlations;
	r->correlation_cap = count + 1;
	t->op_count = r->op_order.ordered = count;
	return VPT_OK;
}

static void keep_rows(struct vpa_tape_reading *r, uint64_t from_ns)
{
	size_t first = 0;

	while (first < r->row_count && r->rows[first].start_ns < from_ns)
		first++;
	r->row_count -= first;
	if (first)
		memmove(r->rows, r->rows + first, r->row_count * sizeof(*r->rows));
	r->row_order.ordered = r->row_count;
}

static void keep_others(struct vpa_tape *t, uint64_t from_ns)
{
	size_t i, count = 0;

	for (i = 0; i < t->range_count; i++)
		if (t->ranges[i].end_ns > from_ns && !t->ranges[i].is_open)
			t->ranges[count++] = t->ranges[i];
	t->range_count = count;
	for (i = count = 0; i < t->sync_count; i++)
		if (t->syncs[i].ns >= from_ns)
			t->syncs[count++] = t->syncs[i];
	t->sync_count = count;
	for (i = count = 0; i < t->sample_count; i++)
		if (t->samples[i].ns >= from_ns)
			t->samples[count++] = t->samples[i];
	t->sample_count = count;
}

/* Drops what the part before had and the next one does not need: all but what reaches beyond `from_ns`, and as many ops
 * before that as may matter, with their calls. */
static int keep_context(struct vpa_tape_reading *r, uint64_t from_ns)
{
	struct vpa_tape *t = r->tape;
	uint64_t calls_from_ns = from_ns;
	size_t first = 0;

	r->row_order.is_disordered = r->op_order.is_disordered = 0;
	r->row_order.moved = r->op_order.moved = 0;
	while (first < t->op_count && t->ops[first].start_ns < from_ns)
		first++;
	if (from_ns == UINT64_MAX)
		first = t->op_count;
	else
		first = first > CONTEXT ? first - CONTEXT : 0;
	if (first < t->op_count) {
		const struct vpa_tape_op *o = &t->ops[first];

		calls_from_ns = o->start_ns < from_ns ? o->start_ns : from_ns;
		if (o->call != VPA_TAPE_NONE)
			calls_from_ns = t->calls[o->call].start_ns;
	}
	keep_others(t, calls_from_ns);
	keep_rows(r, calls_from_ns);
	return keep_ops(r, first);
}

/* ---- a part ---- */

static uint64_t in_memory(const struct vpa_tape_reading *r)
{
	return r->row_count + r->tape->op_count;
}

/* Of a trace that is too large, how far apart parts begin, so that about `most` calls and ops of all are read, and the
 * last part ends with the trace. The first part says how many chunks one has. */
static void plan(struct vpa_tape_reading *r)
{
	size_t chunks = r->next_chunk - r->first_chunk;
	uint64_t taken = r->limits.most / r->limits.part;

	if (taken < 2 || chunks * taken >= r->chunk_count)
		return;
	r->stride = (double)(r->chunk_count - chunks) / (double)(taken - 1);
	/* Less than a chunk apart, some parts follow each other. */
	if (r->stride >= (double)chunks + 1)
		r->stride = (double)(uint64_t)r->stride;
}

/* How many chunks are left out before the next part. */
static size_t skip_of(const struct vpa_tape_reading *r)
{
	double begins = r->stride * (double)r->part_number;

	return begins > (double)r->next_chunk ? (size_t)begins - r->next_chunk : 0;
}

/* Whether the part has enough, and where it ends: by then nothing may be missing of what has begun. If that is not after its
 * start, more has to be read. */
static int is_full(struct vpa_tape_reading *r)
{
	struct vpa_tape *t = r->tape;

	if (in_memory(r) < r->enough)
		return 0;
	r->enough += r->enough / 8;
	t->to_ns =
		last_end(t, vpt_trace_times_from(r->trace, r->begin + r->next_chunk), t->op_count);
	return t->to_ns > t->from_ns;
}

/* Of a part after some that were left out: its first ops are there for those that follow. */
static void begin_anew(struct vpa_tape *t, int is_last)
{
	size_t context = t->op_count / 2 < CONTEXT ? t->op_count / 2 : CONTEXT;

	if (t->from_ns == UINT64_MAX && context && (is_last || context == CONTEXT))
		t->from_ns = last_end(t, UINT64_MAX, context);
}

static int next_chunk(struct vpa_tape_reading *r, struct vpt_batch **b, struct vpt_err *err)
{
	int rc = vpa_prefetch_next(r->chunks, b, err);

	r->next_chunk += rc != VPT_END;
	r->has_ended = rc == VPT_END;
	return rc;
}

/* Reads chunks until the part is full. */
static int read_part(struct vpa_tape_reading *r, struct vpt_err *err)
{
	struct vpa_tape *t = r->tape;
	struct vpt_batch *b;
	int rc;

	while ((rc = next_chunk(r, &b, err)) != VPT_END) {
		if (rc == VPT_EDATA)
			continue;
		rc = rc ? rc : vpa_tape_read_lanes(r, b);
		rc = rc ? rc : vpa_tape_read_chunk(r, b);
		if (rc)
			return rc;
		begin_anew(t, r->next_chunk == r->chunk_count);
		if (is_full(r) || r->next_chunk == r->chunk_count)
			return vpa_tape_read_open(r, b);
		if (in_memory(r) / PARTS_MOST > r->limits.part)
			return vpt_fail(err, VPT_EUNSUPPORTED,
				"more than %" PRIu64 " calls and ops overlap in time",
				PARTS_MOST * r->limits.part);
	}
	return VPT_OK;
}

/* Leaves out chunks, except for their lanes. */
static int skip_chunks(struct vpa_tape_reading *r, struct vpt_err *err)
{
	size_t left = r->skip;
	struct vpt_batch *b;
	int rc = VPT_OK;

	for (; left && !r->has_ended; left--) {
		rc = next_chunk(r, &b, err);
		r->skipped += rc != VPT_END;
		rc = rc == VPT_EDATA || rc == VPT_END ? VPT_OK
		     : rc                             ? rc
						      : vpa_tape_read_lanes(r, b);
		if (rc)
			return rc;
	}
	return VPT_OK;
}

/* From the end of the part before, if there is one. */
static int begin_part(struct vpa_tape_reading *r, struct vpt_err *err)
{
	struct vpa_tape *t = r->tape;
	int rc;

	r->enough = r->limits.part;
	if (!r->next_chunk)
		return VPT_OK;
	if (!r->first_chunk)
		plan(r);
	r->part_number++;
	r->skip = skip_of(r);
	r->first_chunk = r->next_chunk;
	t->from_ns = r->skip ? UINT64_MAX : t->to_ns;
	rc = keep_context(r, t->from_ns);
	/* What is kept may be much, if it begins far ahead; still each part brings as much again. */
	if (r->enough < 2 * in_memory(r))
		r->enough = 2 * in_memory(r);
	return rc ? rc : skip_chunks(r, err);
}

/* Ops of a part that nothing is joined in, and that nobody gets. */
static void count_unjoined(struct vpa_tape_reading *r)
{
	size_t i;

	for (i = 0; i < r->tape->op_count; i++)
		r->unjoined_ops += (uint64_t)vpa_tape_counts(r->tape, r->tape->ops[i].start_ns);
}

static int end_part(struct vpa_tape_reading *r)
{
	struct vpa_tape *t = r->tape;
	int rc = vpa_tape_order(r, 1);

	if (r->has_ended || r->next_chunk == r->chunk_count)
		t->to_ns = UINT64_MAX;
	r->has_calls |= r->row_count > 0;
	r->has_ops |= t->op_count > 0;
	if (rc)
		return rc;
	if (!r->row_count || !t->op_count) {
		count_unjoined(r);
		return VPT_OK;
	}
	rc = vpa_tape_join(r);
	if (!rc)
		t->start_ns = t->calls[0].start_ns < t->ops[0].start_ns ? t->calls[0].start_ns
									: t->ops[0].start_ns;
	return rc;
}

int vpa_tape_next(struct vpa_tape_reading *r, struct vpa_tape **out, struct vpt_err *err)
{
	int rc;

	*out = r->tape;
	do {
		if (r->has_ended || (r->next_chunk && r->next_chunk == r->chunk_count))
			return VPT_END;
		rc = begin_part(r, err);
		if (!rc)
			rc = read_part(r, err);
		if (!rc)
			rc = end_part(r);
	} while (!rc && !(r->row_count && r->tape->op_count));
	return rc == VPT_ENOMEM ? vpt_fail(err, rc, "no memory to replay the trace") : rc;
}

/* ---- all ---- */

int vpa_tape_open(const struct vpt_trace *trace, unsigned jobs,
	const struct vpa_tape_limits *limits, struct vpa_tape_reading **out, struct vpt_err *err)
{
	struct vpa_tape_reading *r = *out = vpt_calloc(1, sizeof(*r));

	if (!r)
		return vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	r->trace = trace;
	r->limits = *limits;
	r->tape = &r->own_tape;
	r->tape->lines = limits->lines;
	r->tape->line_count = limits->line_count;
	r->tape->window_from_ns = limits->window_from_ns;
	r->tape->window_to_ns = limits->window_to_ns;
	if (vpt_choose_around(vpt_trace_reader(trace), limits->window_from_ns, limits->window_to_ns,
		    &r->chosen))
		return vpt_fail(err, VPT_ENOMEM, "no memory to choose chunks");
	r->chunk_count = r->chosen.uses ? r->chosen.read : vpt_trace_chunks(trace);
	while (vpt_chunk_use(&r->chosen, r->begin) == VPT_CHUNK_LEFT)
		r->begin++;
	/* Name 0 is that of what has none. */
	if (vpt_strings_put(&r->tape->names, "", 0) != 0)
		return vpt_fail(err, VPT_ENOMEM, "no memory to replay the trace");
	return vpa_prefetch_start(trace, &r->chosen, jobs, 0, &r->chunks, err);
}

int vpa_tape_has_calls(const struct vpa_tape_reading *r)
{
	return r->has_calls;
}

int vpa_tape_has_ops(const struct vpa_tape_reading *r)
{
	return r->has_ops;
}

uint64_t vpa_tape_unjoined_ops(const struct vpa_tape_reading *r)
{
	return r->unjoined_ops;
}

double vpa_tape_share(const struct vpa_tape_reading *r)
{
	return r->next_chunk ? 1 - (double)r->skipped / (double)r->next_chunk : 1;
}

static void free_tape(struct vpa_tape *t)
{
	vpt_strings_free(&t->names);
	vpt_free(t->calls);
	vpt_free(t->ops);
	vpt_free(t->launched);
	vpt_free(t->ranges);
	vpt_free(t->threads);
	vpt_free(t->streams);
	vpt_free(t->syncs);
	vpt_free(t->samples);
}

void vpa_tape_close(struct vpa_tape_reading *r)
{
	if (!r)
		return;
	vpa_prefetch_stop(r->chunks);
	vpt_chunk_choice_free(&r->chosen);
	vpt_free(r->rows);
	vpt_free(r->correlations);
	vpt_free(r->lane_of);
	vpt_free(r->name_of);
	vpt_free(r->known);
	vpt_free(r->class_of);
	vpt_free(r->family_of);
	vpt_free(r->has_family);
	vpt_free(r->frame_lines);
	vpt_free(r->stack_lines);
	vpa_index_free(&r->lanes);
	vpa_index_free(&r->gpus);
	free_tape(r->tape);
	vpt_free(r);
}
