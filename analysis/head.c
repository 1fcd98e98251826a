/* head.c - the largest parts of the time before the first work, as words. */
#include "analysis/head.h"

#include "analysis/render/units.h"

#include <string.h>

const char *vpa_head_words(struct vpa_report *r)
{
	uint64_t ns[VPA_CAUSES] = {0}, all = 0;
	char text[256] = "";
	size_t d, i, used = 0, shown;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].before_first_work_count; i++) {
			ns[r->devices[d].before_first_work[i].cause] +=
				r->devices[d].before_first_work[i].ns;
			all += r->devices[d].before_first_work[i].ns;
		}
	for (shown = 0; shown < 3; shown++) {
		size_t most = 0;
		const char *word;

		for (i = 1; i < VPA_CAUSES; i++)
			most = ns[i] > ns[most] ? i : most;
		if (!ns[most] || ns[most] < all / 50)
			break;
		word = vpa_arena_printf(&r->arena, "%s%s %s", used ? ", " : ": ",
			vpa_cause_text((enum vpa_cause)most), vpa_duration(ns[most]).text);
		if (!word || used + strlen(word) >= sizeof(text))
			break;
		memcpy(text + used, word, strlen(word) + 1);
		used += strlen(word);
		ns[most] = 0;
	}
	return vpa_arena_text(&r->arena, text, used);
}

/* If a range covers most of the head, the recording did not just begin too early: the range's work is late. */
const char *vpa_head_title(struct vpa_report *r)
{
	const struct vpa_idle_part *most = NULL;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].before_first_work_count; i++)
			if (!most || r->devices[d].before_first_work[i].ns > most->ns)
				most = &r->devices[d].before_first_work[i];
	if (!most || !most->range || vpa_is_sum(most->range) || !strncmp(most->range, "before ", 7))
		return "the GPU had no work at the start: launch earlier, or start recording later";
	return vpa_arena_printf(&r->arena,
		"the GPU had no work at the start: shorten or overlap what the host does first in "
		"%.80s",
		most->range);
}
