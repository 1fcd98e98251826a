/* gpu_peak.c - peaks by product name, from the makers' data sheets.
 *
 * Compute capability alone does not decide: an H100 PCIe has two thirds of the rate of an H100 SXM. So a
 * GPU without a line here has no peak. NVIDIA's newer data sheets print rates with sparsity: half of those
 * is the dense rate. AMD's print dense rates of matrix cores, which have FP32 too. */
#include "analysis/model/gpu_peak.h"

#include <ctype.h>
#include <string.h>

/* The first line whose words are all in the name holds, whole words: a GB200 is no B200. 0: not in the data
 * sheet. */
static const struct peak {
	const char *word, *other; /* other NULL: none */
	unsigned major, minor;    /* compute capability */
	double fp32, tf32, bits16, bits8;
	double gb_per_s; /* of the memory */
} peaks[] = {
	/* V100 data sheet (2020): SXM2 and PCIe; tensor cores for FP16 only. */
	{"V100", "SXM2", 7, 0, 15.7, 0, 125, 0, 900},
	{"V100", "PCIE", 7, 0, 14, 0, 112, 0, 900},
	/* T4 data sheet and product brief (2019); INT8. */
	{"T4", NULL, 7, 5, 8.1, 0, 65, 130, 320},
	/* A100 data sheet (2021): the same for SXM4 and PCIe, but their memories differ; INT8. */
	{"A100", "SXM4-80GB", 8, 0, 19.5, 156, 312, 624, 2039},
	{"A100", "80GB PCIe", 8, 0, 19.5, 156, 312, 624, 1935},
	{"A100", "40GB", 8, 0, 19.5, 156, 312, 624, 1555},
	{"A100", NULL, 8, 0, 19.5, 156, 312, 624, 0},
	/* GA102 whitepaper (2021): FP16 with sums in FP32; INT8. */
	{"RTX 3090", NULL, 8, 6, 35.6, 35.6, 71, 284, 936},
	/* L4 and L40S data sheets (2023), sparse rates halved. */
	{"L40S", NULL, 8, 9, 91.6, 183, 362, 733, 864},
	{"L4", NULL, 8, 9, 30.3, 60, 121, 242, 300},
	/* Ada whitepaper (2022): sums in FP32. */
	{"RTX 4090", NULL, 8, 9, 82.6, 82.6, 165.2, 330.3, 1008},
	/* H100 data sheet (2023), sparse rates halved: PCIe, NVL, then SXM. */
	{"H100", "PCIe", 9, 0, 51, 378, 756, 1513, 2000},
	{"H100", "NVL", 9, 0, 60, 417.5, 835.5, 1670.5, 3900},
	{"H100", "HBM3", 9, 0, 67, 494.5, 989.5, 1979, 3350},
	/* H200 data sheet (2024), sparse rates halved: NVL, then SXM. */
	{"H200", "NVL", 9, 0, 60, 417.5, 835.5, 1670.5, 4800},
	{"H200", NULL, 9, 0, 67, 494.5, 989.5, 1979, 4800},
	/* HGX B200 data sheet (2024): a system's rates, divided by its eight GPUs. */
	{"B200", NULL, 10, 0, 75, 1125, 2250, 4500, 8000},
	/* AMD Instinct MI250X data sheet (2022), halved: a GPU of a trace is one of its two dies. INT8. The driver
	 * names MI250 in this way too, which is slower. */
	{"MI250X / MI250", NULL, 9, 0, 0, 0, 0, 0, 0},
	{"MI250X", NULL, 9, 0, 47.85, 0, 191.5, 191.5, 1638.4},
	/* AMD Instinct MI300X and MI325X data sheets (2023, 2024). */
	{"MI300X", NULL, 9, 4, 163.4, 653.7, 1307.4, 2614.9, 5300},
	{"MI325X", NULL, 9, 4, 163.4, 653.7, 1307.4, 2614.9, 6000},
	/* AMD Instinct MI355X data sheet (2025); its matrix cores have no TF32. */
	{"MI355X", NULL, 9, 5, 157.3, 0, 2516.6, 5033.2, 8000},
};

static int has_word(const char *name, const char *word)
{
	size_t len = strlen(word);
	const char *at = name;

	for (; (at = strstr(at, word)); at++)
		if ((at == name || !isalnum((unsigned char)at[-1])) &&
			!isalnum((unsigned char)at[len]))
			return 1;
	return 0;
}

static int is_gpu(const struct peak *p, const struct vpa_gpu *gpu)
{
	return p->major == gpu->compute_major && p->minor == gpu->compute_minor &&
	       has_word(gpu->name, p->word) && (!p->other || has_word(gpu->name, p->other));
}

/* NULL: not known, also of a part of a GPU, which has a part of its rates. */
static const struct peak *find(const struct vpa_gpu *gpu)
{
	size_t i;

	if (!gpu->name || gpu->simulated || has_word(gpu->name, "MIG"))
		return NULL;
	for (i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
		if (is_gpu(&peaks[i], gpu))
			return &peaks[i];
	return NULL;
}

double vpa_gpu_peak_tflops(const struct vpa_gpu *gpu, enum vpa_precision precision)
{
	const struct peak *p = find(gpu);
	double tflops;

	if (!p)
		return -1;
	tflops = precision == VPA_PRECISION_FP32   ? p->fp32
		 : precision == VPA_PRECISION_TF32 ? p->tf32
		 : precision == VPA_PRECISION_16   ? p->bits16
		 : precision == VPA_PRECISION_8    ? p->bits8
						   : 0;
	return tflops > 0 ? tflops : -1;
}

double vpa_gpu_peak_gb_per_s(const struct vpa_gpu *gpu)
{
	const struct peak *p = find(gpu);

	return p && p->gb_per_s > 0 ? p->gb_per_s : -1;
}
