/* kineto_value.h - reads single JSON values as integers and text. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_VALUE_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_VALUE_H

#include "formats/chunk/strings.h"

#include <json-c/json.h>

#include <stddef.h>
#include <stdint.h>

enum vpt_kineto_number {
	VPT_KINETO_EXACT,
	VPT_KINETO_ROUNDED, /* the value was rounded, half to even */
	VPT_KINETO_ABSENT,  /* no value, or null */
	VPT_KINETO_BAD      /* not a number, not finite, or out of range for int64_t */
};

/* A decimal number times 10^scale as an integer, computed on the text: "1.5" at scale 3 is 1500.
 * Accepts a sign, a point and an exponent. Sets *value unless BAD. */
enum vpt_kineto_number vpt_kineto_decimal(const char *text, size_t len, int scale, int64_t *value);

/* The same for a JSON number, or a string that holds one. */
enum vpt_kineto_number vpt_kineto_number(struct json_object *object, int scale, int64_t *value);

/* Member `key` of an object; NULL if there is none or `object` is not an object. */
struct json_object *vpt_kineto_member(struct json_object *object, const char *key);

/* The bytes of a string, borrowed; text NULL if `object` is not a string. */
struct vpt_text vpt_kineto_text(struct json_object *object);

/* Whether this is valid UTF-8 without control characters. */
int vpt_kineto_text_is_clean(struct vpt_text text);

#endif
