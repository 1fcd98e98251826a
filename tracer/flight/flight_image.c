/* flight_image.c - computes and checks the hashes of that memory. */
#include "tracer/flight/flight.h"

#include <string.h>

uint64_t vtr_image_hash(const void *data, size_t bytes)
{
	const unsigned char *p = data;
	uint64_t hash = 0xcbf29ce484222325u, word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 29; /* or the upper bytes would never reach the lower ones */
	}
	for (; bytes; bytes--)
		hash = (hash ^ *p++) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

uint64_t vtr_image_check_frame(const struct vtr_image_frame *frame)
{
	return vtr_image_hash(frame, sizeof(*frame)) | 1; /* zeros are never valid */
}

uint64_t vtr_image_check_head(const struct vtr_image_head *head)
{
	return vtr_image_hash(head, offsetof(struct vtr_image_head, check)) | 1;
}
