/* misspelt.c - names that are one or two slips away from a known one. */
#include "tracer/settings/misspelt.h"

#include "formats/base/word_distance.h"
#include "tracer/guest/environment.h"
#include "tracer/guest/tell.h"
#include "tracer/settings/capture_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A name further than this from all of ours is somebody else's, as in
 * VPTRACE_OUTPUT=%q{VPTRACE_RUN}. */
enum { DISTANCE_MAX = 2 };

/* Two letters of a short name, as VPTRACE_RING, are half of it: one slip is allowed. */
enum { SHORT_BYTES = sizeof("VPTRACE_RING") - 1 };

/* The prefix of every name examined: a slip later in VPTRACE_ counts too. */
static const char prefix[] = "VPTR";

/* Variables that set no option. */
static const char *const others[] = {
	"VPTRACE_TSC", "VPTRACE_LIBRARY", "VPTRACE_NVTX_CHAIN", "VPTRACE_NVTX_OWN"};

static const char *known(size_t i)
{
	size_t options = vtr_options_count();

	if (i < options)
		return vtr_options_variable(i);
	i -= options;
	return i < sizeof(others) / sizeof(others[0]) ? others[i] : NULL;
}

/* The nearest known name; NULL: none is near, or it is known itself. */
static const char *nearest(struct vpt_text name)
{
	size_t best = DISTANCE_MAX + 1;
	const char *candidate, *found = NULL;
	size_t i;

	for (i = 0; (candidate = known(i)) != NULL; i++) {
		size_t d = vpt_word_distance(name, vpt_text_from(candidate));

		if (!d)
			return NULL;
		if (d > 1 && strlen(candidate) <= SHORT_BYTES)
			continue;
		if (d < best) {
			best = d;
			found = candidate;
		}
	}
	return found;
}

int vtr_misspelt_find(char *const *environment, char *out, size_t size)
{
	for (; environment && *environment; environment++) {
		size_t len = strcspn(*environment, "=");
		const char *meant = NULL;

		if (!strncmp(*environment, prefix, strlen(prefix)))
			meant = nearest((struct vpt_text){*environment, len});
		if (!meant)
			continue;
		snprintf(out, size,
			"%.*s is not a variable of vptrace and is ignored; did you mean %s?",
			(int)len, *environment, meant);
		return 1;
	}
	return 0;
}

int vtr_misspelt_injection(char *const *environment, char *out, size_t size)
{
	static const char *const injections[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
	size_t i;

	for (; environment && *environment; environment++)
		for (i = 0; i < sizeof(injections) / sizeof(injections[0]); i++) {
			size_t len = strlen(injections[i]);
			const char *path = *environment + len + 1;

			if (strncmp(*environment, injections[i], len) ||
				(*environment)[len] != '=' || !strchr(path, '/') ||
				!access(path, F_OK))
				continue;
			snprintf(out, size, "%s: %.200s does not exist, so it is not loaded",
				injections[i], path);
			return 1;
		}
	return 0;
}

void vtr_misspelt_tell(void)
{
	static int told;
	char text[512];

	if (told || !vtr_environment_trusted())
		return;
	told = 1;
	if (vtr_misspelt_find(environ, text, sizeof(text)))
		vtr_tell("%s", text);
	if (vtr_misspelt_injection(environ, text, sizeof(text)))
		vtr_tell("%s", text);
}
