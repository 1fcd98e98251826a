/* annotation.c - the members of a flat JSON object, one after the other. */
#include "analysis/pipeline/annotation.h"

#include <string.h>

static void skip_space(struct vpa_annotation_reader *r)
{
	while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
		r->at++;
}

/* Whether the next byte is `c`; steps over it if so. */
static int take(struct vpa_annotation_reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c)
		return 0;
	r->at++;
	return 1;
}

/* The raw bytes between the quotes: text with escapes equals none of our words. */
static struct vpt_text take_string(struct vpa_annotation_reader *r)
{
	const char *begin;

	if (!take(r, '"')) {
		r->failed = 1;
		return (struct vpt_text){"", 0};
	}
	for (begin = r->at; r->at < r->end && *r->at != '"'; r->at++) {
		if ((unsigned char)*r->at < 0x20)
			break;
		r->at += *r->at == '\\' && r->at + 1 < r->end;
	}
	if (r->at >= r->end || *r->at != '"') {
		r->failed = 1;
		return (struct vpt_text){"", 0};
	}
	return (struct vpt_text){begin, (size_t)(r->at++ - begin)};
}

/* Reads a number, true, false or null. Returns the value of a whole number of up to 15 digits, 1
 * for true, -1 for anything else. */
static int64_t take_scalar(struct vpa_annotation_reader *r)
{
	enum { DIGITS = 15 };
	const char *begin = r->at, *p;
	int64_t value = 0;
	size_t len;

	while (r->at < r->end && *r->at && !memchr(",} \t\r\n", *r->at, 6))
		r->at++;
	len = (size_t)(r->at - begin);
	if (!len || memchr(begin, '{', len) || memchr(begin, '[', len) || memchr(begin, '"', len))
		r->failed = 1;
	if (len == 4 && !memcmp(begin, "true", 4))
		return 1;
	for (p = begin; p < r->at; p++) {
		if (*p < '0' || *p > '9')
			return -1;
		value = value * 10 + (*p - '0');
		if (p - begin >= DIGITS)
			return -1;
	}
	return len ? value : -1;
}

/* After the last member: nothing else may follow the object. */
static int end(struct vpa_annotation_reader *r)
{
	skip_space(r);
	r->failed |= r->at != r->end;
	return 0;
}

/* Steps over what stands before the next member. Returns whether there is one. */
static int begin_member(struct vpa_annotation_reader *r)
{
	int is_first = !r->begun;

	r->begun = 1;
	if (is_first && !take(r, '{')) {
		r->failed = 1;
		return 0;
	}
	if (take(r, '}'))
		return end(r);
	if (is_first || take(r, ','))
		return 1;
	r->failed = 1;
	return 0;
}

int vpa_annotation_next(struct vpa_annotation_reader *r, struct vpa_annotation_member *out)
{
	*out = (struct vpa_annotation_member){.number = -1};
	if (r->failed || !begin_member(r))
		return 0;
	out->key = take_string(r);
	if (r->failed || !take(r, ':')) {
		r->failed = 1;
		return 0;
	}
	skip_space(r);
	out->is_text = r->at < r->end && *r->at == '"';
	if (out->is_text)
		out->text = take_string(r);
	else
		out->number = take_scalar(r);
	return !r->failed;
}
