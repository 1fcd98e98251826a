/* process.h - what a program of ours settles about its process before it does anything. */
#ifndef VPT_FORMATS_CLI_PROCESS_H
#define VPT_FORMATS_CLI_PROCESS_H

#include "formats/base/error.h"

/* Ignores SIGPIPE and SIGXFSZ: a reader that is gone, and a file that may not grow, become errors of
 * write(2), so that what was begun can be removed. Programs that this process starts ignore them too,
 * unless vpt_process_restore() was called before. VPT_ENOMEM: the limit of the stack is so low that the
 * program would crash; nothing that needs a stack may follow. Main functions of programs only. */
int vpt_process_begin(struct vpt_err *err);

/* What SIGPIPE and SIGXFSZ did before. Async-signal-safe. */
void vpt_process_restore(void);

#endif
