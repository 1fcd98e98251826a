/* test_standin_buffers.c - when the stand-in asks for buffers, gives them back, and what its books
 * say. */
#include "tests/standin/clients/client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { US = 1000 };

/* ---- buffers ---- */

/* The kernel ends at 15000; the launch is over at 3000. */
static void incomplete_records_are_withheld(void)
{
	struct standin_kernel_record *r;
	cudaKernel_t k;

	client_start(client_common, client_ignore);
	k = rig_kernel("k");
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_KERNEL), 0);
	standin_work(11999);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_KERNEL), 0);
	RIG_EQUAL(client_books().held, 2);
	standin_work(1);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	r = client_record(STANDIN_KERNEL, 0, NULL);
	RIG_TRUE(r);
	RIG_EQUAL(r->end, standin_now());
	RIG_EQUAL(client_books().held, 0);
	RIG_EQUAL(client_books().buffers_requested,
		2); /* it stayed the thread's while it was withheld */
}

/* The small buffer is full with the kernel and its launch; nobody calls while the kernel runs. */
static void real_time_completes_buffers_by_itself(void)
{
	cudaKernel_t k = rig_kernel("k");
	struct standin_kernel_record *r;
	uint64_t counted_ns;
	unsigned count;

	client.size = 264;
	client_start(client_common, client_ignore);
	rig_launch(k, 20000 * US, NULL);
	RIG_EQUAL(cudaFree(NULL), 0); /* asks for the next buffer */
	count = client_count(STANDIN_KERNEL);
	counted_ns = standin_now();
	RIG_EQUAL(client_wait(1), 1);
	r = client_record(STANDIN_KERNEL, 0, NULL);
	RIG_TRUE(!count || counted_ns >= r->end); /* a busy machine may come here late */
	RIG_EQUAL(r->end - r->start, 20000 * US);
	RIG_TRUE(standin_now() >= r->end);
}

static void forced_flush_takes_the_ends_away(void)
{
	struct standin_kernel_record *running, *queued;
	cudaKernel_t k;

	client_start(client_common, client_ignore);
	k = rig_kernel("k");
	rig_launch(k, 10 * US, NULL);
	rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(STANDIN_FLUSH_FORCED), 0);
	running = client_record(STANDIN_KERNEL, 0, NULL);
	queued = client_record(STANDIN_KERNEL, 1, NULL);
	RIG_TRUE(running->start);
	RIG_EQUAL(running->end, 0);
	RIG_EQUAL(queued->start, 0);
	RIG_EQUAL(queued->end, 0);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_KERNEL), 2); /* never delivered again */
	client_books();
}

static void *other_thread(void *unused)
{
	(void)unused;
	RIG_EQUAL(cudaFree(NULL), 0);
	return NULL;
}

static unsigned buffers_of_two_threads(void)
{
	pthread_t thread;

	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(pthread_create(&thread, NULL, other_thread, NULL), 0);
	RIG_EQUAL(pthread_join(thread, NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_RUNTIME), 2);
	RIG_EQUAL(client.back_count, client.given_count);
	return client.back_count;
}

static void threads_have_their_own_buffers(void)
{
	RIG_EQUAL(buffers_of_two_threads(), 2);
}

static void buffers_can_be_global(void)
{
	RIG_EQUAL(buffers_of_two_threads(), 1);
}

static void client_chooses_buffers(void)
{
	uint8_t zero = 0;
	size_t size = 1;

	client_load();
	RIG_EQUAL(cupti.cuptiActivitySetAttribute(STANDIN_ATTRIBUTE_PER_THREAD, &size, &zero), 0);
	RIG_EQUAL(buffers_of_two_threads(), 1);
}

static void refused_buffers_are_counted(void)
{
	struct standin_counts c;
	size_t dropped;

	client.refuse = 1;
	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cudaFree(NULL), 0);
	client.refuse = 0;
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	c = client_books();
	RIG_EQUAL(c.dropped, 2);
	RIG_EQUAL(c.delivered, 1);
	RIG_EQUAL(c.buffers_refused, 2);
	RIG_EQUAL(c.buffers_requested, 3);
	RIG_EQUAL(c.buffers_completed, 1);
	RIG_EQUAL(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), 0);
	RIG_EQUAL(dropped, 2);
	RIG_EQUAL(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), 0);
	RIG_EQUAL(dropped, 0);
}

static void refused_buffer_kills_old_versions(void)
{
	client.refuse = 1;
	client_start(client_common, client_ignore);
	cudaFree(NULL);
}

static void buffers_are_zeroed_unless_the_client_does_it(void)
{
	uint8_t one = 1;
	size_t size = 1;

	client.fill = 0xaa;
	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client.back[0][client.valid[0]], 0);
	RIG_EQUAL(cupti.cuptiActivitySetAttribute(STANDIN_ATTRIBUTE_ZEROED, &size, &one), 0);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client.back[1][client.valid[1]], 0xaa);
}

static void worker_gives_buffers_back(void)
{
	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client.back_count, 1);
	RIG_TRUE(client.last_tid != (uint32_t)gettid());
}

static void flush_caller_gives_buffers_back(void)
{
	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client.back_count, 1);
	RIG_EQUAL(client.last_tid, gettid());
}

static void buffers_come_back_after_the_flush(void)
{
	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	pthread_mutex_lock(&client.lock);
	RIG_EQUAL(client.back_count, 0);
	pthread_mutex_unlock(&client.lock);
	RIG_EQUAL(client_wait(1), 1);
}

/* Full buffers need no flush; they wait only for the end of their last op. */
static void full_buffers_come_back_by_themselves(void)
{
	client.size = 400;
	client_start(client_common, client_ignore);
	for (int i = 0; i < 100; i++)
		RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(client_wait(9), 9); /* 10 calls in each, the tenth is not known to be full */
	client_books();
}

/* ---- size, and what callbacks may do ---- */

static void many_records_fit_in_little_memory(void)
{
	struct standin_counts c;
	cudaKernel_t k;

	client_start(client_common, client_ignore);
	k = rig_kernel("k");
	for (int i = 0; i < 200000; i++)
		rig_launch(k, 2000, NULL);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	c = client_books();
	RIG_EQUAL(c.kernels, 200000);
	RIG_EQUAL(c.records, 400003);
	RIG_EQUAL(c.held, 0);
	RIG_EQUAL(c.delivered, 400003);
	RIG_EQUAL(client_count(0), 400003);
}

/* This client allocates one buffer and gives it back: one call. */
static void heap_calls_in_callbacks_are_counted(void)
{
	struct standin_counts c;

	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	c = client_books();
	RIG_EQUAL(c.heap_guarded, 1);
	RIG_EQUAL(c.heap_calls, 1);
	free(malloc(10));
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(client_books().heap_calls, 2);
}

static void ledger_is_written_at_exit(void)
{
	char command[1024], line[1024] = "";
	FILE *f;

	snprintf(command, sizeof(command),
		"VPT_STANDIN_LEDGER=%s/ledger /proc/%d/exe worker_gives_buffers_back",
		getenv("RIG_FOLDER"), (int)getpid());
	RIG_EQUAL(system(command), 0);
	f = fopen(rig_file("ledger"), "re");
	RIG_TRUE(f && fgets(line, sizeof(line), f));
	fclose(f);
	RIG_TRUE(strstr(line, "\"delivered\": 1,"));
	RIG_TRUE(strstr(line, "\"dropped\": 0,"));
	RIG_TRUE(strstr(line, "\"held\": 0,"));
}

#define CASE(name, environment)                                                                    \
	{                                                                                          \
#name, environment, name, 0                                                        \
	}
#define DIES(name, environment, signal)                                                            \
	{                                                                                          \
#name, environment, name, signal                                                   \
	}

static const struct rig_case cases[] = {
	CASE(incomplete_records_are_withheld, ""),
	CASE(real_time_completes_buffers_by_itself, "VPT_STANDIN_TIME=real"),
	CASE(forced_flush_takes_the_ends_away, ""),
	CASE(threads_have_their_own_buffers, ""),
	CASE(buffers_can_be_global, "VPT_STANDIN_BUFFERS=global"),
	CASE(client_chooses_buffers, ""),
	CASE(refused_buffers_are_counted, ""),
	DIES(refused_buffer_kills_old_versions, "VPT_STANDIN_CUPTI=22", SIGABRT),
	CASE(buffers_are_zeroed_unless_the_client_does_it, ""),
	CASE(worker_gives_buffers_back, ""),
	CASE(flush_caller_gives_buffers_back, "VPT_STANDIN_COMPLETE=caller"),
	CASE(buffers_come_back_after_the_flush, "VPT_STANDIN_COMPLETE=after"),
	CASE(full_buffers_come_back_by_themselves, ""),
	CASE(many_records_fit_in_little_memory, ""),
	CASE(heap_calls_in_callbacks_are_counted, "LD_PRELOAD=@libstandin_heap.so"),
	CASE(ledger_is_written_at_exit, ""),
};

int main(int argc, char **argv)
{
	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
