/* disk.h - a capture's file behind a thread of its own, so that a write that never ends blocks nobody but that thread.
 *
 *	writer's thread                      disk's thread
 *	write() -- a copy of the frame -->   vtr_capture_file's write
 *	        <-- done, or why not ----
 *	        <-- given up: at once, from any thread
 *
 * Whether a frame counts is decided once, under a lock: a frame whose write ended before it was given up stands in the file,
 * and a later one is cut off again when its write ends after all. So the writer knows at any moment what the file holds. */
#ifndef VPTRACE_TRACER_DISK_H
#define VPTRACE_TRACER_DISK_H

#include "formats/io.h"

/* Starts the thread, with all signals blocked, over `file`, which vtr_capture_file_new() made and a successful call takes
 * over. The sink's write waits for the thread; VPT_ENOMEM leaves the file as good as it was. finish() closes the file, or
 * leaves that to a thread that is still writing, and never waits for it. VPT_ENOMEM: `file` stays the caller's. */
int vtr_disk_new(struct vpt_sink *file, struct vpt_sink **out, struct vpt_err *err);

/* From here on nothing is written: a write that is waited for fails with VPT_EIO, and so does every later one. `waited_ms`
 * is for the sentence. Any thread. */
void vtr_disk_give_up(struct vpt_sink *disk, unsigned waited_ms);

/* The name that the file got, as of the last write; "" before. The writer's thread. */
const char *vtr_disk_path(const struct vpt_sink *disk);

/* In a forked child, where the thread does not exist: closes the descriptor. Async-signal-safe. */
void vtr_disk_abandon(struct vpt_sink *disk);

#endif
