/* inductor_cache.h - the files that TorchInductor wrote its Triton kernels in, where its cache is on this machine.
 *
 * Of two captures a kernel's name may mean different code: "triton_poi_fused_add_0" is the first addition of any model. So only files
 * that are not newer than the capture count, and of several with the same name the newest. */
#ifndef VPA_ANALYSIS_MODEL_INDUCTOR_CACHE_H
#define VPA_ANALYSIS_MODEL_INDUCTOR_CACHE_H

#include "analysis/base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_inductor_kernel {
	const char *name;
	const char *
		source; /* "FILE:LINE" of its definition, and how many files have another; NULL: none */
	uint64_t changed_ns, files;
};

/* The folder: $TORCHINDUCTOR_CACHE_DIR, else torchinductor_USER in the folder for temporary files. Empty: not known. */
void vpa_inductor_folder(char *out, size_t bytes);

/* Finds the definitions of `count` kernels in the files of a folder that were written up to `until_ns`, on the clock of the time of
 * day. Files that cannot be read are left out, and all after the first 20,000. 0 or VPT_ENOMEM. */
int vpa_inductor_find(struct vpa_arena *arena, const char *folder, uint64_t until_ns,
	struct vpa_inductor_kernel *kernels, size_t count);

#endif
