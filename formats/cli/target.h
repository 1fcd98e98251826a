/* target.h - the frames per second that a user requires, as options have them. */
#ifndef VPT_FORMATS_CLI_TARGET_H
#define VPT_FORMATS_CLI_TARGET_H

#include "formats/base/error.h"

#include <stdint.h>

/* Reads "16" or "23.976" exactly, as frames per thousand seconds. VPT_EINVAL with a sentence that begins with --target. */
int vpt_target_read(const char *text, uint64_t *millifps, struct vpt_err *err);

#endif
