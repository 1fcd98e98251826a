/* python_functions.c - builtins of Python around the functions of range_api.c. */
#include "tracer/python_stacks/python_functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

typedef struct object object; /* PyObject */

enum { METH_NOARGS = 4, METH_O = 8, METH_FASTCALL = 0x80 };

typedef void (*function)(void);

/* PyMethodDef, as the stable ABI has it. */
struct method {
	const char *name;
	function call; /* of the type that `flags` says */
	int flags;
	const char *doc;
};

/* What is called of Python, and two of its objects. */
static struct {
	object *(*new_function)(struct method *method, object *self, object *module);
	char *(*bytes)(object *o);
	long long (*integer)(object *o);
	double (*real)(object *o);
	object *(*exception)(void);
	object *(*fail)(object *type, const char *format, ...);
	void (*take)(object *o);
	object *none;
	object **type_error;
	int bound;
} python;

static const struct {
	void *slot;
	const char *symbol;
} symbols[] = {
	{&python.new_function, "PyCFunction_NewEx"},
	{&python.bytes, "PyBytes_AsString"},
	{&python.integer, "PyLong_AsLongLong"},
	{&python.real, "PyFloat_AsDouble"},
	{&python.exception, "PyErr_Occurred"},
	{&python.fail, "PyErr_Format"},
	{&python.take, "Py_IncRef"},
	{&python.none, "_Py_NoneStruct"},
	{&python.type_error, "PyExc_TypeError"},
};

static void bind(void)
{
	size_t i;

	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(RTLD_DEFAULT, symbols[i].symbol);

		if (!found)
			return;
		memcpy(symbols[i].slot, &found, sizeof(found));
	}
	python.bound = 1;
}

static object *none(void)
{
	python.take(python.none);
	return python.none;
}

/* -1 and an exception: it is no integer, or too large. */
static int read_integer(object *argument, int64_t *out)
{
	long long value = python.integer(argument);

	if (value == -1 && python.exception())
		return -1;
	*out = value;
	return 0;
}

static int read_real(object *argument, double *out)
{
	double value = python.real(argument);

	if (value == -1.0 && python.exception())
		return -1;
	*out = value;
	return 0;
}

/* The arguments of `caller`; on failure an exception is set. */
static const char *read_note(
	object *const *arguments, ptrdiff_t count, const char *caller, struct vptrace_note *out)
{
	int64_t *const integers[] = {&out->kind, &out->index, &out->frames, &out->latents};
	const char *name;
	ptrdiff_t i;

	if (count < 2 || count > 6) {
		python.fail(*python.type_error, "%s() expected 2 to 6 arguments, found %zd", caller,
			count);
		return NULL;
	}
	name = python.bytes(arguments[0]);
	if (!name)
		return NULL;
	for (i = 1; i < count && i < 5; i++)
		if (read_integer(arguments[i], integers[i - 1]))
			return NULL;
	if (count == 6 && read_real(arguments[5], &out->timestep))
		return NULL;
	return name;
}

static object *note_push(object *self, object *const *arguments, ptrdiff_t count)
{
	struct vptrace_note note = {0, -1, -1, -1, -1.0};
	const char *name = read_note(arguments, count, "note_push", &note);

	(void)self;
	if (!name)
		return NULL;
	vptrace_note_push(name, &note);
	return none();
}

static object *note_mark(object *self, object *const *arguments, ptrdiff_t count)
{
	struct vptrace_note note = {0, -1, -1, -1, -1.0};
	const char *name = read_note(arguments, count, "note_mark", &note);

	(void)self;
	if (!name)
		return NULL;
	vptrace_note_mark(name, &note);
	return none();
}

static object *range_push(object *self, object *argument)
{
	const char *name = python.bytes(argument);

	(void)self;
	if (!name)
		return NULL;
	vptrace_range_push(name);
	return none();
}

static object *range_pop(object *self, object *unused)
{
	(void)self;
	(void)unused;
	vptrace_range_pop();
	return none();
}

/* Python keeps pointers to these. The library is never unloaded. */
static struct method methods[] = {
	{"note_push", (function)note_push, METH_FASTCALL, "note_push(name, kind, ...)"},
	{"note_mark", (function)note_mark, METH_FASTCALL, "note_mark(name, kind, ...)"},
	{"range_push", (function)range_push, METH_O, "range_push(name)"},
	{"range_pop", (function)range_pop, METH_NOARGS, "range_pop()"},
};

void *vptrace_python_function(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t i;

	pthread_once(&once, bind);
	for (i = 0; python.bound && i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!strcmp(methods[i].name, name))
			return python.new_function(&methods[i], NULL, NULL);
	return NULL;
}
