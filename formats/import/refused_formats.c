/* refused_formats.c - names files that are no trace that can be read, and the command that helps.
 *
 * What people give by mistake: an archive or a compressed file, a text in another encoding, a file of a
 * related tool. */
#include "formats/import/refused_formats.h"

#include "formats/base/count.h"

#include <string.h>
#include <strings.h>

struct kind {
	size_t at; /* offset of the magic */
	const char *magic;
	size_t len;
	const char *reason;
};

#define KIND(at, magic, reason)                                                                    \
	{                                                                                          \
		at, magic, sizeof(magic) - 1, reason                                               \
	}
#define ZIP   "a zip archive: unpack it with: unzip FILE"
#define UTF16 "UTF-16 text: convert it with: iconv -f UTF-16 -t UTF-8 FILE > trace.json"
#define UTF32 "UTF-32 text: convert it with: iconv -f UTF-32 -t UTF-8 FILE > trace.json"

/* The first that matches counts. */
static const struct kind kinds[] = {
	KIND(0, "PK\3\4", ZIP),
	KIND(0, "PK\5\6", ZIP),
	KIND(0,
		"\xfd"
		"7zXZ\0",
		"a file compressed by xz: unpack it with: xz -d FILE"),
	KIND(0, "BZh", "a file compressed by bzip2: unpack it with: bzip2 -d FILE"),
	KIND(0, "\x04\x22\x4d\x18", "a file compressed by lz4: unpack it with: lz4 -d FILE"),
	KIND(0, "7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it with: 7z x FILE"),
	KIND(257, "ustar",
		"a tar archive: ranks and export read the files in it; else unpack it with: tar "
		"-xf FILE"),
	KIND(0, "VPTRANK",
		"a summary of ranks, which has no events: vptrace-analyze ranks reads it; for this "
		"give the captures that it was made of"),
	KIND(0, "\xff\xfe\0\0", UTF32),
	KIND(0, "\0\0\xfe\xff", UTF32),
	KIND(0, "\xff\xfe", UTF16),
	KIND(0, "\xfe\xff", UTF16),
	KIND(0, "{\0\0\0", UTF32),
	KIND(0, "[\0\0\0", UTF32),
	KIND(0, "{\0", UTF16),
	KIND(0, "[\0", UTF16),
	KIND(0, "\0{\0", UTF16),
	KIND(0, "\0[\0", UTF16),
	KIND(0, "NVR\0",
		"an Nsight Compute report: it has counters of single kernels, not their times in "
		"the program; record with vptrace run or nsys profile"),
	KIND(0, "\x80\x04",
		"a Python pickle, such as PyTorch's memory snapshots: open it on "
		"pytorch.org/memory_viz; for a trace record with vptrace run"),
	KIND(0, "\x80\x05",
		"a Python pickle, such as PyTorch's memory snapshots: open it on "
		"pytorch.org/memory_viz; for a trace record with vptrace run"),
	KIND(0, "\"Kind\",",
		"a table of rocprofiler: record the program with PyTorch's profiler "
		"(torch.profiler.profile), which records AMD GPUs too"),
};

#define PERFETTO                                                                                   \
	"a Perfetto trace: vptrace-analyze writes such files but does not read them; open it on "  \
	"ui.perfetto.dev, or analyze the file that it was made from"
#define NSYS                                                                                       \
	"an Nsight Systems report can be read only by the version that wrote it; export it with: " \
	"nsys export --type sqlite REPORT, and analyze the .sqlite file"

/* By the end of the name, for those whose bytes say little. */
static const struct {
	const char *end, *reason;
} endings[] = {
	{".nsys-rep", NSYS},
	{".qdrep", NSYS},
	{".qdstrm", NSYS},
	{".pftrace", PERFETTO},
	{".perfetto-trace", PERFETTO},
	{".xplane.pb", "a profile of JAX or TensorFlow: it is not read; record the program with "
		       "vptrace run or nsys profile"},
	{".rpd", "a database of rocmProfileData: record the program with PyTorch's profiler "
		 "(torch.profiler.profile), which records AMD GPUs too"},
	{".otf2", "an OTF2 archive, as rocprofiler writes it: record the program with PyTorch's "
		  "profiler (torch.profiler.profile), which records AMD GPUs too"},
};

static int ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcasecmp(name + n - m, end);
}

/* The length of a protobuf's number at `*at`, which moves past it; 0: none. */
static size_t read_length(const unsigned char *head, size_t size, size_t *at)
{
	size_t value = 0;
	unsigned shift;

	for (shift = 0; shift < 28 && *at < size; shift += 7) {
		unsigned char byte = head[(*at)++];

		value |= (size_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	return 0;
}

/* A Perfetto trace is packets, each field 1 of the trace: 0x0a and a length. The first one holds compressed
 * packets, field 50, or a second one follows. */
static int is_perfetto(const unsigned char *head, size_t size)
{
	static const unsigned char compressed[] = {0x92, 0x03};
	enum { PACKET = 0x0a };
	size_t at = 1, length;

	if (!size || head[0] != PACKET)
		return 0;
	length = read_length(head, size, &at);
	if (!length)
		return 0;
	if (size - at >= sizeof(compressed) && !memcmp(head + at, compressed, sizeof(compressed)))
		return 1;
	return length < size - at && head[at + length] == PACKET;
}

int vpt_is_zstd(const unsigned char *head, size_t size)
{
	return size >= 4 &&
	       ((head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd) ||
		       ((head[0] & 0xf0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d &&
			       head[3] == 0x18));
}

const char *vpt_foreign_reason(const unsigned char *head, size_t size, const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		if (size >= kinds[i].at + kinds[i].len &&
			!memcmp(head + kinds[i].at, kinds[i].magic, kinds[i].len))
			return kinds[i].reason;
	for (i = 0; name && i < COUNT(endings); i++)
		if (ends_with(name, endings[i].end))
			return endings[i].reason;
	return name && is_perfetto(head, size) ? PERFETTO : NULL;
}
