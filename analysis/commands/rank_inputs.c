/* rank_inputs.c - files one after the other, so that one trace is in memory at a time. */
#include "analysis/commands/rank_inputs.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/rank_file.h"
#include "analysis/ranks/rank/rank_read.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES_MOST = 65536 };

struct files {
	char **paths;
	size_t count, cap;
};

static int add_file(struct files *f, const char *folder, const char *name)
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

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int is_file(const char *folder, const char *name)
{
	char path[4096];
	struct stat st;
	int len = snprintf(path, sizeof(path), "%s/%s", folder, name);

	return *name != '.' && len > 0 && (size_t)len < sizeof(path) && !stat(path, &st) &&
	       S_ISREG(st.st_mode);
}

static int add_folder(struct files *f, const char *folder, struct vpt_err *err)
{
	DIR *dir = opendir(folder);
	size_t first = f->count;
	struct dirent *entry;
	int rc = VPT_OK;

	if (!dir)
		return vpt_fail(err, VPT_EIO, "%.200s: %s", folder, strerror(errno));
	while (!rc && (entry = readdir(dir)) != NULL)
		if (is_file(folder, entry->d_name))
			rc = add_file(f, folder, entry->d_name);
	closedir(dir);
	if (!rc)
		rc = vpa_sort(f->paths + first, f->count - first, sizeof(char *), by_path);
	return rc ? vpt_fail(err, rc, "no memory for a list of files") : VPT_OK;
}

static int list_files(const struct vpt_args *args, struct files *f, struct vpt_err *err)
{
	struct stat st;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < args->operand_count && !rc; i++) {
		const char *path = args->operands[i];

		if (!vpt_is_standard(path) && !stat(path, &st) && S_ISDIR(st.st_mode))
			rc = add_folder(f, path, err);
		else if (add_file(f, NULL, path))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory for a list of files");
	}
	return rc;
}

static int read_summary(struct vpt_source *src, struct vpa_rank_list *out, struct vpt_err *err)
{
	struct vpa_rank_blocks blocks = {.count = 0};
	size_t i;
	int rc = vpa_rank_blocks_read(&blocks, src, err), unpacked = VPT_OK;

	/* Those before a damaged one are whole. */
	for (i = 0; i < blocks.count && unpacked != VPT_ENOMEM; i++) {
		struct vpt_err why;

		unpacked = vpa_rank_block_unpack(&blocks, i, out, &why);
		if (unpacked && !rc) {
			*err = why;
			rc = unpacked;
		}
	}
	vpa_rank_blocks_free(&blocks);
	return rc;
}

static int read_trace(struct vpt_source *src, const char *path, struct vpa_options *options,
	int progress, struct vpa_rank_list *out, struct vpt_err *err)
{
	struct vpa_progress shown;
	struct vpt_trace *trace;
	int rc = vpt_trace_open_source(src, &trace, err);

	if (rc) {
		vpt_err_at(err, vpa_input_name(path));
		return rc;
	}
	vpa_progress_begin(&shown, options, progress);
	rc = vpa_ranks_read(trace, vpa_input_name(path), options, out, err);
	vpa_progress_end(&shown);
	vpt_trace_close(trace);
	return rc;
}

int vpa_rank_input_read(const char *path, struct vpa_options *options, int progress,
	struct vpa_rank_list *out, struct vpt_err *err)
{
	struct vpt_source *src;
	int rc = vpt_source_open(path, &src, err);

	if (rc)
		return rc;
	if (!vpa_is_rank_file(src))
		return read_trace(src, path, options, progress, out, err);
	rc = read_summary(src, out, err);
	vpt_source_close(src);
	return rc;
}

int vpa_rank_inputs_read(const struct vpt_args *args, struct vpa_options *options, int progress,
	struct vpa_rank_list *out, int *damaged, struct vpt_err *err)
{
	struct files files = {.count = 0};
	size_t i;
	int rc = list_files(args, &files, err);

	for (i = 0; i < files.count && !rc; i++) {
		size_t before = out->count;

		rc = vpa_rank_input_read(files.paths[i], options, progress, out, err);
		if (rc && rc != VPT_ENOMEM) {
			vpa_say("%s", err->text);
			++*damaged;
			rc = VPT_OK;
		} else if (!rc && out->count == before) {
			vpa_say("%s: no GPU worked in it: no rank", vpa_input_name(files.paths[i]));
		}
	}
	for (i = 0; i < files.count; i++)
		vpt_free(files.paths[i]);
	vpt_free(files.paths);
	if (!rc && *damaged && !out->count)
		return vpt_fail(err, VPT_EDATA, "none of the files could be read");
	return rc;
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
