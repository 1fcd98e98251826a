/* clocks.h - what an import finds out about clocks: where they begin, and whether those of GPU and host agree,
 * so that no op begins before its launch.
 *
 * For importers, which judge a whole trace, and the analysis, which judges a capture. */
#ifndef VPT_FORMATS_CLOCKS_H
#define VPT_FORMATS_CLOCKS_H

#include <stdint.h>

/* Rounding, as to whole microseconds, lets an op begin as long before its launch. */
enum { VPT_ROUNDED_NS = 2000 };

/* Of `launched` ops with a launch, `premature` began before it, by more than VPT_ROUNDED_NS. A few may be
 * records of another kind of fault. */
static inline int vpt_clocks_disagree(uint64_t premature, uint64_t launched)
{
	enum { LEAST = 3, SHARE = 10 };

	return premature >= LEAST && premature >= launched / SHARE + (launched % SHARE != 0);
}

#endif
