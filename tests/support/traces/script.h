/* script.h - traces written by hand: a few lines of text become a capture.
 *
 * For tests whose answers a person can compute. A line is a statement; "#" starts a comment; ";" ends a
 * line too. Times are nanoseconds on the trace clock, or carry a unit: 250us 1.5ms 2s. A span is
 * START-END or START+DURATION; an END before START makes a row with a negative duration, a START of 0
 * one with an invalid time. Rows may stand in any order: within a chunk they are sorted into completion
 * order, and of equal ends the later start comes first, so that a range line follows what it holds; calls without
 * length come last.
 *
 *	start 1000 [unix N]          header: t0, and the same moment on CLOCK_REALTIME
 *	end 2ms                      when the capture stopped (CLOCK row); else the largest end of all rows
 *	killed                       no stop: no CLOCK row, and the last chunk is not marked as last
 *	pid 1 · id 7 · flags 1       header: process, capture id, flags
 *	chunk [TIME]                 closes the chunk; what follows goes into the next. OPEN rows are made for
 *	                             every range that began by TIME and stands in a later chunk. TIME is
 *	                             the largest end so far where it is left out.
 *	lost 5                       the chunk's lost_events
 *
 *	device 0 "Sim GPU" cc 9.0 sms 132 memory 80GiB simulated
 *	meta rank "0"
 *	stats t1|all received 10 dropped 2 invalid 0
 *
 *	stream s7 device 0 context 1 stream 7 [pid 1] [priority -1] ["name"]
 *	thread t1 pid 1 tid 100 ["main"]
 *	series power device 0 unit "W" ["GPU power"]
 *	  A lane that is not declared is made: s7 is stream 7 of device 0 (context 1), s2.7 stream 7 of
 *	  device 2 (context 3), t5 thread 5, all of process 1. Keys count from 1 in order of appearance.
 *	  `all` and `-` are lane 0.
 *
 *	call t1 cudaLaunchKernel 100-110 corr 1 [ret 700]     a name that calls.def lacks is kept as text
 *	kernel s7 120-180 corr 1 "gemm" [grid 132] [grid 8x4x1] [block 128] [node 5] [shared 48KiB] [regs 64]
 *	copy s7 HtoD [pinned->device] 200-210 corr 2 bytes 4096 [peer 2] [async]
 *	memset s7 220-221 corr 3 bytes 16 [value 0]
 *	range t1 90-400 "step 1" [domain cpu_op] [category 3] [colour 0xff00ff00] [unmatched] [end_thread t2]
 *	                         [json "{}"] [int -5] [double 0.5]                   the last three: payload
 *	startend t1 90-400 "request"
 *	open t1 90 "block 3"     still open when the capture ends: an OPEN row in each chunk from then on
 *	openstartend t1 90 "request"
 *	opened t1 90 "block 3" json "{}"    its OPEN row in this chunk only, instead of the one that is made for a range
 *	mark t1 95 "seed" [int 42]
 *	counter power 100 250.5
 *	memory s7 100 allocate memory_kind device bytes 1MiB address 0x1000
 *	sync t1|s7|- stream 300-310 corr 5 [waits s9] [event 4] [sync_id 2] [context 1]
 *	event s7 300 event 4 [sync_id 2] [corr 6]
 *	overhead t1|- "buffer flush" 500-600
 *	loss all|t1|s7 dropped 10-20 count 5
 *	graph t1 50 "node created" graph 1 node 7 [origin 3] [range "capture"]
 *	sample t1 50 "main (train.py:12);forward (model.py:40)" [state running] [cpu_us 300] [wait_us 2]
 *	                         [flags 1]     the text: its stack, outermost frame first, as cat shows it
 *
 * After the leading words, any column of the row's kind may be given as NAME VALUE, named as in
 * formats/events.def; a kernel takes those of its configuration too. Text with spaces stands in double
 * quotes, with \" \\ \n \xHH; bare text in quotes is the row's name. */
#ifndef VPT_TESTS_SUPPORT_SCRIPT_H
#define VPT_TESTS_SUPPORT_SCRIPT_H

#include "formats/base/error.h"
#include "formats/io/io.h"
#include "formats/import/any_trace.h"

struct vpa_options;
struct vpa_report;

/* Writes the capture to `sink`, which stays the caller's. VPT_EINVAL names the invalid line. */
int vpt_script_write(const char *script, struct vpt_sink *sink, struct vpt_err *err);

/* The same into memory; out->data is the caller's to free with vpt_free(), NULL on failure. */
int vpt_script_bytes(const char *script, struct vpt_buffer *out, struct vpt_err *err);

/* The same as a source that owns its bytes and frees them when it is closed. */
int vpt_script_source(const char *script, struct vpt_source **out, struct vpt_err *err);

/* The same as an opened trace. vpt_trace_close() frees everything. */
int vpt_script_trace(const char *script, struct vpt_trace **out, struct vpt_err *err);

/* The report of the script alone; fails the test where there is none. `options` may be NULL. vpa_report_free() frees it. */
struct vpa_report *vpt_script_report(const char *script, const struct vpa_options *options);

/* A source that takes `bytes` over: freed with it, and on failure. */
int vpt_source_own(struct vpt_buffer *bytes, struct vpt_source **out, struct vpt_err *err);

#endif
