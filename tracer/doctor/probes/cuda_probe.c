/* cuda_probe.c - which driver and which libcupti the tracer would take, by its own search. Starts
 * neither. */
#include "tracer/cupti/library/cupti_library.h"
#include "tracer/cupti/library/cupti_kinds.h"
#include "tracer/cupti/library/cupti_sizes.h"
#include "tracer/doctor/probes/patient.h"
#include "tracer/loaded/driver.h"
#include "formats/base/text.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the candidates ---- */

enum { CANDIDATES_MAX = 64 };

/* A place where a file is. Each is loaded in a process of its own, which calls nothing of it: a
 * mapped libcupti would change the search for the next. */
struct candidate {
	char real[PATH_MAX]; /* of the file */
	char shown[PATH_MAX];
	char place[64];
	char reason[512]; /* why it cannot be loaded; "": it can */
	int too_new;
};

static struct {
	unsigned count;
	struct candidate all[CANDIDATES_MAX];
} candidates; /* of the probe's own process */

/* Writes the name of the mapped file after a '+', or the reason after a '-'. */
static void load_alone(const char *path, int to)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = NULL;

	if (handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) && map)
		dprintf(to, "+%s", map->l_name);
	else
		dprintf(to, "-%s", handle ? path : dlerror());
	_exit(0);
}

/* What load_alone() says, in another process; "": it ended before that. */
static void ask_alone(const char *path, char *out, size_t size)
{
	size_t used = 0;
	int ends[2];
	ssize_t n;
	pid_t pid;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		load_alone(path, ends[1]);
	close(ends[1]);
	while (pid > 0 && used < size - 1 && (n = read(ends[0], out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Whether an earlier candidate is the same file. */
static int is_known(const struct candidate *c)
{
	const struct candidate *other;

	for (other = candidates.all; other < c; other++)
		if (!strcmp(other->real, c->real))
			return 1;
	return 0;
}

static int collect(void *ctx, const struct vtr_candidate *c)
{
	struct candidate *to = &candidates.all[candidates.count];
	int has_folder = strchr(c->path, '/') != NULL;
	char said[PATH_MAX];

	(void)ctx;
	if (has_folder && access(c->path, F_OK))
		return 0;
	ask_alone(c->path, said, sizeof(said));
	if (*said != '+' && !has_folder)
		return 0; /* the linker knows none of this name */
	snprintf(to->shown, sizeof(to->shown), "%s", *said == '+' ? said + 1 : c->path);
	snprintf(to->place, sizeof(to->place), "%s", c->place);
	snprintf(to->reason, sizeof(to->reason), "%.500s",
		*said == '+'   ? ""
		: *said == '-' ? said + 1
			       : "it ends a process that loads it");
	to->too_new = c->too_new;
	if (!realpath(to->shown, to->real))
		memcpy(to->real, to->shown, sizeof(to->real));
	candidates.count += !is_known(to);
	return candidates.count == CANDIDATES_MAX;
}

static void say_candidates(int to, const char *taken)
{
	char real[PATH_MAX];
	int after = 0;
	unsigned i;

	if (!realpath(taken, real))
		real[0] = '\0';
	for (i = 0; i < candidates.count; i++) {
		const struct candidate *c = &candidates.all[i];

		if (*real && !strcmp(real, c->real)) {
			after = 1;
			vtr_probe_say(to, "place", "%s", c->place);
			vtr_probe_say(to, "file", "%s", vpt_file_name(c->real));
			continue;
		}
		vtr_probe_say(to, "passed", "%s (%s, from %s): %s", c->shown,
			vpt_file_name(c->real), c->place,
			*c->reason   ? c->reason
			: c->too_new ? "newer than the driver's major version"
			: after      ? "comes later in the search"
				     : "no reason is known");
	}
}

/* ---- what it is ---- */

static void say_sizes(int to, const struct vtr_library *library)
{
	char sizes[1024] = "", unknown[512] = "", too_short[512] = "";
	struct vtr_sizes learned;
	uint32_t kind;

	vtr_probe_step(to, "cuptiActivityGetNextRecord");
	vtr_sizes_learn(&library->fn, &learned);
	for (kind = 0; kind < VTR_KINDS; kind++) {
		char *to_text = learned.too_short & vtr_kind_bit(kind) ? too_short : unknown;
		size_t used = strlen(sizes);

		if (!vtr_kind_name(kind))
			continue;
		if (learned.bytes[kind])
			snprintf(sizes + used, sizeof(sizes) - used, "%s%s %u", used ? ", " : "",
				vtr_kind_name(kind), learned.bytes[kind]);
		else
			snprintf(to_text + strlen(to_text), 512 - strlen(to_text), "%s%s",
				*to_text ? ", " : "", vtr_kind_name(kind));
	}
	vtr_probe_say(to, "sizes", "%s", sizes);
	if (*unknown)
		vtr_probe_say(to, "unknown", "%s", unknown);
	if (*too_short)
		vtr_probe_say(to, "too_short", "%s", too_short);
}

static int say_driver(int to)
{
	struct vpt_err err = {0};
	void *address;
	Dl_info info;
	int version;

	vtr_probe_step(to, "the loading of libcuda.so.1 or cuDriverGetVersion");
	if (vtr_driver_load(&version, &err))
		vtr_probe_say(to, "driver_error", "%s", err.text);
	else
		vtr_probe_say(to, "driver", "%d", version);
	address = vtr_driver_symbol("cuDriverGetVersion");
	if (address && dladdr(address, &info) && info.dli_fname)
		vtr_probe_say(to, "driver_path", "%s", info.dli_fname);
	if (address && vtr_driver_symbol("standin_counts"))
		vtr_probe_say(to, "simulated", "1");
	return version;
}

void vtr_probe_cuda(int to, void *patient)
{
	const struct vtr_patient *p = patient;
	const char *given = *p->options.cupti_path ? p->options.cupti_path : NULL;
	static struct vtr_library library;
	struct vpt_err err = {0};
	int driver = say_driver(to), rc;

	vtr_probe_step(to, "the loading of libcupti");
	if (!given)
		vtr_library_candidates(driver, collect, NULL);
	rc = vtr_library_load(given, driver, &library, &err);
	if (rc)
		vtr_probe_say(to, "cupti_error", "%s", err.text);
	if (!rc)
		vtr_probe_say(to, "cupti_path", "%s", library.path);
	vtr_probe_say(to, "cupti_major", "%d", library.major);
	if (given)
		vtr_probe_say(to, "place", "VPTRACE_LIBCUPTI");
	else
		say_candidates(to, library.path);
	/* Without a driver a libcupti may end the process, see driver.c. */
	if (rc || !driver)
		return;
	vtr_probe_step(to, "cuptiGetVersion");
	if (vtr_library_ask(&library, &err)) {
		vtr_probe_say(to, "cupti_error", "%s", err.text);
		return;
	}
	vtr_probe_say(to, "cupti_api", "%u", library.api);
	say_sizes(to, &library);
}
