/* demangle.c - the C++ runtime's demangler: that of the program, or one that can be loaded.
 *
 * Loading libstdc++ takes longer than a short trace's analysis, so vptrace-analyze has the demangler of the compiler's
 * libsupc++.a, which needs nothing but libc, where there is one.
 *
 * A mangled name can refer to its own parts, and to parts of parts, so a few hundred bytes can
 * expand to gigabytes. Each reference at most doubles the result; names with many references are
 * not demangled. */
#include "analysis/names/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096, REFERENCES_MAX = 28 };

typedef char *demangler(const char *name, char *buffer, size_t *length, int *status);

__attribute__((weak)) demangler __cxa_demangle; /* NULL where none is linked */

static demangler *find(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	static demangler *found;
	static int tried;
	size_t i;

	if (__cxa_demangle)
		return __cxa_demangle;
	for (i = 0; !tried && !found && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&found, &symbol, sizeof(found));
	}
	tried = 1;
	return found;
}

/* References to earlier parts: S_, S0_ ... and template parameters T_, T0_ ... */
static int references(const char *name)
{
	int count = 0;

	for (; *name; name++)
		if ((*name == 'S' || *name == 'T') &&
			(name[1] == '_' || (name[1] >= '0' && name[1] <= '9')))
			count++;
	return count;
}

const char *vpa_demangle(struct vpa_arena *arena, const char *name)
{
	demangler *demangle;
	const char *result = name;
	char *text;
	int status = 0;

	if (name[0] != '_' || name[1] != 'Z' || strlen(name) > NAME_MAX_BYTES ||
		references(name) > REFERENCES_MAX)
		return name;
	demangle = find();
	text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
	if (text && !status)
		result = vpa_arena_text(arena, text, strlen(text));
	free(text);
	return result;
}
