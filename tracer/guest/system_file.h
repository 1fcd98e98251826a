/* system_file.h - small text files of /proc and /sys, and where those of this process's control group are. */
#ifndef VPTRACE_TRACER_GUEST_SYSTEM_FILE_H
#define VPTRACE_TRACER_GUEST_SYSTEM_FILE_H

#include <stddef.h>

/* Reads the beginning of a file, cut at `size`, with a NUL and without the last line end. Returns
 * the number of bytes; 0, and "", if it is empty or cannot be read. */
size_t vtr_system_file(const char *path, char *out, size_t size);

/* The name of the kernel's clock source, as "tsc". Returns as vtr_system_file(). */
size_t vtr_clock_source(char *out, size_t size);

/* The path of file `name` of this process's control group (version 2). Where its own folder cannot be seen, as in a
 * container that has the host's name for it, the path is at the top of /sys/fs/cgroup, which is the group there. */
void vtr_cgroup_path(const char *name, char *out, size_t size);

/* The same, in the words of /proc/PID/cgroup: "/PATH", "" for the top or where no line is of version 2. Changes `groups`. */
const char *vtr_cgroup_of(char *groups);

#endif
