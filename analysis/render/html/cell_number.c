/* cell_number.c - numbers of cells: times with their unit, shares as percent, three digits of a fraction. */
#include "analysis/render/html/cell_number.h"

#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int vpa_html_is_unit_of_cells(const char *unit)
{
	static const char *const units[] = {"ns", "bytes", "fraction", "GB/s", "MHz", "Wh", "ms",
		"frames/s", "blocks/s", "steps/s", "s/step", "ns/block", "unit"};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i], unit))
			return 1;
	return 0;
}

static struct vpa_num with_unit(struct vpa_num n, const char *unit)
{
	size_t used = strlen(n.text);

	if (strcmp(n.text, "-") != 0)
		snprintf(n.text + used, sizeof(n.text) - used, " %s", unit);
	return n;
}

static int is_bytes(const char *unit)
{
	return !strcmp(unit, "bytes") || !strcmp(unit, "B");
}

static struct vpa_num with_sign(const char *sign, struct vpa_num n)
{
	struct vpa_num out;

	snprintf(out.text, sizeof(out.text), "%s%.38s", n.text[0] == '<' ? "" : sign, n.text);
	return out;
}

static struct vpa_num shown_natural(uint64_t value, const char *unit)
{
	if (unit && !strcmp(unit, "ns"))
		return vpa_duration(value);
	if (unit && !strcmp(unit, "bytes"))
		return vpa_bytes(value);
	return vpa_count(value);
}

static struct vpa_num shown_integer(int64_t value, const char *unit)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	return with_sign(value < 0 ? "-" : "", shown_natural(size, unit));
}

/* From 1,000 % on without a fraction. */
static struct vpa_num shown_share(double share)
{
	return with_unit(share < 10 ? vpa_share(share) : vpa_fixed(100 * share, 0), "%");
}

/* Nanoseconds, also "ns per block" and the like. */
static int is_time(const char *unit)
{
	return !strncmp(unit, "ns", 2) && (!unit[2] || unit[2] == ' ');
}

/* A size, not below 0, in the unit that leaves three digits. Returns 0: it has none. */
static int show_size(double value, const char *unit, struct vpa_num *out)
{
	if (!strcmp(unit, "fraction"))
		*out = shown_share(value);
	else if (is_time(unit) && value < 1e19)
		*out = vpa_duration(vpt_sat_u64(value + 0.5));
	else if (is_bytes(unit) && value < 1e19)
		*out = vpa_bytes(vpt_sat_u64(value + 0.5));
	else if (!strcmp(unit, "ms") && value < 1e12)
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
	struct vpa_num n;

	if (!(value < 0) && !(value > 0))
		decimals = 0;
	if (!unit)
		return vpa_fixed(value, decimals);
	if (show_size(value < 0 ? -value : value, unit, &n))
		return with_sign(value < 0 ? "-" : "", n);
	if (!strcmp(unit, "Wh") && value < 1)
		decimals = 6;
	return vpa_html_is_unit_of_cells(unit) ? with_unit(vpa_fixed(value, decimals), unit)
					       : vpa_fixed(value, decimals);
}

struct vpa_num vpa_html_number(const struct vpa_value *v, const char *unit, int is_change)
{
	struct vpa_num n = v->kind == VPA_VALUE_UNSIGNED ? shown_natural(v->number, unit)
			   : v->kind == VPA_VALUE_SIGNED ? shown_integer(v->integer, unit)
							 : shown_real(v->real, unit);

	if (is_change && (v->kind == VPA_VALUE_SIGNED ? v->integer > 0 : v->real > 0))
		n = with_sign("+", n);
	return n;
}

struct vpa_num vpa_html_moment(const struct vpa_value *v, uint64_t from_ns)
{
	int is_before = v->number < from_ns;
	uint64_t us = (is_before ? from_ns - v->number : v->number - from_ns) / 1000;
	struct vpa_num n;

	snprintf(n.text, sizeof(n.text), "%s%" PRIu64 ".%06u s", is_before && us ? "-" : "",
		us / 1000000, (unsigned)(us % 1000000));
	return n;
}
