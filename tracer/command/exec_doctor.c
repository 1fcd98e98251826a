/* exec_doctor.c - passes to vptrace-doctor what this program finds beside itself. */
#include "tracer/command/run.h"

#include "tracer/command/base/doctor.h"
#include "tracer/command/base/install_places.h"
#include "tracer/command/base/run_program.h"
#include "tracer/command/base/say.h"
#include "tracer/vptrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A tracer that is preloaded here would be in the doctor's children too, beside the one that they
 * examine. Other libraries stay: they belong to what is examined. */
static void drop_preload(void)
{
	const char *list = getenv("LD_PRELOAD");
	char *copy = list ? strdup(list) : NULL, *kept = list ? calloc(1, strlen(list) + 2) : NULL;
	char *rest = copy, *word;

	while (copy && kept && (word = strsep(&rest, ": ")) != NULL)
		if (*word && !strstr(word, "libvptrace.so"))
			sprintf(kept + strlen(kept), "%s%s", *kept ? ":" : "", word);
	if (kept && *kept)
		setenv("LD_PRELOAD", kept, 1);
	else if (kept)
		unsetenv("LD_PRELOAD");
	free(copy);
	free(kept);
}

int vtr_diagnosis_become(int argc, char **argv)
{
	char program[PATH_MAX], version[32];
	struct vtr_places places;
	struct vpt_err err = {0};
	char **words = calloc((size_t)VTR_WORDS + (size_t)argc + 1, sizeof(*words));

	vtr_places_doctor(program);
	if (!words || !*program) {
		vtr_say(words ? "vptrace-doctor is neither beside this program nor in "
				"libexec/vptrace: install it"
			      : "no memory");
		free(words);
		return VTR_EXIT_NOT_FOUND;
	}
	if (vtr_places_find(&places, &err))
		places.library[0] = '\0';
	snprintf(version, sizeof(version), "%d.%d.%d", VPTRACE_VERSION_MAJOR, VPTRACE_VERSION_MINOR,
		VPTRACE_VERSION_PATCH);
	drop_preload();
	words[VTR_WORD_PROGRAM] = program;
	words[VTR_WORD_VERSION] = version;
	words[VTR_WORD_LIBRARY] = places.library;
	words[VTR_WORD_ANALYZER] = places.analyzer;
	words[VTR_WORD_SITE] = places.site;
	words[VTR_WORD_PROBLEM] = err.text;
	memcpy(words + VTR_WORDS, argv, (size_t)argc * sizeof(*words));
	execv(program, words);
	vtr_say("%s: %s", program, strerror(errno));
	free(words);
	return VTR_EXIT_CANNOT_EXECUTE;
}
