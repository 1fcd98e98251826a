/* kineto_devices.h - imports the GPUs that a file describes. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_DEVICES_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_DEVICES_H

#include "formats/import/kineto/kineto_import.h"

/* Puts deviceProperties: an array of objects, one per GPU. Anything else gives no rows. */
void vpt_kineto_devices(struct vpt_kineto_rows *r, const struct vpt_kineto_value *devices);

#endif
