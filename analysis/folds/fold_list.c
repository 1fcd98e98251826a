/* fold_list.c - the list of folds. */
#include "analysis/folds/fold.h"

#define LIST(name) &vpa_fold_##name,
const struct vpa_fold *const vpa_folds[] = {VPA_FOLDS(LIST) NULL};
#undef LIST
