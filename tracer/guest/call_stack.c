/* call_stack.c - asks the C library, which knows the stacks that it has made. */
#include "tracer/guest/own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t left_above(uintptr_t lowest, size_t bytes)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here >= lowest && here - lowest < bytes ? here - lowest : SIZE_MAX;
}

/* It grows up to a limit. The C library would read /proc/self/maps to find its end. */
static size_t left_of_first(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > SIZE_MAX / 2
		       ? SIZE_MAX
		       : (size_t)limit.rlim_cur;
}

size_t vtr_call_stack_left(void)
{
	size_t bytes, guard, left = SIZE_MAX;
	stack_t other;
	pthread_attr_t attr;
	void *lowest;

	if (!sigaltstack(NULL, &other) && other.ss_flags & SS_ONSTACK)
		return left_above((uintptr_t)other.ss_sp, other.ss_size);
	if (syscall(SYS_gettid) == getpid())
		return left_of_first();
	if (pthread_getattr_np(pthread_self(), &attr))
		return SIZE_MAX;
	if (!pthread_attr_getstack(&attr, &lowest, &bytes) &&
		!pthread_attr_getguardsize(&attr, &guard)) {
		left = left_above((uintptr_t)lowest, bytes);
		if (left != SIZE_MAX) /* some versions count the guard, others do not */
			left = left > guard ? left - guard : 0;
	}
	pthread_attr_destroy(&attr);
	return left;
}
