/* change_numbers.c - changes with their sign, counts per unit, percent. */
#include "analysis/compare/render/change_numbers.h"

#include "analysis/compare/comparison_steps.h"
#include "analysis/render/digest.h"
#include "formats/base/saturate.h"

#include <math.h>
#include <stdio.h>

/* "+12.3" with a sign, in ms; as many decimals as the largest number of its table needs. */
struct vpa_num vpa_compared_change_ms(int64_t ns, unsigned decimals)
{
	struct vpa_num n = vpa_scaled(vpa_magnitude(ns), 1000000, decimals), out = {{0}};

	snprintf(out.text, sizeof(out.text), "%s%.30s", ns < 0 ? "-" : ns > 0 ? "+" : "", n.text);
	return out;
}

struct vpa_num vpa_compared_plain_ms(uint64_t total_ns, uint64_t over, unsigned decimals)
{
	return vpa_scaled(vpa_rounded_mean(total_ns, over), 1000000, decimals);
}

unsigned vpa_compared_decimals_of(uint64_t mean_ns)
{
	return mean_ns >= 100000000 ? 1 : mean_ns >= 1000000 ? 2 : 3;
}

/* A relative change: "+12.3 %"; more decimals if it is small. */
struct vpa_num vpa_compared_percent(double share)
{
	double size = fabs(100 * share);
	struct vpa_num n = vpa_fixed(size, size < 0.995 ? 2 : 1), out = {{0}};

	snprintf(out.text, sizeof(out.text), "%s%.24s %%",
		share < 0 && size >= 0.005 ? "-"
		: size >= 0.005            ? "+"
					   : "",
		n.text);
	return out;
}

struct vpa_num vpa_compared_size_of(double share)
{
	double size = fabs(100 * share);
	struct vpa_num n = vpa_fixed(size, size < 0.995 ? 2 : 1), out = {{0}};

	snprintf(out.text, sizeof(out.text), "%.24s %%", n.text);
	return out;
}

struct vpa_num vpa_compared_rate(double value)
{
	return vpa_fixed(value, value < 10 ? 3 : 2);
}

/* The same of a count, which may be many times as large: "x 301". */
struct vpa_num vpa_compared_growth(double a, double b)
{
	struct vpa_num out = {"new"};

	if (a > 0 && b >= 10 * a)
		snprintf(out.text, sizeof(out.text), "x %.30s",
			b / a < 1e9 ? vpa_count(vpt_sat_u64(b / a + 0.5)).text : "1e9");
	else if (a > 0)
		out = vpa_compared_percent((b - a) / a);
	return out;
}

/* A number per unit: whole where it is. */
struct vpa_num vpa_compared_per_unit(double value)
{
	if (value < 0)
		return (struct vpa_num){"-"};
	if (value > 1e18)
		return (struct vpa_num){"1e18"};
	if (value >= 100 || fabs(value - round(value)) < 1e-9)
		return vpa_count(vpt_sat_u64(value + 0.5));
	return vpa_fixed(value, 2);
}

struct vpa_label vpa_compared_instead(
	enum vpa_cause host, const char *call, const struct vpa_place *place)
{
	struct vpa_label where = vpa_place_label(call, place, 64), out = {{0}};

	snprintf(out.text, sizeof(out.text), "%s%s%.300s", vpa_cause_text(host),
		!where.text[0] ? ""
		: call         ? ", "
			       : " ",
		where.text);
	return out;
}
