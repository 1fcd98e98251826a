/* rare.h - keeps a function out of the loops that call it. */
#ifndef VPA_ANALYSIS_BASE_RARE_H
#define VPA_ANALYSIS_BASE_RARE_H

/* For code that the loops over all events rarely call: inlined there, it would cost them
 * registers. */
#define VPA_RARE __attribute__((noinline))

#endif
