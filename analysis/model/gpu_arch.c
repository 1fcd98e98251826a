/* gpu_arch.c - generations of GPUs.
 *
 * A trace has two numbers per GPU. ROCm fills them with the first two digits of its gfx number: an
 * MI300X, gfx942, is 9.4. The third digit is known only if all compute chips of a generation share
 * it. */
#include "analysis/model/gpu_arch.h"

#include <stdio.h>
#include <string.h>

int vpa_gpu_is_amd(const struct vpa_gpu *gpu)
{
	static const char *const words[] = {"AMD", "Instinct", "Radeon", "gfx"};
	size_t i;

	/* Without a name: NVIDIA has no 9.4 and no 9.5. */
	if (!gpu->name || !gpu->name[0])
		return gpu->compute_major == 9 && gpu->compute_minor >= 4;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(gpu->name, words[i]))
			return 1;
	return 0;
}

int vpa_gpu_is_hopper(const struct vpa_gpu *gpu)
{
	return gpu->compute_major == 9 && !vpa_gpu_is_amd(gpu);
}

void vpa_gpu_arch(const struct vpa_gpu *gpu, char text[VPA_ARCH_BYTES])
{
	const char *named = gpu->name ? strstr(gpu->name, "gfx") : NULL;
	unsigned major = gpu->compute_major, minor = gpu->compute_minor;
	const char *last = major != 9 ? "x" : minor == 4 ? "2" : minor == 5 ? "0" : "x";

	text[0] = '\0';
	if (named)
		snprintf(text, VPA_ARCH_BYTES, "gfx%.*s",
			(int)strspn(named + 3, "0123456789abcdef"), named + 3);
	else if (major && vpa_gpu_is_amd(gpu))
		snprintf(text, VPA_ARCH_BYTES, "gfx%u%u%s", major, minor, last);
	else if (major)
		snprintf(text, VPA_ARCH_BYTES, "sm_%u%u", major, minor);
}

int vpa_kernel_is_hopper(const char *name)
{
	static const char *const words[] = {
		"sm90_", "FwdSm90", "BwdSm90", "ForwardSm90", "BackwardSm90", "SageAttnSm90"};
	const char *nvjet = strstr(name, "nvjet_");
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return 1;
	return nvjet && strstr(nvjet, "_coop");
}
