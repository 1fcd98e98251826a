/* endless.c - a traced program that works until it is killed.
 *
 *	host_endless CAPTURE ACKNOWLEDGED THREADS
 *
 * Each thread runs blocks of steps of launches, each in its range. The main thread asks the tracer
 * how many chunks it has written and puts that number into ACKNOWLEDGED (8 bytes, mapped): a
 * promise that the file must keep. */
#include "tests/host/host.h"

#include "tracer/vptrace.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct host_gpu gpu;

static void step(cudaStream_t stream, int index)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, index, -1, -1, 500.0};
	int i;

	vptrace_note_push("step", &note);
	for (i = 0; i < 20; i++) {
		host_launch(gpu.gemm, 2000, stream);
		host_launch(gpu.attention, 3000, stream);
	}
	HOST_CHECK(cudaStreamSynchronize(stream));
	usleep(500); /* leaves the machine to others */
	vptrace_range_pop();
}

static void *work(void *arg)
{
	cudaStream_t stream;
	int64_t block;
	int i;

	(void)arg;
	HOST_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (block = 0;; block++) {
		struct vptrace_note note = {VPTRACE_NOTE_BLOCK, block, 12, 3, -1};

		vptrace_note_push("block", &note);
		for (i = 0; i < 5; i++)
			step(stream, i);
		vptrace_range_pop();
	}
	return NULL;
}

static _Atomic uint64_t *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p;

	if (fd < 0 || ftruncate(fd, 8))
		exit(9);
	p = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		exit(9);
	close(fd);
	return p;
}

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options), .flush_interval_ms = 10};
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	_Atomic uint64_t *acknowledged;
	pthread_t thread;
	long i;

	if (argc != 4)
		return 2;
	acknowledged = map(argv[2]);
	options.path = argv[1];
	if (vptrace_start(&options)) {
		fprintf(stderr, "%s\n", vptrace_last_error());
		return 9;
	}
	gpu = host_open();
	for (i = host_number(argv[3], "THREADS"); i > 0; i--)
		if (pthread_create(&thread, NULL, work, NULL))
			return 9;
	for (;;) {
		vptrace_statistics(&stats);
		atomic_store(acknowledged, stats.chunks);
		usleep(500);
	}
}
