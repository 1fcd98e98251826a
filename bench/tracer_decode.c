/* tracer_decode.c - the cost of turning CUPTI's records into rows in the tracer's writer thread.
 *
 * Uses launches as CUDA 13 delivers them: a driver call inside a runtime call, then the kernel. The
 * same rows, made beforehand, are also put without decoding; the difference is the cost of
 * decoding. Prints ns per record and, if the kernel permits counting, instructions per record: the
 * best of -r rounds (default 7), for all measurements or only number -m. */
#include "bench/bench.h"

#include "formats/capture_layout.h"
#include "tests/tracer/cupti/cupti_fake.h"
#include "tracer/cupti/records/cupti_records.h"
#include "tracer/ranges/words/range_strings.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUFFERS = 48, BYTES = 1 << 20, NAMES = 200, RECORDS = 1000000 };

static int counter = -1;
static unsigned rounds = 7;

/* The CPU time of this thread, without that of other programs. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_counter(void)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_HARDWARE;
	a.config = PERF_COUNT_HW_INSTRUCTIONS;
	a.exclude_kernel = 1;
	counter = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static uint64_t instructions(void)
{
	uint64_t n = 0;

	return counter >= 0 && read(counter, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static int nothing(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	(void)sink, (void)commit, (void)err;
	return VPT_OK;
}

static struct vpt_sink sink;

static struct vtr_recorder *new_recorder(void)
{
	struct vtr_recorder_options o = {
		.sink = &sink, .header = {.major = VPT_MAJOR, .t0_ns = 1, .pid = 7}, .level = 1};
	struct vtr_recorder *r = NULL;

	sink = bench_counting_sink();
	sink.finish = nothing;
	if (vtr_recorder_new(&o, &r, NULL))
		exit(1);
	return r;
}

static char names[NAMES][160];
static uint8_t *buffers[BUFFERS];
static size_t valid[BUFFERS];
static uint64_t clock_ns = UINT64_C(1700000000000000000);
static uint32_t correlation;
static uint32_t name_count = NAMES, grid_count = 300; /* shapes: their least common multiple */

static size_t put_launch(uint8_t *at, uint32_t n, int nested)
{
	struct vtr_record_call *c = (struct vtr_record_call *)at;
	struct vtr_record_kernel *k;
	uint64_t t = clock_ns += 9000 + n % 17;

	correlation++;
	if (nested) {
		*c++ = (struct vtr_record_call){VTR_KIND_DRIVER, FAKE_CU_LAUNCH_KERNEL, t + 500,
			t + 4000, 7, 11, correlation, 0};
	}
	*c++ = (struct vtr_record_call){
		VTR_KIND_RUNTIME, FAKE_LAUNCH_KERNEL, t, t + 4300 + n % 300, 7, 11, correlation, 0};
	k = (struct vtr_record_kernel *)c;
	memset(k, 0, 216);
	k->kind = VTR_KIND_CONCURRENT_KERNEL;
	k->name = names[n % name_count];
	k->start = t + 9000;
	k->end = t + 15000 + n % 4000;
	k->context = 1;
	k->stream = 7;
	k->grid_x = n % grid_count + 1;
	k->grid_y = k->grid_z = k->block_y = k->block_z = 1;
	k->block_x = 128;
	k->registers = 64;
	k->correlation = correlation;
	return (size_t)((uint8_t *)k + 216 - at);
}

static void fill(int nested)
{
	size_t i, step = nested ? 296 : 256;
	uint32_t n = 0;

	for (i = 0; i < BUFFERS; i++) {
		free(buffers[i]);
		buffers[i] = aligned_alloc(4096, BYTES);
		for (valid[i] = 0; valid[i] + step <= BYTES; n++)
			valid[i] += put_launch(buffers[i] + valid[i], n, nested);
	}
}

enum { ROWS_A_BUFFER = 8192 };

static struct vpt_kernel *kernel_rows;
static struct vpt_call *call_rows;

/* Puts the rows that the decoder would make, without decoding. */
static uint64_t put_only(struct vtr_recorder *r, size_t i, size_t launches)
{
	struct vtr_lane *stream = vtr_recorder_stream(r, 0, 1, 7);
	struct vtr_lane *thread = vtr_recorder_thread(r, 11);
	size_t n;

	for (n = 0; n < launches; n++) {
		vtr_recorder_room(r);
		vtr_recorder_put(r, VPT_CALL, thread, &call_rows[i * ROWS_A_BUFFER + n]);
		vtr_recorder_room(r);
		vtr_recorder_put(r, VPT_KERNEL, stream, &kernel_rows[i * ROWS_A_BUFFER + n]);
	}
	return 2 * launches;
}

static void make_rows(void)
{
	size_t i;

	kernel_rows = calloc(BUFFERS * ROWS_A_BUFFER, sizeof(*kernel_rows));
	call_rows = calloc(BUFFERS * ROWS_A_BUFFER, sizeof(*call_rows));
	if (!kernel_rows || !call_rows)
		exit(1);
	for (i = 0; i < BUFFERS * ROWS_A_BUFFER; i++) {
		kernel_rows[i] = (struct vpt_kernel){.start_ns = clock_ns + i * 9000,
			.duration_ns = 6000 + i % 4000,
			.config = i % grid_count,
			.correlation = i};
		call_rows[i] = (struct vpt_call){.start_ns = clock_ns + i * 9000,
			.duration_ns = 4300 + i % 300,
			.id = 1,
			.correlation = i};
	}
}

/* Processes the buffers until enough records are done; returns how many. */
static uint64_t go_over(struct vtr_decoder *d, struct vtr_recorder *r, int decode)
{
	uint64_t records = 0;
	size_t i;

	for (i = 0; records < RECORDS; i = (i + 1) % BUFFERS) {
		struct vtr_full full = {.data = buffers[i], .valid_bytes = valid[i]};

		records +=
			decode ? vtr_decoder_buffer(d, &full, r) : put_only(r, i, valid[i] / 256);
	}
	return records;
}

static const struct measurement {
	const char *what;
	int nested, decode;
	uint32_t names, grids;
} measurements[] = {
	{"put of finished rows (call, kernel)", 0, 0, 200, 300},
	{"decode and put (call, kernel), 30 shapes", 0, 1, 10, 30},
	{"decode and put (call, kernel), 300 shapes", 0, 1, 100, 300},
	{"decode and put (call, kernel), 600 shapes", 0, 1, 200, 300},
	{"decode and put (nested call, call, kernel), 30 shapes", 1, 1, 10, 30},
	{"decode and put (nested call, call, kernel), 600 shapes", 1, 1, 200, 300},
};

static void measure(const struct measurement *m)
{
	static struct vtr_sizes sizes;
	static struct vtr_calls calls;
	uint64_t best = UINT64_MAX, fewest = UINT64_MAX, records = 0;
	struct vtr_cupti_functions fn;
	unsigned round;

	fake_reset(&fake_versions[2]);
	fn = fake_functions();
	vtr_sizes_learn(&fn, &sizes);
	vtr_calls_learn(&fn, VPTRACE_PROFILE_DEFAULT, &calls);
	name_count = m->names;
	grid_count = m->grids;
	fill(m->nested);
	for (round = 0; round < rounds; round++) {
		struct vtr_recorder *r = new_recorder();
		struct vtr_decoder *d = vtr_decoder_new();
		uint64_t time, count;

		if (!d)
			exit(1);
		vtr_decoder_begin(d, &sizes, &calls);
		time = cpu_ns();
		count = instructions();
		records = go_over(d, r, m->decode);
		count = instructions() - count;
		time = cpu_ns() - time;
		best = time < best ? time : best;
		fewest = count < fewest ? count : fewest;
		vtr_decoder_free(d);
		vtr_recorder_free(r);
	}
	printf("%-56s %6.1f ns", m->what, (double)best / (double)records);
	if (counter >= 0)
		printf("  %6.1f instructions", (double)fewest / (double)records);
	printf(" a record\n");
}

int main(int argc, char **argv)
{
	int option, only = -1;
	size_t i;

	while ((option = getopt(argc, argv, "r:m:")) != -1) {
		if (option == 'r')
			rounds = (unsigned)atoi(optarg);
		if (option == 'm')
			only = atoi(optarg);
		if (option == '?' || !rounds) {
			fprintf(stderr, "usage: bench_tracer_decode [-r ROUNDS] [-m NUMBER]\n");
			return 2;
		}
	}

	vtr_names_init();
	open_counter();
	if (counter < 0)
		printf("instructions are not counted here\n");
	for (i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]),
			"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
			"11FillFunctorIfEEN5torch%04zu"
			"6detail5ArrayIPcLm1EEEEEviT0_T1_ELb1EffE%03zu",
			i, i);
	make_rows();
	for (i = 0; i < sizeof(measurements) / sizeof(measurements[0]); i++)
		if (only < 0 || (size_t)only == i)
			measure(&measurements[i]);
	return 0;
}
