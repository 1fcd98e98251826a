/* test_tracer_stopping.c - what other threads do while the tracer stops, which may take long: none of it is lost, and nothing of
 * it is later than the stop. */
#include "formats/capture_layout.h"
#include "formats/import/any_trace.h"
#include "tests/standin/clients/rig.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* CUPTI gives its last buffers back 300 ms after the stop began, see the case's environment. */
enum { MOMENT_US = 100000 };

static sem_t is_open, stops;

static void start(void)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = rig_file("stopped.zst"),
		.overwrite = 1,
		.synchronize = -1};

	RIG_EQUAL(vptrace_start(&o), VPTRACE_OK);
}

/* Counts the rows of ranges of this name; all must end by the end of the capture, and be unmatched. */
static unsigned ranges_of(const char *name)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_trace *trace;
	struct vpt_batch batch;
	unsigned count = 0;

	RIG_EQUAL(vpt_trace_open(rig_file("stopped.zst"), &trace, NULL), 0);
	vpt_batch_init(&batch);
	for (size_t i = 0; i < vpt_trace_chunks(trace); i++) {
		RIG_EQUAL(vpt_trace_chunk(trace, decoder, i, &batch, NULL), 0);
		for (size_t k = 0; k < batch.section_count; k++) {
			const struct vpt_section *s = &batch.sections[k];

			for (uint32_t row = 0; s->kind == VPT_RANGE && row < s->row_count; row++) {
				struct vpt_text found =
					vpt_batch_text(&batch, s->col[VPT_RANGE_NAME][row]);

				if (found.len != strlen(name) ||
					memcmp(found.text, name, found.len) != 0)
					continue;
				RIG_EQUAL(s->col[VPT_RANGE_UNMATCHED][row], 1);
				count++;
			}
		}
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_trace_close(trace);
	return count;
}

static void *end_while_it_stops(void *unused)
{
	uint64_t id = vptrace_range_start("request");

	(void)unused;
	vptrace_range_push("block");
	vptrace_range_push("step");
	vptrace_range_push("stage");
	sem_post(&is_open);
	sem_wait(&stops);
	usleep(MOMENT_US);
	vptrace_range_pop();
	vptrace_range_push("late");
	vptrace_range_pop();
	vptrace_range_pop();
	vptrace_range_end(id);
	return NULL; /* "block" ends with the thread */
}

static void ranges_end_while_it_stops(void)
{
	cudaKernel_t kernel = rig_kernel("attention");
	pthread_t thread;

	RIG_EQUAL(vtr_names_init() | vtr_threads_init(), 0); /* as the library's constructor does */
	RIG_EQUAL(sem_init(&is_open, 0, 0), 0);
	RIG_EQUAL(sem_init(&stops, 0, 0), 0);
	start();
	RIG_EQUAL(pthread_create(&thread, NULL, end_while_it_stops, NULL), 0);
	sem_wait(&is_open);
	rig_launch(kernel, 1000, NULL);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	sem_post(&stops);
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	RIG_EQUAL(pthread_join(thread, NULL), 0);
	RIG_EQUAL(ranges_of("request"), 1);
	RIG_EQUAL(ranges_of("block"), 1);
	RIG_EQUAL(ranges_of("step"), 1);
	RIG_EQUAL(ranges_of("stage"), 1);
	RIG_EQUAL(ranges_of("late"), 0);
}

/* The next capture has nothing of them. */
static void a_capture_follows(void)
{
	ranges_end_while_it_stops();
	start();
	vptrace_mark("after");
	RIG_EQUAL(vptrace_stop(NULL), VPTRACE_OK);
	RIG_EQUAL(ranges_of("step") + ranges_of("block") + ranges_of("request"), 0);
}

int main(int argc, char **argv)
{
	static const struct rig_case cases[] = {
		{"ranges end while it stops", "VPT_STANDIN_COMPLETE=after=300",
			ranges_end_while_it_stops, 0},
		{"a capture follows", "VPT_STANDIN_COMPLETE=after=300", a_capture_follows, 0},
	};

	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
