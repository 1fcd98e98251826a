/* exec_doctor.h - `vptrace doctor`, which is a program of its own: see tracer/doctor/doctor.h. */
#ifndef VPTRACE_TRACER_COMMAND_EXEC_DOCTOR_H
#define VPTRACE_TRACER_COMMAND_EXEC_DOCTOR_H

/* Runs it in place of this process, with these words. Returns an exit status only if it cannot be
 * run, after saying why. */
int vtr_diagnosis_become(int argc, char **argv);

#endif
