/* resolver_parts.h - what the files of the resolver share. Private to them. All return 0 or VPT_ENOMEM. */
#ifndef VPA_ANALYSIS_RESOLVER_PARTS_H
#define VPA_ANALYSIS_RESOLVER_PARTS_H

#include "analysis/resolver.h"

/* The ranges of a chunk: all of them, before anything else of it. */
int vpa_resolver_add_ranges(struct vpa_resolver *r, const struct vpt_batch *b);

/* The text of an annotation as a name of the model's: JSON in our own domain, or in the default one where the host had no
 * NVTX; 0 for anything else, as what others put into the payloads of theirs. */
int vpa_resolver_annotation(struct vpa_resolver *r, const struct vpt_batch *b, uint32_t domain,
	uint64_t type, uint64_t value, uint32_t *payload);

/* A CALL section of the chunk at hand. */
int vpa_resolver_add_calls(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s);

/* Notes which of the calls known so far made a copy with a pageable side, by a COPY section of the chunk at hand: a gap may
 * ask before the copy is released. */
void vpa_resolver_note_copies(struct vpa_resolver *r, const struct vpt_section *s);

/* The place at `t` among the innermost range of a thread and of its process, and those around them, see
 * vpa_resolver_place(). */
uint32_t vpa_place_among(struct vpa_range *own, struct vpa_range *wide, uint64_t t);

#endif
