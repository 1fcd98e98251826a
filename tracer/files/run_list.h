/* run_list.h - what the traced processes of one `vptrace run` report to the launcher.
 *
 * VPTRACE_LIST names a file that the launcher has created, with a first line by which it is known: nothing
 * is written to any other file. A process appends a line when it starts
 * to record, when it creates its file, and when a capture ends. Each line is one write(2), so lines
 * of several processes do not mix:
 *
 *	outer 0 PATH             the second line: the list of a launcher around this one. "file" goes there too
 *	start PID CODE TEXT      TEXT: why not all is recorded; CODE as from vptrace_start()
 *	rank PID RANK WORLD LOCAL
 *	                         before "start": its place in a job, and how many ranks are in it and on this
 *	                         host; -1: not known
 *	file PID PATH
 *	end PID CODE TEXT        the same of vptrace_stop()
 *	python PID TEXT          a Python records and VPTRACE_MARK is set: "-I", "-E", "-S" or "-" as it was
 *	                         started, and its PYTHONPATH
 *	site PID                 written by sitecustomize.py of vptrace, at the start of a Python
 *	marks PID TEXT           written by vptrace_marks, at the end of a process that recorded nothing:
 *	                         which marks were hit; by the module vptrace, at its first range while
 *	                         nothing is recorded
 *	used PID KEY             written by vptrace_marks: a line of a mark file, or a preset, was hit
 *	unused PID KEY<tab>TEXT  the same, was not, and why. The launcher says so if no process says "used KEY"
 *
 * Backslashes and bytes below 32 in TEXT and PATH are written as \xHH. */
#ifndef VPTRACE_TRACER_FILES_RUN_LIST_H
#define VPTRACE_TRACER_FILES_RUN_LIST_H

#include <stddef.h>

enum { VTR_RUN_LIST_LINE = 16384 };

#define VTR_RUN_LIST_HEAD  "vptrace run 1\n"
#define VTR_RUN_LIST_OUTER "outer 0 "

/* Appends a line; `text` may be NULL. Does nothing without the variable, or if the file is gone.
 * Allocates nothing and raises no signal. Any thread; not in callbacks. */
void vtr_run_list_start(int code, const char *text);
void vtr_run_list_file(const char *path);
void vtr_run_list_end(int code, const char *text);

/* Whether a process of this run, or of one around it, this one included, has created a file of that name.
 * `list` NULL: that of the variable. */
int vtr_run_list_has(const char *list, const char *path);

/* ---- the launcher's own, of the list named `list` ---- */

/* A descriptor for reading and appending; -1: that is no list. Never waits. */
int vtr_run_list_open(const char *list);
/* Appends whole lines. Raises no signal. */
void vtr_run_list_append(const char *list, const char *line, size_t len);
/* Names the list around a new one. */
void vtr_run_list_outer_of(const char *list, const char *outer);
/* Reports the file of another process there and to the launchers around. `list` NULL: does nothing. */
void vtr_run_list_file_of(const char *list, long pid, const char *path);

/* Undoes the escapes in place. */
void vtr_run_list_unescape(char *text);

#endif
