/* mail.h - messages from the session, the flusher and the sampler to the writer: rare, small, in order. Never
 * used by callbacks. */
#ifndef VPTRACE_TRACER_HANDOVER_MAIL_H
#define VPTRACE_TRACER_HANDOVER_MAIL_H

#include "formats/event_schema.h"
#include "formats/metadata.h"

#include <pthread.h>
#include <stdint.h>

enum vtr_mail_type {
	VTR_MAIL_META,   /* key and value */
	VTR_MAIL_CLOCK,  /* clock, cupti_time */
	VTR_MAIL_LOSS,   /* loss: what CUPTI could not deliver; count records */
	VTR_MAIL_SAMPLE, /* sample */
	/* clock.trace_ns: CUPTI has delivered the records of all work that had ended by then */
	VTR_MAIL_FLUSHED
};

/* A value of a series at a moment. */
struct vtr_sample {
	uint32_t name, unit; /* range_strings.h */
	int64_t device;      /* CUDA ordinal; -1: none */
	uint64_t time_ns;
	double value;
};

struct vtr_mail {
	struct vtr_mail *next;
	enum vtr_mail_type type;
	char *key, *value;
	struct vpt_clock clock;
	uint64_t cupti_time; /* CUPTI's clock at that moment; 0: not read */
	struct vpt_loss loss;
	struct vtr_sample sample;
	int lent;
};

struct vtr_mailbox {
	pthread_mutex_t lock;
	struct vtr_mail *first, **last;
	uint32_t count;
};

void vtr_mailbox_init(struct vtr_mailbox *box);
void vtr_mailbox_free(struct vtr_mailbox *box); /* and everything not taken */

/* Queues a copy of `mail` and its texts. 0, or -1: no memory, or 65,536 are pending. Any thread. */
int vtr_mailbox_post(struct vtr_mailbox *box, const struct vtr_mail *mail);

/* Queues a META row: a key of the host's own, or a fact of the tracer's. */
int vtr_mailbox_tell(struct vtr_mailbox *box, const char *key, const char *value);
int vtr_mailbox_fact(struct vtr_mailbox *box, enum vpt_metadata fact, const char *value);

/* vtr_mailbox_post() without a copy: the mailbox borrows `mail`, which has no texts, until the mailbox is
 * freed, and never frees it. Never refused. */
void vtr_mailbox_lend(struct vtr_mailbox *box, struct vtr_mail *mail);

/* The oldest, the caller's to vtr_mail_free(); NULL: none. */
struct vtr_mail *vtr_mailbox_take(struct vtr_mailbox *box);
void vtr_mail_free(struct vtr_mail *mail); /* accepts NULL */

#endif
