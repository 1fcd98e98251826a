/* findings_uploads.c - what the finding about copies to the GPU says of them.
 *
 * What a loop copies in each of its units, with the same sizes, may be the same data: weights that have no room on the GPU, or
 * an input that never changes, which then is copied once. The sizes do not tell them apart, so both remedies are named. */
#include "analysis/advice/finding.h"

#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <string.h>

/* Copies that come once in each unit are worth a word if they are this share of all. */
static const double again_share = 0.9;

/* What is copied in each unit may stay if it takes at most this share of the GPU's memory. */
static const double fits_share = 0.75;

/* Units are nearly all of the run from this share of it on. */
static const double most_share = 0.8;

enum {
	AGAIN = 3,   /* units at least */
	TENSORS = 8, /* of weights, in a unit at least */
	TENSOR_SIZES = 2,
	SIZES_MAX = 8 /* a model of many layers is offloaded */
};

/* What is copied once in each unit. */
struct again {
	uint64_t sizes, bytes; /* bytes: in a unit */
};

static uint64_t all_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->upload_count; i++)
		vpt_sat_add_to(&ns, r->uploads[i].total_ns);
	return ns;
}

/* Its sizes are 0: nothing, or others take a part of the time. The first unit may lack a copy, or have one more. */
static struct again again_of(const struct vpa_report *r)
{
	size_t units = vpa_unit_count(r, vpa_unit_of(r)), i;
	struct again out = {.sizes = 0};
	uint64_t ns = 0;

	for (i = 0; i < r->upload_count; i++) {
		const struct vpa_upload_row *u = &r->uploads[i];

		if (u->count < AGAIN || u->count + 1 < units || u->count > units + 1)
			continue;
		out.sizes++;
		vpt_sat_add_to(&out.bytes, u->bytes);
		vpt_sat_add_to(&ns, u->total_ns);
	}
	return out.sizes <= SIZES_MAX && (double)ns >= again_share * (double)all_ns(r)
		       ? out
		       : (struct again){.sizes = 0};
}

static uint64_t place_ns(const struct vpa_report *r, const char *range)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->upload_count; i++)
		if (!vpt_text_order(r->uploads[i].range, range))
			vpt_sat_add_to(&ns, r->uploads[i].total_ns);
	return ns;
}

static void set_place(struct vpa_report *r, struct vpa_finding *f)
{
	struct vpa_place most = {.kind = VPA_PLACE_IN};
	uint64_t most_ns = 0;
	size_t i;

	for (i = 0; i < r->upload_count; i++) {
		uint64_t ns = place_ns(r, r->uploads[i].range);

		if (ns > most_ns) {
			most_ns = ns;
			most.text = r->uploads[i].range;
		}
	}
	vpa_finding_work_is_at(r, f, &most, most_ns, all_ns(r));
}

struct vpa_copy_sum vpa_copies_of(const struct vpa_report *r, unsigned kind)
{
	struct vpa_copy_sum sum = {0};
	size_t i;

	for (i = 0; i < r->copy_count; i++)
		if (r->copies[i].kind == kind) {
			vpt_sat_add_to(&sum.count, r->copies[i].count);
			vpt_sat_add_to(&sum.bytes, r->copies[i].bytes);
			vpt_sat_add_to(&sum.ns, r->copies[i].total_ns);
		}
	return sum;
}

int vpa_copies_go_both_ways(const struct vpa_report *r)
{
	double to_gpu = (double)vpa_copies_of(r, VPT_COPYKIND_HTOD).bytes,
	       to_host = (double)vpa_copies_of(r, VPT_COPYKIND_DTOH).bytes;

	return to_gpu > 0 && to_gpu >= again_share * to_host && to_host >= again_share * to_gpu;
}

/* Of each unit, where units are nearly all of the run; else 0. */
static uint64_t unit_bytes(const struct vpa_report *r, unsigned kind)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t bytes = vpa_copies_of(r, kind).bytes, run_ns = vpa_run_ns(r);

	if (!(unit.units > 0) || (double)unit.span_ns < most_share * (double)run_ns)
		return 0;
	return vpt_sat_u64((double)vpt_sat_scale(bytes, unit.span_ns, run_ns) / unit.units);
}

/* "28.1 GB a step" where units are nearly all of the run, else "225 GB". */
static const char *amount_of(struct vpa_report *r, unsigned kind)
{
	uint64_t bytes = unit_bytes(r, kind);

	if (!bytes)
		return vpa_arena_printf(
			&r->arena, "%s", vpa_bytes(vpa_copies_of(r, kind).bytes).text);
	return vpa_arena_printf(
		&r->arena, "%s a %s", vpa_bytes(bytes).text, vpa_unit_kind_name(vpa_unit_of(r)));
}

/* Whether what each unit copies to the GPU cannot stay there beside what computes with it. */
static int are_too_large(const struct vpa_report *r)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < r->gpu_count; i++)
		most = r->gpus[i].memory_bytes > most ? r->gpus[i].memory_bytes : most;
	return most && (double)unit_bytes(r, VPT_COPYKIND_HTOD) > fits_share * (double)most;
}

static int is_new_size(const struct vpa_report *r, size_t row)
{
	size_t i;

	for (i = 0; i < row; i++)
		if (r->uploads[i].bytes == r->uploads[row].bytes)
			return 0;
	return 1;
}

int vpa_uploads_are_weights(const struct vpa_report *r)
{
	size_t units = vpa_unit_count(r, vpa_unit_of(r)), i;
	uint64_t copies = 0, sizes = 0;

	for (i = 0; i < r->upload_count; i++) {
		copies += r->uploads[i].count;
		sizes += sizes < TENSOR_SIZES && is_new_size(r, i);
	}
	return sizes == TENSOR_SIZES && copies / TENSORS >= (units ? units : 1);
}

double vpa_needless_copies(const struct vpa_report *r)
{
	double back_ns = (double)vpa_copies_of(r, VPT_COPYKIND_DTOH).ns;

	return vpa_copies_go_both_ways(r) && vpa_uploads_are_weights(r)
		       ? back_ns / (back_ns + (double)vpa_copies_of(r, VPT_COPYKIND_HTOD).ns)
		       : 0;
}

int vpa_copies_come_back_once(const struct vpa_report *r)
{
	return vpa_copies_go_both_ways(r) &&
	       (double)r->came_back_bytes >=
		       again_share * (double)vpa_copies_of(r, VPT_COPYKIND_DTOH).bytes &&
	       (double)r->uploaded_again_bytes <=
		       (1 - again_share) * (double)vpa_copies_of(r, VPT_COPYKIND_HTOD).bytes;
}

/* Of what copies cost, the part of those to the host: each byte has to go to the GPU once. */
static void save_only_back(struct vpa_report *r, struct vpa_finding *f, struct vpa_saving s)
{
	uint64_t back_ns = vpa_copies_of(r, VPT_COPYKIND_DTOH).ns,
		 both_ns = vpt_sat_add(back_ns, vpa_copies_of(r, VPT_COPYKIND_HTOD).ns);

	s.ns = vpt_sat_scale(s.ns, back_ns, both_ns);
	s.from_ns = vpt_sat_scale(s.from_ns, back_ns, both_ns);
	s.device_ns = vpt_sat_scale(s.device_ns, back_ns, both_ns);
	s.base_ns = vpt_sat_scale(s.base_ns, back_ns, both_ns);
	vpa_finding_saves(r, f, &s);
}

static void name_back_once(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	f->words = "do not copy weights back: drop them";
	f->title = "what went to the GPU once is copied back to the host and not used again: drop "
		   "weights on the GPU, since the host still has them or can load them again";
	f->note = vpa_arena_printf(&r->arena, "%s; %s go to the GPU, and %s come back", f->note,
		vpa_bytes(vpa_copies_of(r, VPT_COPYKIND_HTOD).bytes).text,
		vpa_bytes(vpa_copies_of(r, VPT_COPYKIND_DTOH).bytes).text);
	save_only_back(r, f, *s);
}

static void name_both_ways(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	int are_weights = vpa_uploads_are_weights(r);

	if (are_weights && vpa_copies_come_back_once(r)) {
		name_back_once(r, f, s);
		return;
	}
	if (are_weights && are_too_large(r)) {
		f->words = "copy weights ahead, and not back";
		f->title = vpa_arena_printf(&r->arena,
			"weights go to the GPU and come back, %s, more than fit: do not copy them "
			"back, since the host still has them, and copy the next ones beside "
			"kernels, with pinned memory and a stream of its own",
			amount_of(r, VPT_COPYKIND_HTOD));
		return;
	}
	f->words =
		are_weights ? "keep weights on the GPU" : "overlap copies, or keep data on the GPU";
	f->title = are_weights ? "as much is copied to the host as to the GPU: keep weights on the "
				 "GPU, or "
				 "drop them there, since the host still has them"
			       : "as much is copied to the host as to the GPU: keep on the GPU "
				 "what comes back, "
				 "or copy beside kernels, with pinned memory and a separate stream";
	f->note = vpa_arena_printf(&r->arena, "%s; %s go to the GPU", f->note,
		vpa_bytes(vpa_copies_of(r, VPT_COPYKIND_HTOD).bytes).text);
}

void vpa_finding_of_uploads(
	struct vpa_report *r, struct vpa_finding *f, int is_copy_less, const struct vpa_saving *s)
{
	struct again again = again_of(r);
	const char *unit = vpa_unit_kind_name(vpa_unit_of(r));

	/* With words of its own its line in FIX FIRST has room for the place. */
	f->words = is_copy_less ? vpa_arena_printf(&r->arena, "copy less to the GPU: %s",
					  amount_of(r, VPT_COPYKIND_HTOD))
				: vpa_arena_text(&r->arena, f->title, strcspn(f->title, ":"));
	if (vpa_copies_go_both_ways(r))
		name_both_ways(r, f, s);
	/* Many small ones have no row each. */
	if ((double)all_ns(r) < again_share * (double)r->copies[0].total_ns)
		return;
	set_place(r, f);
	if (again.sizes && !vpa_copies_go_both_ways(r)) {
		f->words = vpa_arena_printf(
			&r->arena, "copy once, not %s a %s", vpa_bytes(again.bytes).text, unit);
		f->title = vpa_arena_printf(&r->arena,
			"each %s copies the same sizes to the GPU: copy what stays the same once, "
			"and hide the rest with pinned memory and a separate stream",
			unit);
		f->note = vpa_arena_printf(&r->arena, "%s; %s in each %s, of the same %s", f->note,
			vpa_bytes(again.bytes).text, unit, again.sizes == 1 ? "size" : "sizes");
	}
	if (f->where)
		f->note = vpa_arena_printf(
			&r->arena, "%s; %s%s", f->note, f->is_mostly ? "most " : "", f->where);
}
