/* setup_differences.c - facts by name; of each, the value that most ranks have, and those that others have. */
#include "analysis/ranks/job_parts.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/number_list.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <string.h>

enum { FACTS_MOST = 4096 }; /* names of one job */

/* A rank's value of one fact. One that a capture without some of its records lacks may be among these: it is not known. */
struct value {
	const char *text; /* NULL: not set */
	int64_t rank;
};

static const char *find(const struct vpa_rank *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->fact_count; i++)
		if (!strcmp(r->facts[i].name, name))
			return r->facts[i].value;
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	int order = vpt_text_order(x->text, y->text);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int add_difference(struct vpa_job *job, size_t *cap, const char *name, const char *most,
	const struct value *values, size_t count)
{
	int64_t *numbers = vpt_alloc(count, sizeof(*numbers));
	size_t i;
	int rc = vpt_grow(
		&job->differences, cap, job->difference_count + 1, sizeof(*job->differences));

	if (!numbers || rc) {
		vpt_free(numbers);
		return VPT_ENOMEM;
	}
	for (i = 0; i < count; i++)
		numbers[i] = values[i].rank;
	job->differences[job->difference_count++] = (struct vpa_job_difference){
		name, most, values->text, vpa_number_list(&job->arena, numbers, count)};
	vpt_free(numbers);
	return VPT_OK;
}

/* `values` are in order. */
static int compare(struct vpa_job *job, size_t *cap, const char *name, const struct value *values,
	size_t count)
{
	size_t first, end, most = 0, most_count = 0;
	int rc = VPT_OK;

	for (first = 0; first < count; first = end) {
		for (end = first + 1;
			end < count && vpt_same_text(values[end].text, values[first].text);)
			end++;
		if (end - first > most_count) {
			most = first;
			most_count = end - first;
		}
	}
	for (first = 0; first < count && !rc; first = end) {
		for (end = first + 1;
			end < count && vpt_same_text(values[end].text, values[first].text);)
			end++;
		if (first != most)
			rc = add_difference(
				job, cap, name, values[most].text, &values[first], end - first);
	}
	return rc;
}

/* name NULL: that of the GPU, which is no fact of the metadata. */
static int compare_fact(struct vpa_job *job, size_t *cap, const char *name, struct value *values)
{
	size_t count = 0, i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;
		const char *text = name ? find(r, name) : r->gpu;

		if (text || r->complete)
			values[count++] = (struct value){text, job->ranks[i].number};
	}
	if (vpa_sort(values, count, sizeof(*values), by_value))
		return VPT_ENOMEM;
	return compare(job, cap, name ? name : "GPU", values, count);
}

/* Each name once: a rank's facts that none of those before has. */
int vpa_setup_differences_find(struct vpa_job *job)
{
	struct value *values = vpt_calloc(job->rank_count + 1, sizeof(*values));
	const char **names = vpt_calloc(FACTS_MOST, sizeof(*names));
	size_t cap = 0, count = 0, i, k, n;
	int rc = values && names ? VPT_OK : VPT_ENOMEM;

	if (!rc)
		rc = compare_fact(job, &cap, NULL, values);
	for (i = 0; i < job->rank_count && !rc; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;

		for (k = 0; k < r->fact_count && count < FACTS_MOST; k++) {
			for (n = 0; n < count && strcmp(names[n], r->facts[k].name) != 0; n++)
				;
			if (n == count)
				names[count++] = r->facts[k].name;
		}
	}
	for (n = 0; n < count && !rc; n++)
		rc = compare_fact(job, &cap, names[n], values);
	vpt_free(names);
	vpt_free(values);
	return rc;
}
