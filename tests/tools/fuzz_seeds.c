/* fuzz_seeds.c - seeds for the fuzz targets that read captures and reports: captures that have what the demo's has.
 *
 *	fuzz_seeds FOLDER [CAPTURE...]    makes FOLDER/capture, FOLDER/compare, FOLDER/baseline, from rich_script.h and the captures, and
 *	                                  FOLDER/ranks, from ranks_rig.h
 *
 * Captures are written as fuzz_trace.h reads them, their payloads bare, so that a fuzzer gets past zstd. */
#include "analysis/analyze.h"
#include "analysis/ranks/rank/file/rank_bytes.h"
#include "analysis/render/renderer.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/ranks_rig.h"
#include "tests/support/traces/hand.h"
#include "tests/support/traces/rich_script.h"
#include "tests/support/traces/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

enum { SEEDS_MAX = 64 };

static struct seed {
	char name[32];
	struct vpt_buffer bare; /* payloads with their lengths */
	struct vpt_buffer report;
} seeds[SEEDS_MAX];
static size_t seed_count;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "fuzz_seeds: %s: %s\n", what, why);
	exit(1);
}

/* The payloads of a capture's frames, without that of the header. Those that do not fit are left out. */
static void unwrap(const struct vpt_buffer *file, struct vpt_buffer *out)
{
	size_t at, frame;

	vpt_hand_put(out, "w", 1);
	for (at = 0; at < file->size; at += frame) {
		unsigned long long size =
			ZSTD_getFrameContentSize(file->data + at, file->size - at);
		uint8_t *payload;

		frame = ZSTD_findFrameCompressedSize(file->data + at, file->size - at);
		if (ZSTD_isError(frame))
			die("a capture", "a frame cannot be read");
		if (!at || size >= 1 << 16)
			continue;
		payload = vpt_alloc((size_t)size + 1, 1);
		if (!payload ||
			ZSTD_decompress(payload, (size_t)size, file->data + at, frame) != size)
			die("a capture", "a frame cannot be read");
		vpt_hand_le(out, 2, size);
		vpt_hand_put(out, payload, (size_t)size);
		vpt_free(payload);
	}
}

/* Blanks that a fuzzer would only spend time with. */
static void strip_blanks(struct vpt_buffer *json)
{
	size_t i, kept = 0;
	int in_text = 0;

	for (i = 0; i < json->size; i++) {
		char c = (char)json->data[i];

		if (!in_text && (c == ' ' || c == '\n'))
			continue;
		json->data[kept++] = json->data[i];
		if (in_text && c == '\\' && i + 1 < json->size)
			json->data[kept++] = json->data[++i];
		else if (c == '"')
			in_text = !in_text;
	}
	json->size = kept;
}

static void write_report(struct vpt_trace *trace, struct vpt_buffer *out)
{
	struct vpa_options options = {.jobs = 1, .step_parts = 1};
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};
	struct vpt_sink *sink;

	if (vpa_analyze(trace, "seed", &options, &report, &err) ||
		vpt_sink_memory(out, &sink, &err) || vpa_render_json(report, sink, &err) ||
		sink->finish(sink, 1, &err))
		die("a report", err.text);
	strip_blanks(out);
	vpa_report_free(report);
}

static void add_seed(const char *name, const struct vpt_buffer *file)
{
	struct seed *s = &seeds[seed_count];
	struct vpt_source *source;
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};

	if (seed_count == SEEDS_MAX)
		die(name, "too many captures");
	snprintf(s->name, sizeof(s->name), "%s", name);
	if (vpt_source_memory(file->data, file->size, &source, &err) ||
		vpt_trace_open_source(source, &trace, &err))
		die(name, err.text);
	write_report(trace, &s->report);
	vpt_trace_close(trace);
	unwrap(file, &s->bare);
	seed_count++;
}

static void write_file(
	const char *folder, const char *kind, const char *name, const struct vpt_buffer *bytes)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, kind);
	if (mkdir(path, 0777) && errno != EEXIST)
		die(path, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s/%s", folder, kind, name);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes->data, 1, bytes->size, f) != bytes->size || fclose(f))
		die(path, strerror(errno));
}

/* Each capture beside the one after it. */
static void write_pair(const char *folder, size_t i)
{
	const struct seed *a = &seeds[i], *b = &seeds[(i + 1) % seed_count];
	struct vpt_buffer both = {0};

	vpt_hand_put(&both, a->bare.data, a->bare.size);
	vpt_hand_put(&both, FUZZ_BETWEEN, sizeof(FUZZ_BETWEEN) - 1);
	vpt_hand_put(&both, b->bare.data, b->bare.size);
	write_file(folder, "compare", a->name, &both);
	vpt_free(both.data);
}

/* As fuzz_ranks.c reads them: the length of who a rank is, that, and its detail. */
static void write_ranks(const char *folder)
{
	static struct rig_job job;
	struct vpt_random random = {9};
	struct vpa_rank_list list = {.count = 0};
	char name[32];
	size_t i;

	rig_small(&job, 12, &random);
	rig_ranks(&job, &list);
	for (i = 0; i < list.count; i++) {
		struct vpt_buffer who, detail, both = {0};
		size_t shares_at;

		if (i)
			rig_terms(list.items[i]);
		if (i > 1)
			rig_paces(list.items[i]);
		list.items[i]->rank = 7;
		if (vpa_rank_to_bytes(list.items[i], &who) ||
			vpa_rank_detail_to_bytes(list.items[i], &detail, &shares_at))
			die("a rank", "no memory");
		vpt_hand_put(&both, (char[]){(char)(who.size >> 8), (char)who.size}, 2);
		vpt_hand_put(&both, who.data, who.size);
		vpt_hand_put(&both, detail.data, detail.size);
		snprintf(name, sizeof(name), "rank%zu", i);
		write_file(folder, "ranks", name, &both);
		vpt_free(both.data);
		vpt_free(who.data);
		vpt_free(detail.data);
	}
	vpa_rank_list_free(&list);
}

static void add_file(const char *path)
{
	struct vpt_buffer file = {0};
	const char *name = strrchr(path, '/');
	FILE *f = fopen(path, "rb");

	file.data = malloc(1 << 24);
	file.size = f && file.data ? fread(file.data, 1, 1 << 24, f) : 0;
	if (!file.size)
		die(path, "cannot be read");
	fclose(f);
	add_seed(name ? name + 1 : path, &file);
	free(file.data);
}

int main(int argc, char **argv)
{
	static const char *const names[RICH_FORMS] = {
		"blocks", "slower", "steps", "iterations", "unmarked"};
	struct vpt_err err = {0};
	size_t i;

	if (argc < 2)
		die("usage", "fuzz_seeds FOLDER [CAPTURE...]");
	if (mkdir(argv[1], 0777) && errno != EEXIST)
		die(argv[1], strerror(errno));
	for (i = 0; i < RICH_FORMS; i++) {
		struct vpt_buffer file;

		if (vpt_script_bytes(rich_script((enum rich_form)i), &file, &err))
			die(names[i], err.text);
		add_seed(names[i], &file);
		vpt_free(file.data);
	}
	for (i = 2; i < (size_t)argc; i++)
		add_file(argv[i]);
	for (i = 0; i < seed_count; i++) {
		write_file(argv[1], "capture", seeds[i].name, &seeds[i].bare);
		write_file(argv[1], "baseline", seeds[i].name, &seeds[i].report);
		write_pair(argv[1], i);
	}
	write_ranks(argv[1]);
	return 0;
}
