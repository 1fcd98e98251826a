/* kineto_copies.c - which way a copy went, as ROCm's profilers spell it. */
#include "formats/import/kineto.h"

#include <string.h>

/* "CopyHostToDevice", "hipMemcpyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE". */
static const struct {
	const char *word, *in_capitals;
	uint64_t direction;
} spellings[] = {
	{"HostToDevice", "HOST_TO_DEVICE", VPT_COPYKIND_HTOD},
	{"DeviceToHost", "DEVICE_TO_HOST", VPT_COPYKIND_DTOH},
	{"DeviceToDevice", "DEVICE_TO_DEVICE", VPT_COPYKIND_DTOD},
	{"HostToHost", "HOST_TO_HOST", VPT_COPYKIND_HTOH},
	{"PeerToPeer", "PEER_TO_PEER", VPT_COPYKIND_PTOP},
};

static int holds(struct vpt_text text, const char *word)
{
	return text.len && memmem(text.text, text.len, word, strlen(word)) != NULL;
}

uint64_t vpt_kineto_spelled_direction(struct vpt_text text)
{
	size_t i;

	for (i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (holds(text, spellings[i].word) || holds(text, spellings[i].in_capitals))
			return spellings[i].direction;
	return VPT_COPYKIND_UNKNOWN;
}

uint64_t vpt_kineto_numbered_direction(struct vpt_text text)
{
	static const uint64_t directions[] = {
		VPT_COPYKIND_HTOH, VPT_COPYKIND_HTOD, VPT_COPYKIND_DTOH, VPT_COPYKIND_DTOD};

	return text.len == 1 && text.text[0] >= '0' && text.text[0] <= '3'
		       ? directions[text.text[0] - '0']
		       : VPT_COPYKIND_UNKNOWN;
}
