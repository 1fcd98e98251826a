"""libvptrace.so: its structs and functions, how it is found, and how its codes are reported.

`loaded` is the library, or None; other modules look it up at each call, since there may be none.
"""

import ctypes
import os
import sys
import threading
import warnings

from ._results import Code, Statistics, VptraceError, VptraceWarning

_HERE = os.path.dirname(os.path.abspath(__file__))


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("overwrite", ctypes.c_int),
        ("profile", ctypes.c_int),
        ("memory_limit_bytes", ctypes.c_uint64),
        ("flush_interval_ms", ctypes.c_uint32),
        ("stop_timeout_ms", ctypes.c_uint32),
        ("compression_level", ctypes.c_int),
        ("cupti_path", ctypes.c_char_p),
        ("synchronize", ctypes.c_int),
        ("device_buffers", ctypes.c_uint32),
        ("capture", ctypes.c_char_p),
        ("duration_ns", ctypes.c_uint64),
        ("max_bytes", ctypes.c_uint64),
        ("ring", ctypes.c_char_p),
        ("snapshot_on", ctypes.c_char_p),
        ("counters_ms", ctypes.c_int),
        ("stacks_hz", ctypes.c_int),
        ("tags", ctypes.c_char_p),
    ]


class Stats(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_size_t)]
    _fields_ += [
        (name, ctypes.c_int if name == "stop_code" else ctypes.c_uint64)
        for name in Statistics._fields
    ]


class Note(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int64),
        ("index", ctypes.c_int64),
        ("frames", ctypes.c_int64),
        ("latents", ctypes.c_int64),
        ("timestep", ctypes.c_double),
    ]


_text, _note, _stats = ctypes.c_char_p, ctypes.POINTER(Note), ctypes.POINTER(Stats)

# Functions that may wait; other threads of Python continue meanwhile.
_WAITING = {
    "start": (ctypes.c_int, [ctypes.POINTER(Options)]),
    "stop": (ctypes.c_int, [_stats]),
    "pause": (ctypes.c_int, []),
    "resume": (ctypes.c_int, []),
    "metadata": (ctypes.c_int, [_text, _text]),
    "status": (ctypes.c_int, []),
    "statistics": (ctypes.c_int, [_stats]),
    "last_error": (_text, []),
    "version": (_text, []),
}

# Functions that never wait. They keep the interpreter's lock: releasing and acquiring it takes a hundred
# times longer than the call if another thread of Python is busy.
_QUICK = {
    "range_push": (None, [_text]),
    "range_pop": (None, []),
    "range_start": (ctypes.c_uint64, [_text]),
    "range_end": (None, [ctypes.c_uint64]),
    "mark": (None, [_text]),
    "note_push": (None, [_text, _note]),
    "note_mark": (None, [_text, _note]),
    "counter": (ctypes.c_int, [_text, ctypes.c_double, _text]),
}

# Functions of either kind that older libraries lack; then they are None.
_NEWER = {
    "path": (ctypes.CDLL, _text, []),
    "snapshot": (ctypes.CDLL, ctypes.c_int, [_text]),
    "note_fill": (ctypes.PyDLL, None, [_note]),
    "fact": (ctypes.PyDLL, ctypes.c_int, [_text, _text]),
    "annotated_push": (ctypes.PyDLL, None, [_text, _text]),
    "annotated_mark": (ctypes.PyDLL, None, [_text, _text]),
}


class _Library:
    """The functions of libvptrace.so by their names without the prefix."""

    def __init__(self, path):
        for loader, table in ((ctypes.CDLL, _WAITING), (ctypes.PyDLL, _QUICK)):
            library = loader(path)
            for name, (result, arguments) in table.items():
                function = getattr(library, "vptrace_" + name)
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
        self._handle = library
        for name, (loader, result, arguments) in _NEWER.items():
            function = getattr(loader(path), "vptrace_" + name, None)
            if function is not None:
                function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def builtin(self, name):
        """One of the functions of tracer/python_stacks/python_functions.h. None: this is no CPython with a lock, or the library is
        older."""
        if sys.implementation.name != "cpython" or "t" in sys.abiflags:
            return None
        try:
            make = self._handle["vptrace_python_function"]
        except AttributeError:
            return None
        make.restype, make.argtypes = ctypes.c_void_p, [_text]
        address = make(name.encode())
        if not address:
            return None
        function = ctypes.cast(address, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(function))  # the reference that was returned; `function` has its own
        return function

    def quick(self, name):
        """One of _QUICK without declared types, for a caller that passes bytes and pointers alone."""
        function = self._handle["vptrace_" + name]
        function.restype = None
        return function


def mapped():
    """The copy in this process; two copies would compete for CUPTI."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            for line in maps:
                path = line.rstrip("\n").split(" ")[-1]
                if os.path.basename(path).startswith("libvptrace.so"):
                    return path
    except OSError:
        pass
    return None


def _installed(name):
    """The library of the prefix in which `cmake --install` put this module; "": it is elsewhere, or there is none."""
    prefix, place = os.path.dirname(os.path.realpath(_HERE)), "share/vptrace/python"
    if not prefix.endswith("/" + place):
        return ""
    multiarch = getattr(sys.implementation, "_multiarch", "")
    for folder in ("lib", "lib64", "lib/" + multiarch):
        for file in (name + ".0", name):
            path = os.path.join(prefix[: -len(place)], folder, file)
            if os.path.exists(path):
                return path
    return ""


def candidates(name, variable):
    """The paths of a library of ours, the likeliest first: the one in this process, what the variable names, the one beside the
    libvptrace.so that is loaded or named or in the folder vptrace there, the one in this package, the one of its prefix, and what
    the system's loader finds."""
    own, named = mapped(), os.environ.get(variable)
    injected = [os.environ.get(kind + "_INJECTION64_PATH", "") for kind in ("CUDA", "NVTX")]  # as `vptrace run` does
    injected = [path for path in injected if os.path.basename(path).startswith("libvptrace.so")]
    if name == "libvptrace.so":
        paths = [own, named, *injected]
    else:
        beside = [os.path.dirname(os.path.realpath(path)) for path in (own, os.environ.get("VPTRACE_LIBRARY"), *injected) if path]
        paths = [named, *(os.path.join(folder, inside, name) for folder in beside for inside in ("", "vptrace"))]
    paths += [os.path.join(_HERE, name), _installed(name), _installed("vptrace/" + name), name + ".0", name]
    return [path for path in paths if path]


def _load():
    """The library, or None and the errors of each attempt."""
    tried = []
    for path in candidates("libvptrace.so", "VPTRACE_LIBRARY"):
        try:
            return _Library(path), ""
        except (OSError, AttributeError) as error:
            tried.append(str(error))
    return None, "; ".join(tried)


# Loaded on import: its constructor registers it with NVTX, which checks only at a program's first range.
loaded, _why_missing = _load()
_said = set()
_lock = threading.Lock()


def as_bytes(text):
    if isinstance(text, bytes):
        return text
    try:
        return str(text).encode("utf-8", "replace")
    except Exception:  # pylint: disable=broad-except  # of the program's own class
        return b"<%s>" % type(text).__name__.encode("utf-8", "replace")


def complain(code, text, strict):
    """Raises, or warns once per text."""
    if strict:
        raise VptraceError(code, text)
    with _lock:
        first = text not in _said
        _said.add(text)
    if not first:
        return
    level, frame = 1, sys._getframe()
    while frame and os.path.dirname(frame.f_code.co_filename) == _HERE:  # report the line of the program
        level, frame = level + 1, frame.f_back
    warnings.warn("vptrace: " + text, VptraceWarning, stacklevel=level)


def as_code(number, names=Code):
    """A number of the library as a Code; one that is newer than this module stays a number."""
    try:
        return names(number)
    except ValueError:
        return number


def failed(number, strict):
    """The Code of what a function returned; warns or raises unless it is OK."""
    code = as_code(number)
    if code != Code.OK:
        complain(code, last_error() or "failed with code %d" % number, strict)
    return code


def as_statistics(stats):
    return Statistics(*(getattr(stats, name) for name in Statistics._fields))


def available():
    """Whether libvptrace.so is loaded."""
    return loaded is not None


def version():
    """The library's version, as "0.1.0"; "" without a library."""
    return loaded.version().decode("utf-8", "replace") if loaded else ""


def last_error():
    """Why the last call that failed in this thread failed; "" if none did."""
    if not loaded:
        return "there is no libvptrace.so: " + _why_missing
    return (loaded.last_error() or b"").decode("utf-8", "replace")
