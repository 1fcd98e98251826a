/* causes.c - the causes of causes.def: their names, and the kind of answer each is. */
#include "analysis/report/rows/causes.h"

static const struct {
	const char *text, *words, *help;
} causes[VPA_CAUSES] = {
#define VPA_CAUSE(NAME, text, words, help) {text, words, help},
#include "analysis/report/rows/causes.def"
};

const char *vpa_cause_text(enum vpa_cause cause)
{
	return causes[cause].text;
}

const char *vpa_cause_words(enum vpa_cause cause)
{
	return causes[cause].words;
}

const char *vpa_cause_help(enum vpa_cause cause)
{
	return causes[cause].help;
}

int vpa_cause_is_unknown(enum vpa_cause cause)
{
	return cause >= VPA_CAUSE_RECORDS_LOST && cause <= VPA_CAUSE_CLOCKS;
}

int vpa_cause_has_gain(enum vpa_cause cause)
{
	return cause >= VPA_CAUSE_INSIDE_GRAPH && cause != VPA_CAUSE_PROFILER;
}
