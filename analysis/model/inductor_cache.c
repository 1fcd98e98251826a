/* inductor_cache.c - reads CACHE/XX/NAME.py: one for each kernel, and one for each compiled graph, which holds the same definitions
 * as texts and is left out.
 *
 * A file of a kernel begins with imports and has one "def triton_poi_fused_add_0(in_ptr0, ...)" at the begin of a line. */
#include "analysis/model/inductor_cache.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 20000, BYTES_MAX = 1 << 20 };

struct search {
	struct vpa_arena *arena;
	struct vpa_inductor_kernel *kernels;
	size_t count;
	uint64_t until_ns;
	char *text; /* of a file, BYTES_MAX + 1 */
	size_t files;
	int failed; /* no memory */
};

/* As getpass.getuser() and Inductor: what a file's name cannot have is "_". */
static void user_name(char *out, size_t bytes)
{
	static const char *const variables[] = {"LOGNAME", "USER", "LNAME", "USERNAME"};
	const struct passwd *entry;
	const char *name = NULL;
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]) && !(name && *name); i++)
		name = getenv(variables[i]);
	if (!(name && *name)) {
		entry = getpwuid(geteuid());
		name = entry ? entry->pw_name : "";
	}
	snprintf(out, bytes, "%s", name);
	for (i = 0; out[i]; i++)
		if (strchr("\\/:*?\"<>|", out[i]))
			out[i] = '_';
}

void vpa_inductor_folder(char *out, size_t bytes)
{
	const char *given = getenv("TORCHINDUCTOR_CACHE_DIR"), *temporary = getenv("TMPDIR");
	char user[NAME_MAX];

	if (given && *given) {
		snprintf(out, bytes, "%s", given);
		return;
	}
	user_name(user, sizeof(user));
	*out = '\0';
	if (*user)
		snprintf(out, bytes, "%s/torchinductor_%s",
			temporary && *temporary ? temporary : "/tmp", user);
}

/* Reads a regular file that is old and small enough. Returns whether it did. */
static int read_file(struct search *s, const char *path, uint64_t *changed_ns)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t got = -1;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= BYTES_MAX && st.st_mtime >= 0) {
		*changed_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
		if (*changed_ns <= s->until_ns)
			got = read(fd, s->text, (size_t)st.st_size);
	}
	close(fd);
	s->text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static struct vpa_inductor_kernel *find_kernel(const struct search *s, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (!strncmp(s->kernels[i].name, name, len) && !s->kernels[i].name[len])
			return &s->kernels[i];
	return NULL;
}

static void keep(struct search *s, struct vpa_inductor_kernel *k, const char *path, unsigned line,
	uint64_t changed_ns)
{
	const char *source;

	k->files++;
	if (k->source && changed_ns <= k->changed_ns)
		return;
	source = vpa_arena_printf(s->arena, "%s:%u", path, line);
	s->failed |= !source;
	k->source = source;
	k->changed_ns = changed_ns;
}

static void look_into(struct search *s, const char *path)
{
	static const char begin[] = "def triton_";
	const char *at = s->text, *line, *end;
	uint64_t changed_ns;
	unsigned number = 1;

	if (!read_file(s, path, &changed_ns) || strstr(s->text, "async_compile.triton("))
		return;
	for (line = s->text; line; line = at ? at + 1 : NULL, number++) {
		struct vpa_inductor_kernel *k = NULL;

		at = strchr(line, '\n');
		if (!strncmp(line, begin, sizeof(begin) - 1) && (end = strchr(line, '('))) {
			const char *name = line + sizeof("def ") - 1;

			k = find_kernel(s, name, (size_t)(end - name));
		}
		if (k)
			keep(s, k, path, number, changed_ns);
	}
}

static int is_python(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, ".py");
}

/* The files of a folder, or its folders where `depth` is 1. Links are not followed. */
static void walk(struct search *s, const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char path[PATH_MAX];

	if (!dir)
		return;
	while (!s->failed && s->files < FILES_MAX && (entry = readdir(dir))) {
		int len = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

		if (len < 0 || (size_t)len >= sizeof(path) || *entry->d_name == '.')
			continue;
		if (depth && strlen(entry->d_name) == 2) {
			walk(s, path, depth - 1);
		} else if (!depth && is_python(entry->d_name)) {
			s->files++;
			look_into(s, path);
		}
	}
	closedir(dir);
}

int vpa_inductor_find(struct vpa_arena *arena, const char *folder, uint64_t until_ns,
	struct vpa_inductor_kernel *kernels, size_t count)
{
	struct search s = {
		.arena = arena, .kernels = kernels, .count = count, .until_ns = until_ns};
	size_t i;

	if (!count || !*folder)
		return VPT_OK;
	s.text = vpt_calloc(BYTES_MAX + 1, 1);
	if (!s.text)
		return VPT_ENOMEM;
	walk(&s, folder, 1);
	vpt_free(s.text);
	for (i = 0; i < count && !s.failed; i++)
		if (kernels[i].files > 1) {
			kernels[i].source = vpa_arena_printf(arena, "%s, the newest of %" PRIu64,
				kernels[i].source, kernels[i].files);
			s.failed |= !kernels[i].source;
		}
	return s.failed ? VPT_ENOMEM : VPT_OK;
}
