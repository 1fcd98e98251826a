/* nsight_text.c - texts that rows refer to by number, kept in one sorted array.
 *
 * Sorted, not hashed: the numbers come from the file, and no file can make a binary search slow.
 * The ENUM tables describe the numbers of a column in words. We search for words within those
 * texts, since their exact spelling has changed between versions. */
#include "formats/import/nsight/nsight_import.h"

#include "formats/base/count.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/utf8.h"

#include <stdlib.h>
#include <string.h>

void vpt_nsight_names_free(struct vpt_nsight_names *names)
{
	vpt_free(names->at);
	vpt_free(names->text);
	*names = (struct vpt_nsight_names){0};
}

int vpt_nsight_names_add(
	struct vpt_nsight_names *names, int64_t owner, int64_t id, const char *text, size_t len)
{
	if (vpt_grow(&names->at, &names->cap, names->count + 1, sizeof(*names->at)) ||
		vpt_grow(&names->text, &names->text_cap, names->text_size + len + 1, 1))
		return VPT_ENOMEM;
	names->at[names->count++] = (struct vpt_nsight_name){.owner = owner,
		.id = id,
		.offset = names->text_size,
		.len = (uint32_t)len,
		.number = -1,
		.string = UINT64_MAX};
	memcpy(names->text + names->text_size, text, len);
	names->text_size += len;
	return VPT_OK;
}

static int compare_key(const struct vpt_nsight_name *a, int64_t owner, int64_t id)
{
	if (a->owner != owner)
		return a->owner < owner ? -1 : 1;
	return a->id < id ? -1 : a->id > id;
}

/* Texts were appended in order, so the offset shows which of two equal names came first. An empty
 * text shares its offset with its successor; either of those two may win. */
static int compare_names(const void *pa, const void *pb)
{
	const struct vpt_nsight_name *a = pa, *b = pb;
	int order = compare_key(a, b->owner, b->id);

	return order ? order : (a->offset < b->offset ? -1 : a->offset > b->offset);
}

void vpt_nsight_names_sort(struct vpt_nsight_names *names)
{
	size_t i;

	for (i = 1; i < names->count; i++)
		if (compare_names(&names->at[i - 1], &names->at[i]) > 0)
			break;
	if (i < names->count)
		qsort(names->at, names->count, sizeof(*names->at), compare_names);
}

struct vpt_nsight_name *vpt_nsight_names_find(
	struct vpt_nsight_names *names, int64_t owner, int64_t id)
{
	size_t lo = 0, hi = names->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare_key(&names->at[mid], owner, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == names->count || compare_key(&names->at[lo], owner, id))
		return NULL;
	return &names->at[lo];
}

/* Not clean: control characters, and bytes that are not UTF-8. */
int vpt_nsight_clean(struct vpt_text text)
{
	size_t i, len;

	for (i = 0; i < text.len; i += len) {
		unsigned char c = (unsigned char)text.text[i];

		len = c < 0x20 || c == 0x7f ? 0
					    : vpt_utf8_length(text.text + i, text.len - i, NULL);
		if (!len)
			return 0;
	}
	return 1;
}

/* ---- words ---- */

struct word {
	const char *text; /* in lower case, found anywhere */
	int32_t number;
};

/* The first match wins, so the longer of two words comes first. */
static const struct word copy_words[] = {
	{"uvm_htod", VPT_COPYKIND_UNIFIED_HTOD},
	{"uvm_dtoh", VPT_COPYKIND_UNIFIED_DTOH},
	{"uvm_dtod", VPT_COPYKIND_UNIFIED_DTOD},
	{"unified host-to-device", VPT_COPYKIND_UNIFIED_HTOD},
	{"unified device-to-host", VPT_COPYKIND_UNIFIED_DTOH},
	{"unified device-to-device", VPT_COPYKIND_UNIFIED_DTOD},
	{"uvm", VPT_COPYKIND_UNIFIED},
	{"unified", VPT_COPYKIND_UNIFIED},
	{"htod", VPT_COPYKIND_HTOD},
	{"dtoh", VPT_COPYKIND_DTOH},
	{"htoa", VPT_COPYKIND_HTOA},
	{"atoh", VPT_COPYKIND_ATOH},
	{"atoa", VPT_COPYKIND_ATOA},
	{"atod", VPT_COPYKIND_ATOD},
	{"dtoa", VPT_COPYKIND_DTOA},
	{"dtod", VPT_COPYKIND_DTOD},
	{"htoh", VPT_COPYKIND_HTOH},
	{"ptop", VPT_COPYKIND_PTOP},
	{"host-to-device", VPT_COPYKIND_HTOD},
	{"device-to-host", VPT_COPYKIND_DTOH},
	{"host-to-array", VPT_COPYKIND_HTOA},
	{"array-to-host", VPT_COPYKIND_ATOH},
	{"array-to-array", VPT_COPYKIND_ATOA},
	{"array-to-device", VPT_COPYKIND_ATOD},
	{"device-to-array", VPT_COPYKIND_DTOA},
	{"device-to-device", VPT_COPYKIND_DTOD},
	{"host-to-host", VPT_COPYKIND_HTOH},
	{"peer", VPT_COPYKIND_PTOP},
	{NULL, VPT_COPYKIND_UNKNOWN},
};

static const struct word memory_words[] = {
	{"pageable", VPT_MEMKIND_PAGEABLE},
	{"pinned", VPT_MEMKIND_PINNED},
	{"device_static", VPT_MEMKIND_DEVICE_STATIC},
	{"device static", VPT_MEMKIND_DEVICE_STATIC},
	{"managed_static", VPT_MEMKIND_MANAGED_STATIC},
	{"managed static", VPT_MEMKIND_MANAGED_STATIC},
	{"device", VPT_MEMKIND_DEVICE},
	{"array", VPT_MEMKIND_ARRAY},
	{"managed", VPT_MEMKIND_MANAGED},
	{NULL, VPT_MEMKIND_UNKNOWN},
};

static const struct word sync_words[] = {
	{"stream_wait", VPT_SYNCKIND_STREAM_WAIT},
	{"stream wait", VPT_SYNCKIND_STREAM_WAIT},
	{"event", VPT_SYNCKIND_EVENT},
	{"stream", VPT_SYNCKIND_STREAM},
	{"context", VPT_SYNCKIND_CONTEXT},
	{NULL, VPT_SYNCKIND_UNKNOWN},
};

static const struct word overhead_words[] = {
	{"command buffer full", VPT_OVERHEADKIND_COMMAND_BUFFER_FULL},
	{"command_buffer_full", VPT_OVERHEADKIND_COMMAND_BUFFER_FULL},
	{"buffer request", VPT_OVERHEADKIND_BUFFER_REQUEST},
	{"buffer_request", VPT_OVERHEADKIND_BUFFER_REQUEST},
	{"flush", VPT_OVERHEADKIND_FLUSH},
	{"compiler", VPT_OVERHEADKIND_COMPILER},
	{"instrumentation", VPT_OVERHEADKIND_INSTRUMENTATION},
	{"resource", VPT_OVERHEADKIND_RESOURCE},
	{"module loading", VPT_OVERHEADKIND_MODULE_LOADING},
	{"module_loading", VPT_OVERHEADKIND_MODULE_LOADING},
	{"lazy", VPT_OVERHEADKIND_LAZY_LOADING},
	{"uvm", VPT_OVERHEADKIND_UVM_INIT},
	{"unified memory", VPT_OVERHEADKIND_UVM_INIT},
	{NULL, VPT_OVERHEADKIND_UNKNOWN},
};

/* The meaning of the numbers if the file has no ENUM table: those of all known versions of the
 * tool. */
static const uint8_t copy_numbers[] = {VPT_COPYKIND_UNKNOWN, VPT_COPYKIND_HTOD, VPT_COPYKIND_DTOH,
	VPT_COPYKIND_HTOA, VPT_COPYKIND_ATOH, VPT_COPYKIND_ATOA, VPT_COPYKIND_ATOD,
	VPT_COPYKIND_DTOA, VPT_COPYKIND_DTOD, VPT_COPYKIND_HTOH, VPT_COPYKIND_PTOP,
	VPT_COPYKIND_UNIFIED_HTOD, VPT_COPYKIND_UNIFIED_DTOH, VPT_COPYKIND_UNIFIED_DTOD};
static const uint8_t memory_numbers[] = {VPT_MEMKIND_PAGEABLE, VPT_MEMKIND_PINNED,
	VPT_MEMKIND_DEVICE, VPT_MEMKIND_ARRAY, VPT_MEMKIND_MANAGED, VPT_MEMKIND_DEVICE_STATIC,
	VPT_MEMKIND_MANAGED_STATIC};
static const uint8_t sync_numbers[] = {VPT_SYNCKIND_UNKNOWN, VPT_SYNCKIND_EVENT,
	VPT_SYNCKIND_STREAM_WAIT, VPT_SYNCKIND_STREAM, VPT_SYNCKIND_CONTEXT};
static const uint8_t overhead_numbers[] = {VPT_OVERHEADKIND_UNKNOWN, VPT_OVERHEADKIND_UNKNOWN,
	VPT_OVERHEADKIND_COMPILER, VPT_OVERHEADKIND_FLUSH, VPT_OVERHEADKIND_INSTRUMENTATION,
	VPT_OVERHEADKIND_RESOURCE, VPT_OVERHEADKIND_MODULE_LOADING, VPT_OVERHEADKIND_LAZY_LOADING,
	VPT_OVERHEADKIND_COMMAND_BUFFER_FULL};

static const struct {
	const char *table;
	const struct word *words;
	const uint8_t *numbers;
	size_t number_count;
} word_sets[VPT_NSIGHT_WORDS] = {
	[VPT_NSIGHT_COPY] = {"ENUM_CUDA_MEMCPY_OPER", copy_words, copy_numbers,
		COUNT(copy_numbers)},
	[VPT_NSIGHT_MEMORY] = {"ENUM_CUDA_MEM_KIND", memory_words, memory_numbers,
		COUNT(memory_numbers)},
	[VPT_NSIGHT_SYNC] = {"ENUM_CUPTI_SYNC_TYPE", sync_words, sync_numbers, COUNT(sync_numbers)},
	[VPT_NSIGHT_OVERHEAD] = {"ENUM_CUPTI_OVERHEAD_TYPE", overhead_words, overhead_numbers,
		COUNT(overhead_numbers)},
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

int vpt_nsight_has_word(struct vpt_text text, const char *word)
{
	size_t len = strlen(word), at, i;

	for (at = 0; at + len <= text.len; at++) {
		for (i = 0; i < len && lower(text.text[at + i]) == word[i]; i++)
			;
		if (i == len)
			return 1;
	}
	return 0;
}

const char *vpt_nsight_words_table(enum vpt_nsight_words set)
{
	return word_sets[set].table;
}

int32_t vpt_nsight_match(enum vpt_nsight_words set, struct vpt_text text)
{
	const struct word *word = word_sets[set].words;

	while (word->text && !vpt_nsight_has_word(text, word->text))
		word++;
	return word->number;
}

uint64_t vpt_nsight_word(enum vpt_nsight_words set, struct vpt_nsight_names *names, int64_t id)
{
	struct vpt_nsight_name *name;

	if (!names->count)
		return id >= 0 && (uint64_t)id < word_sets[set].number_count
			       ? word_sets[set].numbers[id]
			       : 0;
	name = vpt_nsight_names_find(names, 0, id);
	if (!name)
		return 0;
	if (name->number < 0)
		name->number = vpt_nsight_match(set, vpt_nsight_name_text(names, name));
	return (uint64_t)name->number;
}
