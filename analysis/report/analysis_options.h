/* analysis_options.h - what a caller requests of vpa_analyze(). A zero member means the default. */
#ifndef VPA_ANALYSIS_REPORT_ANALYSIS_OPTIONS_H
#define VPA_ANALYSIS_REPORT_ANALYSIS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_observer;

#define VPA_TOP_USUAL 20

struct vpa_options {
	unsigned jobs; /* threads; 0: as many as cores, at most 4 */
	size_t top;    /* maximum rows per table; 0: VPA_TOP_USUAL, the text report shows fewer */
	uint64_t min_gap_ns; /* 0: 5 times the median gap, within 10 us to 1 ms */
	int has_from, has_to;
	int whole_file; /* 1: of a window, chunks without anything in it are read, too; the report is the same */
	uint64_t from_ns, to_ns; /* relative to the capture's start */
	/* The window is this range's first instance, from host start to its last op's end, of "NAME:2" the second of
	 * NAME, unless a range has that name; NULL: no. */
	const char *range;
	uint64_t request;  /* the same of the ranges that are requests, from 1; 0: no */
	const char *rules; /* for kernel families, ranges and frames, text; NULL: none */
	size_t rules_len;
	int has_warmup;
	uint64_t warmup;          /* blocks at the start of each request that are not measured */
	uint64_t target_millifps; /* frames per 1,000 seconds; 0: none */
	/* Where the trace gives none; 0: not given. */
	uint64_t frames_per_block, first_block_frames, latents_per_block, vae_factor;
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* chunks; may be NULL */
	void *progress_ctx;
	const struct vpa_observer *observer; /* observes the pass, see observer.h; NULL: none */
	/* 1: the report has an overview, samples of counters, and the parts of each block. */
	int overview;
	int stage_spans; /* 1: of the overview the lanes, of stages and steps, without its buckets */
	int all_kernels; /* 1: `top` does not limit the table of kernels */
	int kernel_sources; /* 1: kernels say which file TorchInductor wrote them in: its cache is read */
	/* 1: the parts of each block, of each marked step up to 4,096, of each request up to 1,024 */
	int step_parts;
	/* 1: what the first screen needs: other tables are empty, kernels and ranges have no percentiles, and only of
	 * ranges that load something idle_host_ns is known. */
	int only_screen;
	int only_sums; /* 1: of these parts, not those of each block and step, by which they are compared with each other */
	/* 1: findings get predictions, see ../retime/predictions.h. vpa_analyze() itself makes none: they take another pass
	 * over the trace. */
	int predict;
	/* Changes of which forecast.asked has the gain, see ../retime/replay/change.h. Each takes a pass of its own. */
	const char *const *asked_changes;
	size_t asked_count;
};

#endif
