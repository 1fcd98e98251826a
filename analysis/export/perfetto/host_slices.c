/* host_slices.c - takes calls, ranges and marks from the chunks' rows to their threads.
 *
 * Rows are in order of completion, and one kind may come in a later chunk than another. So a thread's
 * spans are held until the chunks after the next cannot bring anything earlier, judging by the
 * launches and ops in them. Spans that come later anyway get a track of their own. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/export/perfetto/lanes/thread_tracks.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"

#include <stdio.h>
#include <string.h>

struct vpa_ex_host {
	struct vpa_ex_out *x;
	struct vpa_ex_thread *threads; /* by index of the model */
	size_t thread_cap;
	struct call_name {
		uint32_t name; /* text */
		uint8_t known, waits;
	} call_names[256];                /* by call number */
	uint64_t former_ns;               /* lower bound of later times before the newest chunk */
	struct vpa_ex_open_ranges wide;   /* those of whole processes */
	struct vpa_ex_track *wide_tracks; /* by row of the process */
	size_t wide_track_cap;
};

struct vpa_ex_host *vpa_ex_host_new(struct vpa_ex_out *x)
{
	struct vpa_ex_host *h = vpt_calloc(1, sizeof(*h));

	if (h)
		h->x = x;
	return h;
}

void vpa_ex_host_free(struct vpa_ex_host *h)
{
	size_t i;

	if (!h)
		return;
	for (i = 0; i < h->thread_cap; i++)
		vpa_ex_thread_free(&h->threads[i]);
	vpt_free(h->threads);
	vpa_open_free(&h->wide.table);
	vpt_free(h->wide.items);
	for (i = 0; i < h->wide_track_cap; i++)
		vpa_ex_track_free(&h->wide_tracks[i]);
	vpt_free(h->wide_tracks);
	vpt_free(h);
}

static struct vpa_ex_thread *thread_of(struct vpa_ex_host *h, uint32_t thread)
{
	size_t before = h->thread_cap;

	if (vpt_grow(&h->threads, &h->thread_cap, (size_t)thread + 1, sizeof(*h->threads)))
		return NULL;
	for (; before < h->thread_cap; before++)
		h->threads[before] = (struct vpa_ex_thread){.index = (uint32_t)before};
	return &h->threads[thread];
}

/* Rows come nearly in order. One that belongs further back than this is sorted later. A range comes
 * when it ends, so it belongs as far back as there are ranges inside it. */
enum { BACK_MAX = 16, SPAN_BACK_MAX = 1024 };

/* The index at which to insert a span among those of its thread, which are in order. */
static size_t place_of_span(const struct vpa_ex_thread *t, const struct vpa_ex_host_span *span)
{
	size_t low = t->count, high = t->count, step = 1;

	while (low && vpa_ex_span_is_after(&t->spans[low - 1], span)) {
		high = low - 1;
		low = low > step ? low - step : 0;
		step *= 2;
	}
	VPT_SEARCH(low, high, middle, !vpa_ex_span_is_after(&t->spans[middle], span));
	return low;
}

static int add_span(struct vpa_ex_out *x, struct vpa_ex_thread *t, struct vpa_ex_host_span *span)
{
	size_t at = t->count;

	if (vpt_grow(&t->spans, &t->cap, t->count + 1, sizeof(*t->spans)))
		return VPT_ENOMEM;
	span->order = t->next_order++;
	if (!t->spans_mixed)
		at = place_of_span(t, span);
	if (t->count - at > SPAN_BACK_MAX) {
		t->spans_mixed = 1;
		at = t->count;
	}
	if (at < t->count)
		memmove(t->spans + at + 1, t->spans + at, (t->count - at) * sizeof(*span));
	t->spans[at] = *span;
	t->count++;
	x->links->held++;
	return VPT_OK;
}

/* ---- calls ---- */

static uint8_t waiting_of(const struct vpa_call_kind *kind)
{
	if (kind->call.klass == VPT_CALL_GRAPH_LAUNCH)
		return EX_WAITS_OPS;
	if (kind->call.klass == VPT_CALL_SYNC)
		return EX_WAITS_END;
	return kind->launches ? EX_WAITS_OP : kind->unknown ? EX_WAITS_SHORTLY : EX_WAITS_NOT;
}

static int find_call_name(struct vpa_ex_host *h, const struct vpt_batch *b, uint64_t id,
	uint64_t string, struct call_name *out)
{
	struct vpa_ex_out *x = h->x;
	struct vpa_call_kind kind;

	if (vpa_maps_call_kind(x->view.resolver, b, id, string, &kind))
		return VPT_ENOMEM;
	*out = (struct call_name){vpa_ex_name(x, kind.call.name), 1, waiting_of(&kind)};
	if (!string && id && id < sizeof(h->call_names) / sizeof(*h->call_names))
		h->call_names[id] = *out;
	return x->pf.failed;
}

/* Inserts the call stored after the others; it was written there field by field, since copying what
 * has just been written is slow. A call around others ended after them and began before. */
static void add_call(struct vpa_ex_thread *t)
{
	size_t last = t->call_count++, at = last;
	const struct vpa_ex_call *call = &t->calls[last];

	while (at && last - at < BACK_MAX && vpa_ex_call_is_after(&t->calls[at - 1], call))
		at--;
	if (last - at == BACK_MAX) {
		t->calls_mixed = 1;
	} else if (at < last) {
		struct vpa_ex_call moved = *call;

		memmove(t->calls + at + 1, t->calls + at, (last - at) * sizeof(moved));
		t->calls[at] = moved;
	}
}

/* Makes room for `count` more calls. Calls of a chunk wait for the next one, so this allocates what is
 * usually needed at once: an array that grows in steps is copied at each. */
static int reserve_calls(struct vpa_ex_links *l, struct vpa_ex_thread *t, size_t count)
{
	size_t calls = t->call_count > count ? t->call_count : count;
	size_t links = l->used > count ? l->used : count;

	if (vpt_grow(&t->calls, &t->call_cap, calls + count, sizeof(*t->calls)))
		return VPT_ENOMEM;
	return vpa_ex_links_reserve(l, links + count);
}

static int add_calls(struct vpa_ex_host *h, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct vpa_ex_out *x = h->x;
	uint64_t *const *col = s->col;
	struct vpa_ex_thread *t;
	uint32_t thread, row;
	int rc = vpa_maps_thread(x->view.resolver, s->lane, &thread);

	t = rc ? NULL : thread_of(h, thread);
	if (!t || reserve_calls(x->links, t, s->row_count))
		return VPT_ENOMEM;
	for (row = 0; !rc && row < s->row_count; row++) {
		uint64_t id = col[VPT_CALL_ID][row], string = col[VPT_CALL_NAME][row];
		uint64_t start_ns = col[VPT_CALL_START][row];
		uint64_t end_ns = start_ns + col[VPT_CALL_DURATION][row];
		struct vpa_ex_call *call = &t->calls[t->call_count];
		struct call_name name = {0};

		if (end_ns < start_ns)
			end_ns = start_ns;
		if (!vpa_in_window(x->model, start_ns))
			continue;
		if (!string && id < sizeof(h->call_names) / sizeof(*h->call_names))
			name = h->call_names[id];
		if (!name.known)
			rc = find_call_name(h, b, id, string, &name);
		call->start_ns = start_ns;
		call->end_ns = end_ns;
		call->correlation = col[VPT_CALL_CORRELATION][row];
		call->name = name.name;
		call->result = (uint32_t)col[VPT_CALL_RESULT][row];
		call->order = t->next_order++;
		call->link = EX_NO_INDEX;
		if (!rc && call->correlation)
			call->link = vpa_ex_link_new(x, call, thread, name.waits);
		x->expected.api_calls++;
		vpt_sat_add_to(&x->expected.api_ns, vpa_ex_length(x, start_ns, end_ns));
		add_call(t);
		x->links->held++;
	}
	return rc;
}

/* ---- ranges ---- */

static int set_payload(struct vpa_ex_out *x, const struct vpt_batch *b, uint64_t type,
	uint64_t value, struct vpa_ex_host_span *span)
{
	uint32_t name;

	span->payload = (uint8_t)type;
	span->value = value;
	if (type != VPT_PAYLOAD_JSON)
		return VPT_OK;
	if (vpa_maps_name(x->view.resolver, b, value, &name))
		return VPT_ENOMEM;
	span->value = vpa_ex_name(x, name);
	return VPT_OK;
}

static int set_names(struct vpa_ex_out *x, const struct vpt_batch *b, uint64_t name,
	uint64_t domain, struct vpa_ex_host_span *span)
{
	uint32_t id;

	if (vpa_maps_name(x->view.resolver, b, name, &id))
		return VPT_ENOMEM;
	span->name = vpa_ex_name(x, id);
	if (vpa_maps_name(x->view.resolver, b, domain, &id))
		return VPT_ENOMEM;
	span->domain = vpa_ex_name(x, id);
	span->category = id && id == x->view.resolver->maps->domains[VPT_DOMAIN_OPERATORS]
				 ? EX_CPU_OP
				 : EX_NVTX;
	return VPT_OK;
}

static int add_open(struct vpa_ex_open_ranges *o, struct vpa_ex_host_span *span, uint32_t thread)
{
	if (vpt_grow(&o->items, &o->cap, o->table.count + 1, sizeof(*o->items)))
		return VPT_ENOMEM;
	span->open = vpa_open_add(&o->table, span->start_ns, span->name, span->domain);
	if (span->open == VPA_OPEN_NONE)
		return VPT_ENOMEM;
	o->items[span->open] = (struct vpa_ex_open_range){.thread = thread,
		.category = span->category,
		.payload = span->payload,
		.value = span->value};
	return VPT_OK;
}

static void count_range(struct vpa_ex_out *x, const struct vpa_ex_host_span *span)
{
	uint64_t ns = vpa_ex_length(x, span->start_ns, span->end_ns);

	if (span->category == EX_CPU_OP) {
		x->expected.cpu_ops++;
		vpt_sat_add_to(&x->expected.cpu_op_ns, ns);
	} else {
		x->expected.nvtx_ranges++;
		vpt_sat_add_to(&x->expected.nvtx_ns, ns);
	}
}

static int add_open_ranges(struct vpa_ex_host *h, const struct vpt_batch *b)
{
	struct vpa_ex_out *x = h->x;
	const struct vpt_section *s = vpt_batch_find(b, VPT_OPEN);
	uint32_t row, thread;
	int rc = VPT_OK;

	for (row = 0; s && !rc && row < s->row_count; row++) {
		struct vpa_ex_host_span span = {.start_ns = s->col[VPT_OPEN_START][row],
			.end_ns = UINT64_MAX,
			.link = EX_NO_INDEX};
		int wide = s->col[VPT_OPEN_RANGE_KIND][row] == VPT_RANGEKIND_START_END;
		struct vpa_ex_thread *t;
		struct vpa_ex_open_ranges *open;

		if (!vpa_in_window(x->model, span.start_ns))
			continue;
		rc = vpa_maps_thread(x->view.resolver, s->col[VPT_OPEN_LANE][row], &thread);
		if (!rc)
			rc = set_names(x, b, s->col[VPT_OPEN_NAME][row],
				s->col[VPT_OPEN_DOMAIN][row], &span);
		if (!rc)
			rc = set_payload(x, b, s->col[VPT_OPEN_PAYLOAD][row],
				s->col[VPT_OPEN_VALUE][row], &span);
		t = rc ? NULL : thread_of(h, thread);
		if (!t)
			return VPT_ENOMEM;
		open = wide ? &h->wide : &t->open;
		if (vpa_open_find(&open->table, span.start_ns, span.name, span.domain) !=
			VPA_OPEN_NONE)
			continue;
		rc = add_open(open, &span, thread);
		if (!rc && !wide)
			rc = add_span(x, t, &span);
	}
	return rc;
}

/* Takes a range that has ended; it may have been met before, while open. */
static int end_range(struct vpa_ex_out *x, struct vpa_ex_thread *t, struct vpa_ex_host_span *span)
{
	uint32_t at = vpa_open_find(&t->open.table, span->start_ns, span->name, span->domain);
	struct vpa_ex_open_range *open;

	count_range(x, span);
	if (at == VPA_OPEN_NONE)
		return add_span(x, t, span);
	vpa_open_end(&t->open.table, at, span->end_ns);
	open = &t->open.items[at];
	/* The row of an open range lacks colour and category. */
	open->colour = span->colour;
	open->nvtx_category = span->nvtx_category;
	t->changed = 1;
	if (open->written) {
		/* Its slice had to end with that of the range around it. */
		vpt_sat_add_to(&x->bent.clamped_ns[open->category],
			vpa_ex_length(x, open->cut_ns, span->end_ns));
		vpa_open_drop(&t->open.table, at);
	}
	return VPT_OK;
}

static struct vpa_ex_track *wide_track(struct vpa_ex_host *h, int64_t pid)
{
	struct vpa_ex_out *x = h->x;
	uint32_t row = vpa_ex_process_row(x, pid);

	if (row == UINT32_MAX || vpt_grow_zeroed(&h->wide_tracks, &h->wide_track_cap,
					 (size_t)row + 1, sizeof(*h->wide_tracks))) {
		x->pf.failed = VPT_ENOMEM;
		return NULL;
	}
	return &h->wide_tracks[row];
}

/* A range of a whole process. */
static void put_wide(struct vpa_ex_host *h, const struct vpa_ex_host_span *span, uint32_t thread)
{
	struct vpa_ex_out *x = h->x;
	int64_t pid = thread < x->model->thread_count ? x->model->threads[thread].pid : -1;
	const struct vpa_ex_lane_words words = {
		vpa_ex_process(x, pid), "NVTX ranges (async)", "NVTX ranges (async)", NULL, 0};
	struct vpa_ex_host_span plain = *span;
	struct vpa_ex_track *track = wide_track(h, pid);
	struct vpa_ex_lane *lane;
	struct vpa_ex_event e;
	unsigned inside = 0;
	char path[96];

	plain.link = plain.open = EX_NO_INDEX;
	snprintf(path, sizeof(path), "async %llx", (unsigned long long)words.parent);
	lane = track ? vpa_ex_lane(x, track, span->start_ns, span->end_ns, path, &words) : NULL;
	if (!lane)
		return;
	vpa_ex_span_event(x, &plain, &inside, &e);
	e.track = lane->uuid;
	vpa_ex_span(x, vpa_ex_annotations(x), &e, span->end_ns);
}

static int add_ranges(struct vpa_ex_host *h, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct vpa_ex_out *x = h->x;
	uint64_t *const *col = s->col;
	struct vpa_ex_thread *t;
	uint32_t row, thread, open;
	int rc = vpa_maps_thread(x->view.resolver, s->lane, &thread);

	t = rc ? NULL : thread_of(h, thread);
	for (row = 0; t && !rc && row < s->row_count; row++) {
		struct vpa_ex_host_span span = {.start_ns = col[VPT_RANGE_START][row],
			.open = EX_NO_INDEX,
			.link = EX_NO_INDEX,
			.colour = (uint32_t)col[VPT_RANGE_COLOUR][row],
			.nvtx_category = (uint32_t)col[VPT_RANGE_CATEGORY][row]};

		span.end_ns = span.start_ns + col[VPT_RANGE_DURATION][row];
		if (span.end_ns < span.start_ns)
			span.end_ns = span.start_ns;
		if (!vpa_in_window(x->model, span.start_ns))
			continue;
		rc = set_names(x, b, col[VPT_RANGE_NAME][row], col[VPT_RANGE_DOMAIN][row], &span);
		if (!rc)
			rc = set_payload(x, b, col[VPT_RANGE_PAYLOAD][row],
				col[VPT_RANGE_VALUE][row], &span);
		if (rc)
			break;
		if (col[VPT_RANGE_RANGE_KIND][row] != VPT_RANGEKIND_START_END) {
			rc = end_range(x, t, &span);
			continue;
		}
		open = vpa_open_find(&h->wide.table, span.start_ns, span.name, span.domain);
		if (open != VPA_OPEN_NONE) {
			vpa_open_end(&h->wide.table, open, span.end_ns);
			vpa_open_drop(&h->wide.table, open);
		}
		count_range(x, &span);
		put_wide(h, &span, thread);
	}
	return t ? rc : VPT_ENOMEM;
}

static int add_marks(struct vpa_ex_host *h, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct vpa_ex_out *x = h->x;
	uint64_t *const *col = s->col;
	struct vpa_ex_thread *t;
	uint32_t row, thread;
	int rc = vpa_maps_thread(x->view.resolver, s->lane, &thread);

	t = rc ? NULL : thread_of(h, thread);
	for (row = 0; t && !rc && row < s->row_count; row++) {
		struct vpa_ex_host_span span = {.start_ns = col[VPT_MARK_TIME][row],
			.end_ns = col[VPT_MARK_TIME][row],
			.open = EX_NO_INDEX,
			.link = EX_NO_INDEX,
			.colour = (uint32_t)col[VPT_MARK_COLOUR][row],
			.nvtx_category = (uint32_t)col[VPT_MARK_CATEGORY][row],
			.is_mark = 1};

		if (!vpa_in_window(x->model, span.start_ns))
			continue;
		rc = set_names(x, b, col[VPT_MARK_NAME][row], col[VPT_MARK_DOMAIN][row], &span);
		if (!rc)
			rc = set_payload(
				x, b, col[VPT_MARK_PAYLOAD][row], col[VPT_MARK_VALUE][row], &span);
		if (!rc)
			rc = add_span(x, t, &span);
	}
	return t ? rc : VPT_ENOMEM;
}

/* ---- chunk by chunk ---- */

int vpa_ex_host_add(struct vpa_ex_host *h, const struct vpt_batch *b)
{
	size_t i;
	int rc = add_open_ranges(h, b);

	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_RANGE)
			rc = add_ranges(h, b, s);
		else if (s->kind == VPT_MARK)
			rc = add_marks(h, b, s);
		else if (s->kind == VPT_CALL && !h->x->options->no_api)
			rc = add_calls(h, b, s);
	}
	return rc;
}

/* The start of the oldest pending call. */
static uint64_t oldest_call(const struct vpa_ex_host *h, uint64_t oldest_ns)
{
	size_t i;

	for (i = 0; i < h->thread_cap; i++)
		if (h->threads[i].call_count && h->threads[i].calls[0].start_ns < oldest_ns)
			oldest_ns = h->threads[i].calls[0].start_ns;
	return oldest_ns;
}

int vpa_ex_host_release(struct vpa_ex_host *h, uint64_t times_from_ns)
{
	struct vpa_ex_out *x = h->x;
	uint64_t until = h->former_ns < times_from_ns ? h->former_ns : times_from_ns;
	uint32_t i;
	int rc = VPT_OK;

	h->former_ns = times_from_ns;
	for (i = 0; i < h->thread_cap && !rc; i++)
		if (h->threads[i].count || h->threads[i].call_count || h->threads[i].depth)
			rc = vpa_ex_thread_write(x, &h->threads[i], until, times_from_ns);
	/* Calls of the next chunk are written with it, or held until the one after. */
	vpa_call_waits_forget(x->call_waits, oldest_call(h, until));
	return rc;
}

int vpa_ex_host_end(struct vpa_ex_host *h)
{
	struct vpa_ex_out *x = h->x;
	uint64_t end = x->model->window_end_ns;
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < h->thread_cap && !rc; i++) {
		struct vpa_ex_thread *t = &h->threads[i];
		size_t k;

		for (k = 0; k < t->open.table.count && !rc; k++) {
			const struct vpa_open_range *open = &t->open.table.items[k];
			struct vpa_ex_host_span span = {.start_ns = open->start_ns,
				.end_ns = end > open->start_ns ? end : open->start_ns,
				.name = open->name,
				.domain = open->domain,
				.category = t->open.items[k].category};

			if (open->used && open->end_ns == UINT64_MAX)
				rc = end_range(x, t, &span);
		}
		if (!rc)
			rc = vpa_ex_thread_finish(x, t);
	}
	for (i = 0; i < h->wide.table.count && !rc; i++) {
		const struct vpa_open_range *open = &h->wide.table.items[i];
		const struct vpa_ex_open_range *more = &h->wide.items[i];
		struct vpa_ex_host_span span = {.start_ns = open->start_ns,
			.end_ns = end > open->start_ns ? end : open->start_ns,
			.value = more->value,
			.name = open->name,
			.domain = open->domain,
			.category = more->category,
			.payload = more->payload};

		if (!open->used)
			continue;
		count_range(x, &span);
		put_wide(h, &span, more->thread);
	}
	return rc ? rc : x->pf.failed;
}
