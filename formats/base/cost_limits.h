/* cost_limits.h - how much memory and text a file may cost its reader.
 *
 * A file can claim anything, so memory is bounded, by default in proportion to the file's size; no
 * honest file needs that much. The user can set the bound on memory, which can raise the one on
 * text. */
#ifndef VPT_FORMATS_BASE_COST_LIMITS_H
#define VPT_FORMATS_BASE_COST_LIMITS_H

#include <stdint.h>

enum {
	/* memory: BASE bytes, plus A_BYTE bytes for each byte of the files opened */
	VPT_MEMORY_BASE = 512 << 20,
	VPT_MEMORY_A_BYTE = 32,
	/* unpacked size of a compressed text: likewise, for each byte of its file */
	VPT_TEXT_BASE = 16 << 20,
	VPT_TEXT_A_BYTE = 100,
	/* or, if more, this many bytes for each byte of a memory bound that the user set */
	VPT_TEXT_A_MEMORY_BYTE = 16
};

/* Bounds all memory allocated through memory.h to `bytes`; 0: the default. Make the first call
 * before any allocation; without a call there is no bound. */
void vpt_limits_memory(uint64_t bytes);

/* Raises the default bound for a file of this size that has been opened. */
void vpt_limits_add_file(uint64_t file_bytes);

/* The current bound on memory; 0: none. */
uint64_t vpt_limits_memory_bytes(void);

/* How much text a compressed file may unpack to. */
uint64_t vpt_limits_text_bytes(uint64_t file_bytes);

#endif
