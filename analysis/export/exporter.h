/* exporter.h - a format of others' tools.
 *
 * An exporter is one file with one exported descriptor, which vpa_export() in export.h runs over a trace: chunk by chunk,
 * so memory does not grow with the trace. To add one: that file, and a line in VPA_EXPORTERS. */
#ifndef VPA_ANALYSIS_EXPORT_EXPORTER_H
#define VPA_ANALYSIS_EXPORT_EXPORTER_H

#include "analysis/export/folder.h"
#include "analysis/export/groups.h"
#include "analysis/report.h"
#include "analysis/tap.h"
#include "formats/container.h"
#include "formats/io.h"
#include "formats/trace.h"

/* Every exporter, in the order in which --help shows them; and the one that needs no name. */
#define VPA_EXPORTERS(X)                                                                           \
	X(perfetto)                                                                                \
	X(chrome)                                                                                  \
	X(csv)                                                                                     \
	X(jsonl)
#define VPA_EXPORTER_USUAL "perfetto"

struct vpa_export_options {
	enum vpt_container container;
	int level;           /* of compression; 0: the usual one */
	unsigned jobs;       /* compressing threads; 0: as many as cores, at most 4 */
	int gpu_as_slices;   /* 1: ops are plain slices, for versions of Perfetto before 55 */
	int no_api;          /* 1: leave CUDA calls out */
	int safe;            /* 1: text that a spreadsheet would compute gets a ' */
	uint64_t min_gap_ns; /* shorter gaps are left out */
	/* All GPUs of the machine, as far as they are known, of which the trace's are numbered as part; NULL: only the trace's. */
	const struct vpa_gpu *gpus;
	size_t gpu_count;
	size_t group_bytes;     /* compressed at once; 0: the usual number */
	uint64_t restart_bytes; /* after so many, readers can begin anew; 0: the usual number */
	int (*stop)(void);      /* asked at each chunk; not 0: fail with VPT_EIO. NULL: never */
};

/* Options that not every exporter takes: bits of struct vpa_exporter.takes. */
enum { VPA_TAKES_GPU_ENCODING = 1, VPA_TAKES_SAFE = 2, VPA_TAKES_MIN_GAP = 4 };

/* What went into an export. */
struct vpa_export_totals {
	uint64_t kernels, copies, calls, ranges, gaps;
	uint64_t packets, raw_bytes, bytes; /* raw: before compression */
	int complete;                       /* the report's verdict */
};

/* What an exporter may use from begin() to free(). */
struct vpa_export_context {
	const struct vpt_trace *trace;
	const struct vpa_export_options *options;
	struct vpa_tap_view view;
	int windowed;                     /* 1: rows outside the window are left out */
	struct vpa_groups *groups;        /* of a file: where its bytes go */
	struct vpa_export_folder *folder; /* of a folder */
	/* What end() fills in, but for `bytes` and `complete`. */
	struct vpa_export_totals *totals;
	struct vpt_err *err; /* for failures that need more words than their code has */
};

/* A value of --compress. */
struct vpa_packing {
	const char *word; /* NULL ends a list */
	enum vpt_container container;
	const char *suffix; /* of the output's usual name */
};

enum { VPA_PACKINGS_MAX = 4 };

struct vpa_export_job;

/* Functions return 0 or a code of error.h, which ends the export. ops, gap, range and archive may be NULL. */
struct vpa_exporter {
	const char *name;  /* a value of --format */
	const char *help;  /* lines for --help, without indentation */
	const char *opens; /* where to open the result */
	struct vpa_packing packings[VPA_PACKINGS_MAX + 1]; /* the first is the usual one */
	unsigned takes;
	uint64_t min_gap_ns; /* where --export-min-gap is not given */
	int level;           /* where --level is not given; 0: the container's own */
	int is_folder;       /* 1: writes a folder, not a file */
	size_t state_bytes;  /* handed in zeroed */
	/* When the first chunk has been read, before all other calls; end() always comes after it. */
	int (*begin)(void *state, const struct vpa_export_context *c);
	/* As the tap's, see there. */
	int (*chunk)(void *state, const struct vpt_batch *b, uint64_t times_from_ns);
	int (*ops)(void *state, const struct vpa_ops *ops);
	int (*gap)(void *state, const struct vpa_gap *gap);
	int (*range)(void *state, const struct vpa_range *range);
	int (*end)(void *state);
	void (*free)(
		void *state); /* what the state points to, not the state; also after a failed begin() */
	/* Several traces as one file. `job` has no trace; `folder` is for temporary files, NULL: the usual one. */
	int (*archive)(const struct vpa_export_job *job, const char *const *paths, size_t count,
		const char *folder, struct vpa_export_totals *totals, struct vpt_err *err);
};

#define VPA_DECLARE(name) extern const struct vpa_exporter vpa_exporter_##name;
VPA_EXPORTERS(VPA_DECLARE)
#undef VPA_DECLARE

extern const struct vpa_exporter *const vpa_exporters[]; /* ends with NULL */

const struct vpa_exporter *vpa_exporter_find(const char *name); /* NULL: none has it */

#endif
