/* cover.c - goes through moments and ranges together. */
#include "analysis/retime/cover.h"

#include "formats/base/memory.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 4096 };

int vpa_name_matches(const struct vpa_tape *t, uint32_t name, const char *pattern)
{
	struct vpt_text text = vpt_strings_get(&t->names, name);
	char copy[NAME_MOST];

	if (text.len == strlen(pattern) && !memcmp(text.text, pattern, text.len))
		return 1;
	if (text.len >= sizeof(copy) || memchr(text.text, '\0', text.len))
		return 0;
	memcpy(copy, text.text, text.len);
	copy[text.len] = '\0';
	return !fnmatch(pattern, copy, FNM_EXTMATCH);
}

struct moment {
	uint64_t ns;
	uint32_t call;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

/* What covers a thread: the range that began last, and the one of those begun that ends last. */
struct open {
	uint32_t last, longest; /* 1 + number */
};

static void open_range(const struct vpa_tape *t, struct open *open, uint32_t range)
{
	if (!open->longest || t->ranges[range].end_ns > t->ranges[open->longest - 1].end_ns)
		open->longest = range + 1;
	open->last = range + 1;
}

/* A range of a process is around all its threads. */
static void open_on_threads(const struct vpa_tape *t, struct open *open, uint32_t range)
{
	const struct vpa_tape_range *r = &t->ranges[range];
	size_t i;

	if (!r->is_wide) {
		open_range(t, &open[r->thread], range);
		return;
	}
	for (i = 0; i < t->thread_count; i++)
		if (t->threads[i].pid == r->pid)
			open_range(t, &open[i], range);
}

static uint32_t around(const struct vpa_tape *t, const struct open *open, uint64_t ns)
{
	if (open->last && t->ranges[open->last - 1].end_ns > ns)
		return open->last;
	return open->longest && t->ranges[open->longest - 1].end_ns > ns ? open->longest : 0;
}

static int sweep(const struct vpa_tape *t, const uint8_t *matches, const struct moment *moments,
	uint32_t *out)
{
	struct open *open = vpt_calloc(t->thread_count, sizeof(*open));
	size_t i, next = 0;

	if (!open)
		return VPT_ENOMEM;
	for (i = 0; i < t->call_count; i++) {
		for (; next < t->range_count && t->ranges[next].start_ns <= moments[i].ns; next++)
			if (matches[t->ranges[next].name])
				open_on_threads(t, open, (uint32_t)next);
		out[moments[i].call] =
			around(t, &open[t->calls[moments[i].call].thread], moments[i].ns);
	}
	vpt_free(open);
	return VPT_OK;
}

/* By name: whether it is a range's and matches. NULL: no memory. */
static uint8_t *matches_of(const struct vpa_tape *t, const char *pattern)
{
	uint8_t *known = vpt_calloc(t->names.count, 1), *matches = vpt_calloc(t->names.count, 1);
	size_t i;

	for (i = 0; known && matches && i < t->range_count; i++) {
		uint32_t name = t->ranges[i].name;

		if (!known[name])
			matches[name] = (uint8_t)vpa_name_matches(t, name, pattern);
		known[name] = 1;
	}
	if (!known) {
		vpt_free(matches);
		matches = NULL;
	}
	vpt_free(known);
	return matches;
}

static int sweep_both(const struct vpa_tape *t, const char *pattern, struct vpa_cover *out)
{
	struct moment *moments = vpt_alloc(t->call_count, sizeof(*moments));
	uint8_t *matches = matches_of(t, pattern);
	size_t i;
	int rc = moments && matches ? VPT_OK : VPT_ENOMEM;

	for (i = 0; !rc && i < t->call_count; i++)
		moments[i] = (struct moment){t->calls[i].start_ns, (uint32_t)i};
	if (!rc)
		rc = sweep(t, matches, moments, out->calls);
	for (i = 0; !rc && i < t->call_count; i++)
		moments[i].ns = t->calls[i].start_ns - t->calls[i].gap_ns / 2;
	if (!rc) {
		qsort(moments, t->call_count, sizeof(*moments), by_time);
		rc = sweep(t, matches, moments, out->gaps);
	}
	vpt_free(moments);
	vpt_free(matches);
	return rc;
}

int vpa_cover_find(const struct vpa_tape *t, const char *pattern, struct vpa_cover *out)
{
	size_t i;

	out->calls = vpt_alloc(t->call_count, sizeof(*out->calls));
	out->gaps = vpt_alloc(t->call_count, sizeof(*out->gaps));
	if (!out->calls || !out->gaps)
		return VPT_ENOMEM;
	if (*pattern)
		return sweep_both(t, pattern, out);
	for (i = 0; i < t->call_count; i++)
		out->calls[i] = out->gaps[i] = 1;
	return VPT_OK;
}

void vpa_cover_free(struct vpa_cover *c)
{
	vpt_free(c->calls);
	vpt_free(c->gaps);
	*c = (struct vpa_cover){0};
}
