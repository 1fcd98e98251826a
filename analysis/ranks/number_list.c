/* number_list.c - stretches of three and more become "to". */
#include "analysis/ranks/number_list.h"

#include <inttypes.h>
#include <stdio.h>

enum { STRETCHES = 8 };

const char *vpa_number_list(struct vpa_arena *arena, const int64_t *numbers, size_t count)
{
	char text[512] = "";
	size_t used = 0, i = 0, n, shown;

	for (shown = 0; i < count && shown < STRETCHES; shown++) {
		const char *separator = shown ? ", " : "";

		for (n = 1; i + n < count && numbers[i + n] == numbers[i] + (int64_t)n; n++)
			;
		if (n < 3)
			n = 1;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			n > 1 ? "%s%" PRId64 " to %" PRId64 : "%s%" PRId64, separator, numbers[i],
			numbers[i] + (int64_t)n - 1);
		i += n;
	}
	if (i < count)
		snprintf(text + used, sizeof(text) - used, " and %zu more", count - i);
	return vpa_arena_printf(arena, "%s", text);
}
