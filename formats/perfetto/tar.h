/* tar.h - writes several files as one POSIX ustar archive to a sink.
 *
 *	vpt_tar_begin(sink, "a.json", 10, &err);   a member of 10 bytes ...
 *	vpt_sink_write(sink, data, 10, &err);      ... which the caller writes
 *	vpt_tar_end(sink, 10, &err);               pads it to whole blocks
 *	vpt_tar_finish(sink, &err);                after the last member
 *
 * Equal names and bytes give an equal archive: members have no owner and no time. Does not read. */
#ifndef VPT_FORMATS_PERFETTO_TAR_H
#define VPT_FORMATS_PERFETTO_TAR_H

#include "formats/io/io.h"

enum { VPT_TAR_NAME_MAX = 99, VPT_TAR_BLOCK = 512 };

/* Begins a plain file of `size` bytes. VPT_EINVAL: the name is empty or longer than
 * VPT_TAR_NAME_MAX, or the size is 8 GiB or more; otherwise returns the sink's code. */
int vpt_tar_begin(struct vpt_sink *sink, const char *name, uint64_t size, struct vpt_err *err);
int vpt_tar_end(struct vpt_sink *sink, uint64_t size, struct vpt_err *err);
int vpt_tar_finish(struct vpt_sink *sink, struct vpt_err *err);

#endif
