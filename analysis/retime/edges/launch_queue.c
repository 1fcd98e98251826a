/* launch_queue.c - the launches that wait on a device, and how many of them its queue holds.
 *
 * Drivers differ in the latter by some. A call that was preempted is long at any moment; calls that found the queue full are long with
 * the same number of launches before them each time. So a depth is measured only where nearly all long calls agree. */
#include "analysis/retime/edges/launch_queue.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum {
	FEWEST = 256, /* no queue is known that is full with fewer launches */
	ENOUGH = 50   /* calls that agree */
};

struct vpa_launch_queue *vpa_launch_queues_new(const struct vpa_tape *t)
{
	return vpt_calloc(t->gpu_count, sizeof(struct vpa_launch_queue));
}

struct vpa_launch_queue *vpa_launch_queue_of(
	const struct vpa_tape *t, struct vpa_launch_queue *queues, const struct vpa_tape_call *c)
{
	return c->op_count ? &queues[t->streams[t->ops[t->launched[c->op]].stream].gpu] : NULL;
}

const struct vpa_tape_call *vpa_launch_before(
	const struct vpa_tape *t, const struct vpa_launch_queue *q, uint32_t launches)
{
	return q->count >= launches ? &t->calls[q->calls[(q->count - launches) % COUNT(q->calls)]]
				    : NULL;
}

void vpa_launch_pass(struct vpa_launch_queue *q, uint32_t call)
{
	q->calls[q->count++ % COUNT(q->calls)] = call;
}

uint64_t vpa_launch_end_ns(const struct vpa_tape *t, const struct vpa_tape_call *c)
{
	uint64_t end_ns = 0;
	uint32_t i;

	for (i = 0; i < c->op_count; i++) {
		const struct vpa_tape_op *o = &t->ops[t->launched[c->op + i]];

		end_ns = o->end_ns > end_ns ? o->end_ns : end_ns;
	}
	return end_ns;
}

/* How many launches before the next one the last is that has ended by then; 0: it is further back than the ring, or none has. They end
 * in their order, but for those of several streams, whose answers do not agree. */
static uint32_t last_ended(
	const struct vpa_tape *t, const struct vpa_launch_queue *q, uint64_t now_ns)
{
	uint32_t held = q->count < COUNT(q->calls) ? (uint32_t)q->count : (uint32_t)COUNT(q->calls);
	uint32_t running = 0, ended = held + 1;

	while (ended - running > 1) {
		uint32_t middle = running + (ended - running) / 2;

		if (vpa_launch_end_ns(t, vpa_launch_before(t, q, middle)) <= now_ns)
			ended = middle;
		else
			running = middle;
	}
	return ended <= held ? ended : 0;
}

/* Launch calls that found so many launches in the queue. */
struct found {
	uint64_t calls, longer_ns; /* than such calls usually take */
};

/* The number that takes most time, if nearly all time is there or at one beside it. */
static uint32_t agreed(const struct found *found)
{
	struct found all = {0}, near = {0};
	uint32_t i, most = FEWEST;

	for (i = FEWEST; i <= VPA_QUEUE_LAUNCHES + 1; i++) {
		all.longer_ns += found[i].longer_ns;
		most = found[i].longer_ns > found[most].longer_ns ? i : most;
	}
	for (i = most - 1; i <= most + 1; i++) {
		near.calls += found[i].calls;
		near.longer_ns += found[i].longer_ns;
	}
	return near.calls >= ENOUGH && near.longer_ns >= all.longer_ns - all.longer_ns / 4
		       ? most
		       : VPA_QUEUE_LAUNCHES;
}

uint32_t vpa_launch_queue_depth(
	const struct vpa_tape *t, struct vpa_launch_queue *queues, const uint64_t *short_cost)
{
	struct found found[VPA_QUEUE_LAUNCHES + 3] = {{0}}; /* and one on either side */
	uint32_t i;

	for (i = 0; i < t->call_count; i++) {
		const struct vpa_tape_call *c = &t->calls[i];
		struct vpa_launch_queue *q = vpa_launch_queue_of(t, queues, c);
		uint64_t ns = c->end_ns - c->start_ns, usual_ns = short_cost[c->name];

		if (!q)
			continue;
		if (ns > 2 * usual_ns) {
			struct found *f = &found[last_ended(t, q, c->end_ns)];

			f->calls++;
			vpt_sat_add_to(&f->longer_ns, ns - usual_ns);
		}
		vpa_launch_pass(q, i);
	}
	memset(queues, 0, t->gpu_count * sizeof(*queues));
	return agreed(found);
}
