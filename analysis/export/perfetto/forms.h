/* forms.h - what an op's event says besides when it ran. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_FORMS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_FORMS_H

#include "analysis/export/perfetto/shapes.h"
#include "analysis/export/perfetto/streams.h"

/* Forms of up to so many bytes are copied as if they had as many. */
enum { VPA_EX_FORM_COPY = 64 };

/* All that the event of an op of a shape says besides when: encoded fields, somewhere in vpa_ex_forms.encoded. */
struct vpa_ex_form {
	uint32_t generation; /* in which all that it refers to was told; 0: not encoded yet */
	uint32_t size;
	size_t begin;
};

/* All zeros has none. */
struct vpa_ex_forms {
	struct vpa_ex_form *items; /* by shape */
	size_t cap;
	struct vpt_pb encoded;
	struct vpt_strings variants; /* struct vpa_ex_variant, as bytes */
	uint8_t *grids; /* by variant: how many grids are told with a kernel of its own */
	size_t grid_cap;
	struct vpa_index kernels; /* variant and blocks of the grid, 0 for all others: by number */
	uint32_t *kernel_told;    /* generation */
	size_t kernel_told_cap;
	uint32_t tables_told; /* generation */
};

void vpa_ex_forms_free(struct vpa_ex_forms *o);
/* Room for those of so many shapes. 0 or VPT_ENOMEM. */
int vpa_ex_forms_reserve(struct vpa_ex_forms *o, size_t count);
/* The numbers of shapes mean others from now on. */
void vpa_ex_forms_forget(struct vpa_ex_forms *o);
/* Encodes the form of a shape, after all that it refers to was emitted. 0 or VPT_ENOMEM. */
int vpa_ex_form_make(struct vpa_ex_out *x, struct vpa_ex_forms *o, struct vpa_ex_streams *streams,
	const struct vpa_ex_shape *s, uint32_t shape);

/* "Memcpy HtoD (pinned -> device)", as a text. */
uint32_t vpa_ex_copy_name(struct vpa_ex_out *x, const struct vpa_ex_shape *s);

#endif
