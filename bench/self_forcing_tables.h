/* self_forcing_tables.h - the kernels, copies, calls and scripts of the simulated Self-Forcing run.
 *
 * Shapes are those of Wan 2.1 1.3B at 480 x 832 on one GPU of H100's class: 4,680 tokens per block,
 * width 1,536, feed-forward 8,960, heads of 128. Times are the cost of its arithmetic and bytes at
 * usual efficiency. */
#ifndef VPT_BENCH_SELF_FORCING_TABLES_H
#define VPT_BENCH_SELF_FORCING_TABLES_H

#include "formats/event_schema.h"

#include <stdint.h>

enum {
	SF_BLOCKS = 7,
	SF_STEPS = 4, /* and the context pass */
	SF_LAYERS = 30,
	SF_TEXT_LAYERS = 24,
	SF_VAE_STAGES = 36, /* of 10 kernels each */
	SF_LEVELS = 3 /* resolutions of the VAE, each with four times the work of the one before */
};

/* Numbers of formats/calls.def. */
enum {
	SF_CALL_ATTRIBUTE = 0, /* cudaFuncSetAttribute, which has no number; recorded by name */
	SF_CALL_LAUNCH = 1,
	SF_CALL_LAUNCH_EX = 2,
	SF_CALL_LAUNCH_DRIVER = 6,
	SF_CALL_MEMCPY = 30,
	SF_CALL_MEMSET = 75,
	SF_CALL_SYNCHRONIZE = 101,
	SF_CALL_RECORD = 122
};

static inline uint64_t sf_call_ns(uint32_t call)
{
	static const uint16_t ns[] = {[SF_CALL_ATTRIBUTE] = 700,
		[SF_CALL_LAUNCH] = 3900,
		[SF_CALL_LAUNCH_EX] = 4300,
		[SF_CALL_LAUNCH_DRIVER] = 3600,
		[SF_CALL_MEMCPY] = 5200,
		[SF_CALL_MEMSET] = 4400,
		[SF_CALL_SYNCHRONIZE] = 2600,
		[SF_CALL_RECORD] = 1300};

	return ns[call];
}

struct sf_kernel {
	const char *name;
	uint32_t grid_x, grid_y, block, static_shared, dynamic_shared, registers;
	uint32_t base_ns;  /* on the device, alone */
	uint16_t permille; /* its standard deviation */
	uint16_t call;
	uint16_t host_ns; /* of other work before the launch */
};

#define SF_AT "_ZN2at6native"
#define SF_FA3                                                                                     \
	"_ZN7cutlass13device_kernelIN5flash20enable_sm90_or_laterINS1_16FlashAttnFwdSm90INS1_"     \
	"25Collective"                                                                             \
	"MainloopFwdSm90ILi2EN4cute5tupleIJNS5_1CILi1EEES8_S8_EEENS6_IJNS7_ILi128EEENS7_"          \
	"ILi176EEESA_EEE"                                                                          \
	"Li128ENS_10bfloat16_tEfNS_"                                                               \
	"4arch4Sm90ELb0ELb0ELb0ELb0ELb0ELb0ELb0ELb1ELb1ELb0ELb0ELb0EEENS1_21"                      \
	"CollectiveEpilogueFwdINS6_IJSA_SA_SB_EEES9_SD_SF_Li256ELb0ELb1ELb1ELb0EEENS1_"            \
	"29StaticPersistent"                                                                       \
	"TileSchedulerILb0EEEEEEEEEvNT_6ParamsE"

enum sf_kernel_index {
	SF_K_MODULATION,
	SF_K_LAYER_NORM,
	SF_K_SCALE_SHIFT,
	SF_K_GEMM_QKV,
	SF_K_RMS_NORM,
	SF_K_ROPE,
	SF_K_SELF_ATTENTION,
	SF_K_GEMM_OUT,
	SF_K_GATE,
	SF_K_ADD,
	SF_K_CROSS_ATTENTION,
	SF_K_GEMM_UP,
	SF_K_GELU,
	SF_K_GEMM_DOWN,
	SF_K_SINUSOID,
	SF_K_CAST,
	SF_K_GEMM_SMALL,
	SF_K_SILU_SMALL,
	SF_K_PATCH,
	SF_K_HEAD,
	SF_K_UNPATCH,
	SF_K_SCHEDULE,
	SF_K_NORMAL,
	SF_K_VAE_NORM,
	SF_K_VAE_SILU,
	SF_K_VAE_CAT,
	SF_K_VAE_CONV,
	SF_K_VAE_BIAS,
	SF_K_VAE_ADD,
	SF_K_T5_NORM,
	SF_K_T5_GEMM,
	SF_K_T5_SOFTMAX,
	SF_K_T5_BMM,
	SF_KERNEL_COUNT
};

static const struct sf_kernel sf_kernels[SF_KERNEL_COUNT] = {
	[SF_K_MODULATION] = {SF_AT
		"27unrolled_elementwise_kernelINS0_15CUDAFunctor_addIN3c108BFloat16EEESt5array"
		"IPcLm3EELi4E23TrivialOffsetCalculatorILi2EjES9_ILi1EjENS0_"
		"6memory12LoadWithCastILi2EEENSC_13StoreWith"
		"CastILi1EEEEEviT_T0_T2_T3_T4_T5_",
		18, 1, 128, 0, 0, 32, 2900, 30, SF_CALL_LAUNCH, 9000},
	[SF_K_LAYER_NORM] = {SF_AT
		"12_GLOBAL__N_128vectorized_layer_norm_kernelIfffLb0EEEviT0_PKT_S5_S5_PS3_S6_PS4_",
		4680, 1, 128, 0, 24, 34, 11800, 14, SF_CALL_LAUNCH, 11000},
	[SF_K_SCALE_SHIFT] = {"triton_poi_fused__to_copy_add_mul_split_2", 7020, 1, 1024, 0, 0, 22,
		13400, 12, SF_CALL_LAUNCH_DRIVER, 14000},
	[SF_K_GEMM_QKV] = {"nvjet_sm90_tst_128x192_64x6_2x1_v_bz_coopB_bias_TNT", 132, 1, 384, 0,
		212992, 168, 41600, 13, SF_CALL_LAUNCH_EX, 12500},
	[SF_K_RMS_NORM] = {"triton_red_fused__to_copy_mean_mul_pow_rsqrt_4", 4680, 1, 512, 0, 64,
		30, 12100, 13, SF_CALL_LAUNCH_DRIVER, 12000},
	[SF_K_ROPE] = {SF_AT "29vectorized_elementwise_kernelILi2ENS0_"
			     "13BinaryFunctorIN3c107complexIdEES5_S5_NS0_15binary_"
			     "internal10MulFunctorIS5_EEEESt5arrayIPcLm3EEEEviT0_T1_",
		7020, 1, 128, 0, 0, 40, 38700, 16, SF_CALL_LAUNCH, 22000},
	[SF_K_SELF_ATTENTION] = {SF_FA3, 132, 1, 384, 0, 230400, 168, 242000, 17, SF_CALL_LAUNCH_EX,
		19000},
	[SF_K_GEMM_OUT] = {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_bias_TNN", 132, 1, 384, 0,
		212992, 168, 40900, 13, SF_CALL_LAUNCH_EX, 11500},
	[SF_K_GATE] = {SF_AT
		"18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_"
		"13BinaryFunctorIfffNS0_15"
		"binary_internal10MulFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
		14040, 1, 128, 0, 0, 32, 14600, 12, SF_CALL_LAUNCH, 9500},
	[SF_K_ADD] = {SF_AT "29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
			    "addIN3c108BFloat16EEESt5arrayIPcLm3EEEEvi"
			    "T0_T1_",
		14040, 1, 128, 0, 0, 24, 10900, 12, SF_CALL_LAUNCH, 8200},
	[SF_K_CROSS_ATTENTION] = {SF_FA3, 132, 1, 384, 0, 230400, 168, 33800, 15, SF_CALL_LAUNCH_EX,
		16500},
	[SF_K_GEMM_UP] = {"nvjet_sm90_tst_256x128_64x4_2x1_v_bz_coopA_bias_TNT", 132, 1, 384, 0,
		229376, 168, 228000, 20, SF_CALL_LAUNCH_EX, 12800},
	[SF_K_GELU] = {SF_AT
		"29vectorized_elementwise_kernelILi4EZZZNS0_18GeluCUDAKernelImplERNS_"
		"18TensorIteratorBaseENS0_"
		"8GeluTypeEENKUlvE_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_St5arrayIPcLm2EEEEviT0_T1_",
		81900, 1, 128, 0, 0, 26, 56300, 10, SF_CALL_LAUNCH, 7800},
	[SF_K_GEMM_DOWN] = {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", 132, 1, 384, 0,
		229376, 168, 221000, 20, SF_CALL_LAUNCH_EX, 12100},
	[SF_K_SINUSOID] = {SF_AT "29vectorized_elementwise_kernelILi4EZZZNS0_15cos_kernel_cudaERNS_"
				 "18TensorIteratorBaseEEN"
				 "KUlvE0_clEvENKUlvE_clEvEUldE_St5arrayIPcLm2EEEEviT0_T1_",
		1, 1, 128, 0, 0, 44, 2300, 30, SF_CALL_LAUNCH, 9800},
	[SF_K_CAST] = {SF_AT
		"29vectorized_elementwise_kernelILi4EZNS0_23bfloat16_copy_kernel_cudaERNS_"
		"18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
		2, 1, 128, 0, 0, 18, 1900, 30, SF_CALL_LAUNCH, 8900},
	[SF_K_GEMM_SMALL] = {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_bias_TNT", 24, 1, 384, 0, 196608,
		168, 6100, 22, SF_CALL_LAUNCH_EX, 12000},
	[SF_K_SILU_SMALL] = {SF_AT
		"29vectorized_elementwise_kernelILi4EZZZNS0_11silu_kernelERNS_"
		"18TensorIteratorBaseEENK"
		"UlvE_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_St5arrayIPcLm2EEEEviT0_T1_",
		4, 1, 128, 0, 0, 22, 2000, 30, SF_CALL_LAUNCH, 7900},
	[SF_K_PATCH] = {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
			"tilesize128x128x64_warpgroupsize"
			"1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",
		444, 1, 384, 0, 164864, 168, 31000, 15, SF_CALL_LAUNCH_DRIVER, 26000},
	[SF_K_HEAD] = {"nvjet_sm90_tst_64x64_64x13_1x1_h_bz_bias_TNT", 74, 1, 384, 0, 212992, 168,
		14700, 15, SF_CALL_LAUNCH_EX, 12500},
	[SF_K_UNPATCH] = {SF_AT "18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_"
				"nocastIZZZNS0_23direct_copy_kernel_"
				"cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE8_"
				"clEvEUlN3c108BFloat16EE_EEvS4_RKT_EUliE_EEviT1_",
		585, 1, 128, 0, 0, 30, 5200, 22, SF_CALL_LAUNCH, 14500},
	[SF_K_SCHEDULE] = {SF_AT "29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
				 "addIfEESt5arrayIPcLm3EEEEviT0_T1_",
		293, 1, 128, 0, 0, 20, 3300, 26, SF_CALL_LAUNCH, 9300},
	[SF_K_NORMAL] = {SF_AT
		"12_GLOBAL__N_143distribution_elementwise_grid_stride_kernelIfLi4EEEvlNS_"
		"15PhiloxCudaStateE",
		528, 1, 256, 0, 0, 38, 4700, 22, SF_CALL_LAUNCH, 12300},
	[SF_K_VAE_NORM] = {SF_AT
		"13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c108BFloat16ENS0_10NormTwoOpsIS4_"
		"fS4_EEjS4_Li4ELi4EEEEEvT1_",
		1560, 1, 512, 16, 0, 36, 11000, 14, SF_CALL_LAUNCH, 10500},
	[SF_K_VAE_SILU] = {SF_AT "29vectorized_elementwise_kernelILi8EZZZNS0_11silu_kernelERNS_"
				 "18TensorIteratorBaseEENKUlvE"
				 "_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_St5arrayIPcLm2EEEEviT0_T1_",
		3510, 1, 128, 0, 0, 26, 7800, 14, SF_CALL_LAUNCH, 7600},
	[SF_K_VAE_CAT] = {SF_AT "12_GLOBAL__N_130CatArrayBatchedCopy_vectorizedINS1_"
				"10OpaqueTypeILj2EEEjLi5ELi64ELi64ELi16E"
				"Li8EEEvPcNS1_25CatArrInputTensorMetadataIT_T0_XT2_EXT3_EEENS1_"
				"16TensorSizeStrideIS8_Lj4EEEiS8_",
		264, 2, 128, 0, 0, 38, 9900, 14, SF_CALL_LAUNCH, 12800},
	[SF_K_VAE_CONV] = {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
			   "tilesize128x256x64_warpgroupsize"
			   "2x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",
		195, 1, 384, 0, 213504, 168, 61000, 18, SF_CALL_LAUNCH_DRIVER, 24500},
	[SF_K_VAE_BIAS] = {SF_AT "18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_"
				 "15CUDAFunctor_addIN3c108B"
				 "Float16EEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
		7020, 1, 128, 0, 0, 32, 9200, 14, SF_CALL_LAUNCH, 7200},
	[SF_K_VAE_ADD] = {SF_AT "29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_"
				"addIN3c108BFloat16EEESt5arrayIPcLm3EEEE"
				"viT0_T1_",
		3510, 1, 128, 0, 0, 26, 8300, 14, SF_CALL_LAUNCH, 8400},
	[SF_K_T5_NORM] = {SF_AT "12_GLOBAL__N_115rms_norm_kernelIN3c108BFloat16EfEEviT0_PKT_PS4_",
		512, 1, 256, 0, 32, 32, 5100, 22, SF_CALL_LAUNCH, 9800},
	[SF_K_T5_GEMM] = {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT", 128, 1, 384, 0, 212992, 168,
		34000, 14, SF_CALL_LAUNCH_EX, 12000},
	[SF_K_T5_SOFTMAX] = {"_ZN12_GLOBAL__N_120softmax_warp_forwardIfffLi9ELb0ELb0EEEvPT0_PKT_"
			     "iiiPKbib",
		8192, 1, 128, 0, 0, 40, 21000, 14, SF_CALL_LAUNCH, 9900},
	[SF_K_T5_BMM] = {"nvjet_sm90_tst_128x64_64x8_1x1_v_bz_TNN", 64, 4, 384, 0, 212992, 168,
		12200, 16, SF_CALL_LAUNCH_EX, 13500},
};

struct sf_copy {
	uint8_t copy_kind, source, target;
	uint16_t call;
	uint32_t bytes, base_ns;
};

enum sf_copy_index { SF_COPY_CACHE, SF_COPY_TIMESTEP, SF_COPY_CLEAR, SF_COPY_FRAME, SF_COPY_COUNT };

static const struct sf_copy sf_copies[SF_COPY_COUNT] = {
	/* a block's keys or values, into their cache: 4,680 tokens of 1,536 bf16 */
	[SF_COPY_CACHE] = {VPT_COPYKIND_DTOD, VPT_MEMKIND_DEVICE, VPT_MEMKIND_DEVICE,
		SF_CALL_MEMCPY, 14376960, 12600},
	[SF_COPY_TIMESTEP] = {VPT_COPYKIND_HTOD, VPT_MEMKIND_PAGEABLE, VPT_MEMKIND_DEVICE,
		SF_CALL_MEMCPY, 24, 1100},
	[SF_COPY_CLEAR] = {VPT_COPYKIND_MEMSET, VPT_MEMKIND_UNKNOWN, VPT_MEMKIND_DEVICE,
		SF_CALL_MEMSET, 4096, 1300},
	[SF_COPY_FRAME] = {VPT_COPYKIND_DTOH, VPT_MEMKIND_DEVICE, VPT_MEMKIND_PINNED,
		SF_CALL_MEMCPY, 1198080, 47400},
};

enum sf_deed { SF_STOP, SF_PUSH, SF_POP, SF_LAUNCH, SF_ATTEND, SF_COPY, SF_CALL };
enum sf_name { SF_N_SELF, SF_N_CROSS, SF_N_FFN };

static const char *const sf_names[] = {"self_attn", "cross_attn", "ffn"};

/* One step of the host. `what` is a name for SF_PUSH, a copy for SF_COPY, a call for SF_CALL, else
 * a kernel. SF_ATTEND launches a kernel that takes its base time once for each block so far. */
struct sf_step {
	uint8_t deed;
	uint16_t what;
};

#define SF_GO(kernel)                                                                              \
	{                                                                                          \
		SF_LAUNCH, SF_K_##kernel                                                           \
	}

/* 27 kernels, 2 copies, 31 calls, and 3 ranges inside the layer's. */
static const struct sf_step sf_layer[] = {
	SF_GO(MODULATION),
	{SF_PUSH, SF_N_SELF},
	SF_GO(LAYER_NORM),
	SF_GO(SCALE_SHIFT),
	SF_GO(GEMM_QKV),
	SF_GO(GEMM_QKV),
	SF_GO(GEMM_QKV),
	SF_GO(RMS_NORM),
	SF_GO(RMS_NORM),
	SF_GO(ROPE),
	SF_GO(ROPE),
	{SF_COPY, SF_COPY_CACHE},
	{SF_COPY, SF_COPY_CACHE},
	{SF_CALL, SF_CALL_ATTRIBUTE},
	{SF_ATTEND, SF_K_SELF_ATTENTION},
	SF_GO(GEMM_OUT),
	SF_GO(GATE),
	SF_GO(ADD),
	{SF_POP, 0},
	{SF_PUSH, SF_N_CROSS},
	SF_GO(LAYER_NORM),
	SF_GO(GEMM_QKV),
	SF_GO(RMS_NORM),
	SF_GO(CROSS_ATTENTION),
	SF_GO(GEMM_OUT),
	SF_GO(ADD),
	{SF_POP, 0},
	{SF_PUSH, SF_N_FFN},
	SF_GO(LAYER_NORM),
	SF_GO(SCALE_SHIFT),
	SF_GO(GEMM_UP),
	SF_GO(GELU),
	SF_GO(GEMM_DOWN),
	SF_GO(GATE),
	SF_GO(ADD),
	{SF_POP, 0},
	{SF_CALL, SF_CALL_RECORD},
	{SF_STOP, 0},
};

static const struct sf_step sf_embed[] = {
	{SF_COPY, SF_COPY_TIMESTEP},
	SF_GO(SINUSOID),
	SF_GO(CAST),
	SF_GO(GEMM_SMALL),
	SF_GO(SILU_SMALL),
	SF_GO(GEMM_SMALL),
	SF_GO(SILU_SMALL),
	SF_GO(GEMM_SMALL),
	{SF_COPY, SF_COPY_CLEAR},
	SF_GO(PATCH),
	{SF_STOP, 0},
};

static const struct sf_step sf_head[] = {
	SF_GO(LAYER_NORM),
	SF_GO(SCALE_SHIFT),
	SF_GO(HEAD),
	SF_GO(UNPATCH),
	{SF_STOP, 0},
};

/* The head, the scheduler's arithmetic, and noise for the next step. */
static const struct sf_step sf_denoise[] = {
	SF_GO(LAYER_NORM),
	SF_GO(SCALE_SHIFT),
	SF_GO(HEAD),
	SF_GO(UNPATCH),
	SF_GO(CAST),
	SF_GO(SCHEDULE),
	SF_GO(SCHEDULE),
	SF_GO(SCHEDULE),
	SF_GO(CAST),
	SF_GO(NORMAL),
	SF_GO(SCHEDULE),
	SF_GO(SCHEDULE),
	SF_GO(CAST),
	{SF_STOP, 0},
};

static const struct sf_step sf_vae[] = {
	SF_GO(VAE_NORM),
	SF_GO(VAE_SILU),
	SF_GO(VAE_CAT),
	SF_GO(VAE_CONV),
	SF_GO(VAE_BIAS),
	SF_GO(VAE_NORM),
	SF_GO(VAE_SILU),
	{SF_CALL, SF_CALL_RECORD},
	SF_GO(VAE_CAT),
	SF_GO(VAE_CONV),
	SF_GO(VAE_ADD),
	{SF_STOP, 0},
};

static const struct sf_step sf_text[] = {
	SF_GO(T5_NORM),
	SF_GO(T5_GEMM),
	SF_GO(T5_GEMM),
	SF_GO(T5_GEMM),
	SF_GO(T5_BMM),
	SF_GO(T5_SOFTMAX),
	SF_GO(T5_BMM),
	SF_GO(T5_GEMM),
	SF_GO(ADD),
	SF_GO(T5_NORM),
	SF_GO(T5_GEMM),
	SF_GO(T5_GEMM),
	SF_GO(T5_GEMM),
	SF_GO(ADD),
	{SF_STOP, 0},
};

#endif
