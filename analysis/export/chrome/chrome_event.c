/* chrome_event.c - shared parts of the events of a file. */
#include "analysis/export/chrome/chrome_event.h"

void vpa_chrome_event(struct vpa_chrome *x)
{
	vpa_line_words(&x->out, x->has_event ? ",\n" : "\n");
	x->has_event = 1;
}

void vpa_chrome_string(struct vpa_chrome *x, struct vpa_line *l, uint64_t id)
{
	struct vpt_text t = vpt_batch_text(x->batch, id);
	struct vpa_pieces *p = &x->strings;
	size_t at;

	if (id >= p->count) {
		vpa_line_words(l, "\"?\"");
		return;
	}
	if (vpa_pieces_put(p, id, l))
		return;
	at = vpa_pieces_begin(p);
	vpa_line_json(&p->text, t.text, t.len);
	vpa_pieces_end(p, id, at, l);
}

/* ---- members ---- */

/* JSON readers keep whole numbers up to 2^63; larger ones are written as text. */
void vpa_chrome_put_natural(struct vpa_line *l, uint64_t value)
{
	int quoted = value > INT64_MAX;

	vpa_line_put(l, "\"", (size_t)quoted);
	vpa_line_unsigned(l, value);
	vpa_line_put(l, "\"", (size_t)quoted);
}

void vpa_chrome_natural(struct vpa_line *l, const char *label, uint64_t value)
{
	vpa_line_words(l, label);
	vpa_chrome_put_natural(l, value);
}

/* A member that is omitted if it is 0. */
void vpa_chrome_optional(struct vpa_line *l, const char *label, uint64_t value)
{
	if (value)
		vpa_chrome_natural(l, label, value);
}

void vpa_chrome_integer(struct vpa_line *l, const char *label, uint64_t value)
{
	vpa_line_words(l, label);
	vpa_line_signed(l, value);
}

void vpa_chrome_times(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	vpa_chrome_time(x, s->col[0][row]);
	vpa_chrome_words(x, ",\"dur\":");
	vpa_line_micros(&x->out, s->col[1][row]);
}

/* Begins an event: phase, category and the key of the name. The place and the times follow. */
void vpa_chrome_begin(struct vpa_chrome *x, const char *phase_and_category)
{
	vpa_chrome_event(x);
	vpa_chrome_words(x, phase_and_category);
	vpa_chrome_words(x, ",\"name\":");
}

void vpa_chrome_place(struct vpa_chrome *x)
{
	vpa_line_put(&x->out, x->place.data, x->place.size);
}

void vpa_chrome_begin_args(struct vpa_chrome *x)
{
	vpa_chrome_words(x, ",\"args\":{");
	vpa_line_put(&x->out, x->args.data, x->args.size);
}

void vpa_chrome_end_args(struct vpa_chrome *x)
{
	vpa_chrome_words(x, "}}");
}

/* ---- flow arrows ---- */

void vpa_chrome_flow(struct vpa_chrome *x, const char *begin_with, uint64_t correlation,
	uint64_t time_ns, const char *end_with)
{
	vpa_chrome_event(x);
	vpa_chrome_natural(&x->out, begin_with, correlation + x->flow_base);
	vpa_chrome_place(x);
	vpa_chrome_time(x, time_ns);
	vpa_chrome_words(x, end_with);
}

void vpa_chrome_flow_ends(struct vpa_chrome *x, uint64_t correlation, uint64_t time_ns)
{
	if (correlation)
		vpa_chrome_flow(x, "{\"ph\":\"f\",\"id\":", correlation, time_ns,
			",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}");
}

/* ---- lanes ---- */

uint64_t vpa_chrome_lane(const struct vpa_chrome *x, uint32_t row, unsigned column)
{
	static const uint64_t unknown[VPT_LANE_COLUMNS] = {[VPT_LANE_PID] = UINT64_MAX,
		[VPT_LANE_TID] = UINT64_MAX,
		[VPT_LANE_DEVICE] = UINT64_MAX,
		[VPT_LANE_STREAM] = UINT64_MAX};

	return row == UINT32_MAX ? unknown[column] : x->lanes.section->col[column][row];
}

void vpa_chrome_pid(const struct vpa_chrome *x, struct vpa_line *l, const char *label, uint64_t pid)
{
	vpa_line_words(l, label);
	if (x->part) {
		vpa_line_words(l, "\"[");
		vpa_line_words(l, x->part->label);
		vpa_line_words(l, "] ");
	}
	vpa_line_signed(l, pid);
	if (x->part)
		vpa_line_words(l, "\"");
}

void vpa_chrome_place_of(const struct vpa_chrome *x, struct vpa_line *l, uint64_t pid, uint64_t tid)
{
	l->size = 0;
	vpa_chrome_pid(x, l, ",\"pid\":", pid);
	vpa_chrome_integer(l, ",\"tid\":", tid);
	vpa_line_words(l, ",\"ts\":");
}

void vpa_chrome_real(struct vpa_line *l, uint64_t type, uint64_t bits)
{
	uint32_t narrow_bits = (uint32_t)bits;
	float narrow;
	double wide;

	memcpy(&wide, &bits, sizeof(wide));
	if (type == VPT_PAYLOAD_FLOAT) {
		memcpy(&narrow, &narrow_bits, sizeof(narrow));
		wide = (double)narrow;
	}
	vpa_line_double(l, wide);
}
