/* test_findings_chains.c - chains of kernels that a change of the weights makes needless: adapters beside layers, and what unpacks
 * weights. Lists of letters become the kernels of a stream, one right after the other. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

static const struct kernel {
	char letter;
	const char *name; /* NULL: a copy of a few bytes */
	unsigned us, grid;
} kernels[] = {
	{'L', "ampere_bf16_s16816gemm_bf16_128x128", 300, 132},
	{'l', "ampere_bf16_s16816gemm_bf16_64x64", 15, 132},
	{'K', "ampere_bf16_s16816gemm_bf16_64x64", 20, 64},
	{'A', "nvjet_sm90_tst_64x64_64x13_4x1_v_bz_splitK_TNT", 20, 148},
	{'B', "nvjet_sm90_tst_128x64_64x8_1x1_h_bz_TNT", 20, 296},
	{'D', "nvjet_sm90_tst_128x64_64x8_1x1_h_bz_TNT", 20, 8},
	{'H', "nvjet_sm90_tst_128x128_64x8_1x1_h_bz_TNT", 110, 296},
	{'R', "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>", 5, 38},
	{'m',
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::AUnaryFunctor<float, float, float, "
		"at::native::binary_internal::MulFunctor<float> > >",
		10, 64},
	{'a',
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::CUDAFunctor_add<float> >",
		10, 64},
	{'f', "triton_poi_fused_add_mul_view_3", 10, 64},
	{'r', "triton_poi_fused_add_cat_mul_neg_3", 10, 64},
	{'c', "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>",
		10, 64},
	{'s', "softmax_warp_forward", 10, 64},
	{'u',
		"void at::native::elementwise_kernel<128, 4, at::native::rshift_kernel_cuda("
		"at::TensorIteratorBase&)::{lambda(unsigned char, unsigned char)#1}>",
		40, 64},
	{'n',
		"void at::native::vectorized_elementwise_kernel<16, "
		"at::native::BitwiseAndFunctor<unsigned char> >",
		20, 64},
	{'b',
		"void at::native::vectorized_elementwise_kernel<4, "
		"at::native::BitwiseAndFunctor<bool> >",
		20, 64},
	{'j', "CatArrayBatchedCopy", 10, 64},
	{'q', "void kDequantizeBlockwise<float, 512, 64, 8, 1>", 40, 64},
	{'F', "flash_fwd_kernel", 100, 64},
	{'h', NULL, 1, 0},
};

static const struct kernel *kernel_of(char letter)
{
	size_t i;

	for (i = 0; kernels[i].letter != letter; i++)
		assert_true(i + 1 < COUNT(kernels));
	return &kernels[i];
}

/* Appends the kernels to a script, `gap_us` apart. Returns when the last one ends. */
static unsigned add(char *script, size_t size, unsigned stream, unsigned us, unsigned gap_us,
	const char *letters)
{
	for (; *letters; letters++) {
		const struct kernel *k = kernel_of(*letters);
		size_t at = strlen(script);

		if (k->name)
			snprintf(script + at, size - at, "kernel s%u %uus+%uus \"%s\" grid %u\n",
				stream, us, k->us, k->name, k->grid);
		else
			snprintf(script + at, size - at, "copy s%u HtoD %uus+%uus bytes 2\n",
				stream, us, k->us);
		us += k->us + gap_us;
	}
	return us - gap_us;
}

static struct vpa_report *analyze_letters(const char *letters, unsigned gap_us)
{
	char script[8000] = "start 1ms\n";

	(void)add(script, sizeof(script), 7, 1000, gap_us, letters);
	return vpt_script_report(script, NULL);
}

/* ---- adapters ---- */

static const struct {
	const char *rule, *letters;
	unsigned count, kernels, total_us;
} adapters[] = {
	{"two short products, a scale and a sum", "LABma", 1, 4, 60},
	{"in either order", "LABam", 1, 4, 60},
	{"a product in parts, and their sum", "LARBRma", 1, 6, 70},
	{"that of the layer is the layer's", "LRABma", 1, 4, 60},
	{"the input is cast", "LcARBma", 1, 6, 75},
	{"two scales", "LABmma", 1, 5, 70},
	{"a compiler made one of both", "LABf", 1, 3, 50},
	{"one for rotation is another one", "LABr", 0, 0, 0},
	{"a scale alone", "LABmL", 0, 0, 0},
	{"a sum alone", "LABaL", 0, 0, 0},
	{"something else between", "LABsma", 0, 0, 0},
	{"something else before", "LsABma", 0, 0, 0},
	{"one product", "LAma", 0, 0, 0},
	{"keys and values have one shape", "LKKma", 0, 0, 0},
	{"products of one kernel may differ", "LDBma", 1, 4, 60},
	{"no layer", "ABma", 0, 0, 0},
	{"a product of more than a third is no small one", "LAHma", 0, 0, 0},
	{"a layer as short as its adapter is not told by that", "lABma", 0, 0, 0},
	{"but by half of the others", "LABmalABma", 2, 8, 120},
	{"by less it is not", "LABmalABmalABma", 0, 0, 0},
};

static void adapters_are_found_beside_layers(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(adapters); i++) {
		struct vpa_report *r = analyze_letters(adapters[i].letters, 0);
		const struct vpa_adapters *a = &r->adapters;

		if (a->count != adapters[i].count || a->kernels != adapters[i].kernels ||
			a->total_ns != adapters[i].total_us * 1000 || a->span_ns != a->total_ns)
			fail_msg("%s: found %u of %u kernels, %u ns, %u ns", adapters[i].rule,
				(unsigned)a->count, (unsigned)a->kernels, (unsigned)a->total_ns,
				(unsigned)a->span_ns);
		vpa_report_free(r);
	}
}

/* Batches hold 240 ops. */
static void adapters_are_found_across_batches_and_beside_other_streams(void **state)
{
	static char script[200000];
	struct vpa_report *r;
	unsigned us = 1000, i;

	(void)state;
	strcpy(script, "start 1ms\n");
	for (i = 0; i < 100; i++)
		us = add(script, sizeof(script), 7, us, 0, "LARBma");
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->adapters.count, 100);
	vpa_report_free(r);
	/* Each op of one stream is followed by one of the other. */
	strcpy(script, "start 1ms\n");
	for (i = 0, us = 1000; i < 100; i++) {
		us = add(script, sizeof(script), 7, us, 3, "LARBma");
		(void)add(script, sizeof(script), 8, us - 377, 3, "LARBma");
		us += 3;
	}
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->adapters.count, 200);
	vpa_report_free(r);
}

static const struct {
	const char *rule, *letters;
	unsigned gap_us;
	const char *measured;
	double gain_ms;
} merges[] = {
	{"what lies behind the layer's product goes", "LABma", 0,
		"1 adapter beside 1 product: 4 kernels take 60.0 us, 60.0 us with the gaps between "
		"them",
		0.060},
	{"with what launching costs", "LABmaL", 15,
		"1 adapter beside 2 products: 4 kernels take 60.0 us, 120 us with the gaps between "
		"them",
		0.120},
	{"a quarter of the products", "LABmaLLL", 0,
		"1 adapter beside 4 products: 4 kernels take 60.0 us, 60.0 us with the gaps "
		"between "
		"them",
		0.060},
	{"of fewer it is not said", "LABmaLLLL", 0, NULL, 0},
};

static void expect_finding(const char *rule, const struct vpa_report *r, const char *id,
	const char *measured, double gain_ms)
{
	const struct vpa_finding *f = finding(r, id);

	if (!f != !measured || (f && strcmp(f->measured, measured) != 0))
		fail_msg("%s: expected \"%s\", found \"%s\"", rule, measured ? measured : "nothing",
			f ? f->measured : "nothing");
	if (f && (f->gain_at_most_ms > gain_ms + 0.001 || f->gain_at_most_ms < gain_ms - 0.001))
		fail_msg("%s: expected a gain of %.3f ms, found %.3f", rule, gain_ms,
			f->gain_at_most_ms);
}

static void adapters_are_to_be_merged(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(merges); i++) {
		struct vpa_report *r = analyze_letters(merges[i].letters, merges[i].gap_us);
		const struct vpa_finding *f = finding(r, "unmerged-adapter");

		expect_finding(merges[i].rule, r, "unmerged-adapter", merges[i].measured,
			merges[i].gain_ms);
		if (f) {
			assert_string_equal(f->change, "delete adapters");
			assert_int_equal(f->evidence_count, 2);
			assert_string_equal(f->evidence[0], kernel_of('A')->name);
			assert_string_equal(f->evidence[1], kernel_of('B')->name);
		}
		vpa_report_free(r);
	}
}

/* The host launches each kernel 15 us after the one before has ended, so the gaps between an adapter's kernels are those of the launch
 * rate too: what the second of the two findings adds is without them. */
static void gaps_of_adapters_are_claimed_once(void **state)
{
	char script[40000] = "start 1ms\n";
	const char *letters = "LABma";
	const struct vpa_finding *adapter, *rate;
	struct vpa_report *r;
	unsigned us = 1000, i;

	(void)state;
	for (i = 0; i < 100; i++) {
		const struct kernel *k = kernel_of(letters[i % 5]);
		size_t at = strlen(script);

		snprintf(script + at, sizeof(script) - at,
			"call t1 cudaLaunchKernel %uus+2us corr %u\n"
			"kernel s7 %uus+%uus \"%s\" grid %u corr %u\n",
			us, i + 1, us + 3, k->us, k->name, k->grid, i + 1);
		us += 3 + k->us + 12;
	}
	r = vpt_script_report(script, NULL);
	adapter = finding(r, "unmerged-adapter");
	rate = finding(r, "launch-rate");
	assert_non_null(adapter);
	assert_non_null(rate);
	/* 20 adapters of 60 us, and four gaps of 15 us in each. */
	assert_true(adapter->gain_at_most_ms > 2.3999 && adapter->gain_at_most_ms < 2.4001);
	assert_int_equal(r->adapters.total_ns, 1200000);
	if (adapter < rate)
		assert_true(rate->adds_ms <= rate->gain_at_most_ms - 1.1999);
	else
		assert_true(adapter->adds_ms <= adapter->gain_at_most_ms - 1.1999);
	vpa_report_free(r);
}

/* ---- unpacking ---- */

static const struct {
	const char *rule, *letters;
	unsigned count, kernels, total_us, other_us;
	const char *measured; /* of the finding; it is about unpacking where there is one */
	double gain_ms;
	unsigned chained; /* in chains that can be fused */
} unpackings[] = {
	{"from the first byte to the product", "unmaL", 1, 4, 80, 20,
		"4 kernels, 80.0 us, 21.1 % of busy", 0.080, 0},
	{"casts and joins too, and copies between", "nhcjmL", 1, 4, 50, 30,
		"4 kernels, 50.0 us, 14.2 % of busy", 0.050, 0},
	{"what is before the first byte is another chain", "mmunL", 1, 2, 60, 0,
		"2 kernels, 60.0 us, 15.8 % of busy", 0.060, 2},
	{"without a product only bytes are", "unmaF", 0, 0, 0, 0,
		"2 kernels, 60.0 us, 33.3 % of busy", 0.060, 0},
	{"after the product it has ended", "unLmaL", 1, 2, 60, 0,
		"2 kernels, 60.0 us, 8.8 % of busy", 0.060, 2},
	{"each product has its own", "umLumL", 2, 4, 100, 20, "4 kernels, 100 us, 14.3 % of busy",
		0.100, 0},
	{"masks of tensors are none", "bmL", 0, 0, 0, 0, NULL, 0, 2},
	{"a library's kernel unpacks alone", "qmmL", 0, 0, 0, 0,
		"1 kernel, 40.0 us, 11.1 % of busy", 0.040, 2},
};

static void unpacking_is_found_before_products(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(unpackings); i++) {
		struct vpa_report *r = analyze_letters(unpackings[i].letters, 0);
		const struct vpa_unpacking *u = &r->unpacking;
		const struct vpa_finding *f = finding(r, "quantising");

		if (u->count != unpackings[i].count || u->kernels != unpackings[i].kernels ||
			u->total_ns != unpackings[i].total_us * 1000 ||
			u->other_ns != unpackings[i].other_us * 1000 ||
			r->chains.kernels != unpackings[i].chained)
			fail_msg("%s: found %u of %u kernels, %u ns, %u ns; %u could be fused",
				unpackings[i].rule, (unsigned)u->count, (unsigned)u->kernels,
				(unsigned)u->total_ns, (unsigned)u->other_ns,
				(unsigned)r->chains.kernels);
		expect_finding(unpackings[i].rule, r, "quantising", unpackings[i].measured,
			unpackings[i].gain_ms);
		if (f)
			assert_string_equal(f->words, "products that read packed weights, or BF16");
		if (f)
			assert_string_equal(f->change, unpackings[i].other_us
							       ? "delete unpacking; scale quant 0"
							       : "scale quant 0");
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adapters_are_found_beside_layers),
		cmocka_unit_test(adapters_are_found_across_batches_and_beside_other_streams),
		cmocka_unit_test(adapters_are_to_be_merged),
		cmocka_unit_test(gaps_of_adapters_are_claimed_once),
		cmocka_unit_test(unpacking_is_found_before_products),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
