/* test_change.c - what changes mean, and what is refused with which words. */
#include "analysis/retime/replay/change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/names/families.h"
#include "formats/base/count.h"
#include "formats/event_schema.h"
#include "tests/support/random.h"

/* 200 bytes: one more than a name may have. */
#define FIFTY "01234567890123456789012345678901234567890123456789"
#define LONG  FIFTY FIFTY FIFTY FIFTY

static const struct {
	const char *text;
	struct vpa_change is;
} good[] = {
	{"drop syncs", {VPA_CHANGE_DROP, VPA_WHAT_SYNCS, "syncs", .factor = 1}},
	{"drop launches", {VPA_CHANGE_DROP, VPA_WHAT_LAUNCHES, "launches", .factor = 1}},
	{"drop copies in step 1",
		{VPA_CHANGE_DROP, VPA_WHAT_COPIES, "copies", "step 1", .factor = 1}},
	{"drop cudaMemcpy*", {VPA_CHANGE_DROP, VPA_WHAT_CALLS, "cudaMemcpy*", .factor = 1}},
	{"drop small-reads in decode in chunks",
		{VPA_CHANGE_DROP, VPA_WHAT_SMALL_READS, "small-reads", "decode in chunks",
			.factor = 1}},
	{"  drop   syncs   in   step 1  ",
		{VPA_CHANGE_DROP, VPA_WHAT_SYNCS, "syncs", "step 1", .factor = 1}},
	{"drop syncs under 100us in a",
		{VPA_CHANGE_DROP, VPA_WHAT_SYNCS, "syncs", "a", .most_ns = 100000, .factor = 1}},
	{"drop syncs over 2ms",
		{VPA_CHANGE_DROP, VPA_WHAT_SYNCS, "syncs", .least_ns = 2000000, .factor = 1}},
	{"delete small-reads",
		{VPA_CHANGE_DELETE, VPA_WHAT_SMALL_READS, "small-reads", .factor = 1}},
	{"delete copies", {VPA_CHANGE_DELETE, VPA_WHAT_COPIES, "copies", .factor = 1}},
	{"delete copies HtoD in x", {VPA_CHANGE_DELETE, VPA_WHAT_COPY_KIND, "copies", "x",
					    .factor = 1, .number = VPT_COPYKIND_HTOD}},
	{"host 0", {VPA_CHANGE_HOST, .factor = 0}},
	{"host 0.5 in block 3", {VPA_CHANGE_HOST, .place = "block 3", .factor = 0.5}},
	{"host 1000", {VPA_CHANGE_HOST, .factor = 1000}},
	{"host 0 over 100us", {VPA_CHANGE_HOST, .least_ns = 100000, .factor = 0}},
	{"host 2 under 1ms in x", {VPA_CHANGE_HOST, .place = "x", .most_ns = 1000000, .factor = 2}},
	{"host 0 over 100us under 1ms", {VPA_CHANGE_HOST, .least_ns = 100000, .most_ns = 1000000}},
	{"host 0 under 1ms over 100us after syncs",
		{VPA_CHANGE_HOST_AFTER, VPA_WHAT_SYNCS, "syncs", .least_ns = 100000,
			.most_ns = 1000000}},
	{"host 0.5 per launch", {VPA_CHANGE_HOST, .per_launch = 1, .factor = 0.5}},
	{"host 0 per launch on 12 in x",
		{VPA_CHANGE_HOST, .place = "x", .thread = "12", .per_launch = 1}},
	{"delete allocations in x",
		{VPA_CHANGE_DELETE, VPA_WHAT_ALLOCATIONS, "allocations", "x", .factor = 1}},
	{"delete graph-builds", {VPA_CHANGE_DELETE, VPA_WHAT_BUILDS, "graph-builds", .factor = 1}},
	{"delete adapters in x",
		{VPA_CHANGE_DELETE, VPA_WHAT_ADAPTERS, "adapters", "x", .factor = 1}},
	{"delete unpacking", {VPA_CHANGE_DELETE, VPA_WHAT_UNPACKING, "unpacking", .factor = 1}},
	{"delete reductions", {VPA_CHANGE_DELETE, VPA_WHAT_REDUCTIONS, "reductions", .factor = 1}},
	{"delete recomputation",
		{VPA_CHANGE_DELETE, VPA_WHAT_RECOMPUTED, "recomputation", .factor = 1}},
	{"drop stops in x", {VPA_CHANGE_DROP, VPA_WHAT_STOPS, "stops", "x", .factor = 1}},
	{"drop stops every 100ms from 41210us",
		{VPA_CHANGE_DROP, VPA_WHAT_STOPS, "stops", .stops = {100000000, 41210000},
			.factor = 1}},
	{"drop loads", {VPA_CHANGE_DROP, VPA_WHAT_LOADS, "loads", .factor = 1}},
	{"host 0 after small-reads",
		{VPA_CHANGE_HOST_AFTER, VPA_WHAT_SMALL_READS, "small-reads", .factor = 0}},
	{"host 0.25 after cudaMalloc in x",
		{VPA_CHANGE_HOST_AFTER, VPA_WHAT_CALLS, "cudaMalloc", "x", .factor = 0.25}},
	{"scale gemm 0.5", {VPA_CHANGE_SCALE, VPA_WHAT_FAMILY, "gemm", .factor = 0.5,
				   .number = VPA_FAMILY_GEMM}},
	{"scale HtoD 0 in x", {VPA_CHANGE_SCALE, VPA_WHAT_COPY_KIND, "HtoD", "x", .factor = 0,
				      .number = VPT_COPYKIND_HTOD}},
	{"scale void k<float, 4>(int *) 2 in step",
		{VPA_CHANGE_SCALE, VPA_WHAT_KERNELS, "void k<float, 4>(int *)", "step",
			.factor = 2}},
	{"scale copy in place 2 in decode in chunks",
		{VPA_CHANGE_SCALE, VPA_WHAT_KERNELS, "copy in place", "decode in chunks",
			.factor = 2}},
	{"scale my kernel  1e-3 ",
		{VPA_CHANGE_SCALE, VPA_WHAT_KERNELS, "my kernel", .factor = 1e-3}},
	{"scale * 0.72 on GPU 2 in x",
		{VPA_CHANGE_SCALE, VPA_WHAT_KERNELS, "*", "x", .on_gpu = 3, .factor = 0.72}},
	{"scale work on tiles 2 on gpu 0",
		{VPA_CHANGE_SCALE, VPA_WHAT_KERNELS, "work on tiles", .on_gpu = 1, .factor = 2}},
	{"rate HtoD 25",
		{VPA_CHANGE_RATE, VPA_WHAT_COPY_KIND, .factor = 25, .number = VPT_COPYKIND_HTOD}},
	{"rate memset 1e6 in x", {VPA_CHANGE_RATE, VPA_WHAT_COPY_KIND, .place = "x", .factor = 1e6,
					 .number = VPT_COPYKIND_MEMSET}},
	{"pin DtoH",
		{VPA_CHANGE_PIN, VPA_WHAT_COPY_KIND, .factor = 0, .number = VPT_COPYKIND_DTOH}},
	{"pin DtoH 12.5 in to_host", {VPA_CHANGE_PIN, VPA_WHAT_COPY_KIND, .place = "to_host",
					     .factor = 12.5, .number = VPT_COPYKIND_DTOH}},
	{"aside vae decode", {VPA_CHANGE_ASIDE, .place = "vae decode", .factor = 1}},
	{"aside @(vae_decode|to_host)",
		{VPA_CHANGE_ASIDE, .place = "@(vae_decode|to_host)", .factor = 1}},
	{"aside time in queue", {VPA_CHANGE_ASIDE, .place = "time in queue", .factor = 1}},
	{"graph step*", {VPA_CHANGE_GRAPH, .place = "step*", .factor = 1}},
	{"graph context pass each block*",
		{VPA_CHANGE_GRAPH, .place = "context pass", .outer = "block*", .factor = 1}},
	{"skip 1/1 text", {VPA_CHANGE_SKIP, .place = "text", .factor = 1, .number = 1}},
	{"skip 1/4 step*", {VPA_CHANGE_SKIP, .place = "step*", .factor = 1, .number = 4}},
	{"steps 3 step*", {VPA_CHANGE_STEPS, .place = "step*", .factor = 1, .number = 3}},
	{"host 0.5 on main", {VPA_CHANGE_HOST, .factor = 0.5, .thread = "main"}},
	{"host 0 over 1ms on my thread in step 1",
		{VPA_CHANGE_HOST, .place = "step 1", .thread = "my thread", .least_ns = 1000000,
			.factor = 0}},
	{"host 2 after syncs on 77",
		{VPA_CHANGE_HOST_AFTER, VPA_WHAT_SYNCS, "syncs", .thread = "77", .factor = 2}},
	{"host 0 at wan/model.py:212", {VPA_CHANGE_HOST, .line = "wan/model.py:212", .factor = 0}},
	{"host 0.1 under 5ms at a b.py:7 on t in x",
		{VPA_CHANGE_HOST, .place = "x", .line = "a b.py:7", .thread = "t",
			.most_ns = 5000000, .factor = 0.1}},
	{"skip 1/1000 a b", {VPA_CHANGE_SKIP, .place = "a b", .factor = 1, .number = 1000}},
};

static void test_good(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good); i++) {
		struct vpa_change c;
		struct vpt_err err = {0};

		if (vpa_change_read(good[i].text, &c, &err))
			fail_msg("%s: %s", good[i].text, err.text);
		if (c.kind != good[i].is.kind || c.what != good[i].is.what ||
			strcmp(c.name, good[i].is.name) != 0 ||
			strcmp(c.place, good[i].is.place) != 0 ||
			strcmp(c.outer, good[i].is.outer) != 0 ||
			strcmp(c.thread, good[i].is.thread) != 0 ||
			strcmp(c.line, good[i].is.line) != 0 || c.number != good[i].is.number ||
			c.on_gpu != good[i].is.on_gpu ||
			c.stops.every_ns != good[i].is.stops.every_ns ||
			c.stops.from_ns != good[i].is.stops.from_ns ||
			c.least_ns != good[i].is.least_ns || c.most_ns != good[i].is.most_ns ||
			c.factor < good[i].is.factor || c.factor > good[i].is.factor)
			fail_msg("%s: kind %d what %d name \"%s\" place \"%s\" outer \"%s\" number "
				 "%u "
				 "factor %g",
				good[i].text, (int)c.kind, (int)c.what, c.name, c.place, c.outer,
				c.number, c.factor);
	}
}

static const struct {
	const char *text, *expected;
} bad[] = {
	{"", "drop, delete, host, scale, rate, pin, aside, graph, skip or steps"},
	{"   ", "drop, delete, host, scale, rate, pin, aside, graph, skip or steps"},
	{"Drop syncs", "drop, delete, host"},
	{"dropsyncs", "drop, delete, host"},
	{LONG, "drop, delete, host"},
	{LONG LONG LONG, "a shorter text"},
	{"drop", "the name of a CUDA call, syncs, launches, copies, small-reads, allocations, "
		 "loads, "
		 "graph-builds, adapters, unpacking, reductions, recomputation or stops"},
	{"drop in x", "drop CALL"},
	{"drop " LONG, "the name of a CUDA call"},
	{"drop syncs in", "drop CALL"},
	{"drop syncs in " LONG, "drop CALL"},
	{"drop syncs here", "drop CALL"},
	{"drop syncs under", "over or under and a time"},
	{"drop syncs under 0us", "over or under and a time"},
	{"drop syncs under five", "over or under and a time"},
	{"drop syncs under 5us x", "drop CALL"},
	{"drop stops under 5ms", "drop stops [every TIME from TIME]"},
	{"drop stops every 0us from 1us", "drop stops [every TIME from TIME]"},
	{"drop stops every 100ms", "drop stops [every TIME from TIME]"},
	{"drop stops every 100ms from 1us x", "drop stops [every TIME from TIME]"},
	{"delete", "the name of a CUDA call"},
	{"delete copies up", "a kind of copy, such as HtoD or DtoH"},
	{"delete cudaMalloc HtoD", "delete small-reads|CALL|copies KIND [in PLACE]"},
	{"host", "a factor from 0 to 1000"},
	{"host x", "a factor from 0 to 1000"},
	{"host -1", "a factor from 0 to 1000"},
	{"host 1001", "a factor from 0 to 1000"},
	{"host nan", "a factor from 0 to 1000"},
	{"host inf", "a factor from 0 to 1000"},
	{"host 0.5x", "a factor from 0 to 1000"},
	{"host 0 before x", "host X"},
	{"host 0 after", "the name of a CUDA call"},
	{"host 0 after syncs x", "host X"},
	{"host 0 after syncs over 1us", "host X"},
	{"host 0 over 1us x", "host X"},
	{"host 0 per", "host X"},
	{"host 0 per call", "host X"},
	{"host 0 per launch x", "host X"},
	{"host 0 over 1us per launch", "host X"},
	{"host 0 per launch after syncs", "host X"},
	{"scale", "scale FAMILY|KERNEL|KIND X"},
	{"scale gemm", "scale FAMILY|KERNEL|KIND X"},
	{"scale gemm 2 on 1", "on GPU N"},
	{"scale gemm 2 on GPU", "on GPU N"},
	{"scale gemm 2 on GPU x", "on GPU N"},
	{"scale gemm 2 on GPU 1234567", "on GPU N"},
	{"scale 2", "scale FAMILY|KERNEL|KIND X"},
	{"scale gemm in x", "a factor from 0 to 1000"},
	{"scale gemm -2", "a factor from 0 to 1000"},
	{"scale " LONG " 2", "scale FAMILY|KERNEL|KIND X"},
	{"rate", "a kind of copy"},
	{"rate HtoD", "rate KIND GB/s"},
	{"rate HtoD 0", "a rate above 0 GB/s"},
	{"rate HtoD fast", "rate KIND GB/s"},
	{"rate HtoD 25 GB/s", "rate KIND GB/s [in PLACE]"},
	{"pin", "a kind of copy"},
	{"pin HtoD 0", "a rate above 0 GB/s"},
	{"pin HtoD fast", "pin KIND [GB/s]"},
	{"pin HtoD 25 30", "pin KIND [GB/s] [in PLACE]"},
	{"aside", "aside PLACE, the name of a range"},
	{"aside " LONG, "aside PLACE, the name of a range"},
	{"graph", "graph PLACE [each OUTER]"},
	{"graph " LONG, "graph PLACE [each OUTER]"},
	{"graph a each " LONG, "graph PLACE [each OUTER]"},
	{"host 0 at model.py", "host X at FILE:LINE"},
	{"host 0 at :12", "host X at FILE:LINE"},
	{"host 0 at model.py:", "host X at FILE:LINE"},
	{"host 0 at model.py:12x", "host X at FILE:LINE"},
	{"steps", "steps N PLACE, with N from 1 to 100000"},
	{"steps 0 x", "steps N PLACE"},
	{"steps -1 x", "steps N PLACE"},
	{"steps 1.5 x", "steps N PLACE"},
	{"steps 4", "steps N PLACE"},
	{"steps 100001 x", "steps N PLACE"},
	{"skip", "skip 1/N PLACE, with N from 1 to 1000"},
	{"skip 1/4", "skip 1/N PLACE"},
	{"skip 1/0 x", "skip 1/N PLACE"},
	{"skip 1/1001 x", "skip 1/N PLACE"},
	{"skip 2/4 x", "skip 1/N PLACE"},
	{"skip 1/+4 x", "skip 1/N PLACE"},
	{"skip 1/4x x", "skip 1/N PLACE"},
	{"skip 1/99999999999999999999 x", "skip 1/N PLACE"},
};

static void test_bad(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		struct vpa_change c;
		struct vpt_err err = {0};
		int rc = vpa_change_read(bad[i].text, &c, &err);

		if (rc != VPT_EINVAL || strncmp(err.text, "change \"", 8) != 0 ||
			!strstr(err.text, ": expected ") ||
			!strstr(strstr(err.text, ": expected "), bad[i].expected))
			fail_msg("\"%s\": %d %s", bad[i].text, rc, err.text);
	}
}

/* Words of changes, and any bytes between them. */
static void test_random(void **state)
{
	static const char *const words[] = {"drop", "delete", "host", "scale", "rate", "pin",
		"aside", "graph", "skip", "steps", " on ", " at ", "a.py:1", " ", " in ", " each ",
		" after ", "syncs", "copies", "small-reads", "HtoD", "1/2", "0.5", "under", "over",
		"1us", "gemm", LONG};
	struct vpt_random random = {34};
	char text[1024];
	size_t read = 0;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		size_t used = 0, parts = 1 + vpt_random_below(&random, 8);
		struct vpa_change c;
		struct vpt_err err = {0};
		int rc;

		while (parts--) {
			const char *word = words[vpt_random_below(&random, COUNT(words))];

			if (vpt_random_below(&random, 8))
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					word, vpt_random_below(&random, 8) ? " " : "");
			else
				text[used++] = (char)(1 + vpt_random_below(&random, 255));
			if (used + sizeof(LONG) + 2 > sizeof(text))
				break;
		}
		text[used] = '\0';
		rc = vpa_change_read(text, &c, &err);
		assert_true(
			rc ? rc == VPT_EINVAL && err.text[0] : c.factor >= 0 && c.factor <= 1e6);
		assert_non_null(memchr(c.name, 0, sizeof(c.name)));
		assert_non_null(memchr(c.place, 0, sizeof(c.place)));
		assert_non_null(memchr(c.outer, 0, sizeof(c.outer)));
		read += !rc;
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
