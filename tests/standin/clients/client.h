/* client.h - a minimal client of the stand-in's CUPTI: it keeps every buffer that comes back and
 * walks it afterwards.
 *
 * One per process. Link with rig.c and client.c. */
#ifndef VPT_STANDIN_CLIENT_H
#define VPT_STANDIN_CLIENT_H

#include "tests/standin/include/standin_cupti.h"
#include "tests/standin/clients/rig.h"

#include <pthread.h>

enum { CLIENT_BUFFER = 64 * 1024, CLIENT_BUFFERS = 4096 };

#define FUNCTIONS(X)                                                                               \
	X(cuptiGetVersion)                                                                         \
	X(cuptiGetTimestamp)                                                                       \
	X(cuptiGetCallbackName)                                                                    \
	X(cuptiGetLastError)                                                                       \
	X(cuptiSubscribe)                                                                          \
	X(cuptiSubscribe_v2)                                                                       \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiEnableDomain)                                                                       \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityEnableAndDump)                                                              \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityEnableRuntimeApi)                                                           \
	X(cuptiActivityEnableDriverApi)                                                            \
	X(cuptiActivityFlushAll)                                                                   \
	X(cuptiActivityGetNextRecord)                                                              \
	X(cuptiActivityGetNumDroppedRecords)                                                       \
	X(cuptiActivitySetAttribute)                                                               \
	X(cuptiSetThreadIdType)                                                                    \
	X(cuptiGetGraphId)                                                                         \
	X(cuptiGetGraphNodeId)                                                                     \
	X(cuptiGetStreamIdEx)

/* The library's functions; NULL: it lacks that one. Filled by client_load(). */
struct client_functions {
#define X(function) __typeof__(&function) function;
	FUNCTIONS(X)
#undef X
};
extern struct client_functions cupti;

struct client {
	pthread_mutex_t lock;
	uint8_t *given[CLIENT_BUFFERS]; /* NULL once it is back */
	uint8_t *back[CLIENT_BUFFERS];
	size_t valid[CLIENT_BUFFERS];
	unsigned given_count, back_count;
	unsigned unknown_count; /* came back but was never given */
	size_t size;            /* of buffers to be given */
	int refuse;             /* none are given */
	int fill;               /* what they are filled with */
	uint32_t last_tid;      /* the thread that gave one back */
	struct standin_subscriber *subscriber;
};
extern struct client client;

/* Loads libcupti. */
void client_load(void);
/* Loads, subscribes, registers, and enables the kinds before the first 0. */
void client_start(const uint32_t *kinds, standin_callback callback);
extern const uint32_t client_common[]; /* kernels and runtime calls */

/* The buffer callbacks, and a subscriber's that does nothing. */
void client_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void client_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
void client_ignore(void *user, uint32_t domain, uint32_t cbid, const void *data);

/* The n-th record (from 0) of a kind among all that came back; kind 0: any; NULL: none. `count`
 * (may be NULL) gets their number. */
void *client_record(uint32_t kind, unsigned n, unsigned *count);
unsigned client_count(uint32_t kind);

/* Waits until that many buffers are back, at most 5 s; returns the number. */
unsigned client_wait(unsigned count);

/* The stand-in's counts; every record must be delivered, dropped or held. */
struct standin_counts client_books(void);

#endif
