/* long_names.h - limit the length of names, before long ones cost memory.
 *
 * A few bytes of a file may claim a string of 64 KiB for each of its rows, and tables and exports
 * repeat a name at each use. */
#ifndef VPA_ANALYSIS_NAMES_LONG_NAMES_H
#define VPA_ANALYSIS_NAMES_LONG_NAMES_H

#include "formats/chunk/strings.h"

enum {
	VPA_NAME_USUAL = 256,           /* bytes; shorter names are never cut */
	VPA_NAME_MAX = 8192,            /* the most kept of one name */
	VPA_LONG_NAMES_BASE = 8 << 20,  /* budget for all longer names together, */
	VPA_LONG_NAMES_A_FILE_BYTE = 64 /* plus this for each byte of the file */
};

struct vpa_long_names {
	uint64_t left_bytes; /* the budget left */
	uint64_t cut;        /* how often a name was cut; each chunk has its own strings */
};

void vpa_long_names_begin(struct vpa_long_names *l, uint64_t file_bytes);

/* Cuts the strings of a chunk. Their numbers do not change. */
void vpa_long_names_cut(struct vpa_long_names *l, struct vpt_strings *s);

#endif
