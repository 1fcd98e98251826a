/* rank.c - looks up the variables of launchers, the most specific first. */
#include "tracer/settings/rank.h"

#include "formats/base/count.h"
#include "tracer/guest/environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

/* Only digits: "" and "0x1" are no ranks. */
static int is_rank(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return len && len <= DIGITS_MAX && strspn(text, "0123456789") == len;
}

long vtr_rank(void)
{
	static const char *const variables[] = {
		"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"};
	size_t i;

	for (i = 0; i < COUNT(variables); i++) {
		const char *text = vtr_environment(variables[i]);

		if (is_rank(text))
			return strtol(text, NULL, 10);
	}
	return -1;
}
