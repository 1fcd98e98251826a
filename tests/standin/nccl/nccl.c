/* nccl.c - NCCL's collectives and messages, as kernels that end when all ranks have come.
 *
 * Calls of one group are one kernel for each communicator, as NCCL fuses them; collectives and
 * messages are not put into one. A call outside of a group is a group of its own. What it omits:
 * ncclCommSplit, ncclCommInitAll, nonblocking communicators, and that a group makes the calls of its
 * communicators at once. */
#include "tests/standin/include/standin_nccl.h"

#include "tests/standin/nccl/nccl_ranges.h"
#include "tests/standin/cuda/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PENDING_MAX = 16, BLOCKS = 16 };

struct ncclComm {
	struct sim_comm *members;
	uint64_t id;
	int ranks, rank, device;
};

/* A kernel of the group that is open on this thread. */
struct pending {
	ncclComm_t comm;
	cudaStream_t stream;
	int is_message;
	unsigned peers; /* messages to and from others */
	char name[136];
	uint64_t out_bytes, in_bytes; /* that pass this rank's link */
	struct sim_collective what;
};

static __thread struct pending pending[PENDING_MAX];
static __thread unsigned pending_count, depth;
static __thread ncclResult_t group_error;

/* ---- what moves ---- */

static size_t size_of(ncclDataType_t type)
{
	static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

	return (size_t)type < sizeof(bytes) / sizeof(bytes[0]) ? bytes[type] : 0;
}

static const char *type_name(ncclDataType_t type)
{
	static const char *const names[] = {
		"u8", "u8", "u32", "u32", "u64", "u64", "f16", "f32", "f64", "bf16"};

	return names[type];
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	for (int i = 0; i < 8; i++, value >>= 8)
		hash = (hash ^ (value & 0xff)) * 1099511628211u;
	return hash;
}

/* "AllReduce_Sum_bf16_RING_LL" as the compiler mangles NCCL's kernel of that name. */
static void kernel_name(char *out, size_t size, const char *function, const char *types)
{
	char name[80];
	int length = snprintf(name, sizeof(name), "ncclDevKernel_%s%s", function, types);

	snprintf(out, size, "_Z%d%s24ncclDevKernelArgsStorageILm4096EE", length, name);
}

static struct pending *pending_of(ncclComm_t comm, cudaStream_t stream, int is_message)
{
	struct pending *p;

	for (unsigned i = 0; i < pending_count; i++)
		if (pending[i].comm == comm && pending[i].is_message == is_message)
			return &pending[i];
	if (pending_count == PENDING_MAX)
		return NULL;
	p = &pending[pending_count++];
	memset(p, 0, sizeof(*p));
	p->comm = comm;
	p->stream = stream;
	p->is_message = is_message;
	p->what.what = 14695981039346656037u;
	return p;
}

static ncclResult_t launch(struct pending *p)
{
	uint64_t bytes = p->out_bytes > p->in_bytes ? p->out_bytes : p->in_bytes;
	struct sim_call call;
	int error;

	if (p->is_message && !p->peers && p->comm->ranks > 1)
		return ncclInvalidUsage; /* messages to this rank alone are not simulated */
	error = sim_enter(&call, SIM_cuLaunchKernelEx);
	if (error)
		return ncclUnhandledCudaError;
	p->what.comm = p->comm->members;
	p->what.transfer_ns =
		STANDIN_LINK_NS + (bytes * 1000 + STANDIN_LINK_RATE - 1) / STANDIN_LINK_RATE;
	error = sim_launch_collective(&call, p->name, BLOCKS, &p->what, p->stream);
	sim_leave(&call, error);
	return error == cudaErrorLaunchFailure ? ncclRemoteError
	       : error                         ? ncclUnhandledCudaError
					       : ncclSuccess;
}

ncclResult_t ncclGroupStart(void)
{
	depth++;
	return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
	ncclResult_t result = group_error;

	if (!depth)
		return ncclInvalidUsage;
	if (--depth)
		return ncclSuccess;
	for (unsigned i = 0; i < pending_count && !result; i++)
		result = launch(&pending[i]);
	pending_count = 0;
	group_error = ncclSuccess;
	return result;
}

/* Adds a collective to the group. `passes`: the part of `bytes` that passes a rank's link. */
static ncclResult_t add(ncclComm_t comm, cudaStream_t stream, enum nccl_range_id id, size_t bytes,
	double passes, const char *function, const char *types)
{
	struct pending *p;

	ncclGroupStart();
	p = pending_of(comm, stream, 0);
	if (!p) {
		group_error = ncclInvalidUsage;
		return ncclGroupEnd();
	}
	if (!p->name[0])
		kernel_name(p->name, sizeof(p->name), function, types);
	p->out_bytes += (uint64_t)((double)bytes * passes);
	p->what.bytes += bytes;
	p->what.what = mix(mix(p->what.what, id), bytes);
	return ncclGroupEnd();
}

static ncclResult_t add_message(
	ncclComm_t comm, cudaStream_t stream, size_t bytes, int peer, int is_send)
{
	struct pending *p;
	uint8_t *count;

	ncclGroupStart();
	p = pending_of(comm, stream, 1);
	if (!p || peer < 0 || peer >= comm->ranks) {
		group_error = p ? ncclInvalidArgument : ncclInvalidUsage;
		return ncclGroupEnd();
	}
	kernel_name(p->name, sizeof(p->name), "SendRecv", "");
	p->what.bytes += is_send ? bytes : 0;
	if (peer != comm->rank) { /* else it is a copy on this GPU */
		p->peers++;
		*(is_send ? &p->out_bytes : &p->in_bytes) += bytes;
		count = is_send ? &p->what.sends[peer] : &p->what.receives[peer];
		if (++*count > SIM_MESSAGES_MAX)
			group_error = ncclInvalidUsage;
	}
	return ncclGroupEnd();
}

/* ---- the API ---- */

ncclResult_t ncclGetVersion(int *version)
{
	*version = STANDIN_NCCL_VERSION;
	return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
	static const char *const texts[] = {"no error", "a CUDA call failed",
		"a system call failed", "an error of the stand-in",
		"an argument has a value that cannot be", "a call that cannot be here",
		"another rank is missing or does something else"};

	return (unsigned)result < sizeof(texts) / sizeof(texts[0]) ? texts[result]
								   : "unrecognized result";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	return getrandom(id, sizeof(*id), 0) == (ssize_t)sizeof(*id) ? ncclSuccess
								     : ncclSystemError;
}

static uint64_t id_of(const ncclUniqueId *id, int ranks)
{
	uint64_t hash = mix(14695981039346656037u, (uint64_t)ranks);

	for (size_t i = 0; i < sizeof(id->internal); i++)
		hash = mix(hash, (unsigned char)id->internal[i]);
	return hash ? hash : 1;
}

/* All ranks leave it at one moment, STANDIN_INIT_NS after the last has come. */
static ncclResult_t meet_all(struct ncclComm *c)
{
	struct sim_collective what = {
		.comm = c->members, .what = UINT64_MAX, .transfer_ns = STANDIN_INIT_NS};
	struct sim_met met;
	int error;

	sim_lock();
	error = sim_meet(&what, standin_now(), &met);
	if (!error)
		sim_wait_until(met.end_ns - met.skew_ns);
	sim_unlock();
	return error ? ncclRemoteError : ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
	struct nccl_init_payload payload;
	struct ncclComm *c;
	ncclResult_t result;

	*comm = NULL;
	if (ranks < 1 || rank < 0 || rank >= ranks)
		return ncclInvalidArgument;
	c = calloc(1, sizeof(*c));
	if (!c)
		return ncclSystemError;
	*c = (struct ncclComm){
		.id = id_of(&id, ranks), .ranks = ranks, .rank = rank, .device = sim_get_device()};
	sim_lock();
	c->members = sim_comm_open(c->id, (unsigned)ranks, (unsigned)rank);
	sim_unlock();
	payload = (struct nccl_init_payload){c->id, ranks, rank, c->device};
	nccl_range_push(NCCL_COMM_INIT_RANK, &payload);
	result = c->members ? meet_all(c) : ncclSystemError;
	nccl_range_pop();
	if (result)
		free(c);
	else
		*comm = c;
	return result;
}

static ncclResult_t end_comm(ncclComm_t comm, enum nccl_range_id id)
{
	struct nccl_init_payload payload;

	if (!comm)
		return ncclSuccess;
	payload = (struct nccl_init_payload){comm->id, comm->ranks, comm->rank, comm->device};
	nccl_range_push(id, &payload);
	free(comm);
	nccl_range_pop();
	return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	return end_comm(comm, NCCL_COMM_DESTROY);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	return end_comm(comm, NCCL_COMM_ABORT);
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count)
{
	*count = comm->ranks;
	return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank)
{
	*rank = comm->rank;
	return ncclSuccess;
}

/* The part of a message that passes each link, where a ring of n ranks moves it once. */
static double once(ncclComm_t comm)
{
	return (double)(comm->ranks - 1) / comm->ranks;
}

static const char *op_name(ncclRedOp_t op)
{
	static const char *const names[] = {"Sum", "Prod", "MinMax", "MinMax", "SumPostDiv"};

	return (unsigned)op < sizeof(names) / sizeof(names[0]) ? names[op] : "Sum";
}

/* A collective under its range; `third` and `fourth` as in struct nccl_payload. */
static ncclResult_t collective(ncclComm_t comm, cudaStream_t stream, enum nccl_range_id id,
	size_t count, ncclDataType_t type, double passes, const char *function, const char *types,
	int third, int fourth)
{
	struct nccl_payload payload;
	ncclResult_t result;

	if (!comm || !size_of(type))
		return ncclInvalidArgument;
	payload = (struct nccl_payload){comm->id, count * size_of(type), third, fourth};
	nccl_range_push(id, &payload);
	result = add(comm, stream, id, payload.bytes, passes, function, types);
	nccl_range_pop();
	return result;
}

static void reduce_types(char out[48], ncclRedOp_t op, ncclDataType_t type)
{
	snprintf(out, 48, "_%s_%s_RING_LL", op_name(op), size_of(type) ? type_name(type) : "");
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
	ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
	char types[48];

	(void)send;
	(void)receive;
	reduce_types(types, op, type);
	return collective(comm, stream, NCCL_ALL_REDUCE, count, type, comm ? 2 * once(comm) : 0,
		"AllReduce", types, (int)op, 0);
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type,
	int root, ncclComm_t comm, cudaStream_t stream)
{
	(void)send;
	(void)receive;
	return collective(
		comm, stream, NCCL_BROADCAST, count, type, 1, "Broadcast", "_RING_LL", root, 0);
}

ncclResult_t ncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
	ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
	char types[48];

	(void)send;
	(void)receive;
	reduce_types(types, op, type);
	return collective(
		comm, stream, NCCL_REDUCE, count, type, 1, "Reduce", types, root, (int)op);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t send_count, ncclDataType_t type,
	ncclComm_t comm, cudaStream_t stream)
{
	(void)send;
	(void)receive;
	return collective(comm, stream, NCCL_ALL_GATHER, send_count, type,
		comm ? comm->ranks - 1 : 0, "AllGather", "_RING_LL", 0, 0);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t receive_count,
	ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
	char types[48];

	(void)send;
	(void)receive;
	reduce_types(types, op, type);
	return collective(comm, stream, NCCL_REDUCE_SCATTER, receive_count, type,
		comm ? comm->ranks - 1 : 0, "ReduceScatter", types, (int)op, 0);
}

static ncclResult_t message(size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
	cudaStream_t stream, int is_send)
{
	struct nccl_payload payload;
	ncclResult_t result;

	if (!comm || !size_of(type))
		return ncclInvalidArgument;
	payload = (struct nccl_payload){comm->id, count * size_of(type), peer, 0};
	nccl_range_push(is_send ? NCCL_SEND : NCCL_RECV, &payload);
	result = add_message(comm, stream, payload.bytes, peer, is_send);
	nccl_range_pop();
	return result;
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
	ncclComm_t comm, cudaStream_t stream)
{
	(void)send;
	return message(count, type, peer, comm, stream, 1);
}

ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
	cudaStream_t stream)
{
	(void)receive;
	return message(count, type, peer, comm, stream, 0);
}
