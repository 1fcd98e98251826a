/* tar_members.c - headers of 512 bytes, each followed by the bytes of its member in whole blocks.
 *
 *	0 name 100 | 124 size 12 | 148 checksum 8 | 156 type 1 | 257 "ustar" | 345 prefix 155
 *
 * Numbers are octal digits, or of GNU tar big-endian bytes after one with its top bit set. Types: '0', NUL and '7' files;
 * 'L' the next one's name; 'x' the next one's facts, "LENGTH KEY=VALUE\n" each. The checksum is the sum of the header's
 * bytes, its own counted as spaces. A header of zeros ends the archive. */
#include "formats/file/tar_members.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 512, NAME = 0, SIZE = 124, SUM = 148, TYPE = 156, MAGIC = 257, PREFIX = 345 };

struct member {
	struct vpt_source base;
	struct vpt_source *archive;
	int owns_archive;
	uint64_t at;
	char name[];
};

static int member_read_at(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	struct member *m = (struct member *)src;
	uint64_t left = offset < src->size_bytes ? src->size_bytes - offset : 0;

	*got = 0;
	if (size > left)
		size = (size_t)left;
	return size ? m->archive->read_at(m->archive, m->at + offset, buf, size, got, err) : VPT_OK;
}

static void member_close(struct vpt_source *src)
{
	const struct member *m = (const struct member *)src;

	if (m->owns_archive)
		vpt_source_close(m->archive);
	vpt_free(src);
}

static int open_member(struct vpt_source *archive, const char *path, uint64_t at, uint64_t size,
	struct vpt_source **out, struct vpt_err *err)
{
	const char *of = archive->name ? archive->name : "archive";
	size_t bytes = strlen(of) + strlen(path) + 2;
	struct member *m = vpt_alloc(1, sizeof(*m) + bytes);

	if (!m)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a member of an archive");
	*m = (struct member){
		.base = {.read_at = member_read_at, .close = member_close, .size_bytes = size},
		.archive = archive,
		.at = at};
	snprintf(m->name, bytes, "%s/%s", of, path);
	m->base.name = m->name;
	*out = &m->base;
	return VPT_OK;
}

/* ---- headers ---- */

static int read_octal(const unsigned char *from, size_t width, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	if (from[0] & 0x80) {
		for (i = 0; i < width; i++) {
			if (*out >> 55)
				return -1;
			*out = *out << 8 | (i ? from[i] : from[i] & 0x7f);
		}
		return 0;
	}
	while (i < width && from[i] == ' ')
		i++;
	for (; i < width && from[i] >= '0' && from[i] <= '7'; i++)
		*out = *out << 3 | (uint64_t)(from[i] - '0');
	return i < width && from[i] && from[i] != ' ' ? -1 : 0;
}

static int is_header(const unsigned char *h)
{
	uint64_t wanted;
	unsigned sum = 0;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		sum += i >= SUM && i < SUM + 8 ? ' ' : h[i];
	return !read_octal(h + SUM, 8, &wanted) && wanted == sum && sum > ' ' * 8;
}

int vpt_is_tar(const void *head, size_t size)
{
	return size >= BLOCK && is_header(head);
}

void vpt_tar_open(struct vpt_tar_members *t, struct vpt_source *src)
{
	*t = (struct vpt_tar_members){.src = src};
}

/* ---- facts of the next member ---- */

static void set_name(struct vpt_tar_members *t, const char *name)
{
	snprintf(t->long_name, sizeof(t->long_name), "%.*s", (int)sizeof(t->long_name) - 1, name);
}

/* "30 path=job/rank 0.json\n" ... */
static void read_facts(struct vpt_tar_members *t, char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		char *end, *key, *value;
		unsigned long len = strtoul(text + at, &end, 10);

		if (*end != ' ' || len > size - at || len < 5 || end >= text + at + len ||
			text[at + len - 1] != '\n')
			return;
		text[at + len - 1] = '\0';
		key = end + 1;
		value = strchr(key, '=');
		if (value && !strncmp(key, "path=", 5))
			set_name(t, value + 1);
		if (value && !strncmp(key, "size=", 5)) {
			t->long_size = strtoull(value + 1, NULL, 10);
			t->has_long_size = 1;
		}
		at += len;
	}
}

/* Reads what a header says of the next member; of more than a name and some facts nothing is known. */
static int read_next_facts(
	struct vpt_tar_members *t, char type, uint64_t at, uint64_t size, struct vpt_err *err)
{
	char text[2 * VPT_TAR_PATH_MAX];
	size_t got;
	int rc;

	if (size >= sizeof(text))
		return VPT_OK;
	rc = t->src->read_at(t->src, at, text, (size_t)size, &got, err);
	if (rc)
		return rc;
	text[got] = '\0';
	if (type == 'L')
		set_name(t, text);
	else
		read_facts(t, text, got);
	return VPT_OK;
}

/* ---- members ---- */

static void name_of(const struct vpt_tar_members *t, const unsigned char *h, char *out)
{
	int has_prefix = !memcmp(h + MAGIC, "ustar\0", 6) && h[PREFIX];

	if (t->long_name[0])
		snprintf(out, VPT_TAR_PATH_MAX, "%s", t->long_name);
	else
		snprintf(out, VPT_TAR_PATH_MAX, "%.*s%s%.100s", has_prefix ? 155 : 0,
			(const char *)h + PREFIX, has_prefix ? "/" : "", (const char *)h + NAME);
}

static int is_hidden(const char *path)
{
	const char *name = vpt_file_name(path);

	return !*name || *name == '.';
}

static int damaged(const struct vpt_tar_members *t, const char *what, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EDATA, "%.200s: at byte %" PRIu64 " of the archive: %s",
		t->src->name ? t->src->name : "archive", t->at, what);
}

/* Reads the header at t->at. 0, VPT_END or an error. */
static int read_header(
	struct vpt_tar_members *t, unsigned char h[BLOCK], uint64_t *size, struct vpt_err *err)
{
	static const unsigned char zeros[BLOCK];
	size_t got;
	int rc = t->src->read_at(t->src, t->at, h, BLOCK, &got, err);

	if (rc)
		return rc;
	if (!got || (got == BLOCK && !memcmp(h, zeros, BLOCK)))
		return VPT_END;
	if (got < BLOCK || !is_header(h) || read_octal(h + SIZE, 12, size))
		return damaged(t, "expected the header of a file, found other bytes", err);
	if (t->has_long_size && (h[TYPE] == '0' || !h[TYPE]))
		*size = t->long_size;
	if (*size > t->src->size_bytes || t->at + BLOCK > t->src->size_bytes - *size)
		return damaged(t, "the archive ends inside this file", err);
	return VPT_OK;
}

int vpt_tar_next(struct vpt_tar_members *t, struct vpt_source **member, struct vpt_err *err)
{
	char path[VPT_TAR_PATH_MAX];
	unsigned char h[BLOCK];
	uint64_t size, at;
	int rc;

	*member = NULL;
	while (!(rc = read_header(t, h, &size, err))) {
		char type = (char)h[TYPE];
		int is_file = type == '0' || !type || type == '7';

		at = t->at + BLOCK;
		t->at = at + (size + BLOCK - 1) / BLOCK * BLOCK;
		if (type == 'L' || type == 'x') {
			rc = read_next_facts(t, type, at, size, err);
			if (rc)
				return rc;
			continue;
		}
		name_of(t, h, path);
		t->long_name[0] = '\0';
		t->has_long_size = 0;
		if (is_file && !is_hidden(path))
			return open_member(t->src, path, at, size, member, err);
	}
	return rc;
}

/* ---- one by its name ---- */

static int find_member(struct vpt_source *archive, const char *path, struct vpt_source **member,
	struct vpt_err *err)
{
	struct vpt_tar_members tar;
	unsigned char head[BLOCK];
	size_t got;
	int rc = archive->read_at(archive, 0, head, sizeof(head), &got, err);

	if (rc || !vpt_is_tar(head, got))
		return rc ? rc : VPT_END;
	vpt_tar_open(&tar, archive);
	while (!(rc = vpt_tar_next(&tar, member, err))) {
		if (!strcmp((*member)->name, path))
			return VPT_OK;
		vpt_source_close(*member);
	}
	return rc;
}

int vpt_tar_member_open(const char *path, struct vpt_source **member, struct vpt_err *err)
{
	struct vpt_source *archive;
	char folder[VPT_TAR_PATH_MAX];
	const char *end = path;
	struct stat st;
	int rc;

	*member = NULL;
	/* The first part of the path that is a file. */
	do {
		end = strchr(end + 1, '/');
		if (!end || (size_t)(end - path) >= sizeof(folder))
			return VPT_END;
		snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
		if (stat(folder, &st))
			return VPT_END;
	} while (!S_ISREG(st.st_mode));
	rc = vpt_source_open(folder, &archive, err);
	if (rc)
		return rc;
	rc = find_member(archive, path, member, err);
	if (rc)
		vpt_source_close(archive);
	else
		((struct member *)*member)->owns_archive = 1;
	return rc;
}
