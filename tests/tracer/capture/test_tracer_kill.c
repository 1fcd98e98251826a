/* test_tracer_kill.c - a process that dies at any moment leaves every chunk that was reported as written.
 *
 * A host program with four working threads is killed after a random time, again and again. It has
 * put into shared memory how many chunks the tracer said were written; the file must hold at least
 * those, whole, and say in its last chunk which block and step each thread was in. VPT_KILLS sets
 * how often. */
#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 4, LANES = 4 };

static char folder[] = "/tmp/vptrace-kill-XXXXXX", capture[64], promise[64], program[4096];

struct tally {
	atomic_int blocks, steps;
};

static struct tally *with; /* of all lanes: the files whose last chunk names them */

static pid_t start_host(void)
{
	pid_t child = fork();

	if (!child) {
		execl(program, program, capture, promise, "4", (char *)NULL);
		_exit(127);
	}
	assert_true(child > 0);
	return child;
}

static uint64_t promised(void)
{
	uint64_t chunks = 0;
	FILE *f = fopen(promise, "rb");

	if (!f)
		return 0; /* killed before it had made the file */
	if (fread(&chunks, sizeof(chunks), 1, f) != 1)
		chunks = 0;
	fclose(f);
	return chunks;
}

/* The open blocks and steps that the chunk names. */
static void count_open(const struct vpt_batch *b, unsigned *blocks, unsigned *steps)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_OPEN);
	uint32_t i;

	*blocks = *steps = 0;
	for (i = 0; s && i < s->row_count; i++) {
		struct vpt_text name = vpt_batch_text(b, s->col[VPT_OPEN_NAME][i]);

		*blocks += name.len == 5 && !memcmp(name.text, "block", 5);
		*steps += name.len == 4 && !memcmp(name.text, "step", 4);
	}
}

/* Whole chunks of the file; none where there is no file. */
static long read_chunks(unsigned *blocks, unsigned *steps)
{
	struct vpt_source *src;
	struct vpt_reader *reader;
	struct vpt_decoder *decoder;
	struct vpt_batch batch;
	struct vpt_err err = {0};
	size_t i;
	long whole = 0;

	*blocks = *steps = 0;
	if (access(capture, F_OK))
		return 0;
	if (vpt_source_open(capture, &src, &err))
		fail_msg("%s", err.text);
	if (src->size_bytes == 0) { /* killed between making the file and its first frame */
		vpt_source_close(src);
		return 0;
	}
	if (vpt_reader_open(src, &reader, &err))
		fail_msg("%s", err.text);
	decoder = vpt_decoder_new();
	vpt_batch_init(&batch);
	for (i = 0; i < vpt_reader_chunks(reader); i++) {
		if (vpt_reader_info(reader, i)->state != VPT_CHUNK_WHOLE)
			continue;
		assert_int_equal(vpt_reader_info(reader, i)->sequence, whole);
		if (vpt_reader_chunk(reader, decoder, i, &batch, &err))
			fail_msg("%s", err.text);
		whole++;
		count_open(&batch, blocks, steps);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_reader_free(reader);
	return whole;
}

/* Lets the host work: from its very start on, or once it has written something. */
static void let_work(struct vpt_random *random, int from_start)
{
	while (!from_start && !promised())
		usleep(500);
	usleep((unsigned)vpt_random_below(random, 50000));
}

static void kill_often(int lane, int kills)
{
	struct vpt_random random = {20 + (uint64_t)lane};
	int i;

	snprintf(capture, sizeof(capture), "%s/trace-%d.zst", folder, lane);
	snprintf(promise, sizeof(promise), "%s/promise-%d", folder, lane);
	for (i = 0; i < kills; i++) {
		unsigned blocks, steps;
		pid_t child = start_host();
		long whole;
		int status;

		let_work(&random, i % 4 == 0);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			fail_msg("kill %d: the host ended by itself, status 0x%x", i, status);
		whole = read_chunks(&blocks, &steps);
		if (whole < (long)promised())
			fail_msg("kill %d: %llu chunks were promised, %ld are there", i,
				(unsigned long long)promised(), whole);
		assert_true(blocks <= THREADS && steps <= THREADS);
		with->blocks += blocks > 0;
		with->steps += steps > 0;
		unlink(capture);
		unlink(promise);
	}
}

/* Some at a time, since they mostly wait. */
static void no_promised_chunk_is_lost(void **state)
{
	const char *many = getenv("VPT_KILLS");
	int kills = (many ? atoi(many) : 200) / LANES, lane, status;
	pid_t lanes[LANES];

	(void)state;
	with = mmap(NULL, sizeof(*with), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(with != MAP_FAILED && kills > 0);
	for (lane = 0; lane < LANES; lane++) {
		lanes[lane] = fork();
		if (lanes[lane])
			continue;
		kill_often(lane, kills);
		_exit(0);
	}
	for (lane = 0; lane < LANES; lane++) {
		assert_int_equal(waitpid(lanes[lane], &status, 0), lanes[lane]);
		assert_int_equal(status, 0);
	}
	/* A chunk may end just before the first block begins, or between two steps; mostly it does not. */
	assert_true(with->blocks > LANES * kills / 2);
	assert_true(with->steps > LANES * kills / 2);
	munmap(with, sizeof(*with));
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_promised_chunk_is_lost)};
	const char *bin = getenv("VPT_BIN");

	snprintf(program, sizeof(program), "%s/host_endless", bin ? bin : ".");
	if (access(program, X_OK)) {
		printf("SKIPPED: %s is not built\n", program);
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
