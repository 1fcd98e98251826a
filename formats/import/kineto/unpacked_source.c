/* unpacked_source.c - unpacks block by block. */
#include "formats/import/kineto/unpacked_source.h"

#include "formats/base/memory.h"
#include "formats/file/nameless_file.h"
#include "formats/import/kineto/text/kineto_unpack.h"

enum { BLOCK_BYTES = 256 << 10 };

int vpt_unpacked_head(struct vpt_source *src, void *head, size_t size, size_t *got,
	const char **packer, struct vpt_err *err)
{
	struct vpt_kineto_unpack u;
	size_t made = 0;
	int rc = vpt_kineto_unpack_open(&u, src, err);

	*got = 0;
	*packer = NULL;
	while (!rc && *got < size) {
		rc = vpt_kineto_unpack(&u, (unsigned char *)head + *got, size - *got, &made, err);
		*got += rc ? 0 : made;
	}
	*packer = u.packer;
	vpt_kineto_unpack_close(&u);
	return rc == VPT_END ? VPT_OK : rc;
}

static int unpack(struct vpt_kineto_unpack *u, struct vpt_spool *spool, struct vpt_err *err)
{
	unsigned char *block = vpt_alloc(BLOCK_BYTES, 1);
	size_t made = 0;
	int rc = block ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory to unpack a file");

	while (!rc) {
		rc = vpt_kineto_unpack(u, block, BLOCK_BYTES, &made, err);
		if (!rc)
			rc = vpt_spool_write(spool, block, made, err);
	}
	vpt_free(block);
	return rc == VPT_END ? VPT_OK : rc;
}

int vpt_unpacked_source(
	struct vpt_source *src, struct vpt_source **out, int *is_torn, struct vpt_err *err)
{
	struct vpt_kineto_unpack u;
	struct vpt_spool spool;
	int rc = vpt_spool_open(&spool, src->name ? src->name : "a packed file", err);

	*out = NULL;
	if (rc)
		return rc;
	rc = vpt_kineto_unpack_open(&u, src, err);
	if (!rc)
		rc = unpack(&u, &spool, err);
	*is_torn = u.torn;
	vpt_kineto_unpack_close(&u);
	if (!rc)
		return vpt_spool_source(&spool, out, err);
	vpt_spool_close(&spool);
	return rc;
}
