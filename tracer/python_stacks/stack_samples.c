/* stack_samples.c - a queue, and two tables that only grow. */
#include "tracer/python_stacks/stack_samples.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"

struct vtr_stack_samples *vtr_stack_samples_new(void)
{
	struct vtr_stack_samples *s = vpt_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (vtr_code_places_init(&s->places) ||
		vpt_grow(&s->nodes, &s->node_cap, 1, sizeof(*s->nodes))) {
		vtr_code_places_free(&s->places);
		vpt_free(s);
		return NULL;
	}
	s->nodes[0] = (struct vtr_stack_node){0};
	s->node_count = 1;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void vtr_stack_samples_free(struct vtr_stack_samples *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	vtr_code_places_free(&s->places);
	vpt_map_free(&s->map);
	vpt_free(s->nodes);
	vpt_free(s);
}

static uint32_t intern(struct vtr_stack_samples *s, const struct vtr_stack_node *node)
{
	uint64_t hash = vpt_hash_pair(node->caller, node->place), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&s->map, hash, &at)) != VPT_MAP_NONE)
		if (s->nodes[n].caller == node->caller && s->nodes[n].place == node->place)
			return n;
	if (s->node_count == VTR_STACKS_MAX ||
		vpt_grow(&s->nodes, &s->node_cap, s->node_count + 1, sizeof(*s->nodes)) ||
		vpt_map_put(&s->map, hash, (uint32_t)s->node_count))
		return UINT32_MAX;
	s->nodes[s->node_count] = *node;
	return (uint32_t)s->node_count++;
}

uint32_t vtr_stack_samples_stack(struct vtr_stack_samples *s, struct vtr_stack_path *path,
	const uint32_t *places, uint32_t count)
{
	uint32_t stack = 0, depth = 0;
	struct vtr_stack_node node;

	while (depth < count && depth < path->count &&
		path->places[depth] == places[count - 1 - depth])
		stack = path->stacks[depth++];
	path->count = depth;
	pthread_mutex_lock(&s->lock);
	for (; depth < count && stack != UINT32_MAX; depth++) {
		node = (struct vtr_stack_node){.caller = stack, .place = places[count - 1 - depth]};
		stack = intern(s, &node);
		if (depth == path->count && depth < VTR_STACK_PATH_MAX && stack != UINT32_MAX) {
			path->places[path->count] = node.place;
			path->stacks[path->count++] = stack;
		}
	}
	s->refused += stack == UINT32_MAX;
	pthread_mutex_unlock(&s->lock);
	return stack;
}

/* Under the lock, with room. */
static void queue(struct vtr_stack_samples *s, const struct vtr_stack_sample *sample)
{
	s->queue[(s->head + s->count++) % VTR_STACK_SAMPLES_MAX] = *sample;
}

int vtr_stack_samples_put(struct vtr_stack_samples *s, const struct vtr_stack_sample *sample)
{
	int has_room;

	pthread_mutex_lock(&s->lock);
	has_room = s->count < VTR_STACK_SAMPLES_MAX;
	if (has_room)
		queue(s, sample);
	else
		s->refused++;
	pthread_mutex_unlock(&s->lock);
	return has_room ? 0 : -1;
}

uint32_t vtr_stack_samples_fill(struct vtr_stack_samples *s, const struct vtr_stack_sample *sample,
	uint64_t from_ns, uint64_t step_ns)
{
	struct vtr_stack_sample copy = *sample;
	uint32_t filled = 0;

	if (sample->time_ns < from_ns + step_ns + step_ns / 2)
		return 0;
	copy.time_ns = from_ns + step_ns;
	pthread_mutex_lock(&s->lock);
	for (; copy.time_ns + step_ns / 2 <= sample->time_ns &&
		s->count < VTR_STACK_SAMPLES_MAX / 2;
		copy.time_ns += step_ns, filled++)
		queue(s, &copy);
	pthread_mutex_unlock(&s->lock);
	return filled;
}

size_t vtr_stack_samples_take(
	struct vtr_stack_samples *s, struct vtr_stack_sample *out, size_t room)
{
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (; n < room && s->count; s->count--) {
		out[n++] = s->queue[s->head];
		s->head = (s->head + 1) % VTR_STACK_SAMPLES_MAX;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

void vtr_stack_samples_frames(struct vtr_stack_samples *s, uint32_t stack,
	void (*take)(void *ctx, struct vpt_text function, struct vpt_text file, uint32_t line),
	void *ctx)
{
	uint32_t places[VPT_STACK_DEPTH_MAX], depth = 0;

	pthread_mutex_lock(&s->lock);
	for (; stack && stack < s->node_count && depth < VPT_STACK_DEPTH_MAX;
		stack = s->nodes[stack].caller)
		places[depth++] = s->nodes[stack].place;
	while (depth-- > 0)
		take(ctx, vtr_code_place_function(&s->places, places[depth]),
			vtr_code_place_file(&s->places, places[depth]),
			s->places.all[places[depth]].line);
	pthread_mutex_unlock(&s->lock);
}
