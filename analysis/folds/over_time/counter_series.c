/* counter_series.c - collects the samples of each series.
 *
 * The unit says what a value means between two samples, see sampled_series.h: shares and rates are means
 * since the sample before, W, C and MHz change steadily, bytes hold until the next one. Any other unit, and
 * none, is of a program that takes a sample for each event. The memory of PyTorch's allocator is told at
 * the ends of stages. */
#include "analysis/folds/over_time/counters_by_stage.h"

#include "formats/base/memory.h"

#include <string.h>

struct state {
	struct vpa_counter_times times;
	struct vpa_index lanes; /* by key, to series; those beyond the maximum are left out */
	struct vpa_counter_series *items;
	size_t cap;
	struct vpt_strings texts;
	struct kept {
		uint64_t name, unit; /* in texts, which may move until all are known */
	} kept[VPA_COUNTER_SERIES_MAX];
};

/* Units of what has a value at any time. */
static const struct {
	const char *unit;
	enum vpa_sample_shape shape;
} states[] = {
	{"%", VPA_SAMPLE_SINCE},
	{"bits", VPA_SAMPLE_SINCE},
	{"W", VPA_SAMPLE_LINE},
	{"C", VPA_SAMPLE_LINE},
	{"MHz", VPA_SAMPLE_LINE},
	{"GHz", VPA_SAMPLE_LINE},
	{"B", VPA_SAMPLE_UNTIL},
	{"byte", VPA_SAMPLE_UNTIL},
	{"bytes", VPA_SAMPLE_UNTIL},
	{"kB", VPA_SAMPLE_UNTIL},
	{"KB", VPA_SAMPLE_UNTIL},
	{"MB", VPA_SAMPLE_UNTIL},
	{"GB", VPA_SAMPLE_UNTIL},
	{"TB", VPA_SAMPLE_UNTIL},
	{"KiB", VPA_SAMPLE_UNTIL},
	{"MiB", VPA_SAMPLE_UNTIL},
	{"GiB", VPA_SAMPLE_UNTIL},
	{"TiB", VPA_SAMPLE_UNTIL},
};

static enum vpa_sample_shape shape_of(struct vpt_text name, struct vpt_text unit)
{
	enum vpt_series known = vpt_series_find(name);
	size_t i;

	if (known == VPT_SERIES_MARKED_ALLOCATED || known == VPT_SERIES_MARKED_RESERVED ||
		known == VPT_SERIES_MARKED_PEAK)
		return VPA_SAMPLE_AT_END;
	if (unit.len >= 2 && !memcmp(unit.text + unit.len - 2, "/s", 2))
		return VPA_SAMPLE_SINCE;
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (vpt_text_is(unit, states[i].unit))
			return states[i].shape;
	return VPA_SAMPLE_EVENT;
}

/* Reads what the chunk says of a new series. */
static int begin_series(struct state *s, const struct vpt_batch *b, uint64_t key, uint32_t at)
{
	const struct vpt_section *lanes = vpt_batch_find(b, VPT_LANE);
	struct vpt_text name = {"counter", 7}, unit = {"", 0};
	struct vpa_counter_series *series = &s->items[at];
	uint32_t row;

	*series = (struct vpa_counter_series){.device = -1};
	for (row = 0; lanes && row < lanes->row_count; row++) {
		if (lanes->col[VPT_LANE_KEY][row] != key)
			continue;
		name = vpt_batch_text(b, lanes->col[VPT_LANE_NAME][row]);
		unit = vpt_batch_text(b, lanes->col[VPT_LANE_LANE_UNIT][row]);
		series->device = (int64_t)lanes->col[VPT_LANE_DEVICE][row];
	}
	series->device = series->device < 0 ? -1 : series->device;
	series->samples.shape = shape_of(name, unit);
	s->kept[at].name = vpt_strings_put(&s->texts, name.text, name.len);
	s->kept[at].unit = vpt_strings_put(&s->texts, unit.text, unit.len);
	return s->kept[at].name == VPT_NO_ID || s->kept[at].unit == VPT_NO_ID ? VPT_ENOMEM : VPT_OK;
}

static int fold_section(void *state, const struct vpa_fold_context *c, const struct vpt_batch *b,
	const struct vpt_section *section)
{
	struct state *s = state;
	size_t before = s->lanes.count;
	uint32_t at, row;
	double value;
	int rc = VPT_OK;

	(void)c;
	if (section->kind == VPT_LOSS)
		return vpa_counter_pauses(&s->times, section);
	if (section->kind != VPT_COUNTER)
		return VPT_OK;
	at = before < VPA_COUNTER_SERIES_MAX ? vpa_index_put(&s->lanes, section->lane, 0)
					     : vpa_index_find(&s->lanes, section->lane, 0);
	if (at == UINT32_MAX)
		return before < VPA_COUNTER_SERIES_MAX ? VPT_ENOMEM : VPT_OK;
	if (vpt_grow_zeroed(&s->items, &s->cap, (size_t)at + 1, sizeof(*s->items)))
		return VPT_ENOMEM;
	if (s->lanes.count > before)
		rc = begin_series(s, b, section->lane, at);
	for (row = 0; row < section->row_count && !rc; row++) {
		memcpy(&value, &section->col[VPT_COUNTER_VALUE][row], sizeof(value));
		rc = vpa_samples_add(
			&s->items[at].samples, section->col[VPT_COUNTER_TIME][row], value);
	}
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->lanes.count; i++) {
		s->items[i].name = vpt_strings_get(&s->texts, s->kept[i].name);
		s->items[i].unit = vpt_strings_get(&s->texts, s->kept[i].unit);
	}
	return vpa_counters_write(c, &s->times, s->items, s->lanes.count, out);
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->lanes.count && i < s->cap; i++)
		vpa_samples_free(&s->items[i].samples);
	vpt_free(s->items);
	vpa_index_free(&s->lanes);
	vpt_strings_free(&s->texts);
	vpa_counter_times_free(&s->times);
}

const struct vpa_fold vpa_fold_counters = {
	.name = "counters",
	.help = "samples of GPUs, processes and the host's own, by stage; energy",
	.state_bytes = sizeof(struct state),
	.section = fold_section,
	.finish = finish,
	.free = free_state,
};
