/* ledger.c - the stand-in's own books: how many ops have ended, the log of ops, the ledger at exit.
 *
 * An op counts when the clock has passed its end, which is known before it comes; until then its
 * end waits in a list that is sifted whenever it is full, so that it costs little and holds no more
 * than twice what is really pending. */
#include "tests/standin/cuda/device_state.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct standin_counts counts;
static uint64_t ended[SIM_TYPES];

static struct pending {
	uint64_t end_ns;
	enum sim_type type;
} * pending;
static size_t pending_count, pending_room;

static FILE *op_log;
static int op_log_asked;
static int forked; /* this process came by a fork; the parent's files are not its own */

struct standin_counts *sim_counts(void)
{
	return &counts;
}

static void sift(void)
{
	uint64_t now = standin_now();
	size_t kept = 0;

	for (size_t i = 0; i < pending_count; i++)
		if (pending[i].end_ns > now)
			pending[kept++] = pending[i];
		else
			ended[pending[i].type]++;
	pending_count = kept;
}

static void note(const struct sim_op *op)
{
	if (pending_count == pending_room) {
		sift();
		if (pending_count * 2 >= pending_room) {
			size_t room = pending_room ? pending_room * 2 : 4096;
			struct pending *p = realloc(pending, room * sizeof(*p));

			if (!p)
				abort(); /* the books would be wrong */
			pending = p;
			pending_room = room;
		}
	}
	pending[pending_count++] = (struct pending){op->end_ns, op->work->type};
}

/* The file that a setting names, opened for writing; %p is the process's number. NULL: none. */
static FILE *open_setting(const char *setting)
{
	const char *text = getenv(setting), *mark;
	char path[4096];

	if (!text || !*text)
		return NULL;
	mark = strstr(text, "%p");
	if (!mark)
		return forked ? NULL : fopen(text, "we");
	snprintf(path, sizeof(path), "%.*s%d%s", (int)(mark - text), text, (int)getpid(), mark + 2);
	return fopen(path, "we");
}

/* A fork while another thread is in a call would leave its lock, and half a line of the log, to the
 * child for ever. */
static void before_fork(void)
{
	sim_lock();
	if (op_log)
		fflush(op_log);
}

static void after_fork_in_child(void)
{
	forked = 1;
	op_log = NULL;
	op_log_asked = 0;
	sim_lock_forked();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, sim_unlock, after_fork_in_child);
}

void sim_log_op(const struct sim_op *op, const struct sim_met *met)
{
	static const char *const kinds[SIM_TYPES] = {"kernel", "memcpy", "memset", "host"};
	const struct sim_work *w = op->work;

	note(op);
	if (!op_log_asked) {
		op_log_asked = 1;
		op_log = open_setting("VPT_STANDIN_LOG");
		if (op_log && getenv("VPT_STANDIN_LOG_LINES"))
			setvbuf(op_log, NULL, _IOLBF, BUFSIZ);
	}
	if (!op_log)
		return;
	fprintf(op_log, "%" PRIu64 " %" PRIu64 " %u %s %s %u %u %" PRIu64 " %u %" PRIu64,
		op->start_ns, op->end_ns, op->stream, kinds[w->type], w->name ? w->name : "-",
		op->correlation, op->device, w->bytes, op->graph, op->graph_node);
	if (w->collective)
		fprintf(op_log, " 0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			sim_comm_id(w->collective->comm), met->sequence, met->last_ns,
			met->transfer_ns, met->skew_ns);
	putc('\n', op_log);
}

void standin_counts(struct standin_counts *out)
{
	sim_lock();
	sift();
	counts.kernels = ended[SIM_KERNEL];
	counts.copies = ended[SIM_COPY];
	counts.memsets = ended[SIM_MEMSET];
	*out = counts;
	sim_unlock();
}

/* The fields of the ledger, by name. */
static const struct {
	const char *name;
	size_t offset;
} fields[] = {
#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct standin_counts, name)                                       \
	}
	FIELD(kernels),
	FIELD(copies),
	FIELD(memsets),
	FIELD(calls),
	FIELD(syncs),
	FIELD(overheads),
	FIELD(delivered),
	FIELD(dropped),
	FIELD(buffers_requested),
	FIELD(buffers_refused),
	FIELD(buffers_completed),
	FIELD(held),
	FIELD(op_records),
	FIELD(records),
	FIELD(callbacks),
	FIELD(heap_calls),
	FIELD(heap_guarded),
#undef FIELD
};

__attribute__((destructor)) static void write_ledger(void)
{
	struct standin_counts c;
	FILE *f = open_setting("VPT_STANDIN_LEDGER");

	if (op_log)
		fclose(op_log);
	op_log = NULL;
	if (!f)
		return;
	standin_counts(&c);
	fprintf(f, "{\"now_ns\": %" PRIu64, standin_now());
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t value;

		memcpy(&value, (const char *)&c + fields[i].offset, sizeof(value));
		fprintf(f, ", \"%s\": %" PRIu64, fields[i].name, value);
	}
	fprintf(f, "}\n");
	fclose(f);
}
