/* cupti_faults.c - the settings of the stand-in's libcupti, and how it misbehaves on purpose.
 * README.md says what each word does. */
#include "tests/standin/cupti/cupti_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { NAME_BYTES = 512, NAME_SLOTS = 256 };

/* Names of one buffer, in pages that go away some time after it was delivered. */
struct cupti_names {
	char *pages;
	const char *lasting[NAME_SLOTS]; /* by slot */
	unsigned count, turn; /* turn: shifts the slots each time the pages are used again */
	uint64_t expire_ms;
	struct cupti_names *next;
};

static struct cupti_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cupti_names *expiring, *idle;
static uint64_t op_records, buffers;

static const struct {
	const char *word;
	size_t offset;
	uint64_t plain; /* its number when none is given */
} periods[] = {
#define PERIOD(word, field, plain)                                                                 \
	{                                                                                          \
		word, offsetof(struct cupti_faults, field), plain                                  \
	}
	PERIOD("zero-times", zero_times, 10),
	PERIOD("reversed", reversed, 10),
	PERIOD("out-of-order", out_of_order, 1),
	PERIOD("unknown-kind", unknown_kind, 1),
	PERIOD("truncated-tail", truncated_tail, 1),
	PERIOD("unmap-names", unmap_names_ms, 50),
	PERIOD("reuse-names", reuse_names_ms, 50),
	PERIOD("foreign-buffer", foreign_buffer, 1),
	PERIOD("stolen", stolen, 100),
	PERIOD("hang-flush", hang_flush, 1),
	PERIOD("late", late_ms, 50),
	PERIOD("fatal", fatal, 100),
	PERIOD("clock-ahead", clock_ahead_ms, 5),
#undef PERIOD
};

enum { AFTER_MS = 20 };

static void read_settings(void)
{
	const char *version = getenv("VPT_STANDIN_CUPTI");
	const char *completion = getenv("VPT_STANDIN_COMPLETE");
	const char *buffer_setting = getenv("VPT_STANDIN_BUFFERS");
	struct cupti_settings *s = &settings;

	s->version = version && *version ? (uint32_t)strtoul(version, NULL, 10) : CUPTI_NEWEST;
	if (completion && !strcmp(completion, "caller")) {
		s->completion = COMPLETE_CALLER;
	} else if (completion && !strncmp(completion, "after", 5)) {
		s->completion = COMPLETE_AFTER;
		s->after_ms = completion[5] == '=' ? strtoul(completion + 6, NULL, 10) : AFTER_MS;
	}
	s->buffers_forced = buffer_setting && *buffer_setting;
	s->per_thread =
		s->buffers_forced ? !strcmp(buffer_setting, "thread") : s->version >= 130000;
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		uint64_t value = periods[i].plain;

		if (sim_fault(periods[i].word, &value))
			memcpy((char *)&s->faults + periods[i].offset, &value, sizeof(value));
	}
	s->faults.busy = sim_fault("busy", NULL);
	s->faults.denied = sim_fault("denied", NULL);
	s->faults.no_driver = sim_fault("no-driver", NULL) || !sim_device_count();
	s->faults.foreign_clock = sim_fault("foreign-clock", NULL);
	s->faults.sticky_graphs = sim_fault("sticky-graphs", NULL);
	s->faults.dump_in_init = sim_fault("dump-in-init", NULL);
}

const struct cupti_settings *cupti_settings(void)
{
	pthread_once(&once, read_settings);
	return &settings;
}

/* A counter of a processor at 2.4 GHz, far from any clock of the system. */
uint64_t cupti_time(uint64_t ns)
{
	if (!settings.faults.foreign_clock)
		return ns + settings.faults.clock_ahead_ms * 1000000;
	return UINT64_C(987654321000) + (uint64_t)((double)(int64_t)(ns - STANDIN_EPOCH_NS) * 2.4);
}

static int turn(uint64_t period, uint64_t count)
{
	return period && count % period == 0;
}

void cupti_spoil_times(uint64_t *start, uint64_t *end)
{
	const struct cupti_faults *f = &settings.faults;

	op_records++;
	if (turn(f->zero_times, op_records)) {
		*start = *end = 0;
	} else if (turn(f->reversed, op_records)) {
		uint64_t t = *start;

		*start = *end;
		*end = t;
	}
}

/* ---- damage to whole buffers ---- */

/* The records of a buffer, at most `room`; returns how many. */
static size_t index_records(const struct cupti_buffer *b, size_t *offsets, size_t room)
{
	size_t count = 0;

	for (size_t at = 0; at + 4 <= b->used && count < room;) {
		uint32_t kind;

		memcpy(&kind, b->base + at, 4);
		offsets[count++] = at;
		at += cupti_record_bytes[kind];
	}
	return count;
}

static void swap_pairs(struct cupti_buffer *b, const size_t *offsets, size_t count)
{
	uint8_t other[256];
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		uint32_t kind, last_kind;

		memcpy(&kind, b->base + offsets[i], 4);
		if (kind != STANDIN_KERNEL)
			continue;
		if (last == SIZE_MAX) {
			last = i;
			continue;
		}
		memcpy(&last_kind, b->base + offsets[last], 4);
		memcpy(other, b->base + offsets[last], cupti_record_bytes[last_kind]);
		memcpy(b->base + offsets[last], b->base + offsets[i], cupti_record_bytes[kind]);
		memcpy(b->base + offsets[i], other, cupti_record_bytes[kind]);
		last = SIZE_MAX;
	}
}

void cupti_damage(struct cupti_buffer *b)
{
	const struct cupti_faults *f = &settings.faults;
	size_t *offsets, count;

	b->valid = b->used;
	if (!f->out_of_order && !f->unknown_kind && !f->truncated_tail)
		return;
	if (b->count < 3)
		return;
	buffers++;
	offsets = calloc(b->count, sizeof(*offsets));
	if (!offsets)
		return;
	count = index_records(b, offsets, b->count);
	if (turn(f->out_of_order, buffers))
		swap_pairs(b, offsets, count);
	if (f->unknown_kind == buffers)
		memcpy(b->base + offsets[count / 2], &(uint32_t){4711}, 4);
	if (f->truncated_tail == buffers)
		b->valid = offsets[count - 1] + 12;
	free(offsets);
}

/* ---- names that do not last ---- */

static uint64_t now_ms(void)
{
	struct timespec t;

	sim_clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct cupti_names *names_new(void)
{
	struct cupti_names *n = idle;

	if (n) {
		idle = n->next;
		n->count = 0;
		n->turn++;
		return n;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->pages = mmap(NULL, (size_t)NAME_BYTES * NAME_SLOTS, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (n->pages != MAP_FAILED)
		return n;
	free(n);
	return NULL;
}

const char *cupti_name(struct cupti_buffer *b, const char *lasting)
{
	struct cupti_names *n;
	char *slot;

	if (!settings.faults.unmap_names_ms && !settings.faults.reuse_names_ms)
		return lasting;
	if (!b->names)
		b->names = names_new();
	n = b->names;
	if (!n)
		return lasting;
	for (unsigned i = 0; i < n->count; i++)
		if (n->lasting[i] == lasting)
			return n->pages + (size_t)((i + n->turn) % NAME_SLOTS) * NAME_BYTES;
	if (n->count == NAME_SLOTS)
		return lasting;
	n->lasting[n->count] = lasting;
	slot = n->pages + (size_t)((n->count + n->turn) % NAME_SLOTS) * NAME_BYTES;
	snprintf(slot, NAME_BYTES, "%s", lasting);
	n->count++;
	return slot;
}

void cupti_names_delivered(struct cupti_buffer *b)
{
	struct cupti_names *n = b->names, **at = &expiring;

	b->names = NULL;
	if (!n)
		return;
	n->expire_ms = now_ms() + (settings.faults.unmap_names_ms ? settings.faults.unmap_names_ms
								  : settings.faults.reuse_names_ms);
	while (*at)
		at = &(*at)->next;
	n->next = NULL;
	*at = n;
}

uint64_t cupti_names_expire(void)
{
	while (expiring && expiring->expire_ms <= now_ms()) {
		struct cupti_names *n = expiring;

		expiring = n->next;
		if (settings.faults.unmap_names_ms) {
			munmap(n->pages, (size_t)NAME_BYTES * NAME_SLOTS);
			free(n);
			continue;
		}
		for (int i = 0; i < NAME_SLOTS; i++)
			snprintf(n->pages + (size_t)i * NAME_BYTES, NAME_BYTES, "gone_%d", i);
		n->next = idle;
		idle = n;
	}
	return expiring ? expiring->expire_ms : UINT64_MAX;
}
