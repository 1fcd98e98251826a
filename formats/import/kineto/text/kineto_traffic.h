/* kineto_traffic.h - how much memory an operator of PyTorch reads and writes at least, by the shapes and
 * types of its inputs, which the profiler records with record_shapes=True. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_TRAFFIC_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_TRAFFIC_H

#include "formats/import/kineto/text/kineto_value.h"

/* Elementwise operators, copies, fills, norms, softmax, reductions and torch.cat: each input is read once, and the
 * result written once. `args` are the event's arguments, or NULL. Sets *is_elements where the trace does not have the
 * type: then the number is of elements. Returns bytes; 0: another operator, no shapes, or not those that it takes;
 * also more than 2^63. Any thread. */
uint64_t vpt_kineto_traffic(
	struct vpt_text name, const struct vpt_kineto_value *args, int *is_elements);

#endif
