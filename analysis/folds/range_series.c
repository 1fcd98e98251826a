/* range_series.c - finds ranges that are numbered, one after the other. */
#include "analysis/folds/range_series.h"

#include "analysis/names/range_names.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum {
	PARTS = 100, /* of the window: none is shorter on average */
	WORD = 24    /* letters of a plain word */
};

struct member {
	const char *name, *domain;
	size_t stem; /* bytes of the name */
	uint64_t number;
	struct vpa_timed_instance at;
};

static uint64_t end_of(const struct member *m)
{
	return vpt_sat_add(m->at.own.first_ns, m->at.own.envelope_ns);
}

static int by_stem(const struct member *a, const struct member *b)
{
	size_t shorter = a->stem < b->stem ? a->stem : b->stem;
	int order = memcmp(a->name, b->name, shorter);

	if (!order && a->stem != b->stem)
		order = a->stem < b->stem ? -1 : 1;
	return order ? order : strcmp(a->domain, b->domain);
}

static int by_place(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	const struct vpa_range_instance *x = &a->at.own, *y = &b->at.own;
	int order = by_stem(a, b);

	if (order)
		return order;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return end_of(a) > end_of(b) ? -1 : end_of(a) < end_of(b);
}

static size_t gather(const struct vpa_numbered_range *ranges, size_t count, struct member *out)
{
	size_t i, k, members = 0;

	for (i = 0; i < count; i++) {
		uint64_t number;
		size_t stem = vpa_range_stem(ranges[i].name, strlen(ranges[i].name), &number);

		for (k = 0; stem && k < ranges[i].count; k++)
			out[members++] = (struct member){ranges[i].name, ranges[i].domain, stem,
				number, ranges[i].instances[k]};
	}
	return members;
}

static uint64_t period_of(
	const struct vpa_fold_context *c, const struct member *m, const struct member *next)
{
	uint64_t from_ns = m->at.own.first_ns, to_ns = next->at.own.first_ns;

	return c->resolver->paused.count ? vpa_resolver_recorded_ns(c->resolver, from_ns, to_ns)
					 : to_ns - from_ns;
}

/* Sets the instances of a series, each until the next one, and what they last together. Returns how many there are; 0 also if one
 * lies in another. */
static size_t follow(const struct vpa_fold_context *c, const struct member *m, size_t count,
	struct vpa_range_instance *out, uint64_t *all_ns)
{
	size_t i, followed = 0;

	*all_ns = 0;
	for (i = 0; i + 1 < count; i++) {
		const struct member *next = &m[i + 1];
		struct vpa_range_instance at = m[i].at.own;

		if (next->at.own.device != at.device)
			continue;
		if (end_of(next) <= end_of(&m[i]))
			return 0;
		if (next->number <= m[i].number)
			continue;
		at.envelope_ns = period_of(c, &m[i], next);
		at.idle_ns = vpt_sat_sub(next->at.idle_first_ns, m[i].at.idle_first_ns);
		vpt_sat_add_to(all_ns, at.envelope_ns);
		out[followed++] = at;
	}
	return followed;
}

/* "a section" of "Section"; NULL: the name is not a word with a plural of its own plus "s" or "es", or there is no memory. */
static const char *a_name_of(struct vpa_report *out, const char *name)
{
	size_t i, len = strlen(name);
	char first = (char)(name[0] | 0x20);

	if (len < 2 || len > WORD || first < 'a' || first > 'z')
		return NULL;
	for (i = 1; i < len; i++)
		if (name[i] < 'a' || name[i] > 'z')
			return NULL;
	if (name[len - 1] == 'y' && !strchr("aeiou", name[len - 2]))
		return NULL;
	return vpa_arena_printf(
		&out->arena, "%s %c%s", strchr("aeio", first) ? "an" : "a", first, name + 1);
}

/* Adds the series of `count` members of one stem, if it is one. */
static int add_series(const struct vpa_fold_context *c, const struct member *m, size_t count,
	struct vpa_report *out)
{
	uint64_t window_ns = vpa_windows_ns(out), own_ns = 0, all_ns;
	struct vpa_range_instance *instances;
	const char *name;
	size_t i, followed;

	for (i = 0; i < count; i++)
		vpt_sat_add_to(&own_ns, m[i].at.own.envelope_ns);
	if (count <= VPA_SERIES_LEAST || own_ns <= window_ns / 2)
		return VPT_OK;
	instances = vpa_arena_alloc(&out->arena, count, sizeof(*instances));
	if (!instances)
		return VPT_ENOMEM;
	followed = follow(c, m, count, instances, &all_ns);
	if (followed < VPA_SERIES_LEAST ||
		all_ns / followed < window_ns / out->device_count / PARTS)
		return VPT_OK;
	name = vpa_arena_text(&out->arena, m->name, m->stem);
	if (!name)
		return VPT_ENOMEM;
	out->series[out->series_count++] = (struct vpa_range_row){.name = name,
		.domain = m->domain,
		.is_series = 1,
		.a_name = a_name_of(out, name),
		.envelope_ns = own_ns,
		.gpu.count = count,
		.instances = instances,
		.instance_count = followed};
	return VPT_OK;
}

static int add_all(
	const struct vpa_fold_context *c, struct member *m, size_t count, struct vpa_report *out)
{
	size_t i, end, stems = 0;
	int rc = VPT_OK;

	qsort(m, count, sizeof(*m), by_place);
	for (i = 0; i < count; i++)
		stems += !i || by_stem(&m[i - 1], &m[i]) != 0;
	out->series = vpa_arena_alloc(&out->arena, stems, sizeof(*out->series));
	if (!out->series)
		return VPT_ENOMEM;
	for (i = 0; i < count && !rc; i = end) {
		for (end = i + 1; end < count && !by_stem(&m[i], &m[end]); end++)
			;
		rc = add_series(c, &m[i], end - i, out);
	}
	return rc;
}

int vpa_range_series_write(const struct vpa_fold_context *c,
	const struct vpa_numbered_range *ranges, size_t count, struct vpa_report *out)
{
	struct member *members;
	size_t i, most = 0;
	int rc = VPT_OK;

	for (i = 0; i < count; i++)
		most += ranges[i].count;
	if (!most || !out->device_count)
		return VPT_OK;
	members = vpt_alloc(most, sizeof(*members));
	if (!members)
		return VPT_ENOMEM;
	most = gather(ranges, count, members);
	if (most)
		rc = add_all(c, members, most, out);
	vpt_free(members);
	return rc;
}
