/* unpacked_source.h - a gzip or zstd file as the bytes that it holds. */
#ifndef VPT_FORMATS_IMPORT_KINETO_UNPACKED_SOURCE_H
#define VPT_FORMATS_IMPORT_KINETO_UNPACKED_SOURCE_H

#include "formats/io/io.h"

/* Reads up to `size` of the first bytes that a source holds, unpacked if it is gzip or zstd; *packer is then its name,
 * otherwise NULL. 0, VPT_EIO or VPT_ENOMEM. */
int vpt_unpacked_head(struct vpt_source *src, void *head, size_t size, size_t *got,
	const char **packer, struct vpt_err *err);

/* Unpacks a whole gzip or zstd source to a file without a name, see nameless_file.h. *is_torn: the data ended early or is damaged,
 * and *out has what was before. 0, VPT_EIO, VPT_ENOMEM:
 * also if it holds more than vpt_limits_text_bytes() allows. */
int vpt_unpacked_source(
	struct vpt_source *src, struct vpt_source **out, int *is_torn, struct vpt_err *err);

#endif
