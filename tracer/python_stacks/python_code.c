/* python_code.c - reads code objects, and remembers them. */
#include "tracer/python_stacks/python_code.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/base/utf8.h"

#include <string.h>

enum {
	/* Slots of the tables. When half of a table is used, all is forgotten, and it is made larger: a
	 * small one stays in the processor's caches between samples. */
	CODES_FIRST = 1 << 9,
	CODES_MAX = 1 << 13,
	LINES_FIRST = 1 << 10,
	LINES_MAX = 1 << 15,
	HEAD_BYTES = 256, /* of a code object, from its start */
	TABLE_BYTES_MAX = 256 << 10,
	CHECKED_AT_ONCE = 64,
	PIECES_OF_CODE = 3, /* its head, its file, its name */
	TEXTS_ALWAYS = 4,
	TEXTS_EVERY = 8,
	TEXT_BYTES_MAX = 4 * VTR_FILE_CHARACTERS_MAX
};

/* What must not change, or it is another code. */
struct identity {
	uint64_t type, file, name, lines, units;
	int32_t first_line, first_traceable;
};

/* A string object: where it is, and what it said. */
struct text {
	uint64_t at, hash;
	uint32_t bytes; /* read of it, from text_from on */
};

struct code {
	uint64_t at;             /* 0: free */
	uint32_t serial;         /* of this content at this address */
	uint32_t round;          /* in which it was last checked */
	uint32_t function, file; /* code_places.h */
	struct identity identity;
	struct text name_text, file_text;
};

struct vtr_python_codes {
	struct vtr_own_memory *m;
	const struct vtr_python *python;
	struct vtr_code_places *places;
	uint32_t head_bytes, text_from;
	uint32_t check_from, check_bytes; /* of a code object: what a check reads */
	uint32_t code_count, code_slots, line_count, line_slots, serial, round;
	struct code codes[CODES_MAX];
	struct {
		uint64_t key; /* code's serial 32 | instruction 32; 0: free */
		uint32_t place;
	} lines[LINES_MAX];
	struct iovec iov[CHECKED_AT_ONCE * PIECES_OF_CODE];
	uint8_t bytes[CHECKED_AT_ONCE * (HEAD_BYTES + 2 * (TEXT_BYTES_MAX + 64))];
	uint8_t table[TABLE_BYTES_MAX];
};

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t name_field(const struct vtr_python_layout *at)
{
	return at->code_qualified_name != VTR_NO_FIELD ? at->code_qualified_name : at->code_name;
}

struct vtr_python_codes *vtr_python_codes_new(
	struct vtr_own_memory *m, const struct vtr_python *python, struct vtr_code_places *places)
{
	struct vtr_python_codes *c = vpt_calloc(1, sizeof(*c));
	const struct vtr_python_layout *at = &python->at;

	if (!c)
		return NULL;
	c->m = m;
	c->python = python;
	c->places = places;
	c->code_slots = CODES_FIRST;
	c->line_slots = LINES_FIRST;
	c->head_bytes = larger(larger(at->code_file, at->code_name),
				larger(at->code_lines, at->code_first_line)) +
			8;
	if (at->code_qualified_name != VTR_NO_FIELD)
		c->head_bytes = larger(c->head_bytes, at->code_qualified_name + 8u);
	if (at->code_first_traceable != VTR_NO_FIELD)
		c->head_bytes = larger(c->head_bytes, at->code_first_traceable + 4u);
	c->check_from = smaller(smaller(at->code_file, name_field(at)),
		smaller(at->code_lines, at->code_first_line));
	c->check_bytes = larger(larger(at->code_file, name_field(at)),
				 larger(at->code_lines, at->code_first_line)) +
			 8 - c->check_from;
	c->text_from = at->text_length < at->text_state ? at->text_length : at->text_state;
	if (c->head_bytes > HEAD_BYTES) {
		vpt_free(c);
		return NULL;
	}
	return c;
}

void vtr_python_codes_free(struct vtr_python_codes *c)
{
	vpt_free(c);
}

/* ---- reading a code object ---- */

static int32_t number(const uint8_t *bytes, uint32_t offset)
{
	int32_t n;

	memcpy(&n, bytes + offset, sizeof(n));
	return n;
}

static void parse_head(const struct vtr_python_codes *c, const uint8_t *head, struct identity *out)
{
	const struct vtr_python_layout *at = &c->python->at;

	memset(out, 0, sizeof(*out));
	out->type = vtr_word(head, at->object_type);
	out->file = vtr_word(head, at->code_file);
	out->name = vtr_word(head, name_field(at));
	out->lines = vtr_word(head, at->code_lines);
	out->first_line = number(head, at->code_first_line);
	if (at->code_first_traceable != VTR_NO_FIELD) {
		out->units = vtr_word(head, at->object_size);
		out->first_traceable = number(head, at->code_first_traceable);
	}
}

/* The hash of a string's content, from the bytes of the object from text_from on. */
static uint64_t hash_text(const struct vtr_python_codes *c, const uint8_t *bytes, uint32_t count)
{
	const struct vtr_python_layout *at = &c->python->at;
	const uint8_t *start = bytes - c->text_from;
	uint32_t state = (uint32_t)number(start, at->text_state) &
			 (VTR_TEXT_KIND | VTR_TEXT_COMPACT | VTR_TEXT_ASCII);
	uint32_t data = state & VTR_TEXT_ASCII ? at->text_ascii : at->text_wide;

	if (data - c->text_from > count)
		return 0;
	return vpt_hash(start + data, count - (data - c->text_from)) ^
	       vpt_hash_number(vtr_word(start, at->text_length) << 8 | state);
}

static uint32_t intern(
	struct vtr_python_codes *c, const uint8_t *data, uint32_t length, uint32_t kind)
{
	char utf8[4 * VTR_FILE_CHARACTERS_MAX];
	size_t bytes = 0;
	uint32_t i;

	for (i = 0; i < length; i++) {
		uint32_t character = 0;

		memcpy(&character, data + (size_t)i * kind, kind);
		/* A byte of a path that is no UTF-8 is a surrogate. */
		bytes += vpt_utf8_put(utf8 + bytes, character);
	}
	return vtr_code_places_text(c->places, utf8, bytes);
}

/* Reads a string object. 0, or -1: it is none. */
static int read_text(struct vtr_python_codes *c, uint64_t at, uint32_t most, struct text *out,
	uint32_t *interned)
{
	const struct vtr_python_layout *l = &c->python->at;
	uint8_t *start = c->bytes - c->text_from;
	uint32_t head = l->text_wide - c->text_from, state, kind, data;
	uint64_t length;

	if (vtr_own_memory_read(c->m, at + c->text_from, c->bytes, l->text_ascii - c->text_from))
		return -1;
	length = vtr_word(start, l->text_length);
	state = (uint32_t)number(start, l->text_state);
	kind = (state & VTR_TEXT_KIND) >> VTR_TEXT_KIND_SHIFT;
	if (!(state & VTR_TEXT_COMPACT) || (kind != 1 && kind != 2 && kind != 4) ||
		length > 1 << 20)
		return -1;
	if (length > most)
		length = most;
	data = state & VTR_TEXT_ASCII ? l->text_ascii : l->text_wide;
	head = data - c->text_from + (uint32_t)length * kind;
	if (vtr_own_memory_read(c->m, at + c->text_from, c->bytes, head))
		return -1;
	*out = (struct text){at, hash_text(c, c->bytes, head), head};
	*interned = intern(c, start + data, (uint32_t)length, kind);
	return 0;
}

static struct code *slot_of(struct vtr_python_codes *c, uint64_t at)
{
	uint64_t i = vpt_hash_number(at), mask = c->code_slots - 1;

	while (c->codes[i & mask].at && c->codes[i & mask].at != at)
		i++;
	return &c->codes[i & mask];
}

/* Reads the code object anew. NULL: it is none. */
static struct code *learn(struct vtr_python_codes *c, uint64_t at)
{
	uint8_t head[HEAD_BYTES];
	struct code new = {.at = at};
	struct code *code;

	if (vtr_own_memory_read(c->m, at, head, c->head_bytes))
		return NULL;
	parse_head(c, head, &new.identity);
	if (new.identity.type != c->python->code_type ||
		read_text(c, new.identity.name, VTR_FUNCTION_CHARACTERS_MAX, &new.name_text,
			&new.function) ||
		read_text(c, new.identity.file, VTR_FILE_CHARACTERS_MAX, &new.file_text, &new.file))
		return NULL;
	if (c->code_count >= c->code_slots / 2) {
		memset(c->codes, 0, c->code_slots * sizeof(*c->codes));
		c->code_count = 0;
		c->code_slots = smaller(c->code_slots * 2, CODES_MAX);
	}
	code = slot_of(c, at);
	c->code_count += !code->at;
	new.serial = ++c->serial;
	new.round = c->round;
	*code = new;
	return code;
}

/* ---- lines ---- */

/* Whether the code object is still the one that was learnt. */
static int is_still(struct vtr_python_codes *c, const struct code *code)
{
	uint8_t head[HEAD_BYTES];
	struct identity now;

	if (vtr_own_memory_read(c->m, code->at, head, c->head_bytes))
		return 0;
	parse_head(c, head, &now);
	return !memcmp(&now, &code->identity, sizeof(now));
}

/* 0, or -1: the code object was freed meanwhile. */
static int find_place(
	struct vtr_python_codes *c, const struct code *code, int32_t instruction, uint32_t *place)
{
	const struct vtr_python_layout *at = &c->python->at;
	struct vtr_code_place found = {.function = code->function, .file = code->file};
	int32_t line = -1;
	uint64_t size;

	if (vtr_own_memory_read(c->m, code->identity.lines + at->object_size, &size, 8))
		return -1;
	if (size <= sizeof(c->table)) {
		if (vtr_own_memory_read(
			    c->m, code->identity.lines + at->bytes_data, c->table, size))
			return -1;
		line = vtr_python_line(
			at->lines, c->table, size, code->identity.first_line, instruction);
	}
	if (!is_still(c, code))
		return -1;
	if (line < 0)
		line = code->identity.first_line;
	found.line = line > 0 ? (uint32_t)line : 0;
	*place = vtr_code_places_put(c->places, &found);
	return 0;
}

static int place_of(
	struct vtr_python_codes *c, const struct code *code, int32_t instruction, uint32_t *place)
{
	uint64_t key = (uint64_t)code->serial << 32 | (uint32_t)instruction;
	uint64_t i = vpt_hash_number(key), mask = c->line_slots - 1;

	for (; c->lines[i & mask].key; i++)
		if (c->lines[i & mask].key == key) {
			*place = c->lines[i & mask].place;
			return 0;
		}
	if (find_place(c, code, instruction, place))
		return -1;
	if (c->line_count >= c->line_slots / 2) {
		memset(c->lines, 0, c->line_slots * sizeof(*c->lines));
		c->line_count = 0;
		c->line_slots = smaller(c->line_slots * 2, LINES_MAX);
		i = vpt_hash_number(key);
		mask = c->line_slots - 1;
	}
	c->line_count++;
	c->lines[i & mask].key = key;
	c->lines[i & mask].place = *place;
	return 0;
}

/* ---- naming a stack ---- */

static size_t add_text(struct vtr_python_codes *c, size_t *pieces, const struct text *text)
{
	c->iov[*pieces].iov_base = (void *)(uintptr_t)(text->at + c->text_from);
	c->iov[(*pieces)++].iov_len = text->bytes;
	return text->bytes;
}

/* Whose texts are compared this time: those of the innermost frames, and of some others. */
static int has_texts(const struct vtr_python_codes *c, uint32_t frame)
{
	return frame < TEXTS_ALWAYS || (frame + c->round) % TEXTS_EVERY == 0;
}

/* Whether the fields that a check reads are what was learnt. The rest of the code belongs to its line
 * table, of which each code has its own. */
static int has_same_fields(
	const struct vtr_python_codes *c, const struct identity *known, const uint8_t *bytes)
{
	const struct vtr_python_layout *at = &c->python->at;
	const uint8_t *start = bytes - c->check_from;

	return vtr_word(start, at->code_file) == known->file &&
	       vtr_word(start, name_field(at)) == known->name &&
	       vtr_word(start, at->code_lines) == known->lines &&
	       number(start, at->code_first_line) == known->first_line;
}

/* Whether the code is what was learnt. *bytes moves on to the next. */
static int is_same(
	const struct vtr_python_codes *c, const struct code *code, int texts, const uint8_t **bytes)
{
	const uint8_t *fields = *bytes, *name = fields + c->check_bytes;
	const uint8_t *file = name + code->name_text.bytes;

	*bytes = texts ? file + code->file_text.bytes : name;
	return has_same_fields(c, &code->identity, fields) &&
	       (!texts ||
		       (hash_text(c, name, code->name_text.bytes) == code->name_text.hash &&
			       hash_text(c, file, code->file_text.bytes) == code->file_text.hash));
}

/* Compares the codes of `count` frames, from number `first` on, with what is remembered, and forgets
 * those that changed. */
static void check(struct vtr_python_codes *c, const struct vtr_python_frame *frames, uint32_t first,
	uint32_t count)
{
	struct code *codes[CHECKED_AT_ONCE];
	uint8_t texts[CHECKED_AT_ONCE];
	const uint8_t *at = c->bytes;
	size_t pieces = 0, bytes = 0;
	uint32_t i, n = 0;
	int failed;

	for (i = first; i < first + count; i++) {
		struct code *code = slot_of(c, frames[i].code);

		/* A recursive function's code is checked once. */
		if (!code->at || !code->serial || code->round == c->round)
			continue;
		code->round = c->round;
		codes[n] = code;
		c->iov[pieces].iov_base = (void *)(uintptr_t)(code->at + c->check_from);
		c->iov[pieces++].iov_len = c->check_bytes;
		bytes += c->check_bytes;
		texts[n] = (uint8_t)has_texts(c, i);
		if (texts[n++]) {
			bytes += add_text(c, &pieces, &code->name_text);
			bytes += add_text(c, &pieces, &code->file_text);
		}
	}
	failed = n && vtr_own_memory_gather(c->m, c->iov, pieces, c->bytes, bytes);
	for (i = 0; i < n; i++)
		/* The slot stays: others may lie beyond it. */
		if (failed || !is_same(c, codes[i], texts[i], &at))
			codes[i]->serial = 0;
}

/* A function that has not begun: its frame is still being filled. */
static int is_incomplete(const struct code *code, const struct vtr_python_frame *frame)
{
	return code->identity.units && !frame->is_generator &&
	       frame->instruction < (int64_t)code->identity.first_traceable * 2;
}

/* The interpreter's own code between a class and its __init__(), which is always incomplete. */
static int is_cleanup(const struct code *code)
{
	return code->identity.file == code->identity.name;
}

/* Learns the codes that are not known. 1: there were some; 0: none; -1: one is no code. */
static int learn_missing(
	struct vtr_python_codes *c, const struct vtr_python_frame *frames, uint32_t count)
{
	int learnt = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!frames[i].code)
			return -1;
		if (slot_of(c, frames[i].code)->serial)
			continue;
		if (!learn(c, frames[i].code))
			return -1;
		learnt = 1;
	}
	return learnt;
}

int vtr_python_codes_name(struct vtr_python_codes *c, const struct vtr_python_stack *stack,
	uint32_t *places, uint32_t *count)
{
	const struct vtr_python_frame *frames = stack->frames;
	int learnt = 0, rc;
	uint32_t i, n;

	*count = 0;
	c->round++;
	for (i = 0; i < stack->depth; i += n) {
		n = stack->depth - i < CHECKED_AT_ONCE ? stack->depth - i : CHECKED_AT_ONCE;
		check(c, frames, i, n);
		rc = learn_missing(c, frames + i, n);
		if (rc < 0)
			return -1;
		learnt |= rc;
	}
	if (learnt)
		return 1;
	for (i = 0; i < stack->depth; i++) {
		const struct code *code = slot_of(c, frames[i].code);

		if (code->identity.units && frames[i].instruction >= 0 &&
			(uint64_t)frames[i].instruction >= code->identity.units * 2)
			return -1;
		if (is_incomplete(code, &frames[i])) {
			/* Such a function calls none. */
			if (i > 0 && !is_cleanup(code))
				return -1;
			continue;
		}
		if (place_of(c, code, frames[i].instruction, &places[*count]))
			return 1;
		++*count;
	}
	return 0;
}
