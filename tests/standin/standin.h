/* standin.h - a simulated GPU behind the CUDA API, for machines without one. NOTHING MADE WITH IT
 * IS A MEASUREMENT OF A GPU.
 *
 * Three libraries with the real SONAMEs and symbol versions: libcuda.so.1 (the simulation itself),
 * libcudart.so.13 and libcupti.so.13. A program built against them also runs on the real ones, and
 * the tracer cannot distinguish them. This header is what tests and the demo may use beyond CUDA's
 * own API; symbols are looked up with dlsym, so that the same program runs where they are missing.
 * README.md lists the environment variables.
 *
 * Time. By default time is virtual: it starts at STANDIN_EPOCH_NS, stands still, and is moved by
 * the table below and by standin_work() alone. CLOCK_REALTIME of every caller of clock_gettime() in
 * the process, and cuptiGetTimestamp(), show it; the other clocks are real (never wait for a time
 * of CLOCK_REALTIME). All threads share the one clock, as if the machine had one core. With
 * VPT_STANDIN_TIME=real the clock is the machine's, calls take the time they take, and ops end
 * after their durations; with VPT_STANDIN_TIME=first-thread only calls of the first thread cost time.
 *
 *	a call            moves the host's clock by its cost in the table; its record spans [entry, exit]
 *	an op             is queued at the exit of its call (a blocking one: at entry + cost) and starts at the latest of
 *	                    that + STANDIN_SUBMIT_NS (a graph's first nodes too),
 *	                    the end of the op before it on its stream,
 *	                    the time of each event its stream waits for;
 *	                  streams do not disturb each other, and nothing lies between two ops that are both queued
 *	kernel            lasts its first argument, a uint64_t in nanoseconds; without arguments STANDIN_PLAIN_NS
 *	copy              lasts STANDIN_COPY_NS + bytes / rate, rounded up; rates in bytes per microsecond below
 *	memset            lasts STANDIN_COPY_NS + bytes / STANDIN_DEVICE_RATE, rounded up
 *	host function     lasts nothing; the next call or standin_work() that ends at or after its turn runs it
 *	graph             a node starts when the nodes it depends on have ended; the launch's stream waits for all of them
 *	legacy stream     (0) waits for all blocking streams of its device and they wait for it
 *	synchronisation   the call enters, waits until the work is done, and returns STANDIN_WAKE_NS later;
 *	                  with nothing to wait for it takes only its cost. The wait begins at entry + its cost.
 *	blocking copy     cudaMemcpy, and cudaMemcpyAsync with a pageable side: goes on like a synchronisation with the end of its copy,
 *	                  in both directions. A pageable side makes the rate STANDIN_PAGEABLE_RATE.
 *	full queue        at most STANDIN_QUEUE launches may wait on a device (a copy, a memset, a whole graph is one): a call waits,
 *	                  after its cost and before it queues, until the launch STANDIN_QUEUE before it has ended
 *	kernel of NCCL    ends STANDIN_LINK_NS + bytes / STANDIN_LINK_RATE after the last of its ranks has come, see README.md
 *	event             is recorded when the ops before it on its stream have ended and the events the stream waits for are there, or at
 *	                  the exit of its call where that is later
 */
#ifndef VPT_TESTS_STANDIN_H
#define VPT_TESTS_STANDIN_H

#include <stdint.h>

#define STANDIN_EPOCH_NS UINT64_C(1700000000000000000)

enum {
	STANDIN_SUBMIT_NS = 2000,
	STANDIN_WAKE_NS = 5000,
	STANDIN_COPY_NS = 1000,
	STANDIN_PLAIN_NS = 1000,
	STANDIN_QUEUE = 1024,
	STANDIN_PINNED_RATE = 25000, /* bytes a microsecond: 25 GB/s */
	STANDIN_PAGEABLE_RATE = 6000,
	STANDIN_PEER_RATE = 50000,
	STANDIN_DEVICE_RATE = 1000000,
	STANDIN_LINK_RATE = 100000, /* between ranks */
	STANDIN_LINK_NS = 8000,     /* of a collective, beside its bytes */
	STANDIN_LINK_THREADS = 640,
	STANDIN_INIT_NS = 20000000, /* ncclCommInitRank, from the last rank's call on */
	STANDIN_CALL_NS = 500       /* cost of a call that the table below does not list */
};

/* What calls cost the host, in ns, by their CUDA runtime or driver name; all others
 * STANDIN_CALL_NS. */
#define STANDIN_COSTS(X)                                                                           \
	X(LaunchKernel, 3000) /* and cuLaunchKernel, the Ex forms */                               \
	X(GraphLaunch, 8000)                                                                       \
	X(GraphInstantiate, 1000000)                                                               \
	X(MemcpyAsync, 3500) /* and Memcpy */                                                      \
	X(MemsetAsync, 2500) /* and Memset */                                                      \
	X(EventRecord, 1000)                                                                       \
	X(StreamWaitEvent, 1000)                                                                   \
	X(StreamSynchronize, 1500) /* and EventSynchronize, DeviceSynchronize, CtxSynchronize */   \
	X(Malloc, 50000)           /* and MallocHost, HostAlloc */                                 \
	X(MallocAsync, 2000)                                                                       \
	X(Free, 20000)             /* and FreeHost; FreeAsync is one of the others */              \
	X(LibraryLoadData, 500000) /* and ModuleLoadData */                                        \
	X(Question, 0) /* cuDriverGetVersion, cuDeviceGetCount, cuDeviceGetUuid_v2, PCIBusId */

/* The host works for this long: moves the virtual clock, or sleeps. */
void standin_work(uint64_t ns);
uint64_t standin_now(void); /* the clock, as above */

/* What the simulation did so far, to compare with a capture. Every record that CUPTI was asked for
 * is delivered, dropped or held. */
struct standin_counts {
	uint64_t kernels, copies, memsets; /* ops that have ended */
	uint64_t calls; /* calls that CUPTI was asked to record, except those that cost nothing */
	uint64_t syncs, overheads; /* records of these kinds that CUPTI was asked for */
	uint64_t delivered;        /* records in buffers given to the client */
	uint64_t dropped;          /* records for which there was no buffer */
	uint64_t buffers_requested, buffers_refused, buffers_completed;
	uint64_t held;       /* records in buffers that CUPTI has not given back */
	uint64_t op_records; /* kernels, copies and memsets that CUPTI was asked for */
	uint64_t records;    /* of any kind that CUPTI was asked for */
	uint64_t callbacks;  /* times a client's callback ran */
	uint64_t gpu_rounds; /* times NVML was asked for its last value, of the last device */
	uint64_t heap_calls; /* malloc, free, mmap ... made inside them; see heap_guarded */
	uint64_t
		heap_guarded; /* 1: libstandin_heap.so is preloaded and heap_calls means something */
};
void standin_counts(struct standin_counts *out);

/* In libcupti: the `call`-th function called from now on returns `error` and does nothing.
 * Functions that need no driver do not count, except cuptiActivityRegisterCallbacks. 0: none
 * fails. */
void standin_fail_cupti(uint64_t call, int error);

#endif
