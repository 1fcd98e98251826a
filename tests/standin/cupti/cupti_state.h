/* cupti_state.h - what the files of the stand-in's libcupti share. All with the simulation's lock
 * held unless noted otherwise.
 *
 *	observer (cupti_records.c) --put--> the thread's buffer --full--> waiting --complete--> ready --worker--> client
 *	                                (cupti_buffers.c)          (its last op has not ended)          or the flush caller */
#ifndef VPT_STANDIN_CUPTI_STATE_H
#define VPT_STANDIN_CUPTI_STATE_H

#include "tests/standin/include/standin_cupti.h"
#include "tests/standin/cuda/simulation.h"

#define CUPTI_NEWEST 130001

/* ---- settings and faults: cupti_faults.c ---- */

/* Periods count records or buffers: every n-th; 0: never. */
struct cupti_faults {
	uint64_t zero_times, reversed,
		out_of_order; /* every n-th op record; out of order: pairs in every n-th buffer */
	uint64_t unknown_kind, truncated_tail; /* the n-th buffer that has enough records */
	uint64_t unmap_names_ms, reuse_names_ms;
	uint64_t foreign_buffer; /* before the n-th buffer */
	uint64_t stolen;         /* after n records */
	uint64_t hang_flush;     /* the n-th */
	uint64_t late_ms;
	uint64_t fatal; /* after n records */
	uint64_t clock_ahead_ms;
	int busy, denied, no_driver, foreign_clock, dump_in_init, sticky_graphs;
};

enum cupti_completion { COMPLETE_WORKER, COMPLETE_CALLER, COMPLETE_AFTER };

struct cupti_settings {
	uint32_t version;
	enum cupti_completion completion;
	uint64_t after_ms;              /* COMPLETE_AFTER: from a flush to its buffers */
	int buffers_forced, per_thread; /* forced: the environment says so, not the client */
	struct cupti_faults faults;
};
/* Read once. Any time, any thread. */
const struct cupti_settings *cupti_settings(void);

/* CUPTI's clock, not always the process's. */
uint64_t cupti_time(uint64_t ns);
/* Corrupts the times of an op's record if that is due. */
void cupti_spoil_times(uint64_t *start, uint64_t *end);

struct cupti_buffer;
/* The name for a record of the buffer: the permanent one, or a temporary copy. */
const char *cupti_name(struct cupti_buffer *b, const char *lasting);
/* Damages a buffer that is about to be delivered: its order, kinds, valid bytes. */
void cupti_damage(struct cupti_buffer *b);
/* The buffer was delivered: schedules the end of its names. */
void cupti_names_delivered(struct cupti_buffer *b);
/* Ends the names that are due; returns the next time, in ms of the real clock, UINT64_MAX: none. */
uint64_t cupti_names_expire(void);

/* ---- buffers: cupti_buffers.c ---- */

struct cupti_buffer {
	uint8_t *base;
	size_t size, used, valid;  /* valid: the size reported to the client */
	uint64_t count, max_count; /* records; max 0: no limit */
	uint64_t complete_ns;      /* the end of its last op */
	uint64_t not_before_ms;    /* of the real clock */
	int thief;                 /* not the client's */
	struct cupti_names *names;
	struct cupti_buffer *next;
};

extern uint8_t cupti_record_bytes[STANDIN_KINDS]; /* of the chosen generation; 0: no such kind */

/* Room for a record of `kind`, with only its first word set; it is complete when the clock reaches
 * `complete_ns`. NULL: dropped. `buffer` (may be NULL) gets its buffer. */
void *cupti_put(uint32_t kind, uint64_t complete_ns, struct cupti_buffer **buffer);
uint64_t cupti_take_dropped(void);
void cupti_register(standin_requested requested, standin_completed completed);
void cupti_set_per_thread(int on);
void cupti_set_zeroed(int on);
int cupti_is_per_thread(void);
int cupti_is_zeroed(void);
void cupti_start_worker(void);
/* Without the lock. */
void cupti_flush(int forced);
/* The clock has passed the requested time; a call ends. */
void cupti_buffers_due(void);
void cupti_deliver_in_call(void);
/* Late buffers may come now. */
void cupti_release_late(void);

/* ---- records: cupti_records.c ---- */

int cupti_kind_known(uint32_t kind);
int cupti_kind_is_on(uint32_t kind);
void cupti_enable_kind(uint32_t kind, int on);
void cupti_enable_call(enum sim_domain domain, uint32_t cbid, int on);
int cupti_may_dump(void);
void cupti_dump(uint32_t kind);
void cupti_set_system_threads(int on);
void cupti_disable_all(void);

/* ---- callbacks: cupti_callbacks.c ---- */

int cupti_subscribe(struct standin_subscriber **out, standin_callback callback, void *user);
/* The name that it gave itself, for whoever finds CUPTI taken; of the fault "busy" that of a profiler. */
void cupti_name_subscriber(const char *name);
const char *cupti_subscriber_name(void);
int cupti_unsubscribe(struct standin_subscriber *subscriber);
int cupti_enable_callback(
	struct standin_subscriber *subscriber, uint32_t domain, uint32_t cbid, int on);
int cupti_enable_domain(struct standin_subscriber *subscriber, uint32_t domain, int on);
void cupti_resource(const struct sim_resource *resource);
void cupti_api_callback(const struct sim_call *call, int exit, int error);
/* Reports a fatal error; from then on CUPTI is dead. */
void cupti_die(void);
int cupti_dead(void);

/* Call around everything that runs in the client: counts it, and its heap calls if
 * libstandin_heap.so is preloaded. */
void cupti_client_enter(void);
void cupti_client_leave(void);

#endif
