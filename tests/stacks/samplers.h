/* samplers.h - counts the threads of this process that sample stacks. */
#ifndef VPT_TESTS_STACKS_SAMPLERS_H
#define VPT_TESTS_STACKS_SAMPLERS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int samplers(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder))) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		f = fopen(path, "r");
		if (f && fgets(name, sizeof(name), f))
			count += !strcmp(name, "vptrace-stacks\n");
		if (f)
			fclose(f);
	}
	if (folder)
		closedir(folder);
	return count;
}

#endif
