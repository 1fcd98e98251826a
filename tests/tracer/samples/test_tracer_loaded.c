/* Symbols of what is loaded, compared with what the C library finds. */
#include "tracer/loaded/loaded_symbols.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/skip.h"

static void symbols_are_those_that_dlsym_finds(void **state)
{
	static const char *const names[] = {"getpid", "strtoull", "environ", "stdout", "inet_ntop",
		"_cmocka_run_group_tests", "_fail", "", "no_such_symbol"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t wanted = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]);

		if (vtr_loaded_symbol(names[i]) != wanted)
			fail_msg("%s: expected %#llx, found %#llx", names[i],
				(unsigned long long)wanted,
				(unsigned long long)vtr_loaded_symbol(names[i]));
	}
	assert_int_not_equal(vtr_loaded_symbol("getpid"), 0);
	assert_int_not_equal(vtr_loaded_symbol("environ"), 0);
}

/* One that only the library's user sees is found too. */
static void a_library_that_comes_later_is_seen(void **state)
{
	const char *folder = getenv("VPT_BIN");
	uint64_t before = vtr_loaded_count();
	char path[4096];
	void *library;

	(void)state;
	snprintf(path, sizeof(path), "%s/standin/libcudart.so.13", folder ? folder : ".");
	assert_int_equal(vtr_loaded_symbol("cudaMalloc"), 0);
	assert_int_not_equal(before, 0);
	assert_int_equal(vtr_loaded_count(), before);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		vpt_skip("the simulated libcudart is not built");
	assert_true(vtr_loaded_count() > before);
	assert_null(dlsym(RTLD_DEFAULT, "cudaMalloc"));
	assert_int_equal(
		vtr_loaded_symbol("cudaMalloc"), (uint64_t)(uintptr_t)dlsym(library, "cudaMalloc"));
	before = vtr_loaded_count();
	dlclose(library);
	assert_int_equal(vtr_loaded_count(), before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_those_that_dlsym_finds),
		cmocka_unit_test(a_library_that_comes_later_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
