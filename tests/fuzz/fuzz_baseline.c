/* fuzz_baseline.c - any bytes as a report to compare with. What can be read is compared with a capture that has everything, both ways.
 *
 * A capture (see fuzz_input.h) is analyzed, and compared with what its own report reads back as: nothing may differ. */
#include "tests/fuzz/fuzz_trace.h"

#include "analysis/compare/baseline.h"
#include "tests/fuzz/fuzz_compared.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_rich.h"

static const struct vpa_options options = {
	.jobs = 1, .top = 200, .all_kernels = 1, .step_parts = 1};

static void read_back(const uint8_t *data, size_t size)
{
	struct vpt_buffer file;
	struct vpa_report *report, *back = NULL;

	fuzz_file(data, size, &file);
	report = fuzz_report(file.data, file.size, &options);
	vpt_free(file.data);
	if (report) {
		struct vpt_buffer json = {0};
		struct vpt_err err = {0};
		struct vpt_sink *sink;

		FUZZ_EXPECT(!vpt_sink_memory(&json, &sink, NULL));
		FUZZ_EXPECT(!vpa_render_json(report, sink, NULL) && !sink->finish(sink, 1, NULL));
		FUZZ_EXPECT(!vpa_baseline_read(
			(const char *)json.data, json.size, "back", &back, &err));
		vpt_free(json.data);
		fuzz_same(report, back);
	}
	vpa_report_free(back);
	vpa_report_free(report);
}

static void read_text(const uint8_t *data, size_t size)
{
	const struct vpa_report *rich = fuzz_rich(RICH_BLOCKS);
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpa_baseline_read((const char *)data, size, "fuzz", &report, &err)) {
		FUZZ_EXPECT(!report && err.text[0]);
		return;
	}
	fuzz_compared(report, rich);
	fuzz_compared(rich, report);
	fuzz_same(report, report);
	vpa_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4 && (*data == 'w' || !memcmp(data, "\x28\xb5\x2f\xfd", 4)))
		read_back(data, size);
	else
		read_text(data, size);
	return 0;
}
