/* test_screen_pace.c - blocks that something on the host keeps at a pace, and those that only seem so. */
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/io/io.h"
#include "tests/support/traces/block_rig.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 12 };

/* A program of 12 blocks of 12 frames. Block k works 400 ms and `grows` more for each before it, in `parts` of a kernel each,
 * `apart` from one to the next. Then it is in send_frames: the first three for 5 ms, the others for `sleeps`; if that is 0, until 750
 * ms after the block's start. */
struct player {
	unsigned grows, parts, apart, sleeps;
};

static void play(const struct player *p)
{
	unsigned k, i, t = 0;

	begin();
	for (k = 0; k < BLOCKS; k++) {
		unsigned part = (400 + p->grows * k) / p->parts,
			 works = part * p->parts + p->apart * (p->parts - 1),
			 all = k < 3       ? works + 5
			       : p->sleeps ? works + p->sleeps
					   : 750;

		block(t, t + all, k, 12);
		for (i = 0; i < p->parts; i++) {
			unsigned from = t + i * (part + p->apart);

			kernel(from, from, from + part, GEMM);
		}
		line("range t1 %ums-%ums \"send_frames\"", at(t + works), at(t + all));
		t += all;
	}
}

/* The first screen, with one blank between words. */
static char *screen_of_script(void)
{
	static char text[8192];
	struct vpa_report *r = analyze(NULL);
	struct vpt_buffer out;
	struct vpt_sink *sink;
	struct vpt_err err;
	size_t i, used = 0;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	assert_int_equal(vpa_render_text(r, &(struct vpa_text){.width = 100}, sink, &err), VPT_OK);
	assert_int_equal(vpt_sink_write(sink, "", 1, NULL), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, NULL), VPT_OK);
	for (i = 0; out.data[i] && used + 1 < sizeof(text); i++)
		if (!isspace((unsigned char)out.data[i]))
			text[used++] = out.data[i];
		else if (used && text[used - 1] != ' ')
			text[used++] = ' ';
	text[used] = '\0';
	vpt_free(out.data);
	vpa_report_free(r);
	return text;
}

static void waits_that_make_up_for_the_work_may_be_a_pace(void **state)
{
	static const struct {
		const char *rule, *words;
		struct player player;
	} cases[] = {
		{"as much less as the blocks work more",
			"The last 8 blocks take 753 ms each, whatever the GPU works: send_frames "
			"may keep a pace (15.9 FPS).",
			{3, 1, 0, 0}},
		{"work that hardly differs may be waited for by any host", NULL, {1, 1, 0, 0}},
		{"periods follow the work where waits are of one length", NULL, {3, 1, 0, 300}},
		{"a host that launches too slowly waits in many places", NULL, {8, 8, 2, 0}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *screen;

		play(&cases[i].player);
		screen = screen_of_script();
		if (cases[i].words ? !strstr(screen, cases[i].words)
				   : strstr(screen, "a pace") != NULL)
			fail_msg("%s: found %s", cases[i].rule, screen);
		if (!strstr(screen, "From block 4 on it is 15.9 FPS.") != !cases[i].words)
			fail_msg("%s: RESULT: found %s", cases[i].rule, screen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_that_make_up_for_the_work_may_be_a_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
