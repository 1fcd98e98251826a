/* exporter.h - writes a format of another tool.
 *
 * An exporter is one file with one exported descriptor. vpa_export() in export_pass.h runs it over a trace
 * chunk by chunk, so memory does not grow with the trace. To add one: that file, and a line in
 * VPA_EXPORTERS. */
#ifndef VPA_ANALYSIS_EXPORT_EXPORTER_H
#define VPA_ANALYSIS_EXPORT_EXPORTER_H

#include "analysis/folds/observer.h"
#include "analysis/ranks/alignment/rank_clocks.h"
#include "analysis/report/report.h"
#include "formats/base/error.h"
#include "formats/import/any_trace.h"
#include "formats/io/io.h"
#include "formats/perfetto/packet_container.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- packet_groups.c: compresses groups of packets on several threads and writes them in order ---- */

struct vpa_groups;

/* `jobs` threads besides the caller's; 0: one per core, at most 4; 1: none, vpa_groups_put()
 * compresses. Goes on with fewer threads where the system refuses some. The caller keeps the sink. 0,
 * VPT_ENOMEM, VPT_EUNSUPPORTED. */
int vpa_groups_start(struct vpt_sink *sink, enum vpt_container kind, int level, unsigned jobs,
	struct vpa_groups **out, struct vpt_err *err);

/* Takes a copy of a group. Waits while too many are pending. 0 or the first failure. */
int vpa_groups_put(struct vpa_groups *g, const void *data, size_t size, struct vpt_err *err);

/* Writes all pending groups. 0 or the first failure. */
int vpa_groups_flush(struct vpa_groups *g, struct vpt_err *err);
void vpa_groups_free(struct vpa_groups *g); /* accepts NULL */

/* ---- output_folder.c: a folder of files that appears as a whole or not at all ---- */

#define VPA_EXPORT_LEVEL 3 /* of compression if the user gives none; Chrome's JSON has it too */

struct vpa_export_folder;
struct vpa_export_file;

/* Makes the folder under a temporary name beside `path`. `container` is NONE or ZSTD and applies to
 * each file; `level` 0: VPA_EXPORT_LEVEL. The caller frees the folder, which removes what was not
 * committed. 0; VPT_EINVAL: see vpa_export_folder_check(); VPT_EIO, VPT_ENOMEM. */
int vpa_export_folder_new(const char *path, int force, enum vpt_container container, int level,
	struct vpa_export_folder **out, struct vpt_err *err);
void vpa_export_folder_free(struct vpa_export_folder *f); /* accepts NULL */

/* Adds a file, owned by the folder; with `packed` 0 it is never compressed. 0 or an error code. */
int vpa_export_file_new(struct vpa_export_folder *f, const char *name, int packed,
	struct vpa_export_file **out, struct vpt_err *err);
int vpa_export_file_put(
	struct vpa_export_file *file, const void *data, size_t size, struct vpt_err *err);
/* Adds a file that another program writes into the folder, whose path is vpa_export_folder_path(). 0 or an error code. */
int vpa_export_file_expect(struct vpa_export_folder *f, const char *name,
	struct vpa_export_file **out, struct vpt_err *err);
const char *vpa_export_folder_path(const struct vpa_export_folder *f); /* until it is committed */
const char *vpa_export_file_name(const struct vpa_export_file *file);  /* as in the folder */

/* Ends all files and gives the folder its name. *bytes: their total size. VPT_EIO too where an expected file is missing. */
int vpa_export_folder_commit(struct vpa_export_folder *f, uint64_t *bytes, struct vpt_err *err);

/* Whether `path` can be written: nothing has that name, or, with `force`, a folder that holds only
 * files of an export. Call it before a long computation. 0, VPT_EINVAL or VPT_EIO. */
int vpa_export_folder_check(const char *path, int force, struct vpt_err *err);

#ifdef VPT_HAVE_SQLITE
#define VPA_EXPORTER_SQLITE(X) X(sqlite)
#else
#define VPA_EXPORTER_SQLITE(X) /* this build has no SQLite */
#endif

/* Every exporter in the order of --help, and the default one. */
#define VPA_EXPORTERS(X)                                                                           \
	X(perfetto)                                                                                \
	X(chrome)                                                                                  \
	X(csv)                                                                                     \
	X(jsonl)                                                                                   \
	VPA_EXPORTER_SQLITE(X)                                                                     \
	X(parquet)                                                                                 \
	X(arrow)
#define VPA_EXPORTER_USUAL "perfetto"

#define VPA_EXPORT_MIN_GAP_US 2 /* Perfetto's shortest gap, if the user gives none */

#define VPA_EXPORT_TOP 1000 /* rows of a table of the report, where it has the longest or largest */

/* What a file's times are counted from. */
struct vpa_export_clock {
	enum {
		VPA_CLOCK_OWN, /* the machine's boot, where the trace knows it; else as it counts */
		VPA_CLOCK_TIME_OF_DAY, /* which the trace must know */
		VPA_CLOCK_PLACED, /* `placed` is laid onto that of another machine, whose time 0 is start_ns, a time of day */
		VPA_CLOCK_COMMON_START /* such that the trace begins at start_ns, a time of day */
	} kind;
	uint64_t start_ns;
	struct vpa_clock placed;
	int is_unaligned; /* beside the other traces it may be off by anything */
};

struct vpa_store;
struct vpa_line;

/* Of a file that several traces make one after the other, the one that is written now. */
struct vpa_export_part {
	size_t number, count;          /* from 0 */
	const char *label;             /* "rank 3" */
	const struct vpa_clock *clock; /* the trace's, beside that of the others */
	const struct vpa_rank *rank;   /* whose it is; NULL: of none, or of several */
	struct vpa_line *gpus; /* those of the parts before, to which this one's are added */
	int64_t start_ns;      /* where the file begins, in the time of all */
	uint64_t base_ns;      /* that as a time of day; 0: not known */
	size_t incomplete;     /* of those before, how many lack records */
};

#define VPA_GPU_SHARED SIZE_MAX /* of an address: whoever has it */

/* Without an address nobody can tell whether GPU 0 of two traces is one. */
static inline int vpa_gpu_has_address(const struct vpa_gpu *g)
{
	return *g->uuid || *g->pci;
}

/* Of two with addresses on one machine. Instances of a GPU (MIG) have its bus, and UUIDs of their
 * own. */
static inline int vpa_gpu_is_same(const struct vpa_gpu *a, const struct vpa_gpu *b)
{
	if (*a->uuid && *b->uuid)
		return !strcmp(a->uuid, b->uuid);
	return *a->pci && !strcmp(a->pci, b->pci);
}

struct vpa_export_options {
	enum vpt_container container;
	int level;         /* of compression; 0: the default */
	unsigned jobs;     /* compressing threads; 0: one per core, at most 4 */
	int gpu_as_slices; /* 1: ops are plain slices, for versions of Perfetto before 55 */
	int no_api;        /* 1: leave CUDA calls out */
	int safe;          /* 1: prefix text that a spreadsheet would compute with ' */
	/* Names of tables, separated by commas: those to write, or to leave out. At most one is not
	 * NULL. */
	const char *only, *without;
	struct vpa_store *store; /* of an export into memory, see column_store.h */
	uint64_t min_gap_ns;     /* shorter gaps are left out */
	/* All known GPUs of the machine, which number the trace's: a number is the place in this list.
	 * NULL: only the trace's. */
	const struct vpa_gpu *gpus;
	const size_t *gpu_owners;       /* the one trace that may mean it, or VPA_GPU_SHARED */
	size_t gpu_count, trace_number; /* which of them this trace is */
	struct vpa_export_clock clock;
	const struct vpa_export_part *part; /* NULL: the trace is the whole file */
	size_t group_bytes;                 /* bytes compressed at once; 0: the default */
	uint64_t restart_bytes; /* bytes between points where readers can start; 0: the default */
	int (*stop)(void);      /* called at each chunk; nonzero: fail with VPT_EIO. NULL: never */
};

/* Options that only some exporters take: bits of struct vpa_exporter.takes. */
enum { VPA_TAKES_GPU_ENCODING = 1, VPA_TAKES_SAFE = 2, VPA_TAKES_MIN_GAP = 4 };

/* What went into an export. */
struct vpa_export_totals {
	uint64_t kernels, copies, calls, ranges, gaps;
	uint64_t packets, raw_bytes, bytes; /* raw: before compression */
	int complete;                       /* the report's verdict */
	/* Of several traces: how many machines have clocks that collectives lay onto one, and how far off these may be at most; why
	 * others do not, and what is done about it; NULL: there are no others. */
	size_t aligned;
	uint64_t uncertainty_ns;
	const char *unaligned;
};

/* What an exporter may use from begin() to free(). */
struct vpa_export_context {
	const struct vpt_trace *trace;
	const struct vpa_export_options *options;
	struct vpa_observer_view view;
	int windowed;                     /* 1: rows outside the window are left out */
	struct vpa_groups *groups;        /* takes the bytes of a file */
	struct vpa_export_folder *folder; /* of exporters that write a folder */
	const char *scratch; /* the folder for temporary files; NULL: $TMPDIR or /tmp */
	/* Filled by end(), except `bytes` and `complete`. */
	struct vpa_export_totals *totals;
	struct vpt_err *err; /* for failures whose code needs a sentence */
};

/* A value of --compress. */
struct vpa_packing {
	const char *word; /* NULL ends a list */
	enum vpt_container container;
	const char *suffix; /* of the output's default name */
};

enum { VPA_PACKINGS_MAX = 4 };

struct vpa_export_job;

/* Functions return 0 or a code of error.h, which ends the export. ops, gap, range and archive may be
 * NULL. */
struct vpa_exporter {
	const char *name;  /* a value of --format */
	const char *help;  /* lines for --help, without indentation */
	const char *opens; /* where to open the result */
	struct vpa_packing packings[VPA_PACKINGS_MAX + 1]; /* the first is the default */
	unsigned takes;
	uint64_t min_gap_ns; /* default of --export-min-gap */
	int level;           /* default of --level; 0: the container's own */
	int is_folder;       /* 1: writes a folder, not a file */
	size_t state_bytes;  /* zeroed before begin() */
	/* Calls `each` for every table that it can write; returns its first result that is not 0, or
	 * VPT_ENOMEM. NULL: it writes no tables. */
	int (*tables)(int (*each)(void *ctx, const char *name, int is_report), void *ctx);
	/* Whether this machine has what it needs; called before a long pass. NULL: it needs nothing. */
	int (*check)(struct vpt_err *err);
	/* After the first chunk is read, before all other calls; end() always follows it. */
	int (*begin)(void *state, const struct vpa_export_context *c);
	/* See struct vpa_observer. */
	int (*chunk)(void *state, const struct vpt_batch *b, uint64_t times_from_ns);
	int (*ops)(void *state, const struct vpa_ops *ops);
	int (*instants)(void *state, const struct vpa_ops *ops);
	int (*gap)(void *state, const struct vpa_gap *gap);
	int (*range)(void *state, const struct vpa_range *range);
	int (*end)(void *state);
	/* Frees what the state points to, not the state; also after a failed begin(). */
	void (*free)(void *state);
	/* Writes several traces as one file. `job` has no trace. `folder` is for temporary files; NULL:
	 * the default one. */
	int (*archive)(const struct vpa_export_job *job, const char *const *paths, size_t count,
		const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);
};

#define VPA_DECLARE(name) extern const struct vpa_exporter vpa_exporter_##name;
VPA_EXPORTERS(VPA_DECLARE)
#undef VPA_DECLARE

extern const struct vpa_exporter *const vpa_exporters[]; /* ends with NULL */

const struct vpa_exporter *vpa_exporter_find(const char *name); /* NULL: no such exporter */

#endif
