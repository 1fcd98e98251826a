/* long_names.h - names so long that nobody reads them, cut before they cost anything.
 *
 * A file may hold a string of 64 KiB for each of its rows in a few bytes, and tables and exports repeat a name wherever it
 * stands. */
#ifndef VPA_ANALYSIS_LONG_NAMES_H
#define VPA_ANALYSIS_LONG_NAMES_H

#include "formats/strings.h"

enum {
	VPA_NAME_USUAL = 256,           /* bytes: never cut */
	VPA_NAME_MAX = 8192,            /* the most that is kept of one */
	VPA_LONG_NAMES_BASE = 8 << 20,  /* the most that is kept of all but usual ones, and */
	VPA_LONG_NAMES_A_FILE_BYTE = 64 /* for each byte of the file */
};

struct vpa_long_names {
	uint64_t left_bytes; /* that long names may still take */
	uint64_t cut;        /* how often one was cut; each chunk has its own strings */
};

void vpa_long_names_begin(struct vpa_long_names *l, uint64_t file_bytes);

/* Cuts the strings of a chunk. Their numbers stay. */
void vpa_long_names_cut(struct vpa_long_names *l, struct vpt_strings *s);

#endif
