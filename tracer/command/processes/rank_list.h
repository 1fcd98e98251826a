/* rank_list.h - the traced processes that are ranks of a job: which have a file, and what opens all. */
#ifndef VPTRACE_TRACER_COMMAND_PROCESSES_RANK_LIST_H
#define VPTRACE_TRACER_COMMAND_PROCESSES_RANK_LIST_H

#include "tracer/command/processes/process_list.h"

/* How many ranks have reported. */
size_t vtr_ranks_count(const struct vtr_list *list);

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

/* The file of the first rank that has one, in the list's order; "": none. */
const char *vtr_ranks_first(const struct vtr_list *list);

/* The files themselves as arguments after `argv`, which has room for list->file_count more and is
 * then ended with NULL. Borrowed from the list. */
void vtr_ranks_arguments(const struct vtr_list *list, const char **argv);

#endif
