/* export_counters.c - samples as counter tracks, one a series, with the series' own name and unit.
 *
 * Left out: Perfetto's own kinds of GPU counters; no series says that it is one of those. */
#include "analysis/export_parts.h"

#include "formats/memory.h"

#include <stdio.h>
#include <string.h>

enum { SEQUENCE_COUNTERS = 5, COUNTER = 8, UNIT_NAME = 6, VALUE = 44 };

struct vpa_ex_series {
	struct vpa_index keys; /* of lanes that have been described */
};

void vpa_ex_counters_free(struct vpa_export *x)
{
	if (x->series)
		vpa_index_free(&x->series->keys);
	vpt_free(x->series);
}

static uint64_t series_uuid(const struct vpa_export *x, uint64_t key)
{
	char path[64];

	snprintf(path, sizeof(path), "series %llx", (unsigned long long)key);
	return vpa_ex_uuid(x, path);
}

static void describe(struct vpa_export *x, const struct vpt_batch *b, uint64_t key)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	struct vpt_text name = {"counter", 7}, unit = {"", 0};
	struct vpt_pb *out = &x->pf.out;
	int64_t pid = -1;
	uint64_t process;
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++) {
		if (s->col[VPT_LANE_KEY][row] != key ||
			s->col[VPT_LANE_LANE_TYPE][row] != VPT_LANETYPE_SERIES)
			continue;
		name = vpt_batch_text(b, s->col[VPT_LANE_NAME][row]);
		unit = vpt_batch_text(b, s->col[VPT_LANE_LANE_UNIT][row]);
		pid = (int64_t)s->col[VPT_LANE_PID][row];
	}
	process = vpa_ex_process(x, pid);
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(out, VPT_PF_TRACK);
	vpt_pb_uint(out, 1, series_uuid(x, key));
	vpt_pb_uint(out, 5, process);
	vpt_pb_text(out, 2, name.text, name.len, VPT_PF_TEXT_MAX);
	vpt_pb_begin(out, COUNTER);
	if (unit.len)
		vpt_pb_text(out, UNIT_NAME, unit.text, unit.len, 100);
	vpt_pb_end(out);
	vpt_pb_end(out);
	vpt_pf_end(&x->pf);
}

static void put_sample(struct vpa_export *x, uint64_t uuid, uint64_t time_ns, uint64_t bits)
{
	struct vpt_pb *b = &x->pf.out;
	double value;

	memcpy(&value, &bits, sizeof(value));
	vpt_pf_begin(&x->pf, &x->counters, time_ns + x->shift_ns);
	vpt_pb_begin(b, VPT_PF_TRACK_EVENT);
	vpt_pb_uint(b, 9, VPT_PF_COUNTER);
	vpt_pb_uint(b, 11, uuid);
	vpt_pb_double(b, VALUE, value);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

static int add_section(struct vpa_export *x, const struct vpt_batch *b, const struct vpt_section *s)
{
	size_t before = x->series->keys.count;
	uint64_t uuid = series_uuid(x, s->lane);
	uint32_t row;

	if (vpa_index_put(&x->series->keys, s->lane, 0) == UINT32_MAX)
		return VPT_ENOMEM;
	if (x->series->keys.count > before)
		describe(x, b, s->lane);
	if (!x->has_counters)
		vpt_pf_sequence(
			&x->pf, &x->counters, SEQUENCE_COUNTERS, x->start_ns + x->shift_ns, 0);
	x->has_counters = 1;
	for (row = 0; row < s->row_count; row++) {
		if (!vpa_in_window(x->model, s->col[VPT_COUNTER_TIME][row]))
			continue;
		x->expected.counter_samples++;
		put_sample(x, uuid, s->col[VPT_COUNTER_TIME][row], s->col[VPT_COUNTER_VALUE][row]);
	}
	return x->pf.failed;
}

int vpa_ex_counters_add(struct vpa_export *x, const struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	if (!x->series)
		x->series = vpt_calloc(1, sizeof(*x->series));
	if (!x->series)
		return VPT_ENOMEM;
	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_COUNTER)
			rc = add_section(x, b, &b->sections[i]);
	return rc;
}
