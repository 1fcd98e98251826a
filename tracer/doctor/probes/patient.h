/* patient.h - what the checks look at: the probes' answers, and what was known before. */
#ifndef VPTRACE_TRACER_DOCTOR_PROBES_PATIENT_H
#define VPTRACE_TRACER_DOCTOR_PROBES_PATIENT_H

#include "tracer/doctor/probes/probe.h"
#include "tracer/settings/capture_options.h"

#include <limits.h>
#include <stdint.h>

enum { VTR_INVALID_MAX = 16 };

struct vtr_patient {
	const char *version, *library, *analyzer, *site, *problem; /* see doctor.h */
	const char *python;                                        /* NULL: none was named */
	char python_flags[8]; /* those of its command that hide modules from it: "-IES"; "": none */
	const char *command;  /* that is to be recorded; NULL: none was named */
	const char *command_problem; /* why it cannot be; NULL: it can */
	char command_path[PATH_MAX];
	unsigned timeout_s;

	/* The options that the environment asks for, without those that are invalid; the
	 * library's sentence about each of these. */
	struct vtr_options options;
	unsigned invalid_count;
	struct vpt_err invalid[VTR_INVALID_MAX];

	char folder[PATH_MAX]; /* for the self-test's files; "": none could be made */
	char capture[PATH_MAX];

	struct vtr_probe load;       /* load_probe.c: the library alone */
	struct vtr_probe cuda;       /* cuda_probe.c: driver and libcupti, nothing started */
	struct vtr_probe self;       /* self_probe.c: the self-test */
	struct vtr_probe nvml;       /* nvml_probe.c: what NVML gives of each GPU */
	struct vtr_probe python_ran; /* python_probe.c */
	struct vtr_probe system;     /* system_probe.c: system calls that may be forbidden */
	int64_t clock_step_ns;       /* how far CLOCK_REALTIME jumped during the self-test */
};

/* In a child, which is to make a capture of its own: unsets what the user has set for programs. What
 * says which CUPTI is meant, and how much memory there is, stays. */
void vtr_probe_unset(void);

/* The functions that run in the children. `ctx` is the patient. */
void vtr_probe_load(int to, void *patient);
void vtr_probe_cuda(int to, void *patient);
void vtr_probe_self(int to, void *patient);
void vtr_probe_nvml(int to, void *patient);
void vtr_probe_python(int to, void *patient);
void vtr_probe_system(int to, void *patient);

/* What the self-test launches, of each. Its kernels need a GPU that accepts the PTX. */
enum { VTR_SELF_KERNELS = 4, VTR_SELF_COPIES = 12, VTR_SELF_RANGES = 8 };
#define VTR_SELF_NVTX  "vptrace doctor through NVTX"
#define VTR_SELF_RANGE "vptrace doctor"

#endif
