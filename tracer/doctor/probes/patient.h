/* patient.h - what the checks look at: the probes' answers, and what was known before. */
#ifndef VPTRACE_TRACER_DOCTOR_PROBES_PATIENT_H
#define VPTRACE_TRACER_DOCTOR_PROBES_PATIENT_H

#include "tracer/settings/capture_options.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* ---- probe.c: a part of the examination in a child process of its own, with a time limit.
 *
 * The child says what it finds in lines "key value" through a pipe, and names each step before it
 * takes it, so that a crash or a hang can be placed. */

enum vtr_probe_end {
	VTR_PROBE_NOT_RUN, /* no process could be made, or nobody asked */
	VTR_PROBE_EXITED,
	VTR_PROBE_KILLED, /* by a signal that was not ours */
	VTR_PROBE_TIMED_OUT,
	VTR_PROBE_STUCK /* timed out, and SIGKILL did not end it */
};

struct vtr_probe {
	enum vtr_probe_end end;
	int status; /* exit status, or the signal */
	unsigned timeout_s;
	char *text; /* lines, each ended by NUL; two NULs at the end; NULL: none */
	size_t bytes;
};

/* Runs `body` in a child and waits until it has returned or `timeout_s` is over. The child has
 * /dev/null as standard input, output and error, and `to` as its pipe; it exits when `body`
 * returns. Free the probe with vtr_probe_reset(), whatever happened. */
void vtr_probe_run(
	struct vtr_probe *p, unsigned timeout_s, void (*body)(int to, void *ctx), void *ctx);
void vtr_probe_reset(struct vtr_probe *p);

/* Set by a signal handler: the probe that runs is ended as if its time were over. */
extern volatile sig_atomic_t vtr_probe_abandon;

/* In the child. Line ends in the text become blanks. */
__attribute__((format(printf, 3, 4))) void vtr_probe_say(
	int to, const char *key, const char *fmt, ...);
void vtr_probe_step(int to, const char *step);

/* The value of a key; NULL: it was not said. `index` counts the lines of that key from 0. */
const char *vtr_probe_value(const struct vtr_probe *p, const char *key, unsigned index);
/* As a number; 0: not said, or none. */
unsigned long long vtr_probe_number(const struct vtr_probe *p, const char *key);

/* 1, and a sentence, if the child did not come to its end: "it crashed (signal 11, Segmentation
 * fault) in cuInit". Else 0. */
int vtr_probe_failed(const struct vtr_probe *p, char *out, size_t size);

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
