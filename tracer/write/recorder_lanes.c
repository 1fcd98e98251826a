/* recorder_lanes.c - the lanes and names that the open chunk of a recorder uses.
 *
 * Both are looked up for nearly every row: the last lane of each type is kept, and a name has its
 * id in the chunk at its number. */
#include "tracer/write/recorder_state.h"

#include "formats/base/memory.h"
#include "tracer/ranges/words/range_strings.h"

static struct vtr_lane *find_lane(struct vtr_recorder *r, const struct vpt_lane *row)
{
	struct vtr_lane *lane = vtr_lanes_find(&r->lanes, row);

	return lane ? lane : &r->nowhere;
}

struct vtr_lane *vtr_recorder_stream(
	struct vtr_recorder *r, uint32_t device, uint32_t context, uint32_t stream)
{
	struct vtr_lane *lane = r->last_stream;
	struct vpt_lane row;

	if (lane && lane->row.stream == stream && lane->row.device == device &&
		lane->row.context == context)
		return lane;
	row = vtr_lane_of_stream(r->o.header.pid, device, context, stream);
	lane = find_lane(r, &row);
	if (lane != &r->nowhere)
		r->last_stream = lane;
	return lane;
}

struct vtr_lane *vtr_recorder_thread(struct vtr_recorder *r, uint32_t tid)
{
	struct vtr_lane *lane = r->last_thread;
	struct vpt_lane row;

	if (lane && lane->row.tid == tid)
		return lane;
	row = vtr_lane_of_thread(r->o.header.pid, tid);
	lane = find_lane(r, &row);
	if (lane != &r->nowhere)
		r->last_thread = lane;
	return lane;
}

struct vtr_lane *vtr_recorder_series(
	struct vtr_recorder *r, int64_t device, uint32_t name, uint32_t unit)
{
	struct vpt_lane row = vtr_lane_of_series(r->o.header.pid, device, name, unit);

	return find_lane(r, &row);
}

void vtr_recorder_refer(struct vtr_recorder *r, struct vtr_lane *lane)
{
	if (!lane || lane->chunk == r->open.number)
		return;
	if (vpt_grow(&r->used, &r->used_cap, r->used_count + 1, sizeof(struct vtr_lane *)))
		return;
	r->used[r->used_count++] = lane;
	lane->chunk = r->open.number;
}

void vtr_recorder_put_lanes(struct vtr_recorder *r)
{
	size_t i;

	for (i = 0; i < r->used_count; i++) {
		struct vpt_lane row;

		if (!r->used[i]->key)
			continue;
		vtr_lane_name_thread(r->used[i]);
		row = r->used[i]->row;
		row.name = vtr_recorder_name(r, (uint32_t)row.name);
		row.lane_unit = vtr_recorder_name(r, (uint32_t)row.lane_unit);
		vpt_batch_put(&r->open.batch, VPT_LANE, 0, &row);
	}
}

uint64_t vtr_recorder_name(struct vtr_recorder *r, uint32_t name)
{
	size_t len;
	struct known_name *known;
	const char *text;

	if (!name)
		return 0;
	if (vpt_grow_zeroed(&r->names, &r->name_cap, (size_t)name + 1, sizeof(*r->names)))
		return 0;
	known = &r->names[name];
	if (known->chunk != r->open.number) {
		text = vtr_name_text(name, &len);
		known->id = vpt_batch_string(&r->open.batch, text, len);
		known->chunk = r->open.number;
	}
	return known->id;
}
