/* rank_file.h - ranks in a file, NAME.vps: condensed, so that they can be carried together and merged in any order.
 *
 *	"VPTRANK1"
 *	block: rank, 1 + its number   8 bytes each, the low one first
 *	       size of its bytes
 *	       size of these, packed
 *	       checksum of these
 *	       the packed bytes: a frame of zstd around what rank_bytes.h writes
 *	...
 *
 * Blocks are in order of rank, then of bytes, each once: so a file depends on which ranks are in it and on nothing else,
 * and to merge files is to join their sets of blocks. A file that ends in a block has all blocks before it. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_FILE_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_FILE_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/base/io.h"

/* Packed ranks. All zeros is empty. */
struct vpa_rank_blocks {
	struct vpa_rank_block {
		uint64_t rank; /* 1 + its number; ~0: not known */
		uint64_t size, packed_size, checksum;
		unsigned char *packed;
	} * items;
	size_t count, cap;
};

/* Packs a rank and adds it. 0 or VPT_ENOMEM. */
int vpa_rank_blocks_add(struct vpa_rank_blocks *b, const struct vpa_rank *rank);
/* Adds the blocks of a file. VPT_EDATA: it is none, or a block is damaged; those before it are added. VPT_EIO, VPT_ENOMEM. */
int vpa_rank_blocks_read(struct vpa_rank_blocks *b, struct vpt_source *src, struct vpt_err *err);
/* Writes all blocks, each once; their order before changes nothing. 0, VPT_ENOMEM or the sink's error. */
int vpa_rank_blocks_write(struct vpa_rank_blocks *b, struct vpt_sink *sink, struct vpt_err *err);
/* Unpacks block `i` and appends its rank. 0, VPT_EDATA, VPT_EVERSION or VPT_ENOMEM. */
int vpa_rank_block_unpack(
	const struct vpa_rank_blocks *b, size_t i, struct vpa_rank_list *out, struct vpt_err *err);
void vpa_rank_blocks_free(struct vpa_rank_blocks *b);

/* Whether a source is such a file, by its first bytes. */
int vpa_is_rank_file(struct vpt_source *src);

#endif
