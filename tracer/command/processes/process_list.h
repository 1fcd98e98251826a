/* process_list.h - what the traced processes reported, see run_list.h. */
#ifndef VPTRACE_TRACER_COMMAND_PROCESSES_PROCESS_LIST_H
#define VPTRACE_TRACER_COMMAND_PROCESSES_PROCESS_LIST_H

#include <limits.h>
#include <stddef.h>

/* One traced process. Texts are "" where nothing is known. */
struct vtr_traced {
	long pid;
	int started, ended; /* it has reported that a capture started, ended */
	int start_code, end_code;
	char start_text[600], end_text[600];
	int is_rank;                   /* of a job */
	long rank, world, local_world; /* of a rank; the last two -1 if not known */
	char *python; /* of a Python: its option and its PYTHONPATH, see run_list.h; or NULL */
};

struct vtr_traced_file {
	long pid;
	char path[PATH_MAX];
};

/* A line of a mark file, or a preset, that some process had no use for; or why there were no marks. */
struct vtr_mark {
	char *key, *why; /* `why` NULL: a process has hit it */
};

struct vtr_list {
	struct vtr_traced *processes;
	struct vtr_traced_file *files;
	struct vtr_mark *marks; /* in the order of their first mention */
	long *sites;            /* processes in which our sitecustomize.py ran */
	size_t process_count, file_count, mark_count, site_count;
	long marked_pid;     /* the first process that hit marks and recorded nothing */
	char marked[600];    /* its marks */
	size_t marked_count; /* such processes */
	char path[PATH_MAX]; /* of the list itself; "": there is none */
	char *outer;         /* path of that of a launcher around this one; NULL: there is none */
	int error;           /* after the end: errno if nothing could be written to it; 0: else */
};

/* Creates the file and sets VPTRACE_LIST. 0, or -1: there is no list, and no summary. */
int vtr_list_create(struct vtr_list *list);

/* One more zeroed element of one of the arrays, whose address and count these are. NULL: no memory, or too
 * many, what it was for is skipped. */
void *vtr_list_add(void *array, size_t *count, size_t size);

/* Adds a file that no process has reported, unless it is there. */
void vtr_list_file(struct vtr_list *list, long pid, const char *path);
/* Whether the process has written one. */
int vtr_list_has_file(const struct vtr_list *list, long pid);

/* The process of this id; NULL: it has reported nothing. */
const struct vtr_traced *vtr_list_process(const struct vtr_list *list, long pid);

/* Reads what the processes have written so far, and removes the file. 0, or -1: somebody has removed it
 * before, or it cannot be read. */
int vtr_list_take(struct vtr_list *list);

/* Also removes a file that was not read. */
void vtr_list_free(struct vtr_list *list);

/* ---- rank_list.c: the traced processes that are ranks of a job: which have a file, and what opens all ---- */

/* How many ranks have reported. */
size_t vtr_ranks_count(const struct vtr_list *list);

/* How many ranks the job has, as its launcher said; -1: not known, or there is no rank. */
long vtr_ranks_world(const struct vtr_list *list);

/* Whether this is the launcher of one rank alone, of a job that has a launcher for each: below srun or mpirun. */
int vtr_ranks_is_one(const struct vtr_list *list);

/* The rank of a process; -1: it is none, or not known. */
long vtr_rank_of(const struct vtr_list *list, long pid);

/* Puts the files in the order of their ranks; what is no rank's comes last. */
void vtr_ranks_sort(struct vtr_list *list);

/* Says which ranks have no file and why, and how many of the job reported nothing. */
void vtr_ranks_say_missing(const struct vtr_list *list);

/* The words that name all ranks' files on a command line, quoted for a shell: a pattern where it
 * matches these files alone, else each file. The caller frees them. NULL: there are fewer than two
 * files of ranks, or no memory. */
char *vtr_ranks_words(const struct vtr_list *list);

/* Where each rank has a launcher: the same, for what the others record. A pattern, made of VPTRACE_OUTPUT, since they may
 * still run. The caller frees it. NULL: the names do not differ by anything that VPTRACE_OUTPUT says, or no memory. */
char *vtr_ranks_words_of_others(const struct vtr_list *list);

/* The file of the first rank that has one, in the list's order; "": none. */
const char *vtr_ranks_first(const struct vtr_list *list);

/* The files themselves as arguments after `argv`, which has room for list->file_count more and is
 * then ended with NULL. Borrowed from the list. */
void vtr_ranks_arguments(const struct vtr_list *list, const char **argv);

#endif
