/* place.h - where in the program something was: in a range, before one, or in several.
 *
 *	kind      text           vpa_place_range()
 *	IN        "decode"       "decode"
 *	IN        "CPU operators mul, div_"  what PyTorch ran on the CPU outside of other ranges
 *	IN        NULL           NULL: outside all ranges
 *	BEFORE    "before step"  "step": no range was open most of the time, but this one was around the next launch
 *	SEVERAL   "(other)"      NULL: small places summed up, which is no place and no evidence
 *
 * The text is what reports print. A pass over a trace never takes it apart: a range may be named "before decode". JSON says the
 * kind where its text alone would be read as another one. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_PLACE_H
#define VPA_ANALYSIS_REPORT_ROWS_PLACE_H

#include "formats/base/text.h"

#include <stddef.h>
#include <string.h>

enum vpa_place_kind { VPA_PLACE_IN, VPA_PLACE_BEFORE, VPA_PLACE_SEVERAL };

/* Zeros: outside all ranges. */
struct vpa_place {
	enum vpa_place_kind kind;
	const char *text;
};

#define VPA_SEVERAL_TEXT  "(other)"
#define VPA_BEFORE_TEXT   "before "
#define VPA_OPERATOR_TEXT "CPU operator" /* before " NAME" or "s NAME, NAME" */

static inline struct vpa_place vpa_place_several(void)
{
	return (struct vpa_place){VPA_PLACE_SEVERAL, VPA_SEVERAL_TEXT};
}

/* "in", "before", "several"; NULL: there is no such kind. */
static inline const char *vpa_place_kind_choice(size_t i)
{
	static const char *const names[] = {"in", "before", "several"};

	return i <= VPA_PLACE_SEVERAL ? names[i] : NULL;
}

/* The place that a report has written as this text alone; NULL: outside all ranges. Only for JSON. */
static inline struct vpa_place vpa_place_of_text(const char *text)
{
	if (!text || strncmp(text, VPA_BEFORE_TEXT, strlen(VPA_BEFORE_TEXT)) == 0)
		return (struct vpa_place){text ? VPA_PLACE_BEFORE : VPA_PLACE_IN, text};
	return (struct vpa_place){
		strcmp(text, VPA_SEVERAL_TEXT) == 0 ? VPA_PLACE_SEVERAL : VPA_PLACE_IN, text};
}

/* Whether its text is read as that of another kind. */
static inline int vpa_place_is_misread(const struct vpa_place *p)
{
	return vpa_place_of_text(p->text).kind != p->kind;
}

/* What JSON adds to a place's key for that of its kind: "range_kind". */
#define VPA_PLACE_KIND "_kind"
enum { VPA_PLACE_KEY = 64 };

/* The name of the range; NULL: none, or several. */
static inline const char *vpa_place_range(const struct vpa_place *p)
{
	if (p->kind == VPA_PLACE_SEVERAL)
		return NULL;
	return p->text && p->kind == VPA_PLACE_BEFORE ? p->text + strlen(VPA_BEFORE_TEXT) : p->text;
}

/* Orders places by their text, and equal texts by kind. */
static inline int vpa_place_compare(const struct vpa_place *a, const struct vpa_place *b)
{
	int order = vpt_text_order(a->text, b->text);

	return order ? order : (int)a->kind - (int)b->kind;
}

#endif
