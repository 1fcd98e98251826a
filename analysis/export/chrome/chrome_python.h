/* chrome_python.h - Python stacks: exact ones as calls of functions, as the profiler records them, and samples
 * with their stack frames. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_PYTHON_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_PYTHON_H

#include "analysis/export/chrome/chrome_event.h"

struct vpa_chrome_python *vpa_chrome_python_new(struct vpa_chrome *x); /* NULL: no memory */
void vpa_chrome_python_free(struct vpa_chrome_python *p);              /* accepts NULL */

/* Takes a section of SAMPLE rows, whose place is set. 0 or VPT_ENOMEM. */
int vpa_chrome_python_rows(struct vpa_chrome_python *p, const struct vpt_section *s);
/* The trace is over: ends the calls that are open. */
void vpa_chrome_python_end(struct vpa_chrome_python *p, uint64_t end_ns);
/* Writes the member "stackFrames" if samples refer to any. */
void vpa_chrome_python_frames(struct vpa_chrome_python *p);

#endif
