/* recorded_lanes.c - lanes in slabs that never move, and a hash over them that never grows: their number is
 * limited. */
#include "tracer/write/recorder.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/chunk/strings.h"
#include "tracer/guest/system_file.h"
#include "tracer/ranges/words/range_strings.h"

#include <stdio.h>

enum { LANE_SLOTS = 2 * VTR_LANES_MAX, LANES_A_SLAB = 256 };

struct vtr_lane_slab {
	struct vtr_lane lanes[LANES_A_SLAB];
};

struct vpt_lane vtr_lane_of_stream(uint32_t pid, uint32_t device, uint32_t context, uint32_t stream)
{
	return (struct vpt_lane){.lane_type = VPT_LANETYPE_STREAM,
		.pid = pid,
		.tid = UINT64_MAX,
		.device = device,
		.context = context,
		.stream = stream};
}

struct vpt_lane vtr_lane_of_thread(uint32_t pid, uint32_t tid)
{
	return (struct vpt_lane){.lane_type = VPT_LANETYPE_THREAD,
		.pid = pid,
		.tid = tid,
		.device = UINT64_MAX,
		.stream = UINT64_MAX};
}

struct vpt_lane vtr_lane_of_series(uint32_t pid, int64_t device, uint32_t name, uint32_t unit)
{
	return (struct vpt_lane){.lane_type = VPT_LANETYPE_SERIES,
		.pid = pid,
		.tid = UINT64_MAX,
		.device = (uint64_t)device,
		.stream = UINT64_MAX,
		.name = name,
		.lane_unit = unit};
}

int vtr_lanes_init(struct vtr_lanes *lanes)
{
	*lanes = (struct vtr_lanes){.slots = vpt_calloc(LANE_SLOTS, sizeof(uint32_t))};
	return lanes->slots ? VPT_OK : VPT_ENOMEM;
}

void vtr_lanes_free(struct vtr_lanes *lanes)
{
	size_t i;

	for (i = 0; i < lanes->slab_count; i++)
		vpt_free(lanes->slabs[i]);
	vpt_free(lanes->slabs);
	vpt_free(lanes->slots);
}

struct vtr_lane *vtr_lanes_at(const struct vtr_lanes *lanes, uint32_t index)
{
	return &lanes->slabs[index / LANES_A_SLAB]->lanes[index % LANES_A_SLAB];
}

/* The identity of a lane: a stream's device, context and stream, a thread's id, a series' device,
 * name and unit. */
static int same_lane(const struct vpt_lane *a, const struct vpt_lane *b)
{
	if (a->lane_type != b->lane_type)
		return 0;
	switch (a->lane_type) {
	case VPT_LANETYPE_STREAM:
		return a->stream == b->stream && a->device == b->device && a->context == b->context;
	case VPT_LANETYPE_THREAD:
		return a->tid == b->tid;
	default:
		return a->name == b->name && a->lane_unit == b->lane_unit && a->device == b->device;
	}
}

static uint64_t lane_hash(const struct vpt_lane *row)
{
	switch (row->lane_type) {
	case VPT_LANETYPE_STREAM:
		return vpt_hash_pair(row->device << 32 ^ row->context, row->stream);
	case VPT_LANETYPE_THREAD:
		return vpt_hash_pair(row->lane_type, row->tid);
	default:
		return vpt_hash_pair(row->name << 32 ^ row->lane_unit, row->device);
	}
}

static struct vtr_lane *new_lane(struct vtr_lanes *lanes, const struct vpt_lane *row, size_t slot)
{
	struct vtr_lane *lane;

	if (lanes->count == VTR_LANES_MAX)
		return NULL;
	if (lanes->count == lanes->slab_count * LANES_A_SLAB) {
		struct vtr_lane_slab *slab;

		if (vpt_grow(&lanes->slabs, &lanes->slab_cap, lanes->slab_count + 1,
			    sizeof(*lanes->slabs)))
			return NULL;
		slab = vpt_calloc(1, sizeof(*slab));
		if (!slab)
			return NULL;
		lanes->slabs[lanes->slab_count++] = slab;
	}
	lane = vtr_lanes_at(lanes, lanes->count);
	lane->key = ++lanes->count;
	lane->row = *row;
	lane->row.key = lane->key;
	lanes->slots[slot] = (uint32_t)lane->key;
	return lane;
}

struct vtr_lane *vtr_lanes_find(struct vtr_lanes *lanes, const struct vpt_lane *row)
{
	size_t slot = lane_hash(row) % LANE_SLOTS;

	for (; lanes->slots[slot]; slot = (slot + 1) % LANE_SLOTS) {
		struct vtr_lane *lane = vtr_lanes_at(lanes, lanes->slots[slot] - 1);

		if (same_lane(&lane->row, row))
			return lane;
	}
	return new_lane(lanes, row, slot);
}

void vtr_recorder_describe_stream(struct vtr_lane *lane, int64_t priority, uint64_t flags)
{
	if (!lane->key || (lane->row.priority == (uint64_t)priority && lane->row.flags == flags))
		return;
	lane->row.priority = (uint64_t)priority;
	lane->row.flags = flags;
}

void vtr_recorder_name_lane(struct vtr_lane *lane, uint32_t name)
{
	if (lane->key)
		lane->row.name = name;
}

void vtr_lane_name_thread(struct vtr_lane *lane)
{
	char path[64], comm[32];
	size_t n;

	if (lane->row.lane_type != VPT_LANETYPE_THREAD || lane->row.name || lane->asked_name)
		return;
	lane->asked_name = 1;
	snprintf(
		path, sizeof(path), "/proc/self/task/%llu/comm", (unsigned long long)lane->row.tid);
	n = vtr_system_file(path, comm, sizeof(comm));
	if (n)
		lane->row.name = vtr_name(comm, n);
}
