/* disk.h - writes a capture's file on a separate thread, so that a write that hangs blocks only
 * that thread.
 *
 *	writer's thread                      disk's thread
 *	write() -- a copy of the frame -->   vtr_capture_file's write
 *	        <-- done, or why not ----
 *	        <-- given up: at once, by any thread
 *
 * Whether a frame counts is decided once, under a lock. If its write ended before it was given up,
 * the frame stays in the file; otherwise the thread truncates it when the write ends after all. So
 * the writer always knows what the file holds. */
#ifndef VPTRACE_TRACER_FILES_DISK_H
#define VPTRACE_TRACER_FILES_DISK_H

#include "formats/io/io.h"

/* Starts the thread, with all signals blocked. `file` is from vtr_capture_file_new(); a successful
 * call takes it over. The sink's write waits for the thread; if it returns VPT_ENOMEM the file is
 * unharmed. finish() closes the file, or leaves that to a thread that is still writing, and never
 * waits for it. VPT_ENOMEM: `file` still belongs to the caller. */
int vtr_disk_new(struct vpt_sink *file, struct vpt_sink **out, struct vpt_err *err);

/* Stops writing: the pending write and every later one fail with VPT_EIO. `waited_ms` is for the
 * message. Any thread. */
void vtr_disk_give_up(struct vpt_sink *disk, unsigned waited_ms);

/* The file's actual name, as of the last write; "" before. The writer's thread. */
const char *vtr_disk_path(const struct vpt_sink *disk);

/* In a forked child, where the thread does not exist: closes the descriptor. Async-signal-safe. */
void vtr_disk_abandon(struct vpt_sink *disk);

#endif
