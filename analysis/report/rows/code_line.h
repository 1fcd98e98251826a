/* code_line.h - the part of a report that is about lines of Python: which of them idle time waited for, and
 * which of them launched the work. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_CODE_LINE_H
#define VPA_ANALYSIS_REPORT_ROWS_CODE_LINE_H

#include "analysis/report/rows/causes.h"
#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>

enum {
	/* Fewer samples name no line. */
	VPA_LINE_SAMPLES_MIN = 5
};

/* A line of code. */
struct vpa_code_line {
	const char *function, *file; /* file: as recorded; "": none. Both NULL: no line is known */
	uint64_t number;             /* 0: unknown */
};

/* Time at one line. */
struct vpa_line_time {
	struct vpa_code_line line;
	uint64_t ns;
};

/* The line that most of some idle time points at. */
struct vpa_top_line {
	struct vpa_code_line line;
	uint64_t samples; /* that belong to the time; 0: the stack was known at every moment */
	/* Of the time that is at the line, by the samples' weight; above 0, up to 1. Time without a line
	 * counts too, such as that of a thread without stacks. */
	double share;
	uint64_t ns; /* of which the share is; 0: not known */
	/* All lines of a place, in no order; NULL: it has only the one above. */
	const struct vpa_line_time *lines;
	size_t line_count;
	uint64_t wait_ns; /* of the time: the thread could run, but no CPU was free */
	/* 1: share includes what it calls; 0: it is the innermost line of the user's code for that share */
	int covers_calls;
};

/* Idle time of one cause by line. Rows of a device and cause sum to its idle time of that cause. */
struct vpa_idle_line {
	int64_t device;
	enum vpa_cause cause;
	struct vpa_code_line line;
	uint64_t ns, samples;
};

/* Idle time of one cause at one line, before ops of a stage. */
struct vpa_stage_line {
	struct vpa_code_line line;
	enum vpa_cause cause;
	uint64_t idle_ns;
	double share; /* of all idle time before ops of the stage */
};

/* Work by the line that launched it. */
struct vpa_launch_line {
	int64_t device;
	struct vpa_code_line line;
	uint64_t ops, busy_ns; /* busy_ns: sum of their durations */
};

/* Work by the module that launched it: all instances of a class in one place of the model are one row. */
struct vpa_module_row {
	const char *name;  /* "TransformerBlock" */
	const char *path;  /* with the modules around it: "Wan/Sequential/TransformerBlock" */
	const char *label; /* the name, indented by two blanks for each module around it */
	unsigned depth;    /* modules around it */
	uint64_t instances;
	uint64_t ops,
		gpu_ns; /* gpu_ns: sum of the durations of these ops, those of modules inside included */
	uint64_t own_ns; /* without those inside */
};

/* A stack: a row of struct vpa_lines.stacks, from 1; row 0 is empty. */
struct vpa_stack_row {
	uint32_t caller; /* a smaller row; 0: none */
	int is_users;    /* the frame is not a framework's */
	struct vpa_code_line frame;
};

/* What a stack is to blame for. */
struct vpa_stack_weight {
	int64_t device;
	enum vpa_cause cause;
	uint32_t stack;
	uint64_t ns;
};

struct vpa_lines {
	struct vpa_idle_line *idle; /* by ns, descending; without a line last */
	size_t idle_count;
	struct vpa_launch_line *launches; /* by busy_ns, descending; without a line last */
	size_t launch_count;
	/* Each after the module around it, by gpu_ns, descending; at most --top, the largest. None: no profiler says
	 * which modules called. */
	struct vpa_module_row *modules;
	size_t module_count, modules_used;
	int launches_are_sampled; /* 1: a launch has the line of the next sample, which is near its own */
	/* All stacks, and their parts of idle and launches, in no particular order. */
	struct vpa_stack_row *stacks;
	size_t stack_count;
	struct vpa_stack_weight *idle_stacks, *launch_stacks; /* cause of launches: 0 */
	size_t idle_stack_count, launch_stack_count;
};

/* The path with its last two folders, and the number: "wan/modules/model.py:212". Of code without a
 * file the function's name. At most cap - 1 bytes; returns text. */
const char *vpa_line_text(char *text, size_t cap, const struct vpa_code_line *line);
/* The same with the whole path; if it is too long, with the end of it. */
const char *vpa_code_line_words(
	char *text, size_t cap, struct vpt_text function, struct vpt_text file, uint64_t number);

/* Whether both are known, and the same; where there is no file, by their functions. */
int vpa_is_same_line(const struct vpa_code_line *a, const struct vpa_code_line *b);

/* "at wan/modules/model.py:212 (97 %, 412 samples)", of exact stacks "(innermost for 97 % of its time)" or
 * "(97 % of its time, calls included)"; "" if `top` is NULL or names no line. At most
 * cap - 1 bytes; returns text. */
const char *vpa_top_line_text(char *text, size_t cap, const struct vpa_top_line *top);

#endif
