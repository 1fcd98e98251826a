/* vptrace.h - records the GPU work of this process into a capture file, for vptrace-analyze to read
 * later.
 *
 *	vptrace_start(NULL);                  // or nothing at all: `vptrace run -- program`
 *	vptrace_range_push("denoise");        // NVTX ranges are recorded too, see vptrace_nvtx.h
 *	...                                   // CUDA, from any thread
 *	vptrace_range_pop();
 *	vptrace_stop(NULL);
 *
 * The library is a guest. It loads where no CUDA is installed, finds CUPTI by itself, prints at
 * most one line on stderr when something went wrong, installs no signal handler, never ends or
 * blocks its host, and keeps its memory under a limit: beyond it the newest records are dropped and
 * counted. The file is readable up to its last whole chunk at any moment, however the process dies.
 * A forked child records nothing and writes nothing.
 *
 * The limit of memory, VPTRACE_MEMORY, is one for all that grows: the buffers that CUPTI fills, the
 * rings and range stacks of threads, the names of ranges, and the chunk that is being written with all
 * its tables. Buffers, and rings with stacks, may each have three quarters of it; an eighth at least
 * is the writer's. Beside it the library needs 16 MiB at most: its threads, tables of a fixed size,
 * and up to 4 MiB of buffers whose records are only counted, for versions of CUPTI before 12.9 that
 * must not be refused one. A thread that made a range takes a page of 4 KiB until it ends; where
 * records are made faster than they can be written, more is taken, and given back afterwards.
 *
 * Any thread may call any function at any time; start and stop wait for each other. A thread may be
 * cancelled in any of them.
 *
 * Signal handlers may make ranges, marks and counters; one that comes while its thread makes one is
 * counted as dropped. The other functions take locks and memory, so handlers should leave them
 * alone: where a handler has interrupted one of them, they do nothing and return EBUSY, but against
 * one that has interrupted malloc() nobody can help. */
#ifndef VPTRACE_H
#define VPTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VPTRACE_API
#define VPTRACE_API __attribute__((visibility("default")))
#endif

/* What functions return: 0, or one of these, with the reason in vptrace_last_error(). */
enum vptrace_error {
	VPTRACE_OK = 0,
	VPTRACE_EINVAL = -1,   /* an argument or an environment variable makes no sense */
	VPTRACE_EBUSY = -2,    /* a capture is running already; it goes on */
	VPTRACE_EIDLE = -3,    /* no capture is running */
	VPTRACE_ENOMEM = -4,   /* no memory */
	VPTRACE_EFILE = -5,    /* the file cannot be created or written */
	VPTRACE_ENOCUPTI = -6, /* recording NVTX ranges only: no usable CUPTI or driver */
	VPTRACE_ETAKEN =
		-7, /* recording NVTX ranges only: another profiler holds CUPTI in this process */
	VPTRACE_EDENIED =
		-8, /* recording NVTX ranges only: the driver does not allow tracing for this user */
	VPTRACE_ETIMEOUT =
		-9, /* stopped, but CUPTI kept buffers longer than stop_timeout_ms: records are missing */
	VPTRACE_EFORKED = -10 /* this process was forked from a traced one and records nothing */
};

enum vptrace_profile {
	VPTRACE_PROFILE_DEFAULT = 0, /* kernels, copies, calls, synchronisation, overhead, ranges */
	VPTRACE_PROFILE_LITE = 1,    /* kernels, copies, launches and ranges */
	VPTRACE_PROFILE_FULL = 2,    /* also memory operations */
	VPTRACE_PROFILE_COARSE = 3, /* as default, but a CUDA graph is one record, not one a node */
	VPTRACE_PROFILE_NONE =
		4 /* ranges and marks only: the baseline that costs next to nothing */
};

/* Set struct_bytes = sizeof(struct vptrace_options), everything else 0 for its default. A VPTRACE_*
 * variable of the environment, named after each field, wins over the field; a program that runs
 * setuid ignores them. Without a field: VPTRACE_TSC=0 stamps ranges by clock_gettime() alone, never
 * from the processor's counter. */
struct vptrace_options {
	size_t struct_bytes;
	const char *
		path; /* VPTRACE_OUTPUT. %p pid, %h host, %r rank, %q{VAR}, %% a percent sign. A name that is taken gets a
			     * number. Default: vptrace-<command>-<pid>.zst in the working folder, with -r<rank> where there is one. */
	int overwrite; /* VPTRACE_OVERWRITE=1: an existing regular file of that name is replaced */
	enum vptrace_profile profile; /* VPTRACE_PROFILE=default|lite|full|coarse|none */
	uint64_t memory_limit_bytes; /* VPTRACE_MEMORY, as 256M. Default 256 MiB, at least 16 MiB */
	uint32_t
		flush_interval_ms; /* VPTRACE_FLUSH_MS. At most so much is lost if the process dies. Default 1000 */
	uint32_t stop_timeout_ms; /* VPTRACE_STOP_MS. Default 5000 */
	int compression_level;    /* VPTRACE_LEVEL, zstd's. Default 1 */
	const char *cupti_path; /* VPTRACE_LIBCUPTI: a libcupti to load instead of the one found */
	int synchronize; /* VPTRACE_SYNC=1: vptrace_stop() first waits for the current device to finish */
};

struct vptrace_stats {
	size_t struct_bytes;    /* in: sizeof(struct vptrace_stats) */
	uint64_t received;      /* records that CUPTI, NVTX and the host's own calls delivered */
	uint64_t written;       /* of them, in the file or the chunk that is being filled */
	uint64_t dropped;       /* of them, not: received = written + dropped */
	uint64_t cupti_dropped; /* records that CUPTI itself could not deliver */
	uint64_t invalid;       /* of the written: times that make no sense */
	uint64_t chunks, file_bytes;
	uint64_t
		names_dropped; /* names beyond the 65,536 distinct ones of a process, recorded as "(too many names)" */
	uint64_t buffers_kept; /* that CUPTI had not given back when the capture ended */
	uint64_t
		cupti_records; /* that CUPTI delivered: of them, received are all but the filtered */
	uint64_t
		filtered; /* descriptions of devices and streams, driver calls that a runtime call tells of already, calls of no interest */
	int stop_code;    /* what vptrace_stop() returned */
	uint64_t
		unfinished; /* of the written: work that the GPU had not done at the stop, so that its times are not known; see synchronize */
};

/* Starts recording. `options` may be NULL. Returns 0 when the GPU's work is recorded; ENOCUPTI,
 * ETAKEN or EDENIED when only ranges are; anything else negative when nothing is. The file is made
 * at once, so a path that cannot be is an EFILE here; a process that the driver or NVTX made us trace
 * gets one only when there is something to write. */
VPTRACE_API int vptrace_start(const struct vptrace_options *options);

/* Drains, closes the file. `stats` may be NULL; without a running capture it is filled from the
 * last one and EIDLE returned. EFILE, ETIMEOUT, ETAKEN (another client of CUPTI in this process has
 * taken records): what was written before stays good, and the numbers
 * are exact all the same. Takes at most stop_timeout_ms for CUPTI, as long again for the disk, and a
 * moment to count what the disk did not take. */
VPTRACE_API int vptrace_stop(struct vptrace_stats *stats);

/* Discards what happens until vptrace_resume(), counted as a pause, not as loss. CUPTI stays on, as
 * switching it off and on again costs more and breaks the correlation of CUDA graphs before CUPTI
 * 13.1. */
VPTRACE_API int vptrace_pause(void);
VPTRACE_API int vptrace_resume(void);

/* A fact about the run, kept in the capture: "model.parameters", "session.tag" ... Before start it
 * is remembered for the next one. The latest value of a key wins. At most 256 keys of 256 bytes
 * with values of 4,096. */
VPTRACE_API int vptrace_metadata(const char *key, const char *value);

/* A sample of a series: cache hits, queue depth, bytes of an allocator. `unit` may be NULL. As
 * cheap as a range. */
VPTRACE_API int vptrace_counter(const char *name, double value, const char *unit);

enum vptrace_state {
	VPTRACE_STOPPED = 0,
	VPTRACE_RUNNING = 1,
	VPTRACE_RANGES_ONLY = 2, /* no CUPTI, see vptrace_last_error(), or profile none */
	VPTRACE_PAUSED = 3,
	VPTRACE_FAILED = 4, /* the file could not be written: nothing more is recorded */
	VPTRACE_INERT = 5   /* a forked child */
};
VPTRACE_API enum vptrace_state vptrace_status(void);

/* Why the last function of this library that failed in this thread failed; "" if none did. Valid
 * until the thread's next call. */
VPTRACE_API const char *vptrace_last_error(void);

/* Numbers of the running capture, or of the last one. Cheap enough for a status line. */
VPTRACE_API int vptrace_statistics(struct vptrace_stats *stats);

/* The name that the capture's file got, with its number; "" before there is one. Of the last
 * capture when none is running. Valid until the next one starts. */
VPTRACE_API const char *vptrace_path(void);

VPTRACE_API const char *vptrace_version(void); /* "0.1.0" */

/* ---- ranges without NVTX: the same rows in the capture ----
 *
 * For programs that cannot use NVTX's headers, and for late attach, when a library's NVTX is
 * already switched off. Names are copied. Ranges nest per thread, 256 deep; deeper ones are counted
 * and left out. Neither takes a lock, allocates or calls the system, except once a thread. */
VPTRACE_API void vptrace_range_push(const char *name);
VPTRACE_API void vptrace_range_pop(void);
VPTRACE_API uint64_t vptrace_range_start(const char *name); /* process-wide; 0: too many are open */
VPTRACE_API void vptrace_range_end(uint64_t id); /* on any thread; 0 and unknown ids do nothing */
VPTRACE_API void vptrace_mark(const char *name);

/* What a range is to a video pipeline. See vptrace_nvtx.h, which uses these where NVTX is
 * missing. */
enum vptrace_note_kind {
	VPTRACE_NOTE_NONE = 0,
	VPTRACE_NOTE_REQUEST = 1, /* one video asked for */
	VPTRACE_NOTE_STAGE = 2,   /* text encoding, VAE decoding ...: the range's name says which */
	VPTRACE_NOTE_BLOCK = 3,   /* one generated block of frames */
	VPTRACE_NOTE_STEP = 4,    /* one denoising iteration */
	VPTRACE_NOTE_CONTEXT = 5, /* the pass that writes the KV cache */
	VPTRACE_NOTE_FRAMES = 6   /* a mark: the block's frames are ready */
};

/* Also the layout of the NVTX payload, schema "vptrace". Fields that do not apply are negative. */
struct vptrace_note {
	int64_t kind;    /* enum vptrace_note_kind */
	int64_t index;   /* of the block in its request, of the step in its block; from 0 */
	int64_t frames;  /* video frames that the block makes */
	int64_t latents; /* latent frames of the block */
	double timestep; /* of the diffusion schedule; negative: not said */
};
VPTRACE_API void vptrace_note_push(const char *name, const struct vptrace_note *note);
VPTRACE_API void vptrace_note_mark(const char *name, const struct vptrace_note *note);

#ifdef __cplusplus
}
#endif

#endif
