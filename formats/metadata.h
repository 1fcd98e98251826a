/* metadata.h - what a capture says of itself in META rows: the key of each fact that the tracer or an importer records. */
#ifndef VPT_FORMATS_METADATA_H
#define VPT_FORMATS_METADATA_H

/* VPT_METADATA_HOST ...; metadata.def says what each of them means. */
enum vpt_metadata {
	VPT_METADATA_NONE,
#define VPT_METADATA(name, key, meaning) VPT_METADATA_##name,
#include "formats/metadata.def"
	VPT_METADATA_COUNT
};

/* Its key in a file: "host". Of VPT_METADATA_NONE "", which no row has. */
const char *vpt_metadata_key(enum vpt_metadata fact);

/* Values that a reader compares. */
#define VPT_PROFILE_NONE      "none"                /* of PROFILE: no GPU work */
#define VPT_CLOCK_CONVERTED   "replaced, converted" /* of CLOCK_CUPTI */
#define VPT_CLOCK_FOREIGN     "replaced, unknown"   /* the same */
#define VPT_SOURCE_PYTORCH    "PyTorch profiler"    /* of SOURCE, which begins with it */
#define VPT_CAPTURE_DURATION  "duration"            /* of CAPTURE_ENDED */
#define VPT_CAPTURE_MAX_BYTES "max-bytes"
#define VPT_CAPTURE_WINDOW    "window"
#define VPT_RING_DEATH        "death" /* of RING_CAUSE */
#define VPT_RING_LEAVE        "leave"
#define VPT_RING_REQUEST      "request"
#define VPT_RING_END          "end"

/* Begin the keys that end in a name: tag.KEY is the host's, env.NAME a variable, process.PID the name of a process. */
#define VPT_METADATA_TAG     "tag."
#define VPT_METADATA_ENV     "env."
#define VPT_METADATA_PROCESS "process."

#endif
