/* text_blocks_parts.h - figures of blocks in words: a block's name, means of a block, where most of a cause's time is. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_SECTIONS_TEXT_BLOCKS_PARTS_H
#define VPA_ANALYSIS_RENDER_TEXT_SECTIONS_TEXT_BLOCKS_PARTS_H

#include "analysis/render/text/sections/text_sections.h"

#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>

/* The time that no stage's ops cover, whatever the host does then: on the first screen, in tables and on the page. */
#define VPA_BETWEEN_STAGES "between stages"

/* "3"; "#1", its place in the series, if it has no index. */
static inline struct vpa_num vpa_block_name(const struct vpa_blocks *b, size_t at)
{
	struct vpa_num out;

	if (b->series[at].index >= 0)
		snprintf(out.text, sizeof(out.text), "%" PRId64, b->series[at].index);
	else
		snprintf(out.text, sizeof(out.text), "#%zu", at + 1);
	return out;
}

/* All time of the measured blocks on their devices. */
static inline uint64_t vpa_blocks_ns(const struct vpa_blocks *b)
{
	return vpt_sat_add(vpt_sat_add(b->busy_ns, b->idle_ns), b->paused_ns);
}

static inline unsigned vpa_block_decimals(const struct vpa_blocks *b)
{
	uint64_t mean = b->measured ? b->span_ns / b->measured : 0;

	return mean < 10000000 ? 3 : mean < 100000000 ? 2 : 1;
}

static inline struct vpa_num vpa_ms_of(uint64_t ns, unsigned decimals)
{
	return ns ? vpa_scaled(ns, 1000000, decimals) : (struct vpa_num){"0"};
}

/* Rounded to the nearest. */
static inline uint64_t vpa_divided(uint64_t ns, uint64_t by)
{
	return by ? (ns + by / 2) / by : 0;
}

/* The mean count for each of `of` things: "300", "0.2". */
static inline struct vpa_num vpa_each(uint64_t count, uint64_t of)
{
	return vpa_fixed((double)count / (double)of, count % of ? 1 : 0);
}

static inline struct vpa_num vpa_a_block(uint64_t count, const struct vpa_blocks *b)
{
	return vpa_each(count, b->measured);
}

static inline double vpa_target(const struct vpa_report *r)
{
	return (double)r->target_millifps / 1000;
}

/* The place with at least half of a cause's idle time in the whole window, after its share if that is
 * less than 99.5 %; empty if there is none. */
struct vpa_label vpa_where(const struct vpa_digest *d, enum vpa_cause cause, size_t columns);

#endif
