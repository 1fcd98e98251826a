/* probe.c - reads Python stacks in a loop, from inside a Python that loads this by ctypes, and
 * checks each against a list of what is legal there.
 *
 * The list has a number for each (caller, line, callee): functions are named f0001 and so on in the
 * file under test, everything else is foreign. A line of the innermost function is legal by itself.
 * A stack that is torn joins frames that never were on one, and so makes a pair that is not in the
 * list. */
#include "tracer/guest/own_memory.h"
#include "tracer/python_stacks/python_code.h"
#include "tracer/python_stacks/python_stack.h"
#include "tracer/python_stacks/thread_state.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

/* For ctypes. */
API int probe_open(const char *file);
API int probe_way(void);
API void probe_start(const uint64_t *legal, size_t count);
API void probe_stop(void);
API int probe_once(uint32_t tid);
API const char *probe_text(void);
API uint64_t probe_number(const char *name);
API int probe_line(const uint8_t *table, size_t bytes, int first, int instruction);

enum { PLANS = 4096, FOREIGN = 0xfffff, TOP = 0xffffe, OUTCOMES = 8, TEXT = 1 << 16 };

static struct {
	struct vtr_own_memory m;
	struct vtr_python python;
	struct vtr_code_places places;
	struct vtr_python_reader *reader;
	struct vtr_python_codes *codes;
	struct vtr_python_plan *plans[PLANS]; /* by thread id */
	struct vtr_python_stack stack;
	uint32_t named[VTR_PYTHON_DEPTH_MAX];
	const uint64_t *legal;
	size_t legal_count;
	char file[256];
	pthread_t thread;
	atomic_int stop, runs;
	uint32_t own;
	_Atomic uint64_t outcomes[OUTCOMES];
	_Atomic uint64_t samples, moving, moving_shown, illegal, unnamed, spent_ns, frames;
	char text[TEXT]; /* the first illegal stacks */
	size_t text_bytes;
} p;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint32_t id_of(uint32_t place)
{
	struct vpt_text name = vtr_code_place_function(&p.places, place);
	struct vpt_text file = vtr_code_place_file(&p.places, place);
	size_t n = strlen(p.file);
	char digits[8] = {0};

	if (file.len < n || memcmp(file.text + file.len - n, p.file, n) != 0 || name.len < 5 ||
		name.text[name.len - 5] != 'f')
		return FOREIGN;
	memcpy(digits, name.text + name.len - 4, 4);
	return (uint32_t)strtoul(digits, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int is_listed(uint32_t caller, uint32_t line, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 40 | (uint64_t)line << 20 | callee;

	return bsearch(&key, p.legal, p.legal_count, sizeof(key), by_number) != NULL;
}

static int is_legal(uint32_t count)
{
	uint32_t i, id, callee = TOP;

	for (i = 0; i < count; i++, callee = id) {
		id = id_of(p.named[i]);
		if (id == FOREIGN && (callee == FOREIGN || callee == TOP))
			continue;
		if (!is_listed(id, id == FOREIGN ? 0 : p.places.all[p.named[i]].line, callee))
			return 0;
	}
	return callee == FOREIGN || callee == TOP; /* threads begin in threading.py */
}

static void describe(const char *why, uint32_t tid, uint32_t count)
{
	uint32_t i;

	if (p.text_bytes > TEXT - 8192)
		return;
	p.text_bytes += (size_t)sprintf(p.text + p.text_bytes, "%s, thread %u:\n", why, tid);
	for (i = 0; i < count && i < 24; i++) {
		struct vpt_text f = vtr_code_place_function(&p.places, p.named[i]);
		struct vpt_text file = vtr_code_place_file(&p.places, p.named[i]);

		p.text_bytes += (size_t)snprintf(p.text + p.text_bytes, 300,
			"    %.*s %.*s:%u at %llx\n", (int)(f.len < 100 ? f.len : 100), f.text,
			(int)(file.len < 120 ? file.len : 120), file.text,
			p.places.all[p.named[i]].line, (unsigned long long)p.stack.frames[i].code);
	}
}

static struct vtr_python_plan *plan_of(uint32_t tid)
{
	struct vtr_python_plan **plan = &p.plans[tid % PLANS];

	if (!*plan)
		*plan = calloc(1, sizeof(**plan));
	if (*plan && (*plan)->tid != tid) {
		memset(*plan, 0, sizeof(**plan));
		(*plan)->tid = tid;
	}
	return *plan;
}

static void sample(uint32_t tid)
{
	uint64_t cpu_ns = vtr_thread_cpu_ns(tid), begin_ns = now_ns();
	enum vtr_python_outcome outcome = VTR_PYTHON_TORN;
	struct vtr_python_plan *plan = plan_of(tid);
	uint32_t count = 0;
	int tries, rc = 1, moved;

	for (tries = 0; plan && tries < 3 && rc == 1; tries++) {
		outcome = vtr_python_stack_read(p.reader, plan, &p.stack);
		if (outcome != VTR_PYTHON_WHOLE && outcome != VTR_PYTHON_CUT)
			break;
		rc = vtr_python_codes_name(p.codes, &p.stack, p.named, &count);
	}
	p.spent_ns += now_ns() - begin_ns;
	moved = vtr_thread_cpu_ns(tid) != cpu_ns;
	p.samples++;
	p.moving += (uint64_t)moved;
	p.outcomes[outcome]++;
	if (outcome != VTR_PYTHON_WHOLE && outcome != VTR_PYTHON_CUT)
		return;
	if (rc) {
		p.unnamed++;
		return;
	}
	p.frames += count;
	p.moving_shown += (uint64_t)moved;
	if (!count || is_legal(count))
		return;
	p.illegal++;
	describe(outcome == VTR_PYTHON_WHOLE ? "whole" : "cut", tid, count);
}

static void *run(void *arg)
{
	struct dirent *entry;
	uint32_t tids[PLANS], count, i;
	unsigned round;
	DIR *folder;

	(void)arg;
	p.own = (uint32_t)gettid();
	while (!p.stop) {
		folder = opendir("/proc/self/task");
		if (!folder)
			break;
		for (count = 0; (entry = readdir(folder)) && count < PLANS;) {
			tids[count] = (uint32_t)strtoul(entry->d_name, NULL, 10);
			count += tids[count] && tids[count] != p.own;
		}
		closedir(folder);
		for (round = 0; round < 20 && !p.stop; round++)
			for (i = 0; i < count; i++)
				sample(tids[i]);
	}
	return NULL;
}

/* 0; else why there are no stacks is in probe_text(). */
API int probe_open(const char *file)
{
	struct vpt_err err;

	snprintf(p.file, sizeof(p.file), "%s", file);
	vtr_own_memory_open(&p.m);
	if (p.m.way == VTR_OWN_MEMORY_REFUSED)
		return snprintf(p.text, sizeof(p.text), "refused"), -1;
	if (vtr_python_find(&p.m, &p.python, &err))
		return snprintf(p.text, sizeof(p.text), "%s", err.text), -1;
	p.reader = vtr_python_reader_new(&p.m, &p.python);
	if (!p.reader || vtr_code_places_init(&p.places))
		return -1;
	p.codes = vtr_python_codes_new(&p.m, &p.python, &p.places);
	return p.codes ? 0 : -1;
}

API int probe_way(void)
{
	return (int)p.m.way;
}

API void probe_start(const uint64_t *legal, size_t count)
{
	p.legal = legal;
	p.legal_count = count;
	p.stop = 0;
	pthread_create(&p.thread, NULL, run, NULL);
}

API void probe_stop(void)
{
	p.stop = 1;
	pthread_join(p.thread, NULL);
}

/* One sample of one thread, as text: a line per frame, "function file line", innermost first. */
API int probe_once(uint32_t tid)
{
	enum vtr_python_outcome outcome = VTR_PYTHON_TORN;
	struct vtr_python_plan *plan = plan_of(tid);
	uint32_t count = 0, i;
	int tries, rc = 1;

	p.text[0] = '\0';
	p.text_bytes = 0;
	for (tries = 0; tries < 3 && rc == 1; tries++) {
		outcome = vtr_python_stack_read(p.reader, plan, &p.stack);
		if (outcome != VTR_PYTHON_WHOLE && outcome != VTR_PYTHON_CUT)
			return (int)outcome;
		rc = vtr_python_codes_name(p.codes, &p.stack, p.named, &count);
	}
	for (i = 0; i < count && p.text_bytes < TEXT - 2048; i++) {
		struct vpt_text f = vtr_code_place_function(&p.places, p.named[i]);
		struct vpt_text file = vtr_code_place_file(&p.places, p.named[i]);

		p.text_bytes += (size_t)snprintf(p.text + p.text_bytes, 2000, "%.*s\t%.*s\t%u\n",
			(int)f.len, f.text, (int)file.len, file.text,
			p.places.all[p.named[i]].line);
	}
	return rc ? VTR_PYTHON_TORN : (int)outcome;
}

/* The line of an instruction, by a table as this Python has it; -1: none. */
API int probe_line(const uint8_t *table, size_t bytes, int first, int instruction)
{
	return vtr_python_line(p.python.at.lines, table, bytes, first, instruction);
}

API const char *probe_text(void)
{
	return p.text;
}

API uint64_t probe_number(const char *name)
{
	static const char *const outcomes[] = {"whole", "cut", "torn", "deep", "none", "ended"};
	size_t i;

	for (i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		if (!strcmp(name, outcomes[i]))
			return p.outcomes[i];
	if (!strcmp(name, "samples"))
		return p.samples;
	if (!strcmp(name, "moving"))
		return p.moving;
	if (!strcmp(name, "moving_shown"))
		return p.moving_shown;
	if (!strcmp(name, "illegal"))
		return p.illegal;
	if (!strcmp(name, "unnamed"))
		return p.unnamed;
	if (!strcmp(name, "frames"))
		return p.frames;
	return !strcmp(name, "spent_ns") ? p.spent_ns : 0;
}
