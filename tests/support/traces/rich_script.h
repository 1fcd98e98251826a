/* rich_script.h - a capture of a few kilobytes that has what the demo's has: two requests with blocks, steps and context
 * passes, frames, waits, copies, a pause, allocations, samples of Python stacks, counters, two GPUs. */
#ifndef VPT_TESTS_SUPPORT_RICH_SCRIPT_H
#define VPT_TESTS_SUPPORT_RICH_SCRIPT_H

/* Forms of it. */
enum rich_form {
	RICH_BLOCKS,
	RICH_SLOWER,     /* the host takes longer, so that causes and lines differ */
	RICH_STEPS,      /* marked steps, and no blocks */
	RICH_ITERATIONS, /* as PyTorch's profiler marks them */
	RICH_UNMARKED,   /* kernels that repeat, without marks */
	RICH_FORMS
};

/* The script, see script.h; valid until the next call. */
const char *rich_script(enum rich_form form);

#endif
