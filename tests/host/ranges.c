/* ranges.c - a traced program without CUDA: ranges, a block, a counter, a fact, and what the tracer
 * said.
 *
 *	host_ranges CAPTURE */
#include "tracer/vptrace.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options)};
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	struct vptrace_note note = {VPTRACE_NOTE_BLOCK, 0, 9, 3, -1};
	int rc;

	if (argc != 2)
		return 2;
	options.path = argv[1];
	vptrace_metadata("session.tag", "ranges");
	rc = vptrace_start(&options);
	printf("start %d\nstatus %d\nerror %s\n", rc, (int)vptrace_status(), vptrace_last_error());
	vptrace_range_push("request");
	vptrace_note_push("block 0", &note);
	vptrace_counter("queue depth", 3.5, "requests");
	vptrace_range_pop();
	vptrace_range_pop();
	rc = vptrace_stop(&stats);
	printf("stop %d\nreceived %llu\nwritten %llu\npath %s\n", rc,
		(unsigned long long)stats.received, (unsigned long long)stats.written,
		vptrace_path());
	return 0;
}
