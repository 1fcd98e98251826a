/* fuzz_change.c - any text as changes of a program, with ";" between them, and captures replayed with them. */
#include "tests/fuzz/fuzz_rich.h"

#include "analysis/retime/retime.h"

#include <stdlib.h>
#include <string.h>

enum { CHANGES = 8 };

static void replay(enum rich_form form, const struct vpa_change_list *list)
{
	static struct vpt_trace *traces[RICH_FORMS];
	static const struct vpa_span spans[] = {{0, INT64_MAX}, {1000, 1000000000}};
	struct vpa_retiming out;
	struct vpt_err err = {0};
	int rc;

	if (!traces[form])
		FUZZ_EXPECT(!vpt_script_trace(rich_script(form), &traces[form], &err));
	rc = vpa_retime(traces[form], 1, VPA_REPLAYED_MOST, list, 1, spans, 2, &out, &err);
	FUZZ_EXPECT(!rc || ((rc == VPT_EINVAL || rc == VPT_EUNSUPPORTED) && err.text[0]));
	if (!rc && !list->count)
		FUZZ_EXPECT(vpa_retimed_ns(&out, VPA_WORLD_FIRST, 1) ==
			    vpa_retimed_ns(&out, VPA_WORLD_RECORDED, 1));
	vpa_retiming_free(&out);
}

static void read_change(const char *text, struct vpa_change *changes, size_t *count)
{
	struct vpa_change change;
	struct vpt_err err = {0};
	int rc = vpa_change_read(text, &change, &err);

	FUZZ_EXPECT(!rc || (rc == VPT_EINVAL && err.text[0]));
	FUZZ_EXPECT(rc || (change.factor >= 0 && change.factor <= 1e6));
	if (!rc && *count < CHANGES)
		changes[(*count)++] = change;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vpa_change changes[CHANGES];
	struct vpa_change_list list = {changes, 0};
	char *text = malloc(size + 1), *at, *next;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (at = text; at; at = next) {
		next = strchr(at, ';');
		if (next)
			*next++ = '\0';
		read_change(at, changes, &list.count);
	}
	replay(RICH_BLOCKS, &list);
	replay(RICH_STEPS, &list);
	replay(RICH_UNMARKED, &list);
	free(text);
	return 0;
}
