/* Ranks as bytes: what is written is read, and no bytes do harm, whatever they say. */
#include "analysis/ranks/job.h"
#include "analysis/ranks/rank/file/rank_bytes.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "analysis/ranks/rank/file/rank_columns.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "tests/support/ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Facts, and terms as condense.c makes them. */
static void add_the_rest(struct vpa_rank *r)
{
	struct vpa_rank_detail *d = &r->detail;
	size_t i, k;

	r->facts = vpt_calloc(2, sizeof(*r->facts));
	r->facts[0] = (struct vpa_rank_fact){"NCCL_ALGO", "Ring"};
	r->facts[1] = (struct vpa_rank_fact){"cuda_driver", ""};
	r->fact_count = 2;
	r->capture = "rank.zst";
	r->fps = 16.25;
	r->is_end_to_end = 1;
	r->blocks_per_1e9s = 1354166667;
	r->gauges[VPA_GAUGE_SM_CLOCK] = (struct vpa_rank_gauge){3, 1200000, 1881000, 1980000};
	r->clock = (struct vpa_rank_clock){9000, 8000, "power cap"};
	r->stages = vpt_calloc(2, sizeof(*r->stages));
	r->stages[0] = (struct vpa_rank_stage){"text_encode", 0, 1, UINT64_MAX};
	r->stages[1] = (struct vpa_rank_stage){"denoise", 1, 8, 31909770};
	r->stage_count = 2;
	r->inits = 3;
	r->init_ns = 220000000;
	r->has_terms = 1;
	d->term_ends = vpt_calloc(r->collective_count + 1, sizeof(*d->term_ends));
	d->terms = vpt_calloc(2 * r->collective_count + 2, sizeof(*d->terms));
	for (i = 0; i <= r->collective_count; i++) {
		d->terms[2 * i] =
			(struct vpa_rank_term){.after = VPA_RANK_START, .ns = -(int64_t)i};
		d->terms[2 * i + 1] = (struct vpa_rank_term){
			.after = i ? (uint32_t)i - 1 : VPA_RANK_START, .ns = (int64_t)i << 40};
		d->terms[2 * i + 1].work[VPA_BUSY_OTHER] = (uint8_t)(i % 200);
		d->terms[2 * i + 1].code = 55;
		d->term_ends[i] = 2 * i + 2;
	}
	r->has_paces = VPA_PACES_BESIDE;
	r->units_from_ns = r->first_ns;
	r->units_to_ns = r->last_ns;
	for (k = 0; k < VPA_PACES; k++) {
		struct vpa_rank_pace *p = &d->paces[k];

		p->term_ends = vpt_calloc(r->collective_count + 1, sizeof(*p->term_ends));
		p->terms = vpt_calloc(r->collective_count + 1, sizeof(*p->terms));
		for (i = 0; i <= r->collective_count; i++) {
			uint64_t at_ns =
				i < r->collective_count ? vpa_rank_start_ns(r, i) : r->last_ns;

			p->terms[i] = (struct vpa_rank_term){.after = VPA_RANK_START,
				.code = (uint8_t)(i + k),
				.ns = (int64_t)(at_ns - r->first_ns) -
				      (int64_t)(i + k) * VPA_PACE_TERM_NS};
			p->term_ends[i] = i + 1;
		}
	}
}

/* A rank as bytes: who it is, and its detail. */
struct rank_bytes {
	struct vpt_buffer who, detail;
	size_t shares_at; /* in the detail */
};

static void write_rank(const struct vpa_rank *r, struct rank_bytes *out)
{
	assert_int_equal(vpa_rank_to_bytes(r, &out->who), 0);
	assert_int_equal(vpa_rank_detail_to_bytes(r, &out->detail, &out->shares_at), 0);
}

static int read_rank(const struct rank_bytes *in, struct vpa_rank *out, struct vpt_err *err)
{
	int rc = vpa_rank_from_bytes(in->who.data, in->who.size, NULL, out, err);

	return rc ? rc
		  : vpa_rank_detail_from_bytes(
			    in->detail.data, in->detail.size, out, 1, NULL, &out->detail, err);
}

static void free_bytes(struct rank_bytes *b)
{
	vpt_free(b->who.data);
	vpt_free(b->detail.data);
}

/* A column of each width, of one number and of as many as are unpacked at once and some more; the second one has the largest ones.
 * What comes after it is read next. */
static void columns_of_all_widths_are_read(void **state)
{
	static const size_t counts[] = {1, 63, 64, 65, 200};
	struct vpt_random random = {15};
	unsigned width, sign;
	size_t n, i;

	(void)state;
	for (width = 1; width <= 8; width++)
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
			for (sign = VPA_UNSIGNED; sign <= VPA_SIGNED; sign++) {
				struct vpt_buffer out = {NULL, 0, 0};
				struct vpa_number_writer w = {.out = &out};
				struct vpa_numbers numbers = {.count = 0};
				struct vpa_number_column small, large;
				struct vpa_number_reader r = {.at = NULL};
				uint64_t expected[200], most = UINT64_MAX >> (64 - 8 * width);
				uint64_t least = sign ? (uint64_t) - (int64_t)(most / 3) : 0;

				assert_true(vpa_room_for_numbers(&numbers, 2 * counts[n]));
				for (i = 0; i < counts[n]; i++) {
					uint64_t more = vpt_random(&random) & most;

					expected[i] = least + (i ? more : 0);
					vpa_add_number(&numbers, expected[i], 2);
					vpa_add_number(
						&numbers, (uint64_t) - (int64_t)(sign * i), 0);
				}
				vpa_put_number_columns(&w, &numbers, 3, (enum vpa_sign)sign);
				assert_int_equal(numbers.count, 0);
				vpa_put_number(&w, 300);
				r.begin = r.at = (const unsigned char *)out.data;
				r.end = r.at + out.size;
				assert_true(vpa_begin_number_column(
					&r, counts[n], (enum vpa_sign)sign, &small));
				assert_true(vpa_begin_number_column(
					&r, counts[n], (enum vpa_sign)sign, &large));
				assert_int_equal(vpa_get_number(&r), 300);
				assert_true(r.at == r.end);
				for (i = 0; i < counts[n]; i++) {
					assert_true(vpa_next_number(&large) == expected[i]);
					assert_true(vpa_next_number(&small) ==
						    (uint64_t) - (int64_t)(sign * i));
				}
				vpa_numbers_free(&numbers);
				vpt_free(out.data);
			}
}

/* Of a mark: what its sums should be. */
static void assert_sums(const struct vpa_rank *r, const struct vpa_rank_detail *d, size_t mark)
{
	struct vpa_rank_sums sums = {0, 0, 0};
	size_t i;

	for (i = mark ? d->marks[mark - 1].part_end : 0; i < d->marks[mark].part_end; i++) {
		struct vpa_rank_sums as = vpa_part_counts_as(&r->part_names[d->parts[i].name]);

		sums.busy_ns += (int64_t)d->parts[i].ns & as.busy_ns;
		sums.idle_ns += (int64_t)d->parts[i].ns & as.idle_ns;
		sums.host_ns += (int64_t)d->parts[i].ns & as.host_ns;
	}
	assert_memory_equal(&sums, &d->sums[mark], sizeof(sums));
}

static void what_is_written_is_read(void **state)
{
	struct vpt_random random = {6};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	unsigned r;
	size_t i, k;

	(void)state;
	rig_small(job, 60, &random);
	rig_ranks(job, &list);
	for (r = 0; r < 3; r++) {
		const struct vpa_rank *x = list.items[r];
		struct vpa_rank found = {.rank = 0};
		struct rank_bytes bytes, again;
		struct vpt_err err;

		add_the_rest(list.items[r]);
		write_rank(x, &bytes);
		assert_int_equal(read_rank(&bytes, &found, &err), 0);
		assert_string_equal(found.host, x->host);
		assert_string_equal(found.facts[0].value, "Ring");
		assert_string_equal(found.facts[1].value, "");
		assert_null(found.boot_id);
		assert_int_equal(found.collective_count, x->collective_count);
		assert_int_equal(vpa_rank_start_ns(&found, 5), vpa_rank_start_ns(x, 5));
		assert_int_equal(vpa_rank_end_ns(&found, 5), vpa_rank_end_ns(x, 5));
		assert_int_equal(vpa_rank_key_index(&found, 5), vpa_rank_key_index(x, 5));
		assert_int_equal(found.detail.part_count, x->detail.part_count);
		for (i = 0; i < x->detail.part_count; i++) {
			assert_int_equal(found.detail.parts[i].name, x->detail.parts[i].name);
			assert_int_equal(found.detail.parts[i].ns, x->detail.parts[i].ns);
		}
		assert_memory_equal(found.detail.marks, x->detail.marks,
			x->detail.mark_count * sizeof(*x->detail.marks));
		for (i = 0; i < found.detail.mark_count; i++)
			assert_sums(&found, &found.detail, i);
		assert_int_equal(found.detail.terms[9].ns, x->detail.terms[9].ns);
		assert_int_equal(found.detail.terms[8].after, VPA_RANK_START);
		assert_true(found.has_paces && found.units_to_ns == x->last_ns);
		assert_memory_equal(
			found.detail.terms[9].work, x->detail.terms[9].work, VPA_BUSY_KINDS);
		assert_int_equal(found.detail.terms[9].work[VPA_BUSY_OTHER], 4);
		assert_int_equal(found.detail.terms[9].code, 55);
		for (k = 0; k < VPA_PACES; k++) {
			const struct vpa_rank_term *term = &found.detail.paces[k].terms[4];

			assert_int_equal(term->code, 4 + k);
			assert_int_equal(term->ns, x->detail.paces[k].terms[4].ns);
			assert_int_equal(found.detail.paces[k].term_ends[4], 5);
		}
		assert_true(found.fps == 16.25);
		assert_int_equal(found.is_end_to_end, 1);
		assert_int_equal(found.blocks_per_1e9s, 1354166667);
		assert_memory_equal(found.gauges, x->gauges, sizeof(x->gauges));
		assert_int_equal(found.clock.awake_ns, 9000);
		assert_int_equal(found.clock.limited_ns, 8000);
		assert_string_equal(found.clock.reason, "power cap");
		assert_int_equal(found.stage_count, 2);
		assert_string_equal(found.stages[0].name, "text_encode");
		assert_true(found.stages[0].time_ns == UINT64_MAX);
		assert_true(found.stages[1].in_blocks && found.stages[1].count == 8);
		assert_true(found.inits == 3 && found.init_ns == 220000000);
		write_rank(&found, &again);
		assert_int_equal(again.who.size, bytes.who.size);
		assert_memory_equal(again.who.data, bytes.who.data, bytes.who.size);
		assert_int_equal(again.detail.size, bytes.detail.size);
		assert_memory_equal(again.detail.data, bytes.detail.data, bytes.detail.size);
		free_bytes(&again);
		free_bytes(&bytes);
		vpa_rank_free(&found);
	}
	vpa_rank_list_free(&list);
	free(job);
}

/* What a taker of stretches has got so far, which must be the next of what is expected. */
struct taken {
	const struct vpa_rank *rank;
	const struct vpa_rank_detail *expected;
	size_t count, parts;
};

enum { TAKEN_AND_STOPPED = 77 };

static int take_stretches(void *ctx, const struct vpa_rank_detail *d, size_t first, size_t count)
{
	struct taken *t = ctx;
	size_t i;

	assert_int_equal(first, t->count);
	for (i = 0; i < 2 * count; i++) {
		const struct vpa_rank_mark *mark = &t->expected->marks[2 * first + i];

		assert_int_equal(d->marks[i].time_ns, mark->time_ns);
		assert_int_equal(t->parts + d->marks[i].part_end, mark->part_end);
	}
	for (i = 0; i < 2 * count; i += 2)
		assert_sums(t->rank, d, i);
	for (i = 0; i < d->part_count; i++, t->parts++) {
		assert_int_equal(d->parts[i].name, t->expected->parts[t->parts].name);
		assert_int_equal(d->parts[i].ns, t->expected->parts[t->parts].ns);
	}
	t->count += count;
	return t->count > 150 ? TAKEN_AND_STOPPED : VPT_OK;
}

/* Stretches that are taken while they are read are those of the whole detail, whose terms are read as always; the taker can stop. */
static void stretches_are_taken(void **state)
{
	static const unsigned counts[] = {10, 63, 64, 65, 128, 200};
	struct vpt_random random = {14};
	struct rig_job *job = malloc(sizeof(*job));
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct vpa_rank_list list = {.count = 0};
		struct vpa_unfolded all = {.byte_cap = 0}, some = {.byte_cap = 0};
		struct taken taken = {.expected = &all.detail};
		const struct vpa_stretch_taker taker = {take_stretches, &taken};
		struct vpa_rank *x;
		struct vpt_err err;

		rig_small(job, counts[i], &random);
		/* Some time between two collectives each. */
		for (k = 0; k < counts[i]; k++)
			job->row[k].part_ns[0][0]++;
		rig_run(job, &random);
		rig_ranks(job, &list);
		taken.rank = x = list.items[0];
		add_the_rest(x);
		assert_int_equal(x->collective_count, counts[i]);
		assert_int_equal(x->has_overlaps, 0);
		assert_int_equal(vpa_rank_fold(x), 0);
		assert_int_equal(vpa_rank_unfold(x, &all, &err), 0);
		some.taker = &taker;
		assert_int_equal(
			vpa_rank_unfold(x, &some, &err), counts[i] > 150 ? TAKEN_AND_STOPPED : 0);
		assert_true(counts[i] > 150 ? taken.count < counts[i]
					    : taken.parts == all.detail.part_count);
		assert_memory_equal(some.detail.term_ends, all.detail.term_ends,
			(counts[i] + 1) * sizeof(*all.detail.term_ends));
		vpa_unfolded_free(&all);
		vpa_unfolded_free(&some);
		vpa_rank_list_free(&list);
	}
	free(job);
}

/* A pause of more than 4 s, a collective of more, and thousands of communicators. */
static void far_times_and_many_keys_are_read(void **state)
{
	struct vpa_rank rank = {.first_ns = 5, .last_ns = UINT64_C(1) << 50}, found = {.rank = 0};
	struct vpt_buffer bytes;
	struct vpt_err err;
	uint64_t at = 5;
	uint32_t i;

	(void)state;
	rank.key_count = 70000;
	rank.keys = vpt_calloc(rank.key_count, sizeof(*rank.keys));
	for (i = 0; i < rank.key_count; i++)
		rank.keys[i].text = "allreduce";
	assert_int_equal(vpa_rank_begin_collectives(&rank, rank.key_count, NULL), 0);
	for (i = 0; i < rank.key_count; i++) {
		uint64_t length = i % 1000 == 7 ? UINT64_C(5000000000) + i : 1000;

		assert_int_equal(vpa_rank_put_collective(
					 &rank, (struct vpa_rank_collective){at, at + length, i}),
			0);
		at += i % 500 == 3 ? UINT64_C(6000000000) : 2000;
	}
	assert_true(rank.times.far_count > 100 && rank.times.far_count < 5000);
	assert_int_equal(vpa_rank_to_bytes(&rank, &bytes), 0);
	assert_int_equal(vpa_rank_from_bytes(bytes.data, bytes.size, NULL, &found, &err), 0);
	for (at = 5, i = 0; i < rank.key_count; i++) {
		assert_int_equal(vpa_rank_start_ns(&found, i), at);
		assert_int_equal(vpa_rank_end_ns(&found, i),
			at + (i % 1000 == 7 ? UINT64_C(5000000000) + i : 1000));
		assert_int_equal(vpa_rank_key_index(&found, i), i);
		at += i % 500 == 3 ? UINT64_C(6000000000) : 2000;
	}
	vpt_free(bytes.data);
	vpa_rank_free(&found);
	vpa_rank_free(&rank);
}

/* The detail of a rank in a file is the one that was written; a file that became shorter is said. */
static void a_detail_is_read_from_its_file(void **state)
{
	char path[] = "/tmp/vps.XXXXXX";
	struct vpt_random random = {10};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0}, found = {.count = 0};
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpa_unfolded kept = {.byte_cap = 0}, left = {.byte_cap = 0};
	struct vpa_rank_block block;
	struct vpa_slab *slab = NULL;
	struct vpt_source *src;
	struct vpt_sink *sink;
	struct vpt_err err;
	uint64_t at = 0, place;

	(void)state;
	assert_true(close(mkstemp(path)) == 0);
	rig_small(job, 40, &random);
	rig_ranks(job, &list);
	rig_terms(list.items[0]);
	assert_int_equal(vpa_rank_blocks_add(&blocks, list.items[0]), 0);
	assert_int_equal(vpt_sink_open(path, VPT_SINK_FORCE, &sink, &err), 0);
	assert_int_equal(vpa_rank_blocks_write(&blocks, sink, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	assert_int_equal(vpt_source_open(path, &src, &err), 0);
	assert_int_equal(vpa_rank_block_find(src, &at, &block, &err), 0);
	assert_int_equal(vpa_rank_block_read(src, &slab, &block, &err), 0);
	assert_int_equal(vpa_rank_block_unpack(&block, &found, &err), 0);
	place = block.detail.at;
	vpa_rank_block_free(&block);
	assert_int_equal(vpa_rank_block_find(src, &at, &block, &err), VPT_END);
	vpa_slab_drop(slab);
	vpt_source_close(src);
	assert_int_equal(vpa_rank_leave_in_file(found.items[0], path, place), VPT_OK);
	assert_null(found.items[0]->folded.packed);
	assert_int_equal(vpa_rank_unfold(list.items[0], &kept, &err), 0);
	assert_int_equal(vpa_rank_unfold(found.items[0], &left, &err), 0);
	assert_int_equal(left.detail.part_count, kept.detail.part_count);
	assert_int_equal(left.detail.terms[7].ns, kept.detail.terms[7].ns);
	assert_memory_equal(left.detail.marks, kept.detail.marks,
		kept.detail.mark_count * sizeof(*kept.detail.marks));
	assert_int_equal(truncate(path, (off_t)place + 5), 0);
	assert_int_equal(vpa_rank_unfold(found.items[0], &left, &err), VPT_EDATA);
	assert_non_null(strstr(err.text, "became shorter"));
	unlink(path);
	vpa_unfolded_free(&kept);
	vpa_unfolded_free(&left);
	vpa_rank_blocks_free(&blocks);
	vpa_rank_list_free(&list);
	vpa_rank_list_free(&found);
	free(job);
}

/* Reads bytes that may be anything; returns what the reader said. What it takes can be reported. */
static int try(const struct rank_bytes *bytes, const struct rig_job *job)
{
	struct vpa_rank_list list = {.count = 0};
	struct vpa_rank *rank = vpa_rank_add(&list);
	struct vpa_job *found;
	struct vpt_err err = {0};
	int rc = read_rank(bytes, rank, &err);

	assert_true(!rc || ((rc == VPT_EDATA || rc == VPT_EVERSION) && err.text[0]));
	if (!rc && job) {
		rig_ranks(job, &list);
		rc = vpa_job_new(&list, &found, &err);
		assert_true(!rc || rc == VPT_EINVAL);
		if (!rc)
			vpa_job_free(found);
	}
	vpa_rank_list_free(&list);
	return rc;
}

static void make_bytes(struct rig_job *job, struct vpt_random *random, struct rank_bytes *out)
{
	struct vpa_rank_list list = {.count = 0};

	rig_small(job, 12, random);
	rig_ranks(job, &list);
	add_the_rest(list.items[0]);
	write_rank(list.items[0], out);
	vpa_rank_list_free(&list);
}

static void no_prefix_is_a_rank(void **state)
{
	struct vpt_random random = {7};
	struct rig_job *job = malloc(sizeof(*job));
	struct rank_bytes bytes, some;

	(void)state;
	make_bytes(job, &random, &bytes);
	for (some = bytes, some.who.size = 0; some.who.size < bytes.who.size; some.who.size++)
		assert_int_equal(try(&some, NULL), VPT_EDATA);
	for (some = bytes, some.detail.size = 0; some.detail.size < bytes.detail.size;
		some.detail.size++)
		assert_int_equal(try(&some, NULL), VPT_EDATA);
	assert_int_equal(try(&bytes, job), 0);
	free_bytes(&bytes);
	free(job);
}

static void change(struct vpt_buffer *b, struct vpt_random *random)
{
	b->data[vpt_random_below(random, b->size)] = (char)vpt_random_nasty(random);
}

static struct vpt_buffer copy(const struct vpt_buffer *b)
{
	struct vpt_buffer out = {malloc(b->size + VPA_COLUMN_PADDING), b->size, b->size};

	memset(out.data, 0xff, b->size + VPA_COLUMN_PADDING);
	memcpy(out.data, b->data, b->size);
	return out;
}

static void changed_bytes_do_no_harm(void **state)
{
	struct vpt_random random = {8};
	struct rig_job *job = malloc(sizeof(*job));
	struct rank_bytes bytes;
	unsigned n, taken = 0, refused = 0;

	(void)state;
	make_bytes(job, &random, &bytes);
	for (n = 0; n < 20000; n++) {
		struct rank_bytes other = {copy(&bytes.who), copy(&bytes.detail), 0};
		unsigned changes = 1 + (unsigned)vpt_random_below(&random, 4);

		while (changes-- > 0)
			change(vpt_random_below(&random, 2) ? &other.who : &other.detail, &random);
		if (try(&other, job))
			refused++;
		else
			taken++;
		free(other.who.data);
		free(other.detail.data);
	}
	assert_true(taken > 1000 && refused > 1000);
	free_bytes(&bytes);
	free(job);
}

/* As it was before version 4: what is read from such a file is written so, too. */
static void paces_alone_are_read(void **state)
{
	struct vpt_random random = {11};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_rank found = {.rank = 0}, *x;
	struct rank_bytes alone, beside;
	struct vpt_err err;
	size_t i, k;

	(void)state;
	rig_small(job, 30, &random);
	rig_ranks(job, &list);
	x = list.items[0];
	add_the_rest(x);
	write_rank(x, &beside);
	x->has_paces = VPA_PACES_ALONE;
	write_rank(x, &alone);
	assert_int_not_equal(alone.detail.size, beside.detail.size);
	assert_int_equal(read_rank(&alone, &found, &err), 0);
	assert_int_equal(found.has_paces, VPA_PACES_ALONE);
	for (k = 0; k < VPA_PACES; k++)
		for (i = 0; i <= x->collective_count; i++)
			assert_int_equal(
				found.detail.paces[k].terms[i].ns, x->detail.paces[k].terms[i].ns);
	free_bytes(&alone);
	free_bytes(&beside);
	vpa_rank_free(&found);
	vpa_rank_list_free(&list);
	free(job);
}

/* A report that nobody asks for changes reads neither shares nor paces: what is wrong there does no harm. */
static void a_detail_is_read_without_paces(void **state)
{
	struct vpt_random random = {12};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_rank_detail found = {.mark_count = 0};
	struct rank_bytes bytes;
	struct vpt_err err;

	(void)state;
	rig_small(job, 30, &random);
	rig_ranks(job, &list);
	add_the_rest(list.items[0]);
	write_rank(list.items[0], &bytes);
	bytes.detail.size--;
	assert_int_equal(vpa_rank_detail_from_bytes(bytes.detail.data, bytes.detail.size,
				 list.items[0], 1, NULL, &found, &err),
		VPT_EDATA);
	assert_int_equal(vpa_rank_detail_from_bytes(bytes.detail.data, bytes.detail.size,
				 list.items[0], 0, NULL, &found, &err),
		0);
	assert_int_equal(vpa_rank_detail_from_bytes(bytes.detail.data, bytes.shares_at,
				 list.items[0], 0, NULL, &found, &err),
		0);
	assert_int_equal(found.terms[9].ns, list.items[0]->detail.terms[9].ns);
	assert_int_equal(found.terms[9].code, 0);
	vpa_rank_detail_free(&found);
	free_bytes(&bytes);
	vpa_rank_list_free(&list);
	free(job);
}

/* Shares and paces are in a frame of their own, which is not unpacked where nobody asks for them. */
static void paces_have_a_frame(void **state)
{
	struct vpt_random random = {13};
	struct rig_job *job = malloc(sizeof(*job));
	struct vpa_rank_list list = {.count = 0};
	struct vpa_unfolded all = {.byte_cap = 0}, some = {.without_paces = 1};
	struct rank_bytes bytes;
	struct vpa_rank *x;
	struct vpt_err err;
	int64_t ns;

	(void)state;
	rig_small(job, 30, &random);
	rig_ranks(job, &list);
	x = list.items[0];
	add_the_rest(x);
	ns = x->detail.paces[1].terms[9].ns;
	write_rank(x, &bytes);
	assert_int_equal(vpa_rank_fold(x), 0);
	assert_int_equal(x->folded.size, bytes.detail.size);
	assert_int_equal(vpa_rank_unfold(x, &all, &err), 0);
	assert_memory_equal(all.bytes, bytes.detail.data, bytes.detail.size);
	assert_int_equal(all.detail.paces[1].terms[9].ns, ns);
	/* The end of the second frame. */
	memset(x->folded.packed + x->folded.packed_size - 8, 0xff, 8);
	assert_int_equal(vpa_rank_unfold(x, &all, &err), VPT_EDATA);
	assert_int_equal(vpa_rank_unfold(x, &some, &err), 0);
	assert_true(some.byte_cap < bytes.detail.size);
	assert_int_equal(some.detail.part_count, all.detail.part_count);
	assert_memory_equal(some.detail.term_ends, all.detail.term_ends,
		(x->collective_count + 1) * sizeof(*all.detail.term_ends));
	/* The first one is cut off. */
	x->folded.packed_size = 20;
	assert_int_equal(vpa_rank_unfold(x, &some, &err), VPT_EDATA);
	vpa_unfolded_free(&all);
	vpa_unfolded_free(&some);
	free_bytes(&bytes);
	vpa_rank_list_free(&list);
	free(job);
}

static void a_newer_version_is_refused(void **state)
{
	struct vpa_rank rank = {.rank = 0};
	struct vpt_err err;

	(void)state;
	assert_int_equal(vpa_rank_from_bytes("\x08........", 1, NULL, &rank, &err), VPT_EVERSION);
	assert_string_equal(err.text,
		"summary version 8: expected 2 to 7: it is from a newer vptrace: use that one, or "
		"summarize the capture with this one");
	vpa_rank_free(&rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_all_widths_are_read),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(stretches_are_taken),
		cmocka_unit_test(far_times_and_many_keys_are_read),
		cmocka_unit_test(a_detail_is_read_from_its_file),
		cmocka_unit_test(no_prefix_is_a_rank),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(paces_alone_are_read),
		cmocka_unit_test(a_detail_is_read_without_paces),
		cmocka_unit_test(paces_have_a_frame),
		cmocka_unit_test(a_newer_version_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
