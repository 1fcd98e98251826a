/* snapshot_signal.c - acts, then chains. */
#include "tracer/snapshot_signal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static struct sigaction former; /* written before ours is installed */
static void (*_Atomic acts)(void);
static int number_of_ours;

static int has_handler(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void handle(int number, siginfo_t *info, void *context)
{
	void (*act)(void) = atomic_load(&acts);
	int before = errno;

	if (act)
		act();
	/* SIG_DFL and SIG_IGN are no functions, whatever the flags say. */
	if (has_handler(&former) && former.sa_flags & SA_SIGINFO)
		former.sa_sigaction(number, info, context);
	else if (has_handler(&former))
		former.sa_handler(number);
	errno = before;
}

static int is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == handle;
}

void vtr_snapshot_signal_begin(int number, void (*act)(void))
{
	struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART}, now;

	if (sigaction(number, NULL, &now))
		return;
	if (!is_ours(&now)) {
		former = now;
		ours.sa_mask = now.sa_mask;
		ours.sa_flags |= now.sa_flags & (SA_ONSTACK | SA_NODEFER);
		if (!(now.sa_flags & SA_RESTART) && has_handler(&now))
			ours.sa_flags &= ~SA_RESTART; /* the host may want its calls interrupted */
		sigaction(number, &ours, NULL);
	}
	number_of_ours = number;
	atomic_store(&acts, act);
}

void vtr_snapshot_signal_end(void)
{
	struct sigaction now;

	atomic_store(&acts, (void (*)(void))NULL);
	if (number_of_ours && !sigaction(number_of_ours, NULL, &now) && is_ours(&now))
		sigaction(number_of_ours, &former, NULL);
	number_of_ours = 0;
}
