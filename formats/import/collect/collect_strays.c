/* collect_strays.c - rows of a foreign trace that are far away from all others, and rows at time 0.
 *
 * A profiler that converts a clock wrongly puts an event years away. It would stretch the window, and all
 * figures that are a share of it. So the rows are compared with where most of the trace is: its calls, or, if
 * it has none, its ranges, or else its ops. That is the stretch around their median that an hour without any of
 * them ends, or 10 times as long as the stretch, if it has most of them; else all of them.
 *
 *	           10 days
 *	call ......................... call call call call call
 *	a stray                        <---- most of them ---->
 *
 *	- A row is far away if it begins more than an hour after that stretch, and more than 10 times as
 *	  long after it as the stretch is; or ends so long before it. If most rows of a device, or
 *	  of the host, are, it is the clocks that differ, and none is touched; nor is any if an op and its launch are there
 *	  together: a server may have waited for hours.
 *	- The start of an op that is far away becomes 0, an invalid time; another row is left out.
 *	- An op at 0 is one, of a trace that counts from its own start, if that is not far away, and no other
 *	  begins there on its stream. Else its time was not read.
 *
 * Nearly every trace is shorter than an hour, and pays for a look at each time. Left out: a row that begins in
 * the stretch and ends far away, as a range around all of a program's life may. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/base/run_sort.h"
#include "formats/clocks.h"
#include "formats/import/collect/collect_state.h"

#include <string.h>

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

struct span {
	uint64_t start, end; /* end 0: there is none */
};

static int is_op(unsigned kind)
{
	return kind == VPT_KERNEL || kind == VPT_COPY;
}

static int is_of_device(unsigned kind)
{
	return is_op(kind) || kind == VPT_EVENT;
}

static int is_judged(unsigned kind)
{
	const struct vpt_kind_desc *desc = vpt_kind_desc(kind);

	return desc && (desc->flags & VPT_KIND_EVENT || kind == VPT_OPEN) && kind != VPT_LOSS;
}

/* When the row begins and ends; an end of 0 if its times say nothing. */
static struct span times_of(const struct vpt_collect *c, unsigned kind, size_t i)
{
	const uint64_t *row = vpt_collect_row_at(c, kind, i);
	uint64_t start = row[1 + (kind == VPT_OPEN ? VPT_OPEN_START : 0)], end = start;

	if (vpt_kind_desc(kind)->flags & VPT_KIND_SPAN)
		end += row[2];
	return (struct span){start, end < start ? 0 : end};
}

static void widen(struct span *s, const struct span *by)
{
	if (!s->end || by->start < s->start)
		s->start = by->start;
	s->end = by->end > s->end ? by->end : s->end;
}

/* ---- where most of the trace is ---- */

static uint64_t limit_of(const struct span *s)
{
	uint64_t length = s->end - s->start;

	return length > UINT64_MAX / 10 ? UINT64_MAX
	       : length > HOUR_NS / 10  ? length * 10
					: HOUR_NS;
}

static int is_span_after(const void *a, const void *b, void *unused)
{
	(void)unused;
	return ((const struct span *)a)->start > ((const struct span *)b)->start;
}

/* The stretch around the median. `latest`: for each row the last end of those up to it. */
static struct span around_median(const struct span *rows, const uint64_t *latest, size_t count)
{
	size_t low = count / 2, high = low;
	struct span found = rows[low], all = {rows[0].start, latest[count - 1]};

	for (;;) {
		uint64_t limit = limit_of(&found);

		if (high + 1 < count && (rows[high + 1].start <= found.end ||
						rows[high + 1].start - found.end <= limit))
			widen(&found, &rows[++high]);
		else if (low &&
			 (latest[low - 1] >= found.start || found.start - latest[low - 1] <= limit))
			widen(&found, &rows[--low]);
		else
			break;
	}
	return high - low + 1 > count / 2 ? found : all;
}

/* Without rows at 0 if they may be unread times. */
static int find_most(
	const struct vpt_collect *c, const unsigned *kinds, unsigned kind_count, struct span *out)
{
	struct span *rows;
	uint64_t *latest;
	size_t count = 0, k, i;
	int rc = VPT_ENOMEM;

	for (k = 0; k < kind_count; k++)
		count += c->kinds[kinds[k]].count;
	rows = vpt_alloc(count + 1, sizeof(*rows));
	latest = vpt_alloc(count + 1, sizeof(*latest));
	count = 0;
	for (k = 0; rows && latest && k < kind_count; k++)
		for (i = 0; i < c->kinds[kinds[k]].count; i++) {
			rows[count] = times_of(c, kinds[k], i);
			count += rows[count].end && (rows[count].start || !is_op(kinds[k]));
		}
	if (rows && latest)
		rc = vpt_run_sort(rows, count, sizeof(*rows), is_span_after, NULL);
	if (!rc && count) {
		for (i = 0; i < count; i++)
			latest[i] = i && latest[i - 1] > rows[i].end ? latest[i - 1] : rows[i].end;
		*out = around_median(rows, latest, count);
	}
	vpt_free(rows);
	vpt_free(latest);
	return rc;
}

/* ---- rows that are not there ---- */

static int is_far(const struct span *row, const struct span *most)
{
	uint64_t limit = limit_of(most);

	return row->end && ((row->start > most->end && row->start - most->end > limit) ||
				   (row->end < most->start && most->start - row->end > limit));
}

static uint64_t id_of(const struct vpt_collect *c, unsigned kind, size_t i)
{
	return vpt_collect_row_at(
		c, kind, i)[1 + (kind == VPT_CALL            ? VPT_CALL_CORRELATION
					: kind == VPT_KERNEL ? VPT_KERNEL_CORRELATION
							     : VPT_COPY_CORRELATION)];
}

/* A call with this id that is far away, of several the first; VPT_MAP_NONE: there is none. */
static uint32_t find_far_call(const struct vpt_collect *c, const struct vpt_map *calls, uint64_t id)
{
	uint64_t hash = vpt_hash_number(id), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(calls, hash, &at)) != VPT_MAP_NONE)
		if (id_of(c, VPT_CALL, n) == id)
			break;
	return n;
}

static int list_far_calls(
	const struct vpt_collect *c, const struct span *most, struct vpt_map *calls)
{
	size_t i;

	for (i = 0; i < c->kinds[VPT_CALL].count; i++) {
		struct span times = times_of(c, VPT_CALL, i);
		uint64_t id = id_of(c, VPT_CALL, i);

		if (id && is_far(&times, most) && find_far_call(c, calls, id) == VPT_MAP_NONE &&
			vpt_map_put(calls, vpt_hash_number(id), (uint32_t)i))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Whether an op that is far away began within an hour of its launch: 1, 0 or VPT_ENOMEM. */
static int has_far_work(const struct vpt_collect *c, const struct span *most)
{
	static const unsigned kinds[] = {VPT_KERNEL, VPT_COPY};
	struct vpt_map calls = {0};
	int found = list_far_calls(c, most, &calls);
	size_t k, i;

	for (k = 0; calls.count && !found && k < 2; k++)
		for (i = 0; i < c->kinds[kinds[k]].count && !found; i++) {
			struct span op = times_of(c, kinds[k], i), call;
			uint32_t n = is_far(&op, most)
					     ? find_far_call(c, &calls, id_of(c, kinds[k], i))
					     : VPT_MAP_NONE;

			if (n == VPT_MAP_NONE)
				continue;
			call = times_of(c, VPT_CALL, n);
			found = op.start >= call.start && op.start - call.start <= HOUR_NS;
		}
	vpt_map_free(&calls);
	return found;
}

/* Whether most rows that a device stamped, or else the host, are far away. */
static int are_most_far(const struct vpt_collect *c, int of_device, const struct span *most)
{
	size_t far = 0, all = 0, i;
	unsigned kind;

	for (kind = 0; kind < VPT_KIND_LIMIT; kind++)
		for (i = 0; is_judged(kind) && is_of_device(kind) == of_device &&
			    i < c->kinds[kind].count;
			i++) {
			struct span row = times_of(c, kind, i);

			all++;
			far += (row.start || !is_op(kind)) && is_far(&row, most);
		}
	return far > all / 2;
}

/* Ops get an invalid time. */
static void leave_out_far(struct vpt_collect *c, unsigned kind, const struct span *most)
{
	struct vpt_collect_rows *rows = &c->kinds[kind];
	size_t width = rows->width, i, kept = 0;

	for (i = 0; i < rows->count; i++) {
		uint64_t *row = vpt_collect_row_at(c, kind, i);
		struct span times = times_of(c, kind, i);

		if (is_far(&times, most)) {
			if (!is_op(kind)) {
				c->doubts.far_rows++;
				continue;
			}
			row[1] = 0;
		}
		memmove(rows->values + kept++ * width, row, width * sizeof(*row));
	}
	rows->count = kept;
}

/* ---- ops at 0 ---- */

/* Whether 0 is a time of this trace, `most` of which is near. */
static int judge_zero(struct vpt_collect *c, const struct span *most)
{
	static const unsigned kinds[] = {VPT_KERNEL, VPT_COPY};
	unsigned char *used = vpt_calloc(c->lane_count + 1, 1);
	size_t k, i, found = 0, doubled = 0;

	if (!used)
		return VPT_ENOMEM;
	for (k = 0; most->end && k < 2; k++)
		for (i = 0; i < c->kinds[kinds[k]].count; i++) {
			uint64_t lane = vpt_collect_row_at(c, kinds[k], i)[0];
			struct span times = times_of(c, kinds[k], i);

			if (times.start || !times.end || is_far(&times, most))
				continue;
			found++;
			lane = lane <= c->lane_count ? lane : 0;
			doubled += used[lane];
			used[lane] = 1;
		}
	vpt_free(used);
	c->zero_is_time = found && !doubled;
	if (c->zero_is_time)
		vpt_collect_fact(c, VPT_METADATA_CLOCK_FROM_ZERO, "1");
	return c->failed;
}

/* From the first start to the last end of all rows; of ops, without those at 0. */
static struct span span_of_all(const struct vpt_collect *c, int *has_zero)
{
	struct span all = {0, 0};
	unsigned kind;
	size_t i;

	for (kind = 0; kind < VPT_KIND_LIMIT; kind++)
		for (i = 0; is_judged(kind) && i < c->kinds[kind].count; i++) {
			struct span row = times_of(c, kind, i);

			if (row.end && !row.start && is_op(kind))
				*has_zero = 1;
			else if (row.end)
				widen(&all, &row);
		}
	return all;
}

static int leave_out(struct vpt_collect *c, const struct span *most)
{
	int has_work = has_far_work(c, most), is_another[] = {1, 1};
	unsigned kind;

	if (!has_work)
		for (kind = 0; kind < 2; kind++)
			is_another[kind] = are_most_far(c, (int)kind, most);
	for (kind = 0; kind < VPT_KIND_LIMIT; kind++)
		if (is_judged(kind) && !is_another[is_of_device(kind)])
			leave_out_far(c, kind, most);
	return has_work < 0 ? has_work : VPT_OK;
}

int vpt_collect_leave_out_strays(struct vpt_collect *c)
{
	static const unsigned ops[] = {VPT_KERNEL, VPT_COPY}, calls[] = {VPT_CALL},
			      ranges[] = {VPT_RANGE};
	int has_zero = 0, rc = VPT_OK;
	struct span most = span_of_all(c, &has_zero);

	if (most.end - most.start > HOUR_NS) {
		rc = c->kinds[VPT_CALL].count    ? find_most(c, calls, 1, &most)
		     : c->kinds[VPT_RANGE].count ? find_most(c, ranges, 1, &most)
						 : find_most(c, ops, 2, &most);
		rc = rc ? rc : leave_out(c, &most);
	}
	return !rc && has_zero && !c->zero_is_no_time ? judge_zero(c, &most) : rc;
}
