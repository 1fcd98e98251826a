/* system_file.h - small text files of /proc and /sys. */
#ifndef VPTRACE_TRACER_DOCTOR_CHECKS_SYSTEM_FILE_H
#define VPTRACE_TRACER_DOCTOR_CHECKS_SYSTEM_FILE_H

#include <stddef.h>

/* Reads the beginning of a file, cut at `size`, with a NUL and without the last line end. Returns
 * the number of bytes; 0, and "", if it is empty or cannot be read. */
size_t vtr_system_file(const char *path, char *out, size_t size);

#endif
