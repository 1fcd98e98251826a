/* output_folder.h - a folder of files that appears as a whole or not at all. */
#ifndef VPA_ANALYSIS_EXPORT_OUTPUT_FOLDER_H
#define VPA_ANALYSIS_EXPORT_OUTPUT_FOLDER_H

#include "formats/base/error.h"
#include "formats/perfetto/packet_container.h"

#include <stddef.h>
#include <stdint.h>

#define VPA_EXPORT_LEVEL 3 /* of compression if the user gives none; Chrome's JSON has it too */

struct vpa_export_folder;
struct vpa_export_file;

/* Makes the folder under a temporary name beside `path`. `container` is NONE or ZSTD and applies to
 * each file; `level` 0: VPA_EXPORT_LEVEL. The caller frees the folder, which removes what was not
 * committed. 0; VPT_EINVAL: see vpa_export_folder_check(); VPT_EIO, VPT_ENOMEM. */
int vpa_export_folder_new(const char *path, int force, enum vpt_container container, int level,
	struct vpa_export_folder **out, struct vpt_err *err);
void vpa_export_folder_free(struct vpa_export_folder *f); /* accepts NULL */

/* Adds a file, owned by the folder; with `packed` 0 it is never compressed. 0 or an error code. */
int vpa_export_file_new(struct vpa_export_folder *f, const char *name, int packed,
	struct vpa_export_file **out, struct vpt_err *err);
int vpa_export_file_put(
	struct vpa_export_file *file, const void *data, size_t size, struct vpt_err *err);
/* Adds a file that another program writes into the folder, whose path is vpa_export_folder_path(). 0 or an error code. */
int vpa_export_file_expect(struct vpa_export_folder *f, const char *name,
	struct vpa_export_file **out, struct vpt_err *err);
const char *vpa_export_folder_path(const struct vpa_export_folder *f); /* until it is committed */
const char *vpa_export_file_name(const struct vpa_export_file *file);  /* as in the folder */

/* Ends all files and gives the folder its name. *bytes: their total size. VPT_EIO too where an expected file is missing. */
int vpa_export_folder_commit(struct vpa_export_folder *f, uint64_t *bytes, struct vpt_err *err);

/* Whether `path` can be written: nothing has that name, or, with `force`, a folder that holds only
 * files of an export. Call it before a long computation. 0, VPT_EINVAL or VPT_EIO. */
int vpa_export_folder_check(const char *path, int force, struct vpt_err *err);

#endif
