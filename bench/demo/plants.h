/* plants.h - faults of single ranks, which an analysis of all ranks should find. */
#ifndef VPT_BENCH_DEMO_PLANTS_H
#define VPT_BENCH_DEMO_PLANTS_H

#include <stdint.h>

enum demo_plant_kind {
	DEMO_PLANT_HOST,   /* host code in each layer, us */
	DEMO_PLANT_KERNEL, /* what kernels of the feed-forward part take, % */
	DEMO_PLANT_TURN, /* host and kernel hold in each Nth pass only: from this one on, of 0 to N - 1 */
	DEMO_PLANT_LINK,     /* what collectives that the rank is in take, % */
	DEMO_PLANT_SKEW,     /* its kernels of collectives end after the others', ns */
	DEMO_PLANT_LATE,     /* it starts after the others, ms */
	DEMO_PLANT_OFFSET,   /* the clock of its host is ahead, ms */
	DEMO_PLANT_DRIFT,    /* the clock of its host gains, us a second */
	DEMO_PLANT_UNTRACED, /* 1: it is not recorded */
	DEMO_PLANT_ENDS,     /* it ends before this block */
	DEMO_PLANTS
};

/* Checks a list "RANK:FAULT=NUMBER,..."; NULL is an empty one. Returns 0, or -1 with a sentence in
 * `message`. */
int demo_plants_check(const char *list, uint64_t ranks, char *message, unsigned long size);

/* The number of a fault of `rank`, of the last item that has it; `none` where none does. */
int64_t demo_plant(const char *list, uint64_t rank, enum demo_plant_kind kind, int64_t none);

/* How many turns there are: one more than the largest of any rank; 1: no rank has one. */
uint64_t demo_plant_turns(const char *list);

/* What to say of the faults in --help. */
extern const char demo_plants_help[];

#endif
