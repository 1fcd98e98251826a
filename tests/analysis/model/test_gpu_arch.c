/* test_gpu_arch.c - what generation a GPU is of, by what a trace says of it. */
#include "analysis/model/gpu_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *name;
	uint32_t major, minor;
	const char *arch;
	int amd, hopper;
} gpus[] = {
	{"NVIDIA H100 80GB HBM3", 9, 0, "sm_90", 0, 1},
	{"NVIDIA A100-SXM4-80GB", 8, 0, "sm_80", 0, 0},
	{"NVIDIA B200", 10, 0, "sm_100", 0, 0},
	{"Tesla T4", 7, 5, "sm_75", 0, 0},
	{"", 9, 0, "sm_90", 0, 1},
	{NULL, 9, 0, "sm_90", 0, 1},
	{"", 9, 4, "gfx942", 1, 0},
	{NULL, 9, 5, "gfx950", 1, 0},
	{"NVIDIA H100", 0, 0, "", 0, 0},
	{"AMD Instinct MI300X", 9, 4, "gfx942", 1, 0},
	{"AMD Instinct MI355X", 9, 5, "gfx950", 1, 0},
	{"AMD Instinct MI250X", 9, 0, "gfx90x", 1, 0},
	{"AMD Radeon RX 7900 XTX", 11, 0, "gfx110x", 1, 0},
	{"gfx90a:sramecc+:xnack-", 9, 0, "gfx90a", 1, 0},
	{"AMD Instinct MI300X", 0, 0, "", 1, 0},
};

static void generations_have_the_names_their_makers_gave(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		const struct vpa_gpu gpu = {.name = gpus[i].name,
			.compute_major = gpus[i].major,
			.compute_minor = gpus[i].minor};
		char arch[VPA_ARCH_BYTES];

		vpa_gpu_arch(&gpu, arch);
		assert_string_equal(arch, gpus[i].arch);
		assert_int_equal(vpa_gpu_is_amd(&gpu), gpus[i].amd);
		assert_int_equal(vpa_gpu_is_hopper(&gpu), gpus[i].hopper);
	}
}

static void a_name_of_any_length_fits(void **state)
{
	char name[300], arch[VPA_ARCH_BYTES];
	const struct vpa_gpu gpu = {.name = name, .compute_major = UINT32_MAX, .compute_minor = 0};

	(void)state;
	memset(name, '9', sizeof(name));
	memcpy(name, "gfx", 3);
	name[sizeof(name) - 1] = '\0';
	vpa_gpu_arch(&gpu, arch);
	assert_true(strlen(arch) < sizeof(arch));
}

static const struct {
	const char *name;
	int hopper;
} kernels[] = {
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 1},
	{"nvjet_sm90_tst_192x208_64x4_2x1_v_bz_coopB_bias_TNT", 1},
	{"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTT", 1},
	{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_1", 1},
	{"_ZN7cutlass13device_kernelIN5flash11enable_sm90INS1_16FlashAttnFwdSm90EEEEEvNT_6ParamsE",
		1},
	{"nvjet_tst_256x128_64x5_2x1_2cta_v_bz_bias_TNT", 0},
	{"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", 0},
	{"void cutlass::device_kernel<cutlass::gemm::Sm100<cutlass::epilogue::Sm90TmaWarp>>()", 0},
	{"void flash::flash_fwd_kernel<128>()", 0},
	{"", 0},
};

static void kernels_of_hopper_are_known_by_their_names(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (vpa_kernel_is_hopper(kernels[i].name) != kernels[i].hopper)
			fail_msg("%s: expected %d", kernels[i].name, kernels[i].hopper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generations_have_the_names_their_makers_gave),
		cmocka_unit_test(a_name_of_any_length_fits),
		cmocka_unit_test(kernels_of_hopper_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
