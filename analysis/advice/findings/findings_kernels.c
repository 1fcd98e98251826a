/* findings_kernels.c - conclusions about single kinds of kernels, for programs that the GPU limits: elementwise kernels that are
 * not fused, what a decoder's time is, memory that is not contiguous, what attention costs with its helpers, kernels that do not
 * fill the GPU, and what is unusual about the largest kernels. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/model/launch_shape.h"
#include "analysis/names/families.h"
#include "analysis/names/number_format.h"
#include "analysis/names/range_names.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* Chains are worth a line from this share of busy time. */
static const double work_share = 0.05;

/* A decoder that moves data for this share of its time is worth a change. */
static const double move_share = 0.2;

/* What an attention needs beside its kernel is worth a line from this share of it. */
static const double helper_share = 0.1;

/* Multiprocessors that are left idle are worth a line from this share of busy time, where the GPU works this much. */
static const double few_share = 0.25, busy_share = 0.6;

/* Shares of the memory's peak. Contiguous kernels reach about nine tenths. */
#define SCATTERED 0.5  /* below this, operands cost time */
#define BOUND     0.7  /* from this on, only fewer bytes help */
#define CACHED    1.05 /* above this, not all of it is the memory's */

enum {
	LARGEST = 3,    /* kernels that are named */
	CALL_NS = 10000 /* the mean of calls whose rate says something */
};

/* ---- elementwise kernels ---- */

static void find_chains(struct vpa_report *r)
{
	const struct vpa_chains *c = &r->chains;
	uint64_t busy = vpa_busy_ns(r);
	struct vpa_saving s = {.ns = vpa_earlier(c->total_ns - c->longest_ns, busy)};
	struct vpa_finding *f;

	if ((double)s.ns < work_share * (double)busy || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_UNFUSED_ELEMENTWISE, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = "small kernels run one after the other: fuse them, as torch.compile does";
	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_ELEMENTWISE);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " kernels in %" PRIu64 " chain%s take %s; the longest of "
		"each chain, %s in all, would be left",
		c->kernels, c->count, vpa_plural(c->count), vpa_duration(c->total_ns).text,
		vpa_duration(c->longest_ns).text);
	f->threshold = "5 % of busy time, 2 % of active, 1 % of the window";
	f->caveat = "a fused kernel takes at least as long as the longest of its chain; results "
		    "that are used elsewhere too are still written";
	vpa_finding_evidence(f, c->kernel);
}

/* ---- decoders ---- */

/* The ways to move data: layouts without what joins tensors. Casts are findings_moves.c's. */
enum mover { MOVER_CAT, MOVER_LAYOUT, MOVER_COPY, MOVERS };

struct stage_work {
	const char *stage;
	uint64_t all_ns, conv_ns, moved_ns[MOVERS], largest_ns;
	enum vpa_family largest;
};

static void add_family(struct stage_work *w, const struct vpa_stage_family_row *row)
{
	w->all_ns = row->stage_ns;
	if (row->family == VPA_FAMILY_CONV)
		w->conv_ns += row->exclusive_ns;
	if (row->family == VPA_FAMILY_LAYOUT) {
		w->moved_ns[MOVER_CAT] += row->cat_ns;
		w->moved_ns[MOVER_LAYOUT] += row->exclusive_ns - row->cat_ns - row->cast_ns;
	}
	if (row->family == VPA_FAMILY_MEMCPY || row->family == VPA_FAMILY_MEMSET)
		w->moved_ns[MOVER_COPY] += row->exclusive_ns;
	if (row->exclusive_ns > w->largest_ns) {
		w->largest_ns = row->exclusive_ns;
		w->largest = row->family;
	}
}

static uint64_t all_moved(const struct stage_work *w)
{
	return vpt_sat_add(w->moved_ns[MOVER_CAT],
		vpt_sat_add(w->moved_ns[MOVER_LAYOUT], w->moved_ns[MOVER_COPY]));
}

static const char *decoder_title(struct vpa_report *r, const struct stage_work *w, int moves)
{
	static const char *const titles[MOVERS] = {
		[MOVER_CAT] = "joins tensors: write into one buffer instead of torch.cat",
		[MOVER_LAYOUT] = "changes layouts: use channels_last, and no .contiguous()",
		[MOVER_COPY] = "copies: leave out clones, and keep what it needs on the GPU",
	};
	const char *text;
	enum mover most = MOVER_CAT, i;

	for (i = MOVER_CAT; i < MOVERS; i++)
		most = w->moved_ns[i] > w->moved_ns[most] ? i : most;
	text = moves ? titles[most]
	       : w->conv_ns == w->largest_ns
		       ? "is limited by its convolutions, not by moving data"
		       : "is limited neither by convolutions nor by moving data";
	return vpa_arena_printf(&r->arena, "the %s %s",
		vpa_range_is_encoder(w->stage, strlen(w->stage)) ? "encoder" : "decoder", text);
}

static const char *decoder_text(struct vpa_report *r, const struct stage_work *w)
{
	const struct {
		const char *name;
		uint64_t ns;
	} parts[] = {{"convolutions", w->conv_ns}, {"torch.cat", w->moved_ns[MOVER_CAT]},
		{"layout changes", w->moved_ns[MOVER_LAYOUT]}, {"copies", w->moved_ns[MOVER_COPY]}};
	const char *text = vpa_arena_printf(
		&r->arena, "%s: GPU work %s", w->stage, vpa_duration(w->all_ns).text);
	const char *word = ", of which";
	size_t i;

	for (i = 0; i < COUNT(parts); i++) {
		if (!parts[i].ns)
			continue;
		text = vpa_arena_printf(&r->arena, "%s%s %s %s (%s %%)", text, word, parts[i].name,
			vpa_duration(parts[i].ns).text,
			vpa_share((double)parts[i].ns / (double)w->all_ns).text);
		word = ",";
	}
	return text;
}

static void find_decoder(struct vpa_report *r, const struct stage_work *w)
{
	struct vpa_saving s = {.ns = all_moved(w)};
	int moves = (double)s.ns >= move_share * (double)w->all_ns && vpa_saving_is_worth(r, &s);
	struct vpa_finding *f;

	if ((double)w->all_ns < work_share * (double)vpa_busy_ns(r))
		return;
	f = vpa_finding_add(
		r, VPA_FOUND_DECODER_WORK, moves ? vpa_saving_status(r, &s) : VPA_FINDING_INFO);
	if (!f)
		return;
	f->title = decoder_title(r, w, moves);
	if (moves) {
		s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_LAYOUT);
		vpa_finding_saves(r, f, &s);
	}
	f->measured = decoder_text(r, w);
	if (!moves && w->conv_ns != w->largest_ns)
		f->measured = vpa_arena_printf(&r->arena, "%s; most is %s, %s", f->measured,
			vpa_family_name(w->largest), vpa_duration(w->largest_ns).text);
	f->threshold = "5 % of busy time; 20 % of the stage moving data";
	f->note = f->measured;
	vpa_finding_evidence(f, w->stage);
}

/* The rows of a stage stand together. */
static void find_decoders(struct vpa_report *r)
{
	const struct vpa_expert *e = &r->expert;
	size_t from, to;

	for (from = 0; from < e->stage_family_count; from = to) {
		const struct vpa_stage_family_row *first = &e->stage_families[from];
		struct stage_work w = {.stage = first->stage};

		for (to = from; to < e->stage_family_count &&
				!strcmp(e->stage_families[to].stage, first->stage);
			to++)
			add_family(&w, &e->stage_families[to]);
		if (first->kind && vpa_range_is_decoder(first->stage, strlen(first->stage)))
			find_decoder(r, &w);
	}
}

/* ---- attention ---- */

static uint64_t helpers_ns(const struct vpa_backend_row *b)
{
	return vpt_sat_add(b->aux_ns, b->before_ns);
}

static const char *cost_text(
	struct vpa_report *r, const char *text, const struct vpa_backend_row *b)
{
	return vpa_arena_printf(&r->arena,
		"%s%s%s %s a call, %s of it quantising, converting and copying, %" PRIu64 " call%s",
		text, *text ? "; " : "", vpa_backend_name(b->backend),
		vpa_duration(vpt_sat_add(b->total_ns, helpers_ns(b)) / b->calls).text,
		vpa_duration(helpers_ns(b) / b->calls).text, b->calls, vpa_plural(b->calls));
}

/* What a call costs with all that it needs: said where back-ends can be compared, or helpers are dear. */
static void find_attention_cost(struct vpa_report *r)
{
	const struct vpa_attention *a = &r->attention;
	size_t i, used = 0, dear = 0;
	const char *text = "";
	struct vpa_finding *f;

	for (i = 0; i < a->backend_count; i++) {
		const struct vpa_backend_row *b = &a->backends[i];

		if (!b->calls || b->share_of_busy < 0.01)
			continue;
		used++;
		dear += (double)helpers_ns(b) >=
			helper_share * (double)vpt_sat_add(b->total_ns, helpers_ns(b));
		text = cost_text(r, text, b);
	}
	if (!dear && used < 2)
		return;
	f = vpa_finding_add(r, VPA_FOUND_ATTENTION_COST, VPA_FINDING_INFO);
	if (!f)
		return;
	f->title = used > 1 ? "several attention back-ends run: compare what a call costs with its "
			      "quantisation and copies"
			    : "attention needs quantisation and copies of its operands";
	f->measured = f->note = text;
	f->threshold = "two back-ends, or 10 % in helpers";
	f->caveat = used > 1 ? "calls of different lengths cannot be compared" : NULL;
}

/* ---- memory ---- */

/* What is known of a kernel's reading and writing, on the device where it took most time; NULL: nothing, or calls so
 * short that launching them takes longer. */
static const struct vpa_byte_row *traffic_of(const struct vpa_report *r, const char *kernel)
{
	const struct vpa_expert *e = &r->expert;
	size_t i;

	for (i = 0; i < e->byte_rates_used; i++) {
		const struct vpa_byte_row *b = &e->byte_rates[i];

		if (!strcmp(b->kernel, kernel))
			return b->share_of_peak > 0 && b->kernel_ns / b->calls >= CALL_NS ? b
											  : NULL;
	}
	return NULL;
}

/* Of the time of kernels that are scattered, what is more than their bytes take at the memory's peak. */
struct scattered {
	uint64_t ns, excess_ns;
	const struct vpa_byte_row *most;
};

static void add_scattered(struct scattered *sum, const struct vpa_byte_row *b)
{
	uint64_t least = vpt_sat_u64(b->share_of_peak * (double)b->kernel_ns + 0.5);

	if (!sum->most)
		sum->most = b; /* rows come by time, falling */
	vpt_sat_add_to(&sum->ns, b->kernel_ns);
	vpt_sat_add_to(&sum->excess_ns, b->kernel_ns - least);
}

/* Time that another finding would save is not counted again. */
static int is_claimed(const struct vpa_report *r, const struct vpa_byte_row *b)
{
	const struct vpa_finding *decoder = vpa_finding_find(r, VPA_FOUND_DECODER_WORK);
	struct vpa_kernel_class klass;

	vpa_classify(b->kernel, strlen(b->kernel), &klass);
	return vpa_finding_find(r, VPA_FOUND_UNFUSED_ELEMENTWISE) ||
	       (vpa_is_marked(klass.marks, VPA_MARK_CAT) &&
		       vpa_finding_find(r, VPA_FOUND_TENSOR_JOINS)) ||
	       (b->family == VPA_FAMILY_LAYOUT && decoder && decoder->gain_at_most_ms > 0);
}

static void find_scattered(struct vpa_report *r)
{
	const struct vpa_expert *e = &r->expert;
	struct scattered sum = {0};
	struct vpa_saving s = {0};
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < e->byte_rates_used; i++) {
		const struct vpa_byte_row *b = traffic_of(r, e->byte_rates[i].kernel);

		if (b == &e->byte_rates[i] && b->share_of_peak < SCATTERED && !is_claimed(r, b) &&
			b->is_scattered)
			add_scattered(&sum, b);
	}
	s.ns = vpa_earlier(sum.excess_ns, vpa_busy_ns(r));
	if (!sum.most || (double)sum.ns < work_share * (double)vpa_busy_ns(r) ||
		!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_SCATTERED_MEMORY, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = "kernels read memory that is not contiguous: avoid permuted operands, "
		   "or fuse the permutation";
	s.base_ns = vpa_gain_unit_busy(r, s.ns, sum.most->family);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena,
		"%s in such kernels; at the memory's peak %s would be left",
		vpa_duration(sum.ns).text, vpa_duration(sum.ns - s.ns).text);
	f->threshold = "half of the memory's peak; 5 % of busy time, 2 % of active, 1 % of the "
		       "window";
	f->caveat = "no kernel reaches the peak: expect nine tenths of it";
	f->note = vpa_arena_printf(&r->arena, "the largest reaches %.0f of the memory's %.0f GB/s",
		sum.most->gb_per_s, sum.most->peak_gb_per_s);
}

/* ---- what libraries fall back to ---- */

static const struct {
	enum vpa_fallback fallback;
	enum vpa_family family;
	const char *title, *words;
} fallbacks[] = {
	{VPA_FALLBACK_NAIVE_CONV, VPA_FAMILY_CONV,
		"MIOpen found no fast kernel for convolutions and uses its reference one: try "
		"FP16, channels_last_3d, MIOPEN_FIND_MODE=NORMAL, a newer ROCm",
		"no naive_conv: type, layout, MIOPEN_FIND_MODE"},
	{VPA_FALLBACK_ANY_ISA, VPA_FAMILY_GEMM,
		"rocBLAS has no kernels for this GPU and uses those for any: install them for it, "
		"or a newer ROCm",
		"rocBLAS kernels for this GPU, not for any"},
};

/* Kernels of one fallback; they come by time, falling. */
struct fallen_back {
	const struct vpa_kernel_row *largest;
	uint64_t calls, ns;
};

static struct fallen_back fallen_back_to(const struct vpa_report *r, enum vpa_fallback fallback)
{
	struct fallen_back sum = {0};
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (vpa_fallback_of(k->name) != fallback)
			continue;
		sum.largest = sum.largest ? sum.largest : k;
		vpt_sat_add_to(&sum.calls, k->time.count);
		vpt_sat_add_to(&sum.ns, k->exclusive_ns);
	}
	return sum;
}

/* Something else has to do the work, so all of it is the bound. */
static void find_fallbacks(struct vpa_report *r)
{
	struct fallen_back most = {0}, sum;
	struct vpa_saving s = {0};
	struct vpa_finding *f;
	size_t i, is = 0;

	for (i = 0; i < COUNT(fallbacks); i++) {
		sum = fallen_back_to(r, fallbacks[i].fallback);
		is = sum.ns > most.ns ? i : is;
		most = sum.ns > most.ns ? sum : most;
	}
	s.ns = vpa_earlier(most.ns, vpa_busy_ns(r));
	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_FALLBACK_KERNELS, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = fallbacks[is].title;
	f->words = fallbacks[is].words;
	s.base_ns = vpa_gain_unit_busy(r, s.ns, fallbacks[is].family);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena, "%s: %" PRIu64 " call%s, %s, %s %% of busy",
		vpa_fit(most.largest->name, 60).text, most.calls, vpa_plural(most.calls),
		vpa_duration(most.ns).text, vpa_percent(most.ns, vpa_busy_ns(r)).text);
	f->note = f->measured;
	f->threshold = "1 % of the window, 2 % of active";
	f->caveat = "something else has to do this work";
}

/* ---- the largest kernels ---- */

/* A kernel of fewer thread blocks than multiprocessors leaves some idle: with twice the work in it, as many blocks more would run
 * beside these. At most so much goes that all are at work. Where the host is what is waited for, a fuller GPU saves nothing. */
static void find_few_blocks(struct vpa_report *r)
{
	uint64_t busy = vpa_busy_ns(r), ns = 0;
	uint32_t sms = vpa_most_multiprocessors(r);
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_saving s = {0};
	struct vpa_finding *f;
	size_t i;

	if (!sms || (double)busy < busy_share * (double)vpa_active_ns(r))
		return;
	for (i = 0; i < r->kernel_count; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (!k->few.ns || k->family == VPA_FAMILY_COMM)
			continue;
		vpt_sat_add_to(&ns, vpt_sat_scale(k->exclusive_ns, k->few.ns, k->time.total_ns));
		vpt_sat_add_to(
			&s.ns, vpt_sat_scale(k->exclusive_ns, k->few.idle_ns, k->time.total_ns));
	}
	if ((double)s.ns < few_share * (double)busy || !vpa_saving_is_worth(r, &s))
		return;
	/* Where units are most of the work, as much in them as elsewhere. */
	if (unit.busy_ns >= busy / 2)
		s.base_ns = vpt_sat_scale(s.ns, vpa_earlier(unit.busy_ns, busy), busy);
	f = vpa_finding_add(r, VPA_FOUND_FEW_BLOCKS, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = "kernels are too small for the GPU: larger batches or tiles, both passes of "
		   "guidance as one, or streams side by side";
	vpa_finding_saves(r, f, &s);
	/* No batch is so large that it is for nothing. */
	f->base_likely_ms = f->base_gain_ms / 2;
	f->measured = vpa_arena_printf(&r->arena,
		"%s, %.0f %% of busy, in kernels of fewer thread blocks than the GPU's %" PRIu32
		" SMs",
		vpa_duration(ns).text, vpa_per_cent(ns, busy), sms);
	f->threshold = "a quarter of busy time, 2 % of active, 1 % of the window";
	f->caveat = "twice the blocks may take longer, if memory limits them";
	f->note = f->measured;
}

/* What a kernel's name shows; NULL: nothing unusual. */
static const char *name_shows(const struct vpa_kernel_row *k)
{
	int moves = k->family == VPA_FAMILY_LAYOUT;

	if ((k->family == VPA_FAMILY_GEMM || k->family == VPA_FAMILY_CONV) &&
		vpa_precision_of(k->name, strlen(k->name)) == VPA_PRECISION_FP32)
		return "in FP32, without tensor cores";
	if (vpa_is_unaligned(k->name))
		return "of unaligned operands";
	if (vpa_is_marked(k->marks, VPA_MARK_SCATTERED))
		return moves ? "only moves data that is not contiguous"
			     : "of operands that are not contiguous";
	return moves ? "only moves data" : NULL;
}

/* NULL: launches of fewer thread blocks than multiprocessors take less than half of its time. */
static const char *few_blocks_of(struct vpa_report *r, const struct vpa_kernel_row *k)
{
	double part = k->time.total_ns ? vpa_per_cent(k->few.ns, k->time.total_ns) : 0;
	const char *of =
		part < 99 ? vpa_arena_printf(&r->arena, "in %.0f %% of its time ", part) : "";

	if (part < 50)
		return NULL;
	return vpa_arena_printf(&r->arena, "%s%" PRIu64 " thread block%s%s for %" PRIu32 " SMs", of,
		k->few.blocks, vpa_plural(k->few.blocks), k->few.differ ? " and fewer" : "",
		vpa_most_multiprocessors(r));
}

/* How its memory or its grid limits it; NULL: nothing says so. */
static const char *limit_of(struct vpa_report *r, const struct vpa_kernel_row *k)
{
	const struct vpa_byte_row *b = traffic_of(r, k->name);

	if (b && b->share_of_peak > CACHED)
		return vpa_arena_printf(&r->arena,
			"%.0f GB/s, more than the memory's %.0f: its data stay in a cache",
			b->gb_per_s, b->peak_gb_per_s);
	if (b && b->share_of_peak >= BOUND)
		return vpa_arena_printf(&r->arena, "limited by memory, %.0f of %.0f GB/s",
			b->gb_per_s, b->peak_gb_per_s);
	if (b)
		return vpa_arena_printf(&r->arena, "%s%.0f of the memory's %.0f GB/s",
			b->share_of_peak < SCATTERED ? "only " : "", b->gb_per_s, b->peak_gb_per_s);
	return few_blocks_of(r, k);
}

/* What is unusual about the largest kernels, where the GPU is the limit. They have the numbers of the table. */
static void find_largest(struct vpa_report *r)
{
	uint64_t busy = vpa_busy_ns(r);
	const char *text = "";
	struct vpa_finding *f;
	size_t i;

	for (i = 0; i < r->kernel_count && i < LARGEST; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];
		const char *shown = name_shows(k), *limit = limit_of(r, k);

		if ((double)k->exclusive_ns < work_share * (double)busy)
			break;
		if (shown || limit)
			text = vpa_arena_printf(&r->arena, "%s%sK%zu, %s, %.0f %% of busy: %s%s%s",
				text, *text ? "; " : "", i + 1, vpa_family_name(k->family),
				vpa_per_cent(k->exclusive_ns, busy), shown ? shown : "",
				shown && limit ? ", " : "", limit ? limit : "");
	}
	if (!*text || !vpa_finding_find(r, VPA_FOUND_GPU_BOUND))
		return;
	f = vpa_finding_add(r, VPA_FOUND_LARGEST_KERNELS, VPA_FINDING_INFO);
	if (!f)
		return;
	f->title = "what is unusual about the largest kernels";
	f->measured = f->note = text;
	f->threshold = "5 % of busy time";
}

void vpa_find_kernels(struct vpa_report *r)
{
	vpa_find_precisions(r);
	find_chains(r);
	find_decoders(r);
	vpa_find_moves(r);
	find_scattered(r);
	find_attention_cost(r);
	find_few_blocks(r);
	find_fallbacks(r);
	find_largest(r);
}
