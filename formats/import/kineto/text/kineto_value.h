/* kineto_value.h - reads single JSON values as integers and text.
 *
 * A value that is null reads as one that is not there. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_VALUE_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_VALUE_H

#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum vpt_kineto_type {
	VPT_KINETO_NULL,
	VPT_KINETO_BOOLEAN,
	VPT_KINETO_INTEGER,
	VPT_KINETO_DECIMAL,
	VPT_KINETO_NOT_FINITE, /* NaN, or an infinity */
	VPT_KINETO_STRING,
	VPT_KINETO_ARRAY,
	VPT_KINETO_OBJECT
};

/* Borrowed from a parser and its text. Those inside it follow it in memory. */
struct vpt_kineto_value {
	/* Of a string, its bytes; of others, as they stand in the file. No digit follows a number or string. */
	const char *text;
	const char *name; /* of an object's member */
	uint32_t len, name_len;
	uint32_t
		span; /* values that follow, itself included, up to the next that is not inside it */
	uint8_t type;
};

/* The first value in an array or object; NULL: there is none, or this is neither. */
static inline const struct vpt_kineto_value *vpt_kineto_first(const struct vpt_kineto_value *outer)
{
	return outer && outer->type >= VPT_KINETO_ARRAY && outer->span > 1 ? outer + 1 : NULL;
}

/* The one after it; NULL: it is the last. */
static inline const struct vpt_kineto_value *vpt_kineto_next(
	const struct vpt_kineto_value *outer, const struct vpt_kineto_value *inner)
{
	inner += inner->span;
	return inner < outer + outer->span ? inner : NULL;
}

/* A member of an object, the last one of this name; NULL: it has none, or is no object. */
static inline const struct vpt_kineto_value *vpt_kineto_find(
	const struct vpt_kineto_value *object, const char *name)
{
	const struct vpt_kineto_value *v = vpt_kineto_first(object), *found = NULL;
	const size_t len = strlen(name);

	for (; v; v = vpt_kineto_next(object, v))
		if (v->name_len == len && v->name && (!len || *v->name == *name) &&
			!memcmp(v->name, name, len))
			found = v;
	return found;
}

/* The same; NULL if it is null, too. */
static inline const struct vpt_kineto_value *vpt_kineto_member(
	const struct vpt_kineto_value *object, const char *name)
{
	const struct vpt_kineto_value *found = vpt_kineto_find(object, name);

	return found && found->type != VPT_KINETO_NULL ? found : NULL;
}

/* An element of an array, counted from 0; NULL: it has none, or is no array. */
const struct vpt_kineto_value *vpt_kineto_element(
	const struct vpt_kineto_value *array, size_t index);

/* ---- numbers ---- */

enum vpt_kineto_number {
	VPT_KINETO_EXACT,
	VPT_KINETO_ROUNDED, /* the value was rounded, half to even */
	VPT_KINETO_ABSENT,  /* no value, or null */
	VPT_KINETO_BAD      /* not a number, not finite, or out of range for int64_t */
};

/* A decimal number times 10^scale as an integer, computed on the text: "1.5" at scale 3 is 1500.
 * Accepts a sign, a point and an exponent. Sets *value unless BAD. */
enum vpt_kineto_number vpt_kineto_decimal(const char *text, size_t len, int scale, int64_t *value);

/* Whether a text is such a number. */
int vpt_kineto_is_decimal(const char *text, size_t len);

/* The same for a JSON number, or a string that holds one. */
enum vpt_kineto_number vpt_kineto_number(
	const struct vpt_kineto_value *value, int scale, int64_t *out);

/* The nearest double of a number, or a string that is one; true is 1, anything else 0. */
double vpt_kineto_double(const struct vpt_kineto_value *value);

/* ---- text ---- */

/* The bytes of a string, borrowed; text NULL if it is none. */
struct vpt_text vpt_kineto_text(const struct vpt_kineto_value *value);

/* Whether this is valid UTF-8 without control characters. */
int vpt_kineto_text_is_clean(struct vpt_text text);

/* ---- kineto_collective.c: what PyTorch's profiler says of a collective, in the arguments of "record_param_comms" ---- */

enum { VPT_KINETO_COLLECTIVE_BYTES = 1024 };

/* Writes an annotation for the event's arguments, which may be NULL:
 *
 *	{"collective":"allreduce","group":"0","ranks":"[0, 1]","message_bytes":2048}
 *
 * A member of which nothing is known, or whose text would need escapes, is left out; of many ranks the list is replaced by
 * their number. Returns its length; 0: they name no collective. Any thread. */
size_t vpt_kineto_collective(
	const struct vpt_kineto_value *args, char text[VPT_KINETO_COLLECTIVE_BYTES]);

#endif
