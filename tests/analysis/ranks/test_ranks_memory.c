/* Ranks unpacked, matched, replayed, printed and packed: each allocation fails in turn, see scarce.h. */
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/ranks/patterns/patterns.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/ranks/rank/rank_read.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/ranks/scaling.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/scarce.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpt_buffer packed;

/* Steps of a kernel and two collectives that the host waits for; one with a communicator. The second rank is slow. */
static struct vpt_trace *scripted(unsigned rank)
{
	static char text[20000];
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	size_t used, at, i;

	used = (size_t)snprintf(text, sizeof(text),
		"meta rank \"%u\"; meta world_size \"3\"; meta host \"one\"; meta NCCL_ALGO "
		"\"%u\"\n",
		rank, rank);
	for (i = 0, at = 1000000; i < 8; i++, at += 400000) {
		size_t own = at + 40000 + rank * 60000, slow = 100000 + rank * 20000 * (i % 3);

#define PUT(...) used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__)
		PUT("range t1 %zu-%zu \"step %zu\"\n", at, at + 390000, i);
		PUT("call t1 cudaLaunchKernel %zu+2000 corr %zu\n", own, 10 * i + 1);
		PUT("kernel s7 %zu+%zu corr %zu \"gemm\"\n", own + 5000, slow, 10 * i + 1);
		PUT("range t1 %zu-%zu \"ncclAllReduce\" domain NCCL json \"{\\\"NCCL communicator "
		    "ID\\\":7,\\\"Message size [bytes]\\\":64}\"\n",
			own + 2900, own + 4500);
		PUT("call t1 cudaLaunchKernel %zu+1000 corr %zu\n", own + 3000, 10 * i + 2);
		PUT("kernel s8 %zu-%zu corr %zu \"ncclDevKernel_AllReduce_Sum_f32\"\n",
			own + 5000 + slow, at + 300000, 10 * i + 2);
		PUT("call t1 cudaLaunchKernel %zu+1000 corr %zu\n", own + 5000, 10 * i + 3);
		PUT("kernel s8 %zu-%zu corr %zu \"ncclDevKernel_SendRecv\"\n", at + 301000 + rank,
			at + 310000, 10 * i + 3);
		PUT("call t1 cudaDeviceSynchronize %zu-%zu corr %zu\n", own + 7000, at + 312000,
			10 * i + 4);
#undef PUT
	}
	assert_true(used < sizeof(text));
	assert_int_equal(vpt_script_trace(text, &trace, &err), 0);
	return trace;
}

static int render(const struct vpa_job *job, struct vpt_err *err)
{
	struct vpt_buffer text;
	struct vpt_sink *sink;
	struct vpa_page page;
	int rc = vpt_sink_memory(&text, &sink, err);

	if (rc)
		return rc;
	vpa_page_init(&page, sink, 80, 0, err);
	vpa_ranks_put(&page, job, 1);
	rc = page.rc ? page.rc : vpa_ranks_json(job, sink, err);
	if (!rc)
		rc = vpa_ranks_markdown(job, sink, err);
	if (!rc)
		rc = vpa_ranks_html(job, "ranks", sink, err);
	sink->finish(sink, 0, NULL);
	return rc;
}

/* Takes the ranks, of which the first is the base too. */
static int report(struct vpa_rank_list *list, const struct vpa_rank *base,
	const struct vpa_job_change *asked, size_t asked_count, struct vpt_err *err)
{
	struct vpa_job *job;
	int rc = vpa_job_new_asked(list, asked, asked_count, &job, err);

	if (rc)
		return rc;
	assert_int_equal(job->rows, 16);
	assert_true(job->is_replayed);
	assert_int_equal(job->difference_count, 1);
	rc = vpa_scaling_find(job, base, 1, err);
	if (!rc)
		rc = vpa_patterns_find(job, err);
	if (!rc)
		rc = vpa_job_figures_find(job, err);
	if (!rc)
		rc = render(job, err);
	vpa_job_free(job);
	return rc;
}

/* Ranks from the bytes of a file. */
static int unpack(struct vpa_rank_list *list, struct vpt_err *err)
{
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpt_source *src;
	size_t i;
	int rc = vpt_source_memory(packed.data, packed.size, &src, err);

	if (rc)
		return rc;
	rc = vpa_rank_blocks_read(&blocks, src, err);
	for (i = 0; !rc && i < blocks.count; i++)
		rc = vpa_rank_block_unpack(&blocks.items[i], list, err);
	vpt_source_close(src);
	vpa_rank_blocks_free(&blocks);
	return rc;
}

static int run(const struct vpa_job_change *asked, size_t asked_count, struct vpt_err *err)
{
	struct vpa_rank_list list = {.count = 0}, base = {.count = 0};
	int rc = unpack(&list, err);

	if (!rc)
		rc = unpack(&base, err);
	if (!rc)
		rc = report(&list, base.items[0], asked, asked_count, err);
	vpa_rank_list_free(&list);
	vpa_rank_list_free(&base);
	return rc;
}

static int run_report(struct vpt_err *err)
{
	return run(NULL, 0, err);
}

static int run_changes(struct vpt_err *err)
{
	struct vpa_job_change asked[2];
	int rc = vpa_job_change_read("0: host 0.5", &asked[0], err);

	if (!rc)
		rc = vpa_job_change_read("rank 1 like median", &asked[1], err);
	return rc ? rc : run(asked, 2, err);
}

/* Packs ranks as they are and writes them to memory, into `out`, which is the caller's; NULL: for nothing. */
static int pack(const struct vpa_rank_list *list, struct vpt_buffer *out, struct vpt_err *err)
{
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpt_buffer bytes;
	struct vpt_sink *sink;
	size_t i;
	int rc = vpt_sink_memory(&bytes, &sink, err);

	if (rc)
		return rc;
	for (i = 0; !rc && i < list->count; i++)
		if (vpa_rank_blocks_add(&blocks, list->items[i]))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory to pack a rank");
	if (!rc)
		rc = vpa_rank_blocks_write(&blocks, sink, err);
	vpa_rank_blocks_free(&blocks);
	sink->finish(sink, !rc && out, NULL);
	if (!rc && out)
		*out = bytes;
	return rc;
}

static int run_file(struct vpt_err *err)
{
	struct vpa_rank_list list = {.count = 0};
	int rc = unpack(&list, err);

	if (!rc)
		rc = pack(&list, NULL, err);
	assert_true(rc || list.count == 2);
	vpa_rank_list_free(&list);
	return rc;
}

static void a_report_of_ranks_survives_each_failed_allocation(void **state)
{
	(void)state;
	vpt_fail_each_allocation(run_report);
}

static void changes_of_ranks_survive_each_failed_allocation(void **state)
{
	(void)state;
	vpt_fail_each_allocation(run_changes);
}

static void a_summary_of_ranks_survives_each_failed_allocation(void **state)
{
	(void)state;
	vpt_fail_each_allocation(run_file);
}

static int begin(void **state)
{
	static const char *const names[] = {"a.zst", "b.zst"};
	const struct vpa_options options = {.jobs = 1};
	struct vpa_rank_list list = {.count = 0};
	struct vpt_err err;
	unsigned i;
	int rc = 0;

	(void)state;
	for (i = 0; i < 2 && !rc; i++) {
		struct vpt_trace *trace = scripted(i);

		rc = vpa_ranks_read(trace, names[i], &options, &list, NULL, &err);
		vpt_trace_close(trace);
	}
	rc = rc ? rc : pack(&list, &packed, &err);
	vpa_rank_list_free(&list);
	return rc;
}

static int end(void **state)
{
	(void)state;
	vpt_free(packed.data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_of_ranks_survives_each_failed_allocation),
		cmocka_unit_test(changes_of_ranks_survive_each_failed_allocation),
		cmocka_unit_test(a_summary_of_ranks_survives_each_failed_allocation),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
