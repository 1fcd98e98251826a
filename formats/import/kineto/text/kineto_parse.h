/* kineto_parse.h - parses one JSON value where it stands.
 *
 *	{"name": "mm", "grid": [1, 2]}      values, each before those inside it:
 *	                                    object, name "mm", name "grid" array, 1, 2
 *
 * Texts and numbers stay in the text of the file; only strings with escapes are copied. Accepted is what
 * json-c accepts, since that read these files for years: comments, 'single quotes', a comma too many, True, NaN
 * and Infinity, leading zeros, any bytes in strings. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_PARSE_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_PARSE_H

#include "formats/import/kineto/text/kineto_value.h"

#include <stddef.h>

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

#endif
