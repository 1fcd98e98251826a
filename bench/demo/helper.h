/* helper.h - the program's second thread: does the deeds it is given, in order. */
#ifndef VPT_BENCH_DEMO_HELPER_H
#define VPT_BENCH_DEMO_HELPER_H

#include "bench/demo/plan.h"

struct demo_helper;

/* Starts the thread; `player` is called on it. With `in_step` demo_helper_give() waits until the
 * deed is done: on the simulated GPU all threads move one clock, and only so is the schedule
 * always the same. NULL: it could not be started. */
struct demo_helper *demo_helper_start(struct demo_player player, int in_step);

/* The deed is copied. Waits while too many are left to do. */
void demo_helper_give(struct demo_helper *h, const struct demo_deed *deed);

/* Waits until all deeds are done, ends the thread, frees. NULL does nothing. */
void demo_helper_finish(struct demo_helper *h);

#endif
