/* script_parts.h - what the files behind script.h share; nobody else includes it. */
#ifndef VPT_TESTS_SUPPORT_SCRIPT_PARTS_H
#define VPT_TESTS_SUPPORT_SCRIPT_PARTS_H

#include "formats/capture_layout.h"
#include "formats/chunk/strings.h"
#include "formats/event_schema.h"
#include "tests/support/traces/script.h"

enum { TOKENS_MAX = 64 };

struct token {
	const char *text;
	size_t len;
	int quoted;
};

struct row {
	unsigned kind;
	uint64_t lane, start, end;
	size_t order, chunk;
	int open; /* a range that never ends */
	uint64_t values[VPT_COLUMNS_MAX];
};

struct lane {
	struct token name;
	struct vpt_lane row;
};

struct chunk {
	uint64_t closes_ns;
	uint32_t lost;
};

struct script {
	char *text; /* a copy; quoted text is unescaped in place */
	unsigned line;
	struct token tokens[TOKENS_MAX];
	size_t token_count, at;
	struct vpt_strings strings;
	struct vpt_config *configs;
	size_t config_count, config_cap;
	struct row *rows;
	size_t row_count, row_cap;
	struct lane *lanes; /* key is index + 1 */
	size_t lane_count, lane_cap;
	struct chunk *chunks; /* the last one is open */
	size_t chunk_count, chunk_cap;
	struct vpt_header header;
	uint64_t end_ns, largest_ns;
	int has_end, killed;
	struct vpt_err *err;
};

/* script_text.c: words and values. All return 0, or VPT_EINVAL or VPT_ENOMEM already worded. */
__attribute__((format(printf, 2, 3))) int script_bad(struct script *s, const char *format, ...);
int script_no_memory(struct script *s);
int script_is(const struct token *t,
	const char *word);                   /* not case-sensitive; quoted text is never a word */
int script_line(struct script *s, char **p); /* splits one line, moves *p after it */
int script_next(struct script *s, const char *what, struct token *t);
size_t script_count_digits(const char *text, size_t len);
int script_parse_number(const char *text, size_t len, uint64_t *out);
int script_number(struct script *s, const char *what, uint64_t *out);
int script_span(struct script *s, uint64_t *start, uint64_t *duration);
int script_string(struct script *s, const struct token *t, uint64_t *id);
int script_add_lane(
	struct script *s, const struct token *name, const struct vpt_lane *row, uint64_t *key);
int script_lane(struct script *s, uint64_t *key);
int script_word(const struct token *t, enum vpt_unit unit, uint64_t *out);
int script_value(struct script *s, const struct vpt_column_desc *column, uint64_t *out);

/* script.c: the statements. */
int script_parse(struct script *s);

#endif
