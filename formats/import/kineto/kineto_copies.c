/* kineto_copies.c - copies and memsets: their direction and kinds of memory.
 *
 * CUDA's profiler writes both in the name, "Memcpy HtoD (Pageable -> Device)"; ROCm's writes the
 * direction in several other ways, and no memory: which the device's is follows, the host's does not. */
#include "formats/import/kineto/kineto_flows.h"
#include "formats/import/kineto/kineto_put.h"

#include <string.h>

/* ---- words ---- */

static struct vpt_text no_text(void)
{
	struct vpt_text none = {NULL, 0};

	return none;
}

/* Splits the text in the last parentheses of "... (FIRST -> SECOND)" or "... (FIRST)". */
static void split_parentheses(struct vpt_text name, struct vpt_text *first, struct vpt_text *second)
{
	const char *open = memrchr(name.text, '(', name.len), *arrow, *end;

	*first = *second = no_text();
	if (!open)
		return;
	open++;
	end = memchr(open, ')', (size_t)(name.text + name.len - open));
	if (!end)
		return;
	arrow = memmem(open, (size_t)(end - open), " -> ", 4);
	first->text = open;
	first->len = (size_t)((arrow ? arrow : end) - open);
	if (!arrow)
		return;
	second->text = arrow + 4;
	second->len = (size_t)(end - second->text);
}

/* The number of a word of events.def; 0 (unknown in every set) if it is not there. */
static uint64_t word_number(enum vpt_unit unit, struct vpt_text text)
{
	enum { WORDS = 16 };
	uint64_t number;

	for (number = 0; number < WORDS; number++) {
		const char *word = vpt_word(unit, number);

		if (word && vpt_kineto_same_word(word, text))
			return number;
	}
	return 0;
}

/* ---- directions ---- */

/* "CopyHostToDevice", "hipMemcpyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE". */
static const struct {
	const char *word, *in_capitals;
	uint64_t direction;
} spellings[] = {
	{"HostToDevice", "HOST_TO_DEVICE", VPT_COPYKIND_HTOD},
	{"DeviceToHost", "DEVICE_TO_HOST", VPT_COPYKIND_DTOH},
	{"DeviceToDevice", "DEVICE_TO_DEVICE", VPT_COPYKIND_DTOD},
	{"HostToHost", "HOST_TO_HOST", VPT_COPYKIND_HTOH},
	{"PeerToPeer", "PEER_TO_PEER", VPT_COPYKIND_PTOP},
};

/* VPT_COPYKIND_* for ROCm's name of a copy; 0: none of these. */
static uint64_t spelled_direction(struct vpt_text text)
{
	size_t i;

	for (i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (vpt_text_holds(text, spellings[i].word) ||
			vpt_text_holds(text, spellings[i].in_capitals))
			return spellings[i].direction;
	return VPT_COPYKIND_UNKNOWN;
}

/* The same for a hipMemcpyKind in digits. */
static uint64_t numbered_direction(struct vpt_text text)
{
	static const uint64_t directions[] = {
		VPT_COPYKIND_HTOH, VPT_COPYKIND_HTOD, VPT_COPYKIND_DTOH, VPT_COPYKIND_DTOD};

	return text.len == 1 && text.text[0] >= '0' && text.text[0] <= '3'
		       ? directions[text.text[0] - '0']
		       : VPT_COPYKIND_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)": the second word is the direction. */
static uint64_t second_word(struct vpt_text name)
{
	const char *space = memchr(name.text, ' ', name.len), *end = name.text + name.len, *stop;
	struct vpt_text word = {space ? space + 1 : end, 0};

	stop = memchr(word.text, ' ', (size_t)(end - word.text));
	word.len = (size_t)((stop ? stop : end) - word.text);
	return word_number(VPT_UNIT_COPY_KIND, word);
}

/* The direction is in the name, as CUDA or ROCm writes it. If the name is that of the call, it is
 * in `kind`, as a word or as HIP's number. */
static uint64_t direction(const struct vpt_kineto_event *e)
{
	struct vpt_text kind = vpt_kineto_text(vpt_kineto_member(e->args, "kind"));
	uint64_t found = second_word(e->name);

	if (!found)
		found = spelled_direction(e->name);
	if (!found && kind.len)
		found = word_number(VPT_UNIT_COPY_KIND, kind);
	if (!found)
		found = spelled_direction(kind);
	return found ? found : numbered_direction(kind);
}

/* ---- rows ---- */

/* 1 + the device at the other end of a peer copy, 0 for any other. */
static uint64_t peer_of(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t device)
{
	int64_t from = vpt_kineto_optional_id(r, e->args, "fromDevice"),
		to = vpt_kineto_optional_id(r, e->args, "toDevice");
	int64_t peer = vpt_kineto_optional_id(r, e->args, "peer device");

	if (peer >= 0)
		return 1 + (uint64_t)peer;
	if (from < 0 || to < 0 || from == to)
		return 0;
	return 1 + (uint64_t)(from == device ? to : from);
}

static void put_transfer(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	struct vpt_copy *c, int64_t device, int64_t stream)
{
	c->start_ns = e->start_ns;
	c->duration_ns = e->duration_ns;
	c->correlation = vpt_kineto_natural(r, e->args, "correlation");
	c->bytes = vpt_kineto_natural(r, e->args, "bytes");
	c->asynchronous = vpt_kineto_natural(r, e->args, "asynchronous");
	c->value = vpt_kineto_natural(r, e->args, "value");
	c->graph_node = vpt_kineto_natural_of(r, e->args, "graph node id", "graph_node_id");
	vpt_kineto_put_joined(r, e, VPT_COPY, vpt_kineto_stream_lane(r, e, device, stream), c);
}

/* A memory by its name; without a name the device's, if it is on a device. */
static uint64_t memory_of(struct vpt_text name, int is_device)
{
	return name.len    ? word_number(VPT_UNIT_MEMORY_KIND, name)
	       : is_device ? VPT_MEMKIND_DEVICE
			   : 0;
}

/* Which sides of a copy are on a device. */
static int is_from_device(uint64_t direction)
{
	return direction == VPT_COPYKIND_DTOH || direction == VPT_COPYKIND_DTOD ||
	       direction == VPT_COPYKIND_PTOP;
}

static int is_to_device(uint64_t direction)
{
	return direction == VPT_COPYKIND_HTOD || direction == VPT_COPYKIND_DTOD ||
	       direction == VPT_COPYKIND_PTOP;
}

int vpt_kineto_put_memcpy(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_text source, target;
	struct vpt_copy c = {0};
	int64_t device, stream;

	if (!e->name.text || !vpt_kineto_device_of(r, e, &device) ||
		!vpt_kineto_stream_of(r, e, &stream))
		return 0;
	split_parentheses(e->name, &source, &target);
	c.copy_kind = direction(e);
	c.source_memory = memory_of(source, is_from_device(c.copy_kind));
	c.target_memory = memory_of(target, is_to_device(c.copy_kind));
	c.peer = peer_of(r, e, device);
	put_transfer(r, e, &c, device, stream);
	return 1;
}

int vpt_kineto_put_memset(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_copy c = {.copy_kind = VPT_COPYKIND_MEMSET};
	struct vpt_text target, none;
	int64_t device, stream;

	if (!e->name.text || !vpt_kineto_device_of(r, e, &device) ||
		!vpt_kineto_stream_of(r, e, &stream))
		return 0;
	split_parentheses(e->name, &target, &none);
	c.target_memory = word_number(VPT_UNIT_MEMORY_KIND, target);
	put_transfer(r, e, &c, device, stream);
	return 1;
}
