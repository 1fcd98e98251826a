/* cover.c - goes through moments and ranges together. */
#include "analysis/retime/cover.h"

#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "formats/base/memory.h"

#include <fnmatch.h>
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

/* Ranges that are open, the one that began last on top; those that have ended go when they are on top. A range of a
 * process is around all its threads. */
struct open {
	const struct vpa_tape *t;
	uint32_t *of_thread, *of_process,
		*process_of; /* by thread, process, thread: 1 + number of the top; 0: none */
	uint32_t *below;     /* by range: the same of what was on top before it */
};

static int find_processes(struct open *open)
{
	struct vpa_index processes = {0};
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < open->t->thread_count && !rc; i++) {
		open->process_of[i] =
			vpa_index_put(&processes, (uint64_t)open->t->threads[i].pid, 0);
		rc = open->process_of[i] == UINT32_MAX ? VPT_ENOMEM : VPT_OK;
	}
	vpa_index_free(&processes);
	return rc;
}

static int start_open(struct open *open, const struct vpa_tape *t)
{
	open->t = t;
	open->of_thread = vpt_calloc(t->thread_count, sizeof(*open->of_thread));
	open->of_process = vpt_calloc(t->thread_count, sizeof(*open->of_process));
	open->process_of = vpt_calloc(t->thread_count, sizeof(*open->process_of));
	open->below = vpt_calloc(t->range_count + 1, sizeof(*open->below));
	return open->of_thread && open->of_process && open->process_of && open->below
		       ? find_processes(open)
		       : VPT_ENOMEM;
}

static void end_open(struct open *open)
{
	vpt_free(open->of_thread);
	vpt_free(open->of_process);
	vpt_free(open->process_of);
	vpt_free(open->below);
}

static void open_range(struct open *open, uint32_t range)
{
	const struct vpa_tape_range *r = &open->t->ranges[range];
	uint32_t *top = r->is_wide ? &open->of_process[open->process_of[r->thread]]
				   : &open->of_thread[r->thread];

	open->below[range] = *top;
	*top = range + 1;
}

static uint32_t top_at(const struct open *open, uint32_t *top, uint64_t ns)
{
	while (*top && open->t->ranges[*top - 1].end_ns <= ns)
		*top = open->below[*top - 1];
	return *top;
}

static uint32_t around(const struct open *open, uint32_t thread, uint64_t ns)
{
	uint32_t own = top_at(open, &open->of_thread[thread], ns);
	uint32_t wide = top_at(open, &open->of_process[open->process_of[thread]], ns);

	return own > wide ? own : wide;
}

static int sweep(const struct vpa_tape *t, const uint8_t *matches, const struct moment *moments,
	uint32_t *out)
{
	struct open open = {0};
	size_t i, next = 0;
	int rc = start_open(&open, t);

	for (i = 0; i < t->call_count && !rc; i++) {
		for (; next < t->range_count && t->ranges[next].start_ns <= moments[i].ns; next++)
			if (matches[t->ranges[next].name])
				open_range(&open, (uint32_t)next);
		out[moments[i].call] =
			around(&open, t->calls[moments[i].call].thread, moments[i].ns);
	}
	end_open(&open);
	return rc;
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
	if (!rc)
		rc = vpa_sort(moments, t->call_count, sizeof(*moments), by_time);
	if (!rc)
		rc = sweep(t, matches, moments, out->gaps);
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
