/* rank_detail_bytes.c - shapes, and the numbers that fill them.
 *
 * The reader trusts no number: a count is at most as many as bytes are left, indexes are of rows that are there, and the sums
 * of parts are the time between marks. It stands beside the writer although the file is long, since beside() and column_of() say
 * for both what a number is counted from. */
#include "analysis/ranks/rank/file/rank_bytes.h"

#include "analysis/ranks/rank/file/rank_columns.h"
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

/* Times of terms are in columns by how many collectives back they are: 0, the rank's start; 1; more. */
enum { OTHER_TERMS = 2 };

static inline uint32_t column_of(uint32_t number, uint32_t most)
{
	return number < most ? number : most;
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
			vpa_add_number(n, s->of[i], 0);
	vpa_put_number_columns(w, n, 1, VPA_UNSIGNED);
}

static void free_shapes(struct shapes *s)
{
	vpt_strings_free(&s->texts);
	vpt_free(s->numbers);
	vpt_free(s->of);
}

static void put_marks(
	struct vpa_number_writer *w, const struct vpa_rank *r, struct vpa_numbers *numbers)
{
	const struct vpa_rank_detail *d = &r->detail;
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
				vpa_add_number(numbers, d->parts[k].ns, d->parts[k].name);
	vpa_put_number_columns(w, numbers, r->part_name_count + 1, VPA_UNSIGNED);
}

/* How many collectives before start i the one is that a term is after; 0: the rank's start. */
static uint32_t back_of(size_t i, const struct vpa_rank_term *term)
{
	return term->after == VPA_RANK_START ? 0 : (uint32_t)i - term->after;
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
			s.numbers[k] = back_of(i, &terms[first + k]);
		w->failed |= !w->failed && put_shape(&s, n);
	}
	put_shapes(w, &s, numbers);
	free_shapes(&s);
	if (vpa_room_for_numbers(numbers, ends[r->collective_count] + 1))
		for (i = first = 0; i <= r->collective_count; first = ends[i++])
			for (k = first; k < ends[i]; k++)
				vpa_add_number(numbers,
					(uint64_t)(((int64_t)(time_of(r, i) -
							      end_of(r, terms[k].after)) -
							   terms[k].ns) /
							   unit_ns -
						   beside(r, recorded, i, terms[k].after)),
					column_of(back_of(i, &terms[k]), OTHER_TERMS));
	vpa_put_number_columns(w, numbers, OTHER_TERMS + 1, VPA_SIGNED);
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
				vpa_add_number(numbers, work, 0);
			vpa_add_number(numbers, terms[i].code, !of_pace);
		}
	vpa_put_number_columns(w, numbers, 2, VPA_UNSIGNED);
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
	put_marks(&w, r, &numbers);
	if (r->has_terms)
		put_terms(&w, r, &(struct term_lists){r->detail.term_ends, r->detail.terms}, 1,
			NULL, &numbers);
	*shares_at = out->size;
	if (r->has_paces)
		put_paces(&w, r, &numbers);
	vpa_numbers_free(&numbers);
	if (!w.failed)
		return VPT_OK;
	vpt_free(out->data);
	*out = (struct vpt_buffer){NULL, 0, 0};
	return VPT_ENOMEM;
}

/* ---- reading ---- */

/* Lists of numbers, and the rows, each with the number of its list. */
struct lists {
	struct place {
		uint32_t number;
		uint32_t
			column_of; /* with empty ones; `column`: the same, which its numbers are in */
		struct vpa_number_column *column;
	} * places;
	size_t place_count, place_cap;
	struct list {
		const struct place *first, *last; /* its places, and the end of them */
		uint32_t begin, end;              /* in places */
		uint32_t quiet_begin, quiet_end;  /* of parts: in quiet */
		size_t rows;                      /* that have it */
	} * items;
	size_t count, cap;
	/* Of lists of parts: where those are in which no op but collectives runs, and what of them counts as idle, and as idle since
	 * the host was late: all bits of it or none. */
	struct quiet {
		uint32_t at; /* in the list */
		int64_t idle, host;
	} * quiet;
	size_t quiet_cap;
	uint32_t *rows;
	size_t row_cap;
	struct vpa_number_column *columns; /* that the numbers of rows are in */
	size_t column_cap;
	size_t *numbers; /* by column, with empty ones: how many, then which of `columns` it is */
	size_t number_cap;
};

static void get_list(struct vpa_number_reader *r, struct lists *l, uint64_t most)
{
	uint64_t n = vpa_get_below(r, vpa_bytes_left(r), "a count of numbers");
	struct list list = {.begin = (uint32_t)l->place_count};

	if (l->place_count + n >= UINT32_MAX ||
		vpt_grow(&l->places, &l->place_cap, l->place_count + (size_t)n + 1,
			sizeof(*l->places)) ||
		vpt_grow(&l->items, &l->cap, l->count + 1, sizeof(*l->items))) {
		r->no_memory = 1;
		return;
	}
	for (; n; n--)
		l->places[l->place_count++].number =
			(uint32_t)vpa_get_below(r, most, "a number of a shape");
	list.end = (uint32_t)l->place_count;
	l->items[l->count++] = list;
}

/* Reads the lists, of numbers of at most `most`, and the rows. 0: the reader failed. */
static int get_lists(struct vpa_number_reader *r, struct lists *l, uint64_t most, size_t rows)
{
	uint64_t count = vpa_get_below(r, vpa_bytes_left(r), "a count of shapes"), i;
	struct vpa_number_column column;
	struct list *items;
	size_t row, end, list_count;

	l->count = l->place_count = 0;
	for (i = 0; i < count && !vpa_is_failed(r); i++)
		get_list(r, l, most);
	if (!vpa_begin_number_column(r, rows, VPA_UNSIGNED, &column))
		return 0;
	if (vpt_grow(&l->rows, &l->row_cap, rows + 1, sizeof(*l->rows))) {
		r->no_memory = 1;
		return 0;
	}
	items = l->items;
	list_count = l->count;
	for (row = 0; row < rows; row = end) {
		const uint64_t *list = column.ahead;

		for (end = row + vpa_take_numbers(&column); row < end; row++, list++) {
			if (*list >= list_count) {
				vpa_stop_reading(r, "a shape for each row");
				return 0;
			}
			l->rows[row] = (uint32_t)*list;
			items[*list].rows++;
		}
	}
	return 1;
}

/* Begins the columns that the numbers of rows are in, those from place `from` of each list on: by column_of(), with `most`, those that
 * are not empty. Returns how many numbers there are; 0 as well if the reader failed. */
static size_t begin_columns(struct vpa_number_reader *r, struct lists *l, size_t from,
	uint32_t most, enum vpa_sign sign)
{
	size_t columns = r->has_lengths ? 1 : (size_t)most + 1, used = 0, sum = 0, i, k;

	if (vpt_grow(&l->numbers, &l->number_cap, columns, sizeof(*l->numbers))) {
		r->no_memory = 1;
		return 0;
	}
	memset(l->numbers, 0, columns * sizeof(*l->numbers));
	for (i = 0; i < l->count; i++)
		for (k = l->items[i].begin + from; k < l->items[i].end; k++) {
			struct place *p = &l->places[k];

			p->column_of = r->has_lengths ? 0 : column_of(p->number, most);
			l->numbers[p->column_of] += l->items[i].rows;
			sum += l->items[i].rows;
		}
	for (i = 0; i < columns && !vpa_is_failed(r); i++) {
		if (!l->numbers[i] && (sum || i))
			continue;
		if (vpt_grow(&l->columns, &l->column_cap, used + 1, sizeof(*l->columns)))
			r->no_memory = 1;
		else
			vpa_begin_number_column(r, l->numbers[i], sign, &l->columns[used]);
		l->numbers[i] = used++;
	}
	for (i = 0; i < l->count && !vpa_is_failed(r); i++) {
		struct list *list = &l->items[i];

		for (k = list->begin + from; k < list->end; k++)
			l->places[k].column = &l->columns[l->numbers[l->places[k].column_of]];
		list->first = l->places + list->begin;
		list->last = l->places + list->end;
	}
	return vpa_is_failed(r) ? 0 : sum;
}

static void free_lists(struct lists *l)
{
	vpt_free(l->places);
	vpt_free(l->items);
	vpt_free(l->quiet);
	vpt_free(l->rows);
	vpt_free(l->columns);
	vpt_free(l->numbers);
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
		vpt_grow(&r->d->parts, &r->d->part_cap, most + 1, sizeof(*r->d->parts)) ||
		vpt_grow(&r->d->sums, &r->d->sum_cap, count, sizeof(*r->d->sums));
	return !r->numbers.no_memory;
}

/* Fills the parts before `count` marks, whose times are set. */
static void get_stretches(struct detail_reader *r, struct stretches *s, size_t count)
{
	struct vpa_rank_detail *d = r->d;
	const struct list *items = r->lists.items;
	const uint32_t *row = s->rows;
	struct vpa_rank_mark *mark = d->marks, *end_mark = mark + count;
	uint64_t before_ns = s->before_ns;
	struct vpa_rank_part *part;

	if (!room_for_parts(r, s, count))
		return;
	for (part = d->parts; mark < end_mark; mark++, row++) {
		const struct place *place = items[*row].first, *end = items[*row].last;
		uint64_t left_ns = mark->time_ns - before_ns;
		struct vpa_rank_part *first = part;

		before_ns = mark->time_ns;
		if (place == end) {
			if (left_ns)
				break;
		} else {
			first->name = place->number;
			for (place++, part++; place < end; place++, part++) {
				uint64_t ns = vpa_next_number(place->column);

				if (ns > left_ns)
					break;
				left_ns -= ns;
				*part = (struct vpa_rank_part){place->number, ns};
			}
			if (place < end)
				break;
			first->ns = left_ns;
		}
		mark->part_end = (size_t)(part - d->parts);
	}
	if (mark < end_mark)
		vpa_stop_reading(&r->numbers, "parts of a stretch of time");
	d->mark_count = count;
	d->part_count = (size_t)(part - d->parts);
}

/* Sums up the stretches before every `step`th mark, whose parts are filled: most parts are of ops. */
static void sum_stretches(struct detail_reader *r, const struct stretches *s, size_t step)
{
	const struct vpa_rank_detail *d = r->d;
	const struct quiet *quiet = r->lists.quiet;
	uint64_t before_ns = s->before_ns;
	size_t i, first = 0;

	for (i = 0; i < d->mark_count; i += step) {
		const struct list *list = &r->lists.items[s->rows[i]];
		const struct quiet *q = quiet + list->quiet_begin, *end = quiet + list->quiet_end;
		struct vpa_rank_sums sums = {.busy_ns = (int64_t)(d->marks[i].time_ns - before_ns)};

		for (; q < end; q++) {
			int64_t ns = (int64_t)d->parts[first + q->at].ns;

			sums.busy_ns -= ns;
			sums.idle_ns += ns & q->idle;
			sums.host_ns += ns & q->host;
		}
		d->sums[i] = sums;
		before_ns = d->marks[i + step - 1].time_ns;
		first = d->marks[i + step - 1].part_end;
	}
}

/* Fills parts and sums, and goes on to the next stretches. */
static void take_marks(struct detail_reader *r, struct stretches *s, size_t count, size_t step)
{
	get_stretches(r, s, count);
	if (vpa_is_failed(&r->numbers) || !count)
		return;
	sum_stretches(r, s, step);
	s->rows += count;
	s->before_ns = r->d->marks[count - 1].time_ns;
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
			struct vpa_item_times times = vpa_rank_item_times(x, first + i);

			d->marks[2 * i].time_ns = times.start_ns;
			d->marks[2 * i + 1].time_ns = times.end_ns;
		}
		take_marks(r, s, 2 * count, 2);
		if (!vpa_is_failed(&r->numbers))
			r->taken = taker->take(taker->ctx, d, first, count);
	}
}

/* Finds the quiet parts of each list. 0 or VPT_ENOMEM. */
static int list_quiet(struct lists *l, const struct vpa_part_name *names)
{
	size_t count = 0, i;
	uint32_t k;

	for (i = 0; i < l->count; i++) {
		struct list *list = &l->items[i];

		list->quiet_begin = (uint32_t)count;
		for (k = list->begin; k < list->end; k++) {
			struct vpa_rank_sums as = vpa_part_counts_as(&names[l->places[k].number]);

			if (as.busy_ns)
				continue;
			if (vpt_grow(&l->quiet, &l->quiet_cap, count + 1, sizeof(*l->quiet)))
				return VPT_ENOMEM;
			l->quiet[count++] = (struct quiet){k - list->begin, as.idle_ns, as.host_ns};
		}
		list->quiet_end = (uint32_t)count;
	}
	return VPT_OK;
}

static void get_marks(struct detail_reader *r, const struct vpa_stretch_taker *taker)
{
	const struct vpa_rank *x = r->rank;
	size_t marks = taker ? 2 * x->collective_count : r->d->mark_count, names, i;
	struct stretches s = {.before_ns = x->first_ns};
	struct lists *l = &r->lists;

	names = x->part_name_count;
	if (!get_lists(&r->numbers, l, names ? names - 1 : 0, marks))
		return;
	s.part_count = marks + begin_columns(&r->numbers, l, 1, (uint32_t)names, VPA_UNSIGNED);
	if (vpa_is_failed(&r->numbers))
		return;
	if (!names && l->place_count) {
		vpa_stop_reading(&r->numbers, "no parts without names");
		return;
	}
	if (list_quiet(l, x->part_names)) {
		r->numbers.no_memory = 1;
		return;
	}
	s.rows = l->rows;
	for (i = 0; i < l->count; i++) {
		size_t length = l->items[i].end - l->items[i].begin;

		s.longest = length > s.longest ? length : s.longest;
	}
	if (taker)
		take_stretches(r, &s, taker);
	else
		take_marks(r, &s, marks, 1);
}

/* Where terms go, by start. */
struct term_rows {
	size_t **ends, *end_cap;
	struct vpa_rank_term **items;
	size_t *cap;
	int64_t unit_ns;
	const struct term_lists *recorded; /* times are beside theirs; NULL: alone */
};

/* A start whose terms are read. */
struct start {
	size_t i;
	uint64_t at_ns, before_ns; /* before_ns: the end before it */
};

/* A term of a start of the rank; 0: its time is none. */
static inline int set_term(const struct vpa_rank *x, const struct term_rows *out,
	const struct start *start, uint32_t back, int64_t early_ns, struct vpa_rank_term *term)
{
	size_t i = start->i;
	uint32_t after = back ? (uint32_t)i - back : VPA_RANK_START;
	uint64_t end_ns;
	int64_t ns;

	if (back > i)
		return 0;
	end_ns = back == 1 ? start->before_ns : end_of(x, after);
	if (out->recorded &&
		__builtin_add_overflow(early_ns, beside(x, out->recorded, i, after), &early_ns))
		return 0;
	if (out->unit_ns != 1 && __builtin_mul_overflow(early_ns, out->unit_ns, &early_ns))
		return 0;
	if (__builtin_sub_overflow((int64_t)(start->at_ns - end_ns), early_ns, &ns) ||
		(uint64_t)ns + VPA_RANK_LATEST_NS > 2 * VPA_RANK_LATEST_NS)
		return 0;
	*term = (struct vpa_rank_term){.after = after, .ns = ns};
	return 1;
}

/* Part of its callers: those of a recording need less. */
static inline __attribute__((always_inline)) void get_terms(
	struct detail_reader *r, const struct term_rows *out)
{
	const struct vpa_rank *x = r->rank;
	size_t rows = x->collective_count + 1, numbers;
	struct lists *lists = &r->lists;
	struct start start = {.i = 0};
	struct vpa_item_times times = {0, 0};
	struct vpa_rank_term *term;
	size_t *ends, used = 0;

	if (!get_lists(&r->numbers, lists, x->collective_count, rows))
		return;
	numbers = begin_columns(&r->numbers, lists, 0, OTHER_TERMS, VPA_SIGNED);
	if (vpa_is_failed(&r->numbers))
		return;
	if (vpt_grow(out->ends, out->end_cap, rows, sizeof(**out->ends)) ||
		vpt_grow(out->items, out->cap, numbers + 1, sizeof(*term))) {
		r->numbers.no_memory = 1;
		return;
	}
	term = *out->items;
	ends = *out->ends;
	for (; start.i < rows; start.i++) {
		const struct list *list = &lists->items[lists->rows[start.i]];
		const struct place *place = list->first, *end = list->last;

		start.before_ns = times.end_ns;
		times = start.i + 1 < rows ? vpa_rank_item_times(x, start.i)
					   : (struct vpa_item_times){x->last_ns, 0};
		start.at_ns = times.start_ns;
		if (place == end) {
			vpa_stop_reading(&r->numbers, "terms of a start");
			return;
		}
		used += (size_t)(end - place);
		for (; place < end; place++)
			if (!set_term(x, out, &start, place->number,
				    (int64_t)vpa_next_number(place->column), term++)) {
				vpa_stop_reading(&r->numbers, "a time of a term");
				return;
			}
		ends[start.i] = used;
	}
}

static void get_shares(
	struct detail_reader *r, struct vpa_rank_term *terms, size_t count, int of_pace)
{
	struct vpa_number_column works, codes, *of_codes = &codes;
	size_t i;

	/* Before version 6 they were in one column. */
	if (r->numbers.has_lengths && !of_pace) {
		of_codes = &works;
		if (!vpa_begin_number_column(&r->numbers, 2 * count, VPA_UNSIGNED, &works))
			return;
	} else if ((!of_pace &&
			   !vpa_begin_number_column(&r->numbers, count, VPA_UNSIGNED, &works)) ||
		   !vpa_begin_number_column(&r->numbers, count, VPA_UNSIGNED, &codes)) {
		return;
	}
	for (i = 0; i < count; i++) {
		uint64_t work = of_pace ? 0 : vpa_next_number(&works),
			 code = vpa_next_number(of_codes), sum = code;
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
	struct detail_reader r = {
		.numbers = {.begin = data, .at = data, .has_lengths = rank->has_lengths},
		.rank = rank,
		.d = out};

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
