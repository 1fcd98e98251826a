/* fuzz.h - what libFuzzer calls, and what the targets share. */
#ifndef VPT_TESTS_FUZZ_FUZZ_H
#define VPT_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for any input; libFuzzer keeps what breaks it. */
#define FUZZ_EXPECT(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
