/* self_forcing.h - simulates a Self-Forcing run as a stream of chunks, for benchmarks. NOT A
 * MEASUREMENT OF A GPU.
 *
 * Self-Forcing makes a video in 7 blocks of 3 latent frames. A block is 4 denoising passes and one
 * that writes the KV cache, each through 30 transformer layers. The VAE then decodes it to 12
 * frames, which a second thread copies to the host. Self-attention reads all blocks so far, so its
 * time grows with the block.
 *
 * The host runs scripts (self_forcing_tables.h) of pushes, pops, launches and copies on its own
 * clock; a stream is a queue with a device time. The host runs ahead until 1,024 launches are
 * pending, then a launch blocks, as in CUDA. A row is put when the host's clock passes its end,
 * calls before the ops that they launched, the order in which a tracer gets them. Noise is integer
 * arithmetic on one seeded generator: the same seed gives the same bytes.
 *
 *	host    |push|launch|launch|copy|pop| ...   CPU stamps on a 10 ns step, mostly
 *	queue        [op op op ...up to 1,024]      GPU stamps on a 32 ns grid, 1 off at times
 *	device            |kernel|kernel|copy|
 *
 * Memory is one chunk and the queues. Left out: failures, graphs, several GPUs. */
#ifndef VPT_BENCH_SELF_FORCING_H
#define VPT_BENCH_SELF_FORCING_H

#include "bench/self_forcing_chunks.h"

/* Closes the chunk if it is full. Call it before making anything, so that rows and their tables
 * stay together. */
static inline void sf_room(struct sf_stream *g)
{
	sf_release(g);
	if (g->now_ns - g->clock_ns >= UINT64_C(1000000000))
		sf_put_clock(g);
	if (vpt_batch_full(&g->batch) ||
		(g->chunk_ns && g->now_ns - g->chunk_start_ns >= g->chunk_ns))
		sf_close_chunk(g, 0);
}

static inline int sf_done(const struct sf_stream *g)
{
	return g->made >= g->wanted || g->rc;
}

/* ---- what the host does ---- */

static inline void sf_push(struct sf_stream *g, const char *name, int number)
{
	struct sf_range *r = &g->stack[g->depth];

	assert(g->depth < SF_DEPTH);
	r->muted = sf_done(g);
	if (!r->muted)
		sf_room(g); /* a chunk that closes lists what is open by now */
	g->depth++;
	if (r->muted)
		return;
	g->now_ns += sf_noisy(g, 450, 200);
	r->start_ns = sf_cpu_stamp(g, g->now_ns);
	if (number < 0)
		snprintf(r->name, sizeof(r->name), "%s", name);
	else
		snprintf(r->name, sizeof(r->name), "%s %d", name, number);
	g->made++;
}

static inline void sf_pop(struct sf_stream *g)
{
	struct sf_range *r = &g->stack[g->depth - 1];

	if (!r->muted) {
		sf_room(g);
		g->now_ns += sf_noisy(g, 380, 200);
		sf_put_range(g, SF_MAIN, r->name, r->start_ns, sf_cpu_stamp(g, g->now_ns));
		g->now_ns += 20; /* the next stamp is later even with its step off */
	}
	g->depth--;
}

/* A call on the main thread that lasts at least until `until_ns`. Returns its end. */
static inline uint64_t sf_call(struct sf_stream *g, uint32_t call, uint64_t before_ns,
	uint64_t base_ns, uint64_t until_ns, uint64_t correlation)
{
	uint64_t end;

	sf_room(g);
	g->now_ns += sf_noisy(g, before_ns, 300);
	g->call_start_ns = sf_cpu_stamp(g, g->now_ns);
	g->now_ns += sf_noisy(g, base_ns, 150);
	if (g->now_ns < until_ns)
		g->now_ns = until_ns + sf_noisy(g, 1500, 200);
	end = sf_cpu_stamp(g, g->now_ns);
	g->now_ns += 20;
	sf_put_call(g, SF_MAIN, call, g->call_start_ns, end, correlation);
	g->made++;
	return end;
}

/* Appends an op to a queue; it arrives at the device at `arrival_ns`. */
static inline uint64_t sf_enqueue(struct sf_stream *g, struct sf_queue *q, struct sf_op op,
	uint64_t arrival_ns, uint64_t duration_ns)
{
	uint64_t start = q->free_ns + sf_noisy(g, 928, 40);

	assert(q->tail - q->head < SF_PENDING);
	if (start < arrival_ns)
		start = arrival_ns;
	op.start_ns = sf_gpu_stamp(g, start);
	op.end_ns = sf_gpu_stamp(g, start + duration_ns);
	q->free_ns = start + duration_ns;
	q->ops[q->tail++ % SF_PENDING] = op;
	g->made++;
	return op.start_ns;
}

static inline void sf_launch(struct sf_stream *g, unsigned what, unsigned level, unsigned times)
{
	const struct sf_kernel *k = &sf_kernels[what];
	struct sf_op op = {
		.correlation = ++g->correlation, .what = (uint16_t)what, .level = (uint8_t)level};
	uint64_t *slot = &g->started[g->launches++ % SF_QUEUE];
	uint64_t end = sf_call(g, k->call, k->host_ns, sf_call_ns(k->call), *slot, op.correlation);
	uint64_t base = ((uint64_t)k->base_ns << (2 * level)) * times;

	*slot = sf_enqueue(
		g, &g->compute, op, end + sf_noisy(g, 2200, 100), sf_noisy(g, base, k->permille));
}

static inline void sf_copy_async(struct sf_stream *g, unsigned what)
{
	const struct sf_copy *c = &sf_copies[what];
	struct sf_op op = {.correlation = ++g->correlation, .what = (uint16_t)what, .is_copy = 1};
	uint64_t end = sf_call(g, c->call, 5200, sf_call_ns(c->call), 0, op.correlation);

	sf_enqueue(g, &g->compute, op, end + sf_noisy(g, 2200, 100), sf_noisy(g, c->base_ns, 15));
}

/* Waits for everything on the compute stream. */
static inline void sf_synchronize(struct sf_stream *g)
{
	struct vpt_sync row = {.sync_kind = VPT_SYNCKIND_STREAM,
		.correlation = ++g->correlation,
		.context = 1,
		.stream = SF_COMPUTE};
	uint64_t end =
		sf_call(g, SF_CALL_SYNCHRONIZE, 3000, 2600, g->compute.free_ns, row.correlation);

	row.start_ns = g->call_start_ns + 200;
	row.duration_ns = end - 300 - row.start_ns;
	vpt_batch_put(&g->batch, VPT_SYNC, SF_COMPUTE, &row);
	g->made++;
}

static inline void sf_aside_put(
	struct sf_stream *g, uint32_t call, uint64_t start, uint64_t end, uint64_t correlation)
{
	assert(g->aside_tail - g->aside_head < SF_ASIDE);
	g->aside[g->aside_tail++ % SF_ASIDE] = (struct sf_aside){start, end, correlation, call};
	g->made++;
}

/* The second thread, after the block: copies its frames to the host and waits for them. */
static inline void sf_copy_frames(struct sf_stream *g, unsigned frames)
{
	uint64_t t = g->now_ns + sf_noisy(g, 25000, 300), begin = sf_cpu_stamp(g, t), start, end;
	unsigned i;

	for (i = 0; i < frames; i++) {
		struct sf_op op = {
			.correlation = ++g->correlation, .what = SF_COPY_FRAME, .is_copy = 1};

		start = sf_cpu_stamp(g, t += sf_noisy(g, 9000, 300));
		end = sf_cpu_stamp(g, t += sf_noisy(g, sf_call_ns(SF_CALL_MEMCPY), 150));
		sf_aside_put(g, SF_CALL_MEMCPY, start, end, op.correlation);
		sf_enqueue(g, &g->copy, op, end + sf_noisy(g, 2200, 100),
			sf_noisy(g, sf_copies[SF_COPY_FRAME].base_ns, 20));
	}
	start = sf_cpu_stamp(g, t += sf_noisy(g, 3000, 300));
	t = g->copy.free_ns > t ? g->copy.free_ns : t;
	end = sf_cpu_stamp(g, t += sf_noisy(g, 3000, 200));
	sf_aside_put(g, SF_CALL_SYNCHRONIZE, start, end, ++g->correlation);
	sf_aside_put(g, 0, begin, sf_cpu_stamp(g, t + sf_noisy(g, 900, 200)), 0);
}

/* ---- the pipeline ---- */

static inline void sf_play(struct sf_stream *g, const struct sf_step *steps, unsigned level)
{
	for (; steps->deed != SF_STOP; steps++) {
		if (steps->deed == SF_PUSH)
			sf_push(g, sf_names[steps->what], -1);
		else if (steps->deed == SF_POP)
			sf_pop(g);
		else if (sf_done(g))
			continue;
		else if (steps->deed == SF_LAUNCH)
			sf_launch(g, steps->what, level, 1);
		else if (steps->deed == SF_ATTEND)
			sf_launch(g, steps->what, level, g->block + 1);
		else if (steps->deed == SF_COPY)
			sf_copy_async(g, steps->what);
		else
			sf_call(g, steps->what, 2400, sf_call_ns(steps->what), 0, ++g->correlation);
	}
}

static inline void sf_play_layers(struct sf_stream *g, const struct sf_step *steps, int layers)
{
	int layer;

	for (layer = 0; layer < layers && !sf_done(g); layer++) {
		sf_push(g, "layer", layer);
		sf_play(g, steps, 0);
		sf_pop(g);
	}
}

static inline void sf_pass(struct sf_stream *g, int step)
{
	if (step < SF_STEPS)
		sf_push(g, "step", step);
	else
		sf_push(g, "context", -1);
	sf_play(g, sf_embed, 0);
	sf_play_layers(g, sf_layer, SF_LAYERS);
	sf_play(g, step < SF_STEPS ? sf_denoise : sf_head, 0);
	sf_pop(g);
}

static inline void sf_decode(struct sf_stream *g)
{
	unsigned i;

	sf_push(g, "vae_decode", -1);
	for (i = 0; i < SF_VAE_STAGES && !sf_done(g); i++)
		sf_play(g, sf_vae, i * SF_LEVELS / SF_VAE_STAGES);
	sf_pop(g);
}

static inline void sf_video(struct sf_stream *g, int number)
{
	int step;

	/* Names stay bounded: the numbers repeat after a hundred videos. */
	sf_push(g, "video", number % 100);
	sf_push(g, "text_encoder", -1);
	sf_play_layers(g, sf_text, SF_TEXT_LAYERS);
	sf_pop(g);
	for (g->block = 0; g->block < SF_BLOCKS && !sf_done(g); g->block++) {
		sf_push(g, "block", (int)g->block);
		for (step = 0; step <= SF_STEPS && !sf_done(g); step++)
			sf_pass(g, step);
		sf_decode(g);
		if (!sf_done(g))
			sf_synchronize(g);
		if (!sf_done(g))
			sf_copy_frames(g, g->block ? 12 : 9);
		sf_pop(g);
	}
	sf_pop(g);
}

/* The header that goes with the stream. */
static inline struct vpt_header sf_header(uint64_t seed)
{
	return (struct vpt_header){.major = VPT_MAJOR,
		.minor = VPT_MINOR,
		.t0_ns = SF_T0,
		.t0_unix_ns = SF_T0,
		.capture_id = seed,
		.pid = SF_PID,
		.cpu_tick_ns = 1,
		.gpu_tick_ns = 1};
}

/* Makes `events` events or a few more and passes each chunk to `emit`, which stops the run by
 * returning non-zero. `chunk_ns` is the longest time in a chunk; 0: only its size counts. `g` is
 * the caller's scratch memory, about 300 KiB. Returns 0, what `emit` returned, or VPT_ENOMEM. */
static inline int sf_generate(struct sf_stream *g, uint64_t seed, uint64_t events,
	uint64_t chunk_ns, int (*emit)(void *ctx, struct vpt_batch *batch), void *ctx)
{
	int number;

	memset(g, 0, sizeof(*g));
	vpt_batch_init(&g->batch);
	g->random = seed * UINT64_C(0xd1342543de82ef95) + 1;
	g->wanted = events;
	g->chunk_ns = chunk_ns;
	g->emit = emit;
	g->ctx = ctx;
	g->now_ns = g->clock_ns = g->chunk_start_ns = g->compute.free_ns = g->copy.free_ns = SF_T0;
	g->correlation = 1000;
	for (number = 0; !sf_done(g); number++)
		sf_video(g, number);
	/* The program waits for its work, then exits. */
	if (g->now_ns < g->compute.free_ns)
		g->now_ns = g->compute.free_ns;
	if (g->now_ns < g->copy.free_ns)
		g->now_ns = g->copy.free_ns;
	g->now_ns += 2000000;
	sf_close_chunk(g, VPT_BATCH_LAST);
	vpt_batch_free(&g->batch);
	return g->rc;
}

#endif
