/* corpus_hostile.c - files whose frames and checksums are right and whose content is not.
 *
 * Those about columns and sections stand between two good chunks, which must be read whatever the one in the middle does. Those
 * about rows decode, and must not mislead or exhaust whoever believes them. */
#include "tests/support/corpus/corpus_lists.h"

#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "tests/support/traces/hand.h"
#include "tests/support/traces/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a hostile chunk between two good ones ---- */

static struct vpt_buffer payload;

static void good_chunk(struct vpt_buffer *file, uint64_t start)
{
	struct vpt_buffer p = {0};
	size_t s;

	vpt_hand_chunk(&p);
	s = vpt_hand_section(&p, VPT_KERNEL, 0, 2, 1);
	vpt_hand_column(&p, s, 1, VPT_ENC_PLAIN, 1, 0, start, "\0\24", 2);
	vpt_hand_column(&p, s, 2, VPT_ENC_PLAIN, 0, 0, 20, NULL, 0);
	vpt_hand_section_end(&p, s);
	vpt_hand_chunk_end(&p);
	vpt_hand_frame(file, p.data, p.size, VPT_CHUNK_HEADER_SIZE);
	vpt_free(p.data);
}

static size_t begin(struct vpt_buffer *file, unsigned type, uint32_t rows)
{
	vpt_hand_header(file, VPT_MAJOR, VPT_MINOR, 1000);
	good_chunk(file, 2000);
	vpt_hand_chunk(&payload);
	return vpt_hand_section(&payload, type, 0, rows, 1);
}

/* As it stands, with the lengths that it claims. */
static void end_as_it_is(struct vpt_buffer *file)
{
	vpt_hand_frame(file, payload.data, payload.size, VPT_CHUNK_HEADER_SIZE);
	vpt_free(payload.data);
	payload = (struct vpt_buffer){0};
	good_chunk(file, 9000);
}

static void end(struct vpt_buffer *file, size_t section)
{
	vpt_hand_section_end(&payload, section);
	vpt_hand_chunk_end(&payload);
	end_as_it_is(file);
}

static size_t column(size_t section, unsigned id, unsigned enc, unsigned width, uint64_t base,
	const void *data, size_t size)
{
	return vpt_hand_column(&payload, section, id, enc, width, 0, base, data, size);
}

static const char eight[] = "\1\2\3\4\5\6\7\10";

static void column_twice(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);

	column(s, 1, VPT_ENC_PLAIN, 1, 3000, eight, 2);
	column(s, 1, VPT_ENC_PLAIN, 1, 4000, eight, 2);
	end(file, s);
}

static void width_9(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 1);
	char planes[9] = {1};

	column(s, 1, VPT_ENC_PLAIN, 9, 3000, planes, 9);
	end(file, s);
}

static void encoding_unknown(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);

	column(s, 1, 77, 1, 3000, eight, 2);
	end(file, s);
}

static void bytes_as_numbers(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);

	column(s, 1, VPT_ENC_PLAIN, 0, 3000, NULL, 0);
	column(s, 4, VPT_ENC_BYTES, 0, 0, eight, 8);
	end(file, s);
}

static void gap_in_a_later_column(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);

	column(s, 1, VPT_ENC_PLAIN, 0, 3000, NULL, 0);
	column(s, 4, VPT_ENC_GAP, 1, 0, eight, 2);
	end(file, s);
}

static void gap_without_spans(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_MARK, 2);

	column(s, 1, VPT_ENC_GAP, 1, 3000, eight, 2);
	end(file, s);
}

static void gap_that_wraps(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);
	char far[16];

	memset(far, 0xff, sizeof(far));
	column(s, 1, VPT_ENC_GAP, 8, UINT64_MAX, far, 16);
	column(s, 2, VPT_ENC_PLAIN, 8, UINT64_MAX, far, 16);
	end(file, s);
}

static void delta_that_wraps(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_CALL, 2);
	char far[16];

	memset(far, 0xfe, sizeof(far));
	column(s, 1, VPT_ENC_DELTA, 8, 1, far, 16);
	column(s, 5, VPT_ENC_DELTA, 8, UINT64_MAX, far, 16);
	end(file, s);
}

static void planes_too_short(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 8);

	column(s, 1, VPT_ENC_PLAIN, 2, 3000, eight, 8);
	end(file, s);
}

static void planes_too_long(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);

	column(s, 1, VPT_ENC_PLAIN, 1, 3000, eight, 8);
	end(file, s);
}

static void padding_cut(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 3);

	column(s, 1, VPT_ENC_PLAIN, 1, 3000, eight, 3);
	vpt_hand_section_end(&payload, s);
	payload.size -= 5;
	vpt_le_put((unsigned char *)payload.data + s + 8, 4, 16 + 3);
	vpt_hand_chunk_end(&payload);
	end_as_it_is(file);
}

static void columns_33(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 1);
	unsigned id;

	for (id = 1; id <= 33; id++)
		column(s, id, VPT_ENC_PLAIN, 0, 3000, NULL, 0);
	end(file, s);
}

static void bytes_behind(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 1);

	column(s, 1, VPT_ENC_PLAIN, 0, 3000, NULL, 0);
	vpt_hand_section_end(&payload, s);
	vpt_hand_fill(&payload, 0x5a, 24);
	vpt_hand_chunk_end(&payload);
	end_as_it_is(file);
}

static void payload_too_long(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 1);

	column(s, 1, VPT_ENC_PLAIN, 0, 3000, NULL, 0);
	vpt_hand_section_end(&payload, s);
	vpt_hand_chunk_end(&payload);
	vpt_le_put((unsigned char *)payload.data + 4, 4, payload.size);
	end_as_it_is(file);
}

/* ---- strings ---- */

static size_t strings(struct vpt_buffer *file, uint32_t rows, unsigned enc, unsigned width,
	uint64_t base, const char *lengths, const char *text)
{
	size_t s = begin(file, VPT_STRING, rows);

	column(s, 1, enc, width, base, lengths, (size_t)rows * width);
	column(s, 2, VPT_ENC_BYTES, 0, 0, text, strlen(text));
	return s;
}

static void strings_beyond_text(struct vpt_buffer *file)
{
	end(file, strings(file, 3, VPT_ENC_PLAIN, 1, 0, "\0\5\7", "too short"));
}

static void strings_wrap(struct vpt_buffer *file)
{
	/* 0, 2^64 - 4, 8: their sum is 4 again. */
	end(file, strings(file, 3, VPT_ENC_DELTA, 1, 0, "\0\7\30", "four"));
}

static void string_too_long(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_STRING, 2), t;

	column(s, 1, VPT_ENC_PLAIN, 3, 0, "\0\1\0\0\0\1", 6);
	t = column(s, 2, VPT_ENC_BYTES, 0, 0, NULL, 0);
	vpt_hand_fill(&payload, 'x', VPT_STRING_MAX + 1);
	vpt_le_put((unsigned char *)payload.data + t + 4, 4, VPT_STRING_MAX + 1);
	end(file, s);
}

static void strings_twice(struct vpt_buffer *file)
{
	size_t s = strings(file, 2, VPT_ENC_PLAIN, 1, 0, "\0\3", "one");

	vpt_hand_section_end(&payload, s);
	s = vpt_hand_section(&payload, VPT_STRING, 0, 2, 0);
	column(s, 1, VPT_ENC_PLAIN, 1, 0, "\0\3", 2);
	column(s, 2, VPT_ENC_BYTES, 0, 0, "two", 3);
	end(file, s);
}

static void string_lengths_in_gaps(struct vpt_buffer *file)
{
	end(file, strings(file, 2, VPT_ENC_GAP, 1, 0, "\0\6", "one"));
}

/* ---- chunk headers ---- */

static void header_of_lies(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_KERNEL, 2);

	column(s, 1, VPT_ENC_PLAIN, 1, 3000, eight, 2);
	vpt_hand_section_end(&payload, s);
	vpt_hand_chunk_end(&payload);
	vpt_le_put((unsigned char *)payload.data + 12, 4, 0xffffffff); /* events */
	vpt_le_put((unsigned char *)payload.data + 16, 8, UINT64_MAX); /* seq */
	vpt_le_put((unsigned char *)payload.data + 24, 8, 1000000);    /* earliest: in the future */
	vpt_le_put((unsigned char *)payload.data + 32, 8, 5);          /* latest: in the past */
	vpt_le_put((unsigned char *)payload.data + 40, 4, 0xffffffff); /* lost */
	vpt_le_put((unsigned char *)payload.data + 44, 4, 0xffffffff); /* flags, LAST among them */
	end_as_it_is(file);
}

/* ---- rows that mislead ---- */

static void from_script(struct vpt_buffer *file, const char *script)
{
	struct vpt_err err = {0};

	if (vpt_script_bytes(script, file, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

/* A script in the making. */
struct lines {
	char *text;
	size_t size, cap;
};

static void __attribute__((format(printf, 2, 3))) add(struct lines *l, const char *format, ...)
{
	va_list args;

	if (vpt_grow(&l->text, &l->cap, l->size + 500, 1))
		abort();
	va_start(args, format);
	l->size += (size_t)vsnprintf(l->text + l->size, 500, format, args);
	va_end(args);
}

static void made(struct vpt_buffer *file, struct lines *l)
{
	from_script(file, l->text);
	vpt_free(l->text);
}

static void losses_everywhere(struct vpt_buffer *file)
{
	struct lines l = {0};
	int i;

	add(&l, "start 1000\n");
	for (i = 0; i < 1000; i++)
		add(&l, "loss %s dropped %d-18446744073709551615 count 18446744073709551615\n",
			i % 2 ? "s7" : "all", i);
	add(&l, "kernel s7 2000-2100 \"k\" corr 1; kernel s7 3000-3100 \"k\" corr 2; end 4000\n");
	made(file, &l);
}

static void pauses_inside_out(struct vpt_buffer *file)
{
	from_script(file, "start 1000\nloss all paused 3000-2000; loss all paused 1500-2500\n"
			  "loss all paused 1600-2400; loss all paused 0-18446744073709551615\n"
			  "kernel s7 1700-1800 \"in a pause\" corr 1; kernel s7 2600-2700 \"k\"\n"
			  "call t1 cudaLaunchKernel 1650-1660 corr 1; end 4000\n");
}

static void stats_of_lies(struct vpt_buffer *file)
{
	from_script(file, "start 1000; stats all received 5 dropped 18446744073709551615 invalid "
			  "9223372036854775808\n"
			  "stats t1 received 18446744073709551615 dropped 1 invalid 1\n"
			  "stats s7 received 0 dropped 0 invalid 18446744073709551615\n"
			  "kernel s7 1100-1200 \"k\" corr 1; end 4000\n");
}

static void blocks_of_lies(struct vpt_buffer *file)
{
	static const char *const notes[] = {
		"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":999999999999999,\\\"frames\\\":"
		"999999999999999}",
		"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":-1,\\\"frames\\\":0}",
		"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":1e999,\\\"frames\\\":1e-9}",
		"{\\\"kind\\\":\\\"block\\\",\\\"kind\\\":\\\"step\\\",\\\"index\\\":0,"
		"\\\"index\\\":1}",
		"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":99999999999999999999999999999999}",
		"{\\\"kind\\\":{\\\"kind\\\":\\\"block\\\"}}", "{\\\"kind\\\":\\\"block\\\"", "[]",
		"{\\\"kind\\\":\\\"frames\\\",\\\"index\\\":7}",
		"{\\\"kind\\\":\\\"step\\\",\\\"index\\\":0,\\\"timestep\\\":\\\"\\\\u0000\\\"}"};
	struct lines l = {0};
	size_t i;

	add(&l, "start 1000\n");
	for (i = 0; i < 40; i++) {
		unsigned at = 2000 + 100 * (unsigned)i;

		add(&l, "range t1 %u-%u \"n\" domain vptrace json \"%s\"\n", at, at + 500,
			notes[i % 10]);
		add(&l, "mark t1 %u \"f\" domain vptrace json \"%s\"\n", at, notes[(i + 8) % 10]);
		add(&l, "call t1 cudaLaunchKernel %u-%u corr %zu; kernel s7 %u-%u \"k\" corr %zu\n",
			at + 1, at + 2, i + 1, at + 10, at + 20, i + 1);
	}
	made(file, &l);
}

static void waits_in_a_circle(struct vpt_buffer *file)
{
	struct lines l = {0};
	unsigned i;

	add(&l, "start 1000\n");
	for (i = 0; i < 300; i++) {
		unsigned at = 2000 + 100 * i, here = 1 + i % 3, there = 1 + (i + 1) % 3;

		add(&l, "event s%u %u event %u sync_id %u corr %u\n", here, at, here, i, 3 * i + 1);
		add(&l,
			"sync s%u \"stream waits for event\" %u-%u event %u sync_id %u waits s%u "
			"corr %u\n",
			here, at, at + 1, there, i + 1, there, 3 * i + 2);
		add(&l, "call t1 cudaLaunchKernel %u-%u corr %u; kernel s%u %u-%u \"k\" corr %u\n",
			at + 2, at + 3, 3 * i + 3, here, at + 50, at + 60, 3 * i + 3);
	}
	made(file, &l);
}

static void clones_in_a_circle(struct vpt_buffer *file)
{
	struct lines l = {0};
	unsigned i;

	add(&l, "start 1000; graph t1 1001 \"node created\" graph 1 node 5 origin 5\n");
	for (i = 0; i < 200; i++)
		add(&l, "graph t1 %u \"node cloned\" graph %u node %u origin %u range \"r\"\n",
			1010 + i, i % 4, i % 7, (i + 1) % 7);
	add(&l, "graph t1 1300 \"node destroyed\" graph 1 node 3; graph t1 1301 \"graph "
		"destroyed\" graph 1\n"
		"graph t1 1302 \"node created\" graph 18446744073709551615 node "
		"18446744073709551615 origin 18446744073709551615\n"
		"call t1 cudaGraphLaunch 1400-1410 corr 1; kernel s7 1500-1600 \"k\" corr 1 node "
		"3\n"
		"kernel s7 1700-1800 \"k\" corr 1 node 18446744073709551615; end 2000\n");
	made(file, &l);
}

static void many_devices(struct vpt_buffer *file)
{
	struct lines l = {0};
	unsigned i;

	add(&l, "start 1000\n");
	for (i = 0; i < 1500; i++)
		add(&l, "kernel s%u.%u %u-%u \"k%u\" corr %u\n", i, i % 50, 2000 + i, 2100 + i,
			i % 300, i + 1);
	made(file, &l);
}

static void ages_long(struct vpt_buffer *file)
{
	struct lines l = {0};
	unsigned i;

	add(&l, "start 1000\n");
	for (i = 0; i < 500; i++)
		add(&l,
			"kernel s%u %u-9223372036854775000 \"for ages\" corr %u\n"
			"call t1 cudaStreamSynchronize %u-9223372036854775000 corr %u\n"
			"range t1 %u-9223372036854775000 \"block %u\"\n",
			i % 9, 2000 + i, 2 * i + 1, 2000 + i, 2 * i + 2, 1500 + i, i);
	made(file, &l);
}

static void counters_without_numbers(struct vpt_buffer *file)
{
	from_script(file, "start 1000; series p device 0 unit \"W\" \"power\"\n"
			  "series q device 9223372036854775807 unit \"\" \"\"\n"
			  "counter p 1100 nan; counter p 1200 inf; counter p 1300 -inf\n"
			  "counter p 1400 1.7976931348623157e308; counter p 1400 -0.0\n"
			  "counter q 18446744073709551615 4.9e-324; counter q 0 1; end 2000\n");
}

static void clocks_that_disagree(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_CLOCK, 4);

	column(s, 1, VPT_ENC_PLAIN, 1, UINT64_MAX - 3, "\3\0\2\1", 4);
	column(s, 2, VPT_ENC_DELTA, 1, 5, "\1\3\5\7", 4);
	column(s, 3, VPT_ENC_PLAIN, 0, UINT64_MAX, NULL, 0);
	end(file, s);
}

static void lanes_of_many_meanings(struct vpt_buffer *file)
{
	size_t s = begin(file, VPT_LANE, 8);

	/* Key 0, keys twice, every type and none for one key that kernels and calls share. */
	column(s, 1, VPT_ENC_PLAIN, 1, 0, "\0\1\1\1\1\2\2\3", 8);
	column(s, 2, VPT_ENC_PLAIN, 1, 0, "\1\2\1\3\0\377\2\1", 8);
	column(s, 3, VPT_ENC_PLAIN, 8, 0,
		"\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
		"\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
		"\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
		"\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
		"\377\377\377\377\377\377\377\177",
		64);
	vpt_hand_section_end(&payload, s);
	s = vpt_hand_section(&payload, VPT_CALL, 0, 2, 1);
	column(s, 1, VPT_ENC_PLAIN, 1, 3000, eight, 2);
	vpt_hand_section_end(&payload, s);
	s = vpt_hand_section(&payload, VPT_KERNEL, 0, 2, 3);
	column(s, 1, VPT_ENC_PLAIN, 1, 3000, eight, 2);
	end(file, s);
}

/* ---- other tools' files ---- */

static void text_file(struct vpt_buffer *file, const char *text)
{
	vpt_hand_put(file, text, strlen(text));
}

static void kineto_utf16(struct vpt_buffer *file)
{
	static const char text[] = "{\"traceEvents\": []}";
	size_t i;

	vpt_hand_put(file, "\xff\xfe", 2);
	for (i = 0; i + 1 < sizeof(text); i++)
		vpt_hand_le(file, 2, (unsigned char)text[i]);
}

static void kineto_keys_twice(struct vpt_buffer *file)
{
	text_file(file,
		"{\"traceEvents\": [{\"ph\": \"X\", \"ph\": \"i\", \"cat\": \"kernel\", \"cat\": "
		"5, "
		"\"ts\": 1, \"ts\": 2, \"dur\": 3, \"dur\": [], \"name\": \"a\", \"name\": "
		"\"b\"}],\n"
		"\"traceEvents\": 7, \"traceEvents\": {\"ph\": \"X\"}, \"traceEvents\": [\n"
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"c\", \"pid\": 0, \"tid\": 7, "
		"\"ts\": 5, \"dur\": 2, \"args\": {\"device\": 0, \"device\": 1, \"stream\": "
		"7}}]}\n");
}

static void kineto_wild_flows(struct vpt_buffer *file)
{
	struct lines l = {0};
	int i;

	add(&l, "{\"traceEvents\": [\n");
	for (i = 0; i < 400; i++)
		add(&l,
			"{\"ph\": \"%s\", \"id\": %s, \"cat\": \"ac2g\", \"name\": \"ac2g\", "
			"\"pid\": %d, \"tid\": %d, \"ts\": %d, \"bp\": \"e\"},\n",
			i % 3 ? "f" : "s", i % 5 ? "99999999999999999999" : "\"x\"", i % 2, i,
			400 - i);
	add(&l, "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, "
		"\"ts\": 5, \"dur\": 2, \"args\": {\"correlation\": -1, \"External id\": "
		"1e99}}]}\n");
	vpt_hand_put(file, l.text, l.size);
	vpt_free(l.text);
}

static void json_of_something_else(struct vpt_buffer *file)
{
	text_file(file, "{\"dependencies\": {\"left-pad\": \"1.0.0\"}, \"version\": 3}\n");
}

static void gzip_of_noise(struct vpt_buffer *file)
{
	uint32_t state = 1;
	int i;

	vpt_hand_put(file, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
	for (i = 0; i < 400; i++)
		vpt_hand_le(file, 1, (state = state * 1103515245 + 12345) >> 16 & 0xff);
}

const struct vpt_corpus_file vpt_corpus_hostile[] = {
	{"bad-column-twice.zst", "A section that has one of its columns twice.", "wew", 0,
		column_twice},
	{"bad-column-width.zst", "A column of nine planes.", "wew", 0, width_9},
	{"bad-column-encoding.zst", "The times of kernels in an encoding that nobody knows.", "www",
		0, encoding_unknown},
	{"bad-column-bytes.zst", "Numbers in the encoding of text.", "wew", 0, bytes_as_numbers},
	{"bad-gap-later.zst", "The encoding GAP in a column that is not the start of a span.",
		"wew", 0, gap_in_a_later_column},
	{"bad-gap-without-spans.zst", "The encoding GAP in a kind without durations.", "wew", 0,
		gap_without_spans},
	{"bad-gap-wraps.zst", "Gaps and durations of 2^64 - 1.", "www", 0, gap_that_wraps},
	{"bad-delta-wraps.zst", "Differences that wrap around 2^64.", "www", 0, delta_that_wraps},
	{"bad-planes-short.zst", "Planes shorter than their rows.", "wew", 0, planes_too_short},
	{"bad-planes-long.zst", "Planes longer than their rows.", "wew", 0, planes_too_long},
	{"bad-padding.zst", "A section that ends in the padding of its last column.", "wew", 0,
		padding_cut},
	{"bad-columns-33.zst", "A section of 33 columns.", "wew", 0, columns_33},
	{"bad-bytes-behind.zst", "Bytes after the last section.", "wew", 0, bytes_behind},
	{"bad-payload-length.zst", "A chunk that claims 48 bytes more than its frame has.", NULL, 0,
		payload_too_long},
	{"bad-strings-beyond.zst", "Strings longer together than their text.", "wew", 0,
		strings_beyond_text},
	{"bad-strings-wrap.zst", "Lengths of strings whose sum wraps around 2^64.", "wew", 0,
		strings_wrap},
	{"bad-string-long.zst", "A string of 65,537 bytes.", "wew", 0, string_too_long},
	{"bad-strings-twice.zst", "Two tables of strings in one chunk.", "wew", 0, strings_twice},
	{"bad-strings-gap.zst", "Lengths of strings in the encoding GAP.", "wew", 0,
		string_lengths_in_gaps},
	{"bad-header-of-lies.zst",
		"A chunk header in which every number that is not checked is wrong.", "www", 0,
		header_of_lies},
	{"bad-losses.zst", "1,000 losses of everything at all times.", NULL, 0, losses_everywhere},
	{"bad-pauses.zst", "Pauses inside each other, backwards, and without an end.", NULL, 0,
		pauses_inside_out},
	{"bad-stats.zst", "Impossible counts of records.", NULL, 0, stats_of_lies},
	{"bad-blocks.zst", "Annotations of blocks with absurd numbers, and broken ones.", NULL, 0,
		blocks_of_lies},
	{"bad-waits.zst", "Streams that wait for each other in a circle.", NULL, 0,
		waits_in_a_circle},
	{"bad-clones.zst", "Graph nodes that are copies of each other in a circle.", NULL, 0,
		clones_in_a_circle},
	{"bad-devices.zst", "1,500 devices with a kernel each.", NULL, 0, many_devices},
	{"bad-ages.zst", "500 kernels, waits and blocks of 292 years, all at once.", NULL, 0,
		ages_long},
	{"bad-counters.zst", "Samples that are not numbers.", NULL, 0, counters_without_numbers},
	{"bad-clocks.zst", "Clocks that go back, stand still and end.", "www", 0,
		clocks_that_disagree},
	{"bad-lanes.zst", "Lanes declared many times as different things, and key 0.", "www", 0,
		lanes_of_many_meanings},
	{"bad-kineto-utf16.json", "A profiler trace in UTF-16.", NULL, VPT_EDATA, kineto_utf16},
	{"bad-kineto-twice.json", "Members that occur twice, with values of different types.", NULL,
		0, kineto_keys_twice},
	{"bad-kineto-flows.json", "Flows without ends, and with invalid ids.", NULL, 0,
		kineto_wild_flows},
	{"bad-json.json", "JSON that is not a trace.", NULL, VPT_EDATA, json_of_something_else},
	{"bad-gzip.json.gz", "gzip's magic, followed by noise.", NULL, VPT_EDATA, gzip_of_noise},
};
const size_t vpt_corpus_hostile_count = sizeof(vpt_corpus_hostile) / sizeof(vpt_corpus_hostile[0]);
