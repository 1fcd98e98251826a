/* contents_describe.c - a chunk's row of the contents: see contents.h. */
#include "formats/base/memory.h"
#include "formats/base/vectorise.h"
#include "formats/calls.h"
#include "formats/file/contents.h"

#include <string.h>

/* So many names, lanes and kinds of copies are known at most. */
enum { KNOWN_MAX = 1 << 16, KNOWN_CALLS = 1024 };

void vpt_contents_known_free(struct vpt_contents_known *k)
{
	vpt_free(k->items);
	vpt_map_free(&k->map);
	memset(k, 0, sizeof(*k));
}

static int has_learned(const struct vpt_contents_known *k, uint64_t hash)
{
	uint64_t at = hash;
	uint32_t number;

	while ((number = vpt_map_next(&k->map, hash, &at)) != VPT_MAP_NONE)
		if (k->items[number] == hash)
			return 1;
	return k->is_full;
}

/* Returns whether it is news. */
static int learn(struct vpt_contents_known *k, uint64_t hash)
{
	if (k->is_full || has_learned(k, hash))
		return k->is_full;
	k->is_full = k->count == KNOWN_MAX;
	k->failed |=
		!k->is_full && (vpt_grow(&k->items, &k->cap, k->count + 1, sizeof(*k->items)) ||
				       vpt_map_put(&k->map, hash, (uint32_t)k->count));
	if (!k->is_full && !k->failed)
		k->items[k->count++] = hash;
	return 1;
}

static uint64_t news_of_kernels(
	const struct vpt_batch *b, const struct vpt_section *s, struct vpt_contents_known *known)
{
	const uint64_t *names = s->col[VPT_CONFIG_NAME];
	uint64_t news = 0;
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct vpt_text name = vpt_batch_text(b, names[i]);

		if (!i || names[i] != names[i - 1])
			news += (uint64_t)learn(known, vpt_hash(name.text, name.len));
	}
	return news;
}

static uint64_t news_of_lanes(const struct vpt_section *s, struct vpt_contents_known *known)
{
	uint64_t news = 0;
	uint32_t i;

	for (i = 0; i < s->row_count; i++)
		news += (uint64_t)learn(known, vpt_hash_pair(s->kind, s->col[VPT_LANE_KEY][i]));
	return news;
}

/* Of a text by id, or the id itself. */
static uint64_t hash_cell(
	const struct vpt_batch *b, const struct vpt_column_desc *column, uint64_t cell)
{
	struct vpt_text text;

	if (column->unit != VPT_UNIT_STRING)
		return vpt_hash_number(cell);
	text = vpt_batch_text(b, cell);
	return vpt_hash(text.text, text.len);
}

/* Rows that say the same as every earlier row of their key, their first column, are no news. */
static uint64_t news_of_facts(
	const struct vpt_batch *b, const struct vpt_section *s, struct vpt_contents_known *known)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	uint64_t news = 0;
	uint32_t i;
	unsigned c;

	for (i = 0; i < s->row_count; i++) {
		uint64_t key =
			vpt_hash_pair(s->kind, hash_cell(b, &kind->columns[0], s->col[0][i]));
		uint64_t fact = key, changed = vpt_hash_number(key);
		int is_first = learn(known, key);

		for (c = 1; c < kind->n_columns; c++)
			fact = vpt_hash_pair(fact, hash_cell(b, &kind->columns[c], s->col[c][i]));
		if (learn(known, fact) && !is_first)
			learn(known, changed);
		news += (uint64_t)(is_first || has_learned(known, changed));
	}
	return news;
}

static uint64_t devices_of(const struct vpt_section *s)
{
	uint64_t devices = 0;
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		uint64_t device = s->col[VPT_LANE_DEVICE][i], pid = s->col[VPT_LANE_PID][i];

		if (s->col[VPT_LANE_LANE_TYPE][i] == VPT_LANETYPE_SERIES)
			continue;
		devices |= (uint64_t)1 << (48 + vpt_mix(pid) % 16);
		if (s->col[VPT_LANE_LANE_TYPE][i] == VPT_LANETYPE_STREAM)
			devices |= (uint64_t)1 << (device < 47 ? device : 47);
	}
	return devices;
}

static uint64_t news_of_copies(const struct vpt_section *s, struct vpt_contents_known *known)
{
	uint64_t news = 0, last = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		uint64_t kind = s->col[VPT_COPY_COPY_KIND][i] << 32 |
				(s->col[VPT_COPY_SOURCE_MEMORY][i] & 0xffff) << 16 |
				(s->col[VPT_COPY_TARGET_MEMORY][i] & 0xffff);

		if (kind != last)
			news += (uint64_t)learn(known, vpt_hash_pair(s->kind, kind));
		last = kind;
	}
	return news;
}

/* The smallest value but 0, ~0 if there is none, and the largest. */
VPT_VECTORISE
static void bounds(const uint64_t *values, size_t count, uint64_t *from, uint64_t *to)
{
	uint64_t least = *from - 1, largest = *to; /* 0 becomes the largest of all */
	size_t i;

	for (i = 0; i < count; i++) {
		least = values[i] - 1 < least ? values[i] - 1 : least;
		largest = values[i] > largest ? values[i] : largest;
	}
	*from = least + 1;
	*to = largest;
}

/* The smallest value but 0; ~0: none. */
VPT_VECTORISE
static uint64_t least(const uint64_t *values, size_t count)
{
	uint64_t least = UINT64_MAX - 1;
	size_t i;

	for (i = 0; i < count; i++)
		least = values[i] - 1 < least ? values[i] - 1 : least;
	return least + 1;
}

/* How many rows have no time or no length, or end before they start. */
VPT_VECTORISE
static uint64_t count_odd_ops(const uint64_t *starts, const uint64_t *durations, size_t count)
{
	uint64_t odd = 0;
	size_t i;

	for (i = 0; i < count; i++)
		odd += ((starts[i] - 1) | (durations[i] - 1)) >> 63;
	return odd;
}

/* How many kinds of calls begin or end captures of streams: what was launched in between went into a graph. */
static uint64_t count_captures(const struct vpt_section *s)
{
	const uint64_t *ids = s->col[VPT_CALL_ID];
	uint8_t seen[KNOWN_CALLS] = {0};
	uint64_t captures = 0, eight;
	uint32_t i, k;

	for (i = 0; i < s->row_count; i++)
		seen[ids[i] % KNOWN_CALLS] = 1;
	for (i = 0; i < KNOWN_CALLS; i += sizeof(eight)) {
		memcpy(&eight, seen + i, sizeof(eight));
		for (k = i; eight && k < i + sizeof(eight); k++) {
			enum vpt_call_class class = seen[k] ? vpt_call_class(k) : VPT_CALL_OTHER;

			captures +=
				class == VPT_CALL_BEGIN_CAPTURE || class == VPT_CALL_END_CAPTURE;
		}
	}
	return captures;
}

static uint64_t count_odd(const struct vpt_batch *b)
{
	uint64_t odd = 0;
	size_t i;

	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (vpt_kind_desc(s->kind)->flags & VPT_KIND_OP)
			odd += count_odd_ops(s->col[0], s->col[1], s->row_count);
		else if (s->kind == VPT_CALL)
			odd += count_captures(s);
	}
	return odd;
}

static void describe_times(
	const struct vpt_section *s, const struct vpt_kind_desc *kind, uint64_t *values)
{
	uint64_t first = kind->flags & VPT_KIND_EVENT ? least(s->col[0], s->row_count) : UINT64_MAX;

	if (first < values[VPT_CONTENTS_FIRST])
		values[VPT_CONTENTS_FIRST] = first;
}

static void describe_ids(const struct vpt_section *s, uint64_t *values)
{
	static const uint8_t columns[VPT_KIND_LIMIT] = {[VPT_KERNEL] = VPT_KERNEL_CORRELATION,
		[VPT_COPY] = VPT_COPY_CORRELATION,
		[VPT_CALL] = VPT_CALL_CORRELATION};
	unsigned column = columns[s->kind];
	unsigned from = s->kind == VPT_CALL ? VPT_CONTENTS_CALLS_FROM : VPT_CONTENTS_OPS_FROM;

	if (column && vpt_section_has(s, column))
		bounds(s->col[column], s->row_count, &values[from], &values[from + 1]);
}

/* An odd chunk is read anyway. A kernel there may not have run for any time: the next chunk with it is news, too. */
static uint64_t news_of(const struct vpt_batch *b, const struct vpt_section *s, int is_odd,
	struct vpt_contents_known *known)
{
	switch (s->kind) {
	case VPT_CONFIG:
		return is_odd ? 0 : news_of_kernels(b, s, known);
	case VPT_LANE:
		return news_of_lanes(s, known);
	case VPT_COPY:
		return is_odd ? 0 : news_of_copies(s, known);
	case VPT_DEVICE:
	case VPT_META:
		return news_of_facts(b, s, known);
	default:
		return 0;
	}
}

int vpt_contents_describe(
	const struct vpt_batch *b, struct vpt_contents_known *known, struct vpt_contents_entry *out)
{
	uint64_t *values = out->values;
	size_t i;

	memset(out, 0, sizeof(*out));
	values[VPT_CONTENTS_SEQUENCE] = b->sequence;
	values[VPT_CONTENTS_T_MIN] = b->t_min_ns;
	values[VPT_CONTENTS_T_MAX] = b->t_max_ns;
	values[VPT_CONTENTS_EVENTS] = b->event_count;
	values[VPT_CONTENTS_LOST] = b->lost_events;
	values[VPT_CONTENTS_FLAGS] = b->flags & VPT_BATCH_LAST;
	/* Where 0 is a time, the chunk has it. */
	values[VPT_CONTENTS_FIRST] = b->zero_is_time ? 0 : UINT64_MAX;
	values[VPT_CONTENTS_CALLS_FROM] = values[VPT_CONTENTS_OPS_FROM] = UINT64_MAX;
	values[VPT_CONTENTS_ODD] = count_odd(b);
	values[VPT_CONTENTS_ROWS + VPT_STRING] = b->strings.count;
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];

		values[VPT_CONTENTS_ROWS + s->kind] += s->row_count;
		describe_times(s, vpt_kind_desc(s->kind), values);
		describe_ids(s, values);
		values[VPT_CONTENTS_NEWS] += news_of(b, s, values[VPT_CONTENTS_ODD] != 0, known);
		if (s->kind == VPT_LANE)
			values[VPT_CONTENTS_DEVICES] |= devices_of(s);
	}
	return known->failed ? VPT_ENOMEM : VPT_OK;
}
