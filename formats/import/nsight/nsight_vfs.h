/* nsight_vfs.h - the files that SQLite sees: one read-only source, and what stands beside it.
 *
 * The database counts as immutable, so there are no journals, locks or shared memory, and one left in
 * write-ahead mode opens as well. But a process that writes a database, or was interrupted, leaves a
 * file of changes beside it: a journal of what is to be undone (FILE-journal), or a log of what is to
 * be added (FILE-wal). Without it the database is wrong. So SQLite sees that file too, and undoes or
 * adds the changes as always; what it writes stays in memory. The user's folder never changes. */
#ifndef VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_VFS_H
#define VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_VFS_H

#include "formats/base/error.h"
#include "formats/io/io.h"
#include "formats/base/map.h"

#include <sqlite3.h>

#include <stddef.h>
#include <stdint.h>

#define VPT_NSIGHT_FILE "trace" /* the database's name for SQLite */

struct vpt_nsight_files {
	sqlite3_vfs vfs;
	char vfs_name[40]; /* for sqlite3_open_v2() */
	int registered;
	struct vpt_source *src; /* borrowed */
	/* The size as shown to SQLite, which sees zeros beyond the source's end. Otherwise it would
	 * refuse all of a truncated file; so the tables before the cut are readable, and the others
	 * break where the bytes end. */
	uint64_t size_bytes;
	struct vpt_source *beside;     /* the file of changes; NULL: there is none */
	int is_wal;                    /* it is a write-ahead log, else a journal */
	int is_beside_gone;            /* SQLite has used and deleted it */
	struct vpt_nsight_page *pages; /* written by SQLite */
	size_t page_count, page_cap, page_bytes;
	struct vpt_map page_of; /* by offset */
	struct vpt_err io_err;  /* a source's error, if one failed */
	int io_failed;
};

/* Registers a file system with this source. `src` is borrowed until close. 0, VPT_EIO or VPT_ENOMEM;
 * close it in any case. */
int vpt_nsight_files_open(struct vpt_nsight_files *f, struct vpt_source *src, struct vpt_err *err);
void vpt_nsight_files_close(struct vpt_nsight_files *f); /* after the database */

#endif
