/* tracer_probe.c - the cost of libvptrace to a program that launches empty kernels as fast as it
 * can, and the fate of its records.
 *
 *	tracer_probe cost ROUNDS LAUNCHES     ns per launch: untraced, each profile, paused, after stop
 *	tracer_probe graphs ROUNDS REPLAYS    ns per replay and per node of a CUDA graph
 *	tracer_probe coarse ROUNDS LAUNCHES   `cost` with the profile that records graphs whole; `coarse-graphs`
 *	                                      is `graphs` with it. Both run in a process of their own, since what
 *	                                      the profile switches off may never come back
 *	tracer_probe rate SECONDS THREADS [PER_SECOND]   launches per second, losses, memory over time
 *	tracer_probe nodes SECONDS            the same with millions of nodes of a CUDA graph
 *	tracer_probe sessions                 two captures of a graph that was made before both
 *	tracer_probe unload                   kernels of a library that is unloaded before their records arrive
 *
 * Captures go to the folder in PROBE_OUT, or the working folder. Within a round the variants take
 * turns, so that anything that slows the machine slows all of them. Checks for every capture that
 * received = written + dropped. */
#include "bench/gpu/probe.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS_MAX = 200, GRAPH_NODES = 500, GROWTH_NODES = 1000, THREADS_MAX = 64 };

struct variant {
	const char *name;
	enum vptrace_profile profile;
	int is_traced, is_paused;
};

static const struct variant variants[] = {
	{"untraced", 0, 0, 0},
	{"none", VPTRACE_PROFILE_NONE, 1, 0},
	{"lite", VPTRACE_PROFILE_LITE, 1, 0},
	{"default", VPTRACE_PROFILE_DEFAULT, 1, 0},
	{"full", VPTRACE_PROFILE_FULL, 1, 0},
	{"paused", VPTRACE_PROFILE_DEFAULT, 1, 1},
};
static const struct variant coarse_variants[] = {
	{"untraced", 0, 0, 0},
	{"coarse", VPTRACE_PROFILE_COARSE, 1, 0},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };
enum { COARSE_VARIANTS = sizeof(coarse_variants) / sizeof(coarse_variants[0]) };

static struct probe_gpu gpu;

/* ---- captures ---- */

static void start(const char *name, enum vptrace_profile profile)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options), .overwrite = 1};
	const char *folder = getenv("PROBE_OUT");
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), "%s/%s.zst", folder ? folder : ".", name);
	options.path = path;
	options.profile = profile;
	rc = vptrace_start(&options);
	if (rc != VPTRACE_OK) {
		fprintf(stderr, "vptrace_start: %d: %s\n", rc, vptrace_last_error());
		exit(9);
	}
}

/* Stops the capture; returns the milliseconds it took. */
static double stop(struct vptrace_stats *stats)
{
	uint64_t from = probe_now_ns();
	int rc;

	*stats = (struct vptrace_stats){.struct_bytes = sizeof(*stats)};
	rc = vptrace_stop(stats);
	if (rc != VPTRACE_OK) {
		fprintf(stderr, "vptrace_stop: %d: %s\n", rc, vptrace_last_error());
		exit(9);
	}
	if (stats->received != stats->written + stats->dropped) {
		fprintf(stderr, "received %llu, written %llu, dropped %llu: not the sum\n",
			(unsigned long long)stats->received, (unsigned long long)stats->written,
			(unsigned long long)stats->dropped);
		exit(1);
	}
	return (double)(probe_now_ns() - from) / 1e6;
}

static void say_books(const char *who, const struct vptrace_stats *s, double stop_ms)
{
	probe_say_of(who, "received", (double)s->received, "records");
	probe_say_of(who, "lost", (double)(s->dropped + s->cupti_dropped), "records");
	probe_say_of(who, "stop", stop_ms, "ms");
}

/* ---- cost ---- */

struct samples {
	double ns[ROUNDS_MAX], stop_ms[ROUNDS_MAX];
	struct vptrace_stats stats; /* of the last round */
};

/* Runs one variant in one round; returns its mean cost per launch, or per replay. */
static double one_turn(const struct variant *v, unsigned amount, cudaGraphExec_t graph,
	struct samples *s, unsigned round)
{
	double ns;
	uint64_t from;
	unsigned i;

	if (v->is_traced)
		start(v->name, v->profile);
	if (v->is_paused)
		vptrace_pause();
	if (graph) {
		PROBE_CHECK(cudaGraphLaunch(graph, gpu.stream));
		PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
		from = probe_now_ns();
		for (i = 0; i < amount; i++) {
			PROBE_CHECK(cudaGraphLaunch(graph, gpu.stream));
			PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
		}
		ns = (double)(probe_now_ns() - from) / amount;
	} else {
		probe_launch_ns(&gpu, PROBE_BATCH);
		ns = probe_launch_ns(&gpu, amount);
	}
	if (v->is_traced)
		s->stop_ms[round] = stop(&s->stats);
	return ns;
}

/* The median cost of a variant above the untraced turn of the same round. */
static double median_difference(
	const struct samples *s, const struct samples *base, unsigned rounds)
{
	double differences[ROUNDS_MAX];
	unsigned i;

	for (i = 0; i < rounds; i++)
		differences[i] = s->ns[i] - base->ns[i];
	return probe_median(differences, rounds);
}

static void say_variant(const struct variant *v, struct samples *s, const struct samples *base,
	unsigned rounds, const char *what)
{
	double sorted[ROUNDS_MAX];

	if (v->is_traced)
		probe_say_of(v->name, "added", median_difference(s, base, rounds), what);
	memcpy(sorted, s->ns, rounds * sizeof(*sorted));
	probe_say_of(v->name, "median", probe_median(sorted, rounds), what);
	probe_say_of(v->name, "spread", sorted[rounds * 3 / 4] - sorted[rounds / 4], what);
	if (v->is_traced)
		say_books(v->name, &s->stats, probe_median(s->stop_ms, rounds));
}

/* Runs the variants in turns. The first is untraced, the baseline for the others. */
static void take_turns(
	const struct variant *v, unsigned count, unsigned rounds, unsigned amount, unsigned nodes)
{
	static struct samples samples[VARIANTS];
	const char *what = nodes ? "ns/replay of 500" : "ns/launch";
	cudaGraphExec_t graph = NULL;
	unsigned round, i;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	if (nodes)
		graph = probe_graph(&gpu, nodes);
	one_turn(&v[0], amount, graph, &samples[0], 0); /* warms up */
	probe_say("before_any_capture", one_turn(&v[0], amount, graph, &samples[0], 0), what);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < count; i++)
			samples[i].ns[round] = one_turn(&v[i], amount, graph, &samples[i], round);
	for (i = 0; i < count; i++)
		say_variant(&v[i], &samples[i], &samples[0], rounds, what);
}

/* ---- rate ---- */

static atomic_int is_over;
static atomic_ullong launched;
static double pace_ns; /* a thread's mean time from launch to launch; 0: as fast as it can */

static void nap_us(long us)
{
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

static void *launch_all_the_time(void *unused)
{
	struct probe_gpu mine = gpu;
	double due_ns = (double)probe_now_ns();
	unsigned i;

	(void)unused;
	PROBE_CHECK(cudaStreamCreateWithFlags(&mine.stream, cudaStreamNonBlocking));
	while (!atomic_load(&is_over)) {
		due_ns += PROBE_BATCH * pace_ns;
		for (i = 0; i < PROBE_BATCH; i++)
			probe_launch(mine.empty, mine.stream);
		PROBE_CHECK(cudaStreamSynchronize(mine.stream));
		atomic_fetch_add(&launched, PROBE_BATCH);
		while (pace_ns > 0 && (double)probe_now_ns() < due_ns && !atomic_load(&is_over))
			nap_us(100);
	}
	return NULL;
}

static void *replay_all_the_time(void *unused)
{
	cudaGraphExec_t graph = probe_graph(&gpu, GROWTH_NODES);

	(void)unused;
	while (!atomic_load(&is_over)) {
		PROBE_CHECK(cudaGraphLaunch(graph, gpu.stream));
		PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
		atomic_fetch_add(&launched, GROWTH_NODES);
	}
	return NULL;
}

/* Memory at a tenth, a half and the end: at a tenth, all buffers are in use. */
static void watch_memory(double seconds, uint64_t from)
{
	static const struct {
		double share;
		const char *name;
	} looks[] = {{0.1, "early"}, {0.5, "half"}, {1.0, "late"}};
	unsigned i;

	for (i = 0; i < 3; i++) {
		while ((double)(probe_now_ns() - from) < looks[i].share * seconds * 1e9)
			nap_us(1000);
		probe_say_of(looks[i].name, "launched", (double)atomic_load(&launched), "ops");
		probe_say_of(looks[i].name, "resident", probe_resident_mib(), "MiB");
		probe_say_of(looks[i].name, "device_free", probe_device_free_mib(), "MiB");
	}
}

static void run_threads(const char *name, double seconds, unsigned threads, void *(*work)(void *))
{
	pthread_t ids[THREADS_MAX];
	struct vptrace_stats stats;
	uint64_t from;
	unsigned i;
	double spent, stop_ms;

	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	start(name, VPTRACE_PROFILE_DEFAULT);
	from = probe_now_ns();
	for (i = 0; i < threads; i++)
		PROBE_CHECK(pthread_create(&ids[i], NULL, work, NULL));
	watch_memory(seconds, from);
	atomic_store(&is_over, 1);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	spent = (double)(probe_now_ns() - from) / 1e9;
	stop_ms = stop(&stats);
	say_books(name, &stats, stop_ms);
	probe_say("file", (double)stats.file_bytes / 1048576, "MiB");
	probe_say("bytes_per_event",
		(double)stats.file_bytes / (double)(stats.received + !stats.received), "B");
	probe_say("launched", (double)atomic_load(&launched), "ops");
	probe_say("per_second", (double)atomic_load(&launched) / spent, "1/s");
}

/* ---- what can go wrong ---- */

static void two_sessions(void)
{
	static const char *const names[] = {"session1", "session2"};
	cudaGraphExec_t graph = probe_graph(&gpu, 10);
	struct vptrace_stats stats;
	unsigned i, k;
	double stop_ms;

	for (i = 0; i < 2; i++) {
		start(names[i], VPTRACE_PROFILE_DEFAULT);
		for (k = 0; k < 3; k++) {
			PROBE_CHECK(cudaGraphLaunch(graph, gpu.stream));
			probe_launch(gpu.empty, gpu.stream);
		}
		PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
		stop_ms = stop(&stats);
		say_books(names[i], &stats, stop_ms);
	}
}

/* The name of a kernel is a pointer into its library; the tracer must read it before the library is
 * unloaded. */
static void unloaded(void)
{
	static const char format[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
				     ".visible .entry probe_gone_%u(.param .u64 ns) { ret; }\n";
	char ptx[256], name[32];
	struct vptrace_stats stats;
	cudaLibrary_t library;
	unsigned i;
	double stop_ms;

	start("unload", VPTRACE_PROFILE_DEFAULT);
	for (i = 0; i < 20; i++) {
		snprintf(ptx, sizeof(ptx), format, i);
		snprintf(name, sizeof(name), "probe_gone_%u", i);
		probe_launch(probe_kernel(&library, ptx, name), gpu.stream);
		PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
		PROBE_CHECK(cudaLibraryUnload(library));
	}
	stop_ms = stop(&stats);
	say_books("unload", &stats, stop_ms);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double first = argc > 2 ? atof(argv[2]) : 1;
	unsigned second = argc > 3 ? probe_number(argv[3]) : 1;

	gpu = probe_open();
	if (argc > 4)
		pace_ns = 1e9 * second / probe_number(argv[4]);
	if (!strcmp(what, "cost"))
		take_turns(variants, VARIANTS, (unsigned)first, second, 0);
	else if (!strcmp(what, "graphs"))
		take_turns(variants, VARIANTS, (unsigned)first, second, GRAPH_NODES);
	else if (!strcmp(what, "coarse"))
		take_turns(coarse_variants, COARSE_VARIANTS, (unsigned)first, second, 0);
	else if (!strcmp(what, "coarse-graphs"))
		take_turns(coarse_variants, COARSE_VARIANTS, (unsigned)first, second, GRAPH_NODES);
	else if (!strcmp(what, "rate"))
		run_threads("rate", first, second, launch_all_the_time);
	else if (!strcmp(what, "nodes"))
		run_threads("nodes", first, 1, replay_all_the_time);
	else if (!strcmp(what, "sessions"))
		two_sessions();
	else if (!strcmp(what, "unload"))
		unloaded();
	else {
		fprintf(stderr, "usage: tracer_probe "
				"cost|graphs|coarse|coarse-graphs|rate|nodes|sessions|unload "
				"[N [N [N]]]\n");
		return 2;
	}
	return 0;
}
