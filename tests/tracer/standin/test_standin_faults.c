/* test_standin_faults.c - what goes wrong on purpose: one case a word of VPT_STANDIN_FAULTS. */
#include "tests/standin/clients/client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { US = 1000 };

/* ---- faults ---- */

static unsigned kernels_with_times(int what)
{
	unsigned n = 0, count = client_count(STANDIN_KERNEL);

	for (unsigned i = 0; i < count; i++) {
		struct standin_kernel_record *r = client_record(STANDIN_KERNEL, i, NULL);

		n += what == 0 ? !r->start && !r->end : r->end < r->start;
	}
	return n;
}

static void launch_20(void)
{
	cudaKernel_t k;

	client_start(client_common, client_ignore);
	k = rig_kernel("k");
	for (int i = 0; i < 20; i++)
		rig_launch(k, 10 * US, NULL);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	client_books();
}

static void fault_zero_times(void)
{
	launch_20();
	RIG_EQUAL(kernels_with_times(0), 5);
}

static void fault_reversed(void)
{
	launch_20();
	RIG_EQUAL(kernels_with_times(1), 2);
}

static void fault_out_of_order(void)
{
	struct standin_kernel_record *a, *b;

	launch_20();
	a = client_record(STANDIN_KERNEL, 0, NULL);
	b = client_record(STANDIN_KERNEL, 1, NULL);
	RIG_TRUE(a->start > b->start);
	RIG_EQUAL(client_count(STANDIN_KERNEL), 20);
}

static void fault_unknown_kind(void)
{
	void *r = NULL;
	int rc;

	launch_20();
	do
		rc = cupti.cuptiActivityGetNextRecord(client.back[0], client.valid[0], &r);
	while (!rc);
	RIG_EQUAL(rc, STANDIN_CUPTI_INVALID_KIND);
	RIG_TRUE(client_count(0) < 43);
}

static void fault_truncated_tail(void)
{
	launch_20();
	RIG_EQUAL(client_count(0), 42); /* two loads, twice 20, one synchronisation, less one */
	RIG_EQUAL(client.valid[0] % 8, 4);
}

static void fault_foreign_buffer(void)
{
	launch_20();
	RIG_EQUAL(client.unknown_count, 1);
	RIG_EQUAL(client.back_count, 1);
}

static void fault_stolen(void)
{
	launch_20();
	RIG_EQUAL(client.back_count, 0);
	RIG_EQUAL(client_books().delivered, 0);
	RIG_EQUAL(client_books().held, 43);
}

static void fault_busy(void)
{
	struct standin_subscriber *s;
	char owner[64] = "";
	struct standin_subscriber_parameters p = {sizeof(p), "test", owner, sizeof(owner)};

	client_load();
	RIG_EQUAL(
		cupti.cuptiSubscribe(&s, client_ignore, NULL), STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS);
	RIG_EQUAL(cupti.cuptiSubscribe_v2(&s, client_ignore, NULL, &p),
		STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS);
	RIG_EQUAL(strcmp(owner, "standin-profiler"), 0);
}

static void second_subscriber_is_refused(void)
{
	struct standin_subscriber *s;

	client_start(client_common, client_ignore);
	RIG_EQUAL(
		cupti.cuptiSubscribe(&s, client_ignore, NULL), STANDIN_CUPTI_MULTIPLE_SUBSCRIBERS);
	RIG_EQUAL(cupti.cuptiUnsubscribe(client.subscriber), 0);
	RIG_EQUAL(cupti.cuptiSubscribe(&s, client_ignore, NULL), 0);
}

static int subscribing(void)
{
	struct standin_subscriber *s;

	client_load();
	return cupti.cuptiSubscribe(&s, client_ignore, NULL);
}

static void fault_denied(void)
{
	RIG_EQUAL(subscribing(), STANDIN_CUPTI_NO_PRIVILEGES);
}

static void fault_no_driver(void)
{
	RIG_EQUAL(subscribing(), STANDIN_CUPTI_UNKNOWN);
	RIG_EQUAL(cupti.cuptiActivityRegisterCallbacks(client_requested, client_completed), 0);
	RIG_EQUAL(cupti.cuptiActivityEnable(10), STANDIN_CUPTI_UNKNOWN);
}

static void fault_no_driver_before_13(void)
{
	RIG_EQUAL(subscribing(), STANDIN_CUPTI_NOT_INITIALIZED);
}

static void fault_hang_flush(void)
{
	client_start(client_common, client_ignore);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	alarm(1); /* its signal is what the case expects */
	cupti.cuptiActivityFlushAll(0);
}

static void fault_foreign_clock(void)
{
	struct standin_api_record *r;
	uint64_t now;

	client_start(client_common, client_ignore);
	standin_work(1000);
	RIG_EQUAL(cupti.cuptiGetTimestamp(&now), 0);
	RIG_EQUAL(now, UINT64_C(987654321000) + 2400);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	r = client_record(STANDIN_RUNTIME, 0, NULL);
	RIG_EQUAL(r->start, UINT64_C(987654321000) + 2400);
	RIG_EQUAL(r->end - r->start, 48000);
}

static void fault_correlation(void)
{
	static const uint32_t expected[] = {UINT32_MAX - 1, UINT32_MAX, 1, 2};

	client_start(client_common, client_ignore);
	for (int i = 0; i < 4; i++)
		RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	for (unsigned i = 0; i < 4; i++)
		RIG_EQUAL(((struct standin_api_record *)client_record(STANDIN_RUNTIME, i, NULL))
				  ->correlation,
			expected[i]);
}

static void fault_late(void)
{
	struct timespec nap = {0, 60000000};

	launch_20();
	RIG_EQUAL(cupti.cuptiActivityFlushAll(STANDIN_FLUSH_FORCED), 0);
	nanosleep(&nap, NULL);
	pthread_mutex_lock(&client.lock);
	RIG_EQUAL(client.back_count, 0);
	pthread_mutex_unlock(&client.lock);
	RIG_EQUAL(cupti.cuptiUnsubscribe(client.subscriber), 0);
	RIG_EQUAL(client_wait(1), 1);
	RIG_EQUAL(client_count(STANDIN_KERNEL), 20);
}

static unsigned fatal_states;

static void note_state(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct standin_state_data *s = data;

	(void)user;
	RIG_EQUAL(domain, STANDIN_DOMAIN_STATE);
	RIG_EQUAL(cbid, STANDIN_STATE_FATAL);
	RIG_TRUE(s->message && s->result);
	fatal_states++;
}

static void fault_fatal(void)
{
	client_start(client_common, note_state);
	RIG_EQUAL(cupti.cuptiEnableCallback(
			  1, client.subscriber, STANDIN_DOMAIN_STATE, STANDIN_STATE_FATAL),
		0);
	for (int i = 0; i < 20; i++)
		RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(fatal_states, 1);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), STANDIN_CUPTI_UNKNOWN);
	RIG_EQUAL(client_books().records, 10);
}

static void fault_no_symbols(void)
{
	client_load();
	RIG_TRUE(!cupti.cuptiGetCallbackName);
	RIG_TRUE(!cupti.cuptiGetGraphId);
	RIG_TRUE(cupti.cuptiGetGraphNodeId);
	RIG_TRUE(cupti.cuptiSubscribe_v2);
}

static void old_versions_lack_new_functions(void)
{
	uint8_t one = 1;
	size_t size = 1;
	uint32_t version;

	client_load();
	RIG_EQUAL(cupti.cuptiGetVersion(&version), 0);
	RIG_EQUAL(version, 18);
	RIG_TRUE(!cupti.cuptiSubscribe_v2);
	RIG_TRUE(!cupti.cuptiActivityEnableRuntimeApi);
	RIG_TRUE(cupti.cuptiSubscribe);
	RIG_EQUAL(cupti.cuptiActivitySetAttribute(STANDIN_ATTRIBUTE_PER_THREAD, &size, &one),
		STANDIN_CUPTI_INVALID_PARAMETER);
}

/* The name is gone from its address some time after the buffer came; the address of the second
 * buffer's first name is another one's. */
/* Until a name begins otherwise, for 10 s at most. */
static void wait_for_end_of(const volatile char *name, char begin)
{
	struct timespec nap = {0, 5000000};
	int i;

	for (i = 0; i < 2000 && name[0] == begin; i++)
		nanosleep(&nap, NULL);
}

static void fault_reuse_names(void)
{
	struct standin_kernel_record *r;
	cudaKernel_t a, b;
	const char *first;

#ifdef __SANITIZE_THREAD__
	fprintf(stderr, "skipped: overwriting names is the data race that it is meant to be\n");
	_exit(RIG_SKIP);
#endif
	client_start(client_common, client_ignore);
	a = rig_kernel("name_a");
	b = rig_kernel("name_b");
	rig_launch(a, 1, NULL);
	rig_launch(b, 1, NULL);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	r = client_record(STANDIN_KERNEL, 1, NULL);
	first = r->name;
	RIG_EQUAL(strcmp(first, "name_b"), 0);
	wait_for_end_of(first, 'n');
	RIG_TRUE(!strncmp(first, "gone_", 5));
	rig_launch(a, 1, NULL);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	r = client_record(STANDIN_KERNEL, 2, NULL);
	RIG_TRUE(r->name == first);
	RIG_EQUAL(strcmp(r->name, "name_a"), 0);
}

static void fault_unmap_names(void)
{
	struct standin_kernel_record *r;

	launch_20();
	r = client_record(STANDIN_KERNEL, 0, NULL);
	RIG_EQUAL(r->name[0], 'k');
	signal(SIGSEGV, SIG_DFL); /* a sanitizer would report it and end well */
	wait_for_end_of(r->name, 'k');
	_exit(1); /* the name is still mapped */
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
	CASE(fault_zero_times, "VPT_STANDIN_FAULTS=zero-times=4"),
	CASE(fault_reversed, "VPT_STANDIN_FAULTS=reversed"),
	CASE(fault_out_of_order, "VPT_STANDIN_FAULTS=out-of-order"),
	CASE(fault_unknown_kind, "VPT_STANDIN_FAULTS=unknown-kind"),
	CASE(fault_truncated_tail, "VPT_STANDIN_FAULTS=truncated-tail"),
	CASE(fault_foreign_buffer, "VPT_STANDIN_FAULTS=foreign-buffer"),
	CASE(fault_stolen, "VPT_STANDIN_FAULTS=stolen=10"),
	CASE(fault_busy, "VPT_STANDIN_FAULTS=zero-times,busy"),
	CASE(second_subscriber_is_refused, ""),
	CASE(fault_denied, "VPT_STANDIN_FAULTS=denied"),
	CASE(fault_no_driver, "VPT_STANDIN_FAULTS=no-driver"),
	CASE(fault_no_driver_before_13, "VPT_STANDIN_FAULTS=no-driver VPT_STANDIN_CUPTI=22"),
	DIES(fault_hang_flush, "VPT_STANDIN_FAULTS=hang-flush=2", SIGALRM),
	CASE(fault_foreign_clock, "VPT_STANDIN_FAULTS=foreign-clock"),
	CASE(fault_correlation, "VPT_STANDIN_FAULTS=correlation=4294967294"),
	CASE(fault_late, "VPT_STANDIN_FAULTS=late=20"),
	CASE(fault_fatal, "VPT_STANDIN_FAULTS=fatal=10"),
	CASE(fault_no_symbols,
		"VPT_STANDIN_FAULTS=no-symbols=cuptiGetCallbackName:cuptiGetGraphId"),
	CASE(old_versions_lack_new_functions, "VPT_STANDIN_CUPTI=18"),
	CASE(fault_reuse_names, "VPT_STANDIN_FAULTS=reuse-names=300"),
	DIES(fault_unmap_names, "VPT_STANDIN_FAULTS=unmap-names=300", SIGSEGV),
};

int main(int argc, char **argv)
{
	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
