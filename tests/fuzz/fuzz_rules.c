/* fuzz_rules.c - any text as a file of --rules, for kernels, ranges and frames. Rules that can be read are used for a capture that has
 * all three, and the report is shown. */
#include "tests/fuzz/fuzz_trace.h"

#include "tests/fuzz/fuzz_rich.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vpa_options options = {
		.jobs = 1, .rules = (const char *)data, .rules_len = size};
	struct vpa_report *report;

	if (!size)
		return 0;
	report = fuzz_rich_report(RICH_BLOCKS, &options);
	if (report)
		fuzz_render(report, "json");
	vpa_report_free(report);
	return 0;
}
