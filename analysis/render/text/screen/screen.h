/* screen.h - the first screen: what a person reads who opens a report for the first time, in at most VPA_SCREEN_LINES lines.
 *
 * It speaks of one unit only, that of ../../../pipeline/unit.h: the mean one, on one GPU. So what the GPU works and what it
 * waits add up to the unit, and a noun has one number wherever it stands. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_SCREEN_SCREEN_H
#define VPA_ANALYSIS_RENDER_TEXT_SCREEN_SCREEN_H

#include "analysis/pipeline/unit_limit.h"
#include "analysis/render/text/sections/text_sections.h"

enum { VPA_SCREEN_LINES = 40 };

struct vpa_screen {
	const struct vpa_report *report;
	const struct vpa_digest *digest;
	const struct vpa_request *request; /* that RESULT shows; NULL: none */
	const struct vpa_blocks *blocks;   /* its measured blocks; NULL: none */
	struct vpa_mean_unit unit;
	struct vpa_unit_limit limit;
	const char *noun, *a_noun; /* "block", "a block"; "the window" */
	/* Of the mean unit, on one GPU. Without units of the window. */
	uint64_t ns, works_ns, waits_ns;
	/* The rest: recording paused, or the GPU worked for what came before. */
	uint64_t rest_ns;
	unsigned devices; /* that these are the mean of */
	uint64_t family_ns[VPA_FAMILY_COUNT], cause_ns[VPA_CAUSES];
	int has_parts; /* these add up to the times above; else they are sums of the window */
};

void vpa_screen_of(
	const struct vpa_report *r, const struct vpa_digest *d, struct vpa_screen *screen);

/* The same of the whole window, whatever the unit is. */
void vpa_screen_of_window(const struct vpa_screen *screen, struct vpa_screen *out);

/* Prints the screen. */
void vpa_screen_put(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);

/* The unit of a column whose largest number is `ns`, and a number of it. */
const char *vpa_column_unit(uint64_t ns);
struct vpa_num vpa_in_column(uint64_t ns, uint64_t most_ns);

/* Where the units are less than half of the window. In RESULT, what the rest is: "Of the window's 6.69 s, 2.98 s are before the first op,
 * 2.00 s after the last op." In CAUSE, of each stage that RESULT names: "Beside them vae_decode has 98.3 ms of work (conv 42.9 ms) and
 * 36.7 ms of waits (scheduling 36.7 ms)." */
int vpa_screen_units_are_little(const struct vpa_screen *s);
/* Whether they are inferred steps, which nothing marks, and less than half of the window also with those that no other follows. Then
 * RESULT begins with the window. */
int vpa_screen_steps_are_minor(const struct vpa_screen *s);
/* "Steps, which nothing marks, are 1.52 s of this: 6 of 254 ms, 3.94 steps/s. They are ..." */
void vpa_screen_add_minor_steps(struct vpa_words *w, const struct vpa_screen *s);
void vpa_screen_add_rest(struct vpa_words *w, const struct vpa_screen *s);
void vpa_screen_add_rest_causes(struct vpa_words *w, const struct vpa_screen *s);

/* The last blocks of the series that something on the host keeps at a pace, by what their waits make up for. */
struct vpa_screen_pace {
	size_t blocks, first; /* their number, and the row of the first one */
	uint64_t period_ns;   /* the mean one */
	double fps;           /* negative: not known */
	const char *place;    /* the range with most of the waits; NULL: there is none */
};

/* Whether there are some; else out->blocks is 0. */
int vpa_screen_pace_of(const struct vpa_screen *s, struct vpa_screen_pace *out);
/* Adds to CAUSE: "The last 9 blocks take 751 ms each, whatever the GPU works: send_frames may keep a pace (16.0 FPS)." */
void vpa_screen_add_pace(struct vpa_words *w, const struct vpa_screen *s);

/* What limits the unit, in capitals: "GPU-BOUND", "HOST-BOUND". */
const char *vpa_screen_limit(const struct vpa_screen *s);

/* Whether CAUSE begins with the longest of what is waited for, or worked on. */
int vpa_screen_cause_is_longest(const struct vpa_screen *s);

/* Whether a finding is about what CAUSE names first. */
int vpa_screen_is_of_cause(const struct vpa_screen *s, const struct vpa_finding *f);

/* What to do, in few words, and the place, if some of `columns` is left, of as many columns; else a title up to its colon, which says
 * what and then how. */
struct vpa_label vpa_fix_words(const struct vpa_finding *f, size_t columns);

/* FIX FIRST, at most `most` lines. in_full: also what has no gain of its unit, and what each gain is a part of. */
void vpa_screen_put_fixes(struct vpa_page *p, const struct vpa_screen *s, size_t most, int in_full);

/* "1, 2 and 4 together", and what they bring; numbers as in that list. Returns 0: nothing that can be said, or one of them is
 * beyond the `most` that are shown. */
int vpa_screen_together(const struct vpa_screen *s, int in_full, size_t most, struct vpa_words *who,
	struct vpa_num *gain);
/* "FPS", or of a gain that is a time "ms". */
const char *vpa_screen_gain_unit(const struct vpa_screen *s);
/* What the numbers of that list mean, and how far the predictions can be trusted. is_same: some line says "as 1", or another number. */
void vpa_screen_add_meaning(
	struct vpa_words *w, const struct vpa_screen *s, int in_full, int is_same);

/* Whether FIX FIRST lists it; else, if it is no note, it is advice without a number of that column. */
int vpa_screen_is_fix(const struct vpa_screen *s, const struct vpa_finding *f);

/* ---- the sections ---- */

#define VPA_SCREEN(rank, put) void put(struct vpa_page *p, const struct vpa_screen *s);
#include "analysis/render/text/screen/screen_sections.def"

#endif
