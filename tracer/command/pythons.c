/* pythons.c - a Python finds sitecustomize.py, which loads the marks, by the PYTHONPATH that the launcher
 * has set. A script may set another one, and a Python may ignore it. */
#include "tracer/command/run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_site(const struct vtr_list *list, long pid)
{
	size_t i;

	for (i = 0; i < list->site_count; i++)
		if (list->sites[i] == pid)
			return 1;
	return 0;
}

/* Whether the launcher's first folder is one of the process's. */
static int has_folder(const char *folders)
{
	const char *ours = getenv("PYTHONPATH");
	size_t len = ours ? strcspn(ours, ":") : 0;

	for (;; folders++) {
		if (len && !strncmp(folders, ours, len) && strchr(":", folders[len]))
			return 1;
		folders += strcspn(folders, ":");
		if (!*folders)
			return 0;
	}
}

static void put_reason(FILE *out, const char *python)
{
	if (python[0] == '-' && python[1] != ' ')
		fprintf(out, "it was started with %.2s, which ignores %s; start it without", python,
			python[1] == 'S' ? "sitecustomize.py" : "PYTHONPATH");
	else if (!has_folder(python + strcspn(python, " ") + (strchr(python, ' ') != NULL)))
		fputs("PYTHONPATH was replaced; where that is done, write export "
		      "PYTHONPATH=\"...:$PYTHONPATH\"",
			out);
	else
		fputs("another sitecustomize.py comes before that of vptrace; append to PYTHONPATH "
		      "what is now before it",
			out);
}

static void add(struct vtr_list *list, const struct vtr_traced *first, size_t count)
{
	struct vtr_mark *mark = vtr_list_add(&list->marks, &list->mark_count, sizeof(*mark));
	struct vtr_mark own = {NULL, NULL};
	size_t size;
	FILE *out;

	if (!mark)
		return;
	/* Before all others, of which only the first are said. */
	memmove(list->marks + 1, list->marks, (list->mark_count - 1) * sizeof(*mark));
	own.key = strdup("pythons");
	out = open_memstream(&own.why, &size);
	if (out) {
		fprintf(out, "process %ld", first->pid);
		if (count > 1)
			fprintf(out, " and %zu more", count - 1);
		fputs(" recorded without marks: Python did not load them, since ", out);
		put_reason(out, first->python);
		if (fclose(out)) {
			free(own.why);
			own.why = NULL;
		}
	}
	list->marks[0] = own;
}

void vtr_pythons_check(struct vtr_list *list)
{
	const char *marks = getenv("VPTRACE_MARK");
	const struct vtr_traced *first = NULL;
	size_t count = 0, i;

	if (!marks || !*marks || !strcmp(marks, "none"))
		return;
	for (i = 0; i < list->process_count; i++) {
		const struct vtr_traced *t = &list->processes[i];

		if (!t->python || has_site(list, t->pid) || !vtr_list_has_file(list, t->pid))
			continue;
		first = first ? first : t;
		count++;
	}
	if (first)
		add(list, first, count);
}
