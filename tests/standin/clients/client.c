/* client.c - see client.h. */
#include "tests/standin/clients/client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct client_functions cupti;
struct client client = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = CLIENT_BUFFER};

void client_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&client.lock);
	*max_records = 0;
	*size = client.size;
	*buffer = client.refuse ? NULL : aligned_alloc(8, client.size);
	if (*buffer) {
		memset(*buffer, client.fill, client.size);
		client.given[client.given_count++] = *buffer;
	}
	pthread_mutex_unlock(&client.lock);
}

void client_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	unsigned i = 0;

	RIG_TRUE(!context && !stream);
	pthread_mutex_lock(&client.lock);
	while (i < client.given_count && client.given[i] != buffer)
		i++;
	if (i == client.given_count) {
		client.unknown_count++;
	} else {
		RIG_EQUAL(size, client.size);
		client.given[i] = NULL;
		client.back[client.back_count] = buffer;
		client.valid[client.back_count++] = valid;
	}
	client.last_tid = (uint32_t)gettid();
	pthread_mutex_unlock(&client.lock);
}

void client_load(void)
{
	char path[512];
	void *library;

	snprintf(path, sizeof(path), "%s/standin/libcupti.so.13", getenv("VPT_BIN"));
	library = dlopen(path, RTLD_NOW);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	RIG_TRUE(library);
#define X(function)                                                                                \
	{                                                                                          \
		void *found = dlsym(library, #function);                                           \
                                                                                                   \
		memcpy(&cupti.function, &found, sizeof(found));                                    \
	}
	FUNCTIONS(X)
#undef X
}

void client_ignore(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	(void)domain;
	(void)cbid;
	(void)data;
}

void client_start(const uint32_t *kinds, standin_callback callback)
{
	client_load();
	RIG_EQUAL(cupti.cuptiSubscribe(&client.subscriber, callback, NULL), 0);
	RIG_EQUAL(cupti.cuptiSetThreadIdType(STANDIN_THREAD_ID_SYSTEM), 0);
	RIG_EQUAL(cupti.cuptiActivityRegisterCallbacks(client_requested, client_completed), 0);
	for (; *kinds; kinds++)
		RIG_EQUAL(cupti.cuptiActivityEnable(*kinds), 0);
}

const uint32_t client_common[] = {STANDIN_KERNEL, STANDIN_RUNTIME, 0};

void *client_record(uint32_t kind, unsigned n, unsigned *count)
{
	void *found = NULL;
	unsigned seen = 0;

	for (unsigned b = 0; b < client.back_count; b++) {
		void *r = NULL;

		while (!cupti.cuptiActivityGetNextRecord(client.back[b], client.valid[b], &r)) {
			if (*(uint32_t *)r != kind && kind)
				continue;
			if (seen++ == n)
				found = r;
		}
	}
	if (count)
		*count = seen;
	return found;
}

unsigned client_count(uint32_t kind)
{
	unsigned count;

	client_record(kind, 0, &count);
	return count;
}

struct standin_counts client_books(void)
{
	struct standin_counts c;

	standin_counts(&c);
	RIG_EQUAL(c.delivered + c.dropped + c.held, c.records);
	return c;
}

unsigned client_wait(unsigned count)
{
	struct timespec nap = {0, 1000000};
	unsigned now = 0;

	for (int i = 0; i < 5000 && now < count; i++) {
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&client.lock);
		now = client.back_count;
		pthread_mutex_unlock(&client.lock);
	}
	return now;
}
