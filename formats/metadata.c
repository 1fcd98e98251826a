/* metadata.c - the keys of metadata.def. */
#include "formats/metadata.h"

const char *vpt_metadata_key(enum vpt_metadata fact)
{
	static const char *const keys[VPT_METADATA_COUNT] = {
		[VPT_METADATA_NONE] = "",
#define VPT_METADATA(name, key, meaning) [VPT_METADATA_##name] = (key),
#include "formats/metadata.def"
	};

	return keys[fact];
}
