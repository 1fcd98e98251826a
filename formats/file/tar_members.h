/* tar_members.h - the files in a tar archive, one after the other, as sources.
 *
 *	vpt_tar_open(&tar, src);
 *	while (!(rc = vpt_tar_next(&tar, &member, &err)))
 *		... member->name is "job.tar/rank0.zst" ... vpt_source_close(member);
 *	if (rc != VPT_END) ...
 *
 * Reads ustar, with the long names and sizes of pax and of GNU tar. Folders, links and devices are passed over, and so
 * are files whose names begin with a dot. */
#ifndef VPT_FORMATS_FILE_TAR_MEMBERS_H
#define VPT_FORMATS_FILE_TAR_MEMBERS_H

#include "formats/io/io.h"

enum { VPT_TAR_PATH_MAX = 4096 };

struct vpt_tar_members {
	struct vpt_source *src; /* borrowed */
	uint64_t at;            /* of the next header */
	/* Of the next member, as said before its header; "" and 0: nothing was. */
	char long_name[VPT_TAR_PATH_MAX];
	uint64_t long_size;
	int has_long_size;
};

/* Whether the bytes that a file begins with are those of a tar archive. */
int vpt_is_tar(const void *head, size_t size);

/* Begins at the start of `src`, which the caller keeps until after the last member is closed. */
void vpt_tar_open(struct vpt_tar_members *t, struct vpt_source *src);

/* The next file; the caller closes it. 0; VPT_END: there is none; VPT_EDATA: the archive is damaged or ends inside this
 * member; VPT_EIO, VPT_ENOMEM. */
int vpt_tar_next(struct vpt_tar_members *t, struct vpt_source **member, struct vpt_err *err);

/* Opens a member by its name as a source has it, "job.tar/rank0.zst", where job.tar is a file that is an archive and not
 * packed. VPT_END: there is no such file or member; else as vpt_tar_next(). */
int vpt_tar_member_open(const char *path, struct vpt_source **member, struct vpt_err *err);

#endif
