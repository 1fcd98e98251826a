/* doctor.h - `vptrace doctor`: what works here, and the remedies for what does not.
 *
 *	probes, each in a child process of its own  ->  a table of checks  ->  lines or JSON
 *
 * The command `vptrace` links libc alone, so this is a program of its own, which it runs:
 * libexec/vptrace/vptrace-doctor. It is linked from the library's own objects. Its answers about
 * drivers, libcupti, clocks and variables come from the code that records, in that code's words, and
 * the library exports nothing for it. What only a capture can show, the self-test asks of
 * libvptrace.so itself.
 *
 * Whatever belongs to NVIDIA or to the user runs in a child with a time limit: a crash or a hang
 * there is a line of the answer. */
#ifndef VPTRACE_TRACER_COMMAND_BASE_DOCTOR_H
#define VPTRACE_TRACER_COMMAND_BASE_DOCTOR_H

#include "formats/cli/command.h"

/* The option table, by number. */
enum vtr_doctor_option {
	VTR_DOCTOR_JSON,
	VTR_DOCTOR_PYTHON,
	VTR_DOCTOR_TIMEOUT,
	VTR_DOCTOR_OPTIONS
};

/* The command's descriptor without its function: manual pages and completions are made from it. */
extern const struct vpt_command vtr_command_doctor;

/* The words that `vptrace` puts before the user's: what it found beside itself. "" where it found
 * nothing. */
enum vtr_doctor_word {
	VTR_WORD_PROGRAM,
	VTR_WORD_VERSION,  /* of `vptrace` */
	VTR_WORD_LIBRARY,  /* libvptrace.so */
	VTR_WORD_ANALYZER, /* vptrace-analyze */
	VTR_WORD_SITE,     /* the folder with sitecustomize.py */
	VTR_WORD_PROBLEM,  /* why there is no library */
	VTR_WORDS
};

#endif
