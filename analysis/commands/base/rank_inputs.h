/* rank_inputs.h - the ranks of the files and folders that a command names, what is reported of them, and the file that one
 * writes. */
#ifndef VPA_ANALYSIS_COMMANDS_BASE_RANK_INPUTS_H
#define VPA_ANALYSIS_COMMANDS_BASE_RANK_INPUTS_H

#include "analysis/commands/base/analyzer_command.h"
#include "analysis/ranks/rank/file/rank_file.h"
#include "analysis/report/analysis_options.h"

/* Reads the ranks of all paths, one file after the other: traces, summaries, archives of them (.tar, .tar.gz, .tar.zst),
 * and folders, whose files come by name and those of folders in it too. A file that cannot be read, or a file in an
 * archive, is named on standard error and in the list, and counted in *damaged. 0, or an error code; the caller frees the list in both
 * cases. */
int vpa_rank_inputs_read(const char *const *paths, size_t count, struct vpa_options *options,
	int progress, struct vpa_rank_list *out, int *damaged, struct vpt_err *err);

/* The files that paths lead to, folders opened; the caller frees them, also on failure. 0, VPT_EIO, VPT_ENOMEM, or VPT_EINVAL:
 * there is none. */
struct vpa_rank_files {
	char **paths;
	size_t count, cap;
};
int vpa_rank_files_list(
	const char *const *paths, size_t count, struct vpa_rank_files *out, struct vpt_err *err);
/* Puts the files in an archive in its place, by their names as vpt_source_open() takes them. VPT_EUNSUPPORTED: one is packed;
 * else as vpt_tar_next(). */
int vpa_rank_files_unpack(struct vpa_rank_files *files, struct vpt_err *err);
void vpa_rank_files_free(struct vpa_rank_files *files);

/* Reads the ranks of a summary, in threads as vpa_jobs() says. path: its own file, where details may stay; NULL: none.
 * VPT_EDATA, VPT_EVERSION: a part is damaged or new; what is whole is read. VPT_EIO, VPT_ENOMEM. */
int vpa_rank_summary_read(struct vpt_source *src, const char *path, unsigned jobs,
	struct vpa_rank_list *out, struct vpt_err *err);

/* The one rank of --base, into an empty list that the caller frees; nothing if `path` is NULL. VPT_EINVAL: it has several, or
 * none; others as above. */
int vpa_rank_base_read(const char *path, struct vpa_options *options, int progress,
	struct vpa_rank_list *out, struct vpt_err *err);

/* Whether a path names ranks of a job and no single trace: a folder, an archive, or summaries. */
int vpa_is_job(const char *path);

/* Writes ranks to a file. 0 or an error code. */
int vpa_rank_output_write(
	struct vpa_rank_blocks *blocks, const char *path, int force, struct vpt_err *err);

/* Runs `ranks` with ranks that `read` gets, as vpa_rank_inputs_read() does. The command of `args` has the options of
 * vpa_cmd_ranks, others may follow. Returns the exit code. */
typedef int vpa_ranks_read_fn(const struct vpt_args *args, struct vpa_options *options,
	struct vpa_rank_list *out, int *damaged, struct vpt_err *err, void *ctx);
int vpa_ranks_run(const struct vpt_args *args, vpa_ranks_read_fn *read, void *ctx);

#endif
