/* pythons.h - Pythons that recorded, and did not load the marks that they should have. */
#ifndef VPTRACE_TRACER_COMMAND_PYTHONS_H
#define VPTRACE_TRACER_COMMAND_PYTHONS_H

#include "tracer/command/process_list.h"

/* Adds the first of them and their number to the list's marks, with the reason and what to do. */
void vtr_pythons_check(struct vtr_list *list);

#endif
