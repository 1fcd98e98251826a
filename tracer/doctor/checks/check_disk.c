/* check_disk.c - the folder of the captures: whether it can be written, its room, its kind. */
#include "tracer/command/output_check.h"
#include "tracer/doctor/checks/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>

/* A busy GPU makes 10 to 100 MB of capture a minute. */
#define FAIL_BYTES (UINT64_C(16) << 20)
#define WARN_BYTES (UINT64_C(1) << 30)

enum { TRIAL_BYTES = 64 << 10 };

static const struct {
	unsigned magic;
	const char *name;
	int is_network;
} kinds[] = {
	{0x6969, "NFS", 1},
	{0x517B, "SMB", 1},
	{0xFF534D42, "SMB (cifs)", 1},
	{0xFE534D42, "SMB2", 1},
	{0x0BD00BD0, "Lustre", 1},
	{0x47504653, "GPFS", 1},
	{0x00C36400, "Ceph", 1},
	{0x19830326, "BeeGFS", 1},
	{0x01021997, "9p", 1},
	{0x65735546, "FUSE", 1},
	{0x5346414F, "AFS", 1},
	{0x01021994, "tmpfs, which is memory", 0},
	{0xEF53, "ext4", 0},
	{0x58465342, "XFS", 0},
	{0x9123683E, "btrfs", 0},
	{0x794C7630, "overlayfs", 0},
	{0x2FC12FC1, "ZFS", 0},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void find_room(struct vtr_answer *a, const char *folder)
{
	const char *name = "an unknown file system";
	struct statfs fs;
	uint64_t free_bytes;
	int network = 0;
	size_t i;

	if (statfs(folder, &fs))
		return;
	for (i = 0; i < KINDS; i++)
		if ((unsigned)fs.f_type == kinds[i].magic) {
			name = kinds[i].name;
			network = kinds[i].is_network;
		}
	free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	vtr_find(a,
		free_bytes < FAIL_BYTES   ? VTR_STATUS_FAIL
		: free_bytes < WARN_BYTES ? VTR_STATUS_WARN
					  : VTR_STATUS_OK,
		free_bytes < WARN_BYTES ? "Make room there, choose another folder with -o or "
					  "VPTRACE_OUTPUT, or limit captures with --max-bytes."
					: NULL,
		"%s: %llu MiB free, %s", folder, (unsigned long long)(free_bytes >> 20), name);
	if (network)
		vtr_find(a, VTR_STATUS_WARN,
			"Write to a local disk with -o or VPTRACE_OUTPUT, and copy the file "
			"afterwards.",
			"a network file system may stall: records are dropped, and counted, while "
			"it does");
}

void vtr_check_disk(const struct vtr_patient *p, struct vtr_answer *a)
{
	static const char remedy[] =
		"Choose another folder with -o or VPTRACE_OUTPUT, or make it writable.";
	char folder[VTR_PATH_MAX], real[PATH_MAX];
	struct vpt_err err = {0};
	int rc;

	vtr_output_folder(&p->options, folder);
	if (!*folder) {
		vtr_find(a, VTR_STATUS_WARN,
			"Make sure that these folders exist, can be written, and have room.",
			"unknown: VPTRACE_OUTPUT=%s names a folder for each process",
			getenv("VPTRACE_OUTPUT"));
		return;
	}
	if (vtr_output_check_folder(folder, &err)) {
		vtr_find(a, VTR_STATUS_FAIL, remedy, "%s", err.text);
		return;
	}
	if (!realpath(folder, real))
		snprintf(real, sizeof(real), "%s", folder);
	rc = vtr_output_try(real, TRIAL_BYTES, 1);
	if (rc)
		vtr_find(a, VTR_STATUS_FAIL, remedy, "%s: cannot write: %s", real, strerror(rc));
	find_room(a, real);
}
