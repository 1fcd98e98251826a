/* demo.c - a video-diffusion pipeline to be traced: options, and the tracer where it is asked for
 * here. */
#include "bench/demo/plan.h"
#include "bench/demo/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* libvptrace, found when the program runs, so that the demo needs no tracer. */
struct tracer {
	int (*start)(const struct vptrace_options *);
	int (*stop)(struct vptrace_stats *);
	const char *(*last_error)(void);
};

static int load_tracer(struct tracer *t)
{
	const char *name = getenv("VPTRACE_LIBRARY");
	void *library = dlopen(name && *name ? name : VPTRACE_SONAME, RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "demo: --trace: %s; name it in VPTRACE_LIBRARY\n", dlerror());
		return -1;
	}
	*(void **)&t->start = dlsym(library, "vptrace_start");
	*(void **)&t->stop = dlsym(library, "vptrace_stop");
	*(void **)&t->last_error = dlsym(library, "vptrace_last_error");
	if (t->start && t->stop && t->last_error)
		return 0;
	fprintf(stderr, "demo: --trace: the library has no vptrace_start, vptrace_stop or "
			"vptrace_last_error\n");
	return -1;
}

static int start_tracer(struct tracer *t, const char *path)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options), .path = path};
	int rc;

	if (load_tracer(t))
		return -1;
	rc = t->start(&options);
	if (rc)
		fprintf(stderr, "demo: --trace: %s\n", t->last_error());
	/* Ranges alone are better than nothing. */
	return rc && rc != VPTRACE_ENOCUPTI && rc != VPTRACE_ETAKEN && rc != VPTRACE_EDENIED ? -1
											     : 0;
}

static int stop_tracer(const struct tracer *t)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	int rc = t->stop(&stats);

	if (rc)
		fprintf(stderr, "demo: --trace: %s\n", t->last_error());
	printf("traced: %llu received, %llu written, %llu dropped, %llu bytes\n",
		(unsigned long long)stats.received, (unsigned long long)stats.written,
		(unsigned long long)stats.dropped, (unsigned long long)stats.file_bytes);
	return rc;
}

static int run(const struct demo_options *o)
{
	struct tracer tracer = {0};
	int rc;

	if (o->trace && start_tracer(&tracer, o->trace))
		return 1;
	rc = demo_play(o);
	if (o->trace && stop_tracer(&tracer))
		rc = -1;
	if (rc)
		return 1;
	printf("%llu frames in %llu blocks%s\n",
		(unsigned long long)(o->requests *
				     (DEMO_FIRST_FRAMES + (o->blocks - 1) * DEMO_FRAMES)),
		(unsigned long long)(o->requests * o->blocks),
		dlsym(RTLD_DEFAULT, "standin_work")
			? " on a SIMULATED GPU: nothing was measured on a real one"
			: "");
	return 0;
}

int main(int argc, char **argv)
{
	struct demo_options options;
	char message[256];

	if (demo_options_read(&options, argc, argv, message, sizeof(message))) {
		fprintf(stderr, "demo: %s\n", message);
		return 2;
	}
	if (options.help) {
		printf("usage: %s [OPTIONS]\n\n", argv[0]);
		demo_options_help();
		return 0;
	}
	if (options.print_plan) {
		demo_print(&options);
		return 0;
	}
	if (options.probe)
		return demo_probe() ? 1 : 0;
	if (options.ranks > 1 && !options.is_rank)
		return demo_run_ranks(&options, argv, argc);
	return run(&options);
}
