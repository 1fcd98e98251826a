/* test_reductions.c - how many passes of an optimizer step sum the gradients. A list of letters are the ops of a GPU, by start. */
#include "analysis/model/reductions.h"
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Threads: 1 is the optimizer's, 2 autograd's, 3 another one. A capital is an all-reduce of autograd's, and another capital one of
 * another size. */
static struct vpa_training_op op_of(char letter)
{
	static const struct {
		char letter;
		struct vpa_training_op op;
	} ops[] = {
		{'f', {.thread = 1, .part = VPA_TRAINING_WORK}},
		{'b', {.thread = 2, .part = VPA_TRAINING_WORK}},
		{'h', {.thread = 3, .part = VPA_TRAINING_WORK}},
		{'o', {.thread = 1, .part = VPA_TRAINING_OPTIMIZER}},
		{'p', {.thread = 2, .part = VPA_TRAINING_OPTIMIZER}},
		{'s', {.thread = 2, .part = VPA_TRAINING_SCATTER}},
		{'a', {.thread = 1, .part = VPA_TRAINING_ALL_REDUCE, .kind = 'A'}},
		{'l', {.thread = 1, .part = VPA_TRAINING_ALL_REDUCE, .kind = 'L'}},
	};
	size_t i;

	for (i = 0; i < COUNT(ops); i++)
		if (ops[i].letter == letter)
			return ops[i].op;
	return (struct vpa_training_op){
		.thread = 2, .part = VPA_TRAINING_ALL_REDUCE, .kind = (uint64_t)letter};
}

#define STEP4 "fbAbB fbAbB fbAbB fbAbB o"

static const struct {
	const char *rule, *ops;
	size_t passes;
	int by_optimizer;
	const char *other_gpu; /* NULL: none */
} cases[] = {
	{"four passes in each step", STEP4 STEP4 STEP4, 4, 0, NULL},
	{"the first step tells the thread", "o" STEP4, 4, 0, NULL},
	{"what is before it may be cut", "bB fbAbB o" STEP4, 4, 0, NULL},
	{"what is after the last one, too", "o" STEP4 "fbAbB fbA", 4, 0, NULL},
	{"one optimizer step", STEP4, 0, 0, NULL},
	{"nothing", "", 0, 0, NULL},
	{"no optimizer", "fbA fbA fbA fbA", 0, 0, NULL},
	{"no all-reduces", "fb fb o fb fb o", 0, 0, NULL},
	{"one pass in each", "o fbAbB o fbAbB o", 0, 0, NULL},
	{"the last pass only", "o fb fb fbAbB o fb fb fbAbB o", 0, 0, NULL},
	{"an optimizer step of many kernels", "oooo fbA fbA ofofoo fbA fbA oo", 2, 0, NULL},
	{"norms before the optimizer", "o fbA fbA fo fbA fbA fo", 2, 0, NULL},
	{"streams may change the order", "o fAB fBA o fBA fAB o", 2, 0, NULL},
	{"steps of other numbers of passes", "o fbA fbA o fbA fbA fbA o", 0, 0, NULL},
	{"one with one pass", "o fbA fbA o fbA o", 0, 0, NULL},
	{"passes that sum other gradients", "o fbA fbB o fbA fbB o", 0, 0, NULL},
	{"one that sums more", "o fbA fbAA o", 0, 0, NULL},
	{"sharded gradients", "o fbsA fbsA o fbsA fbsA o", 0, 0, NULL},
	{"activations in the forward pass", "o fafaAbA fafaAbA o fafaAbA fafaAbA o", 0, 0, NULL},
	{"the loss is of another size", "o flbA flbA o flbA flbA o", 2, 0, NULL},
	{"another thread reduces, as Horovod's", "o fbhAbhB fbhAbhB o", 2, 0, NULL},
	{"one thread does all", "o fafa fafa o fafa fafa o", 0, 1, NULL},
	{"or autograd's", "p bAbA bAbA p", 0, 1, NULL},
	{"and scatters", "o fasfa o", 0, 0, NULL},
	{"two GPUs", "o" STEP4, 4, 0, "o" STEP4},
	{"a GPU that does not train", "o" STEP4, 4, 0, "fbfb"},
	{"GPUs with other numbers of passes", "o" STEP4, 0, 0, "o fbA fbA o"},
	{"GPUs of which one has one pass", "o" STEP4, 0, 0, "o fbA o"},
};

static void take_all(struct vpa_training *t, const char *ops)
{
	for (; ops && *ops; ops++) {
		struct vpa_training_op op = op_of(*ops);

		if (*ops != ' ')
			(void)vpa_training_take(t, &op);
	}
}

static void passes_are_counted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_training gpus[2] = {0};
		struct vpa_reducing says;

		take_all(&gpus[0], cases[i].ops);
		take_all(&gpus[1], cases[i].other_gpu);
		says = vpa_training_says(gpus, 2);
		if (says.passes != cases[i].passes || says.by_optimizer != cases[i].by_optimizer)
			fail_msg("%s: %zu passes, %d", cases[i].rule, says.passes,
				says.by_optimizer);
	}
}

static void the_kinds_of_the_optimizer_are_few(void **state)
{
	struct vpa_training gpu = {0};
	struct vpa_training_op op = {.part = VPA_TRAINING_ALL_REDUCE, .thread = 1};

	(void)state;
	take_all(&gpu, "o");
	for (op.kind = 1; op.kind <= VPA_TRAINING_KINDS; op.kind++)
		(void)vpa_training_take(&gpu, &op);
	take_all(&gpu, STEP4);
	assert_int_equal(vpa_training_says(&gpu, 1).passes, 4);
	(void)vpa_training_take(&gpu, &op);
	assert_int_equal(vpa_training_says(&gpu, 1).passes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_are_counted),
		cmocka_unit_test(the_kinds_of_the_optimizer_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
