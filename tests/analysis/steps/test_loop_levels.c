/* test_loop_levels.c - steps that nothing marks are steps, not layers or blocks: traces of many pipelines,
 * each with its true level.
 *
 * A trace is a few rules. The name of a rule stands for what its line lists, `x*n` for n of them; any other
 * word is an op: a letter for its kernel and a number for its grid.
 *
 *	layer: n1 g1*3 a1 g1 e1
 *	step: e2 layer*30 s1*3
 *	trace: t1*24 step*4 v1*20
 *
 * VPT_TABLE=1 prints what was found beside the truth. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/pipeline/unit.h"
#include "tests/support/traces/findings_rig.h"
#include "tests/support/random.h"

/* ---- rules into a script ---- */

enum { RULES_MAX = 24, STARTS_MAX = 4096, DEPTH_MAX = 12, SCRIPT_BYTES = 24 << 20 };

static const struct {
	char letter;
	unsigned us;
	const char *kernel; /* NULL: a copy to the host; "": one of weights to the device */
} leaves[] = {
	{'g', 40, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn"},
	{'k', 4, "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(float)"},
	{'a', 90,
		"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, "
		"4>>(Flash_fwd_params)"},
	{'x', 50,
		"void (anonymous namespace)::softmax_warp_forward<float, float, float, 11, "
		"false>()"},
	{'n', 8,
		"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)"},
	{'e', 5,
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::CUDAFunctor_add<float>>(int)"},
	{'m', 5,
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::MulFunctor<float>>(int)"},
	{'l', 6, "void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel>(int)"},
	{'s', 3,
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::AUnaryFunctor<float>>(int)"},
	{'o', 12,
		"void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<4>>()"},
	{'r', 6, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)"},
	{'y', 7,
		"void at::native::elementwise_kernel<128, 4, "
		"at::native::direct_copy_kernel_cuda>(int)"},
	{'c', 60, "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc"},
	{'w', 70, "sm80_xmma_wgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc"},
	{'b', 65, "sm80_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc"},
	{'G', 10, "void at::native::RowwiseMomentsCUDAKernel<float>(long)"},
	{'u', 9, "void at::native::upsample_nearest2d_nhwc_out_frame<float>(int)"},
	{'i', 4,
		"void at::native::index_elementwise_kernel<128, 4, "
		"at::native::gpu_index_kernel>(int)"},
	{'z', 90, "my_own_kernel"},
	{'D', 3, NULL},
	{'W', 3000, ""},
};

struct made {
	char *script;
	size_t size;
	const char *rules[RULES_MAX];
	size_t rule_count;
	uint64_t at_us;
	unsigned correlation;
	uint64_t starts_us[STARTS_MAX]; /* of the rule "step" */
	size_t steps;
	unsigned iterations; /* of the rule "iteration", marked */
	int has_iterations;
	struct vpt_random *random;
	unsigned noise_per_10000; /* ops that are inserted */
	int sizes_vary;           /* 1: fused attention has a grid that depends on the data */
};

static void put(struct made *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct made *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->size += (size_t)vsnprintf(m->script + m->size, SCRIPT_BYTES - m->size, format, args);
	va_end(args);
	assert_true(m->size < SCRIPT_BYTES);
}

static void put_leaf(struct made *m, const char *word, size_t len)
{
	unsigned grid = (unsigned)strtoul(word + 1, NULL, 10);
	size_t i;

	(void)len;
	for (i = 0; i < COUNT(leaves) && leaves[i].letter != *word; i++)
		;
	if (i == COUNT(leaves))
		fail_msg("no op \"%.20s\"", word);
	m->correlation++;
	if (m->has_iterations) /* ops belong to what their launches are in */
		put(m, "call t1 cudaLaunchKernel %" PRIu64 "us+0us corr %u\n", m->at_us,
			m->correlation);
	if (m->sizes_vary && *word == 'a')
		grid = 20 + (unsigned)vpt_random_below(m->random, 20);
	if (leaves[i].kernel && !*leaves[i].kernel)
		put(m, "copy s7 HtoD pageable->device %" PRIu64 "us+%uus corr %u bytes 50000000\n",
			m->at_us, leaves[i].us, m->correlation);
	else if (leaves[i].kernel)
		put(m, "kernel s7 %" PRIu64 "us+%uus corr %u \"%s\" grid %u\n", m->at_us,
			leaves[i].us, m->correlation, leaves[i].kernel, 64 * (grid + 1));
	else
		put(m, "copy s7 DtoH device->pageable %" PRIu64 "us+%uus corr %u bytes 8\n",
			m->at_us, leaves[i].us, m->correlation);
	m->at_us += leaves[i].us + 1;
	if (m->noise_per_10000 && vpt_random_below(m->random, 10000) < m->noise_per_10000)
		put(m, "kernel s7 %" PRIu64 "us+2us corr %u \"probe_kernel\" grid 1\n", m->at_us,
			++m->correlation);
	m->at_us += 3;
}

static const char *rule_called(const struct made *m, const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < m->rule_count; i++)
		if (!strncmp(m->rules[i], word, len) && m->rules[i][len] == ':')
			return m->rules[i] + len + 1;
	return NULL;
}

static int is_word(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && !memcmp(word, text, len);
}

static void put_rule(struct made *m, const char *list, unsigned depth)
{
	assert_true(depth < DEPTH_MAX);
	while (*list && *list != '\n') {
		size_t len = strcspn(list, " *\n");
		const char *word = list, *inner = rule_called(m, list, len);
		unsigned long count = 1, i;

		list += len;
		if (*list == '*')
			count = strtoul(list + 1, (char **)&list, 10);
		for (i = 0; len && i < count; i++) {
			uint64_t from_us = m->at_us;

			if (!strncmp(word, "step", 4))
				m->starts_us[m->steps++] = m->at_us;
			assert_true(m->steps < STARTS_MAX);
			if (inner)
				put_rule(m, inner, depth + 1);
			else
				put_leaf(m, word, len);
			if (is_word(word, len, "iteration"))
				put(m, "range t1 %" PRIu64 "us-%" PRIu64 "us \"ProfilerStep#%u\"\n",
					from_us, m->at_us, m->iterations++);
		}
		list += strspn(list, " ");
	}
}

static void make(struct made *m, const char *rules)
{
	m->size = m->rule_count = m->steps = 0;
	m->correlation = m->iterations = 0;
	m->script = malloc(SCRIPT_BYTES);
	assert_non_null(m->script);
	m->at_us = 1000;
	put(m, "start 1ms\n");
	m->has_iterations = strstr(rules, "iteration:") != NULL;
	for (; *rules; rules += strcspn(rules, "\n"), rules += *rules == '\n') {
		assert_true(m->rule_count < RULES_MAX);
		m->rules[m->rule_count++] = rules;
	}
	put_rule(m, rule_called(m, "trace", 5), 0);
}

/* ---- parts that pipelines have in common ---- */

/* A linear layer that cuBLAS splits, with a bias of its own: many alike within one layer of a model. */
#define LINEAR "linear: g1 k1 e1 y1\n"
#define TEXT   "text_layer: n5 g5*3 a5 g5 e5 n5 g6 l6 g5 e5\ntext: i5 text_layer*24 n5 g7\n"
/* A decoder of images: blocks of convolutions at rising resolutions, one attention. */
#define VAE                                                                                        \
	"res1: G1 l1 c1 G1 l1 c1 e1\nres2: G2 l2 c2 G2 l2 c2 e2\nres3: G3 l3 c3 G3 l3 c3 e3\n"     \
	"vae: c1 res1 G1 g9*3 x9 g9*2 res1 res1*3 u1 c1 res2*3 u2 c2 res3*3 G3 l3 c3\n"
#define SCHEDULER "sched: s1*2 s2 s1 y3\n"
#define DIT                                                                                        \
	"dit: n1 m1 e1 g1*3 n2*2 i1*2 a1 g1 m1 e1 n1 g1 g2*2 n2*2 a2 g1 e1 n1 m1 e1 g3 l3 g4 m1 "  \
	"e1\n"
#define MMDIT                                                                                      \
	LINEAR "mmdit: n1 m1 e1 n3 m3 e3 linear*6 n2*4 y2*3 a1 y2*2 linear*2 m1 e1 m3 e3 n1 m1 "   \
	       "linear l3 linear m1 e1 n3 m3 linear l4 linear m3 e3\n"
#define UNET                                                                                       \
	"ra: G1 l1 c1 g8 e8 G1 l1 c1 e1\nta: G1 y1 g1 n1 g1*3 a1 g1 e1 n1 g1*3 a2 g1 e1 n1 g2 m2 " \
	"g1 e1 g1 y1 e1\nrb: G2 l2 c2 g8 e8 G2 l2 c2 e2\ntb: G2 y2 g3 n2 g3*3 a3 g3 e2 n2 g3*3 "   \
	"a4 g3 e2 n2 g4 m4 g3 e2 g3 y2 e2\nrc: G3 l3 c3 g8 e8 G3 l3 c3 e3\n"                       \
	"unet: s5*3 g8 l8 g8 c1 ra ta ra ta c4 rb tb rb tb c5 rc rc rc tb rc y3 rc y3 rc u3 c5 "   \
	"y2 rb tb y2 rb tb y2 rb tb u2 c4 y1 ra ta y1 ra ta y1 ra ta G1 l1 c1\n"

/* ---- the traces ---- */

static const struct {
	const char *name, *rules;
	size_t steps;    /* 0: none may be claimed */
	unsigned layers; /* of a pass; 0: any */
} cases[] = {
	{"MMDiT, 38 layers whose linear layers are split",
		TEXT VAE SCHEDULER MMDIT "step: s4*2 g7 l7 g7 y4 mmdit*38 n6 g6 y6 sched\n"
					 "trace: text step*4 vae\n",
		4, 38},
	{"MMDiT, 24 layers, 12 steps",
		TEXT VAE SCHEDULER MMDIT "step: s4*2 g7 l7 g7 y4 mmdit*24 n6 g6 y6 sched\n"
					 "trace: text step*12 vae\n",
		12, 24},
	{"DiT, 30 layers, guidance by two passes",
		TEXT VAE SCHEDULER DIT "pass: c7 s4*2 g7 l7 g7 dit*30 n6 g6 y6\n"
				       "step: pass*2 e9*2 sched\ntrace: text step*9 vae\n",
		9, 30},
	{"DiT, 40 layers, 4 steps, no scheduler on the GPU",
		TEXT VAE DIT "step: c7 s4*2 g7 l7 g7 dit*40 n6 g6 y6\ntrace: text step*4 vae\n", 4,
		40},
	{"U-Net, 25 steps", TEXT VAE SCHEDULER UNET "step: unet sched\ntrace: text step*25 vae\n",
		25, 0},
	{"U-Net, 12 steps, guidance by two passes",
		TEXT VAE SCHEDULER UNET "step: unet*2 e9*2 sched\ntrace: text step*12 vae\n", 12,
		0},
	{"causal blocks, 7 of 4 steps and a pass that writes the cache",
		TEXT VAE SCHEDULER DIT "pass: c7 s4*2 g7 l7 g7 dit*30 n6 g6 y6\nstep: pass sched\n"
				       "block: y8 step*4 pass vae*3\ntrace: text block*7\n",
		28, 30},
	{"causal blocks, decoded in the end",
		TEXT VAE SCHEDULER DIT "pass: c7 s4*2 g7 l7 g7 dit*30 n6 g6 y6\nstep: pass sched\n"
				       "block: y8 step*4 pass\ntrace: text block*7 vae*21\n",
		28, 30},
	{"a decoder in 64 tiles that takes longer than 8 steps",
		TEXT VAE SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*20 n6 g6 y6 sched\n"
				       "tile: y8 vae y9 m9\ntrace: text step*8 tile*64\n",
		8, 20},
	{"Flux: 19 double and 38 single layers, 8 steps",
		TEXT VAE SCHEDULER MMDIT
		"single: n1 m1 e1 linear*2 n2*2 a3 y2 l3 linear m1 e1\n"
		"step: s4*2 g7 l7 g7 y4 mmdit*19 y5 single*38 n6 g6 y6 sched\n"
		"trace: text step*8 vae\n",
		8, 0},
	{"12 layers with two attentions, then 24 with one",
		"enc: n9 g9 a9 g8 e9 n8 g7 l9 g6 e8\n"
		"double: n1 g1 a1 g2 e1 n2 g3 a2 g4 e2 n3 g5 l1 g6 e3\n"
		"single: n4 g10 a3 g11 e4 n5 g12 l2 g13 e5\n"
		"step: y4 double*12 single*24 n6 g14 y6 s1 m2 s3\n"
		"trace: enc*24 step*8 y9*20\n",
		8, 0},
	{"LLM, 24 tokens of 28 layers, each read by the host",
		"llama: n1 g1 i1*2 a1 g1 e1 n1 g2 l2 g1 e1\n"
		"step: i3 llama*28 n1 g7 r7 i7 D1\ntrace: step*24\n",
		24, 28},
	{"LLM whose linear layers are split",
		LINEAR "llama: n1 linear*3 i1*2 a1 linear e1 n1 linear*2 l2 m2 linear e1\n"
		       "step: i3 llama*32 n1 g7 r7 i7 D1\ntrace: step*12\n",
		12, 32},
	{"a step cache leaves out half of the steps' layers",
		TEXT VAE SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*30 n6 g6 y6 sched\n"
				       "step_cached: c7 s4*2 g7 l7 g7 n6 g6 y6 sched\n"
				       "two: step step_cached\ntrace: text two*8 vae\n",
		16, 30},
	{"three requests of 4 steps",
		TEXT VAE SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*30 n6 g6 y6 sched\n"
				       "request: text step*4 vae D1\ntrace: request*3\n",
		12, 30},
	{"one pass of 38 layers is no loop", MMDIT "trace: s4*2 g7 l7 g7 y4 mmdit*38 n6 g6 y6\n", 0,
		0},
	{"two and nine iterations without attention in turns: the runs are no steps",
		"it: c1 G1 e1 l1 r1 w1 b1 o1\nrun: i1 it*2 y1 i1 it*9 y1\ntrace: run*3\n", 0, 0},
	{"a text encoder alone is none",
		LINEAR "layer: n5 linear*4 a5 linear*2 e5 n5 linear l6 linear e5\n"
		       "trace: i5 layer*24 n5 g7\n",
		0, 0},
	{"unfused attention: 12 steps of 20 layers",
		TEXT VAE SCHEDULER LINEAR
		"layer: n1 m1 e1 linear*3 y2*3 g8 m8 x1 g8 y2 linear e1 n1 m1 linear l3 linear e1\n"
		"step: c7 s4*2 g7 l7 g7 layer*20 n6 g6 y6 sched\ntrace: text step*12 vae\n",
		12, 20},
	{"slices of attention: 10 steps of 16 layers",
		TEXT VAE SCHEDULER
		"slice: g8 m8 x1 g8\n"
		"layer: n1 m1 e1 g1*3 y2*3 slice*8 y2 g1 e1 n1 m1 g3 l3 g4 e1\n"
		"step: c7 s4*2 g7 l7 g7 layer*16 n6 g6 y6 sched\ntrace: text step*10 vae\n",
		10, 16},
	{"attention whose name says nothing, split linear layers",
		SCHEDULER LINEAR
		"layer: n1 m1 e1 linear*6 n2*4 y2*3 z1 y2*2 linear*2 m1 e1 n1 linear l3 linear e1\n"
		"step: s4*2 g7 l7 g7 layer*38 n6 g6 y6 sched\ntrace: step*4\n",
		0, 0},
	{"the same, and the host reads from each step",
		LINEAR "layer: n1 linear*3 i1*2 z1 linear e1 n1 linear*2 l2 m2 linear e1\n"
		       "step: i3 layer*32 n1 g7 r7 i7 D1\ntrace: step*12\n",
		12, 0},
	{"five local layers, then a global one, read by the host",
		"local: n1 g1 i1*2 a1 g1 e1 n1 g2 l2 g1 e1\n"
		"global: n1 g1 i1*2 a2 g1 e1 n1 g2 l2 g1 e1\ngroup: local*5 global\n"
		"step: i3 group*6 n1 g7 r7 i7 D1\ntrace: step*12\n",
		12, 0},
	{"a U-Net with layers of one kind, a few here and many there, each step read by the host",
		TEXT VAE "res: G1 e1 c1 e1*2 g5 G1 e1 c1 e1\n"
			 "layer: n1 g1*3 a1 g1 e1 n1 g1*3 a1 g1 e1 n1 g9 e1 i1 g1 e1\n"
			 "few: res layer*2\nmany: res layer*10\n"
			 "step: e1 i1 e1 i1 e1 i1*2 y2 res*2 few*2 many*6 few*3 res*3 i1 e1 D1\n"
			 "trace: text step*12 vae D1\n",
		12, 0},
	{"the same U-Net, and the host reads nothing: two candidates",
		TEXT VAE "res: G1 e1 c1 e1*2 g5 G1 e1 c1 e1\n"
			 "layer: n1 g1*3 a1 g1 e1 n1 g1*3 a1 g1 e1 n1 g9 e1 i1 g1 e1\n"
			 "few: res layer*2\nmany: res layer*10\n"
			 "step: e1 i1 e1 i1 e1 i1*2 y2 res*2 few*2 many*6 few*3 res*3 i1 e1\n"
			 "trace: text step*12 vae D1\n",
		0, 0},
	{"blocks of four steps, two of them short by a step cache",
		TEXT VAE SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*30 n6 g6 y6 sched\n"
				       "step_cached: c7 s4*2 g7 l7 g7 n6 g6 y6 sched\n"
				       "block: y8 step step_cached step step_cached vae*3\n"
				       "trace: text block*6\n",
		24, 30},
	{"spatial and temporal layers by turns",
		TEXT VAE SCHEDULER
		"spatial: n1 m1 g1*3 y1 a1 g1 e1 n1 g2 a2 g1 e1 n1 g3 l3 g4 e1\n"
		"temporal: y5 n1 m1 g1*3 y1 a3 g1 e1 n1 g3 l3 g4 e1 y6\n"
		"pair: spatial temporal\nstep: c7 s4*2 g7 l7 g7 pair*28 n6 g6 y6 sched\n"
		"trace: text step*15 vae\n",
		15, 28},
	{"marked iterations of as many steps",
		SCHEDULER DIT VAE "step: c7 s4*2 g7 l7 g7 dit*12 n6 g6 y6 sched\n"
				  "iteration: y9 step*4 vae\ntrace: iteration*4\n",
		16, 12},
	{"marked iterations that are not those of the kernels",
		SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*12 n6 g6 y6 sched\n"
			      "iteration: dit*6\ntrace: step*3 iteration*2 step*5 iteration*3\n",
		0, 0},
	{"the op that marks layers occurs once more, and each has two attentions",
		"head: c7 s4*2 g7 l7 g7 y8 n1\n"
		"layer: n2 m1 e1 g1*3 a1 g1 e1 n1 g1*3 a2 g1 e1 n2 g3 l3 g4 e1 y8 e3\n"
		"step: head layer*12 n6 g6 y6 y7 e7\ntrace: step*6\n",
		6, 12},
	{"two iterations and a half, each with two parts alike",
		"fw1: c1 G1 l1 c2 G1 l1 c3 G1 e1 l1\nfw2: c4 G2 l2 c5 G2 l2 c6 G2 e2 l2\n"
		"fw3: c7 G3 l3 c8 G3 l3 c9 G3 e3 l3\nfw4: c10 G4 l4 c11 G4 l4 c12 G4 e4 l4\n"
		"part: y9 c13 G5 l5 fw1*6 fw2*8 fw3*12 fw4*6 r6 g9 r7 i7 r8 g8 g7\n"
		"turn: part*2 w13*300 o1*100 b20*200\ntrace: turn*2 part*2\n",
		0, 0},
	{"two short iterations between two long ones",
		"fw1: c1 G1 l1 c2 G1 l1 c3 G1 e1 l1\nfw2: c4 G2 l2 c5 G2 l2 c6 G2 e2 l2\n"
		"part: y9 c13 G5 l5 fw1*15 fw2*15 r6 g9 r7 i7 r8 g8 g7\n"
		"long: part w13*700 o1*100\ntrace: long part part long\n",
		0, 0},
	{"ResNet-50 in training",
		"fw1: c1 G1 l1 c2 G1 l1 c3 G1 e1 l1\nfw2: c4 G2 l2 c5 G2 l2 c6 G2 e2 l2\n"
		"fw3: c7 G3 l3 c8 G3 l3 c9 G3 e3 l3\nfw4: c10 G4 l4 c11 G4 l4 c12 G4 e4 l4\n"
		"bk1: m1 G1 b1 w1 l1 G1 b2 w2 l1 G1 b3 w3\nbk2: m2 G2 b4 w4 l2 G2 b5 w5 l2 G2 b6 "
		"w6\n"
		"bk3: m3 G3 b7 w7 l3 G3 b8 w8 l3 G3 b9 w9\n"
		"bk4: m4 G4 b10 w10 l4 G4 b11 w11 l4 G4 b12 w12\n"
		"step: y9 c13 G5 l5 fw1*3 fw2*4 fw3*6 fw4*3 r6 g9 r7 i7 r8 g8 g7 bk4*3 bk3*6 bk2*4 "
		"bk1*3 "
		"l5 G5 w13 o1*12\ntrace: step*10\n",
		10, 0},
};

static uint64_t start_of(const struct vpa_inferred *row, size_t i)
{
	return row->steps[i].start_ns / 1000;
}

/* The first way in which the steps are not the true ones; NULL: they are. */
static const char *difference(
	const struct made *m, const struct vpa_report *r, size_t steps, uint64_t slack_us)
{
	static char text[160];
	const struct vpa_inferred *row = r->inferred;
	size_t i;

	if (!steps && !r->inferred_count)
		return NULL;
	if (!r->inferred_count || row->step_count != steps) {
		snprintf(text, sizeof(text), "expected %zu steps, found %zu", steps,
			r->inferred_count ? row->step_count : 0);
		return text;
	}
	for (i = 0; i < steps; i++)
		if (start_of(row, i) > m->starts_us[i] + slack_us ||
			start_of(row, i) + slack_us < m->starts_us[i]) {
			snprintf(text, sizeof(text),
				"step %zu: expected at %" PRIu64 " us, found at %" PRIu64 " us", i,
				m->starts_us[i], start_of(row, i));
			return text;
		}
	return NULL;
}

/* A row of the table: what is true, what was found. */
static void show(const char *name, size_t steps, const struct vpa_report *r, const char *wrong)
{
	const struct vpa_inferred *row = r->inferred_count ? r->inferred : NULL;

	print_message("| %s | %zu | %zu | %u | %.2f | %s |\n", name, steps,
		row ? row->step_count : 0, row ? row->layers : 0, row ? row->confidence : 0,
		wrong ? wrong : "right");
}

static void every_trace_has_its_level(void **state)
{
	size_t i, wrong_count = 0;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct made m = {.noise_per_10000 = 0};
		struct vpa_report *r;
		const char *wrong;

		make(&m, cases[i].rules);
		r = vpt_script_report(m.script, NULL);
		wrong = difference(&m, r, cases[i].steps, 0);
		if (!wrong && cases[i].layers && r->inferred->layers != cases[i].layers)
			wrong = "another number of layers";
		if (wrong || getenv("VPT_TABLE"))
			show(cases[i].name, cases[i].steps, r, wrong);
		wrong_count += wrong != NULL;
		vpa_report_free(r);
		free(m.script);
	}
	assert_int_equal(wrong_count, 0);
}

static struct vpa_report *report_of(const char *name)
{
	struct made m = {.noise_per_10000 = 0};
	struct vpa_report *r;
	size_t i;

	for (i = 0; i < COUNT(cases) && strcmp(cases[i].name, name) != 0; i++)
		;
	assert_true(i < COUNT(cases));
	make(&m, cases[i].rules);
	r = vpt_script_report(m.script, NULL);
	free(m.script);
	return r;
}

static void two_candidates_are_said_and_have_no_rate(void **state)
{
	struct vpa_report *r = report_of("attention whose name says nothing, split linear layers");
	char *screen = text_of(r, 0);

	(void)state;
	if (!strstr(screen, "nothing marks steps: they may be 152 of ") ||
		!strstr(screen, " of GPU work, or 4 of "))
		fail_msg("not both candidates in\n%s", screen);
	vpt_free(screen);
	assert_int_equal(r->inferred_count, 0);
	assert_int_equal(r->step_rival_count, 2);
	assert_int_equal(r->step_rivals[1].count, 4);
	assert_true(r->step_rivals[0].count >= 152);
	assert_true(r->step_rivals[0].median_ns < r->step_rivals[1].median_ns);
	expect_page(
		"two candidates", r, "two repetitions of the kernel sequence may be the steps", 1);
	expect_page("two candidates", r, "steps/s", 0);
	/* So nothing else counts in one of them either. */
	assert_int_equal(vpa_unit_of(r), VPA_UNIT_WINDOW);
	assert_int_equal(r->expert.loop.count, 0);
	vpa_report_free(r);
}

static void rows_of_steps_are_counted(void **state)
{
	struct vpa_report *r =
		report_of("causal blocks, 7 of 4 steps and a pass that writes the cache");

	(void)state;
	assert_int_equal(r->inferred_count, 1);
	assert_int_equal(r->inferred->rows, 7);
	assert_int_equal(r->inferred->row_steps, 4);
	assert_int_equal(r->inferred->context_passes, 7);
	assert_int_equal(r->inferred->round_count, 7);
	assert_int_equal(r->inferred->round_steps, 4);
	expect_page("rounds", r, "7 rounds of 4", 1);
	assert_int_equal(vpa_unit_of(r), VPA_UNIT_ROUND);
	vpa_report_free(r);
	r = report_of("MMDiT, 24 layers, 12 steps");
	assert_int_equal(r->inferred->rows, 0);
	vpa_report_free(r);
}

static void sizes_that_depend_on_data_hide_no_step(void **state)
{
	struct vpt_random random = {1};
	struct made m = {.random = &random, .sizes_vary = 1};
	struct vpa_report *r;

	(void)state;
	make(&m, SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*20 n6 g6 y6 sched\ntrace: step*8\n");
	r = vpt_script_report(m.script, NULL);
	assert_int_equal(r->inferred_count, 1);
	assert_int_equal(r->inferred->step_count, 8);
	assert_int_equal(r->inferred->layers, 20);
	assert_int_equal(r->inferred->steps[1].start_ns, m.starts_us[1] * 1000);
	vpa_report_free(r);
	free(m.script);
}

#define PIPELINE                                                                                   \
	SCHEDULER TEXT VAE DIT "step: c7 s4*2 g7 l7 g7 dit*20 n6 g6 y6 sched\nhalf: W*9 step*2\n"

/* What a request, a block or a frame is made of. */
static void steps_and_what_is_between_make_rounds(void **state)
{
	static const struct {
		const char *rule, *rules;
		unsigned steps, rounds, round_steps;
	} pipelines[] = {
		{"a decoder after each", PIPELINE "round: text step*4 vae*2\ntrace: round*5\n", 20,
			5, 4},
		{"the recording begins in one",
			PIPELINE "round: step*4 vae*2\ntrace: step vae*2 round*5\n", 21, 5, 4},
		{"it ends in one", PIPELINE "round: step*4 vae*2\ntrace: round*4 step*3\n", 19, 5,
			4},
		{"weights are loaded for so long that steps are a tenth",
			PIPELINE "round: W*200 text step*6 vae\ntrace: round*4 text\n", 0, 4, 6},
		{"the model changes half way",
			PIPELINE "round: half half text vae*9\ntrace: round*3\n", 12, 3, 4},
		{"two of them", PIPELINE "round: step*4 vae*2\ntrace: text round*2\n", 8, 2, 4},
		{"one alone", PIPELINE "trace: text step*4 vae*2\n", 4, 0, 0},
		{"of unlike numbers of steps",
			PIPELINE "trace: step*4 vae step*3 vae step*5 vae step*4\n", 16, 0, 0},
		{"with something else after each",
			PIPELINE "trace: step*4 vae*2 step*4 W*7 step*4 text step*4 W*90 text\n",
			16, 0, 0},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(pipelines); i++) {
		struct made m = {.noise_per_10000 = 0};
		const struct vpa_inferred *row;
		struct vpa_report *r;

		make(&m, pipelines[i].rules);
		r = vpt_script_report(m.script, NULL);
		row = r->inferred;
		if (r->inferred_count != 1 || row->step_count != pipelines[i].steps ||
			row->round_count != pipelines[i].rounds ||
			row->round_steps != pipelines[i].round_steps)
			fail_msg("%s: %zu steps, %zu rounds of %u", pipelines[i].rule,
				r->inferred_count ? row->step_count : 0,
				r->inferred_count ? row->round_count : 0,
				r->inferred_count ? row->round_steps : 0);
		for (k = 0; k + 1 < row->round_count; k++)
			assert_int_equal(row->rounds[k].start_ns + row->rounds[k].period_ns,
				row->rounds[k + 1].start_ns);
		if (vpa_unit_of(r) != (row->round_count ? VPA_UNIT_ROUND : VPA_UNIT_INFERRED))
			fail_msg("%s: the unit is %s", pipelines[i].rule,
				vpa_unit_kind_name(vpa_unit_of(r)));
		vpa_report_free(r);
		free(m.script);
	}
}

/* Collectives run on a stream of their own, and may take more time than the model. */
static void steps_are_of_the_stream_that_computes(void **state)
{
	struct made m = {.noise_per_10000 = 0};
	struct vpa_report *r;
	size_t i;

	(void)state;
	make(&m, SCHEDULER DIT "step: c7 s4*2 g7 l7 g7 dit*20 n6 g6 y6 sched\ntrace: step*5\n");
	for (i = 0; i < 400; i++)
		put(&m, "kernel s9 %zuus+900us corr %zu " REDUCE " grid 24\n", 1000 + 1000 * i,
			100000 + i);
	r = vpt_script_report(m.script, NULL);
	assert_int_equal(r->inferred_count, 1);
	assert_int_equal(r->inferred->stream, 7);
	assert_int_equal(r->inferred->step_count, 5);
	vpa_report_free(r);
	free(m.script);
}

/* ---- traces at random: confidence is how often it is right ---- */

static unsigned pick(struct vpt_random *r, unsigned least, unsigned most)
{
	return least + (unsigned)vpt_random_below(r, most - least + 1);
}

/* The rules of a pipeline: `random` chooses the model, its size, and what is around it. */
static void random_rules(struct vpt_random *random, char *rules, size_t cap)
{
	static const char *const layers[] = {
		"n1 m1 e1 n3 m3 e3 linear*6 n2*4 y2*3 %c1 y2*2 linear*2 m1 e1 n1 linear l3 linear",
		"n1 m1 e1 g1*3 n2*2 i1*2 %c1 g1 m1 e1 n1 g1 g2*2 n2*2 %c2 g1 e1 n1 m1 g3 l3 g4 m1",
		"n1 g1 i1*2 %c1 g1 e1 n1 g2 l2 g1 e1",
		"n1 linear*3 i1*2 %c1 linear e1 n1 linear l2 linear"};
	unsigned layer = pick(random, 0, 3), llm = layer > 1 && pick(random, 0, 1);
	unsigned scheduler = pick(random, 0, 2) ? pick(random, 3, 6) : 0;
	char attention = pick(random, 0, 4) ? 'a' : 'z';
	size_t n = (size_t)snprintf(rules, cap, "%s", LINEAR TEXT VAE "layer: ");

	n += (size_t)snprintf(rules + n, cap - n, layers[layer], attention, attention);
	n += (size_t)snprintf(rules + n, cap - n,
		"\nother: n1 g1 i1*2 %c5 g1 e1 n1 g2 l2 g1 e1\nsome: layer*%u%s\n"
		"pass: c7 s4*%u g7 some*%u n6 g6*%u%s\n",
		attention, pick(random, 1, 6), pick(random, 0, 4) ? "" : " other",
		pick(random, 0, 3), pick(random, 3, 12), pick(random, 0, 2),
		llm ? " r7 i7 D1" : "");
	n += (size_t)snprintf(rules + n, cap - n, "step: pass%s y9*%u\n",
		pick(random, 0, 5) || llm || !scheduler ? "" : "*2 e9", scheduler);
	n += (size_t)snprintf(rules + n, cap - n, "block: y8 step*%u%s%s\n", pick(random, 3, 10),
		pick(random, 0, 2) || llm || !scheduler ? "" : " pass",
		pick(random, 0, 1) || llm ? "" : " vae*2");
	snprintf(rules + n, cap - n, "trace: text block*%u vae*%u\n",
		pick(random, 0, 1) ? 1 : pick(random, 2, 5), llm ? 0 : pick(random, 0, 20));
}

/* Of what is claimed with a confidence of about 0.9 or more, nine of ten are right; of the rest, eight. */
static void confidence_is_how_often_it_is_right(void **state)
{
	enum { ROUNDS = 100 };
	unsigned round, claimed[2] = {0}, right[2] = {0};

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct vpt_random random = {round + 1};
		struct made m = {.random = &random, .noise_per_10000 = round % 4 == 3 ? 10 : 0};
		char rules[4096];
		struct vpa_report *r;

		random_rules(&random, rules, sizeof(rules));
		make(&m, rules);
		r = vpt_script_report(m.script, NULL);
		if (r->inferred_count) {
			int is_high = r->inferred->confidence >= 0.9;
			const char *wrong =
				difference(&m, r, m.steps, r->inferred->period.p50_ns / 20000);

			claimed[is_high]++;
			right[is_high] += !wrong;
			if (wrong && getenv("VPT_TABLE"))
				show(strstr(rules, "\nlayer:"), m.steps, r, wrong);
		}
		vpa_report_free(r);
		free(m.script);
	}
	print_message("%u of %u right with confidence from 0.9, %u of %u below, of %d\n", right[1],
		claimed[1], right[0], claimed[0], ROUNDS);
	assert_true(claimed[1] >= ROUNDS / 2);
	assert_true(10 * right[1] >= 9 * claimed[1]);
	assert_true(10 * right[0] >= 8 * claimed[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_trace_has_its_level),
		cmocka_unit_test(two_candidates_are_said_and_have_no_rate),
		cmocka_unit_test(rows_of_steps_are_counted),
		cmocka_unit_test(steps_are_of_the_stream_that_computes),
		cmocka_unit_test(sizes_that_depend_on_data_hide_no_step),
		cmocka_unit_test(steps_and_what_is_between_make_rounds),
		cmocka_unit_test(confidence_is_how_often_it_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
