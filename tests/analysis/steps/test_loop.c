/* test_loop.c - the loop in sequences of ops: made by hand, and made at random with the answer known. Either
 * the steps found are those that were made, or none are claimed. */
#include "analysis/steps/loop.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a pipeline in the making ---- */

enum { OPS_MAX = 1 << 20, STEPS_MAX = 4096, OTHER_SELF = 400, SELF };

struct made {
	uint32_t *symbols, *duration_ns;
	size_t count;
	struct {
		uint32_t begin, end;
	} steps[STEPS_MAX];
	size_t step_count;
	struct vpt_random *random;
	unsigned noise_per_10000; /* ops that are inserted */
	int is_own_noise;         /* with symbols of the pipeline */
};

/* What the pipeline consists of. */
struct plan {
	unsigned text_layers, blocks, steps, layers, layer_ops, guidance, context, vae_ops;
	unsigned cached_every;  /* every n-th step omits layers; 0: none */
	unsigned cached_layers; /* that remain */
	unsigned left_layers;   /* of a pass that ends early, after the others; 0: none */
	int halves_differ, has_scheduler;
};

static void setup(struct made *m, struct vpt_random *random)
{
	memset(m, 0, sizeof(*m));
	m->random = random;
	m->symbols = malloc(OPS_MAX * sizeof(*m->symbols));
	m->duration_ns = malloc(OPS_MAX * sizeof(*m->duration_ns));
	assert_non_null(m->symbols);
	assert_non_null(m->duration_ns);
}

static void teardown(struct made *m)
{
	free(m->symbols);
	free(m->duration_ns);
}

static void put_quietly(struct made *m, uint32_t symbol, uint32_t ns)
{
	assert_true(m->count < OPS_MAX);
	m->symbols[m->count] = symbol;
	m->duration_ns[m->count++] = ns;
}

static void put(struct made *m, uint32_t symbol, uint32_t ns)
{
	put_quietly(m, symbol, ns);
	if (m->noise_per_10000 && vpt_random_below(m->random, 10000) < m->noise_per_10000)
		put_quietly(m,
			m->is_own_noise ? m->symbols[vpt_random_below(m->random, m->count)]
					: 5000 + (uint32_t)vpt_random_below(m->random, 3),
			2000);
}

/* `count` ops with symbols of their own, from `first` on; every third like the one two before. */
static void put_ops(struct made *m, uint32_t first, unsigned count, uint32_t ns)
{
	unsigned i;

	for (i = 0; i < count; i++)
		put(m, first + (i % 3 == 2 ? i - 2 : i), ns);
}

static void put_pass(struct made *m, const struct plan *p, unsigned layers, int other)
{
	unsigned i;

	put_ops(m, 100, 5, 5000);
	for (i = 0; i < layers; i++) {
		put_ops(m, 200, p->layer_ops, 40000);
		if (other)
			put(m, OTHER_SELF,
				30000); /* another kernel for the other half's attention */
		else
			put(m, SELF, 30000);
	}
	put_ops(m, 500, 4, 8000);
}

static void put_step(struct made *m, const struct plan *p, unsigned step)
{
	unsigned cached = p->cached_every && step % p->cached_every == p->cached_every - 1;
	unsigned layers = cached ? p->cached_layers : p->layers, half;

	assert_true(m->step_count < STEPS_MAX);
	m->steps[m->step_count].begin = (uint32_t)m->count;
	for (half = 0; half < (p->guidance ? 2 : 1); half++)
		put_pass(m, p, layers, half && p->halves_differ);
	if (p->has_scheduler) {
		put(m, 600, 6000);
		put(m, 600, 6000);
		put(m, 601, 6000);
		put_quietly(m, 602, 6000);
	}
	m->steps[m->step_count++].end = (uint32_t)m->count;
}

/* A pass that its loop left early: the head and some layers, without the end that all passes have. */
static void put_beginning(struct made *m, const struct plan *p, unsigned layers)
{
	put_ops(m, 100, 5, 5000);
	while (layers--) {
		put_ops(m, 200, p->layer_ops, 40000);
		put(m, SELF, 30000);
	}
}

static void put_pipeline(struct made *m, const struct plan *p)
{
	unsigned i, block, step;

	for (i = 0; i < p->text_layers; i++)
		put_ops(m, 700, 11, 20000);
	for (block = 0; block < p->blocks; block++) {
		put_ops(m, 800, 2, 5000);
		for (step = 0; step < p->steps; step++)
			put_step(m, p, step);
		if (p->context)
			put_pass(m, p, p->layers, 0);
		for (i = 0; i < p->vae_ops; i++)
			put(m, 900 + i % 40, 60000);
	}
	if (p->left_layers)
		put_beginning(m, p, p->left_layers);
	put_ops(m, 1000, 30, 50000);
}

static struct vpa_loop find(const struct made *m)
{
	uint8_t *kinds = malloc(m->count + 1);
	struct vpa_loop_ops ops = {m->symbols, m->duration_ns, kinds, m->count};
	struct vpa_loop loop;
	size_t i;

	assert_non_null(kinds);
	for (i = 0; i < m->count; i++)
		kinds[i] = m->symbols[i] == SELF || m->symbols[i] == OTHER_SELF ? VPA_LOOP_ATTENTION
										: VPA_LOOP_OTHER;
	assert_int_equal(vpa_loop_find(&ops, &loop), VPT_OK);
	free(kinds);
	return loop;
}

static int is_near(uint32_t a, uint32_t b, uint32_t slack)
{
	return a <= b + slack && b <= a + slack;
}

/* The first way in which the loop is not what was made, as text; NULL: it is. Ops inserted at the edge of
 * a step may move that by a few. */
static const char *difference(const struct made *m, const struct vpa_loop *loop)
{
	static char text[160];
	uint32_t slack = m->noise_per_10000 ? 4 : 0;
	size_t i;

	if (loop->step_count != m->step_count) {
		snprintf(text, sizeof(text), "%zu steps, made were %zu", loop->step_count,
			m->step_count);
		return text;
	}
	for (i = 0; i < m->step_count; i++)
		if (!is_near(loop->steps[i].begin, m->steps[i].begin, slack) ||
			!is_near(loop->steps[i].end, m->steps[i].end, slack)) {
			snprintf(text, sizeof(text), "step %zu is %u to %u, made was %u to %u", i,
				loop->steps[i].begin, loop->steps[i].end, m->steps[i].begin,
				m->steps[i].end);
			return text;
		}
	return NULL;
}

/* ---- pipelines by hand ---- */

static const struct {
	const char *name;
	struct plan plan;
	unsigned passes_per_step, context_passes;
} cases[] = {
	{"four steps between a text encoder and a decoder",
		{24, 1, 4, 24, 20, 0, 0, 120, .has_scheduler = 1}, 1, 0},
	{"fifty steps", {24, 1, 50, 30, 12, 0, 0, 120, .has_scheduler = 1}, 1, 0},
	{"no scheduler in sight", {24, 1, 10, 30, 12, 0, 0, 120, .has_scheduler = 0}, 1, 0},
	{"blocks of steps", {24, 7, 4, 30, 12, 0, 0, 200, .has_scheduler = 1}, 1, 0},
	{"blocks with a pass that writes the cache",
		{24, 7, 4, 30, 12, 0, 1, 200, .has_scheduler = 1}, 1, 7},
	{"such blocks, decoded in the end", {24, 7, 4, 30, 12, 0, 1, 0, .has_scheduler = 1}, 1, 7},
	{"one block with such a pass", {24, 1, 4, 30, 12, 0, 1, 200, .has_scheduler = 1}, 1, 1},
	{"guidance: alike halves, closed by the scheduler",
		{24, 1, 12, 24, 15, 1, 0, 120, .has_scheduler = 1}, 2, 0},
	{"guidance: halves that differ", {24, 1, 12, 24, 15, 1, 0, 120, .halves_differ = 1}, 2, 0},
	{"a step cache that leaves out all layers",
		{24, 1, 20, 24, 15, 0, 0, 120, 2, 0, .has_scheduler = 1}, 1, 0},
	{"a step cache that leaves out most layers",
		{24, 1, 20, 24, 15, 0, 0, 120, 3, 3, .has_scheduler = 1}, 1, 0},
	{"no text encoder", {0, 1, 4, 24, 20, 0, 0, 120, .has_scheduler = 1}, 1, 0},
	{"few layers", {24, 1, 8, 6, 20, 0, 0, 120, .has_scheduler = 1}, 1, 0},
};

static void steps_are_found(void **state)
{
	struct vpt_random random;
	size_t i;

	(void)state;
	random.state = 1;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;
		struct vpa_loop loop;
		const char *wrong;

		setup(&m, &random);
		put_pipeline(&m, &cases[i].plan);
		loop = find(&m);
		wrong = difference(&m, &loop);
		if (wrong)
			fail_msg("%s: %s (confidence %g, %u passes, %zu contexts)", cases[i].name,
				wrong, loop.confidence, loop.passes_per_step, loop.context_passes);
		if (loop.passes_per_step != cases[i].passes_per_step ||
			loop.context_passes != cases[i].context_passes ||
			loop.layers != cases[i].plan.layers)
			fail_msg("%s: %u passes in a step, %zu context passes, %u layers",
				cases[i].name, loop.passes_per_step, loop.context_passes,
				loop.layers);
		assert_true(loop.explained > 0.99);
		vpa_loop_free(&loop);
		teardown(&m);
	}
}

/* Nothing tells two alike halves apart where nothing stands between the steps either. */
static void alike_halves_without_a_scheduler_are_steps(void **state)
{
	const struct plan plan = {24, 1, 12, 24, 15, .guidance = 1, .vae_ops = 120};
	struct vpt_random random;
	struct made m;
	struct vpa_loop loop;

	(void)state;
	random.state = 1;
	setup(&m, &random);
	put_pipeline(&m, &plan);
	loop = find(&m);
	assert_int_equal(loop.step_count, 24);
	assert_int_equal(loop.passes_per_step, 1);
	vpa_loop_free(&loop);
	teardown(&m);
}

static void the_first_step_may_differ(void **state)
{
	const struct plan plan = {24, 1, 8, 24, 15, .vae_ops = 120, .has_scheduler = 1};
	struct vpt_random random;
	struct made m;
	struct vpa_loop loop;
	uint32_t moved = 12, at;

	(void)state;
	random.state = 1;
	setup(&m, &random);
	put_pipeline(&m, &plan);
	/* The first step tries kernels out before its first layer's products. */
	at = m.steps[0].begin + 7;
	memmove(m.symbols + at + moved, m.symbols + at, (m.count - at) * sizeof(*m.symbols));
	memmove(m.duration_ns + at + moved, m.duration_ns + at,
		(m.count - at) * sizeof(*m.duration_ns));
	for (size_t i = 0; i < moved; i++)
		m.symbols[at + i] = 4000 + (uint32_t)i % 5;
	m.count += moved;
	for (size_t i = 0; i < m.step_count; i++) {
		m.steps[i].begin += i ? moved : 0;
		m.steps[i].end += moved;
	}
	loop = find(&m);
	assert_null(difference(&m, &loop));
	assert_true(loop.explained < 1);
	vpa_loop_free(&loop);
	teardown(&m);
}

/* ---- passes that are not whole ---- */

/* A pass that began before its loop did: the last layers, and the end. */
static void put_end(struct made *m, const struct plan *p, unsigned layers)
{
	while (layers--) {
		put_ops(m, 200, p->layer_ops, 40000);
		put(m, SELF, 30000);
	}
	put_ops(m, 500, 4, 8000);
	if (p->has_scheduler) {
		put_ops(m, 600, 2, 6000);
		put(m, 602, 6000);
	}
}

static const struct {
	const char *name;
	unsigned first_layers;   /* of an end of a pass before the loop; 0: none */
	unsigned last_layers[3]; /* of beginnings of passes after it; 0: none */
	unsigned foreign;        /* ops of other code around them */
	size_t cut;
} fragments[] = {
	{"the loop's last pass ends early", 0, {5}, 0, 1},
	{"and other work follows", 0, {5}, 40, 1},
	{"the last two do, the second within a layer or so", 0, {5, 1}, 0, 2},
	{"the last two do, and other work follows", 0, {5, 3}, 40, 2},
	{"the recording begins within a pass", 4, {0}, 40, 1},
};

static void passes_that_the_edges_cut_are_no_steps(void **state)
{
	const struct plan plan = {0, 1, 20, 14, 7, .has_scheduler = 0};
	struct vpt_random random;
	size_t i, k;

	(void)state;
	random.state = 1;
	for (i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++) {
		struct made m;
		struct vpa_loop loop;
		const char *wrong;
		unsigned step;

		setup(&m, &random);
		if (fragments[i].first_layers)
			put_end(&m, &plan, fragments[i].first_layers);
		for (step = 0; step < plan.steps; step++)
			put_step(&m, &plan, step);
		for (k = 0; k < 3 && fragments[i].last_layers[k]; k++)
			put_beginning(&m, &plan, fragments[i].last_layers[k]);
		put_ops(&m, 1000, fragments[i].foreign, 50000);
		loop = find(&m);
		wrong = difference(&m, &loop);
		if (wrong)
			fail_msg("%s: %s (%zu cut)", fragments[i].name, wrong, loop.cut);
		if (loop.cut != fragments[i].cut)
			fail_msg("%s: %zu cut", fragments[i].name, loop.cut);
		vpa_loop_free(&loop);
		teardown(&m);
	}
}

/* ---- what is no loop ---- */

static void one_pass_is_no_loop(void **state)
{
	const struct plan plan = {24, 1, 1, 40, 15, .vae_ops = 400, .has_scheduler = 1};
	struct vpt_random random;
	struct made m;
	struct vpa_loop loop;

	(void)state;
	random.state = 1;
	setup(&m, &random);
	put_pipeline(&m, &plan);
	loop = find(&m);
	assert_int_equal(loop.step_count, 0);
	vpa_loop_free(&loop);
	teardown(&m);
}

static void random_ops_are_no_loop(void **state)
{
	struct vpt_random random;
	unsigned round;

	(void)state;
	for (round = 0; round < 60; round++) {
		struct made m;
		struct vpa_loop loop;
		uint64_t kinds, count, i;

		random.state = 100 + round;
		kinds = 2 + vpt_random_below(&random, round & 1 ? 20 : 2000);
		count = vpt_random_below(&random, 30000);
		setup(&m, &random);
		for (i = 0; i < count; i++)
			put_quietly(&m, (uint32_t)vpt_random_below(&random, kinds),
				1000 + (uint32_t)vpt_random_below(&random, 100000));
		loop = find(&m);
		if (loop.step_count)
			fail_msg("round %u: %zu steps in random ops, confidence %g", round,
				loop.step_count, loop.confidence);
		vpa_loop_free(&loop);
		teardown(&m);
	}
}

/* What looks like layers is elsewhere: 1 1 1 and five ops that change every thousand. */
static void few_full_turns_are_no_loop(void **state)
{
	struct vpt_random random = {1};
	struct vpa_loop loop;
	struct made m;
	unsigned i;

	(void)state;
	setup(&m, &random);
	while (m.count + 8 < OPS_MAX) {
		uint32_t symbol = 2 + (uint32_t)(m.count / 1000) % 50;

		for (i = 0; i < 8; i++)
			put_quietly(&m, i < 3 ? 1 : symbol, 100);
	}
	loop = find(&m);
	assert_int_equal(loop.step_count, 0);
	vpa_loop_free(&loop);
	teardown(&m);
}

static void little_and_nothing_is_no_loop(void **state)
{
	const uint32_t symbols[] = {1, 2, 1, 2, 1}, ns[] = {5, 5, 5, 5, 5};
	struct vpa_loop loop;
	size_t count;

	(void)state;
	for (count = 0; count <= 5; count++) {
		struct vpa_loop_ops ops = {symbols, ns, NULL, count};

		assert_int_equal(vpa_loop_find(&ops, &loop), VPT_OK);
		assert_int_equal(loop.step_count, 0);
		vpa_loop_free(&loop);
	}
}

static void too_many_ops_are_refused(void **state)
{
	const uint32_t one = 1;
	struct vpa_loop_ops ops = {&one, &one, NULL, (size_t)VPA_LOOP_OPS_MAX + 1};
	struct vpa_loop loop;

	(void)state;
	assert_int_equal(vpa_loop_find(&ops, &loop), VPT_EINVAL);
}

/* ---- pipelines at random ---- */

static struct plan random_plan(struct vpt_random *r)
{
	struct plan p = {0};

	p.text_layers = (unsigned)vpt_random_below(r, 30);
	p.blocks = 1 + (unsigned)vpt_random_below(r, 2) * (unsigned)vpt_random_below(r, 8);
	p.steps = 4 + (unsigned)vpt_random_below(r, 12);
	p.layers = 6 + (unsigned)vpt_random_below(r, 50);
	p.layer_ops = 5 + (unsigned)vpt_random_below(r, 30);
	p.guidance = !vpt_random_below(r, 3);
	p.context = p.blocks > 1 && vpt_random_below(r, 2);
	p.vae_ops = vpt_random_below(r, 2) ? 40 + (unsigned)vpt_random_below(r, 200) : 0;
	p.has_scheduler = p.guidance || p.context || vpt_random_below(r, 4);
	p.halves_differ = (int)vpt_random_below(r, 2);
	if (!vpt_random_below(r, 3)) {
		p.cached_every = 2 + (unsigned)vpt_random_below(r, 3);
		p.cached_layers = (unsigned)vpt_random_below(r, p.layers);
	}
	if (!vpt_random_below(r, 3))
		p.left_layers = 1 + (unsigned)vpt_random_below(r, p.layers / 2);
	return p;
}

static void what_is_claimed_is_right(void **state)
{
	enum { ROUNDS = 400 };
	unsigned round, claimed = 0, clean = 0, clean_claimed = 0;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		static const unsigned rates[] = {0, 0, 10, 50};
		struct vpt_random random;
		struct made m;
		struct plan p;
		struct vpa_loop loop;
		const char *wrong;

		random.state = round;
		setup(&m, &random);
		m.noise_per_10000 = rates[round % 4];
		m.is_own_noise = round % 8 > 3;
		p = random_plan(&random);
		put_pipeline(&m, &p);
		loop = find(&m);
		clean += !m.noise_per_10000;
		clean_claimed += !m.noise_per_10000 && loop.step_count;
		claimed += loop.step_count > 0;
		wrong = loop.step_count ? difference(&m, &loop) : NULL;
		if (wrong)
			fail_msg("round %u: %s (text %u, blocks %u, steps %u, layers %u of %u, "
				 "guidance %u, differ %d, context %u, VAE %u, scheduler %d, cached "
				 "%u of %u, "
				 "left %u, noise %u; found %u passes, %zu contexts, confidence %g)",
				round, wrong, p.text_layers, p.blocks, p.steps, p.layers,
				p.layer_ops, p.guidance, p.halves_differ, p.context, p.vae_ops,
				p.has_scheduler, p.cached_every, p.cached_layers, p.left_layers,
				m.noise_per_10000, loop.passes_per_step, loop.context_passes,
				loop.confidence);
		vpa_loop_free(&loop);
		teardown(&m);
	}
	print_message("claimed %u of %u, without noise %u of %u\n", claimed, ROUNDS, clean_claimed,
		clean);
	assert_true(100 * clean_claimed >= 99 * clean);
	assert_true(10 * claimed >= 6 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_found),
		cmocka_unit_test(alike_halves_without_a_scheduler_are_steps),
		cmocka_unit_test(the_first_step_may_differ),
		cmocka_unit_test(passes_that_the_edges_cut_are_no_steps),
		cmocka_unit_test(one_pass_is_no_loop),
		cmocka_unit_test(random_ops_are_no_loop),
		cmocka_unit_test(few_full_turns_are_no_loop),
		cmocka_unit_test(little_and_nothing_is_no_loop),
		cmocka_unit_test(too_many_ops_are_refused),
		cmocka_unit_test(what_is_claimed_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
