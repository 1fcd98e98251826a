/* check_self_test.c - what the self-test's capture holds, against what was launched. */
#include "formats/cli/command.h"
#include "tracer/doctor/checks/checks.h"
#include "tracer/doctor/checks/self_test_capture.h"
#include "tracer/vptrace.h"

#include <stdlib.h>
#include <string.h>

/* Nothing else has failed: it may be our fault. */
static const char *remedy(const struct vtr_answer *a)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (a->findings[i].status == VTR_STATUS_FAIL &&
			strcmp(a->findings[i].check, a->check) != 0)
			return "First fix what failed above.";
	return "Please report it with the output of vptrace doctor --json.";
}

static void find_counts(const struct vtr_patient *p, struct vtr_answer *a)
{
	unsigned kernels = (unsigned)vtr_probe_number(&p->self, "kernels");
	unsigned copies = (unsigned)vtr_probe_number(&p->self, "copies");
	unsigned found_kernels = vtr_metadata_count("kernel");
	unsigned found_copies = vtr_metadata_count("copy");
	unsigned ranges =
		vtr_metadata_ranges(p, VTR_SELF_NVTX) + vtr_metadata_ranges(p, VTR_SELF_RANGE);
	int all = found_kernels == kernels && found_copies == copies && ranges == VTR_SELF_RANGES;
	int simulated = vtr_probe_number(&p->cuda, "simulated") != 0;
	const char *no_kernels = vtr_probe_value(&p->self, "no_kernels", 0);

	if (kernels || copies)
		vtr_find(a, all ? VTR_STATUS_OK : VTR_STATUS_FAIL, all ? NULL : remedy(a),
			"%s%u of %u kernels, %u of %u copies and memsets, %u of %u ranges arrived",
			simulated ? "SIMULATED, no GPU ran: " : "", found_kernels, kernels,
			found_copies, copies, ranges, VTR_SELF_RANGES);
	else
		vtr_find(a, all ? VTR_STATUS_WARN : VTR_STATUS_FAIL,
			all ? "Fix driver, gpu and cupti if this machine has a GPU." : remedy(a),
			"ranges only: %u of %u arrived; no GPU work could be launched", ranges,
			VTR_SELF_RANGES);
	if (no_kernels)
		vtr_find(a, VTR_STATUS_WARN,
			"Update the driver if programs fail with the same error; the copies show "
			"that tracing works.",
			"no kernel was launched: %s", no_kernels);
}

static void find_file(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *start = vtr_probe_value(&p->self, "start", 0);
	char said[600];
	int rc = vtr_metadata_check(p, said, sizeof(said));

	/* That GPU work was refused has been said. */
	if (rc == VPT_EXIT_DAMAGED && start && strcmp(start, "0") != 0)
		return;
	if (rc < 0)
		vtr_find(a, VTR_STATUS_WARN, "Install vptrace-analyze beside vptrace.",
			"not read back: vptrace-analyze cannot be run");
	else
		vtr_find(a, rc ? VTR_STATUS_FAIL : VTR_STATUS_OK, rc ? remedy(a) : NULL,
			"the capture read back: %s", *said ? said : "it cannot be read");
}

/* Whether another check gives the reason why GPU work was not recorded. */
static int is_said_above(const struct vtr_patient *p, int rc, const char *why)
{
	const char *driver = vtr_probe_value(&p->cuda, "driver_error", 0);
	const char *cupti = vtr_probe_value(&p->cuda, "cupti_error", 0);

	return rc == VPTRACE_ETAKEN || rc == VPTRACE_EDENIED || (driver && !strcmp(driver, why)) ||
	       (cupti && !strcmp(cupti, why));
}

/* How the capture went in the library's own words, unless another check has said it. */
static void find_codes(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *start = vtr_probe_value(&p->self, "start", 0);
	const char *why = vtr_probe_value(&p->self, "start_error", 0);
	const char *stop = vtr_probe_value(&p->self, "stop_error", 0);
	const char *cuda = vtr_probe_value(&p->self, "cuda_error", 0);
	int rc = start ? atoi(start) : 0;

	if (rc && why && !is_said_above(p, rc, why))
		vtr_find_words(a, VTR_STATUS_FAIL, why, remedy(a));
	if (stop)
		vtr_find_words(a, VTR_STATUS_FAIL, stop, remedy(a));
	if (cuda && vtr_probe_value(&p->self, "device", 0))
		vtr_find(a, VTR_STATUS_FAIL,
			"Try a CUDA program of your own: this is the driver's answer, not the "
			"tracer's.",
			"%s", cuda);
	if (vtr_probe_number(&p->self, "dropped") || vtr_probe_number(&p->self, "unfinished"))
		vtr_find(a, VTR_STATUS_FAIL, remedy(a), "%llu records dropped, %llu unfinished",
			vtr_probe_number(&p->self, "dropped"),
			vtr_probe_number(&p->self, "unfinished"));
}

void vtr_check_self_test(const struct vtr_patient *p, struct vtr_answer *a)
{
	char failure[512];

	if (!vtr_probe_value(&p->load, "version", 0)) {
		vtr_find(a, VTR_STATUS_FAIL, "See the line library.",
			"not run: there is no library");
		return;
	}
	if (vtr_probe_failed(&p->self, failure, sizeof(failure)))
		vtr_find(a, VTR_STATUS_FAIL,
			p->self.end == VTR_PROBE_KILLED
				? "A program would crash the same way; if it does so without "
				  "vptrace too, fix the driver first."
				: "If nvidia-smi hangs as well, restart the machine; --timeout "
				  "allows more time.",
			"%s", failure);
	if (!vtr_probe_value(&p->self, "stop", 0)) {
		if (!vtr_probe_failed(&p->self, failure, sizeof(failure)))
			vtr_find(
				a, VTR_STATUS_FAIL, "See the line library.", "no capture was made");
		return;
	}
	find_codes(p, a);
	if (vtr_metadata_is_known())
		find_counts(p, a);
	find_file(p, a);
}
