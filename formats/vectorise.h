/* vectorise.h - for the few loops over columns that are worth it: the compiler is asked to vectorise the function, whose
 * loops then touch plain arrays only and leave early nowhere. */
#ifndef VPT_FORMATS_VECTORISE_H
#define VPT_FORMATS_VECTORISE_H

/* On x86-64 the compiler makes versions for AVX2 and AVX-512 and picks at load time. The sanitizers' start-up
 * code runs after that pick, so their builds go without. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
#define VPT_VECTORISE                                                                              \
	__attribute__((optimize("O3"), target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define VPT_VECTORISE __attribute__((optimize("O3"), target_clones("avx2", "default")))
#endif
#elif defined(__GNUC__) && !defined(__clang__)
#define VPT_VECTORISE __attribute__((optimize("O3")))
#else
#define VPT_VECTORISE
#endif

#endif
