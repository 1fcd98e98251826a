/* window_errors.c - error messages for an impossible window, with what is possible instead. */
#include "analysis/trust/window_errors.h"

#include "analysis/base/numbers.h"
#include "formats/base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUGGESTIONS = 5, NAME_COLUMNS = 48 };

/* ---- whose fault it is ---- */

static void take_first(void *ctx, const struct vpa_remark *remark)
{
	struct vpa_remark *first = ctx;

	if (remark->is_missing && !first->is_missing)
		*first = *remark;
}

static int refuse(const struct vpa_completeness *n, const char *text, struct vpt_err *err)
{
	struct vpa_remark first = {.is_missing = 0};

	if (vpa_completeness_judge(n, take_first, &first))
		return vpt_fail(err, VPT_EINVAL, "%s", text);
	return vpt_fail(
		err, VPT_EDATA, "%.320s; the trace is incomplete: %.150s", text, first.text);
}

int vpa_window_beyond(
	const struct vpa_completeness *n, uint64_t from_ns, uint64_t length_ns, struct vpt_err *err)
{
	char text[160];

	snprintf(text, sizeof(text),
		"--from: expected a time within the trace, which ends %s after its start, found %s",
		vpa_duration(length_ns).text, vpa_duration(from_ns).text);
	return refuse(n, text, err);
}

int vpa_window_of_nothing(const struct vpa_completeness *n, const char *wanted, struct vpt_err *err)
{
	char text[200];

	if (wanted)
		snprintf(text, sizeof(text),
			"--range: the first range called \"%.100s\" has no length", wanted);
	else
		snprintf(text, sizeof(text), "--request: the request has no length");
	return refuse(n, text, err);
}

int vpa_window_of_too_many(
	const struct vpa_completeness *n, const struct vpa_range_choice *c, struct vpt_err *err)
{
	char text[240];

	if (c->text)
		snprintf(text, sizeof(text),
			"--range: expected an instance of \"%.*s\" from 1 to %zu, found %" PRIu64,
			c->name_len < 100 ? (int)c->name_len : 100, c->text, c->count, c->number);
	else if (c->count)
		snprintf(text, sizeof(text),
			"--request: expected a number from 1 to %zu, found %" PRIu64, c->count,
			c->number);
	else
		snprintf(text, sizeof(text), "--request: no range of the trace is a request");
	return refuse(n, text, err);
}

/* ---- ranges ---- */

int vpa_range_census_add(struct vpa_range_census *c, uint32_t name)
{
	if (vpt_grow_zeroed(&c->counts, &c->cap, (size_t)name + 1, sizeof(*c->counts)))
		return VPT_ENOMEM;
	c->counts[name]++;
	return VPT_OK;
}

void vpa_range_census_free(struct vpa_range_census *c)
{
	vpt_free(c->counts);
	*c = (struct vpa_range_census){0};
}

static int same_letters(const char *a, const char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len && tolower((unsigned char)a[i]) == tolower((unsigned char)b[i]); i++)
		;
	return i == len;
}

static int contains(const char *text, size_t len, const char *part, size_t part_len)
{
	size_t at;

	for (at = 0; at + part_len <= len; at++)
		if (same_letters(text + at, part, part_len))
			return 1;
	return 0;
}

/* Whether one contains the other, or both begin with the same three letters, ignoring case. */
static int is_alike(struct vpt_text name, const char *wanted)
{
	enum { BEGINNING = 3 };
	size_t len = strlen(wanted);

	if (!name.len || !len)
		return 0;
	return contains(name.text, name.len, wanted, len) ||
	       contains(wanted, len, name.text, name.len) ||
	       (len >= BEGINNING && name.len >= BEGINNING &&
		       same_letters(name.text, wanted, BEGINNING));
}

struct suggestion {
	uint32_t name;
	int alike;
	uint64_t count;
};

static int comes_before(const struct suggestion *a, const struct suggestion *b)
{
	return a->alike != b->alike ? a->alike : a->count > b->count;
}

/* Inserts a suggestion, keeping the best in order. */
static void offer(struct suggestion *best, size_t *count, struct suggestion s)
{
	size_t at = *count;

	while (at && comes_before(&s, &best[at - 1]))
		at--;
	if (at == SUGGESTIONS)
		return;
	if (*count < SUGGESTIONS)
		(*count)++;
	memmove(best + at + 1, best + at, (*count - at - 1) * sizeof(*best));
	best[at] = s;
}

int vpa_range_census_fail(const struct vpa_range_census *c, const struct vpa_model *m,
	const struct vpa_completeness *n, const char *wanted, struct vpt_err *err)
{
	struct suggestion best[SUGGESTIONS];
	char list[SUGGESTIONS * (4 * NAME_COLUMNS + 40)] = "", sentence[sizeof(list) + 400];
	size_t count = 0, names = 0, used = 0, i;
	uint32_t name;

	for (name = 0; name < c->cap; name++) {
		if (!c->counts[name])
			continue;
		names++;
		offer(best, &count,
			(struct suggestion){
				name, is_alike(vpa_name(m, name), wanted), c->counts[name]});
	}
	if (!names) {
		snprintf(sentence, sizeof(sentence),
			"--range: no range is called \"%.100s\": the trace has no ranges", wanted);
		return refuse(n, sentence, err);
	}
	for (i = 0; i < count; i++) {
		struct vpt_text text = vpa_name(m, best[i].name);

		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s\"%s\" (%s)",
			i ? ", " : "", vpa_fit_part(text.text, text.len, NAME_COLUMNS).text,
			vpa_count(best[i].count).text);
	}
	snprintf(sentence, sizeof(sentence),
		"--range: no range is called \"%.60s\"; the trace has %zu names, such as %s",
		wanted, names, list);
	return refuse(n, sentence, err);
}
