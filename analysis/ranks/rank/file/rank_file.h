/* rank_file.h - ranks in a file, NAME.vps: condensed, so that they can be carried together and merged in any order.
 *
 *	"VPTRANK1"
 *	block: rank, 1 + its number   8 bytes each, the low one first
 *	       size of who it is and of its detail, packed
 *	       size of both, unpacked
 *	       checksum of the packed bytes
 *	       the packed bytes, see rank_bytes.h: a frame of zstd around who it is, and one or two around its detail: since
 *	       version 5 shares and paces, if there are any, are in a frame of their own
 *	...
 *
 * Blocks are in order of rank, then of bytes, each once: so a file depends on which ranks are in it and on nothing else,
 * and to merge files is to join their sets of blocks. A file that ends in a block has all blocks before it. */
#ifndef VPA_ANALYSIS_RANKS_RANK_FILE_RANK_FILE_H
#define VPA_ANALYSIS_RANKS_RANK_FILE_RANK_FILE_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/io/io.h"

struct vpa_rank_block {
	uint64_t rank; /* 1 + its number; ~0: not known */
	uint64_t checksum;
	struct vpa_rank_frame {
		uint64_t packed_size, size;
		uint64_t at;           /* its byte in the file that it was read from */
		unsigned char *packed; /* part of the block's slab */
	} who, detail;
	struct vpa_slab *slab;
};

/* Packed ranks. All zeros is empty. */
struct vpa_rank_blocks {
	struct vpa_rank_block *items;
	size_t count, cap;
	struct vpa_slab *slab; /* of the newest ones */
};

/* Reads the header of the block at byte *at of a file, 0 at first, and moves *at to the next one. Nothing is to be freed. 0; VPT_END:
 * there is none more; VPT_EDATA: the file is none of ranks, or damaged; VPT_EIO. */
int vpa_rank_block_find(
	struct vpt_source *src, uint64_t *at, struct vpa_rank_block *out, struct vpt_err *err);
/* Reads the frames of a block that was found into *slab, see rank_slab.h. Any thread; the caller frees the block. VPT_EDATA: it is
 * damaged; VPT_EIO, VPT_ENOMEM. */
int vpa_rank_block_read(struct vpt_source *src, struct vpa_slab **slab,
	struct vpa_rank_block *block, struct vpt_err *err);
/* Unpacks a block and appends its rank, whose detail stays folded and is taken from the block. 0, VPT_EDATA, VPT_EVERSION or
 * VPT_ENOMEM. */
int vpa_rank_block_unpack(
	struct vpa_rank_block *block, struct vpa_rank_list *out, struct vpt_err *err);
void vpa_rank_block_free(struct vpa_rank_block *block);

/* Folds a rank, packs it and adds it. 0 or VPT_ENOMEM. */
int vpa_rank_blocks_add(struct vpa_rank_blocks *b, struct vpa_rank *rank);
/* Adds the blocks of a file. VPT_EDATA: it is none, or a block is damaged; those before it are added. VPT_EIO, VPT_ENOMEM. */
int vpa_rank_blocks_read(struct vpa_rank_blocks *b, struct vpt_source *src, struct vpt_err *err);
/* Moves all blocks of `from`, which is empty then. 0 or VPT_ENOMEM; nothing is lost. */
int vpa_rank_blocks_join(struct vpa_rank_blocks *to, struct vpa_rank_blocks *from);
/* Writes all blocks, each once; their order before changes nothing. 0, VPT_ENOMEM or the sink's error. */
int vpa_rank_blocks_write(struct vpa_rank_blocks *b, struct vpt_sink *sink, struct vpt_err *err);
void vpa_rank_blocks_free(struct vpa_rank_blocks *b);

/* Whether a source is such a file, by its first bytes. */
int vpa_is_rank_file(struct vpt_source *src);

#endif
