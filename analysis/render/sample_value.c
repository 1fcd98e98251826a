/* sample_value.c - bytes in the unit that fits; other numbers with three digits, or all before the point. */
#include "analysis/render/sample_value.h"

#include "formats/base/saturate.h"

#include <math.h>
#include <string.h>

static int is_rate_of_bytes(const char *unit)
{
	return !strcmp(unit, "B/s");
}

int vpa_unit_is_bytes(const char *unit)
{
	return !strcmp(unit, "B") || !strcmp(unit, "bytes") || is_rate_of_bytes(unit);
}

struct vpa_num vpa_sample_value(double value, const char *unit)
{
	double size = fabs(value);
	struct vpa_num n;

	if (!vpa_unit_is_bytes(unit) || !(value >= 0 && value < 1e18))
		return vpa_fixed(value, size > 0 && size < 1 ? 3 : size < 100 ? 1 : 0);
	n = vpa_bytes(vpt_sat_u64(value + 0.5));
	strncat(n.text, is_rate_of_bytes(unit) ? "/s" : "", sizeof(n.text) - strlen(n.text) - 1);
	return n;
}
