/* vectorise.h - asks the compiler to vectorise a function, for the few hot loops over columns. The
 * loops of such a function touch only plain arrays and have no early exit. */
#ifndef VPT_FORMATS_BASE_VECTORISE_H
#define VPT_FORMATS_BASE_VECTORISE_H

/* On x86-64 the compiler emits versions for AVX2 and AVX-512, and the loader picks one. The
 * sanitizers start up after that pick, so their builds do without. */
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
