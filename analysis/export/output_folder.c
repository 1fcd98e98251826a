/* output_folder.c - a folder of files that appears as a whole or not at all.
 *
 * Files are written into a folder with a temporary name beside it. At the end the two swap names and
 * the replaced one is removed. A folder is replaced only if every file in it has a name that an export
 * gives, so that no other files are lost.
 *
 * A compressed file is one zstd frame, since many readers stop at the end of the first. */
#include "analysis/export/exporter.h"

#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/event_schema.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { FILES_MAX = VPT_KIND_LIMIT + 128 };

struct vpa_export_file {
	char name[96];
	struct vpt_sink *sink; /* NULL: another program writes it */
	ZSTD_CCtx *zstd;       /* NULL: not compressed */
	char *packed;
	size_t packed_cap;
};

struct vpa_export_folder {
	char *path, *temporary; /* temporary: empty once the folder has its name */
	int force, level;
	enum vpt_container container;
	struct vpa_export_file files[FILES_MAX];
	size_t count;
};

/* ---- files ---- */

static char *join(const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	char *path = vpt_alloc(size, 1);

	if (path)
		snprintf(path, size, "%s/%s", folder, name);
	return path;
}

static int check_room(const struct vpa_export_folder *f, const char *name, struct vpt_err *err)
{
	return f->count < FILES_MAX
		       ? VPT_OK
		       : vpt_fail(err, VPT_EINVAL, "%s: a folder holds %d files", name, FILES_MAX);
}

int vpa_export_file_new(struct vpa_export_folder *f, const char *name, int packed,
	struct vpa_export_file **out, struct vpt_err *err)
{
	struct vpa_export_file *file = f->files + f->count;
	char *path;
	int rc;

	rc = check_room(f, name, err);
	if (rc)
		return rc;
	packed = packed && f->container == VPT_CONTAINER_ZSTD;
	snprintf(file->name, sizeof(file->name), "%s%s", name, packed ? ".zst" : "");
	path = join(f->temporary, file->name);
	rc = path ? vpt_sink_open(path, 0, &file->sink, err)
		  : vpt_fail(err, VPT_ENOMEM, "no memory for a file name");
	vpt_free(path);
	if (rc)
		return rc;
	f->count++;
	*out = file;
	if (!packed)
		return VPT_OK;
	file->packed_cap = ZSTD_CStreamOutSize();
	file->packed = vpt_alloc(file->packed_cap, 1);
	file->zstd = ZSTD_createCCtx();
	if (!file->packed || !file->zstd)
		return vpt_fail(err, VPT_ENOMEM, "no memory to compress %s", file->name);
	ZSTD_CCtx_setParameter(
		file->zstd, ZSTD_c_compressionLevel, f->level ? f->level : VPA_EXPORT_LEVEL);
	ZSTD_CCtx_setParameter(file->zstd, ZSTD_c_checksumFlag, 1);
	return VPT_OK;
}

int vpa_export_file_expect(struct vpa_export_folder *f, const char *name,
	struct vpa_export_file **out, struct vpt_err *err)
{
	int rc = check_room(f, name, err);

	if (rc)
		return rc;
	*out = &f->files[f->count++];
	snprintf((*out)->name, sizeof((*out)->name), "%s", name);
	return VPT_OK;
}

const char *vpa_export_folder_path(const struct vpa_export_folder *f)
{
	return f->temporary;
}

const char *vpa_export_file_name(const struct vpa_export_file *file)
{
	return file->name;
}

static int pack(struct vpa_export_file *file, const void *data, size_t size, ZSTD_EndDirective end,
	struct vpt_err *err)
{
	ZSTD_inBuffer in = {data, size, 0};
	size_t left;
	int rc = VPT_OK;

	do {
		ZSTD_outBuffer out = {file->packed, file->packed_cap, 0};

		left = ZSTD_compressStream2(file->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return vpt_fail(err, VPT_ENOMEM, "%s: compression failed: %s", file->name,
				ZSTD_getErrorName(left));
		if (out.pos)
			rc = vpt_sink_write(file->sink, file->packed, out.pos, err);
	} while (!rc && (end == ZSTD_e_end ? left != 0 : in.pos < in.size));
	return rc;
}

int vpa_export_file_put(
	struct vpa_export_file *file, const void *data, size_t size, struct vpt_err *err)
{
	if (file->zstd)
		return pack(file, data, size, ZSTD_e_continue, err);
	return vpt_sink_write(file->sink, data, size, err);
}

/* ---- replacing a folder ---- */

/* Whether an export gives this name: a table's with the suffix of its format, or the schema's. */
static int is_ours(const char *name)
{
	static const char *const endings[] = {
		".csv", ".jsonl", ".csv.zst", ".jsonl.zst", ".parquet", ".arrow"};
	const char *dot = strchr(name, '.');
	size_t i;

	if (!strcmp(name, "schema.json"))
		return 1;
	for (i = 0; dot && i < sizeof(endings) / sizeof(*endings); i++)
		if (!strcmp(dot, endings[i]))
			return strspn(name, "abcdefghijklmnopqrstuvwxyz_") == (size_t)(dot - name);
	return 0;
}

/* Calls `each` for every file of a folder. Returns its first nonzero result, else 0; -1: cannot read. */
static int walk(const char *path, int (*each)(int folder, const char *name))
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -1;
	while (!rc && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = each(dirfd(dir), entry->d_name);
	closedir(dir);
	return rc;
}

static int is_foreign(int folder, const char *name)
{
	struct stat st;

	return !is_ours(name) || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
	       !S_ISREG(st.st_mode);
}

static int remove_file(int folder, const char *name)
{
	return is_ours(name) && unlinkat(folder, name, 0);
}

/* Removes only files with the names of an export; a folder with other files stays. */
static void remove_folder(const char *path)
{
	walk(path, remove_file);
	rmdir(path);
}

int vpa_export_folder_check(const char *path, int force, struct vpt_err *err)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT
			       ? VPT_OK
			       : vpt_fail(err, VPT_EIO, "%.200s: %s", path, strerror(errno));
	if (!force)
		return vpt_fail(err, VPT_EINVAL,
			"%.200s exists already: use another -o, or --force to replace it", path);
	if (!S_ISDIR(st.st_mode) || walk(path, is_foreign))
		return vpt_fail(err, VPT_EINVAL,
			"%.200s is not the folder of an export: not replaced", path);
	return VPT_OK;
}

/* ---- the folder ---- */

int vpa_export_folder_new(const char *path, int force, enum vpt_container container, int level,
	struct vpa_export_folder **out, struct vpt_err *err)
{
	size_t size = strlen(path) + sizeof("..tmp-XXXXXX");
	struct vpa_export_folder *f;
	int rc = vpa_export_folder_check(path, force, err);

	*out = NULL;
	if (rc)
		return rc;
	f = vpt_calloc(1, sizeof(*f));
	if (f) {
		f->path = vpt_strndup(path, strlen(path));
		f->temporary = vpt_alloc(size, 1);
	}
	if (!f || !f->path || !f->temporary) {
		if (f) {
			vpt_free(f->path);
			vpt_free(f->temporary);
		}
		vpt_free(f);
		return vpt_fail(err, VPT_ENOMEM, "no memory for a folder");
	}
	/* "dir/" means dir. */
	while (strlen(f->path) > 1 && f->path[strlen(f->path) - 1] == '/')
		f->path[strlen(f->path) - 1] = '\0';
	f->force = force;
	f->container = container;
	f->level = level;
	snprintf(f->temporary, size, "%s.tmp-XXXXXX", f->path);
	if (!mkdtemp(f->temporary)) {
		rc = vpt_fail(err, VPT_EIO, "%.200s: cannot create a folder next to it: %s", path,
			strerror(errno));
		*f->temporary = '\0';
		vpa_export_folder_free(f);
		return rc;
	}
	*out = f;
	return VPT_OK;
}

/* Adds the size of a file of another program. */
static int count_file(
	const struct vpa_export_folder *f, const char *name, uint64_t *bytes, struct vpt_err *err)
{
	char *path = join(f->temporary, name);
	struct stat st;
	int rc = VPT_OK;

	if (!path)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a file name");
	if (stat(path, &st))
		rc = vpt_fail(err, VPT_EIO, "%.200s: %s", path, strerror(errno));
	else
		*bytes += (uint64_t)st.st_size;
	vpt_free(path);
	return rc;
}

/* Ends a file. Returns the result of committing it. */
static int end_file(struct vpa_export_file *file, int commit, uint64_t *bytes, struct vpt_err *err)
{
	int rc = VPT_OK;

	if (file->sink && commit && file->zstd)
		rc = pack(file, NULL, 0, ZSTD_e_end, err);
	if (file->sink) {
		int finished;

		*bytes += file->sink->written_bytes;
		finished = file->sink->finish(file->sink, commit && !rc, rc ? NULL : err);
		rc = rc ? rc : finished;
	}
	ZSTD_freeCCtx(file->zstd);
	vpt_free(file->packed);
	*file = (struct vpa_export_file){.sink = NULL};
	return rc;
}

/* Gives the folder its name. A folder that had it gets the temporary one. */
static int take_name(struct vpa_export_folder *f, struct vpt_err *err)
{
	int rc;

	if (!renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_NOREPLACE)) {
		*f->temporary = '\0';
		return VPT_OK;
	}
	/* If the file system lacks these flags, a free name can still be taken atomically. */
	if (errno == EINVAL && !rename(f->temporary, f->path)) {
		*f->temporary = '\0';
		return VPT_OK;
	}
	rc = vpa_export_folder_check(f->path, f->force, err);
	if (rc)
		return rc;
	if (!renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE))
		return VPT_OK;
	return vpt_fail(err, VPT_EIO, "%.200s: cannot rename the folder to this: %s", f->path,
		strerror(errno));
}

int vpa_export_folder_commit(struct vpa_export_folder *f, uint64_t *bytes, struct vpt_err *err)
{
	int rc = VPT_OK;
	size_t i;

	*bytes = 0;
	for (i = 0; i < f->count && !rc; i++)
		rc = f->files[i].sink ? end_file(&f->files[i], 1, bytes, err)
				      : count_file(f, f->files[i].name, bytes, err);
	return rc ? rc : take_name(f, err);
}

void vpa_export_folder_free(struct vpa_export_folder *f)
{
	uint64_t bytes;
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->count; i++)
		end_file(&f->files[i], 0, &bytes, NULL);
	if (*f->temporary)
		remove_folder(f->temporary);
	vpt_free(f->path);
	vpt_free(f->temporary);
	vpt_free(f);
}
