/* kineto_collective.h - what PyTorch's profiler says of a collective, in the arguments of "record_param_comms". */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_COLLECTIVE_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_COLLECTIVE_H

#include "formats/import/kineto/text/kineto_value.h"

enum { VPT_KINETO_COLLECTIVE_BYTES = 1024 };

/* Writes an annotation for the event's arguments, which may be NULL:
 *
 *	{"collective":"allreduce","group":"0","ranks":"[0, 1]","message_bytes":2048}
 *
 * A member of which nothing is known, or whose text would need escapes, is left out; of many ranks the list is replaced by
 * their number. Returns its length; 0: they name no collective. Any thread. */
size_t vpt_kineto_collective(
	const struct vpt_kineto_value *args, char text[VPT_KINETO_COLLECTIVE_BYTES]);

#endif
