/* snapshot_signal.c - takes the snapshot, then calls the handler that was there before.
 *
 * A handler that the host has installed above ours may chain to it, at any time, so ours must go on to
 * the handler that it found, whatever is installed later. A function has no memory of its own: there are
 * several, and each has found one handler, for good.
 *
 *	signal -> ours 2 -> the host's -> ours 1 -> what was there at first
 *
 * Whichever of ours comes first acts. */
#include "tracer/capture/snapshots.h"

#include "tracer/clock/capture_clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PLACES = 16,
	/* Of ours within each other. A host's handler that saves what it finds each time it is installed
	 * would call itself for ever without us between, and with us. */
	NESTED_MAX = 64
};

/* How long a delivery may be in progress. One that the host has left by siglongjmp(3) stays so. */
#define DELIVERY_NS UINT64_C(2000000000)

static struct place {
	int number; /* of the signal; 0: free */
	struct sigaction former;
} places[PLACES];
static void (*_Atomic acts)(void);
static atomic_int number_of_ours; /* the signal that acts; 0: none */

/* The delivery that this thread is in. */
static _Thread_local struct {
	uintptr_t frame; /* of ours that was called last; they grow downwards */
	unsigned nested;
	uint64_t since_ns; /* of the first */
} delivery __attribute__((tls_model("initial-exec")));

static int has_handler(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* SIG_DFL and SIG_IGN are no functions, whatever the flags say. */
static void chain(const struct sigaction *to, int number, siginfo_t *info, void *context)
{
	if (has_handler(to) && to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(number, info, context);
	else if (has_handler(to))
		to->sa_handler(number);
}

static void handle(const struct place *p, int number, siginfo_t *info, void *context)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0), outer = delivery.frame;
	unsigned nested = outer && frame < outer ? delivery.nested : 0;
	uint64_t now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	void (*act)(void) = atomic_load(&number_of_ours) == number ? atomic_load(&acts) : NULL;
	int before = errno;

	if (!nested || now_ns - delivery.since_ns > DELIVERY_NS) {
		delivery.since_ns = now_ns;
		if (act)
			act();
	}
	delivery.frame = frame;
	delivery.nested = nested + 1;
	if (nested < NESTED_MAX)
		chain(&p->former, number, info, context);
	delivery.frame = nested ? outer : 0;
	delivery.nested = nested;
	errno = before;
}

/* ---- one function for each place ---- */

#define EACH_PLACE(X)                                                                              \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define HANDLER(n)                                                                                 \
	static void handle_##n(int number, siginfo_t *info, void *context)                         \
	{                                                                                          \
		handle(&places[n], number, info, context);                                         \
	}
EACH_PLACE(HANDLER)
#define NAME(n) handle_##n,
static void (*const functions[PLACES])(int, siginfo_t *, void *) = {EACH_PLACE(NAME)};

/* The place of one of our functions; NULL: it is none of ours. */
static struct place *place_of(const struct sigaction *action)
{
	int i;

	for (i = 0; action->sa_flags & SA_SIGINFO && i < PLACES; i++)
		if (action->sa_sigaction == functions[i])
			return &places[i];
	return NULL;
}

static int is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_handler == b->sa_handler && !((a->sa_flags ^ b->sa_flags) & SA_SIGINFO);
}

/* A place that goes on to this handler; NULL: there is none, and no room for one. It stays as it is,
 * since the host may call its function at any time from now on. */
static struct place *take_place(int number, const struct sigaction *found)
{
	int i;

	for (i = 0; i < PLACES && places[i].number; i++)
		if (places[i].number == number && is_same(&places[i].former, found))
			return &places[i];
	if (i == PLACES)
		return NULL;
	places[i].former = *found;
	places[i].number = number;
	return &places[i];
}

int vtr_snapshot_signal_begin(int number, void (*act)(void))
{
	struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESTART}, now;
	struct place *p;

	if (sigaction(number, NULL, &now))
		return -1;
	if (!place_of(&now)) {
		p = take_place(number, &now);
		if (!p)
			return -1;
		ours.sa_sigaction = functions[p - places];
		ours.sa_mask = now.sa_mask;
		ours.sa_flags |= now.sa_flags & (SA_ONSTACK | SA_NODEFER);
		if (!(now.sa_flags & SA_RESTART) && has_handler(&now))
			ours.sa_flags &= ~SA_RESTART; /* the host may want its calls interrupted */
		sigaction(number, &ours, NULL);
	}
	atomic_store(&acts, act);
	atomic_store(&number_of_ours, number);
	return 0;
}

void vtr_snapshot_signal_end(void)
{
	int number = atomic_exchange(&number_of_ours, 0);
	const struct place *p;
	struct sigaction now;

	if (number && !sigaction(number, NULL, &now) && (p = place_of(&now)))
		sigaction(number, &p->former, NULL);
}
