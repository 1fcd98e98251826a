/* families.h - classify a kernel by its name.
 *
 * A trace says nothing else about a kernel's purpose. Names come mangled, demangled in several
 * styles, or cut short; one table of patterns, families.def, reads them all. A name that matches no
 * pattern is VPA_FAMILY_UNKNOWN and is reported as that, never counted under another family. */
#ifndef VPA_ANALYSIS_NAMES_FAMILIES_H
#define VPA_ANALYSIS_NAMES_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

enum vpa_family {
#define VPA_FAMILY(NAME, name, flags) VPA_FAMILY_##NAME,
#include "analysis/names/families.def"
	VPA_FAMILY_COUNT
};

/* What a name says besides its family. */
enum vpa_kernel_mark {
	VPA_MARK_BACKWARD, /* a part of a backward pass; without it forward, or the name does not say */
	VPA_MARK_NAMELESS, /* a compiler gave all its kernels this name, so how it was launched says more */
	VPA_MARK_FUSED,        /* a compiler or a person made it of several operators */
	VPA_MARK_CONV_LAYOUT,  /* cuDNN's copies between the layouts that convolutions want */
	VPA_MARK_DIRECT_COPY,  /* PyTorch's copy, whatever for */
	VPA_MARK_SCATTERED,    /* PyTorch's, of operands that are not contiguous */
	VPA_MARK_CAT,          /* PyTorch's, which joins tensors */
	VPA_MARK_CAST,         /* PyTorch's copy into another type */
	VPA_MARK_NARROWING,    /* the same, from FP32 to 16 bits */
	VPA_MARK_VOL2COL,      /* a convolution in three dimensions, not by cuDNN */
	VPA_MARK_TENSOR_CORES, /* it multiplies with tensor cores, or AMD's matrix cores */
	VPA_KERNEL_MARKS
};

/* What implements an attention: VPA_BACKEND_FLASH_ATTN_2, VPA_BACKEND_SDPA_FLASH (the FlashAttention inside PyTorch),
 * VPA_BACKEND_EAGER ... */
enum vpa_backend {
	VPA_BACKEND_NONE,
#define VPA_BACKEND(NAME, name) VPA_BACKEND_##NAME,
#include "analysis/names/families.def"
	VPA_BACKENDS
};

struct vpa_kernel_class {
	enum vpa_family family;
	enum vpa_backend
		backend; /* VPA_BACKEND_NONE outside the attention families and eager-softmax */
	unsigned marks;  /* bit by enum vpa_kernel_mark */
};

static inline int vpa_is_marked(unsigned marks, enum vpa_kernel_mark mark)
{
	return (int)(marks >> mark & 1);
}

/* Classifies a kernel name. `name` may hold any bytes, need not end with NUL, and may be mangled or
 * not; the file name that nvcc puts into anonymous namespaces is skipped. An empty name (`name` may
 * then be NULL) is UNKNOWN. Takes time proportional to `len` for any input, less than a microsecond
 * for usual names; allocates nothing; any thread. Still, call it once per distinct name. */
void vpa_classify(const char *name, size_t len, struct vpa_kernel_class *out);

/* Whether a kernel of a nameless compiler is a matrix product, by the shared memory of a block and the
 * registers of a thread: a product keeps tiles of both factors, for several steps, in shared memory, and its
 * sums in registers. Pointwise kernels have at most a tile that they transpose, reductions a number for each
 * warp. */
int vpa_is_product_shape(uint64_t shared_bytes, uint64_t registers);

/* "attention", "attention-aux", "gemm", "unknown" ...; "unknown" for a number out of range. */
const char *vpa_family_name(enum vpa_family family);

/* The family with this name. 0, or VPT_EINVAL and UNKNOWN if there is none. */
int vpa_family_find(const char *name, size_t len, enum vpa_family *out);

/* Whether it is the kernel that does an attention's work, dense, sparse or linear: count these to
 * count calls. The helpers around it (attention-aux) and the softmax of eager attention do not
 * count. */
int vpa_family_is_attention(enum vpa_family family);

/* Work between devices. */
int vpa_family_is_comm(enum vpa_family family);

/* Elementwise, copy, reduce and index kernels: they may run between the GEMMs and the softmax of
 * eager attention without ending it. */
int vpa_family_is_glue(enum vpa_family family);

/* The attention families and the softmax of eager attention: those that have a back-end. */
int vpa_family_has_backend(enum vpa_family family);

/* "flash-attn-2", "eager" ...; NULL: VPA_BACKEND_NONE. */
const char *vpa_backend_name(enum vpa_backend backend);

#endif
