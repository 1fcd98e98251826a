/* process_list.c - the launcher's end of VPTRACE_LIST. A line that it does not understand is skipped: the
 * library may be newer. */
#include "tracer/command/processes/process_list.h"

#include "tracer/files/run_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS_MAX = 4096 }; /* of an array: a process may write any number of lines */

/* The list of a launcher around this one, which is to know what this one knows. */
static void find_outer(struct vtr_list *list)
{
	const char *path = getenv("VPTRACE_LIST");
	int fd = path ? vtr_run_list_open(path) : -1;

	if (fd < 0)
		return;
	close(fd);
	list->outer = strdup(path);
}

/* A new file with the line by which it is known. */
static int make_file(struct vtr_list *list)
{
	static const char head[] = VTR_RUN_LIST_HEAD;
	int fd = mkostemp(list->path, O_CLOEXEC);

	if (fd >= 0 && write(fd, head, sizeof(head) - 1) != (ssize_t)sizeof(head) - 1) {
		close(fd);
		unlink(list->path);
		fd = -1;
	}
	return fd;
}

int vtr_list_create(struct vtr_list *list)
{
	const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp"};
	size_t i;
	int fd = -1;

	memset(list, 0, sizeof(*list));
	find_outer(list);
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]) && fd < 0; i++) {
		if (!folders[i] || *folders[i] != '/' || strlen(folders[i]) > PATH_MAX - 32)
			continue;
		snprintf(list->path, sizeof(list->path), "%s/vptrace-run-XXXXXX", folders[i]);
		fd = make_file(list);
	}
	if (fd < 0 || setenv("VPTRACE_LIST", list->path, 1)) {
		if (fd >= 0)
			unlink(list->path);
		list->path[0] = '\0';
		unsetenv("VPTRACE_LIST");
	}
	if (fd >= 0)
		close(fd);
	if (*list->path && list->outer)
		vtr_run_list_outer_of(list->path, list->outer);
	return *list->path ? 0 : -1;
}

void *vtr_list_add(void *array, size_t *count, size_t size)
{
	void **at = array, *grown;

	grown = *count < ELEMENTS_MAX ? realloc(*at, (*count + 1) * size) : NULL;
	if (!grown)
		return NULL;
	*at = grown;
	return memset((char *)grown + (*count)++ * size, 0, size);
}

static struct vtr_traced *process_of(struct vtr_list *list, long pid)
{
	struct vtr_traced *t;
	size_t i;

	for (i = 0; i < list->process_count; i++)
		if (list->processes[i].pid == pid)
			return &list->processes[i];
	t = vtr_list_add(&list->processes, &list->process_count, sizeof(*t));
	if (t)
		t->pid = pid;
	return t;
}

static void add_file(struct vtr_list *list, long pid, const char *path)
{
	struct vtr_traced_file *f;
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (!strcmp(list->files[i].path, path))
			return;
	f = vtr_list_add(&list->files, &list->file_count, sizeof(*f));
	if (!f)
		return;
	f->pid = pid;
	snprintf(f->path, sizeof(f->path), "%s", path);
}

void vtr_list_file(struct vtr_list *list, long pid, const char *path)
{
	add_file(list, pid, path);
	vtr_run_list_file_of(list->outer, pid, path);
}

static void take_marks(struct vtr_list *list, long pid, char *text)
{
	if (list->marked_count++)
		return;
	vtr_run_list_unescape(text);
	list->marked_pid = pid;
	snprintf(list->marked, sizeof(list->marked), "%.599s", text);
}

/* KEY, or KEY<tab>TEXT. */
static void take_use(struct vtr_list *list, char *key)
{
	struct vtr_mark *mark;
	char *why;
	size_t i;

	vtr_run_list_unescape(key);
	why = strchr(key, '\t');
	if (why)
		*why++ = '\0';
	for (i = 0; i < list->mark_count && strcmp(list->marks[i].key, key) != 0; i++)
		;
	if (i < list->mark_count) {
		mark = &list->marks[i];
		if (!why) {
			free(mark->why);
			mark->why = NULL;
		}
		return;
	}
	mark = vtr_list_add(&list->marks, &list->mark_count, sizeof(*mark));
	if (!mark)
		return;
	mark->key = strdup(key);
	mark->why = why ? strdup(why) : NULL;
	if (!mark->key) {
		free(mark->why);
		list->mark_count--;
	}
}

static void take_site(struct vtr_list *list, long pid)
{
	long *site = vtr_list_add(&list->sites, &list->site_count, sizeof(*site));

	if (site)
		*site = pid;
}

static void take_line(struct vtr_list *list, char *line)
{
	int code = 0, at = 0;
	struct vtr_traced *t;
	char type[8];
	long pid;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%7s %ld %n", type, &pid, &at) != 2 || !at || !strcmp(type, "outer"))
		return;
	if (!strcmp(type, "marks")) {
		take_marks(list, pid, line + at);
		return;
	}
	if (!strcmp(type, "used") || !strcmp(type, "unused")) {
		take_use(list, line + at);
		return;
	}
	if (!strcmp(type, "site")) {
		take_site(list, pid);
		return;
	}
	t = process_of(list, pid);
	if (!t)
		return;
	line += at;
	if (!strcmp(type, "file")) {
		vtr_run_list_unescape(line);
		if (*line == '/')
			add_file(list, pid, line);
		return;
	}
	if (!strcmp(type, "python")) {
		vtr_run_list_unescape(line);
		if (!t->python)
			t->python = strdup(line);
		return;
	}
	if (!strcmp(type, "rank")) {
		t->is_rank =
			sscanf(line, "%ld %ld %ld", &t->rank, &t->world, &t->local_world) == 3 &&
			t->rank >= 0;
		return;
	}
	code = (int)strtol(line, &line, 10);
	line += *line == ' ';
	vtr_run_list_unescape(line);
	if (!strcmp(type, "start")) {
		t->started = 1;
		t->start_code = code;
		snprintf(t->start_text, sizeof(t->start_text), "%.599s", line);
	} else if (!strcmp(type, "end")) {
		t->ended = 1;
		t->end_code = code;
		snprintf(t->end_text, sizeof(t->end_text), "%.599s", line);
	}
}

/* Why nobody can write a line; 0: one can. */
static int try_line(const char *path)
{
	static const char line[VTR_RUN_LIST_LINE];
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), error = fd < 0 ? errno : 0;
	ssize_t n = error ? 0 : write(fd, line, sizeof(line));

	if (!error && n != (ssize_t)sizeof(line))
		error = n < 0 ? errno : ENOSPC;
	if (fd >= 0)
		close(fd);
	return error;
}

int vtr_list_take(struct vtr_list *list)
{
	char line[VTR_RUN_LIST_LINE];
	int fd = *list->path ? vtr_run_list_open(list->path) : -1, is_there;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	is_there = f != NULL;
	while (f && fgets(line, sizeof(line), f)) {
		if (list->outer && strcmp(line, VTR_RUN_LIST_HEAD) != 0 &&
			strncmp(line, VTR_RUN_LIST_OUTER, sizeof(VTR_RUN_LIST_OUTER) - 1) != 0)
			vtr_run_list_append(list->outer, line, strlen(line));
		take_line(list, line);
	}
	if (f) {
		fclose(f);
		list->error = try_line(list->path);
	}
	if (*list->path)
		unlink(list->path);
	list->path[0] = '\0';
	return is_there ? 0 : -1;
}

const struct vtr_traced *vtr_list_process(const struct vtr_list *list, long pid)
{
	size_t i;

	for (i = 0; i < list->process_count; i++)
		if (list->processes[i].pid == pid)
			return &list->processes[i];
	return NULL;
}

int vtr_list_has_file(const struct vtr_list *list, long pid)
{
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (list->files[i].pid == pid)
			return 1;
	return 0;
}

void vtr_list_free(struct vtr_list *list)
{
	size_t i;

	if (*list->path)
		unlink(list->path);
	for (i = 0; i < list->mark_count; i++) {
		free(list->marks[i].key);
		free(list->marks[i].why);
	}
	for (i = 0; i < list->process_count; i++)
		free(list->processes[i].python);
	free(list->outer);
	free(list->marks);
	free(list->sites);
	free(list->processes);
	free(list->files);
	memset(list, 0, sizeof(*list));
}
