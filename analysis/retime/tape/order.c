/* order.c - sorts times with the numbers of their rows, merging stretches that are in order, then moves the rows. */
#include "analysis/retime/tape/order.h"

#include "analysis/base/sort.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <string.h>

enum { REACH = 65536 /* rows, before those of a chunk that begin after its first one */ };

/* ---- times ---- */

static size_t stretch_end(const struct vpa_timed *keys, size_t from, size_t count)
{
	size_t i = from + 1;

	while (i < count && keys[i - 1].ns <= keys[i].ns)
		i++;
	return i < count ? i : count;
}

/* Two neighbouring stretches become one. */
static void merge(const struct vpa_timed *a, const struct vpa_timed *a_end,
	const struct vpa_timed *b_end, struct vpa_timed *out)
{
	const struct vpa_timed *b = a_end;

	while (a < a_end && b < b_end)
		*out++ = b->ns < a->ns ? *b++ : *a++;
	memcpy(out, a, (size_t)((const char *)a_end - (const char *)a));
	out += a_end - a;
	memcpy(out, b, (size_t)((const char *)b_end - (const char *)b));
}

/* Merges each two stretches. Returns how many are left. */
static size_t merge_all(const struct vpa_timed *keys, size_t count, struct vpa_timed *out)
{
	size_t from, middle, end, stretches = 0;

	for (from = 0; from < count; from = end, stretches++) {
		middle = stretch_end(keys, from, count);
		end = middle < count ? stretch_end(keys, middle, count) : middle;
		merge(keys + from, keys + middle, keys + end, out + from);
	}
	return stretches;
}

/* By time; those of one time keep their order. 0 or VPT_ENOMEM. */
static int sort_timed(struct vpa_timed *keys, size_t count)
{
	struct vpa_timed *other, *from = keys, *to;

	if (!count || stretch_end(keys, 0, count) == count)
		return 0;
	other = to = vpt_alloc(count, sizeof(*other));
	if (!other)
		return VPT_ENOMEM;
	while (merge_all(from, count, to) > 1) {
		to = from;
		from = from == keys ? other : keys;
	}
	if (to != keys)
		memcpy(keys, other, count * sizeof(*keys));
	vpt_free(other);
	return 0;
}

/* ---- rows ---- */

static uint64_t time_of(const struct vpa_ordering *o, const char *rows, size_t row)
{
	uint64_t ns;

	memcpy(&ns, rows + row * o->size, sizeof(ns));
	return ns;
}

/* Rows of one time, put in order by what else they have. */
static int order_ties(const struct vpa_ordering *o, char *rows, size_t from, size_t count)
{
	size_t i, first = from;
	int rc = 0;

	for (i = from + 1; i <= count && !rc; i++) {
		if (i < count && time_of(o, rows, i) == time_of(o, rows, first))
			continue;
		if (i - first > 1)
			rc = vpa_sort(rows + first * o->size, i - first, o->size, o->compare);
		first = i;
	}
	return rc;
}

static void move_rows(const struct vpa_ordering *o, char *rows, const struct vpa_timed *keys,
	size_t count, char *moved)
{
	size_t i;

	for (i = 0; i < count; i++)
		memcpy(moved + i * o->size, rows + keys[i].row * o->size, o->size);
	memcpy(rows, moved, count * o->size);
}

static int order_from(const struct vpa_ordering *o, char *rows, size_t from, size_t count)
{
	struct vpa_timed *keys = vpt_alloc(count - from, sizeof(*keys));
	char *moved = NULL;
	size_t i;
	int rc = keys ? 0 : VPT_ENOMEM;

	for (i = from; keys && i < count; i++)
		keys[i - from] = (struct vpa_timed){time_of(o, rows, i), (uint32_t)(i - from)};
	if (!rc && stretch_end(keys, 0, count - from) < count - from) {
		moved = vpt_alloc(count - from, o->size);
		rc = moved ? sort_timed(keys, count - from) : VPT_ENOMEM;
		if (!rc)
			move_rows(o, rows + from * o->size, keys, count - from, moved);
	}
	vpt_free(keys);
	vpt_free(moved);
	return rc ? rc : order_ties(o, rows, from, count);
}

int vpa_order_more(struct vpa_ordering *o, void *rows, size_t count)
{
	size_t from = o->ordered, i;
	uint64_t first_ns = UINT64_MAX;

	if (o->is_disordered || count == from)
		return 0;
	for (i = from; i < count; i++)
		if (time_of(o, rows, i) < first_ns)
			first_ns = time_of(o, rows, i);
	while (from && time_of(o, rows, from - 1) >= first_ns)
		if (o->ordered - --from > REACH + 4 * (count - o->ordered)) {
			o->is_disordered = 1;
			return 0;
		}
	o->moved += o->ordered - from;
	if (o->moved > REACH + 4 * count)
		o->is_disordered = 1;
	o->ordered = count;
	return order_from(o, rows, from, count);
}

int vpa_order_all(struct vpa_ordering *o, void *rows, size_t count)
{
	return o->is_disordered ? order_from(o, rows, 0, count) : vpa_order_more(o, rows, count);
}
