/* nccl.c - all-to-all as a group of messages, as PyTorch makes it, and the other collectives. Only
 * the simulated NCCL knows the other ranks by an id that the demo makes up. */
#include "bench/demo/nccl.h"

#include "tests/standin/include/standin_nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct demo_nccl {
	uint64_t peers[DEMO_GROUPS]; /* ranks of each group; 0: it has not been joined */
	uint64_t ranks[DEMO_GROUPS]; /* this rank's place in it */
	ncclComm_t comms[DEMO_GROUPS];
	ncclResult_t (*init)(ncclComm_t *, int, ncclUniqueId, int);
	ncclResult_t (*destroy)(ncclComm_t);
	const char *(*error)(ncclResult_t);
	ncclResult_t (*start)(void);
	ncclResult_t (*end)(void);
	ncclResult_t (*send)(const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
	ncclResult_t (*receive)(void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
	ncclResult_t (*gather)(
		const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
	ncclResult_t (*reduce)(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t,
		ncclComm_t, cudaStream_t);
};

/* The simulated one is beside the simulated GPU; a search might find a real one. */
static void *load(void)
{
	void *simulation = dlsym(RTLD_DEFAULT, "standin_work");
	char path[PATH_MAX + 32];
	const char *slash;
	Dl_info info;

	if (!simulation || !dladdr(simulation, &info))
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	snprintf(path, sizeof(path), "%.*slibnccl.so.2",
		slash ? (int)(slash + 1 - info.dli_fname) : 0, info.dli_fname);
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static int find(struct demo_nccl *n)
{
	const struct {
		const char *name;
		void *slot;
	} symbols[] = {{"ncclCommInitRank", &n->init}, {"ncclCommDestroy", &n->destroy},
		{"ncclGetErrorString", &n->error}, {"ncclGroupStart", &n->start},
		{"ncclGroupEnd", &n->end}, {"ncclSend", &n->send}, {"ncclRecv", &n->receive},
		{"ncclAllGather", &n->gather}, {"ncclAllReduce", &n->reduce}};
	void *library = load();
	size_t i;

	for (i = 0; library && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(library, symbols[i].name);

		if (!found)
			return -1;
		memcpy(symbols[i].slot, &found, sizeof(found));
	}
	return library ? 0 : -1;
}

static int check(struct demo_nccl *n, const char *what, ncclResult_t result)
{
	if (result)
		fprintf(stderr, "demo: %s: %s\n", what, n->error(result));
	return result ? -1 : 0;
}

int demo_nccl_join(const struct demo_options *o, struct demo_nccl **out)
{
	const char *world = getenv("VPT_STANDIN_WORLD");
	struct demo_nccl *n;
	unsigned g;
	int rc = 0;

	*out = NULL;
	if (!world || !*world || !dlsym(RTLD_DEFAULT, "standin_work"))
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n || find(n)) {
		fprintf(stderr, "demo: the simulated libnccl.so.2 cannot be loaded\n");
		free(n);
		return -1;
	}
	for (g = 0; g < DEMO_GROUPS && !rc; g++) {
		struct demo_group group = demo_group(o, (enum demo_group_id)g);
		ncclUniqueId id = {{0}};

		if (group.ranks < 2)
			continue;
		snprintf(id.internal, sizeof(id.internal), "demo %u.%llu", g,
			(unsigned long long)group.number);
		n->peers[g] = group.ranks;
		n->ranks[g] = group.rank;
		rc = check(n, "ncclCommInitRank",
			n->init(&n->comms[g], (int)group.ranks, id, (int)group.rank));
	}
	*out = n;
	/* PyTorch's barrier. */
	if (!rc)
		rc = check(n, "ncclAllReduce",
			n->reduce(NULL, NULL, 1, ncclFloat32, ncclSum, n->comms[DEMO_ALL_RANKS],
				NULL));
	return rc;
}

void demo_nccl_leave(struct demo_nccl *n)
{
	unsigned g;

	for (g = 0; n && g < DEMO_GROUPS; g++)
		if (n->comms[g])
			n->destroy(n->comms[g]);
	free(n);
}

static ncclResult_t all_to_all(
	struct demo_nccl *n, uint64_t bytes, enum demo_group_id g, cudaStream_t stream)
{
	ncclComm_t comm = n->comms[g];
	ncclResult_t result = n->start(), end;
	uint64_t part = bytes / n->peers[g];
	int peer;

	for (peer = 0; !result && (uint64_t)peer < n->peers[g]; peer++) {
		result = n->send(NULL, part, ncclInt8, peer, comm, stream);
		if (!result)
			result = n->receive(NULL, part, ncclInt8, peer, comm, stream);
	}
	end = n->end();
	return result ? result : end;
}

/* To the next rank, and from the one before. */
static ncclResult_t pass_on(
	struct demo_nccl *n, uint64_t bytes, enum demo_group_id g, cudaStream_t stream)
{
	int ranks = (int)n->peers[g], rank = (int)n->ranks[g];
	ncclResult_t result = n->start(), end;

	if (!result)
		result = n->send(NULL, bytes, ncclInt8, (rank + 1) % ranks, n->comms[g], stream);
	if (!result)
		result = n->receive(
			NULL, bytes, ncclInt8, (rank + ranks - 1) % ranks, n->comms[g], stream);
	end = n->end();
	return result ? result : end;
}

int demo_nccl_do(struct demo_nccl *n, const struct demo_deed *d, void *stream)
{
	ncclComm_t comm = n->comms[d->group];

	if (d->to_next)
		return check(n, "ring", pass_on(n, d->bytes, d->group, stream));
	if (d->kernel == DEMO_K_ALL_TO_ALL)
		return check(n, "all-to-all", all_to_all(n, d->bytes, d->group, stream));
	return check(n, "ncclAllGather", n->gather(NULL, NULL, d->bytes, ncclInt8, comm, stream));
}
