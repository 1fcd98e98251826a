/* findings_attention.c - conclusions about attention: what is not fused, an old back-end, and one that changes. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/model/gpu_arch.h"
#include "analysis/names/families.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* FlashAttention 2 on a GPU for a newer one, and steps that change their back-end, are worth a line from this share of
 * busy time. Attention that is not fused is judged by what it saves. */
static const double attention_share = 0.01;

/* Shorter calls may be too short for what FlashAttention 3 is faster at. */
enum { LONG_CALL_NS = 200000 };

static void find_eager(struct vpa_report *r)
{
	const struct vpa_attention *a = &r->attention;
	uint64_t count = 0, total = 0, softmax = 0, busy = vpa_busy_ns(r);
	struct vpa_saving s = {0};
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < a->eager_count; i++) {
		vpt_sat_add_to(&count, a->eager[i].count);
		vpt_sat_add_to(&total, a->eager[i].total_ns);
		vpt_sat_add_to(&softmax, a->eager[i].softmax_ns);
	}
	/* The softmax disappears, and so does the memory traffic of the scores in both GEMMs. Names
	 * do not show how much of their time that is, so the bound is a range. Limited to busy
	 * time, since sequences may run concurrently. */
	s.ns = vpa_earlier(total, busy);
	s.from_ns = vpa_earlier(softmax, s.ns);
	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_EAGER_SOFTMAX);
	if (!count || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_EAGER_ATTENTION, VPA_FINDING_FAIL);
	if (!f)
		return;
	f->title = "attention is not fused: use SDPA with a flash or cuDNN back-end";
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " sequences GEMM, softmax, GEMM: %s, of which softmax %s", count,
		vpa_duration(total).text, vpa_duration(softmax).text);
	f->threshold = "1 % of the window, 2 % of active";
	f->caveat = "a fused kernel still does the arithmetic of the two GEMMs, so the gain is "
		    "between the softmax alone and the whole sequence";
	for (i = 0; i < a->eager_count; i++)
		if (a->eager[i].range && (!i || !a->eager[i - 1].range ||
						 strcmp(a->eager[i].range, a->eager[i - 1].range)))
			vpa_finding_evidence(f, a->eager[i].range);
}

/* What the file says about its GPUs decides; if it says nothing, a kernel that runs only on a
 * Hopper does. */
static int has_hopper(const struct vpa_report *r)
{
	int known = 0;
	size_t i;

	for (i = 0; i < r->gpu_count; i++) {
		if (vpa_gpu_is_hopper(&r->gpus[i]))
			return 1;
		known |= r->gpus[i].compute_major != 0;
	}
	return !known && r->hopper_kernel;
}

/* PyTorch's flash and cuDNN back-ends need an Ampere. A file that says nothing of its GPUs rules nothing out. */
static int has_ampere(const struct vpa_report *r)
{
	int known = 0;
	size_t i;

	for (i = 0; i < r->gpu_count; i++) {
		if (r->gpus[i].compute_major >= 8)
			return 1;
		known |= r->gpus[i].compute_major != 0;
	}
	return !known;
}

static const char *share_text(struct vpa_report *r, double share)
{
	return share >= 0.9995 ? "all"
			       : vpa_arena_printf(&r->arena, "%s %%", vpa_share(share).text);
}

/* A back-end that a newer one replaces. Published measurements of long calls say how much time that saves: a third or
 * more. */
struct old_backend {
	enum vpa_finding_id id;
	uint32_t backends;                            /* a bit each */
	int (*has_newer)(const struct vpa_report *r); /* whether the newer one runs on its GPUs */
	const char *title, *caveat, *source, *change;
	const char *words;      /* of its kernels, in a sentence */
	unsigned most_saved[2]; /* percent of the time; [1]: on a Hopper */
};

static const struct old_backend old_backends[] = {
	{VPA_FOUND_FLASH_2_ON_HOPPER, 1u << VPA_BACKEND_FLASH_ATTN_2 | 1u << VPA_BACKEND_SDPA_FLASH,
		has_hopper,
		"FlashAttention 2 on sm_90: use FlashAttention 3 or cuDNN attention instead",
		"the gain depends on head size and sequence length: measure it",
		"measured for long sequences: 1.5 to 2 times as fast (arXiv 2407.08608)",
		"scale *flash_fwd_* 0.6667", "is FlashAttention 2, slower on this GPU than 3",
		{50, 50}},
	{VPA_FOUND_MEM_EFFICIENT_ATTENTION, 1u << VPA_BACKEND_MEM_EFFICIENT, has_ampere,
		"memory-efficient attention: use flash or cuDNN attention instead; a mask, a bias, "
		"a head size or FP32 may rule these out",
		"the gain depends on head size and sequence length: measure it",
		"measured on an H100: 1.6 times as fast (microsoft/onnxruntime #21629)",
		"scale *fmha_cutlassF* 0.6667",
		"is memory-efficient attention, slower than flash or cuDNN's", {50, 67}},
};

/* What its calls take. */
struct old_calls {
	uint64_t calls, ns, long_ns; /* long_ns: in back-ends whose calls last long */
	double share;                /* of busy time */
	const char *names;
};

static struct old_calls old_calls_of(struct vpa_report *r, const struct old_backend *old)
{
	struct old_calls out = {.names = ""};
	size_t i;

	for (i = 0; i < r->attention.backend_count; i++) {
		const struct vpa_backend_row *b = &r->attention.backends[i];

		if (!(old->backends >> b->backend & 1) || b->share_of_busy < attention_share)
			continue;
		out.calls += b->calls;
		vpt_sat_add_to(&out.ns, b->total_ns);
		vpt_sat_add_to(&out.long_ns,
			b->calls && b->total_ns / b->calls >= LONG_CALL_NS ? b->total_ns : 0);
		out.share += b->share_of_busy;
		out.names = vpa_arena_printf(&r->arena, "%s%s%s", out.names,
			*out.names ? " and " : "", vpa_backend_name(b->backend));
	}
	return out;
}

static void save_old(struct vpa_report *r, struct vpa_finding *f, const struct old_backend *old,
	uint64_t long_ns)
{
	uint64_t ns = vpa_earlier(long_ns, vpa_busy_ns(r));
	struct vpa_saving s = {.ns = ns * old->most_saved[has_hopper(r)] / 100, .from_ns = ns / 3};

	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_ATTENTION);
	if (!vpa_saving_is_worth(r, &s))
		return;
	vpa_finding_saves(r, f, &s);
	f->change = old->change;
	f->caveat = NULL; /* the note says what it was measured for */
	f->note = vpa_arena_printf(&r->arena, "%s; %s", f->measured, old->source);
}

static void find_old(struct vpa_report *r, const struct old_backend *old)
{
	struct old_calls calls = old_calls_of(r, old);
	struct vpa_finding *f;

	if (!old->has_newer(r) || !calls.calls)
		return;
	f = vpa_finding_add(r, old->id, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = old->title;
	f->measured = vpa_arena_printf(&r->arena, "%" PRIu64 " calls of %s, %s, %s of busy",
		calls.calls, calls.names, vpa_duration(calls.ns).text, share_text(r, calls.share));
	f->threshold = "1 % of busy time";
	f->caveat = old->caveat;
	f->note = vpa_arena_printf(&r->arena, "%s; %s", f->measured, f->caveat);
	save_old(r, f, old, calls.long_ns);
}

const char *vpa_old_attention(const struct vpa_report *r, uint64_t *ns)
{
	double share;
	size_t k, i;

	for (k = 0; k < COUNT(old_backends); k++) {
		const struct old_backend *old = &old_backends[k];

		share = 0;
		for (i = 0; i < r->attention.backend_count; i++)
			if (old->backends >> r->attention.backends[i].backend & 1)
				share += r->attention.backends[i].share_of_busy;
		*ns = vpt_sat_u64(share * (double)vpa_busy_ns(r) + 0.5);
		if (share > r->attention.share_of_busy / 2 && vpa_finding_find(r, old->id))
			return old->words;
	}
	*ns = 0;
	return NULL;
}

static void find_backend_change(struct vpa_report *r)
{
	const struct vpa_attention *a = &r->attention;
	size_t i;

	for (i = 0; i < a->change_count; i++) {
		const struct vpa_backend_change *c = &a->changes[i];
		struct vpa_saving s = {.ns = vpt_sat_u64(c->gain_ns)};
		struct vpa_finding *f;

		/* Eager sequences have their own finding. */
		if ((double)c->slow_ns < attention_share * (double)vpa_busy_ns(r) ||
			!vpa_is_window_share(r, c->slow_ns) || c->slow == VPA_BACKEND_EAGER)
			continue;
		f = vpa_finding_add(r, VPA_FOUND_ATTENTION_CHANGE, VPA_FINDING_WARN);
		if (!f)
			return;
		f->title = "attention changes its back-end between steps: look for a mask, a shape "
			   "or a dtype that the faster one does not support";
		s.ns = vpa_earlier(s.ns, vpa_busy_ns(r));
		s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_ATTENTION);
		vpa_finding_saves(r, f, &s);
		f->measured = vpa_arena_printf(&r->arena,
			"%" PRIu64 " place%s of a step: %" PRIu64 " call%s of %s, %s each, and "
			"%" PRIu64 " of %s, %s each",
			c->places, vpa_plural(c->places), c->slow_calls, vpa_plural(c->slow_calls),
			vpa_backend_name(c->slow), vpa_duration(c->slow_ns / c->slow_calls).text,
			c->fast_calls, vpa_backend_name(c->fast),
			vpa_duration(c->fast_ns / c->fast_calls).text);
		f->threshold = "1 % of busy time";
		f->caveat = "if sequences grow from step to step the gain is smaller";
	}
}

/* Fused attention that takes almost nothing of the window is not worth a line, whatever its share
 * of the work. */
static int is_attention_worth(const struct vpa_report *r)
{
	double ns = r->attention.share_of_busy * (double)vpa_busy_ns(r);
	struct vpa_saving s = {.ns = vpt_sat_u64(ns + 0.5)};

	return vpa_saving_is_worth(r, &s);
}

void vpa_find_attention(struct vpa_report *r)
{
	size_t i;

	find_eager(r);
	for (i = 0; i < COUNT(old_backends) && is_attention_worth(r); i++)
		find_old(r, &old_backends[i]);
	find_backend_change(r);
}
