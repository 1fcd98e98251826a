/* nsight_import.c - what the row functions of all tables share: lanes of threads, texts, the
 * largest end seen. */
#include "formats/import/nsight/nsight_import.h"

#include "formats/base/memory.h"

int64_t vpt_nsight_pid(int64_t global)
{
	return global == -1 ? -1 : (int64_t)((uint64_t)global >> 24 & 0xffffff);
}

int vpt_nsight_thread(struct vpt_nsight *im, int64_t global, uint64_t *lane)
{
	size_t at = ((uint64_t)global ^ (uint64_t)global >> 24) % VPT_NSIGHT_THREAD_CACHE;
	struct vpt_nsight_thread *slot = &im->cache[at];

	if (!slot->lane || slot->id != global) {
		if (vpt_grow(&im->threads, &im->thread_cap, im->thread_count + 1,
			    sizeof(*im->threads)))
			return VPT_ENOMEM;
		slot->id = global;
		slot->lane = vpt_collect_thread(
			im->out, vpt_nsight_pid(global), global == -1 ? -1 : global & 0xffffff);
		im->threads[im->thread_count++] = *slot;
	}
	*lane = slot->lane;
	return VPT_OK;
}

void vpt_nsight_note(struct vpt_nsight *im, int64_t end_ns)
{
	if ((uint64_t)end_ns > im->last_ns)
		im->last_ns = (uint64_t)end_ns;
	im->rows++;
}

struct vpt_nsight_name *vpt_nsight_find_string(struct vpt_nsight *im, const struct vpt_cell *id)
{
	return id->known ? vpt_nsight_names_find(&im->strings, 0, id->number) : NULL;
}

uint64_t vpt_nsight_text(struct vpt_nsight *im, struct vpt_text text)
{
	im->stats->bad_text += (uint64_t)!vpt_nsight_clean(text);
	return vpt_collect_string(im->out, text.text, text.len);
}

uint64_t vpt_nsight_string(struct vpt_nsight *im, struct vpt_nsight_name *name)
{
	if (name->string == UINT64_MAX)
		name->string = vpt_nsight_text(im, vpt_nsight_name_text(&im->strings, name));
	return name->string;
}

void vpt_nsight_free(struct vpt_nsight *im)
{
	int set;

	if (!im)
		return;
	vpt_nsight_names_free(&im->strings);
	for (set = 0; set < VPT_NSIGHT_WORDS; set++)
		vpt_nsight_names_free(&im->words[set]);
	vpt_nsight_names_free(&im->domains);
	vpt_free(im->threads);
	vpt_free(im->unmatched);
	vpt_free(im->losses);
	vpt_free(im->node_launches);
	vpt_free(im);
}
