/* model_causes.c - the slow model's answer to why each device was idle, as JSON.
 *
 *	model_causes FILE [anything...]           devices[].causes and gaps[] as in a report
 *	model_causes --random SEED CUTS FILE      writes the random capture of a seed
 *	model_causes --script SEED CUTS           prints it in the language of script.h
 *
 * Takes a capture, a trace of PyTorch's profiler or an Nsight Systems export. */
#include "formats/io/io.h"
#include "formats/io/json_writer.h"
#include "formats/base/memory.h"
#include "formats/import/any_trace.h"
#include "tests/support/model/model_causes.h"
#include "tests/support/traces/random_causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_device(struct vpt_json *j, const struct model_device *d)
{
	size_t i;

	vpt_json_object(j, NULL);
	vpt_json_i64(j, "device", d->device);
	vpt_json_u64(j, "idle_ns", d->idle_ns);
	vpt_json_array(j, "causes");
	for (i = 0; i < d->row_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_string(j, "cause", model_cause_names[d->rows[i].cause]);
		vpt_json_string(j, "range", d->rows[i].range);
		vpt_json_string(j, "call", d->rows[i].call);
		vpt_json_u64(j, "ns", d->rows[i].ns);
		vpt_json_u64(j, "gaps", d->rows[i].gaps);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_gap(struct vpt_json *j, int64_t device, const struct model_gap *g)
{
	size_t i;

	vpt_json_object(j, NULL);
	vpt_json_i64(j, "device", device);
	vpt_json_u64(j, "start_ns", g->start);
	vpt_json_u64(j, "end_ns", g->end);
	vpt_json_string(j, "cause", model_cause_names[g->cause]);
	vpt_json_string(j, "call", g->call);
	vpt_json_string(j, "range", g->range);
	vpt_json_array(j, "pieces");
	for (i = 0; i < g->piece_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_u64(j, "start_ns", g->pieces[i].start);
		vpt_json_string(j, "cause", model_cause_names[g->pieces[i].cause]);
		vpt_json_u64(j, "ns", g->pieces[i].end - g->pieces[i].start);
		vpt_json_string(j, "call", g->pieces[i].call);
		vpt_json_string(j, "range", g->pieces[i].range);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

static int print_answers(const struct model_causes *c)
{
	static struct vpt_json j;
	struct vpt_sink *sink;
	struct vpt_err err = {0};
	size_t i, k;
	int rc = vpt_sink_open("-", 0, &sink, &err);

	if (rc)
		return rc;
	vpt_json_init(&j, sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_u64(&j, "window_ns", c->window_end - c->window_start);
	vpt_json_array(&j, "devices");
	for (i = 0; i < c->device_count; i++)
		put_device(&j, &c->devices[i]);
	vpt_json_end(&j);
	vpt_json_array(&j, "gaps");
	for (i = 0; i < c->device_count; i++)
		for (k = 0; k < c->devices[i].gap_count; k++)
			put_gap(&j, c->devices[i].device, &c->devices[i].gaps[k]);
	vpt_json_end(&j);
	vpt_json_end(&j);
	rc = vpt_json_finish(&j, &err);
	return sink->finish(sink, !rc, &err) || rc;
}

static int print_file(const char *path)
{
	struct vpt_trace *trace;
	struct model_causes causes;
	struct vpt_err err = {0};
	const char *why;
	int rc = 1;

	if (vpt_trace_open(path, &trace, &err)) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return 1;
	}
	why = model_causes_compute(trace, NULL, &causes);
	if (why)
		fprintf(stderr, "%s: %s\n", path, why);
	else
		rc = print_answers(&causes);
	model_causes_free(&causes);
	vpt_trace_close(trace);
	return rc;
}

static int write_random(const struct random_causes *how, const char *path)
{
	struct vpa_options window;
	struct vpt_buffer bytes = {0};
	struct vpt_err err = {0};
	FILE *file;
	int rc = random_causes_write(how, &window, &bytes, &err);

	if (rc)
		fprintf(stderr, "seed %s\n", err.text);
	file = rc ? NULL : fopen(path, "wb");
	rc = !file || fwrite(bytes.data, 1, bytes.size, file) != bytes.size;
	rc = (file && fclose(file)) || rc;
	vpt_free(bytes.data);
	return rc;
}

static int print_script(const struct random_causes *how)
{
	struct vpa_options window;
	char *script = random_causes_script(how, &window);

	fputs(script, stdout);
	vpt_free(script);
	return 0;
}

int main(int argc, char **argv)
{
	struct random_causes how = {0};

	if (argc > 3) {
		how.seed = strtoull(argv[2], NULL, 0);
		how.cuts = (unsigned)strtoul(argv[3], NULL, 0);
		how.orderly = getenv("ORDERLY") != NULL;
	}
	if (argc > 4 && !strcmp(argv[1], "--random"))
		return write_random(&how, argv[4]);
	if (argc > 3 && !strcmp(argv[1], "--script"))
		return print_script(&how);
	if (argc > 1 && argv[1][0] != '-')
		return print_file(argv[1]);
	fprintf(stderr,
		"usage: model_causes FILE | --random SEED CUTS FILE | --script SEED CUTS\n");
	return 2;
}
