/* bench.h - shared by the benchmark programs: a clock, a sink that only counts, rows in order. */
#ifndef VPT_BENCH_BENCH_H
#define VPT_BENCH_BENCH_H

#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/chunk/batch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int bench_count_write(
	struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	(void)data;
	(void)err;
	sink->written_bytes += size;
	return VPT_OK;
}

/* A sink that the caller stores; it holds nothing and needs no finish. */
static inline struct vpt_sink bench_counting_sink(void)
{
	return (struct vpt_sink){.write = bench_count_write};
}

/* What counts as an event: kernels, copies, memsets, calls, ranges, and samples of counters. */
static inline int bench_counts(unsigned kind)
{
	return (kind >= VPT_KERNEL && kind <= VPT_RANGE) || kind == VPT_COUNTER;
}

/* The denominator of every "per event". */
static inline uint64_t bench_events(const struct vpt_batch *b)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < b->section_count; i++)
		if (bench_counts(b->sections[i].kind))
			events += b->sections[i].row_count;
	return events;
}

/* A row of a batch; struct bench_order lists the rows by their end, the order in which a tracer
 * gets them. */
struct bench_row {
	uint64_t end_ns;
	uint32_t section, row;
};

struct bench_order {
	struct bench_row *rows;
	size_t count, cap;
};

static inline int bench_compare_rows(const void *left, const void *right)
{
	const struct bench_row *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Lists the rows of the event kinds. 0 or VPT_ENOMEM. The caller owns `o` and frees o->rows. */
static inline int bench_order_rows(const struct vpt_batch *b, struct bench_order *o)
{
	size_t i;

	o->count = 0;
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];
		const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
		uint32_t row;

		if (!(kind->flags & VPT_KIND_EVENT))
			continue;
		if (vpt_grow(&o->rows, &o->cap, o->count + s->row_count, sizeof(*o->rows)))
			return VPT_ENOMEM;
		for (row = 0; row < s->row_count; row++) {
			uint64_t end =
				s->col[0][row] + (kind->flags & VPT_KIND_SPAN ? s->col[1][row] : 0);

			o->rows[o->count++] = (struct bench_row){end, (uint32_t)i, row};
		}
	}
	qsort(o->rows, o->count, sizeof(*o->rows), bench_compare_rows);
	return VPT_OK;
}

static inline const char *bench_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
