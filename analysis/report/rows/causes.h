/* causes.h - why a device is idle: the causes of causes.def, and their names. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_CAUSES_H
#define VPA_ANALYSIS_REPORT_ROWS_CAUSES_H

#include <stdint.h>

enum vpa_cause {
#define VPA_CAUSE(NAME, text, words, help) VPA_CAUSE_##NAME,
#include "analysis/report/rows/causes.def"
	VPA_CAUSES
};

struct vpa_cause_time {
	enum vpa_cause cause;
	uint64_t ns;
};

const char *vpa_cause_text(enum vpa_cause cause);  /* the key: stable */
const char *vpa_cause_words(enum vpa_cause cause); /* in words, for people */
const char *vpa_cause_help(enum vpa_cause cause);
int vpa_cause_has_gain(enum vpa_cause cause); /* whether the program could avoid it */
/* Whether the trace does not say what it was; the words then begin with VPA_CAUSE_UNKNOWN. */
int vpa_cause_is_unknown(enum vpa_cause cause);
#define VPA_CAUSE_UNKNOWN "unknown: "

/* Pairs of a wait that had held the host and what the host did in the time that counts to it, for tables. */
enum {
	VPA_HELD_FIRST = VPA_CAUSE_SYNC,
	VPA_HELD = VPA_CAUSE_OTHER_CALL - VPA_HELD_FIRST + 1,
	VPA_INSTEAD_FIRST = VPA_CAUSE_ALLOCATION,
	VPA_INSTEAD = VPA_CAUSE_LAUNCH_CALL - VPA_INSTEAD_FIRST + 1,
	VPA_INSTEADS = VPA_HELD * VPA_INSTEAD
};

/* The number of a pair, below VPA_INSTEADS; VPA_INSTEADS: there is none such. */
static inline unsigned vpa_instead_number(enum vpa_cause cause, enum vpa_cause host)
{
	unsigned held = (unsigned)cause - VPA_HELD_FIRST,
		 instead = (unsigned)host - VPA_INSTEAD_FIRST;

	return held < VPA_HELD && instead < VPA_INSTEAD ? held * VPA_INSTEAD + instead
							: VPA_INSTEADS;
}

static inline enum vpa_cause vpa_instead_cause(unsigned number)
{
	return (enum vpa_cause)(VPA_HELD_FIRST + number / VPA_INSTEAD);
}

static inline enum vpa_cause vpa_instead_host(unsigned number)
{
	return (enum vpa_cause)(VPA_INSTEAD_FIRST + number % VPA_INSTEAD);
}

#endif
