/* rank_detail_bytes.c - shapes, and the numbers that fill them.
 *
 * The reader trusts no number: a count is at most as many as bytes are left, indexes are of rows that are there, and the sums
 * of parts are the time between marks. */
#include "analysis/ranks/rank/file/rank_bytes.h"

#include "analysis/ranks/rank/file/rank_numbers.h"
#include "formats/base/saturate.h"
#include "formats/chunk/strings.h"

#include <string.h>

static uint64_t time_of(const struct vpa_rank *r, size_t collective)
{
	return collective < r->collective_count ? vpa_rank_start_ns(r, collective) : r->last_ns;
}

static uint64_t end_of(const struct vpa_rank *r, uint32_t after)
{
	return after == VPA_RANK_START ? r->first_ns : vpa_rank_end_ns(r, after);
}

/* Lists of terms by start. */
struct term_lists {
	const size_t *ends;
	const struct vpa_rank_term *items;
};

/* What the time of a term is counted from, in the unit of paces: how early the recorded term after the same end is, which often
 * is the same way. Without recorded terms, and where none is after that end, 0. */
static int64_t beside(
	const struct vpa_rank *r, const struct term_lists *recorded, size_t i, uint32_t after)
{
	size_t k = recorded && i ? recorded->ends[i - 1] : 0;
	int64_t early_ns;

	if (!recorded)
		return 0;
	for (; k < recorded->ends[i] && recorded->items[k].after != after; k++)
		;
	if (k == recorded->ends[i])
		return 0;
	early_ns = vpt_sat_diff_i64(
		(int64_t)(time_of(r, i) - end_of(r, after)), recorded->items[k].ns);
	return early_ns / VPA_PACE_TERM_NS + (early_ns % VPA_PACE_TERM_NS > 0);
}

/* ---- writing ---- */

/* Lists of numbers, each once. */
struct shapes {
	struct vpt_strings texts;
	struct vpt_recent recent;
	uint32_t *numbers, *of; /* of: the shape of each row */
	size_t number_cap, of_cap, count;
};

static int put_shape(struct shapes *s, size_t length)
{
	uint64_t id = vpt_strings_put_recent(
		&s->texts, &s->recent, (const char *)s->numbers, length * sizeof(*s->numbers));

	if (id >= UINT32_MAX || vpt_grow(&s->of, &s->of_cap, s->count + 1, sizeof(*s->of)))
		return VPT_ENOMEM;
	s->of[s->count++] = (uint32_t)id;
	return VPT_OK;
}

static void put_shapes(struct vpa_number_writer *w, const struct shapes *s, struct vpa_numbers *n)
{
	size_t i, k;

	vpa_put_number(w, s->texts.count);
	for (i = 0; i < s->texts.count; i++) {
		struct vpt_text text = vpt_strings_get(&s->texts, i);
		uint32_t number;

		vpa_put_number(w, text.len / sizeof(number));
		for (k = 0; k < text.len; k += sizeof(number)) {
			memcpy(&number, text.text + k, sizeof(number));
			vpa_put_number(w, number);
		}
	}
	if (vpa_room_for_numbers(n, s->count + 1))
		for (i = 0; i < s->count; i++)
			vpa_add_number(n, s->of[i]);
	vpa_put_number_column(w, n);
}

static void free_shapes(struct shapes *s)
{
	vpt_strings_free(&s->texts);
	vpt_free(s->numbers);
	vpt_free(s->of);
}

static void put_marks(
	struct vpa_number_writer *w, const struct vpa_rank_detail *d, struct vpa_numbers *numbers)
{
	struct shapes s = {.count = 0};
	size_t i, k, first = 0;

	for (i = 0; i < d->mark_count && !w->failed; first = d->marks[i++].part_end) {
		size_t n = d->marks[i].part_end - first;

		w->failed |= vpt_grow(&s.numbers, &s.number_cap, n + 1, sizeof(*s.numbers)) != 0;
		for (k = 0; k < n && !w->failed; k++)
			s.numbers[k] = d->parts[first + k].name;
		w->failed |= !w->failed && put_shape(&s, n);
	}
	put_shapes(w, &s, numbers);
	free_shapes(&s);
	if (vpa_room_for_numbers(numbers, d->part_count + 1))
		for (i = first = 0; i < d->mark_count; first = d->marks[i++].part_end)
			for (k = first + 1; k < d->marks[i].part_end; k++)
				vpa_add_number(numbers, d->parts[k].ns);
	vpa_put_number_column(w, numbers);
}

/* Terms by start, `unit_ns` the unit of their times, which are beside those of the recorded ones; NULL: alone. */
static void put_terms(struct vpa_number_writer *w, const struct vpa_rank *r,
	const struct term_lists *lists, int64_t unit_ns, const struct term_lists *recorded,
	struct vpa_numbers *numbers)
{
	const size_t *ends = lists->ends;
	const struct vpa_rank_term *terms = lists->items;
	struct shapes s = {.count = 0};
	size_t i, k, first;

	for (i = first = 0; i <= r->collective_count && !w->failed; first = ends[i++]) {
		size_t n = ends[i] - first;

		w->failed |= vpt_grow(&s.numbers, &s.number_cap, n + 1, sizeof(*s.numbers)) != 0;
		for (k = 0; k < n && !w->failed; k++)
			s.numbers[k] = terms[first + k].after == VPA_RANK_START
					       ? 0
					       : (uint32_t)i - terms[first + k].after;
		w->failed |= !w->failed && put_shape(&s, n);
	}
	put_shapes(w, &s, numbers);
	free_shapes(&s);
	if (vpa_room_for_numbers(numbers, ends[r->collective_count] + 1))
		for (i = first = 0; i <= r->collective_count; first = ends[i++])
			for (k = first; k < ends[i]; k++)
				vpa_add_number(numbers,
					vpa_from_signed(((int64_t)(time_of(r, i) -
								   end_of(r, terms[k].after)) -
								terms[k].ns) /
								unit_ns -
							beside(r, recorded, i, terms[k].after)));
	vpa_put_number_column(w, numbers);
}

/* What the terms consist of. Those of a pace have no work. */
static void put_shares(struct vpa_number_writer *w, const struct vpa_rank_term *terms, size_t count,
	int of_pace, struct vpa_numbers *numbers)
{
	size_t i;
	unsigned k;

	if (vpa_room_for_numbers(numbers, 2 * count + 1))
		for (i = 0; i < count; i++) {
			uint64_t work = 0;

			for (k = VPA_BUSY_KINDS; k; k--)
				work = work << 8 | terms[i].work[k - 1];
			if (!of_pace)
				vpa_add_number(numbers, work);
			vpa_add_number(numbers, terms[i].code);
		}
	vpa_put_number_column(w, numbers);
}

static void put_paces(
	struct vpa_number_writer *w, const struct vpa_rank *r, struct vpa_numbers *numbers)
{
	const struct vpa_rank_detail *d = &r->detail;
	const struct term_lists recorded = {d->term_ends, d->terms};
	unsigned i;

	put_shares(w, d->terms, d->term_ends[r->collective_count], 0, numbers);
	for (i = 0; i < VPA_PACES; i++) {
		const struct vpa_rank_pace *p = &d->paces[i];

		put_terms(w, r, &(struct term_lists){p->term_ends, p->terms}, VPA_PACE_TERM_NS,
			r->has_paces == VPA_PACES_BESIDE ? &recorded : NULL, numbers);
		put_shares(w, p->terms, p->term_ends[r->collective_count], 1, numbers);
	}
}

int vpa_rank_detail_to_bytes(const struct vpa_rank *r, struct vpt_buffer *out, size_t *shares_at)
{
	struct vpa_number_writer w = {.out = out};
	struct vpa_numbers numbers = {.count = 0};

	*out = (struct vpt_buffer){NULL, 0, 0};
	put_marks(&w, &r->detail, &numbers);
	if (r->has_terms)
		put_terms(&w, r, &(struct term_lists){r->detail.term_ends, r->detail.terms}, 1,
			NULL, &numbers);
	*shares_at = out->size;
	if (r->has_paces)
		put_paces(&w, r, &numbers);
	vpt_free(numbers.items);
	if (!w.failed)
		return VPT_OK;
	vpt_free(out->data);
	*out = (struct vpt_buffer){NULL, 0, 0};
	return VPT_ENOMEM;
}

/* ---- reading ---- */

/* Lists of numbers, and the rows, each with the number of its list. */
struct lists {
	uint32_t *numbers;
	size_t number_cap;
	struct list {
		uint32_t begin, end; /* in numbers */
	} * items;
	size_t count, cap;
	uint32_t *rows;
	size_t row_cap;
};

static void get_list(struct vpa_number_reader *r, struct lists *l, uint64_t most, size_t *used)
{
	uint64_t n = vpa_get_below(r, vpa_bytes_left(r), "a count of numbers");
	struct list list = {(uint32_t)*used, 0};

	if (*used + n >= UINT32_MAX ||
		vpt_grow(&l->numbers, &l->number_cap, *used + (size_t)n + 1, sizeof(*l->numbers)) ||
		vpt_grow(&l->items, &l->cap, l->count + 1, sizeof(*l->items))) {
		r->no_memory = 1;
		return;
	}
	for (; n; n--)
		l->numbers[(*used)++] = (uint32_t)vpa_get_below(r, most, "a number of a shape");
	list.end = (uint32_t)*used;
	l->items[l->count++] = list;
}

/* Reads the lists, of numbers of at most `most`, and the rows. Returns how many numbers the rows have in all, `less` for each that
 * has any. */
static size_t get_lists(
	struct vpa_number_reader *r, struct lists *l, uint64_t most, size_t rows, size_t less)
{
	uint64_t count = vpa_get_below(r, vpa_bytes_left(r), "a count of shapes"), i;
	struct vpa_number_column column;
	const struct list *items;
	size_t sum = 0, used = 0, list_count;

	l->count = 0;
	for (i = 0; i < count && !vpa_is_failed(r); i++)
		get_list(r, l, most, &used);
	if (!vpa_begin_number_column(r, rows, &column))
		return 0;
	if (vpt_grow(&l->rows, &l->row_cap, rows + 1, sizeof(*l->rows))) {
		r->no_memory = 1;
		return 0;
	}
	items = l->items;
	list_count = l->count;
	for (i = 0; i < rows; i++) {
		uint64_t list = vpa_next_number(&column);
		uint32_t n;

		if (list >= list_count) {
			vpa_stop_reading(r, "a shape for each row");
			return 0;
		}
		l->rows[i] = (uint32_t)list;
		n = items[list].end - items[list].begin;
		sum += n ? n - less : 0;
	}
	/* Each has half a byte and more. Rows and lists are fewer than 2^32: the sum does not wrap. */
	if (sum / 2 > vpa_bytes_left(r)) {
		vpa_stop_reading(r, "a number for each place of a shape");
		return 0;
	}
	return sum;
}

static void free_lists(struct lists *l)
{
	vpt_free(l->numbers);
	vpt_free(l->items);
	vpt_free(l->rows);
}

struct detail_reader {
	struct vpa_number_reader numbers;
	const struct vpa_rank *rank;
	struct vpa_rank_detail *d;
	struct lists lists;
	int taken; /* what the taker of stretches returned */
};

/* Collectives whose stretches are taken at a time. */
enum { TAKEN = 64 };

/* Stretches that are read one after the other. */
struct stretches {
	struct vpa_number_column times;
	const uint32_t *rows; /* of the next one */
	uint64_t before_ns;   /* the mark before it */
	size_t part_count;    /* of all */
	size_t longest;       /* list of parts */
};

/* Makes room for the parts of the next `count` stretches. 0: no memory. */
static int room_for_parts(struct detail_reader *r, const struct stretches *s, size_t count)
{
	size_t most = vpt_sat_mul(count, s->longest);

	most = most < s->part_count ? most : s->part_count;
	r->numbers.no_memory |=
		vpt_grow(&r->d->parts, &r->d->part_cap, most + 1, sizeof(*r->d->parts)) != 0;
	return !r->numbers.no_memory;
}

/* Fills the parts before `count` marks, whose times are set. */
static void get_stretches(struct detail_reader *r, struct stretches *s, size_t count)
{
	struct vpa_rank_detail *d = r->d;
	struct vpa_rank_mark *marks = d->marks;
	struct lists lists = r->lists;
	struct vpa_number_column times = s->times;
	uint64_t before_ns = s->before_ns;
	struct vpa_rank_part *part;
	size_t i;

	if (!room_for_parts(r, s, count))
		return;
	for (i = 0, part = d->parts; i < count; i++) {
		struct list list = lists.items[s->rows[i]];
		const uint32_t *name = lists.numbers + list.begin, *end = lists.numbers + list.end;
		uint64_t left_ns = marks[i].time_ns - before_ns;
		struct vpa_rank_part *first = part++;

		before_ns = marks[i].time_ns;
		if (name == end) {
			part = first;
			if (left_ns)
				break;
		} else {
			first->name = *name;
			for (name++; name < end; name++, part++) {
				uint64_t ns = vpa_next_number(&times);

				if (ns > left_ns)
					break;
				left_ns -= ns;
				*part = (struct vpa_rank_part){*name, ns};
			}
			if (name < end)
				break;
			first->ns = left_ns;
		}
		marks[i].part_end = (size_t)(part - d->parts);
	}
	if (i < count)
		vpa_stop_reading(&r->numbers, "parts of a stretch of time");
	s->times = times;
	s->rows += count;
	s->before_ns = before_ns;
	d->mark_count = count;
	d->part_count = (size_t)(part - d->parts);
}

/* Each collective of a rank without overlaps has two marks of its own. */
static void take_stretches(
	struct detail_reader *r, struct stretches *s, const struct vpa_stretch_taker *taker)
{
	const struct vpa_rank *x = r->rank;
	struct vpa_rank_detail *d = r->d;
	size_t first, count, i;

	if (vpt_grow(&d->marks, &d->mark_cap, 2 * TAKEN, sizeof(*d->marks)))
		r->numbers.no_memory = 1;
	for (first = 0; first < x->collective_count && !vpa_is_failed(&r->numbers) && !r->taken;
		first += count) {
		count = x->collective_count - first < TAKEN ? x->collective_count - first : TAKEN;
		for (i = 0; i < count; i++) {
			d->marks[2 * i].time_ns = vpa_rank_start_ns(x, first + i);
			d->marks[2 * i + 1].time_ns = vpa_rank_end_ns(x, first + i);
		}
		get_stretches(r, s, 2 * count);
		if (!vpa_is_failed(&r->numbers))
			r->taken = taker->take(taker->ctx, d, first, count);
	}
}

static void get_marks(struct detail_reader *r, const struct vpa_stretch_taker *taker)
{
	const struct vpa_rank *x = r->rank;
	size_t marks = taker ? 2 * x->collective_count : r->d->mark_count, numbers, i;
	struct stretches s = {.before_ns = x->first_ns};

	numbers = get_lists(
		&r->numbers, &r->lists, x->part_name_count ? x->part_name_count - 1 : 0, marks, 1);
	if (!vpa_begin_number_column(&r->numbers, numbers, &s.times))
		return;
	if (!x->part_name_count && r->lists.count && r->lists.items[r->lists.count - 1].end) {
		vpa_stop_reading(&r->numbers, "no parts without names");
		return;
	}
	s.rows = r->lists.rows;
	s.part_count = numbers + marks;
	for (i = 0; i < r->lists.count; i++) {
		size_t length = r->lists.items[i].end - r->lists.items[i].begin;

		s.longest = length > s.longest ? length : s.longest;
	}
	if (taker)
		take_stretches(r, &s, taker);
	else
		get_stretches(r, &s, marks);
}

/* Where terms go, by start. */
struct term_rows {
	size_t **ends, *end_cap;
	struct vpa_rank_term **items;
	size_t *cap;
	int64_t unit_ns;
	const struct term_lists *recorded; /* times are beside theirs; NULL: alone */
};

/* A term of start i of the rank; 0: its time is none. */
static inline int set_term(const struct vpa_rank *x, const struct term_rows *out, size_t i,
	uint64_t at_ns, uint32_t back, int64_t early_ns, struct vpa_rank_term *term)
{
	uint32_t after = back ? (uint32_t)i - back : VPA_RANK_START;
	int64_t ns;

	if (back > i)
		return 0;
	if (out->recorded &&
		__builtin_add_overflow(early_ns, beside(x, out->recorded, i, after), &early_ns))
		return 0;
	if (out->unit_ns != 1 && __builtin_mul_overflow(early_ns, out->unit_ns, &early_ns))
		return 0;
	if (__builtin_sub_overflow((int64_t)(at_ns - end_of(x, after)), early_ns, &ns) ||
		ns > (int64_t)VPA_RANK_LATEST_NS || ns < -(int64_t)VPA_RANK_LATEST_NS)
		return 0;
	*term = (struct vpa_rank_term){.after = after, .ns = ns};
	return 1;
}

/* Part of its callers: those of a recording need less. */
static inline __attribute__((always_inline)) void get_terms(
	struct detail_reader *r, const struct term_rows *out)
{
	const struct vpa_rank *x = r->rank;
	size_t rows = x->collective_count + 1, numbers, i;
	const struct lists *lists = &r->lists;
	struct vpa_number_column early;
	struct vpa_rank_term *terms, *term;
	size_t *ends;

	numbers = get_lists(&r->numbers, &r->lists, x->collective_count, rows, 0);
	if (!vpa_begin_number_column(&r->numbers, numbers, &early))
		return;
	if (vpt_grow(out->ends, out->end_cap, rows, sizeof(**out->ends)) ||
		vpt_grow(out->items, out->cap, numbers + 1, sizeof(*terms))) {
		r->numbers.no_memory = 1;
		return;
	}
	terms = term = *out->items;
	ends = *out->ends;
	for (i = 0; i < rows; i++) {
		struct list list = lists->items[lists->rows[i]];
		uint64_t at_ns = time_of(x, i);
		uint32_t k;

		if (list.begin == list.end) {
			vpa_stop_reading(&r->numbers, "terms of a start");
			return;
		}
		for (k = list.begin; k < list.end; k++)
			if (!set_term(x, out, i, at_ns, lists->numbers[k],
				    vpa_to_signed(vpa_next_number(&early)), term++)) {
				vpa_stop_reading(&r->numbers, "a time of a term");
				return;
			}
		ends[i] = (size_t)(term - terms);
	}
}

static void get_shares(
	struct detail_reader *r, struct vpa_rank_term *terms, size_t count, int of_pace)
{
	struct vpa_number_column shares;
	size_t i;

	if (!vpa_begin_number_column(&r->numbers, of_pace ? count : 2 * count, &shares))
		return;
	for (i = 0; i < count; i++) {
		uint64_t work = of_pace ? 0 : vpa_next_number(&shares),
			 code = vpa_next_number(&shares), sum = code;
		unsigned k;

		for (k = 0; k < VPA_BUSY_KINDS; k++, work >>= 8)
			sum += terms[i].work[k] = (uint8_t)work;
		if (code > VPA_TERM_WHOLE || sum > VPA_TERM_WHOLE) {
			vpa_stop_reading(&r->numbers, "shares of a term");
			return;
		}
		terms[i].code = (uint8_t)code;
	}
}

static void get_starts(struct detail_reader *r)
{
	struct vpa_rank_detail *d = r->d;

	get_terms(r, &(struct term_rows){
			     &d->term_ends, &d->term_end_cap, &d->terms, &d->term_cap, 1, NULL});
}

static void get_paces(struct detail_reader *r)
{
	struct vpa_rank_detail *d = r->d;
	const struct term_lists recorded = {d->term_ends, d->terms};
	size_t last = r->rank->collective_count, i;

	get_shares(r, d->terms, d->term_ends[last], 0);
	for (i = 0; i < VPA_PACES && !vpa_is_failed(&r->numbers); i++) {
		struct vpa_rank_pace *p = &d->paces[i];

		get_terms(r, &(struct term_rows){&p->term_ends, &p->term_end_cap, &p->terms,
				     &p->term_cap, VPA_PACE_TERM_NS,
				     r->rank->has_paces == VPA_PACES_BESIDE ? &recorded : NULL});
		if (!vpa_is_failed(&r->numbers))
			get_shares(r, p->terms, p->term_ends[last], 1);
	}
}

int vpa_rank_detail_from_bytes(const void *data, size_t size, const struct vpa_rank *rank,
	int with_paces, const struct vpa_stretch_taker *taker, struct vpa_rank_detail *out,
	struct vpt_err *err)
{
	struct detail_reader r = {.numbers = {.begin = data, .at = data}, .rank = rank, .d = out};

	r.numbers.end = r.numbers.begin + size;
	r.numbers.no_memory = !taker && vpa_rank_set_marks(rank, out) != 0;
	if (!r.numbers.no_memory)
		get_marks(&r, taker);
	if (rank->has_terms && !vpa_is_failed(&r.numbers))
		get_starts(&r);
	if (rank->has_paces && with_paces && !vpa_is_failed(&r.numbers))
		get_paces(&r);
	if ((!rank->has_paces || with_paces) && r.numbers.at != r.numbers.end)
		vpa_stop_reading(&r.numbers, "the end");
	free_lists(&r.lists);
	if (r.numbers.no_memory)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a rank");
	if (r.numbers.wrong)
		return vpt_fail(err, VPT_EDATA,
			"summary of a rank: expected %s at byte %zu of its detail", r.numbers.wrong,
			(size_t)(r.numbers.at - r.numbers.begin));
	return r.taken;
}
