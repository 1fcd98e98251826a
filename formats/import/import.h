/* import.h - traces that other tools wrote.
 *
 * An importer reads the whole source into a collector and counts what it could not use: nothing in a
 * foreign file is an error of ours, only a source that is not what it claims to be. */
#ifndef VPT_FORMATS_IMPORT_IMPORT_H
#define VPT_FORMATS_IMPORT_IMPORT_H

#include "formats/collect.h"
#include "formats/error.h"
#include "formats/io.h"

/* What was met and not taken over, for `info` and the verdict. */
struct vpt_import_stats {
	uint64_t events; /* records of the source looked at */
	uint64_t
		skipped; /* of a category that is understood and not needed (flows, python frames) */
	uint64_t unknown_category; /* of a category nobody here knows */
	uint64_t malformed;        /* lacking a time, a name or a number that the kind needs */
	uint64_t bad_text; /* strings with invalid UTF-8 or control characters, kept as they are */
	uint64_t bad_numbers; /* NaN, infinities, fractions below a nanosecond: cut or left out */
	uint64_t views;       /* tables that the file has as SQL views, which are not read */
	uint64_t too_long;    /* tables that end at a text, a blob or a row beyond the limit */
	int truncated;        /* the file ends in the middle; what came before was read */
};

struct vpt_importer {
	const char *name; /* "kineto" */
	const char *help; /* what writes such files */
	/* Whether the first bytes look like this format (after gunzip, where gzip is understood). */
	int (*probe)(const unsigned char *head, size_t size);
	/* Reads everything into `c`, does not finish it. 0 or VPT_EDATA, VPT_ENOMEM, VPT_EIO. */
	int (*read)(struct vpt_source *src, struct vpt_collect *c, struct vpt_import_stats *stats,
		struct vpt_err *err);
};

/* Absent from builds without json-c / SQLite: then NULL stands in the table. */
extern const struct vpt_importer vpt_import_kineto;
extern const struct vpt_importer vpt_import_nsight;

#endif
