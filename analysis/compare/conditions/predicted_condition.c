/* predicted_condition.c - reads and checks conditions about what a change would bring. */
#include "analysis/compare/conditions/predicted_condition.h"

#include "analysis/base/numbers.h"
#include "analysis/retime/predictions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "predicted:";

int vpa_is_predicted_condition(const char *text)
{
	return !strncmp(text, prefix, sizeof(prefix) - 1);
}

/* The last relation: the names of a change may contain others. NULL: none. */
static const char *relation_of(const char *text)
{
	const char *less = strrchr(text, '<'), *more = strrchr(text, '>');

	return !less || (more && more > less) ? more : less;
}

int vpa_predicted_condition_read(
	const char *text, int is_single, struct vpa_condition *out, struct vpt_err *err)
{
	const char *relation = relation_of(text), *change = text + sizeof(prefix) - 1, *end;
	struct vpa_change changes[VPA_CHANGES_MOST];
	size_t count, len = relation ? (size_t)(relation - change) : 0;

	*out = (struct vpa_condition){.text = text,
		.figure = VPA_CONDITION_PREDICTED,
		.part = VPA_UNIT_PARTS,
		.relation = '>'};
	if (!is_single)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: \"%.60s\" is a prediction for one capture: see analyze", text);
	end = relation ? vpa_decimal_read(relation + 1, &out->value) : NULL;
	if (!end || strcmp(end, "%") != 0)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: expected a change, < or >, and percent, as in "
			"predicted:delete small-reads>5%%, found \"%.60s\"",
			text);
	while (len && change[len - 1] == ' ')
		len--;
	if (len >= sizeof(out->change))
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: expected a change of less than %zu bytes, found %zu",
			sizeof(out->change), len);
	memcpy(out->change, change, len);
	out->relation = *relation;
	out->value /= 100;
	if (!len)
		return vpt_fail(err, VPT_EINVAL,
			"--fail-if: \"%.60s\" has no change, see what-if --help", text);
	return vpa_changes_read(out->change, changes, &count, err);
}

static const struct vpa_asked_change *asked_of(
	const struct vpa_report *r, const struct vpa_condition *l)
{
	size_t i;

	for (i = 0; i < r->forecast.asked_count; i++)
		if (!strcmp(r->forecast.asked[i].change, l->change))
			return &r->forecast.asked[i];
	return NULL;
}

static void say_no_hits(const struct vpa_asked_change *asked, char what[160])
{
	if (asked->replayed_share < 1)
		snprintf(what, 160,
			"the change is about no call and no op of the %s %% of this capture that "
			"were replayed",
			vpa_share(asked->replayed_share).text);
	else
		snprintf(what, 160, "the change is about no call and no op of this capture");
}

int vpa_predicted_condition_holds(const struct vpa_condition *l, const struct vpa_report *r,
	int *holds, char what[160], struct vpt_err *err)
{
	const struct vpa_asked_change *asked = asked_of(r, l);

	*holds = VPA_CONDITION_KEPT;
	if (!asked || asked->why_not)
		return vpt_fail(err, VPT_EINVAL, "--fail-if %.60s: unavailable: %.200s", l->text,
			asked ? asked->why_not : "no prediction was made");
	if (l->relation == '<' ? asked->gain_share < l->value : asked->gain_share > l->value)
		*holds = VPA_CONDITION_HOLDS;
	else if (!asked->hits)
		*holds = VPA_CONDITION_NOTHING;
	if (!asked->hits)
		say_no_hits(asked, what);
	else
		snprintf(what, 160, "%s%s would take %.30s %% %s time",
			asked->base >= VPA_BASE_UNIT ? "the mean "
						     : "the time from the first op to the ",
			asked->base >= VPA_BASE_UNIT ? vpa_base_name(asked->base) : "last",
			vpa_fixed(fabs(100 * asked->gain_share), 2).text,
			asked->gain_share < 0 ? "more" : "less");
	return VPT_OK;
}
