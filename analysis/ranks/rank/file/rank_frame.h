/* rank_frame.h - frames of zstd, each around a part of a rank's bytes. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_FRAME_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_FRAME_H

#include <stddef.h>

/* How much room a frame around `size` bytes needs. */
size_t vpa_frame_room(size_t size);
/* Packs bytes into that much room. Equal bytes give equal frames. Returns how much it takes; 0: no memory. */
size_t vpa_frame_pack(void *to, size_t room, const void *data, size_t size);

#endif
