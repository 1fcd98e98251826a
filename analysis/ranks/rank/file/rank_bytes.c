/* rank_bytes.c - writes and reads who a rank is and when its collectives are.
 *
 * The reader trusts no number: a count is at most as many as bytes are left, indexes are of rows that are there, times
 * ascend and stay below VPA_RANK_LATEST_NS. */
#include "analysis/ranks/rank/file/rank_bytes.h"

#include "analysis/names/families.h"
#include "analysis/ranks/rank/file/rank_columns.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum {
	VERSION = 7,
	OLDEST = 2,
	HAS_PACES = 3,
	HAS_PACES_BESIDE = 4,
	HAS_PLANES = 6,
	HAS_GAUGES = 7
};

/* ---- writing ---- */

static void put_text(struct vpa_number_writer *w, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	vpa_put_number(w, text ? 1 + (uint64_t)len : 0);
	if (len)
		vpa_put_bytes(w, text, len);
}

static void put_identity(struct vpa_number_writer *w, const struct vpa_rank *r)
{
	const char *const texts[] = {r->capture, r->host, r->boot_id, r->job, r->gpu, r->gpu_uuid,
		r->gpu_pci, r->missing};
	const int64_t numbers[] = {r->rank, r->world_size, r->local_rank, r->pid, r->device,
		r->simulated, r->complete, r->has_realtime};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		put_text(w, texts[i]);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		vpa_put_signed(w, numbers[i]);
	vpa_put_number(w, r->fact_count);
	for (i = 0; i < r->fact_count; i++) {
		put_text(w, r->facts[i].name);
		put_text(w, r->facts[i].value);
	}
}

static void put_figures(struct vpa_number_writer *w, const struct vpa_rank *r)
{
	uint64_t fps;

	memcpy(&fps, &r->fps, sizeof(fps));
	vpa_put_number(w, r->unix_offset_ns);
	vpa_put_number(w, r->first_ns);
	vpa_put_number(w, r->last_ns - r->first_ns);
	vpa_put_number(w, r->unit);
	vpa_put_number(w, r->units);
	vpa_put_number(w, r->unit_ns);
	vpa_put_number(w, r->units_from_ns);
	vpa_put_number(w, r->units_to_ns);
	vpa_put_number(w, fps);
}

static void put_names(struct vpa_number_writer *w, const struct vpa_rank *r)
{
	size_t i;

	vpa_put_number(w, r->part_name_count);
	for (i = 0; i < r->part_name_count; i++) {
		vpa_put_number(w, r->part_names[i].klass);
		vpa_put_number(w, r->part_names[i].kind);
		put_text(w, r->part_names[i].place);
		vpa_put_number(w, r->part_ns[i]);
	}
	vpa_put_number(w, r->key_count);
	for (i = 0; i < r->key_count; i++) {
		const struct vpa_collective_key *k = &r->keys[i];

		vpa_put_number(w, k->kind);
		put_text(w, k->group);
		put_text(w, k->text);
		vpa_put_number(w, k->bytes);
		vpa_put_number(w, k->blocks);
		vpa_put_number(w, k->lane);
	}
}

static void put_gauges(struct vpa_number_writer *w, const struct vpa_rank *r)
{
	size_t i;

	vpa_put_number(w, r->is_end_to_end != 0);
	vpa_put_number(w, r->blocks_per_1e9s);
	for (i = 0; i < VPA_GAUGES; i++) {
		const struct vpa_rank_gauge *g = &r->gauges[i];

		vpa_put_number(w, g->samples);
		if (!g->samples)
			continue;
		vpa_put_number(w, g->least);
		vpa_put_number(w, g->mean);
		vpa_put_number(w, g->most);
	}
	vpa_put_number(w, r->clock.awake_ns);
	vpa_put_number(w, r->clock.limited_ns);
	put_text(w, r->clock.reason);
	vpa_put_number(w, r->stage_count);
	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_rank_stage *s = &r->stages[i];

		put_text(w, s->name);
		vpa_put_number(w, s->in_blocks != 0);
		vpa_put_number(w, s->count);
		vpa_put_number(w, s->time_ns);
	}
	vpa_put_number(w, r->inits);
	vpa_put_number(w, r->init_ns);
}

/* Keys; starts after the end before, and lengths: they differ least. */
static void put_collectives(struct vpa_number_writer *w, const struct vpa_rank *r)
{
	struct vpa_numbers n = {.count = 0};
	uint64_t before_ns = r->first_ns;
	size_t i;

	vpa_put_number(w, r->has_terms != 0);
	vpa_put_number(w, r->has_paces);
	vpa_put_number(w, r->has_lengths != 0);
	vpa_put_number(w, r->collective_count);
	if (vpa_room_for_numbers(&n, r->collective_count + 1)) {
		for (i = 0; i < r->collective_count; i++)
			vpa_add_number(&n, vpa_rank_key_index(r, i), 0);
		vpa_put_number_columns(w, &n, 1, VPA_UNSIGNED);
		for (i = 0; i < r->collective_count; before_ns = vpa_rank_end_ns(r, i++))
			vpa_add_number(&n, vpa_rank_start_ns(r, i) - before_ns, 0);
		vpa_put_number_columns(w, &n, 1, VPA_SIGNED);
		for (i = 0; i < r->collective_count; i++)
			vpa_add_number(&n, vpa_rank_end_ns(r, i) - vpa_rank_start_ns(r, i), 0);
	}
	vpa_put_number_columns(w, &n, 1, VPA_UNSIGNED);
	vpa_numbers_free(&n);
}

int vpa_rank_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out)
{
	struct vpa_number_writer w = {.out = out};

	*out = (struct vpt_buffer){NULL, 0, 0};
	vpa_put_number(&w, VERSION);
	put_identity(&w, r);
	put_figures(&w, r);
	put_names(&w, r);
	put_gauges(&w, r);
	put_collectives(&w, r);
	if (!w.failed)
		return VPT_OK;
	vpt_free(out->data);
	*out = (struct vpt_buffer){NULL, 0, 0};
	return VPT_ENOMEM;
}

/* ---- reading ---- */

struct reader {
	struct vpa_number_reader numbers;
	struct vpa_rank *rank;
	uint64_t version;
};

static const char *get_text(struct reader *r)
{
	uint64_t len =
		vpa_get_below(&r->numbers, vpa_bytes_left(&r->numbers) + 1, "a text that ends");
	const char *text;

	if (!len || vpa_is_failed(&r->numbers))
		return NULL;
	if (len - 1 > vpa_bytes_left(&r->numbers)) {
		vpa_stop_reading(&r->numbers, "a text that ends");
		return NULL;
	}
	text = vpa_arena_text(&r->rank->arena, (const char *)r->numbers.at, (size_t)len - 1);
	r->numbers.at += len - 1;
	return text;
}

/* A count of rows that take a byte or more each, and memory for them and one more; NULL: none. */
static void *get_rows(struct reader *r, size_t *count, size_t size)
{
	uint64_t n = vpa_get_below(
		&r->numbers, vpa_bytes_left(&r->numbers), "a count of rows that are there");
	void *rows;

	if (vpa_is_failed(&r->numbers))
		return NULL;
	rows = vpt_calloc((size_t)n + 1, size);
	if (!rows)
		r->numbers.no_memory = 1;
	else
		*count = (size_t)n;
	return rows;
}

static void get_identity(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	const char **const texts[] = {&x->capture, &x->host, &x->boot_id, &x->job, &x->gpu,
		&x->gpu_uuid, &x->gpu_pci, &x->missing};
	int64_t *const numbers[] = {&x->rank, &x->world_size, &x->local_rank, &x->pid, &x->device};
	int *const flags[] = {&x->simulated, &x->complete, &x->has_realtime};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = get_text(r);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = vpa_get_signed(&r->numbers);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		int64_t flag = vpa_get_signed(&r->numbers);

		if (flag < -1 || flag > 1)
			vpa_stop_reading(&r->numbers, "a flag");
		*flags[i] = (int)flag;
	}
	/* As the facts of a capture: at most nine digits. */
	if (x->rank > 999999999 || x->world_size > 999999999 || x->rank < -1 || x->world_size < -1)
		vpa_stop_reading(&r->numbers, "a rank of at most nine digits");
	x->facts = get_rows(r, &x->fact_count, sizeof(*x->facts));
	for (i = 0; i < x->fact_count && !vpa_is_failed(&r->numbers); i++) {
		x->facts[i].name = get_text(r);
		x->facts[i].value = get_text(r);
		if (!x->facts[i].name || !x->facts[i].value)
			vpa_stop_reading(&r->numbers, "a fact with name and value");
	}
}

static void get_figures(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	uint64_t fps;

	x->unix_offset_ns = vpa_get_number(&r->numbers);
	x->first_ns = vpa_get_below(&r->numbers, VPA_RANK_LATEST_NS, "a time");
	x->last_ns = x->first_ns +
		     vpa_get_below(&r->numbers, VPA_RANK_LATEST_NS - x->first_ns, "a time");
	x->unit = (enum vpa_unit_kind)vpa_get_below(
		&r->numbers, VPA_UNIT_KINDS - 1, "a kind of unit");
	x->units = vpa_get_number(&r->numbers);
	x->unit_ns = vpa_get_number(&r->numbers);
	if (r->version >= HAS_PACES) {
		x->units_from_ns = vpa_get_number(&r->numbers);
		x->units_to_ns = vpa_get_number(&r->numbers);
	}
	fps = vpa_get_number(&r->numbers);
	memcpy(&x->fps, &fps, sizeof(fps));
	if (!(x->fps >= 0 && x->fps < VPA_RANK_FPS_MOST))
		x->fps = 0;
}

static void get_names(struct reader *r)
{
	static const unsigned kinds[VPA_TIME_CLASSES] = {[VPA_TIME_COMPUTE] = VPA_FAMILY_COUNT,
		[VPA_TIME_COMM] = 1,
		[VPA_TIME_COPY] = 256,
		[VPA_TIME_IDLE] = VPA_CAUSES};
	struct vpa_rank *x = r->rank;
	uint64_t left_ns = x->last_ns - x->first_ns;
	size_t i;

	x->part_names = get_rows(r, &x->part_name_count, sizeof(*x->part_names));
	x->part_ns = vpt_calloc(x->part_name_count + 1, sizeof(*x->part_ns));
	r->numbers.no_memory |= !x->part_ns;
	for (i = 0; i < x->part_name_count && !vpa_is_failed(&r->numbers); i++) {
		unsigned klass = (unsigned)vpa_get_below(
			&r->numbers, VPA_TIME_CLASSES - 1, "a class of time");

		x->part_names[i].klass = (enum vpa_part_class)klass;
		x->part_names[i].kind =
			(unsigned)vpa_get_below(&r->numbers, kinds[klass] - 1, "a kind of time");
		x->part_names[i].place = get_text(r);
		x->part_ns[i] = vpa_get_below(&r->numbers, left_ns, "a part of the rank's time");
		left_ns -= x->part_ns[i];
		x->class_ns[klass] += x->part_ns[i];
	}
	x->keys = get_rows(r, &x->key_count, sizeof(*x->keys));
	for (i = 0; i < x->key_count && !vpa_is_failed(&r->numbers); i++) {
		struct vpa_collective_key *k = &x->keys[i];

		k->kind = (enum vpa_collective_kind)vpa_get_below(
			&r->numbers, VPA_COLLECTIVE_KINDS - 1, "a kind of collective");
		k->group = get_text(r);
		k->text = get_text(r);
		k->bytes = vpa_get_number(&r->numbers);
		k->blocks = vpa_get_number(&r->numbers);
		k->lane = (uint32_t)vpa_get_below(&r->numbers, x->key_count, "a stream");
		if (!k->text)
			vpa_stop_reading(&r->numbers, "a collective with a name");
	}
}

static void get_stages(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	size_t i;

	x->stages = get_rows(r, &x->stage_count, sizeof(*x->stages));
	for (i = 0; i < x->stage_count && !vpa_is_failed(&r->numbers); i++) {
		struct vpa_rank_stage *s = &x->stages[i];

		s->name = get_text(r);
		s->in_blocks = (int)vpa_get_below(&r->numbers, 1, "a flag");
		s->count = vpa_get_number(&r->numbers);
		s->time_ns = vpa_get_number(&r->numbers);
		if (!s->name)
			vpa_stop_reading(&r->numbers, "a stage with a name");
	}
}

static void get_gauges(struct reader *r)
{
	struct vpa_rank *x = r->rank;
	size_t i;

	if (r->version < HAS_GAUGES)
		return;
	x->is_end_to_end = (int)vpa_get_below(&r->numbers, 1, "a flag");
	x->blocks_per_1e9s = vpa_get_number(&r->numbers);
	for (i = 0; i < VPA_GAUGES; i++) {
		struct vpa_rank_gauge *g = &x->gauges[i];

		g->samples = vpa_get_number(&r->numbers);
		if (!g->samples)
			continue;
		g->least = vpa_get_number(&r->numbers);
		g->mean = vpa_get_number(&r->numbers);
		g->most = vpa_get_number(&r->numbers);
	}
	x->clock.awake_ns = vpa_get_number(&r->numbers);
	x->clock.limited_ns =
		vpa_get_below(&r->numbers, x->clock.awake_ns, "a part of the time awake");
	x->clock.reason = get_text(r);
	get_stages(r);
	x->inits = vpa_get_number(&r->numbers);
	x->init_ns = vpa_get_number(&r->numbers);
}

static void get_collectives(struct reader *r, struct vpa_slab **slab)
{
	struct vpa_number_reader *numbers = &r->numbers;
	struct vpa_rank *x = r->rank;
	struct vpa_number_column keys, starts, lengths;
	uint64_t before_ns = x->first_ns, least_ns = x->first_ns, count;
	size_t left, n, i;

	x->has_terms = (int)vpa_get_below(numbers, 1, "a flag");
	if (r->version >= HAS_PACES)
		x->has_paces = (enum vpa_paces)vpa_get_below(numbers,
			!x->has_terms                    ? VPA_PACES_NONE
			: r->version >= HAS_PACES_BESIDE ? VPA_PACES_BESIDE
							 : VPA_PACES_ALONE,
			"paces, and none without terms");
	x->has_lengths = numbers->has_lengths ? 1 : (int)vpa_get_below(numbers, 1, "a flag");
	/* Half a byte of each column, at least. */
	count = vpa_get_below(numbers, vpa_bytes_left(numbers), "a count of collectives");
	if (count && !x->key_count)
		vpa_stop_reading(numbers, "no collective without names");
	if (count >= UINT32_MAX / 4)
		vpa_stop_reading(numbers, "fewer collectives");
	if (!vpa_begin_number_column(numbers, (size_t)count, VPA_UNSIGNED, &keys) ||
		!vpa_begin_number_column(numbers, (size_t)count, VPA_SIGNED, &starts) ||
		!vpa_begin_number_column(numbers, (size_t)count, VPA_UNSIGNED, &lengths))
		return;
	numbers->no_memory |= vpa_rank_begin_collectives(x, (size_t)count, slab) != 0;
	for (left = (size_t)count; left && !numbers->no_memory; left -= n) {
		n = vpa_take_numbers(&keys);
		vpa_take_numbers(&starts);
		vpa_take_numbers(&lengths);
		for (i = 0; i < n; i++) {
			uint64_t key = keys.ahead[i], length = lengths.ahead[i];
			uint64_t start_ns = before_ns + starts.ahead[i];
			uint64_t end_ns = start_ns + length;

			if (key >= x->key_count || start_ns < least_ns || start_ns > x->last_ns ||
				length > x->last_ns - start_ns) {
				vpa_stop_reading(numbers, "a collective within the rank's time");
				return;
			}
			numbers->no_memory |= vpa_rank_put_after(x, before_ns,
						      (struct vpa_rank_collective){start_ns, end_ns,
							      (uint32_t)key}) != 0;
			least_ns = start_ns;
			before_ns = end_ns;
		}
	}
}

static int begin(
	struct reader *r, const void *data, size_t size, struct vpa_rank *rank, struct vpt_err *err)
{
	*r = (struct reader){.numbers = {.begin = data, .at = data}, .rank = rank};
	r->numbers.end = r->numbers.begin + size;
	r->version = vpa_get_number(&r->numbers);
	r->numbers.has_lengths = r->version < HAS_PLANES;
	if (r->numbers.wrong || (r->version >= OLDEST && r->version <= VERSION))
		return VPT_OK;
	return vpt_fail(err, VPT_EVERSION, "summary version %" PRIu64 ": expected %d to %d: %s",
		r->version, OLDEST, VERSION,
		r->version > VERSION ? "it is from a newer vptrace: use that one, or "
				       "summarize the capture "
				       "with this one"
				     : "summarize the capture again");
}

static int end(const struct reader *r, struct vpt_err *err)
{
	if (r->numbers.no_memory || r->rank->arena.failed)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	if (r->numbers.wrong)
		return vpt_fail(err, VPT_EDATA, "summary of a rank: expected %s at byte %zu",
			r->numbers.wrong, (size_t)(r->numbers.at - r->numbers.begin));
	return VPT_OK;
}

int vpa_rank_number_from_bytes(const void *data, size_t size, int64_t *number, struct vpt_err *err)
{
	struct vpa_rank rank = {.rank = -1};
	struct reader r;
	int rc = begin(&r, data, size, &rank, err);

	if (!rc) {
		get_identity(&r);
		rc = end(&r, err);
	}
	*number = rank.rank;
	vpa_rank_free(&rank);
	return rc;
}

int vpa_rank_from_bytes(const void *data, size_t size, struct vpa_slab **slab, struct vpa_rank *out,
	struct vpt_err *err)
{
	struct reader r;
	int rc = begin(&r, data, size, out, err);

	if (rc)
		return rc;
	get_identity(&r);
	get_figures(&r);
	if (!vpa_is_failed(&r.numbers))
		get_names(&r);
	if (!vpa_is_failed(&r.numbers))
		get_gauges(&r);
	if (!vpa_is_failed(&r.numbers))
		get_collectives(&r, slab);
	if (r.numbers.at != r.numbers.end)
		vpa_stop_reading(&r.numbers, "the end");
	return end(&r, err);
}
