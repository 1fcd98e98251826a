/* causes.h - why a device is idle: the causes of causes.def, and their names. */
#ifndef VPA_ANALYSIS_CAUSES_H
#define VPA_ANALYSIS_CAUSES_H

enum vpa_cause {
#define VPA_CAUSE(NAME, text, words, help) VPA_CAUSE_##NAME,
#include "analysis/causes.def"
	VPA_CAUSES
};
const char *vpa_cause_text(enum vpa_cause cause);  /* the key: stable */
const char *vpa_cause_words(enum vpa_cause cause); /* in words, for people */
const char *vpa_cause_help(enum vpa_cause cause);
int vpa_cause_has_gain(enum vpa_cause cause); /* whether the program could avoid it */
/* Whether the cause is an answer: neither unknown nor "queued, reason not recorded". */
int vpa_cause_is_answer(enum vpa_cause cause);

#endif
