/* nvcc_file_names.h - the names of source files that nvcc puts into the names of kernels.
 *
 * nvcc distinguishes the anonymous namespaces of files by the file's name, which says nothing about
 * the kernel: attention.cu holds more than attention. */
#ifndef VPA_ANALYSIS_NAMES_NVCC_FILE_NAMES_H
#define VPA_ANALYSIS_NAMES_NVCC_FILE_NAMES_H

#include <stddef.h>

#define VPA_NVCC_PREFIX "_GLOBAL__N_"

/* `at` is where VPA_NVCC_PREFIX begins. Returns where the name continues after the file's. */
size_t vpa_nvcc_file_name_end(const char *name, size_t len, size_t at);

/* Writes the name of a kernel without those of files: at most cap - 1 bytes and a NUL.
 * A NUL inside becomes "?". */
void vpa_kernel_name_plain(char *text, size_t cap, const char *name, size_t len);

#endif
