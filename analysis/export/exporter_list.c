/* exporter_list.c - the list of exporters. */
#include "analysis/export/exporter.h"

#include <string.h>

#define LIST(name) &vpa_exporter_##name,
const struct vpa_exporter *const vpa_exporters[] = {VPA_EXPORTERS(LIST) NULL};
#undef LIST

const struct vpa_exporter *vpa_exporter_find(const char *name)
{
	size_t i;

	for (i = 0; vpa_exporters[i]; i++)
		if (!strcmp(name, vpa_exporters[i]->name))
			return vpa_exporters[i];
	return NULL;
}
