/* flight.c - frames in a ring, first in, first out.
 *
 *	data   | frame 7 | frame 8 |   free   | frame 5 | frame 6 | rest |
 *	                           ^ at       ^ oldest
 *
 * A frame is never split: what is left at the end is skipped. The lock guards the table, not the
 * frames: only the writer changes those, and none that is in the table. */
#include "tracer/flight/flight.h"

#include "formats/base/memory.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/quiet.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Nothing is pinned. */
#define UNPINNED UINT64_MAX

struct vtr_flight {
	struct vpt_sink sink;
	struct vtr_flight_options o;
	int fd;
	struct vtr_image *image;
	unsigned char *data;

	pthread_mutex_t lock;
	uint64_t first, next; /* numbers: kept frames are [first, next) */
	uint64_t pinned;      /* the lowest number that a reader still needs */
	uint64_t at;          /* where the next frame goes */

	/* The writer's: */
	int has_header, is_about;
	uint64_t about_number;
	struct vtr_image_frame described, last;
};

static struct vtr_image_entry *entry_of(struct vtr_flight *f, uint64_t number)
{
	return &f->image->entries[number % VTR_IMAGE_ENTRIES];
}

/* ---- making it ---- */

static void put_head(struct vtr_flight *f)
{
	struct vtr_image_head *h = &f->image->head;

	h->magic = VTR_IMAGE_MAGIC;
	h->bytes = vtr_image_bytes(f->o.data_bytes);
	h->data_offset = sizeof(struct vtr_image);
	h->data_bytes = f->o.data_bytes;
	h->pid = (uint64_t)getpid();
	h->header = f->o.header;
	snprintf(h->ring, sizeof(h->ring), "%s", f->o.ring);
	snprintf(h->path, sizeof(h->path), "%s", f->o.path);
	h->check = vtr_image_check_head(h);
}

/* A limit on the size of files is one of memory's size too. */
static int set_size(int fd, size_t bytes)
{
	struct vtr_quiet q;
	int rc;

	vtr_quiet_begin(&q);
	rc = ftruncate(fd, (off_t)bytes);
	vtr_quiet_end(&q, rc);
	return rc;
}

/* Nobody may cut it short: a write beyond its end would be a SIGBUS. */
static int make_memory(struct vtr_flight *f)
{
	size_t bytes = (size_t)vtr_image_bytes(f->o.data_bytes);
	void *p = MAP_FAILED;

	f->fd = memfd_create("vptrace-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (f->fd >= 0 && !set_size(f->fd, bytes) &&
		!fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (p == MAP_FAILED) {
		if (f->fd >= 0)
			close(f->fd);
		f->fd = -1;
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	if (p == MAP_FAILED)
		return -1;
	madvise(p, bytes, MADV_DONTFORK);
	f->image = p;
	f->data = (unsigned char *)p + sizeof(struct vtr_image);
	return 0;
}

static int flight_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err);

static int flight_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	(void)sink;
	(void)commit;
	(void)err;
	return VPT_OK;
}

int vtr_flight_new(const struct vtr_flight_options *o, struct vtr_flight **out, struct vpt_err *err)
{
	struct vtr_flight *f = vpt_calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the ring");
	f->o = *o;
	f->o.data_bytes = (o->data_bytes + PAGE - 1) / PAGE * PAGE;
	f->pinned = UNPINNED;
	f->sink = (struct vpt_sink){.write = flight_write, .finish = flight_finish};
	f->last.to_ns = f->last.complete_until_ns = o->header.t0_ns;
	if (make_memory(f)) {
		vpt_free(f);
		return vpt_fail(err, VPT_ENOMEM, "no memory for a ring of %llu bytes",
			(unsigned long long)o->data_bytes);
	}
	pthread_mutex_init(&f->lock, NULL);
	put_head(f);
	*out = f;
	return VPT_OK;
}

void vtr_flight_free(struct vtr_flight *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	munmap(f->image, (size_t)vtr_image_bytes(f->o.data_bytes));
	pthread_mutex_destroy(&f->lock);
	vpt_free(f);
}

int vtr_flight_descriptor(const struct vtr_flight *f)
{
	return f->fd;
}

void vtr_flight_settle(struct vtr_flight *f)
{
	atomic_store(&f->image->head.settled, 1);
	/* The launcher may hold the memory until it ends itself. */
	madvise(f->data, (size_t)f->o.data_bytes, MADV_REMOVE);
}

/* ---- writing ---- */

/* Drops the oldest frame. With the lock held. */
static void drop_first(struct vtr_flight *f)
{
	struct vtr_image_entry *e = entry_of(f, f->first);
	uint64_t begin = (e->frame.offset + PAGE - 1) / PAGE * PAGE;
	uint64_t end = (e->frame.offset + e->frame.bytes) / PAGE * PAGE;

	atomic_store_explicit(&e->mark, 0, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst); /* before the bytes that replace it */
	/* A ring of seconds holds only what they need. */
	if (f->o.keep_ns && end > begin)
		madvise(f->data + begin, (size_t)(end - begin), MADV_REMOVE);
	f->first++;
}

/* Waits until the oldest frame is not pinned, or until a reader has used up the patience: then the
 * reader will find it gone. With the lock held. */
static void wait_for_reader(struct vtr_flight *f)
{
	const struct timespec moment = {0, 1000000};
	uint64_t deadline_ns = vtr_clock_ns(CLOCK_MONOTONIC) + f->o.patience_ns;

	while (f->pinned <= f->first && vtr_clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
		pthread_mutex_unlock(&f->lock);
		nanosleep(&moment, NULL);
		pthread_mutex_lock(&f->lock);
	}
	if (f->pinned <= f->first)
		f->pinned = UNPINNED;
}

/* Whether [at, at + size) touches the frame of this number. */
static int touches(struct vtr_flight *f, uint64_t number, uint64_t at, uint64_t size)
{
	const struct vtr_image_frame *frame = &entry_of(f, number)->frame;

	return frame->offset < at + size && at < frame->offset + frame->bytes;
}

/* Makes room for a frame; returns its place. With the lock held. */
static uint64_t make_room(struct vtr_flight *f, uint64_t size)
{
	uint64_t at = f->at + size <= f->o.data_bytes ? f->at : 0;

	/* What lies between the last frame and the end of the ring is older than what lies at its
	 * beginning. */
	while (f->first < f->next &&
		(f->next - f->first == VTR_IMAGE_ENTRIES || touches(f, f->first, at, size) ||
			(at < f->at && entry_of(f, f->first)->frame.offset >= f->at))) {
		if (f->pinned <= f->first)
			wait_for_reader(f);
		drop_first(f);
	}
	return at;
}

/* Drops frames that ended more than the time to keep ago. With the lock held. */
static void drop_old(struct vtr_flight *f, uint64_t now_ns)
{
	while (f->o.keep_ns && f->first + 1 < f->next && f->pinned > f->first &&
		entry_of(f, f->first)->frame.to_ns + f->o.keep_ns <= now_ns)
		drop_first(f);
}

static void publish(struct vtr_image_entry *e, const struct vtr_image_frame *frame)
{
	e->frame = *frame;
	e->check = vtr_image_check_frame(frame);
	atomic_store_explicit(&e->mark, frame->number + 1, memory_order_release);
}

static int put_frame(struct vtr_flight *f, const void *data, size_t size, struct vpt_err *err)
{
	struct vtr_image_frame *frame = &f->described;

	if (size > f->o.data_bytes || size > VTR_IMAGE_FRAME_MAX)
		return vpt_fail(
			err, VPT_ENOMEM, "a chunk of %zu bytes is larger than the ring", size);
	pthread_mutex_lock(&f->lock);
	frame->number = f->next;
	frame->offset = make_room(f, size);
	pthread_mutex_unlock(&f->lock);
	frame->bytes = size;
	frame->from_ns = f->last.to_ns;
	if (frame->to_ns < frame->from_ns) /* the clock was set back */
		frame->to_ns = frame->from_ns;
	if (frame->complete_until_ns < f->last.complete_until_ns)
		frame->complete_until_ns = f->last.complete_until_ns;
	memcpy(frame->before, f->last.with, sizeof(frame->before));
	memcpy(f->data + frame->offset, data, size);
	frame->hash = vtr_image_hash(data, size);
	pthread_mutex_lock(&f->lock);
	publish(entry_of(f, frame->number), frame);
	f->next++;
	f->at = frame->offset + size;
	drop_old(f, frame->to_ns);
	pthread_mutex_unlock(&f->lock);
	f->last = *frame;
	return VPT_OK;
}

/* The slot that is not the newest one. */
static int put_about(struct vtr_flight *f, const void *data, size_t size, struct vpt_err *err)
{
	struct vtr_image_frame frame = {.number = f->about_number,
		.offset = f->about_number % 2,
		.bytes = size,
		.hash = vtr_image_hash(data, size)};
	struct vtr_image_entry *e = &f->image->about_entries[frame.offset];

	if (size > VTR_IMAGE_ABOUT_BYTES)
		return vpt_fail(err, VPT_ENOMEM, "the opening chunk is too large for the ring");
	pthread_mutex_lock(&f->lock);
	atomic_store_explicit(&e->mark, 0, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	memcpy(f->image->abouts[frame.offset], data, size);
	publish(e, &frame);
	f->about_number++;
	pthread_mutex_unlock(&f->lock);
	return VPT_OK;
}

static int flight_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct vtr_flight *f = (struct vtr_flight *)sink;
	int rc = VPT_OK, is_about = f->is_about;

	f->is_about = 0;
	if (!f->has_header) {
		f->has_header = 1;
		return VPT_OK;
	}
	rc = is_about ? put_about(f, data, size, err) : put_frame(f, data, size, err);
	if (!rc && !is_about)
		sink->written_bytes += size;
	return rc;
}

struct vpt_sink *vtr_flight_sink(struct vtr_flight *f)
{
	return &f->sink;
}

void vtr_flight_describe(struct vtr_flight *f, const struct vtr_image_frame *frame)
{
	f->described = *frame;
}

void vtr_flight_describe_about(struct vtr_flight *f)
{
	f->is_about = 1;
}

/* ---- reading ---- */

static int view_frame(struct vtr_flight_view *v, uint64_t number, struct vtr_image_frame *out,
	void *buffer, struct vpt_err *err)
{
	struct vtr_flight *f = v->ctx;
	int is_there;

	pthread_mutex_lock(&f->lock);
	is_there = number >= f->first && number < f->next && f->pinned <= number;
	if (is_there)
		*out = entry_of(f, number)->frame;
	pthread_mutex_unlock(&f->lock);
	if (is_there) {
		memcpy(buffer, f->data + out->offset, (size_t)out->bytes);
		pthread_mutex_lock(&f->lock);
		is_there = f->pinned <= number;
		if (is_there)
			f->pinned = number + 1;
		pthread_mutex_unlock(&f->lock);
	}
	return is_there ? VPT_OK
			: vpt_fail(err, VPT_EDATA,
				  "the disk was so slow that recording has overwritten the ring's "
				  "oldest chunks");
}

static int view_about(struct vtr_flight_view *v, void *buffer, size_t *bytes, struct vpt_err *err)
{
	struct vtr_flight *f = v->ctx;
	const struct vtr_image_entry *e;

	(void)err;
	*bytes = 0;
	pthread_mutex_lock(&f->lock);
	if (f->about_number) {
		e = &f->image->about_entries[(f->about_number - 1) % 2];
		*bytes = (size_t)e->frame.bytes;
		memcpy(buffer, f->image->abouts[e->frame.offset], *bytes);
	}
	pthread_mutex_unlock(&f->lock);
	return VPT_OK;
}

void vtr_flight_pin(struct vtr_flight *f, struct vtr_flight_view *out)
{
	uint64_t number;

	pthread_mutex_lock(&f->lock);
	f->pinned = f->first;
	*out = (struct vtr_flight_view){.header = f->o.header,
		.first = f->first,
		.count = f->next - f->first,
		.frame = view_frame,
		.about = view_about,
		.ctx = f};
	for (number = f->first; number < f->next; number++)
		if (entry_of(f, number)->frame.bytes > out->most_bytes)
			out->most_bytes = (size_t)entry_of(f, number)->frame.bytes;
	pthread_mutex_unlock(&f->lock);
}

void vtr_flight_unpin(struct vtr_flight *f)
{
	pthread_mutex_lock(&f->lock);
	f->pinned = UNPINNED;
	pthread_mutex_unlock(&f->lock);
}
