/* last_error.c - the texts of each thread.
 *
 * Only pointers are in thread-local storage: a library loaded late gets little of it. The texts
 * are allocated at a thread's first failure, or first path, and freed with the thread. */
#include "tracer/settings/last_error.h"

#include "tracer/guest/cancel.h"
#include "tracer/settings/capture_options.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct texts {
	char sentence[512];
	char path[VTR_PATH_MAX];
};

static __thread struct texts *mine;
static __thread const char *said; /* the sentence, or a constant one */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *texts)
{
	said = NULL;
	mine = NULL;
	free(texts);
}

static void make_key(void)
{
	pthread_key_create(&key, forget);
}

/* NULL: no memory. Cancellation is held. */
static struct texts *own_texts(void)
{
	pthread_once(&once, make_key);
	if (!mine) {
		mine = calloc(1, sizeof(*mine));
		pthread_setspecific(key, mine);
	}
	return mine;
}

int vtr_fail(int code, const char *fmt, ...)
{
	/* A thread cancelled inside malloc() would leave the process's heap locked. */
	int cancel = vtr_cancel_hold();
	struct texts *texts = own_texts();
	va_list args;

	if (texts) {
		va_start(args, fmt);
		vsnprintf(texts->sentence, sizeof(texts->sentence), fmt, args);
		va_end(args);
	}
	said = texts ? texts->sentence : NULL;
	vtr_cancel_restore(cancel);
	return code;
}

const char *vtr_own_path(const char *path)
{
	struct texts *texts = own_texts();

	if (!texts)
		return "";
	snprintf(texts->path, sizeof(texts->path), "%s", path);
	return texts->path;
}

int vtr_refuse(int code, const char *constant)
{
	said = constant;
	return code;
}

const char *vptrace_last_error(void)
{
	return said ? said : "";
}
