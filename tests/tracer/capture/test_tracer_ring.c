/* test_tracer_ring.c - the flight recorder's memory: what it keeps, what a reader finds in it after its
 * process was killed at any instant, and after anybody has changed any byte of it. */
#include "formats/base/memory.h"
#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"
#include "tests/support/random.h"
#include "tracer/flight/flight.h"
#include "tracer/flight/flight_file.h"
#include "tracer/settings/capture_options.h"
#include "tracer/window/slow_steps.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { DATA = 1 << 20, FRAME = 60000, SECOND = 1000000000 };

/* ---- frames that say who they are ---- */

static size_t size_of(uint64_t number)
{
	return 100 + number * 7919 % FRAME;
}

static void fill(unsigned char *frame, uint64_t number)
{
	size_t i, size = size_of(number);

	for (i = 0; i < size; i++)
		frame[i] = (unsigned char)(number * 31 + i * (number % 5 + 1));
}

static void put(struct vtr_flight *f, uint64_t number)
{
	static unsigned char frame[FRAME + 100];
	struct vtr_image_frame about = {
		.to_ns = (number + 2) * SECOND, .cut_ns = (number + 2) * SECOND, .with = {number}};

	fill(frame, number);
	vtr_flight_describe(f, &about);
	if (vpt_sink_write(vtr_flight_sink(f), frame, size_of(number), NULL))
		fail_msg("frame %llu was refused", (unsigned long long)number);
}

static struct vtr_flight *ring(uint64_t keep_ns)
{
	struct vtr_flight_options o = {.data_bytes = DATA,
		.keep_ns = keep_ns,
		.patience_ns = 20000000,
		.header = {.t0_ns = SECOND},
		.path = "/nowhere/a.zst",
		.ring = "1M"};
	struct vtr_flight *f;

	assert_int_equal(vtr_flight_new(&o, &f, NULL), 0);
	vpt_sink_write(vtr_flight_sink(f), "header", 6, NULL);
	return f;
}

/* Each frame of the view is what was put under its number. */
static void check(struct vtr_flight_view *v)
{
	static unsigned char found[FRAME + 100], expected[FRAME + 100];
	struct vtr_image_frame frame;
	struct vpt_err err = {0};
	uint64_t i;

	for (i = v->first; i < v->first + v->count; i++) {
		if (v->frame(v, i, &frame, found, &err))
			fail_msg("frame %llu: %s", (unsigned long long)i, err.text);
		fill(expected, i);
		assert_int_equal(frame.number, i);
		assert_int_equal(frame.bytes, size_of(i));
		assert_memory_equal(found, expected, size_of(i));
	}
}

static int open_image(int fd, struct vtr_flight_image **image, struct vtr_flight_view *v)
{
	struct vtr_image_head head;
	int rc = vtr_flight_image_head(fd, &head, NULL);

	return rc ? rc : vtr_flight_image_open(fd, &head, image, v, NULL);
}

static void the_newest_frames_are_kept(void **state)
{
	struct vtr_flight *f = ring(0);
	struct vtr_flight_image *image;
	struct vtr_flight_view v;
	uint64_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		put(f, i);
		if (i % 50 != 49)
			continue;
		vtr_flight_pin(f, &v);
		assert_int_equal(v.first + v.count, i + 1);
		assert_true(v.count > DATA / (FRAME + 100) - 2);
		check(&v);
		vtr_flight_unpin(f);
		/* The image says the same. */
		assert_int_equal(open_image(vtr_flight_descriptor(f), &image, &v), 0);
		assert_int_equal(v.first + v.count, i + 1);
		assert_true(v.count > DATA / (FRAME + 100) - 2);
		check(&v);
		vtr_flight_image_free(image);
	}
	vtr_flight_free(f);
}

static void old_frames_go_by_time(void **state)
{
	struct vtr_flight *f = ring(5ull * SECOND);
	struct vtr_flight_view v;
	uint64_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		put(f, i);
	vtr_flight_pin(f, &v);
	assert_int_equal(v.first, 95);
	assert_int_equal(v.count, 5);
	check(&v);
	vtr_flight_unpin(f);
	vtr_flight_free(f);
}

/* ---- the end of a snapshot ---- */

/* A flight whose one chunk ends at `cut_ns`, with the work of the GPU until `complete_ns`. */
static struct vtr_flight *flight_until(uint64_t cut_ns, uint64_t complete_ns)
{
	struct vtr_flight_options o = {.data_bytes = DATA, .header = {.t0_ns = 1}};
	struct vtr_image_frame about = {
		.from_ns = 1, .to_ns = cut_ns, .cut_ns = cut_ns, .complete_until_ns = complete_ns};
	struct vpt_writer *writer;
	struct vpt_batch b;
	struct vtr_flight *f;

	assert_int_equal(vtr_flight_new(&o, &f, NULL), 0);
	assert_int_equal(vpt_writer_open(vtr_flight_sink(f), &o.header, 1, &writer, NULL), 0);
	vpt_batch_init(&b);
	vpt_batch_put(&b, VPT_MARK, 1, &(struct vpt_mark){.time_ns = 2});
	vtr_flight_describe(f, &about);
	assert_int_equal(vpt_writer_put(writer, &b, NULL), 0);
	vpt_batch_free(&b);
	vpt_writer_free(writer);
	return f;
}

/* The loss in the last chunk of its snapshot; all zeros: none. Sets *end_ns to the time of the file's end. */
static struct vpt_loss loss_of(
	struct vtr_flight *f, const struct vtr_flight_why *why, uint64_t *end_ns)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_loss loss = {0};
	const struct vpt_section *s;
	struct vtr_flight_view view;
	struct vpt_source *source;
	struct vpt_trace *trace;
	struct vpt_buffer file;
	struct vpt_sink *sink;
	struct vpt_batch b;

	assert_int_equal(vpt_sink_memory(&file, &sink, NULL), 0);
	vtr_flight_pin(f, &view);
	assert_int_equal(vtr_flight_write(&view, why, sink, NULL), 0);
	vtr_flight_unpin(f);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	assert_int_equal(vpt_source_memory(file.data, file.size, &source, NULL), 0);
	assert_int_equal(vpt_trace_open_source(source, &trace, NULL), 0);
	vpt_batch_init(&b);
	assert_int_equal(vpt_trace_chunk(trace, decoder, vpt_trace_chunks(trace) - 1, &b, NULL), 0);
	s = vpt_batch_find(&b, VPT_LOSS);
	if (s)
		loss = (struct vpt_loss){.start_ns = s->col[VPT_LOSS_START][0],
			.duration_ns = s->col[VPT_LOSS_DURATION][0],
			.loss_kind = s->col[VPT_LOSS_LOSS_KIND][0]};
	s = vpt_batch_find(&b, VPT_CLOCK);
	assert_non_null(s);
	*end_ns = s->col[VPT_CLOCK_TRACE][0];
	vpt_batch_free(&b);
	vpt_trace_close(trace);
	vpt_decoder_free(decoder);
	vpt_free(file.data);
	vtr_flight_free(f);
	return loss;
}

/* Since the last chunk, until somebody asked for the file. */
static void what_the_writer_had_not_put_by_then_is_a_loss(void **state)
{
	static const struct {
		const char *rule;
		uint64_t cut_ns, complete_ns, held_ns, asked_ns;
		int is_cut_off;
		uint64_t lost_ns, lost_for_ns, end_ns;
	} cases[] = {
		{"all is there", 900, 900, 0, 800, 0, 0, 0, 900},
		{"a chunk is late", 500, 400, 0, 800, 1, 400, 400, 800},
		{"a chunk is late, of ranges alone", 500, 500, 0, 800, 1, 500, 300, 800},
		{"what was asked for came before the rest", 900, 850, 0, 800, 1, 0, 0, 900},
		{"the work came later than the ranges", 900, 700, 0, 800, 1, 700, 200, 900},
		{"work is held back", 900, 900, 600, 800, 0, 600, 300, 900},
		{"work is held back, and a chunk is late", 500, 400, 450, 800, 1, 400, 400, 800},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct vtr_flight_why why = {.cause = "request",
			.ring = "1M",
			.held_ns = cases[i].held_ns,
			.is_cut_off = cases[i].is_cut_off,
			.asked_ns = cases[i].asked_ns};
		uint64_t end_ns;
		struct vpt_loss loss =
			loss_of(flight_until(cases[i].cut_ns, cases[i].complete_ns), &why, &end_ns);

		if (loss.start_ns != cases[i].lost_ns || loss.duration_ns != cases[i].lost_for_ns ||
			end_ns != cases[i].end_ns)
			fail_msg("%s: %llu ns from %llu are lost, the file ends at %llu",
				cases[i].rule, (unsigned long long)loss.duration_ns,
				(unsigned long long)loss.start_ns, (unsigned long long)end_ns);
		assert_int_equal(loss.loss_kind, loss.duration_ns ? VPT_LOSSKIND_UNDELIVERED : 0);
	}
}

/* ---- readers ---- */

static void pinned_frames_stay_for_a_while(void **state)
{
	static unsigned char buffer[FRAME + 100];
	struct vtr_flight *f = ring(0);
	struct vtr_image_frame frame;
	struct vtr_flight_view v;
	uint64_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		put(f, i);
	vtr_flight_pin(f, &v);
	assert_int_equal(v.frame(&v, v.first, &frame, buffer, NULL), 0);
	for (; i < 200; i++) /* waits, then goes on without the reader */
		put(f, i);
	assert_int_equal(v.frame(&v, v.first + 1, &frame, buffer, NULL), VPT_EDATA);
	vtr_flight_unpin(f);
	vtr_flight_pin(f, &v);
	assert_int_equal(v.first + v.count, 200);
	check(&v);
	vtr_flight_unpin(f);
	vtr_flight_free(f);
}

static void a_frame_larger_than_the_ring_is_refused(void **state)
{
	struct vtr_flight *f = ring(0);
	unsigned char *large = vpt_calloc(2, DATA);
	struct vtr_flight_view v;

	(void)state;
	put(f, 0);
	assert_int_equal(vpt_sink_write(vtr_flight_sink(f), large, 2 * DATA, NULL), VPT_ENOMEM);
	put(f, 1);
	vtr_flight_pin(f, &v);
	assert_int_equal(v.count, 2);
	check(&v);
	vtr_flight_free(f);
	vpt_free(large);
}

/* ---- death ---- */

/* What the child says in shared memory. */
struct told {
	_Atomic uint64_t put;   /* frames so far */
	_Atomic int descriptor; /* 1 + that of its ring */
};

static void put_for_ever(struct told *told, uint64_t keep_ns)
{
	struct vtr_flight *f = ring(keep_ns);
	uint64_t n = 0;

	atomic_store(&told->descriptor, 1 + vtr_flight_descriptor(f));
	for (;;) {
		put(f, n++);
		atomic_store(&told->put, n);
	}
}

/* Starts a child, opens its ring, kills it after a moment. Returns the ring's descriptor. */
static int kill_one(struct told *told, struct vpt_random *random, uint64_t keep_ns)
{
	uint64_t frames = vpt_random_below(random, 150);
	char path[64];
	pid_t child;
	int fd;

	atomic_store(&told->put, 0);
	atomic_store(&told->descriptor, 0);
	child = fork();
	if (!child)
		put_for_ever(told, keep_ns);
	while (!atomic_load(&told->put))
		usleep(100);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)child,
		atomic_load(&told->descriptor) - 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (atomic_load(&told->put) < frames)
		usleep(10);
	usleep((unsigned)vpt_random_below(random, 300));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(fd >= 0);
	return fd;
}

static void what_a_killed_process_had_put_is_there(void **state)
{
	struct told *told = mmap(
		NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *many = getenv("VPT_KILLS");
	int kills = many ? atoi(many) : 200, i, wrapped = 0;
	struct vpt_random random = {7};

	(void)state;
	assert_true(told != MAP_FAILED);
	for (i = 0; i < kills; i++) {
		uint64_t keep_ns = i % 3 ? 0 : 9ull * SECOND;
		int fd = kill_one(told, &random, keep_ns);
		uint64_t least = keep_ns ? 9 : DATA / (FRAME + 100) - 2, newest;
		struct vtr_flight_image *image;
		struct vtr_flight_view v;

		assert_int_equal(open_image(fd, &image, &v), 0);
		newest = v.first + v.count;
		/* One more may have been published and not reported. */
		if (newest < atomic_load(&told->put) || newest > atomic_load(&told->put) + 1)
			fail_msg("kill %d: %llu frames were put, the newest is %llu", i,
				(unsigned long long)atomic_load(&told->put),
				(unsigned long long)newest);
		if (v.count < least && v.count != newest)
			fail_msg("kill %d: %llu frames are kept", i, (unsigned long long)v.count);
		check(&v);
		wrapped += v.first > 0;
		vtr_flight_image_free(image);
		close(fd);
	}
	munmap(told, sizeof(*told));
	assert_true(wrapped > kills / 2);
}

/* ---- a hostile image ---- */

static int copy_of(const unsigned char *bytes, size_t size)
{
	int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

/* Opens it and reads all that it claims to have. */
static void read_image(int fd)
{
	static unsigned char about[VTR_IMAGE_ABOUT_BYTES];
	struct vtr_flight_image *image;
	struct vtr_image_frame frame;
	struct vtr_flight_view v;
	unsigned char *buffer;
	size_t bytes;
	uint64_t i;

	if (open_image(fd, &image, &v))
		return;
	assert_true(v.most_bytes <= VTR_IMAGE_FRAME_MAX);
	buffer = vpt_alloc(v.most_bytes, 1);
	for (i = v.first; i < v.first + v.count; i++) {
		assert_int_equal(v.frame(&v, i, &frame, buffer, NULL), 0);
		assert_int_equal(vtr_image_hash(buffer, (size_t)frame.bytes), frame.hash);
	}
	v.about(&v, about, &bytes, NULL);
	assert_true(bytes <= sizeof(about));
	vpt_free(buffer);
	vtr_flight_image_free(image);
}

/* Entries whose checksum is right and whose numbers are not. */
static void forge(unsigned char *bytes, struct vpt_random *random)
{
	struct vtr_image *m = (struct vtr_image *)bytes;
	struct vtr_image_entry *e = vpt_random_below(random, 8)
					    ? &m->entries[vpt_random_below(random, 64)]
					    : &m->about_entries[vpt_random_below(random, 2)];
	uint64_t *fields = (uint64_t *)&e->frame;

	fields[vpt_random_below(random, sizeof(e->frame) / 8)] =
		vpt_random_below(random, 2) ? ~0ull >> vpt_random_below(random, 64)
					    : vpt_random_below(random, 100);
	e->check = vtr_image_check_frame(&e->frame);
	atomic_store(&e->mark, e->frame.number + 1);
}

static void any_byte_of_an_image_may_be_anything(void **state)
{
	size_t size = (size_t)vtr_image_bytes(DATA), used = sizeof(struct vtr_image);
	unsigned char *good = vpt_alloc(size, 1), *bad = vpt_alloc(size, 1);
	struct vtr_flight *f = ring(0);
	struct vpt_random random = {3};
	uint64_t i;
	int round, fd;

	(void)state;
	for (i = 0; i < 60; i++)
		put(f, i);
	vtr_flight_describe_about(f);
	vpt_sink_write(vtr_flight_sink(f), "about", 5, NULL);
	assert_int_equal(pread(vtr_flight_descriptor(f), good, size, 0), (ssize_t)size);
	vtr_flight_free(f);
	for (round = 0; round < 300; round++) {
		memcpy(bad, good, size);
		for (i = vpt_random_below(&random, 8); i > 0; i--)
			bad[vpt_random_below(&random, round % 2 ? used : 16384)] ^=
				(unsigned char)(1 + vpt_random_below(&random, 255));
		for (i = vpt_random_below(&random, 8); i > 0; i--)
			forge(bad, &random);
		if (round % 4 == 0) {
			struct vtr_image_head *h = (struct vtr_image_head *)bad;

			memcpy(h, good, sizeof(*h));
			h->data_bytes = ~0ull >> vpt_random_below(&random, 64);
			h->check = vtr_image_check_head(h);
		}
		fd = copy_of(bad, round % 5 ? size : (size_t)vpt_random_below(&random, size));
		read_image(fd);
		close(fd);
	}
	vpt_free(good);
	vpt_free(bad);
}

/* A terabyte of which nothing is there, and 16,384 entries for the same 17 MiB of it: 278 GB to read and to write. */
static void an_image_is_not_more_than_what_is_there(void **state)
{
	struct vtr_image *m = vpt_calloc(1, sizeof(*m));
	unsigned char *zeros = vpt_calloc(1, VTR_IMAGE_FRAME_MAX);
	struct vtr_flight_image *image;
	struct vtr_flight_view v;
	uint64_t hash = vtr_image_hash(zeros, VTR_IMAGE_FRAME_MAX), i;
	int fd;

	(void)state;
	m->head.magic = VTR_IMAGE_MAGIC;
	m->head.data_offset = sizeof(*m);
	m->head.data_bytes = VTR_IMAGE_DATA_MAX;
	m->head.bytes = vtr_image_bytes(VTR_IMAGE_DATA_MAX);
	m->head.check = vtr_image_check_head(&m->head);
	for (i = 0; i < VTR_IMAGE_ENTRIES; i++) {
		struct vtr_image_entry *e = &m->entries[i];

		e->frame = (struct vtr_image_frame){
			.number = i, .bytes = VTR_IMAGE_FRAME_MAX, .hash = hash};
		e->check = vtr_image_check_frame(&e->frame);
		atomic_store(&e->mark, i + 1);
	}
	fd = copy_of((const unsigned char *)m, sizeof(*m));
	assert_int_equal(ftruncate(fd, (off_t)m->head.bytes), 0);
	assert_int_equal(open_image(fd, &image, &v), 0);
	assert_int_equal(v.count, 0);
	vtr_flight_image_free(image);
	close(fd);
	vpt_free(zeros);
	vpt_free(m);
}

static void only_memory_is_an_image(void **state)
{
	struct vtr_flight *f = ring(0);
	struct vtr_image_head head;
	char name[] = "/tmp/vptrace-image-XXXXXX";
	static unsigned char bytes[sizeof(struct vtr_image) + DATA];
	int fd = vtr_flight_descriptor(f), file, ends[2];

	(void)state;
	assert_int_equal(vtr_flight_image_head(fd, &head, NULL), 0);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	file = mkstemp(name);
	assert_int_equal(write(file, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(vtr_flight_image_head(file, &head, NULL), VPT_EDATA);
	unlink(name);
	close(file);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(vtr_flight_image_head(ends[0], &head, NULL), VPT_EDATA);
	close(ends[0]);
	close(ends[1]);
	vtr_flight_free(f);
}

/* ---- options ---- */

static void a_ring_is_time_or_bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t keep_ns, bytes;
		int rc;
	} cases[] = {
		{"30s", 30000000000, 0, 0},
		{"2m", 120000000000, 0, 0},
		{"1h", 3600000000000, 0, 0},
		{"90min", 5400000000000, 0, 0},
		{"1500ms", 1500000000, 0, 0},
		{"999ms", 0, 0, VPT_EINVAL},
		{"101h", 0, 0, VPT_EINVAL},
		{"2M", 0, 2 << 20, 0},
		{"64MiB", 0, 64 << 20, 0},
		{"1G", 0, 1 << 30, 0},
		{"2MB", 0, 2000000, 0},
		{"", 0, 0, 0},
		{"0s", 0, 0, VPT_EINVAL},
		{"1MB", 0, 0, VPT_EINVAL},
		{"30", 0, 0, VPT_EINVAL},
		{"-5s", 0, 0, VPT_EINVAL},
		{" 5s", 0, 0, VPT_EINVAL},
		{"5s ", 0, 0, VPT_EINVAL},
		{"s", 0, 0, VPT_EINVAL},
		{"99999999999999999999s", 0, 0, VPT_EINVAL},
		{"360000h", 0, 0, VPT_EINVAL},
	};
	struct vtr_ring got;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc = vtr_ring_read(cases[i].text, &got, NULL);

		if (rc != cases[i].rc || got.keep_ns != cases[i].keep_ns ||
			got.bytes != cases[i].bytes)
			fail_msg("\"%s\": %d, %llu ns, %llu bytes", cases[i].text, rc,
				(unsigned long long)got.keep_ns, (unsigned long long)got.bytes);
	}
}

/* ---- slow steps ---- */

static void how_slow_is_a_decimal_number(void **state)
{
	static const struct {
		const char *text;
		double slow; /* 0: refused */
	} cases[] = {
		{"slow:1", 1},
		{"slow:1.5", 1.5},
		{"slow:2.000000001", 2.000000001},
		{"slow:1000000", 1e6},
		{"slow:1000000.000000001", 0},
		{"slow:0.999999999", 0},
		{"slow:", 0},
		{"slow:.", 0},
		{"slow:5.", 0},
		{"slow:5.0.0", 0},
		{"slow:-5", 0},
		{"slow:+5", 0},
		{"slow: 5", 0},
		{"slow:5e3", 0},
		{"slow:inf", 0},
		{"slow:18446744073709551616", 0},
		{"slow:2,slow:3", 0},
		{"signal:USR1,slow:2,signal:USR2", 0},
		{"signal:USR1,slow:2,mark:a", 2},
	};
	struct vtr_snapshot_on got;
	char text[VTR_SNAPSHOT_TEXT_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc = vtr_snapshot_on_read(cases[i].text, &got, NULL);

		if (rc != (cases[i].slow > 0 ? 0 : VPT_EINVAL) || got.slow < cases[i].slow ||
			got.slow > cases[i].slow)
			fail_msg("\"%s\": %d, %g", cases[i].text, rc, got.slow);
	}
	/* More digits than a double has room for, before and after the point. */
	memset(text, '9', sizeof(text));
	memcpy(text, "slow:", 5);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(vtr_snapshot_on_read(text, &got, NULL), VPT_EINVAL);
	text[6] = '.';
	assert_int_equal(vtr_snapshot_on_read(text, &got, NULL), VPT_EINVAL);
}

static void a_slow_step_is_slower_than_the_median(void **state)
{
	struct vtr_slow_steps s;
	uint64_t now = 0;
	int i;

	(void)state;
	vtr_slow_steps_begin(&s, 3, 10);
	for (i = 0; i < 7; i++)
		assert_false(vtr_slow_steps_take(&s, i ? 100 : 900, now += 1));
	assert_false(vtr_slow_steps_take(&s, 900, now += 1)); /* the eighth: too few before */
	assert_false(vtr_slow_steps_take(&s, 300, now += 1)); /* not more than three times */
	assert_true(vtr_slow_steps_take(&s, 301, now += 1));
	assert_false(vtr_slow_steps_take(&s, 301, now += 9)); /* too soon */
	assert_true(vtr_slow_steps_take(&s, 301, now += 1));
	for (i = 0; i < 40; i++) /* what is usual changes */
		vtr_slow_steps_take(&s, 1000, now += 1);
	assert_false(vtr_slow_steps_take(&s, 3000, now += 100));
	assert_true(vtr_slow_steps_take(&s, 3001, now += 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_frames_are_kept),
		cmocka_unit_test(old_frames_go_by_time),
		cmocka_unit_test(what_the_writer_had_not_put_by_then_is_a_loss),
		cmocka_unit_test(pinned_frames_stay_for_a_while),
		cmocka_unit_test(a_frame_larger_than_the_ring_is_refused),
		cmocka_unit_test(what_a_killed_process_had_put_is_there),
		cmocka_unit_test(any_byte_of_an_image_may_be_anything),
		cmocka_unit_test(an_image_is_not_more_than_what_is_there),
		cmocka_unit_test(only_memory_is_an_image),
		cmocka_unit_test(a_ring_is_time_or_bytes),
		cmocka_unit_test(how_slow_is_a_decimal_number),
		cmocka_unit_test(a_slow_step_is_slower_than_the_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
