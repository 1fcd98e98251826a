/* python_writer.h - a python3 that writes columns as files of Parquet or Arrow with pyarrow, which the program does not link.
 *
 * Its program is write_columns.py, which this one carries, so nothing has to be found but python3 and pyarrow. One thread. */
#ifndef VPA_ANALYSIS_EXPORT_COLUMNS_PYTHON_WRITER_H
#define VPA_ANALYSIS_EXPORT_COLUMNS_PYTHON_WRITER_H

#include "formats/base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* fd -1: not started. */
struct vpa_python_writer {
	int fd; /* a socket: its standard input and output */
	pid_t pid;
	const char *format;
};

/* Starts it, and waits until pyarrow is there. `format` is "parquet" or "arrow"; `folder` NULL: it only says whether it could. `level`
 * is that of zstd, 0: not compressed. The caller ends it, also after a failure. 0; VPT_EUNSUPPORTED: there is no python3 or no
 * pyarrow, said with what to install; VPT_EIO. */
int vpa_python_writer_start(struct vpa_python_writer *w, const char *format, const char *folder,
	int level, struct vpt_err *err);

/* Hands bytes over. 0; or VPT_EIO: it failed, with its own words. */
int vpa_python_writer_put(
	struct vpa_python_writer *w, const void *data, size_t size, struct vpt_err *err);

/* Waits until all files are written, after the message that ends them. 0 or VPT_EIO. */
int vpa_python_writer_finish(struct vpa_python_writer *w, struct vpt_err *err);

/* Ends the process, whatever it does, and waits for it. */
void vpa_python_writer_end(struct vpa_python_writer *w);

#endif
