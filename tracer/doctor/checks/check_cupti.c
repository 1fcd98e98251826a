/* check_cupti.c - the libcupti that a program without one of its own would get, and why. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/doctor/checks/self_test_capture.h"
#include "formats/base/text.h"

#include <string.h>

static void find_version(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *path = vtr_probe_value(&p->cuda, "cupti_path", 0);
	const char *place = vtr_probe_value(&p->cuda, "place", 0);
	const char *file = vtr_probe_value(&p->cuda, "file", 0);
	int is_other = file && strcmp(file, vpt_file_name(path)) != 0;

	vtr_find(a, VTR_STATUS_OK, NULL, "CUPTI %llu of CUDA %llu%s%s: %s%s%s",
		vtr_probe_number(&p->cuda, "cupti_api"), vtr_probe_number(&p->cuda, "cupti_major"),
		place ? " from " : "", place ? place : "", path, is_other ? " -> " : "",
		is_other ? file : "");
}

static void find_failure(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *error = vtr_probe_value(&p->cuda, "cupti_error", 0);
	const char *path = vtr_probe_value(&p->cuda, "cupti_path", 0);
	char failure[512];

	if (error)
		vtr_find_words(a, VTR_STATUS_FAIL, error,
			"Set VPTRACE_LIBCUPTI to the libcupti.so of a CUDA toolkit whose major "
			"version is not newer than the driver's.");
	else if (!vtr_probe_number(&p->cuda, "driver"))
		vtr_find(a, path ? VTR_STATUS_WARN : VTR_STATUS_FAIL, "See the line driver.",
			"%s%snot asked: it needs a driver", path ? path : "", path ? ": " : "");
	else if (vtr_probe_failed(&p->cuda, failure, sizeof(failure)))
		vtr_find(a, VTR_STATUS_FAIL,
			"Set VPTRACE_LIBCUPTI to the libcupti.so of another CUDA toolkit.",
			"%s%s%s", path ? path : "", path ? ": " : "", failure);
}

static void find_kinds(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *sizes = vtr_probe_value(&p->cuda, "sizes", 0);
	const char *unknown = vtr_probe_value(&p->cuda, "unknown", 0);
	const char *too_short = vtr_probe_value(&p->cuda, "too_short", 0);
	char refused[512];

	if (sizes)
		vtr_find(a, VTR_STATUS_OK, NULL, "bytes of its records: %s", sizes);
	if (unknown)
		vtr_find(a, VTR_STATUS_WARN, "A newer CUPTI knows them.",
			"it does not know records of the kinds %s", unknown);
	if (too_short)
		vtr_find(a, VTR_STATUS_FAIL,
			"Set VPTRACE_LIBCUPTI to the libcupti.so of another CUDA toolkit.",
			"its records of the kinds %s are shorter than what the tracer reads",
			too_short);
	if (vtr_metadata(p, VPT_METADATA_CUPTI_REFUSED, refused, sizeof(refused)))
		vtr_find(a, VTR_STATUS_WARN,
			"Another client of CUPTI, or the GPU's mode, may forbid them; the rest is "
			"recorded.",
			"it refuses records of the kinds %s", refused);
}

void vtr_check_cupti(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *passed, *mapped;
	unsigned i;

	if (vtr_probe_value(&p->cuda, "cupti_api", 0) &&
		!vtr_probe_value(&p->cuda, "cupti_error", 0))
		find_version(p, a);
	else
		find_failure(p, a);
	find_kinds(p, a);
	for (i = 0; (passed = vtr_probe_value(&p->cuda, "passed", i)) != NULL; i++)
		vtr_find(a, VTR_STATUS_OK, NULL, "not used: %s", passed);
	mapped = vtr_probe_value(&p->python_ran, "mapped", 0);
	if (mapped)
		vtr_find(a, VTR_STATUS_OK, NULL,
			"programs that import torch have %s loaded, which is used there", mapped);
}
