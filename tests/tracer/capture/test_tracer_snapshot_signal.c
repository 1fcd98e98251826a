/* test_tracer_snapshot_signal.c - our handler among those of a host that installs its own at any time, chains to what was
 * there, puts it back, or does none of it; and several captures. */
#include "tracer/capture/snapshots.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static volatile sig_atomic_t acted, called, depth, deepest;

static void act(void)
{
	acted++;
}

/* ---- a host's handlers ---- */

/* How a handler goes on: as most do, as Python's faulthandler does, or not at all. */
enum chain { CALLS, RAISES, ENDS, LEAVES };

enum { HANDLERS = 4 };

static struct handler {
	enum chain chain;
	struct sigaction before;
	int is_installed;
} handlers[HANDLERS];
static sigjmp_buf outside;

static void handle(int which, int number, siginfo_t *info, void *context);

#define HANDLER(n)                                                                                 \
	static void handle_##n(int number, siginfo_t *info, void *context)                         \
	{                                                                                          \
		handle(n, number, info, context);                                                  \
	}
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)
static void (*const functions[])(int, siginfo_t *, void *) = {
	handle_0, handle_1, handle_2, handle_3};

static struct sigaction action_of(int which)
{
	return (struct sigaction){
		.sa_sigaction = functions[which], .sa_flags = SA_SIGINFO | SA_NODEFER};
}

static int is_function(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void chain(struct handler *h, int which, int number, siginfo_t *info, void *context)
{
	struct sigaction own = action_of(which);

	if (h->chain == LEAVES)
		siglongjmp(outside, 1);
	if (h->chain == ENDS || !is_function(&h->before))
		return;
	if (h->chain == RAISES) {
		sigaction(number, &h->before, NULL);
		raise(number);
		sigaction(number, &own, NULL);
	} else if (h->before.sa_flags & SA_SIGINFO) {
		h->before.sa_sigaction(number, info, context);
	} else {
		h->before.sa_handler(number);
	}
}

static void handle(int which, int number, siginfo_t *info, void *context)
{
	called++;
	if (++depth > deepest)
		deepest = depth;
	if (depth > 100)
		siglongjmp(outside, 2); /* the test would end as a host does */
	chain(&handlers[which], which, number, info, context);
	depth--;
}

static void install(int which, enum chain how)
{
	struct sigaction own = action_of(which);

	handlers[which] = (struct handler){.chain = how, .is_installed = 1};
	assert_int_equal(sigaction(SIGUSR2, &own, &handlers[which].before), 0);
}

static void put_back(int which)
{
	assert_int_equal(sigaction(SIGUSR2, &handlers[which].before, NULL), 0);
	handlers[which].is_installed = 0;
}

static void begin(void)
{
	assert_int_equal(vtr_snapshot_signal_begin(SIGUSR2, act), 0);
}

/* Says how often the signal came to us and to the host. */
static void expect(const char *rule, int acts, int calls)
{
	acted = called = depth = deepest = 0;
	if (!sigsetjmp(outside, 1))
		raise(SIGUSR2);
	if (acted != acts || called != calls)
		fail_msg("%s: acted %d, the host's handlers %d; expected %d, %d", rule, (int)acted,
			(int)called, acts, calls);
}

static int reset(void **state)
{
	(void)state;
	signal(SIGUSR2, SIG_DFL);
	memset(handlers, 0, sizeof(handlers));
	return 0;
}

/* ---- what was there ---- */

static void plain(int number)
{
	(void)number;
	called++;
}

static void informed(int number, siginfo_t *info, void *context)
{
	(void)context;
	called += info->si_signo == number;
}

static void the_signal_is_the_hosts_too(void **state)
{
	static const struct {
		const char *name;
		struct sigaction host;
		int called;
	} cases[] = {
		{"default", {.sa_handler = SIG_DFL}, 0},
		{"ignored", {.sa_handler = SIG_IGN}, 0},
		{"ignored, with a flag for handlers",
			{.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO}, 0},
		{"a handler", {.sa_handler = plain}, 1},
		{"a handler that wants to know", {.sa_sigaction = informed, .sa_flags = SA_SIGINFO},
			1},
	};
	struct sigaction now;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		acted = called = 0;
		assert_int_equal(sigaction(SIGUSR2, &cases[i].host, NULL), 0);
		begin();
		raise(SIGUSR2);
		vtr_snapshot_signal_end();
		assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
		if (acted != 1 || called != cases[i].called ||
			now.sa_handler != cases[i].host.sa_handler)
			fail_msg("%s: acted %d, called %d", cases[i].name, (int)acted, (int)called);
	}
}

/* ---- orders ---- */

static void a_handler_above_ours_stays_above_it(void **state)
{
	static const enum chain hows[] = {CALLS, RAISES};
	size_t i;
	int n;

	(void)state;
	for (i = 0; i < 2; i++) {
		reset(NULL);
		begin();
		install(0, hows[i]);
		expect("the first capture", 1, 1);
		for (n = 0; n < 40; n++) {
			vtr_snapshot_signal_end();
			expect("between captures", 0, 1);
			begin();
			expect("a later capture", 1, 1);
			expect("a later capture, again", 1, 1);
		}
		vtr_snapshot_signal_end();
	}
}

static void a_handler_that_does_not_chain_is_below_the_next_capture(void **state)
{
	(void)state;
	begin();
	install(0, ENDS);
	expect("the host's handler took the signal", 0, 1);
	vtr_snapshot_signal_end();
	begin();
	expect("the second capture", 1, 1);
	vtr_snapshot_signal_end();
	expect("after it", 0, 1);
}

static void what_a_host_puts_back_is_ours_still(void **state)
{
	(void)state;
	begin();
	install(0, CALLS);
	vtr_snapshot_signal_end();
	begin();
	put_back(0); /* with what it found: ours of the first capture */
	expect("the handler of the first capture", 1, 0);
	install(1, CALLS);
	expect("and one above it", 1, 1);
	put_back(1);
	vtr_snapshot_signal_end();
	begin();
	expect("the third capture", 1, 0);
	vtr_snapshot_signal_end();
}

static void one_signal_acts_at_a_time(void **state)
{
	(void)state;
	begin();
	install(0, CALLS);
	vtr_snapshot_signal_end();
	assert_int_equal(vtr_snapshot_signal_begin(SIGUSR1, act), 0);
	expect("the signal of the first capture", 0, 1);
	acted = 0;
	raise(SIGUSR1);
	assert_int_equal(acted, 1);
	vtr_snapshot_signal_end();
}

/* Without us between them, it would call itself for ever: a host that saves what it finds each time. */
static void a_handler_that_is_its_own_predecessor_does_not_end_the_host(void **state)
{
	int i;

	(void)state;
	begin();
	for (i = 0; i < 5; i++) {
		install(0, i & 1 ? RAISES : CALLS);
		vtr_snapshot_signal_end();
		begin();
	}
	install(0, CALLS);
	acted = called = depth = deepest = 0;
	if (!sigsetjmp(outside, 1))
		raise(SIGUSR2);
	assert_int_equal(acted, 1);
	assert_in_range(deepest, 2, 65);
	vtr_snapshot_signal_end();
}

static void __attribute__((noinline)) raise_deeper(int levels)
{
	volatile char room[512];

	room[0] = room[511] = (char)levels;
	if (levels)
		raise_deeper(levels - 1);
	else if (!sigsetjmp(outside, 1))
		raise(SIGUSR2);
	(void)room[0];
}

static void a_handler_may_leave_by_a_jump(void **state)
{
	int i;

	(void)state;
	install(0, LEAVES);
	begin();
	for (i = 0; i < 100; i++)
		expect("the same place", 1, 1);
	for (i = 0; i < 40; i++) {
		called = 0;
		raise_deeper(i);
		assert_int_equal(called, 1);
	}
	vtr_snapshot_signal_end();
}

static void a_host_that_always_installs_another_one_is_left_alone(void **state)
{
	struct sigaction now;
	int i, refused = 0;

	(void)state;
	for (i = 0; i < 40; i++) {
		struct sigaction host = {.sa_handler = (void (*)(int))(uintptr_t)(4096 + i)};

		assert_int_equal(sigaction(SIGUSR2, &host, NULL), 0);
		if (!vtr_snapshot_signal_begin(SIGUSR2, act)) {
			vtr_snapshot_signal_end();
			assert_false(refused);
		} else {
			refused++;
		}
		assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
		assert_ptr_equal(now.sa_handler, host.sa_handler);
	}
	assert_true(refused > 0 && refused < 40);
}

/* ---- any order ---- */

/* The newest handler first: what a signal does, by the rules alone. -1 is ours. */
struct model {
	int above[64], count, running;
};

static unsigned seed = 1;

static int random_below(int n)
{
	seed = seed * 1103515245 + 12345;
	return (int)(seed >> 16) % n;
}

static void expect_model(const struct model *m, int step)
{
	int i, calls = 0, ours = 0;
	char rule[64];

	for (i = m->count; i-- > 0;) {
		if (m->above[i] < 0) {
			ours = 1;
			continue;
		}
		calls++;
		if (handlers[m->above[i]].chain == ENDS)
			break;
	}
	if (!m->count)
		return; /* the default would end the test */
	snprintf(rule, sizeof(rule), "seed %u, step %d", seed, step);
	expect(rule, ours && m->running, calls);
}

/* A host installs each handler once, and puts back the newest: what is above ours may be either. */
static void step(struct model *m, int n)
{
	int which = random_below(HANDLERS), last = m->count ? m->above[m->count - 1] : -1;

	switch (random_below(4)) {
	case 0:
		if (!handlers[which].is_installed) {
			install(which, random_below(3) ? CALLS : ENDS);
			m->above[m->count++] = which;
		}
		break;
	case 1:
		if (last >= 0) {
			put_back(last);
			m->count--;
		}
		break;
	case 2:
		if (m->running) {
			vtr_snapshot_signal_end();
			if (last < 0)
				m->count--;
		} else {
			begin();
			if (last >= 0 || !m->count)
				m->above[m->count++] = -1;
		}
		m->running = !m->running;
		break;
	default:
		expect_model(m, n);
	}
}

static void any_order_calls_each_once(void **state)
{
	struct model m;
	int run, i;

	(void)state;
	for (run = 0; run < 500; run++) {
		reset(NULL);
		memset(&m, 0, sizeof(m));
		for (i = 0; i < 40; i++)
			step(&m, i);
		if (m.running)
			vtr_snapshot_signal_end();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_signal_is_the_hosts_too, reset),
		cmocka_unit_test_setup(a_handler_above_ours_stays_above_it, reset),
		cmocka_unit_test_setup(
			a_handler_that_does_not_chain_is_below_the_next_capture, reset),
		cmocka_unit_test_setup(what_a_host_puts_back_is_ours_still, reset),
		cmocka_unit_test_setup(one_signal_acts_at_a_time, reset),
		cmocka_unit_test_setup(
			a_handler_that_is_its_own_predecessor_does_not_end_the_host, reset),
		cmocka_unit_test_setup(a_handler_may_leave_by_a_jump, reset),
		cmocka_unit_test_setup(any_order_calls_each_once, reset),
		/* Takes all room, so the last. */
		cmocka_unit_test_setup(
			a_host_that_always_installs_another_one_is_left_alone, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
