/* marks.c - the items of VPTRACE_MARK. */
#include "tracer/command/options/marks.h"

#include "tracer/command/base/install_places.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* A rule in place of a file, which Python reads: it begins with a module. */
static int is_rule(const char *item)
{
	return strchr(item, '=') && *item != '/' && *item != '.';
}

static int is_file(const char *item, const char *folder)
{
	return *item && strcmp(item, "auto") != 0 && strcmp(item, "none") != 0 && !is_rule(item) &&
	       !is_modules(item) && !is_preset(item, folder);
}

/* Who judges lines. */
struct asked {
	const char *python, *site;
};

static int ask(const struct asked *a, const char *what, const char *item, struct vpt_err *err)
{
	return vtr_mark_check(a->python, a->site, what, item, err);
}

/* A pipe could be read only once, and is Python's. */
static int check_item(
	const char *item, const char *folder, const struct asked *asked, struct vpt_err *err)
{
	char names[NAMES_BYTES];
	struct stat st;

	if (!is_file(item, folder))
		return is_rule(item) ? ask(asked, "rule", item, err) : VPT_OK;
	if (!access(item, R_OK) && !stat(item, &st)) {
		if (!S_ISDIR(st.st_mode))
			return S_ISREG(st.st_mode) ? ask(asked, "file", item, err) : VPT_OK;
		errno = EISDIR;
	}
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

/* A relative file is the launcher's, wherever the process that reads it has gone; but a comma in the
 * folder's name would divide the item. */
static void put_item(FILE *out, const char *item, const char *folder)
{
	char path[PATH_MAX];

	if (is_file(item, folder) && vtr_places_absolute(item, path) && !strchr(path, ','))
		item = path;
	fprintf(out, "%s%s", ftell(out) ? "," : "", item);
}

int vtr_marks_resolve(
	const char *text, const char *site, const char *python, char **out, struct vpt_err *err)
{
	const struct asked asked = {python, site};
	char folder[PATH_MAX], *items = strdup(text), *item, *rest = items;
	FILE *resolved;
	int rc = VPT_OK;
	size_t size;

	*out = NULL;
	resolved = items ? open_memstream(out, &size) : NULL;
	folder_of_presets(folder, site);
	while (resolved && !rc && rest) {
		item = trimmed(strsep(&rest, ","));
		rc = check_item(item, folder, &asked, err);
		put_item(resolved, item, folder);
	}
	if (!resolved || fclose(resolved))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for the marks");
	free(items);
	if (rc) {
		free(*out);
		*out = NULL;
	}
	return rc;
}
