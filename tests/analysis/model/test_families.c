/* test_families.c - kernel names and their families. Names come from data/kernel_families.tsv and,
 * where it is there, from the larger shared table; the one-pass matcher is held against regexec(3)
 * running the same patterns one after another.
 * Long, since each name is an entry of one table. */
#include "analysis/names/families.h"
#include "analysis/names/kernel_rules.h"

#include "formats/base/memory.h"
#include "tests/support/skip.h"

#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct vpt_err err;

static const char *family_of(const char *name)
{
	struct vpa_kernel_class k;

	vpa_classify(name, strlen(name), &k);
	return vpa_family_name(k.family);
}

/* ---- tables of names ---- */

enum { NAMES_MAX = 512, FIELDS_MAX = 6 };

struct table {
	char *text;
	char *field[NAMES_MAX][FIELDS_MAX];
	size_t rows;
};

/* `directory` NULL, or a file that is not there, gives no rows. Lines with # are comments. */
static void table_read(struct table *t, const char *directory, const char *file)
{
	char path[4096], *line, *next;
	long size;
	FILE *f;

	memset(t, 0, sizeof(*t));
	snprintf(path, sizeof(path), "%s/%s", directory ? directory : ".", file);
	f = fopen(path, "rb");
	if (!f)
		return;
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	assert_true(size > 0);
	rewind(f);
	t->text = calloc((size_t)size + 1, 1);
	assert_non_null(t->text);
	assert_int_equal(fread(t->text, 1, (size_t)size, f), size);
	fclose(f);
	for (line = t->text; *line; line = next) {
		size_t field = 0;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (*line == '#')
			continue;
		assert_true(t->rows < NAMES_MAX);
		t->field[t->rows][field++] = line;
		for (; *line && field < FIELDS_MAX; line++)
			if (*line == '\t') {
				*line = '\0';
				t->field[t->rows][field++] = line + 1;
			}
		t->rows++;
	}
}

static const char *source_dir(void)
{
	const char *dir = getenv("VPT_SOURCE_DIR");

	return dir ? dir : ".";
}

static void own_names(struct table *t)
{
	table_read(t, source_dir(), "tests/data/kernel_families.tsv");
	assert_true(t->rows > 50);
}

static void every_name_has_its_family_backend_and_direction(void **state)
{
	struct vpa_kernel_class k;
	struct table t;
	size_t i;

	(void)state;
	own_names(&t);
	for (i = 0; i < t.rows; i++) {
		char **f = t.field[i], got[256], want[256];

		vpa_classify(f[3], strlen(f[3]), &k);
		snprintf(got, sizeof(got), "%s %s %s", vpa_family_name(k.family),
			k.backend ? vpa_backend_name(k.backend) : "-",
			vpa_is_marked(k.marks, VPA_MARK_BACKWARD) ? "bwd" : "forward or unknown");
		snprintf(want, sizeof(want), "%s %s %s", f[0], f[1],
			strcmp(f[2], "bwd") == 0 ? "bwd" : "forward or unknown");
		if (strcmp(got, want) != 0)
			fail_msg("%s: expected %s, found %s", f[3], want, got);
	}
	free(t.text);
}

static void every_family_has_a_name_in_the_table(void **state)
{
	int seen[VPA_FAMILY_COUNT] = {0};
	enum vpa_family family;
	struct table t;
	size_t i;

	(void)state;
	own_names(&t);
	for (i = 0; i < t.rows; i++) {
		const char *name = t.field[i][0];

		assert_int_equal(vpa_family_find(name, strlen(name), &family), 0);
		seen[family] = 1;
	}
	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		if (!seen[i])
			fail_msg("no name of family %s", vpa_family_name((enum vpa_family)i));
	free(t.text);
}

static void every_shared_name_has_its_family(void **state)
{
	const char *shared = getenv("VPT_SHARED");
	char beside[4096];
	struct table t;
	size_t i;

	(void)state;
	snprintf(beside, sizeof(beside), "%s/../shared", source_dir());
	table_read(&t, shared ? shared : beside, "kernels/names.tsv");
	if (!t.rows) {
		vpt_skip("no kernels/names.tsv in %s", shared ? shared : beside);
	}
	for (i = 1; i < t.rows; i++)
		if (strcmp(family_of(t.field[i][4]), t.field[i][0]) != 0)
			fail_msg("%s: expected %s, found %s", t.field[i][4], t.field[i][0],
				family_of(t.field[i][4]));
	free(t.text);
}

/* ---- the same patterns, one after another ---- */

static int is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Whether the pattern matches at a place where a word begins, if it begins with a letter of one. */
static int matches(const regex_t *regex, const char *name)
{
	size_t at = 0;
	regmatch_t m;

	while (!regexec(regex, name + at, 1, &m, at ? REG_NOTBOL : 0)) {
		at += (size_t)m.rm_so;
		if (!at || !is_lower(name[at]) || !is_lower(name[at - 1]))
			return 1;
		at++;
	}
	return 0;
}

static const struct {
	unsigned family; /* or VPA_FAMILY_COUNT + a mark */
	const char *pattern;
} rules[] = {
#define VPA_RULE(FAMILY, backend, pattern) {VPA_FAMILY_##FAMILY, pattern},
#include "analysis/names/families.def"
#define VPA_MARK(MARK, pattern) {VPA_FAMILY_COUNT + (unsigned)VPA_MARK_##MARK, pattern},
#include "analysis/names/families.def"
#include "formats/base/count.h"
};

static regex_t regexes[COUNT(rules)];

static void classify_slowly(const char *name, struct vpa_kernel_class *out)
{
	size_t i;

	*out = (struct vpa_kernel_class){.family = VPA_FAMILY_UNKNOWN};
	for (i = COUNT(rules); i--;) {
		if (!matches(&regexes[i], name))
			continue;
		if (rules[i].family >= VPA_FAMILY_COUNT)
			out->marks |= 1u << (rules[i].family - VPA_FAMILY_COUNT);
		else
			out->family = (enum vpa_family)rules[i].family;
	}
}

static uint32_t random_below(uint32_t limit)
{
	static uint64_t seed = 20240229;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % limit;
}

/* Half of one name and half of another, then a few bytes of what patterns are made of. */
static void mix_names(const struct table *t, char *out, size_t cap)
{
	static const char bytes[] = "_:<>,() ^abdfnortuvwxSmFLEI0179";
	const char *a = t->field[random_below((uint32_t)t->rows)][3];
	const char *b = t->field[random_below((uint32_t)t->rows)][3];
	uint32_t i;

	snprintf(out, cap, "%.*s%s", (int)random_below((uint32_t)strlen(a) + 1), a,
		b + random_below((uint32_t)strlen(b)));
	for (i = random_below(4); i--;)
		out[random_below((uint32_t)strlen(out))] = bytes[random_below(sizeof(bytes) - 1)];
}

static void one_pass_finds_what_all_patterns_in_turn_find(void **state)
{
	struct vpa_kernel_class k, slow;
	char name[1024];
	struct table t;
	size_t i;

	(void)state;
	own_names(&t);
	for (i = 0; i < COUNT(rules); i++)
		assert_int_equal(regcomp(&regexes[i], rules[i].pattern, REG_EXTENDED), 0);
	for (i = 0; i < t.rows + 500; i++) {
		if (i < t.rows)
			snprintf(name, sizeof(name), "%s", t.field[i][3]);
		else
			mix_names(&t, name, sizeof(name));
		classify_slowly(name, &slow);
		vpa_classify(name, strlen(name), &k);
		/* That one depends on the family too. */
		if (!vpa_is_marked(k.marks, VPA_MARK_TENSOR_CORES))
			slow.marks &= ~(1U << VPA_MARK_TENSOR_CORES);
		if (k.family != slow.family || k.marks != slow.marks)
			fail_msg("%s: expected %s, marks %x, found %s, marks %x", name,
				vpa_family_name(slow.family), slow.marks, vpa_family_name(k.family),
				k.marks);
	}
	for (i = 0; i < COUNT(rules); i++)
		regfree(&regexes[i]);
	free(t.text);
}

/* ---- rules of matching ---- */

static const struct {
	const char *rule, *name, *family;
} cases[] = {
	{"an empty name is unknown", "", "unknown"},
	{"fragments are case-sensitive", "FLASH_FWD_KERNEL", "unknown"},
	{"^ means the start", "Memcpy HtoD", "memcpy"},
	{"^ means only the start", " Memcpy HtoD", "unknown"},
	{"a fragment at the very end counts", "x_attn_fwd", "attention"},
	{"a fragment without its last byte does not", "x_attn_fw", "unknown"},
	{"a byte of a class must follow", "fmhaSm9", "attention"},
	{"another byte does not do", "fmhaSmX", "unknown"},
	{"no byte does not do", "fmhaSm", "unknown"},
	{"a byte not of a class must stand before", "x_rope", "rope"},
	{"or the start", "rope", "rope"},
	{"a letter before is another word", "groped", "unknown"},
	{"a run may be empty", "chunk_fwd_kernel", "attention-linear"},
	{"a run may be long", "chunk_scaled_dot_kkt_fwd_kernel", "attention-linear"},
	{"a run ends at a strange byte", "chunk_2_fwd_kernel", "unknown"},
	{"and may begin again", "chunk_2_chunk_a_fwd_kernel", "attention-linear"},
	{"+ asks for one at least", "fa_dc_fwd", "unknown"},
	{"+ is content with one", "fa_dc9_fwd", "attention"},
	{"a lower-case letter before is another word", "forecast_kernel_2", "unknown"},
	{"a capital one is not", "FastDropout dropout", "elementwise"},
	{"nor a digit", "_Z12fill_kernelv", "elementwise"},
	{"prefill is no fill", "gluon_mla_prefill_gfx1250", "unknown"},
	{"together does not gather", "put_together", "unknown"},
	{"a madam is no optimizer", "madam_kernel", "unknown"},
	{"rearranging is no arange", "rearrange_kernel", "unknown"},
	{"FBGEMM's tables are no GEMM", "void fbgemm_gpu::lookup<float>(float)", "unknown"},
	{"nor is Gemma's norm", "_gemma_fused_add_rmsnorm_kernel", "norm"},
	{"however it is written", "void GemmaRMSNormKernel<float>(float*)", "norm"},
	{"a GEMM at the very end counts", "batched_gemm", "gemm"},
	{"so does one of BLAS", "volta_sgemm_128x64_nn", "gemm"},
	{"a quantile is no quantisation", "quantile_kernel", "index"},
	{"taking a quantisation back is one", "dequantize_block_q4_0", "quant"},
	{"the parts of a chain keep their order", "attn_vsa_", "unknown"},
	{"anything may stand between", "vsa_ (any thing) attn", "attention-sparse"},
	{"parts do not overlap", "pytorch_flash_fwd_kernel", "attention"},
	{"the first rule of the table wins, not the first in the name", "gemm_flash_fwd_kernel",
		"attention"},

	{"nvcc's file name is passed over",
		"_ZN43_GLOBAL__N__0a1b2c3d_10_SoftMax_cu_4e5f60713fooEv", "unknown"},
	{"whatever it is called",
		"_ZN2at52_GLOBAL__N__0a1b2c3d_19_flash_fwd_kernel_cu_4e5f60713fooEv", "unknown"},
	{"also a temporary file, its length behind another digit",
		"_ZN3fp854_GLOBAL__N__38_tmpxft_00000a_00_8_moe_gemm_cu_ii_9d8c13fooEv", "unknown"},
	{"also when its own length is wrong", "_GLOBAL__N__0a1b2c3d_1_moe_gemm_cu_4e5f60713fooEv",
		"unknown"},
	{"what follows it is read",
		"_ZN43_GLOBAL__N__0a1b2c3d_10_SoftMax_cu_4e5f607119cunn_SoftMaxForwardILi4EEvv",
		"eager-softmax"},
	{"what stands before it is read",
		"_Z4gemmN43_GLOBAL__N__0a1b2c3d_10_SoftMax_cu_4e5f60713fooEv", "gemm"},
	{"a name cut inside of it does no harm", "_ZN43_GLOBAL__N__0a1b2c3d_10_Sof", "unknown"},
	{"nor one cut behind the prefix", "_ZN43_GLOBAL__N_", "unknown"},
	{"a demangled anonymous namespace is read on",
		"void (anonymous namespace)::im2col_kernel<float>(long)", "conv"},
};

static void names_are_read_by_these_rules(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (strcmp(family_of(cases[i].name), cases[i].family) != 0)
			fail_msg("%s: %s: expected %s, found %s", cases[i].rule, cases[i].name,
				cases[i].family, family_of(cases[i].name));
}

static void the_name_ends_where_the_caller_says(void **state)
{
	struct vpa_kernel_class k;

	(void)state;
	vpa_classify("gemm_kernel", 3, &k);
	assert_int_equal(k.family, VPA_FAMILY_UNKNOWN);
	vpa_classify("gemm_kernel", 4, &k);
	assert_int_equal(k.family, VPA_FAMILY_GEMM);
	vpa_classify(NULL, 0, &k);
	assert_int_equal(k.family, VPA_FAMILY_UNKNOWN);
}

static void any_bytes_are_a_name(void **state)
{
	static const char with_nul[] = "\0\xff\x80_attn_bwd\0\n";
	struct vpa_kernel_class k;
	char name[64];
	unsigned i, j;

	(void)state;
	vpa_classify(with_nul, sizeof(with_nul), &k);
	assert_int_equal(k.family, VPA_FAMILY_ATTENTION);
	assert_true(vpa_is_marked(k.marks, VPA_MARK_BACKWARD));
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < sizeof(name); j++)
			name[j] = (char)random_below(256);
		memcpy(name + 19, ":nvjet_", 7);
		vpa_classify(name, sizeof(name), &k);
		assert_int_equal(k.family, VPA_FAMILY_GEMM);
	}
}

/* A matcher that tried every beginning with every end would be at these for hours. */
static void a_name_of_a_mebibyte_takes_no_time(void **state)
{
	static const char *const units[] = {"chunk_", "_fwd_kernel", "chunk_2fwd_kernel", "natten",
		"a", "softmax_warp_forward<, true", ",", "softmax_warp_forwardILi1", "_GLOBAL__N_",
		"99_GLOBAL__N__01234567_9_", "cast_a", "Sm0", "_", "cutlass0"};
	enum { SIZE = 1 << 20 };
	char *name = malloc(SIZE);
	struct vpa_kernel_class k;
	size_t i, j, len;

	(void)state;
	assert_non_null(name);
	for (i = 0; i < COUNT(units); i++) {
		len = strlen(units[i]);
		for (j = 0; j < SIZE; j++)
			name[j] = units[i][j % len];
		memcpy(name, "chunk_2", 7);
		memcpy(name + SIZE - 14, " parallel_attn_bwd", 14);
		vpa_classify(name, SIZE, &k);
		assert_int_equal(k.family == VPA_FAMILY_ATTENTION, 0);
		memcpy(name + SIZE - 18, " parallel_attn_bwd", 18);
		vpa_classify(name, SIZE, &k);
		assert_int_equal(k.family, VPA_FAMILY_ATTENTION);
		assert_true(vpa_is_marked(k.marks, VPA_MARK_BACKWARD));
	}
	free(name);
}

/* ---- families ---- */

static void families_know_what_they_count_as(void **state)
{
	static const struct {
		enum vpa_family family;
		const char *name;
		int attention, comm, glue;
	} families[] = {
		{VPA_FAMILY_ATTENTION, "attention", 1, 0, 0},
		{VPA_FAMILY_ATTENTION_SPARSE, "attention-sparse", 1, 0, 0},
		{VPA_FAMILY_ATTENTION_LINEAR, "attention-linear", 1, 0, 0},
		{VPA_FAMILY_ATTENTION_AUX, "attention-aux", 0, 0, 0},
		{VPA_FAMILY_EAGER_SOFTMAX, "eager-softmax", 0, 0, 0},
		{VPA_FAMILY_COMM, "comm", 0, 1, 0},
		{VPA_FAMILY_ELEMENTWISE, "elementwise", 0, 0, 1},
		{VPA_FAMILY_LAYOUT, "layout", 0, 0, 1},
		{VPA_FAMILY_REDUCE, "reduce", 0, 0, 1},
		{VPA_FAMILY_INDEX, "index", 0, 0, 1},
		{VPA_FAMILY_GEMM, "gemm", 0, 0, 0},
		{VPA_FAMILY_UNKNOWN, "unknown", 0, 0, 0},
		{VPA_FAMILY_COUNT, "unknown", 0, 0, 0},
	};
	enum vpa_family found;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(families); i++) {
		enum vpa_family f = families[i].family;

		assert_string_equal(vpa_family_name(f), families[i].name);
		assert_int_equal(vpa_family_is_attention(f), families[i].attention);
		assert_int_equal(vpa_family_is_comm(f), families[i].comm);
		assert_int_equal(vpa_family_is_glue(f), families[i].glue);
	}
	for (i = 0; i < VPA_FAMILY_COUNT; i++) {
		const char *name = vpa_family_name((enum vpa_family)i);

		assert_int_equal(vpa_family_find(name, strlen(name), &found), 0);
		assert_int_equal(found, i);
	}
	assert_int_equal(vpa_family_find("gem", 3, &found), VPT_EINVAL);
	assert_int_equal(found, VPA_FAMILY_UNKNOWN);
}

/* ---- threads ---- */

enum { THREADS = 2, ROUNDS = 20 };

static struct table thread_names;
static pthread_barrier_t together;

static void *classify_all(void *arg)
{
	unsigned *differ = arg;
	size_t i, round;

	pthread_barrier_wait(&together);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < thread_names.rows; i++)
			*differ += strcmp(family_of(thread_names.field[i][3]),
					   thread_names.field[i][0]) != 0;
	return NULL;
}

/* Runs first, so that both threads find the automaton not yet built. */
static void threads_agree_from_the_first_name_on(void **state)
{
	pthread_t threads[THREADS];
	unsigned differ[THREADS] = {0}, i;

	(void)state;
	own_names(&thread_names);
	assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, classify_all, &differ[i]), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(differ[i], 0);
	}
	pthread_barrier_destroy(&together);
	free(thread_names.text);
}

/* ---- a user's rules ---- */

static const char user_text[] = "# ours\n"
				"\n"
				"attention\t^house_mixer_[0-9]+$\r\n"
				"attention-sparse\tflash_fwd_kernel\n"
				"norm\tSoftMax_\n"
				"comm\tgemm_reduce|with\\?nul\n"
				"unknown\tnvjet_";

static void the_users_rules_come_first(void **state)
{
	static const struct {
		const char *name, *family, *backend;
	} expect[] = {
		{"house_mixer_12", "attention", "user"},
		{"house_mixer_x", "unknown", NULL},
		{"flash_fwd_kernel", "attention-sparse", "flash-attn-2"},
		{"gemm_reduce_scatter", "comm", NULL},
		{"nvjet_hsh", "unknown", NULL},
		{"flash_bwd_dq_dk_dv_loop", "attention", "flash-attn-2"},
		/* no rule sees nvcc's file name */
		{"_ZN43_GLOBAL__N__0a1b2c3d_10_SoftMax_cu_4e5f60713fooEv", "unknown", NULL},
		{"x_GLOBAL__N_SoftMax_", "norm", NULL},
	};
	struct vpa_rules *r = vpa_rules_read(user_text, sizeof(user_text) - 1, &err);
	struct vpa_kernel_class k;
	size_t i;

	(void)state;
	assert_non_null(r);
	for (i = 0; i < COUNT(expect); i++) {
		vpa_rules_classify(r, expect[i].name, strlen(expect[i].name), &k);
		if (strcmp(vpa_family_name(k.family), expect[i].family) != 0)
			fail_msg("%s: expected %s, found %s", expect[i].name, expect[i].family,
				vpa_family_name(k.family));
		if (expect[i].backend)
			assert_string_equal(vpa_backend_name(k.backend), expect[i].backend);
		else
			assert_int_equal(k.backend, VPA_BACKEND_NONE);
	}
	vpa_rules_classify(r, "with\0nul", 8, &k);
	assert_int_equal(k.family, VPA_FAMILY_COMM);
	vpa_rules_classify(NULL, "flash_fwd_kernel", 16, &k);
	assert_int_equal(k.family, VPA_FAMILY_ATTENTION);
	vpa_rules_free(r);
	vpa_rules_free(NULL);
}

static void a_long_name_is_cut_for_the_users_rules_only(void **state)
{
	static const char text[] = "loss\tlate\ncomm\tearly";
	struct vpa_rules *r = vpa_rules_read(text, sizeof(text) - 1, &err);
	struct vpa_kernel_class k;
	static char name[8192];

	(void)state;
	assert_non_null(r);
	memset(name, 'x', sizeof(name));
	memcpy(name + 5000, "late_gemm", 9);
	vpa_rules_classify(r, name, sizeof(name), &k);
	assert_int_equal(k.family, VPA_FAMILY_GEMM);
	memcpy(name + 4090, "early", 5);
	vpa_rules_classify(r, name, sizeof(name), &k);
	assert_int_equal(k.family, VPA_FAMILY_COMM);
	vpa_rules_free(r);
}

static void no_rules_are_fine(void **state)
{
	static const char *const texts[] = {"", "\n", "# only a remark", "\r\n\n#\n"};
	struct vpa_kernel_class k;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		struct vpa_rules *r = vpa_rules_read(texts[i], strlen(texts[i]), &err);

		assert_non_null(r);
		vpa_rules_classify(r, "gemm", 4, &k);
		assert_int_equal(k.family, VPA_FAMILY_GEMM);
		vpa_rules_free(r);
	}
}

static void a_wrong_rule_is_named_with_its_line(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *says;
	} wrong[] = {
#define TEXT(text) text, sizeof(text) - 1
		{TEXT("gemm\tmine\nattention mine"),
			"line 2 of the rules: expected a family, a tab"},
		{TEXT("gemm\t"), "line 1 of the rules: expected a family, a tab and a pattern"},
		{TEXT("\n\n\ngem\tx"), "line 4 of the rules: expected a family such as"},
		{TEXT("\tx"), "line 1 of the rules: expected a family such as"},
		{TEXT("#\ngemm\t(x"), "line 2 of the rules: expected a POSIX extended regular"},
		{TEXT("gemm\tx\0y"), "line 1 of the rules: expected a family, a tab"},
		{TEXT("gemm\t[z-a]\n"), "found \"[z-a]\" ("},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		memset(&err, 0, sizeof(err));
		assert_null(vpa_rules_read(wrong[i].text, wrong[i].len, &err));
		assert_int_equal(err.code, VPT_EDATA);
		if (!strstr(err.text, wrong[i].says))
			fail_msg("expected \"%s\", found \"%s\"", wrong[i].says, err.text);
	}
}

static int allocations_left;

static void *resize_until_none(void *ptr, size_t size)
{
	return allocations_left-- > 0 ? realloc(ptr, size) : NULL;
}

static void rules_without_memory_leave_nothing_behind(void **state)
{
	static const struct vpt_memory_ops scarce = {.resize = resize_until_none, .release = free};
	struct vpa_rules *r = NULL;
	int enough;

	(void)state;
	vpt_memory_use(&scarce);
	for (enough = 0; enough < 50 && !r; enough++) {
		memset(&err, 0, sizeof(err));
		allocations_left = enough;
		r = vpa_rules_read(user_text, sizeof(user_text) - 1, &err);
		assert_int_equal(err.code, r ? 0 : VPT_ENOMEM);
	}
	assert_true(enough > 2);
	vpa_rules_free(r);
	vpt_memory_use(NULL);
	assert_non_null(r);
}

static void operands_that_are_not_contiguous_have_kernels_of_their_own(void **state)
{
	static const struct {
		const char *name;
		int is_scattered;
	} names[] = {
		{"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl>(int)",
			1},
		{"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl", 1},
		{"elementwise_kernel", 1},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>(int)",
			0},
		{"_ZN2at6native29vectorized_elementwise_kernelILi4E", 0},
		{"void at::native::unrolled_elementwise_kernel<at::native::Add>(int)", 0},
		{"void at::native::CatArrayBatchedCopy<OpaqueType<2u>, unsigned int>(int)", 1},
		{"_ZN2at6native12_GLOBAL__N_119CatArrayBatchedCopyINS1_10OpaqueTypeILj2E", 1},
		{"CatArrayBatchedCopy", 1},
		{"void at::native::CatArrayBatchedCopy_contig<OpaqueType<2u>>(int)", 0},
		{"CatArrayBatchedCopy_vectorized", 0},
		{"triton_poi_fused_add_0", 0},
	};
	struct vpa_kernel_class k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		vpa_classify(names[i].name, strlen(names[i].name), &k);
		if (vpa_is_marked(k.marks, VPA_MARK_SCATTERED) != names[i].is_scattered)
			fail_msg("%s: expected %d", names[i].name, names[i].is_scattered);
	}
}

static void copies_into_another_type_are_known_by_name(void **state)
{
	static const struct {
		const char *name;
		int casts, narrows, joins;
	} names[] = {
		{"void at::native::vectorized_elementwise_kernel<4, "
		 "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)",
			1, 1, 0},
		{"at::native::float16_copy_kernel_cuda", 1, 1, 0},
		{"_ZN2at6native24bfloat16_copy_kernel_cudaERNS_18TensorIteratorBaseE", 1, 1, 0},
		{"at::native::bfloat16tofloat32_copy_kernel_cuda", 1, 0, 0},
		{"void "
		 "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda, "
		 "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1>>",
			1, 0, 0},
		{"void at::native::vectorized_elementwise_kernel<4, direct_copy_kernel_cuda>", 0, 0,
			0},
		{"void at::native::unrolled_elementwise_kernel<Add, LoadWithCast<1>>", 0, 0, 0},
		{"void at::native::CatArrayBatchedCopy_contig<OpaqueType<2u>>(int)", 0, 0, 1},
		{"_ZN2at6native12_GLOBAL__N_119CatArrayBatchedCopyINS1_10OpaqueTypeILj2E", 0, 0, 1},
	};
	struct vpa_kernel_class k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		vpa_classify(names[i].name, strlen(names[i].name), &k);
		if (vpa_is_marked(k.marks, VPA_MARK_CAST) != names[i].casts ||
			vpa_is_marked(k.marks, VPA_MARK_NARROWING) != names[i].narrows ||
			vpa_is_marked(k.marks, VPA_MARK_CAT) != names[i].joins)
			fail_msg("%s: marks %x", names[i].name, k.marks);
	}
}

/* By the words of their instructions, or where they have no other kernels. Helpers do not multiply, and FP32 has cores of its own. */
static void tensor_cores_are_known_by_name(void **state)
{
	static const struct {
		const char *name;
		int uses;
	} names[] = {
		{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", 1},
		{"volta_h884gemm_128x64_ldg8_nn", 1},
		{"cutlass_80_tensorop_s1688gemm_128x128_16x5_tn_align4", 1},
		{"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>(int)", 1},
		{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", 1},
		{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize32x32x64_stage3", 1},
		{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_ffma", 0},
		{"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc", 1},
		{"nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT", 1},
		{"ampere_sgemm_128x64_nn", 0},
		{"volta_scudnn_128x64_relu_interior_nn_v1", 0},
		{"cutlass_80_simt_sgemm_128x64_8x5_nn_align1", 0},
		{"gemv2T_kernel_val<int, int, __nv_bfloat16>", 0},
		{"void splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>", 0},
		{"Cijk_Ailk_Bljk_HB_MT128x128x32_MI32x32x8x1_SN", 1},
		{"Cijk_Ailk_Bljk_SB_MT32x32x8_SE", 0},
		{"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(int)", 1},
		{"void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64>>(int)", 0},
		{"fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention)", 1},
		{"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention)", 1},
		{"fmha_cutlassF_f32_aligned_64x64_rf_sm70(PyTorchMemEffAttention)", 0},
		{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob", 1},
		{"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x8x512_s5_et64x8_m256x8x32_sm100f", 1},
		/* Its name does not tell. */
		{"triton_tem_fused_mm_0", 0},
		/* The words in other kernels mean nothing. */
		{"void at::native::vectorized_elementwise_kernel<1688, Add>(int)", 0},
	};
	struct vpa_kernel_class k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		vpa_classify(names[i].name, strlen(names[i].name), &k);
		if (vpa_is_marked(k.marks, VPA_MARK_TENSOR_CORES) != names[i].uses)
			fail_msg("%s: expected %d", names[i].name, names[i].uses);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensor_cores_are_known_by_name),
		cmocka_unit_test(operands_that_are_not_contiguous_have_kernels_of_their_own),
		cmocka_unit_test(copies_into_another_type_are_known_by_name),
		cmocka_unit_test(threads_agree_from_the_first_name_on),
		cmocka_unit_test(every_name_has_its_family_backend_and_direction),
		cmocka_unit_test(every_family_has_a_name_in_the_table),
		cmocka_unit_test(every_shared_name_has_its_family),
		cmocka_unit_test(one_pass_finds_what_all_patterns_in_turn_find),
		cmocka_unit_test(names_are_read_by_these_rules),
		cmocka_unit_test(the_name_ends_where_the_caller_says),
		cmocka_unit_test(any_bytes_are_a_name),
		cmocka_unit_test(a_name_of_a_mebibyte_takes_no_time),
		cmocka_unit_test(families_know_what_they_count_as),
		cmocka_unit_test(the_users_rules_come_first),
		cmocka_unit_test(a_long_name_is_cut_for_the_users_rules_only),
		cmocka_unit_test(no_rules_are_fine),
		cmocka_unit_test(a_wrong_rule_is_named_with_its_line),
		cmocka_unit_test(rules_without_memory_leave_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
