/* number_format.c - words in names of cuBLAS, CUTLASS, cuDNN, Triton and Tensile kernels, narrowest
 * formats first: a kernel that multiplies BF16 also names FP32, for its sums. */
#include "analysis/names/number_format.h"

#include "formats/base/text.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static const struct {
	const char *word; /* in lower case */
	enum vpa_precision precision;
} words[] = {
	{"e4m3", VPA_PRECISION_8},
	{"e5m2", VPA_PRECISION_8},
	{"e2m1", VPA_PRECISION_8},
	{"fp8", VPA_PRECISION_8},
	{"int8", VPA_PRECISION_8},
	{"w4a4", VPA_PRECISION_8},
	{"k_f8", VPA_PRECISION_8}, /* Tensile: Cijk_Ailk_Bljk_F8BS_BH_... */
	{"k_b8", VPA_PRECISION_8},
	{"k_i8", VPA_PRECISION_8},
	{"i8816", VPA_PRECISION_8},
	{"i16832", VPA_PRECISION_8},
	{"gemm_s8", VPA_PRECISION_8},
	{"gemm_i8i8", VPA_PRECISION_8},
	{"nvjet_qq", VPA_PRECISION_8},
	{"nvjet_sm90_qq", VPA_PRECISION_8},
	{"nvjet_sm100_qq", VPA_PRECISION_8},
	{"bf16", VPA_PRECISION_16},
	{"bfloat16", VPA_PRECISION_16},
	{"f16", VPA_PRECISION_16},
	{"fp16", VPA_PRECISION_16},
	{"half", VPA_PRECISION_16},
	{"hgemm", VPA_PRECISION_16},
	{"h884", VPA_PRECISION_16},
	{"h1688", VPA_PRECISION_16},
	{"h16816", VPA_PRECISION_16},
	{"s16816", VPA_PRECISION_16},
	{"nvjet_tst", VPA_PRECISION_16},
	{"nvjet_hsh", VPA_PRECISION_16},
	{"nvjet_sm90_tst", VPA_PRECISION_16},
	{"nvjet_sm90_hsh", VPA_PRECISION_16},
	{"nvjet_sm100_tst", VPA_PRECISION_16},
	{"nvjet_sm100_hsh", VPA_PRECISION_16},
	{"_bbs_", VPA_PRECISION_16},
	{"_bss_", VPA_PRECISION_16},
	{"_hhs_", VPA_PRECISION_16},
	{"_hss_", VPA_PRECISION_16},
	{"k_hb_", VPA_PRECISION_16},
	{"tf32", VPA_PRECISION_TF32},
	{"k_s_mx_b_", VPA_PRECISION_TF32},
	{"tensorop_s1688gemm", VPA_PRECISION_TF32},
	{"sgemm", VPA_PRECISION_FP32},
	{"scudnn", VPA_PRECISION_FP32},
	{"f32f32", VPA_PRECISION_FP32},
	{"fp32", VPA_PRECISION_FP32},
	{"k_sb_", VPA_PRECISION_FP32},
	{"k_s_b_", VPA_PRECISION_FP32},
	{"dgemm", VPA_PRECISION_FP64},
	{"k_db_", VPA_PRECISION_FP64},
	{"double", VPA_PRECISION_FP64},
	/* Integers on NVIDIA; "implicit" on AMD, if its name gives the format. */
	{"igemm", VPA_PRECISION_8},
};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

_Static_assert(WORDS <= 64, "a bit for each word");

/* The words, a bit each, that have a byte, in either case, at the first place and at the second. */
static struct {
	uint64_t first[256], second[256];
} places;

static pthread_once_t placed = PTHREAD_ONCE_INIT;

static void place_words(void)
{
	unsigned i;

	for (i = 0; i < WORDS; i++) {
		const unsigned char *word = (const unsigned char *)words[i].word;

		places.first[word[0]] |= (uint64_t)1 << i;
		places.first[toupper(word[0])] |= (uint64_t)1 << i;
		places.second[word[1]] |= (uint64_t)1 << i;
		places.second[toupper(word[1])] |= (uint64_t)1 << i;
	}
}

static int begins_with(const char *text, size_t len, const char *word)
{
	size_t i;

	for (i = 0; word[i]; i++)
		if (i == len || tolower((unsigned char)text[i]) != word[i])
			return 0;
	return 1;
}

/* One scan for all words. A word that is found leaves those before it to be looked for. */
enum vpa_precision vpa_precision_of(const char *name, size_t len)
{
	enum vpa_precision found = VPA_PRECISION_UNKNOWN;
	uint64_t wanted = ~(uint64_t)0, here;
	size_t i;

	pthread_once(&placed, place_words);
	for (i = 0; i + 1 < len; i++)
		for (here = wanted & places.first[(unsigned char)name[i]] &
			    places.second[(unsigned char)name[i + 1]];
			here; here &= here - 1) {
			unsigned word = (unsigned)__builtin_ctzll(here);

			if (!begins_with(name + i, len - i, words[word].word))
				continue;
			found = words[word].precision;
			wanted = ((uint64_t)1 << word) - 1;
			break;
		}
	return found;
}

int vpa_is_unaligned(const char *name)
{
	static const char word[] = "align1";

	while ((name = strstr(name, word))) {
		name += sizeof(word) - 1;
		if (!vpt_is_digit(*name))
			return 1;
	}
	return 0;
}

enum vpa_fallback vpa_fallback_of(const char *name)
{
	if (strstr(name, "naive_conv"))
		return VPA_FALLBACK_NAIVE_CONV;
	return strstr(name, "Cijk_") && strstr(name, "_ISA000_") ? VPA_FALLBACK_ANY_ISA
								 : VPA_FALLBACK_NONE;
}

int vpa_is_of_bits(const char *name, size_t len)
{
	struct vpt_text text = {name, len};

	return vpt_text_holds(text, "shift_kernel_cuda") || vpt_text_holds(text, "Bitwise");
}

const char *vpa_precision_name(enum vpa_precision precision)
{
	static const char *const names[VPA_PRECISIONS] = {
		"unknown", "fp64", "fp32", "tf32", "16 bit", "8 bit"};

	return names[(unsigned)precision < VPA_PRECISIONS ? precision : VPA_PRECISION_UNKNOWN];
}
