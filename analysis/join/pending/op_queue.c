/* op_queue.c - merges sections. Takes from the earliest source for as long as it stays ahead of all
 * others, which for one busy stream is most of the time. */
#include "analysis/join/pending/op_queue.h"

#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <stdlib.h>
#include <string.h>

static struct vpa_op_source *new_source(struct vpa_op_queue *q)
{
	if (vpt_grow(&q->sources, &q->source_cap, q->source_count + 2, sizeof(*q->sources)))
		return NULL;
	if (!q->source_count) {
		memset(&q->sources[0], 0, sizeof(q->sources[0]));
		q->source_count = 1;
	}
	return &q->sources[q->source_count];
}

/* Decodes the next rows of a packed section; 0 if there are none. */
static int next_window(struct vpa_op_source *s)
{
	struct vpa_op_window *w = s->window;
	uint32_t count;

	if (!w || !w->left)
		return 0;
	count = w->left < VPT_ROWS_AT_ONCE ? w->left : VPT_ROWS_AT_ONCE;
	vpt_rows_next(&w->rows, count, 1 << VPT_KERNEL_CONFIG | 1 << VPT_KERNEL_GRAPH_NODE,
		w->starts, w->correlations);
	w->left -= count;
	w->section.row_count = count;
	w->section.col[VPT_KERNEL_DURATION] = (uint64_t *)(uintptr_t)w->rows.col[1];
	w->section.col[VPT_KERNEL_CONFIG] = (uint64_t *)(uintptr_t)w->rows.col[VPT_KERNEL_CONFIG];
	w->section.col[VPT_KERNEL_GRAPH_NODE] =
		(uint64_t *)(uintptr_t)w->rows.col[VPT_KERNEL_GRAPH_NODE];
	s->at = 0;
	s->count = count;
	return 1;
}

/* Opens a window on a packed section, whose kernels are known to be in order. */
static int open_window(struct vpa_op_queue *q, struct vpa_op_source *s)
{
	const struct vpt_section *packed = s->section;
	struct vpa_op_window *w;

	if (q->window_count == q->windows_made) {
		if (vpt_grow(&q->windows, &q->window_cap, q->windows_made + 1, sizeof(*q->windows)))
			return VPT_ENOMEM;
		w = vpt_alloc(1, sizeof(*w));
		if (!w)
			return VPT_ENOMEM;
		q->windows[q->windows_made++] = w;
	}
	w = s->window = q->windows[q->window_count++];
	w->section = *packed;
	w->section.col[VPT_KERNEL_START] = w->starts;
	w->section.col[VPT_KERNEL_CORRELATION] = w->correlations;
	w->left = packed->row_count;
	s->section = &w->section;
	vpt_rows_begin(&w->rows, packed);
	next_window(s);
	s->head_ns = w->starts[0];
	q->source_count++;
	return VPT_OK;
}

int vpa_op_queue_add(
	struct vpa_op_queue *q, const struct vpt_section *section, uint32_t stream, uint32_t device)
{
	struct vpa_op_source *source = new_source(q);

	if (!source)
		return VPT_ENOMEM;
	*source = (struct vpa_op_source){.section = section,
		.count = section->row_count,
		.stream = stream,
		.device = device};
	if (section->is_packed)
		return open_window(q, source);
	if (!vpa_ops_in_order(section)) {
		if (vpt_grow(&q->orders, &q->order_cap, q->order_count + 1, sizeof(*q->orders)))
			return VPT_ENOMEM;
		source->order = vpt_alloc(section->row_count, sizeof(*source->order));
		if (!source->order)
			return VPT_ENOMEM;
		q->orders[q->order_count++] = source->order;
		vpa_ops_sort(section, source->order);
	}
	if (source->count)
		source->head_ns = vpa_op_start(section, source->order ? source->order[0] : 0);
	q->source_count++;
	return VPT_OK;
}

static uint32_t row_at(const struct vpa_op_source *s)
{
	return s->order ? s->order[s->at] : (uint32_t)s->at;
}

static const struct vpa_op *held_at(const struct vpa_op_queue *q)
{
	return &q->held[q->held_begin];
}

/* Order of equal starts: by stream, then correlation id, then held before new. */
static int head_before(
	const struct vpa_op_queue *q, const struct vpa_op_source *a, const struct vpa_op_source *b)
{
	uint32_t stream_a = a->section ? a->stream : held_at(q)->stream;
	uint32_t stream_b = b->section ? b->stream : held_at(q)->stream;
	uint64_t id_a, id_b;

	if (a->head_ns != b->head_ns)
		return a->head_ns < b->head_ns;
	if (q->ranks[stream_a] != q->ranks[stream_b])
		return q->ranks[stream_a] < q->ranks[stream_b];
	id_a = a->section ? vpa_op_correlation(a->section, row_at(a)) : held_at(q)->correlation;
	id_b = b->section ? vpa_op_correlation(b->section, row_at(b)) : held_at(q)->correlation;
	return id_a != id_b ? id_a < id_b : a < b;
}

/* The source of the next op. *follow_ns: up to when it needs no comparison with the others. */
static struct vpa_op_source *choose(struct vpa_op_queue *q, uint64_t *follow_ns)
{
	struct vpa_op_source *best = NULL;
	size_t i;

	*follow_ns = UINT64_MAX;
	for (i = 0; i < q->source_count; i++) {
		struct vpa_op_source *s = &q->sources[i];

		if (s->at == s->count)
			continue;
		if (!best || head_before(q, s, best)) {
			if (best)
				*follow_ns = best->head_ns;
			best = s;
		} else if (s->head_ns < *follow_ns) {
			*follow_ns = s->head_ns;
		}
	}
	return best;
}

static uint8_t small_number(uint64_t value)
{
	return value < 255 ? (uint8_t)value : 255;
}

/* Classifies a row of CONFIG: returns one of the chunk's entries, or `own`, filled for this
 * call. */
static inline const struct vpa_config_entry *find_config(
	struct vpa_op_queue *q, uint64_t config, struct vpa_config_entry *own)
{
	if (config < q->configs.count && q->configs.items[config].state)
		return &q->configs.items[config];
	*own = (struct vpa_config_entry){0};
	if (q->configs.find(q->configs.ctx, config, own))
		q->failed = VPT_ENOMEM;
	return own;
}

static void read_op(
	struct vpa_op_queue *q, struct vpa_op *op, const struct vpa_op_source *s, uint32_t row)
{
	const uint64_t *const *col = (const uint64_t *const *)s->section->col;
	const struct vpa_config_entry *found;
	struct vpa_config_entry own;

	*op = (struct vpa_op){.start_ns = col[0][row],
		.end_ns = col[0][row] + col[1][row],
		.correlation = vpa_op_correlation(s->section, row),
		.stream = s->stream,
		.device = s->device,
		.kernel = VPA_NONE,
		.shape = VPA_NONE,
		.kind = VPA_KERNEL};
	if (s->section->kind == VPT_KERNEL) {
		found = find_config(q, col[VPT_KERNEL_CONFIG][row], &own);
		op->kernel = found->kernel;
		op->blocks = found->blocks;
		op->is_comm = found->state == VPA_CONFIG_COMM;
		op->family = found->family;
		op->role = found->role;
		op->traits = found->traits;
		op->shape = found->shape;
		op->graph_node = col[VPT_KERNEL_GRAPH_NODE][row];
		return;
	}
	op->bytes = col[VPT_COPY_BYTES][row];
	op->copy_kind = small_number(col[VPT_COPY_COPY_KIND][row]);
	op->kind = op->copy_kind == VPT_COPYKIND_MEMSET ? VPA_MEMSET : VPA_MEMCPY;
	op->family = op->kind == VPA_MEMSET ? VPA_FAMILY_MEMSET : VPA_FAMILY_MEMCPY;
	op->role = VPA_ROLE_COPY;
	op->source_memory = small_number(col[VPT_COPY_SOURCE_MEMORY][row]);
	op->target_memory = small_number(col[VPT_COPY_TARGET_MEMORY][row]);
	op->graph_node = col[VPT_COPY_GRAPH_NODE][row];
}

static void put_op(struct vpa_ops *out, const struct vpa_op *op)
{
	size_t at = out->count++;

	if (op->kind != VPA_KERNEL || op->is_comm)
		out->others[out->other_count++] = (uint8_t)at;
	if (vpa_is_special(op->role))
		out->specials[out->special_count++] = (uint8_t)at;

	out->start_ns[at] = op->start_ns;
	out->end_ns[at] = op->end_ns;
	out->correlation[at] = op->correlation;
	out->stream[at] = op->stream;
	out->device[at] = op->device;
	out->kernel[at] = op->kernel;
	out->blocks[at] = op->blocks;
	out->shape[at] = op->shape;
	out->kind[at] = op->kind;
	out->graph_node[at] = op->graph_node;
	out->is_comm[at] = op->is_comm;
	out->family[at] = op->family;
	out->role[at] = op->role;
	out->traits[at] = op->traits;
	out->copy[at] =
		(struct vpa_copy){op->bytes, op->copy_kind, op->source_memory, op->target_memory};
}

/* Copies the columns of kernels in order that need no lookup: in steps of four, to leave little
 * over. */
VPT_VECTORISE
static void put_spans(struct vpa_ops *out, const struct vpa_op_source *s, size_t from, size_t count)
{
	const uint64_t *starts = s->section->col[VPT_KERNEL_START] + from;
	const uint64_t *durations = s->section->col[VPT_KERNEL_DURATION] + from;
	const uint64_t *ids = s->section->col[VPT_KERNEL_CORRELATION] + from;
	uint64_t *restrict start_ns = out->start_ns + out->count;
	uint64_t *restrict end_ns = out->end_ns + out->count;
	uint64_t *restrict correlations = out->correlation + out->count;
	uint32_t *restrict streams = out->stream + out->count;
	uint32_t *restrict devices = out->device + out->count;
	uint32_t stream = s->stream, device = s->device;
	size_t i, k;

#define PUT(at)                                                                                    \
	start_ns[at] = starts[at];                                                                 \
	end_ns[at] = starts[at] + durations[at];                                                   \
	correlations[at] = ids[at];                                                                \
	streams[at] = stream;                                                                      \
	devices[at] = device
	for (i = 0; i + 4 <= count; i += 4)
		for (k = i; k < i + 4; k++) {
			PUT(k);
		}
	for (; i < count; i++) {
		PUT(i);
	}
#undef PUT
}

/* Fills the looked-up columns if some configurations are not known yet, or some kernels work
 * between devices. */
VPA_RARE static void put_odd_kernels(
	struct vpa_op_queue *q, struct vpa_ops *out, const uint64_t *configs, size_t count)
{
	size_t i;

	for (i = out->count; i < out->count + count; i++) {
		struct vpa_config_entry own;
		const struct vpa_config_entry *found = find_config(q, *configs++, &own);

		out->kernel[i] = found->kernel;
		out->blocks[i] = found->blocks;
		out->shape[i] = found->shape;
		out->family[i] = found->family;
		out->role[i] = found->role;
		out->traits[i] = found->traits;
		out->specials[out->special_count] = (uint8_t)i;
		out->special_count += vpa_is_special(found->role);
		out->is_comm[i] = found->state == VPA_CONFIG_COMM;
		out->others[out->other_count] = (uint8_t)i;
		out->other_count += found->state == VPA_CONFIG_COMM;
	}
}

/* The same for all other kernels. Returns 0, with no lasting effect, if put_odd_kernels() is
 * needed. */
static int put_plain_kernels(
	const struct vpa_op_queue *q, struct vpa_ops *out, const uint64_t *configs, size_t count)
{
	const struct vpa_config_entry *entries = q->configs.items;
	uint64_t limit = q->configs.count;
	size_t specials = out->special_count, at = out->count, i;
	unsigned plain = VPA_CONFIG_PLAIN;

	for (i = 0; i < count; i++, at++) {
		const struct vpa_config_entry *e;

		if (configs[i] >= limit)
			return 0;
		e = &entries[configs[i]];
		out->kernel[at] = e->kernel;
		out->blocks[at] = e->blocks;
		out->shape[at] = e->shape;
		out->family[at] = e->family;
		out->role[at] = e->role;
		out->traits[at] = e->traits;
		out->specials[specials] = (uint8_t)at;
		specials += vpa_is_special(e->role);
		plain &= e->state;
	}
	if (!plain)
		return 0;
	out->special_count = specials;
	return 1;
}

/* Kernels that are in order: column by column. The usual values have been set. */
static void put_kernels(struct vpa_op_queue *q, struct vpa_ops *out, const struct vpa_op_source *s,
	size_t from, size_t count)
{
	const struct vpt_section *section = s->section;
	const uint64_t *configs = section->col[VPT_KERNEL_CONFIG] + from;
	const uint64_t *nodes = section->col[VPT_KERNEL_GRAPH_NODE] + from;
	size_t i;

	put_spans(out, s, from, count);
	if (!put_plain_kernels(q, out, configs, count))
		put_odd_kernels(q, out, configs, count);
	for (i = 0; vpt_section_has(section, VPT_KERNEL_GRAPH_NODE) && i < count; i++)
		out->graph_node[out->count + i] = nodes[i];
	out->count += count;
}

/* Copies and memsets that are in order. */
static void put_copies(
	struct vpa_ops *out, const struct vpa_op_source *s, size_t from, size_t count)
{
	const uint64_t *const *col = (const uint64_t *const *)s->section->col;
	size_t at = out->count, row;

	for (row = from; row < from + count; row++, at++) {
		uint8_t copy_kind = small_number(col[VPT_COPY_COPY_KIND][row]);
		int is_memset = copy_kind == VPT_COPYKIND_MEMSET;

		out->start_ns[at] = col[VPT_COPY_START][row];
		out->end_ns[at] = col[VPT_COPY_START][row] + col[VPT_COPY_DURATION][row];
		out->correlation[at] = col[VPT_COPY_CORRELATION][row];
		out->stream[at] = s->stream;
		out->device[at] = s->device;
		out->kernel[at] = VPA_NONE;
		out->blocks[at] = 0;
		out->shape[at] = VPA_NONE;
		out->kind[at] = is_memset ? VPA_MEMSET : VPA_MEMCPY;
		out->graph_node[at] = col[VPT_COPY_GRAPH_NODE][row];
		out->family[at] = is_memset ? VPA_FAMILY_MEMSET : VPA_FAMILY_MEMCPY;
		out->role[at] = VPA_ROLE_COPY;
		out->traits[at] = 0;
		out->copy[at] = (struct vpa_copy){col[VPT_COPY_BYTES][row], copy_kind,
			small_number(col[VPT_COPY_SOURCE_MEMORY][row]),
			small_number(col[VPT_COPY_TARGET_MEMORY][row])};
		out->others[out->other_count++] = (uint8_t)at;
		out->specials[out->special_count++] = (uint8_t)at;
	}
	out->count = at;
}

/* How many of the source's next ops start before `until_ns`: at least 1, at most `max`. Usually a
 * dozen or two. */
static size_t count_before(const struct vpa_op_source *s, uint64_t until_ns, size_t max)
{
	const uint64_t *starts = s->section->col[0] + (s->order ? 0 : s->at);
	const uint32_t *order = s->order ? s->order + s->at : NULL;
	size_t n = 1;

	while (order && n < max && starts[order[n]] < until_ns)
		n++;
	while (!order && n + 8 <= max && starts[n + 7] < until_ns)
		n += 8;
	while (!order && n < max && starts[n] < until_ns)
		n++;
	return n;
}

/* Takes the source's next op, then all that start before `until_ns`; at most `max`, which is not 0.
 * The source's head is the earliest of all, so one op is always safe; more only while strictly
 * ahead of the others. */
static void take_rows(struct vpa_op_queue *q, struct vpa_op_source *s, uint64_t until_ns,
	struct vpa_ops *out, size_t max)
{
	size_t left = s->count - s->at, taken = count_before(s, until_ns, max < left ? max : left);
	size_t end = s->at + taken;

	if (!s->order) {
		if (s->section->kind == VPT_KERNEL)
			put_kernels(q, out, s, s->at, taken);
		else
			put_copies(out, s, s->at, taken);
		s->at = end;
	}
	for (; s->at < end; s->at++) {
		struct vpa_op op;

		read_op(q, &op, s, row_at(s));
		put_op(out, &op);
	}
	if (taken < left || next_window(s))
		s->head_ns = vpa_op_start(s->section, row_at(s));
}

/* The same for the held ops. */
static void take_held(struct vpa_op_queue *q, struct vpa_op_source *s, uint64_t until_ns,
	struct vpa_ops *out, size_t max)
{
	size_t taken = 0;

	do {
		put_op(out, &q->held[q->held_begin++]);
		s->at++;
	} while (++taken < max && s->at < s->count && held_at(q)->start_ns < until_ns);
	if (s->at < s->count)
		s->head_ns = held_at(q)->start_ns;
}

static void open_held(struct vpa_op_queue *q)
{
	struct vpa_op_source *s = q->sources;

	s->section = NULL;
	s->at = 0;
	s->count = q->held_count - q->held_begin;
	if (s->count)
		s->head_ns = held_at(q)->start_ns;
}

size_t vpa_op_queue_take(struct vpa_op_queue *q, uint64_t until_ns, struct vpa_ops *out)
{
	out->count = out->other_count = out->special_count = 0;
	out->one_stream = 1;
	memset(out->kind, VPA_KERNEL, sizeof(out->kind));
	memset(out->graph_node, 0, sizeof(out->graph_node));
	memset(out->is_comm, 0, sizeof(out->is_comm));
	if (!q->source_count && !new_source(q))
		return 0;
	open_held(q);
	while (out->count < VPA_OPS_MAX && !q->failed) {
		uint64_t follow_ns;
		struct vpa_op_source *s = choose(q, &follow_ns);

		if (!s || (s->head_ns >= until_ns && until_ns != UINT64_MAX))
			break;
		follow_ns = follow_ns < until_ns ? follow_ns : until_ns;
		if (out->count)
			out->one_stream &= s->section && s->stream == out->stream[0];
		else
			out->one_stream = s->section != NULL;
		if (s->section)
			take_rows(q, s, follow_ns, out, VPA_OPS_MAX - out->count);
		else
			take_held(q, s, follow_ns, out, VPA_OPS_MAX - out->count);
	}
	return q->failed ? 0 : out->count;
}

/* ---- holding ---- */

static int compare_ops(const void *pa, const void *pb, void *queue)
{
	const uint32_t *ranks = ((const struct vpa_op_queue *)queue)->ranks;
	const struct vpa_op *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (ranks[a->stream] != ranks[b->stream])
		return ranks[a->stream] < ranks[b->stream] ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static void drop_taken(struct vpa_op_queue *q)
{
	if (!q->held_begin || (q->held_begin < q->held_count / 2 && q->held_begin < 4096))
		return;
	q->held_count -= q->held_begin;
	memmove(q->held, q->held + q->held_begin, q->held_count * sizeof(*q->held));
	q->held_begin = 0;
}

int vpa_op_queue_hold(struct vpa_op_queue *q)
{
	size_t left = 0, fresh, at, i;

	drop_taken(q);
	fresh = at = q->held_count;
	for (i = 1; i < q->source_count; i++)
		left += q->sources[i].count - q->sources[i].at +
			(q->sources[i].window ? q->sources[i].window->left : 0);
	if (vpt_grow(&q->held, &q->held_cap, fresh + left, sizeof(*q->held)))
		return VPT_ENOMEM;
	if (q->source_count)
		q->sources[0].at = q->sources[0].count; /* ops already held stay where they are */
	while (left) {
		uint64_t follow_ns;
		struct vpa_op_source *s = choose(q, &follow_ns);
		size_t taken = count_before(s, follow_ns, s->count - s->at);

		for (left -= taken; taken; taken--, s->at++)
			read_op(q, &q->held[q->held_count++], s, row_at(s));
		if (s->at < s->count || next_window(s))
			s->head_ns = vpa_op_start(s->section, row_at(s));
	}
	q->window_count = 0;
	for (i = 0; i < q->order_count; i++)
		vpt_free(q->orders[i]);
	q->order_count = 0;
	q->source_count = q->source_count ? 1 : 0;
	/* Ops held earlier usually start earlier; only where the two overlap they are sorted
	 * together. */
	while (q->held_count > fresh && at > q->held_begin &&
		compare_ops(&q->held[at - 1], &q->held[fresh], q) > 0)
		at--;
	if (at < fresh)
		qsort_r(q->held + at, q->held_count - at, sizeof(*q->held), compare_ops, q);
	return q->failed;
}

void vpa_op_queue_free(struct vpa_op_queue *q)
{
	size_t i;

	for (i = 0; i < q->order_count; i++)
		vpt_free(q->orders[i]);
	for (i = 0; i < q->windows_made; i++)
		vpt_free(q->windows[i]);
	vpt_free(q->windows);
	vpt_free(q->orders);
	vpt_free(q->sources);
	vpt_free(q->held);
	memset(q, 0, sizeof(*q));
}
