/* nvtx_recorder.c - a library that NVTX can load: the tracer's range side, and at exit a line on stdout for every event. */
#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"

#include <stdio.h>
#include <string.h>

static const char *const types[] = {"range", "mark", "counter", "graph"};

static void print_name(uint32_t name)
{
	size_t len;
	const char *text = vtr_name_text(name, &len);

	printf(" %.*s", len ? (int)len : 1, len ? text : "-");
}

static void print_event(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	printf("%s", types[e->type]);
	print_name(e->domain);
	print_name(e->name);
	if (e->payload.schema == VTR_SCHEMA_NOTE) {
		struct vptrace_note note;

		memcpy(&note, e->payload.blob, sizeof(note));
		printf(" note %d %d %d %d %g", (int)note.kind, (int)note.index, (int)note.frames,
			(int)note.latents, note.timestep);
	} else if (e->payload.type) {
		printf(" payload %u: %u bytes", e->payload.type, e->payload.bytes);
	}
	printf("\n");
}

__attribute__((constructor)) static void begin(void)
{
	if (!vtr_names_init() && !vtr_threads_init())
		vtr_threads_record(vtr_now());
}

__attribute__((destructor)) static void finish(void)
{
	vtr_threads_stop();
	vtr_threads_drain(print_event, NULL);
}
