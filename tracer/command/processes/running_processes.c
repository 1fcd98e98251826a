/* running_processes.c - looks through /proc. */
#include "tracer/command/processes/running_processes.h"

#include "tracer/guest/system_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENVIRONMENT_BYTES = 1 << 20 };

/* Reads /proc/PID/NAME. Returns its length; a process that has ended has none. */
static size_t read_file(long pid, const char *name, char *out, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	return vtr_system_file(path, out, size);
}

static int has_variable(const char *environment, size_t size, const char *variable)
{
	const char *at = environment;

	for (; at < environment + size; at += strlen(at) + 1)
		if (!strcmp(at, variable))
			return 1;
	return 0;
}

/* `buffer` has ENVIRONMENT_BYTES. */
static int is_of_this_run(long pid, const char *list, char *buffer)
{
	char variable[4200];

	snprintf(variable, sizeof(variable), "VPTRACE_LIST=%s", list);
	return has_variable(buffer, read_file(pid, "environ", buffer, ENVIRONMENT_BYTES), variable);
}

int vtr_running_has(long pid)
{
	const char *list = getenv("VPTRACE_LIST");
	char *buffer = list ? malloc(ENVIRONMENT_BYTES) : NULL;
	int has = buffer && is_of_this_run(pid, list, buffer);

	free(buffer);
	return has;
}

void vtr_running_find(struct vtr_running *out)
{
	const char *list = getenv("VPTRACE_LIST");
	char *buffer = list ? malloc(ENVIRONMENT_BYTES) : NULL;
	DIR *all = buffer ? opendir("/proc") : NULL;
	struct dirent *entry;
	long pid;

	memset(out, 0, sizeof(*out));
	while (all && (entry = readdir(all))) {
		pid = strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || pid == (long)getpid() || !is_of_this_run(pid, list, buffer))
			continue;
		if (!out->count++) {
			out->pid = pid;
			read_file(pid, "comm", out->name, sizeof(out->name));
		}
	}
	if (all)
		closedir(all);
	free(buffer);
}
