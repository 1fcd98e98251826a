/* fuzz_fail_if.c - any text as a condition of --fail-if, of a comparison and of a report. */
#include "tests/fuzz/fuzz_compared.h"
#include "tests/fuzz/fuzz_rich.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *text, int is_single, enum rich_form a, enum rich_form b)
{
	static struct vpa_comparison *made[RICH_FORMS];
	struct vpa_condition condition;
	struct vpt_err err = {0};
	char what[160] = "";
	int holds = -1, rc = vpa_condition_read(text, is_single, &condition, &err);

	if (rc) {
		FUZZ_EXPECT(rc == VPT_EINVAL && err.text[0]);
		return;
	}
	FUZZ_EXPECT(condition.figure < VPA_CONDITION_FIGURES && condition.value == condition.value);
	if (!made[a])
		made[a] = fuzz_pair(fuzz_rich(a), fuzz_rich(b));
	FUZZ_EXPECT(made[a]);
	rc = is_single ? vpa_condition_holds_of(&condition, fuzz_rich(a), &holds, what, &err)
		       : vpa_condition_holds(&condition, made[a], &holds, what, &err);
	FUZZ_EXPECT(rc ? err.text[0]
		       : holds == VPA_CONDITION_KEPT || ((holds == VPA_CONDITION_HOLDS ||
								 holds == VPA_CONDITION_CHANCE ||
								 holds == VPA_CONDITION_NOTHING) &&
								*what));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check(text, 0, RICH_BLOCKS, RICH_SLOWER);
	check(text, 0, RICH_STEPS, RICH_STEPS);
	check(text, 1, RICH_BLOCKS, RICH_SLOWER);
	check(text, 1, RICH_UNMARKED, RICH_UNMARKED);
	free(text);
	return 0;
}
