/* temporary_file.h - a temporary file that is written first and copied afterwards. */
#ifndef VPA_ANALYSIS_EXPORT_TEMPORARY_FILE_H
#define VPA_ANALYSIS_EXPORT_TEMPORARY_FILE_H

#include "formats/io/io.h"

#include <limits.h>

struct vpa_temporary {
	struct vpt_sink sink; /* appends to the file; its finish() closes it */
	int fd;
	char path[PATH_MAX]; /* until it is hidden; then empty */
};

/* Makes an empty file of mode 0600 in the folder; NULL: in $TMPDIR or /tmp. The caller closes it, also on failure. 0 or
 * VPT_EIO. */
int vpa_temporary_open(struct vpa_temporary *s, const char *folder, struct vpt_err *err);
/* Removes the file's name; whoever has it open keeps it. */
void vpa_temporary_hide(struct vpa_temporary *s);
/* Hides and closes it; accepts a zeroed struct whose open() never ran if fd is below 0. */
void vpa_temporary_close(struct vpa_temporary *s);

/* Calls `put` with all its bytes, in order. 0, what `put` returns, VPT_EIO or VPT_ENOMEM. */
int vpa_temporary_copy(const struct vpa_temporary *s,
	int (*put)(void *ctx, const void *data, size_t size, struct vpt_err *err), void *ctx,
	struct vpt_err *err);

#endif
