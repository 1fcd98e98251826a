/* fields_launches.c - the JSON report: launches that wait, sequences of short kernels, collectives; kernels that are tried;
 * stops and pauses of the host. */
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
TABLE(vpa_fields_collective, "collective", "collectives of one name, communicator and size",
	collective_fields);
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
TABLE(vpa_fields_short_run, "short_run",
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
TABLE(vpa_fields_queue, "queue", "launches that wait on one stream", queue_fields);
#undef ROW

/* ---- stops and pauses of the host, kernels that are tried ---- */

#define ROW struct vpa_cause_time
static const struct vpa_field cause_time_fields[] = {
	{"cause", .look = VPA_LOOK_SINGLE | VPA_LOOK_CAUSE, CAUSE(cause), NULL, "of idle time"},
	{"ns", U64(ns), "ns", "idle time that has it"},
};
static TABLE(cause_time, "cause_time", "idle time of a cause", cause_time_fields);
#undef ROW

#define ROW struct vpa_host_stops
static const struct vpa_field host_stop_fields[] = {
	{"count", U64(count), "stops", "of 5 ms or longer"},
	{"places", U64(places), "places", "calls and ranges that they are in"},
	{"total_ns", U64(ns), "ns", "idle time in them"},
	{"shortest_ns", U64(shortest_ns), "ns", "the shortest"},
	{"longest_ns", U64(longest_ns), "ns", "the longest"},
	{"every_ns", KNOWN(clock.every_ns), "ns",
		"they end when a period of this length begins, as with a CPU quota; null: at any "
		"time"},
	{"from_ns", .look = VPA_LOOK_MOMENT, U64(clock.from_ns), "ns",
		"start of one of these periods, on the trace clock; 0 without them"},
	{"causes", ROWS(cause_time, causes, cause_count), NULL,
		"total_ns by the cause of idle time that it has elsewhere in the report, by ns, "
		"descending"},
};
TABLE(vpa_fields_host_stops, "host_stops",
	"idle time in which the host stood still, wherever it was", host_stop_fields);
#undef ROW

#define ROW struct vpa_pauses
static const struct vpa_field pause_fields[] = {
	{"count", U64(count), "stretches", "of host code of 5 ms or longer"},
	{"total_ns", U64(ns), "ns", "all of them"},
	{"shortest_ns", U64(shortest_ns), "ns", "the shortest"},
	{"longest_ns", U64(longest_ns), "ns", "the longest: by a fifth longer at most"},
	{"ranges", TEXTS(places, place_count), NULL, "that they are in, at most eight"},
};
TABLE(vpa_fields_pauses, "host_pauses", "stretches of host code of nearly the same length",
	pause_fields);
#undef ROW

#define ROW struct vpa_trial_span
static const struct vpa_field trial_span_fields[] = {
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(start_ns), "ns",
		"start of the first kernel, on the trace clock"},
	{"end_ns", .look = VPA_LOOK_MOMENT, U64(end_ns), "ns", "start of the one that is kept"},
};
static TABLE(trial_span, "trial", "kernels that are tried for one product", trial_span_fields);
#undef ROW

#define ROW struct vpa_trials
static const struct vpa_field trial_fields[] = {
	{"count", U64(count), "products", "for which kernels were tried"},
	{"convolutions", U64(convs), "products", "of these, convolutions"},
	{"kernels", U64(kernels), "ops", "tried, without the one that is kept"},
	{"kernel_ns", U64(kernel_ns), "ns", "sum of their durations"},
	{"span_ns", U64(span_ns), "ns",
		"from the start of the first kernel to that of the one that is kept, of all"},
	{"causes", ROWS(cause_time, causes, cause_count), NULL,
		"idle time of it that begins in a wait for an event, by ns, descending"},
	{"range", PLACE(place), NULL, "where most of it is; null: in no range"},
	{"range_ns", U64(place_ns), "ns", "span_ns there"},
	{"spans", ROWS(trial_span, spans, span_count), NULL, "of the first 4,096, by end"},
};
TABLE(vpa_fields_trials, "trials", "kernels that a library tries before it keeps one",
	trial_fields);
#undef ROW
