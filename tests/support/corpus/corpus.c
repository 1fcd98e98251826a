/* corpus.c - each file of tests/corpus: what it is there to show, and how it is made. More of them stand in corpus_hostile.c
 * and corpus_foreign.c.
 *
 * Everything is made from nothing, so that the files can be made again when the format grows; nothing in
 * here is random. Payloads come from hand.c where the writer would refuse to write them.
 * Long, since each file is one entry of one list. */
#include "tests/support/corpus/corpus.h"

#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/chunk/chunk.h"
#include "formats/file/capture_writer.h"
#include "tests/support/corpus/corpus_lists.h"
#include "tests/support/traces/hand.h"
#include "tests/support/traces/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void from_script(struct vpt_buffer *file, const char *script)
{
	if (vpt_script_bytes(script, file, NULL))
		abort();
}

static void header(struct vpt_buffer *file)
{
	vpt_hand_header(file, VPT_MAJOR, VPT_MINOR, 1000);
}

/* Closes the payload and appends it as a frame. */
static void end_chunk(struct vpt_buffer *file, struct vpt_buffer *payload)
{
	vpt_hand_chunk_end(payload);
	vpt_hand_frame(file, payload->data, payload->size, VPT_CHUNK_HEADER_SIZE);
	vpt_free(payload->data);
	*payload = (struct vpt_buffer){0};
}

static void plain_chunk(struct vpt_buffer *file, uint64_t start)
{
	struct vpt_buffer p = {0};
	size_t s;

	vpt_hand_chunk(&p);
	vpt_le_put((unsigned char *)p.data + 24, 8, start);
	vpt_le_put((unsigned char *)p.data + 32, 8, start + 50);
	s = vpt_hand_section(&p, VPT_KERNEL, 0, 2, 1);
	vpt_hand_column(&p, s, 1, VPT_ENC_GAP, 1, 0, start, "\0\24", 2);
	vpt_hand_column(&p, s, 2, VPT_ENC_PLAIN, 0, 0, 20, NULL, 0);
	vpt_hand_section_end(&p, s);
	end_chunk(file, &p);
}

/* ---- good ---- */

static void empty_capture(struct vpt_buffer *file)
{
	header(file);
}

static void small(struct vpt_buffer *file)
{
	from_script(file, "start 1000 unix 1700000000000000000\n"
			  "device 0 \"Sim GPU\" cc 9.0 sms 132 memory 80GiB simulated\n"
			  "meta command \"python sample.py\"\n"
			  "thread main pid 1 tid 100 \"main\"\n"
			  "stream s7 device 0 context 1 stream 7\n"
			  "call main cudaMemcpyAsync 1000-1010 corr 1\n"
			  "copy s7 HtoD pinned->device 1020-1120 corr 1 bytes 4096 async\n"
			  "call main cudaLaunchKernel 1020-1030 corr 2\n"
			  "kernel s7 1130-1400 corr 2 \"flash_fwd_kernel\" grid 132 block 128 "
			  "shared 200KiB regs 168\n"
			  "call main cudaLaunchKernel 1040-1050 corr 3\n"
			  "kernel s7 1400-1500 corr 3 \"gemm\" grid 8x4 block 256\n"
			  "call main cudaStreamSynchronize 1060-1510 corr 4\n"
			  "sync s7 stream 1060-1510 corr 4 waits s7 context 1\n"
			  "range main 1015-1055 \"block 0\"\n"
			  "range main 1001-1520 \"step 0\" int 0\n"
			  "end 2000\n");
}

/* One row of every kind, each column with a number of its own, twice. */
static void every_kind(struct vpt_buffer *file)
{
	struct vpt_header h = {.t0_ns = 1000, .t0_unix_ns = 2000, .capture_id = 3, .pid = 4};
	const struct vpt_frame outer = {1, 1, 2}, inner = {1, 1, 3};
	struct vpt_sink *sink;
	struct vpt_writer *w;
	struct vpt_batch b;
	unsigned type, c;

	vpt_batch_init(&b);
	vpt_batch_string(&b, "a name", 6);
	vpt_batch_stack(&b, vpt_batch_stack(&b, 0, vpt_batch_frame(&b, &outer)),
		vpt_batch_frame(&b, &inner));
	for (type = 1; type < VPT_KIND_LIMIT; type++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(type);
		uint64_t row[VPT_COLUMNS_MAX];

		if (!kind || type == VPT_STRING || type == VPT_FRAME || type == VPT_STACK)
			continue;
		for (c = 0; c < kind->n_columns; c++)
			row[c] = kind->columns[c].unit == VPT_UNIT_TIME_NS  ? 5000 + type * 10
				 : kind->columns[c].unit == VPT_UNIT_STRING ? 1
				 : kind->columns[c].unit == VPT_UNIT_CONFIG ? 0
				 : kind->columns[c].unit == VPT_UNIT_STACK  ? 2
									    : c + 1;
		vpt_batch_put(&b, type, kind->lanes == VPT_LANES_NONE ? 0 : 1, row);
		row[0]++;
		vpt_batch_put(&b, type, kind->lanes == VPT_LANES_NONE ? 0 : 1, row);
	}
	b.flags = VPT_BATCH_LAST;
	if (vpt_sink_memory(file, &sink, NULL) || vpt_writer_open(sink, &h, 0, &w, NULL) ||
		vpt_writer_put(w, &b, NULL) || sink->finish(sink, 1, NULL))
		abort();
	vpt_writer_free(w);
	vpt_batch_free(&b);
}

static void many_chunks(struct vpt_buffer *file)
{
	vpt_hand_capture(file, 42, 4, 120, NULL);
}

/* Random durations do not compress, so the first block of this frame is all of it. */
static void one_block(struct vpt_buffer *file)
{
	enum { ROWS = 1024 };
	struct vpt_random r = {11};
	struct vpt_buffer p = {0};
	unsigned char durations[ROWS];
	uint64_t end = 2000;
	size_t s, i;

	header(file);
	for (i = 0; i < ROWS; i++) {
		durations[i] = (unsigned char)vpt_random(&r);
		end += 20 + durations[i];
	}
	vpt_hand_chunk(&p);
	vpt_le_put((unsigned char *)p.data + 12, 4, ROWS);
	vpt_le_put((unsigned char *)p.data + 24, 8, 2000);
	vpt_le_put((unsigned char *)p.data + 32, 8, end);
	s = vpt_hand_section(&p, VPT_KERNEL, 0, ROWS, 1);
	vpt_hand_column(&p, s, 1, VPT_ENC_GAP, 0, 0, 2000, NULL, 0);
	vpt_hand_column(&p, s, 2, VPT_ENC_PLAIN, 1, 0, 20, durations, ROWS);
	vpt_hand_section_end(&p, s);
	vpt_hand_chunk_end(&p);
	vpt_hand_frame(file, p.data, p.size, p.size);
	vpt_free(p.data);
}

static void skippable(struct vpt_buffer *file)
{
	vpt_hand_skippable(file, 16, 16);
	header(file);
	vpt_hand_skippable(file, 0, 0);
	plain_chunk(file, 2000);
	plain_chunk(file, 3000);
	vpt_hand_skippable(file, 300, 300);
}

static void unknown_parts(struct vpt_buffer *file)
{
	struct vpt_buffer p = {0};
	size_t s;

	vpt_hand_header(file, VPT_MAJOR, VPT_MINOR + 7, 1000);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, 40, 0, 3, 1);
	vpt_hand_column(&p, s, 1, 9, 1, 0, 0, "abc", 3);
	vpt_hand_section_end(&p, s);
	s = vpt_hand_section(&p, VPT_KERNEL, 0, 1, 1);
	vpt_hand_column(&p, s, 200, VPT_ENC_PLAIN, 0, 0, 5, NULL, 0);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 0, 0, 2000, NULL, 0);
	vpt_hand_column(&p, s, 2, VPT_ENC_PLAIN, 0, 0, 10, NULL, 0);
	vpt_hand_section_end(&p, s);
	end_chunk(file, &p);
}

static void killed(struct vpt_buffer *file)
{
	from_script(file,
		"start 1000; range t1 1010-1500 \"step 0\"; kernel s7 1020-1400 \"k\" corr 1\n"
		"open t1 1600 \"block 1\"; open t1 1700 \"step 1\"; chunk 1800\n"
		"kernel s7 1750-1790 \"k\" corr 2; killed\n");
}

static void samples(struct vpt_buffer *file)
{
	from_script(file,
		"start 1000; thread main pid 1 tid 100 \"main\"; thread loader pid 1 tid 101\n"
		"call main cudaLaunchKernel 1010-1015 corr 1; kernel s7 1020-1400 \"k\" corr 1\n"
		"sample main 1100 \"<module> (run.py:3);step (wan/model.py:40)\" state running "
		"cpu_us 90\n"
		"sample main 1200 \"<module> (run.py:3);step (wan/model.py:41);item\" state "
		"sleeping\n"
		"sample loader 1200 \"_bootstrap (threading.py:890)\" state \"waiting for a CPU\" "
		"wait_us 7\n"
		"sample loader 1300\n"
		"sample main 1300 \"<module> (run.py:3);step (wan/model.py:40)\" flags 3\n"
		"chunk 1500\n"
		"sample main 1600 \"<module> (run.py:3);save (wan/model.py:70)\" state "
		"uninterruptible\n"
		"end 2000\n");
}

static void hostile_names(struct vpt_buffer *file)
{
	from_script(file,
		"start 1000; meta \"</script><script>alert(1)</script>\" \"=cmd|' /C calc'!A0\"\n"
		"device 0 \"\\x1b]0;title\\x07\" cc 9.0 sms 1; thread m pid 1 tid 1 \"../../x\"\n"
		"range m 1001-1100 \"\\\"><img src=x onerror=alert(1)>\"; range m 1001-1101 "
		"\"\\xe2\\x80\\xa8\"\n"
		"range m 1001-1102 \"nul \\x00 inside\"; range m 1001-1103 \"\\xff\\xfe not UTF-8 "
		"\\xc0\\x80\"\n"
		"range m 1001-1104 \"line\\nbreak, comma, \\\"quote\\\"\"; range m 1001-1105 "
		"\"\\x1b[31mred\"\n"
		"range m 1001-1106 \"\\xed\\xa0\\x80 half a pair\"; range m 1001-1107 \"+1-1\"\n"
		"kernel s7 1010-1020 \"_Z</script>\" corr 1; kernel s7 1030-1040 \"\" corr 2\n"
		"range m 1001-1108 \"x\" json \"{\\\"k\\\": [[[\"; end 1200\n");
}

/* ---- bad: damage ---- */

static void checksum(struct vpt_buffer *file)
{
	header(file);
	plain_chunk(file, 2000);
	file->data[file->size - 2] = (char)(file->data[file->size - 2] ^ 16);
	plain_chunk(file, 3000);
}

static void garbage(struct vpt_buffer *file)
{
	header(file);
	plain_chunk(file, 2000);
	vpt_hand_fill(file, 0x28, 99);
	plain_chunk(file, 3000);
	vpt_hand_put(file, "\x28\xb5\x2f\xfd", 4);
	plain_chunk(file, 4000);
	vpt_hand_fill(file, 0, 50);
}

static void torn(struct vpt_buffer *file)
{
	many_chunks(file);
	file->size -= 700;
}

static void no_header(struct vpt_buffer *file)
{
	plain_chunk(file, 2000);
	plain_chunk(file, 3000);
}

static void start_after_all(struct vpt_buffer *file)
{
	vpt_hand_header(file, VPT_MAJOR, VPT_MINOR, 3050);
	plain_chunk(file, 3000);
	plain_chunk(file, 2000);
}

static void start_at_the_end_of_time(struct vpt_buffer *file)
{
	vpt_hand_header(file, VPT_MAJOR, VPT_MINOR, UINT64_MAX);
	plain_chunk(file, 2000);
}

static void torn_header(struct vpt_buffer *file)
{
	header(file);
	file->size -= 5;
}

static void joined(struct vpt_buffer *file)
{
	header(file);
	plain_chunk(file, 2000);
	header(file);
	plain_chunk(file, 1500);
}

static void version(struct vpt_buffer *file)
{
	vpt_hand_header(file, VPT_MAJOR + 1, 0, 1000);
	plain_chunk(file, 2000);
}

static void critical(struct vpt_buffer *file)
{
	struct vpt_buffer p = {0};
	size_t s;

	header(file);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, 40, 1, 3, 1);
	vpt_hand_section_end(&p, s);
	s = vpt_hand_section(&p, VPT_KERNEL, 0, 3, 1);
	vpt_hand_column(&p, s, 99, VPT_ENC_PLAIN, 0, 1, 5, NULL, 0);
	vpt_hand_section_end(&p, s);
	end_chunk(file, &p);
}

/* ---- bad: lies ---- */

/* A frame by hand with one stored chunk of nothing, and a header of the given bytes. */
static void odd_frame(struct vpt_buffer *file, const char *head, size_t size)
{
	struct vpt_buffer p = {0};

	header(file);
	vpt_hand_chunk(&p);
	vpt_hand_le(file, 4, 0xfd2fb528);
	vpt_hand_put(file, head, size);
	vpt_hand_le(file, 3, p.size << 3 | 1);
	vpt_hand_put(file, p.data, p.size);
	vpt_free(p.data);
	plain_chunk(file, 2000);
}

static void window_log(struct vpt_buffer *file)
{
	odd_frame(file, "\x80\xa8\x30\0\0\0", 6);
}

static void content_size(struct vpt_buffer *file)
{
	odd_frame(file, "\xa0\xff\xff\xff\xff", 5);
}

static void lying_size(struct vpt_buffer *file)
{
	odd_frame(file, "\xa0\0\0\0\1", 5);
}

static void dictionary(struct vpt_buffer *file)
{
	odd_frame(file, "\x21\7\x30", 3);
}

static void long_skippable(struct vpt_buffer *file)
{
	header(file);
	plain_chunk(file, 2000);
	vpt_hand_skippable(file, UINT32_MAX, 10);
	plain_chunk(file, 3000);
}

static void bomb(struct vpt_buffer *file)
{
	const uint32_t strings = 255;
	struct vpt_buffer p = {0};
	size_t s, t;

	header(file);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, VPT_STRING, 0, strings, 0);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 0, 0, VPT_STRING_MAX, NULL, 0);
	t = vpt_hand_column(&p, s, 2, VPT_ENC_BYTES, 0, 0, 0, NULL, 0);
	vpt_hand_fill(&p, 'a', (size_t)strings * VPT_STRING_MAX);
	vpt_le_put((unsigned char *)p.data + t + 4, 4, (uint64_t)strings * VPT_STRING_MAX);
	vpt_hand_section_end(&p, s);
	end_chunk(file, &p);
}

static void rows_of_nothing(struct vpt_buffer *file)
{
	struct vpt_buffer p = {0};
	size_t s, i;

	header(file);
	vpt_hand_chunk(&p);
	for (i = 0; i < VPT_SECTIONS_MAX; i++) {
		s = vpt_hand_section(&p, VPT_CONFIG, 0, VPT_ROWS_MAX, i);
		vpt_hand_section_end(&p, s);
	}
	end_chunk(file, &p);
}

static void wild_ids(struct vpt_buffer *file)
{
	static const struct {
		unsigned kind, column;
		uint64_t value;
	} wild[] = {{VPT_RANGE, 5, 0xffffffff}, {VPT_RANGE, 6, UINT64_MAX},
		{VPT_KERNEL, 3, 0xffffffff}, {VPT_CALL, 3, 0x100000001}, {VPT_CALL, 4, 77},
		{VPT_COPY, 3, UINT64_MAX}, {VPT_COPY, 4, 1000}, {VPT_LANE, 10, 5},
		{VPT_CONFIG, 1, 1u << 31}, {VPT_SYNC, 6, 12345}, {VPT_DEVICE, 2, 9},
		{VPT_META, 2, 9}, {VPT_OPEN, 3, 9}, {VPT_LOSS, 3, 99}, {VPT_FRAME, 1, UINT64_MAX},
		{VPT_FRAME, 2, 9}, {VPT_STACK, 2, UINT64_MAX}, {VPT_SAMPLE, 2, UINT64_MAX},
		{VPT_SAMPLE, 2, 1}, {VPT_SAMPLE, 3, 77}};
	struct vpt_buffer p = {0};
	size_t s, i;

	header(file);
	vpt_hand_chunk(&p);
	for (i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		const struct vpt_kind_desc *kind = vpt_kind_desc(wild[i].kind);

		s = vpt_hand_section(&p, wild[i].kind, 0, 2, 1);
		if (wild[i].column != kind->columns[0].id && wild[i].kind != VPT_STACK)
			vpt_hand_column(
				&p, s, kind->columns[0].id, VPT_ENC_PLAIN, 0, 0, 2000, NULL, 0);
		vpt_hand_column(&p, s, wild[i].column, VPT_ENC_PLAIN, 0, 0, wild[i].value, NULL, 0);
		vpt_hand_section_end(&p, s);
	}
	end_chunk(file, &p);
}

/* Kernels in a chunk that has no CONFIG at all, and no strings. */
static void no_tables(struct vpt_buffer *file)
{
	struct vpt_buffer p = {0};
	size_t s;

	header(file);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, VPT_KERNEL, 7, 2, 2);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 0, 0, 2000, NULL, 0);
	vpt_hand_column(&p, s, 2, VPT_ENC_PLAIN, 0, 0, 10, NULL, 0);
	vpt_hand_section_end(&p, s);
	end_chunk(file, &p);
}

/* Stacks whose callers are given as bytes, between two good chunks. Each frame is the same one. */
static void stacks_of(struct vpt_buffer *file, uint32_t rows, const char *callers, uint64_t base)
{
	struct vpt_buffer p = {0};
	size_t s;

	header(file);
	plain_chunk(file, 2000);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, VPT_STACK, 0, rows, 0);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 1, 0, base, callers, rows);
	vpt_hand_section_end(&p, s);
	end_chunk(file, &p);
	plain_chunk(file, 3000);
}

static void stack_of_itself(struct vpt_buffer *file)
{
	stacks_of(file, 4, "\0\0\1\3", 0);
}

static void stacks_in_a_circle(struct vpt_buffer *file)
{
	stacks_of(file, 4, "\0\2\3\1", 0);
}

static void stack_beyond(struct vpt_buffer *file)
{
	stacks_of(file, 2, "\0\1", UINT64_MAX);
}

static void stacks_twice(struct vpt_buffer *file)
{
	struct vpt_buffer p = {0};
	size_t s, i;

	header(file);
	plain_chunk(file, 2000);
	vpt_hand_chunk(&p);
	for (i = 0; i < 2; i++) {
		s = vpt_hand_section(&p, VPT_STACK, 0, 2, i);
		vpt_hand_section_end(&p, s);
	}
	end_chunk(file, &p);
	plain_chunk(file, 3000);
}

/* A chain of `depth` frames of one name of 64 KiB, and two samples that end it. */
static void deep_stack(struct vpt_buffer *file, uint32_t depth)
{
	struct vpt_buffer p = {0};
	char *callers = vpt_alloc(depth + 1, 1), *name = vpt_alloc(VPT_STRING_MAX, 1);
	size_t s;

	header(file);
	plain_chunk(file, 2000);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, VPT_STRING, 0, 1, 0);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 0, 0, VPT_STRING_MAX, NULL, 0);
	memset(name, 'f', VPT_STRING_MAX);
	vpt_hand_column(&p, s, 2, VPT_ENC_BYTES, 0, 0, 0, name, VPT_STRING_MAX);
	vpt_hand_section_end(&p, s);
	s = vpt_hand_section(&p, VPT_FRAME, 0, 1, 0);
	vpt_hand_section_end(&p, s);
	s = vpt_hand_section(&p, VPT_STACK, 0, depth + 1, 0);
	memset(callers, 2, depth + 1);
	callers[0] = callers[1] = 0;
	vpt_hand_column(&p, s, 1, VPT_ENC_DELTA, 1, 0, 0, callers, depth + 1);
	vpt_hand_section_end(&p, s);
	s = vpt_hand_section(&p, VPT_SAMPLE, 0, 2, 1);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 0, 0, 2500, NULL, 0);
	vpt_hand_column(&p, s, 2, VPT_ENC_PLAIN, 0, 0, depth, NULL, 0);
	vpt_hand_section_end(&p, s);
	vpt_free(callers);
	vpt_free(name);
	end_chunk(file, &p);
	plain_chunk(file, 3000);
}

static void stack_of_64_mib(struct vpt_buffer *file)
{
	deep_stack(file, VPT_STACK_DEPTH_MAX);
}

static void stack_too_deep(struct vpt_buffer *file)
{
	deep_stack(file, VPT_STACK_DEPTH_MAX + 1);
}

/* A field of a chunk is changed: offset in the payload, size, value. The frame itself is right. */
static void lying_field(struct vpt_buffer *file, size_t offset, unsigned size, uint64_t value)
{
	struct vpt_buffer p = {0};
	size_t s;

	header(file);
	plain_chunk(file, 2000);
	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, VPT_KERNEL, 0, 2, 1);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 1, 0, 3000, "\0\1", 2);
	vpt_hand_section_end(&p, s);
	vpt_hand_chunk_end(&p);
	vpt_le_put((unsigned char *)p.data + offset, size, value);
	vpt_hand_frame(file, p.data, p.size, VPT_CHUNK_HEADER_SIZE);
	vpt_free(p.data);
}

static void section_count(struct vpt_buffer *file)
{
	lying_field(file, 8, 4, 4096);
}

static void section_length(struct vpt_buffer *file)
{
	lying_field(file, 48 + 8, 4, 0xfffffff0);
}

static void column_length(struct vpt_buffer *file)
{
	lying_field(file, 48 + 32 + 4, 4, 0xfffffff8);
}

static void row_count(struct vpt_buffer *file)
{
	lying_field(file, 48 + 4, 4, 0x80000001);
}

static void empty_chunks(struct vpt_buffer *file)
{
	size_t i;

	header(file);
	for (i = 0; i < 500; i++) {
		struct vpt_buffer p = {0};

		vpt_hand_chunk(&p);
		end_chunk(file, &p);
	}
}

/* ---- bad: what no program does ---- */

static void times(struct vpt_buffer *file)
{
	from_script(file,
		"start 18446744073709551000\n"
		"kernel s7 0-0 \"never\" corr 1; kernel s7 0-100 \"from nowhere\" corr 2\n"
		"kernel s7 500-400 \"backwards\" corr 3; kernel s7 5-18446744073709551615 \"for "
		"ever\" corr 4\n"
		"kernel s7 18446744073709551614-18446744073709551615 \"last moment\" corr 5\n"
		"kernel s7 9223372036854775807-9223372036854775809 \"over the sign\" corr 6\n"
		"call t1 cudaLaunchKernel 18446744073709551615-3 corr 1; range t1 0-0 \"a\"\n"
		"range t1 7-6 \"b\"; mark t1 18446744073709551615 \"c\"; open t1 "
		"18446744073709551615 \"d\"\n"
		"sync t1 stream 100-50 corr 9; loss all dropped 0-18446744073709551615 count "
		"18446744073709551615\n"
		"overhead t1 1 5-18446744073709551615; series p1 unit W; counter p1 0 nan; end "
		"3\n");
}

static void one_correlation(struct vpt_buffer *file)
{
	char line[128], *script = vpt_alloc(1 << 20, 1);
	size_t used = 0;
	int i;

	for (i = 0; script && i < 2000; i++) {
		used += (size_t)snprintf(script + used, sizeof(line),
			"call t%d cudaLaunchKernel %d+5 corr 7; kernel s%d %d+90 \"k\" corr 7\n",
			i % 3, 1000 + i * 10, i % 5, 1020 + i * 7);
	}
	from_script(file, script);
	vpt_free(script);
}

static void nesting(struct vpt_buffer *file)
{
	char *script = vpt_alloc(1 << 20, 1);
	size_t used = 0;
	int i;

	for (i = 0; script && i < 3000; i++)
		used += (size_t)snprintf(script + used, 64,
			"range t1 %d-%d \"r\"\nopen t2 %d \"o\"\n", 1000 + i, 20000 - i, 1000 + i);
	snprintf(script + used, 64, "kernel s7 9000-9100 \"k\" corr 1\n");
	from_script(file, script);
	vpt_free(script);
}

static const struct vpt_corpus_file files[] = {
	{"good-empty.zst", "A header and no chunk: a process killed before its first second.", "",
		0, empty_capture},
	{"good-small.zst", "A step with a copy, two kernels, a synchronisation and two ranges.",
		"w", 0, small},
	{"good-every-kind.zst", "Rows of every kind with every column.", "w", 0, every_kind},
	{"good-four-chunks.zst", "Four chunks of rows as a capture has them.", "wwww", 0,
		many_chunks},
	{"good-one-block.zst", "A chunk header in one long zstd block with what follows it.", "w",
		0, one_block},
	{"good-skippable.zst", "zstd's skippable frames before, between and after the others.",
		"ww", 0, skippable},
	{"good-unknown-parts.zst",
		"A later minor version: a section and a column that this version does not know.",
		"w", 0, unknown_parts},
	{"good-killed.zst", "No clean stop: ranges are open when the last chunk closes.", "ww", 0,
		killed},
	{"good-samples.zst", "Python stacks of two threads, sampled.", "ww", 0, samples},
	{"good-hostile-names.zst", "Names with HTML, escapes, formulas, paths and broken UTF-8.",
		"w", 0, hostile_names},
	{"bad-checksum.zst", "A bit of the first chunk's checksum is wrong; the second is fine.",
		"ew", 0, checksum},
	{"bad-garbage.zst", "Garbage between and after chunks, with a lone magic in it.", "wdwdwd",
		0, garbage},
	{"bad-torn.zst", "The file ends inside its last chunk.", "wwwt", 0, torn},
	{"bad-no-header.zst", "Two chunks and no file header.", "ww", 0, no_header},
	{"bad-start-late.zst", "The header's start is the end of the last event.", "ww", 0,
		start_after_all},
	{"bad-start-last.zst", "The header's start is the largest number.", "w", 0,
		start_at_the_end_of_time},
	{"bad-torn-header.zst", "The file ends inside its header.", NULL, VPT_EDATA, torn_header},
	{"bad-joined.zst", "Two captures one after the other.", "wdw", 0, joined},
	{"bad-version.zst", "A newer major version.", NULL, VPT_EVERSION, version},
	{"bad-critical.zst", "An unknown section and an unknown column, both marked as critical.",
		"w", 0, critical},
	{"bad-window-log-31.zst", "A frame that asks for a window of 2 GiB.", "dw", 0, window_log},
	{"bad-content-4gib.zst", "A frame that declares 4 GiB of content.", "dw", 0, content_size},
	{"bad-lying-size.zst", "A frame that declares 16 MiB and holds 48 bytes.", "dw", 0,
		lying_size},
	{"bad-dictionary.zst", "A frame that requires a dictionary.", "dw", 0, dictionary},
	{"bad-skippable-4gib.zst", "A skippable frame longer than the file.", "wdw", 0,
		long_skippable},
	{"bad-bomb.zst", "16 MiB of text in some 600 bytes.", "w", 0, bomb},
	{"bad-rows-of-nothing.zst", "4,096 sections that claim 2^20 rows each without a byte.", "e",
		0, rows_of_nothing},
	{"bad-wild-ids.zst",
		"Ids of strings, configurations, lanes and words far beyond their tables.", "w", 0,
		wild_ids},
	{"bad-no-tables.zst", "Kernels in a chunk without configurations and strings.", "w", 0,
		no_tables},
	{"bad-stack-itself.zst", "A stack that is its own caller.", "wew", 0, stack_of_itself},
	{"bad-stack-circle.zst", "Stacks that call each other in a circle.", "wew", 0,
		stacks_in_a_circle},
	{"bad-stack-beyond.zst", "A caller far beyond the table, in the row that is empty.", "wew",
		0, stack_beyond},
	{"bad-stacks-twice.zst", "Two tables of stacks in one chunk.", "wew", 0, stacks_twice},
	{"bad-stack-deep.zst", "A stack of 1,025 frames.", "wew", 0, stack_too_deep},
	{"bad-stack-text.zst", "Two samples of a stack with 64 MiB of text.", "www", 0,
		stack_of_64_mib},
	{"bad-section-count.zst", "A chunk that claims 4,096 sections and has one.", "we", 0,
		section_count},
	{"bad-section-length.zst", "A section that claims almost 4 GiB.", "we", 0, section_length},
	{"bad-column-length.zst", "A column that claims almost 4 GiB.", "we", 0, column_length},
	{"bad-row-count.zst", "A section that claims 2^31 rows.", "we", 0, row_count},
	{"bad-empty-chunks.zst", "500 chunks without a section.", NULL, 0, empty_chunks},
	{"bad-times.zst", "Times of 0, backwards, wrapping, and at the ends of 64 bits.", "w", 0,
		times},
	{"bad-one-correlation.zst", "2,000 launches and 2,000 kernels with one correlation id.",
		"w", 0, one_correlation},
	{"bad-nesting.zst", "3,000 ranges inside each other, and as many that never close.", "w", 0,
		nesting},
};

const struct vpt_corpus_file *vpt_corpus_at(size_t i)
{
	const struct {
		const struct vpt_corpus_file *files;
		size_t count;
	} lists[] = {{files, sizeof(files) / sizeof(files[0])},
		{vpt_corpus_foreign, vpt_corpus_foreign_count},
		{vpt_corpus_hostile, vpt_corpus_hostile_count}};
	size_t k;

	for (k = 0; k < sizeof(lists) / sizeof(lists[0]); i -= lists[k++].count)
		if (i < lists[k].count)
			return &lists[k].files[i];
	return NULL;
}
