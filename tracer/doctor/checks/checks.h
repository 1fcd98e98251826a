/* checks.h - the checks, in the order of the answer. Each is one file check_NAME.c, which adds what
 * it finds. */
#ifndef VPTRACE_TRACER_DOCTOR_CHECKS_CHECKS_H
#define VPTRACE_TRACER_DOCTOR_CHECKS_CHECKS_H

#include "tracer/doctor/checks/answer.h"
#include "tracer/doctor/probes/patient.h"

#define VTR_CHECKS(X)                                                                              \
	X(library)                                                                                 \
	X(driver)                                                                                  \
	X(gpu)                                                                                     \
	X(cupti)                                                                                   \
	X(clients)                                                                                 \
	X(nvml)                                                                                    \
	X(nvtx)                                                                                    \
	X(python)                                                                                  \
	X(permissions)                                                                             \
	X(clock)                                                                                   \
	X(limits)                                                                                  \
	X(disk)                                                                                    \
	X(variables)

#define VTR_DECLARE(name) void vtr_check_##name(const struct vtr_patient *p, struct vtr_answer *a);
VTR_CHECKS(VTR_DECLARE)
#undef VTR_DECLARE
/* The name has a dash, so it is not in the list. */
void vtr_check_self_test(const struct vtr_patient *p, struct vtr_answer *a);

#endif
