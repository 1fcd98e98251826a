/* families.h - what a kernel is, told by its name.
 *
 * Names are all that a trace says of a kernel's purpose. They come mangled, demangled in several
 * styles, or cut short; one table of patterns, families.def, reads them all. What no pattern knows
 * is VPA_FAMILY_UNKNOWN and stays visible as that: it is never counted under another family. */
#ifndef VPA_ANALYSIS_FAMILIES_H
#define VPA_ANALYSIS_FAMILIES_H

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

/* The attention families and the softmax of an eager one: those that have a backend. */
int vpa_family_has_backend(enum vpa_family family);

/* Writes at most cap - 1 bytes and a NUL: the name without the file names of anonymous namespaces, a NUL in it as "?". */
void vpa_kernel_name_plain(char *text, size_t cap, const char *name, size_t len);

#endif
