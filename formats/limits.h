/* limits.h - what a file may cost whoever reads it.
 *
 * A file can claim anything, so memory is bounded whatever it holds: by default in proportion to its size, which is more
 * than any honest file takes. Both bounds are raised by hand. */
#ifndef VPT_FORMATS_LIMITS_H
#define VPT_FORMATS_LIMITS_H

#include <stdint.h>

enum {
	VPT_MEMORY_BASE = 512 << 20, /* bytes, and */
	VPT_MEMORY_A_BYTE = 32,      /* for each byte of the files opened */
	VPT_TEXT_BASE = 16 << 20,    /* what a compressed text may unpack to, and */
	VPT_TEXT_A_BYTE = 100,       /* for each byte of its file */
	VPT_TEXT_A_MEMORY_BYTE =
		16 /* or so much, where memory is bounded by hand, if that is more */
};

/* Bounds all that is allocated through memory.h to `bytes`; 0: the default. The first call must come before anything is
 * allocated; without one there is no bound. */
void vpt_limits_memory(uint64_t bytes);

/* A file of this size has been opened: raises the default. */
void vpt_limits_add_file(uint64_t file_bytes);

/* The bound on memory that is in force; 0: none. */
uint64_t vpt_limits_memory_bytes(void);

/* How much text a compressed file may unpack to. */
uint64_t vpt_limits_text_bytes(uint64_t file_bytes);

#endif
