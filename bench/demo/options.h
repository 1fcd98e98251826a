/* options.h - what the demo was asked for. */
#ifndef VPT_BENCH_DEMO_OPTIONS_H
#define VPT_BENCH_DEMO_OPTIONS_H

#include <stdint.h>

struct demo_options {
	uint64_t requests, blocks, steps, layers; /* each at least 1 */
	uint64_t ranks;                           /* processes that make the video together */
	uint64_t rank;                            /* which of them this is */
	uint64_t nodes;                           /* hosts that the ranks are on */
	int is_rank;                              /* started by the demo itself, for one rank */
	double scale;                             /* times the kernels' durations */
	double scale_host;                        /* times the host's own code */
	uint64_t launch_host_ns;                  /* host code before each launch */

	int sync_per_layer, offload, two_streams, graph, vae_at_end, eager, threads, reference,
		cfg_parallel, ring;

	int print_plan, probe, help;
	const char *trace;  /* NULL: whoever loads libvptrace decides; borrowed from argv */
	const char *plants; /* see plants.h; NULL: none; borrowed from argv */
};

/* Reads the command line. Returns 0, or -1 with a sentence in `message` ("" never). */
int demo_options_read(
	struct demo_options *out, int argc, char **argv, char *message, unsigned long message_size);

/* Prints the text of --help, without the program's name. */
void demo_options_help(void);

#endif
