/* chrome_waits.c - synchronisation, CUDA events, overhead, counters, and the kinds that the profiler has no form
 * for. */
#include "analysis/export/chrome/chrome_rows.h"

/* ---- waits and overhead ---- */

static const char *const sync_names[] = {
	[VPT_SYNCKIND_UNKNOWN] = "Unknown Sync",
	[VPT_SYNCKIND_EVENT] = "Event Sync",
	[VPT_SYNCKIND_STREAM_WAIT] = "Stream Wait Event",
	[VPT_SYNCKIND_STREAM] = "Stream Sync",
	[VPT_SYNCKIND_CONTEXT] = "Context Sync",
};

static const char *const overhead_names[] = {
	[VPT_OVERHEADKIND_UNKNOWN] = "Overhead",
	[VPT_OVERHEADKIND_COMPILER] = "Driver Compiler",
	[VPT_OVERHEADKIND_FLUSH] = "Buffer Flush",
	[VPT_OVERHEADKIND_INSTRUMENTATION] = "Instrumentation",
	[VPT_OVERHEADKIND_RESOURCE] = "Resource",
	[VPT_OVERHEADKIND_MODULE_LOADING] = "Runtime Triggered Module Loading",
	[VPT_OVERHEADKIND_LAZY_LOADING] = "Lazy Function Loading",
	[VPT_OVERHEADKIND_COMMAND_BUFFER_FULL] = "Command Buffer Full",
	[VPT_OVERHEADKIND_BUFFER_REQUEST] = "Activity Buffer Request",
	[VPT_OVERHEADKIND_UVM_INIT] = "UVM Activity Init",
};

/* The word of a number, as a JSON string; unknown numbers use the table's first. */
#define PUT_WORD(x, table, number)                                                                 \
	put_word(x, (table)[(number) < sizeof(table) / sizeof(*(table)) ? (number) : 0])

static void put_word(struct vpa_chrome *x, const char *word)
{
	vpa_chrome_words(x, "\"");
	vpa_chrome_words(x, word);
	vpa_chrome_words(x, "\"");
}

/* Reads the recorded CUDA events before the chunk's waits are written. */
void vpa_chrome_read_records(struct vpa_chrome *x, const struct vpt_section *s)
{
	uint32_t lane = vpa_chunk_lane(&x->lanes, s->lane), row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t sync_id = s->col[VPT_EVENT_SYNC_ID][row];

		if (sync_id)
			x->records[sync_id % VPA_CHROME_RECORDS] = (struct vpa_chrome_record){
				sync_id, s->col[VPT_EVENT_CORRELATION][row],
				vpa_chrome_lane(x, lane, VPT_LANE_DEVICE),
				vpa_chrome_lane(x, lane, VPT_LANE_CONTEXT),
				vpa_chrome_lane(x, lane, VPT_LANE_STREAM)};
	}
}

/* What a wait waits for: by its own stream, else by that of the record it names. The profiler uses the
 * recording call's id for a record, and so do traces imported from it. */
static struct vpa_chrome_record waits_for(
	const struct vpa_chrome *x, const struct vpt_section *s, uint32_t row, uint32_t lane)
{
	uint64_t sync_id = s->col[VPT_SYNC_SYNC_ID][row];
	struct vpa_chrome_record none = {.correlation = UINT64_MAX, .stream = UINT64_MAX};
	struct vpa_chrome_record w = x->records[sync_id % VPA_CHROME_RECORDS];

	if (!sync_id || w.sync_id != sync_id)
		w = none;
	if (sync_id && vpt_trace_format(x->c->trace) == VPT_FORMAT_KINETO)
		w.correlation = sync_id;
	if (lane != UINT32_MAX) {
		w.device = vpa_chrome_lane(x, lane, VPT_LANE_DEVICE);
		w.context = vpa_chrome_lane(x, lane, VPT_LANE_CONTEXT);
		w.stream = vpa_chrome_lane(x, lane, VPT_LANE_STREAM);
	}
	return w;
}

void vpa_chrome_put_sync(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t kind = s->col[VPT_SYNC_SYNC_KIND][row], other = s->col[VPT_SYNC_STREAM][row];
	struct vpa_chrome_record w =
		waits_for(x, s, row, other ? vpa_chunk_lane(&x->lanes, other) : UINT32_MAX);

	vpa_chrome_begin(x, "{\"ph\":\"X\",\"cat\":\"cuda_sync\"");
	PUT_WORD(x, sync_names, kind);
	vpa_chrome_place(x);
	vpa_chrome_times(x, s, row);
	vpa_chrome_begin_args(x);
	vpa_chrome_words(x, "\"cuda_sync_kind\":");
	PUT_WORD(x, sync_names, kind);
	vpa_chrome_natural(&x->out, ",\"correlation\":", s->col[VPT_SYNC_CORRELATION][row]);
	if (!s->lane || vpa_chrome_lane(x, vpa_chunk_lane(&x->lanes, s->lane),
				VPT_LANE_LANE_TYPE) == VPT_LANETYPE_THREAD)
		vpa_chrome_words(x, ",\"stream\":-1");
	vpa_chrome_natural(&x->out, ",\"sync context\":", s->col[VPT_SYNC_CONTEXT][row]);
	vpa_chrome_integer(&x->out, ",\"wait_on_stream\":", w.stream);
	vpa_chrome_integer(&x->out, ",\"wait_on_cuda_event_record_corr_id\":", w.correlation);
	vpa_chrome_integer(&x->out, ",\"wait_on_cuda_event_id\":", s->col[VPT_SYNC_EVENT][row] - 1);
	vpa_chrome_optional(&x->out, ",\"cuda_event_sync_id\":", s->col[VPT_SYNC_SYNC_ID][row]);
	if (w.stream != UINT64_MAX && other != s->lane) {
		vpa_chrome_integer(&x->out, ",\"wait_on_device\":", w.device);
		vpa_chrome_natural(&x->out, ",\"wait_on_context\":", w.context);
	}
	vpa_chrome_end_args(x);
}

/* A CUDA event, as the profiler writes it: an empty span on its stream. */
void vpa_chrome_put_record(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	vpa_chrome_begin(x, "{\"ph\":\"X\",\"cat\":\"cuda_event\"");
	vpa_chrome_words(x, "\"cudaEvent\"");
	vpa_chrome_place(x);
	vpa_chrome_time(x, s->col[VPT_EVENT_TIME][row]);
	vpa_chrome_words(x, ",\"dur\":0");
	vpa_chrome_begin_args(x);
	vpa_chrome_integer(&x->out, "\"event_id\":", s->col[VPT_EVENT_EVENT][row] - 1);
	vpa_chrome_natural(&x->out, ",\"correlation\":", s->col[VPT_EVENT_CORRELATION][row]);
	vpa_chrome_natural(&x->out, ",\"cuda_event_sync_id\":", s->col[VPT_EVENT_SYNC_ID][row]);
	vpa_chrome_end_args(x);
}

void vpa_chrome_put_overhead(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	vpa_chrome_begin(x, "{\"ph\":\"X\",\"cat\":\"overhead\"");
	PUT_WORD(x, overhead_names, s->col[VPT_OVERHEAD_OVERHEAD_KIND][row]);
	vpa_chrome_place(x);
	vpa_chrome_times(x, s, row);
	vpa_chrome_begin_args(x);
	vpa_chrome_natural(&x->out, "\"correlation\":", s->col[VPT_OVERHEAD_CORRELATION][row]);
	vpa_chrome_end_args(x);
}

/* ---- the rest ---- */

void vpa_chrome_put_counter(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint32_t lane = vpa_chunk_lane(&x->lanes, s->lane);

	vpa_chrome_begin(x, "{\"ph\":\"C\",\"cat\":\"counter\"");
	vpa_chrome_string(x, &x->out, vpa_chrome_lane(x, lane, VPT_LANE_NAME));
	vpa_chrome_words(x, ",\"unit\":");
	vpa_chrome_string(x, &x->out, vpa_chrome_lane(x, lane, VPT_LANE_LANE_UNIT));
	vpa_chrome_place(x);
	vpa_chrome_time(x, s->col[VPT_COUNTER_TIME][row]);
	vpa_chrome_words(x, ",\"args\":{\"value\":");
	vpa_chrome_real(&x->out, VPT_PAYLOAD_DOUBLE, s->col[VPT_COUNTER_VALUE][row]);
	vpa_chrome_end_args(x);
}

/* A kind that the profiler has no form for: its columns by name, words as their numbers. */
void vpa_chrome_put_other(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	int is_span = kind->flags & VPT_KIND_SPAN, i;
	const char *word = NULL;

	for (i = 1; i < kind->n_columns && !word; i++)
		word = vpt_word((enum vpt_unit)kind->columns[i].unit, s->col[i][row]);
	vpa_chrome_begin(x, is_span ? "{\"ph\":\"X\",\"cat\":\"vptrace\""
				    : "{\"ph\":\"i\",\"cat\":\"vptrace\",\"s\":\"t\"");
	vpa_chrome_words(x, "\"");
	vpa_chrome_words(x, kind->name);
	vpa_chrome_words(x, word ? ": " : "");
	vpa_chrome_words(x, word ? word : "");
	vpa_chrome_words(x, "\"");
	vpa_chrome_place(x);
	vpa_chrome_time(x, s->col[0][row]);
	if (is_span) {
		vpa_chrome_words(x, ",\"dur\":");
		vpa_line_micros(&x->out, s->col[1][row]);
	}
	vpa_chrome_begin_args(x);
	vpa_chrome_words(x, "\"kind\":\"");
	vpa_chrome_words(x, kind->name);
	vpa_chrome_words(x, "\"");
	for (i = is_span ? 2 : 1; i < kind->n_columns; i++) {
		if (!s->col[i][row])
			continue;
		vpa_chrome_words(x, ",\"");
		vpa_chrome_words(x, kind->columns[i].name);
		vpa_chrome_words(x, "\":");
		if (kind->columns[i].unit == VPT_UNIT_STRING)
			vpa_chrome_string(x, &x->out, s->col[i][row]);
		else
			vpa_chrome_put_natural(&x->out, s->col[i][row]);
	}
	vpa_chrome_end_args(x);
}
