/* ranks.c - bench_ranks RANKS COLLECTIVES -o FOLDER: writes summaries of a job that nobody ran, to measure `ranks` and `merge`.
 *
 * SIMULATED: a video model on hosts of eight GPUs each, whose clocks differ. Between two collectives a rank runs five kinds of
 * kernels and waits for its host; everything varies at random, by a fixed seed. Rank 3 is later than the others. All ranks have the
 * same communicator, and each host one of its own. */
#include "analysis/names/families.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 6, GPUS = 8, TRANSFER_NS = 60000, START_NS = 2000000000, LATE = 3 };

static uint64_t state = 1;

static uint64_t random_below(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

/* Of one collective, by rank: what went before it. */
struct stretch {
	uint32_t ns[PARTS];
	uint32_t end_skew_ns;
};

struct job {
	unsigned ranks, count;
	struct vpa_rank_list list;
	uint64_t *at_ns, *start_ns, *end_ns;
	struct stretch *stretches;
};

static const struct vpa_part_name names[PARTS + 1] = {
	{VPA_TIME_COMPUTE, VPA_FAMILY_ATTENTION, "block *"},
	{VPA_TIME_COMPUTE, VPA_FAMILY_GEMM, "block *"},
	{VPA_TIME_COMPUTE, VPA_FAMILY_NORM, "block *"},
	{VPA_TIME_COMPUTE, VPA_FAMILY_ELEMENTWISE, "block *"},
	{VPA_TIME_IDLE, VPA_CAUSE_LAUNCH_RATE, "block *"},
	{VPA_TIME_IDLE, VPA_CAUSE_HOST_CODE, "step *"}, {VPA_TIME_COMM, 0, NULL}};

static const uint32_t typical_ns[PARTS] = {90000, 70000, 9000, 16000, 4000, 20000};

static uint64_t clock_of(unsigned rank, uint64_t ns)
{
	unsigned host = rank / GPUS;

	return ns + host * 1000003u + (uint64_t)((ns - START_NS) / 1000000 * (host % 40));
}

static int begin_rank(struct job *j, unsigned number)
{
	struct vpa_rank *r = vpa_rank_add(&j->list);
	unsigned p;

	if (!r)
		return -1;
	r->rank = number;
	r->world_size = j->ranks;
	r->local_rank = r->device = number % GPUS;
	r->pid = 1000 + number;
	r->simulated = r->complete = 1;
	r->host = vpa_arena_printf(&r->arena, "node%u", number / GPUS);
	r->capture = vpa_arena_printf(&r->arena, "rank%u.zst", number);
	r->gpu = "simulated GPU";
	r->part_names = vpt_calloc(PARTS + 1, sizeof(*names));
	r->part_ns = vpt_calloc(PARTS + 1, sizeof(*r->part_ns));
	r->keys = vpt_calloc(2, sizeof(*r->keys));
	if (!r->part_names || !r->part_ns || !r->keys)
		return -1;
	for (p = 0; p <= PARTS; p++)
		r->part_names[p] = names[p];
	r->part_name_count = PARTS + 1;
	r->key_count = 2;
	r->keys[0] = (struct vpa_collective_key){.kind = VPA_COLLECTIVE_ALL_REDUCE,
		.group = "world",
		.text = "allreduce",
		.bytes = 4096};
	r->keys[1] = (struct vpa_collective_key){.kind = VPA_COLLECTIVE_ALL_TO_ALL,
		.group = vpa_arena_printf(&r->arena, "host %u", number / GPUS),
		.text = "alltoall",
		.bytes = 1 << 22};
	j->at_ns[number] = START_NS;
	r->first_ns = clock_of(number, START_NS);
	return vpa_rank_begin_collectives(r, j->count, NULL);
}

/* One in four is of all ranks; the others of a host. */
static int is_of_all(unsigned collective)
{
	return collective % 4 == 0;
}

static void run_collective(struct job *j, unsigned i)
{
	unsigned r, p, first, n = is_of_all(i) ? j->ranks : GPUS;

	for (r = 0; r < j->ranks; r++) {
		struct stretch *s = &j->stretches[(size_t)i * j->ranks + r];

		j->start_ns[r] = j->at_ns[r];
		for (p = 0; p < PARTS; p++) {
			uint32_t ns =
				typical_ns[p] + (uint32_t)random_below(typical_ns[p] / 40 + 1);

			s->ns[p] = p == 5 && i % 8 ? 0 : r == LATE && p == 1 ? ns + ns / 10 : ns;
			j->start_ns[r] += s->ns[p];
		}
	}
	for (first = 0; first < j->ranks; first += n) {
		uint64_t last = 0;

		for (r = first; r < first + n && r < j->ranks; r++)
			last = j->start_ns[r] > last ? j->start_ns[r] : last;
		for (r = first; r < first + n && r < j->ranks; r++)
			j->at_ns[r] = j->end_ns[r] = last + TRANSFER_NS + random_below(2000);
	}
}

static int put_collective(struct job *j, unsigned i)
{
	unsigned r;

	for (r = 0; r < j->ranks; r++)
		if (vpa_rank_put_collective(j->list.items[r],
			    (struct vpa_rank_collective){clock_of(r, j->start_ns[r]),
				    clock_of(r, j->end_ns[r]), !is_of_all(i)}))
			return -1;
	return 0;
}

/* ---- paces ---- */

/* A queue of 1,024 launches, eight of them for each collective. */
enum { QUEUED = 128 };

static uint64_t end_before(const struct vpa_rank *r, uint32_t after)
{
	return after == VPA_RANK_START ? r->first_ns : vpa_rank_end_ns(r, after);
}

/* A term of a pace, with its time as a file keeps it. */
static void put_pace_term(struct vpa_rank *r, enum vpa_pace pace, size_t *used, uint64_t at_ns,
	uint32_t after, uint64_t ns, unsigned code)
{
	struct vpa_rank_pace *p = &r->detail.paces[pace];
	int64_t span_ns = (int64_t)(at_ns - end_before(r, after)), early_ns = span_ns - (int64_t)ns;

	early_ns += early_ns % VPA_PACE_TERM_NS > 0 ? VPA_PACE_TERM_NS - early_ns % VPA_PACE_TERM_NS
						    : -(early_ns % VPA_PACE_TERM_NS);
	p->terms[used[pace]++] = (struct vpa_rank_term){
		.after = after, .ns = span_ns - early_ns, .code = (uint8_t)code};
}

/* As of captures of the demo: after the collective before, the kernels alone take their time; host code takes none, half, or, where a
 * collective in four waits for a place in the queue, that of the few calls since. */
static void put_paces(struct job *j, unsigned number, size_t i, uint64_t at_ns,
	struct vpa_rank_term *recorded, size_t *used)
{
	static const enum vpa_busy_kind kinds[4] = {
		VPA_BUSY_ATTENTION, VPA_BUSY_GEMM, VPA_BUSY_NORM, VPA_BUSY_GLUE};
	struct vpa_rank *r = j->list.items[number];
	const struct stretch *s = &j->stretches[i * j->ranks + number];
	uint32_t before = i ? (uint32_t)i - 1 : VPA_RANK_START;
	uint64_t gpu_ns = 0, host_ns = 0, all_ns = (uint64_t)recorded->ns;
	unsigned p;

	for (p = 0; p < PARTS && i < j->count; p++)
		*(p < 4 ? &gpu_ns : &host_ns) += s->ns[p];
	for (p = 0; p < 4 && i < j->count; p++)
		recorded->work[kinds[p]] = (uint8_t)(VPA_TERM_WHOLE * s->ns[p] / (all_ns + 1));
	recorded->code = (uint8_t)(VPA_TERM_WHOLE * host_ns / (all_ns + 1));
	put_pace_term(r, VPA_PACE_HOST, used, at_ns, before, host_ns, host_ns ? VPA_TERM_WHOLE : 0);
	put_pace_term(r, VPA_PACE_HALF, used, at_ns, before, gpu_ns + host_ns / 2,
		(unsigned)(VPA_TERM_WHOLE * (host_ns / 2) / (gpu_ns + host_ns / 2 + 1)));
	put_pace_term(r, VPA_PACE_GPU, used, at_ns, before, gpu_ns, 0);
	if (i > QUEUED + 8 && i % 4 == 0) {
		put_pace_term(r, VPA_PACE_HOST, used, at_ns,
			(uint32_t)(i - QUEUED - random_below(5)), 300000 + random_below(9000),
			230 - (unsigned)random_below(8));
		put_pace_term(r, VPA_PACE_HALF, used, at_ns,
			(uint32_t)(i - QUEUED - random_below(5)), 200000 + random_below(9000),
			20 + (unsigned)random_below(8));
	}
	for (p = 0; p < VPA_PACES; p++)
		r->detail.paces[p].term_ends[i] = used[p];
}

static int make_room_for_paces(struct vpa_rank *r)
{
	size_t count = r->collective_count + 1;
	unsigned p;
	int rc = 0;

	for (p = 0; p < VPA_PACES && !rc; p++) {
		struct vpa_rank_pace *x = &r->detail.paces[p];

		rc = vpt_grow(&x->term_ends, &x->term_end_cap, count, sizeof(*x->term_ends)) ||
		     vpt_grow(&x->terms, &x->term_cap, 2 * count, sizeof(*x->terms));
	}
	return rc;
}

/* Rank 3 is late since its clock is limited. */
static int measure_rank(struct vpa_rank *r, unsigned number)
{
	static const char *const stages[] = {"text_encode", "denoise", "vae_decode"};
	uint64_t khz = number == LATE ? 1200000 : 1980000 - 1000 * random_below(30);
	unsigned i;

	r->fps = 16;
	r->gauges[VPA_GAUGE_POWER] = (struct vpa_rank_gauge){20, 90000, khz / 3, 700000};
	r->gauges[VPA_GAUGE_TEMPERATURE] = (struct vpa_rank_gauge){
		20, 40000, 60000, 60000 + random_below(9000) + (number == LATE ? 25000 : 0)};
	r->gauges[VPA_GAUGE_SM_CLOCK] = (struct vpa_rank_gauge){20, khz / 2, khz, khz};
	r->gauges[VPA_GAUGE_MEMORY_USED] = (struct vpa_rank_gauge){
		20, 1 << 30, UINT64_C(60) << 30, (UINT64_C(61) << 30) + random_below(1 << 30)};
	r->clock.awake_ns = r->last_ns - r->first_ns;
	r->clock.limited_ns = number == LATE ? r->clock.awake_ns / 10 * 9 : 0;
	r->clock.reason = number == LATE ? "hardware thermal slowdown" : NULL;
	r->stages = vpt_calloc(3, sizeof(*r->stages));
	for (i = 0; i < 3 && r->stages; i++)
		r->stages[r->stage_count++] = (struct vpa_rank_stage){stages[i], 0, 4,
			(UINT64_C(10000000) << 2 * (i & 1)) + random_below(1000000) +
				(number == LATE && i == 1 ? 4000000 : 0)};
	return r->stages ? 0 : -1;
}

/* Each starts when its kernels are done, and not before its host launched it: a term of the rank's start. */
static int end_rank(struct job *j, unsigned number)
{
	struct vpa_rank *r = j->list.items[number];
	struct vpa_rank_detail *d = &r->detail;
	size_t i, used = 0, mark = 0, pace_used[VPA_PACES] = {0};
	unsigned p;

	r->last_ns = vpa_rank_end_ns(r, j->count - 1);
	r->units = j->count / 400 + 1;
	r->unit = VPA_UNIT_STEP;
	r->unit_ns = (r->last_ns - r->first_ns) / r->units;
	r->units_from_ns = r->first_ns;
	r->units_to_ns = r->last_ns;
	r->has_terms = 1;
	r->has_paces = VPA_PACES_BESIDE;
	if (measure_rank(r, number) || vpa_rank_set_marks(r, d) || make_room_for_paces(r) ||
		vpt_grow(&d->parts, &d->part_cap, (size_t)j->count * (PARTS + 1),
			sizeof(*d->parts)) ||
		vpt_grow(&d->term_ends, &d->term_end_cap, (size_t)j->count + 1,
			sizeof(*d->term_ends)) ||
		vpt_grow(&d->terms, &d->term_cap, 2 * (size_t)j->count + 2, sizeof(*d->terms)))
		return -1;
	for (i = 0; i <= j->count; i++) {
		uint64_t before = i ? vpa_rank_end_ns(r, i - 1) : r->first_ns;
		uint64_t at = i < j->count ? vpa_rank_start_ns(r, i) : r->last_ns;

		d->terms[used++] =
			(struct vpa_rank_term){.after = i ? (uint32_t)i - 1 : VPA_RANK_START,
				.ns = (int64_t)(at - before)};
		put_paces(j, number, i, at, &d->terms[used - 1], pace_used);
		if (i && random_below(10) < 4)
			d->terms[used++] = (struct vpa_rank_term){.after = VPA_RANK_START,
				.ns = (int64_t)((at - r->first_ns) / 2 -
						random_below((at - r->first_ns) / 4 + 1))};
		d->term_ends[i] = used;
	}
	for (i = 0; i < j->count; i++) {
		const struct stretch *s = &j->stretches[i * j->ranks + number];
		uint64_t left =
			vpa_rank_start_ns(r, i) - (mark ? d->marks[mark - 1].time_ns : r->first_ns);

		/* A clock that runs faster has the first kernels last longer. */
		for (p = 1; p < PARTS; p++)
			left -= s->ns[p];
		for (p = 0; p < PARTS; p++)
			if (!p || s->ns[p]) {
				d->parts[d->part_count++] =
					(struct vpa_rank_part){p, p ? s->ns[p] : left};
				r->part_ns[p] += p ? s->ns[p] : left;
				r->class_ns[names[p].klass] += p ? s->ns[p] : left;
			}
		d->marks[mark++].part_end = d->part_count;
		left = vpa_rank_end_ns(r, i) - vpa_rank_start_ns(r, i);
		d->parts[d->part_count++] = (struct vpa_rank_part){PARTS, left};
		r->part_ns[PARTS] += left;
		r->class_ns[VPA_TIME_COMM] += left;
		d->marks[mark++].part_end = d->part_count;
	}
	return mark == d->mark_count ? 0 : -1;
}

static int run(struct job *j)
{
	unsigned i, r;

	j->at_ns = vpt_calloc(j->ranks, sizeof(*j->at_ns));
	j->start_ns = vpt_calloc(j->ranks, sizeof(*j->start_ns));
	j->end_ns = vpt_calloc(j->ranks, sizeof(*j->end_ns));
	j->stretches = vpt_calloc((size_t)j->ranks * j->count, sizeof(*j->stretches));
	if (!j->at_ns || !j->start_ns || !j->end_ns || !j->stretches)
		return -1;
	for (r = 0; r < j->ranks; r++)
		if (begin_rank(j, r))
			return -1;
	for (i = 0; i < j->count; i++) {
		run_collective(j, i);
		if (put_collective(j, i))
			return -1;
	}
	return 0;
}

static int save(struct vpa_rank_blocks *blocks, const char *path)
{
	struct vpt_sink *sink;
	int rc = vpt_sink_open(path, VPT_SINK_FORCE, &sink, NULL);

	if (rc)
		return rc;
	rc = vpa_rank_blocks_write(blocks, sink, NULL);
	return sink->finish(sink, !rc, NULL);
}

static int save_all(struct job *j, const char *folder)
{
	char path[4096];
	unsigned r;

	for (r = 0; r < j->ranks; r++) {
		struct vpa_rank_blocks blocks = {.count = 0};
		int rc;

		snprintf(path, sizeof(path), "%s/r%u.vps", folder, r);
		rc = end_rank(j, r) || vpa_rank_blocks_add(&blocks, j->list.items[r]) ||
		     save(&blocks, path);
		vpa_rank_blocks_free(&blocks);
		vpa_rank_free(j->list.items[r]);
		if (rc) {
			fprintf(stderr, "bench_ranks: %s: not written\n", path);
			return 1;
		}
	}
	return 0;
}

static void free_job(struct job *j)
{
	vpa_rank_list_free(&j->list);
	vpt_free(j->at_ns);
	vpt_free(j->start_ns);
	vpt_free(j->end_ns);
	vpt_free(j->stretches);
}

int main(int argc, char **argv)
{
	struct job j = {.ranks = argc > 4 ? (unsigned)atoi(argv[1]) : 0};
	int rc = 1;

	if (!j.ranks || strcmp(argv[3], "-o") != 0) {
		fprintf(stderr, "usage: bench_ranks RANKS COLLECTIVES -o FOLDER\n");
		return 2;
	}
	j.count = (unsigned)atoi(argv[2]);
	if (run(&j))
		fprintf(stderr, "bench_ranks: no memory\n");
	else
		rc = save_all(&j, argv[4]);
	free_job(&j);
	return rc;
}
