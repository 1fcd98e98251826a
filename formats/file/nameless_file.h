/* nameless_file.h - bytes that come one after the other, kept in a file so that they can be read at any offset.
 *
 * They go to disk, since traces may not fit in memory. The file has no name, so it can never be left over. */
#ifndef VPT_FORMATS_BASE_NAMELESS_FILE_H
#define VPT_FORMATS_BASE_NAMELESS_FILE_H

#include "formats/io/io.h"

struct vpt_spool {
	const char *name; /* of the bytes, for messages; borrowed */
	const char *folder;
	int fd;
	uint64_t size_bytes;
};

/* Opens an empty file in $TMPDIR or /tmp. 0 or VPT_EIO; then nothing is to be closed. */
int vpt_spool_open(struct vpt_spool *s, const char *name, struct vpt_err *err);
int vpt_spool_write(struct vpt_spool *s, const void *data, size_t size, struct vpt_err *err);
/* Makes a source of all bytes and ends the spool, also on failure. 0 or VPT_ENOMEM. */
int vpt_spool_source(struct vpt_spool *s, struct vpt_source **out, struct vpt_err *err);
void vpt_spool_close(struct vpt_spool *s); /* instead: discards them */

#endif
