/* model_gaps.c - device time by cutting time at every edge, and the report's causes against model_causes.h. */
#include "formats/base/memory.h"
#include "tests/support/model/model_causes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_SHOWN = 64, NAME_MAX_BYTES = 512 };

/* ---- causes ---- */

/* One cause with one place and call. */
struct part {
	enum model_cause cause;
	char range[NAME_MAX_BYTES]; /* "": none */
	const char *call;           /* "": none */
	uint64_t ns, gaps;
	uint64_t instead_ns; /* of ns: after a wait that need not have been */
	size_t newest;       /* the last of the gaps, counted from 1 */
};

struct parts {
	struct part *items;
	size_t count, cap;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The place of a piece as the report words it: where the host was in no call and no range says what it did, that of the
 * launch after it. */
static void name_place(const struct model_gap *g, const struct model_piece *p, char *out)
{
	int is_late = p->cause == MODEL_LAUNCH_RATE || p->cause == MODEL_HOST_CODE ||
		      p->cause == MODEL_FIRST_USE || p->cause == MODEL_GRAPH_BUILD ||
		      p->cause == MODEL_PROFILER || p->cause == MODEL_MODULE_LOAD;

	if (!p->range && !p->call && is_late && g->launch_range)
		snprintf(out, NAME_MAX_BYTES, "before %.400s", g->launch_range);
	else
		snprintf(out, NAME_MAX_BYTES, "%.400s", or_empty(p->range));
}

/* The part of a piece, with its place. */
static struct part *part_of(
	struct parts *parts, const struct model_gap *g, const struct model_piece *p)
{
	char range[NAME_MAX_BYTES];
	size_t i;

	name_place(g, p, range);
	for (i = 0; i < parts->count; i++)
		if (parts->items[i].cause == p->cause && !strcmp(parts->items[i].range, range) &&
			!strcmp(parts->items[i].call, or_empty(p->call)))
			return &parts->items[i];
	if (vpt_grow(&parts->items, &parts->cap, parts->count + 1, sizeof(*parts->items)))
		abort();
	parts->items[i] = (struct part){.cause = p->cause, .call = or_empty(p->call)};
	memcpy(parts->items[i].range, range, sizeof(range));
	parts->count++;
	return &parts->items[i];
}

static void sum_parts(const struct model_device *d, struct parts *parts)
{
	size_t i, k;

	for (i = 0; i < d->gap_count; i++)
		for (k = 0; k < d->gaps[i].piece_count; k++) {
			const struct model_piece *p = &d->gaps[i].pieces[k];
			struct part *part = part_of(parts, &d->gaps[i], p);

			part->ns += p->end - p->start;
			part->instead_ns += p->instead_call ? p->end - p->start : 0;
			part->gaps += part->newest != i + 1;
			part->newest = i + 1;
		}
}

static int is_cause(enum vpa_cause theirs, enum model_cause ours)
{
	return !strcmp(vpa_cause_text(theirs), model_cause_names[ours]);
}

static void check_cause_sums(struct model *m, const char *where, const struct model_device *ours,
	const struct vpa_device *d)
{
	size_t i, k;

	for (k = 0; k < MODEL_CAUSES; k++) {
		uint64_t ns = 0;

		for (i = 0; i < d->cause_count; i++)
			if (is_cause(d->causes[i].cause, (enum model_cause)k))
				ns += d->causes[i].ns;
		model_same(m, where, model_cause_names[k], ours->ns[k], ns);
	}
}

/* The place of what the host did, as the report words it. */
static void name_host_place(const struct model_gap *g, const struct model_piece *p, char *out)
{
	struct model_piece host = {.cause = p->host, .call = p->inside, .range = p->host_range};

	name_place(g, &host, out);
}

/* All of a device's credited time that a row of the report is about. */
static uint64_t host_did_ns(const struct model_device *ours, const struct vpa_instead_row *row)
{
	char range[NAME_MAX_BYTES], host_range[NAME_MAX_BYTES];
	uint64_t ns = 0;
	size_t i, k;

	for (i = 0; i < ours->gap_count; i++)
		for (k = 0; k < ours->gaps[i].piece_count; k++) {
			const struct model_piece *p = &ours->gaps[i].pieces[k];

			if (!p->is_credited || !is_cause(row->cause, p->cause) ||
				!is_cause(row->host, p->host) ||
				strcmp(or_empty(row->call), or_empty(p->call)) != 0 ||
				strcmp(or_empty(row->host_call), or_empty(p->inside)) != 0)
				continue;
			name_place(&ours->gaps[i], p, range);
			name_host_place(&ours->gaps[i], p, host_range);
			if (!strcmp(or_empty(row->place.text), range) &&
				!strcmp(or_empty(row->host_place.text), host_range))
				ns += p->end - p->start;
		}
	return ns;
}

/* What the host did in credited time: row by row, and the sum of each cause, which small rows do not change. */
static void check_host_did(struct model *m, const char *where, const struct model_device *ours,
	const struct vpa_device *d)
{
	uint64_t credited[MODEL_CAUSES] = {0}, found[MODEL_CAUSES] = {0};
	size_t i, k;

	for (i = 0; i < ours->gap_count; i++)
		for (k = 0; k < ours->gaps[i].piece_count; k++) {
			const struct model_piece *p = &ours->gaps[i].pieces[k];

			credited[p->cause] += p->is_credited ? p->end - p->start : 0;
		}
	for (i = 0; i < d->instead_count; i++) {
		const struct vpa_instead_row *row = &d->instead[i];
		char text[1200];

		for (k = 0; k < MODEL_CAUSES; k++)
			found[k] += is_cause(row->cause, (enum model_cause)k) ? row->ns : 0;
		if (row->host_place.kind == VPA_PLACE_SEVERAL)
			continue;
		snprintf(text, sizeof(text), "%s, %s of %.300s: the host did %s %.300s in %.300s",
			where, vpa_cause_text(row->cause), or_empty(row->call),
			vpa_cause_text(row->host), or_empty(row->host_call),
			or_empty(row->host_place.text));
		model_same(m, text, "ns", host_did_ns(ours, row), row->ns);
	}
	for (k = 0; k < MODEL_CAUSES; k++)
		model_same(m, where, "credited ns", credited[k], found[k]);
}

/* The report names time without a range around it by operators that run on the CPU meanwhile. The model does not know these: to it such
 * rows, and those that are named by what comes after, are one. */
static int is_of_operators(const char *place)
{
	return !strncmp(or_empty(place), VPA_OPERATOR_TEXT, strlen(VPA_OPERATOR_TEXT));
}

static int lacks_range(const char *place)
{
	return !*or_empty(place) || !strncmp(place, "before ", 7) || is_of_operators(place);
}

/* `joined`: places without a range are the same. */
static int is_same_place(const char *theirs, const char *ours, int joined)
{
	return (joined && lacks_range(theirs) && lacks_range(ours)) ||
	       !strcmp(or_empty(theirs), ours);
}

/* The report's row, with those that are the same to the model. */
static struct vpa_idle_part row_of(const struct vpa_device *d, size_t row, int joined)
{
	struct vpa_idle_part out = d->causes[row];
	size_t i;

	for (i = 0; joined && lacks_range(out.place.text) && i < d->cause_count; i++) {
		const struct vpa_idle_part *p = &d->causes[i];

		if (i == row || p->cause != out.cause || !lacks_range(p->place.text) ||
			strcmp(or_empty(p->call), or_empty(out.call)) != 0)
			continue;
		out.ns += p->ns;
		out.gaps += p->gaps;
		out.instead_ns += p->instead_ns;
	}
	return out;
}

/* Row by row, unless small ones were added up. A gap that a pause cuts is several to the report. */
static void check_parts(struct model *m, const char *where, const struct model_device *ours,
	const struct vpa_device *d, int has_pauses)
{
	struct parts parts = {0};
	size_t i, k, other = 0;
	int joined = 0;

	sum_parts(ours, &parts);
	for (i = 0; i < d->cause_count; i++) {
		other |= d->causes[i].place.kind == VPA_PLACE_SEVERAL;
		joined |= is_of_operators(d->causes[i].place.text);
	}
	if (!other && !joined)
		model_same(m, where, "rows of causes", parts.count, d->cause_count);
	for (i = 0; i < d->cause_count && !other; i++) {
		const struct vpa_idle_part whole = row_of(d, i, joined), *p = &whole;
		char row[1200];
		uint64_t ns = 0, gaps = 0, instead_ns = 0;

		for (k = 0; k < parts.count; k++)
			if (is_cause(p->cause, parts.items[k].cause) &&
				is_same_place(p->place.text, parts.items[k].range, joined) &&
				!strcmp(parts.items[k].call, or_empty(p->call))) {
				ns += parts.items[k].ns;
				gaps += parts.items[k].gaps;
				instead_ns += parts.items[k].instead_ns;
			}
		snprintf(row, sizeof(row), "%s, %s: %.400s in %.400s", where,
			vpa_cause_text(p->cause), or_empty(p->call), or_empty(p->place.text));
		model_same(m, row, "ns", ns, p->ns);
		model_same(m, row, "ns instead of a wait", instead_ns, p->instead_ns);
		if (!has_pauses)
			model_same(m, row, "gaps", gaps, p->gaps);
	}
	vpt_free(parts.items);
}

/* ---- gaps ---- */

static const struct vpa_gap_row *reported_gap(
	const struct vpa_report *r, int64_t device, const struct model_gap *g)
{
	size_t i;

	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].device == device && r->gaps[i].start_ns == g->start)
			return &r->gaps[i];
	return NULL;
}

/* The model's pieces, neighbours that say the same as one. */
static size_t join_pieces(const struct model_gap *g, struct part *out, size_t max)
{
	size_t i, count = 0;

	for (i = 0; i < g->piece_count && count < max; i++) {
		const struct model_piece *p = &g->pieces[i];
		struct part part = {.cause = p->cause, .call = or_empty(p->call)};

		name_place(g, p, part.range);
		part.ns = p->end - p->start;
		if (count && out[count - 1].cause == part.cause &&
			!strcmp(out[count - 1].call, part.call) &&
			!strcmp(out[count - 1].range, part.range))
			out[count - 1].ns += part.ns;
		else
			out[count++] = part;
	}
	return count;
}

static void check_pieces(struct model *m, const char *where, const struct model_gap *g,
	const struct vpa_gap_row *row)
{
	static struct part pieces[PIECES_SHOWN + 1];
	size_t count = join_pieces(g, pieces, PIECES_SHOWN + 1), i;

	if (count > PIECES_SHOWN) /* the report adds up what comes on top */
		return;
	model_same(m, where, "number of pieces", count, row->piece_count);
	for (i = 0; i < count && i < row->piece_count; i++) {
		const struct vpa_gap_piece *p = &row->pieces[i];

		if (!is_cause(p->cause, pieces[i].cause) || p->ns != pieces[i].ns ||
			!is_same_place(
				p->place.text, pieces[i].range, is_of_operators(p->place.text)) ||
			strcmp(or_empty(p->call), pieces[i].call))
			model_say(m,
				"%s: piece %zu is %s %" PRIu64
				" %s in %s, the model says %s %" PRIu64 " %s in %s",
				where, i, vpa_cause_text(p->cause), p->ns, or_empty(p->call),
				or_empty(p->place.text), model_cause_names[pieces[i].cause],
				pieces[i].ns, pieces[i].call, pieces[i].range);
	}
}

static void check_gap(
	struct model *m, const struct vpa_report *r, int64_t device, const struct model_gap *g)
{
	const struct vpa_gap_row *row = reported_gap(r, device, g);
	char where[96];

	snprintf(where, sizeof(where), "device %" PRId64 ", gap %" PRIu64 "-%" PRIu64, device,
		g->start, g->end);
	if (g->idle_ns != g->end - g->start) /* a pause cuts it */
		return;
	if (!row) {
		model_say(m, "%s: not in the report", where);
		return;
	}
	model_same(m, where, "duration", g->end - g->start, row->duration_ns);
	if (!is_cause(row->cause, g->cause))
		model_say(m, "%s: %s, the model says %s", where, vpa_cause_text(row->cause),
			model_cause_names[g->cause]);
	check_pieces(m, where, g, row);
}

/* What runs on a device between two neighbouring edges. */
struct cover {
	int compute, comm, copy;
};

static struct cover cover_of(const struct model *m, int64_t device, uint64_t from, uint64_t to)
{
	struct cover c = {0};
	size_t i;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (!op->active || op->device != device || op->start > from || op->end < to)
			continue;
		c.copy += op->kind != VPA_KERNEL;
		c.comm += op->kind == VPA_KERNEL && vpa_family_is_comm(op->family);
		c.compute += op->kind == VPA_KERNEL && !vpa_family_is_comm(op->family);
	}
	return c;
}

static void sum_cover(
	const struct model *m, int64_t device, const struct model_edges *e, struct vpa_device *sums)
{
	size_t i;

	for (i = 0; i + 1 < e->count; i++) {
		uint64_t from = e->items[i], to = e->items[i + 1];
		struct cover c = cover_of(m, device, from, to);

		sums->compute_ns += c.compute ? to - from : 0;
		sums->exposed_comm_ns += !c.compute && c.comm ? to - from : 0;
		sums->exposed_copy_ns += !c.compute && !c.comm && c.copy ? to - from : 0;
	}
}

static uint64_t sms_of(const struct model *m, int64_t device)
{
	size_t i;

	for (i = 0; i < m->sms.count; i++)
		if (m->sms.items[i].device == device)
			return m->sms.items[i].count;
	return 0;
}

static void sum_ops(const struct model *m, struct vpa_device *d, struct model_edges *e)
{
	size_t i, k;

	d->first_ns = UINT64_MAX;
	model_edge(e, m->window_start);
	model_edge(e, m->window_end);
	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];
		int overlaps = 0, again = 0;

		if (!op->active || op->device != d->device)
			continue;
		model_edge(e, op->start);
		model_edge(e, op->end);
		d->ops++;
		d->first_ns = op->start < d->first_ns ? op->start : d->first_ns;
		d->last_ns = op->end > d->last_ns ? op->end : d->last_ns;
		d->kernel_ns += op->kind == VPA_KERNEL ? op->end - op->start : 0;
		if (op->kind == VPA_KERNEL && op->blocks && op->blocks < sms_of(m, d->device))
			d->small_grid_ns += op->end - op->start;
		for (k = 0; k < i; k++) {
			const struct model_op *o = &m->ops.items[k];

			if (o->active && o->device == d->device && o->stream == op->stream) {
				again = 1;
				overlaps |= o->end > op->start;
			}
		}
		d->same_stream_overlaps += (uint64_t)overlaps;
		d->streams += !again;
	}
	model_edges_sort(e);
}

static void sum_gaps(struct vpa_device *d, const struct model_device *ours)
{
	size_t i;
	unsigned b;

	for (i = 0; i < ours->gap_count; i++) {
		const struct model_gap *g = &ours->gaps[i];
		uint64_t ns = g->idle_ns;

		d->window_idle_ns += ns;
		if (!g->before || !g->after)
			continue;
		d->gaps++;
		d->idle_ns += ns;
		d->longest_gap_ns = ns > d->longest_gap_ns ? ns : d->longest_gap_ns;
		for (b = 0; b < VPA_GAP_BUCKETS; b++)
			d->histogram[b] += ns >= vpa_gap_bucket_from_ns[b] &&
					   ns < vpa_gap_bucket_from_ns[b + 1];
	}
}

static void compare_device(
	struct model *m, const struct vpa_device *ours, const struct vpa_device *theirs)
{
	char where[32];
	unsigned b;

	snprintf(where, sizeof(where), "device %" PRId64, ours->device);
#define SAME(field) model_same(m, where, #field, ours->field, theirs->field)
	SAME(ops);
	SAME(streams);
	SAME(first_ns);
	SAME(last_ns);
	SAME(active_ns);
	SAME(busy_ns);
	SAME(idle_ns);
	SAME(gaps);
	SAME(longest_gap_ns);
	SAME(kernel_ns);
	SAME(same_stream_overlaps);
	SAME(compute_ns);
	SAME(exposed_comm_ns);
	SAME(exposed_copy_ns);
	SAME(window_idle_ns);
	SAME(small_grid_ns);
#undef SAME
	for (b = 0; b < VPA_GAP_BUCKETS; b++)
		model_same(m, where, vpa_gap_bucket_names[b], ours->histogram[b],
			theirs->histogram[b]);
}

int model_has_pauses(const struct model *m)
{
	size_t i;

	for (i = 0; i < m->losses.count; i++)
		if (m->losses.items[i].kind == VPT_LOSSKIND_PAUSED)
			return 1;
	return 0;
}

static void check_device(struct model *m, const struct vpa_report *r,
	const struct vpa_device *theirs, const struct model_device *causes)
{
	struct vpa_device ours = {.device = theirs->device};
	struct model_edges e = {0};
	char where[48];
	size_t i;

	snprintf(where, sizeof(where), "device %" PRId64, theirs->device);
	sum_ops(m, &ours, &e);
	sum_cover(m, ours.device, &e, &ours);
	sum_gaps(&ours, causes);
	ours.busy_ns = ours.compute_ns + ours.exposed_comm_ns + ours.exposed_copy_ns;
	ours.active_ns = ours.busy_ns + ours.idle_ns;
	if (!model_has_pauses(m))
		compare_device(m, &ours, theirs);
	check_cause_sums(m, where, causes, theirs);
	check_parts(m, where, causes, theirs, model_has_pauses(m));
	check_host_did(m, where, causes, theirs);
	for (i = 0; i < causes->gap_count; i++)
		check_gap(m, r, ours.device, &causes->gaps[i]);
	vpt_free(e.items);
}

static const struct model_device *device_of(const struct model_causes *causes, int64_t device)
{
	size_t i;

	for (i = 0; i < causes->device_count; i++)
		if (causes->devices[i].device == device)
			return &causes->devices[i];
	return NULL;
}

void model_check_devices(
	struct model *m, const struct model_causes *causes, const struct vpa_report *r)
{
	size_t i, gaps = 0;

	model_same(m, "report", "devices", causes->device_count, r->device_count);
	for (i = 0; i < r->device_count; i++) {
		const struct model_device *ours = device_of(causes, r->devices[i].device);

		if (!ours) {
			model_say(
				m, "device %" PRId64 " is not in the model", r->devices[i].device);
			return;
		}
		check_device(m, r, &r->devices[i], ours);
		gaps += ours->gap_count;
	}
	if (!model_has_pauses(m))
		model_same(m, "report", "listed gaps", gaps, r->gap_count);
}
