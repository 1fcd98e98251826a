/* disk.c - one frame at a time: handed over, written, acknowledged; or given up.
 *
 * The frame is copied, since its bytes may be needed after the write was given up. Then the thread
 * frees everything when its write ends; if it never does, one frame and the descriptor leak. */
#include "tracer/files/disk.h"

#include "formats/base/memory.h"
#include "tracer/guest/own_thread.h"
#include "tracer/files/capture_file.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

struct vtr_disk {
	struct vpt_sink base;
	struct vpt_sink *file; /* the thread's while `writing`, else the writer's */
	pthread_t thread;

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t moved;
	int writing;            /* a frame has been handed over and its write has not ended */
	int given_up, finished; /* finished: the writer no longer uses anything here */
	unsigned char *frame;
	size_t size, cap;
	int rc; /* of the last write that ended */
	struct vpt_err err;
	struct vpt_err failure; /* why no more frames are taken */
	char path[PATH_BYTES];
};

static void free_disk(struct vtr_disk *d)
{
	pthread_cond_destroy(&d->moved);
	pthread_mutex_destroy(&d->lock);
	vpt_free(d->frame);
	vpt_free(d);
}

/* ---- the disk's thread ---- */

/* Writes one frame; the lock is held before and after. A frame that was given up is removed from
 * the file. */
static void write_frame(struct vtr_disk *d)
{
	struct vpt_err err = {0};
	int rc;

	pthread_mutex_unlock(&d->lock);
	rc = vpt_sink_write(d->file, d->frame, d->size, &err);
	pthread_mutex_lock(&d->lock);
	if (d->given_up && !rc) {
		vtr_capture_file_take_back(d->file);
		rc = d->failure.code;
		err = d->failure;
	}
	d->rc = rc;
	d->err = err;
	d->writing = 0;
	pthread_cond_broadcast(&d->moved);
}

static void *run(void *arg)
{
	struct vtr_disk *d = arg;

	pthread_setname_np(pthread_self(), "vptrace-disk");
	pthread_mutex_lock(&d->lock);
	while (!d->finished || d->writing) {
		if (d->writing)
			write_frame(d);
		else
			pthread_cond_wait(&d->moved, &d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	d->file->finish(d->file, 1, NULL);
	free_disk(d);
	return NULL;
}

/* ---- the writer's ---- */

static int copy_frame(struct vtr_disk *d, const void *data, size_t size, struct vpt_err *err)
{
	if (vpt_grow(&d->frame, &d->cap, size, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory to write a frame of %zu bytes", size);
	memcpy(d->frame, data, size);
	d->size = size;
	return VPT_OK;
}

/* Waits until the write has ended or was given up. With the lock held. */
static int await(struct vtr_disk *d)
{
	d->writing = 1;
	pthread_cond_broadcast(&d->moved);
	while (d->writing && !d->given_up)
		pthread_cond_wait(&d->moved, &d->lock);
	if (d->writing)
		return VPT_EIO; /* `failure` says why */
	if (d->rc)
		d->failure = d->err;
	else
		d->base.written_bytes += d->size;
	snprintf(d->path, sizeof(d->path), "%s", vtr_capture_file_path(d->file));
	return d->rc;
}

static int disk_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct vtr_disk *d = (struct vtr_disk *)sink;
	int rc;

	if (!size)
		return VPT_OK;
	pthread_mutex_lock(&d->lock);
	rc = d->failure.code;
	if (!rc) {
		rc = copy_frame(d, data, size, err);
		if (!rc)
			rc = await(d);
		else
			goto out;
	}
	if (rc && err)
		*err = d->failure;
out:
	pthread_mutex_unlock(&d->lock);
	return rc;
}

static int disk_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	struct vtr_disk *d = (struct vtr_disk *)sink;
	pthread_t thread = d->thread;
	int blocked, rc;

	(void)commit; /* what was written is kept in any case */
	pthread_mutex_lock(&d->lock);
	blocked = d->writing;
	rc = d->failure.code;
	if (rc && err)
		*err = d->failure;
	d->finished = 1;
	pthread_cond_broadcast(&d->moved);
	pthread_mutex_unlock(&d->lock);
	if (blocked)
		pthread_detach(thread);
	else
		pthread_join(thread, NULL);
	return rc;
}

int vtr_disk_new(struct vpt_sink *file, struct vpt_sink **out, struct vpt_err *err)
{
	struct vtr_disk *d = vpt_calloc(1, sizeof(*d));
	int rc;

	*out = NULL;
	if (!d)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the disk's thread");
	d->base = (struct vpt_sink){.write = disk_write, .finish = disk_finish};
	d->file = file;
	snprintf(d->path, sizeof(d->path), "%s", vtr_capture_file_path(file));
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->moved, NULL);
	rc = vtr_own_thread(&d->thread, run, d);
	if (rc) {
		free_disk(d);
		return vpt_fail(err, VPT_ENOMEM, "no thread for the disk: %s", strerror(rc));
	}
	*out = &d->base;
	return VPT_OK;
}

void vtr_disk_give_up(struct vpt_sink *sink, unsigned waited_ms)
{
	struct vtr_disk *d = (struct vtr_disk *)sink;

	pthread_mutex_lock(&d->lock);
	if (!d->failure.code)
		vpt_fail(&d->failure, VPT_EIO, "%.200s: writing did not end within %u ms",
			*d->path ? d->path : "the capture", waited_ms);
	d->given_up = 1;
	pthread_cond_broadcast(&d->moved);
	pthread_mutex_unlock(&d->lock);
}

const char *vtr_disk_path(const struct vpt_sink *sink)
{
	return ((const struct vtr_disk *)sink)->path;
}

void vtr_disk_abandon(struct vpt_sink *sink)
{
	vtr_capture_file_abandon(((struct vtr_disk *)sink)->file);
}
