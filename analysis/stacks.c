/* stacks.c - numbers stacks for the whole trace, and finds the line that each points at. */
#include "analysis/stacks.h"

#include "analysis/frame_rules.def"
#include "analysis/model.h"
#include "formats/memory.h"
#include "formats/text.h"

#include <string.h>

void vpa_stacks_free(struct vpa_stacks *s)
{
	vpt_stack_table_free(&s->table);
	vpt_free(s->of_row);
	vpt_free(s->lines);
	*s = (struct vpa_stacks){0};
}

size_t vpa_stacks_count(const struct vpa_stacks *s)
{
	return s->table.depth_count ? s->table.depth_count : 1;
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

/* Whether a path holds `part`, or begins with it without its first slash. */
static int has_part(struct vpt_text path, const char *part)
{
	size_t len = strlen(part + 1);

	return vpt_text_holds(path, part) || (path.len >= len && !memcmp(path.text, part + 1, len));
}

/* The part of a path after the folder of installed packages; all of it if there is none. */
static struct vpt_text in_packages(struct vpt_text path)
{
#define LIST(part) part,
	static const char *const folders[] = {VPA_PACKAGES(LIST)};
#undef LIST
	size_t i, k;

	for (i = path.len; i > 0; i--)
		for (k = 0; k < sizeof(folders) / sizeof(*folders); k++) {
			size_t len = strlen(folders[k]);

			if (path.len - (i - 1) >= len &&
				!memcmp(path.text + i - 1, folders[k], len))
				return (struct vpt_text){
					path.text + i - 2 + len, path.len - (i - 2 + len)};
		}
	return path;
}

int vpa_stacks_is_users(const struct vpa_model *m, const struct vpt_frame *frame)
{
#define LIST(part) part,
	static const char *const frameworks[] = {VPA_FRAMEWORKS(LIST)};
#undef LIST
	struct vpt_text file = vpa_name(m, (uint32_t)frame->file);
	size_t i;

	if (!file.len)
		return 0;
	file = in_packages(file);
	for (i = 0; i < sizeof(frameworks) / sizeof(*frameworks); i++)
		if (has_part(file, frameworks[i]))
			return 0;
	return 1;
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
