/* kineto.c - see kineto.h. */
#include "tests/standin/clients/kineto.h"

#include "tests/standin/clients/client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256 << 10, BUFFERS = 1 << 16 };

static const uint32_t kinds[] = {STANDIN_MEMCPY, STANDIN_MEMSET, STANDIN_KERNEL, STANDIN_RUNTIME,
	STANDIN_DRIVER, STANDIN_OVERHEAD};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *given[BUFFERS];
static size_t given_count;
static uint64_t kernels, unknown;
static enum kineto_age age;
static struct standin_subscriber *subscriber;

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BYTES);
	*size = BYTES;
	*max_records = 0;
	pthread_mutex_lock(&lock);
	RIG_TRUE(*buffer && given_count < BUFFERS);
	given[given_count++] = *buffer;
	pthread_mutex_unlock(&lock);
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;
	size_t i;

	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	for (i = 0; i < given_count && given[i] != buffer; i++)
		;
	if (i == given_count) {
		unknown++;
	} else {
		given[i] = given[--given_count];
		while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
			kernels += *(uint32_t *)record == STANDIN_KERNEL;
		free(buffer);
	}
	pthread_mutex_unlock(&lock);
}

void kineto_open(enum kineto_age which)
{
	client_load();
	age = which;
}

int kineto_subscribe(void)
{
	return subscriber ? 0 : cupti.cuptiSubscribe(&subscriber, client_ignore, NULL);
}

int kineto_unsubscribe(void)
{
	int rc = subscriber ? cupti.cuptiUnsubscribe(subscriber) : 0;

	subscriber = NULL;
	return rc;
}

int kineto_register(void)
{
	return cupti.cuptiActivityRegisterCallbacks(requested, completed);
}

void kineto_enable(void)
{
	for (size_t i = 0; i < KINDS; i++)
		RIG_EQUAL(cupti.cuptiActivityEnable(kinds[i]), 0);
}

void kineto_disable(void)
{
	for (size_t i = 0; i < KINDS; i++)
		RIG_EQUAL(cupti.cuptiActivityDisable(kinds[i]), 0);
}

void kineto_flush(int forced)
{
	RIG_EQUAL(cupti.cuptiActivityFlushAll(forced ? STANDIN_FLUSH_FORCED : 0), 0);
}

void kineto_clear_attribute(void)
{
	uint8_t zero = 0;
	size_t size = sizeof(zero);

	/* CUPTI before 12.3 has no such attribute. */
	cupti.cuptiActivitySetAttribute(STANDIN_ATTRIBUTE_PER_THREAD, &size, &zero);
}

int kineto_begin(void)
{
	if (age == KINETO_SUBSCRIBES && kineto_subscribe())
		return 0;
	RIG_EQUAL(kineto_register(), 0);
	kineto_enable();
	return 1;
}

void kineto_end(void)
{
	kineto_disable();
	kineto_flush(1);
	kineto_clear_attribute();
}

uint64_t kineto_kernels(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = kernels;
	pthread_mutex_unlock(&lock);
	return n;
}

uint64_t kineto_unknown(void)
{
	return unknown;
}
