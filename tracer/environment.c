/* environment.c - a program that runs with more rights than its caller must not obey its caller's variables. */
#include "tracer/environment.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int vtr_environment_trusted(void)
{
	return !getauxval(AT_SECURE) && getuid() == geteuid() && getgid() == getegid();
}

const char *vtr_environment(const char *name)
{
	const char *value = vtr_environment_trusted() ? getenv(name) : NULL;

	return value && *value ? value : NULL;
}
