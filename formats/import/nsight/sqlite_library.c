/* sqlite_library.c - finds SQLite and those of its functions that are used. */
#include "formats/import/nsight/sqlite_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LIBRARY "libsqlite3.so.0"

SQLITE_EXTENSION_INIT1

static const struct function {
	const char *name;
	size_t at; /* in the table */
} functions[] = {
#define FUNCTION(name)                                                                             \
	{                                                                                          \
		"sqlite3_" #name, offsetof(sqlite3_api_routines, name)                             \
	}
	FUNCTION(bind_double),
	FUNCTION(bind_int64),
	FUNCTION(bind_null),
	FUNCTION(bind_text),
	FUNCTION(bind_text64),
	FUNCTION(close),
	FUNCTION(column_text),
	FUNCTION(create_function_v2),
	FUNCTION(db_config),
	FUNCTION(errmsg),
	FUNCTION(errstr),
	FUNCTION(exec),
	FUNCTION(finalize),
	FUNCTION(free),
	FUNCTION(limit),
	FUNCTION(open_v2),
	FUNCTION(prepare_v2),
	FUNCTION(progress_handler),
	FUNCTION(reset),
	FUNCTION(result_error_code),
	FUNCTION(step),
	FUNCTION(str_appendall),
	FUNCTION(str_appendf),
	FUNCTION(str_finish),
	FUNCTION(str_new),
	FUNCTION(table_column_metadata),
	FUNCTION(user_data),
	FUNCTION(value_bytes),
	FUNCTION(value_double),
	FUNCTION(value_int64),
	FUNCTION(value_text),
	FUNCTION(value_type),
	FUNCTION(vfs_register),
	FUNCTION(vfs_unregister),
#undef FUNCTION
};

/* Tells those who make packages what the program loads: the note of https://systemd.io/ELF_DLOPEN_METADATA/. */
#define NOTE                                                                                       \
	"[{\"soname\":[\"" LIBRARY "\"],\"feature\":\"sqlite\",\"description\":"                   \
	"\"Nsight Systems exports, and databases as output\",\"priority\":\"recommended\"}]"

__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {
	uint32_t name_size, size, type;
	char name[4], text[(sizeof(NOTE) + 3) / 4 * 4];
} note = {4, sizeof(NOTE), 0x407c0c0a, "FDO", NOTE};

static int load(struct vpt_err *err)
{
	static sqlite3_api_routines table;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *address;
	size_t i;

	if (!library)
		return vpt_fail(err, VPT_EUNSUPPORTED, "this takes SQLite: %s", dlerror());
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		address = dlsym(library, functions[i].name);
		if (!address)
			return vpt_fail(
				err, VPT_EUNSUPPORTED, "this takes a newer SQLite: %s", dlerror());
		memcpy((char *)&table + functions[i].at, &address, sizeof(address));
	}
	sqlite3_api = &table;
	return VPT_OK;
}

int vpt_sqlite_load(struct vpt_err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	pthread_mutex_lock(&lock);
	rc = sqlite3_api ? VPT_OK : load(err);
	pthread_mutex_unlock(&lock);
	return rc;
}
