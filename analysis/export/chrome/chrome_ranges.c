/* chrome_ranges.c - ranges and marks as annotations and operators of PyTorch's profiler. */
#include "analysis/export/chrome/chrome_ranges.h"

#include "analysis/export/chrome/chrome_rows.h"
#include "formats/domains.h"

/* The columns that ranges, open ranges and marks share. */
struct nvtx_columns {
	int kind, domain, category, colour, payload, value, schema; /* -1: none */
};

static const struct nvtx_columns range_columns = {VPT_RANGE_RANGE_KIND, VPT_RANGE_DOMAIN,
	VPT_RANGE_CATEGORY, VPT_RANGE_COLOUR, VPT_RANGE_PAYLOAD, VPT_RANGE_VALUE, VPT_RANGE_SCHEMA};
static const struct nvtx_columns open_columns = {
	VPT_OPEN_RANGE_KIND, VPT_OPEN_DOMAIN, -1, -1, VPT_OPEN_PAYLOAD, VPT_OPEN_VALUE, -1};
static const struct nvtx_columns mark_columns = {-1, VPT_MARK_DOMAIN, VPT_MARK_CATEGORY,
	VPT_MARK_COLOUR, VPT_MARK_PAYLOAD, VPT_MARK_VALUE, VPT_MARK_SCHEMA};

static uint64_t column(const struct vpt_section *s, int index, uint32_t row)
{
	return index < 0 ? 0 : s->col[index][row];
}

/* The payload in readable form, and its bits too if that form does not preserve them. */
static void put_payload(struct vpa_chrome *x, struct vpa_line *l, uint64_t type, uint64_t value)
{
	const char *word = vpt_word(VPT_UNIT_PAYLOAD, type);
	struct vpt_text blob;
	size_t i;

	if (!type || !word)
		return;
	vpa_line_words(l, "\"payload type\":\"");
	vpa_line_words(l, word);
	vpa_line_words(l, "\",\"payload\":");
	switch (type) {
	case VPT_PAYLOAD_JSON:
		vpa_chrome_string(x, l, value);
		break;
	case VPT_PAYLOAD_BLOB:
		blob = vpt_batch_text(x->batch, value);
		vpa_line_words(l, "\"");
		for (i = 0; i < blob.len; i++) {
			unsigned char c = (unsigned char)blob.text[i];

			vpa_line_put(l, &"0123456789abcdef"[c >> 4], 1);
			vpa_line_put(l, &"0123456789abcdef"[c & 15], 1);
		}
		vpa_line_words(l, "\"");
		break;
	case VPT_PAYLOAD_DOUBLE:
	case VPT_PAYLOAD_FLOAT:
		vpa_chrome_real(l, type, value);
		vpa_line_words(l, ",\"payload bits\":\"");
		vpa_line_hex(l, value);
		vpa_line_words(l, "\"");
		break;
	case VPT_PAYLOAD_INT64:
		vpa_line_signed(l, value);
		break;
	case VPT_PAYLOAD_INT32:
		vpa_line_signed(l, (uint64_t)(int64_t)(int32_t)value);
		break;
	default:
		vpa_chrome_put_natural(l, value);
	}
	vpa_line_words(l, ",");
}

static int is_operator(const struct vpa_chrome *x, uint64_t domain)
{
	return vpt_domain_is(vpt_batch_text(x->batch, domain), VPT_DOMAIN_OPERATORS);
}

/* Every member ends with a comma. */
static void put_nvtx(struct vpa_chrome *x, struct vpa_line *l, const struct nvtx_columns *c,
	const struct vpt_section *s, uint32_t row)
{
	uint64_t domain = column(s, c->domain, row);

	if (domain && !is_operator(x, domain)) {
		vpa_line_words(l, "\"domain\":");
		vpa_chrome_string(x, l, domain);
		vpa_line_words(l, ",");
	}
	if (column(s, c->kind, row) == VPT_RANGEKIND_START_END)
		vpa_line_words(l, "\"process wide\":1,");
	if (column(s, c->category, row)) {
		vpa_chrome_natural(l, "\"category\":", column(s, c->category, row));
		vpa_line_words(l, ",");
	}
	if (column(s, c->colour, row)) {
		vpa_chrome_natural(l, "\"colour\":", column(s, c->colour, row));
		vpa_line_words(l, ",");
	}
	put_payload(x, l, column(s, c->payload, row), column(s, c->value, row));
	if (column(s, c->schema, row)) {
		vpa_chrome_natural(l, "\"payload schema\":", column(s, c->schema, row));
		vpa_line_words(l, ",");
	}
}

/* The arguments end with a comma, or with the bracket that opened them. */
static void end_nvtx(struct vpa_line *l)
{
	if (l->size && !l->failed && l->data[l->size - 1] == ',')
		l->size--;
	vpa_line_words(l, "}}");
}

static const char *range_category(const struct vpa_chrome *x, uint64_t domain)
{
	return is_operator(x, domain) ? "{\"ph\":\"X\",\"cat\":\"cpu_op\""
				      : "{\"ph\":\"X\",\"cat\":\"user_annotation\"";
}

void vpa_chrome_put_range(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t ends_on = s->col[VPT_RANGE_END_THREAD][row];
	uint32_t lane;

	vpa_chrome_begin(x, range_category(x, s->col[VPT_RANGE_DOMAIN][row]));
	vpa_chrome_string(x, &x->out, s->col[VPT_RANGE_NAME][row]);
	vpa_chrome_place(x);
	vpa_chrome_times(x, s, row);
	vpa_chrome_begin_args(x);
	put_nvtx(x, &x->out, &range_columns, s, row);
	if (ends_on) {
		lane = vpa_chunk_lane(&x->lanes, ends_on);
		vpa_chrome_integer(
			&x->out, "\"end process\":", vpa_chrome_lane(x, lane, VPT_LANE_PID));
		vpa_chrome_integer(
			&x->out, ",\"end thread\":", vpa_chrome_lane(x, lane, VPT_LANE_TID));
		vpa_chrome_words(x, ",");
	}
	if (s->col[VPT_RANGE_UNMATCHED][row])
		vpa_chrome_words(x, "\"unmatched\":1,");
	end_nvtx(&x->out);
	x->c->totals->ranges++;
}

void vpa_chrome_put_mark(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	vpa_chrome_begin(x, "{\"ph\":\"i\",\"cat\":\"user_annotation\",\"s\":\"t\"");
	vpa_chrome_string(x, &x->out, s->col[VPT_MARK_NAME][row]);
	vpa_chrome_place(x);
	vpa_chrome_time(x, s->col[VPT_MARK_TIME][row]);
	vpa_chrome_begin_args(x);
	put_nvtx(x, &x->out, &mark_columns, s, row);
	end_nvtx(&x->out);
}

/* Retains the ranges that are open when the chunk closes. Each is preceded by its start and they are
 * separated by a NUL; durations are added when the trace's end is known. */
void vpa_chrome_keep_open(struct vpa_chrome *x, struct vpa_line *l, const struct vpt_section *s)
{
	uint32_t row, lane;
	struct vpa_line place = {0};

	l->size = 0;
	for (row = 0; s && row < s->row_count; row++) {
		uint64_t start = s->col[VPT_OPEN_START][row];

		lane = vpa_chunk_lane(&x->lanes, s->col[VPT_OPEN_LANE][row]);
		vpa_chrome_place_of(x, &place, vpa_chrome_lane(x, lane, VPT_LANE_PID),
			vpa_chrome_lane(x, lane, VPT_LANE_TID));
		vpa_line_put(l, (const char *)&start, sizeof(start));
		vpa_line_words(l, range_category(x, s->col[VPT_OPEN_DOMAIN][row]));
		vpa_line_words(l, ",\"name\":");
		vpa_chrome_string(x, l, s->col[VPT_OPEN_NAME][row]);
		vpa_line_words(l, ",\"args\":{\"open\":1,");
		put_nvtx(x, l, &open_columns, s, row);
		end_nvtx(l);
		if (l->size && !l->failed)
			l->size--; /* the event goes on */
		vpa_line_put(l, place.data, place.size);
		vpa_line_put(l, "", 1);
	}
	l->failed |= place.failed;
	vpt_free(place.data);
}

void vpa_chrome_open(struct vpa_chrome *x, const struct vpa_line *open, uint64_t end_ns)
{
	const char *p = open->data, *end = open->size ? p + open->size : p;
	uint64_t start;

	for (; p < end; p += strlen(p) + 1) {
		memcpy(&start, p, sizeof(start));
		p += sizeof(start);
		if (x->c->windowed && start >= end_ns)
			continue;
		vpa_chrome_event(x);
		vpa_chrome_words(x, p);
		vpa_chrome_time(x, start);
		vpa_chrome_words(x, ",\"dur\":");
		vpa_line_micros(&x->out, end_ns > start ? end_ns - start : 0);
		vpa_chrome_words(x, "}");
	}
}
