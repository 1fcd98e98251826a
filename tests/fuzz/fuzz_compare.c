/* fuzz_compare.c - two captures in one input, with FUZZ_BETWEEN between them, compared and shown. One capture is compared with itself,
 * where nothing may differ. */
#include "tests/fuzz/fuzz_trace.h"

#include "analysis/compare/conditions/fail_conditions.h"
#include "tests/fuzz/fuzz_compared.h"
#include "tests/fuzz/fuzz_input.h"

static struct vpa_report *report_of(const uint8_t *data, size_t size)
{
	const struct vpa_options options = {
		.jobs = 1, .top = 200, .all_kernels = 1, .step_parts = 1};
	struct vpt_buffer file;
	struct vpa_report *report;

	fuzz_file(data, size, &file);
	report = fuzz_report(file.data, file.size, &options);
	vpt_free(file.data);
	return report;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *between = memmem(data, size, FUZZ_BETWEEN, sizeof(FUZZ_BETWEEN) - 1);
	size_t first = between ? (size_t)(between - data) : size;
	const uint8_t *rest = between ? between + sizeof(FUZZ_BETWEEN) - 1 : NULL;
	struct vpa_report *a = report_of(data, first);
	struct vpa_report *b = rest ? report_of(rest, size - (size_t)(rest - data)) : NULL;

	if (a && b)
		fuzz_compared(a, b);
	if (a)
		fuzz_same(a, a);
	if (b)
		fuzz_same(b, b);
	vpa_report_free(a);
	vpa_report_free(b);
	return 0;
}
