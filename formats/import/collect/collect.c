/* collect.c - collects foreign events: rows in any order, with strings, configurations and lanes
 * numbered for the whole trace. */
#include "formats/import/collect/collect.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/import/collect/collect_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t ids_of(const struct vpt_kind_desc *kind)
{
	uint32_t ids = 0;
	unsigned i;

	for (i = 0; kind && i < kind->n_columns; i++) {
		enum vpt_unit unit = kind->columns[i].unit;

		/* A payload's value is a string if its type, the column before, says so. */
		if (unit == VPT_UNIT_STRING || unit == VPT_UNIT_CONFIG || unit == VPT_UNIT_STACK ||
			(i && kind->columns[i - 1].unit == VPT_UNIT_PAYLOAD))
			ids |= 1u << i;
	}
	return ids;
}

struct vpt_collect *vpt_collect_new(void)
{
	struct vpt_collect *c = vpt_calloc(1, sizeof(*c));
	unsigned kind;

	for (kind = 0; c && kind < VPT_KIND_LIMIT; kind++)
		c->ids[kind] = ids_of(vpt_kind_desc(kind));
	if (c && vpt_strings_put(&c->strings, "", 0) == VPT_NO_ID)
		c->failed = VPT_ENOMEM;
	return c;
}

void vpt_collect_free(struct vpt_collect *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < VPT_KIND_LIMIT; i++)
		vpt_free(c->kinds[i].values);
	for (i = 0; i < c->cut_count; i++)
		vpt_free(c->cuts[i].open);
	vpt_strings_free(&c->strings);
	vpt_free(c->configs.values);
	vpt_map_free(&c->config_rows);
	vpt_stack_table_free(&c->stacks);
	vpt_free(c->lanes);
	vpt_map_free(&c->lane_rows);
	vpt_free(c->owners);
	vpt_free(c->index);
	vpt_free(c->cuts);
	vpt_free(c);
}

uint64_t vpt_collect_string(struct vpt_collect *c, const char *text, size_t len)
{
	uint64_t id;

	if (c->failed || !len)
		return 0;
	id = vpt_strings_put_recent(
		&c->strings, &c->recent, text, len < VPT_STRING_MAX ? len : VPT_STRING_MAX);
	if (id != VPT_NO_ID)
		return id;
	c->failed = VPT_ENOMEM;
	return 0;
}

static uint64_t *append(struct vpt_collect *c, struct vpt_collect_rows *rows, size_t width)
{
	uint64_t *at;

	if (c->failed)
		return NULL;
	if (rows->count >= UINT32_MAX - 1 ||
		vpt_grow(&rows->values, &rows->cap, (rows->count + 1) * width,
			sizeof(*rows->values))) {
		c->failed = VPT_ENOMEM;
		return NULL;
	}
	at = rows->values + rows->count * width;
	rows->count++;
	return at;
}

uint64_t vpt_collect_config(struct vpt_collect *c, const struct vpt_config *config)
{
	uint64_t hash = vpt_hash_words((const uint64_t *)config, VPT_CONFIG_COLUMNS), at = hash,
		 *row;
	uint32_t id;

	if (c->failed)
		return 0;
	while ((id = vpt_map_next(&c->config_rows, hash, &at)) != VPT_MAP_NONE)
		if (!memcmp(c->configs.values + id * (size_t)VPT_CONFIG_COLUMNS, config,
			    sizeof(*config)))
			return id;
	id = (uint32_t)c->configs.count;
	row = append(c, &c->configs, VPT_CONFIG_COLUMNS);
	if (!row)
		return 0;
	memcpy(row, config, sizeof(*config));
	c->failed = vpt_map_put(&c->config_rows, hash, id);
	return c->failed ? 0 : id;
}

uint64_t vpt_collect_frame(struct vpt_collect *c, const struct vpt_frame *frame)
{
	uint64_t id = c->failed ? 0 : vpt_stack_table_frame(&c->stacks, frame);

	if (id != VPT_NO_ID)
		return id;
	c->failed = VPT_ENOMEM;
	return 0;
}

uint64_t vpt_collect_stack(struct vpt_collect *c, uint64_t caller, uint64_t frame)
{
	uint64_t id = c->failed ? 0 : vpt_stack_table_stack(&c->stacks, caller, frame);

	if (id != VPT_NO_ID)
		return id;
	c->failed = VPT_ENOMEM;
	return 0;
}

/* The columns that a row of this kind needs: the times of rows of which not all are stored are. */
static uint32_t needed_columns(const struct vpt_kind_desc *kind, const uint64_t *row)
{
	uint32_t needed = 3;
	unsigned i;

	if (kind->type != VPT_RANGE && kind->type != VPT_SAMPLE)
		return (uint32_t)((1u << kind->n_columns) - 1);
	for (i = 2; i < kind->n_columns; i++)
		needed |= (uint32_t)(row[i] != 0) << i;
	return needed;
}

/* Copies a row with these columns to one with more. */
static void spread(const uint64_t *from, uint32_t stored, uint64_t *to, uint32_t wanted)
{
	*to++ = *from++;
	for (; wanted; wanted >>= 1, stored >>= 1)
		if (wanted & 1)
			*to++ = stored & 1 ? *from++ : 0;
}

/* Stores these columns, too. The last row moves first: it is the one that nothing else needs room for. */
static void store(struct vpt_collect *c, struct vpt_collect_rows *rows, uint32_t columns)
{
	const uint32_t wanted = rows->stored | columns;
	const size_t width = 1 + (size_t)__builtin_popcount(wanted);
	uint64_t row[1 + VPT_COLUMNS_MAX];
	size_t i;

	if (vpt_grow(&rows->values, &rows->cap, rows->count * width, sizeof(*rows->values))) {
		c->failed = VPT_ENOMEM;
		return;
	}
	for (i = rows->count; i-- > 0;) {
		spread(rows->values + i * rows->width, rows->stored, row, wanted);
		memcpy(rows->values + i * width, row, width * sizeof(*row));
	}
	rows->width = width;
	rows->stored = wanted;
}

void vpt_collect_put(struct vpt_collect *c, enum vpt_kind type, uint64_t lane, const void *row)
{
	struct vpt_collect_rows *rows = &c->kinds[type];
	const uint64_t *columns = row;
	uint32_t needed = needed_columns(vpt_kind_desc(type), row), stored;
	uint64_t *values;

	if (needed & ~rows->stored && !c->failed)
		store(c, rows, needed);
	values = append(c, rows, rows->width);
	if (!values)
		return;
	*values++ = lane;
	for (stored = rows->stored; stored; stored >>= 1, columns++)
		if (stored & 1)
			*values++ = *columns;
}

void vpt_collect_fact(struct vpt_collect *c, enum vpt_metadata fact, const char *value)
{
	const char *key = vpt_metadata_key(fact);
	struct vpt_meta m = {.key = vpt_collect_string(c, key, strlen(key)),
		.value = vpt_collect_string(c, value, strlen(value))};

	vpt_collect_put(c, VPT_META, 0, &m);
}

/* Whether two lanes agree in all fields that identify a lane. */
static int same_lane(const struct vpt_lane *a, const struct vpt_lane *b)
{
	return a->lane_type == b->lane_type && a->pid == b->pid && a->tid == b->tid &&
	       a->device == b->device && a->context == b->context && a->stream == b->stream &&
	       (a->lane_type != VPT_LANETYPE_SERIES ||
		       (a->name == b->name && a->lane_unit == b->lane_unit));
}

static uint64_t hash_lane(const struct vpt_lane *l)
{
	const uint64_t identity[] = {
		l->lane_type, l->pid, l->tid, l->device, l->context, l->stream};

	return vpt_hash_words(identity, sizeof(identity) / sizeof(*identity));
}

static uint64_t lane_key(struct vpt_collect *c, struct vpt_lane want)
{
	uint64_t hash = hash_lane(&want), at = hash;
	uint32_t row;

	if (c->failed)
		return 1;
	while ((row = vpt_map_next(&c->lane_rows, hash, &at)) != VPT_MAP_NONE)
		if (same_lane(&c->lanes[row], &want))
			return c->lanes[row].key;
	if (c->lane_count >= UINT32_MAX - 1 ||
		vpt_grow(&c->lanes, &c->lane_cap, c->lane_count + 1, sizeof(*c->lanes)) ||
		vpt_map_put(&c->lane_rows, hash, (uint32_t)c->lane_count)) {
		c->failed = VPT_ENOMEM;
		return 1;
	}
	want.key = c->lane_count + 1;
	c->lanes[c->lane_count++] = want;
	return want.key;
}

uint64_t vpt_collect_thread(struct vpt_collect *c, int64_t pid, int64_t tid)
{
	return lane_key(c, (struct vpt_lane){.lane_type = VPT_LANETYPE_THREAD,
				   .pid = (uint64_t)pid,
				   .tid = (uint64_t)tid,
				   .device = (uint64_t)-1,
				   .stream = (uint64_t)-1});
}

static uint64_t stream_key(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t context, int64_t stream)
{
	return lane_key(c, (struct vpt_lane){.lane_type = VPT_LANETYPE_STREAM,
				   .pid = (uint64_t)pid,
				   .tid = (uint64_t)-1,
				   .device = (uint64_t)device,
				   .context = context,
				   .stream = (uint64_t)stream});
}

uint64_t vpt_collect_stream(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t context, int64_t stream)
{
	return stream_key(c, pid < -1 ? -1 : pid, device, context, stream);
}

uint64_t vpt_collect_owned_stream(
	struct vpt_collect *c, uint32_t owner, int64_t device, uint64_t context, int64_t stream)
{
	return stream_key(c, owner < c->owner_count ? VPT_COLLECT_OWNER + (int64_t)owner : -1,
		device, context, stream);
}

uint64_t vpt_collect_series(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t name, uint64_t unit)
{
	return lane_key(c, (struct vpt_lane){.lane_type = VPT_LANETYPE_SERIES,
				   .pid = (uint64_t)pid,
				   .tid = (uint64_t)-1,
				   .device = (uint64_t)device,
				   .stream = (uint64_t)-1,
				   .name = name,
				   .lane_unit = unit});
}

uint32_t vpt_collect_owner(struct vpt_collect *c)
{
	if (c->failed || c->owner_count >= UINT32_MAX - 1 ||
		vpt_grow(&c->owners, &c->owner_cap, c->owner_count + 1, sizeof(*c->owners))) {
		c->failed = VPT_ENOMEM;
		return UINT32_MAX;
	}
	c->owners[c->owner_count] = -1;
	return (uint32_t)c->owner_count++;
}

void vpt_collect_own(struct vpt_collect *c, uint32_t owner, int64_t pid)
{
	if (owner < c->owner_count)
		c->owners[owner] = pid < -1 ? -1 : pid;
}

void vpt_collect_device(struct vpt_collect *c, int64_t pid, const struct vpt_device *row)
{
	vpt_collect_put(c, VPT_DEVICE, (uint64_t)pid, row);
}

void vpt_collect_zero_is_no_time(struct vpt_collect *c)
{
	c->zero_is_no_time = 1;
}

void vpt_collect_times_are_exact(struct vpt_collect *c)
{
	c->times_are_exact = 1;
}

void vpt_collect_gpus_are_numbered(struct vpt_collect *c)
{
	c->gpus_are_numbered = 1;
}

void vpt_collect_name_process(struct vpt_collect *c, int64_t pid, uint64_t name)
{
	char key[40];
	struct vpt_meta m = {.value = name};

	snprintf(key, sizeof(key), VPT_METADATA_PROCESS "%" PRId64, pid);
	m.key = vpt_collect_string(c, key, strlen(key));
	vpt_collect_put(c, VPT_META, 0, &m);
}

void vpt_collect_process_fact(struct vpt_collect *c, int64_t pid, uint64_t key, uint64_t value)
{
	struct vpt_text text = vpt_strings_get(&c->strings, key);
	char name[200];
	struct vpt_meta m = {.value = value};

	snprintf(name, sizeof(name), VPT_METADATA_PROCESS "%" PRId64 ".%.*s", pid,
		text.len < sizeof(name) ? (int)text.len : 0, text.text);
	m.key = vpt_collect_string(c, name, strlen(name));
	vpt_collect_put(c, VPT_META, 0, &m);
}

const struct vpt_collect_doubts *vpt_collect_doubts(const struct vpt_collect *c)
{
	return &c->doubts;
}

void vpt_collect_name_lane(struct vpt_collect *c, uint64_t key, uint64_t name)
{
	if (!c->failed && key && key <= c->lane_count &&
		c->lanes[key - 1].lane_type != VPT_LANETYPE_SERIES)
		c->lanes[key - 1].name = name;
}

void vpt_collect_window(struct vpt_collect *c, uint64_t start_ns, uint64_t end_ns)
{
	c->given_start_ns = start_ns;
	c->given_end_ns = end_ns;
}

void vpt_collect_realtime(struct vpt_collect *c, uint64_t unix_offset_ns)
{
	c->has_realtime = 1;
	c->unix_offset_ns = unix_offset_ns;
}
