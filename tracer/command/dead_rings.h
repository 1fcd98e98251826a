/* dead_rings.h - the flight recorders of the traced processes, and what is left of them. */
#ifndef VPTRACE_TRACER_COMMAND_DEAD_RINGS_H
#define VPTRACE_TRACER_COMMAND_DEAD_RINGS_H

#include "formats/base/error.h"
#include "tracer/command/process_list.h"

struct vtr_rings;

/* Opens a socket in a folder of its own, sets VPTRACE_RING_SOCKET, and receives the memory of each
 * ring in a thread. VPT_EIO: it cannot be made; rings die with their processes then. */
int vtr_rings_listen(struct vtr_rings **out, struct vpt_err *err);

/* After the command's end: writes each ring whose process did not write its own end, since it died
 * (cause `death`) or still runs (`leave`), adds the files to the list, and says what failed. Accepts
 * NULL. */
void vtr_rings_write(struct vtr_rings *rings, struct vtr_list *list);

void vtr_rings_free(struct vtr_rings *rings); /* accepts NULL */

#endif
