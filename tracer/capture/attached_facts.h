/* attached_facts.h - the host's facts about its run, kept for the running or the next capture.
 *
 * Not locked: the session's lock guards it. */
#ifndef VPTRACE_TRACER_CAPTURE_ATTACHED_FACTS_H
#define VPTRACE_TRACER_CAPTURE_ATTACHED_FACTS_H

#include <stddef.h>

enum { VTR_FACTS_MAX = 256, VTR_FACT_KEY_MAX = 256, VTR_FACT_VALUE_MAX = 4096 };

struct vtr_fact {
	char *key, *value;
};

struct vtr_facts {
	struct vtr_fact all[VTR_FACTS_MAX];
	size_t count;
};

/* Keeps a copy; the newest value of a key wins. 0, VPTRACE_EINVAL (too many, too long, no key) or
 * VPTRACE_ENOMEM, worded for vptrace_last_error(). */
int vtr_facts_put(struct vtr_facts *facts, const char *key, const char *value);
void vtr_facts_clear(struct vtr_facts *facts);

#endif
