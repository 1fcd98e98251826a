/* process.h - what this process uses now: memory, threads, descriptors, as /proc has it.
 *
 * For tests and for the programs that they trace: it needs no library. -1 is "not to be read here". */
#ifndef VPT_TESTS_SUPPORT_PROCESS_H
#define VPT_TESTS_SUPPORT_PROCESS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* The line of /proc/self/status that begins with `field`, "VmRSS:" or "VmHWM:", in KiB. */
static inline long vpt_process_kib(const char *field)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)))
			kib = atol(line + strlen(field));
	if (f)
		fclose(f);
	return kib;
}

/* Open descriptors, without the one that counts them. */
static inline long vpt_process_descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *one;
	long count = -1;

	while (all && (one = readdir(all)))
		count += one->d_name[0] != '.';
	if (all)
		closedir(all);
	return count;
}

/* Threads of this name, at most 15 characters, which each thread gives itself when it first runs; NULL: all. Writes
 * the first `max` of their ids to `tids`. */
static inline long vpt_process_threads(const char *name, pid_t *tids, long max)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	long count = 0;

	if (!tasks)
		return -1;
	while ((task = readdir(tasks))) {
		char path[64], comm[32] = "";
		FILE *f;

		if (task->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", task->d_name);
		f = name ? fopen(path, "re") : NULL;
		if (f && fgets(comm, sizeof(comm), f))
			comm[strcspn(comm, "\n")] = 0;
		if (f)
			fclose(f);
		if (name && strcmp(comm, name) != 0)
			continue;
		if (count < max)
			tids[count] = (pid_t)atol(task->d_name);
		count++;
	}
	closedir(tasks);
	return count;
}

#endif
