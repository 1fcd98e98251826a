/* vptrace.h - records the GPU work of this process into a capture file, which vptrace-analyze reads
 * later.
 *
 *	vptrace_start(NULL);
 *	vptrace_range_push("denoise");        // NVTX ranges are recorded too, see vptrace_nvtx.h
 *	...                                   // CUDA, from any thread
 *	vptrace_range_pop();
 *	vptrace_stop(NULL);
 *
 * The library is a guest. It loads without CUDA, finds CUPTI by itself, prints at most one line on
 * stderr when something goes wrong, and installs no signal handler unless VPTRACE_SNAPSHOT_ON names
 * a signal. It never ends or blocks its host. It keeps its memory under a limit: beyond it the
 * newest records are dropped and counted. The file is readable up to its last whole chunk at any
 * moment, however the process dies. A child forked after the first start neither records nor
 * writes; one forked before it is a process like any other.
 *
 * Memory. One limit, VPTRACE_MEMORY, covers all that grows: the buffers that CUPTI fills, the rings
 * and range stacks of threads, the names of ranges, and the chunk being written with its tables.
 * Buffers may take three quarters of it, and so may rings with stacks; at least an eighth belongs
 * to the writer. The library needs at most 16 MiB more: its threads, tables of a fixed size, and up
 * to 4 MiB of buffers whose records are only counted, for versions of CUPTI before 12.9, which must
 * always get a buffer. Sampling Python stacks needs at most 16 MiB more. A thread that made a range
 * takes a page of 4 KiB until it ends; if records are made faster than they can be written it takes
 * more, and frees it afterwards.
 *
 * Threads. Any thread may call any function at any time; start and stop wait for each other. A
 * thread may be cancelled in any of them.
 *
 * Signals. Signal handlers may make ranges, marks and counters; one made while the handler's thread
 * was making another is counted as dropped. Handlers should not call the other functions, which
 * take locks and allocate memory. If a handler has interrupted one of them, they do nothing and
 * return EBUSY; but nothing protects a handler that has interrupted malloc().
 *
 * Strings. The library borrows strings for the call and copies what it keeps: names, units, keys,
 * values and the paths of the options may be freed or changed afterwards. They are UTF-8 and end
 * with NUL. */
#ifndef VPTRACE_H
#define VPTRACE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; vptrace_version() is the library's. A program runs with any library
 * of the same major version that is not older than its header. */
#define VPTRACE_VERSION_MAJOR 0
#define VPTRACE_VERSION_MINOR 1
#define VPTRACE_VERSION_PATCH 0
#define VPTRACE_VERSION_NUMBER                                                                     \
	(VPTRACE_VERSION_MAJOR * 10000 + VPTRACE_VERSION_MINOR * 100 + VPTRACE_VERSION_PATCH)

/* The library's name for the loader: dlopen(VPTRACE_SONAME, RTLD_LAZY | RTLD_NOLOAD) finds the one
 * that this process has loaded, however it was loaded. */
#define VPTRACE_SONAME "libvptrace.so.0"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VPTRACE_API
#define VPTRACE_API __attribute__((visibility("default")))
#endif

/* What functions return: 0, or one of these, with the reason in vptrace_last_error(). Each function
 * names its own. A newer library may return codes that this header does not name. */
enum vptrace_error {
	VPTRACE_OK = 0,
	VPTRACE_EINVAL = -1, /* an invalid argument or environment variable */
	VPTRACE_EBUSY = -2,  /* a capture is already running; it continues */
	VPTRACE_EIDLE = -3,  /* no capture is running */
	VPTRACE_ENOMEM = -4, /* no memory */
	VPTRACE_EFILE = -5,  /* the file cannot be created or written */

	/* Only ranges, marks and counters are recorded: there is no usable CUPTI or driver; another
	 * profiler holds CUPTI in this process (from a stop: it had the GPU's records for a time);
	 * the driver does not let this user trace. */
	VPTRACE_ENOCUPTI = -6,
	VPTRACE_ETAKEN = -7,
	VPTRACE_EDENIED = -8,

	/* Stopped, but records are missing: after stop_timeout_ms the GPU had not finished or CUPTI
	 * kept buffers, or CUPTI did not record the nodes of graphs. */
	VPTRACE_ETIMEOUT = -9,
	/* This process was forked from a traced one and records nothing. */
	VPTRACE_EFORKED = -10
};

/* What is recorded. Ranges, marks and counters always are. */
enum vptrace_profile {
	VPTRACE_PROFILE_DEFAULT = 0, /* kernels, copies, calls, synchronisation, overhead */
	VPTRACE_PROFILE_LITE = 1,    /* kernels, copies and launches */
	VPTRACE_PROFILE_FULL = 2,    /* also memory operations */

	/* As default, but one record per CUDA graph, not per node. CUPTI may keep doing so until
	 * the process ends; later captures with other profiles report it if they lack nodes. */
	VPTRACE_PROFILE_COARSE = 3,

	VPTRACE_PROFILE_NONE = 4 /* nothing else: the baseline, at almost no cost */
};

/* Set struct_bytes = sizeof(struct vptrace_options) and all other fields to 0, the default; then
 * change fields as needed. The struct and its strings are copied.
 *
 * A VPTRACE_* environment variable overrides its field; a program that runs setuid ignores them
 * all. One variable has no field: VPTRACE_TSC=0 stamps ranges with clock_gettime() alone, never
 * from the processor's counter. */
struct vptrace_options {
	size_t struct_bytes;

	/* VPTRACE_OUTPUT: the file. %p becomes the process id, %h the host, %r the rank, %q{VAR} an
	 * environment variable, %% a percent sign. If the file exists, a number is added to the
	 * name. NULL or "": vptrace-<command>-<pid>.zst in the working folder, with -r<rank> if
	 * there is a rank; a folder with / at its end: the same name there. */
	const char *path;

	/* VPTRACE_OVERWRITE=1: replaces an existing regular file of that name. */
	int overwrite;

	/* VPTRACE_PROFILE=default|lite|full|coarse|none */
	enum vptrace_profile profile;

	/* VPTRACE_MEMORY, as 256M: 16 MiB to 1 TiB. Default 256 MiB. */
	uint64_t memory_limit_bytes;

	/* VPTRACE_FLUSH_MS: 10 to 3,600,000. If the process dies, the records of this long are lost
	 * at most; of the GPU's work an eighth more, and what was launched within such an eighth
	 * together with work that had not ended. Default 1000. */
	uint32_t flush_interval_ms;

	/* VPTRACE_STOP_MS: 1 to 3,600,000. How long vptrace_stop() waits for the GPU and CUPTI, and
	 * again for the disk. Default 5000. */
	uint32_t stop_timeout_ms;

	/* VPTRACE_LEVEL: zstd's, -7 to 19. Default 1. */
	int compression_level;

	/* VPTRACE_LIBCUPTI: a libcupti to load. NULL or "": search for one. */
	const char *cupti_path;

	/* Whether the stop waits for launched work, see vptrace_stop(). 0 or 1: it does; -1, or
	 * VPTRACE_SYNC=0: it does not. */
	int synchronize;

	/* VPTRACE_DEVICE_BUFFERS: the most buffers of 3.2 MB that CUPTI may take on the device per
	 * context; set it before CUDA starts. CUPTI's own limit of 250 holds the times of 25
	 * million running or pending operations. Default 0: CUPTI's. */
	uint32_t device_buffers;

	/* VPTRACE_CAPTURE: when to record. At all other times everything is discarded, as in a
	 * pause; see vptrace_pause(). NULL or "": now.
	 *
	 * now              from the start on
	 * api              from the program's first vptrace_start() or vptrace_resume() on
	 * cudaProfilerApi  from each cudaProfilerStart() or cuProfilerStart() to the next Stop
	 * nvtx:RANGE       while a range of this name is open: from its push or start to its end,
	 *                  each time, on whatever thread and in whatever domain. Ranges of the name
	 *                  that begin meanwhile change nothing
	 * nvtx:RANGE:N     the same, the first N times
	 * step:A-B, step:A from the beginning of step A to the end of step B, counted from 0; see
	 *                  vptrace_step()
	 * block:A-B, request:A-B
	 *                  the same of ranges with a note of the kind BLOCK or REQUEST
	 * request:wait=W,warmup=U,active=N,repeat=R,skip_first=S
	 *                  of requests, or block: or step: of these. After the first S, W + U are
	 *                  not recorded and N are, R times; 0, the default: until the end. N is 1
	 *                  if it is not given
	 * delay:S          from S seconds after the start on
	 *
	 * The GPU's work is recorded if it was launched inside the window, however late it begins,
	 * or if it begins inside. A capture that ends waits for it, as vptrace_stop() does. Ranges
	 * that are already open when the window opens begin with it. */
	const char *capture;

	/* VPTRACE_DURATION, in seconds, as 10 or 0.25: ends the capture after this much recorded
	 * time. VPTRACE_MAX_BYTES, as 500M, at least 1 MiB: ends it before the file exceeds that.
	 * 0: no limit. A capture also ends with the last window of nvtx:RANGE:N, step:A-B or
	 * repeat. Its records are then complete, the file is closed, and CUPTI is released; a later
	 * vptrace_stop() of the host returns the result. */
	uint64_t duration_ns;
	uint64_t max_bytes;

	/* VPTRACE_RING: a flight recorder. Keeps the last part of the capture in memory instead of
	 * a file: a length of time, as 30s, 2m or 1h, or a number of compressed bytes, as 64M or
	 * 1G, at least 1M. vptrace_snapshot() and the end of the capture write it to a file. Its
	 * memory comes in addition to memory_limit_bytes: at most the number of bytes given here;
	 * for a length of time at most memory_limit_bytes once more, and if that is too little,
	 * less time is kept. If a process dies, its ring is lost, unless it runs under
	 * `vptrace run`, which then writes the file. NULL or "": none. */
	const char *ring;

	/* VPTRACE_SNAPSHOT_ON: writes the ring each time one of these events occurs. The end of the
	 * capture is then not written. Several are separated by commas. NULL or "": none.
	 *
	 * mark:NAME    a mark of this name is made, here or by NVTX
	 * slow:K       a step took longer than K times the median of the last 32, of which there
	 *              must be 8; at most once per length of the ring, or 30 s. See vptrace_step()
	 * signal:NAME  USR1, USR2, HUP, WINCH, URG, IO or PWR. The library installs a signal
	 *              handler for it, which wakes a thread and calls the previous handler */
	const char *snapshot_on;

	/* VPTRACE_COUNTERS: the time between samples of counters, 100 to 60,000 ms; -1, or
	 * VPTRACE_COUNTERS=off: none. 0, the default: 500 ms if the GPU's work is recorded, none
	 * otherwise. A thread of the library samples the GPUs that CUDA shows to this process, with
	 * NVML (memory, utilization, power, clocks and what limits them, temperature), and with
	 * /proc the process (CPU, memory, reads from disk, page faults, context switches), the
	 * machine (CPU, available memory) and its cgroup's CPU quota. Values that the driver or the
	 * kernel refuses are left out. The variable may also be a list, each item a name and a time
	 * or off, as gpu:100ms,cpu:1s,temperature:off: memory, utilization, power, clocks,
	 * temperature of GPUs (gpu: all of these), cpu, ram, disk, faults (host), or all. If NVML
	 * hangs, counters end there and a stop takes 0.2 s longer. */
	int counters_ms;

	/* VPTRACE_STACKS: the most samples per second of the Python stacks of threads that call
	 * CUDA or make ranges, 1 to 1000; -1, or VPTRACE_STACKS=off or =0: none. 0, the default:
	 * 200. As many are taken as 0.5 % of a processor pays for: on a small virtual machine 30
	 * to 100 with one or two threads that compute, 15 with 32. A thread that sleeps costs next
	 * to nothing and has all of its samples; the analysis weighs each sample by the time since
	 * the one before. Stacks are sampled only if the GPU's work is recorded, and only in
	 * CPython 3.9 to 3.13 with its global lock. One that is loaded after the start is found
	 * within a second. A thread of the library reads the interpreter's memory by checked
	 * copies: it takes no lock of the interpreter, sends no signal, and runs no code on the
	 * sampled threads. If the system refuses such copies (process_vm_readv() and
	 * /proc/self/mem), there are no stacks. */
	int stacks_hz;

	/* VPTRACE_TAGS: what reports call the run, KEY=VALUE with commas between, such as
	 * "model=wan,steps=50". `vptrace-analyze trend --tag` selects by them. The same as
	 * vptrace_metadata("tag.KEY", VALUE), which wins. NULL or "": none. */
	const char *tags;
};

/* Counts of a capture since its start. Set struct_bytes = sizeof(struct vptrace_stats); an older
 * library leaves fields that it does not know unchanged.
 *
 * received = written + dropped, exactly, and cupti_records = those of received that came from CUPTI
 * + filtered. */
struct vptrace_stats {
	size_t struct_bytes;

	/* records that CUPTI, NVTX and the host's own calls delivered, and samples of counters */
	uint64_t received;
	uint64_t written;       /* of received: in the file or the open chunk */
	uint64_t dropped;       /* of received: not written */
	uint64_t cupti_dropped; /* records that CUPTI itself could not deliver */
	uint64_t invalid;       /* of the written: with invalid times */
	uint64_t chunks, file_bytes;

	/* Names beyond the 65,536 distinct ones of a process, recorded as "(too many names)". */
	uint64_t names_dropped;

	/* Buffers that CUPTI had not given back when the capture ended. */
	uint64_t buffers_kept;

	/* Records that CUPTI delivered, and those of them not counted as received: descriptions of
	 * devices and streams, driver calls inside a recorded runtime call, calls that are not
	 * recorded. */
	uint64_t cupti_records;
	uint64_t filtered;

	int stop_code; /* what vptrace_stop() returned */

	/* Of the written: work that the GPU had not finished at the stop, so its times are unknown;
	 * see synchronize. */
	uint64_t unfinished;

	uint64_t samples; /* Of received: values that the library sampled, see counters_ms. */
};

/* Starts recording. `options` may be NULL: all defaults.
 *
 * 0             the GPU's work is recorded; or the running capture waited for this call, see
 *               `capture`
 * ENOCUPTI, ETAKEN, EDENIED
 *               only ranges, marks and counters are recorded; the capture runs
 * EINVAL        an option or a variable is invalid; vptrace_last_error() names it
 * EBUSY         a capture is already running, and continues; the write of an earlier one is still
 *               blocked; or a signal handler has interrupted a function of the library, which
 *               applies to every EBUSY below
 * EFILE         the file cannot be created. It is created at once; in a process where the driver or
 *               NVTX loaded the library, only when there is something to write
 * ENOMEM        no memory, or less than 128 KiB of the calling thread's stack are left, of which
 *               CUPTI and the driver may need most
 * EFORKED */
VPTRACE_API int vptrace_start(const struct vptrace_options *options);

/* Ends the capture: waits for the GPU and for CUPTI, closes the file. `stats` may be NULL; else it
 * gets the capture's counts, whatever is returned, except with EBUSY, ENOMEM and EFORKED.
 *
 * Unless `synchronize` is -1, it waits for all work that any thread has launched so far, on all
 * devices; recording continues meanwhile. A thread of the library calls cuCtxSynchronize() for each
 * context, so a kernel that never ends blocks only that thread. While a stream of the process is
 * being captured, no device is synchronized, since that would invalidate the capture; the stop then
 * waits until CUPTI has returned all earlier records. Work still running at the end has rows
 * without times: the capture records since when on each stream, `unfinished` counts them, and the
 * report is INCOMPLETE. A process that ends without a stop waits just as long, but only for CUPTI's
 * records; it does not call the driver.
 *
 * Takes at most stop_timeout_ms for the GPU and CUPTI, a second more if the GPU used all of it, as
 * long again for the disk, and a moment to count what was not written. What was written before a
 * failure stays valid, and the counts are exact.
 *
 * 0             everything that was received is in the file
 * EIDLE         no capture runs; `stats` gets the counts of the last one
 * EFILE         the file could not be written to its end
 * ETIMEOUT      the GPU had not finished, CUPTI did not stop in time, or it kept buffers
 * ETAKEN        another client of CUPTI in this process has taken records
 * ENOMEM        less than 128 KiB of the calling thread's stack are left; the capture goes on
 * EBUSY, EFORKED */
VPTRACE_API int vptrace_stop(struct vptrace_stats *stats);

/* From a pause to the next resume, everything is discarded and counted as a pause, not as loss, but
 * for the GPU's work that was launched before, however late it begins.
 * CUPTI stays on: switching it off and on again costs more, and breaks the correlation of CUDA
 * graphs before CUPTI 13.1.
 *
 * 0, also if it is already paused (or running); EIDLE; EFILE if the capture's file has failed;
 * EBUSY, EFORKED. */
VPTRACE_API int vptrace_pause(void);
VPTRACE_API int vptrace_resume(void);

/* Writes what the ring of the running capture holds, up to now, to a file of its own. Recording
 * continues. `path`: as in the options, NULL or "" for the name there. If the file exists, a number
 * is added to the name; vptrace_path() returns it. Waits for the file, for at most twice
 * stop_timeout_ms and 2 s. Beside a GPU that is never idle, up to 1 s of this is for records that
 * CUPTI keeps; those that have not come then are told as missing in the file.
 *
 * 0             the file is complete
 * EIDLE         no capture runs, it has no ring, or nothing has been recorded yet
 * EFILE         the file could not be written, and is removed; the ring is intact, and a later
 *               snapshot may succeed
 * EINVAL        `path` has an invalid sequence, or is too long
 * ENOMEM, EBUSY, EFORKED */
VPTRACE_API int vptrace_snapshot(const char *path);

/* A fact about the run, kept in the capture: "model.parameters", "session.tag" ... The latest value
 * of a key wins. Without a running capture it is kept for the next one; a stop clears all facts.
 *
 * 0; EINVAL for a key that is NULL, empty or longer than 256 bytes, a value that is NULL or longer
 * than 4,096, and for a 257th key; ENOMEM; EBUSY, EFORKED. */
VPTRACE_API int vptrace_metadata(const char *key, const char *value);

/* A sample of a series: cache hits, queue depth, bytes of an allocator. `unit` may be NULL. The
 * report's mean is of the samples, so that 1 for a hit and 0 for a miss give the share of hits; if
 * the unit is one of bytes ("B", "MiB" ...), "%", "W", "C", "MHz" or a rate ("frames/s"), it is by
 * time. As cheap as a range. 0, also if nothing is recorded; EINVAL if `name` is NULL or empty. */
VPTRACE_API int vptrace_counter(const char *name, double value, const char *unit);

enum vptrace_state {
	VPTRACE_STOPPED = 0,
	VPTRACE_RUNNING = 1,

	/* no CUPTI, or another client of it in this process has the records now: see
	 * vptrace_last_error(); or profile none */
	VPTRACE_RANGES_ONLY = 2,

	VPTRACE_PAUSED = 3,
	VPTRACE_FAILED = 4, /* the file could not be written: nothing more is recorded */
	VPTRACE_INERT = 5   /* forked from a traced process */
};

/* What the library does at this moment. Takes no lock and never fails. */
VPTRACE_API enum vptrace_state vptrace_status(void);

/* The reason of this thread's last failure in this library; "" if there was none, never NULL. Owned
 * by the library; valid until this thread's next call. */
VPTRACE_API const char *vptrace_last_error(void);

/* Counts of the running capture, or of the last one; zeros before the first. Cheap enough for a
 * status line. 0; EINVAL if `stats` is NULL or its struct_bytes is not set; EBUSY, EFORKED. */
VPTRACE_API int vptrace_statistics(struct vptrace_stats *stats);

/* The name of the capture's file, with its number; of the last capture if none is running. ""
 * before there is one and in an inert process, never NULL. Owned by the library; valid until this
 * thread's next call of it, or its end. */
VPTRACE_API const char *vptrace_path(void);

/* The library's version, as "0.1.0". A constant. */
VPTRACE_API const char *vptrace_version(void);

/* ---- ranges without NVTX: the same rows in the capture ----
 *
 * For programs that cannot use NVTX's headers, and for late attach, when a library's NVTX is
 * already switched off. A NULL name is "". Ranges nest per thread, 256 deep; where more are open,
 * the oldest ends early, and is counted as an unmatched push. None of these functions fails. After
 * a thread's first call they take no lock, allocate nothing and make no system call, unless the
 * thread's ring is full: then they map another one. */

/* Opens a range on this thread; closes the one that was opened last. A pop without a push does
 * nothing. */
VPTRACE_API void vptrace_range_push(const char *name);
VPTRACE_API void vptrace_range_pop(void);

/* Opens a range of the process, which any thread may end, and returns its id; 0 if 4,096 are open
 * or this process is inert. Ending 0 or an id that is not open does nothing. */
VPTRACE_API uint64_t vptrace_range_start(const char *name);
VPTRACE_API void vptrace_range_end(uint64_t id);

/* Marks this moment on this thread. */
VPTRACE_API void vptrace_mark(const char *name);

/* ---- notes: what a range is to a video pipeline ----
 *
 * vptrace_nvtx.h makes them, and uses these functions where NVTX is missing. */

enum vptrace_note_kind {
	VPTRACE_NOTE_NONE = 0,
	VPTRACE_NOTE_REQUEST = 1, /* one requested video */
	VPTRACE_NOTE_STAGE = 2,   /* text encoding, VAE decoding ...: the range's name says which */
	VPTRACE_NOTE_BLOCK = 3,   /* one generated block of frames */
	VPTRACE_NOTE_STEP = 4,    /* one denoising iteration */
	VPTRACE_NOTE_CONTEXT = 5, /* the pass that writes the KV cache */
	VPTRACE_NOTE_FRAMES = 6,  /* a mark: the block's frames are ready */
	VPTRACE_NOTE_RANGE = 7    /* none of these, whatever its name: the part of a model, say */
};

/* Also the layout of the NVTX payload, schema "vptrace". Fields that do not apply or are unknown
 * are negative. */
struct vptrace_note {
	int64_t kind;    /* enum vptrace_note_kind */
	int64_t index;   /* of the block in its request, of the step in its block; from 0 */
	int64_t frames;  /* video frames that the block makes */
	int64_t latents; /* latent frames of the block */
	double timestep; /* of the diffusion schedule */
};

/* Like vptrace_range_push() and vptrace_mark(), with a note, which is copied; NULL: none. */
VPTRACE_API void vptrace_note_push(const char *name, const struct vptrace_note *note);
VPTRACE_API void vptrace_note_mark(const char *name, const struct vptrace_note *note);

/* Sets the fields that are still negative in the note of this thread's innermost open range of
 * `note->kind`, one that vptrace_note_push() or NVTX has opened. Does nothing without such a
 * range. */
VPTRACE_API void vptrace_note_fill(const struct vptrace_note *note);

/* A fact about this thread's innermost open request, such as "height" and "480"; the newest value
 * of a name counts. The report knows these names: height, width, steps, guidance, batch, seed,
 * frames, frames_asked, and error, which says that the request failed; it lists any other one. 64
 * bytes of the name are kept, and 128 of the value, in which quotes, backslashes and control bytes
 * become "?". Returns EINVAL without a name or a value. */
VPTRACE_API int vptrace_fact(const char *name, const char *value);

/* ---- annotations: what else a range or a mark says ---- */

/* Like vptrace_range_push() and vptrace_mark(), with an annotation: one flat JSON object, whose
 * values are whole numbers and texts without escapes, in less than VPTRACE_ANNOTATION_MAX bytes. It
 * is copied. NULL, "" and a longer one: none. The library does not read it, so a push costs as much
 * as one with a note. The analysis ignores an object that it cannot read, and keys that it does not
 * know:
 *
 * "flop":N, "bytes":N   of a range: floating-point operations of its kernels, and bytes that they
 *                       read and write at least. The report gives the rates. Of ranges in each
 *                       other the innermost one counts
 * "kind":"stage"        of a range: a part of the pipeline, as VPTRACE_NOTE_STAGE
 * "component":1         with it: a part that the report lists with its frames per second
 * "frames":N            with it: the video frames that it makes
 * "shapes":"2x3 3x4"    of a range: sizes of its inputs. The report lists it as an operator
 * "compile":"3/1"       of a range: a compiler is at work, on code 3 for the second time
 * "kind":"memory"       of a mark, whose name is a label: what an allocator holds at this moment,
 *                       "allocated":N bytes and "reserved":N, "peak":N, the most that was allocated
 *                       since the label before, with "exact":1 unless it may have been more, and
 *                       "device":N, CUDA's ordinal. Each may be left out
 *
 * Neither fails. Any thread; as cheap as the other ranges and marks. */
enum { VPTRACE_ANNOTATION_MAX = 256 };
VPTRACE_API void vptrace_annotated_push(const char *name, const char *json);
VPTRACE_API void vptrace_annotated_mark(const char *name, const char *json);

/* Begins a denoising step and ends the one before, for step:A-B of `capture` and slow:K of
 * `snapshot_on`; does nothing else. The first step of a capture is step 0. Each push of a note of
 * the kind STEP, also through NVTX, counts as a step, which its pop ends. Any thread; all threads
 * count together. */
VPTRACE_API void vptrace_step(void);

#ifdef __cplusplus
}
#endif

#endif
