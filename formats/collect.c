/* collect.c - sorting foreign events into chunks.
 *
 * Rows lie in one growing array of uint64_t per kind: lane first, then the columns. An index of
 * (completion time, kind, row) is sorted once; a chunk is a stretch of that index. */
#include "formats/collect.h"

#include "formats/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows {
	uint64_t *values; /* (1 + columns) a row */
	size_t count, cap;
};

struct entry {
	uint64_t time;  /* completion: where the row stands */
	uint64_t start; /* of a span; points stand for themselves */
	uint32_t row;
	uint32_t kind;
};

struct cut {
	size_t begin, end; /* of the index */
	uint64_t time;     /* completion of its last event */
	uint64_t t_min;
	uint32_t *open; /* rows of RANGE that are open at `time` */
	size_t open_count, open_cap;
};

struct vpt_collect {
	int failed;
	struct rows kinds[VPT_KIND_LIMIT];
	struct vpt_strings strings;
	struct rows configs; /* without lane */
	uint32_t *config_slots;
	size_t config_slot_count;
	struct vpt_lane *lanes; /* key is index + 1 */
	size_t lane_count, lane_cap;
	uint32_t *lane_slots;
	size_t lane_slot_count;

	struct vpt_header header;
	uint64_t end_ns;
	uint64_t told_start_ns, told_end_ns; /* 0: not told */
	int has_realtime;
	uint64_t unix_offset_ns;
	struct entry *index;
	size_t index_count;
	struct cut *cuts;
	size_t cut_count, cut_cap;
};

enum {
	/* What one chunk of an import may hold besides the limits of the format. */
	OPEN_ROWS_MAX = 65536
};

struct vpt_collect *vpt_collect_new(void)
{
	struct vpt_collect *c = vpt_calloc(1, sizeof(*c));

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
	vpt_free(c->config_slots);
	vpt_free(c->lanes);
	vpt_free(c->lane_slots);
	vpt_free(c->index);
	vpt_free(c->cuts);
	vpt_free(c);
}

/* ---- filling ---- */

uint64_t vpt_collect_string(struct vpt_collect *c, const char *text, size_t len)
{
	uint64_t id;

	if (c->failed || !len)
		return 0;
	id = vpt_strings_put(&c->strings, text, len < VPT_STRING_MAX ? len : VPT_STRING_MAX);
	if (id != VPT_NO_ID)
		return id;
	c->failed = VPT_ENOMEM;
	return 0;
}

static uint64_t *append(struct vpt_collect *c, struct rows *rows, size_t width)
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

static uint32_t *find_config(const struct vpt_collect *c, const void *config)
{
	size_t mask = c->config_slot_count - 1;
	size_t i = vpt_hash(config, sizeof(struct vpt_config)) & mask;

	while (c->config_slots[i] &&
		memcmp(c->configs.values + (c->config_slots[i] - 1) * (size_t)VPT_CONFIG_COLUMNS,
			config, sizeof(struct vpt_config)))
		i = (i + 1) & mask;
	return &c->config_slots[i];
}

/* Doubles a table of "1 + index" slots and asks `find` where each entry belongs. */
static int grow_slots(uint32_t **slots, size_t *count)
{
	size_t want = *count ? *count * 2 : 256;
	uint32_t *grown = vpt_calloc(want, sizeof(*grown));

	if (!grown)
		return VPT_ENOMEM;
	vpt_free(*slots);
	*slots = grown;
	*count = want;
	return VPT_OK;
}

uint64_t vpt_collect_config(struct vpt_collect *c, const struct vpt_config *config)
{
	uint32_t *slot;
	size_t i;

	if (c->failed)
		return 0;
	if (c->configs.count * 2 >= c->config_slot_count) {
		if (grow_slots(&c->config_slots, &c->config_slot_count)) {
			c->failed = VPT_ENOMEM;
			return 0;
		}
		for (i = 0; i < c->configs.count; i++)
			*find_config(c, c->configs.values + i * VPT_CONFIG_COLUMNS) =
				(uint32_t)(i + 1);
	}
	slot = find_config(c, config);
	if (!*slot) {
		uint64_t *row = append(c, &c->configs, VPT_CONFIG_COLUMNS);

		if (!row)
			return 0;
		memcpy(row, config, sizeof(*config));
		*slot = (uint32_t)c->configs.count;
	}
	return *slot - 1;
}

void vpt_collect_put(struct vpt_collect *c, enum vpt_kind type, uint64_t lane, const void *row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(type);
	uint64_t *values = append(c, &c->kinds[type], 1 + (size_t)kind->n_columns);

	if (!values)
		return;
	values[0] = lane;
	memcpy(values + 1, row, kind->n_columns * sizeof(*values));
}

void vpt_collect_meta(struct vpt_collect *c, const char *key, const char *value)
{
	struct vpt_meta m = {.key = vpt_collect_string(c, key, strlen(key)),
		.value = vpt_collect_string(c, value, strlen(value))};

	vpt_collect_put(c, VPT_META, 0, &m);
}

/* Lanes are equal when all that identifies them is. */
static int same_lane(const struct vpt_lane *a, const struct vpt_lane *b)
{
	return a->lane_type == b->lane_type && a->pid == b->pid && a->tid == b->tid &&
	       a->device == b->device && a->context == b->context && a->stream == b->stream &&
	       (a->lane_type != VPT_LANETYPE_SERIES ||
		       (a->name == b->name && a->lane_unit == b->lane_unit));
}

static uint32_t *find_lane(const struct vpt_collect *c, const struct vpt_lane *want)
{
	const uint64_t identity[] = {
		want->lane_type, want->pid, want->tid, want->device, want->context, want->stream};
	size_t mask = c->lane_slot_count - 1, i = vpt_hash(identity, sizeof(identity)) & mask;

	while (c->lane_slots[i] && !same_lane(&c->lanes[c->lane_slots[i] - 1], want))
		i = (i + 1) & mask;
	return &c->lane_slots[i];
}

static uint64_t lane_key(struct vpt_collect *c, struct vpt_lane want)
{
	uint32_t *slot;
	size_t i;

	if (c->failed)
		return 1;
	if (c->lane_count * 2 >= c->lane_slot_count) {
		if (grow_slots(&c->lane_slots, &c->lane_slot_count))
			goto no_memory;
		for (i = 0; i < c->lane_count; i++)
			*find_lane(c, &c->lanes[i]) = (uint32_t)(i + 1);
	}
	slot = find_lane(c, &want);
	if (!*slot) {
		if (c->lane_count >= UINT32_MAX - 1 ||
			vpt_grow(&c->lanes, &c->lane_cap, c->lane_count + 1, sizeof(*c->lanes)))
			goto no_memory;
		want.key = c->lane_count + 1;
		c->lanes[c->lane_count++] = want;
		*slot = (uint32_t)c->lane_count;
	}
	return *slot;
no_memory:
	c->failed = VPT_ENOMEM;
	return 1;
}

uint64_t vpt_collect_thread(struct vpt_collect *c, int64_t pid, int64_t tid)
{
	return lane_key(c, (struct vpt_lane){.lane_type = VPT_LANETYPE_THREAD,
				   .pid = (uint64_t)pid,
				   .tid = (uint64_t)tid,
				   .device = (uint64_t)-1,
				   .stream = (uint64_t)-1});
}

uint64_t vpt_collect_stream(
	struct vpt_collect *c, int64_t pid, int64_t device, uint64_t context, int64_t stream)
{
	return lane_key(c, (struct vpt_lane){.lane_type = VPT_LANETYPE_STREAM,
				   .pid = (uint64_t)pid,
				   .tid = (uint64_t)-1,
				   .device = (uint64_t)device,
				   .context = context,
				   .stream = (uint64_t)stream});
}

uint64_t vpt_collect_series(struct vpt_collect *c, int64_t device, uint64_t name, uint64_t unit)
{
	return lane_key(c, (struct vpt_lane){.lane_type = VPT_LANETYPE_SERIES,
				   .pid = (uint64_t)-1,
				   .tid = (uint64_t)-1,
				   .device = (uint64_t)device,
				   .stream = (uint64_t)-1,
				   .name = name,
				   .lane_unit = unit});
}

void vpt_collect_name_lane(struct vpt_collect *c, uint64_t key, uint64_t name)
{
	if (!c->failed && key && key <= c->lane_count &&
		c->lanes[key - 1].lane_type != VPT_LANETYPE_SERIES)
		c->lanes[key - 1].name = name;
}

/* ---- sorting and cutting ---- */

static struct entry make_entry(const struct vpt_kind_desc *kind, const uint64_t *values, size_t row)
{
	struct entry e = {.start = values[1], .row = (uint32_t)row, .kind = kind->type};
	uint64_t end = kind->flags & VPT_KIND_SPAN ? values[1] + values[2] : values[1];

	e.time = end < e.start ? e.start : end;
	return e;
}

/* A call without length is inside no other: where one has just ended it comes after that. */
static int is_empty_call(const struct entry *e)
{
	return e->kind == VPT_CALL && e->start == e->time;
}

/* Completion order. What ends at the same moment: the one that began later is inside the other. What began
 * at the same moment too: tools write the outer one first, but calls are then one after the other. */
static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (is_empty_call(a) != is_empty_call(b))
		return is_empty_call(a) ? 1 : -1;
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == VPT_CALL)
		return a->row < b->row ? -1 : a->row > b->row;
	return a->row > b->row ? -1 : a->row < b->row;
}

/* The window: first start and last end of valid ops, calls and ranges. */
static void widen_window(struct vpt_collect *c, const struct entry *e, uint64_t duration_ns)
{
	if (e->kind != VPT_KERNEL && e->kind != VPT_COPY && e->kind != VPT_CALL &&
		e->kind != VPT_RANGE)
		return;
	/* The clock of a device that reads 0 was not read; a foreign trace may well count from its first call. */
	if (!e->start && (e->kind == VPT_KERNEL || e->kind == VPT_COPY))
		return;
	if (e->start + duration_ns < e->start)
		return;
	if (e->start < c->header.t0_ns)
		c->header.t0_ns = e->start;
	if (e->time > c->end_ns)
		c->end_ns = e->time;
}

static int build_index(struct vpt_collect *c)
{
	size_t total = 0, k, row;

	for (k = 0; k < VPT_KIND_LIMIT; k++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc((unsigned)k);

		total += kind && kind->flags & VPT_KIND_EVENT ? c->kinds[k].count : 0;
	}
	c->index = vpt_alloc(total, sizeof(*c->index));
	if (!c->index)
		return VPT_ENOMEM;
	c->header.t0_ns = UINT64_MAX;
	for (k = 0; k < VPT_KIND_LIMIT; k++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc((unsigned)k);

		if (!kind || !(kind->flags & VPT_KIND_EVENT))
			continue;
		for (row = 0; row < c->kinds[k].count; row++) {
			const uint64_t *values =
				c->kinds[k].values + row * (1 + (size_t)kind->n_columns);

			c->index[c->index_count] = make_entry(kind, values, row);
			widen_window(c, &c->index[c->index_count++], values[2]);
		}
	}
	if (c->header.t0_ns == UINT64_MAX)
		c->header.t0_ns = 0;
	/* Nobody vouches for what a file tells: a start behind the end is none. */
	if (c->told_start_ns && c->told_start_ns <= (c->told_end_ns ? c->told_end_ns : c->end_ns))
		c->header.t0_ns = c->told_start_ns;
	if (c->told_end_ns && c->told_end_ns >= c->header.t0_ns)
		c->end_ns = c->told_end_ns;
	qsort(c->index, c->index_count, sizeof(*c->index), compare_entries);
	return VPT_OK;
}

static const uint64_t *row_of(const struct vpt_collect *c, const struct entry *e)
{
	return c->kinds[e->kind].values + e->row * (1 + (size_t)vpt_kind_desc(e->kind)->n_columns);
}

/* Whether column `i` of a row holds the id of a string. */
static int is_string(const struct vpt_kind_desc *kind, const uint64_t *columns, unsigned i)
{
	if (kind->columns[i].unit == VPT_UNIT_STRING)
		return 1;
	/* A payload that is text or a blob keeps it as a string; its type stands in the column before. */
	return i && kind->columns[i - 1].unit == VPT_UNIT_PAYLOAD &&
	       (columns[i - 1] == VPT_PAYLOAD_BLOB || columns[i - 1] == VPT_PAYLOAD_JSON);
}

/* Bytes of strings that this row brings into its chunk; `seen` remembers the chunk each was counted for. */
static size_t new_text(
	const struct vpt_collect *c, const struct entry *e, uint32_t chunk, uint32_t *seen)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(e->kind);
	const uint64_t *columns = row_of(c, e) + 1;
	size_t bytes = 0;
	unsigned i;

	for (i = 0; i < kind->n_columns; i++) {
		uint64_t id = columns[i];

		if (kind->columns[i].unit == VPT_UNIT_CONFIG && id < c->configs.count)
			id = c->configs.values[id * VPT_CONFIG_COLUMNS + VPT_CONFIG_NAME];
		else if (!is_string(kind, columns, i))
			continue;
		if (id >= c->strings.count || seen[id] == chunk)
			continue;
		seen[id] = chunk;
		bytes += vpt_strings_get(&c->strings, id).len + 8;
	}
	return bytes;
}

static int begin_cut(struct vpt_collect *c, size_t begin)
{
	if (vpt_grow(&c->cuts, &c->cut_cap, c->cut_count + 1, sizeof(*c->cuts)))
		return VPT_ENOMEM;
	c->cuts[c->cut_count++] = (struct cut){.begin = begin, .end = begin, .t_min = UINT64_MAX};
	return VPT_OK;
}

static int cut_index(struct vpt_collect *c)
{
	uint32_t *seen = vpt_calloc(c->strings.count, sizeof(*seen));
	size_t i, bytes = 0, lanes = 0;
	int rc = seen ? begin_cut(c, 0) : VPT_ENOMEM;

	for (i = 0; !rc && i < c->index_count; i++) {
		struct cut *cut = &c->cuts[c->cut_count - 1];
		size_t text = new_text(c, &c->index[i], (uint32_t)c->cut_count, seen);

		/* A lane and kind met for the first time costs a section; changes of lane bound that. */
		lanes += i == cut->begin ||
			 row_of(c, &c->index[i])[0] != row_of(c, &c->index[i - 1])[0] ||
			 c->index[i].kind != c->index[i - 1].kind;
		bytes += text + 16;
		if (i - cut->begin >= VPT_CHUNK_EVENTS ||
			(bytes > VPT_CHUNK_PAYLOAD && i > cut->begin) ||
			(lanes > VPT_SECTIONS_MAX / 2 && c->lane_count > VPT_SECTIONS_MAX / 16)) {
			rc = begin_cut(c, i);
			bytes = new_text(c, &c->index[i], (uint32_t)c->cut_count, seen) + 16;
			lanes = 1;
		}
		cut = &c->cuts[c->cut_count - 1];
		cut->end = i + 1;
		cut->time = c->index[i].time;
	}
	vpt_free(seen);
	return rc;
}

/* Lists, for each chunk, the ranges that are open when it closes: begun by then, ending in a later chunk. */
static int list_open(struct vpt_collect *c)
{
	size_t k, i, first;

	for (k = 1; k < c->cut_count; k++)
		for (i = c->cuts[k].begin; i < c->cuts[k].end; i++) {
			const struct entry *e = &c->index[i];

			if (e->kind != VPT_RANGE)
				continue;
			for (first = k; first > 0 && c->cuts[first - 1].time >= e->start; first--) {
				struct cut *cut = &c->cuts[first - 1];

				if (cut->open_count >= OPEN_ROWS_MAX)
					continue;
				if (vpt_grow(&cut->open, &cut->open_cap, cut->open_count + 1,
					    sizeof(*cut->open)))
					return VPT_ENOMEM;
				cut->open[cut->open_count++] = e->row;
			}
		}
	return VPT_OK;
}

void vpt_collect_window(struct vpt_collect *c, uint64_t start_ns, uint64_t end_ns)
{
	c->told_start_ns = start_ns;
	c->told_end_ns = end_ns;
}

void vpt_collect_realtime(struct vpt_collect *c, uint64_t unix_offset_ns)
{
	c->has_realtime = 1;
	c->unix_offset_ns = unix_offset_ns;
}

int vpt_collect_finish(struct vpt_collect *c, struct vpt_err *err)
{
	struct vpt_batch probe;
	size_t k;
	int rc = c->failed;

	if (!rc)
		rc = build_index(c);
	if (!rc)
		rc = cut_index(c);
	if (!rc)
		rc = list_open(c);
	if (rc)
		return vpt_fail(
			err, rc, "no memory for the %zu events of this trace", c->index_count);
	c->header.major = VPT_MAJOR;
	c->header.minor = VPT_MINOR;
	c->header.cpu_tick_ns = c->header.gpu_tick_ns = 1;
	if (c->has_realtime)
		c->header.t0_unix_ns = c->header.t0_ns + c->unix_offset_ns;
	/* t_min of each chunk is part of what a reader may ask before it builds one. */
	vpt_batch_init(&probe);
	for (k = 0; !rc && k < c->cut_count; k++) {
		rc = vpt_collect_chunk(c, k, &probe, err);
		c->cuts[k].t_min = probe.t_min_ns;
	}
	vpt_batch_free(&probe);
	return rc;
}

/* ---- handing out ---- */

const struct vpt_header *vpt_collect_header(const struct vpt_collect *c)
{
	return &c->header;
}

size_t vpt_collect_chunks(const struct vpt_collect *c)
{
	return c->cut_count;
}

uint64_t vpt_collect_t_min(const struct vpt_collect *c, size_t index)
{
	return c->cuts[index].t_min;
}

static uint64_t local_string(const struct vpt_collect *c, struct vpt_batch *out, uint64_t id)
{
	struct vpt_text t = vpt_strings_get(&c->strings, id);

	return vpt_batch_string(out, t.text, t.len);
}

static uint64_t local_config(const struct vpt_collect *c, struct vpt_batch *out, uint64_t id)
{
	struct vpt_config config;

	if (id >= c->configs.count)
		return id;
	memcpy(&config, c->configs.values + id * VPT_CONFIG_COLUMNS, sizeof(config));
	config.name = local_string(c, out, config.name);
	return vpt_batch_config(out, &config);
}

/* Puts one row with its ids translated to those of the chunk. */
static void put_row(
	const struct vpt_collect *c, struct vpt_batch *out, unsigned type, const uint64_t *row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(type);
	uint64_t columns[VPT_COLUMNS_MAX];
	unsigned i;

	for (i = 0; i < kind->n_columns; i++) {
		columns[i] = row[1 + i];
		if (is_string(kind, row + 1, i))
			columns[i] = local_string(c, out, columns[i]);
		else if (kind->columns[i].unit == VPT_UNIT_CONFIG)
			columns[i] = local_config(c, out, columns[i]);
	}
	vpt_batch_put(out, type, row[0], columns);
}

static void put_open(const struct vpt_collect *c, struct vpt_batch *out, const struct cut *cut)
{
	const struct rows *endless = &c->kinds[VPT_OPEN];
	int is_last = cut == &c->cuts[c->cut_count - 1];
	size_t i;

	for (i = 0; i < endless->count; i++) {
		const uint64_t *row = endless->values + i * (1 + (size_t)VPT_OPEN_COLUMNS);

		if (is_last || row[1 + VPT_OPEN_START] <= cut->time)
			put_row(c, out, VPT_OPEN, row);
	}
	for (i = 0; i < cut->open_count; i++) {
		const uint64_t *row =
			c->kinds[VPT_RANGE].values + cut->open[i] * (1 + (size_t)VPT_RANGE_COLUMNS);
		struct vpt_range r;
		struct vpt_open o;

		memcpy(&r, row + 1, sizeof(r));
		o = (struct vpt_open){.lane = row[0],
			.start_ns = r.start_ns,
			.range_kind = r.range_kind,
			.payload = r.payload,
			.value = r.value};
		if (is_string(vpt_kind_desc(VPT_RANGE), row + 1, VPT_RANGE_VALUE))
			o.value = local_string(c, out, r.value);
		o.name = local_string(c, out, r.name);
		o.domain = local_string(c, out, r.domain);
		vpt_batch_put(out, VPT_OPEN, 0, &o);
	}
}

static void put_lane(
	const struct vpt_collect *c, struct vpt_batch *out, uint64_t key, unsigned char *done)
{
	struct vpt_lane row;

	if (!key || key > c->lane_count || done[key - 1])
		return;
	done[key - 1] = 1;
	row = c->lanes[key - 1];
	row.name = local_string(c, out, row.name);
	row.lane_unit = local_string(c, out, row.lane_unit);
	vpt_batch_put(out, VPT_LANE, 0, &row);
}

/* A LANE row for each lane that a row of the chunk stands on or refers to. */
static int put_lanes(const struct vpt_collect *c, struct vpt_batch *out)
{
	unsigned char *done = vpt_calloc(c->lane_count, 1);
	size_t s, row;
	unsigned i;

	if (!done)
		return VPT_ENOMEM;
	for (s = 0; s < out->section_count; s++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(out->sections[s].kind);

		if (kind->type == VPT_LANE)
			continue;
		put_lane(c, out, out->sections[s].lane, done);
		for (i = 0; i < kind->n_columns; i++)
			for (row = 0; kind->columns[i].unit == VPT_UNIT_LANE &&
				      row < out->sections[s].row_count;
				row++)
				put_lane(c, out, out->sections[s].col[i][row], done);
	}
	vpt_free(done);
	return VPT_OK;
}

static void put_tables(const struct vpt_collect *c, struct vpt_batch *out)
{
	static const uint8_t tables[] = {VPT_DEVICE, VPT_META, VPT_STATS};
	size_t t, row;

	for (t = 0; t < sizeof(tables); t++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(tables[t]);
		const struct rows *rows = &c->kinds[tables[t]];

		for (row = 0; row < rows->count; row++)
			put_row(c, out, tables[t],
				rows->values + row * (1 + (size_t)kind->n_columns));
	}
}

int vpt_collect_chunk(
	const struct vpt_collect *c, size_t index, struct vpt_batch *out, struct vpt_err *err)
{
	const struct cut *cut = &c->cuts[index];
	int rc;
	size_t i;

	vpt_batch_reset(out);
	if (!index)
		put_tables(c, out);
	for (i = cut->begin; i < cut->end; i++)
		put_row(c, out, c->index[i].kind, row_of(c, &c->index[i]));
	put_open(c, out, cut);
	if (index + 1 == c->cut_count) {
		struct vpt_clock end = {.trace_ns = c->end_ns,
			.realtime_ns = c->header.t0_unix_ns ? c->header.t0_unix_ns +
								      (c->end_ns - c->header.t0_ns)
							    : 0};

		vpt_batch_put(out, VPT_CLOCK, 0, &end);
		out->flags |= VPT_BATCH_LAST;
	}
	rc = put_lanes(c, out);
	if (!rc)
		rc = vpt_batch_error(out);
	out->sequence = index;
	vpt_batch_measure(out);
	return rc ? vpt_fail(err, rc, "no memory for chunk %zu of the import", index) : VPT_OK;
}
