/* sound_rows.c - names, lanes and clocks of a capture: what its ops, calls and ranges are judged by. */
#include "analysis/trust/sound_parts.h"

#include "analysis/names/range_names.h"
#include "formats/base/hash.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"

/* A quarter of what an analysis keeps: it has names of its own, and parts of names. */
enum { NAMES_MAX = 1 << 16, NAME_BYTES_MAX = 4 << 20, LANES_MAX = 2048 };

/* Ops that begin an hour after the last clock point are invalid, see vpa_ops_until(). */
#define BACK_NS UINT64_C(60000000000)
#define FAR_NS  (60 * BACK_NS - BACK_NS)

static uint8_t state_of(enum vpt_call_class klass)
{
	switch (klass) {
	case VPT_CALL_LAUNCH:
		return VPA_SOUND_KERNEL;
	case VPT_CALL_GRAPH_LAUNCH:
		return VPA_SOUND_GRAPH;
	default:
		return vpt_call_launches(klass) ? VPA_SOUND_OP : VPA_SOUND_NOTHING;
	}
}

struct vpa_sound *vpa_sound_new(const struct vpt_trace *trace)
{
	struct vpa_sound *s = vpt_calloc(1, sizeof(*s));
	uint32_t i;

	if (!s)
		return NULL;
	s->start_ns = vpt_trace_start(trace);
	/* Row 0 is the process. */
	if (vpa_index_row(&s->lanes, 0, VPT_LANETYPE_UNKNOWN, &s->lane_of, &s->lane_cap,
		    sizeof(*s->lane_of)) == UINT32_MAX) {
		vpa_sound_free(s);
		return NULL;
	}
	for (i = 0; i < VPA_SOUND_KINDS; i++)
		s->calls.states_of[i] = state_of(vpt_call_class(i));
	vpa_long_names_begin(&s->long_names, vpt_trace_size_bytes(trace));
	return s;
}

void vpa_sound_free(struct vpa_sound *s)
{
	if (!s)
		return;
	vpa_index_free(&s->names);
	vpa_index_free(&s->lanes);
	vpt_free(s->name_facts);
	vpt_free(s->lane_of);
	vpt_free(s->touched);
	vpt_free(s->calls.words);
	vpt_free(s->calls.starts_ns);
	vpt_free(s->early.items);
	vpt_free(s->open.items);
	vpt_free(s->opened.items);
	vpt_free(s->nests);
	vpt_free(s);
}

int vpa_sound_lane(struct vpa_sound *s, uint64_t key, unsigned type, uint32_t *lane)
{
	*lane = vpa_index_find(&s->lanes, key, type);
	if (*lane == UINT32_MAX)
		return VPT_END;
	if (s->lane_of[*lane].is_touched)
		return VPT_OK;
	if (vpt_grow(&s->touched, &s->touched_cap, s->touched_count + 1, sizeof(*s->touched)))
		return VPT_ENOMEM;
	s->touched[s->touched_count++] = *lane;
	s->lane_of[*lane].is_touched = 1;
	return VPT_OK;
}

static int take_names(struct vpa_sound *s, struct vpt_batch *b)
{
	size_t i, known;

	vpa_long_names_cut(&s->long_names, &b->strings);
	if (s->long_names.cut)
		return VPT_END;
	if (vpt_grow(&s->name_facts, &s->fact_cap, b->strings.count, 1))
		return VPT_ENOMEM;
	for (i = 0; i < b->strings.count; i++) {
		struct vpt_text text = vpt_strings_get(&b->strings, i);

		known = s->names.count;
		if (vpa_index_put(&s->names, vpt_hash(text.text, text.len), text.len) == UINT32_MAX)
			return VPT_ENOMEM;
		s->name_bytes += s->names.count > known ? text.len : 0;
		s->name_facts[i] =
			vpa_range_is_process_wide(text.text, text.len) ? VPA_SOUND_WIDE : 0;
	}
	return s->names.count > NAMES_MAX || s->name_bytes > NAME_BYTES_MAX ? VPT_END : VPT_OK;
}

/* Lanes of one process. */
static int take_lanes(struct vpa_sound *s, const struct vpt_section *lanes)
{
	uint32_t i;

	for (i = 0; lanes && i < lanes->row_count; i++) {
		uint64_t type = lanes->col[VPT_LANE_LANE_TYPE][i],
			 key = lanes->col[VPT_LANE_KEY][i];
		uint64_t pid = lanes->col[VPT_LANE_PID][i];

		if ((type != VPT_LANETYPE_THREAD && type != VPT_LANETYPE_STREAM) || !key)
			continue;
		if (s->has_pid && pid != s->pid)
			return VPT_END;
		s->has_pid = 1;
		s->pid = pid;
		if (vpa_index_row(&s->lanes, key, type, &s->lane_of, &s->lane_cap,
			    sizeof(*s->lane_of)) == UINT32_MAX)
			return VPT_ENOMEM;
	}
	return s->lanes.count > LANES_MAX ? VPT_END : VPT_OK;
}

/* What a tool that replaced CUPTI's clock leaves behind. */
static int take_facts(const struct vpt_batch *b, const struct vpt_section *metas)
{
	static const char prefix[] = "clock.cupti";
	uint32_t i;

	for (i = 0; i < metas->row_count; i++) {
		struct vpt_text key = vpt_batch_text(b, metas->col[VPT_META_KEY][i]);

		if (key.len >= sizeof(prefix) - 1 && !memcmp(key.text, prefix, sizeof(prefix) - 1))
			return VPT_END;
	}
	return VPT_OK;
}

/* Clock points may lie a little before earlier ones. */
static int take_clocks(struct vpa_sound *s, const struct vpt_section *clocks)
{
	uint32_t i;

	for (i = 0; i < clocks->row_count; i++) {
		uint64_t ns = clocks->col[VPT_CLOCK_TRACE][i];

		if (s->clock_ns > ns && s->clock_ns - ns > BACK_NS)
			return VPT_END;
		s->clock_ns = ns > s->clock_ns ? ns : s->clock_ns;
	}
	return VPT_OK;
}

static int take_tables(struct vpa_sound *s, const struct vpt_batch *b)
{
	int rc = take_lanes(s, vpt_batch_find(b, VPT_LANE));
	size_t i;

	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_META)
			rc = take_facts(b, &b->sections[i]);
		else if (b->sections[i].kind == VPT_CLOCK)
			rc = take_clocks(s, &b->sections[i]);
	return rc;
}

static int is_far(const struct vpa_sound *s)
{
	return s->clock_ns && s->newest_op_ns > s->clock_ns &&
	       s->newest_op_ns - s->clock_ns > FAR_NS;
}

/* What is new in this chunk is old in the next. */
static void end_chunk(struct vpa_sound *s)
{
	struct vpa_sound_opens last = s->open;
	size_t i;

	for (i = 0; i < s->touched_count; i++) {
		struct vpa_sound_lane *lane = &s->lane_of[s->touched[i]];

		lane->settled_ns = lane->newest_ns;
		lane->kernels = lane->copies = NULL;
		lane->ranges = lane->opens = 0;
		lane->is_touched = lane->overlaps = 0;
	}
	s->touched_count = 0;
	s->open = s->opened;
	s->opened = last;
	s->opened.count = 0;
}

int vpa_sound_chunk(struct vpa_sound *s, struct vpt_batch *b)
{
	int rc = b->unknown_sections || b->flags & VPT_BATCH_TORN ? VPT_END : take_names(s, b);

	if (!rc)
		rc = take_tables(s, b);
	if (!rc)
		rc = vpa_sound_take_calls(s, b);
	if (!rc)
		rc = vpa_sound_take_ops(s, b);
	if (!rc)
		rc = vpa_sound_take_ranges(s, b);
	if (!rc && is_far(s))
		rc = VPT_END;
	end_chunk(s);
	return rc;
}

static void say_nothing(void *ctx, const struct vpa_remark *remark)
{
	(void)ctx;
	(void)remark;
}

int vpa_sound_end(const struct vpa_sound *s, const struct vpa_completeness *n)
{
	if (s->early.count || s->calls.launches != s->calls.met)
		return 0;
	if (n->has_stats && n->received != vpt_sat_add(n->rows, n->dropped))
		return 0;
	return vpa_completeness_judge(n, say_nothing, NULL);
}
