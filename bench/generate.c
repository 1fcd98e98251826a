/* generate.c - writes a capture of the simulated Self-Forcing stream.
 *
 *	bench_generate 1000000 -o FILE [-s SEED] [-c SECONDS] [-n]
 *
 * -c closes a chunk after SECONDS at the latest, as the tracer does after 1; by default only its
 * size counts. -n neither compresses nor writes, to time the generator. */
#include "bench/self_forcing.h"
#include "formats/base/error.h"
#include "formats/io/io.h"
#include "formats/file/capture_writer.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct target {
	struct vpt_writer *writer; /* NULL: nothing is written */
	uint64_t events, chunks;
	struct vpt_err err;
};

static int emit(void *ctx, struct vpt_batch *batch)
{
	struct target *t = ctx;

	t->chunks++;
	t->events += batch->event_count;
	return t->writer ? vpt_writer_put(t->writer, batch, &t->err) : VPT_OK;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int write_capture(const char *path, uint64_t events, uint64_t seed, uint64_t chunk_ns)
{
	static struct sf_stream stream;
	struct vpt_header header = sf_header(seed);
	struct target t = {0};
	struct vpt_sink *sink = NULL;
	uint64_t bytes = 0;
	double began = seconds();
	int rc = VPT_OK;

	if (path) {
		rc = vpt_sink_open(path, VPT_SINK_FORCE, &sink, &t.err);
		if (!rc)
			rc = vpt_writer_open(sink, &header, 0, &t.writer, &t.err);
	}
	if (!rc)
		rc = sf_generate(&stream, seed, events, chunk_ns, emit, &t);
	if (rc && !t.err.code)
		vpt_fail(&t.err, rc, "no memory for a chunk");
	vpt_writer_free(t.writer);
	if (sink) {
		int finished;

		bytes = sink->written_bytes;
		finished = sink->finish(sink, !rc, rc ? NULL : &t.err);
		rc = rc ? rc : finished;
	}
	if (rc) {
		fprintf(stderr, "bench_generate: %s\n", t.err.text);
		return 1;
	}
	fprintf(stderr, "simulated stream: %llu events, %llu chunks, %llu bytes, %.2f s\n",
		(unsigned long long)t.events, (unsigned long long)t.chunks,
		(unsigned long long)bytes, seconds() - began);
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = NULL;
	uint64_t events, seed = 1, chunk_ns = 0;
	int option, dry = 0, bad = 0;

	while ((option = getopt(argc, argv, "o:s:c:n")) != -1) {
		if (option == 'o')
			path = optarg;
		else if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 'c')
			chunk_ns = (uint64_t)(atof(optarg) * 1e9);
		else if (option == 'n')
			dry = 1;
		else
			bad = 1;
	}
	events = optind < argc ? strtoull(argv[optind], NULL, 10) : 0;
	/* GNU getopt moves the number after the options; others stop at it. */
	if (bad || optind + 1 != argc || !events || (!path && !dry)) {
		fprintf(stderr,
			"usage: bench_generate EVENTS -o FILE [-s SEED] [-c SECONDS] [-n]\n");
		return 2;
	}
	return write_capture(dry ? NULL : path, events, seed, chunk_ns);
}
