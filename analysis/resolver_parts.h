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

#endif
