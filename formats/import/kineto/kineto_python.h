/* kineto_python.h - calls of Python functions become exact stacks of their threads.
 *
 * Of a trace with stacks, most events are such calls. The profiler names the function, when it was
 * called, for how long it ran, and which call it was called from; PyTorch 2.15 also from which line:
 *
 *	torch/nn/modules/module.py(1739): _wrapped_call_impl      FILE(LINE): FUNCTION
 *	nn.Module: Linear_3                                       a call of a module
 *	<built-in method item of Tensor object at 0x7fdf>         a function in C
 *	"CallFrom": "wan/model.py:212"                            its caller's line at this call
 *
 * The file has them in any order. So they are kept, 32 bytes each, and sorted at the end. Then a SAMPLE
 * row with VPT_SAMPLE_EXACT is put where the innermost call of a thread changes. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_PYTHON_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_PYTHON_H

#include "formats/import/kineto/event/kineto_event.h"

/* Call at the end of the file: puts the samples. */
void vpt_kineto_python_end(struct vpt_kineto_rows *r);
void vpt_kineto_python_free(struct vpt_kineto_python *p);

#endif
