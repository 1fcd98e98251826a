/* environment.h - environment variables, where they may be trusted. */
#ifndef VPTRACE_TRACER_GUEST_ENVIRONMENT_H
#define VPTRACE_TRACER_GUEST_ENVIRONMENT_H

/* Whether the environment may be read: not in a setuid program. */
int vtr_environment_trusted(void);
/* getenv(3) under that rule; NULL when unset, empty or not trusted. Borrowed from the environment.
 */
const char *vtr_environment(const char *name);

/* Sets a variable if it is unset, for the life of the process. Unlike setenv(3), safe while other
 * threads read the environment. Does nothing without memory. Only for the constructor: afterwards
 * the environment belongs to the host. */
void vtr_environment_default(const char *name, const char *value);

#endif
