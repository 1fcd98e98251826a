/* capture_layout.h - limits and fixed parts of the capture file, as FORMAT.md describes it. */
#ifndef VPT_FORMATS_CAPTURE_LAYOUT_H
#define VPT_FORMATS_CAPTURE_LAYOUT_H

#include <stdint.h>

#define VPT_CAPTURE_MAGIC "VPTRACE\n"
#define VPT_CHUNK_MAGIC   0x4b435056u /* "VPCK", little-endian */

/* Flags of the file header that a reader must understand. None is defined yet, so a reader refuses
 * a file that sets one. The lower half is informational. */
#define VPT_FLAGS_CRITICAL 0xffff0000u

/* The file is the end of a longer recording: its chunks need not be numbered from 0. */
#define VPT_FLAGS_RING 1u

/* The number of a ring's opening chunk, which repeats what dropped chunks described. */
#define VPT_SEQUENCE_OPENING UINT64_MAX

enum {
	VPT_MAJOR = 1,
	VPT_MINOR = 0,
	VPT_HEADER_SIZE = 64,
	VPT_CHUNK_HEADER_SIZE = 48,
	VPT_SECTION_HEADER_SIZE = 32,
	VPT_COLUMN_HEADER_SIZE = 16,

	/* limits: readers enforce them, writers respect them */
	VPT_PAYLOAD_MAX = 16 << 20,
	VPT_WINDOW_LOG_MAX = 24,
	VPT_SECTIONS_MAX = 4096,
	VPT_ROWS_MAX = 1 << 20,
	VPT_FILE_COLUMNS_MAX = 32,
	VPT_STRING_MAX = 64 << 10,
	VPT_STACK_DEPTH_MAX = 1024, /* frames of a stack */

	/* when a chunk is full */
	VPT_CHUNK_EVENTS = 65536,
	VPT_CHUNK_PAYLOAD = 4 << 20,
	VPT_CHUNK_STRINGS = 65536,
	VPT_CHUNK_STACKS = 65536,

	VPT_FLUSH_ROWS = 1024 /* planes of this many rows or more get a zstd block of their own */
};

/* The file header, decoded. */
struct vpt_header {
	uint16_t major, minor;
	uint64_t t0_ns;      /* trace clock at the start: the window begins here */
	uint64_t t0_unix_ns; /* the same moment on CLOCK_REALTIME; 0: unknown */
	uint64_t capture_id;
	uint32_t pid; /* 0: several, or unknown */
	uint32_t cpu_tick_ns, gpu_tick_ns;
	uint32_t clock_id;
	uint32_t flags;
};

/* Whether a chunk of this number stands in its place; `next` is one more than that of the chunk
 * before it, 0 for the first. */
static inline int vpt_sequence_follows(
	const struct vpt_header *header, uint64_t next, uint64_t sequence)
{
	return sequence == next || (!next && header->flags & VPT_FLAGS_RING);
}

#endif
