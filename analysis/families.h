/* families.h - what a kernel is, told by its name.
 *
 * Names are all that a trace says of a kernel's purpose. They come mangled, demangled in several
 * styles, or cut short; one table of patterns, families.def, reads them all. What no pattern knows
 * is VPA_FAMILY_UNKNOWN and stays visible as that: it is never counted under another family. */
#ifndef VPA_ANALYSIS_FAMILIES_H
#define VPA_ANALYSIS_FAMILIES_H

#include "formats/error.h"

#include <stddef.h>

enum vpa_family {
#define VPA_FAMILY(NAME, name, flags) VPA_FAMILY_##NAME,
#include "analysis/families.def"
	VPA_FAMILY_COUNT
};

struct vpa_kernel_class {
	enum vpa_family family;
	/* Whose kernel: "flash-attn-2", "flash-attn-3", "flash-attn-4", "sdpa-flash" (the
	 * FlashAttention inside PyTorch), "mem-efficient", "cudnn", "flex", "triton", "sage",
	 * "flashinfer", "xformers", "sparse", "linear", "eager" and the others of families.def.
	 * NULL outside the attention families and eager-softmax. A constant, never freed. */
	const char *backend;
	int backward; /* 1: of a backward pass; 0: forward, or the name does not say */
};

/* What the name says. `name` may hold any bytes, need not end with NUL, and may be mangled or not;
 * the file name that nvcc weaves into anonymous namespaces is passed over. An empty name (`name`
 * may be NULL then) is UNKNOWN. Takes time in proportion to `len` whatever the bytes, less than a
 * microsecond for usual names; allocates nothing; any thread. Ask once per distinct name all the
 * same. */
void vpa_classify(const char *name, size_t len, struct vpa_kernel_class *out);

/* "attention", "attention-aux", "gemm", "unknown" ...; "unknown" for a number out of range. */
const char *vpa_family_name(enum vpa_family family);

/* The family of such a name. 0, or VPT_EINVAL and UNKNOWN if there is none. */
int vpa_family_find(const char *name, size_t len, enum vpa_family *out);

/* The kernel that does an attention's work, dense, sparse or linear: count these to count calls.
 * The helpers around it (attention-aux) and a softmax of an eager attention do not count. */
int vpa_family_is_attention(enum vpa_family family);

/* Work between devices. */
int vpa_family_is_comm(enum vpa_family family);

/* Elementwise, copy, reduce and index kernels: what may stand between the GEMMs and the softmax of
 * an eager attention without ending it. */
int vpa_family_is_glue(enum vpa_family family);

/* ---- a user's own rules, which come first ----
 *
 * One a line: a family's name, a tab, a POSIX extended regular expression. The first that matches
 * decides. Empty lines, lines that begin with # and rules for ranges (stages.h) are passed over. */
struct vpa_rules;

/* Reads rules from `len` bytes, borrowed for the call. The caller frees the result with
 * vpa_rules_free(). NULL and a sentence with the line's number if a line is wrong (VPT_EINVAL) or
 * there is no memory (VPT_ENOMEM). No rule at all is fine. */
struct vpa_rules *vpa_rules_read(const char *text, size_t len, struct vpt_err *err);

void vpa_rules_free(struct vpa_rules *rules); /* accepts NULL */

/* Like vpa_classify(), the user's rules first; `rules` NULL: none. A rule sees the first 4,095
 * bytes of the name without the file names of anonymous namespaces, and a NUL in it as "?". What it
 * calls attention keeps the backend that the name tells, else has "user". Speed and memory are
 * those of regexec(3). Any thread. */
void vpa_rules_classify(
	const struct vpa_rules *rules, const char *name, size_t len, struct vpa_kernel_class *out);

#endif
