/* cover.h - in which ranges a moment of a thread is: of each pattern, the range that began last of those around it
 * whose names match.
 *
 * Only ranges whose names match some pattern are kept, in a lane for each thread and, for those of a whole process, for
 * each process. Each range knows what was open in its lane when it began. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_COVER_H
#define VPA_ANALYSIS_RETIME_REPLAY_COVER_H

#include "analysis/retime/tape/tape.h"

/* A range in its lane. */
struct vpa_cover_range {
	uint64_t start_ns, end_ns;
	uint32_t range; /* number, from 1 */
	uint32_t
		below; /* the one that began last of those that were open when this one began; NONE */
};

struct vpa_cover {
	const struct vpa_tape *t;
	size_t place_count;
	uint32_t *first_place, *places; /* by name + 1: the ends of its patterns in `places` */
	struct vpa_cover_range *ranges; /* by lane, then start */
	uint32_t *lanes; /* the first range of each; one more is the end of the last */
	uint32_t lane_count;
};

/* `patterns`: `count` of them, each another one. The caller calls vpa_cover_free(), whatever this returns. 0 or
 * VPT_ENOMEM. */
int vpa_cover_find(
	const struct vpa_tape *t, const char *const *patterns, size_t count, struct vpa_cover *out);
void vpa_cover_free(struct vpa_cover *c);

/* Where a thread's moments are, which must come in order. */
struct vpa_whereabouts {
	uint32_t own, wide;  /* the innermost range in each lane, as last found; NONE */
	uint64_t until_ns;   /* all ranges around are open until then */
	uint32_t *ranges;    /* by pattern: the number of the range, from 1; 0: none */
	uint32_t own_cursor; /* in its lane: the first range that begins later */
	uint32_t wide_cursor;
	uint64_t same_until_ns; /* until then nothing ends or begins; 0: not known */
	int is_known;
};

/* The same as vpa_cover_at(), where something may have ended or begun. */
int vpa_cover_find_at(
	const struct vpa_cover *c, uint32_t thread, uint64_t ns, struct vpa_whereabouts *w);

/* Finds where a moment of a thread is. Returns whether `ranges` may have changed since the last call. */
static inline int vpa_cover_at(
	const struct vpa_cover *c, uint32_t thread, uint64_t ns, struct vpa_whereabouts *w)
{
	return ns >= w->same_until_ns && vpa_cover_find_at(c, thread, ns, w);
}

/* Whether a name matches a pattern as of a shell, or is the same text. */
int vpa_name_matches(const struct vpa_tape *t, uint32_t name, const char *pattern);

#endif
