/* fields_launches.c - the JSON report: launches that wait, sequences of short kernels, collectives. */
#include "analysis/render/fields/fields.h"

#define ROW struct vpa_collective_row
static const struct vpa_field collective_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"kind", .look = VPA_LOOK_SINGLE, TEXT(kind), NULL,
		"all-reduce, all-gather, send/recv ...; collective: another one"},
	{"name", TEXT(name), NULL, "as the program has it, or the kernel's"},
	{"group", .look = VPA_LOOK_SINGLE, TEXT_OR_NULL(group), NULL,
		"the communicator; null: not recorded"},
	{"ranks", KNOWN(ranks), "ranks", "of the communicator; null: not recorded"},
	{"bytes", KNOWN(bytes), "bytes", "of a message; null: not recorded"},
	{"calls", U64(calls), "calls", "inside the window"},
	{"total_ns", U64(total_ns), "ns", "of their kernels, with the wait for other ranks"},
	{"shortest_ns", U64(shortest_ns), "ns", "of one"},
	{"bus_gb_per_s", RATE(bus_gb_per_s), "GB/s",
		"what each link carries, in 10^9 bytes per second, as NCCL's tests count it; null: "
		"bytes or ranks are not recorded"},
	{"bus_gb_per_s_most", RATE(bus_gb_per_s_most), "GB/s",
		"the same of the shortest call, which waited least; null: as above"},
};
const struct vpa_fields vpa_fields_collective =
	FIELDS("collective", "collectives of one name, communicator and size", collective_fields);
#undef ROW

#define ROW struct vpa_short_run_row
static const struct vpa_field short_run_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"kernels", TEXT(kernels), NULL,
		"names without namespaces and arguments, in order; the first six"},
	{"count", U64(count), "kernels", "in the sequence"},
	{"runs", U64(runs), "runs", "how often it ran; at least twice"},
	{"busy_ns", U64(busy_ns), "ns", "in its kernels, of all runs"},
	{"span_ns", U64(span_ns), "ns",
		"from the first kernel's start to the last one's end, of all runs"},
};
const struct vpa_fields vpa_fields_short_run = FIELDS("short_run",
	"kernels below 10 us each that run one after another, again and again", short_run_fields);
#undef ROW

#define ROW struct vpa_queue_row
static const struct vpa_field queue_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"stream", I64(stream), "id", "CUDA's stream number"},
	{"pid", .look = VPA_LOOK_PROCESS, I64(pid), "id", "its process"},
	{"launches", U64(launches), "launches", "of its ops; a CUDA graph's counts once"},
	{"delay", SPREAD(delay), NULL,
		"from the start of a launch call to the start of its first op"},
	{"delays_under_10us", U64(bins[0]), "launches", "with a delay below 10 us"},
	{"delays_under_100us", U64(bins[1]), "launches", "of 10 us and more, below 100 us"},
	{"delays_under_1ms", U64(bins[2]), "launches", "of 100 us and more, below 1 ms"},
	{"delays_under_10ms", U64(bins[3]), "launches", "of 1 ms and more, below 10 ms"},
	{"delays_longer", U64(bins[4]), "launches", "of 10 ms and more"},
	{"waiting_mean", SHARE(waiting_mean), "launches",
		"made and not begun, by time, from the first launch to the last op's start"},
	{"waiting_min", U64(waiting_min), "launches", "the least of that"},
	{"waiting_p50", U64(waiting_p50), "launches", "the median, by time"},
	{"waiting_p95", U64(waiting_p95), "launches", "the 95th percentile, by time"},
	{"waiting_max", U64(waiting_max), "launches", "the most"},
};
const struct vpa_fields vpa_fields_queue =
	FIELDS("queue", "launches that wait on one stream", queue_fields);
#undef ROW
