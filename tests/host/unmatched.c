/* unmatched.c - a program that forgets to close its ranges.
 *
 *	host_unmatched FILE N   opens N ranges "forgotten" and closes none, as where an exception skips the pops, and 1,000
 *	                        ranges "work", which it closes; prints the statistics
 *	host_unmatched FILE -N  opens N ranges within each other, and closes them all */
#include "tracer/vptrace.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = argc > 1 ? argv[1] : NULL,
		.profile = VPTRACE_PROFILE_NONE};
	struct vptrace_stats st = {.struct_bytes = sizeof(st)};
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0, i;

	if (argc != 3 || vptrace_start(&o))
		return 2;
	for (i = 0; i < labs(count); i++)
		vptrace_range_push("forgotten");
	for (i = 0; i < 1000; i++) {
		vptrace_range_push("work");
		vptrace_range_pop();
	}
	for (; count < 0; count++)
		vptrace_range_pop();
	if (vptrace_stop(&st))
		return 1;
	printf("received %llu, dropped %llu\n", (unsigned long long)st.received,
		(unsigned long long)st.dropped);
	return 0;
}
