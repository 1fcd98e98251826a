/* world.c - a file that the processes of a job share, in which they post their arrivals.
 *
 *	world   header | communicator | communicator ...        claimed by id, first come
 *	communicator   bell | rank in the world of each member | channels[kind][from][to]
 *	channel        how many were posted | the last of them, in a ring
 *
 * A collective is a post to each member and one from each. A message is a post of the sender and one
 * of the receiver, each waiting for the other's. A process holds a lock on the byte of its rank, so
 * that the others see when it has ended, however it did. */
#include "tests/standin/cuda/world.h"

#include "tests/standin/cuda/device_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING = 2 * SIM_MESSAGES_MAX, LOOK_MS = 50, WAIT_S = 60 };
enum channel_kind { TOGETHER, SENDING, RECEIVING, KINDS };

struct post {
	uint64_t arrival_ns, transfer_ns, what; /* the arrival on the clock of all */
};

struct channel {
	_Atomic uint64_t count;
	struct post posts[RING];
};

struct member {
	_Atomic uint32_t world_rank_1; /* plus one; 0: has not come */
};

struct area {
	_Atomic uint64_t id;   /* 0: free */
	_Atomic uint32_t bell; /* changes with each post */
	struct member members[SIM_RANKS_MAX];
	struct channel channels[KINDS][SIM_RANKS_MAX][SIM_RANKS_MAX];
};

struct world {
	struct area areas[SIM_COMMS_MAX];
};

struct sim_comm {
	struct area *area;
	unsigned ranks, rank;
	uint64_t sequence, groups;
	uint64_t done[KINDS][SIM_RANKS_MAX]; /* posts of this rank to each */
	struct kept *kept;
	struct sim_comm *next;
};

struct kept {
	struct sim_collective collective;
	struct kept *next;
};

static struct world *world;
static int world_file = -1;
static unsigned world_rank;
static struct sim_comm *comms;

static int wrong(const char *sentence)
{
	fprintf(stderr, "stand-in: %s\n", sentence);
	return cudaErrorLaunchFailure;
}

/* ---- clocks ---- */

int sim_rank_word(const char *word, int64_t *value)
{
	uint64_t number;

	if (!sim_word("VPT_STANDIN_RANK", word, &number))
		return 0;
	if (value)
		*value = (int64_t)number;
	return 1;
}

static int64_t setting(const char *word)
{
	int64_t value = 0;

	sim_rank_word(word, &value);
	return value;
}

uint64_t sim_world_local_ns(uint64_t true_ns)
{
	__int128 drift = (__int128)true_ns * setting("drift") / 1000000;

	return STANDIN_EPOCH_NS + (uint64_t)(setting("offset") + (int64_t)true_ns + (int64_t)drift);
}

uint64_t sim_world_true_ns(uint64_t local_ns)
{
	__int128 passed = (__int128)local_ns - STANDIN_EPOCH_NS - setting("offset");

	return (uint64_t)(passed * 1000000 / (1000000 + setting("drift")));
}

/* ---- joining ---- */

static struct flock byte_of(unsigned rank, short type)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
}

static int join(void)
{
	const char *path = getenv("VPT_STANDIN_WORLD"), *rank = getenv("RANK");
	struct flock mine;
	void *mapped;

	if (!rank)
		rank = getenv("SLURM_PROCID");
	if (world)
		return 0;
	if (!path || !*path || !rank)
		return wrong("a communicator of several ranks: expected the job's file in "
			     "VPT_STANDIN_WORLD and this process's rank in RANK or "
			     "SLURM_PROCID");
	world_rank = (unsigned)atoi(rank);
	world_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (world_file < 0 || ftruncate(world_file, sizeof(*world)))
		return wrong("the file that VPT_STANDIN_WORLD names cannot be opened and written");
	mapped = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED, world_file, 0);
	if (mapped == MAP_FAILED)
		return wrong("no memory for the file that VPT_STANDIN_WORLD names");
	mine = byte_of(world_rank, F_WRLCK);
	if (fcntl(world_file, F_SETLK, &mine))
		return wrong("RANK: another process of this VPT_STANDIN_WORLD has the same rank");
	world = mapped;
	return 0;
}

static struct area *claim(uint64_t id)
{
	for (unsigned i = 0; i < SIM_COMMS_MAX; i++) {
		uint64_t found = 0;

		if (atomic_compare_exchange_strong(&world->areas[i].id, &found, id) || found == id)
			return &world->areas[i];
	}
	return NULL;
}

static void ring_bell(struct area *a)
{
	atomic_fetch_add(&a->bell, 1);
	syscall(SYS_futex, &a->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct sim_comm *sim_comm_open(uint64_t id, unsigned ranks, unsigned rank)
{
	struct sim_comm *comm;
	struct area *area;

	if (!ranks || ranks > SIM_RANKS_MAX || rank >= ranks) {
		wrong("a communicator: expected 1 to 64 ranks and a rank among them");
		return NULL;
	}
	if (ranks == 1) { /* meets nobody, in no file */
		area = calloc(1, sizeof(*area));
		sim_may_stay(area);
	} else {
		area = join() ? NULL : claim(id);
	}
	comm = area ? calloc(1, sizeof(*comm)) : NULL;
	if (!comm) {
		if (world || ranks == 1)
			wrong("a communicator: expected at most 32 of them in a job, and memory");
		return NULL;
	}
	*comm = (struct sim_comm){.area = area, .ranks = ranks, .rank = rank, .next = comms};
	comms = comm;
	sim_may_stay(comm);
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned to = 0; to < ranks; to++)
			comm->done[kind][to] = atomic_load(&area->channels[kind][rank][to].count);
	atomic_store(&area->members[rank].world_rank_1, world_rank + 1);
	ring_bell(area);
	return comm;
}

unsigned sim_comm_ranks(const struct sim_comm *comm)
{
	return comm->ranks;
}

unsigned sim_comm_rank(const struct sim_comm *comm)
{
	return comm->rank;
}

uint64_t sim_comm_id(const struct sim_comm *comm)
{
	return atomic_load(&comm->area->id);
}

const struct sim_collective *sim_collective_keep(const struct sim_collective *c)
{
	struct kept *k;

	for (k = c->comm->kept; k && memcmp(&k->collective, c, sizeof(*c)); k = k->next)
		continue;
	if (k)
		return &k->collective;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	sim_may_stay(k);
	memcpy(&k->collective, c, sizeof(*c));
	k->next = c->comm->kept;
	c->comm->kept = k;
	return &k->collective;
}

/* ---- meeting ---- */

static int is_together(const struct sim_collective *c)
{
	for (unsigned r = 0; r < c->comm->ranks; r++)
		if (c->sends[r] || c->receives[r])
			return 0;
	return 1;
}

static unsigned messages(const struct sim_collective *c, enum channel_kind kind, unsigned peer)
{
	switch (kind) {
	case SENDING:
		return c->sends[peer];
	case RECEIVING:
		return c->receives[peer];
	default:
		return is_together(c) && peer != c->comm->rank;
	}
}

static enum channel_kind answer_to(enum channel_kind kind)
{
	return kind == SENDING ? RECEIVING : kind == RECEIVING ? SENDING : TOGETHER;
}

static void put(
	const struct sim_collective *c, enum channel_kind kind, unsigned peer, struct post p)
{
	struct sim_comm *comm = c->comm;
	struct channel *ch = &comm->area->channels[kind][comm->rank][peer];

	for (unsigned i = messages(c, kind, peer); i; i--) {
		ch->posts[comm->done[kind][peer]++ % RING] = p;
		atomic_store_explicit(&ch->count, comm->done[kind][peer], memory_order_release);
	}
}

/* Whether a member has come and gone. */
static int has_ended(const struct sim_comm *comm, unsigned peer)
{
	uint32_t found = atomic_load(&comm->area->members[peer].world_rank_1);
	struct flock held = byte_of(found - 1, F_WRLCK);

	if (!found || found == world_rank + 1)
		return 0;
	return !fcntl(world_file, F_GETLK, &held) && held.l_type == F_UNLCK;
}

static uint64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t wait_limit_ms(void)
{
	const char *seconds = getenv("VPT_STANDIN_WAIT_S");

	return (seconds ? strtoull(seconds, NULL, 10) : WAIT_S) * 1000;
}

static int absent(const struct sim_comm *comm, unsigned peer, const char *why)
{
	char sentence[160];

	snprintf(sentence, sizeof(sentence),
		"rank %u waits for rank %u of %u in communicator 0x%" PRIx64 ": %s", comm->rank,
		peer, comm->ranks, sim_comm_id(comm), why);
	return wrong(sentence);
}

/* Waits until `peer` has posted `count` times. */
static int await(const struct sim_comm *comm, enum channel_kind kind, unsigned peer, uint64_t count)
{
	struct channel *ch = &comm->area->channels[kind][peer][comm->rank];
	const struct timespec look = {0, LOOK_MS * 1000000L};
	uint64_t until = 0;

	for (;;) {
		uint32_t bell = atomic_load(&comm->area->bell);
		int gone;

		if (atomic_load_explicit(&ch->count, memory_order_acquire) >= count)
			return 0;
		if (!until)
			until = real_ms() + wait_limit_ms();
		syscall(SYS_futex, &comm->area->bell, FUTEX_WAIT, bell, &look, NULL, 0);
		gone = has_ended(comm, peer);
		/* It may have posted just before its end. */
		if (atomic_load_explicit(&ch->count, memory_order_acquire) >= count)
			return 0;
		if (gone)
			return absent(comm, peer, "that process has ended");
		if (real_ms() >= until)
			return absent(comm, peer, "it did not come in VPT_STANDIN_WAIT_S seconds");
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Waits for the answers to what this rank posted to `peer` last. */
static int take(const struct sim_collective *c, enum channel_kind kind, unsigned peer,
	struct post own, struct post *last)
{
	struct sim_comm *comm = c->comm;
	enum channel_kind from = answer_to(kind);
	struct channel *ch = &comm->area->channels[from][peer][comm->rank];
	uint64_t first = comm->done[kind][peer] - messages(c, kind, peer);

	for (uint64_t i = first; i < comm->done[kind][peer]; i++) {
		const struct post *p = &ch->posts[i % RING];
		int error = await(comm, from, peer, i + 1);

		if (error)
			return error;
		if (kind == TOGETHER && p->what != own.what)
			return absent(
				comm, peer, "it is in another operation, or one of another size");
		last->arrival_ns = later(last->arrival_ns, p->arrival_ns);
		last->transfer_ns = later(last->transfer_ns, p->transfer_ns);
	}
	return 0;
}

int sim_meet(const struct sim_collective *c, uint64_t arrival_ns, struct sim_met *out)
{
	struct sim_comm *comm = c->comm;
	int64_t slower = 100;
	struct post own = {.arrival_ns = sim_world_true_ns(arrival_ns), .what = c->what}, last;
	uint64_t skew_ns = (uint64_t)setting("skew");
	int error = 0;

	sim_rank_word("link", &slower);
	own.transfer_ns = c->transfer_ns * (uint64_t)slower / 100;
	last = own;
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned peer = 0; peer < comm->ranks; peer++)
			put(c, kind, peer, own);
	ring_bell(comm->area);
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned peer = 0; peer < comm->ranks && !error; peer++)
			error = take(c, kind, peer, own, &last);
	if (error)
		return error;
	*out = (struct sim_met){.sequence = is_together(c) ? comm->sequence++ : comm->groups++,
		.last_ns = sim_world_local_ns(last.arrival_ns),
		.transfer_ns = last.transfer_ns,
		.skew_ns = skew_ns,
		.end_ns = sim_world_local_ns(last.arrival_ns + last.transfer_ns + skew_ns)};
	return 0;
}
