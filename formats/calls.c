/* calls.c - looking calls up. Names are looked up once per distinct name, so a plain scan of the few
 * hundred entries does; classes, asked for per call, are an array. */
#include "formats/calls.h"

#include <string.h>

static const struct call {
	const char *name;
	uint8_t len, klass;
	uint16_t number;
} calls[] = {
#define VPT_CALL_NAME(number, name, klass) {name, sizeof(name) - 1, VPT_CALL_##klass, number},
#include "formats/calls.def"
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))
enum { NUMBER_LIMIT = 256 };

static const uint8_t class_of[NUMBER_LIMIT] = {
#define VPT_CALL_NAME(number, name, klass) [number] = VPT_CALL_##klass,
#include "formats/calls.def"
};

static const char *const name_of[NUMBER_LIMIT] = {
#define VPT_CALL_NAME(number, name, klass) [number] = name,
#include "formats/calls.def"
};

/* Cuts "_v<digits>", "_ptsz" and "_ptds", in any order and number, off the end. */
static size_t bare_length(const char *name, size_t len)
{
	for (;;) {
		size_t end = len;

		if (len > 5 && (!memcmp(name + len - 5, "_ptsz", 5) ||
				       !memcmp(name + len - 5, "_ptds", 5))) {
			len -= 5;
			continue;
		}
		while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		if (end == len || end < 3 || name[end - 1] != 'v' || name[end - 2] != '_')
			return len;
		len = end - 2;
	}
}

uint32_t vpt_call_find(const char *name, size_t len)
{
	size_t bare = bare_length(name, len), i;

	for (i = 0; i < CALLS; i++)
		if (calls[i].len == bare && !memcmp(calls[i].name, name, bare))
			return calls[i].number;
	return 0;
}

const char *vpt_call_name(uint32_t number)
{
	return number < NUMBER_LIMIT ? name_of[number] : NULL;
}

enum vpt_call_class vpt_call_class(uint32_t number)
{
	return number < NUMBER_LIMIT ? (enum vpt_call_class)class_of[number] : VPT_CALL_OTHER;
}

int vpt_call_launches(enum vpt_call_class klass)
{
	return klass == VPT_CALL_LAUNCH || klass == VPT_CALL_GRAPH_LAUNCH ||
	       klass == VPT_CALL_COPY || klass == VPT_CALL_BLOCKING_COPY ||
	       klass == VPT_CALL_MEMSET;
}
