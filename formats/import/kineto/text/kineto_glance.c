/* kineto_glance.c - how the text of an event begins. */
#include "formats/import/kineto/text/kineto_json.h"

#include "formats/import/kineto/text/kineto_scan.h"

/* What follows one character, with white space around it; NULL: another one is there. */
static inline const unsigned char *after(const unsigned char *p, char wanted)
{
	p = vpt_scan_space(p);
	return *p == (unsigned char)wanted ? vpt_scan_space(p + 1) : NULL;
}

/* What follows a string without escapes; NULL: there is none. */
static inline const unsigned char *string(const unsigned char *p, struct vpt_text *text)
{
	const unsigned char *end;

	if (*p != '"')
		return NULL;
	end = vpt_scan_string(p + 1, '"');
	*text = (struct vpt_text){(const char *)p + 1, (size_t)(end - p - 1)};
	return *end == '"' ? end + 1 : NULL;
}

/* Reads `"key": "text"` if that has the expected key. */
static inline const unsigned char *member(
	const unsigned char *p, const char *key, struct vpt_text *text)
{
	struct vpt_text name;

	p = string(p, &name);
	if (!p || !vpt_text_is(name, key))
		return NULL;
	p = after(p, ':');
	return p ? string(p, text) : NULL;
}

void vpt_kineto_glance(const unsigned char *p, struct vpt_text *phase, struct vpt_text *category)
{
	struct vpt_text text;

	*phase = *category = (struct vpt_text){NULL, 0};
	p = after(p, '{');
	p = p ? member(p, "ph", &text) : NULL;
	if (!p)
		return;
	*phase = text;
	p = after(p, ',');
	if (p && member(p, "cat", &text))
		*category = text;
}
