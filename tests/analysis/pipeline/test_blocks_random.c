/* test_blocks_random.c - random programs that mark blocks, against a model that is slow and obvious.
 *
 * A seed makes a host that launches from two threads onto three streams of two devices, with blocks one after the
 * other or overlapping, steps in them, requests around them, and marks that frames are ready. The model knows
 * each op's launch and looks at all ops for every block; idle time by cause it takes from the report's
 * list of gaps, all of which are listed. Chunks cut anywhere must not show.
 * Long, since the program, its model and their comparison share one description. */
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "analysis/report/overview.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	SEEDS = 600,
	OPS_MAX = 400,
	BLOCKS_MAX = 40,
	STEPS_MAX = 8 * BLOCKS_MAX,
	LINES_MAX = 2000,
	STREAMS = 3,
	DEVICES = 2,
	T0 = 1000
};

struct op {
	uint64_t launch, start, end;
	unsigned thread, device;
};

struct span {
	uint64_t start, end; /* on the host */
};

struct block {
	struct span host;
	unsigned index, frames;
	/* the model's */
	uint64_t s, e;
	unsigned devices, ops, request;
	uint64_t marked; /* when */
};

struct step {
	struct span host;
	size_t block; /* the newest that is open */
	/* the model's */
	uint64_t s, e;
};

struct mark {
	uint64_t time;
	unsigned index, thread;
};

struct made {
	struct vpt_random random;
	int wide;              /* blocks are start/end ranges, and overlap */
	int from_mark_to_mark; /* no step is annotated: a forward pass begins them, the scheduler ends them */
	struct op ops[OPS_MAX];
	size_t op_count;
	struct block blocks[BLOCKS_MAX];
	size_t block_count;
	struct step steps[STEPS_MAX];
	size_t step_count;
	struct mark marks[BLOCKS_MAX];
	size_t mark_count;
	struct span requests[3];
	size_t request_count;
	uint64_t stream_end[STREAMS], thread_at[2];
	struct line {
		char text[200];
		uint64_t end;
	} lines[LINES_MAX];
	size_t line_count;
};

static struct made made;

static unsigned below(struct made *t, unsigned limit)
{
	return (unsigned)vpt_random_below(&t->random, limit);
}

__attribute__((format(printf, 3, 4))) static void put(
	struct made *t, uint64_t end, const char *format, ...)
{
	va_list args;

	assert_true(t->line_count < LINES_MAX);
	va_start(args, format);
	vsnprintf(t->lines[t->line_count].text, sizeof(t->lines[0].text), format, args);
	va_end(args);
	t->lines[t->line_count++].end = end;
}

#define JSON(text) "domain vptrace json \"{\\\"kind\\\":\\\"" text "}\""

/* ---- making ---- */

/* Host times of calls are even, those of ranges and marks odd: no op begins as a range does. */
static void launch(struct made *t, unsigned thread)
{
	static const char *const names[] = {"flash_fwd_kernel", "ampere_sgemm_128x64", "mystery"};
	static const char *const streams[STREAMS] = {"s0.1", "s0.2", "s1.1"};
	unsigned stream = below(t, STREAMS);
	struct op *op = &t->ops[t->op_count];
	uint64_t *at = &t->thread_at[thread];

	if (t->op_count == OPS_MAX)
		return;
	op->launch = *at;
	op->thread = thread;
	op->device = stream == 2;
	op->start = op->launch + 2 * below(t, 30);
	if (op->start < t->stream_end[stream])
		op->start = t->stream_end[stream] + (below(t, 2) ? 0 : below(t, 20));
	op->end = op->start + 1 + below(t, below(t, 4) ? 20 : 200);
	t->stream_end[stream] = op->end;
	t->op_count++;
	put(t, op->launch + 1, "call t%u cudaLaunchKernel %" PRIu64 "+1 corr %zu", thread + 1,
		op->launch, t->op_count);
	put(t, op->end, "kernel %s %" PRIu64 "-%" PRIu64 " corr %zu \"%s\"", streams[stream],
		op->start, op->end, t->op_count, names[below(t, 3)]);
	*at += 2 + 2 * below(t, 20);
}

static void make_mark(struct made *t, unsigned thread, unsigned index)
{
	struct mark *m = &t->marks[t->mark_count];

	if (t->mark_count == BLOCKS_MAX)
		return;
	t->mark_count++;
	*m = (struct mark){t->thread_at[thread] + 1, index, thread};
	put(t, m->time, "mark t%u %" PRIu64 " \"ready\" " JSON("frames\\\",\\\"index\\\":%u"),
		thread + 1, m->time, index);
	t->thread_at[thread] += 2;
}

static void end_block(struct made *t, struct block *b, uint64_t end)
{
	b->host.end = end;
	put(t, end,
		"%s t1 %" PRIu64 "-%" PRIu64
		" \"block %u\" " JSON("block\\\",\\\"index\\\":%u,\\\"frames\\\":%u"),
		t->wide ? "startend" : "range", b->host.start, end, b->index, b->index, b->frames);
}

/* Work of thread 0 in a range of its own. */
static void make_range(struct made *t, const char *name, unsigned ops)
{
	uint64_t start = t->thread_at[0] + 1;

	for (t->thread_at[0] += 2; ops; ops--)
		launch(t, 0);
	put(t, t->thread_at[0] + 1, "range t1 %" PRIu64 "-%" PRIu64 " %s", start,
		t->thread_at[0] + 1, name);
	t->thread_at[0] += 2;
}

static void make_step(struct made *t, size_t block)
{
	struct step *step = &t->steps[t->step_count++];
	unsigned n;

	assert_true(t->step_count <= STEPS_MAX);
	*step = (struct step){.host.start = t->thread_at[0] + 1, .block = block};
	if (!t->from_mark_to_mark) {
		make_range(t, "\"step\" " JSON("step\\\""), 1 + below(t, 4));
	} else {
		for (n = 1 + below(t, 2); n; n--)
			make_range(t, "\"transformer_forward\"", below(t, 3));
		while (!below(t, 3))
			launch(t, 0);
		make_range(t, "\"scheduler_step\"", below(t, 3));
	}
	step->host.end = t->thread_at[0] - 1;
}

/* Thread 0 works from block to block; thread 1 launches now and then. */
static void make_request(struct made *t, unsigned blocks)
{
	struct block *open[BLOCKS_MAX];
	size_t open_count = 0, i;
	unsigned k, n;

	for (k = 0; k < blocks; k++) {
		struct block *b = &t->blocks[t->block_count++];

		*b = (struct block){.index = k, .frames = 4 + 8 * (k > 0)};
		b->host.start = t->thread_at[0] + 1;
		t->thread_at[0] += 2;
		open[open_count++] = b;
		for (n = below(t, 8); n; n--) {
			make_step(t, t->block_count - 1);
			while (below(t, 3) && t->thread_at[1] < t->thread_at[0])
				launch(t, 1);
		}
		for (i = 0; i < open_count;) {
			if (t->wide && below(t, 3)) {
				i++;
				continue;
			}
			end_block(t, open[i], t->thread_at[0] + 1);
			t->thread_at[0] += 2;
			open[i] = open[--open_count];
		}
		while (!below(t, 3))
			launch(t, 0);
		if (!below(t, 3)) {
			/* One after the other: the same traces from every compiler. */
			unsigned index = below(t, 5) ? k : below(t, 9);

			make_mark(t, below(t, 2), index);
		}
	}
	for (i = 0; i < open_count; i++) {
		end_block(t, open[i], t->thread_at[0] + 1);
		t->thread_at[0] += 2;
	}
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return a->end < b->end ? -1 : a->end > b->end;
}

static void make(struct made *t, uint64_t seed)
{
	unsigned requests, r;

	memset(t, 0, sizeof(*t));
	t->random.state = seed * 7919 + 1;
	t->wide = below(t, 2) != 0;
	t->from_mark_to_mark = below(t, 2) != 0;
	t->thread_at[0] = t->thread_at[1] = T0;
	requests = below(t, 3);
	for (r = 0; r < requests || (!requests && !r); r++) {
		struct span *s = &t->requests[t->request_count];

		s->start = t->thread_at[0] + 1;
		t->thread_at[0] += 2;
		make_request(t, 1 + below(t, 10));
		if (!requests)
			break;
		s->end = t->thread_at[0] + 1;
		t->thread_at[0] += 2 + 2 * below(t, 50);
		t->request_count++;
		put(t, s->end, "range t1 %" PRIu64 "-%" PRIu64 " \"clip\" " JSON("request\\\""),
			s->start, s->end);
	}
	qsort(t->lines, t->line_count, sizeof(t->lines[0]), compare_lines);
}

static char *write_script(struct made *t, int cut)
{
	static char text[LINES_MAX * 210];
	size_t used = (size_t)snprintf(text, sizeof(text), "start %d\n", T0), i;

	for (i = 0; i < t->line_count; i++) {
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s\n", t->lines[i].text);
		if (cut && !below(t, 12))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "chunk\n");
	}
	return text;
}

/* ---- the model ---- */

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int is_in(const struct made *t, const struct block *b, const struct op *op)
{
	return (t->wide || op->thread == 0) && op->launch > b->host.start &&
	       op->launch < b->host.end;
}

/* The newest one that is open; what happens in the nanosecond of its end is still in it. */
static unsigned request_at(const struct made *t, uint64_t time)
{
	size_t i;

	for (i = t->request_count; i-- > 0;)
		if (time >= t->requests[i].start && time <= t->requests[i].end)
			return (unsigned)i;
	return (unsigned)-1;
}

static void model_blocks(struct made *t)
{
	size_t i, k;

	for (i = 0; i < t->block_count; i++) {
		struct block *b = &t->blocks[i];

		b->request = request_at(t, b->host.start);
		b->s = UINT64_MAX;
		for (k = 0; k < t->op_count; k++) {
			const struct op *op = &t->ops[k];

			if (!is_in(t, b, op))
				continue;
			b->ops++;
			b->devices |= 1u << op->device;
			b->s = op->start < b->s ? op->start : b->s;
			b->e = largest(b->e, op->end);
		}
	}
}

static void model_steps(struct made *t)
{
	size_t i, k;

	for (i = 0; i < t->step_count; i++) {
		struct step *step = &t->steps[i];

		step->s = UINT64_MAX;
		for (k = 0; k < t->op_count; k++) {
			const struct op *op = &t->ops[k];

			if (op->thread || op->launch < step->host.start ||
				op->launch > step->host.end)
				continue;
			step->s = op->start < step->s ? op->start : step->s;
			step->e = largest(step->e, op->end);
		}
	}
}

static void model_marks(struct made *t)
{
	size_t i, k;

	for (i = 0; i < t->mark_count; i++) {
		const struct mark *m = &t->marks[i];
		struct block *b = NULL;
		uint64_t end = 0;

		for (k = 0; k < t->block_count; k++)
			if (t->blocks[k].ops && t->blocks[k].host.start <= m->time &&
				t->blocks[k].index == m->index &&
				t->blocks[k].request == request_at(t, m->time))
				b = &t->blocks[k];
		for (k = 0; k < t->op_count; k++)
			if (t->ops[k].thread == m->thread && t->ops[k].launch < m->time)
				end = largest(end, t->ops[k].end);
		if (!b || end <= b->s || m->time < b->marked)
			continue;
		/* Of several marks the last counts, of equal ones the later end. */
		if (m->time == b->marked && end <= b->e)
			continue;
		b->e = end;
		b->marked = m->time;
	}
}

static uint64_t overlap(uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1)
{
	uint64_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;

	return to > from ? to - from : 0;
}

/* Nanoseconds of [from, to) in which the device runs anything, one by one. */
static uint64_t busy_in(const struct made *t, unsigned device, uint64_t from, uint64_t to)
{
	static unsigned char covered[1 << 20];
	uint64_t busy = 0, i;
	size_t k;

	assert_true(to - from < sizeof(covered));
	memset(covered, 0, (size_t)(to - from));
	for (k = 0; k < t->op_count; k++)
		for (i = t->ops[k].start > from ? t->ops[k].start : from;
			t->ops[k].device == device && i < t->ops[k].end && i < to; i++)
			covered[i - from] = 1;
	for (i = 0; i < to - from; i++)
		busy += covered[i];
	return busy;
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct block *a = *(struct block *const *)pa, *b = *(struct block *const *)pb;

	if (a->e != b->e)
		return a->e < b->e ? -1 : 1;
	if (a->s != b->s)
		return a->s < b->s ? -1 : 1;
	return a->host.start < b->host.start ? -1 : 1;
}

static uint64_t idle_seed;

static void same(const char *what, size_t row, uint64_t model, uint64_t report)
{
	if (model != report)
		fail_msg("seed %" PRIu64 ", block %zu: %s is %" PRIu64 " in the model, %" PRIu64
			 " in the report\n%s",
			idle_seed, row, what, model, report, write_script(&made, 0));
}

/* Adds what of a gap lies in [from, to), by cause. */
static void add_idle(const struct vpa_gap_row *g, uint64_t from, uint64_t to, uint64_t *idle)
{
	uint64_t at = g->start_ns;
	size_t i;

	for (i = 0; i < g->piece_count; i++) {
		idle[g->pieces[i].cause] += overlap(from, to, at, at + g->pieces[i].ns);
		at += g->pieces[i].ns;
	}
}

/* The start of the next step in the block of step `at`; 0: there is none. */
static uint64_t next_start(const struct made *t, size_t at)
{
	const struct step *step = &t->steps[at];
	uint64_t next = 0;
	size_t i;

	for (i = 0; i < t->step_count; i++) {
		const struct step *other = &t->steps[i];
		int is_after = other->s > step->s || (other->s == step->s && i > at);

		if (other->block == step->block && other->s != UINT64_MAX && is_after &&
			(!next || other->s < next))
			next = other->s;
	}
	return next;
}

/* One request's steps: those in measured blocks if there are any, else all. */
static void check_steps(const struct made *t, unsigned request, const struct vpa_request *found,
	struct block *const *order)
{
	uint64_t counts[2] = {0}, ns[2] = {0}, periods[2] = {0}, period_ns[2] = {0}, next;
	size_t i, k;
	int measured;

	for (i = 0; i < t->step_count; i++) {
		const struct step *step = &t->steps[i];
		const struct block *b = &t->blocks[step->block];

		if (b->request != request || step->s == UINT64_MAX)
			continue;
		for (k = 0; k < found->blocks.count && order[k] != b; k++)
			;
		measured = k < found->blocks.count && !found->blocks.series[k].warmup;
		next = next_start(t, i);
		for (k = 0; k <= (size_t)measured; k++) {
			counts[k]++;
			ns[k] += step->e - step->s;
			periods[k] += next > step->s;
			period_ns[k] += next ? next - step->s : 0;
		}
	}
	k = counts[1] > 0;
	same("steps", 0, counts[0], found->steps.count);
	same("steps measured", 0, counts[k], found->steps.time.count);
	same("time of steps", 0, ns[k], found->steps.time.total_ns);
	same("periods", 0, periods[k], found->steps.periods);
	if (periods[k])
		assert_true(found->steps.steps_per_s ==
			    (double)periods[k] * 1e9 / (double)period_ns[k]);
	else if (ns[k])
		assert_true(found->steps.steps_per_s == (double)counts[k] * 1e9 / (double)ns[k]);
	if (found->steps.steps_per_s > 0)
		assert_true(found->steps.s_per_it == 1 / found->steps.steps_per_s);
}

/* One request's blocks; adds idle time by cause of the measured ones. */
static void check_request(const struct made *t, unsigned request, const struct vpa_report *r,
	const struct vpa_request *found)
{
	const struct vpa_blocks *b = &found->blocks;
	uint64_t idle[VPA_CAUSES] = {0}, frames = 0, span = 0;
	struct block *order[BLOCKS_MAX];
	size_t count = 0, i, k;
	unsigned d;

	for (i = 0; i < t->block_count; i++)
		if (t->blocks[i].request == request && t->blocks[i].ops)
			order[count++] = &made.blocks[i];
	qsort(order, count, sizeof(order[0]), compare_ends);
	same("count", 0, count, b->count);
	check_steps(t, request, found, order);
	for (i = 0; i < count; i++) {
		const struct vpa_block_row *row = &b->series[i];
		uint64_t from = i ? order[i - 1]->e : order[i]->s, to = order[i]->e, busy = 0;

		for (d = 0; d < DEVICES; d++)
			if (order[i]->devices >> d & 1)
				busy += busy_in(t, d, from, to);
		same("index", i, order[i]->index, (uint64_t)row->index);
		same("start", i, order[i]->s, row->start_ns);
		same("end", i, order[i]->e, row->end_ns);
		same("period", i, to - from, row->period_ns);
		same("busy", i, busy, row->busy_ns);
		same("idle", i, (to - from) * row->devices - busy, row->idle_ns);
		same("devices", i, (uint64_t)__builtin_popcount(order[i]->devices), row->devices);
		same("mark", i, (uint64_t)(order[i]->marked != 0), (uint64_t)row->ready_mark);
		if (row->warmup)
			continue;
		frames += order[i]->frames;
		span += to - from;
		for (k = 0; k < r->gap_count; k++)
			if (order[i]->devices >> r->gaps[k].device & 1)
				add_idle(&r->gaps[k], from, to, idle);
	}
	for (i = 0; i < b->part_count; i++)
		if (b->parts[i].kind == VPA_PART_IDLE) {
			enum vpa_cause cause = vpa_part_cause(b->parts[i].part);

			same(vpa_cause_text(cause), i, idle[cause], b->parts[i].ns);
			idle[cause] = 0;
		}
	for (i = 0; i < VPA_CAUSES; i++)
		same(vpa_cause_text((enum vpa_cause)i), i, idle[i], 0);
	same("span", 0, span, b->span_ns);
	if (span)
		assert_true((b->fps < 0 ? b->denoise_rate : b->fps) ==
			    (double)frames * 1e9 / (double)span);
}

/* ---- running ---- */

/* The report's requests and stages. A device that works for the first time long after the others finds the host's past
 * forgotten, so how its first gap was spent depends on where chunks end. */
static struct vpt_buffer json_of(const struct vpa_report *r)
{
	char *ranges;
	struct vpt_buffer out;
	struct vpt_sink *sink;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	assert_int_equal(vpa_render_json(r, sink, NULL), VPT_OK);
	assert_int_equal(vpt_sink_write(sink, "", 1, NULL), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
	ranges = strstr(out.data, "\n  \"ranges\": ");
	assert_non_null(ranges);
	*ranges = '\0';
	ranges = strstr(out.data, "\n  \"requests\": ");
	assert_non_null(ranges);
	memmove(out.data, ranges, strlen(ranges) + 1);
	return out;
}

static const struct vpa_options everything = {.top = 100000, .min_gap_ns = 1};

static void every_number_equals_the_slow_models(void **state)
{
	uint64_t seed;
	unsigned i;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct vpa_report *r;
		size_t shown = 0;

		idle_seed = seed;
		make(&made, seed);
		model_blocks(&made);
		model_steps(&made);
		model_marks(&made);
		r = vpt_script_report(write_script(&made, 0), &everything);
		for (i = 0; i < made.request_count; i++)
			check_request(&made, i, r, &r->requests[shown++]);
		if (!made.request_count && r->request_count)
			check_request(&made, (unsigned)-1, r, &r->requests[shown++]);
		assert_int_equal(shown, r->request_count);
		vpa_report_free(r);
	}
}

static void chunks_do_not_show(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct vpa_report *whole, *cut;
		struct vpt_buffer a, b;

		make(&made, seed);
		whole = vpt_script_report(write_script(&made, 0), &everything);
		cut = vpt_script_report(write_script(&made, 1), &everything);
		a = json_of(whole);
		b = json_of(cut);
		if (strcmp(a.data, b.data)) {
			size_t at = 0;

			while (a.data[at] == b.data[at])
				at++;
			at = at > 300 ? at - 300 : 0;
			fail_msg("seed %" PRIu64
				 ": the report differs with chunks: %.400s\n---\n%.400s",
				seed, a.data + at, b.data + at);
		}
		vpt_free(a.data);
		vpt_free(b.data);
		vpa_report_free(whole);
		vpa_report_free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_equals_the_slow_models),
		cmocka_unit_test(chunks_do_not_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
