/* perfetto_parts.h - what stands on the tracks of an export, each in a file of its own.
 *
 * Each is made, gets the chunks in order, and writes the rest when the end of the window is known. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_PERFETTO_PARTS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_PERFETTO_PARTS_H

#include "analysis/export/export_pass.h"
#include "analysis/export/perfetto/lanes/perfetto_names.h"
#include "analysis/export/perfetto/lanes/stream_tracks.h"
#include "analysis/export/perfetto/lanes/track_event.h"
#include "analysis/export/perfetto/slice_shapes.h"
#include "analysis/join/op_waits.h"

/* ---- calls, ranges and marks of all threads: host_slices.c ---- */

struct vpa_ex_host;

/* Needs x->links, x->tracks and x->call_waits. NULL: no memory. */
struct vpa_ex_host *vpa_ex_host_new(struct vpa_ex_out *x);
void vpa_ex_host_free(struct vpa_ex_host *h); /* accepts NULL */

/* Takes a chunk's rows. All return 0 or an error code. */
int vpa_ex_host_add(struct vpa_ex_host *h, const struct vpt_batch *b);
/* Writes what is complete, after the chunk's ops: later ops have no launch before `times_from_ns`. */
int vpa_ex_host_release(struct vpa_ex_host *h, uint64_t times_from_ns);
/* Writes the rest when the window's end is known. */
int vpa_ex_host_end(struct vpa_ex_host *h);

/* ---- kernels, copies and memsets, each emitted once: op_slices.c ---- */

struct vpa_ex_ops;

/* Borrows both arguments. Needs x->links and x->call_waits. NULL: no memory. */
struct vpa_ex_ops *vpa_ex_ops_new(struct vpa_ex_out *x, struct vpa_op_waits *waits);
void vpa_ex_ops_free(struct vpa_ex_ops *o); /* accepts NULL */

/* Add a chunk's rows about streams; a section of KERNEL or COPY; one of EVENT or SYNC. All return 0
 * or an error code. */
int vpa_ex_ops_lanes(struct vpa_ex_ops *o, const struct vpt_batch *b);
int vpa_ex_ops_add(struct vpa_ex_ops *o, const struct vpt_batch *b, const struct vpt_section *s);
int vpa_ex_ops_syncs(struct vpa_ex_ops *o, const struct vpt_section *s);
/* Writes the ops that began before `until_ns`, which later chunks must not add to. */
int vpa_ex_ops_release(struct vpa_ex_ops *o, uint64_t until_ns);

/* Writes the next op as a plain slice on a track of its stream, for readers without support for GPUs: plain_slices.c. 0 or an
 * error code. */
int vpa_ex_op_slice(struct vpa_ex_out *x, struct vpa_ex_streams *streams,
	const struct vpa_numbered_op *op, const struct vpa_ex_shape *s);

/* ---- idle gaps of each GPU, with their cause and line of Python: gap_slices.c ---- */

int vpa_ex_gaps_new(struct vpa_ex_out *x); /* x->gaps; 0 or VPT_ENOMEM */
void vpa_ex_gaps_free(struct vpa_ex_gaps *g);

/* See struct vpa_observer. */
int vpa_ex_gaps_add(struct vpa_ex_out *x, const struct vpa_gap *gap);
/* The report is complete: writes the gaps that were held back for it. */
void vpa_ex_gaps_end(struct vpa_ex_out *x);

/* ---- Python stacks of threads, as stack samples: stack_slices.c ---- */

struct vpa_ex_stacks;

struct vpa_ex_stacks *vpa_ex_stacks_new(struct vpa_ex_out *x); /* NULL: no memory */
void vpa_ex_stacks_free(struct vpa_ex_stacks *all);            /* accepts NULL */

/* Both return 0 or an error code. The second writes what only the trace's end completes. */
int vpa_ex_stacks_add(struct vpa_ex_stacks *all, const struct vpt_batch *b);
int vpa_ex_stacks_end(struct vpa_ex_stacks *all);

/* ---- samples, as counter tracks: counter_tracks.c ---- */

struct vpa_ex_counters;

struct vpa_ex_counters *vpa_ex_counters_new(struct vpa_ex_out *x); /* NULL: no memory */
void vpa_ex_counters_free(struct vpa_ex_counters *all);            /* accepts NULL */

/* Adds a chunk's samples, then, when the window's end is known, the last value of each series. Both
 * return 0 or an error code. */
int vpa_ex_counters_add(struct vpa_ex_counters *all, const struct vpt_batch *b);
int vpa_ex_counters_end(struct vpa_ex_counters *all);

/* ---- metadata, and the totals that it must contain: export_metadata.c ---- */

/* Call after vpa_ex_identify() and the clocks, before all other packets. */
void vpa_ex_meta_begin(struct vpa_ex_out *x);
/* The last packet, after all counts are final. `residual_ns`: how far the clocks drifted apart since
 * their first row. */
void vpa_ex_meta_end(struct vpa_ex_out *x, uint64_t residual_ns);

/* ---- several processes in one file: rank_archive.c ---- */

/* Writes a tar archive: an export of each trace, and a manifest with the machine of each. Exports the
 * traces one after the other, each first to an unnamed file in `folder` (NULL: the default one for
 * temporary files). Numbers GPUs among those of all traces of their machine. Times are on one
 * clock; of traces that share none, totals->unaligned says how they lie. Members are named after
 * the paths' last parts; equal names get a number. *totals are sums, complete only if all are.
 *
 * `job` is for vpa_export(), which runs once per trace; GPUs and clock of its options are ignored. */
int vpa_export_ranks(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);

#endif
