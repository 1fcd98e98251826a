/* probe.h - a part of the examination in a child process of its own, with a time limit.
 *
 * The child says what it finds in lines "key value" through a pipe, and names each step before it
 * takes it, so that a crash or a hang can be placed. */
#ifndef VPTRACE_TRACER_DOCTOR_PROBES_PROBE_H
#define VPTRACE_TRACER_DOCTOR_PROBES_PROBE_H

#include <signal.h>
#include <stddef.h>

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

#endif
