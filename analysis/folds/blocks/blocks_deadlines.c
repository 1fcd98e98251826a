/* blocks_deadlines.c - real time: which blocks take longer than their frames last at the target, and the frames that a player
 * must have before it begins. */
#include "analysis/folds/blocks/blocks_math.h"
#include "analysis/folds/blocks/blocks_write.h"
#include "formats/base/memory.h"

/* A block that is not measured ends a run of misses. */
static void count_misses(struct vpa_blocks *b, const size_t *rows, uint64_t target)
{
	int64_t run = 0;
	size_t i;

	b->misses = b->longest_miss_run = 0;
	for (i = 0; i < b->measured; i++) {
		struct vpa_block_row *row = &b->series[rows[i]];

		run = i && rows[i] == rows[i - 1] + 1 ? run : 0;
		row->missed = (unsigned __int128)row->period_ns * target >
			      (unsigned __int128)row->frames * 1000000000000;
		run = row->missed ? run + 1 : 0;
		b->misses += row->missed;
		b->longest_miss_run = run > b->longest_miss_run ? run : b->longest_miss_run;
	}
}

/* Of all blocks; unknown where one has no frames. */
static int find_prebuffer(struct vpa_blocks *b, uint64_t target)
{
	uint64_t *frames = vpt_alloc(b->count, sizeof(*frames));
	uint64_t *ends_ns = vpt_alloc(b->count, sizeof(*ends_ns));
	int rc = frames && ends_ns ? VPT_OK : VPT_ENOMEM;
	size_t i;

	for (i = 0; !rc && i < b->count; i++) {
		frames[i] = b->series[i].frames;
		ends_ns[i] = b->series[i].end_ns;
		if (!frames[i])
			break;
	}
	if (!rc && i == b->count)
		b->prebuffer_frames = (int64_t)vpa_prebuffer_of(ends_ns, frames, b->count, target);
	vpt_free(frames);
	vpt_free(ends_ns);
	return rc;
}

int vpa_block_deadlines(
	const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g, const size_t *rows)
{
	uint64_t target = w->c->options->target_millifps;
	struct vpa_blocks *b = &g->request->blocks;

	if (!target || !b->frames)
		return VPT_OK;
	count_misses(b, rows, target);
	/* What was shown in a pause is not known. */
	return g->after_pause ? VPT_OK : find_prebuffer(b, target);
}
