/* schema_names.h - the names in events.def of a unit, an encoding, a use of lanes: "TIME_NS", "DELTA", "STREAM". "?": none
 * of these. */
#ifndef VPA_ANALYSIS_EXPORT_SCHEMA_NAMES_H
#define VPA_ANALYSIS_EXPORT_SCHEMA_NAMES_H

const char *vpa_unit_name(unsigned unit);
const char *vpa_encoding_name(unsigned enc);
const char *vpa_lanes_name(unsigned lanes);

#endif
