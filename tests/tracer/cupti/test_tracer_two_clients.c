/* test_tracer_two_clients.c - the tracer and another client of CUPTI in one process, in random order.
 *
 * A schedule is a list of steps: ours (start, stop), the other's (subscribe, register callbacks, enable and disable kinds,
 * flush, clear the attribute, whole profiles), the host's (launches, waits, and pauses in which the tracer's own flush comes).
 * Every kernel lasts as long as no other of its schedule does, so that it is found again in the capture. In the end, of the
 * kernels launched during the capture each one is
 *
 *	in the capture, once; or launched in a time that a LOSS row of the capture covers
 *
 * and a capture in which one is missing is never complete. Its opposite, that not all captures are incomplete, is counted too.
 *
 * VPT_SCHEDULES is how many (default 240). A failure says which: VPT_SCHEDULE=N runs that one alone, with its steps,
 * VPT_SCHEDULE=M-N those before it too, since what the other client has left behind counts. */
#include "analysis/trust/completeness.h"
#include "formats/capture_layout.h"
#include "formats/import/any_trace.h"
#include "tests/standin/clients/kineto.h"
#include "tests/standin/clients/rig.h"
#include "tracer/vptrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHILDREN = 8, /* they sleep most of the time */
	MODES = 8,
	BATCH = 4,
	ENOUGH = 30, /* schedules of a mode, of which some lose kernels, and some none */
	STEPS_MAX = 24,
	KERNELS_MAX = 1024,
	LOSSES_MAX = 256,
	FLUSH_MS = 10,
	STOP_MS = 20000
};

enum step {
	START,
	STOP,
	SUBSCRIBE,
	UNSUBSCRIBE,
	REGISTER,
	ENABLE,
	DISABLE,
	FLUSH,
	FLUSH_FORCED,
	CLEAR,
	BEGIN,
	END,
	LAUNCH,
	WAIT,
	PAUSE,
	STEPS
};

/* How often each comes, of their sum. */
static const struct {
	const char *name;
	unsigned weight;
} steps[STEPS] = {{"start", 3}, {"stop", 1}, {"subscribe", 1}, {"unsubscribe", 1}, {"register", 3},
	{"enable", 3}, {"disable", 3}, {"flush", 2}, {"flush by force", 1}, {"clear", 1},
	{"begin", 2}, {"end", 3}, {"launch", 12}, {"wait", 4}, {"pause", 5}};

struct launched {
	uint64_t from_ns, to_ns; /* the clock around the launch */
	int found;
};

static struct {
	struct launched kernels[KERNELS_MAX];
	unsigned count; /* launched in the schedule; number n lasts 1,000 + n ns */
	unsigned first; /* of the capture */
	int running, code;
	struct vpt_loss losses[LOSSES_MAX];
	unsigned loss_count;
	int complete, verbose;
	int switches_alone; /* whether the other disables kinds without having callbacks */
	int calm;           /* three of four steps of the other are left out */
	unsigned number;    /* of the schedule */
} it;

struct tally {
	_Atomic uint64_t captures, complete_captures, missing, received;
};

static struct tally *all; /* of all children */

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % below;
}

static cudaKernel_t kernel;
static cudaStream_t stream;

static unsigned number_of(const char *variable, unsigned usual)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

/* ---- what the capture says ---- */

static void read_kernels(const struct vpt_batch *batch)
{
	const struct vpt_section *s = vpt_batch_find(batch, VPT_KERNEL);

	for (uint32_t i = 0; s && i < s->row_count; i++) {
		uint64_t number = s->col[VPT_KERNEL_DURATION][i] - 1000;

		RIG_TRUE(number >= it.first && number < it.count);
		RIG_EQUAL(it.kernels[number].found++, 0);
	}
}

static void read_losses(const struct vpt_batch *batch)
{
	const struct vpt_section *s = vpt_batch_find(batch, VPT_LOSS);

	for (uint32_t i = 0; s && i < s->row_count && it.loss_count < LOSSES_MAX; i++)
		it.losses[it.loss_count++] =
			(struct vpt_loss){.start_ns = s->col[VPT_LOSS_START][i],
				.duration_ns = s->col[VPT_LOSS_DURATION][i]};
}

static void say(void *ctx, const struct vpa_remark *remark)
{
	(void)ctx;
	if (it.verbose)
		fprintf(stderr, "%u:   %s%s\n", it.number, remark->is_missing ? "missing: " : "",
			remark->text);
}

static void read_capture(void)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_trace *trace;
	struct vpa_completeness reading;
	struct vpt_batch batch;
	struct vpt_err err;

	it.loss_count = 0;
	RIG_EQUAL(vpt_trace_open(rig_file("two.zst"), &trace, &err), 0);
	vpt_batch_init(&batch);
	vpa_completeness_begin(&reading, trace);
	for (size_t i = 0; i < vpt_trace_chunks(trace); i++) {
		RIG_EQUAL(vpt_trace_chunk(trace, decoder, i, &batch, &err), 0);
		RIG_EQUAL(vpa_completeness_chunk(&reading, i, &batch), 0);
		read_kernels(&batch);
		read_losses(&batch);
	}
	RIG_EQUAL(vpa_completeness_end(&reading), 0);
	it.complete = vpa_completeness_judge(&reading, say, NULL);
	vpa_completeness_free(&reading);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_trace_close(trace);
}

static int is_lost(const struct launched *k)
{
	for (unsigned i = 0; i < it.loss_count; i++)
		if (k->to_ns >= it.losses[i].start_ns &&
			k->from_ns <= it.losses[i].start_ns + it.losses[i].duration_ns)
			return 1;
	return 0;
}

static void blame(const char *what, unsigned number)
{
	fprintf(stderr, "schedule %u: kernel %u of %u..%u %s; start gave %d\n", it.number, number,
		it.first, it.count, what, it.code);
	for (unsigned i = 0; i < it.loss_count; i++)
		fprintf(stderr, "  loss %llu + %llu\n", (unsigned long long)it.losses[i].start_ns,
			(unsigned long long)it.losses[i].duration_ns);
	fprintf(stderr, "  launched %llu..%llu\n", (unsigned long long)it.kernels[number].from_ns,
		(unsigned long long)it.kernels[number].to_ns);
	fflush(stderr);
	_exit(1);
}

static void judge(void)
{
	unsigned missing = 0;

	read_capture();
	for (unsigned i = it.first; i < it.count; i++) {
		if (it.kernels[i].found)
			continue;
		missing++;
		if (it.complete)
			blame("is missing, and the capture is complete", i);
		/* Where recording was refused, all of it is. */
		if (!it.code && !is_lost(&it.kernels[i]))
			blame("is neither received nor lost", i);
	}
	all->captures++;
	all->complete_captures += it.complete != 0;
	all->missing += missing;
	all->received += it.count - it.first - missing;
}

/* ---- steps ---- */

static void launch(unsigned count)
{
	while (count-- && it.count < KERNELS_MAX) {
		struct launched *k = &it.kernels[it.count];

		k->found = 0;
		k->from_ns = standin_now();
		rig_launch(kernel, 1000 + it.count++, stream);
		k->to_ns = standin_now();
	}
}

static void start(void)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = rig_file("two.zst"),
		.overwrite = 1,
		.flush_interval_ms = FLUSH_MS,
		.stop_timeout_ms = STOP_MS,
		.memory_limit_bytes = 64 << 20};

	if (it.running)
		return;
	it.code = vptrace_start(&o);
	RIG_TRUE(!it.code || it.code == VPTRACE_ETAKEN);
	it.running = 1;
	it.first = it.count;
}

static void stop(void)
{
	if (!it.running)
		return;
	RIG_EQUAL(cudaStreamSynchronize(stream), 0);
	vptrace_stop(NULL);
	it.running = 0;
	judge();
}

static void take(enum step step)
{
	if (it.verbose)
		fprintf(stderr, "%u: %llu %s\n", it.number, (unsigned long long)standin_now(),
			steps[step].name);
	switch (step) {
	case START:
		start();
		break;
	case STOP:
		stop();
		break;
	case SUBSCRIBE:
		kineto_subscribe();
		break;
	case UNSUBSCRIBE:
		kineto_unsubscribe();
		break;
	case REGISTER:
		kineto_register();
		break;
	case ENABLE:
	case DISABLE:
		if (!it.switches_alone)
			kineto_register();
		(step == ENABLE ? kineto_enable : kineto_disable)();
		break;
	case FLUSH_FORCED:
		/* Else it would take the ends from what is running: it is received, but not found again. */
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
		kineto_flush(1);
		break;
	case FLUSH:
		kineto_flush(0);
		break;
	case CLEAR:
		kineto_clear_attribute();
		break;
	case BEGIN:
		kineto_begin();
		break;
	case END:
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
		kineto_end();
		break;
	case LAUNCH:
		launch(1 + (unsigned)draw(20));
		break;
	case WAIT:
		RIG_EQUAL(cudaStreamSynchronize(stream), 0);
		break;
	case PAUSE:
		usleep((unsigned)(1000 * FLUSH_MS * (1 + draw(2))));
		break;
	case STEPS:
		break;
	}
}

static enum step draw_step(void)
{
	uint64_t sum = 0, at;

	for (int i = 0; i < STEPS; i++)
		sum += steps[i].weight;
	at = draw(sum);
	for (int i = 0; i < STEPS; i++) {
		if (at < steps[i].weight)
			return (enum step)i;
		at -= steps[i].weight;
	}
	return LAUNCH;
}

static void run_schedule(unsigned number)
{
	uint64_t count;

	it.number = number;
	it.count = 0;
	random_state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < 8; i++)
		draw(2);
	count = 6 + draw(STEPS_MAX - 6);
	it.calm = draw(2) != 0;
	if (draw(2))
		take(START);
	while (count--) {
		enum step step = draw_step();

		if (step < SUBSCRIBE || step > END || !it.calm || !draw(4))
			take(step);
	}
	stop();
	kineto_end();
	kineto_unsubscribe();
	RIG_EQUAL(cudaStreamSynchronize(stream), 0);
}

/* Schedules from `first` on, `count` of them, in a process of its own: the buffers that the other client took never come back. */
static void child(unsigned first, unsigned count)
{
	kernel = rig_kernel("two");
	stream = rig_stream(1);
	kineto_open(first / BATCH % 2 ? KINETO_SUBSCRIBES : KINETO_DOES_NOT);
	for (unsigned i = first; i < first + count; i++)
		run_schedule(i);
}

static pid_t begin_child(unsigned first, unsigned count)
{
	char folder[600];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(folder, sizeof(folder), "%s/%u.XXXXXX", getenv("RIG_FOLDER"), first);
	RIG_TRUE(mkdtemp(folder) != NULL);
	setenv("RIG_FOLDER", folder, 1);
	child(first, count);
	_exit(0);
}

static void run_all(int switches_alone)
{
	const char *one = getenv("VPT_SCHEDULE"), *dash = one ? strchr(one, '-') : NULL;
	unsigned first = one ? (unsigned)strtoul(one, NULL, 10) : 0;
	unsigned end = one ? (dash ? (unsigned)strtoul(dash + 1, NULL, 10) : first) + 1
			   : number_of("VPT_SCHEDULES", 240) / MODES;
	unsigned running = 0, failed = 0, count_all = end - first;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	RIG_TRUE(all != MAP_FAILED);
	it.verbose = one != NULL;
	it.switches_alone = switches_alone;
	while (first < end || running) {
		unsigned count = end - first < BATCH ? end - first : BATCH;
		int status = 1;

		if (first < end && running < CHILDREN) {
			RIG_TRUE(begin_child(first, count) > 0);
			first += count;
			running++;
			continue;
		}
		RIG_TRUE(wait(&status) > 0);
		running--;
		failed += status != 0;
	}
	RIG_EQUAL(failed, 0);
	fprintf(stderr, "%llu captures, %llu complete; %llu kernels received, %llu lost\n",
		(unsigned long long)all->captures, (unsigned long long)all->complete_captures,
		(unsigned long long)all->received, (unsigned long long)all->missing);
	/* Else nothing was tried. */
	RIG_TRUE(count_all < ENOUGH || (all->complete_captures && all->missing && all->received));
	munmap(all, sizeof(*all));
}

static void any_order(void)
{
	run_all(1);
}

/* CUPTI before 12.5 records all calls or none: that they were switched off and on again between two flushes leaves no trace,
 * unless whoever did it has registered callbacks before, as all do who want records. */
static void callbacks_first(void)
{
	run_all(0);
}

int main(int argc, char **argv)
{
	static const struct rig_case cases[] = {
		{"13.0", "VPT_STANDIN_CUPTI=130001 VPT_STANDIN_COMPLETE=worker", any_order, 0},
		{"13.0, given back in the call",
			"VPT_STANDIN_CUPTI=130001 VPT_STANDIN_COMPLETE=caller", any_order, 0},
		{"13.0, given back after the flush",
			"VPT_STANDIN_CUPTI=130001 VPT_STANDIN_COMPLETE=after", any_order, 0},
		{"13.2", "VPT_STANDIN_CUPTI=130200 VPT_STANDIN_COMPLETE=worker", any_order, 0},
		{"13.2, given back in the call",
			"VPT_STANDIN_CUPTI=130200 VPT_STANDIN_COMPLETE=caller", any_order, 0},
		{"13.0, one buffer", "VPT_STANDIN_CUPTI=130001 VPT_STANDIN_BUFFERS=global",
			callbacks_first, 0},
		{"12.4", "VPT_STANDIN_CUPTI=22", callbacks_first, 0},
		{"11.8", "VPT_STANDIN_CUPTI=18", callbacks_first, 0},
	};

	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
