/* resolver_parts.h - functions shared by the resolver's files. Private to them. All return 0 or
 * VPT_ENOMEM. */
#ifndef VPA_ANALYSIS_JOIN_RESOLVER_PARTS_H
#define VPA_ANALYSIS_JOIN_RESOLVER_PARTS_H

#include "analysis/join/resolver.h"

/* To call before what other threads may read changes, see struct vpa_resolver_sink. */
static inline int vpa_resolver_let_grow(const struct vpa_resolver *r)
{
	return r->sink.grow ? r->sink.grow(r->sink.ctx) : VPT_OK;
}

/* Adds all ranges of a chunk; call before its other sections. */
int vpa_resolver_add_ranges(struct vpa_resolver *r, const struct vpt_batch *b);

/* Numbers the chunk's stacks (before its samples); adds a section of samples. 0 or VPT_ENOMEM. */
int vpa_resolver_add_stacks(struct vpa_resolver *r, const struct vpt_batch *b);
int vpa_resolver_add_samples(struct vpa_resolver *r, const struct vpt_section *s);

/* Up to when ops need not wait for samples, at most `until_ns`: of vpa_resolver_release(), once for
 * each call. */
uint64_t vpa_resolver_sampled(struct vpa_resolver *r, uint64_t until_ns);

/* Interns the text of an annotation in the model's names: JSON in our own domain, or in the default
 * one if the host had no NVTX; 0 for any other payload. */
int vpa_resolver_annotation(struct vpa_resolver *r, const struct vpt_batch *b, uint32_t domain,
	uint64_t type, uint64_t value, uint32_t *payload);

/* Adds a CALL section of the current chunk. */
int vpa_resolver_add_calls(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s);

/* The call that launched an op of this stream; NULL: none is known. */
struct vpa_call *vpa_resolver_find_launch(
	const struct vpa_resolver *r, uint32_t stream, uint64_t correlation);

/* Notes of a batch's op that its launch, already filled in, waits for it, if it is such a copy. */
void vpa_resolver_join_copy(struct vpa_resolver *r, struct vpa_ops *ops, size_t i);
/* Notes which known calls made a copy with a pageable side, from a COPY section of the current
 * chunk: a gap may depend on it before the copy is released. */
void vpa_resolver_note_copies(struct vpa_resolver *r, const struct vpt_section *s);

/* Notes that pages of unified memory were on their way to or from a stream's device. 0 or VPT_ENOMEM. */
int vpa_resolver_note_fault(
	struct vpa_resolver *r, uint32_t stream, uint64_t start_ns, uint64_t end_ns);

/* Launches whose kernel is missing, see resolver_lost.c. Notes what the ops tell of their launches; notes
 * a call that waits for a device; counts the launches among the thread's calls before position `end`,
 * which are about to be dropped. */
void vpa_resolver_note_answers(struct vpa_resolver *r, const struct vpa_ops *ops);
struct vpa_call_kind;
void vpa_resolver_note_wait(struct vpa_resolver *r, uint32_t thread, const struct vpa_call *call,
	const struct vpa_call_kind *kind);
void vpa_resolver_count_lost(struct vpa_resolver *r, uint32_t thread, uint64_t end);

/* Ops of an unknown process match any process, and calls of an unknown process match any op. */
static inline int vpa_may_launch(const struct vpa_process *p, int64_t pid)
{
	return pid == -1 || p->pid == pid || p->pid == -1;
}

/* Count an op without a launch; note which streams' backlogs the ops of a batch end. */
void vpa_resolver_count_without_launch(struct vpa_resolver *r, const struct vpa_ops *ops, size_t i);
void vpa_resolver_end_backlogs(struct vpa_resolver *r, const struct vpa_ops *ops);

/* The place at `t` among the innermost ranges of a thread and of its process and those around them,
 * see vpa_resolver_place(). */
uint32_t vpa_place_among(
	struct vpa_range *own, struct vpa_range *wide, uint32_t thread, uint64_t t);

/* Ranks streams that are new. Streams with equal process and number, on several devices or in several
 * contexts, are equal. 0 or VPT_ENOMEM. */
int vpa_resolver_rank_streams(struct vpa_resolver *r);

#endif
