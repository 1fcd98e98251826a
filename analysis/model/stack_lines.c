/* stack_lines.c - numbers stacks for the whole trace, and finds the line that each points at. */
#include "analysis/model/stack_lines.h"

#include "analysis/model/model.h"
#include "analysis/names/frame_rules.h"
#include "formats/base/memory.h"

void vpa_stacks_free(struct vpa_stacks *s)
{
	vpt_stack_table_free(&s->table);
	vpt_free(s->of_row);
	vpt_free(s->lines);
	vpt_free(s->files);
	*s = (struct vpa_stacks){0};
}

size_t vpa_stacks_count(const struct vpa_stacks *s)
{
	return s->table.depth_count ? s->table.depth_count : 1;
}

uint32_t vpa_stacks_depth(const struct vpa_stacks *s, uint32_t stack)
{
	return stack < s->table.depth_count ? s->table.depths[stack] : 0;
}

struct vpt_frame vpa_stacks_frame_at(const struct vpa_stacks *s, uint32_t frame)
{
	return vpt_stack_table_frame_row(&s->table, frame);
}

struct vpt_frame vpa_stacks_frame(const struct vpa_stacks *s, uint32_t stack, uint32_t *caller)
{
	const struct vpt_stack row = vpt_stack_table_stack_row(&s->table, stack);

	*caller = (uint32_t)row.caller;
	return vpt_stack_table_frame_row(&s->table, row.frame);
}

/* ---- whose code ---- */

enum { NOT_JUDGED, FRAMEWORK, USERS, WRAPPER };

static uint8_t judge(const struct vpa_model *m, const struct vpt_frame *frame)
{
	const struct vpt_text file = vpa_name(m, (uint32_t)frame->file);

	if (vpa_frame_is_wrapper(file))
		return WRAPPER;
	return vpa_frame_is_users(m->stacks.rules, file) ? USERS : FRAMEWORK;
}

static uint8_t whose(struct vpa_model *m, const struct vpt_frame *frame)
{
	struct vpa_stacks *s = &m->stacks;
	uint8_t *known;

	/* Without memory each file is judged anew. */
	if (vpt_grow_zeroed(&s->files, &s->file_cap, frame->file + 1, sizeof(*s->files)))
		return judge(m, frame);
	known = &s->files[frame->file];
	if (*known == NOT_JUDGED)
		*known = judge(m, frame);
	return *known;
}

int vpa_stacks_is_users(struct vpa_model *m, const struct vpt_frame *frame)
{
	return whose(m, frame) == USERS;
}

int vpa_stacks_is_wrapper(struct vpa_model *m, const struct vpt_frame *frame)
{
	return whose(m, frame) == WRAPPER;
}

/* Whether a stack's innermost frame is the user's: the line of the stack itself, else its
 * caller's. */
static uint32_t find_line(struct vpa_model *m, uint32_t stack)
{
	struct vpa_stacks *s = &m->stacks;
	uint32_t at = stack;

	while (at) {
		const struct vpt_stack row = vpt_stack_table_stack_row(&s->table, at);
		const struct vpt_frame frame = vpt_stack_table_frame_row(&s->table, row.frame);

		if (vpa_stacks_is_users(m, &frame))
			return (uint32_t)row.frame;
		at = (uint32_t)row.caller;
	}
	return (uint32_t)vpt_stack_table_stack_row(&s->table, stack).frame;
}

uint32_t vpa_stacks_line(struct vpa_model *m, uint32_t stack)
{
	struct vpa_stacks *s = &m->stacks;

	if (!stack || stack >= vpa_stacks_count(s) ||
		vpt_grow_zeroed(&s->lines, &s->line_cap, vpa_stacks_count(s), sizeof(*s->lines)))
		return VPA_NONE;
	if (!s->lines[stack])
		s->lines[stack] = 1 + find_line(m, stack);
	return s->lines[stack] - 1;
}
