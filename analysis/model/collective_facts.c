/* collective_facts.c - reads annotations of collectives, which are flat objects. */
#include "analysis/model/collective_facts.h"

#include "analysis/base/json_key.h"
#include "formats/base/count.h"
#include "formats/base/text.h"

#include <string.h>

enum { RANGES_LOOKED_AT = 8 /* around a launch */ };

#define NCCL_GROUP "\"NCCL communicator ID\""
#define NCCL_BYTES "\"Message size [bytes]\""

/* NCCL annotates calls that are no collectives too: these have no message. */
static int tells_collective(struct vpt_text annotation)
{
	return vpt_text_holds(annotation, "\"collective\"") ||
	       (vpt_text_holds(annotation, NCCL_GROUP) && vpt_text_holds(annotation, NCCL_BYTES));
}

uint32_t vpa_collective_payload(
	const struct vpa_model *m, const struct vpa_op_stretch *stretch, uint64_t at_ns)
{
	const struct vpa_range *range = vpa_range_open_at(stretch->range, at_ns);
	unsigned n;

	for (n = 0; range && n < RANGES_LOOKED_AT; n++) {
		if (range->payload && tells_collective(vpa_name(m, range->payload)))
			return range->payload;
		range = vpa_range_around(range, at_ns);
	}
	return 0;
}

/* Ranges of PyTorch and of NCCL around one call. */
static int is_of_collective(struct vpt_text name)
{
	static const char *const own[] = {"nccl", "c10d::", "record_param_comms"};
	size_t i;

	for (i = 0; i < COUNT(own); i++)
		if (name.len >= strlen(own[i]) && !memcmp(name.text, own[i], strlen(own[i])))
			return 1;
	return 0;
}

uint32_t vpa_collective_place(
	const struct vpa_model *m, const struct vpa_op_stretch *stretch, uint64_t at_ns)
{
	const struct vpa_range *range;
	unsigned n;

	if (!is_of_collective(vpa_name(m, stretch->place)))
		return stretch->place;
	range = vpa_range_open_at(stretch->range, at_ns);
	for (n = 0; range && n < RANGES_LOOKED_AT; n++) {
		if (range->level == VPA_LEVEL_ANNOTATION &&
			!is_of_collective(vpa_name(m, range->name)))
			return range->name;
		range = vpa_range_around(range, at_ns);
	}
	return 0;
}

/* Of "[0, 1, 2]"; a long list is cut with "...". */
static uint64_t count_ranks(struct vpt_text list)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < list.len; i++) {
		if (list.text[i] == '.')
			return 0;
		count += vpt_is_digit(list.text[i]) && (!i || !vpt_is_digit(list.text[i - 1]));
	}
	return count;
}

uint64_t vpa_communicator_ranks(const char *name)
{
	const char *list = name ? strrchr(name, '[') : NULL;

	return list && name[strlen(name) - 1] == ']' ? count_ranks(vpt_text_from(list)) : 0;
}

void vpa_collective_describe(struct vpa_arena *texts, struct vpt_text kernel,
	struct vpt_text annotation, struct vpa_collective_said *out)
{
	struct vpt_text name = vpa_json_key_text(annotation, "\"collective\"");
	struct vpt_text group = vpa_json_key_text(annotation, "\"group\"");
	struct vpt_text ranks = vpa_json_key_text(annotation, "\"ranks\"");

	*out = (struct vpa_collective_said){.kind = vpa_collective_kind_of(name.text, name.len)};
	if (out->kind == VPA_COLLECTIVE_OTHER)
		out->kind = vpa_collective_kind_of(kernel.text, kernel.len);
	out->text = vpa_arena_text(
		texts, name.len ? name.text : kernel.text, name.len ? name.len : kernel.len);
	out->bytes = vpa_json_key_number(annotation, "\"message_bytes\"");
	if (!group.len)
		group = vpa_json_key_text(annotation, NCCL_GROUP);
	if (!out->bytes)
		out->bytes = vpa_json_key_number(annotation, NCCL_BYTES);
	if (group.len && ranks.len)
		out->group = vpa_arena_printf(
			texts, "%.*s %.*s", (int)group.len, group.text, (int)ranks.len, ranks.text);
	else if (group.len)
		out->group = vpa_arena_text(texts, group.text, group.len);
	out->ranks = count_ranks(ranks);
}
