/* config_file.c - the file's bytes, and which reader they are for. */
#include "tracer/command/options/config_file.h"

#include "formats/base/memory.h"
#include "tracer/command/options/config_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What the file's name says; TOML if it says nothing. */
static int is_yaml(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static int read_all(const char *name, const char *text, size_t size, struct vtr_config *out,
	struct vpt_err *err)
{
	struct vtr_config_reader r = {name, text, text, text + size, NULL, 1, out, 0, err};
	int rc;

	out->bytes = r.to = vpt_alloc(size + 1, 1);
	if (!r.to)
		return vpt_fail(err, VPT_ENOMEM, "no memory for %.200s", name);
	rc = is_yaml(name) ? vtr_config_read_yaml(&r) : vtr_config_read_toml(&r);
	if (rc)
		vtr_config_free(out);
	return rc;
}

/* Its bytes, and a NUL after them. */
static char *read_bytes(int fd, const char *path, size_t *size, struct vpt_err *err)
{
	char *bytes = vpt_alloc(VTR_CONFIG_BYTES_MAX + 1, 1);
	ssize_t got = 0;

	*size = 0;
	if (!bytes) {
		vpt_fail(err, VPT_ENOMEM, "no memory for %.200s", path);
		return NULL;
	}
	do {
		got = read(fd, bytes + *size, VTR_CONFIG_BYTES_MAX + 1 - *size);
		*size += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		vpt_fail(err, VPT_EINVAL, "%.200s: cannot read: %s", path, strerror(errno));
	else if (*size > VTR_CONFIG_BYTES_MAX)
		vpt_fail(err, VPT_EINVAL, "%.200s: expected at most %d bytes", path,
			VTR_CONFIG_BYTES_MAX);
	else if (memchr(bytes, '\0', *size))
		vpt_fail(err, VPT_EINVAL, "%.200s: expected text, found a byte of 0", path);
	else {
		bytes[*size] = '\0';
		return bytes;
	}
	vpt_free(bytes);
	return NULL;
}

int vtr_config_read(const char *path, struct vtr_config *out, struct vpt_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	size_t size;
	char *bytes;

	*out = (struct vtr_config){.values = NULL};
	if (fd < 0)
		return vpt_fail(err, VPT_EINVAL, "%.200s: cannot open: %s", path, strerror(errno));
	bytes = read_bytes(fd, path, &size, err);
	close(fd);
	if (!bytes)
		return err->code;
	rc = read_all(path, bytes, size, out, err);
	vpt_free(bytes);
	return rc;
}

void vtr_config_free(struct vtr_config *c)
{
	vpt_free(c->values);
	vpt_free(c->bytes);
	*c = (struct vtr_config){.values = NULL};
}
