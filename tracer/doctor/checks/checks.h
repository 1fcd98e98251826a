/* checks.h - the checks, in the order of the answer. Each is one file check_NAME.c, which adds what
 * it finds. */
#ifndef VPTRACE_TRACER_DOCTOR_CHECKS_CHECKS_H
#define VPTRACE_TRACER_DOCTOR_CHECKS_CHECKS_H

#include "formats/base/error.h"
#include "tracer/doctor/probes/patient.h"

#include <stddef.h>

/* ---- answer.c: the findings of the checks, and how they are printed ---- */

enum vtr_status { VTR_STATUS_OK, VTR_STATUS_WARN, VTR_STATUS_FAIL };

enum { VTR_FACT_BYTES = 2048, VTR_FINDINGS_MAX = 200 };

struct vtr_finding {
	const char *check; /* a constant */
	enum vtr_status status;
	char fact[VTR_FACT_BYTES], remedy[VTR_FACT_BYTES]; /* remedy "": nothing to fix */
};

struct vtr_answer {
	const char *check; /* the one that runs */
	size_t count;
	struct vtr_finding findings[VTR_FINDINGS_MAX];
};

/* Adds a finding of the running check. `remedy` NULL: there is nothing to fix. */
__attribute__((format(printf, 4, 5))) void vtr_find(
	struct vtr_answer *a, enum vtr_status status, const char *remedy, const char *fmt, ...);

/* Adds a finding in the library's own words. If they end with sentences that say what to do, these
 * are the remedy; else `remedy` is. */
void vtr_find_words(
	struct vtr_answer *a, enum vtr_status status, const char *words, const char *remedy);

/* The worst status of a check, of all with NULL. */
enum vtr_status vtr_answer_worst(const struct vtr_answer *a, const char *check);

/* Prints to standard output. 0, or 1 if that failed. */
int vtr_answer_text(const struct vtr_answer *a);
int vtr_answer_json(const struct vtr_answer *a);

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
