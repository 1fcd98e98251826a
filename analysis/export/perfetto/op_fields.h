/* op_fields.h - the fields of an op's event other than its times and number. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_OP_FIELDS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_OP_FIELDS_H

#include "analysis/export/perfetto/lanes/stream_tracks.h"
#include "analysis/export/perfetto/slice_shapes.h"

/* Shorter forms are copied with this fixed size. */
enum { VPA_EX_FORM_COPY = 64 };

/* The fields that all events of a shape share, encoded, in vpa_ex_forms.encoded. */
struct vpa_ex_form {
	uint32_t generation; /* in which all it refers to was emitted; 0: not encoded yet */
	uint32_t size;
	size_t begin;
};

/* All zeros is an empty set. */
struct vpa_ex_forms {
	struct vpa_ex_form *items; /* by shape */
	size_t cap;
	struct vpt_pb encoded;
	struct vpt_strings variants; /* struct vpa_ex_variant, as bytes */
	uint8_t *grids; /* by variant: number of grids emitted with a kernel of their own */
	size_t grid_cap;
	struct vpa_index kernels; /* (variant, blocks of the grid; 0: all other grids) */
	uint32_t *kernel_emitted; /* generation in which each was emitted */
	size_t kernel_emitted_cap;
	uint32_t tables_emitted; /* generation in which the tables were emitted */
};

void vpa_ex_forms_free(struct vpa_ex_forms *o);
/* Makes room for the forms of `count` shapes. 0 or VPT_ENOMEM. */
int vpa_ex_forms_reserve(struct vpa_ex_forms *o, size_t count);
/* Drops all forms: the numbers of shapes are reused. */
void vpa_ex_forms_forget(struct vpa_ex_forms *o);
/* Emits all that the form of a shape refers to, then encodes the form. 0 or VPT_ENOMEM. */
int vpa_ex_form_make(struct vpa_ex_out *x, struct vpa_ex_forms *o, struct vpa_ex_streams *streams,
	const struct vpa_ex_shape *s, uint32_t shape);

/* "Memcpy HtoD (pinned -> device)", as a text. */
uint32_t vpa_ex_copy_name(struct vpa_ex_out *x, const struct vpa_ex_shape *s);

#endif
