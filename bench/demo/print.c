/* print.c - the plan as JSON: a list, one deed a line, in the order in which the host does them.
 * Keys that a deed does not need are left out; "thread" is 0 where it is not said. No name needs
 * escaping. */
#include "bench/demo/plan.h"

#include <stdio.h>

static const struct {
	const char *word;
	int stream, bytes, named;
} deeds[DEMO_DEEDS] = {
	[DEMO_WORK] = {"work", 0, 0, 0},
	[DEMO_LAUNCH] = {"launch", 1, 0, 0},
	[DEMO_COLLECTIVE] = {"launch", 1, 0, 0},
	[DEMO_TO_DEVICE] = {"to_device", 1, 1, 0},
	[DEMO_TO_HOST] = {"to_host", 1, 1, 0},
	[DEMO_ON_DEVICE] = {"on_device", 1, 1, 0},
	[DEMO_CLEAR] = {"clear", 1, 1, 0},
	[DEMO_ALLOCATE] = {"allocate", 0, 1, 0},
	[DEMO_FREE] = {"free", 0, 0, 0},
	[DEMO_SYNC_STREAM] = {"sync_stream", 1, 0, 0},
	[DEMO_SYNC_EVENT] = {"sync_event", 0, 0, 0},
	[DEMO_RECORD] = {"record", 1, 0, 0},
	[DEMO_WAIT] = {"wait", 1, 0, 0},
	[DEMO_CAPTURE] = {"capture", 1, 0, 0},
	[DEMO_CAPTURED] = {"captured", 1, 0, 0},
	[DEMO_REPLAY] = {"replay", 1, 0, 0},
	[DEMO_PUSH] = {"push", 0, 0, 1},
	[DEMO_POP] = {"pop", 0, 0, 0},
	[DEMO_MARK] = {"mark", 0, 0, 1},
	[DEMO_END] = {"end", 0, 0, 0},
};

static const char *const streams[DEMO_STREAMS] = {
	[DEMO_LEGACY] = "legacy", [DEMO_MAIN] = "main", [DEMO_SIDE] = "side"};

static void print_note(const struct demo_deed *d)
{
	static const char *const kinds[] = {[VPTRACE_NOTE_NONE] = "range",
		[VPTRACE_NOTE_REQUEST] = "request",
		[VPTRACE_NOTE_STAGE] = "stage",
		[VPTRACE_NOTE_BLOCK] = "block",
		[VPTRACE_NOTE_STEP] = "step",
		[VPTRACE_NOTE_CONTEXT] = "context",
		[VPTRACE_NOTE_FRAMES] = "frames"};

	printf(", \"name\": \"%s\", \"kind\": \"%s\"", d->name, kinds[d->note.kind]);
	if (d->note.index >= 0)
		printf(", \"index\": %lld", (long long)d->note.index);
	if (d->note.frames >= 0)
		printf(", \"frames\": %lld", (long long)d->note.frames);
	if (d->note.latents >= 0)
		printf(", \"latents\": %lld", (long long)d->note.latents);
	if (d->note.timestep >= 0)
		printf(", \"timestep\": %g", d->note.timestep);
}

static void print_deed(void *ctx, const struct demo_deed *d)
{
	int *printed = ctx;

	printf("%s{\"do\": \"%s\"", (*printed)++ ? ",\n" : "", deeds[d->kind].word);
	if (deeds[d->kind].stream)
		printf(", \"stream\": \"%s\"", streams[d->stream]);
	if (d->ns)
		printf(", \"ns\": %llu", (unsigned long long)d->ns);
	if (d->kind == DEMO_LAUNCH || d->kind == DEMO_COLLECTIVE)
		printf(", \"kernel\": \"%s\"", demo_kernels[d->kernel].name);
	if (deeds[d->kind].bytes)
		printf(", \"bytes\": %llu", (unsigned long long)d->bytes);
	if (d->kind == DEMO_TO_DEVICE || d->kind == DEMO_TO_HOST)
		printf(", \"pinned\": %s, \"blocking\": %s", d->pinned ? "true" : "false",
			d->blocking ? "true" : "false");
	if (d->kind == DEMO_RECORD || d->kind == DEMO_WAIT || d->kind == DEMO_SYNC_EVENT)
		printf(", \"event\": %d", (int)d->event);
	if (d->kind == DEMO_CAPTURED || d->kind == DEMO_REPLAY)
		printf(", \"graph\": %llu", (unsigned long long)d->graph);
	if (deeds[d->kind].named)
		print_note(d);
	if (d->thread)
		printf(", \"thread\": %d", d->thread);
	putchar('}');
}

void demo_print(const struct demo_options *options)
{
	int printed = 0;

	printf("[\n");
	demo_plan(options, (struct demo_player){print_deed, &printed});
	printf("\n]\n");
}
