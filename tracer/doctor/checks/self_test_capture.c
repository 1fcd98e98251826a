/* self_test_capture.c - vptrace-analyze writes one key a line, in an order that it keeps; so looking for
 * lines is enough. */
#include "tracer/doctor/checks/self_test_capture.h"

#include "formats/cli/command.h"
#include "tracer/command/base/run_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INFO_BYTES = 64 << 10, ROWS_BYTES = 64 << 10 };

static char info[INFO_BYTES];
static int known;

/* A capture without GPU work counts as lossy, and is shown all the same. */
static int is_answer(int rc)
{
	return rc == VPT_EXIT_DONE || rc == VPT_EXIT_DAMAGED;
}

/* The file's name: the library may have added a number. */
static const char *capture_of(const struct vtr_patient *p)
{
	const char *path = vtr_probe_value(&p->self, "path", 0);

	return path && *path ? path : p->capture;
}

void vtr_metadata_read(const struct vtr_patient *p)
{
	const char *words[] = {"vptrace-analyze", "info", "--format", "json", capture_of(p), NULL};

	known = is_answer(vtr_program_ask(p->analyzer, words, info, sizeof(info)));
}

int vtr_metadata_is_known(void)
{
	return known;
}

int vtr_metadata(const struct vtr_patient *p, enum vpt_metadata fact, char *out, size_t size)
{
	const char *at, *end;
	char wanted[200];

	(void)p;
	out[0] = '\0';
	snprintf(wanted, sizeof(wanted), "\"key\": \"%s\"", vpt_metadata_key(fact));
	at = known ? strstr(info, wanted) : NULL;
	at = at ? strstr(at, "\"value\": \"") : NULL;
	if (!at)
		return 0;
	at += strlen("\"value\": \"");
	end = strchr(at, '"');
	if (!end)
		return 0;
	snprintf(out, size, "%.*s", (int)(end - at), at);
	return 1;
}

unsigned vtr_metadata_count(const char *kind)
{
	const char *kinds = known ? strstr(info, "\"kinds\": {") : NULL, *end, *at;
	char wanted[80];

	snprintf(wanted, sizeof(wanted), "\"%s\": ", kind);
	end = kinds ? strchr(kinds, '}') : NULL;
	at = kinds ? strstr(kinds, wanted) : NULL;
	return end && at && at < end ? (unsigned)strtoul(at + strlen(wanted), NULL, 10) : 0;
}

unsigned vtr_metadata_ranges(const struct vtr_patient *p, const char *name)
{
	const char *words[] = {"vptrace-analyze", "cat", "--kind", "range", capture_of(p), NULL};
	char rows[ROWS_BYTES], wanted[200];
	const char *at = rows;
	unsigned count = 0;

	if (!is_answer(vtr_program_ask(p->analyzer, words, rows, sizeof(rows))))
		return 0;
	snprintf(wanted, sizeof(wanted), "\"name\":\"%s\"", name);
	while ((at = strstr(at, wanted)) != NULL) {
		count++;
		at += strlen(wanted);
	}
	return count;
}

int vtr_metadata_check(const struct vtr_patient *p, char *out, size_t size)
{
	const char *path = capture_of(p);
	const char *words[] = {"vptrace-analyze", "check", path, NULL};
	int rc = vtr_program_ask(p->analyzer, words, out, size);
	size_t len = strlen(path);

	if (!strncmp(out, path, len) && out[len] == ':')
		memmove(out, out + len + 2, strlen(out + len + 2) + 1);
	out[strcspn(out, "\n")] = '\0';
	return rc;
}
