/* last_error.c - one sentence per thread.
 *
 * Only a pointer is in thread-local storage: a library loaded late gets little of it. The sentence
 * is allocated at a thread's first failure and freed with the thread. */
#include "tracer/last_error.h"

#include "tracer/cancel.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SENTENCE_BYTES = 512 };

static __thread char *sentence;
static __thread const char *said; /* the sentence, or a constant one */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *text)
{
	said = sentence = NULL;
	free(text);
}

static void make_key(void)
{
	pthread_key_create(&key, forget);
}

int vtr_fail(int code, const char *fmt, ...)
{
	va_list args;
	int cancel;

	/* A thread cancelled inside malloc() would leave the process's heap locked. */
	cancel = vtr_cancel_hold();
	pthread_once(&once, make_key);
	if (!sentence) {
		sentence = malloc(SENTENCE_BYTES);
		pthread_setspecific(key, sentence);
	}
	if (sentence) {
		va_start(args, fmt);
		vsnprintf(sentence, SENTENCE_BYTES, fmt, args);
		va_end(args);
	}
	said = sentence;
	vtr_cancel_restore(cancel);
	return code;
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
