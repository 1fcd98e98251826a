/* model.c - the events of a trace in flat arrays, joined by looking at all of them. */
#include "tests/support/model/model_causes.h"

#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A test has memory: without, it ends here. */
#define ADD(list)                                                                                  \
	(vpt_grow(&(list)->items, &(list)->cap, (list)->count + 1, sizeof(*(list)->items))         \
			? abort()                                                                  \
			: (void)0,                                                                 \
		memset(&(list)->items[(list)->count], 0, sizeof(*(list)->items)),                  \
		&(list)->items[(list)->count++])

void model_say(struct model *m, const char *format, ...)
{
	va_list args;

	if (m->why[0])
		return;
	va_start(args, format);
	vsnprintf(m->why, sizeof(m->why), format, args);
	va_end(args);
}

void model_same(
	struct model *m, const char *where, const char *what, uint64_t model, uint64_t report)
{
	if (model != report)
		model_say(m, "%s: %s is %" PRIu64 ", the model says %" PRIu64, where, what, report,
			model);
}

int model_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static const char *keep_text(struct model *m, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < m->text_count; i++)
		if (strlen(m->texts[i]) == len && !memcmp(m->texts[i], text, len))
			return m->texts[i];
	if (vpt_grow(&m->texts, &m->text_cap, m->text_count + 1, sizeof(*m->texts)))
		abort();
	m->texts[m->text_count] = vpt_strndup(text, len);
	if (!m->texts[m->text_count])
		abort();
	return m->texts[m->text_count++];
}

static const char *text_of(struct model *m, const struct vpt_batch *b, uint64_t id)
{
	struct vpt_text t = vpt_batch_text(b, id);

	return t.len ? keep_text(m, t.text, t.len) : NULL;
}

/* ---- reading ---- */

static size_t lane_of(struct model *m, uint64_t key)
{
	size_t i;

	for (i = 0; i < m->lanes.count; i++)
		if (m->lanes.items[i].key == key)
			return i;
	*ADD(&m->lanes) =
		(struct model_lane){.key = key, .pid = -1, .tid = -1, .device = -1, .stream = -1};
	return i;
}

static void read_lanes(struct model *m, const struct vpt_section *s)
{
	size_t before, at;
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		before = m->lanes.count;
		at = lane_of(m, s->col[VPT_LANE_KEY][i]);
		if (at == before)
			m->lanes.items[at] = (struct model_lane){s->col[VPT_LANE_KEY][i],
				s->col[VPT_LANE_LANE_TYPE][i], (int64_t)s->col[VPT_LANE_PID][i],
				(int64_t)s->col[VPT_LANE_TID][i],
				(int64_t)s->col[VPT_LANE_DEVICE][i],
				(int64_t)s->col[VPT_LANE_STREAM][i]};
	}
}

/* What is still open stands in each chunk's OPEN rows, and as a RANGE row once it has ended. */
static struct model_range *find_open(struct model *m, const struct model_range *like)
{
	size_t i, left = m->open_count;

	for (i = m->ranges.count; left && i > 0; i--) {
		struct model_range *r = &m->ranges.items[i - 1];

		left -= r->end == UINT64_MAX;
		if (r->end == UINT64_MAX && r->start == like->start && r->thread == like->thread &&
			r->process_wide == like->process_wide &&
			model_same_text(r->name, like->name) &&
			model_same_text(r->domain, like->domain))
			return r;
	}
	return NULL;
}

static void put_range(struct model *m, struct model_range values)
{
	struct model_range *r;

	/* One thread opens and closes it, all work in it. */
	values.process_wide |= values.name && !strncmp(values.name, "ProfilerStep#", 13);
	r = find_open(m, &values);
	m->open_count -= r != NULL;
	if (!r)
		r = ADD(&m->ranges);
	values.pid = m->lanes.items[values.thread].pid;
	values.order = m->range_rows++;
	m->open_count += values.end == UINT64_MAX;
	*r = values;
}

/* What a range is summed under: without the number that emit_nvtx() puts behind it. */
static const char *range_name_of(struct model *m, const struct vpt_batch *b, uint64_t id)
{
	const char *name = text_of(m, b, id), *number = name ? strstr(name, ", op_id = ") : NULL;

	return number ? keep_text(m, name, (size_t)(number - name)) : name;
}

static void read_ranges(struct model *m, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		uint64_t start = s->col[VPT_RANGE_START][i],
			 end = start + s->col[VPT_RANGE_DURATION][i];

		put_range(m, (struct model_range){.start = start,
				     .end = end < start ? start : end,
				     .reversed = end < start,
				     .name = range_name_of(m, b, s->col[VPT_RANGE_NAME][i]),
				     .domain = text_of(m, b, s->col[VPT_RANGE_DOMAIN][i]),
				     .thread = lane_of(m, s->lane),
				     .process_wide = s->col[VPT_RANGE_RANGE_KIND][i] ==
						     VPT_RANGEKIND_START_END,
				     .unmatched = s->col[VPT_RANGE_UNMATCHED][i] != 0});
	}
}

static void read_open(struct model *m, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++)
		put_range(m, (struct model_range){.start = s->col[VPT_OPEN_START][i],
				     .end = UINT64_MAX,
				     .name = range_name_of(m, b, s->col[VPT_OPEN_NAME][i]),
				     .domain = text_of(m, b, s->col[VPT_OPEN_DOMAIN][i]),
				     .thread = lane_of(m, s->col[VPT_OPEN_LANE][i]),
				     .process_wide = s->col[VPT_OPEN_RANGE_KIND][i] ==
						     VPT_RANGEKIND_START_END});
}

static void read_calls(struct model *m, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct model_call *c = ADD(&m->calls);
		uint64_t id = s->col[VPT_CALL_ID][i], name = s->col[VPT_CALL_NAME][i];

		c->start = s->col[VPT_CALL_START][i];
		c->end = c->start + s->col[VPT_CALL_DURATION][i];
		c->reversed = c->end < c->start;
		c->end = c->reversed ? c->start : c->end;
		c->order = m->calls.count;
		c->corr = s->col[VPT_CALL_CORRELATION][i];
		c->failed = s->col[VPT_CALL_RESULT][i] != 0;
		c->thread = lane_of(m, s->lane);
		c->pid = m->lanes.items[c->thread].pid;
		c->name = name ? text_of(m, b, name) : vpt_call_name((uint32_t)id);
		c->klass = c->name ? vpt_call_class_of(c->name, strlen(c->name)) : VPT_CALL_OTHER;
		c->kind = model_call_kind_of(c->name);
	}
}

static struct model_op *read_op(struct model *m, const struct vpt_section *s, uint32_t i)
{
	struct model_op *op = ADD(&m->ops);

	op->start = op->raw_start = s->col[0][i];
	op->end = op->raw_end = op->start + s->col[1][i];
	op->stream = lane_of(m, s->lane);
	op->device = m->lanes.items[op->stream].device;
	op->pid = m->lanes.items[op->stream].pid;
	op->order = m->ops.count;
	return op;
}

static void read_kernels(struct model *m, const struct vpt_batch *b, const struct vpt_section *s)
{
	const struct vpt_section *configs = vpt_batch_find(b, VPT_CONFIG);
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct model_op *op = read_op(m, s, i);
		uint64_t row = s->col[VPT_KERNEL_CONFIG][i];
		struct vpa_kernel_class klass;

		op->corr = s->col[VPT_KERNEL_CORRELATION][i];
		op->node = s->col[VPT_KERNEL_GRAPH_NODE][i] != 0;
		op->name = text_of(m, b, configs->col[VPT_CONFIG_NAME][row]);
		op->name = op->name ? op->name : "(no name)";
		op->blocks = configs->col[VPT_CONFIG_GRID_X][row] *
			     configs->col[VPT_CONFIG_GRID_Y][row] *
			     configs->col[VPT_CONFIG_GRID_Z][row];
		vpa_classify(op->name, strlen(op->name), &klass);
		op->family = klass.family;
		op->kind = VPA_KERNEL;
	}
}

static void read_copies(struct model *m, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct model_op *op = read_op(m, s, i);

		op->corr = s->col[VPT_COPY_CORRELATION][i];
		op->node = s->col[VPT_COPY_GRAPH_NODE][i] != 0;
		op->copy_kind = s->col[VPT_COPY_COPY_KIND][i];
		op->source = s->col[VPT_COPY_SOURCE_MEMORY][i];
		op->target = s->col[VPT_COPY_TARGET_MEMORY][i];
		op->bytes = s->col[VPT_COPY_BYTES][i];
		op->kind = op->copy_kind == VPT_COPYKIND_MEMSET ? VPA_MEMSET : VPA_MEMCPY;
	}
}

static void read_overheads(struct model *m, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		uint64_t start = s->col[0][i], end = start + s->col[1][i],
			 kind = s->col[VPT_OVERHEAD_OVERHEAD_KIND][i];

		*ADD(&m->overheads) =
			(struct model_overhead){start, end, kind, lane_of(m, s->lane)};
	}
}

static void read_loss(struct model *m, uint64_t start, uint64_t end, uint64_t kind)
{
	*ADD(&m->losses) = (struct model_loss){start, end, kind};
}

static void read_section(struct model *m, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	if (s->kind == VPT_CALL)
		read_calls(m, b, s);
	else if (s->kind == VPT_KERNEL)
		read_kernels(m, b, s);
	else if (s->kind == VPT_COPY)
		read_copies(m, s);
	else if (s->kind == VPT_RANGE)
		read_ranges(m, b, s);
	else if (s->kind == VPT_OPEN)
		read_open(m, b, s);
	else if (s->kind == VPT_OVERHEAD)
		read_overheads(m, s);
	for (i = 0; i < s->row_count; i++) {
		if (s->kind == VPT_LOSS)
			read_loss(m, s->col[0][i], s->col[0][i] + s->col[1][i],
				s->col[VPT_LOSS_LOSS_KIND][i]);
		else if (s->kind == VPT_CLOCK)
			m->last_clock = s->col[VPT_CLOCK_TRACE][i];
		else if (s->kind == VPT_DEVICE)
			*ADD(&m->sms) = (struct model_sms){(int64_t)s->col[VPT_DEVICE_DEVICE][i],
				s->col[VPT_DEVICE_SM_COUNT][i]};
		else if (s->kind == VPT_SYNC &&
			 s->col[VPT_SYNC_SYNC_KIND][i] == VPT_SYNCKIND_STREAM_WAIT)
			*ADD(&m->waits) = (struct model_wait){s->col[0][i], lane_of(m, s->lane),
				s->col[VPT_SYNC_CORRELATION][i], 0};
	}
}

void model_read(struct model *m, const struct vpt_trace *trace)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_batch b;
	struct vpt_err err;
	size_t chunk, i;

	vpt_batch_init(&b);
	for (chunk = 0; chunk < vpt_trace_chunks(trace); chunk++) {
		if (vpt_trace_chunk(trace, decoder, chunk, &b, &err)) {
			model_say(m, "chunk %zu cannot be read: %s", chunk, err.text);
			break;
		}
		for (i = 0; i < b.section_count; i++)
			if (b.sections[i].kind == VPT_LANE)
				read_lanes(m, &b.sections[i]);
		for (i = 0; i < b.section_count; i++)
			read_section(m, &b, &b.sections[i]);
		m->has_last |= (b.flags & VPT_BATCH_LAST) != 0;
		m->last_event = b.t_max_ns > m->last_event ? b.t_max_ns : m->last_event;
	}
	vpt_batch_free(&b);
	vpt_decoder_free(decoder);
}

/* ---- joining ---- */

void model_choose_window(
	struct model *m, const struct vpt_trace *trace, const struct vpa_options *o)
{
	uint64_t t0 = vpt_trace_header(trace)->t0_ns;

	m->window_start = t0 + (o->has_from ? o->from_ns : 0);
	m->window_end = m->last_clock;
	if (!m->has_last && m->last_event > m->window_end)
		m->window_end = m->last_event;
	m->limit = o->has_to ? t0 + o->to_ns : UINT64_MAX;
	if (m->limit < m->window_end)
		m->window_end = m->limit;
}

/* Whether call `a` launched an op rather than `b`, which has the same number. */
static int is_rather(const struct model_call *a, const struct model_call *b)
{
	int a_launches = vpt_call_launches(a->klass) != 0,
	    b_launches = vpt_call_launches(b->klass) != 0;

	if (a_launches != b_launches)
		return a_launches;
	return a->start < b->start || (a->start == b->start && a->end > b->end);
}

static int is_no_call(const struct model_call *c)
{
	return c->reversed || c->klass == VPT_CALL_QUERY || c->klass == VPT_CALL_EVENT_RECORD;
}

/* The call with an op's number in its process; of several one that puts work on a device, then the first. */
static struct model_call *launch_of(const struct model *m, const struct model_op *op)
{
	struct model_call *best = NULL;
	size_t i;

	for (i = 0; op->corr && i < m->calls.count; i++) {
		struct model_call *c = &m->calls.items[i];

		if (is_no_call(c) || c->corr != op->corr ||
			(c->pid != op->pid && c->pid != -1 && op->pid != -1))
			continue;
		if (!best || is_rather(c, best))
			best = c;
	}
	return best;
}

/* All calls of the launch's number have the op. */
static void note_pageable(struct model *m, const struct model_call *launch)
{
	size_t i;

	for (i = 0; i < m->calls.count; i++) {
		struct model_call *c = &m->calls.items[i];

		if (!is_no_call(c) && c->corr == launch->corr && c->pid == launch->pid)
			c->is_pageable = 1;
	}
}

static void join_op(struct model *m, struct model_op *op)
{
	op->valid = op->start && op->end >= op->start;
	op->empty = op->valid && op->end == op->start;
	/* What has no valid time is counted and otherwise left alone. */
	op->launch = op->valid ? launch_of(m, op) : NULL;
	if (op->launch) {
		op->launch->ops++;
		if (op->kind == VPA_MEMCPY &&
			(op->target == VPT_MEMKIND_PAGEABLE || op->source == VPT_MEMKIND_PAGEABLE))
			note_pageable(m, op->launch);
	}
	op->counted = !op->valid ||
		      (op->end > op->start ? op->start < m->limit && op->end > m->window_start
					   : op->start <= m->limit && op->end >= m->window_start);
	if (!op->counted || !op->valid)
		return;
	op->start = op->start < m->window_start ? m->window_start : op->start;
	op->end = op->end > m->limit ? m->limit : op->end;
	op->active = op->end > op->start;
}

/* What is true of a call is true of those around it. */
static void spread_pageable(struct model *m)
{
	size_t i, k;

	for (i = 0; i < m->calls.count; i++)
		for (k = 0; m->calls.items[i].is_pageable && k < m->calls.count; k++) {
			const struct model_call *b = &m->calls.items[i];
			struct model_call *a = &m->calls.items[k];

			if (a->thread == b->thread && !is_no_call(a) && a->start <= b->start &&
				b->start < a->end && b->end <= a->end &&
				(a->start < b->start || (b->end < a->end && b->end > b->start)))
				a->is_pageable = 1;
		}
}

static int compare_ops(const void *pa, const void *pb)
{
	const struct model_op *a = pa, *b = pb;

	if (a->raw_start != b->raw_start)
		return a->raw_start < b->raw_start ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->corr != b->corr)
		return a->corr < b->corr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

enum vpt_call_class model_effect(const struct model_call *c)
{
	return c->klass == VPT_CALL_COPY && c->is_pageable ? VPT_CALL_BLOCKING_COPY : c->klass;
}

int model_is_open(const struct model *m, const struct model_range *r, size_t thread, uint64_t t)
{
	int mine = r->process_wide ? r->pid == m->lanes.items[thread].pid : r->thread == thread;

	return mine && r->start <= t && t < r->end;
}

int model_range_is_inside(const struct model_range *a, const struct model_range *b)
{
	if (a->start != b->start)
		return a->start > b->start;
	if (a->process_wide != b->process_wide)
		return b->process_wide;
	return a->end != b->end ? a->end < b->end : a->order < b->order;
}

const struct model_range *model_range_at(const struct model *m, size_t thread, uint64_t t)
{
	const struct model_range *best = NULL;
	size_t i;

	for (i = 0; i < m->ranges.count; i++) {
		const struct model_range *r = &m->ranges.items[i];

		if (model_is_open(m, r, thread, t) && (!best || model_range_is_inside(r, best)))
			best = r;
	}
	return best;
}

/* ---- edges ---- */

void model_edge(struct model_edges *e, uint64_t t)
{
	if (vpt_grow(&e->items, &e->cap, e->count + 1, sizeof(*e->items)))
		abort();
	e->items[e->count++] = t;
}

static int compare_ns(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

void model_edges_sort(struct model_edges *e)
{
	if (e->count)
		qsort(e->items, e->count, sizeof(*e->items), compare_ns);
}

/* ---- the face ---- */

void model_free(struct model *m)
{
	size_t i;

	for (i = 0; i < m->text_count; i++)
		vpt_free(m->texts[i]);
	vpt_free(m->texts);
	vpt_free(m->lanes.items);
	vpt_free(m->calls.items);
	vpt_free(m->ranges.items);
	vpt_free(m->ops.items);
	vpt_free(m->waits.items);
	vpt_free(m->overheads.items);
	vpt_free(m->losses.items);
	vpt_free(m->sms.items);
}

static const char *differs(const struct vpt_trace *trace, const struct vpa_options *options,
	const struct vpa_report *report, int with_tables)
{
	static char why[sizeof(((struct model *)0)->why)];
	struct model_causes causes = {0};
	struct model m = {0};
	const char *unreadable;
	size_t i;

	model_read(&m, trace);
	model_choose_window(&m, trace, options);
	for (i = 0; i < m.ops.count; i++)
		join_op(&m, &m.ops.items[i]);
	spread_pageable(&m);
	if (m.ops.count)
		qsort(m.ops.items, m.ops.count, sizeof(*m.ops.items), compare_ops);
	model_same(&m, "window", "start", m.window_start, report->window_start_ns);
	model_same(&m, "window", "end", m.window_end, report->window_end_ns);
	unreadable = model_causes_compute(trace, options, &causes);
	if (unreadable)
		model_say(&m, "causes: %s", unreadable);
	model_check_devices(&m, &causes, report);
	if (with_tables)
		model_check_tables(&m, &causes, report);
	memcpy(why, m.why, sizeof(why));
	model_causes_free(&causes);
	model_free(&m);
	return why[0] ? why : NULL;
}

const char *vpt_model_differs(const struct vpt_trace *trace, const struct vpa_options *options,
	const struct vpa_report *report)
{
	return differs(trace, options, report, 1);
}

const char *vpt_model_devices_differ(const struct vpt_trace *trace,
	const struct vpa_options *options, const struct vpa_report *report)
{
	return differs(trace, options, report, 0);
}
