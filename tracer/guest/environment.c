/* environment.c - a program that runs with more rights than its caller must not obey its caller's
 * variables.
 *
 * setenv(3) may free the array of variables while another thread walks it in getenv(3). So we add a
 * variable by replacing the array with a longer one, and keep the old one for its readers. */
#include "tracer/guest/environment.h"

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

/* The former variables and one more, whose text follows them. */
struct added {
	struct added *next; /* older: all are kept, for their readers */
	char *variables[];
};

static struct added *newest;

/* NULL: no memory. */
static struct added *add_to(char **old, const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2, count = 0;
	struct added *a;
	char *text;

	while (old && old[count])
		count++;
	a = malloc(sizeof(*a) + (count + 2) * sizeof(a->variables[0]) + size);
	if (!a)
		return NULL;
	text = (char *)&a->variables[count + 2];
	snprintf(text, size, "%s=%s", name, value);
	if (count)
		memcpy(a->variables, old, count * sizeof(a->variables[0]));
	a->variables[count] = text;
	a->variables[count + 1] = NULL;
	return a;
}

void vtr_environment_default(const char *name, const char *value)
{
	struct added *a;
	char **old;
	int attempt;

	if (getenv(name))
		return;
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		old = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
		a = add_to(old, name, value);
		if (!a)
			return;
		if (__atomic_compare_exchange_n(
			    &environ, &old, a->variables, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
			a->next = newest;
			newest = a;
			return;
		}
		free(a); /* the host has changed it meanwhile */
	}
}
