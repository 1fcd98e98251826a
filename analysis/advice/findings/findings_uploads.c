/* findings_uploads.c - what the finding about copies to the GPU says of them.
 *
 * What a loop copies in each of its units, with the same sizes, may be the same data: weights that have no room on the GPU, or
 * an input that never changes, which then is copied once. The sizes do not tell them apart, so both remedies are named. */
#include "analysis/advice/finding.h"
#include "analysis/advice/hidden_copies.h"
#include "analysis/advice/weights_room.h"

#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <string.h>

/* Copies that come once in each unit are worth a word if they are this share of all. */
static const double again_share = 0.9;

/* Room for less of the weights is not worth a word. */
static const double part_share = 0.05;

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

/* "28.1 GB a step" where units are nearly all of the run, else "225 GB". */
static const char *amount_of(struct vpa_report *r, unsigned kind)
{
	uint64_t bytes = vpa_copied_in_unit(r, kind);

	if (!bytes)
		return vpa_arena_printf(
			&r->arena, "%s", vpa_bytes(vpa_copies_of(r, kind).bytes).text);
	return vpa_arena_printf(
		&r->arena, "%s %s", vpa_bytes(bytes).text, vpa_unit_words(vpa_unit_of(r))->a_noun);
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

/* `ns` of `of_ns` that all copies cost. */
static void save_part(struct vpa_report *r, struct vpa_finding *f, struct vpa_saving s, uint64_t ns,
	uint64_t of_ns)
{
	s.ns = vpt_sat_scale(s.ns, ns, of_ns);
	s.from_ns = vpt_sat_scale(s.from_ns, ns, of_ns);
	s.device_ns = vpt_sat_scale(s.device_ns, ns, of_ns);
	s.base_ns = vpt_sat_scale(s.base_ns, ns, of_ns);
	vpa_finding_saves(r, f, &s);
}

/* Of what copies cost, the part of those to the host: each byte has to go to the GPU once. */
static void save_only_back(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	uint64_t back_ns = vpa_copies_of(r, VPT_COPYKIND_DTOH).ns;

	save_part(r, f, *s, back_ns, vpt_sat_add(back_ns, vpa_copies_of(r, VPT_COPYKIND_HTOD).ns));
}

static void name_back_once(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	f->words = "do not copy weights back: drop them";
	f->title = "what went to the GPU once is copied back to the host and not used again: drop "
		   "weights on the GPU, since the host still has them or can load them again";
	f->note = vpa_arena_printf(&r->arena, "%s; %s go to the GPU, and %s come back", f->note,
		vpa_bytes(vpa_copies_of(r, VPT_COPYKIND_HTOD).bytes).text,
		vpa_bytes(vpa_copies_of(r, VPT_COPYKIND_DTOH).bytes).text);
	save_only_back(r, f, s);
}

/* ---- weights that do not fit ---- */

/* Copied beside kernels, all but those for which there is room: what is longer than the kernels is left. */
static void save_what_overlaps(
	struct vpa_report *r, struct vpa_finding *f, struct vpa_saving s, double stay_share)
{
	struct vpa_hidden_copies h = vpa_hidden_copies_of(r, stay_share);
	double left = h.all_ns ? (double)h.left_ns / (double)h.all_ns : 0;

	f->change = vpa_arena_printf(&r->arena, "scale HtoD %s%s",
		left > 0 ? vpa_fixed(left, 2).text : "0",
		vpa_copies_go_both_ways(r) ? "; scale DtoH 0" : "");
	s.from_ns = 0;
	save_part(r, f, s, h.saved_ns, vpt_sat_add(h.saved_ns, h.left_ns));
}

static void name_too_large(struct vpa_report *r, struct vpa_finding *f,
	const struct vpa_weights_room *w, const struct vpa_saving *s)
{
	double stay = (double)w->room_bytes / (double)w->bytes;
	int is_part = stay >= part_share, is_back = vpa_copies_go_both_ways(r);
	const char *room = vpa_arena_printf(&r->arena, "%s", vpa_bytes(w->room_bytes).text);

	f->words = is_part   ? vpa_arena_printf(&r->arena, "copy weights ahead; %s can stay", room)
		   : is_back ? "copy weights ahead, and not back"
			     : "copy weights ahead, or quantise them";
	f->title = vpa_arena_printf(&r->arena,
		"more weights are copied to the GPU than fit, %s: %s%s%s%scopy each layer while "
		"the one before it computes, from pinned memory on a stream of its own; in half "
		"as many bits, copies take half as long%s",
		amount_of(r, VPT_COPYKIND_HTOD),
		is_back ? "do not copy them back, since the host still has them; " : "",
		is_part ? "keep " : "", is_part ? room : "", is_part ? " of them there, and " : "",
		w->bytes / 2 <= w->room_bytes ? ", and all fit" : "");
	f->note = w->used_bytes ? vpa_arena_printf(&r->arena, "%s; the GPU has %s, of it %s in use",
					  f->note, vpa_bytes(w->gpu_bytes).text,
					  vpa_bytes(w->used_bytes).text)
				: vpa_arena_printf(&r->arena, "%s; the GPU has %s", f->note,
					  vpa_bytes(w->gpu_bytes).text);
	f->caveat = vpa_arena_printf(&r->arena, "%s is taken to copy each weight once",
		vpa_unit_words(vpa_unit_of(r))->a_noun);
	save_what_overlaps(r, f, *s, is_part ? stay : 0);
}

static void name_both_ways(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s)
{
	int are_weights = vpa_uploads_are_weights(r);

	if (are_weights && vpa_copies_come_back_once(r)) {
		name_back_once(r, f, s);
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

static void name_again(struct vpa_report *r, struct vpa_finding *f, const struct again *again)
{
	const struct vpa_unit_words *unit = vpa_unit_words(vpa_unit_of(r));

	f->words = vpa_arena_printf(
		&r->arena, "copy once, not %s %s", vpa_bytes(again->bytes).text, unit->a_noun);
	f->title = vpa_arena_printf(&r->arena,
		"each %s copies the same sizes to the GPU: copy what stays the same once, and hide "
		"the rest with pinned memory and a separate stream",
		unit->noun);
	f->note = vpa_arena_printf(&r->arena, "%s; %s in each %s, of the same %s", f->note,
		vpa_bytes(again->bytes).text, unit->noun, again->sizes == 1 ? "size" : "sizes");
}

void vpa_finding_of_uploads(
	struct vpa_report *r, struct vpa_finding *f, int is_copy_less, const struct vpa_saving *s)
{
	struct again again = again_of(r);
	struct vpa_weights_room room = vpa_weights_room_of(r);
	int is_both = vpa_copies_go_both_ways(r),
	    is_too_large = vpa_weights_are_too_large(&room) &&
			   (vpa_uploads_are_weights(r) || (again.sizes && !is_both)) &&
			   !vpa_copies_come_back_once(r);

	/* With words of its own its line in FIX FIRST has room for the place. */
	f->words = is_copy_less ? vpa_arena_printf(&r->arena, "copy less to the GPU: %s",
					  amount_of(r, VPT_COPYKIND_HTOD))
				: vpa_arena_text(&r->arena, f->title, strcspn(f->title, ":"));
	if (is_too_large)
		name_too_large(r, f, &room, s);
	else if (is_both)
		name_both_ways(r, f, s);
	/* Many small ones have no row each. */
	if ((double)all_ns(r) < again_share * (double)r->copies[0].total_ns)
		return;
	set_place(r, f);
	if (again.sizes && !is_both && !is_too_large)
		name_again(r, f, &again);
	if (f->where)
		f->note = vpa_arena_printf(
			&r->arena, "%s; %s%s", f->note, f->is_mostly ? "most " : "", f->where);
}
