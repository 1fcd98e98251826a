/* environment.c - a program that runs with more rights than its caller must not obey its caller's variables.
 *
 * setenv(3) may free the array of variables while another thread walks it in getenv(3). So a variable is added by
 * replacing the array with a longer one, and the old one stays for whoever is in it. */
#include "tracer/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

enum { ATTEMPTS = 4 };

/* The variables of `old` and one more; NULL: no memory. */
static char **longer(char **old, char *text)
{
	size_t count = 0;
	char **fresh;

	while (old && old[count])
		count++;
	fresh = malloc((count + 2) * sizeof(*fresh));
	if (!fresh)
		return NULL;
	if (count)
		memcpy(fresh, old, count * sizeof(*fresh));
	fresh[count] = text;
	fresh[count + 1] = NULL;
	return fresh;
}

void vtr_environment_default(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *text = getenv(name) ? NULL : malloc(size), **old, **fresh;
	int attempt;

	if (!text)
		return;
	snprintf(text, size, "%s=%s", name, value);
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		old = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
		fresh = longer(old, text);
		if (!fresh)
			break;
		if (__atomic_compare_exchange_n(
			    &environ, &old, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
		free(fresh); /* the host has changed it meanwhile */
	}
	free(text);
}
