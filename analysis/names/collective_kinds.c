/* collective_kinds.c - parts of names of kernels, of NCCL's calls and of PyTorch's collectives. */
#include "analysis/names/collective_kinds.h"

#include "formats/base/count.h"
#include "formats/base/text.h"

#include <ctype.h>

static const char *const kind_names[VPA_COLLECTIVE_KINDS] = {
	[VPA_COLLECTIVE_OTHER] = "collective",
	[VPA_COLLECTIVE_ALL_REDUCE] = "all-reduce",
	[VPA_COLLECTIVE_ALL_GATHER] = "all-gather",
	[VPA_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
	[VPA_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
	[VPA_COLLECTIVE_BROADCAST] = "broadcast",
	[VPA_COLLECTIVE_REDUCE] = "reduce",
	[VPA_COLLECTIVE_BARRIER] = "barrier",
	[VPA_COLLECTIVE_SEND_RECV] = "send/recv",
};

const char *vpa_collective_name(enum vpa_collective_kind kind)
{
	return kind < VPA_COLLECTIVE_KINDS ? kind_names[kind] : kind_names[VPA_COLLECTIVE_OTHER];
}

/* Parts of names in small letters without "_", "-" and "::": the first one that is there. PyTorch's all-to-all is a
 * group of sends and receives, whose kernel is named for these. */
static const struct {
	const char *word;
	enum vpa_collective_kind kind;
} words[] = {
	{"reducescatter", VPA_COLLECTIVE_REDUCE_SCATTER},
	{"allreduce", VPA_COLLECTIVE_ALL_REDUCE},
	{"crossdevicereduce", VPA_COLLECTIVE_ALL_REDUCE},
	{"allgather", VPA_COLLECTIVE_ALL_GATHER},
	{"alltoall", VPA_COLLECTIVE_ALL_TO_ALL},
	{"a2a", VPA_COLLECTIVE_ALL_TO_ALL},
	{"broadcast", VPA_COLLECTIVE_BROADCAST},
	{"barrier", VPA_COLLECTIVE_BARRIER},
	{"sendrecv", VPA_COLLECTIVE_SEND_RECV},
	{"send", VPA_COLLECTIVE_SEND_RECV},
	{"recv", VPA_COLLECTIVE_SEND_RECV},
	{"reduce", VPA_COLLECTIVE_REDUCE},
};

enum vpa_collective_kind vpa_collective_kind_of(const char *text, size_t len)
{
	char plain[256];
	size_t used = 0, i;

	for (i = 0; i < len && used < sizeof(plain); i++)
		if (text[i] != '_' && text[i] != '-' && text[i] != ':')
			plain[used++] = (char)tolower((unsigned char)text[i]);
	for (i = 0; i < COUNT(words); i++)
		if (vpt_text_holds((struct vpt_text){plain, used}, words[i].word))
			return words[i].kind;
	return VPA_COLLECTIVE_OTHER;
}

int vpa_collective_is_symmetric(enum vpa_collective_kind kind)
{
	return kind == VPA_COLLECTIVE_ALL_REDUCE || kind == VPA_COLLECTIVE_ALL_GATHER ||
	       kind == VPA_COLLECTIVE_REDUCE_SCATTER || kind == VPA_COLLECTIVE_BARRIER ||
	       kind == VPA_COLLECTIVE_ALL_TO_ALL;
}

/* What each link carries, whatever the number of ranks. A collective of n ranks that takes a message of S bytes moves over a link
 *
 *	all-reduce 2 (n - 1) / n S      all-gather (n - 1) S, S from each      all others that are symmetric (n - 1) / n S
 *
 * and one that is not, S. */
double vpa_collective_bus_bytes(enum vpa_collective_kind kind, uint64_t bytes, uint64_t ranks)
{
	double n = (double)ranks, size = (double)bytes;

	if (!bytes)
		return -1;
	if (!vpa_collective_is_symmetric(kind))
		return kind == VPA_COLLECTIVE_OTHER ? -1 : size;
	if (ranks < 2 || kind == VPA_COLLECTIVE_BARRIER)
		return -1;
	if (kind == VPA_COLLECTIVE_ALL_REDUCE)
		return 2 * (n - 1) / n * size;
	return kind == VPA_COLLECTIVE_ALL_GATHER ? (n - 1) * size : (n - 1) / n * size;
}
