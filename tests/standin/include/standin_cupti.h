/* standin_cupti.h - the functions of CUPTI that the stand-in has, declared in our own words.
 *
 * Functions return 0 or a number of enum standin_cupti_result. Do not include together with <cupti.h>. */
#ifndef VPT_STANDIN_CUPTI_H
#define VPT_STANDIN_CUPTI_H

#include "tests/standin/include/standin_records.h"

struct standin_subscriber;
typedef void (*standin_callback)(void *user, uint32_t domain, uint32_t cbid, const void *data);
typedef void (*standin_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*standin_completed)(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

int cuptiGetVersion(uint32_t *version);
int cuptiGetResultString(int result, const char **text);
int cuptiGetErrorMessage(int result, const char **text);
int cuptiGetLastError(void);
int cuptiGetTimestamp(uint64_t *ns);
int cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name);

int cuptiSubscribe(struct standin_subscriber **out, standin_callback callback, void *user);
int cuptiSubscribe_v2(struct standin_subscriber **out, standin_callback callback, void *user,
	struct standin_subscriber_parameters *parameters);
int cuptiUnsubscribe(struct standin_subscriber *subscriber);
int cuptiEnableCallback(
	uint32_t enable, struct standin_subscriber *subscriber, uint32_t domain, uint32_t cbid);
int cuptiEnableDomain(uint32_t enable, struct standin_subscriber *subscriber, uint32_t domain);
int cuptiFinalize(void);

int cuptiActivityRegisterCallbacks(standin_requested requested, standin_completed completed);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnableAndDump(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityGetEnabledKinds(
	struct standin_subscriber *subscriber, uint32_t *kinds, uint32_t *room, uint32_t *count);
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
int cuptiActivityEnableAllSyncRecords(uint8_t enable);
int cuptiActivityEnableLatencyTimestamps(uint8_t enable);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityFlushPeriod(uint32_t ms);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
int cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value);
int cuptiSetThreadIdType(uint32_t type);

int cuptiGetContextId(void *context, uint32_t *id);
int cuptiGetDeviceId(void *context, uint32_t *id);
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);
int cuptiGetGraphId(void *graph, uint32_t *id);
int cuptiGetGraphExecId(void *exec, uint32_t *id);
int cuptiGetGraphNodeId(void *node, uint64_t *id);

#endif
