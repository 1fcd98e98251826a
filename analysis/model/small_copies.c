/* small_copies.c - sums of the report's rows of copies and of places that read, which are few. */
#include "analysis/model/small_copies.h"

#include "analysis/base/numbers.h"
#include "analysis/model/model.h"
#include "formats/base/text.h"

int vpa_small_copies(const struct vpa_report *r, const char *range)
{
	size_t i;

	for (i = 0; i < r->read_count; i++)
		if (vpt_same_text(range, r->reads[i].range))
			return r->reads[i].small > 9 * r->reads[i].large;
	return 0;
}

const char *vpa_small_reads_text(struct vpa_report *r)
{
	uint64_t count = 0, bytes = 0;
	size_t i;

	for (i = 0; i < r->read_count; i++) {
		count += r->reads[i].small;
		bytes += r->reads[i].small_bytes;
	}
	if (!count)
		return NULL;
	return vpa_arena_printf(&r->arena, "%s cop%s of at most %d bytes, %s in all",
		vpa_count(count).text, count == 1 ? "y" : "ies", VPA_SMALL_BYTES,
		vpa_bytes(bytes).text);
}

const char *vpa_large_copies_text(struct vpa_report *r)
{
	uint64_t count = 0, bytes = 0, small = 0, small_bytes = 0;
	size_t i;

	for (i = 0; i < r->read_count; i++) {
		small += r->reads[i].pageable;
		small_bytes += r->reads[i].pageable_bytes;
	}
	for (i = 0; i < r->copy_count; i++) {
		const struct vpa_copy_row *c = &r->copies[i];

		if (c->source != VPT_MEMKIND_PAGEABLE && c->target != VPT_MEMKIND_PAGEABLE)
			continue;
		count += c->count;
		bytes += c->bytes;
	}
	if (count <= small || bytes < small_bytes)
		return NULL;
	count -= small;
	return vpa_arena_printf(&r->arena, "%s cop%s through pageable memory, %s in all",
		vpa_count(count).text, count == 1 ? "y" : "ies",
		vpa_bytes(bytes - small_bytes).text);
}
