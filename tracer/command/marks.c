/* marks.c - the items of VPTRACE_MARK. */
#include "tracer/command/marks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".marks"

enum { NAMES_BYTES = 512 };

static void folder_of_presets(char out[PATH_MAX], const char *site)
{
	if (snprintf(out, PATH_MAX, "%s/../vptrace_marks/presets", site) >= PATH_MAX)
		*out = '\0';
}

static int is_preset(const char *item, const char *folder)
{
	char path[PATH_MAX], name[64];
	size_t i;

	if (strchr(item, '/') || strlen(item) >= sizeof(name))
		return 0;
	for (i = 0; item[i]; i++)
		name[i] = (char)(item[i] == '-' ? '_' : tolower((unsigned char)item[i]));
	name[i] = '\0';
	return snprintf(path, sizeof(path), "%s/%s" SUFFIX, folder, name) < (int)sizeof(path) &&
	       !access(path, R_OK);
}

static int is_modules(const char *item)
{
	const char *number = item + strlen("modules:");

	return !strncmp(item, "modules:", strlen("modules:")) && *number &&
	       strspn(number, "0123456789") == strlen(number) &&
	       strspn(number, "0") < strlen(number);
}

static int is_visible(const struct dirent *entry)
{
	return strlen(entry->d_name) > strlen(SUFFIX) && entry->d_name[0] != '.';
}

/* "causvid, diffusers, ..." */
static void list_presets(char *out, size_t cap, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_visible, alphasort), i;
	size_t used = 0;

	*out = '\0';
	for (i = 0; i < count; i++) {
		int len = (int)(strlen(entries[i]->d_name) - strlen(SUFFIX));

		if (used < cap)
			used += (size_t)snprintf(out + used, cap - used, "%s%.*s", used ? ", " : "",
				len, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static int check_item(const char *item, const char *folder, struct vpt_err *err)
{
	char names[NAMES_BYTES];

	/* A rule in place of a file: Python reads it. */
	if (!*item || !strcmp(item, "auto") || !strcmp(item, "none") || strchr(item, '=') ||
		is_modules(item) || is_preset(item, folder) || !access(item, R_OK))
		return VPT_OK;
	if (strchr(item, '/') || errno != ENOENT)
		return vpt_fail(err, VPT_EINVAL, "VPTRACE_MARK: %.300s: %s", item, strerror(errno));
	list_presets(names, sizeof(names), folder);
	return vpt_fail(err, VPT_EINVAL,
		"VPTRACE_MARK: expected auto, none, modules:N, a file or one of %s, found "
		"\"%.100s\"",
		names, item);
}

static char *trimmed(char *item)
{
	size_t len;

	item += strspn(item, " \t");
	for (len = strlen(item); len && strchr(" \t", item[len - 1]); len--)
		item[len - 1] = '\0';
	return item;
}

int vtr_marks_check(const char *text, const char *site, struct vpt_err *err)
{
	char folder[PATH_MAX], *items = text ? strdup(text) : NULL, *item, *rest = items;
	int rc = VPT_OK;

	if (text && !items)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the marks");
	folder_of_presets(folder, site);
	while (!rc && rest) {
		item = trimmed(strsep(&rest, ","));
		rc = check_item(item, folder, err);
	}
	free(items);
	return rc;
}
