/* dead_ring_reader.c - a ring whose process has died, read as what it is: bytes of somebody else.
 *
 * Everything is read with pread(2), so nothing that happens to the memory meanwhile can be a
 * SIGBUS. Numbers are checked against the memory's own size before they are used. */
#include "tracer/flight/flight_file.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct vtr_flight_image {
	int fd; /* borrowed */
	struct vtr_image_head head;
	struct vtr_image_entry *entries; /* VTR_IMAGE_ENTRIES of them */
	struct vtr_image_entry abouts[2];
};

static int read_at(int fd, void *out, size_t bytes, uint64_t offset)
{
	char *to = out;

	while (bytes) {
		ssize_t n = pread(fd, to, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		to += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Only memory has seals: a read of it never waits, as one of a pipe or of a distant file may. */
static int is_memory(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && seals & F_SEAL_SHRINK;
}

int vtr_flight_image_head(int fd, struct vtr_image_head *h, struct vpt_err *err)
{
	struct stat st;

	if (!is_memory(fd) || fstat(fd, &st) || st.st_size < (off_t)sizeof(struct vtr_image) ||
		read_at(fd, h, sizeof(*h), 0) || h->magic != VTR_IMAGE_MAGIC ||
		h->check != vtr_image_check_head(h))
		return vpt_fail(err, VPT_EDATA, "this is not a ring of vptrace");
	if (h->data_offset != sizeof(struct vtr_image) || h->data_bytes > VTR_IMAGE_DATA_MAX ||
		h->bytes != vtr_image_bytes(h->data_bytes) || h->bytes != (uint64_t)st.st_size)
		return vpt_fail(
			err, VPT_EDATA, "the ring's size differs from the one in its header");
	if (!memchr(h->path, 0, sizeof(h->path)) || !memchr(h->ring, 0, sizeof(h->ring)))
		return vpt_fail(err, VPT_EDATA, "the ring's file has no name");
	return VPT_OK;
}

static int is_valid(const struct vtr_flight_image *m, const struct vtr_image_entry *e)
{
	const struct vtr_image_frame *f = &e->frame;

	return atomic_load(&e->mark) && atomic_load(&e->mark) == f->number + 1 &&
	       e->check == vtr_image_check_frame(f) && f->bytes &&
	       f->bytes <= VTR_IMAGE_FRAME_MAX && f->offset <= m->head.data_bytes &&
	       f->bytes <= m->head.data_bytes - f->offset && f->from_ns <= f->to_ns;
}

static int image_frame(struct vtr_flight_view *v, uint64_t number, struct vtr_image_frame *out,
	void *buffer, struct vpt_err *err)
{
	const struct vtr_flight_image *m = v->ctx;
	const struct vtr_image_entry *e = &m->entries[number % VTR_IMAGE_ENTRIES];

	if (e->frame.number != number || !is_valid(m, e) ||
		read_at(m->fd, buffer, (size_t)e->frame.bytes,
			m->head.data_offset + e->frame.offset) ||
		vtr_image_hash(buffer, (size_t)e->frame.bytes) != e->frame.hash)
		return vpt_fail(err, VPT_EDATA, "a chunk of the ring is damaged");
	*out = e->frame;
	return VPT_OK;
}

/* Reads one slot of the opening chunk. 0: it is not intact. */
static size_t read_about(const struct vtr_flight_image *m, int slot, void *buffer)
{
	const struct vtr_image_entry *e = &m->abouts[slot];
	uint64_t at = offsetof(struct vtr_image, abouts) + (uint64_t)slot * VTR_IMAGE_ABOUT_BYTES;

	if (!atomic_load(&e->mark) || atomic_load(&e->mark) != e->frame.number + 1 ||
		e->check != vtr_image_check_frame(&e->frame) ||
		e->frame.bytes > VTR_IMAGE_ABOUT_BYTES ||
		read_at(m->fd, buffer, (size_t)e->frame.bytes, at) ||
		vtr_image_hash(buffer, (size_t)e->frame.bytes) != e->frame.hash)
		return 0;
	return (size_t)e->frame.bytes;
}

static int image_about(struct vtr_flight_view *v, void *buffer, size_t *bytes, struct vpt_err *err)
{
	const struct vtr_flight_image *m = v->ctx;
	int newer = atomic_load(&m->abouts[1].mark) > atomic_load(&m->abouts[0].mark);

	(void)err;
	*bytes = read_about(m, newer, buffer);
	if (!*bytes)
		*bytes = read_about(m, !newer, buffer);
	return VPT_OK;
}

/* Bytes that the image really has: its size may be a claim. */
static uint64_t filled_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) || st.st_blocks < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}

/* The newest frame, then backwards as long as frames are intact and fit to each other. They share no byte, so
 * all of them together are not more than there is. */
static void find_run(struct vtr_flight_image *m, struct vtr_flight_view *v, unsigned char *buffer)
{
	struct vtr_image_frame frame, after = {0};
	uint64_t newest = 0, left = filled_bytes(m->fd), number;
	size_t i;

	for (i = 0; i < VTR_IMAGE_ENTRIES; i++) {
		const struct vtr_image_entry *e = &m->entries[i];

		if (is_valid(m, e) && e->frame.number % VTR_IMAGE_ENTRIES == i &&
			e->frame.number + 1 > newest)
			newest = e->frame.number + 1;
	}
	for (number = newest; number && v->count < VTR_IMAGE_ENTRIES; number--) {
		if (image_frame(v, number - 1, &frame, buffer, NULL) ||
			(v->count && frame.to_ns != after.from_ns) || frame.bytes > left)
			break;
		after = frame;
		left -= frame.bytes;
		if (frame.bytes > v->most_bytes)
			v->most_bytes = (size_t)frame.bytes;
		v->first = number - 1;
		v->count++;
	}
}

int vtr_flight_image_open(int fd, const struct vtr_image_head *head, struct vtr_flight_image **out,
	struct vtr_flight_view *view, struct vpt_err *err)
{
	struct vtr_flight_image *m = vpt_calloc(1, sizeof(*m));
	unsigned char *buffer = vpt_alloc(VTR_IMAGE_FRAME_MAX, 1);
	int rc = VPT_OK;

	*out = NULL;
	*view = (struct vtr_flight_view){.frame = image_frame, .about = image_about, .ctx = m};
	if (m)
		m->entries = vpt_calloc(VTR_IMAGE_ENTRIES, sizeof(*m->entries));
	if (!m || !m->entries || !buffer)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory to read a ring");
	if (!rc) {
		m->fd = fd;
		m->head = *head;
	}
	if (!rc && (read_at(fd, m->entries, VTR_IMAGE_ENTRIES * sizeof(*m->entries),
			    offsetof(struct vtr_image, entries)) ||
			   read_at(fd, m->abouts, sizeof(m->abouts),
				   offsetof(struct vtr_image, about_entries))))
		rc = vpt_fail(err, VPT_EDATA, "the ring cannot be read");
	if (!rc) {
		view->header = m->head.header;
		find_run(m, view, buffer);
	}
	vpt_free(buffer);
	if (rc)
		vtr_flight_image_free(m);
	else
		*out = m;
	return rc;
}

int vtr_flight_image_is_settled(int fd)
{
	uint32_t settled = 0;

	return !read_at(fd, &settled, sizeof(settled), offsetof(struct vtr_image_head, settled)) &&
	       settled == 1;
}

void vtr_flight_image_free(struct vtr_flight_image *image)
{
	if (!image)
		return;
	vpt_free(image->entries);
	vpt_free(image);
}
