/* column_form.c - how a column looks: its head, where its key says too little the words of its field; words, and numbers: times
 * with their unit, shares as percent, three digits of a fraction. */
#include "analysis/render/html/page_tables.h"

#include "analysis/render/html/markup/html.h"
#include "analysis/render/measures.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

static struct vpa_num with_unit(struct vpa_num n, const char *unit)
{
	size_t used = strlen(n.text);

	if (!vpa_is_missing(&n))
		snprintf(n.text + used, sizeof(n.text) - used, " %s", unit);
	return n;
}

static struct vpa_num with_sign(const char *sign, struct vpa_num n)
{
	struct vpa_num out;

	snprintf(out.text, sizeof(out.text), "%s%.38s", n.text[0] == '<' ? "" : sign, n.text);
	return out;
}

static struct vpa_num shown_natural(uint64_t value, enum vpa_measure measure)
{
	if (measure == VPA_MEASURE_NS)
		return vpa_duration(value);
	if (measure == VPA_MEASURE_BYTES)
		return vpa_bytes(value);
	return vpa_count(value);
}

static struct vpa_num shown_integer(int64_t value, enum vpa_measure measure)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	return with_sign(value < 0 ? "-" : "", shown_natural(size, measure));
}

/* From 1,000 % on without a fraction. */
static struct vpa_num shown_share(double share)
{
	return with_unit(share < 10 ? vpa_share(share) : vpa_fixed(100 * share, 0), "%");
}

/* A size, not below 0, in the unit that leaves three digits. Returns 0: it has none. */
static int show_size(double value, enum vpa_measure measure, struct vpa_num *out)
{
	if (measure == VPA_MEASURE_FRACTION)
		*out = shown_share(value);
	else if (vpa_is_time(measure) && value < 1e19)
		*out = vpa_duration(vpt_sat_u64(value + 0.5));
	else if (measure == VPA_MEASURE_BYTES && value < 1e19)
		*out = vpa_bytes(vpt_sat_u64(value + 0.5));
	else if (measure == VPA_MEASURE_MS && value < 1e12)
		*out = vpa_duration(vpt_sat_u64(value * 1e6 + 0.5));
	else
		return 0;
	return 1;
}

static struct vpa_num shown_real(double value, const char *unit)
{
	unsigned decimals = value <= -100 || value >= 100 ? 0
			    : value <= -10 || value >= 10 ? 1
			    : value <= -1 || value >= 1   ? 2
							  : 3;
	enum vpa_measure measure = vpa_measure_of(unit);
	struct vpa_num n;

	if (!(value < 0) && !(value > 0))
		decimals = 0;
	if (!unit)
		return vpa_fixed(value, decimals);
	if (show_size(value < 0 ? -value : value, measure, &n))
		return with_sign(value < 0 ? "-" : "", n);
	if (measure == VPA_MEASURE_WH && value < 1)
		decimals = 6;
	n = vpa_fixed(value, decimals);
	return vpa_unit_shown(unit) == VPA_SHOWN_IN_CELL ? with_unit(n, unit) : n;
}

struct vpa_num vpa_html_number(const struct vpa_value *v, const char *unit, int is_change)
{
	enum vpa_measure measure = vpa_measure_of(unit);
	struct vpa_num n = v->kind == VPA_VALUE_UNSIGNED ? shown_natural(v->number, measure)
			   : v->kind == VPA_VALUE_SIGNED ? shown_integer(v->integer, measure)
							 : shown_real(v->real, unit);

	if (is_change && (v->kind == VPA_VALUE_SIGNED ? v->integer > 0 : v->real > 0))
		n = with_sign("+", n);
	return n;
}

struct vpa_num vpa_html_moment(const struct vpa_value *v, uint64_t from_ns)
{
	int is_before = v->number < from_ns;
	uint64_t us = (is_before ? from_ns - v->number : v->number - from_ns) / 1000;
	static const uint64_t day_us = 86400000000;
	struct vpa_num n;

	if (us / day_us >= 10) { /* a time that cannot be: microseconds say nothing of it */
		snprintf(n.text, sizeof(n.text), "%s%.30s days", is_before ? "-" : "",
			vpa_count(us / day_us).text);
		return n;
	}
	snprintf(n.text, sizeof(n.text), "%s%" PRIu64 ".%06u s", is_before && us ? "-" : "",
		us / 1000000, (unsigned)(us % 1000000));
	return n;
}

/* ---- heads, and words ---- */

/* What the field itself cannot say, since it is part of several objects. */
static const char *head_of(const char *key, const struct vpa_field *f)
{
	static const struct {
		const char *key, *words;
	} heads[] = {{"time.count", "measured"}, {"blocks.period.mean_ns", "period mean"},
		{"blocks.period.p95_ns", "period p95"}};
	size_t i;

	for (i = 0; i < COUNT(heads); i++)
		if (!strcmp(heads[i].key, key))
			return heads[i].words;
	return f->head;
}

void vpa_html_label(
	struct vpa_html *h, const char *key, const struct vpa_field *f, int is_comparison)
{
	static const char *const units[] = {"_ns", "_ms", "_wh", "_mhz"};
	const char *head = head_of(key, f);
	struct vpa_label text = {{0}};
	size_t len = strlen(key), i;

	if (head) {
		vpa_html_raw(h, head);
		return;
	}
	for (i = 0; i < COUNT(units); i++) {
		size_t unit = strlen(units[i]);

		if (len > unit && !strcmp(key + len - unit, units[i]))
			len -= unit;
	}
	for (i = 0; i < len && i + 1 < sizeof(text.text); i++)
		text.text[i] = key[i] == '_' || key[i] == '.' ? ' ' : key[i];
	if (is_comparison && (text.text[0] == 'a' || text.text[0] == 'b') &&
		(text.text[1] == ' ' || !text.text[1]))
		text.text[0] = (char)(text.text[0] - 'a' + 'A');
	vpa_html_text(h, text.text);
}

int vpa_html_label_has_unit(const char *key, const char *unit)
{
	return unit && vpa_unit_shown(unit) == VPA_SHOWN_IN_HEAD && !strstr(key, unit);
}
