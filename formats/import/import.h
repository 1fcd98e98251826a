/* import.h - imports traces that other tools wrote.
 *
 * An importer reads the whole source into a collector and counts what it cannot use. Only a source
 * of another format is an error; bad rows in it are not. importers.def lists them all. */
#ifndef VPT_FORMATS_IMPORT_IMPORT_H
#define VPT_FORMATS_IMPORT_IMPORT_H

#include "formats/base/error.h"
#include "formats/io/io.h"
#include "formats/import/collect/collect.h"

/* What the importer met but did not import, for `info` and the verdict. */
struct vpt_import_stats {
	uint64_t events; /* records read from the source */
	/* of a known category that is not needed (flows, calls of Python threads that have no number) */
	uint64_t skipped;
	uint64_t unknown_category; /* of a category that is not known */
	char unknown_names[100];   /* the first of these, as the file writes them */
	uint64_t malformed;        /* lacking a time, a name or a number that the kind needs */
	/* strings with invalid UTF-8 or control characters, kept as they are */
	uint64_t bad_text;
	uint64_t bad_numbers; /* NaN, infinities, fractions below a nanosecond: cut or left out */
	uint64_t views;       /* tables that are SQL views in this file and so are not read */
	uint64_t too_long;    /* tables cut at a text, a blob or a row beyond the limit */
	struct vpt_collect_doubts doubts; /* set by any_trace.c */
	uint64_t unreadable;              /* places that are no JSON: each is about one event */
	char first_unreadable[120];       /* "at byte 7 of the file stands "xyz"": printable */
	uint64_t after_gzip; /* bytes after the end of the gzip that are no part of it */
	int another_gzip;    /* they are or hold another one */
	int truncated;       /* the file ends in the middle; what came before was read */
	int interrupted;     /* a change of the file was never finished; it was read as before */
};

struct vpt_importer {
	const char *name; /* "kineto" */
	const char *help; /* the tool that writes such files */
	/* Whether the first bytes look like this format (after gunzip, if the importer reads
	 * gzip). */
	int (*probe)(const unsigned char *head, size_t size);
	int reads_zstd; /* read() unpacks zstd; `probe` gets the unpacked text */
	/* Reads everything into `c` but does not finish it. 0 or VPT_EDATA, VPT_ENOMEM, VPT_EIO. */
	int (*read)(struct vpt_source *src, struct vpt_collect *c, struct vpt_import_stats *stats,
		struct vpt_err *err);
};

#define VPT_FORMAT(id, name) extern const struct vpt_importer vpt_import_##name;
#include "formats/import/importers.def"

#endif
