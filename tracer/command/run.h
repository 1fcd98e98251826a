/* run.h - `vptrace run`: starts a command with the tracer in it, waits for it, says what was
 * recorded.
 *
 *	check everything that can be checked -> set the environment -> start -> wait -> summary
 *
 * Whatever the tracer needs comes in environment variables, so every process that the command
 * starts is traced too, one file each. The launcher uses libc alone, and libzstd for the rings of
 * processes that died. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_H
#define VPTRACE_TRACER_COMMAND_RUN_H

#include "formats/cli/command.h"

/* The option table, by number. */
enum vtr_run_option {
	VTR_RUN_OUTPUT,
	VTR_RUN_OVERWRITE,
	VTR_RUN_PROFILE,
	VTR_RUN_CAPTURE,
	VTR_RUN_DURATION,
	VTR_RUN_MAX_BYTES,
	VTR_RUN_MEMORY,
	VTR_RUN_STACKS,
	VTR_RUN_MARK,
	VTR_RUN_TAG,
	VTR_RUN_PRELOAD,
	VTR_RUN_REPORT,
	VTR_RUN_LIVE,
	VTR_RUN_TARGET,
	VTR_RUN_SIMULATE,
	VTR_RUN_RING,
	VTR_RUN_SNAPSHOT_ON,
	VTR_RUN_COUNTERS,
	VTR_RUN_MEMORY_PEAKS,
	VTR_RUN_MEMORY_HISTORY,
	VTR_RUN_COMPILATIONS,
	VTR_RUN_SHAPES,
	VTR_RUN_CONFIG,
	VTR_RUN_DRY_RUN,
	VTR_RUN_OPTIONS
};

/* The command's descriptor without its function: manual pages and completions are made from it. */
extern const struct vpt_command vtr_command_run;

/* The variable that says the same as an option; NULL: there is none. */
const char *vtr_run_variable(unsigned option);

/* Runs it. `args` gets what the file of --config says. Returns the exit status for main(). */
int vtr_run(struct vpt_args *args);

/* ---- exec_doctor.c: `vptrace doctor`, which is a program of its own: see tracer/doctor/doctor.h ---- */

/* Runs it in place of this process, with these words. Returns an exit status only if it cannot be
 * run, after saying why. */
int vtr_diagnosis_become(int argc, char **argv);

#endif
