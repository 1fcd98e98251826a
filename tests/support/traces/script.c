/* script.c - the statements of script.h's language.
 *
 * Options are the columns of the schema, found by name, so a new column needs no code here. Ids of strings
 * are those of one table for the whole script; script_write.c translates them for each chunk. */
#include "formats/base/memory.h"
#include "formats/calls.h"
#include "tests/support/traces/script_parts.h"

#include <string.h>

/* ---- statements about rows ---- */

static const struct {
	const char *word, *column;
} aliases[] = {{"corr", "correlation"}, {"node", "graph_node"}, {"ret", "result"},
	{"waits", "stream"}, {"shared", "dynamic_shared"}, {"static", "static_shared"},
	{"regs", "registers"}, {"async", "asynchronous"}, {"sms", "sm_count"},
	{"memory", "memory_bytes"}, {"unit", "lane_unit"}};

/* Options that need no value: they mean 1. */
static const char *const switches[] = {"asynchronous", "unmatched", "simulated"};

static int column_named(const struct vpt_kind_desc *kind, const char *name, size_t len)
{
	int c;

	for (c = 0; c < kind->n_columns; c++)
		if (strlen(kind->columns[c].name) == len &&
			!memcmp(kind->columns[c].name, name, len))
			return c;
	return -1;
}

/* A column by its name, or by an alias where the kind has no column of that name; -1: neither. */
static int column_of(const struct vpt_kind_desc *kind, const struct token *t)
{
	int c = column_named(kind, t->text, t->len);
	size_t i;

	for (i = 0; c < 0 && i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (script_is(t, aliases[i].word))
			c = column_named(kind, aliases[i].column, strlen(aliases[i].column));
	return c;
}

/* "8x4x1", "8x4" or "8" into three columns; what is not given is 1. */
static int take_triple(struct script *s, uint64_t *values)
{
	struct token t;
	size_t at = 0, i, n;
	int rc = script_next(s, "a size", &t);

	if (rc)
		return rc;
	for (i = 0; i < 3; i++) {
		n = script_count_digits(t.text + at, t.len - at);
		if (!n && at >= t.len) {
			values[i] = 1;
			continue;
		}
		if (!n || script_parse_number(t.text + at, n, &values[i]))
			return script_bad(
				s, "expected a size as 8x4x1, found \"%.*s\"", (int)t.len, t.text);
		at += n;
		at += at < t.len && t.text[at] == 'x';
	}
	return at == t.len ? VPT_OK
			   : script_bad(s, "expected a size as 8x4x1, found \"%.*s\"", (int)t.len,
				     t.text);
}

/* What only kernels have: returns VPT_END when the word is none of it. */
static int config_option(struct script *s, const struct token *word, uint64_t *config)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(VPT_CONFIG);
	int c;

	if (script_is(word, "grid"))
		return take_triple(s, config + VPT_CONFIG_GRID_X);
	if (script_is(word, "block"))
		return take_triple(s, config + VPT_CONFIG_BLOCK_X);
	if (script_is(word, "cluster"))
		return take_triple(s, config + VPT_CONFIG_CLUSTER_X);
	c = column_of(kind, word);
	return c < 0 ? VPT_END : script_value(s, &kind->columns[c], &config[c]);
}

/* json "..", int N, double X: the type and value of an NVTX payload. */
static int payload_option(struct script *s, const struct token *word,
	const struct vpt_kind_desc *kind, uint64_t *values)
{
	static const struct {
		const char *word;
		uint64_t type;
		uint8_t unit;
	} types[] = {{"json", VPT_PAYLOAD_JSON, VPT_UNIT_STRING},
		{"blob", VPT_PAYLOAD_BLOB, VPT_UNIT_STRING},
		{"int", VPT_PAYLOAD_INT64, VPT_UNIT_SIGNED},
		{"double", VPT_PAYLOAD_DOUBLE, VPT_UNIT_F64}};
	int c = column_named(kind, "payload", 7);
	size_t i;

	for (i = 0; c >= 0 && i < sizeof(types) / sizeof(types[0]); i++)
		if (script_is(word, types[i].word)) {
			struct vpt_column_desc column = {.name = "payload", .unit = types[i].unit};

			values[c] = types[i].type;
			return script_value(s, &column, &values[c + 1]);
		}
	return VPT_END;
}

/* "cc 9.0" is one word for two columns. */
static int compute_capability(struct script *s, uint64_t *values)
{
	struct token t;
	int rc = script_next(s, "a compute capability", &t);
	size_t n = script_count_digits(t.text, t.len);

	if (!rc && (n + 1 >= t.len || t.text[n] != '.' ||
			   script_parse_number(t.text, n, &values[VPT_DEVICE_COMPUTE_MAJOR]) ||
			   script_parse_number(t.text + n + 1, t.len - n - 1,
				   &values[VPT_DEVICE_COMPUTE_MINOR])))
		rc = script_bad(s, "expected cc 9.0, found \"%.*s\"", (int)t.len, t.text);
	return rc;
}

static int option(
	struct script *s, const struct vpt_kind_desc *kind, uint64_t *values, uint64_t *config)
{
	struct token word = s->tokens[s->at++];
	size_t i;
	int c, rc;

	if (word.quoted) {
		c = column_named(kind, kind->type == VPT_SAMPLE ? "stack" : "name",
			kind->type == VPT_SAMPLE ? 5 : 4);
		if (kind->type == VPT_KERNEL)
			return script_string(s, &word, &config[VPT_CONFIG_NAME]);
		return c >= 0 ? script_string(s, &word, &values[c])
			      : script_bad(s, "a %s has no name", kind->name);
	}
	c = column_of(kind, &word);
	for (i = 0; c >= 0 && i < sizeof(switches) / sizeof(switches[0]); i++)
		if (!strcmp(switches[i], kind->columns[c].name)) {
			values[c] = 1;
			return VPT_OK;
		}
	if (c >= 0)
		return script_value(s, &kind->columns[c], &values[c]);
	if (kind->type == VPT_DEVICE && script_is(&word, "cc"))
		return compute_capability(s, values);
	rc = payload_option(s, &word, kind, values);
	if (rc == VPT_END && kind->type == VPT_KERNEL)
		rc = config_option(s, &word, config);
	return rc == VPT_END
		       ? script_bad(s, "a %s has no \"%.*s\"", kind->name, (int)word.len, word.text)
		       : rc;
}

static int options(
	struct script *s, const struct vpt_kind_desc *kind, uint64_t *values, uint64_t *config)
{
	int rc = VPT_OK;

	while (!rc && s->at < s->token_count)
		rc = option(s, kind, values, config);
	return rc;
}

/* How a statement begins. Letters: L the section's lane, l the lane column, S a span, T a time, W a word
 * for `column`, N a number or text for `column`, C a call, M memories as source->target, if given. */
static const struct statement {
	const char *word;
	uint8_t kind;
	const char *pattern;
	uint8_t column;
	struct {
		uint8_t column, value;
	} fixed;
} statements[] = {
	{"call", VPT_CALL, "LCS", 0, {0}},
	{"kernel", VPT_KERNEL, "LS", 0, {0}},
	{"copy", VPT_COPY, "LWMS", VPT_COPY_COPY_KIND, {0}},
	{"memset", VPT_COPY, "LS", 0, {VPT_COPY_COPY_KIND, VPT_COPYKIND_MEMSET}},
	{"range", VPT_RANGE, "LS", 0, {0}},
	{"startend", VPT_RANGE, "LS", 0, {VPT_RANGE_RANGE_KIND, VPT_RANGEKIND_START_END}},
	{"open", VPT_OPEN, "lT", VPT_OPEN_LANE, {0}},
	{"openstartend", VPT_OPEN, "lT", VPT_OPEN_LANE,
		{VPT_OPEN_RANGE_KIND, VPT_RANGEKIND_START_END}},
	{"opened", VPT_OPEN, "lT", VPT_OPEN_LANE, {0}},
	{"mark", VPT_MARK, "LT", 0, {0}},
	{"counter", VPT_COUNTER, "LTN", VPT_COUNTER_VALUE, {0}},
	{"memory", VPT_MEMORY, "LTW", VPT_MEMORY_MEMORY_OP, {0}},
	{"sync", VPT_SYNC, "LWS", VPT_SYNC_SYNC_KIND, {0}},
	{"event", VPT_EVENT, "LT", 0, {0}},
	{"overhead", VPT_OVERHEAD, "LWS", VPT_OVERHEAD_OVERHEAD_KIND, {0}},
	{"loss", VPT_LOSS, "LWS", VPT_LOSS_LOSS_KIND, {0}},
	{"graph", VPT_GRAPH, "LTW", VPT_GRAPH_GRAPH_OP, {0}},
	{"sample", VPT_SAMPLE, "LT", 0, {0}},
	{"device", VPT_DEVICE, "N", VPT_DEVICE_DEVICE, {0}},
	{"stats", VPT_STATS, "l", VPT_STATS_LANE, {0}},
};

static int take_call(struct script *s, uint64_t *values)
{
	struct token t;
	int rc = script_next(s, "a call", &t);

	if (rc)
		return rc;
	values[VPT_CALL_ID] = vpt_call_find(t.text, t.len);
	return values[VPT_CALL_ID] ? VPT_OK : script_string(s, &t, &values[VPT_CALL_NAME]);
}

static int take_memories(struct script *s, uint64_t *values)
{
	struct token t = s->at < s->token_count ? s->tokens[s->at] : (struct token){"", 0, 0};
	const char *arrow = memmem(t.text, t.len, "->", 2);
	struct token source, target;

	if (!arrow)
		return VPT_OK;
	s->at++;
	source = (struct token){t.text, (size_t)(arrow - t.text), 0};
	target = (struct token){arrow + 2, t.len - source.len - 2, 0};
	if (script_word(&source, VPT_UNIT_MEMORY_KIND, &values[VPT_COPY_SOURCE_MEMORY]) ||
		script_word(&target, VPT_UNIT_MEMORY_KIND, &values[VPT_COPY_TARGET_MEMORY]))
		return script_bad(s, "expected memories as pinned->device, found \"%.*s\"",
			(int)t.len, t.text);
	return VPT_OK;
}

static int begin_row(struct script *s, const struct statement *st, struct row *row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(st->kind);
	const char *p;
	int rc = VPT_OK, time = st->kind == VPT_OPEN ? VPT_OPEN_START : 0;

	for (p = st->pattern; !rc && *p; p++) {
		switch (*p) {
		case 'L':
			rc = script_lane(s, &row->lane);
			break;
		case 'l':
			rc = script_lane(s, &row->values[st->column]);
			break;
		case 'S':
			rc = script_span(s, &row->values[0], &row->values[1]);
			row->start = row->values[0];
			row->end = row->start + row->values[1];
			break;
		case 'T':
			rc = script_number(s, "a time", &row->values[time]);
			row->start = row->end = row->values[time];
			break;
		case 'C':
			rc = take_call(s, row->values);
			break;
		case 'M':
			rc = take_memories(s, row->values);
			break;
		default:
			rc = script_value(s, &kind->columns[st->column], &row->values[st->column]);
		}
	}
	return rc;
}

static int add_row(struct script *s, const struct row *row)
{
	if (vpt_grow(&s->rows, &s->row_cap, s->row_count + 1, sizeof(*s->rows)))
		return script_no_memory(s);
	s->rows[s->row_count] = *row;
	s->rows[s->row_count].order = s->row_count;
	s->rows[s->row_count].chunk = s->chunk_count - 1;
	s->row_count++;
	if (row->kind != VPT_SAMPLE && row->end >= row->start && row->end > s->largest_ns)
		s->largest_ns = row->end;
	return VPT_OK;
}

static int row_statement(struct script *s, const struct statement *st)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(st->kind);
	struct row row = {
		.kind = st->kind, .open = st->kind == VPT_OPEN && strcmp(st->word, "opened") != 0};
	struct vpt_config config = {0};
	uint64_t values[VPT_CONFIG_COLUMNS] = {0};
	int rc;

	if (st->fixed.value)
		row.values[st->fixed.column] = st->fixed.value;
	values[VPT_CONFIG_GRID_X] = values[VPT_CONFIG_GRID_Y] = values[VPT_CONFIG_GRID_Z] = 1;
	values[VPT_CONFIG_BLOCK_X] = values[VPT_CONFIG_BLOCK_Y] = values[VPT_CONFIG_BLOCK_Z] = 1;
	rc = begin_row(s, st, &row);
	if (!rc)
		rc = options(s, kind, row.values, values);
	if (!rc && st->kind == VPT_KERNEL) {
		memcpy(&config, values, sizeof(config));
		if (vpt_grow(&s->configs, &s->config_cap, s->config_count + 1, sizeof(*s->configs)))
			return script_no_memory(s);
		row.values[VPT_KERNEL_CONFIG] = s->config_count;
		s->configs[s->config_count++] = config;
	}
	return rc ? rc : add_row(s, &row);
}

/* ---- the other statements ---- */

static int lane_statement(struct script *s, uint64_t type)
{
	uint64_t values[VPT_LANE_COLUMNS] = {0}, key;
	struct vpt_lane row;
	struct token name;
	size_t i;
	int rc = script_next(s, "a lane's name", &name);

	values[VPT_LANE_LANE_TYPE] = type;
	values[VPT_LANE_PID] = 1;
	values[VPT_LANE_TID] = values[VPT_LANE_DEVICE] = values[VPT_LANE_STREAM] = (uint64_t)-1;
	for (i = 0; !rc && i < s->lane_count; i++)
		if (s->lanes[i].name.len == name.len &&
			!memcmp(s->lanes[i].name.text, name.text, name.len))
			return script_bad(
				s, "lane \"%.*s\" is there already", (int)name.len, name.text);
	if (!rc)
		rc = options(s, vpt_kind_desc(VPT_LANE), values, NULL);
	memcpy(&row, values, sizeof(row));
	return rc ? rc : script_add_lane(s, &name, &row, &key);
}

static int meta_statement(struct script *s)
{
	struct row row = {.kind = VPT_META};
	struct token key, value;
	int rc = script_next(s, "a key", &key);

	if (!rc)
		rc = script_next(s, "a value", &value);
	if (!rc)
		rc = script_string(s, &key, &row.values[VPT_META_KEY]);
	if (!rc)
		rc = script_string(s, &value, &row.values[VPT_META_VALUE]);
	return rc ? rc : add_row(s, &row);
}

static int open_chunk(struct script *s)
{
	if (vpt_grow(&s->chunks, &s->chunk_cap, s->chunk_count + 1, sizeof(*s->chunks)))
		return script_no_memory(s);
	s->chunks[s->chunk_count++] = (struct chunk){0};
	return VPT_OK;
}

static int chunk_statement(struct script *s)
{
	uint64_t *closes = &s->chunks[s->chunk_count - 1].closes_ns;
	int rc = VPT_OK;

	*closes = s->largest_ns;
	if (s->at < s->token_count)
		rc = script_number(s, "a time", closes);
	return rc ? rc : open_chunk(s);
}

static int start_statement(struct script *s)
{
	struct token t;
	int rc = script_number(s, "a time", &s->header.t0_ns);

	if (rc || s->at == s->token_count)
		return rc;
	rc = script_next(s, "unix", &t);
	if (!rc && !script_is(&t, "unix"))
		return script_bad(s, "expected unix, found \"%.*s\"", (int)t.len, t.text);
	return rc ? rc : script_number(s, "a time", &s->header.t0_unix_ns);
}

/* Statements that set one number. */
static int number_statement(struct script *s, const struct token *word, int *known)
{
	uint64_t value = 0;
	int rc;

	*known = script_is(word, "end") || script_is(word, "pid") || script_is(word, "id") ||
		 script_is(word, "flags") || script_is(word, "lost");
	if (!*known)
		return VPT_OK;
	rc = script_number(s, "a number", &value);
	if (rc)
		return rc;
	if (script_is(word, "end")) {
		s->end_ns = value;
		s->has_end = 1;
	} else if (script_is(word, "pid")) {
		s->header.pid = (uint32_t)value;
	} else if (script_is(word, "id")) {
		s->header.capture_id = value;
	} else if (script_is(word, "flags")) {
		s->header.flags = (uint32_t)value;
	} else {
		s->chunks[s->chunk_count - 1].lost = (uint32_t)value;
	}
	return VPT_OK;
}

static int statement(struct script *s)
{
	struct token word = s->tokens[s->at++];
	int rc, known;
	size_t i;

	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (script_is(&word, statements[i].word))
			return row_statement(s, &statements[i]);
	rc = number_statement(s, &word, &known);
	if (known)
		return rc;
	if (script_is(&word, "stream"))
		return lane_statement(s, VPT_LANETYPE_STREAM);
	if (script_is(&word, "thread"))
		return lane_statement(s, VPT_LANETYPE_THREAD);
	if (script_is(&word, "series"))
		return lane_statement(s, VPT_LANETYPE_SERIES);
	if (script_is(&word, "meta"))
		return meta_statement(s);
	if (script_is(&word, "chunk"))
		return chunk_statement(s);
	if (script_is(&word, "start"))
		return start_statement(s);
	if (script_is(&word, "killed")) {
		s->killed = 1;
		return VPT_OK;
	}
	return script_bad(s, "no such statement: \"%.*s\"", (int)word.len, word.text);
}

int script_parse(struct script *s)
{
	char *p = s->text;
	int rc = open_chunk(s);

	s->line = 1;
	while (!rc && *p) {
		rc = script_line(s, &p);
		if (!rc && s->token_count)
			rc = statement(s);
		if (!rc && s->at < s->token_count)
			rc = script_bad(s, "nothing is expected after \"%.*s\"",
				(int)s->tokens[s->at - 1].len, s->tokens[s->at - 1].text);
		if (rc)
			break;
		s->line += p[-1] == '\n';
	}
	if (!rc)
		s->chunks[s->chunk_count - 1].closes_ns = s->largest_ns;
	return rc;
}
