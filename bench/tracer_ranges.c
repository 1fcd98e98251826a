/* tracer_ranges.c - the cost of a range to its thread, in nanoseconds per pair of push and pop.
 *
 * If NVTX's headers are installed, NVTX calls go through them into the tracer linked to this
 * program. The time excludes the writer's part, draining the ring, since another thread does that.
 * Every recorded pair needs two readings of the clock, so these are also measured alone. */
#include "bench/bench.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/nvtx/nvtx_injection.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/vptrace.h"

#include <stdio.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define WITH_NVTX 1
#endif
#endif

enum { RUNS = 700, PAIRS = 2500 /* fit into a ring, and into a time slice */, NAMES = 64 };

static char names[NAMES][32];

static void clocks(unsigned i)
{
	(void)i;
	vtr_now();
	vtr_now();
}

static void range_api(unsigned i)
{
	(void)i;
	vptrace_range_push("self attention");
	vptrace_range_pop();
}

static void range_api_rotating(unsigned i)
{
	vptrace_range_push(names[i % NAMES]);
	vptrace_range_pop();
}

static void range_api_temporary(unsigned i)
{
	char text[32];

	/* as with std::string: the same address, another text */
	memcpy(text, names[i % NAMES], sizeof(text));
	vptrace_range_push(text);
	vptrace_range_pop();
}

static void range_api_note(unsigned i)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, i, -1, -1, 500};

	vptrace_note_push("step", &note);
	vptrace_range_pop();
}

static void range_api_start(unsigned i)
{
	(void)i;
	vptrace_range_end(vptrace_range_start("self attention"));
}

#ifdef WITH_NVTX

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t string;

static void nvtx_constant(unsigned i)
{
	(void)i;
	nvtxRangePushA("self attention");
	nvtxRangePop();
}

static void nvtx_rotating(unsigned i)
{
	nvtxRangePushA(names[i % NAMES]);
	nvtxRangePop();
}

static void nvtx_registered(unsigned i)
{
	nvtxEventAttributes_t event;

	(void)i;
	memset(&event, 0, sizeof(event));
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = string;
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
}

static void nvtx_start(unsigned i)
{
	(void)i;
	nvtxRangeEnd(nvtxRangeStartA("self attention"));
}

#endif

static const struct {
	const char *label;
	void (*pair)(unsigned i);
} rows[] = {
	{"two readings of the clock", clocks},
	{"vptrace_range_push/pop, one name", range_api},
	{"vptrace_range_push/pop, 64 names", range_api_rotating},
	{"vptrace_range_push/pop, 64 temporary names", range_api_temporary},
	{"vptrace_note_push/vptrace_range_pop", range_api_note},
	{"vptrace_range_start/end", range_api_start},
#ifdef WITH_NVTX
	{"nvtxRangePushA/Pop, one name", nvtx_constant},
	{"nvtxRangePushA/Pop, 64 names", nvtx_rotating},
	{"nvtxDomainRangePushEx/Pop, registered string", nvtx_registered},
	{"nvtxRangeStartA/End", nvtx_start},
#endif
};

static void forget(void *ctx, const struct vtr_event *event)
{
	(void)ctx;
	(void)event;
}

static int keeps_tsc;

static double best_of_runs(void (*pair)(unsigned i))
{
	double best = 1e9;
	unsigned run, i;

	for (run = 0; run < RUNS; run++) {
		uint64_t start = bench_now_ns();
		double each;

		for (i = 0; i < PAIRS; i++)
			pair(i);
		each = (double)(bench_now_ns() - start) / PAIRS;
		if (each < best)
			best = each;
		vtr_threads_drain(forget, NULL);
		if (keeps_tsc)
			vtr_tsc_keep();
	}
	return best;
}

int main(void)
{
	size_t i;

	if (vtr_names_init() || vtr_threads_init())
		return 1;
	for (i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "transformer.block.%zu", i);
#ifdef WITH_NVTX
	/* NVTX then looks for a tool inside the program, by this pointer. */
	unsetenv("NVTX_INJECTION64_PATH");
	*(void **)&InitializeInjectionNvtx2_fnptr = (void *)InitializeInjectionNvtx2;
	domain = nvtxDomainCreateA("library");
	string = nvtxDomainRegisterStringA(domain, "self attention");
#endif
	keeps_tsc = vtr_tsc_begin();
	printf("the clock is read %s\n",
		keeps_tsc ? "from the time stamp counter" : "by clock_gettime()");
	printf("%-46s %14s %14s\n", "ns a pair, the best of 700 x 2,500", "not recording",
		"recording");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double idle, recorded;

		idle = best_of_runs(rows[i].pair);
		vtr_threads_record(vtr_now());
		recorded = best_of_runs(rows[i].pair);
		vtr_threads_stop();
		printf("%-46s %14.1f %14.1f\n", rows[i].label, idle, recorded);
	}
	return 0;
}
