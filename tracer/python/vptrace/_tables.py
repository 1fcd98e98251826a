"""Captures and traces that are read back: their tables, in Arrow's C interface, and their report.

libvptrace_tables.so reads them. It gives out the columns in memory, which consumers take without a copy.
"""

import ctypes
import json
import operator
import os

from . import _library
from ._results import Code, VptraceError

_MESSAGE_BYTES = 1024
_CAPSULE = b"arrow_array_stream"  # the name that the protocol wants; it outlives every capsule

_EINVAL, _ENOMEM, _EIO = -1, -2, -3  # of formats/base/error.h
_ERRORS = {_EINVAL: ValueError, _ENOMEM: MemoryError, _EIO: OSError}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


def _function(kind, *others):
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(kind), *others)


def _release(kind):
    return ctypes.CFUNCTYPE(None, ctypes.POINTER(kind))


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)), ("release", _release(_Schema)), ("private_data", ctypes.c_void_p)]
_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.POINTER(_Array)),
    ("release", _release(_Array)), ("private_data", ctypes.c_void_p)]
_Stream._fields_ = [
    ("get_schema", _function(_Stream, ctypes.POINTER(_Schema))), ("get_next", _function(_Stream, ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))), ("release", _release(_Stream)),
    ("private_data", ctypes.c_void_p)]


def _declare(library):
    text, pointer, out = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    message = [ctypes.c_char_p, ctypes.c_size_t]
    for name, result, arguments in (
            ("load", ctypes.c_int, [text, text, text, ctypes.c_uint64, out] + message),
            ("free", None, [pointer]),
            ("complete", ctypes.c_int, [pointer]),
            ("name", text, [pointer, ctypes.c_size_t]),
            ("report", ctypes.c_int, [text, text, ctypes.c_uint64, out] + message),
            ("free_text", None, [pointer]),
            ("new_stream", pointer, [pointer, text] + message)):
        function = getattr(library, "vptrace_tables_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_loaded = []  # the library, once it is


def _tables_library():
    if not _loaded:
        tried = []
        for path in _library.candidates("libvptrace_tables.so", "VPTRACE_TABLES"):
            try:
                _loaded.append(_declare(ctypes.CDLL(path)))
                break
            except (OSError, AttributeError) as error:
                tried.append(str(error))
        else:
            raise VptraceError(Code.MISSING, "there is no libvptrace_tables.so, which reads captures: it lies beside libvptrace.so where "
                               "that was installed, and VPTRACE_TABLES names one that lies elsewhere (%s)" % "; ".join(tried))
    return _loaded[0]


def _check(number, message):
    if number:
        text = message.value.decode("utf-8", "replace")
        kind = _ERRORS.get(number)
        raise kind(text) if kind else VptraceError(number, text)


class _Handle:
    """What was loaded; tables hold it."""

    def __init__(self, library, pointer):
        self.library, self.pointer = library, pointer

    def __del__(self):
        self.library.vptrace_tables_free(self.pointer)


class Table:
    """A table of a trace. It is what `pandas.DataFrame.from_arrow()`, `polars.DataFrame()`, `pyarrow.table()` and a query of DuckDB
    take; iterating over it gives each row as a dictionary."""

    def __init__(self, handle, name):
        self._handle, self.name = handle, name

    def __repr__(self):
        return "<vptrace.Table %s>" % self.name

    def __arrow_c_stream__(self, requested_schema=None):
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        stream = self._handle.library.vptrace_tables_new_stream(
            self._handle.pointer, self.name.encode(), message, _MESSAGE_BYTES)
        if not stream:
            raise MemoryError(message.value.decode("utf-8", "replace"))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(stream, _CAPSULE, ctypes.cast(self._handle.library.vptrace_tables_end_capsule, ctypes.c_void_p))

    def _batches(self):
        """Each batch with the schema; both are released afterwards."""
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        capsule = self.__arrow_c_stream__()
        stream = _Stream.from_address(get(capsule, _CAPSULE))
        schema, batch = _Schema(), _Array()
        try:
            while True:
                if (not schema.release and stream.get_schema(stream, schema)) or stream.get_next(stream, batch):
                    raise MemoryError(stream.get_last_error(stream).decode())
                if not batch.release:
                    return
                yield schema, batch
                batch.release(batch)
        finally:
            for held in (batch, schema):
                if held.release:
                    held.release(held)
            del capsule

    @property
    def columns(self):
        """The names of the columns."""
        return list(self.schema)

    @property
    def schema(self):
        """What the columns mean: {name: {"help": ..., "unit": ...}}."""
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        capsule = self.__arrow_c_stream__()
        stream = _Stream.from_address(get(capsule, _CAPSULE))
        schema = _Schema()
        if stream.get_schema(stream, schema):
            raise MemoryError(stream.get_last_error(stream).decode())
        try:
            return {field.name.decode(): _metadata(field.metadata) for field in _fields(schema)}
        finally:
            schema.release(schema)

    def __iter__(self):
        for schema, batch in self._batches():
            names = [field.name.decode() for field in _fields(schema)]
            formats = [field.format for field in _fields(schema)]
            columns = [_values(form, batch.children[i].contents) for i, form in enumerate(formats)]
            rows = [dict(zip(names, row)) for row in zip(*columns)]
            yield from rows

    def __len__(self):
        return sum(batch.length for _, batch in self._batches())


def _fields(schema):
    return [schema.children[i].contents for i in range(schema.n_children)]


def _metadata(address):
    """Pairs of texts: their number, then the length and bytes of each."""

    def read(offset):
        return ctypes.c_int32.from_address(address + offset).value

    offset, texts = 4, []
    for _ in range(2 * read(0)):
        size = read(offset)
        texts.append(ctypes.string_at(address + offset + 4, size).decode("utf-8", "replace"))
        offset += 4 + size
    return dict(zip(texts[::2], texts[1::2]))


def _texts(array):
    ends = (ctypes.c_int64 * (array.length + 1)).from_address(array.buffers[1])
    return [ctypes.string_at(array.buffers[2] + ends[i], ends[i + 1] - ends[i]).decode("utf-8", "replace")
            for i in range(array.length)]


def _values(form, array):
    """The values of a column of a batch; None: not known."""
    kind = {b"l": ctypes.c_int64, b"g": ctypes.c_double, b"i": ctypes.c_int32}[form]
    first, end = array.offset, array.offset + array.length
    values = (kind * end).from_address(array.buffers[1])[first:end] if array.length else []
    if array.dictionary:
        texts = _texts(array.dictionary.contents)
        values = [texts[i] if i < len(texts) else None for i in values]
    if array.buffers[0]:
        known = (ctypes.c_uint8 * ((end + 7) // 8)).from_address(array.buffers[0])
        values = [value if known[row >> 3] >> (row & 7) & 1 else None for row, value in enumerate(values, first)]
    return values


def _c_text(value, what):
    """For C, where a text ends at its first NUL: one with more behind it would name something else."""
    text = os.fsencode(value) if what == "path" else _library.as_bytes(value)
    if b"\0" in text:
        raise ValueError("%s: expected no NUL, found %r" % (what, value))
    return text


def _number(value, what):
    """For C, which would take it modulo 2**64."""
    number = operator.index(value)
    if not 0 <= number < 1 << 64:
        raise ValueError("%s: expected a number from 1, found %r" % (what, value))
    return number


class Trace:
    """A capture or a trace that was read. Its tables are attributes, such as `ops`, and items, such as trace["kernel"]; like a
    dictionary it iterates over their names."""

    def __init__(self, path, tables, range, request):  # pylint: disable=redefined-builtin
        self._arguments = (
            _c_text(path, "path"), None if range is None else _c_text(range, "range"), _number(request or 0, "request"))
        library, pointer = _tables_library(), ctypes.c_void_p()
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        if tables is not None and not isinstance(tables, str):
            tables = ",".join(tables)
        names = None if tables is None else _c_text(tables, "tables")
        _check(library.vptrace_tables_load(
            self._arguments[0], names, *self._arguments[1:], ctypes.byref(pointer), message, _MESSAGE_BYTES), message)
        self._handle, self._report = _Handle(library, pointer), None
        self.path = os.fspath(path)
        self.complete = bool(library.vptrace_tables_complete(pointer))
        self.tables, number = [], 0
        while True:
            name = library.vptrace_tables_name(pointer, number)
            if name is None:
                break
            self.tables.append(name.decode())
            number += 1

    def __repr__(self):
        return "<vptrace.Trace %s%s>" % (self.path, "" if self.complete else ", incomplete")

    def __dir__(self):
        return sorted({*super().__dir__(), *self.tables})

    def __iter__(self):
        return iter(self.tables)

    def __len__(self):
        return len(self.tables)

    def __contains__(self, name):
        return name in self.tables

    def __getitem__(self, name):
        if name not in self.tables:
            raise KeyError("expected a table that was loaded, found %r; load(path, tables=%r) loads it" % (name, name))
        return Table(self._handle, name)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.tables:
            raise AttributeError("%s has no table %r that was loaded: the names are in `tables`" % (type(self).__name__, name))
        return Table(self._handle, name)

    @property
    def report(self):
        """The report as a dictionary, that of `vptrace report --format json`. Made when it is first asked for."""
        if self._report is None:
            self._report = _report_of(self._handle.library, *self._arguments)
        return self._report


def _report_of(library, path, range, request):  # pylint: disable=redefined-builtin
    text, message = ctypes.c_void_p(), ctypes.create_string_buffer(_MESSAGE_BYTES)
    _check(library.vptrace_tables_report(path, range, request, ctypes.byref(text), message, _MESSAGE_BYTES), message)
    try:
        return json.loads(ctypes.string_at(text.value))
    finally:
        library.vptrace_tables_free_text(text)


def report_of(path):
    """The report of a file as a dictionary, without its tables."""
    return _report_of(_tables_library(), _c_text(path, "path"), None, 0)


USUAL = ("ops", "calls", "ranges", "gaps", "causes", "requests", "blocks", "stages", "steps", "stacks", "report")
