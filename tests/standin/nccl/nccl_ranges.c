/* nccl_ranges.c - the layouts of NCCL's payloads, registered and used through NVTX's own headers. */
#include "tests/standin/nccl/nccl_ranges.h"

#ifdef __has_include
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#define HAVE_NVTX 1
#endif
#endif

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <pthread.h>
#include <string.h>

#define STATIC_START NVTX_PAYLOAD_SCHEMA_ID_STATIC_START
#define ENTRY(type_id, text, at)                                                                   \
	{                                                                                          \
		.type = (type_id), .name = (text), .offset = (at)                                  \
	}
#define COMM      ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0)
#define BYTES     ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", 8)
#define REDOP(at) ENTRY(STATIC_START + REDOP_ID, "Reduction operation", at)

enum { REDOP_ID = 14, INIT_BYTES = 24 };

static const nvtxPayloadSchemaEntry_t init_entries[] = {COMM,
	ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", 8),
	ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", 12),
	ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", 16)};
static const nvtxPayloadSchemaEntry_t gather_entries[] = {COMM, BYTES};
static const nvtxPayloadSchemaEntry_t reduce_all_entries[] = {COMM, BYTES, REDOP(16)};
static const nvtxPayloadSchemaEntry_t root_entries[] = {
	COMM, BYTES, ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Root", 16)};
static const nvtxPayloadSchemaEntry_t reduce_entries[] = {
	COMM, BYTES, ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Root", 16), REDOP(20)};
static const nvtxPayloadSchemaEntry_t peer_entries[] = {
	COMM, BYTES, ENTRY(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", 16)};

#define LAYOUT(number, text, entries, size_bytes)                                                  \
	{                                                                                          \
		number, text, "nccl" text, entries, sizeof(entries) / sizeof((entries)[0]),        \
			size_bytes                                                                 \
	}

static const struct layout {
	uint64_t id;
	const char *name, *function;
	const nvtxPayloadSchemaEntry_t *entries;
	size_t count, bytes;
} layouts[NCCL_RANGES] = {
	[NCCL_COMM_INIT_RANK] = LAYOUT(0, "CommInitRank", init_entries, INIT_BYTES),
	[NCCL_COMM_DESTROY] = LAYOUT(2, "CommDestroy", init_entries, INIT_BYTES),
	[NCCL_COMM_ABORT] = LAYOUT(3, "CommAbort", init_entries, INIT_BYTES),
	[NCCL_ALL_GATHER] = LAYOUT(4, "AllGather", gather_entries, 16),
	[NCCL_ALL_REDUCE] = LAYOUT(5, "AllReduce", reduce_all_entries, 24),
	[NCCL_BROADCAST] = LAYOUT(6, "Broadcast", root_entries, 24),
	[NCCL_REDUCE_SCATTER] = LAYOUT(7, "ReduceScatter", reduce_all_entries, 24),
	[NCCL_REDUCE] = LAYOUT(8, "Reduce", reduce_entries, 24),
	[NCCL_SEND] = LAYOUT(9, "Send", peer_entries, 24),
	[NCCL_RECV] = LAYOUT(10, "Recv", peer_entries, 24),
};

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t names[NCCL_RANGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void register_operations(void)
{
	static const nvtxPayloadEnum_t operations[] = {
		{"Sum", 0, 0}, {"Prod", 1, 0}, {"Max", 2, 0}, {"Min", 3, 0}, {"Avg", 4, 0}};
	nvtxPayloadEnumAttr_t attributes = {.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
							 NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
							 NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
							 NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
		.entries = operations,
		.numEntries = sizeof(operations) / sizeof(operations[0]),
		.sizeOfEnum = sizeof(int),
		.schemaId = STATIC_START + REDOP_ID};

	nvtxPayloadEnumRegister(domain, &attributes);
}

/* NCCL gives no size and no flag for the name. */
static void prepare(enum nccl_range_id id)
{
	const struct layout *l = &layouts[id];
	nvtxPayloadSchemaAttr_t attributes = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
		.name = l->name,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = l->entries,
		.numEntries = l->count,
		.schemaId = STATIC_START + l->id};

	pthread_mutex_lock(&lock);
	if (!domain) {
		domain = nvtxDomainCreateA("NCCL");
		register_operations();
	}
	if (!names[id]) {
		nvtxPayloadSchemaRegister(domain, &attributes);
		names[id] = nvtxDomainRegisterStringA(domain, l->function);
	}
	pthread_mutex_unlock(&lock);
}

void nccl_range_push(enum nccl_range_id id, const void *payload)
{
	nvtxPayloadData_t data = {STATIC_START + layouts[id].id, layouts[id].bytes, payload};
	nvtxEventAttributes_t event = {.version = NVTX_VERSION,
		.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.payloadType = NVTX_PAYLOAD_TYPE_EXT,
		.reserved0 = 1,
		.messageType = NVTX_MESSAGE_TYPE_REGISTERED};

	prepare(id);
	event.payload.ullValue = (uint64_t)(uintptr_t)&data;
	event.message.registered = names[id];
	nvtxDomainRangePushEx(domain, &event);
}

void nccl_range_pop(void)
{
	nvtxDomainRangePop(domain);
}
#else
void nccl_range_push(enum nccl_range_id id, const void *payload)
{
	(void)id;
	(void)payload;
}

void nccl_range_pop(void)
{
}
#endif
