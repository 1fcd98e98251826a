/* clock.h - moves the simulation's clock. With the lock held, except for the sleep and the host
 * functions. */
#ifndef VPT_STANDIN_CLOCK_H
#define VPT_STANDIN_CLOCK_H

#include <stdint.h>

void sim_clock_advance(uint64_t ns); /* nothing in real time */
int sim_calls_cost(void);            /* whether the calling thread's calls move the clock */
void sim_clock_sleep(uint64_t ns);   /* of real time */
void sim_run_host_functions(void);   /* those that are due; without the lock */

#endif
