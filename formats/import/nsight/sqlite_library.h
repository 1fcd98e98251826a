/* sqlite_library.h - SQLite, loaded when a database is first opened: to bind its symbols at each start takes an eighth
 * of what the report of a short capture takes.
 *
 * Files that call SQLite include this instead of SQLite's header: then its header for extensions makes their calls
 * go through a table of its functions, which is filled when it is loaded. */
#ifndef VPT_FORMATS_IMPORT_NSIGHT_SQLITE_LIBRARY_H
#define VPT_FORMATS_IMPORT_NSIGHT_SQLITE_LIBRARY_H

#include "formats/base/error.h"

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

/* Call it before any function of SQLite. 0, or VPT_EUNSUPPORTED: it is not installed. */
int vpt_sqlite_load(struct vpt_err *err);

#endif
