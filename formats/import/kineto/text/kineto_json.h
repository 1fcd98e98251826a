/* kineto_json.h - the text of a profiler's file as JSON: one value at a time, and past what is no JSON.
 *
 *	{"traceEvents": [{...}, {"name": "a "b""}, {"ph": ...
 *	                        ^ begin     ^ fault ^ an anchor: from here on it can be read again
 *
 * Profilers write names as they are, several processes write into one file, printf(3) writes "inf". Such
 * a value is unreadable. The caller looks for the next anchor, from right after the beginning of the value,
 * since an unreadable value may seem to have swallowed others. A byte is therefore read several times;
 * vpt_kineto_json_rewind() bounds how often, whatever the file. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_JSON_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_JSON_H

#include "formats/base/text.h"
#include "formats/import/kineto/text/kineto_bytes.h"
#include "formats/import/kineto/text/kineto_value.h"

#include <stddef.h>
#include <stdint.h>

/* ---- kineto_parse.c: parses one JSON value where it stands.
 *
 *	{"name": "mm", "grid": [1, 2]}      values, each before those inside it:
 *	                                    object, name "mm", name "grid" array, 1, 2
 *
 * Texts and numbers stay in the text of the file; only strings with escapes are copied. Accepted is what
 * json-c accepts, since that read these files for years: comments, 'single quotes', a comma too many, True, NaN
 * and Infinity, leading zeros, any bytes in strings. */

/* Of one value: it and those inside it. */
enum { VPT_KINETO_VALUES_MAX = 1 << 18 };

/* All zeros is empty. */
struct vpt_kineto_parser {
	struct vpt_kineto_value *values; /* of the newest text; the first is the outermost */
	size_t count, cap;
	char *unescaped; /* its strings that have escapes */
	size_t unescaped_size, unescaped_cap;
	const char *wrong; /* why the newest text is unreadable; NULL: it has too many values */
};

/* Parses the value at *p, and white space after it. The text ends with a NUL at `end`, after which
 * VPT_SCAN_BYTES can be read; values refer to it. *p moves past the value or to what is wrong. Returns 0,
 * VPT_END if the text ends before the value does, VPT_EDATA, or VPT_ENOMEM. */
int vpt_kineto_parse(
	struct vpt_kineto_parser *parser, const unsigned char **p, const unsigned char *end);

void vpt_kineto_parser_free(struct vpt_kineto_parser *parser);

/* The newest unreadable place. */
struct vpt_kineto_fault {
	uint64_t at;    /* offset in the text */
	char found[64]; /* what stands there, printable */
};

/* Set the bytes and err; zero the rest. */
struct vpt_kineto_json {
	struct vpt_kineto_bytes bytes;
	struct vpt_kineto_parser parser;
	struct vpt_err *err; /* of the newest failure, borrowed */
	uint64_t begin;      /* offset of the newest value */
	struct vpt_kineto_fault fault;
	uint64_t again; /* bytes read a second time so far */
};

/* All return 0, VPT_END at the end of the text, VPT_EDATA with a message for what is unreadable, or
 * VPT_EIO, VPT_ENOMEM. */

/* The next byte that is not white space, without consuming it. */
int vpt_kineto_json_peek(struct vpt_kineto_json *j, int *c);
/* Consumes it if it is `wanted`; `words` name it. */
int vpt_kineto_json_expect(struct vpt_kineto_json *j, char wanted, const char *words);
/* Reports that something else was expected at the next byte: VPT_EDATA. */
int vpt_kineto_json_wrong(struct vpt_kineto_json *j, const char *words);

/* Parses one value, which is valid until anything else is read. */
int vpt_kineto_json_value(struct vpt_kineto_json *j, const struct vpt_kineto_value **out);
/* Skips one value of any size and depth. */
int vpt_kineto_json_skip(struct vpt_kineto_json *j);

/* Goes back to the byte after the beginning of the newest value, as long as that is cheap; else stays. */
void vpt_kineto_json_rewind(struct vpt_kineto_json *j);

/* Makes the bytes available by which an event or an anchor at the next byte is recognized, or all that come. */
int vpt_kineto_json_look_ahead(struct vpt_kineto_json *j);

/* Whether an object begins at the next byte whose first name is that of an event's members. */
int vpt_kineto_json_begins_event(struct vpt_kineto_json *j);
/* Whether this is the first name in the object at an anchor. */
int vpt_kineto_json_begins_with(const struct vpt_kineto_json *j, const char *name);

enum vpt_kineto_anchor {
	VPT_KINETO_AT_EVENT = 1,  /* at the '{' of what may be an event */
	VPT_KINETO_AT_EVENTS_END, /* at the ']' of the array */
	VPT_KINETO_AT_MEMBER      /* at the '"' of a member's name */
};

struct vpt_kineto_anchors {
	const char *const *names; /* of members of the document, NULL after the last */
	int in_events;            /* whether the array of events goes on; else a member may come */
};

/* Moves to the next anchor: an event, and the end of the events or a member. VPT_END: none comes. */
int vpt_kineto_json_anchor(struct vpt_kineto_json *j, const struct vpt_kineto_anchors *wanted,
	enum vpt_kineto_anchor *anchor);

/* ---- kineto_glance.c: how the text of an event begins, without parsing it: whether it is needed at all. ---- */

/* The phase and the category of an event that begins with them, as all of the profiler do. A text of
 * NULL: not read, or there is none. The text of the file ends with a NUL. */
void vpt_kineto_glance(const unsigned char *p, struct vpt_text *phase, struct vpt_text *category);

#endif
