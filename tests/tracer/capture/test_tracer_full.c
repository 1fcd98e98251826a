/* test_tracer_full.c - what was launched before the file was full is in it, or counted as refused, exactly.
 *
 * Random programs launch from two threads; the GPU runs behind. Calls and ops reach the recorder in batches, each
 * thread's and the GPU's with a delay of its own, before and after the limit. The model knows each launch. */
#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "tests/support/random.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/write/recorder.h"
#include "tracer/write/recorder_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LAUNCHES = 12000, OPS = 4 * LAUNCHES, SEEDS = 30, FIRST_ID = 100, BYTES = 256 << 10 };

/* Of the GPU, and of two threads. */
enum { GPU, THREADS = 2, QUEUES = 1 + THREADS };

struct launch {
	uint64_t start_ns;
	unsigned thread, ops;
	int has_call;       /* in the file */
	unsigned ops_there; /* the same */
};

struct op {
	uint64_t start_ns, end_ns;
	size_t launch;
};

static struct {
	struct vpt_random random;
	struct launch launches[LAUNCHES];
	struct op ops[OPS];
	size_t op_count;
	size_t next[QUEUES]; /* what is not delivered yet */
	uint64_t edge_ns;
} made;

static struct vtr_recorder *recorder;

static uint64_t below(uint64_t limit)
{
	return vpt_random_below(&made.random, limit);
}

/* ---- the program ---- */

static void make(uint64_t seed)
{
	uint64_t now_ns = 1000000, gpu_ns = 0;
	size_t i, k;

	memset(&made, 0, sizeof(made));
	made.random.state = seed * 7919 + 1;
	for (i = 0; i < LAUNCHES; i++) {
		struct launch *l = &made.launches[i];

		now_ns += 1 + below(10000);
		*l = (struct launch){now_ns, (unsigned)below(THREADS), below(20) ? 1 : 4, 0, 0};
		for (k = 0; k < l->ops; k++) {
			uint64_t start_ns = gpu_ns > now_ns + 100 ? gpu_ns : now_ns + 100;

			gpu_ns = start_ns + 1 + below(9000);
			made.ops[made.op_count++] = (struct op){start_ns, gpu_ns, i};
		}
	}
}

/* ---- what the recorder gets ---- */

static void put_call(size_t i)
{
	struct vpt_call row = {.start_ns = made.launches[i].start_ns,
		.duration_ns = 1 + below(5000),
		.id = 211,
		.correlation = FIRST_ID + i};

	vtr_recorder_room(recorder);
	vtr_recorder_put(recorder, VPT_CALL,
		vtr_recorder_thread(recorder, 1 + made.launches[i].thread), &row);
}

static void put_op(const struct op *op)
{
	struct vtr_lane *stream = vtr_recorder_stream(recorder, 0, 1, 7);
	uint64_t length_ns = op->end_ns - op->start_ns, correlation = FIRST_ID + op->launch;

	vtr_recorder_room(recorder);
	if (op->launch % 7) {
		struct vpt_kernel row = {.start_ns = op->start_ns,
			.duration_ns = length_ns,
			.correlation = correlation,
			.graph_node = below(1 << 20)};

		vtr_recorder_put(recorder, VPT_KERNEL, stream, &row);
	} else {
		struct vpt_copy row = {.start_ns = op->start_ns,
			.duration_ns = length_ns,
			.correlation = correlation,
			.bytes = below(1 << 20)};

		vtr_recorder_put(recorder, VPT_COPY, stream, &row);
	}
}

/* A buffer of the thread's calls that begin before `until_ns`. */
static void deliver_calls(unsigned thread, uint64_t until_ns)
{
	size_t from = made.next[1 + thread], to, i;

	for (to = from; to < LAUNCHES && made.launches[to].start_ns < until_ns; to++)
		;
	if (vtr_recorder_wants_calls(recorder, 0))
		for (i = from; i < to; i++)
			if (made.launches[i].thread == thread)
				vtr_recorder_note_call(
					recorder, FIRST_ID + i, made.launches[i].start_ns);
	for (i = from; i < to; i++)
		if (made.launches[i].thread == thread)
			put_call(i);
	vtr_recorder_note_id(recorder, FIRST_ID + to);
	made.next[1 + thread] = to;
}

static void deliver_ops(uint64_t until_ns)
{
	size_t *at = &made.next[GPU];

	for (; *at < made.op_count && made.ops[*at].end_ns < until_ns; ++*at)
		put_op(&made.ops[*at]);
}

static void deliver_all(void)
{
	uint64_t now_ns;

	for (now_ns = 0; made.next[GPU] < made.op_count; now_ns += 1 + below(2000000)) {
		unsigned queue = (unsigned)below(QUEUES);
		uint64_t late_ns = below(4) ? 0 : below(3000000);
		uint64_t until_ns = now_ns > late_ns ? now_ns - late_ns : 0;

		made.edge_ns = now_ns;
		if (queue == GPU)
			deliver_ops(until_ns);
		else
			deliver_calls(queue - 1, until_ns);
	}
	deliver_calls(0, UINT64_MAX);
	deliver_calls(1, UINT64_MAX);
}

/* ---- the file ---- */

struct content {
	uint64_t full_ns, refused;
};

static void read_section(const struct vpt_section *s, struct content *c)
{
	const uint32_t id = s->kind == VPT_CALL     ? (uint32_t)VPT_CALL_CORRELATION
			    : s->kind == VPT_KERNEL ? (uint32_t)VPT_KERNEL_CORRELATION
						    : (uint32_t)VPT_COPY_CORRELATION;
	uint32_t i;

	for (i = 0; s->kind == VPT_LOSS && i < s->row_count; i++) {
		if (s->col[VPT_LOSS_LOSS_KIND][i] == VPT_LOSSKIND_PAUSED)
			c->full_ns = s->col[VPT_LOSS_START][i];
		else if (s->col[VPT_LOSS_LOSS_KIND][i] == VPT_LOSSKIND_REFUSED)
			c->refused += s->col[VPT_LOSS_COUNT][i];
	}
	if (s->kind != VPT_CALL && s->kind != VPT_KERNEL && s->kind != VPT_COPY)
		return;
	for (i = 0; i < s->row_count; i++) {
		struct launch *l = &made.launches[s->col[id][i] - FIRST_ID];

		l->has_call |= s->kind == VPT_CALL;
		l->ops_there += s->kind != VPT_CALL;
	}
}

static struct content read_back(const struct vpt_buffer *file)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_reader *reader;
	struct vpt_source *source;
	struct content c = {0};
	struct vpt_batch batch;
	size_t i, k;

	assert_int_equal(vpt_source_memory(file->data, file->size, &source, NULL), VPT_OK);
	assert_int_equal(vpt_reader_open(source, &reader, NULL), VPT_OK);
	vpt_batch_init(&batch);
	for (i = 0; i < vpt_reader_chunks(reader); i++) {
		assert_int_equal(vpt_reader_chunk(reader, decoder, i, &batch, NULL), VPT_OK);
		for (k = 0; k < batch.section_count; k++)
			read_section(&batch.sections[k], &c);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_reader_free(reader);
	return c;
}

/* ---- tests ---- */

static void tell_edge(void *ctx)
{
	(void)ctx;
	vtr_recorder_edges(recorder, made.edge_ns, made.edge_ns);
}

static struct content record(uint64_t seed, struct vtr_recorder_totals *totals)
{
	struct vtr_recorder_options o = {.header = {.major = VPT_MAJOR, .t0_ns = 1000, .pid = 7},
		.max_bytes = BYTES,
		.closing = tell_edge};
	struct vpt_buffer file = {0};
	struct content c;

	assert_int_equal(vpt_sink_memory(&file, &o.sink, NULL), VPT_OK);
	vtr_names_init();
	assert_int_equal(vtr_recorder_new(&o, &recorder, NULL), VPT_OK);
	make(seed);
	deliver_all();
	assert_true(vtr_recorder_is_full(recorder));
	vtr_recorder_end_pauses(recorder, made.ops[made.op_count - 1].end_ns);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	vtr_recorder_totals(recorder, totals);
	vtr_recorder_free(recorder);
	assert_in_range(file.size, BYTES / 4, BYTES);
	c = read_back(&file);
	vpt_free(file.data);
	return c;
}

static void what_was_launched_before_the_limit_is_there_or_counted(void **state)
{
	uint64_t seed, all_refused = 0, all_there = 0, with_refused = 0;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct vtr_recorder_totals t;
		struct content c = record(seed, &t);
		uint64_t launched = 0, there = 0;
		size_t i;

		for (i = 0; i < LAUNCHES && made.launches[i].start_ns < c.full_ns; i++) {
			assert_true(made.launches[i].has_call);
			launched += made.launches[i].ops;
			there += made.launches[i].ops_there;
		}
		if (launched != there + c.refused)
			fail_msg("seed %u: launched %u, there %u, refused %u", (unsigned)seed,
				(unsigned)launched, (unsigned)there, (unsigned)c.refused);
		assert_int_equal(t.received, t.written + t.dropped);
		assert_int_equal(t.dropped, c.refused);
		all_refused += c.refused;
		all_there += there;
		with_refused += c.refused > 0;
	}
	assert_true(with_refused > SEEDS / 2);
	assert_true(all_refused > 500);
	assert_true(all_there > SEEDS * 1000);
}

/* Of ids without a call of their own, and without any. */
static void an_op_is_placed_by_the_calls_around_it(void **state)
{
	struct vtr_refused r = {0};
	uint64_t i;

	(void)state;
	vtr_refused_op(&r, 5);
	assert_int_equal(vtr_refused_ops_before(&r, 1000), 0);
	vtr_refused_free(&r);

	vtr_refused_call(&r, 20, 200);
	vtr_refused_call(&r, 10, 100);
	vtr_refused_call(&r, 30, 300);
	vtr_refused_op(&r, 9); /* before all that is known */
	vtr_refused_op(&r, 20);
	vtr_refused_op(&r, 20);
	vtr_refused_op(&r, 25); /* after 20 */
	vtr_refused_op(&r, 30);
	assert_int_equal(vtr_refused_ops_before(&r, 301), 5);
	assert_int_equal(vtr_refused_ops_before(&r, 300), 4);
	assert_int_equal(vtr_refused_ops_before(&r, 201), 4);
	assert_int_equal(vtr_refused_ops_before(&r, 200), 1);
	vtr_refused_free(&r);

	/* The ring forgets the oldest calls. Ops beyond the room for ids are counted. */
	for (i = 0; i < VTR_REFUSED_CALLS + 10; i++)
		vtr_refused_call(&r, 1 + i, 1 + i);
	for (i = 0; i < VTR_REFUSED_OPS_MAX + 3; i++)
		vtr_refused_op(&r, 1 + i);
	assert_int_equal(vtr_refused_ops_before(&r, 101), 100 + 3);
	assert_int_equal(vtr_refused_ops_before(&r, 1), 10 + 3);
	vtr_refused_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_launched_before_the_limit_is_there_or_counted),
		cmocka_unit_test(an_op_is_placed_by_the_calls_around_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
