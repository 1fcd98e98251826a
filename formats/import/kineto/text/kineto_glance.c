/* kineto_glance.c - the text of an event as the profiler usually writes it.
 *
 * Most events of a trace with Python calls are such calls, so these must cost little more than finding
 * their end. */
#include "formats/import/kineto/text/kineto_glance.h"

#include <string.h>

static int is_space(int c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A string without escapes and control characters at *p, which moves past it; text NULL if none ends before `end`. */
static struct vpt_text glance_string(const unsigned char **p, const unsigned char *end)
{
	struct vpt_text text = {NULL, 0};
	const unsigned char *begin, *q;

	if (*p == end || **p != '"')
		return text;
	begin = q = *p + 1;
	while (q < end && *q != '"' && *q != '\\' && *q >= 0x20)
		q++;
	if (q == end || *q != '"')
		return text;
	text.text = (const char *)begin;
	text.len = (size_t)(q - begin);
	*p = q + 1;
	return text;
}

/* Accepts one character, with white space around it. */
static int glance_char(const unsigned char **p, const unsigned char *end, char wanted)
{
	const unsigned char *q = *p;

	while (q < end && is_space(*q))
		q++;
	if (q == end || *q++ != wanted)
		return 0;
	while (q < end && is_space(*q))
		q++;
	*p = q;
	return 1;
}

/* Reads one `"key": "text"` with the expected key; text NULL if something else is there. */
static struct vpt_text glance_member(
	const unsigned char **p, const unsigned char *end, const char *key)
{
	struct vpt_text name = glance_string(p, end), none = {NULL, 0};

	if (!name.text || name.len != strlen(key) || memcmp(name.text, key, name.len))
		return none;
	return glance_char(p, end, ':') ? glance_string(p, end) : none;
}

void vpt_kineto_glance_head(const unsigned char *p, const unsigned char *end,
	struct vpt_text *phase, struct vpt_text *category)
{
	*phase = *category = (struct vpt_text){NULL, 0};
	if (!glance_char(&p, end, '{'))
		return;
	*phase = glance_member(&p, end, "ph");
	if (phase->text && glance_char(&p, end, ','))
		*category = glance_member(&p, end, "cat");
}

/* A decimal without an exponent, as JSON allows it. */
static struct vpt_text glance_number(const unsigned char **p, const unsigned char *end)
{
	const unsigned char *q = *p, *whole;
	struct vpt_text text = {(const char *)*p, 0};

	q += q < end && *q == '-';
	for (whole = q; q < end && vpt_is_digit((char)*q);)
		q++;
	if (q == whole || (*whole == '0' && q > whole + 1))
		return (struct vpt_text){NULL, 0};
	if (q < end && *q == '.') {
		for (whole = ++q; q < end && vpt_is_digit((char)*q);)
			q++;
		if (q == whole)
			return (struct vpt_text){NULL, 0};
	}
	if (q == end || !(is_space(*q) || *q == ',' || *q == '}'))
		return (struct vpt_text){NULL, 0};
	text.len = (size_t)(q - *p);
	*p = q;
	return text;
}

static const struct key {
	const char *name;
	uint8_t len, in_args, is_text;
} keys[VPT_KINETO_KEYS] = {
	[VPT_KINETO_NAME] = {"name", 4, 0, 1},
	[VPT_KINETO_PID] = {"pid", 3, 0, 0},
	[VPT_KINETO_TID] = {"tid", 3, 0, 0},
	[VPT_KINETO_TS] = {"ts", 2, 0, 0},
	[VPT_KINETO_DUR] = {"dur", 3, 0, 0},
	[VPT_KINETO_PYTHON_ID] = {"Python id", 9, 1, 0},
	[VPT_KINETO_PYTHON_PARENT] = {"Python parent id", 16, 1, 0},
	[VPT_KINETO_CALL_FROM] = {"CallFrom", 8, 1, 1},
};

static unsigned find_key(struct vpt_text name, int in_args)
{
	unsigned k;

	for (k = 0; k < VPT_KINETO_KEYS; k++)
		if (keys[k].len == name.len && keys[k].in_args == in_args &&
			!memcmp(keys[k].name, name.text, name.len))
			break;
	return k;
}

/* Reads a string, a number or null. A known member must have a value of its type. */
static int glance_value(
	const unsigned char **p, const unsigned char *end, unsigned k, struct vpt_kineto_flat *out)
{
	struct vpt_text text = {NULL, 0};
	int is_text = *p < end && **p == '"';

	if (end - *p >= 4 && !memcmp(*p, "null", 4)) {
		*p += 4;
	} else {
		text = is_text ? glance_string(p, end) : glance_number(p, end);
		if (!text.text || (k < VPT_KINETO_KEYS && is_text != keys[k].is_text))
			return 0;
	}
	if (k < VPT_KINETO_KEYS)
		out->values[k] = text;
	return 1;
}

/* Reads the object at *p. An event may hold one other object, its args. */
static int glance_object(
	const unsigned char **p, const unsigned char *end, int in_args, struct vpt_kineto_flat *out)
{
	int had_args = in_args;

	if (!glance_char(p, end, '{'))
		return 0;
	do {
		struct vpt_text name = glance_string(p, end);

		if (!name.text || !glance_char(p, end, ':'))
			return 0;
		if (!in_args && name.len == 4 && !memcmp(name.text, "args", 4)) {
			if (had_args++ || !glance_object(p, end, 1, out))
				return 0;
		} else if (!glance_value(p, end, find_key(name, in_args), out)) {
			return 0;
		}
	} while (glance_char(p, end, ','));
	return glance_char(p, end, '}');
}

int vpt_kineto_glance_event(
	const unsigned char **p, const unsigned char *end, struct vpt_kineto_flat *out)
{
	const unsigned char *q = *p;

	*out = (struct vpt_kineto_flat){0};
	if (!glance_object(&q, end, 0, out))
		return 0;
	*p = q;
	return 1;
}
