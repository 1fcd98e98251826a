/* kernel_names.h - fits names of kernels into a line. */
#ifndef VPA_ANALYSIS_RENDER_KERNEL_NAMES_H
#define VPA_ANALYSIS_RENDER_KERNEL_NAMES_H

#include "analysis/base/numbers.h"
#include "analysis/report/report.h"

enum { VPA_LABELS_MAX = 16 };

/* A kernel's name without "void ", namespaces and parameters. NULL gives "?". */
struct vpa_label vpa_kernel_label(const char *name, size_t columns);

/* The labels of `count` kernels, at most VPA_LABELS_MAX. Different names that would look the same show
 * the parts in which they differ: "Cijk_Ailk_Bljk_BBS...MT256x256x64". */
void vpa_kernel_labels(
	const char *const *names, size_t count, size_t columns, struct vpa_label *labels);

/* "unknown (my_kernel, other)": kernels without a family, with the names of the largest. */
struct vpa_label vpa_unknown_label(const struct vpa_report *r);

#endif
