/* test_tracer_snapshots.c - the signal that asks for a snapshot of a flight recorder. */
#include "tracer/snapshot_signal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the signal ---- */

static volatile sig_atomic_t acted, handled;

static void act(void)
{
	acted++;
}

static void handle(int number)
{
	(void)number;
	handled++;
}

static void handle_info(int number, siginfo_t *info, void *context)
{
	(void)context;
	handled += info->si_signo == number;
}

static void the_signal_is_the_hosts_too(void **state)
{
	static const struct {
		const char *name;
		struct sigaction host;
		int handled;
	} cases[] = {
		{"default", {.sa_handler = SIG_DFL}, 0},
		{"ignored", {.sa_handler = SIG_IGN}, 0},
		{"ignored, with a flag for handlers",
			{.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO}, 0},
		{"a handler", {.sa_handler = handle}, 1},
		{"a handler that wants to know",
			{.sa_sigaction = handle_info, .sa_flags = SA_SIGINFO}, 1},
	};
	struct sigaction now;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		acted = handled = 0;
		assert_int_equal(sigaction(SIGUSR2, &cases[i].host, NULL), 0);
		vtr_snapshot_signal_begin(SIGUSR2, act);
		raise(SIGUSR2);
		vtr_snapshot_signal_end();
		assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
		if (acted != 1 || handled != cases[i].handled ||
			now.sa_handler != cases[i].host.sa_handler)
			fail_msg("%s: acted %d, handled %d", cases[i].name, (int)acted,
				(int)handled);
	}
	signal(SIGUSR2, SIG_DFL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_signal_is_the_hosts_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
