/* nccl_ranges.h - NVTX ranges of the domain "NCCL" with payloads, as NCCL 2.27 emits them: the
 * layout of a function is registered with its first call. Nothing without an NVTX tool. */
#ifndef VPT_STANDIN_NCCL_RANGES_H
#define VPT_STANDIN_NCCL_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* What the payloads have, in the order of their fields. */
enum nccl_range_id {
	NCCL_COMM_INIT_RANK,
	NCCL_COMM_DESTROY,
	NCCL_COMM_ABORT,
	NCCL_ALL_GATHER,
	NCCL_ALL_REDUCE,
	NCCL_BROADCAST,
	NCCL_REDUCE_SCATTER,
	NCCL_REDUCE,
	NCCL_SEND,
	NCCL_RECV,
	NCCL_RANGES
};

struct nccl_init_payload {
	uint64_t comm;
	int ranks, rank, device;
};

struct nccl_payload {
	uint64_t comm;
	size_t bytes;
	int third, fourth; /* operation, root or peer; root and operation of a reduce */
};

void nccl_range_push(enum nccl_range_id id, const void *payload);
void nccl_range_pop(void);

#endif
