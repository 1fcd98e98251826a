/* weights_room.h - whether weights that each unit copies to the GPU could stay there.
 *
 * The sizes of copies do not say which weight is which: a unit is taken to copy each once. Of steps and blocks, which hold a few
 * layers at a time, all that is in use counts as the rest; of requests, which hold whole models, and where nothing says what is in
 * use, the rest is taken to need a quarter of the GPU's memory. */
#ifndef VPA_ANALYSIS_ADVICE_WEIGHTS_ROOM_H
#define VPA_ANALYSIS_ADVICE_WEIGHTS_ROOM_H

#include "analysis/report/report.h"

/* All of the GPU with most memory. */
struct vpa_weights_room {
	uint64_t bytes;      /* that a unit copies to the GPU; 0: not known */
	uint64_t room_bytes; /* what they could have; UINT64_MAX: not known */
	uint64_t gpu_bytes;  /* the GPU's memory; 0: not known */
	uint64_t used_bytes; /* of it, in use at most while few of them are there; 0: not known */
};

struct vpa_weights_room vpa_weights_room_of(const struct vpa_report *r);

/* Whether they are known not to fit. */
static inline int vpa_weights_are_too_large(const struct vpa_weights_room *w)
{
	return w->bytes > w->room_bytes;
}

/* The bytes of copies of a kind that the mean unit makes, where units are nearly all of the run; else 0. */
uint64_t vpa_copied_in_unit(const struct vpa_report *r, unsigned kind);

#endif
