/* nccl_version.c - asks NCCL for its number, and writes it as NCCL does. */
#include "tracer/loaded/loaded_symbols.h"

#include <stdio.h>
#include <string.h>

int vtr_nccl_version(char *out, size_t size)
{
	uint64_t address = vtr_loaded_symbol("ncclGetVersion");
	int (*version_of)(int *), version = 0, unit;

	memcpy(&version_of, &address, sizeof(version_of));
	if (!address || version_of(&version) || version <= 0)
		return 0;
	unit = version < 10000 ? 1000 : 10000; /* the former up to 2.8 */
	snprintf(out, size, "%d.%d.%d", version / unit, version % unit / 100, version % 100);
	return 1;
}
