/* rank_inputs.c - files one after the other, so that one trace is in memory at a time. Folders and archives are the files in
 * them. */
#include "analysis/commands/base/rank_inputs.h"

#include "analysis/base/jobs.h"
#include "analysis/base/sort.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/ranks/rank/file/rank_fold.h"
#include "analysis/ranks/rank/rank_read.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/file/tar_members.h"
#ifdef VPT_HAVE_KINETO
#include "formats/import/kineto/unpacked_source.h"
#endif

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	FILES_MOST = 65536,
	FOLDERS_DEEP = 8,
	HEAD = 512,
	BATCH = 32,
	DETAILS_KEPT_MOST = 16 << 20 /* bytes, packed */
};

static int add_file(struct vpa_rank_files *f, const char *folder, const char *name)
{
	char path[4096];
	int len = folder ? snprintf(path, sizeof(path), "%s/%s", folder, name)
			 : snprintf(path, sizeof(path), "%s", name);

	if (len < 0 || (size_t)len >= sizeof(path) || f->count >= FILES_MOST)
		return VPT_OK;
	if (vpt_grow(&f->paths, &f->cap, f->count + 1, sizeof(char *)))
		return VPT_ENOMEM;
	f->paths[f->count] = vpt_strndup(path, (size_t)len);
	return f->paths[f->count++] ? VPT_OK : VPT_ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void vpa_rank_files_free(struct vpa_rank_files *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		vpt_free(names->paths[i]);
	vpt_free(names->paths);
}

/* The names in a folder, in order, but for hidden ones. */
static int list_names(const char *folder, struct vpa_rank_files *names, struct vpt_err *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int rc = VPT_OK;

	if (!dir)
		return vpt_fail(err, VPT_EIO, "%.200s: %s", folder, strerror(errno));
	while (!rc && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			rc = add_file(names, NULL, entry->d_name);
	closedir(dir);
	if (!rc)
		rc = vpa_sort(names->paths, names->count, sizeof(char *), by_name);
	return rc ? vpt_fail(err, rc, "no memory for a list of files") : VPT_OK;
}

/* The files of a folder and of the folders in it, as of a job that has one for each host. */
static int add_folder(
	struct vpa_rank_files *f, const char *folder, unsigned depth, struct vpt_err *err)
{
	struct vpa_rank_files names = {.count = 0};
	size_t i;
	int rc = list_names(folder, &names, err);

	for (i = 0; i < names.count && !rc; i++) {
		char path[4096];
		struct stat st;
		int len = snprintf(path, sizeof(path), "%s/%s", folder, names.paths[i]);

		if (len < 0 || (size_t)len >= sizeof(path) || stat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth < FOLDERS_DEEP)
			rc = add_folder(f, path, depth + 1, err);
		else if (S_ISREG(st.st_mode) && add_file(f, folder, names.paths[i]))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory for a list of files");
	}
	vpa_rank_files_free(&names);
	return rc;
}

int vpa_rank_files_list(
	const char *const *paths, size_t count, struct vpa_rank_files *f, struct vpt_err *err)
{
	struct stat st;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc; i++) {
		const char *path = paths[i];

		if (!vpt_is_standard(path) && !stat(path, &st) && S_ISDIR(st.st_mode))
			rc = add_folder(f, path, 0, err);
		else if (add_file(f, NULL, path))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory for a list of files");
	}
	if (!rc && count && !f->count)
		rc = vpt_fail(err, VPT_EINVAL,
			"%.200s: expected a folder with the captures of all ranks, found no file "
			"in it",
			paths[0]);
	return rc;
}

/* ---- reading ---- */

enum { NAMED_MOST = 4, NAMED_SIZE = 120 };

/* Files in which no GPU worked. A job of a thousand ranks that only its host recorded has a thousand. */
struct without_gpu {
	size_t count;
	char named[NAMED_MOST][NAMED_SIZE];
};

/* Where ranks go, and how traces become some. */
struct reading {
	struct vpa_options *options;
	int progress;
	struct vpa_rank_list *out;
	int *damaged; /* counts what cannot be read and was named; NULL: that is an error */
	struct without_gpu *without_gpu;
};

static void say_without_gpu(const struct without_gpu *w)
{
	char names[NAMED_MOST * (NAMED_SIZE + 2) + 32];
	size_t used = 0, i;

	if (w->count == 1)
		vpa_say("%s: no GPU worked in it: no rank", w->named[0]);
	if (w->count < 2)
		return;
	for (i = 0; i < w->count && i < NAMED_MOST; i++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", i ? ", " : "", w->named[i]);
	if (w->count > NAMED_MOST)
		snprintf(
			names + used, sizeof(names) - used, " and %zu more", w->count - NAMED_MOST);
	vpa_say("no GPU worked in %zu of the files, which are no ranks: %s", w->count, names);
}

/* Details of many ranks stay in their file, if that can be opened again. */
static int leave_detail(struct vpa_rank_list *list, const char *path, uint64_t at)
{
	struct stat st;
	uint64_t kept = 0;
	size_t i;

	for (i = 0; i < list->count; i++)
		kept += list->items[i]->folded.packed ? list->items[i]->folded.packed_size : 0;
	return path && kept > DETAILS_KEPT_MOST && !stat(path, &st) && S_ISREG(st.st_mode)
		       ? vpa_rank_leave_in_file(list->items[list->count - 1], path, at)
		       : VPT_OK;
}

/* Blocks that are read and unpacked at the same time, each into a list of its own. */
struct batch {
	struct vpt_source *src;
	struct unpacked {
		struct vpa_rank_block block;
		struct vpa_rank_list list;
		struct vpt_err err;
		int is_read, rc;
	} items[BATCH];
	size_t count;
	/* By thread: of what ranks are, and of what is packed. */
	struct vpa_slab *slabs[VPA_RANK_THREADS_MOST], *blocks[VPA_RANK_THREADS_MOST];
};

static int unpack_item(void *ctx, unsigned thread, size_t i)
{
	struct batch *batch = ctx;
	struct unpacked *u = &batch->items[i];

	u->rc = vpa_rank_block_read(batch->src, &batch->blocks[thread], &u->block, &u->err);
	u->is_read = !u->rc;
	if (u->is_read) {
		u->list.slab = batch->slabs[thread];
		u->rc = vpa_rank_block_unpack(&u->block, &u->list, &u->err);
		batch->slabs[thread] = u->list.slab;
		u->list.slab = NULL;
		if (u->rc)
			vpt_err_at(&u->err, batch->src->name);
	}
	vpa_rank_block_free(&u->block);
	return VPT_OK;
}

/* Appends the rank of an item; the first error of a file is kept. What cannot be read is the end of it. */
static int take_item(struct unpacked *u, const char *path, struct vpa_rank_list *out, int *wrong,
	struct vpt_err *err)
{
	int rc = u->rc;

	if (!rc && vpt_grow(&out->items, &out->cap, out->count + 1, sizeof(struct vpa_rank *)))
		rc = vpt_fail(&u->err, VPT_ENOMEM, "no memory for a rank");
	if (!rc) {
		out->items[out->count++] = u->list.items[0];
		u->list.count = 0;
		if (leave_detail(out, path, u->block.detail.at))
			rc = vpt_fail(&u->err, VPT_ENOMEM, "no memory for a rank");
	}
	if (rc && !*wrong) {
		*wrong = rc;
		*err = u->err;
	}
	return rc == VPT_ENOMEM || !u->is_read ? rc : VPT_OK;
}

/* Those before a damaged block are whole. */
static int read_batch(struct batch *batch, const char *path, unsigned jobs, uint64_t *at,
	struct vpa_rank_list *out, int *wrong, struct vpt_err *err)
{
	int found = VPT_OK, rc = VPT_OK;
	struct vpt_err not_found;
	size_t i;

	for (batch->count = 0; batch->count < BATCH && !found; batch->count += !found) {
		batch->items[batch->count] = (struct unpacked){.rc = 0};
		found = vpa_rank_block_find(
			batch->src, at, &batch->items[batch->count].block, &not_found);
	}
	vpa_in_threads(vpa_jobs(jobs, VPA_RANK_THREADS_MOST), batch->count, unpack_item, batch);
	for (i = 0; i < batch->count; i++) {
		if (!rc)
			rc = take_item(&batch->items[i], path, out, wrong, err);
		vpa_rank_list_free(&batch->items[i].list);
	}
	if (rc || !found)
		return rc;
	if (found != VPT_END && !*wrong) {
		*wrong = found;
		*err = not_found;
	}
	return found;
}

int vpa_rank_summary_read(struct vpt_source *src, const char *path, unsigned jobs,
	struct vpa_rank_list *out, struct vpt_err *err)
{
	struct batch *batch = vpt_calloc(1, sizeof(*batch));
	int rc = VPT_OK, wrong = VPT_OK;
	uint64_t at = 0;
	size_t i;

	if (!batch)
		return vpt_fail(err, VPT_ENOMEM, "no memory for ranks");
	batch->src = src;
	batch->slabs[0] = out->slab;
	while (!rc)
		rc = read_batch(batch, path, jobs, &at, out, &wrong, err);
	out->slab = batch->slabs[0];
	for (i = 0; i < VPA_RANK_THREADS_MOST; i++) {
		vpa_slab_drop(i ? batch->slabs[i] : NULL);
		vpa_slab_drop(batch->blocks[i]);
	}
	vpt_free(batch);
	return wrong ? wrong : rc == VPT_END ? VPT_OK : rc;
}

/* Takes the source. */
static int read_trace(
	const struct reading *r, struct vpt_source *src, const char *name, struct vpt_err *err)
{
	size_t before = r->out->count;
	char missing[VPA_RANKS_MISSING];
	struct vpa_progress shown;
	struct vpt_trace *trace;
	int rc = vpt_trace_open_source(src, &trace, err);

	if (rc) {
		vpt_err_at(err, name);
		return rc;
	}
	vpa_progress_begin(&shown, r->options, r->progress);
	rc = vpa_ranks_read(trace, name, r->options, r->out, missing, err);
	vpa_progress_end(&shown);
	if (!rc && r->out->count == before && missing[0])
		rc = vpt_fail(err, VPT_EDATA, "%.200s: no GPU worked in what is left of it: %s",
			name, missing);
	vpt_trace_close(trace);
	return rc;
}

/* A summary or a trace. Takes the source. */
/* path: of the source, if it is a file of its own; NULL otherwise. */
static int read_file(const struct reading *r, struct vpt_source *src, const char *path,
	const char *name, struct vpt_err *err)
{
	size_t before = r->out->count;
	int rc;

	if (vpa_is_rank_file(src)) {
		rc = vpa_rank_summary_read(src, path, r->options->jobs, r->out, err);
		vpt_source_close(src);
	} else {
		rc = read_trace(r, src, name, err);
	}
	if (!rc && r->out->count == before) {
		if (r->without_gpu->count < NAMED_MOST)
			snprintf(r->without_gpu->named[r->without_gpu->count], NAMED_SIZE, "%s",
				name);
		r->without_gpu->count++;
	}
	return rc;
}

/* What cannot be read is named, and the rest is read. */
static int go_on(const struct reading *r, int rc, const struct vpt_err *err)
{
	if (!rc || rc == VPT_ENOMEM || !r->damaged)
		return rc;
	vpa_say("%s", err->text);
	++*r->damaged;
	return vpa_rank_list_unread(r->out, err->text);
}

static int read_archive(const struct reading *r, struct vpt_source *src, struct vpt_err *err)
{
	struct vpt_tar_members *tar = vpt_alloc(1, sizeof(*tar));
	struct vpt_source *member;
	int rc;

	if (!tar)
		return vpt_fail(err, VPT_ENOMEM, "no memory to read an archive");
	vpt_tar_open(tar, src);
	while (!(rc = vpt_tar_next(tar, &member, err))) {
		char name[VPT_TAR_PATH_MAX];

		snprintf(name, sizeof(name), "%s", member->name);
		rc = go_on(r, read_file(r, member, NULL, name, err), err);
		if (rc)
			break;
	}
	vpt_free(tar);
	return rc == VPT_END ? VPT_OK : rc;
}

/* Whether a source is an archive, perhaps packed, see unpacked_source.h. */
static int is_archive(struct vpt_source *src, const char **packer, int *found, struct vpt_err *err)
{
	unsigned char head[HEAD];
	size_t got;
	int rc;

#ifdef VPT_HAVE_KINETO
	rc = vpt_unpacked_head(src, head, sizeof(head), &got, packer, err);
#else
	*packer = NULL;
	rc = src->read_at(src, 0, head, sizeof(head), &got, err);
#endif
	*found = !rc && vpt_is_tar(head, got);
	/* Whoever reads it as a trace finds out more. */
	return rc == VPT_ENOMEM ? rc : VPT_OK;
}

static int read_packed_archive(const struct reading *r, struct vpt_source *src, struct vpt_err *err)
{
#ifdef VPT_HAVE_KINETO
	struct vpt_source *unpacked;
	int is_torn = 0, rc = vpt_unpacked_source(src, &unpacked, &is_torn, err);

	if (rc)
		return rc;
	rc = read_archive(r, unpacked, err);
	vpt_source_close(unpacked);
	return rc || !is_torn
		       ? rc
		       : vpt_fail(err, VPT_EDATA,
				 "%.200s: the packed archive is damaged or ends early", src->name);
#else
	(void)r;
	return vpt_fail(err, VPT_EUNSUPPORTED, "%.200s: a packed archive: unpack it", src->name);
#endif
}

/* The names of the files in an archive, if it is one; else its own. */
static int add_members(struct vpa_rank_files *out, const char *path, struct vpt_err *err)
{
	struct vpt_tar_members *tar = vpt_alloc(1, sizeof(*tar));
	struct vpt_source *src = NULL, *member;
	const char *packer = NULL;
	int found = 0, rc = VPT_OK;

	if (!tar)
		return vpt_fail(err, VPT_ENOMEM, "no memory to read an archive");
	/* Whoever reads it as a trace says what is wrong. */
	if (vpt_is_standard(path) || vpt_source_open(path, &src, NULL) ||
		is_archive(src, &packer, &found, NULL) || !found)
		rc = add_file(out, NULL, path);
	else if (packer)
		rc = vpt_fail(err, VPT_EUNSUPPORTED,
			"%.200s: a packed archive: unpack it with: tar -xf FILE", path);
	for (vpt_tar_open(tar, src); found && !rc && !(rc = vpt_tar_next(tar, &member, err));
		vpt_source_close(member))
		rc = add_file(out, NULL, member->name);
	if (rc == VPT_ENOMEM)
		vpt_fail(err, rc, "no memory for a list of files");
	vpt_source_close(src);
	vpt_free(tar);
	return rc == VPT_END ? VPT_OK : rc;
}

int vpa_rank_files_unpack(struct vpa_rank_files *files, struct vpt_err *err)
{
	struct vpa_rank_files out = {.count = 0};
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < files->count && !rc; i++)
		rc = add_members(&out, files->paths[i], err);
	if (!rc && !out.count)
		rc = vpt_fail(err, VPT_EINVAL, "%.200s: there is no file in this archive",
			files->paths[0]);
	vpa_rank_files_free(rc ? &out : files);
	if (!rc)
		*files = out;
	return rc;
}

static int read_input(const struct reading *r, const char *path, struct vpt_err *err)
{
	struct vpt_source *src;
	const char *packer;
	int found, rc = vpt_source_open(path, &src, err);

	if (rc)
		return rc;
	rc = is_archive(src, &packer, &found, err);
	if (!rc && !found)
		return read_file(r, src, path, vpa_input_name(path), err);
	if (!rc)
		rc = packer ? read_packed_archive(r, src, err) : read_archive(r, src, err);
	vpt_source_close(src);
	return rc;
}

/* The same of one file; an error is returned. */
static int read_capture(const char *path, struct vpa_options *options, int progress,
	struct vpa_rank_list *out, struct vpt_err *err)
{
	struct without_gpu without_gpu = {.count = 0};
	const struct reading r = {options, progress, out, NULL, &without_gpu};
	int rc = read_input(&r, path, err);

	say_without_gpu(&without_gpu);
	return rc;
}

int vpa_rank_base_read(const char *path, struct vpa_options *options, int progress,
	struct vpa_rank_list *out, struct vpt_err *err)
{
	int rc = path ? read_capture(path, options, progress, out, err) : VPT_OK;

	if (!rc && path && out->count != 1)
		rc = vpt_fail(err, VPT_EINVAL,
			"--base %.200s: expected a capture of one rank, found %zu", path,
			out->count);
	return rc;
}

int vpa_rank_inputs_read(const char *const *paths, size_t count, struct vpa_options *options,
	int progress, struct vpa_rank_list *out, int *damaged, struct vpt_err *err)
{
	struct without_gpu without_gpu = {.count = 0};
	const struct reading r = {options, progress, out, damaged, &without_gpu};
	struct vpa_rank_files files = {.count = 0};
	size_t i;
	int rc = vpa_rank_files_list(paths, count, &files, err);

	for (i = 0; i < files.count && !rc; i++)
		rc = go_on(&r, read_input(&r, files.paths[i], err), err);
	vpa_rank_files_free(&files);
	say_without_gpu(&without_gpu);
	if (!rc && *damaged && !out->count)
		return vpt_fail(err, VPT_EDATA, "none of the files could be read");
	return rc;
}

int vpa_is_job(const char *path)
{
	struct vpt_source *src;
	const char *packer;
	struct vpt_err err;
	struct stat st;
	int found = 0;

	if (!strcmp(path, "-") || stat(path, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return 1;
	if (vpt_source_open(path, &src, &err))
		return 0;
	if (vpa_is_rank_file(src) || (!is_archive(src, &packer, &found, &err) && found))
		found = 1;
	vpt_source_close(src);
	return found;
}

int vpa_rank_output_write(
	struct vpa_rank_blocks *blocks, const char *path, int force, struct vpt_err *err)
{
	struct vpt_out o;
	int rc = vpt_out_open(&o, path, force, err);

	if (rc)
		return rc;
	if (o.to_terminal) {
		vpt_out_close(&o, 0, NULL);
		return vpt_fail(
			err, VPT_EINVAL, "a summary is not written to a terminal: use -o FILE");
	}
	o.failed = vpa_rank_blocks_write(blocks, o.sink, &o.err);
	return vpt_out_close(&o, 1, err);
}
