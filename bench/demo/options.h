/* capture_options.h - what the demo was asked for. */
#ifndef VPT_BENCH_DEMO_OPTIONS_H
#define VPT_BENCH_DEMO_OPTIONS_H

#include <stdint.h>

struct demo_options {
	uint64_t requests, blocks, steps, layers; /* each at least 1 */
	uint64_t ranks;                           /* processes that make the video together */
	uint64_t rank;                            /* which of them this is */
	int is_rank;                              /* started by the demo itself, for one rank */
	double scale;                             /* times the kernels' durations */
	uint64_t launch_host_ns;                  /* host code before each launch */

	int sync_per_layer, offload, two_streams, graph, vae_at_end, eager, threads, reference;

	int print_plan, probe, help;
	const char *trace; /* NULL: whoever loads libvptrace decides; borrowed from argv */
};

/* Reads the command line. Returns 0, or -1 with a sentence in `message` ("" never). */
int demo_options_read(
	struct demo_options *out, int argc, char **argv, char *message, unsigned long message_size);

/* The text of --help, without the program's name. */
const char *demo_options_help(void);

#endif
