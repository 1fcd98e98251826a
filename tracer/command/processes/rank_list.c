/* rank_list.c - ranks among the processes of a list. A rank may be several processes, one after the
 * other or at once: torchrun starts them again, and their children inherit the variables. */
#include "tracer/command/processes/process_list.h"

#include "formats/base/text.h"
#include "formats/cli/shell_word.h"
#include "tracer/command/base/say.h"
#include "tracer/command/processes/running_processes.h"
#include "tracer/settings/output_name.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long vtr_rank_of(const struct vtr_list *list, long pid)
{
	const struct vtr_traced *t = vtr_list_process(list, pid);

	return t && t->is_rank ? t->rank : -1;
}

/* Whether an earlier process is of the same rank. */
static int is_again(const struct vtr_list *list, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (list->processes[i].is_rank &&
			list->processes[i].rank == list->processes[at].rank)
			return 1;
	return 0;
}

size_t vtr_ranks_count(const struct vtr_list *list)
{
	size_t count = 0, i;

	for (i = 0; i < list->process_count; i++)
		count += list->processes[i].is_rank && !is_again(list, i);
	return count;
}

long vtr_ranks_world(const struct vtr_list *list)
{
	long world = -1;
	size_t i;

	for (i = 0; i < list->process_count; i++)
		if (list->processes[i].is_rank && list->processes[i].world > world)
			world = list->processes[i].world;
	return world;
}

int vtr_ranks_is_one(const struct vtr_list *list)
{
	return vtr_ranks_count(list) == 1 && vtr_ranks_world(list) > 1;
}

static int compare_ranks(const void *a, const void *b, void *list)
{
	const struct vtr_traced_file *x = a, *y = b;
	unsigned long p = (unsigned long)vtr_rank_of(list, x->pid); /* -1 is the largest */
	unsigned long q = (unsigned long)vtr_rank_of(list, y->pid);

	return p != q ? (p > q) - (p < q) : strcmp(x->path, y->path);
}

void vtr_ranks_sort(struct vtr_list *list)
{
	if (list->file_count)
		qsort_r(list->files, list->file_count, sizeof(*list->files), compare_ranks, list);
}

/* ---- those without a file ---- */

static int has_file(const struct vtr_list *list, long rank)
{
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (vtr_rank_of(list, list->files[i].pid) == rank)
			return 1;
	return 0;
}

static void say_why(const struct vtr_traced *t)
{
	if (vtr_running_has(t->pid))
		vtr_say("rank %ld: no file yet: process %ld still runs", t->rank, t->pid);
	else if (*t->end_text || *t->start_text)
		vtr_say("rank %ld: no file: %s", t->rank,
			*t->end_text ? t->end_text : t->start_text);
	else if (t->ended)
		vtr_say("rank %ld: no file: nothing was launched and no range was made", t->rank);
	else
		vtr_say("rank %ld: no file: process %ld ended without a stop", t->rank, t->pid);
}

void vtr_ranks_say_missing(const struct vtr_list *list)
{
	long world = vtr_ranks_world(list), here = 0;
	size_t count = vtr_ranks_count(list), i;

	for (i = 0; i < list->process_count; i++) {
		const struct vtr_traced *t = &list->processes[i];

		if (!t->is_rank)
			continue;
		here = t->local_world > here ? t->local_world : here;
		if (!is_again(list, i) && !has_file(list, t->rank))
			say_why(t);
	}
	if (here > 0 && count < (size_t)here)
		vtr_say("%zu of %ld ranks of this host reported nothing: they used neither CUDA "
			"nor NVTX, or ended before",
			(size_t)here - count, here);
	else if (here <= 0 && world > 0 && count < (size_t)world)
		vtr_say("%zu of %ld ranks reported nothing: they run on other hosts, used neither "
			"CUDA nor NVTX, or ended before",
			(size_t)world - count, world);
}

/* ---- all of them ---- */

static size_t files_of_ranks(const struct vtr_list *list)
{
	size_t count = 0, i;

	for (i = 0; i < list->file_count; i++)
		count += vtr_rank_of(list, list->files[i].pid) >= 0;
	return count;
}

/* What the names of all ranks' files begin and end with. */
static void find_common(const struct vtr_list *list, const char **first, size_t *head, size_t *tail)
{
	size_t i, k, len;

	*first = NULL;
	for (i = 0; i < list->file_count; i++) {
		const char *path = list->files[i].path;

		if (vtr_rank_of(list, list->files[i].pid) < 0)
			continue;
		len = strlen(path);
		if (!*first) {
			*first = path;
			*head = *tail = len;
			continue;
		}
		for (k = 0; k < *head && k < len && path[k] == (*first)[k]; k++)
			;
		*head = k;
		for (k = 0; k < *tail && k < len &&
			    path[len - 1 - k] == (*first)[strlen(*first) - 1 - k];
			k++)
			;
		*tail = k;
	}
	/* "r1" and "r11" share the 1 at both ends. */
	for (i = 0; i < list->file_count && *first; i++) {
		len = strlen(list->files[i].path);
		if (vtr_rank_of(list, list->files[i].pid) >= 0 && *tail > len - *head)
			*tail = len - *head;
	}
}

/* Writes "HEAD*TAIL" if that names `count` files, which are then those of the ranks. */
static int put_pattern(const struct vtr_list *list, size_t count, FILE *out)
{
	char pattern[PATH_MAX + 8];
	size_t head = 0, tail = 0, len;
	const char *first;
	glob_t found;
	int is_exact;

	find_common(list, &first, &head, &tail);
	len = strlen(first);
	snprintf(pattern, sizeof(pattern), "%.*s*%s", (int)head, first, first + len - tail);
	if (strcspn(pattern, "*?[\\") != head || strpbrk(pattern + head + 1, "*?[\\/") ||
		memchr(first + head, '/', len - head) || glob(pattern, 0, NULL, &found))
		return 0;
	is_exact = found.gl_pathc == count;
	globfree(&found);
	if (!is_exact)
		return 0;
	if (head)
		vpt_put_word(out, first, head);
	putc('*', out);
	if (tail)
		vpt_put_word(out, first + len - tail, tail);
	return 1;
}

char *vtr_ranks_words(const struct vtr_list *list)
{
	size_t count = files_of_ranks(list), size, i, put = 0;
	char *text = NULL;
	FILE *out = count >= 2 ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	if (count <= 2 || !put_pattern(list, count, out))
		for (i = 0; i < list->file_count; i++) {
			const char *path = list->files[i].path;

			if (vtr_rank_of(list, list->files[i].pid) < 0)
				continue;
			fputs(put++ ? " " : "", out);
			vpt_put_word(out, path, strlen(path));
		}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Writes "HEAD*TAIL" for a name that vtr_output_default() made. Returns 0 if it did not. */
static int put_default_pattern(const char *path, FILE *out)
{
	const char *name = strrchr(path, '/'), *rank = NULL, *at = name ? name : path;

	while ((at = strstr(at, "-r")) != NULL)
		rank = at += 2;
	if (!rank)
		return 0;
	vpt_put_word(out, path, (size_t)(rank - path));
	fputs("*.zst", out);
	return 1;
}

/* Writes the pattern's own text, and a star for what differs. Returns 0 if nothing does. */
static int put_output_pattern(const char *pattern, FILE *out)
{
	int differs = 0;

	while (*pattern) {
		size_t own = strcspn(pattern, "%");

		if (own)
			vpt_put_word(out, pattern, own);
		pattern += own;
		if (pattern[0] == '%' && pattern[1] == '%') {
			vpt_put_word(out, pattern, 1);
			pattern += 2;
		} else if (*pattern) {
			fputs("*", out);
			differs = 1;
			pattern += vtr_output_width(pattern);
		}
	}
	return differs;
}

char *vtr_ranks_words_of_others(const struct vtr_list *list)
{
	const char *pattern = getenv("VPTRACE_OUTPUT");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int differs;

	if (!out)
		return NULL;
	if (pattern && *vpt_file_name(pattern))
		differs = put_output_pattern(pattern, out);
	else
		differs = put_default_pattern(vtr_ranks_first(list), out);
	if (!fclose(out) && differs)
		return text;
	free(text);
	return NULL;
}

const char *vtr_ranks_first(const struct vtr_list *list)
{
	size_t i = 0;

	while (i < list->file_count && vtr_rank_of(list, list->files[i].pid) < 0)
		i++;
	return i < list->file_count ? list->files[i].path : "";
}

void vtr_ranks_arguments(const struct vtr_list *list, const char **argv)
{
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (vtr_rank_of(list, list->files[i].pid) >= 0)
			*argv++ = list->files[i].path;
	*argv = NULL;
}
