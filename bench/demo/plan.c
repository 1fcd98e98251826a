/* plan.c - the pipeline: tables of what a layer, a pass, a VAE unit and a text layer do, and the
 * loops around them.
 *
 * Like the real one it looks at all blocks so far in self-attention, so that a block takes
 * longer than the one before it; decodes each block as soon as it is denoised; and hands its
 * frames to the host, which then works on them while the GPU has nothing to do. What it leaves
 * out: the numbers. No kernel computes anything. */
#include "bench/demo/plan.h"

#include "bench/demo/plants.h"
#include "tests/standin/standin.h"

#include <math.h>
#include <stdio.h>

const struct demo_kernel demo_kernels[DEMO_KERNELS] = {
#define DEMO_KERNEL(ID, name, grid_x, grid_y, block, ns)                                           \
	[DEMO_K_##ID] = {name, grid_x, grid_y, block, ns},
#include "bench/demo/kernels.def"
};

enum {
	PASS_NS = 100000000,       /* of --reference */
	ITEM_HOST_NS = 350000,     /* what Python does with the number that .item() gave it */
	FRAMES_HOST_NS = 20000000, /* frames of a block become 8-bit pictures */
	REPLAY_HOST_NS = 30000,
	STEP_HOST_NS = 60000,    /* the pipeline's own code around a pass */
	RANGE_HOST_NS = 500,     /* of a push or a pop */
	CACHE_BYTES = 14376960,  /* keys or values of a block: 4,680 tokens of 1,536 in BF16 */
	FRAME_BYTES = 4792320,   /* 480 x 832 x 3 in FP32 */
	WEIGHT_BYTES = 16 << 20, /* of a layer, --offload */
	LATENT_BYTES = 599040,   /* of a block: 3 x 16 x 60 x 104 in BF16 */
	PROMPT_BYTES = 4096,
	TIMESTEP_BYTES = 24,
	TEXT_LAYERS = 24,
	TEXT_BYTES = 8 << 20, /* of a layer's buffers, which the first request allocates */
	VAE_UNITS = 24,
	VAE_LEVELS = 3 /* of resolution; each does four times the work of the one before it */
};

struct plan {
	const struct demo_options *o;
	struct demo_player player;
	int thread;
	uint64_t left_ns, left_launches; /* of a pass of --reference */
	uint64_t graphs, passes;
};

/* ---- deeds ---- */

static void put(struct plan *p, struct demo_deed deed)
{
	deed.thread = p->thread;
	p->player.put(p->player.ctx, &deed);
}

static void work(struct plan *p, uint64_t ns)
{
	ns = (uint64_t)llround((double)ns * p->o->scale_host);
	if (ns)
		put(p, (struct demo_deed){.kind = DEMO_WORK, .ns = ns});
}

/* A rank with a turn has its faults in that one of a few passes only. */
static int64_t planted(const struct plan *p, enum demo_plant_kind kind, int64_t none)
{
	int64_t turn = demo_plant(p->o->plants, p->o->rank, DEMO_PLANT_TURN, -1);

	if (turn >= 0 && (kind == DEMO_PLANT_HOST || kind == DEMO_PLANT_KERNEL) &&
		p->passes % demo_plant_turns(p->o->plants) != (uint64_t)turn)
		return none;
	return demo_plant(p->o->plants, p->o->rank, kind, none);
}

/* Ranks that share the work of a pass. */
static uint64_t parts(const struct plan *p)
{
	return demo_group(p->o, p->o->cfg_parallel ? DEMO_SEQUENCE : DEMO_ALL_RANKS).ranks;
}

static void launch(struct plan *p, enum demo_kernel_id id, enum demo_stream stream, double times)
{
	double alone = (double)demo_kernels[id].ns * p->o->scale * times / (double)parts(p);
	uint64_t ns;

	if (id == DEMO_K_GEMM_UP || id == DEMO_K_GELU || id == DEMO_K_GEMM_DOWN)
		alone = alone * (double)planted(p, DEMO_PLANT_KERNEL, 100) / 100;
	ns = alone < 1 ? 1 : (uint64_t)llround(alone);
	if (p->o->reference && p->left_launches) {
		ns = p->left_ns / p->left_launches;
		p->left_ns -= ns;
		p->left_launches--;
	}
	work(p, p->o->launch_host_ns);
	put(p, (struct demo_deed){.kind = DEMO_LAUNCH, .kernel = id, .stream = stream, .ns = ns});
}

/* Adds what the ranks of d.group do together. `passes`: the bytes that pass the link of each. */
static void collective(struct plan *p, struct demo_deed d, uint64_t passes)
{
	if (demo_group(p->o, d.group).ranks < 2)
		return;
	work(p, p->o->launch_host_ns);
	d.kind = DEMO_COLLECTIVE;
	d.ns = STANDIN_LINK_NS + (passes * 1000 + STANDIN_LINK_RATE - 1) / STANDIN_LINK_RATE;
	put(p, d);
}

static enum demo_group_id sequence_group(const struct plan *p)
{
	return p->o->cfg_parallel ? DEMO_SEQUENCE : DEMO_ALL_RANKS;
}

/* Each rank has a part of all tokens before it, and all tokens of a part of the heads after it, or
 * the other way round. */
static void exchange(struct plan *p, enum demo_stream stream)
{
	uint64_t ranks = parts(p), part = CACHE_BYTES / ranks / ranks;

	if (!p->o->ring)
		collective(p,
			(struct demo_deed){.kernel = DEMO_K_ALL_TO_ALL,
				.stream = stream,
				.group = sequence_group(p),
				.bytes = part * ranks},
			part * (ranks - 1));
}

static void gather(struct plan *p, enum demo_group_id group)
{
	uint64_t part = LATENT_BYTES / parts(p);

	collective(p,
		(struct demo_deed){.kernel = DEMO_K_ALL_GATHER,
			.stream = DEMO_MAIN,
			.group = group,
			.bytes = part},
		part * (demo_group(p->o, group).ranks - 1));
}

static void copy(struct plan *p, struct demo_deed deed)
{
	if (p->o->reference)
		return;
	work(p, p->o->launch_host_ns);
	put(p, deed);
}

static void sync_stream(struct plan *p, enum demo_stream stream)
{
	put(p, (struct demo_deed){.kind = DEMO_SYNC_STREAM, .stream = stream});
}

static void with_event(
	struct plan *p, enum demo_deed_kind kind, enum demo_event event, enum demo_stream stream)
{
	put(p, (struct demo_deed){.kind = kind, .event = event, .stream = stream});
}

/* Each rank looks at its own keys and then at those of each rank before it, which arrive meanwhile. */
static void ring_attention(struct plan *p, enum demo_stream stream, uint64_t blocks)
{
	uint64_t ranks = parts(p), bytes = 2 * CACHE_BYTES / ranks * blocks, i;

	for (i = 0; i < ranks; i++) {
		if (i + 1 < ranks) {
			with_event(p, DEMO_RECORD, DEMO_RING_BEGIN, stream);
			with_event(p, DEMO_WAIT, DEMO_RING_BEGIN, DEMO_SIDE);
			collective(p,
				(struct demo_deed){.kernel = DEMO_K_ALL_TO_ALL,
					.stream = DEMO_SIDE,
					.group = sequence_group(p),
					.to_next = 1,
					.bytes = bytes},
				bytes);
			with_event(p, DEMO_RECORD, DEMO_RING_END, DEMO_SIDE);
		}
		launch(p, DEMO_K_SELF_ATTENTION, stream, (double)blocks / (double)ranks);
		if (i + 1 < ranks)
			with_event(p, DEMO_WAIT, DEMO_RING_END, stream);
	}
}

/* What PyTorch does for .item(), and the code that needed the number. */
static void item(struct plan *p)
{
	copy(p, (struct demo_deed){.kind = DEMO_TO_HOST, .stream = DEMO_MAIN, .bytes = 8});
	sync_stream(p, DEMO_MAIN);
	work(p, ITEM_HOST_NS);
}

/* ---- ranges ---- */

static struct vptrace_note note(enum vptrace_note_kind kind)
{
	return (struct vptrace_note){
		.kind = kind, .index = -1, .frames = -1, .latents = -1, .timestep = -1};
}

static void put_named(struct plan *p, enum demo_deed_kind kind, struct vptrace_note what,
	const char *name, int64_t number)
{
	struct demo_deed deed = {.kind = kind, .note = what};

	work(p, RANGE_HOST_NS);
	if (number < 0)
		snprintf(deed.name, sizeof(deed.name), "%s", name);
	else
		snprintf(deed.name, sizeof(deed.name), "%s %lld", name, (long long)number);
	put(p, deed);
}

static void push(struct plan *p, enum vptrace_note_kind kind, const char *name)
{
	put_named(p, DEMO_PUSH, note(kind), name, -1);
}

static void pop(struct plan *p, enum vptrace_note_kind kind)
{
	work(p, RANGE_HOST_NS);
	put(p, (struct demo_deed){.kind = DEMO_POP, .note.kind = kind});
}

static uint64_t frames_of(uint64_t block)
{
	return block ? DEMO_FRAMES : DEMO_FIRST_FRAMES;
}

static void push_block(struct plan *p, uint64_t block)
{
	struct vptrace_note n = note(VPTRACE_NOTE_BLOCK);

	n.index = (int64_t)block;
	n.frames = (int64_t)frames_of(block);
	n.latents = DEMO_LATENTS;
	put_named(p, DEMO_PUSH, n, "block", n.index);
}

static void mark_frames(struct plan *p, uint64_t block)
{
	struct vptrace_note n = note(VPTRACE_NOTE_FRAMES);

	n.index = (int64_t)block;
	n.frames = (int64_t)frames_of(block);
	put_named(p, DEMO_MARK, n, "frames ready", -1);
}

/* ---- scripts: kernels in order, and what else a layer does between them ---- */

enum {
	TIMES_BLOCKS = 1 << 8,
	TO_CACHE = 1 << 9,
	ITEM,
	SELF,
	CROSS,
	FEED_FORWARD,
	POP,
	EXCHANGE,
	END
};

/* A kernel's id, with TIMES_BLOCKS where it looks at all blocks so far, or one of the other
 * words. */
static const unsigned flash_layer[] = {DEMO_K_MODULATION, SELF, DEMO_K_LAYER_NORM,
	DEMO_K_SCALE_SHIFT, DEMO_K_GEMM_QKV, DEMO_K_GEMM_QKV, DEMO_K_GEMM_QKV, DEMO_K_RMS_NORM,
	DEMO_K_RMS_NORM, DEMO_K_ROPE, DEMO_K_ROPE, EXCHANGE, EXCHANGE, EXCHANGE, ITEM, TO_CACHE,
	ITEM, TO_CACHE, DEMO_K_SELF_ATTENTION + TIMES_BLOCKS, EXCHANGE, DEMO_K_GEMM_OUT,
	DEMO_K_GATE, POP, CROSS, DEMO_K_LAYER_NORM, DEMO_K_GEMM_QKV, DEMO_K_RMS_NORM,
	DEMO_K_CROSS_ATTENTION, DEMO_K_GEMM_OUT, DEMO_K_ADD, POP, FEED_FORWARD, DEMO_K_LAYER_NORM,
	DEMO_K_SCALE_SHIFT, DEMO_K_GEMM_UP, DEMO_K_GELU, DEMO_K_GEMM_DOWN, DEMO_K_GATE, POP, END};
static const unsigned eager_attention[] = {DEMO_K_EAGER_SCORES + TIMES_BLOCKS,
	DEMO_K_EAGER_SCALE + TIMES_BLOCKS, DEMO_K_EAGER_SOFTMAX + TIMES_BLOCKS,
	DEMO_K_EAGER_VALUES + TIMES_BLOCKS, END};
static const unsigned embed[] = {DEMO_K_SINUSOID, DEMO_K_GEMM_SMALL, DEMO_K_SILU_SMALL,
	DEMO_K_GEMM_SMALL, DEMO_K_PATCH, END};
static const unsigned head[] = {
	DEMO_K_LAYER_NORM, DEMO_K_SCALE_SHIFT, DEMO_K_HEAD, DEMO_K_UNPATCH, END};
static const unsigned scheduler[] = {
	DEMO_K_SCHEDULE, DEMO_K_SCHEDULE, DEMO_K_NOISE, DEMO_K_SCHEDULE, END};
static const unsigned vae_unit[] = {
	DEMO_K_VAE_NORM, DEMO_K_VAE_SILU, DEMO_K_VAE_CAT, DEMO_K_VAE_CONV, DEMO_K_VAE_ADD, END};
static const unsigned text_layer[] = {DEMO_K_TEXT_NORM, DEMO_K_TEXT_GEMM, DEMO_K_TEXT_GEMM,
	DEMO_K_TEXT_GEMM, DEMO_K_TEXT_ATTENTION, DEMO_K_TEXT_GEMM, DEMO_K_TEXT_ADD,
	DEMO_K_TEXT_NORM, DEMO_K_TEXT_GEMM, DEMO_K_TEXT_GEMM, DEMO_K_TEXT_GEMM, DEMO_K_TEXT_ADD,
	END};

static void play(struct plan *p, const unsigned *words, enum demo_stream stream, double times,
	uint64_t blocks);

static void play_word(struct plan *p, unsigned word, enum demo_stream stream, uint64_t blocks)
{
	static const char *const names[] = {[SELF - SELF] = "self_attn",
		[CROSS - SELF] = "cross_attn",
		[FEED_FORWARD - SELF] = "ffn"};

	switch (word) {
	case SELF:
	case CROSS:
	case FEED_FORWARD:
		push(p, VPTRACE_NOTE_NONE, names[word - SELF]);
		break;
	case POP:
		pop(p, VPTRACE_NOTE_NONE);
		break;
	case TO_CACHE:
		copy(p, (struct demo_deed){
				.kind = DEMO_ON_DEVICE, .stream = stream, .bytes = CACHE_BYTES});
		break;
	case ITEM:
		if (p->o->sync_per_layer)
			item(p);
		break;
	case EXCHANGE:
		exchange(p, stream);
		break;
	default:
		if (word == DEMO_K_SELF_ATTENTION + TIMES_BLOCKS && p->o->eager)
			play(p, eager_attention, stream, 1, blocks);
		else if (word == DEMO_K_SELF_ATTENTION + TIMES_BLOCKS && p->o->ring)
			ring_attention(p, stream, blocks);
		else
			launch(p, word - TIMES_BLOCKS, stream, (double)blocks);
	}
}

static void play(struct plan *p, const unsigned *words, enum demo_stream stream, double times,
	uint64_t blocks)
{
	for (; *words != END; words++) {
		if (*words < DEMO_KERNELS)
			launch(p, *words, stream, times);
		else
			play_word(p, *words, stream, blocks);
	}
}

/* ---- stages ---- */

/* One run of the transformer over a block, as the GPU sees it. */
static void transformer(struct plan *p, uint64_t block)
{
	uint64_t i;

	play(p, embed, DEMO_MAIN, 1, 0);
	for (i = 0; i < p->o->layers; i++) {
		if (p->o->offload)
			copy(p, (struct demo_deed){.kind = DEMO_TO_DEVICE,
					.stream = DEMO_MAIN,
					.bytes = WEIGHT_BYTES});
		work(p, (uint64_t)planted(p, DEMO_PLANT_HOST, 0) * 1000);
		play(p, flash_layer, DEMO_MAIN, 1, block + 1);
	}
	play(p, head, DEMO_MAIN, 1, 0);
}

static void pass(struct plan *p, uint64_t block, int first)
{
	work(p, STEP_HOST_NS);
	copy(p, (struct demo_deed){.kind = DEMO_TO_DEVICE,
			.stream = DEMO_MAIN,
			.bytes = TIMESTEP_BYTES,
			.pinned = 1});
	if (p->o->graph && first) {
		put(p, (struct demo_deed){.kind = DEMO_CAPTURE, .stream = DEMO_MAIN});
		transformer(p, block);
		put(p, (struct demo_deed){
			       .kind = DEMO_CAPTURED, .stream = DEMO_MAIN, .graph = p->graphs++});
	}
	if (p->o->graph) {
		work(p, REPLAY_HOST_NS);
		put(p, (struct demo_deed){
			       .kind = DEMO_REPLAY, .stream = DEMO_MAIN, .graph = p->graphs - 1});
		return;
	}
	transformer(p, block);
	p->passes++;
}

static void count_launches(void *ctx, const struct demo_deed *deed)
{
	*(uint64_t *)ctx += deed->kind == DEMO_LAUNCH;
}

/* --reference: the next pass takes PASS_NS, divided evenly among its launches. */
static void measure_pass(struct plan *p, int with_scheduler)
{
	uint64_t launches = 0;
	struct plan dry = {.o = p->o, .player = {count_launches, &launches}};

	if (!p->o->reference)
		return;
	pass(&dry, 0, 0);
	if (with_scheduler)
		play(&dry, scheduler, DEMO_MAIN, 1, 0);
	p->left_launches = launches;
	p->left_ns = (uint64_t)llround(PASS_NS * p->o->scale);
}

static void denoise(struct plan *p, uint64_t block)
{
	struct vptrace_note context = note(VPTRACE_NOTE_CONTEXT);
	uint64_t s;

	push(p, VPTRACE_NOTE_STAGE, "denoise");
	for (s = 0; s < p->o->steps; s++) {
		struct vptrace_note n = note(VPTRACE_NOTE_STEP);

		n.index = (int64_t)s;
		n.timestep = 1000.0 - 1000.0 * (double)s / (double)p->o->steps;
		put_named(p, DEMO_PUSH, n, "step", n.index);
		measure_pass(p, 1);
		pass(p, block, s == 0);
		gather(p, DEMO_GUIDANCE);
		play(p, scheduler, DEMO_MAIN, 1, 0);
		pop(p, VPTRACE_NOTE_STEP);
	}
	pop(p, VPTRACE_NOTE_STAGE);
	context.index = (int64_t)block;
	put_named(p, DEMO_PUSH, context, "context pass", -1);
	measure_pass(p, 0);
	pass(p, block, 0);
	pop(p, VPTRACE_NOTE_CONTEXT);
}

static void vae_decode(struct plan *p, uint64_t block, enum demo_stream stream)
{
	double part = (double)frames_of(block) / DEMO_FRAMES;
	uint64_t i;

	push(p, VPTRACE_NOTE_STAGE, "vae_decode");
	for (i = 0; i < VAE_UNITS; i++)
		play(p, vae_unit, stream, part * (1 << 2 * (i * VAE_LEVELS / VAE_UNITS)), 0);
	pop(p, VPTRACE_NOTE_STAGE);
}

static struct demo_deed frames_copy(const struct plan *p, uint64_t block)
{
	return (struct demo_deed){.kind = DEMO_TO_HOST,
		.stream = DEMO_LEGACY,
		.bytes = frames_of(block) * FRAME_BYTES / p->o->ranks};
}

/* The plain way: the host waits for the copy, then works on the frames. */
static void frames_to_host(struct plan *p, uint64_t block)
{
	struct demo_deed deed = frames_copy(p, block);

	push(p, VPTRACE_NOTE_STAGE, "to_host");
	deed.blocking = 1;
	copy(p, deed);
	work(p, FRAMES_HOST_NS);
	pop(p, VPTRACE_NOTE_STAGE);
}

/* --threads: another thread waits for the decoder, fetches the frames and works on them. */
static void frames_by_thread(struct plan *p, uint64_t block)
{
	struct demo_deed deed = frames_copy(p, block);
	enum demo_event decoded = block & 1 ? DEMO_DECODED_ODD : DEMO_DECODED;

	with_event(p, DEMO_RECORD, decoded, DEMO_MAIN);
	p->thread = 1;
	push(p, VPTRACE_NOTE_STAGE, "to_host");
	with_event(p, DEMO_SYNC_EVENT, decoded, DEMO_MAIN);
	deed.pinned = 1;
	deed.stream = DEMO_SIDE;
	copy(p, deed);
	sync_stream(p, DEMO_SIDE);
	work(p, FRAMES_HOST_NS);
	pop(p, VPTRACE_NOTE_STAGE);
	p->thread = 0;
}

/* --two-streams: the frames of the block before this one have arrived in the meantime. */
static void frames_of_before(struct plan *p)
{
	push(p, VPTRACE_NOTE_STAGE, "to_host");
	with_event(p, DEMO_SYNC_EVENT, DEMO_DECODED, DEMO_SIDE);
	work(p, FRAMES_HOST_NS);
	pop(p, VPTRACE_NOTE_STAGE);
}

static void decode_aside(struct plan *p, uint64_t block)
{
	struct demo_deed deed = frames_copy(p, block);

	if (block)
		frames_of_before(p);
	with_event(p, DEMO_RECORD, DEMO_DENOISED, DEMO_MAIN);
	with_event(p, DEMO_WAIT, DEMO_DENOISED, DEMO_SIDE);
	vae_decode(p, block, DEMO_SIDE);
	push(p, VPTRACE_NOTE_STAGE, "to_host");
	deed.pinned = 1;
	deed.stream = DEMO_SIDE;
	copy(p, deed);
	pop(p, VPTRACE_NOTE_STAGE);
	with_event(p, DEMO_RECORD, DEMO_DECODED, DEMO_SIDE);
}

static void make_block(struct plan *p, uint64_t block)
{
	if (planted(p, DEMO_PLANT_ENDS, -1) == (int64_t)block)
		put(p, (struct demo_deed){.kind = DEMO_END});
	push_block(p, block);
	denoise(p, block);
	gather(p, DEMO_ALL_RANKS);
	if (p->o->two_streams) {
		decode_aside(p, block);
	} else if (!p->o->vae_at_end && !p->o->reference) {
		vae_decode(p, block, DEMO_MAIN);
		if (p->o->threads)
			frames_by_thread(p, block);
		else
			frames_to_host(p, block);
	}
	if (!p->o->vae_at_end)
		mark_frames(p, block);
	pop(p, VPTRACE_NOTE_BLOCK);
}

static void text_encode(struct plan *p, uint64_t request)
{
	unsigned i;

	push(p, VPTRACE_NOTE_STAGE, "text_encode");
	copy(p, (struct demo_deed){
			.kind = DEMO_TO_DEVICE, .stream = DEMO_MAIN, .bytes = PROMPT_BYTES});
	put(p, (struct demo_deed){.kind = DEMO_CLEAR, .stream = DEMO_MAIN, .bytes = PROMPT_BYTES});
	for (i = 0; i < TEXT_LAYERS; i++) {
		if (!request)
			put(p, (struct demo_deed){.kind = DEMO_ALLOCATE, .bytes = TEXT_BYTES});
		play(p, text_layer, DEMO_MAIN, 1, 0);
	}
	pop(p, VPTRACE_NOTE_STAGE);
}

static void make_video(struct plan *p, uint64_t request)
{
	uint64_t i;

	put_named(p, DEMO_PUSH, note(VPTRACE_NOTE_REQUEST), "request", (int64_t)request);
	if (!p->o->reference)
		text_encode(p, request);
	for (i = 0; i < p->o->blocks; i++)
		make_block(p, i);
	if (p->o->two_streams)
		frames_of_before(p);
	for (i = 0; p->o->vae_at_end && i < p->o->blocks; i++) {
		vae_decode(p, i, DEMO_MAIN);
		frames_to_host(p, i);
	}
	/* Whoever asked gets the last frame: everything is done. */
	sync_stream(p, DEMO_MAIN);
	pop(p, VPTRACE_NOTE_REQUEST);
}

struct demo_group demo_group(const struct demo_options *o, enum demo_group_id group)
{
	uint64_t half = o->ranks / 2;

	if (group == DEMO_ALL_RANKS)
		return (struct demo_group){o->ranks, o->rank, 0};
	if (!o->cfg_parallel)
		return (struct demo_group){1, 0, 0};
	return group == DEMO_SEQUENCE ? (struct demo_group){half, o->rank % half, o->rank / half}
				      : (struct demo_group){2, o->rank / half, o->rank % half};
}

void demo_plan(const struct demo_options *options, struct demo_player player)
{
	struct plan p = {.o = options, .player = player};
	uint64_t i;

	for (i = 0; i < options->requests; i++)
		make_video(&p, i);
	for (i = 0; !options->reference && i < TEXT_LAYERS; i++)
		put(&p, (struct demo_deed){.kind = DEMO_FREE});
}
