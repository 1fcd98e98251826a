/* said_rows.h - the report's rows of what the program said of itself: marks, facts, memory, components, networks,
 * compilations, iterations. Part of report.h; ../../folds/said/ defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_SAID_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_SAID_ROWS_H

#include "analysis/base/durations.h"
#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_marked_row {
	const char *kind;          /* "request", "block" ... */
	const char *name;          /* of requests and stages; NULL: those of one kind are one row */
	const char *label;         /* both, indented by two blanks for each mark around it */
	unsigned depth;            /* marks around it */
	struct vpa_durations host; /* from start to end */
};

/* Moments at which the program said, under one label, what an allocator holds. Bytes of ~0: not said. */
struct vpa_memory_label {
	const char *label;
	int64_t device; /* CUDA ordinal; -1: not said */
	uint64_t count, first_ns;
	uint64_t allocated_bytes, reserved_bytes; /* at the newest one */
	/* The most that was allocated since the label before, of all of them; peak_exact: and not more. */
	uint64_t peak_bytes;
	int peak_exact;
	double unused_share; /* of the reserved bytes, at the newest one; below 0: not known */
	/* Allocated bytes of the newest one less those of the first one that says them; of one moment there is none. */
	int64_t growth_bytes;
};

/* A stage, or one that the program calls a component: of those whose frames it gives, and of all if there is a component. */
struct vpa_component {
	const char *name;
	int is_component;
	uint64_t frames; /* that its instances make; 0: not said */
	int on_gpu;      /* some instance has work on a GPU */
	/* First op's start to last op's end of those that have; if none has, from start to end on the host. */
	struct vpa_durations time, host;
	double fps;          /* frames for each second of those that say some; below 0: not known */
	uint64_t peak_bytes; /* the most that PyTorch's allocator held in it; ~0: not known */
};

/* A module or network, as the program gave it. */
struct vpa_model_size {
	const char *name, *stage;   /* stage NULL: not said */
	uint64_t parameters, bytes; /* bytes ~0: not said */
	const char *
		dtypes; /* "bfloat16:1300000000 float32:1024", by parameters, falling; NULL: not said */
};

/* A compilation by torch.compile, as the program recorded it. */
struct vpa_compilation {
	const char *id, *function; /* "3/1": code 3, its second version; function NULL: not said */
	const char *reason;  /* why it was compiled again; NULL: not said, or it is the first */
	int64_t block, step; /* indexes of those around it; -1: none, or no index */
	const char *place;   /* the innermost range around it; NULL: none */
	uint64_t start_ns, host_ns;
};

/* Marks of one name that say no more than that, as vptrace_mark() makes them. */
struct vpa_moment {
	const char *name, *domain; /* domain NULL: the default one */
	uint64_t count, first_ns;
	uint64_t after_ns,
		span_ns; /* from the window's start to the first, and to the last from that */
};

/* Marks that say how many frames are ready. Those of the first one were made before it, in a time that no mark begins. */
struct vpa_frame_marks {
	uint64_t count, frames,
		first_frames; /* frames: of all but the first; first_frames: of that */
	uint64_t first_ns, last_ns;
};

/* A step, context pass or iteration; a block where there are none, and a request where there is no block. */
struct vpa_iteration {
	enum vpa_scope_kind kind;
	int64_t index, block, timestep; /* -1: not given; block: of the one around it */
	int64_t request;                /* number of the one around it, from 0; -1: none */
	uint64_t start_ns, host_ns;
	uint64_t gpu_ns, busy_ns,
		idle_ns; /* gpu_ns: first op to last op; busy, idle: as for ranges */
	uint64_t ops;
};

/* What the program said of the run. */
struct vpa_fact_of_run {
	const char *key, *value;
};

/* A range of the program right inside iterations, such as "forward"; see ../../folds/said/iteration_parts.c. */
struct vpa_iteration_part {
	const char *name;
	uint64_t first_ns; /* its first op */
	uint64_t
		work_ns; /* GPUs work for it, of all iterations: what several ops cover is that of the first */
};

struct vpa_said {
	struct vpa_fact_of_run *facts; /* as recorded */
	size_t fact_count;
	struct vpa_memory_label *memory_labels; /* by first_ns, then device; at most --top */
	size_t memory_label_count, memory_labels_used;
	struct vpa_component *components; /* components first, then by time, descending */
	size_t component_count;
	struct vpa_model_size *models; /* by parameters, descending */
	size_t model_count;
	struct vpa_compilation *compilations; /* by start_ns; the first 4,096 */
	size_t compilation_count, compilations_used;
	struct vpa_frame_marks frame_marks;
	struct vpa_moment *moments; /* by first_ns; at most --top */
	size_t moment_count, moments_used;
	struct vpa_iteration *iterations; /* by start_ns; the first 4,096 */
	size_t iteration_count, iterations_used;
	struct vpa_iteration_part *iteration_parts; /* by first_ns; at most 64 */
	size_t iteration_part_count;
};

#endif
