/* nsight_vfs.c - SQLite's view of the source and of the file of changes beside it. */
#include "formats/import/nsight/nsight_sqlite.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/import/nsight/sqlite_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A page as SQLite has written it. */
struct vpt_nsight_page {
	uint64_t offset;
	unsigned char *bytes;
};

struct file {
	sqlite3_file base;
	struct vpt_nsight_files *files;
	int is_beside; /* the file of changes, not the database */
};

/* ---- pages in memory ---- */

static uint64_t hash_of(uint64_t offset)
{
	return (offset >> 9) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

static struct vpt_nsight_page *find_page(const struct vpt_nsight_files *f, uint64_t offset)
{
	uint64_t hash = hash_of(offset), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&f->page_of, hash, &at)) != VPT_MAP_NONE)
		if (f->pages[n].offset == offset)
			return &f->pages[n];
	return NULL;
}

static struct vpt_nsight_page *add_page(struct vpt_nsight_files *f, uint64_t offset)
{
	struct vpt_nsight_page *page = find_page(f, offset);

	if (page)
		return page;
	if (vpt_grow(&f->pages, &f->page_cap, f->page_count + 1, sizeof(*f->pages)))
		return NULL;
	page = &f->pages[f->page_count];
	*page = (struct vpt_nsight_page){offset, vpt_alloc(f->page_bytes, 1)};
	if (!page->bytes)
		return NULL;
	if (vpt_map_put(&f->page_of, hash_of(offset), (uint32_t)f->page_count)) {
		vpt_free(page->bytes);
		return NULL;
	}
	f->page_count++;
	return page;
}

/* Replaces what was read by what SQLite has written since. */
static void read_pages(
	const struct vpt_nsight_files *f, unsigned char *buf, size_t size, uint64_t offset)
{
	while (f->page_count && size) {
		uint64_t inside = offset % f->page_bytes;
		size_t n = f->page_bytes - (size_t)inside < size ? f->page_bytes - (size_t)inside
								 : size;
		const struct vpt_nsight_page *page = find_page(f, offset - inside);

		if (page)
			memcpy(buf, page->bytes + inside, n);
		buf += n;
		size -= n;
		offset += n;
	}
}

/* ---- the files ---- */

static int file_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

static uint64_t shown_bytes(const struct file *f)
{
	return f->is_beside ? f->files->beside->size_bytes : f->files->size_bytes;
}

static int file_read(sqlite3_file *base, void *buf, int size, sqlite3_int64 offset)
{
	struct file *f = (struct file *)base;
	struct vpt_nsight_files *files = f->files;
	struct vpt_source *src = f->is_beside ? files->beside : files->src;
	size_t got = 0, want = size > 0 ? (size_t)size : 0;

	if (offset < 0)
		return SQLITE_IOERR_READ;
	if ((uint64_t)offset < src->size_bytes &&
		src->read_at(src, (uint64_t)offset, buf, want, &got, &files->io_err)) {
		files->io_failed = 1;
		return SQLITE_IOERR_READ;
	}
	if (got < want)
		memset((char *)buf + got, 0, want - got);
	if (!f->is_beside)
		read_pages(files, buf, want, (uint64_t)offset);
	return (uint64_t)offset + want <= shown_bytes(f) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

/* SQLite writes whole pages of the database, when it undoes changes; of the file of changes it only marks
 * that it is done with. */
static int file_write(sqlite3_file *base, const void *buf, int size, sqlite3_int64 offset)
{
	struct file *f = (struct file *)base;
	struct vpt_nsight_files *files = f->files;
	struct vpt_nsight_page *page;

	if (!files->beside)
		return SQLITE_READONLY;
	if (f->is_beside)
		return SQLITE_OK;
	if (!files->page_bytes)
		files->page_bytes = (size_t)size;
	if (size <= 0 || (size_t)size != files->page_bytes || offset < 0 || offset % size)
		return SQLITE_IOERR_WRITE;
	page = add_page(files, (uint64_t)offset);
	if (!page)
		return SQLITE_NOMEM;
	memcpy(page->bytes, buf, (size_t)size);
	if ((uint64_t)offset + (uint64_t)size > files->size_bytes)
		files->size_bytes = (uint64_t)offset + (uint64_t)size;
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct file *f = (struct file *)base;

	if (!f->files->beside || size < 0)
		return SQLITE_READONLY;
	if (f->is_beside)
		f->files->is_beside_gone = 1;
	else
		f->files->size_bytes = (uint64_t)size;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)shown_bytes((struct file *)f);
	return SQLITE_OK;
}

static int file_flags(sqlite3_file *f, int flags)
{
	(void)f, (void)flags;
	return SQLITE_OK;
}

static int file_reserved(sqlite3_file *f, int *held)
{
	(void)f;
	*held = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
	(void)f, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
	(void)f;
	return 512;
}

static int file_traits(sqlite3_file *f)
{
	return ((struct file *)f)->files->beside ? 0 : SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_flags,
	.xFileSize = file_size,
	.xLock = file_flags,
	.xUnlock = file_flags,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

/* ---- the file system ---- */

/* Whether this is the file of changes, by SQLite's name for it, and is still there. */
static int is_beside(const struct vpt_nsight_files *f, const char *name)
{
	return f->beside && !f->is_beside_gone && name &&
	       !strcmp(name, f->is_wal ? VPT_NSIGHT_FILE "-wal" : VPT_NSIGHT_FILE "-journal");
}

static int fs_open(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
	struct vpt_nsight_files *files = vfs->pAppData;
	struct file *f = (struct file *)base;

	base->pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB) && !is_beside(files, name))
		return SQLITE_CANTOPEN;
	base->pMethods = &file_methods;
	f->files = files;
	f->is_beside = !(flags & SQLITE_OPEN_MAIN_DB);
	if (out_flags)
		*out_flags = files->beside ? flags : SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
	return SQLITE_OK;
}

static int fs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	struct vpt_nsight_files *files = vfs->pAppData;

	(void)sync;
	if (!is_beside(files, name))
		return SQLITE_IOERR_DELETE;
	files->is_beside_gone = 1;
	return SQLITE_OK;
}

static int fs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)flags;
	*out = is_beside(vfs->pAppData, name);
	return SQLITE_OK;
}

static int fs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)size, "%s", name);
	return SQLITE_OK;
}

/* Nothing here depends on random numbers or the clock, so neither is real. */
static int fs_random(sqlite3_vfs *vfs, int size, char *out)
{
	(void)vfs;
	memset(out, 0, size > 0 ? (size_t)size : 0);
	return size;
}

static int fs_sleep(sqlite3_vfs *vfs, int microseconds)
{
	(void)vfs;
	return microseconds;
}

static int fs_time(sqlite3_vfs *vfs, double *day)
{
	(void)vfs;
	*day = 0;
	return SQLITE_OK;
}

static int fs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
	(void)vfs, (void)size, (void)out;
	return 0;
}

static void fs_fill(struct vpt_nsight_files *f)
{
	snprintf(f->vfs_name, sizeof(f->vfs_name), "vpt-source-%p", (void *)f);
	f->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = (int)sizeof(struct file),
		.mxPathname = 64,
		.zName = f->vfs_name,
		.pAppData = f,
		.xOpen = fs_open,
		.xDelete = fs_delete,
		.xAccess = fs_access,
		.xFullPathname = fs_full_path,
		.xRandomness = fs_random,
		.xSleep = fs_sleep,
		.xCurrentTime = fs_time,
		.xGetLastError = fs_last_error,
	};
}

/* ---- the file of changes ---- */

/* A byte of a file; 0 beyond its end. */
static int byte_at(struct vpt_source *src, uint64_t offset)
{
	unsigned char byte = 0;
	size_t got = 0;

	return src->read_at(src, offset, &byte, 1, &got, NULL) || !got ? 0 : byte;
}

/* Opens PATH with an ending; leaves *out NULL if there is no such file. */
static int open_beside(
	const char *path, const char *ending, struct vpt_source **out, struct vpt_err *err)
{
	size_t size = strlen(path) + strlen(ending) + 1;
	char *name = vpt_alloc(size, 1);
	int rc = VPT_OK;

	if (!name)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the name of a file");
	snprintf(name, size, "%s%s", path, ending);
	if (!access(name, F_OK))
		rc = vpt_source_open(name, out, err);
	vpt_free(name);
	return rc;
}

static void forget_beside(struct vpt_nsight_files *f)
{
	vpt_source_close(f->beside);
	f->beside = NULL;
}

/* Opens what SQLite would use: a journal unless it begins with 0, the mark of one that is done with, else a log
 * if the database is in write-ahead mode. */
static int find_beside(struct vpt_nsight_files *f, const char *path, struct vpt_err *err)
{
	enum { READ_VERSION_AT = 19, WRITE_AHEAD = 2, LOG_HEADER = 32 };
	int rc = open_beside(path, "-journal", &f->beside, err);

	if (!rc && f->beside && !byte_at(f->beside, 0))
		forget_beside(f);
	if (rc || f->beside || byte_at(f->src, READ_VERSION_AT) != WRITE_AHEAD)
		return rc;
	f->is_wal = 1;
	rc = open_beside(path, "-wal", &f->beside, err);
	if (!rc && f->beside && f->beside->size_bytes <= LOG_HEADER)
		forget_beside(f);
	return rc;
}

int vpt_nsight_files_open(struct vpt_nsight_files *f, struct vpt_source *src, struct vpt_err *err)
{
	char *path = src->path ? realpath(src->path, NULL) : NULL;
	int rc = VPT_OK;

	f->src = src;
	f->size_bytes = src->size_bytes;
	if (path)
		rc = find_beside(f, path, err);
	free(path);
	if (rc)
		return rc;
	fs_fill(f);
	if (sqlite3_vfs_register(&f->vfs, 0))
		return vpt_fail(err, VPT_ENOMEM, "no memory to open an SQLite database");
	f->registered = 1;
	return VPT_OK;
}

void vpt_nsight_files_close(struct vpt_nsight_files *f)
{
	size_t i;

	if (f->registered)
		sqlite3_vfs_unregister(&f->vfs);
	for (i = 0; i < f->page_count; i++)
		vpt_free(f->pages[i].bytes);
	vpt_free(f->pages);
	vpt_map_free(&f->page_of);
	vpt_source_close(f->beside);
}
