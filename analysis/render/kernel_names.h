/* kernel_names.h - names of kernels in the room that a line has. */
#ifndef VPA_ANALYSIS_RENDER_KERNEL_NAMES_H
#define VPA_ANALYSIS_RENDER_KERNEL_NAMES_H

#include "analysis/render/units.h"
#include "analysis/report.h"

enum { VPA_LABELS_MAX = 16 };

/* A kernel's name without "void ", namespaces and parameters, which say little. NULL is "?". */
struct vpa_label vpa_kernel_label(const char *name, size_t columns);

/* The labels of `count` kernels, at most VPA_LABELS_MAX. Where different names would look the same, each shows the parts
 * by which it differs from the others: "Cijk_Ailk_Bljk_BBS...MT256x256x64". */
void vpa_kernel_labels(
	const char *const *names, size_t count, size_t columns, struct vpa_label *labels);

/* "unknown (my_kernel, other)": kernels of no family, with those that make up most of them. */
struct vpa_label vpa_unknown_label(const struct vpa_report *r);

#endif
