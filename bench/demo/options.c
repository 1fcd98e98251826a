/* options.c - the table of options and its reader. Numbers are decimal and whole, except
 * --scale. */
#include "bench/demo/options.h"

#include "bench/demo/plants.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum takes { FLAG, NUMBER, DECIMAL, TEXT };

static const struct {
	const char *name;
	enum takes takes;
	size_t offset; /* in struct demo_options */
	uint64_t min, max;
} table[] = {
#define OFFSET(field) offsetof(struct demo_options, field)
	{"sync-per-layer", FLAG, OFFSET(sync_per_layer), 0, 0},
	{"slow-host", NUMBER, OFFSET(launch_host_ns), 0, 1000000000},
	{"offload", FLAG, OFFSET(offload), 0, 0},
	{"two-streams", FLAG, OFFSET(two_streams), 0, 0},
	{"graph", FLAG, OFFSET(graph), 0, 0},
	{"vae-at-end", FLAG, OFFSET(vae_at_end), 0, 0},
	{"eager", FLAG, OFFSET(eager), 0, 0},
	{"threads", FLAG, OFFSET(threads), 0, 0},
	{"reference", FLAG, OFFSET(reference), 0, 0},
	{"requests", NUMBER, OFFSET(requests), 1, 1000000},
	{"blocks", NUMBER, OFFSET(blocks), 1, 1000},
	{"steps", NUMBER, OFFSET(steps), 1, 1000},
	{"layers", NUMBER, OFFSET(layers), 1, 1000},
	{"scale", DECIMAL, OFFSET(scale), 0, 0},
	{"scale-host", DECIMAL, OFFSET(scale_host), 0, 0},
	{"ranks", NUMBER, OFFSET(ranks), 1, 64},
	{"rank", NUMBER, OFFSET(rank), 0, 63},
	{"nodes", NUMBER, OFFSET(nodes), 1, 64},
	{"cfg-parallel", FLAG, OFFSET(cfg_parallel), 0, 0},
	{"ring", FLAG, OFFSET(ring), 0, 0},
	{"plant", TEXT, OFFSET(plants), 0, 0},
	{"trace", TEXT, OFFSET(trace), 0, 0},
	{"print-plan", FLAG, OFFSET(print_plan), 0, 0},
	{"probe", FLAG, OFFSET(probe), 0, 0},
	{"help", FLAG, OFFSET(help), 0, 0},
#undef OFFSET
};
enum { COUNT = sizeof(table) / sizeof(table[0]) };

/* One line each: bench/demo.sh prints them before there is a program. */
/* clang-format off */
static const char usage[] =
	"Runs a video-diffusion pipeline shaped like Self-Forcing, to be traced: text encoding, 7 blocks\n"
	"of 3 latents, each with 4 denoising steps and a pass that writes the KV cache, VAE decoding, and\n"
	"copies of the frames to the host. The kernels only wait for as long as real kernels would run,\n"
	"so the demo shows how tracing and analysis work. It does not measure how fast a GPU is.\n"
	"\n"
	"faults to add:\n"
	"  --sync-per-layer    two .item() in each layer: an 8-byte copy to the host and a wait\n"
	"  --slow-host NS      run host code for NS nanoseconds before each launch (5000)\n"
	"  --offload           copy the weights of each layer from pageable memory in each pass\n"
	"  --eager             compute self-attention as GEMM, softmax, GEMM\n"
	"variants:\n"
	"  --two-streams       run VAE and copies on a second stream, copy frames to pinned memory\n"
	"  --graph             capture the denoising pass of a block once and replay it\n"
	"  --vae-at-end        decode all blocks after the last one\n"
	"  --threads           copy the frames in a second thread\n"
	"ranks:\n"
	"  --ranks N           use N processes, each with one device and a part of each layer; they\n"
	"                      exchange parts of each layer all to all, and gather each block\n"
	"  --nodes N           put the ranks on N simulated hosts (1)\n"
	"  --ring              pass keys and values around a ring beside self-attention, instead\n"
	"                      of exchanging parts before and after it\n"
	"  --cfg-parallel      compute the two passes of guidance on two halves of the ranks\n"
	"%s"
	"sizes:\n"
	"  --requests N        number of videos, made one after the other (1)\n"
	"  --blocks N          blocks per video (7)\n"
	"  --steps N           steps per block (4)\n"
	"  --layers N          layers of the transformer (30)\n"
	"  --scale X           factor for the duration of all kernels (1.0)\n"
	"  --scale-host X      factor for the host's own code between calls (1.0)\n"
	"  --reference         run only passes of exactly 100 ms of GPU time: from the second block on,\n"
	"                      24.0 FPS, 2.0 blocks per second, 8.0 steps per second\n"
	"other:\n"
	"  --trace FILE        record to FILE with libvptrace.so, or with the library in VPTRACE_LIBRARY\n"
	"                      (otherwise use `vptrace run` or CUDA_INJECTION64_PATH)\n"
	"  --print-plan        print what the host would do, as JSON, and exit\n"
	"  --probe             print which GPU the demo would run on, and exit\n"
	"  --help              print this help\n";
/* clang-format on */

void demo_options_help(void)
{
	printf(usage, demo_plants_help);
}

static int read_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value < min || value > max)
		return -1;
	*out = value;
	return 0;
}

static int read_decimal(const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (*end || end == text || !(value > 0 && value <= 1000))
		return -1;
	*out = value;
	return 0;
}

static int take(struct demo_options *out, unsigned i, char *text, char *message, size_t size)
{
	void *field = (char *)out + table[i].offset;

	switch (table[i].takes) {
	case FLAG:
		*(int *)field = 1;
		return 0;
	case TEXT:
		*(const char **)field = text;
		return 0;
	case DECIMAL:
		if (!read_decimal(text, field))
			return 0;
		snprintf(message, size,
			"--%s: expected a number above 0, at most 1000, found \"%s\"",
			table[i].name, text);
		return -1;
	case NUMBER:
		if (!read_number(text, table[i].min, table[i].max, field))
			return 0;
		snprintf(message, size,
			"--%s: expected a whole number of %llu to %llu, found \"%s\"",
			table[i].name, (unsigned long long)table[i].min,
			(unsigned long long)table[i].max, text);
		return -1;
	}
	return -1;
}

/* Combinations that a pipeline cannot have. */
static const char *contradiction(const struct demo_options *o)
{
	if (o->graph && (o->sync_per_layer || o->offload))
		return "--graph: a wait or a copy from pageable memory cannot be captured; omit "
		       "--sync-per-layer and --offload";
	if (o->threads && (o->two_streams || o->vae_at_end))
		return "--threads cannot be combined with --two-streams or --vae-at-end";
	if (o->two_streams && o->vae_at_end)
		return "--two-streams cannot be combined with --vae-at-end: nothing would overlap";
	if (o->reference && (o->sync_per_layer || o->offload || o->two_streams || o->graph ||
				    o->vae_at_end || o->eager || o->threads || o->ranks > 1))
		return "--reference can be combined only with --slow-host and the sizes";
	if (o->rank >= o->ranks)
		return "--rank: expected less than --ranks";
	if (o->nodes > o->ranks)
		return "--nodes: expected at most --ranks";
	if (o->ring && (o->ranks < 2 || o->eager))
		return "--ring: expected --ranks of 2 or more, and no --eager";
	if (o->cfg_parallel && (o->ranks < 2 || o->ranks % 2))
		return "--cfg-parallel: expected an even number of --ranks";
	return NULL;
}

/* Whether a word is "--name" or "--name=value": getopt_long() takes the beginning of a name as well. */
static int is_whole(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, "--", 2) && !strncmp(word + 2, name, len) &&
	       (!word[2 + len] || word[2 + len] == '=');
}

int demo_options_read(
	struct demo_options *out, int argc, char **argv, char *message, unsigned long message_size)
{
	struct option options[COUNT + 1] = {{0}};
	const char *wrong;
	int i, found, at = 1;

	*out = (struct demo_options){.requests = 1,
		.blocks = 7,
		.steps = 4,
		.layers = 30,
		.ranks = 1,
		.nodes = 1,
		.scale = 1,
		.scale_host = 1,
		.launch_host_ns = 5000};
	for (i = 0; i < COUNT; i++)
		options[i] = (struct option){table[i].name,
			table[i].takes == FLAG ? no_argument : required_argument, NULL, i + 1};
	opterr = 0;
	/* "+": each option stands where the last one ended. */
	for (; (found = getopt_long(argc, argv, "+:", options, NULL)) > 0; at = optind) {
		if (found == '?' || (found != ':' && !is_whole(argv[at], table[found - 1].name))) {
			snprintf(message, message_size, "%s: unknown option, see --help", argv[at]);
			return -1;
		}
		if (found == ':') {
			snprintf(message, message_size, "%s: expected a value after it", argv[at]);
			return -1;
		}
		if (take(out, (unsigned)found - 1, optarg, message, message_size))
			return -1;
		out->is_rank |= !strcmp(table[found - 1].name, "rank");
	}
	if (optind < argc) {
		snprintf(message, message_size, "expected options, found \"%s\"", argv[optind]);
		return -1;
	}
	wrong = contradiction(out);
	if (!wrong)
		return demo_plants_check(out->plants, out->ranks, message, message_size);
	snprintf(message, message_size, "%s", wrong);
	return -1;
}
