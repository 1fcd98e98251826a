/* archive_members.h - the traces that an archive will have: their machines, GPUs and clocks.
 *
 * All members are read for these before the first is written, since a GPU's number and a time mean
 * the same in all of them. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_ARCHIVE_MEMBERS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_ARCHIVE_MEMBERS_H

#include "analysis/export/exporter.h"
#include "formats/perfetto/tar.h"

struct vpa_archive_member {
	const char *path;
	char name[VPT_TAR_NAME_MAX + 1]; /* in the archive, unlike any other */
	char host[256], boot[64];        /* name of the machine, id of its boot; "": unknown */
	size_t machine;                  /* index of the first member on the same one */
	struct vpa_gpu *gpus;            /* as the trace describes them; texts are its own */
	size_t gpu_count, gpu_cap;
	int64_t *used; /* devices that have streams */
	size_t used_count, used_cap;
	uint64_t start_ns, end_ns; /* of its events, on its own clock; equal: none */
	uint64_t unix_offset_ns;   /* CLOCK_REALTIME = its clock + this, where known */
	int has_boottime, has_realtime;
	struct vpa_export_clock clock;
};

struct vpa_archive {
	struct vpa_archive_member *members;
	size_t count;
	size_t aligned; /* see struct vpa_export_totals, as the next two */
	uint64_t uncertainty_ns;
	const char *unaligned;
};

/* Reads the traces; those that may be of several machines once more, to align their clocks: `options` as for vpa_analyze(). `suffix`
 * ends the members' names. The archive borrows the paths; free it also after a failure. */
int vpa_archive_read(struct vpa_archive *a, const char *const *paths, size_t count,
	const char *suffix, const struct vpa_options *options, struct vpt_err *err);
void vpa_archive_free(struct vpa_archive *a);

/* Whether members are of several machines. */
int vpa_archive_has_machines(const struct vpa_archive *a);

/* The GPUs of a member's machine in the order of their numbers: those with an address by address,
 * each once; then, member by member, those that have none, of which nobody knows whether another
 * member has them too. Returns their number; *gpus (texts are the archive's) and *owners (see struct
 * vpa_export_options) are the caller's to free. VPT_ENOMEM: nothing. */
int vpa_archive_gpus(const struct vpa_archive *a, size_t member, struct vpa_gpu **gpus,
	size_t **owners, size_t *count);

#endif
