/* self_test_capture.h - the self-test's capture, as vptrace-analyze reads it. */
#ifndef VPTRACE_TRACER_DOCTOR_CHECKS_SELF_TEST_CAPTURE_H
#define VPTRACE_TRACER_DOCTOR_CHECKS_SELF_TEST_CAPTURE_H

#include "formats/metadata.h"
#include "tracer/doctor/probes/patient.h"

/* Asks vptrace-analyze once. Call it after the self-test, before the checks. */
void vtr_metadata_read(const struct vtr_patient *p);

/* Whether it answered. */
int vtr_metadata_is_known(void);

/* The value of a key of the capture's metadata. 1; 0, and "": it has none. */
int vtr_metadata(const struct vtr_patient *p, enum vpt_metadata fact, char *out, size_t size);

/* How many events of a kind are in the capture. */
unsigned vtr_metadata_count(const char *kind);

/* How many ranges of this name are in it. */
unsigned vtr_metadata_ranges(const struct vtr_patient *p, const char *name);

/* What `vptrace-analyze check` prints about it, without the path. Returns its exit status; -1: it cannot
 * be run. */
int vtr_metadata_check(const struct vtr_patient *p, char *out, size_t size);

#endif
