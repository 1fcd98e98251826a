/* cell_text.c - formats rows from the schema alone: a new column needs no change here.
 *
 *	{"kind":"kernel","pid":1,"device":0,"context":1,"stream":7,"start_ns":10,"duration_ns":5,"name":"k", ...
 *	|---- part of all rows of the section --------------------------------||  |--- part ----||- config piece
 *
 * A lane is shown as its parts, in columns of their own; as one text where the schema allows any kind
 * of lane. An unknown value is null, or an empty CSV field. */
#include "analysis/export/cell_text.h"

#include "analysis/export/schema_names.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <string.h>

enum cell {
	CELL_UNSIGNED,
	CELL_SIGNED,
	CELL_HEX,
	CELL_DOUBLE,
	CELL_STRING,
	CELL_CONFIG,
	CELL_FRAME,
	CELL_STACK,
	CELL_LANE,
	CELL_PAYLOAD, /* typed by the column before */
	CELL_WORD
};

/* Units not listed are words of events.def. */
static const struct {
	uint8_t unit, cell;
} cells[] = {
	{VPT_UNIT_TIME_NS, CELL_UNSIGNED},
	{VPT_UNIT_DUR_NS, CELL_SIGNED}, /* negative if the end is before the start */
	{VPT_UNIT_COUNT, CELL_UNSIGNED},
	{VPT_UNIT_BYTES, CELL_UNSIGNED},
	{VPT_UNIT_NUMBER, CELL_UNSIGNED},
	{VPT_UNIT_SIGNED, CELL_SIGNED},
	{VPT_UNIT_HEX, CELL_HEX},
	{VPT_UNIT_F64, CELL_DOUBLE},
	{VPT_UNIT_STRING, CELL_STRING},
	{VPT_UNIT_CONFIG, CELL_CONFIG},
	{VPT_UNIT_FRAME, CELL_FRAME},
	{VPT_UNIT_STACK, CELL_STACK},
	{VPT_UNIT_LANE, CELL_LANE},
};

static uint8_t cell_of(uint8_t unit)
{
	size_t i;

	for (i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		if (cells[i].unit == unit)
			return cells[i].cell;
	return CELL_WORD;
}

/* ---- text ---- */

static void put_hex(const struct vpa_cat *c, struct vpa_line *t, uint64_t value)
{
	if (!c->csv)
		vpa_line_put(t, "\"", 1);
	if (value)
		vpa_line_hex(t, value);
	else
		vpa_line_put(t, "0x0", 3);
	if (!c->csv)
		vpa_line_put(t, "\"", 1);
}

void vpa_cat_null(const struct vpa_cat *c, struct vpa_line *t)
{
	if (!c->csv)
		vpa_line_put(t, "null", 4);
}

static void put_double(const struct vpa_cat *c, struct vpa_line *t, uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	if (value - value != 0) /* NaN and infinities */
		vpa_cat_null(c, t);
	else
		vpa_line_double(t, value);
}

void vpa_cat_text_cell(const struct vpa_cat *c, struct vpa_line *t, const char *text, size_t len)
{
	if (c->csv)
		vpa_line_csv(t, text, len, (struct vpa_csv){c->safe, c->clean});
	else
		vpa_line_json(t, text, len);
}

/* ---- cells ---- */

static void put_string(struct vpa_cat *c, struct vpa_line *t, uint64_t id)
{
	struct vpa_pieces *p = &c->string_pieces;
	struct vpt_text text;
	size_t begin;

	if (id >= p->count) {
		vpa_cat_null(c, t);
		return;
	}
	if (vpa_pieces_put(p, id, t))
		return;
	text = vpt_batch_text(c->batch, id);
	if (!text.len) {
		vpa_line_put(t, "\"\"", c->csv ? 0 : 2);
		return;
	}
	begin = vpa_pieces_begin(p);
	vpa_cat_text_cell(c, &p->text, text.text, text.len);
	vpa_pieces_end(p, id, begin, t);
}

static void put_frame(struct vpa_cat *c, struct vpa_line *t, uint64_t id)
{
	const struct vpt_section *s = c->stacks.frames;
	struct vpt_frame frame;

	if (!s || id >= s->row_count) {
		vpa_cat_null(c, t);
		return;
	}
	frame = (struct vpt_frame){.function = s->col[VPT_FRAME_FUNCTION][id],
		.file = s->col[VPT_FRAME_FILE][id],
		.line = s->col[VPT_FRAME_LINE][id]};
	c->scratch.size = 0;
	vpa_frame_text(&c->scratch, c->batch, &frame);
	vpa_cat_text_cell(c, t, c->scratch.data, c->scratch.size);
}

static void put_stack(struct vpa_cat *c, struct vpa_line *t, uint64_t id)
{
	if (!vpt_stacks_depth(&c->stacks, id)) {
		vpa_cat_null(c, t);
		return;
	}
	c->scratch.size = 0;
	vpa_stack_text(&c->scratch, &c->stacks, id);
	vpa_cat_text_cell(c, t, c->scratch.data, c->scratch.size);
}

/* ---- lanes ---- */

/* A lane of any type as one text. */
static void put_lane(struct vpa_cat *c, struct vpa_line *t, uint64_t key)
{
	uint32_t row = key ? vpa_chunk_lane(&c->lanes, key) : UINT32_MAX;
	uint64_t *const *col = c->lanes.section ? c->lanes.section->col : NULL;
	struct vpt_text name;
	char text[128];

	if (row == UINT32_MAX) {
		vpa_cat_null(c, t);
		return;
	}
	switch (col[VPT_LANE_LANE_TYPE][row]) {
	case VPT_LANETYPE_THREAD:
		snprintf(text, sizeof(text), "pid %lld tid %lld", (long long)col[VPT_LANE_PID][row],
			(long long)col[VPT_LANE_TID][row]);
		break;
	case VPT_LANETYPE_STREAM:
		snprintf(text, sizeof(text), "pid %lld device %lld context %llu stream %lld",
			(long long)col[VPT_LANE_PID][row], (long long)col[VPT_LANE_DEVICE][row],
			(unsigned long long)col[VPT_LANE_CONTEXT][row],
			(long long)col[VPT_LANE_STREAM][row]);
		break;
	default:
		name = vpt_batch_text(c->batch, col[VPT_LANE_NAME][row]);
		vpa_cat_text_cell(c, t, name.text, name.len);
		return;
	}
	vpa_cat_text_cell(c, t, text, strlen(text));
}

/* ---- rows ---- */

static void put_cell(
	struct vpa_cat *c, struct vpa_line *t, const struct vpa_cat_column *column, uint64_t value);

/* A configuration's columns, in place of its number. */
static void put_config(struct vpa_cat *c, struct vpa_line *t, uint64_t id)
{
	const struct vpa_cat_layout *l = &c->layouts[VPT_CONFIG];
	struct vpa_pieces *p = &c->config_pieces;
	size_t begin;
	unsigned i;

	if (id >= p->count) {
		for (i = 0; i < l->kind->n_columns; i++) {
			vpa_cat_put_label(t, &l->columns[i].label);
			vpa_cat_null(c, t);
		}
		return;
	}
	if (vpa_pieces_put(p, id, t))
		return;
	begin = vpa_pieces_begin(p);
	for (i = 0; i < l->kind->n_columns; i++) {
		vpa_cat_put_label(&p->text, &l->columns[i].label);
		put_cell(c, &p->text, &l->columns[i], c->configs->col[i][id]);
	}
	vpa_pieces_end(p, id, begin, t);
}

static void make_word(const struct vpa_cat *c, struct vpa_line *t, uint8_t unit, uint64_t number)
{
	const char *word = vpt_word((enum vpt_unit)unit, number);
	size_t quote = c->csv ? 0 : 1;

	/* Call 0 is not in the table of calls; the next column has its name. */
	if (!word && !number) {
		vpa_cat_null(c, t);
		return;
	}
	vpa_line_put(t, "\"", quote);
	vpa_line_words(t, word ? word : vpa_unit_name(unit));
	if (!word) {
		vpa_line_put(t, "#", 1);
		vpa_line_unsigned(t, number);
	}
	vpa_line_put(t, "\"", quote);
}

static void put_word(struct vpa_cat *c, struct vpa_line *t, uint8_t unit, uint64_t number)
{
	struct vpa_cat_word *kept = &c->words[(number + 37 * (uint64_t)unit) % VPA_CAT_WORDS];
	size_t begin = t->size, len;

	if (kept->len && kept->unit == unit && kept->number == number) {
		vpa_line_put_short(t, kept->text, kept->len);
		return;
	}
	make_word(c, t, unit, number);
	len = t->size - begin;
	if (t->failed || !len || len > sizeof(kept->text))
		return;
	*kept = (struct vpa_cat_word){number, unit, (uint8_t)len, {0}};
	memcpy(kept->text, t->data + begin, len);
}

static void put_cell(
	struct vpa_cat *c, struct vpa_line *t, const struct vpa_cat_column *column, uint64_t value)
{
	switch (column->cell) {
	case CELL_UNSIGNED:
		vpa_line_unsigned(t, value);
		break;
	case CELL_SIGNED:
		vpa_line_signed(t, value);
		break;
	case CELL_PAYLOAD:
	case CELL_HEX:
		put_hex(c, t, value);
		break;
	case CELL_DOUBLE:
		put_double(c, t, value);
		break;
	case CELL_STRING:
		put_string(c, t, value);
		break;
	case CELL_CONFIG:
		put_config(c, t, value);
		break;
	case CELL_FRAME:
		put_frame(c, t, value);
		break;
	case CELL_STACK:
		put_stack(c, t, value);
		break;
	case CELL_LANE:
		put_lane(c, t, value);
		break;
	default:
		put_word(c, t, column->unit, value);
	}
}

/* A payload as a value of its type. */
static void put_payload(struct vpa_cat *c, struct vpa_line *t, uint64_t type, uint64_t value)
{
	uint32_t narrow_bits = (uint32_t)value;
	uint64_t bits;
	float narrow;
	double wide;

	switch (type) {
	case VPT_PAYLOAD_NONE:
		vpa_cat_null(c, t);
		break;
	case VPT_PAYLOAD_BLOB:
	case VPT_PAYLOAD_JSON:
		put_string(c, t, value);
		break;
	case VPT_PAYLOAD_DOUBLE:
		put_double(c, t, value);
		break;
	case VPT_PAYLOAD_FLOAT:
		memcpy(&narrow, &narrow_bits, sizeof(narrow));
		wide = (double)narrow;
		memcpy(&bits, &wide, sizeof(bits));
		put_double(c, t, bits);
		break;
	case VPT_PAYLOAD_INT32:
		vpa_line_signed(t, (uint64_t)(int64_t)(int32_t)narrow_bits);
		break;
	case VPT_PAYLOAD_INT64:
		vpa_line_signed(t, value);
		break;
	default:
		vpa_line_unsigned(t, value);
	}
}

/* The cell of a column in a row. */
static void put_column(struct vpa_cat *c, struct vpa_line *t, const struct vpt_section *s,
	unsigned column, uint32_t row)
{
	const struct vpa_cat_column *how = &c->layouts[s->kind].columns[column];
	uint64_t value = s->col[column][row];

	if (how->cell == CELL_PAYLOAD && c->alone)
		put_payload(c, t, s->col[column - 1][row], value);
	else
		put_cell(c, t, how, value);
}

static inline int is_plain(const struct vpa_cat_column *column, uint64_t value)
{
	return column->cell == CELL_UNSIGNED || (column->cell == CELL_SIGNED && !(value >> 63));
}

void vpa_cat_row_begin(
	struct vpa_cat *c, const struct vpt_section *s, uint32_t row, struct vpa_line *l)
{
	const struct vpa_cat_column *columns = c->layouts[s->kind].columns;
	const struct vpa_cat_part *part = c->parts;
	char *to = c->section.failed ? NULL : vpa_line_room(l, c->row_bytes);

	for (; to; part++) {
		const char *text = c->section.data + part->begin;
		uint64_t value;
		size_t i;

		/* Copying a fixed size is faster, see vpa_line_put_short(). */
		memcpy(to, text, VPA_LINE_SLACK);
		for (i = VPA_LINE_SLACK; i < part->len; i += VPA_LINE_SLACK)
			memcpy(to + i, text + i, VPA_LINE_SLACK);
		to += part->len;
		if (part->column == VPT_COLUMNS_MAX)
			break;
		value = s->col[part->column][row];
		if (is_plain(&columns[part->column], value)) {
			to += vpa_line_digits(l, to, value);
			continue;
		}
		l->size = (size_t)(to - l->data);
		put_column(c, l, s, part->column, row);
		to = vpa_line_room(l, c->row_bytes);
	}
	if (to)
		l->size = (size_t)(to - l->data);
}

void vpa_cat_row_end(const struct vpa_cat *c, struct vpa_line *l)
{
	if (c->form == VPA_CAT_JSON)
		vpa_line_put(l, "}\n", 2);
	else
		vpa_line_put(l, "\n", 1);
}

void vpa_cat_row(struct vpa_cat *c, const struct vpt_section *s, uint32_t row, struct vpa_line *l)
{
	vpa_cat_row_begin(c, s, row, l);
	vpa_cat_row_end(c, l);
}

/* ---- shared by all rows ---- */

struct vpa_label vpa_cat_label(const struct vpa_cat *c, const char *name, int is_first)
{
	struct vpa_label label = {{0}, 0};

	if (c->form != VPA_CAT_JSON)
		strcpy(label.text, is_first ? "" : c->csv ? "," : "\t");
	else
		snprintf(label.text, sizeof(label.text), "%c\"%s\":", is_first ? '{' : ',', name);
	label.len = (uint8_t)strlen(label.text);
	return label;
}

static void make_layout(struct vpa_cat *c, const struct vpt_kind_desc *kind)
{
	struct vpa_cat_layout *l = &c->layouts[kind->type];
	unsigned i;

	l->kind = kind;
	for (i = 0; i < kind->n_columns; i++) {
		struct vpa_cat_column *column = &l->columns[i];

		column->unit = kind->columns[i].unit;
		column->cell = cell_of(column->unit);
		/* In the table of lanes, where keys are looked up, they are shown as numbers. */
		if (kind->type == VPT_LANE && column->cell == CELL_LANE)
			column->cell = CELL_UNSIGNED;
		if (i && kind->columns[i - 1].unit == VPT_UNIT_PAYLOAD)
			column->cell = CELL_PAYLOAD;
		if (column->cell != CELL_CONFIG)
			column->label = vpa_cat_label(c, kind->columns[i].name, 0);
	}
}

void vpa_cat_init(struct vpa_cat *c, enum vpa_cat_form form, int safe, int clean)
{
	unsigned type;

	c->form = form;
	c->csv = form == VPA_CAT_CSV;
	c->safe = safe;
	c->clean = clean;
	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (vpt_kind_desc(type))
			make_layout(c, vpt_kind_desc(type));
}

void vpa_cat_free(struct vpa_cat *c)
{
	vpt_free(c->section.data);
	vpt_free(c->scratch.data);
	vpa_pieces_free(&c->string_pieces);
	vpa_pieces_free(&c->config_pieces);
	vpa_chunk_lanes_free(&c->lanes);
	memset(c, 0, sizeof(*c));
}

void vpa_cat_batch(struct vpa_cat *c, const struct vpt_batch *batch)
{
	c->batch = batch;
	c->configs = vpt_batch_find(batch, VPT_CONFIG);
	vpt_stacks_view(&c->stacks, batch);
	vpa_pieces_reset(&c->string_pieces, batch->strings.count);
	vpa_pieces_reset(&c->config_pieces, c->configs ? c->configs->row_count : 0);
	vpa_chunk_lanes_read(&c->lanes, batch);
}

static void put_lane_columns(struct vpa_cat *c, const struct vpa_lane_column *lane, uint64_t key)
{
	const struct vpa_cat_layout *l = &c->layouts[VPT_LANE];
	uint32_t row = key ? vpa_chunk_lane(&c->lanes, key) : UINT32_MAX;

	for (; lane->name; lane++) {
		struct vpa_label label = vpa_cat_label(c, lane->name, 0);

		vpa_cat_put_label(&c->section, &label);
		if (lane->column < 0)
			put_lane(c, &c->section, key);
		else if (row == UINT32_MAX)
			vpa_cat_null(c, &c->section);
		else
			put_cell(c, &c->section, &l->columns[lane->column],
				c->lanes.section->col[lane->column][row]);
	}
}

/* Whether all rows of a section have the same value there. */
static int agrees(const struct vpt_section *s, unsigned column)
{
	const uint64_t *values = s->col[column];

	return s->row_count && !memcmp(values, values + 1, (s->row_count - 1) * sizeof(*values));
}

static void end_part(struct vpa_cat *c, unsigned *count, unsigned column)
{
	size_t begin = *count ? c->parts[*count - 1].begin + c->parts[*count - 1].len : 0;

	c->parts[(*count)++] = (struct vpa_cat_part){begin, c->section.size - begin, column};
}

static void put_columns(struct vpa_cat *c, const struct vpt_section *s, unsigned *count)
{
	const struct vpa_cat_layout *l = &c->layouts[s->kind];
	int agree = 0, agreed;
	unsigned i;

	for (i = 0; i < l->kind->n_columns; i++) {
		agreed = agree;
		agree = agrees(s, i);
		vpa_cat_put_label(&c->section, &l->columns[i].label);
		/* A payload's type is in the column before. */
		if (agree && (agreed || l->columns[i].cell != CELL_PAYLOAD))
			put_column(c, &c->section, s, i, 0);
		else
			end_part(c, count, i);
	}
	end_part(c, count, VPT_COLUMNS_MAX);
}

/* Every label begins with a separator, even if nothing precedes it in the row. */
static void open_row(struct vpa_cat *c)
{
	if (c->form == VPA_CAT_JSON) {
		c->section.data[0] = '{';
		return;
	}
	c->parts[0].begin++;
	c->parts[0].len--;
}

void vpa_cat_section(struct vpa_cat *c, const struct vpt_section *s)
{
	const struct vpt_kind_desc *kind = c->layouts[s->kind].kind;
	unsigned count = 0;

	c->section.size = 0;
	if (c->form == VPA_CAT_JSON && !c->alone) {
		vpa_line_words(&c->section, "{\"kind\":\"");
		vpa_line_words(&c->section, kind->name);
		vpa_line_words(&c->section, "\"");
	}
	put_lane_columns(c, vpa_lane_columns(kind), s->lane);
	put_columns(c, s, &count);
	c->row_bytes = c->section.size + count * (VPA_LINE_SLACK + VPA_DIGITS);
	if (vpa_line_room(&c->section, VPA_LINE_SLACK) && (c->form != VPA_CAT_JSON || c->alone))
		open_row(c);
}

int vpa_cat_error(const struct vpa_cat *c)
{
	return c->section.failed || c->scratch.failed || c->string_pieces.text.failed ||
			       c->config_pieces.text.failed || c->lanes.failed
		       ? VPT_ENOMEM
		       : VPT_OK;
}
