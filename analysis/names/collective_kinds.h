/* collective_kinds.h - what a collective does, by its name. */
#ifndef VPA_ANALYSIS_NAMES_COLLECTIVE_KINDS_H
#define VPA_ANALYSIS_NAMES_COLLECTIVE_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum vpa_collective_kind {
	VPA_COLLECTIVE_OTHER,
	VPA_COLLECTIVE_ALL_REDUCE,
	VPA_COLLECTIVE_ALL_GATHER,
	VPA_COLLECTIVE_REDUCE_SCATTER,
	VPA_COLLECTIVE_ALL_TO_ALL,
	VPA_COLLECTIVE_BROADCAST,
	VPA_COLLECTIVE_REDUCE,
	VPA_COLLECTIVE_BARRIER,
	VPA_COLLECTIVE_SEND_RECV, /* point to point, grouped or not */
	VPA_COLLECTIVE_KINDS
};

/* "all-reduce", "send/recv" ...; "collective" for others. */
const char *vpa_collective_name(enum vpa_collective_kind kind);
/* By the name of a kernel, of NCCL's call, or of PyTorch's collective. */
enum vpa_collective_kind vpa_collective_kind_of(const char *text, size_t len);
/* Whether all ranks leave it at about the same time: none has its result before all have given their part. */
int vpa_collective_is_symmetric(enum vpa_collective_kind kind);
/* The bytes that a message sends over each link, if `ranks` take part: NCCL counts the bandwidth of the bus so. Below 0: not known; a
 * message without bytes has none. */
double vpa_collective_bus_bytes(enum vpa_collective_kind kind, uint64_t bytes, uint64_t ranks);

#endif
