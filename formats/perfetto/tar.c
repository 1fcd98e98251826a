/* tar.c - ustar headers.
 *
 *	offset   0 name 100 | mode 8 | uid 8 | gid 8 | size 12 | mtime 12 | checksum 8 | type 1 | link 100 | "ustar" 6 | "00" 2 | ...
 *
 * Numbers are octal digits. The checksum is the sum of the header's bytes, its own eight counted as
 * spaces. Left out: folders, links, long names, members of 8 GiB or more. */
#include "formats/perfetto/tar.h"

#include <stdio.h>
#include <string.h>

static const char zeros[2 * VPT_TAR_BLOCK];

/* `width` bytes: digits and a NUL. */
static void put_octal(char *to, int width, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*llo", width - 1, (unsigned long long)value);
	memcpy(to, text, (size_t)width);
}

int vpt_tar_begin(struct vpt_sink *sink, const char *name, uint64_t size, struct vpt_err *err)
{
	enum {
		MODE = 100,
		UID = 108,
		GID = 116,
		SIZE = 124,
		MTIME = 136,
		SUM = 148,
		TYPE = 156,
		MAGIC = 257
	};
	char header[VPT_TAR_BLOCK] = {0};
	size_t len = strlen(name), i;
	unsigned sum = 0;

	if (!len || len > VPT_TAR_NAME_MAX)
		return vpt_fail(err, VPT_EINVAL, "tar: expected a name of 1 to %d bytes, found %zu",
			VPT_TAR_NAME_MAX, len);
	if (size >> 33)
		return vpt_fail(err, VPT_EINVAL,
			"tar: expected a member of less than 8 GiB, \"%.100s\" has %llu bytes",
			name, (unsigned long long)size);
	memcpy(header, name, len);
	put_octal(header + MODE, 8, 0644);
	put_octal(header + UID, 8, 0);
	put_octal(header + GID, 8, 0);
	put_octal(header + SIZE, 12, size);
	put_octal(header + MTIME, 12, 0);
	memset(header + SUM, ' ', 8);
	header[TYPE] = '0';
	memcpy(header + MAGIC,
		"ustar\0"
		"00",
		8);
	for (i = 0; i < sizeof(header); i++)
		sum += (unsigned char)header[i];
	put_octal(header + SUM, 7, sum);
	return vpt_sink_write(sink, header, sizeof(header), err);
}

int vpt_tar_end(struct vpt_sink *sink, uint64_t size, struct vpt_err *err)
{
	size_t rest = (size_t)(size % VPT_TAR_BLOCK);

	return rest ? vpt_sink_write(sink, zeros, VPT_TAR_BLOCK - rest, err) : VPT_OK;
}

int vpt_tar_finish(struct vpt_sink *sink, struct vpt_err *err)
{
	return vpt_sink_write(sink, zeros, sizeof(zeros), err);
}
