/* kineto_parts.h - what becomes of a file: its events, and what it says about itself, each in a file of its own. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_PARTS_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_PARTS_H

#include "formats/import/kineto/event/kineto_event.h"
#include "formats/import/kineto/event/kineto_import.h"
#include "formats/import/kineto/text/kineto_value.h"

/* ---- each element of traceEvents, passed to the function that makes its row: kineto_rows.c ---- */

/* Puts one element of traceEvents, or counts why it did not. */
void vpt_kineto_rows_event(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event);

/* Whether an event of this phase and category would only be counted as skipped. */
int vpt_kineto_rows_needless(
	const struct vpt_kineto_rows *r, struct vpt_text phase, struct vpt_text category);

/* ---- members of the document beside its events: kineto_about.c ---- */

/* "traceEvents" and the members that are needed, NULL after the last. */
extern const char *const vpt_kineto_about_names[];

/* Whether a member with this name is needed. Takes its value, borrowed, if it is. */
int vpt_kineto_about_knows(const char *name);
void vpt_kineto_about(
	struct vpt_kineto_rows *r, const char *name, const struct vpt_kineto_value *value);

/* ---- the GPUs that it describes: kineto_devices.c ---- */

/* Puts deviceProperties: an array of objects, one per GPU. Anything else gives no rows. */
void vpt_kineto_devices(struct vpt_kineto_rows *r, const struct vpt_kineto_value *devices);
/* The same of the process that an event names. */
void vpt_kineto_devices_of_process(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event,
	const struct vpt_kineto_value *devices);

/* ---- kineto_waits.c: older versions write a wait for a CUDA event, but not that the event was recorded. The wait names the call
 * that recorded it, and the stream. ---- */

/* Call at the end of the file: puts those records, each once, unless the file has such events. Sticky no_memory as for rows. */
void vpt_kineto_records_end(struct vpt_kineto_rows *r);
void vpt_kineto_records_free(struct vpt_kineto_records *w);

/* ---- kineto_unsaid.c: of a collective the range "record_param_comms" may say nothing, and only its kernel what it is. Such a range is
 * held until the end, with the launches and the kernels after the first one, and gets what the first kernel says that was launched in
 * it. ---- */

/* Holds the range of a thread's lane. Sticky no_memory as for rows. */
void vpt_kineto_unsaid_range(
	struct vpt_kineto_rows *r, uint64_t lane, const struct vpt_range *range);
void vpt_kineto_unsaid_launch(
	struct vpt_kineto_rows *r, uint64_t lane, const struct vpt_call *launch);
void vpt_kineto_unsaid_kernel(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, uint64_t correlation);
/* Call at the end of the file: puts the ranges. */
void vpt_kineto_unsaid_end(struct vpt_kineto_rows *r);
void vpt_kineto_unsaid_free(struct vpt_kineto_unsaid *u);

/* ---- kineto_python.c: calls of Python functions become exact stacks of their threads.
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

/* Call at the end of the file: puts the samples. */
void vpt_kineto_python_end(struct vpt_kineto_rows *r);
void vpt_kineto_python_free(struct vpt_kineto_python *p);

#endif
