/* kineto_collective.c - the arguments that say which communicator, what and how much. */
#include "formats/import/kineto/text/kineto_value.h"

#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT_MOST = 128, RANKS_MOST = 512 };

static const struct {
	const char *name;
	unsigned bytes;
} types[] = {
	{"Float", 4},
	{"Half", 2},
	{"BFloat16", 2},
	{"Double", 8},
	{"Byte", 1},
	{"Char", 1},
	{"Short", 2},
	{"Int", 4},
	{"Long", 8},
	{"Bool", 1},
	{"Float8_e4m3fn", 1},
	{"Float8_e5m2", 1},
};

/* Whether the text needs no escapes in JSON. */
static int is_plain(struct vpt_text t, size_t most)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if ((unsigned char)t.text[i] < ' ' || t.text[i] == '"' || t.text[i] == '\\')
			return 0;
	return t.text && t.len && t.len <= most;
}

static void put(char *text, size_t *used, const char *key, struct vpt_text value, size_t most)
{
	if (is_plain(value, most))
		*used += (size_t)snprintf(text + *used, VPT_KINETO_COLLECTIVE_BYTES - *used,
			"%s\"%s\":\"%.*s\"", *used ? "," : "{", key, (int)value.len, value.text);
}

/* Older versions write the list itself, newer ones a string that holds it. */
static struct vpt_text list_of(const struct vpt_kineto_value *v)
{
	return v && v->type == VPT_KINETO_ARRAY ? (struct vpt_text){v->text, v->len}
						: vpt_kineto_text(v);
}

static uint64_t natural(const struct vpt_kineto_value *args, const char *key)
{
	int64_t n;

	return vpt_kineto_number(vpt_kineto_member(args, key), 0, &n) == VPT_KINETO_EXACT && n > 0
		       ? (uint64_t)n
		       : 0;
}

static uint64_t bytes_of(const struct vpt_kineto_value *args)
{
	struct vpt_text type = vpt_kineto_text(vpt_kineto_member(args, "dtype"));
	size_t i;

	for (i = 0; i < COUNT(types); i++)
		if (vpt_text_is(type, types[i].name))
			return vpt_sat_mul(natural(args, "In msg nelems"), types[i].bytes);
	return 0;
}

size_t vpt_kineto_collective(
	const struct vpt_kineto_value *args, char text[VPT_KINETO_COLLECTIVE_BYTES])
{
	struct vpt_text name = vpt_kineto_text(vpt_kineto_member(args, "Collective name"));
	struct vpt_text ranks = list_of(vpt_kineto_member(args, "Process Group Ranks"));
	uint64_t bytes, size;
	char number[24];
	size_t used = 0;

	if (!is_plain(name, TEXT_MOST))
		return 0;
	bytes = bytes_of(args);
	size = natural(args, "Group size");
	put(text, &used, "collective", name, TEXT_MOST);
	put(text, &used, "group", vpt_kineto_text(vpt_kineto_member(args, "Process Group Name")),
		TEXT_MOST);
	if (ranks.len > RANKS_MOST && size) {
		ranks.text = number;
		ranks.len = (size_t)snprintf(number, sizeof(number), "%" PRIu64, size);
	}
	put(text, &used, "ranks", ranks, RANKS_MOST);
	if (bytes && !(bytes >> 63))
		used += (size_t)snprintf(text + used, VPT_KINETO_COLLECTIVE_BYTES - used,
			",\"message_bytes\":%" PRIu64, bytes);
	return used + (size_t)snprintf(text + used, VPT_KINETO_COLLECTIVE_BYTES - used, "}");
}
