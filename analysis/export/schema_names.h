/* schema_names.h - names in events.def of units, encodings and uses of lanes: "TIME_NS", "DELTA",
 * "STREAM"; "?" for an unknown number. */
#ifndef VPA_ANALYSIS_EXPORT_SCHEMA_NAMES_H
#define VPA_ANALYSIS_EXPORT_SCHEMA_NAMES_H

const char *vpa_unit_name(unsigned unit);
const char *vpa_encoding_name(unsigned enc);
const char *vpa_lanes_name(unsigned lanes);

#endif
