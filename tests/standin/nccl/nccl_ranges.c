/* nccl_ranges.c - the layouts of NCCL's payloads, registered with the first range of each. */
#include "tests/standin/nccl/nccl_ranges.h"

#include "tests/standin/nccl/nvtx.h"

#include <pthread.h>

#define ENTRY(type_id, text, at)                                                                   \
	{                                                                                          \
		.type = (type_id), .name = (text), .offset = (at)                                  \
	}
#define COMM      ENTRY(VTR_NVTX_UINT64, "NCCL communicator ID", 0)
#define BYTES     ENTRY(VTR_NVTX_SIZE, "Message size [bytes]", 8)
#define REDOP(at) ENTRY(VTR_NVTX_FIRST_STATIC_ID + REDOP_ID, "Reduction operation", at)

enum { REDOP_ID = 14, INIT_BYTES = 24 };

static const struct vtr_nvtx_entry init_entries[] = {COMM, ENTRY(VTR_NVTX_INT, "No. of ranks", 8),
	ENTRY(VTR_NVTX_INT, "Rank", 12), ENTRY(VTR_NVTX_INT, "CUDA device", 16)};
static const struct vtr_nvtx_entry gather_entries[] = {COMM, BYTES};
static const struct vtr_nvtx_entry reduce_all_entries[] = {COMM, BYTES, REDOP(16)};
static const struct vtr_nvtx_entry root_entries[] = {COMM, BYTES, ENTRY(VTR_NVTX_INT, "Root", 16)};
static const struct vtr_nvtx_entry reduce_entries[] = {
	COMM, BYTES, ENTRY(VTR_NVTX_INT, "Root", 16), REDOP(20)};
static const struct vtr_nvtx_entry peer_entries[] = {
	COMM, BYTES, ENTRY(VTR_NVTX_INT, "Peer rank", 16)};

#define LAYOUT(number, text, entries, size_bytes)                                                  \
	{                                                                                          \
		number, text, "nccl" text, entries, sizeof(entries) / sizeof((entries)[0]),        \
			size_bytes                                                                 \
	}

static const struct layout {
	uint64_t id;
	const char *name, *function;
	const struct vtr_nvtx_entry *entries;
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

static void *domain;
static void *names[NCCL_RANGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void register_operations(void)
{
	static const struct { /* nvtxPayloadEnum_t */
		const char *name;
		uint64_t value;
		int8_t is_flag;
	} operations[] = {
		{"Sum", 0, 0}, {"Prod", 1, 0}, {"Max", 2, 0}, {"Min", 3, 0}, {"Avg", 4, 0}};
	struct vtr_nvtx_enum values = {.fields = VTR_NVTX_ENUM_HAS_ENTRIES |
						 VTR_NVTX_ENUM_HAS_COUNT | VTR_NVTX_ENUM_HAS_SIZE |
						 VTR_NVTX_ENUM_HAS_ID,
		.entries = operations,
		.entry_count = sizeof(operations) / sizeof(operations[0]),
		.value_bytes = sizeof(int),
		.id = VTR_NVTX_FIRST_STATIC_ID + REDOP_ID};

	nvtx_enum(domain, &values);
}

/* NCCL gives no size and no flag for the name. */
static void prepare(enum nccl_range_id id)
{
	const struct layout *l = &layouts[id];
	struct vtr_nvtx_schema schema = {
		.fields = VTR_NVTX_SCHEMA_HAS_TYPE | VTR_NVTX_SCHEMA_HAS_ENTRIES |
			  VTR_NVTX_SCHEMA_HAS_COUNT | VTR_NVTX_SCHEMA_HAS_SIZE |
			  VTR_NVTX_SCHEMA_HAS_ID,
		.name = l->name,
		.type = VTR_NVTX_SCHEMA_STATIC,
		.entries = l->entries,
		.entry_count = l->count,
		.id = VTR_NVTX_FIRST_STATIC_ID + l->id};

	pthread_mutex_lock(&lock);
	if (!domain) {
		domain = nvtx_domain("NCCL");
		register_operations();
	}
	if (!names[id]) {
		nvtx_schema(domain, &schema);
		names[id] = nvtx_string(domain, l->function);
	}
	pthread_mutex_unlock(&lock);
}

void nccl_range_push(enum nccl_range_id id, const void *payload)
{
	struct vtr_nvtx_blob blob = {
		VTR_NVTX_FIRST_STATIC_ID + layouts[id].id, layouts[id].bytes, payload};

	prepare(id);
	nvtx_push(domain, names[id], &blob);
}

void nccl_range_pop(void)
{
	nvtx_pop(domain);
}
