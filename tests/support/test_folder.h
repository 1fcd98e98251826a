/* test_folder.h - an empty folder for a test, which is then the current one. For one test program each. */
#ifndef TESTS_SUPPORT_TEST_FOLDER_H
#define TESTS_SUPPORT_TEST_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[4096], start_folder[4096];

/* `name`: of the test. 0 or -1. */
static inline int folder_enter(const char *name)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/%s.XXXXXX", base ? base : P_tmpdir, name);
	if (!getcwd(start_folder, sizeof(start_folder)) || !mkdtemp(folder))
		return -1;
	return chdir(folder) || !getcwd(folder, sizeof(folder)) ? -1 : 0;
}

static inline int is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* The names in the current folder, sorted, with a space after each. */
static inline const char *names(void)
{
	static char text[2048];
	struct dirent **list;
	int count = scandir(".", &list, is_name, alphasort), i;

	if (count < 0)
		return "(the folder cannot be read)";
	text[0] = '\0';
	for (i = 0; i < count; i++) {
		strncat(text, list[i]->d_name, sizeof(text) - strlen(text) - 1);
		strncat(text, " ", sizeof(text) - strlen(text) - 1);
		free(list[i]);
	}
	free(list);
	return text;
}

static inline void remove_all(void)
{
	struct dirent **list;
	int count = scandir(".", &list, is_name, alphasort), i;

	for (i = 0; i < count; i++) {
		if (unlink(list[i]->d_name))
			rmdir(list[i]->d_name);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
}

/* Removes the folder and all in it, and goes back. 0 or -1. */
static inline int folder_leave(void)
{
	if (chdir(folder))
		return -1;
	remove_all();
	return chdir(start_folder) || rmdir(folder) ? -1 : 0;
}

#endif
