/* finding_claims.c - what each finding adds to those before it, so that no two of them claim the same time.
 *
 * A bound says what would be saved if nothing else changed, so bounds overlap. Each finding claims only time
 * that no finding before it in the list may save; where that is not known it claims less. Of idle time the counters know what other
 * causes would save as well, see ../idle/gain.h; a replay that saves more than its cause is to blame for takes the idle
 * time of other causes. Of work, findings about the same families of kernels may be about the same kernels. What is
 * claimed is at most the idle time of the run, and its work. */
#include "analysis/advice/finding.h"

#include "analysis/names/families.h"
#include "analysis/report/device_limit.h"
#include "formats/base/count.h"

#define FAMILY(x) (UINT64_C(1) << VPA_FAMILY_##x)

/* Head of the window, and first use in it. */
#define HEAD (UINT64_C(1) << 63)

/* Clocks change all kernels. */
#define KERNELS (~(HEAD | FAMILY(MEMCPY) | FAMILY(MEMSET) | FAMILY(COMM)))

/* Far below a nanosecond. */
static const double rounding_ms = 1e-7;

/* What the time is that a finding saves, for all but those of idle time between ops. */
static const uint64_t claims[VPA_FOUND_COUNT] = {
	[VPA_FOUND_FIRST_USE] = HEAD,
	[VPA_FOUND_BEFORE_FIRST_WORK] = HEAD,
	[VPA_FOUND_NOT_NAMED] = HEAD,
	[VPA_FOUND_EXPOSED_COPY] = FAMILY(MEMCPY) | FAMILY(MEMSET),
	[VPA_FOUND_HOST_UPDATES] = FAMILY(MEMCPY) | FAMILY(MEMSET),
	[VPA_FOUND_EXPOSED_COMM] = FAMILY(COMM),
	[VPA_FOUND_SMALL_COLLECTIVES] = FAMILY(COMM),
	[VPA_FOUND_REPEATED_REDUCTIONS] = FAMILY(COMM),
	[VPA_FOUND_PEER_WAIT] = FAMILY(COMM),
	[VPA_FOUND_EAGER_ATTENTION] = FAMILY(GEMM) | FAMILY(EAGER_SOFTMAX) | FAMILY(ELEMENTWISE),
	[VPA_FOUND_FLASH_2_ON_HOPPER] = FAMILY(ATTENTION),
	[VPA_FOUND_MEM_EFFICIENT_ATTENTION] = FAMILY(ATTENTION),
	[VPA_FOUND_ATTENTION_CHANGE] = FAMILY(ATTENTION),
	[VPA_FOUND_ATTENTION_GROWTH] = FAMILY(ATTENTION) | FAMILY(EAGER_SOFTMAX),
	[VPA_FOUND_VOL2COL] = FAMILY(CONV) | FAMILY(LAYOUT) | FAMILY(UNKNOWN) | FAMILY(GEMM),
	[VPA_FOUND_FP32_GEMM] = FAMILY(GEMM),
	[VPA_FOUND_FP32_CONV] = FAMILY(CONV),
	[VPA_FOUND_TF32_GEMM] = FAMILY(GEMM),
	[VPA_FOUND_TF32_CONV] = FAMILY(CONV),
	[VPA_FOUND_UNFUSED_ELEMENTWISE] = FAMILY(ELEMENTWISE) | FAMILY(LAYOUT) | FAMILY(REDUCE) |
					  FAMILY(NORM) | FAMILY(INDEX),
	[VPA_FOUND_DECODER_WORK] = FAMILY(LAYOUT) | FAMILY(MEMCPY) | FAMILY(MEMSET),
	[VPA_FOUND_TENSOR_JOINS] = FAMILY(LAYOUT),
	[VPA_FOUND_TYPE_CASTS] = FAMILY(LAYOUT),
	[VPA_FOUND_TENSOR_COPIES] = FAMILY(LAYOUT),
	[VPA_FOUND_THROTTLING] = KERNELS,
	[VPA_FOUND_UNEVEN_UNITS] = KERNELS,
	[VPA_FOUND_FEW_BLOCKS] = KERNELS,
	[VPA_FOUND_QUANTISING] = FAMILY(QUANT),
	[VPA_FOUND_UNMERGED_ADAPTER] =
		FAMILY(GEMM) | FAMILY(ELEMENTWISE) | FAMILY(LAYOUT) | FAMILY(REDUCE),
	[VPA_FOUND_PROMPT_AGAIN] = KERNELS,
	[VPA_FOUND_STAGE_GROWTH] = KERNELS,
	[VPA_FOUND_FALLBACK_KERNELS] = FAMILY(CONV) | FAMILY(GEMM),
	[VPA_FOUND_WORK_AGAIN] = KERNELS | FAMILY(MEMCPY),
	[VPA_FOUND_ENCODED_AGAIN] = KERNELS | FAMILY(MEMCPY),
	[VPA_FOUND_RECOMPUTATION] = KERNELS,
	[VPA_FOUND_TRIALS] = FAMILY(CONV) | FAMILY(GEMM),
	[VPA_FOUND_SCATTERED_MEMORY] = FAMILY(ELEMENTWISE) | FAMILY(LAYOUT) | FAMILY(REDUCE) |
				       FAMILY(NORM) | FAMILY(INDEX),
};

/* Pairs about the same kernel families that never claim the same time: the second one leaves out what the first has. */
static const enum vpa_finding_id disjoint[][2] = {
	{VPA_FOUND_PEER_WAIT, VPA_FOUND_EXPOSED_COMM},
	{VPA_FOUND_PEER_WAIT, VPA_FOUND_SMALL_COLLECTIVES},
	{VPA_FOUND_PEER_WAIT, VPA_FOUND_REPEATED_REDUCTIONS},
	{VPA_FOUND_EAGER_ATTENTION, VPA_FOUND_FP32_GEMM},
	{VPA_FOUND_EAGER_ATTENTION, VPA_FOUND_ATTENTION_GROWTH},
	{VPA_FOUND_ATTENTION_CHANGE, VPA_FOUND_ATTENTION_GROWTH},
	{VPA_FOUND_STAGE_GROWTH, VPA_FOUND_ATTENTION_GROWTH},
	{VPA_FOUND_TENSOR_JOINS, VPA_FOUND_TYPE_CASTS},
	{VPA_FOUND_TENSOR_JOINS, VPA_FOUND_DECODER_WORK},
	{VPA_FOUND_TENSOR_JOINS, VPA_FOUND_VOL2COL},
	{VPA_FOUND_TENSOR_JOINS, VPA_FOUND_SCATTERED_MEMORY},
	{VPA_FOUND_TYPE_CASTS, VPA_FOUND_DECODER_WORK},
	{VPA_FOUND_TENSOR_COPIES, VPA_FOUND_TYPE_CASTS},
	{VPA_FOUND_TENSOR_COPIES, VPA_FOUND_TENSOR_JOINS},
	{VPA_FOUND_TYPE_CASTS, VPA_FOUND_VOL2COL},
	{VPA_FOUND_UNFUSED_ELEMENTWISE, VPA_FOUND_VOL2COL},
	{VPA_FOUND_UNFUSED_ELEMENTWISE, VPA_FOUND_QUANTISING},
};

static uint64_t what_of(const struct vpa_finding *f)
{
	return claims[f->id];
}

static int are_disjoint(enum vpa_finding_id a, enum vpa_finding_id b)
{
	size_t i;

	for (i = 0; i < COUNT(disjoint); i++)
		if ((disjoint[i][0] == a && disjoint[i][1] == b) ||
			(disjoint[i][0] == b && disjoint[i][1] == a))
			return 1;
	return 0;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Whether it saves idle time between ops, which the counters share out. */
static int is_of_gaps(const struct vpa_finding *f)
{
	return f->is_idle && f->id != VPA_FOUND_BEFORE_FIRST_WORK &&
	       f->id != VPA_FOUND_AFTER_LAST_WORK && f->id != VPA_FOUND_NOT_NAMED;
}

/* Small reads have the time of their copies too. */
static int is_of_reads(const struct vpa_finding *f)
{
	return f->id == VPA_FOUND_SMALL_READS || f->id == VPA_FOUND_HOST_WAITS;
}

static int has_copies(const struct vpa_finding *f)
{
	return f->id == VPA_FOUND_EXPOSED_COPY || f->id == VPA_FOUND_HOST_UPDATES;
}

static double small_reads_ms(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		ns += r->devices[i].small_read_ns;
	return vpa_in_ms(ns);
}

/* An adapter's kernels have the gaps between them. */
static double adapter_gaps_ms(const struct vpa_report *r)
{
	return vpa_in_ms(r->adapters.span_ns) - vpa_in_ms(r->adapters.total_ns);
}

/* The same of idle time between ops, and work. */
static double overlap_of_both(
	const struct vpa_report *r, const struct vpa_finding *f, const struct vpa_finding *before)
{
	double most = least(f->gain_at_most_ms, before->gain_at_most_ms);

	if (f->id == VPA_FOUND_WORK_AGAIN)
		return least(most, f->gain_shared_ms);
	if (before->id == VPA_FOUND_WORK_AGAIN)
		return least(most, before->gain_shared_ms);
	if (f->id == VPA_FOUND_UNMERGED_ADAPTER || before->id == VPA_FOUND_UNMERGED_ADAPTER)
		return least(most, adapter_gaps_ms(r));
	if (is_of_reads(f) + is_of_reads(before) == 1 && (has_copies(f) || has_copies(before)))
		return least(most, small_reads_ms(r));
	return 0;
}

static double work_of(const struct vpa_finding *f)
{
	return f->gain_at_most_ms - least(f->gain_shared_ms, f->gain_at_most_ms);
}

/* The most of `f` that `before` may save too. */
static double overlap(
	const struct vpa_report *r, const struct vpa_finding *f, const struct vpa_finding *before)
{
	double most = least(f->gain_at_most_ms, before->gain_at_most_ms);

	if (is_of_gaps(f) && is_of_gaps(before))
		return least(most, least(f->gain_shared_ms, before->gain_shared_ms) +
					   f->gain_excess_ms + before->gain_excess_ms);
	if (is_of_gaps(f) || is_of_gaps(before))
		return overlap_of_both(r, f, before);
	if (!(what_of(f) & what_of(before)) || are_disjoint(f->id, before->id))
		return 0;
	/* The rest of it is idle time. */
	if (f->id == VPA_FOUND_WORK_AGAIN || before->id == VPA_FOUND_WORK_AGAIN)
		return least(most, work_of(f->id == VPA_FOUND_WORK_AGAIN ? f : before));
	return what_of(f) & HEAD ? least(most, f->gain_shared_ms + before->gain_shared_ms) : most;
}

static int has_reads(const struct vpa_report *r)
{
	return vpa_finding_find(r, VPA_FOUND_SMALL_READS) ||
	       vpa_finding_find(r, VPA_FOUND_HOST_WAITS);
}

/* Idle time between ops, and the time of the copies that go away with small reads. */
static double most_of_gaps_ms(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		ns += r->devices[i].active_ns - r->devices[i].busy_ns;
	return vpa_in_ms(ns) + (has_reads(r) ? small_reads_ms(r) : 0);
}

/* Takes off what those before it may save too. */
static void leave_earlier(const struct vpa_report *r, size_t i)
{
	struct vpa_finding *f = &r->findings[i];
	double most = 0, part;
	size_t k;

	for (k = 0; k < i; k++) {
		part = overlap(r, f, &r->findings[k]);
		f->adds_ms -= part;
		if (part > most) {
			most = part;
			f->instead_of = r->findings[k].id;
		}
	}
	f->adds_ms = f->adds_ms > 0 ? f->adds_ms : 0;
}

/* Time that several findings share out, and the first of them. */
struct budget {
	double left_ms;
	enum vpa_finding_id first;
};

static void take_from(struct budget *b, struct vpa_finding *f)
{
	if (f->adds_ms > b->left_ms + rounding_ms && !f->instead_of)
		f->instead_of = b->first;
	f->adds_ms = least(f->adds_ms, b->left_ms);
	b->left_ms -= f->adds_ms;
	b->first = b->first ? b->first : f->id;
}

void vpa_findings_claim(struct vpa_report *r)
{
	struct budget gaps = {most_of_gaps_ms(r), VPA_FOUND_NONE},
		      work = {vpa_in_ms(vpa_busy_ns(r)), VPA_FOUND_NONE};
	size_t i;

	for (i = 0; i < r->finding_count; i++) {
		struct vpa_finding *f = &r->findings[i];

		f->adds_ms = f->gain_at_most_ms;
		f->instead_of = VPA_FOUND_NONE;
		leave_earlier(r, i);
		if (is_of_gaps(f))
			take_from(&gaps, f);
		else if (what_of(f) & ~HEAD)
			take_from(&work, f);
	}
}
