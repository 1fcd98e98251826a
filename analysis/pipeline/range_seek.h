/* range_seek.h - how many instances of a range end in each chunk, so that the search for one of them can leave out the chunks
 * before it. Ranges alone are looked at: what was launched in them needs the whole pass. */
#ifndef VPA_ANALYSIS_PIPELINE_RANGE_SEEK_H
#define VPA_ANALYSIS_PIPELINE_RANGE_SEEK_H

#include "analysis/pipeline/range_choice.h"
#include "formats/import/any_trace.h"

struct vpa_range_seek {
	struct vpa_range_choice choice; /* what is looked for */
	/* By chunk, from the first to the last that was looked at: ranges that end there, by how they are called. */
	struct vpa_range_ends {
		uint32_t whole, name;
	} * ends;
	size_t count, cap;
	uint8_t *matches; /* by string of the chunk: enum vpa_range_match */
	size_t match_cap;
	int is_known; /* 0: the file is damaged, or no capture, or has fewer instances */
	int whole;    /* a range is called as the whole text */
	uint64_t number;
	size_t target; /* the chunk in which the instance of that number ends */
};

/* Looks for "NAME" or "NAME:2". 0, VPT_ENOMEM or VPT_EIO. */
int vpa_range_seek(
	const struct vpt_trace *trace, const char *text, unsigned jobs, struct vpa_range_seek *out);
void vpa_range_seek_free(struct vpa_range_seek *s);

/* Prepares a choice for a reading that begins at this chunk. */
void vpa_range_seek_leave(const struct vpa_range_seek *s, const struct vpt_trace *trace,
	size_t from, struct vpa_range_choice *choice);

#endif
