/* setup_calls.h - calls in which a library or the driver prepares the first use of a kernel. */
#ifndef VPA_ANALYSIS_IDLE_SETUP_CALLS_H
#define VPA_ANALYSIS_IDLE_SETUP_CALLS_H

#include "analysis/model/model.h"

/* Whether a call, of VPA_LOAD_NS or more, that is before the first op of a name is a library's setup: cuBLAS and cuDNN
 * then free memory, set attributes and create streams, while the driver loads their code. */
int vpa_is_setup_call(const struct vpa_model *m, const struct vpa_call *call);

/* Whether a query, of VPA_LOAD_NS or more, makes a library load code. */
int vpa_is_loading_query(const struct vpa_model *m, const struct vpa_call *call);

#endif
