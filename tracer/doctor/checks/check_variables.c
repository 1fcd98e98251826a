/* check_variables.c - the VPTRACE_ variables: which are set, which are misspelt, which are invalid.
 */
#include "tracer/doctor/checks/checks.h"
#include "tracer/settings/misspelt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void find_misspelt(struct vtr_answer *a)
{
	char text[512], **v;

	for (v = environ; v && *v; v++) {
		char *const one[] = {*v, NULL};

		if (vtr_misspelt_find(one, text, sizeof(text)))
			vtr_find(a, VTR_STATUS_WARN, "Rename or unset it.", "%s", text);
		if (vtr_misspelt_injection(one, text, sizeof(text)))
			vtr_find(a, VTR_STATUS_WARN, "Correct the path or unset it.", "%s", text);
	}
}

/* Notes of the tracer's and of `vptrace run`, not the user's. */
static int is_internal(const char *variable)
{
	return !strncmp(variable, "VPTRACE_NVTX_OWN=", 17) ||
	       !strncmp(variable, "VPTRACE_LIST=", 13) ||
	       !strncmp(variable, "VPTRACE_RING_SOCKET=", 20);
}

static void find_set(struct vtr_answer *a)
{
	char list[VTR_FACT_BYTES - 64] = "", **v;
	size_t used = 0;

	for (v = environ; v && *v; v++)
		if (!strncmp(*v, "VPTRACE_", 8) && !is_internal(*v) && used < sizeof(list) - 1)
			used += (size_t)snprintf(
				list + used, sizeof(list) - used, "%s%s", used ? " " : "", *v);
	if (*list)
		vtr_find(a, VTR_STATUS_OK, NULL, "set: %s", list);
	else
		vtr_find(a, VTR_STATUS_OK, NULL, "none of VPTRACE_* is set");
}

void vtr_check_variables(const struct vtr_patient *p, struct vtr_answer *a)
{
	unsigned i;

	for (i = 0; i < p->invalid_count; i++)
		vtr_find(a, VTR_STATUS_FAIL, "Correct it or unset it: no capture starts with it.",
			"%s", p->invalid[i].text);
	find_misspelt(a);
	find_set(a);
}
