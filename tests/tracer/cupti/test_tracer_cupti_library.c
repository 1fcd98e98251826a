/* test_tracer_cupti_library.c - finding and binding libcupti, and what the real one says about what
 * we believe of it. */
#include "tracer/cupti/cupti.h"
#include "tracer/cupti/library/cupti_library.h"
#include "tracer/loaded/driver.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "formats/capture_layout.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/tracer/cupti/cupti_fake.h"
#include "tracer/ranges/words/range_strings.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define REAL "/usr/local/cuda/lib64/libcupti.so.13"

static struct vtr_library library;
static struct vtr_sizes sizes;
static struct vtr_calls calls;
static struct fake_buffer buffer;
static char linkers_copy[4096]; /* the one that the dynamic linker found, once it is mapped */

/* From CUDA 13.2 on a library without a driver does not answer, or worse: so a child asks first. */
static int real_answers(void)
{
	struct vpt_err err;
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(vtr_library_load(REAL, 0, &library, &err) || vtr_library_ask(&library, &err));
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* Afterwards `library` is that one. */
static void need_real(void)
{
	struct vpt_err err;

	if (access(REAL, R_OK) || !real_answers())
		vpt_skip("there is no %s, or it does not answer here", REAL);
	assert_int_equal(vtr_library_load(REAL, 0, &library, &err), VPTRACE_OK);
	assert_int_equal(vtr_library_ask(&library, &err), VPTRACE_OK);
}

static void what_cannot_be_loaded_says_why(void **unused)
{
	struct vpt_err err;

	(void)unused;
	assert_int_equal(
		vtr_library_load("/nowhere/libcupti.so.13", 0, &library, &err), VPTRACE_ENOCUPTI);
	assert_non_null(strstr(err.text, "/nowhere/libcupti.so.13"));
	/* A library, but another one. */
	assert_int_equal(vtr_library_load("libm.so.6", 0, &library, &err), VPTRACE_ENOCUPTI);
	assert_non_null(strstr(err.text, "no function cuptiGetVersion"));
	assert_null(vtr_driver_symbol("cuNoSuchFunction"));
}

struct places {
	unsigned count, too_new;
	char places[32][300];
};

static int note_place(void *ctx, const struct vtr_candidate *c)
{
	struct places *p = ctx;

	assert_true(p->count < 32);
	snprintf(p->places[p->count++], sizeof(p->places[0]), "%s %s", c->place, c->path);
	p->too_new += (unsigned)c->too_new;
	return p->count == 32;
}

static void the_places_are_seen_in_the_order_of_the_search(void **unused)
{
	struct places p = {0};

	(void)unused;
	setenv("CUDA_HOME", "/nowhere", 1);
	unsetenv("CUDA_PATH");
	assert_int_equal(vtr_library_candidates(12040, note_place, &p), 0);
	unsetenv("CUDA_HOME");
	assert_string_equal(p.places[0], "CUDA_HOME /nowhere/lib64/libcupti.so.13");
	assert_string_equal(p.places[4], "CUDA_HOME /nowhere/lib64/libcupti.so.12");
	assert_string_equal(p.places[p.count - 1], "the dynamic linker's folders libcupti.so.11.8");
	assert_int_equal(p.count, 15);
	assert_int_equal(p.too_new, 5); /* all of CUDA 13 */
}

static void nothing_is_found_where_nothing_is(void **unused)
{
	struct vpt_err err;
	int rc, driver;

	(void)unused;
	setenv("CUDA_HOME", "/nowhere", 1);
	setenv("CUDA_PATH", "/nowhere", 1);
	rc = vtr_library_load(NULL, 0, &library, &err);
	unsetenv("CUDA_HOME");
	unsetenv("CUDA_PATH");
	if (!rc) { /* the dynamic linker knows one */
		if (vtr_driver_load(&driver, &err))
			vpt_skip("no driver to ask the dynamic linker's CUPTI with");
		assert_int_equal(vtr_library_ask(&library, &err), VPTRACE_OK);
		assert_non_null(strstr(library.path, "libcupti.so"));
		assert_true(library.api >= VTR_CUPTI_FLOOR);
		snprintf(linkers_copy, sizeof(linkers_copy), "%s", library.path);
		return;
	}
	assert_int_equal(rc, VPTRACE_ENOCUPTI);
	assert_non_null(strstr(err.text, "VPTRACE_LIBCUPTI"));
}

static void a_mapped_copy_comes_first(void **unused)
{
	static struct vtr_library again;
	struct vpt_err err;

	(void)unused;
	need_real();
	if (*linkers_copy)
		assert_int_equal(vtr_library_load(linkers_copy, 0, &library, &err), VPTRACE_OK);
	setenv("CUDA_HOME", "/nowhere", 1);
	assert_int_equal(vtr_library_load(NULL, 0, &again, &err), VPTRACE_OK);
	unsetenv("CUDA_HOME");
	assert_string_equal(again.path, library.path);
	assert_true(again.fn.version == library.fn.version);
}

static void the_real_library_confirms_the_sizes(void **unused)
{
	const struct fake_version *v = &fake_versions[2];
	uint32_t kind;

	(void)unused;
	need_real();
	if (library.api != v->api) {
		vpt_skip("sizes are known for CUPTI %u, this one is %u", v->api, library.api);
	}
	vtr_sizes_learn(&library.fn, &sizes);
	assert_int_equal(sizes.too_short, 0);
	for (kind = 0; kind < VTR_KINDS; kind++)
		if (v->bytes[kind] && v->bytes[kind] != sizes.bytes[kind])
			fail_msg("%s: %u bytes, not %u", vtr_kind_name(kind), sizes.bytes[kind],
				v->bytes[kind]);
	assert_int_equal(sizes.bytes[0], 0);
	assert_int_equal(sizes.bytes[6], 0); /* went away with CUDA 13 */
}

static void the_real_library_confirms_the_calls(void **unused)
{
	static const struct {
		uint32_t domain, cbid;
		const char *name;
	} known[] = {
		{VTR_DOMAIN_RUNTIME, 211, "cudaLaunchKernel"},
		{VTR_DOMAIN_RUNTIME, 430, "cudaLaunchKernelExC"},
		{VTR_DOMAIN_RUNTIME, 311, "cudaGraphLaunch"},
		{VTR_DOMAIN_RUNTIME, 41, "cudaMemcpyAsync"},
		{VTR_DOMAIN_RUNTIME, 165, "cudaDeviceSynchronize"},
		{VTR_DOMAIN_RUNTIME, 20, "cudaMalloc"},
		{VTR_DOMAIN_DRIVER, 307, "cuLaunchKernel"},
		{VTR_DOMAIN_DRIVER, 442, "cuLaunchKernel"},
		{VTR_DOMAIN_DRIVER, 652, "cuLaunchKernelEx"},
		{VTR_DOMAIN_DRIVER, 514, "cuGraphLaunch"},
		{VTR_DOMAIN_DRIVER, 126, "cuStreamSynchronize"},
		{VTR_DOMAIN_DRIVER, 678, "cuLibraryLoadData"},
	};
	unsigned wanted[2] = {0, 0}, d, i;

	(void)unused;
	need_real();
	vtr_calls_learn(&library.fn, VPTRACE_PROFILE_DEFAULT, &calls);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct vtr_call *c = vtr_calls_find(&calls, known[i].domain, known[i].cbid);

		assert_non_null(c);
		assert_int_equal(c->number, vpt_call_find(known[i].name, strlen(known[i].name)));
	}
	for (d = 0; d < 2; d++)
		for (i = 0; i < VTR_CBIDS; i++)
			wanted[d] += calls.of[d][i].wanted;
	assert_in_range(wanted[0], 150, 400);
	assert_in_range(wanted[1], 100, 300);
}

static void without_a_driver_the_reason_is_told(void **unused)
{
	struct vtr_cupti_options o = {.path = REAL, .profile = VPTRACE_PROFILE_DEFAULT};
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
	struct vtr_cupti *c;
	struct vpt_err err;
	int again;

	(void)unused;
	need_real();
	if (driver) {
		vpt_skip("this machine has a driver");
	}
	o.pool = vtr_pool_new(0);
	vtr_pool_ready(o.pool);
	for (again = 0; again < 3; again++) {
		vtr_pool_begin(o.pool);
		assert_int_equal(vtr_cupti_start(&o, &c, &err), VPTRACE_ENOCUPTI);
		assert_null(c);
		assert_non_null(strstr(err.text, "no CUDA driver"));
		assert_non_null(strstr(err.text, "libcuda.so.1"));
	}
	vtr_pool_free(o.pool);
}

/* ---- our walk against the library's ---- */

static uint64_t steps_of_library(size_t valid_bytes)
{
	void *record = NULL;
	uint64_t steps = 0;

	while (!library.fn.next_record((uint8_t *)buffer.words, valid_bytes, &record))
		steps++;
	return steps;
}

static void our_walk_is_the_librarys(void **unused)
{
	static const uint32_t all[] = {VTR_KIND_MEMCPY, VTR_KIND_MEMSET, VTR_KIND_DRIVER,
		VTR_KIND_RUNTIME, VTR_KIND_DEVICE, VTR_KIND_CONTEXT, VTR_KIND_CONCURRENT_KERNEL,
		VTR_KIND_OVERHEAD, VTR_KIND_MEMCPY2, VTR_KIND_CUDA_EVENT, VTR_KIND_STREAM,
		VTR_KIND_SYNCHRONIZATION, VTR_KIND_MEMORY2, VTR_KIND_GRAPH_TRACE, VTR_KIND_JIT, 12,
		60};
	struct vtr_recorder_options o = {
		.header = {.major = VPT_MAJOR, .t0_ns = 1000, .pid = 7}, .level = 1};
	struct vtr_decoder *decoder;
	struct vtr_recorder *recorder = NULL;
	struct vpt_buffer file = {0};
	struct vpt_random random = {5};
	unsigned round;

	(void)unused;
	need_real();
	if (library.api != fake_versions[2].api)
		vpt_skip("sizes are known for CUPTI %u, this one is %u", fake_versions[2].api,
			library.api);
	decoder = vtr_decoder_new();
	vtr_names_init();
	fake_reset(&fake_versions[2]);
	vtr_sizes_learn(&library.fn, &sizes);
	vtr_calls_learn(&library.fn, VPTRACE_PROFILE_DEFAULT, &calls);
	assert_int_equal(vpt_sink_memory(&file, &o.sink, NULL), VPT_OK);
	assert_int_equal(vtr_recorder_new(&o, &recorder, NULL), VPT_OK);
	vtr_decoder_begin(decoder, &sizes, &calls);
	for (round = 0; round < 3000; round++) {
		struct vtr_full full = {.data = buffer.words};
		unsigned i, count;

		memset(buffer.words, 0, 8192);
		buffer.bytes = 0;
		count = (unsigned)vpt_random_below(&random, 12);
		for (i = 0; i < count; i++) {
			uint32_t kind = all[vpt_random_below(&random, 17)];

			if (fake.version->bytes[kind]) {
				fake_record(&buffer, kind);
			} else { /* unknown to both */
				memcpy((uint8_t *)buffer.words + buffer.bytes, &kind, 4);
				buffer.bytes += 8;
			}
		}
		full.valid_bytes = buffer.bytes - vpt_random_below(&random, 24);
		if (full.valid_bytes > buffer.bytes)
			full.valid_bytes = 0;
		assert_int_equal(vtr_decoder_buffer(decoder, &full, recorder),
			steps_of_library(full.valid_bytes));
	}
	vtr_decoder_free(decoder);
	vtr_recorder_free(recorder);
	vpt_free(file.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_loaded_says_why),
		cmocka_unit_test(the_places_are_seen_in_the_order_of_the_search),
		cmocka_unit_test(nothing_is_found_where_nothing_is),
		cmocka_unit_test(a_mapped_copy_comes_first),
		cmocka_unit_test(the_real_library_confirms_the_sizes),
		cmocka_unit_test(the_real_library_confirms_the_calls),
		cmocka_unit_test(our_walk_is_the_librarys),
		cmocka_unit_test(without_a_driver_the_reason_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
