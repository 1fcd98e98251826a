/* environment.h - variables of the environment, where they may be believed. */
#ifndef VPTRACE_TRACER_ENVIRONMENT_H
#define VPTRACE_TRACER_ENVIRONMENT_H

/* Whether the environment may be read: not in a setuid program. */
int vtr_environment_trusted(void);
/* getenv(3) under that rule; NULL when unset, empty or not trusted. Borrowed from the environment.
 */
const char *vtr_environment(const char *name);

/* Sets a variable that is not set, for the life of the process. Unlike setenv(3) safe beside threads that read the environment.
 * Without memory nothing happens. The constructor's thread only: afterwards the environment is the host's alone. */
void vtr_environment_default(const char *name, const char *value);

#endif
