/* model_call_kinds.c - the table of call names: the first row with a pattern for a name says its kind. */
#include "tests/support/model/model_call_kinds.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256, PATTERN_MAX_BYTES = 64 };

static const struct {
	enum model_call_kind kind;
	const char *patterns; /* with a space between two */
} table[] = {
	{MODEL_CALL_MODULE_LOAD,
		"ModuleLoad* ModuleUnload* ModuleGetFunction* LibraryLoad* LibraryUnload* "
		"LibraryGetKernel* KernelGetFunction* FuncLoad* GetFuncBySymbol* Link* "
		"RegisterFatBinary* rtcCompile*"},
	{MODEL_CALL_GRAPH_LAUNCH, "GraphLaunch*"},
	{MODEL_CALL_BEGIN_CAPTURE, "*BeginCapture*"},
	{MODEL_CALL_END_CAPTURE, "*EndCapture*"},
	{MODEL_CALL_OTHER, "Graphics* LaunchHostFunc*"},
	{MODEL_CALL_GRAPH_BUILD, "Graph*"},
	{MODEL_CALL_LAUNCH, "Launch* ExtLaunch* *LaunchKernel* *LaunchCooperative*"},
	{MODEL_CALL_COPY, "Memcpy*Async*"},
	{MODEL_CALL_BLOCKING_COPY, "Memcpy*"},
	{MODEL_CALL_MEMSET, "Memset*"},
	{MODEL_CALL_STREAM_WAIT, "StreamWait*"},
	{MODEL_CALL_SYNC, "*Synchronize*"},
	{MODEL_CALL_QUERY,
		"*Query* *GetAttribute* *GetDevice* *GetLastError* *PeekAtLastError* *IsCapturing* "
		"*GetCaptureInfo* *Occupancy* *FuncGet* *CtxGet* *GetPriority* *PriorityRange* "
		"*CallConfiguration* GetProcAddress* EventRecord* EventCreate* EventDestroy*"},
	{MODEL_CALL_ALLOCATION,
		"Malloc* ExtMalloc* Free* *HostAlloc* *HostMalloc* *HostFree* *HostRegister* "
		"*HostUnregister* MemAlloc* MemFree* MemPool* MemCreate* MemRelease* MemMap* "
		"MemUnmap* MemSetAccess* MemAddress*"},
	{MODEL_CALL_OTHER, "*"},
};

/* Takes an ending off a name; 0: it has none of them. */
static int cut_ending(char *name)
{
	static const char *const endings[] = {"_ptsz", "_ptds", "_spt"};
	size_t len = strlen(name), digits = 0, i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);

		if (len >= n && !strcmp(name + len - n, endings[i])) {
			name[len - n] = '\0';
			return 1;
		}
	}
	while (digits < len && isdigit((unsigned char)name[len - digits - 1]))
		digits++;
	if (!digits || len < digits + 2 || memcmp(name + len - digits - 2, "_v", 2) != 0)
		return 0;
	name[len - digits - 2] = '\0';
	return 1;
}

static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = {"cuda", "cu", "hip"};
	const char *at = name + strspn(name, "_");
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(at, prefixes[i], strlen(prefixes[i])))
			return at + strlen(prefixes[i]);
	return name;
}

/* Whether one of the patterns is for the name. */
static int has_pattern(const char *patterns, const char *name)
{
	char pattern[PATTERN_MAX_BYTES];
	int read;

	for (; sscanf(patterns, " %63s%n", pattern, &read) == 1; patterns += read)
		if (!fnmatch(pattern, name, 0))
			return 1;
	return 0;
}

enum model_call_kind model_call_kind_of(const char *name)
{
	char plain[NAME_MAX_BYTES];
	const char *rest;
	size_t i;

	snprintf(plain, sizeof(plain), "%s", name ? name : "");
	while (cut_ending(plain))
		;
	rest = without_prefix(plain);
	for (i = 0; !has_pattern(table[i].patterns, rest); i++)
		;
	return table[i].kind;
}

int model_call_submits(enum model_call_kind kind)
{
	return kind == MODEL_CALL_LAUNCH || kind == MODEL_CALL_GRAPH_LAUNCH ||
	       kind == MODEL_CALL_COPY || kind == MODEL_CALL_BLOCKING_COPY ||
	       kind == MODEL_CALL_MEMSET;
}
