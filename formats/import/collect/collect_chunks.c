/* collect_chunks.c - builds a batch like those of a capture from a stretch of sorted foreign
 * events. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/import/collect/collect_state.h"

#include <string.h>

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

enum { KEPT = 512 };

/* An id of the collector, and the chunk's. */
struct kept_id {
	uint64_t id; /* 1 more; 0: none */
	uint64_t local;
};

/* A chunk that is being built. */
struct building {
	struct vpt_batch *out;
	uint32_t *stacks; /* the chunk's id of each stack of the collector; 0: not there yet */
	/* The last of each remainder: most rows have one of few texts and configurations. */
	struct kept_id strings[KEPT], configs[KEPT];
};

static uint64_t local_string(const struct vpt_collect *c, struct building *to, uint64_t id)
{
	struct kept_id *kept = &to->strings[id % KEPT];

	if (kept->id != id + 1) {
		struct vpt_text t = vpt_strings_get(&c->strings, id);

		*kept = (struct kept_id){id + 1, vpt_batch_string(to->out, t.text, t.len)};
	}
	return kept->local;
}

static uint64_t local_config(const struct vpt_collect *c, struct building *to, uint64_t id)
{
	struct kept_id *kept = &to->configs[id % KEPT];
	struct vpt_config config;

	if (id >= c->configs.count)
		return id;
	if (kept->id != id + 1) {
		memcpy(&config, c->configs.values + id * VPT_CONFIG_COLUMNS, sizeof(config));
		config.name = local_string(c, to, config.name);
		*kept = (struct kept_id){id + 1, vpt_batch_config(to->out, &config)};
	}
	return kept->local;
}

static uint64_t local_frame(const struct vpt_collect *c, struct building *to, uint64_t id)
{
	struct vpt_frame frame = vpt_stack_table_frame_row(&c->stacks, id);

	frame.function = local_string(c, to, frame.function);
	frame.file = local_string(c, to, frame.file);
	return vpt_batch_frame(to->out, &frame);
}

/* Puts the frames of a stack from the innermost one that the chunk has on. */
static uint64_t local_stack(const struct vpt_collect *c, struct building *to, uint64_t id)
{
	uint64_t missing[VPT_STACK_DEPTH_MAX];
	unsigned count = 0;
	uint32_t local = 0;

	if (id >= c->stacks.depth_count)
		return 0;
	while (id && !(local = to->stacks[id])) {
		missing[count++] = id;
		id = vpt_stack_table_stack_row(&c->stacks, id).caller;
	}
	while (count) {
		struct vpt_stack row = vpt_stack_table_stack_row(&c->stacks, missing[--count]);

		local = (uint32_t)vpt_batch_stack(to->out, local, local_frame(c, to, row.frame));
		to->stacks[missing[count]] = local;
	}
	return local;
}

/* Puts one row, its ids translated to the chunk's. */
static void put_row(
	const struct vpt_collect *c, struct building *to, unsigned type, const uint64_t *row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(type);
	uint64_t columns[VPT_COLUMNS_MAX];
	uint32_t ids = vpt_collect_ids(c, type);

	vpt_collect_columns(c, type, row, columns);
	for (; ids; ids &= ids - 1) {
		unsigned i = (unsigned)__builtin_ctz(ids);

		if (vpt_collect_is_string(kind, columns, i))
			columns[i] = local_string(c, to, columns[i]);
		else if (kind->columns[i].unit == VPT_UNIT_CONFIG)
			columns[i] = local_config(c, to, columns[i]);
		else if (kind->columns[i].unit == VPT_UNIT_STACK)
			columns[i] = local_stack(c, to, columns[i]);
	}
	vpt_batch_put(to->out, type, row[0], columns);
}

static void put_open(
	const struct vpt_collect *c, struct building *to, const struct vpt_collect_cut *cut)
{
	const struct vpt_collect_rows *endless = &c->kinds[VPT_OPEN];
	int is_last = cut == &c->cuts[c->cut_count - 1];
	size_t i;

	for (i = 0; i < endless->count; i++) {
		const uint64_t *row = endless->values + i * (1 + (size_t)VPT_OPEN_COLUMNS);

		if (is_last || row[1 + VPT_OPEN_START] <= cut->time)
			put_row(c, to, VPT_OPEN, row);
	}
	for (i = 0; i < cut->open_count; i++) {
		const uint64_t *row = vpt_collect_row_at(c, VPT_RANGE, cut->open[i]);
		uint64_t values[VPT_COLUMNS_MAX];
		struct vpt_range r;
		struct vpt_open o;

		vpt_collect_columns(c, VPT_RANGE, row, values);
		memcpy(&r, values, sizeof(r));
		o = (struct vpt_open){.lane = row[0],
			.start_ns = r.start_ns,
			.range_kind = r.range_kind,
			.payload = r.payload,
			.value = r.value};
		if (vpt_collect_is_string(vpt_kind_desc(VPT_RANGE), values, VPT_RANGE_VALUE))
			o.value = local_string(c, to, r.value);
		o.name = local_string(c, to, r.name);
		o.domain = local_string(c, to, r.domain);
		vpt_batch_put(to->out, VPT_OPEN, 0, &o);
	}
}

static void put_lane(
	const struct vpt_collect *c, struct building *to, uint64_t key, unsigned char *done)
{
	struct vpt_lane row;

	if (!key || key > c->lane_count || done[key - 1])
		return;
	done[key - 1] = 1;
	row = c->lanes[key - 1];
	row.name = local_string(c, to, row.name);
	row.lane_unit = local_string(c, to, row.lane_unit);
	vpt_batch_put(to->out, VPT_LANE, 0, &row);
}

/* Puts a LANE row for each lane that a row of the chunk is on or refers to. */
static int put_lanes(const struct vpt_collect *c, struct building *to)
{
	const struct vpt_batch *out = to->out;
	unsigned char *done = vpt_calloc(c->lane_count, 1);
	size_t s, row;
	unsigned i;

	if (!done)
		return VPT_ENOMEM;
	for (s = 0; s < out->section_count; s++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(out->sections[s].kind);

		if (kind->type == VPT_LANE)
			continue;
		put_lane(c, to, out->sections[s].lane, done);
		for (i = 0; i < kind->n_columns; i++)
			for (row = 0; kind->columns[i].unit == VPT_UNIT_LANE &&
				      row < out->sections[s].row_count;
				row++)
				put_lane(c, to, out->sections[s].col[i][row], done);
	}
	vpt_free(done);
	return VPT_OK;
}

static void put_tables(const struct vpt_collect *c, struct building *to)
{
	static const uint8_t tables[] = {VPT_DEVICE, VPT_META, VPT_STATS};
	size_t t, row;

	for (t = 0; t < sizeof(tables); t++) {
		const struct vpt_collect_rows *rows = &c->kinds[tables[t]];

		for (row = 0; row < rows->count; row++)
			put_row(c, to, tables[t], vpt_collect_row_at(c, tables[t], row));
	}
}

int vpt_collect_chunk(
	const struct vpt_collect *c, size_t index, struct vpt_batch *out, struct vpt_err *err)
{
	const struct vpt_collect_cut *cut = &c->cuts[index];
	struct building to = {
		.out = out, .stacks = vpt_calloc(c->stacks.depth_count, sizeof(*to.stacks))};
	int rc;
	size_t i;

	vpt_batch_reset(out);
	if (!to.stacks)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the stacks of chunk %zu", index);
	if (!index)
		put_tables(c, &to);
	for (i = cut->begin; i < cut->end; i++)
		put_row(c, &to, c->index[i].kind, vpt_collect_row(c, &c->index[i]));
	put_open(c, &to, cut);
	vpt_free(to.stacks);
	if (index + 1 == c->cut_count) {
		struct vpt_clock end = {.trace_ns = c->end_ns,
			.realtime_ns = c->header.t0_unix_ns ? c->header.t0_unix_ns +
								      (c->end_ns - c->header.t0_ns)
							    : 0};

		vpt_batch_put(out, VPT_CLOCK, 0, &end);
		out->flags |= VPT_BATCH_LAST;
	}
	rc = put_lanes(c, &to);
	if (!rc)
		rc = vpt_batch_error(out);
	out->sequence = index;
	out->zero_is_time = c->zero_is_time;
	vpt_batch_measure(out);
	return rc ? vpt_fail(err, rc, "no memory for chunk %zu of the import", index) : VPT_OK;
}
