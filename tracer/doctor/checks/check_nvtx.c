/* check_nvtx.c - whether ranges that come through NVTX's injection arrive in a capture. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/doctor/checks/self_test_capture.h"

void vtr_check_nvtx(const struct vtr_patient *p, struct vtr_answer *a)
{
	unsigned wanted = VTR_SELF_RANGES / 2, found;

	if (!vtr_probe_value(&p->self, "nvtx_attached", 0)) {
		vtr_find(a, VTR_STATUS_FAIL, "See the line self-test.",
			"the self-test made no ranges");
		return;
	}
	if (!vtr_probe_number(&p->self, "nvtx_attached")) {
		vtr_find(a, VTR_STATUS_FAIL,
			"Install vptrace again; until then use vptrace_range_push() of the "
			"library.",
			"NVTX could not attach: %s has no usable InitializeInjectionNvtx2",
			p->library);
		return;
	}
	if (!vtr_metadata_is_known()) {
		vtr_find(a, VTR_STATUS_WARN, "See the lines self-test and library.",
			"the library attached to NVTX; what arrived could not be counted");
		return;
	}
	found = vtr_metadata_ranges(p, VTR_SELF_NVTX);
	vtr_find(a, found == wanted ? VTR_STATUS_OK : VTR_STATUS_FAIL,
		found == wanted ? NULL
				: "Another NVTX tool may have come first: unset "
				  "NVTX_INJECTION64_PATH and VPTRACE_NVTX_CHAIN.",
		"%u of %u ranges arrived through NVTX's injection", found, wanted);
}
