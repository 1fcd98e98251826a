/* cupti_library.c - finds libcupti and binds it by dlsym.
 *
 * Symbols are bound by name only: the version node differs between major versions (libcupti.so.12,
 * .13), so a binary linked to one could not start with the other. Python wheels put libcudart and
 * libcupti into sibling folders, toolkits into the same one or into extras/CUPTI/lib64. */
#include "tracer/cupti/library/cupti_library.h"

#include "tracer/loaded/driver.h"
#include "tracer/guest/environment.h"
#include "tracer/vptrace.h"
#include "formats/base/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newest first. CUDA 11 includes the minor version; 11.8 is the oldest supported. */
static const struct {
	int major;
	const char *soname;
} sonames[] = {{13, "libcupti.so.13"}, {12, "libcupti.so.12"}, {11, "libcupti.so.11.8"}};

enum { OLDEST_DRIVER = 11080, SONAMES = sizeof(sonames) / sizeof(sonames[0]) };

/* Where libcupti is, relative to the folder of libcudart. */
static const char *const beside_runtime[] = {"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/"};
static const char *const inside_toolkit[] = {
	"lib64/", "extras/CUPTI/lib64/", "targets/x86_64-linux/lib/", "lib/"};

struct mapped {
	char cupti[VTR_LIBRARY_PATH_MAX];
	char runtime[VTR_LIBRARY_PATH_MAX]; /* folder of libcudart, with the slash */
	int runtime_major;                  /* 0: none is mapped, or its name has no version */
};

/* The major version in "libcudart.so.12" or "libcudart-d0da41ae.so.11.0". */
static int major_of(const char *base)
{
	const char *so = strstr(base, ".so.");

	return so ? atoi(so + 4) : 0;
}

static int look_at_mapped(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct mapped *m = ctx;
	const char *path = info->dlpi_name, *base;

	(void)size;
	if (!path || !*path || strlen(path) >= VTR_LIBRARY_PATH_MAX)
		return 0;
	base = vpt_file_name(path);
	if (!*m->cupti && !strncmp(base, "libcupti.so", 11))
		strcpy(m->cupti, path);
	if (!*m->runtime && !strncmp(base, "libcudart", 9)) {
		memcpy(m->runtime, path, (size_t)(base - path));
		m->runtime[base - path] = '\0';
		m->runtime_major = major_of(base);
	}
	return 0;
}

/* ---- candidates ---- */

/* A driver works with the libcupti of its own major version and of earlier ones. */
static int is_too_new(int major, int driver_major)
{
	return driver_major && major > driver_major;
}

struct search {
	struct mapped mapped;
	int driver_major; /* 0: not known */
	int (*see)(void *ctx, const struct vtr_candidate *c);
	void *ctx;
};

static int see(const struct search *s, const char *place, const char *folder, const char *below,
	size_t soname)
{
	char path[VTR_LIBRARY_PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s%s", folder, below, sonames[soname].soname);
	struct vtr_candidate c = {.path = path,
		.place = place,
		.major = sonames[soname].major,
		.too_new = is_too_new(sonames[soname].major, s->driver_major)};

	return n > 0 && (size_t)n < sizeof(path) ? s->see(s->ctx, &c) : 0;
}

static int see_mapped(const struct search *s)
{
	struct vtr_candidate c = {.path = s->mapped.cupti,
		.place = "mapped",
		.major = major_of(vpt_file_name(s->mapped.cupti)),
		.mapped = 1};

	return *s->mapped.cupti ? s->see(s->ctx, &c) : 0;
}

static int see_beside_runtime(const struct search *s)
{
	size_t i, j;
	int rc = 0;

	for (i = 0; *s->mapped.runtime && i < SONAMES; i++)
		for (j = 0; sonames[i].major == s->mapped.runtime_major && !rc &&
			    j < sizeof(beside_runtime) / sizeof(beside_runtime[0]);
			j++)
			rc = see(s, "beside libcudart", s->mapped.runtime, beside_runtime[j], i);
	return rc;
}

/* The two passes of the fallback search: first the mapped runtime's version, then the others. A
 * program with a static runtime maps none. */
static int is_of_pass(const struct search *s, size_t soname, int pass)
{
	return (sonames[soname].major == s->mapped.runtime_major) == !pass;
}

static int see_toolkit(const struct search *s, const char *variable)
{
	const char *root = vtr_environment(variable);
	char folder[VTR_LIBRARY_PATH_MAX];
	size_t i, j;
	int pass, rc = 0;

	if (!root || snprintf(folder, sizeof(folder), "%s/", root) >= (int)sizeof(folder))
		return 0;
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < SONAMES; i++)
			for (j = 0; is_of_pass(s, i, pass) && !rc &&
				    j < sizeof(inside_toolkit) / sizeof(inside_toolkit[0]);
				j++)
				rc = see(s, variable, folder, inside_toolkit[j], i);
	return rc;
}

static int see_linker(const struct search *s)
{
	int pass, rc = 0;
	size_t i;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < SONAMES && !rc; i++)
			if (is_of_pass(s, i, pass))
				rc = see(s, "the dynamic linker's folders", "", "", i);
	return rc;
}

int vtr_library_candidates(
	int driver, int (*visit)(void *ctx, const struct vtr_candidate *c), void *ctx)
{
	struct search s;
	int rc;

	memset(&s, 0, sizeof(s));
	s.driver_major = driver / 1000;
	s.see = visit;
	s.ctx = ctx;
	dl_iterate_phdr(look_at_mapped, &s.mapped);
	rc = see_mapped(&s);
	if (!rc)
		rc = see_beside_runtime(&s);
	if (!rc)
		rc = see_toolkit(&s, "CUDA_HOME");
	if (!rc)
		rc = see_toolkit(&s, "CUDA_PATH");
	return rc ? rc : see_linker(&s);
}

static int take(void *ctx, const struct vtr_candidate *c)
{
	void **handle = ctx;

	if (!c->too_new)
		*handle = dlopen(c->path, RTLD_NOW | RTLD_LOCAL | (c->mapped ? RTLD_NOLOAD : 0));
	return *handle != NULL;
}

static void *find(int driver, struct vpt_err *err)
{
	void *handle = NULL;
	char words[64];

	if (vtr_library_candidates(driver, take, &handle))
		return handle;
	vpt_fail(err, VPTRACE_ENOCUPTI,
		"no libcupti found (libcupti.so.13, .12 or .11.8, not newer than %s): not loaded, "
		"not next to libcudart, not in CUDA_HOME or CUDA_PATH, unknown to the dynamic "
		"linker. It comes with the CUDA toolkit; set VPTRACE_LIBCUPTI to its path",
		driver / 1000 ? vtr_driver_words(words, sizeof(words)) : "the driver");
	return NULL;
}

/* ---- binding ---- */

static int bind(void *handle, struct vtr_cupti_functions *fn, struct vpt_err *err)
{
	/* POSIX requires converting dlsym's result to a function pointer; ISO C has no cast for
	 * it. */
#define BIND(field, symbol, arguments)                                                             \
	{                                                                                          \
		void *address = dlsym(handle, #symbol);                                            \
		memcpy(&fn->field, &address, sizeof(address));                                     \
	}
#define NEED(field, symbol, arguments)                                                             \
	if (!fn->field)                                                                            \
		return vpt_fail(err, VPTRACE_ENOCUPTI, "the library has no function " #symbol);
	VTR_CUPTI_NEEDED(BIND)
	VTR_CUPTI_OPTIONAL(BIND)
	VTR_CUPTI_NEEDED(NEED)
#undef BIND
#undef NEED
	return VPT_OK;
}

/* The library's own name, "libcupti.so.13", whatever its file is called; NULL: it has none. */
static const char *soname_of(void *handle)
{
	struct link_map *map = NULL;
	const char *strings = NULL;
	size_t name = 0;
	const ElfW(Dyn) * d;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map)
		return NULL;
	for (d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)(d->d_un.d_ptr < map->l_addr
							 ? d->d_un.d_ptr + map->l_addr
							 : d->d_un.d_ptr);
		if (d->d_tag == DT_SONAME)
			name = d->d_un.d_val;
	}
	return strings && name ? strings + name : NULL;
}

/* CUPTI 13.2, by what came with it and what came after it: each of its functions calls itself for ever where
 * it does not accept the driver. */
static int may_recurse(void *handle)
{
	return dlsym(handle, "cuptiActivityGetStructSize") &&
	       !dlsym(handle, "cuptiIsTracingSessionRunning");
}

/* The file that contains a function, as mapped by the dynamic linker, and the CUDA version in its
 * SONAME or name. */
static void note_origin(struct vtr_library *library, void *handle)
{
	const char *soname = soname_of(handle);
	void *address;
	Dl_info info;

	memcpy(&address, &library->fn.version, sizeof(address));
	if (dladdr(address, &info) && info.dli_fname)
		snprintf(library->path, sizeof(library->path), "%s", info.dli_fname);
	library->major = major_of(soname ? soname : vpt_file_name(library->path));
}

static int check_fits(const struct vtr_library *library, int driver, struct vpt_err *err)
{
	if (!is_too_new(library->major, driver / 1000))
		return VPT_OK;
	return vpt_fail(err, VPTRACE_ENOCUPTI,
		"%.256s is from CUDA %d, but the driver supports only CUDA %d.%d: update the "
		"driver, or set VPTRACE_LIBCUPTI to the libcupti of a CUDA toolkit %d",
		library->path, library->major, driver / 1000, driver % 1000 / 10, driver / 1000);
}

static void *open_or_find(const char *path, int driver, struct vpt_err *err)
{
	const char *reason;
	void *handle;

	if (!path || !*path)
		return find(driver, err);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		reason = dlerror();
		vpt_fail(err, VPTRACE_ENOCUPTI, "libcupti cannot be loaded: %s",
			reason ? reason : path);
	}
	return handle;
}

int vtr_library_load(const char *path, int driver, struct vtr_library *out, struct vpt_err *err)
{
	void *handle;
	int rc;

	memset(out, 0, sizeof(*out));
	handle = open_or_find(path, driver, err);
	if (!handle)
		return VPTRACE_ENOCUPTI;
	rc = bind(handle, &out->fn, err);
	if (rc) {
		vpt_err_at(err, path && *path ? path : "libcupti");
		return rc;
	}
	note_origin(out, handle);
	out->may_recurse = may_recurse(handle);
	return check_fits(out, driver, err);
}

int vtr_library_ask(struct vtr_library *library, struct vpt_err *err)
{
	char driver[64];
	int rc;

	if (library->may_recurse && !vtr_driver_serves_cupti())
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"%.256s is from CUDA 13.2 and does not accept this libcuda.so.1 (%s): "
			"update the driver, or set VPTRACE_LIBCUPTI to the libcupti of another "
			"CUDA toolkit 13",
			library->path, vtr_driver_words(driver, sizeof(driver)));
	rc = library->fn.version(&library->api);
	if (rc != VTR_CUPTI_OK)
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"%.256s does not work here: cuptiGetVersion returned error %d; %s%s",
			library->path, rc, vtr_driver_words(driver, sizeof(driver)),
			vtr_driver_hint());
	if (library->api < VTR_CUPTI_FLOOR)
		return vpt_fail(err, VPTRACE_ENOCUPTI,
			"%s: CUPTI %u is older than version 18, which came with CUDA 11.8",
			library->path, library->api);
	return VPT_OK;
}

static void try_all(void *path)
{
	static struct vtr_library library;
	int driver;

	if (!vtr_driver_load(&driver, NULL) && !vtr_library_load(path, driver, &library, NULL))
		vtr_library_ask(&library, NULL);
}

/* A driver that this process has not mapped, and libcupti, are first used by a child process. One thread at a
 * time. */
static int try_in_child(const char *path, struct vpt_err *err)
{
	static char failure[64]; /* once is enough: the next trial would take as long */

	/* The host uses it, or we do since an earlier trial. */
	if (vtr_driver_symbol("cuDriverGetVersion"))
		return VPT_OK;
	if (!*failure && !vtr_trial(try_all, (void *)(uintptr_t)path, failure, sizeof(failure)))
		return VPT_OK;
	return vpt_fail(err, VPTRACE_ENOCUPTI,
		"the CUDA driver (libcuda.so.1) or libcupti does not work: in a child process %s, "
		"so this one does not load it. vptrace doctor says more",
		failure);
}

int vtr_library_open(const char *path, struct vtr_library *out, struct vpt_err *err)
{
	int driver, rc;

	memset(out, 0, sizeof(*out));
	rc = try_in_child(path, err);
	if (!rc)
		rc = vtr_driver_load(&driver, err);
	if (!rc && driver < OLDEST_DRIVER)
		rc = vpt_fail(err, VPTRACE_ENOCUPTI,
			"CUDA driver %d.%d is older than 11.8, the oldest that CUPTI traces with "
			"here: update the driver",
			driver / 1000, driver % 1000 / 10);
	if (!rc)
		rc = vtr_library_load(path, driver, out, err);
	return rc ? rc : vtr_library_ask(out, err);
}
