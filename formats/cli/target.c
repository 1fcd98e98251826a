/* target.c - reads a rate in frames per second. */
#include "formats/cli/target.h"

int vpt_target_read(const char *text, uint64_t *millifps, struct vpt_err *err)
{
	uint64_t whole = 0, parts = 0, place = 1000;
	const char *p = text;
	int digits = 0;

	*millifps = 0;
	for (; *p >= '0' && *p <= '9' && digits < 7; p++, digits++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (digits && *p == '.' && p[1]) {
		for (p++; *p >= '0' && *p <= '9' && place > 1; p++) {
			place /= 10;
			parts += (uint64_t)(*p - '0') * place;
		}
	}
	if (!digits || *p || !(whole || parts))
		return vpt_fail(err, VPT_EINVAL,
			"--target: expected frames per second such as 16 or 23.976, found "
			"\"%.60s\"",
			text);
	*millifps = whole * 1000 + parts;
	return VPT_OK;
}
