/* fields.h - the contents of the JSON report: a table of fields for each struct of report.h.
 *
 * A field is a key, the type and offset of its value in the struct, its unit and its meaning. From
 * these tables json_report.c writes a report and json_schema.c its documentation, so a new key is one line:
 *
 *	#define ROW struct vpa_sync_row
 *	static const struct vpa_field sync_fields[] = {
 *		{"call", TEXT(call), NULL, "name of the CUDA call"},
 *		{"total_ns", U64(total_ns), "ns", "time in the call, summed over all threads"},
 *	};
 *	static TABLE(sync, "sync", "one CUDA call that waits", sync_fields);
 *	#undef ROW
 *
 * Keys are public. They keep their name, meaning and order; new ones come last in their object. A key
 * is always present, unless it is optional, and its help then says when; an unknown value is null, and
 * the key's help says when. A key names its unit if it has one. */
#ifndef VPA_ANALYSIS_RENDER_FIELDS_FIELDS_H
#define VPA_ANALYSIS_RENDER_FIELDS_FIELDS_H

#include "analysis/base/choices.h"
#include "analysis/render/fields/view.h"
#include "analysis/report/report.h"
#include "formats/io/json_writer.h"

enum vpa_field_type {
	VPA_FIELD_U64,      /* integers, named like the member's type in C */
	VPA_FIELD_SIZE,     /* size_t */
	VPA_FIELD_UNSIGNED, /* unsigned */
	VPA_FIELD_I64,
	VPA_FIELD_FLAG,   /* int: false or true */
	VPA_FIELD_REAL,   /* double, with three decimals */
	VPA_FIELD_RATE,   /* double, with six */
	VPA_FIELD_TEXT,   /* const char * */
	VPA_FIELD_PLACE,  /* struct vpa_place, written as its text; NULL is expected */
	VPA_FIELD_CHARS,  /* char[] */
	VPA_FIELD_CHOICE, /* an enum, written as the name that `choice` returns */
	VPA_FIELD_WORD,   /* the same, where new names may come: to the schema it is a text */
	VPA_FIELD_ID, /* text; written as a number if it is one, so that ids compare as numbers */
	VPA_FIELD_TEXTS,   /* const char ** and a count */
	VPA_FIELD_BUCKETS, /* uint64_t[VPA_GAP_BUCKETS] */
	VPA_FIELD_OBJECT,  /* a nested struct, or other fields of the same struct */
	VPA_FIELD_POINTER, /* a pointer to one struct; NULL is null */
	VPA_FIELD_ROWS,    /* a pointer to structs and a count */
	VPA_FIELD_SAME,    /* a nested struct whose fields are written as fields of this one */
	VPA_FIELD_MAP,     /* texts under keys not known in advance: `put` writes them */
	VPA_FIELD_NOTHING  /* an empty array: reserved for a future analysis */
};

/* Which values are written as null, besides NULL itself. */
enum vpa_null {
	VPA_NULL_NEVER,
	VPA_NULL_TEXT, /* NULL is expected */
	VPA_NULL_ZERO,
	VPA_NULL_NEGATIVE,
	VPA_NULL_NOT_POSITIVE,
	VPA_NULL_MAX,  /* UINT64_MAX */
	VPA_NULL_COUNT /* an object whose `count` member is 0; in texts, each NULL is left out */
};

/* The row being written, for fields that are not plain members. */
struct vpa_at {
	const struct vpa_report *report;
	const void *row;
	const struct vpa_at *above; /* the enclosing row; NULL: none */
};

/* Computed values that are undone where a report is read back; others are skipped. */
enum vpa_undone { VPA_UNDONE_NOT, VPA_UNDONE_WINDOW, VPA_UNDONE_CAPABILITY };

/* What the page's cells of a field are, any of these. */
enum vpa_look {
	VPA_LOOK_SINGLE = 1, /* single words */
	VPA_LOOK_KERNEL = 2, /* names of kernels, which break anywhere */
	VPA_LOOK_FAMILY = 4, /* of kernels: has a colour */
	VPA_LOOK_CAUSE = 8,  /* of idle time: likewise */
	VPA_LOOK_STATUS = 16,
	VPA_LOOK_SIDE = 32, /* of a comparison */
	VPA_LOOK_ID = 64,
	VPA_LOOK_UNIT = 128,    /* of numbers in the same row */
	VPA_LOOK_PROCESS = 256, /* one that is not known has the number -1 */
	VPA_LOOK_MOMENT = 512   /* on the trace clock, whose digits say nothing by themselves */
};

enum { VPA_FIELD_BYTES = 24 };

#define VPA_REPORT_SCHEMA "vptrace.report/1"

struct vpa_field {
	const char *key; /* NULL: VPA_FIELD_SAME */
	enum vpa_field_type type;
	enum vpa_null null;
	const struct vpa_fields *fields; /* of objects, pointers and rows */
	size_t count;                    /* offset of the count member */
	size_t bytes;                    /* size of the struct that `fields` describe */
	size_t offset;                   /* of the value; passed to `text` to say which one */
	const char *unit;                /* NULL: none */
	const char *help;
	const char *head; /* of its column on the page; NULL: the key says it */
	unsigned look;    /* of its cells on the page, of enum vpa_look; 0: as its type */
	int is_change;    /* 1: a difference, so one above 0 has a sign too */
	int is_gpu;       /* 1: CUDA's number of a GPU */
	enum vpa_undone undone;
	const char *prefix; /* of the metadata's keys, which those of a map lack; NULL: none */
	/* Whether the value is known; NULL: always. */
	int (*known)(const struct vpa_at *at);
	int optional; /* 1: where the value is not known, the key is absent instead of null */
	/* Compute a value that is not a member: integers, flags and choices; texts, which may use
	 * `bytes`. */
	uint64_t (*number)(const struct vpa_at *at);
	const char *(*text)(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES]);
	/* The name of value `i`, from 0; NULL: none. */
	const char *(*choice)(size_t i);
	/* Writes the members of a map. 0 or VPT_ENOMEM. */
	int (*put)(const struct vpa_at *at, struct vpt_json *j);
	/* Of a map that has a column on the page: the key of member `i`, from 0, and its value; NULL: no more. */
	const char *(*member)(const struct vpa_at *at, size_t i, const char **value);
};

/* The fields of a struct. */
struct vpa_fields {
	const char *name; /* of the object, in the schema */
	const char *help;
	const struct vpa_field *at;
	size_t count;
	size_t bytes; /* of the struct */
};

/* ---- writing ---- */

/* Writes the row of `whole` as a JSON object. 0, the sink's error or VPT_ENOMEM. */
int vpa_fields_json(const struct vpa_fields *fields, const struct vpa_at *whole,
	struct vpt_sink *sink, struct vpt_err *err);
/* Documents the objects that vpa_fields_json() writes: as a JSON Schema with this id, and as a list for people. */
int vpa_fields_schema(const struct vpa_fields *fields, const char *id, struct vpt_sink *sink,
	struct vpt_err *err);
int vpa_fields_list(const struct vpa_fields *fields, const char *id, struct vpt_sink *sink,
	struct vpt_err *err);

/* ---- reading ---- */

enum vpa_value_kind {
	VPA_VALUE_NULL,
	VPA_VALUE_UNSIGNED,
	VPA_VALUE_SIGNED,
	VPA_VALUE_FLAG,
	VPA_VALUE_REAL,
	VPA_VALUE_TEXT
};

struct vpa_value {
	enum vpa_value_kind kind;
	uint64_t number; /* UNSIGNED; of FLAG 0 or 1 */
	int64_t integer; /* SIGNED */
	double real;
	int decimals;     /* that JSON has of `real` */
	const char *text; /* borrowed from the report, or from `bytes` */
	char bytes[VPA_FIELD_BYTES];
};

/* Reads a field with one value: a number, a flag or a text. Returns 0, and a null, for any other type.
 * Ignores `known`: see vpa_field_is_known(). Do not copy *out, since it may point into itself. */
int vpa_field_read(const struct vpa_at *at, const struct vpa_field *f, struct vpa_value *out);

static inline int vpa_field_is_known(const struct vpa_at *at, const struct vpa_field *f)
{
	if (f->type == VPA_FIELD_POINTER &&
		!*(const void *const *)(const void *)((const char *)at->row + f->offset))
		return 0;
	return !f->known || f->known(at);
}

/* The count of a field of rows or texts, or what decides whether an object is there. */
static inline size_t vpa_field_count(const struct vpa_at *at, const struct vpa_field *f)
{
	return *(const size_t *)(const void *)((const char *)at->row + f->count);
}

/* Whether a value is written as an object: inside the row, or behind a pointer. */
static inline int vpa_field_is_object(const struct vpa_field *f)
{
	return f->type == VPA_FIELD_OBJECT || f->type == VPA_FIELD_POINTER;
}

/* Whether these are fields of the same struct, see SAME_ROW(). */
static inline int vpa_field_is_same_row(const struct vpa_fields *fields, const struct vpa_field *f)
{
	return f->type == VPA_FIELD_SAME && !f->offset && f->bytes == fields->bytes;
}

/* The bytes of the row that the value takes, at `offset`: of rows and pointers those of the pointer; 0: the value is not a
 * member. */
size_t vpa_field_bytes(const struct vpa_field *f);

/* The value of an object, of a pointer that is not NULL, or a field of rows: the object, or row `i`. */
struct vpa_at vpa_field_inside(const struct vpa_at *at, const struct vpa_field *f);
struct vpa_at vpa_field_row(const struct vpa_at *at, const struct vpa_field *f, size_t i);

/* ---- finding ---- */

enum { VPA_WAY_OBJECTS = 6 };

/* The way to a value of a row: the objects around it, outermost first, and its field. */
struct vpa_way {
	const struct vpa_field *field, *through[VPA_WAY_OBJECTS];
	size_t depth;
};

/* The field of this key, of `len` characters, among the fields and those of SAME_ROW(); NULL: there is none. */
const struct vpa_field *vpa_field_find(
	const struct vpa_fields *fields, const char *key, size_t len);
/* A row of a path, "attention.backends", with its fields; if it is inside another row, that one and its fields, else NULL. */
struct vpa_row_at {
	const struct vpa_at *row, *owner;
	const struct vpa_fields *fields, *owner_fields;
};

/* Calls `visit` for each row of the path below an object with these fields. */
void vpa_rows_walk(const struct vpa_at *object, const struct vpa_fields *fields, const char *path,
	void (*visit)(void *ctx, const struct vpa_row_at *row), void *ctx);

/* The fields of the rows of a path; NULL: there are no such rows. *owner: the field of the rows around them; NULL: they
 * are inside no others. */
const struct vpa_fields *vpa_fields_at(
	const struct vpa_fields *fields, const char *path, const struct vpa_field **owner);
/* The way to "host.total_ns" in a row with these fields. Returns 0: there is no such key. */
int vpa_way_find(const struct vpa_fields *fields, const char *key, struct vpa_way *out);
/* Reads the value; *inside: the object that has it. Returns 0, and a null, if it or an object around it is not known. A field
 * without one value is a null too. */
int vpa_way_read(const struct vpa_at *row, const struct vpa_way *way, struct vpa_at *inside,
	struct vpa_value *out);

/* ---- functions of a row in one line ---- */

/* Defines `name` for .known, or for .number: an expression of `row`, a const `type` *, or of `at`. `type` may be void. */
#define VPA_KNOWN(name, type, expression)  VPA_OF_ROW(int, name, type, expression)
#define VPA_NUMBER(name, type, expression) VPA_OF_ROW(uint64_t, name, type, expression)
#define VPA_OF_ROW(result, name, type, expression)                                                 \
	static result name(const struct vpa_at *at)                                                \
	{                                                                                          \
		const type *row = at->row;                                                         \
                                                                                                   \
		(void)row;                                                                         \
		return expression;                                                                 \
	}                                                                                          \
	_Static_assert(1, "takes the semicolon")

/* ---- macros that name the members of ROW and check their types ---- */

#define AT(ctype, m)       (offsetof(ROW, m) + _Generic(((ROW *)0)->m, ctype : 0))
#define U64(m)             .type = VPA_FIELD_U64, .offset = AT(uint64_t, m)
#define KNOWN(m)           .type = VPA_FIELD_U64, .null = VPA_NULL_ZERO, .offset = AT(uint64_t, m)
#define KNOWN_END(m)       .type = VPA_FIELD_U64, .null = VPA_NULL_MAX, .offset = AT(uint64_t, m)
#define SIZE(m)            .type = VPA_FIELD_SIZE, .offset = AT(size_t, m)
#define UNSIGNED(m)        .type = VPA_FIELD_UNSIGNED, .offset = AT(unsigned, m)
#define KNOWN_COUNT(m)     .type = VPA_FIELD_UNSIGNED, .null = VPA_NULL_ZERO, .offset = AT(unsigned, m)
#define I64(m)             .type = VPA_FIELD_I64, .offset = AT(int64_t, m)
#define NATURAL(m)         .type = VPA_FIELD_I64, .null = VPA_NULL_NEGATIVE, .offset = AT(int64_t, m)
#define WRAPPED(m)         .type = VPA_FIELD_I64, .offset = AT(uint64_t, m) /* below 0 where it wrapped */
#define FLAG(m)            .type = VPA_FIELD_FLAG, .offset = AT(int, m)
#define KNOWN_FLAG(m)      .type = VPA_FIELD_FLAG, .null = VPA_NULL_NEGATIVE, .offset = AT(int, m)
#define REAL(m)            .type = VPA_FIELD_REAL, .offset = AT(double, m)
#define POSITIVE(m)        .type = VPA_FIELD_REAL, .null = VPA_NULL_NOT_POSITIVE, .offset = AT(double, m)
#define SHARE(m)           .type = VPA_FIELD_RATE, .offset = AT(double, m)
#define GPU(m)             .is_gpu = 1, I64(m)
#define KNOWN_GPU(m)       .is_gpu = 1, NATURAL(m)
#define CHANGE(m)          .is_change = 1, I64(m)
#define CHANGE_SHARE(m)    .is_change = 1, SHARE(m)
#define RATE(m)            .type = VPA_FIELD_RATE, .null = VPA_NULL_NEGATIVE, .offset = AT(double, m)
#define TEXT(m)            .type = VPA_FIELD_TEXT, .offset = AT(const char *, m)
#define TEXT_OR_NULL(m)    .type = VPA_FIELD_TEXT, .null = VPA_NULL_TEXT, .offset = AT(const char *, m)
#define PLACE(m)           .type = VPA_FIELD_PLACE, .null = VPA_NULL_TEXT, .offset = AT(struct vpa_place, m)
#define CHARS(m)           .type = VPA_FIELD_CHARS, .offset = AT(char *, m)
#define CHOICE(e, m)       .type = VPA_FIELD_CHOICE, .offset = AT(enum e, m)
#define WORD(e, m)         .type = VPA_FIELD_WORD, .offset = AT(enum e, m)
#define WORD_OR_NULL(e, m) .type = VPA_FIELD_WORD, .null = VPA_NULL_ZERO, .offset = AT(enum e, m)
#define NUMBERED(m)        .type = VPA_FIELD_WORD, .offset = AT(unsigned, m) /* of events.def */
#define BASE(m)            .choice = vpa_base_choice, WORD(vpa_base, m)
#define BASE_OR_NULL(m)    .choice = vpa_base_choice, WORD_OR_NULL(vpa_base, m)
#define FAMILY(m)          .choice = vpa_family_choice, WORD(vpa_family, m)
#define BACKEND(m)         .choice = vpa_backend_choice, WORD(vpa_backend, m)
#define PRECISION(m)       .choice = vpa_precision_choice, WORD(vpa_precision, m)
#define BACKEND_OR_NULL(m) .choice = vpa_backend_choice, WORD_OR_NULL(vpa_backend, m)
#define CAUSE(m)           .choice = vpa_cause_choice, CHOICE(vpa_cause, m)
#define SCOPE(m)           .choice = vpa_scope_choice, WORD(vpa_scope_kind, m)
#define BUCKETS(m)         .type = VPA_FIELD_BUCKETS, .offset = AT(uint64_t *, m)
#define TEXTS(m, n)        .type = VPA_FIELD_TEXTS, .count = AT(size_t, n), .offset = AT(const char **, m)
#define SOME_TEXTS(m, n)                                                                           \
	.type = VPA_FIELD_TEXTS, .null = VPA_NULL_COUNT, .count = AT(size_t, n),                   \
	.offset = AT(const char **, m)
#define ROWS(f, m, n)                                                                              \
	.type = VPA_FIELD_ROWS, .fields = &(f), .bytes = sizeof(*((ROW *)0)->m),                   \
	.count = AT(size_t, n), .offset = offsetof(ROW, m)
#define INSIDE(t, f, m)                                                                            \
	.type = VPA_FIELD_##t, .fields = &(f), .bytes = sizeof(((ROW *)0)->m),                     \
	.offset = offsetof(ROW, m)
#define MEMBER(f, m) INSIDE(OBJECT, f, m)
#define SAME(f, m)   INSIDE(SAME, f, m)
#define SAME_ROW(f)                                                                                \
	.type = VPA_FIELD_SAME, .fields = &(f), .bytes = sizeof(ROW),                              \
	.offset = 0 /* of this struct too */
#define POINTER(f, m)                                                                              \
	.type = VPA_FIELD_POINTER, .fields = &(f), .bytes = sizeof(*((ROW *)0)->m),                \
	.offset = offsetof(ROW, m)
#define PART(f)        .type = VPA_FIELD_OBJECT, .fields = &(f), .bytes = sizeof(ROW), .offset = 0
#define SPREAD(m)      INSIDE(OBJECT, vpa_fields_spread, m)
#define SOME_SPREAD(m) .null = VPA_NULL_COUNT, .count = AT(uint64_t, m.count), SPREAD(m)
#define COMPUTED(t)    .type = VPA_FIELD_##t, .offset = 0 /* by `number` or `text` */
/* Defines `fields`, those of the struct ROW, from a table. */
#define TABLE(fields, name, help, table) const struct vpa_fields fields = FIELDS(name, help, table)
#define FIELDS(name, help, table)                                                                  \
	{                                                                                          \
		name, help, table, sizeof(table) / sizeof((table)[0]), sizeof(ROW)                 \
	}

/* ---- the tables ---- */

extern const struct vpa_fields vpa_fields_report; /* fields_report.c */
extern const struct vpa_fields vpa_fields_family, vpa_fields_kernel, vpa_fields_attention,
	vpa_fields_range, vpa_fields_series, vpa_fields_copy, vpa_fields_sync, vpa_fields_chains,
	vpa_fields_precision;                                           /* fields_work.c */
extern const struct vpa_fields vpa_fields_finding, vpa_fields_forecast; /* fields_findings.c */
extern const struct vpa_fields vpa_fields_system;                       /* fields_system.c */
extern const struct vpa_fields vpa_fields_request, vpa_fields_stage;    /* fields_pipeline.c */
extern const struct vpa_fields vpa_fields_block_part;                   /* the same */
extern const struct vpa_fields vpa_fields_inferred, vpa_fields_marked, vpa_fields_rival,
	vpa_fields_step_kinds;                                        /* fields_steps.c */
extern const struct vpa_fields vpa_fields_counter;                    /* fields_counters.c */
extern const struct vpa_fields vpa_fields_top_line, vpa_fields_lines; /* fields_lines.c */
extern const struct vpa_fields vpa_fields_expert; /* fields_expert.c: tables of the report */
extern const struct vpa_fields vpa_fields_queue, vpa_fields_short_run, vpa_fields_collective,
	vpa_fields_host_stops, vpa_fields_pauses, vpa_fields_trials; /* fields_launches.c */
extern const struct vpa_fields vpa_fields_said;                      /* fields_said.c: the same */

/* Of struct vpa_durations: all fields, and all without the number of samples and their sum. */
extern const struct vpa_fields vpa_fields_spread, vpa_fields_spread_values;

/* Whether a key of the metadata is one of those that have a key of their own in vpa_fields_system. */
int vpa_system_has(const char *key);
/* The key of the metadata that says a text of vpa_fields_system. */
const char *vpa_system_key(const struct vpa_field *f);

/* The names of enum vpa_cause, "sync" etc., for CHOICE(vpa_cause, ...). */
const char *vpa_cause_choice(size_t i);
const char *vpa_part_choice(size_t i);           /* of enum vpa_block_part_kind */
const char *vpa_family_choice(size_t i);         /* of enum vpa_family */
const char *vpa_backend_choice(size_t i);        /* of enum vpa_backend */
const char *vpa_precision_choice(size_t i);      /* of enum vpa_precision */
const char *vpa_scope_choice(size_t i);          /* of enum vpa_scope_kind */
const char *vpa_finding_status_choice(size_t i); /* of enum vpa_finding_status */
const char *vpa_finding_choice(size_t i);        /* of enum vpa_finding_id */
const char *vpa_base_choice(size_t i);           /* of enum vpa_base */
/* The number of a choice that is always the first one. */
uint64_t vpa_first_choice(const struct vpa_at *at);

#endif
