/* fuzz_ranks.c - any bytes as a file of ranks, and as what a rank of it holds, unpacked: beside two sound ranks it is reported, written
 * and merged. */
#include "tests/fuzz/fuzz.h"

#include "analysis/ranks/job.h"
#include "analysis/ranks/figures/job_conditions.h"
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/ranks/patterns/patterns.h"
#include "analysis/ranks/rank/file/rank_bytes.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "analysis/ranks/rank/file/rank_columns.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/ranks/scaling.h"
#include "analysis/render/renderer.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "tests/support/ranks_rig.h"

#include <stdlib.h>
#include <string.h>

static void read_file(const uint8_t *data, size_t size)
{
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpa_rank_list list = {.count = 0};
	struct vpt_source *src;
	struct vpt_err err = {0};
	size_t i;
	int rc;

	FUZZ_EXPECT(!vpt_source_memory(data, size, &src, &err));
	rc = vpa_rank_blocks_read(&blocks, src, &err);
	FUZZ_EXPECT(!rc || (rc == VPT_EDATA && err.text[0]));
	for (i = 0; i < blocks.count; i++)
		vpa_rank_block_unpack(&blocks.items[i], &list, &err);
	vpa_rank_list_free(&list);
	vpa_rank_blocks_free(&blocks);
	vpt_source_close(src);
}

/* Ranks of a small job: what is read is beside them. */
static void add_sound_ranks(struct vpa_rank_list *list)
{
	static struct rig_job job;
	struct vpt_random random = {5};
	size_t i, first = list->count;

	if (!job.ranks)
		rig_small(&job, 12, &random);
	rig_ranks(&job, list);
	for (i = first; i < list->count; i++) {
		rig_terms(list->items[i]);
		rig_paces(list->items[i]);
	}
}

static int take_stretches(void *ctx, const struct vpa_rank_detail *d, size_t first, size_t count)
{
	const struct vpa_rank *rank = ctx;
	size_t i;

	FUZZ_EXPECT(first + count <= rank->collective_count);
	for (i = 0; i < d->part_count; i++)
		FUZZ_EXPECT(d->parts[i].name < rank->part_name_count);
	FUZZ_EXPECT(d->marks[2 * count - 1].part_end == d->part_count);
	return VPT_OK;
}

static int read_rank(const uint8_t *data, size_t size, struct vpa_rank *rank)
{
	size_t who = size < 2 ? 0 : (size_t)data[0] << 8 | data[1], detail;
	unsigned char *bytes;
	struct vpt_err err = {0};
	int rc, taken_rc = 0;

	size -= size < 2 ? size : 2;
	who = who < size ? who : size;
	detail = size - who;
	bytes = calloc(size + VPA_COLUMN_PADDING, 1);
	if (size)
		memcpy(bytes, data + 2, size);
	rc = vpa_rank_from_bytes(bytes, who, NULL, rank, &err);
	FUZZ_EXPECT(!rc || ((rc == VPT_EDATA || rc == VPT_EVERSION) && err.text[0]));
	if (!rc && !rank->has_overlaps) {
		const struct vpa_stretch_taker taker = {take_stretches, rank};

		taken_rc = vpa_rank_detail_from_bytes(
			bytes + who, detail, rank, 1, &taker, &rank->detail, &err);
	}
	if (!rc) {
		rc = vpa_rank_detail_from_bytes(
			bytes + who, detail, rank, 1, NULL, &rank->detail, &err);
		FUZZ_EXPECT(!rc || (rc == VPT_EDATA && err.text[0]));
		FUZZ_EXPECT(rank->has_overlaps || rc == taken_rc);
	}
	free(bytes);
	return rc;
}

static void write_file(struct vpa_rank_blocks *blocks, struct vpt_buffer *out)
{
	struct vpt_sink *sink;

	FUZZ_EXPECT(!vpt_sink_memory(out, &sink, NULL));
	FUZZ_EXPECT(!vpa_rank_blocks_write(blocks, sink, NULL));
	FUZZ_EXPECT(!sink->finish(sink, 1, NULL));
}

/* A file with all ranks, and one made of it and of one rank in another order: the same bytes. */
static void merge(struct vpa_rank_list *list)
{
	struct vpa_rank_blocks blocks = {.count = 0}, again = {.count = 0};
	struct vpt_buffer all, merged;
	struct vpt_source *src;
	size_t i;

	for (i = 0; i < list->count; i++)
		FUZZ_EXPECT(!vpa_rank_blocks_add(&blocks, list->items[i]));
	FUZZ_EXPECT(!vpa_rank_blocks_add(&again, list->items[0]));
	write_file(&blocks, &all);
	FUZZ_EXPECT(!vpt_source_memory(all.data, all.size, &src, NULL));
	FUZZ_EXPECT(!vpa_rank_blocks_read(&again, src, NULL));
	write_file(&again, &merged);
	FUZZ_EXPECT(all.size == merged.size && !memcmp(all.data, merged.data, all.size));
	vpt_source_close(src);
	vpt_free(all.data);
	vpt_free(merged.data);
	vpa_rank_blocks_free(&blocks);
	vpa_rank_blocks_free(&again);
}

/* Every figure that a condition may be of. */
static void check(const struct vpa_job *job)
{
	static const char *const texts[] = {"efficiency<80%", "waits>1%", "fps<16", "bps<2",
		"steps/s<1", "s/it>1ms", "period>750ms", "busy:gemm>1%", "idle:sync>5%"};
	struct vpa_job_condition condition;
	struct vpt_err err = {0};
	char what[160];
	size_t i;
	int holds, rc;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FUZZ_EXPECT(!vpa_job_condition_read(texts[i], &condition, &err));
		rc = vpa_job_condition_holds(&condition, job, &holds, what, &err);
		FUZZ_EXPECT(!rc || rc == VPT_EINVAL);
	}
}

static void render(struct vpa_job *job)
{
	struct vpt_buffer text;
	struct vpt_sink *sink;
	struct vpa_page page;
	struct vpt_err err = {0};

	FUZZ_EXPECT(!vpt_sink_memory(&text, &sink, &err));
	FUZZ_EXPECT(!vpa_patterns_find(job, &err));
	FUZZ_EXPECT(!vpa_job_figures_find(job, &err));
	FUZZ_EXPECT(!vpa_scaling_find(job, job->list.items[0], 0, &err));
	check(job);
	vpa_page_init(&page, sink, 80, 0, &err);
	vpa_ranks_put(&page, job, 1);
	vpa_rank_put(&page, job->list.items[0]);
	FUZZ_EXPECT(!page.rc && !vpa_ranks_json(job, sink, &err));
	FUZZ_EXPECT(!vpa_ranks_html(job, "ranks", sink, &err));
	sink->finish(sink, 0, NULL);
}

/* Every other input is asked for changes: then paces are read. Every fourth one for some of whole ranks and of transfers. */
static int report(struct vpa_rank_list *list, unsigned asked_for, struct vpa_job **out)
{
	static const char *const texts[] = {"all: host 0.5", "7: scale gemm 0.25",
		"all: scale HtoD 0", "all: scale comm 0.5", "0, 7 like median"};
	static struct vpa_job_change asked[5]; /* of the job that is made */
	size_t first = asked_for & 2 ? 3 : 0, count = asked_for & 2 ? 2 : 3;
	struct vpt_err err = {0};
	size_t i;
	int rc;

	if (!(asked_for & 1))
		return vpa_job_new(list, out, &err);
	for (i = first; i < first + count; i++)
		FUZZ_EXPECT(!vpa_job_change_read(texts[i], &asked[i], &err));
	rc = vpa_job_new_asked(list, &asked[first], count, out, &err);
	FUZZ_EXPECT(rc != VPT_EINVAL || err.text[0]);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vpa_rank_list list = {.count = 0};
	struct vpa_job *job;
	int rc;

	read_file(data, size);
	if (!read_rank(data, size, vpa_rank_add(&list))) {
		add_sound_ranks(&list);
		merge(&list);
		rc = report(&list, data[size - 1] & 3, &job);
		FUZZ_EXPECT(!rc || rc == VPT_EINVAL);
		if (!rc) {
			uint64_t waits = 0;
			size_t i;

			for (i = 0; i < job->rank_count; i++)
				vpt_sat_add_to(&waits, job->ranks[i].wait_ns);
			FUZZ_EXPECT(waits == job->wait_ns);
			render(job);
			vpa_job_free(job);
		}
	}
	vpa_rank_list_free(&list);
	return 0;
}
