/* test_tracer_forks.c - forks and signals among threads that are recorded, and threads, a writer and captures that
 * begin and end at any moment. VPT_PERCENT scales the work. */
#include "tests/support/skip.h"
#include "tests/tracer/ranges/tracer_rig.h"
#include "tracer/ranges/thread_names.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static pthread_barrier_t crowd_gate;

/* ---- forks and signals ---- */

static void a_forked_child_does_nothing(void **state)
{
	int status;
	pid_t child;

	(void)state;
	vptrace_mark("parent");
	child = fork();
	if (!child) {
		vtr_threads_inert();
		vptrace_range_push("child");
		vptrace_range_pop();
		vptrace_mark("child");
		if (vptrace_range_start("child") ||
			vtr_range_push(&(struct vtr_attributes){0}) >= 0)
			_exit(1);
		if (vtr_range_pop(VTR_NAME_EMPTY) >= 0 || vtr_tid() != (uint32_t)getpid())
			_exit(2);
		vtr_threads_record(vtr_now());
		vptrace_mark("child");
		_exit(drain() == 1 ? 0 : 3); /* what the parent had made */
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	vptrace_mark("parent");
	assert_int_equal(drain(), 2);
}

static void *wait_with_ranges(void *unused)
{
	int i;

	for (i = 0; i < 100; i++)
		vptrace_range_push("of another thread");
	pthread_barrier_wait(&crowd_gate);
	pthread_barrier_wait(&crowd_gate);
	return unused;
}

static void take_open(void *ctx, const struct vtr_event *event)
{
	uint32_t *tid = ctx;

	*tid = event->tid;
}

/* What a child may record that was forked before any capture: its own. */
static void child_records(uint64_t parents)
{
	uint64_t mine;
	uint32_t tid = 0;

	vtr_threads_stop();
	if (vtr_threads_forked() || vtr_range_pop(VTR_NAME_EMPTY) >= 0)
		_exit(1);
	vtr_threads_record(vtr_now());
	if (vtr_threads_open(take_open, &tid) || tid)
		_exit(2);
	vptrace_range_end(parents);
	mine = vptrace_range_start("child");
	if (drain() || !mine || mine == parents)
		_exit(3);
	vptrace_range_end(mine);
	if (vtr_range_push(&(struct vtr_attributes){0}) || vtr_threads_open(take_open, &tid) ||
		tid != (uint32_t)getpid())
		_exit(4);
	vptrace_range_pop();
	_exit(drain() == 2 ? 0 : 5);
}

static void a_child_forked_before_a_capture_has_nothing_of_its_parent(void **state)
{
	pthread_t thread;
	uint64_t id;
	int status;
	pid_t child;

	(void)state;
	pthread_barrier_init(&crowd_gate, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_with_ranges, NULL), 0);
	pthread_barrier_wait(&crowd_gate);
	vptrace_range_push("parent");
	id = vptrace_range_start("parent");
	vtr_thread_name(vtr_tid(), vtr_name_of("parent"));
	child = fork();
	if (!child)
		child_records(id);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pthread_barrier_wait(&crowd_gate);
	pthread_join(thread, NULL);
	vptrace_range_pop();
	vptrace_range_end(id);
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	vptrace_range_push("handler");
	vptrace_range_pop();
	signals++;
}

static void a_signal_may_come_in_between(void **state)
{
	const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	uint64_t made = 0, drained = 0, enough = scaled(300000);

	(void)state;
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	while (made < enough || !signals) {
		vptrace_range_push("main");
		vptrace_range_pop();
		if (++made % 1000 == 0)
			vtr_threads_drain(count_event, &drained);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	vtr_threads_drain(count_event, &drained);
	assert_int_equal(drained + dropped(), made + (uint64_t)signals);
}

static int all_events(void)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, 1, -1, -1, 500};
	size_t before = mallinfo2().uordblks;
	char name[32] = "name 00000";
	int i;

	for (i = 0; i < 20000; i++) {
		name[5] = (char)('0' + i / 1000 % 10);
		name[6] = (char)('0' + i / 100 % 10);
		vptrace_range_push(name);
		vptrace_note_push("step", &note);
		vptrace_range_pop();
		vptrace_range_pop();
		vptrace_range_end(vptrace_range_start(name));
		vptrace_mark(name);
		vptrace_counter(name, i, "unit");
	}
	return mallinfo2().uordblks != before;
}

/* Every system call but the end of the process kills it. */
static int forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#if defined(__has_feature)
#define CLANG_SANITIZES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define CLANG_SANITIZES 0
#endif

static void events_make_no_system_call(void **state)
{
	int status;
	pid_t child;

	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || CLANG_SANITIZES
	vpt_skip("system calls are not counted in this build: a sanitizer makes some of its own");
#endif
	child = fork();
	if (!child) {
		vptrace_mark("the first event of a thread may do what it wants");
		limit_to(0); /* and so may one that needs another ring */
		_exit(forbid_system_calls() ? 77 : all_events());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		vpt_skip("system calls cannot be forbidden here");
	assert_int_equal(status, 0);
}

/* ---- many threads, a writer, captures that begin and end ---- */

enum { WORKERS = 64, NAMES = 64 };

static char *texts[NAMES];
static pthread_barrier_t rounds;
static _Atomic int over;
static unsigned ranges_a_round;

/* Names of 1 byte to 64 KiB. */
static void make_texts(void)
{
	size_t i, k;

	for (i = 0; i < NAMES; i++) {
		size_t len = i < 17 ? (size_t)1 << i : 3 + i * 5;

		texts[i] = malloc(len + 1);
		for (k = 0; k < len; k++)
			texts[i][k] = (char)('a' + (i + k) % 26);
		texts[i][len] = 0;
	}
}

static void free_texts(void)
{
	size_t i;

	for (i = 0; i < NAMES; i++)
		free(texts[i]);
}

static void some_ranges(unsigned seed, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		struct vptrace_note note = {.index = i};

		vptrace_range_push(texts[(seed + i) % NAMES]);
		if (i % 4 == 0) {
			vptrace_note_push(texts[(seed + i * 7) % NAMES], &note);
			vptrace_range_pop();
		} else {
			vptrace_range_end(vptrace_range_start("cross"));
		}
		vptrace_range_pop();
	}
}

static void *work_in_rounds(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (;;) {
		pthread_barrier_wait(&rounds);
		if (over)
			return NULL;
		some_ranges(seed, ranges_a_round);
		pthread_barrier_wait(&rounds);
	}
}

/* Whether the writer below has drained anything. */
static _Atomic int has_drained;

static void *writer(void *arg)
{
	uint64_t *drained = arg;

	while (!over) {
		vtr_threads_drain(count_event, drained);
		if (*drained)
			has_drained = 1;
		vtr_threads_open(count_event, &(uint64_t){0});
		usleep(200);
	}
	return NULL;
}

/* Captures begin and end while the workers stand still, so that what was made is known. */
static void every_event_is_drained_or_counted(void **state)
{
	static pthread_t workers[WORKERS];
	unsigned round, captures = scaled(6);
	size_t i;

	(void)state;
	make_texts();
	over = 0;
	ranges_a_round = 400;
	pthread_barrier_init(&rounds, NULL, WORKERS + 1);
	for (i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work_in_rounds, (void *)i);
	for (round = 0; round < captures; round++) {
		uint64_t drained = 0;
		int k;

		vtr_threads_record(vtr_now());
		pthread_barrier_wait(&rounds);
		for (k = 0; k < 5 && round % 2;
			k++) /* every other capture has a writer that keeps up, more or less */
			vtr_threads_drain(count_event, &drained);
		pthread_barrier_wait(&rounds);
		vtr_threads_stop();
		vtr_threads_drain(count_event, &drained);
		assert_int_equal(drained + dropped(), (uint64_t)WORKERS * ranges_a_round * 2);
		if (round % 2 == 0)
			assert_int_equal(drained, (uint64_t)WORKERS * ranges_a_round * 2);
	}
	over = 1;
	pthread_barrier_wait(&rounds);
	for (i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	pthread_barrier_destroy(&rounds);
	free_texts();
}

static void *work_until_over(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	while (!over)
		some_ranges(seed++, 20);
	return NULL;
}

/* Captures begin and end at any moment: nothing may break, and no capture may see more than it lasted. */
static void captures_may_begin_and_end_at_any_moment(void **state)
{
	pthread_t workers[16], drainer;
	uint64_t drained = 0;
	unsigned toggle, toggles = scaled(200);
	size_t i;

	(void)state;
	make_texts();
	over = has_drained = 0;
	for (i = 0; i < 16; i++)
		pthread_create(&workers[i], NULL, work_until_over, (void *)i);
	pthread_create(&drainer, NULL, writer, &drained);
	for (toggle = 0; toggle < toggles; toggle++) {
		vtr_threads_record(vtr_now());
		usleep(toggle % 16 ? toggle % 3 * 50 : 2000);
		vtr_threads_stop();
	}
	/* Short captures may all have been over before any thread had its turn: the last one is long enough. */
	vtr_threads_record(vtr_now());
	for (i = 0; i < 20000 && !has_drained; i++)
		usleep(1000);
	vtr_threads_stop();
	over = 1;
	for (i = 0; i < 16; i++)
		pthread_join(workers[i], NULL);
	pthread_join(drainer, NULL);
	assert_true(drained > 0);
	vtr_threads_record(vtr_now());
	assert_int_equal(drain(), 0);
	assert_int_equal(dropped(), 0);
	free_texts();
}

enum { MOVING = 100 };

/* Says that all MOVING ranges are open: before, whoever looks rightly sees fewer. */
static sem_t all_open;

/* A look is given up where the stack never holds still. After PATIENCE such looks the mover rests until one has seen all. */
enum { PATIENCE = 20 };
static _Atomic int rests;

static void push_moving(uint64_t k)
{
	struct vtr_attributes a = {.name = VTR_NAME_REFUSED, .domain = 1 + (uint32_t)(k % 1000)};
	unsigned char blob[24];

	memset(blob, (int)(k & 0xff), sizeof(blob));
	a.payload = (struct vtr_payload){VPT_PAYLOAD_BLOB, sizeof(blob), 0, k, blob};
	vtr_range_push(&a);
}

/* Keeps ranges open that are numbered without gaps: the lowest is closed, so that all others move down, and one more opened. */
static void *keep_moving(void *arg)
{
	uint64_t k;

	(void)arg;
	for (k = 1; k <= MOVING; k++)
		push_moving(k);
	sem_post(&all_open);
	for (; !over; k++) {
		vtr_range_pop(1 + (uint32_t)((k - MOVING) % 1000));
		push_moving(k);
		if (k % 256 == 0)
			usleep(100);
		while (rests && !over)
			usleep(100);
	}
	return NULL;
}

static void open_ranges_are_seen_as_they_were_at_one_moment(void **state)
{
	unsigned seen = 0, missed = 0, tries, enough = scaled(2000), i, byte;
	uint64_t deadline;
	pthread_t mover;

	(void)state;
	over = 0;
	rests = 0;
	sem_init(&all_open, 0, 0);
	pthread_create(&mover, NULL, keep_moving, NULL);
	sem_wait(&all_open);
	deadline = vtr_now() + 20 * UINT64_C(1000000000);
	for (tries = 0; seen < enough && vtr_now() < deadline; tries++) {
		kept.count = 0;
		vtr_threads_open(keep, NULL);
		for (i = 0; i < kept.count; i++) {
			const struct vtr_payload *p = &kept.events[i].payload;

			assert_int_equal(p->schema, kept.events[0].payload.schema + i);
			for (byte = 0; byte < p->bytes; byte++)
				assert_int_equal(kept.blobs[i][byte], p->schema & 0xff);
		}
		assert_true(kept.count <= MOVING);
		if (kept.count >= MOVING - 1) {
			seen++;
			missed = 0;
		} else {
			missed++;
		}
		rests = missed >= PATIENCE;
		if (tries % 50 == 0)
			vtr_threads_drain(count_event, &(uint64_t){0});
	}
	over = 1;
	pthread_join(mover, NULL);
	sem_destroy(&all_open);
	assert_true(seen > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_CAPTURE(a_forked_child_does_nothing),
		WITH_CAPTURE(a_child_forked_before_a_capture_has_nothing_of_its_parent),
		WITH_CAPTURE(a_signal_may_come_in_between),
		WITH_CAPTURE(events_make_no_system_call),
		WITH_CAPTURE(every_event_is_drained_or_counted),
		WITH_CAPTURE(captures_may_begin_and_end_at_any_moment),
		WITH_CAPTURE(open_ranges_are_seen_as_they_were_at_one_moment),
	};

	if (vtr_names_init() || vtr_threads_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
