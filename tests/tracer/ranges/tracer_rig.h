/* tracer_rig.h - what the tests of ranges share: a writer that keeps what it is handed, and short ways to make ranges. */
#ifndef VPT_TESTS_TRACER_TRACER_RIG_H
#define VPT_TESTS_TRACER_TRACER_RIG_H

#include "formats/event_schema.h"
#include "tracer/guest/budget.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/app_thread.h"
#include "tracer/guest/thread_id.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tests/tracer/ranges/scaled.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- what the writer would see ---- */

enum { KEPT_MAX = 20000 };

static struct {
	struct vtr_event events[KEPT_MAX];
	unsigned char blobs[KEPT_MAX][VTR_BLOB_MAX];
	size_t count;
} kept;

static inline void keep(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	if (kept.count == KEPT_MAX)
		return;
	kept.events[kept.count] = *e;
	if (e->payload.bytes) {
		memcpy(kept.blobs[kept.count], e->payload.blob, e->payload.bytes);
		kept.events[kept.count].payload.blob = kept.blobs[kept.count];
	}
	kept.count++;
}

static inline void count_event(void *ctx, const struct vtr_event *e)
{
	(void)e;
	++*(uint64_t *)ctx;
}

static inline void ignore_drops(void *ctx, uint32_t tid, uint64_t dropped)
{
	(void)ctx;
	(void)tid;
	(void)dropped;
}

static inline size_t drain(void)
{
	kept.count = 0;
	return vtr_threads_drain(keep, NULL);
}

static inline size_t open_now(void)
{
	kept.count = 0;
	assert_int_equal(vtr_threads_open(keep, NULL), 0);
	return kept.count;
}

static inline uint64_t dropped(void)
{
	return vtr_threads_dropped(ignore_drops, NULL);
}

static inline int is_named(const struct vtr_event *e, const char *text)
{
	return e->name == vtr_name_of(text);
}

static inline void push(const char *domain, const char *name)
{
	vtr_range_push(
		&(struct vtr_attributes){.name = vtr_name_of(name), .domain = vtr_name_of(domain)});
}

static inline void pop(const char *domain)
{
	vtr_range_pop(vtr_name_of(domain));
}

/* Gives rings and stacks this many more bytes, rounded up slightly, than they have now. */
static inline void limit_to(uint64_t more_bytes)
{
	vtr_budget_limit((vtr_budget_of(VTR_BUDGET_THREADS) + more_bytes + 2) / 3 * 4);
}

static inline void lift_limit(void)
{
	vtr_budget_limit(VTR_BUDGET_DEFAULT);
}

/* Each test begins with a capture that has seen nothing, and leaves nothing open. */
static uint64_t start_ns;

static inline int begin(void **state)
{
	(void)state;
	start_ns = vtr_now();
	vtr_threads_record(start_ns);
	return drain() != 0;
}

static inline int finish(void **state)
{
	(void)state;
	while (vtr_range_pop(VTR_NAME_EMPTY) >= 0)
		;
	vtr_threads_stop();
	drain();
	return open_now() != 0;
}

static inline void *run_body(void *arg)
{
	(*(void (*const *)(void))arg)();
	return NULL;
}

static inline void in_a_thread(void (*body)(void))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_body, &body), 0);
	pthread_join(thread, NULL);
}

#define WITH_CAPTURE(test) cmocka_unit_test_setup_teardown(test, begin, finish)

#endif
