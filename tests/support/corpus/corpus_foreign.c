/* corpus_foreign.c - the files of the corpus that are other tools', or no trace at all. */
#include "tests/support/corpus/corpus_lists.h"

#include "formats/base/error.h"
#include "tests/support/traces/hand.h"

#include <string.h>

static void text_file(struct vpt_buffer *file, const char *text)
{
	vpt_hand_put(file, text, strlen(text));
}

static const char kineto_text[] =
	"{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"Sim GPU\", "
	"\"totalGlobalMem\": "
	"85899345920, \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132}],\n"
	"\"traceEvents\": [\n"
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 10, "
	"\"tid\": 11, \"ts\": "
	"100.5, \"dur\": 4.25, \"args\": {\"correlation\": 7}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": "
	"110.001, \"dur\": "
	"20.002, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": 7, "
	"\"grid\": [132, 1, "
	"1], \"block\": [128, 1, 1]}},\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 10, \"tid\": 11, "
	"\"ts\": 99, \"dur\": 8},\n"
	"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"step 1\", \"pid\": 10, \"tid\": "
	"11, \"ts\": 90, "
	"\"dur\": 60}\n"
	"]}\n";

static void kineto(struct vpt_buffer *file)
{
	text_file(file, kineto_text);
}

static uint32_t crc32_of(const unsigned char *p, size_t size)
{
	uint32_t crc = ~0u;
	size_t i;
	int bit;

	for (i = 0; i < size; i++) {
		crc ^= p[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* gzip without compression: one stored block. */
static void kineto_gz(struct vpt_buffer *file)
{
	size_t size = strlen(kineto_text);

	vpt_hand_put(file, "\x1f\x8b\x08\0\0\0\0\0\0\3\1", 11);
	vpt_hand_le(file, 2, size);
	vpt_hand_le(file, 2, ~(uint64_t)size & 0xffff);
	vpt_hand_put(file, kineto_text, size);
	vpt_hand_le(file, 4, crc32_of((const unsigned char *)kineto_text, size));
	vpt_hand_le(file, 4, size);
}

static void kineto_gz_torn(struct vpt_buffer *file)
{
	kineto_gz(file);
	file->size -= 200;
}

static void kineto_torn(struct vpt_buffer *file)
{
	kineto(file);
	file->size -= 150;
}

static void kineto_nesting(struct vpt_buffer *file)
{
	text_file(file, "{\"traceEvents\": [{\"ph\": \"X\", \"args\": ");
	vpt_hand_fill(file, '[', 20000);
}

/* Whoever has exported a capture so may come with it for ever. */
static void kineto_exported(struct vpt_buffer *file)
{
	text_file(file,
		"{\"schemaVersion\":1,\n"
		"\"vptrace\":{\"version\":1,\"start_ns\":1700000000000000000,\"shift_ns\":"
		"1700000000000000000,\"unix_offset_ns\":0},\n"
		"\"displayTimeUnit\":\"ms\",\n"
		"\"traceEvents\":[\n"
		"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":10,"
		"\"tid\":11,\"ts\":0.100,\"dur\":4.250,\"args\":{\"correlation\":7,\"result\":2}},"
		"\n"
		"{\"ph\":\"s\",\"id\":7,\"pid\":10,\"tid\":11,\"ts\":0.100,\"cat\":\"ac2g\","
		"\"name\":\"ac2g\"},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm(float*)\",\"pid\":0,\"tid\":7,"
		"\"ts\":10.001,\"dur\":20.002,\"args\":{\"device\":0,\"context\":1,\"stream\":7,"
		"\"process\":10,\"correlation\":7,\"registers per thread\":64,\"shared "
		"memory\":96,\"grid\":[132,1,1],\"block\":[128,1,1],\"dynamic shared "
		"memory\":64,\"mangled name\":\"_Z4gemmPf\"}},\n"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"block "
		"3\",\"pid\":10,\"tid\":11,\"ts\":0.050,\"dur\":40.000,\"args\":{\"domain\":"
		"\"vptrace\",\"payload "
		"type\":\"json\",\"payload\":\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":3}\"}},\n"
		"{\"ph\":\"i\",\"cat\":\"user_annotation\",\"s\":\"t\",\"name\":\"seed\",\"pid\":"
		"10,\"tid\":11,\"ts\":1.000,\"args\":{\"payload "
		"type\":\"double\",\"payload\":0.5,\"payload bits\":\"0x3fe0000000000000\"}},\n"
		"{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"power\",\"unit\":\"W\",\"pid\":0,"
		"\"tid\":0,\"ts\":2.000,\"args\":{\"value\":250.5}},\n"
		"{\"ph\":\"X\",\"cat\":\"vptrace\",\"name\":\"loss: "
		"paused\",\"pid\":-1,\"tid\":0,\"ts\":33.000,\"dur\":1.000,\"args\":{\"kind\":"
		"\"loss\",\"loss_kind\":3}},\n"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"request\",\"args\":{\"open\":"
		"1,\"process wide\":1},\"pid\":10,\"tid\":11,\"ts\":0.010,\"dur\":49.990}\n"
		"],\n"
		"\"deviceProperties\":[\n"
		"{\"id\":0,\"name\":\"Sim "
		"GPU\",\"totalGlobalMem\":85899345920,\"computeMajor\":9,\"computeMinor\":0,"
		"\"numSms\":132,\"uuid\":\"GPU-1\",\"simulated\":1}],\n"
		"\"vptraceEnd\":{\"end_ns\":1700000000000050000,\"received\":5,\"dropped\":0,"
		"\"meta\":[\n"
		"[\"command\",\"python x.py\"]]}}\n");
}

static void kineto_liar(struct vpt_buffer *file)
{
	text_file(file,
		"{\"vptrace\":{\"version\":1,\"start_ns\":\"18446744073709551615\",\"shift_ns\":"
		"\"18446744073709551615\",\"unix_offset_ns\":-1},\n"
		"\"traceEvents\":[\n"
		"{\"ph\":\"X\",\"cat\":\"vptrace\",\"name\":\"x\",\"ts\":1,\"dur\":-1,\"args\":{"
		"\"kind\":\"kernel\",\"config\":99,\"stream\":1,\"device\":1}},\n"
		"{\"ph\":\"X\",\"cat\":\"vptrace\",\"name\":\"x\",\"ts\":1,\"args\":{\"kind\":"
		"\"loss\",\"loss_kind\":-7,\"count\":\"99999999999999999999999\"}},\n"
		"{\"ph\":\"i\",\"cat\":\"vptrace\",\"name\":\"x\",\"ts\":9223372036854775,\"args\":"
		"{\"kind\":\"string\"}},\n"
		"{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"x\",\"ts\":1,\"args\":{\"value\":"
		"\"much\"}},\n"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"x\",\"ts\":1,\"pid\":1,"
		"\"tid\":1,\"args\":{\"payload type\":\"blob\",\"payload\":\"0g\",\"open\":1}},\n"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"x\",\"ts\":1,\"pid\":1,"
		"\"tid\":1,\"args\":{\"payload type\":\"float\",\"payload bits\":\"no\",\"end "
		"process\":{},\"end thread\":1}}],\n"
		"\"vptraceEnd\":{\"end_ns\":1,\"received\":-5,\"dropped\":{},\"meta\":[1,[],[\"a\"]"
		",[\"a\",2],[\"k\",\"v\"]]}}\n");
}

static void kineto_python(struct vpt_buffer *file)
{
	text_file(file,
		"{\"traceEvents\": [\n"
		"{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"<built-in method item "
		"of "
		"Tensor object at 0x7f3a>\", \"pid\": 5, \"tid\": 7, \"ts\": 20.5, \"dur\": 4.25, "
		"\"args\": {\"CallFrom\": \"wan\\\\model.py:44\", \"Python parent id\": 3, "
		"\"Python id\": 4, \"Ev Idx\": 9}},\n"
		"{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"run.py(3): "
		"<module>\", "
		"\"pid\": 5, \"tid\": 7,\n    \"ts\": 10.001, \"dur\": 90.002,\n    \"args\": {\n"
		"      \"Python parent id\": null, \"Python id\": 1, \"Ev Idx\": 6\n    }\n  },\n"
		"{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"nn.Module: Linear_3\", "
		"\"pid\": 5, \"tid\": 7, \"ts\": 12, \"dur\": 30, \"args\": {\"Python id\": 2, "
		"\"CallFrom\": \"run.py:5\", \"Python parent id\": 1, \"Python module id\": 0}},\n"
		"{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"wan\\\\model.py(40): "
		"forward\", \"pid\": 5, \"tid\": 7, \"ts\": 12, \"dur\": 30, \"args\": {\"Python "
		"id\": 3, "
		"\"Python parent id\": 2}},\n"
		"{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"threading.py(655): "
		"wait\", "
		"\"pid\": 0, \"tid\": 0, \"ts\": 1, \"dur\": 99, \"args\": {}},\n"
		"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
		"\"pid\": 5, "
		"\"tid\": 7, \"ts\": 21, \"dur\": 3, \"args\": {\"correlation\": 7}},\n"
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, "
		"\"ts\": 30, "
		"\"dur\": 5, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, "
		"\"correlation\": "
		"7}}\n]}\n");
}

static void kineto_numbers(struct vpt_buffer *file)
{
	text_file(file, "{\"traceEvents\": [\n"
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"pid\": 0, "
			"\"tid\": 7, \"ts\": 1e308, \"dur\": -1e308},\n"
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"b\", \"pid\": 0, "
			"\"tid\": 7, \"ts\": NaN, \"dur\": Infinity},\n"
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"c\", \"pid\": -1, "
			"\"tid\": 99999999999999999999999, \"ts\": "
			"18446744073709551616.5, \"dur\": 0.0000001},\n"
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": 5, \"pid\": {}, \"tid\": "
			"[], \"ts\": \"12\", \"dur\": null},\n"
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"\\ud800\\u0000\\u001b\", "
			"\"ts\": -5, \"dur\": -5, \"args\": 7},\n"
			"{}, [], 5, null, \"x\"]}\n");
}

static void not_sqlite(struct vpt_buffer *file)
{
	vpt_hand_put(file, "SQLite format 3", 16);
	vpt_hand_fill(file, 0x10, 500);
}

static void text(struct vpt_buffer *file)
{
	text_file(file, "This is a letter and no trace.\n");
}

static void nothing(struct vpt_buffer *file)
{
	vpt_hand_put(file, "", 0);
}

const struct vpt_corpus_file vpt_corpus_foreign[] = {
	{"bad-text.txt", "A text that is not a trace.", NULL, VPT_EDATA, text},
	{"bad-nothing", "An empty file.", NULL, VPT_EDATA, nothing},
	{"good-kineto.json",
		"What PyTorch's profiler writes: a launch, its kernel, an operator, a step.", NULL,
		0, kineto},
	{"good-kineto.json.gz", "The same, gzipped.", NULL, 0, kineto_gz},
	{"good-kineto-python.json", "Calls of Python functions, out of order.", NULL, 0,
		kineto_python},
	{"bad-kineto-torn.json", "A profiler trace that ends in the middle of an event.", NULL, 0,
		kineto_torn},
	{"bad-kineto-torn.json.gz", "A gzip file that ends in the middle.", NULL, 0,
		kineto_gz_torn},
	{"bad-kineto-nesting.json", "20,000 arrays inside each other.", NULL, 0, kineto_nesting},
	{"bad-kineto-numbers.json", "Numbers out of every range, and values of every wrong type.",
		NULL, 0, kineto_numbers},
	{"good-kineto-exported.json", "A capture that was exported as Chrome's JSON.", NULL, 0,
		kineto_exported},
	{"bad-kineto-liar.json", "Nonsense in the members that only our exports write.", NULL, 0,
		kineto_liar},
	{"bad-not-sqlite.sqlite", "SQLite's magic, followed by other bytes.", NULL, 0, not_sqlite},
};

const size_t vpt_corpus_foreign_count = sizeof(vpt_corpus_foreign) / sizeof(vpt_corpus_foreign[0]);
