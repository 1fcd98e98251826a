/* run_list.c - appends lines to the launcher's file.
 *
 * It is opened for each line: a program may close descriptors that it does not know. The variable may
 * name any file of the user, so one that does not begin as a list does is none. */
#include "tracer/files/run_list.h"

#include "tracer/guest/environment.h"
#include "tracer/settings/rank.h"
#include "tracer/guest/quiet.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t escape(const char *text, char *out, size_t size)
{
	size_t used = 0;

	for (; text && *text && used + 5 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == '\\')
			used += (size_t)snprintf(out + used, size - used, "\\x%02x", c);
		else
			out[used++] = (char)c;
	}
	out[used] = '\0';
	return used;
}

void vtr_run_list_unescape(char *text)
{
	char *to = text, hex[3] = "";

	while (*text) {
		if (text[0] == '\\' && text[1] == 'x' && text[2] && text[3]) {
			hex[0] = text[2];
			hex[1] = text[3];
			*to++ = (char)strtol(hex, NULL, 16);
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

int vtr_run_list_open(const char *path)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	char head[sizeof(VTR_RUN_LIST_HEAD) - 1];
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
		pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
		memcmp(head, VTR_RUN_LIST_HEAD, sizeof(head)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void vtr_run_list_append(const char *path, const char *line, size_t len)
{
	int fd = vtr_run_list_open(path);

	if (fd < 0)
		return;
	vtr_quiet_write(fd, line, len);
	close(fd);
}

struct line {
	const char *type;
	long pid;
	int has_code, code;
	const char *text;
};

static void put_line(const char *path, const struct line *l)
{
	char line[VTR_RUN_LIST_LINE];
	size_t used;

	if (!path)
		return;
	used = (size_t)snprintf(line, sizeof(line), "%s %ld ", l->type, l->pid);
	if (l->has_code)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%d ", l->code);
	used += escape(l->text, line + used, sizeof(line) - used - 1);
	line[used++] = '\n';
	vtr_run_list_append(path, line, used);
}

/* Replaces the path of a list by that of the launcher around. Returns 0 if there is none. */
static int to_outer(char path[PATH_MAX])
{
	char line[VTR_RUN_LIST_LINE], *at = line + sizeof(VTR_RUN_LIST_HEAD) - 1, *end;
	int fd = vtr_run_list_open(path);
	ssize_t got = fd < 0 ? 0 : pread(fd, line, sizeof(line) - 1, 0);

	if (fd >= 0)
		close(fd);
	line[got > 0 ? got : 0] = '\0';
	/* Only in the second line: a traced process can append others. */
	if (got < at - line || strncmp(at, VTR_RUN_LIST_OUTER, sizeof(VTR_RUN_LIST_OUTER) - 1) != 0)
		return 0;
	at += sizeof(VTR_RUN_LIST_OUTER) - 1;
	end = strchr(at, '\n');
	if (!end)
		return 0;
	*end = '\0';
	vtr_run_list_unescape(at);
	return snprintf(path, PATH_MAX, "%s", at) < PATH_MAX;
}

/* How many launchers may be inside each other. */
enum { DEPTH_MAX = 16 };

static void put(const char *type, int has_code, int code, const char *text)
{
	struct line l = {type, (long)getpid(), has_code, code, text};

	put_line(vtr_environment("VPTRACE_LIST"), &l);
}

/* How the Python of this process was started, if there is one. */
static const char *python_option(void)
{
	static const struct {
		const char *flag, *option;
	} flags[] = {{"Py_IsolatedFlag", "-I"}, {"Py_IgnoreEnvironmentFlag", "-E"},
		{"Py_NoSiteFlag", "-S"}};
	const int *flag;
	size_t i;

	if (!dlsym(RTLD_DEFAULT, "Py_IsInitialized"))
		return NULL;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		flag = dlsym(RTLD_DEFAULT, flags[i].flag);
		if (flag && *flag)
			return flags[i].option;
	}
	return "-";
}

/* The launcher knows from it whether a Python that records has the marks that it should have. */
static void put_python(void)
{
	const char *marks = vtr_environment("VPTRACE_MARK");
	const char *option = marks && strcmp(marks, "none") != 0 ? python_option() : NULL;
	const char *folders = vtr_environment("PYTHONPATH");
	char text[VTR_RUN_LIST_LINE / 4];

	if (!option)
		return;
	snprintf(text, sizeof(text), "%s %s", option, folders ? folders : "");
	put("python", 0, 0, text);
}

static void put_rank(void)
{
	struct vtr_place place;
	char text[80];

	vtr_place(&place);
	if (place.rank < 0)
		return;
	snprintf(text, sizeof(text), "%ld %ld %ld", place.rank, place.world, place.local_world);
	put("rank", 0, 0, text);
}

void vtr_run_list_start(int code, const char *text)
{
	put_python();
	put_rank();
	put("start", 1, code, text);
}

void vtr_run_list_file(const char *path)
{
	vtr_run_list_file_of(vtr_environment("VPTRACE_LIST"), (long)getpid(), path);
}

/* At once to the outer launchers too: what another inner one starts must not replace it. */
void vtr_run_list_file_of(const char *list, long pid, const char *path)
{
	char at[PATH_MAX];
	int depth = 0, is_there = list && snprintf(at, sizeof(at), "%s", list) < (int)sizeof(at);

	for (; is_there && depth < DEPTH_MAX; is_there = to_outer(at), depth++)
		put_line(at, &(struct line){.type = "file", .pid = pid, .text = path});
}

void vtr_run_list_end(int code, const char *text)
{
	put("end", 1, code, text);
}

void vtr_run_list_outer_of(const char *list, const char *outer)
{
	char line[VTR_RUN_LIST_LINE] = VTR_RUN_LIST_OUTER;
	size_t used = strlen(line);

	used += escape(outer, line + used, sizeof(line) - used - 1);
	line[used++] = '\n';
	vtr_run_list_append(list, line, used);
}

static int has(const char *list, const char *path)
{
	int fd = vtr_run_list_open(list), found = 0, at;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[VTR_RUN_LIST_LINE];

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		if (sscanf(line, "file %*d %n", &at) < 0 || !at)
			continue;
		vtr_run_list_unescape(line + at);
		found = !strcmp(line + at, path);
	}
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return found;
}

int vtr_run_list_has(const char *list, const char *path)
{
	char at[PATH_MAX];
	int depth = 0, is_there, found = 0;

	list = list ? list : vtr_environment("VPTRACE_LIST");
	is_there = list && snprintf(at, sizeof(at), "%s", list) < (int)sizeof(at);
	for (; is_there && !found && depth < DEPTH_MAX; is_there = to_outer(at), depth++)
		found = has(at, path);
	return found;
}
