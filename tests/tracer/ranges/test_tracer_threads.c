/* test_tracer_threads.c - many threads, and those that end, fork or are interrupted: everything is kept or counted. VPT_PERCENT
 * scales the work.
 * Long, since the threads of all cases share one set of helpers. */
#include "tests/support/skip.h"
#include "tests/tracer/ranges/tracer_rig.h"
#include "tracer/ranges/thread_names.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- threads ---- */

static void leave_ranges_open(void)
{
	push("", "outer");
	push("", "inner");
}

static void a_thread_that_ends_closes_its_ranges(void **state)
{
	(void)state;
	in_a_thread(leave_ranges_open);
	assert_int_equal(open_now(), 0);
	assert_int_equal(drain(), 2);
	assert_true(is_named(&kept.events[0], "inner"));
	assert_true(is_named(&kept.events[1], "outer"));
	assert_int_equal(kept.events[1].unmatched, 1);
	assert_true(kept.events[1].end_ns >= kept.events[1].start_ns);
	assert_int_not_equal(kept.events[1].tid, vtr_tid());
}

static uint32_t lossy_tid;

/* More than all sizes of rings hold, one after the other. */
enum { FLOOD = 32768 };

static void lose_events(void)
{
	int i;

	lossy_tid = vtr_tid();
	for (i = 0; i < FLOOD; i++)
		vptrace_mark("flood");
}

static void find_lossy(void *ctx, uint32_t tid, uint64_t lost)
{
	if (tid == lossy_tid)
		*(uint64_t *)ctx += lost;
}

static void losses_outlive_their_thread(void **state)
{
	uint64_t lost = 0, drained = 0, all;

	(void)state;
	limit_to(VTR_THREAD_BYTES);
	in_a_thread(lose_events);
	lift_limit();
	vtr_threads_dropped(find_lossy, &lost);
	assert_true(lost > 0);
	vtr_threads_drain(count_event, &drained);
	assert_int_equal(drained + lost, FLOOD);
	lost = 0;
	all = vtr_threads_dropped(find_lossy, &lost);
	assert_int_equal(all, lost);
	assert_int_equal(drained + lost, FLOOD);
}

static sem_t may_mark, has_marked;

static void *mark_when_told(void *arg)
{
	(void)arg;
	vptrace_mark("early");
	sem_post(&has_marked);
	sem_wait(&may_mark);
	vptrace_mark("late");
	sem_post(&has_marked);
	sem_wait(&may_mark);
	return NULL;
}

/* Another capture begins in the middle of a drain, and has an event at once. */
static void begin_another(void *ctx, const struct vtr_event *e)
{
	if (is_named(e, "begin another")) {
		vtr_threads_stop();
		vtr_threads_record(vtr_now());
		sem_post(&may_mark);
		sem_wait(&has_marked);
	}
	*(uint64_t *)ctx += (uint64_t)is_named(e, "late");
}

static void a_drain_that_began_before_the_capture_takes_nothing_from_it(void **state)
{
	pthread_t thread;
	uint64_t late = 0;

	(void)state;
	sem_init(&may_mark, 0, 0);
	sem_init(&has_marked, 0, 0);
	vptrace_mark("the first thread has memory");
	assert_int_equal(pthread_create(&thread, NULL, mark_when_told, NULL), 0);
	sem_wait(&has_marked);
	drain();
	vptrace_mark("begin another");
	vtr_threads_drain(begin_another, &late);
	vtr_threads_drain(begin_another, &late);
	assert_int_equal(late, 1);
	sem_post(&may_mark);
	pthread_join(thread, NULL);
}

/* Three times in a row: rings that were added are given back, and the first one used again. */
static void a_full_ring_is_followed_by_another(void **state)
{
	uint64_t before, drained, lost = 0;
	int round;

	(void)state;
	in_a_thread(leave_ranges_open); /* its memory waits for the next one */
	drain();
	before = vtr_threads_memory();
	for (round = 0; round < 3; round++) {
		drained = 0;
		in_a_thread(lose_events);
		assert_int_equal(vtr_threads_dropped(find_lossy, &lost), 0);
		assert_true(vtr_threads_memory() >= before + FLOOD * 3 * sizeof(uint64_t));
		vtr_threads_drain(count_event, &drained);
		assert_int_equal(drained, FLOOD);
		assert_int_equal(vtr_threads_memory(), before);
	}
}

/* While the writer reads, the chain grows and shrinks; nothing is lost or doubled, and order stays. */
static atomic_int flooding;

static void flood_in_order(void)
{
	uint64_t i;

	for (i = 0; i < (uint64_t)scaled(40) * FLOOD; i++)
		vptrace_counter("n", (double)i, NULL);
	atomic_store(&flooding, 0);
}

static void *flood_thread(void *nothing)
{
	(void)nothing;
	flood_in_order();
	return NULL;
}

static void check_order(void *ctx, const struct vtr_event *e)
{
	uint64_t *next = ctx;
	double value;

	memcpy(&value, &e->payload.value, sizeof(value));
	if (value != (double)*next)
		fail_msg("%.0f after %.0f", value, (double)*next - 1);
	++*next;
}

static void a_chain_of_rings_keeps_all_in_order(void **state)
{
	uint64_t next = 0;
	pthread_t thread;

	(void)state;
	atomic_store(&flooding, 1);
	assert_int_equal(pthread_create(&thread, NULL, flood_thread, NULL), 0);
	while (atomic_load(&flooding))
		vtr_threads_drain(check_order, &next);
	pthread_join(thread, NULL);
	vtr_threads_drain(check_order, &next);
	assert_int_equal(dropped(), 0);
	assert_int_equal(next, (uint64_t)scaled(40) * FLOOD);
}

/* What a drain with a cut took, and what it only looked at. */
static struct {
	size_t taken, seen;
} two;

static void take_it(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	assert_true(e->end_ns <= start_ns);
	two.taken++;
}

static void see_it(void *ctx, const struct vtr_event *e)
{
	(void)ctx;
	assert_true(e->end_ns > start_ns);
	two.seen++;
}

static void three_rings_of_ranges(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		push("", "range");
		pop("");
	}
}

/* What ended after a cut stays in its ring, and in the rings behind it, also of a thread that has ended. */
static void what_comes_after_the_cut_stays(void **state)
{
	struct vtr_drain how = {.take = take_it};
	size_t count;

	(void)state;
	push("", "around");
	three_rings_of_ranges();
	how.cut_ns = start_ns = vtr_now();
	two.taken = two.seen = 0;
	while (vtr_now() == start_ns)
		;
	three_rings_of_ranges();
	pop("");
	in_a_thread(three_rings_of_ranges);
	assert_int_equal(vtr_threads_drain_some(&how, &count), 0);
	assert_int_equal(count, 1000);
	assert_int_equal(two.taken, 1000);
	vtr_threads_look(see_it, NULL);
	assert_int_equal(two.seen, 2001);
	assert_int_equal(drain(), 2001);
	assert_int_equal(dropped(), 0);
}

/* Its first ring has been left, and is gone on in, since there is no other: it does not begin at 0. */
static void come_back_to_the_first_ring(void)
{
	struct vtr_drain how = {.take = take_it};
	size_t count;
	int i;

	for (i = 0; i < VTR_RING_FIRST_WORDS; i++) {
		push("", "range");
		pop("");
	}
	assert_int_equal(drain(), VTR_RING_FIRST_WORDS);
	how.cut_ns = start_ns = vtr_now();
	while (vtr_now() == start_ns)
		;
	three_rings_of_ranges();
	two.taken = two.seen = 0;
	assert_int_equal(vtr_threads_drain_some(&how, &count), 0);
	vtr_threads_look(see_it, NULL);
	assert_int_equal(two.taken, 0);
	assert_int_equal(two.seen + dropped(), 1000);
	assert_in_range(two.seen, (VTR_RING_FIRST_WORDS + VTR_RING_NEXT_WORDS) / 5, 999);
	assert_int_equal(drain(), two.seen);
}

static void a_look_finds_what_is_in_a_ring_used_again(void **state)
{
	(void)state;
	limit_to(VTR_THREAD_BYTES + VTR_RING_BYTES(VTR_RING_NEXT_WORDS));
	in_a_thread(come_back_to_the_first_ring);
	lift_limit();
}

static void nothing(void *ctx, const struct vtr_event *e)
{
	(void)e;
	usleep(*(unsigned *)ctx);
}

/* A round ends though its thread is faster: what is made meanwhile belongs to the next one. */
static void a_round_has_an_end(void **state)
{
	unsigned us = 1;
	struct vtr_drain how = {.take = nothing, .ctx = &us};
	uint64_t next = 0;
	pthread_t thread;
	size_t count;

	(void)state;
	atomic_store(&flooding, 1);
	assert_int_equal(pthread_create(&thread, NULL, flood_thread, NULL), 0);
	while (atomic_load(&flooding))
		usleep(1000);
	how.cut_ns = vtr_threads_reach(vtr_now(), 1000);
	assert_int_equal(vtr_threads_drain_some(&how, &count), 0);
	assert_true(count > 0 && count <= 1000);
	pthread_join(thread, NULL);
	vtr_threads_drain(count_event, &next);
	assert_int_equal(next + count + dropped(), (uint64_t)scaled(40) * FLOOD);
}

/* A step of time has about as many events as it may, of whatever threads, and never none. */
static void a_step_of_time_has_its_share_of_events(void **state)
{
	struct vtr_drain how = {.take = count_event};
	uint64_t taken = 0, last_ns = 0;
	size_t count;
	int steps = 0;

	(void)state;
	assert_int_equal(vtr_threads_reach(5, 1), 5); /* nothing is there */
	three_rings_of_ranges();
	last_ns = vtr_now();
	in_a_thread(three_rings_of_ranges);
	how.ctx = &taken;
	start_ns = vtr_now();
	assert_int_equal(vtr_threads_reach(start_ns, 10000), start_ns);
	assert_true(vtr_threads_reach(start_ns, 200) < last_ns);
	for (how.cut_ns = 0; how.cut_ns < start_ns; steps++) {
		how.cut_ns = vtr_threads_reach(start_ns, 200);
		vtr_threads_drain_some(&how, &count);
		assert_in_range(count, 1, 200);
		assert_true(steps < 2000);
	}
	assert_int_equal(taken, 2000);
	assert_int_equal(dropped(), 0);
}

/* However many threads have events, and wherever they lie: the time to drain is that of all events, not
 * that of all events for each thread. */
static void a_step_of_time_is_full(void **state)
{
	struct vtr_drain how = {.take = count_event};
	int i, steps = 0, threads = (int)scaled(40);
	uint64_t taken = 0;
	size_t count;

	(void)state;
	for (i = 0; i < threads; i++)
		in_a_thread(three_rings_of_ranges);
	how.ctx = &taken;
	start_ns = vtr_now();
	for (how.cut_ns = 0; how.cut_ns < start_ns; steps++) {
		how.cut_ns = vtr_threads_reach(start_ns, 1000);
		vtr_threads_drain_some(&how, &count);
		assert_in_range(count, 1, 1000);
	}
	assert_int_equal(taken, 1000 * threads);
	assert_in_range(steps, threads, 2 * threads);
}

/* What was reported of each thread so far. */
static struct {
	uint32_t tid;
	uint64_t lost;
} reported_losses[4096];

static void losses_grow(void *ctx, uint32_t tid, uint64_t lost)
{
	size_t i = 0;

	while (reported_losses[i].lost && reported_losses[i].tid != tid)
		i++;
	assert_true(lost > 0 && lost >= reported_losses[i].lost);
	*(uint64_t *)ctx += lost - reported_losses[i].lost;
	reported_losses[i].tid = tid;
	reported_losses[i].lost = lost;
}

static void go_too_deep(void)
{
	int i;

	push("", "deep");
	limit_to(0);
	for (i = 0; i < VTR_STACK_ROOM; i++)
		push("", "deep");
	lift_limit();
	pop("");
}

static void nest_without_memory(void)
{
	int i;

	push("", "outer");
	limit_to(0);
	for (i = 0; i < VTR_STACK_ROOM; i++)
		push("", "inner");
	lift_limit();
	for (i = 0; i <= VTR_STACK_ROOM; i++)
		pop("");
}

/* There, nothing is known of the program: the outermost range is dropped, and counted as all that finds no memory. */
static void a_stack_that_cannot_grow_drops_the_oldest(void **state)
{
	uint64_t unmatched = vtr_threads_unmatched();
	int i;

	(void)state;
	in_a_thread(nest_without_memory);
	assert_int_equal(dropped(), 1);
	assert_int_equal(drain(), VTR_STACK_ROOM);
	for (i = 0; i < VTR_STACK_ROOM; i++)
		assert_true(is_named(&kept.events[i], "inner"));
	assert_int_equal(vtr_threads_unmatched(), unmatched);
}

static void many_threads_may_lose_something(void **state)
{
	uint64_t reported = 0, drained = 0;
	int i, count = (int)scaled(1300); /* more than are counted separately */

	(void)state;
	for (i = 0; i < count; i++) {
		in_a_thread(go_too_deep);
		if (i % 3 == 0)
			vtr_threads_dropped(losses_grow, &reported);
		vtr_threads_drain(count_event, &drained);
		if (i % 5 == 0)
			vtr_threads_dropped(losses_grow, &reported);
	}
	assert_int_equal(vtr_threads_dropped(losses_grow, &reported), count);
	assert_int_equal(reported, count);
	assert_int_equal(drained, (uint64_t)count * VTR_STACK_ROOM);
}

static pthread_key_t late_key;

static void be_late(void *value)
{
	vptrace_range_push("late");
	vptrace_range_pop();
	vptrace_mark("late");
	/* A destructor that sets its key again runs again, after ours. */
	if ((uintptr_t)value > 1)
		pthread_setspecific(late_key, (void *)((uintptr_t)value - 1));
}

static void end_late(void)
{
	vptrace_mark("in time");
	pthread_setspecific(late_key, (void *)3);
}

static void events_of_late_destructors_are_counted(void **state)
{
	uint64_t memory, all = 0;
	int i;

	(void)state;
	/* Made after ours, so it runs after ours in each round. */
	assert_int_equal(pthread_key_create(&late_key, be_late), 0);
	in_a_thread(end_late);
	all += drain();
	memory = vtr_threads_memory();
	for (i = 0; i < 20; i++) {
		in_a_thread(end_late);
		all += drain();
	}
	assert_int_equal(all + dropped(), 21 * 7);
	assert_true(all >= 21);
	assert_int_equal(vtr_threads_memory(), memory);
	pthread_key_delete(late_key);
}

static void *short_life(void *arg)
{
	(void)arg;
	vptrace_range_push("life");
	vptrace_mark("event");
	vptrace_range_pop();
	return NULL;
}

static void memory_of_ended_threads_is_used_again(void **state)
{
	enum { ALIVE = 8 };
	int count = (int)scaled(10000 / ALIVE) * ALIVE;
	uint64_t drained = 0, before = vtr_threads_memory();
	pthread_t threads[ALIVE];
	int i, k;

	(void)state;
	for (i = 0; i < count; i += ALIVE) {
		for (k = 0; k < ALIVE; k++)
			assert_int_equal(pthread_create(&threads[k], NULL, short_life, NULL), 0);
		for (k = 0; k < ALIVE; k++)
			pthread_join(threads[k], NULL);
		vtr_threads_drain(count_event, &drained);
	}
	assert_int_equal(drained, 2 * count);
	assert_int_equal(dropped(), 0);
	assert_true(vtr_threads_memory() - before <= ALIVE * VTR_THREAD_BYTES);

	vtr_threads_stop(); /* nobody drains, and nothing has to be drained */
	for (i = 0; i < count / 20; i++) {
		assert_int_equal(pthread_create(&threads[0], NULL, short_life, NULL), 0);
		pthread_join(threads[0], NULL);
	}
	assert_true(vtr_threads_memory() - before <= ALIVE * VTR_THREAD_BYTES);
}

static pthread_barrier_t crowd_gate;

static void *crowd(void *arg)
{
	(void)arg;
	vptrace_range_push("crowd");
	pthread_barrier_wait(&crowd_gate); /* all have their memory, or none */
	vptrace_range_pop();
	vptrace_mark("crowd");
	pthread_barrier_wait(&crowd_gate);
	return NULL;
}

static void threads_beyond_the_limit_are_counted(void **state)
{
	enum { CROWD = 300, ROOM = 100 };
	static pthread_t threads[CROWD];
	pthread_attr_t attr;
	uint64_t drained = 0, homes;
	int i;

	(void)state;
	vptrace_mark("this thread has its memory");
	limit_to(ROOM * VTR_THREAD_BYTES);
	pthread_barrier_init(&crowd_gate, NULL, CROWD + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	for (i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], &attr, crowd, NULL)) {
			print_message("only %d threads can be had here\n", i);
			_exit(77);
		}
	pthread_barrier_wait(&crowd_gate);
	pthread_barrier_wait(&crowd_gate);
	for (i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	vtr_threads_drain(count_event, &drained);
	homes = (drained - 1) / 2;
	assert_in_range(homes, ROOM, ROOM + VTR_THREADS_KEPT);
	assert_int_equal(drained + dropped(), 1 + 2 * CROWD);
	in_a_thread(leave_ranges_open); /* there is room again */
	assert_int_equal(drain(), 2);
	lift_limit();
}

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
		WITH_CAPTURE(a_thread_that_ends_closes_its_ranges),
		WITH_CAPTURE(a_drain_that_began_before_the_capture_takes_nothing_from_it),
		WITH_CAPTURE(losses_outlive_their_thread),
		WITH_CAPTURE(a_stack_that_cannot_grow_drops_the_oldest),
		WITH_CAPTURE(many_threads_may_lose_something),
		WITH_CAPTURE(events_of_late_destructors_are_counted),
		WITH_CAPTURE(memory_of_ended_threads_is_used_again),
		WITH_CAPTURE(a_forked_child_does_nothing),
		WITH_CAPTURE(a_child_forked_before_a_capture_has_nothing_of_its_parent),
		WITH_CAPTURE(a_signal_may_come_in_between),
		WITH_CAPTURE(events_make_no_system_call),
		WITH_CAPTURE(every_event_is_drained_or_counted),
		WITH_CAPTURE(captures_may_begin_and_end_at_any_moment),
		WITH_CAPTURE(open_ranges_are_seen_as_they_were_at_one_moment),
		WITH_CAPTURE(a_full_ring_is_followed_by_another),
		WITH_CAPTURE(a_chain_of_rings_keeps_all_in_order),
		WITH_CAPTURE(what_comes_after_the_cut_stays),
		WITH_CAPTURE(a_look_finds_what_is_in_a_ring_used_again),
		WITH_CAPTURE(a_round_has_an_end),
		WITH_CAPTURE(a_step_of_time_has_its_share_of_events),
		WITH_CAPTURE(a_step_of_time_is_full),
		WITH_CAPTURE(threads_beyond_the_limit_are_counted),
	};

	if (vtr_names_init() || vtr_threads_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
