/* environment.h - variables of the environment, where they may be believed. */
#ifndef VPTRACE_TRACER_ENVIRONMENT_H
#define VPTRACE_TRACER_ENVIRONMENT_H

/* Whether the environment may be read: not in a setuid program. */
int vtr_environment_trusted(void);
/* getenv(3) under that rule; NULL when unset, empty or not trusted. Borrowed from the environment.
 */
const char *vtr_environment(const char *name);

#endif
