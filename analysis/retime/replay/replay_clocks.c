/* replay_clocks.c - four worlds at once.
 *
 * Vectors are spelled out: no compiler sees by itself that no two rows overlap. */
#include "analysis/retime/replay/replay_clocks.h"

#include "formats/base/vectorise.h"

/* Four clocks, of any alignment. */
typedef int64_t clocks_v __attribute__((vector_size(8 * VPA_CLOCKS), aligned(8), may_alias));

#define AT(row, i)  (*(clocks_v *)&(row)[i])
#define GET(row, i) (*(const clocks_v *)&(row)[i])
#define EACH(i, n)  for (size_t i = 0; i < (n); i += VPA_CLOCKS)

/* By clock: a where `mask` is set, else b. */
#define PICK(mask, a, b) (((a) & (clocks_v)(mask)) | ((b) & ~(clocks_v)(mask)))
#define LATER(a, b)      PICK((a) > (b), a, b)
#define CAPPED(a)        PICK((a) < VPA_CLOCK_LAST, a, (clocks_v){0} + VPA_CLOCK_LAST)

VPT_VECTORISE
void vpa_clocks_add(int64_t *to, const int64_t *from, int64_t ns, size_t n)
{
	EACH(i, n)
	{
		clocks_v sum = GET(from, i) + ns;

		AT(to, i) = CAPPED(sum);
	}
}

VPT_VECTORISE
void vpa_clocks_later(int64_t *to, const int64_t *from, size_t n)
{
	EACH(i, n)
	{
		clocks_v a = GET(to, i), b = GET(from, i);

		AT(to, i) = LATER(a, b);
	}
}

VPT_VECTORISE
void vpa_clocks_end(int64_t *end, const int64_t *start, int64_t cost_ns, const int64_t *wait,
	int64_t back_ns, size_t n)
{
	EACH(i, n)
	{
		clocks_v from = GET(start, i), until = GET(wait, i), alone = from + cost_ns,
			 back = until + back_ns;

		back = PICK(until > from, back, alone);
		alone = LATER(back, alone);
		AT(end, i) = CAPPED(alone);
	}
}

/* `has_event` is a constant wherever it is inlined. */
static inline __attribute__((always_inline)) void run_op(
	const struct vpa_clocks_op *o, size_t n, int has_event)
{
	const int64_t *anchor = o->anchor, *event = o->event, *keeps = o->keeps;
	int64_t *tail = o->tail, *end = o->end, *line = o->line, *latest = o->latest,
		*earliest = o->earliest;
	int64_t launch_ns = o->launch_ns, stream_ns = o->stream_ns, event_ns = o->event_ns,
		duration_ns = o->duration_ns;

	EACH(i, n)
	{
		clocks_v start = GET(anchor, i) + launch_ns, other = GET(tail, i) + stream_ns;

		start = LATER(other, start);
		if (has_event) {
			other = GET(event, i) + event_ns;
			start = LATER(other, start);
		}
		start = CAPPED(start);
		other = GET(earliest, i);
		AT(earliest, i) = PICK(other < start, other, start);
		start += GET(keeps, i) & duration_ns;
		start = CAPPED(start);
		AT(tail, i) = start;
		AT(end, i) = start;
		other = GET(line, i);
		AT(line, i) = LATER(other, start);
		other = GET(latest, i);
		AT(latest, i) = LATER(other, start);
	}
}

VPT_VECTORISE
static void run_alone(const struct vpa_clocks_op *o, size_t n)
{
	run_op(o, n, 0);
}

VPT_VECTORISE
static void run_after_event(const struct vpa_clocks_op *o, size_t n)
{
	run_op(o, n, 1);
}

void vpa_clocks_op(const struct vpa_clocks_op *o, size_t n)
{
	if (o->event)
		run_after_event(o, n);
	else
		run_alone(o, n);
}
