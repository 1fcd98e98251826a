#!/usr/bin/env python3
"""marks_functions.py - the builtins that libvptrace.so makes record what ctypes records, and refuse what they cannot take.

    PYTHONPATH=tracer/python VPTRACE_LIBRARY=BUILD/libvptrace.so python3 tests/support/marks/marks_functions.py FOLDER

Writes FOLDER/builtins.zst and FOLDER/ctypes.zst, made by the same calls. The ranges in them are for the caller to compare.
"""
import ctypes
import gc
import os
import sys
import threading

import vptrace
from vptrace import _library
from vptrace_marks import ranges

NAMES = ("note_push", "note_mark", "range_push", "range_pop")
library = _library.loaded


def record(path, builtin):
    """One capture through a Recorder whose library has these builtins."""
    library.builtin = builtin
    recorder = ranges.Recorder(library, _library.Note)
    del library.builtin

    def calls():
        thread = recorder.thread()
        recorder.push_plain(thread, b"plain \xc3\xa9")
        recorder.push(thread, b"request", ranges.REQUEST, frames=81)
        recorder.push(thread, b"block", ranges.BLOCK, 3, 12, 4)
        recorder.push(thread, b"step", ranges.STEP, 2, timestep=999.25)
        recorder.push(thread, b"step", ranges.STEP, True, timestep=7)
        recorder.push(thread, b"bare", ranges.STAGE)
        recorder.push(thread, b"", ranges.STEP, (1 << 63) - 1, -(1 << 63), -1, -1.0)
        recorder.frames(3, 12)
        recorder.pop_to(thread, 0)

    with vptrace.trace(path, profile="none", strict=True):
        calls()
        other = threading.Thread(target=calls)
        other.start()
        other.join()


def refuses(error, function, *args, **named):
    try:
        function(*args, **named)
    except error as found:
        assert type(found) is error, found
        return str(found)
    raise AssertionError("%s%r %r was taken" % (function.__name__, args, named))


class Fails:  # pylint: disable=too-few-public-methods
    def __index__(self):
        raise ZeroDivisionError("of the program")

    __float__ = __index__


def errors():
    """Each is an exception, and none leaves a range behind."""
    note_push, note_mark, range_push, range_pop = (library.builtin(name) for name in NAMES)
    for function in (note_push, note_mark):
        name = function.__name__
        for count in (0, 1, 7, 40):
            words = refuses(TypeError, function, *[b"x", 4, 1, 1, 1, 1.0, *range(40)][:count])
            assert words == "%s() expected 2 to 6 arguments, found %d" % (name, count), words
        refuses(TypeError, function, name=b"x", kind=4)
        refuses(TypeError, function, b"x", 4, index=3)
        for at, wrong in enumerate(("name", None, "4", [], {}, "1.0")):
            arguments = [b"x", 4, 1, 1, 1, 1.0]
            arguments[at] = wrong
            refuses(TypeError, function, *arguments)
        refuses(TypeError, function, None, 4)
        refuses(OverflowError, function, b"x", 4, 1 << 63)
        refuses(OverflowError, function, b"x", 4, 1, 1, -(1 << 63) - 1)
        refuses(OverflowError, function, b"x", 4, 1, 1, 1, 1 << 2000)
        refuses(ZeroDivisionError, function, b"x", 4, Fails())
        refuses(ZeroDivisionError, function, b"x", 4, 1, 1, 1, Fails())
    for wrong in ("name", None, 5):
        refuses(TypeError, range_push, wrong)
    refuses(TypeError, range_push)
    refuses(TypeError, range_push, b"a", b"b")
    refuses(TypeError, range_pop, 1)
    range_pop()  # without a push


def references():
    """Neither None nor an argument gains or loses a reference."""
    note_push, range_pop = library.builtin("note_push"), library.builtin("range_pop")
    name, timestep, index = b"of this test", 12345.678, 1 << 40
    before = [sys.getrefcount(item) for item in (None, name, timestep, index)]
    for _ in range(10000):
        note_push(name, 4, index, -1, -1, timestep)
        range_pop()
        try:
            note_push(name, 4, index, -1, name, timestep)
        except TypeError:
            pass
    assert sys.getrefcount(library.builtin("range_pop")) == sys.getrefcount(object())
    gc.collect()
    after = [sys.getrefcount(item) for item in (None, name, timestep, index)]
    assert all(abs(a - b) < 100 for a, b in zip(after, before)), (before, after)


def elsewhere():
    """None where the library is older, or where this is another Python."""
    assert library.builtin("range_start") is None and library.builtin("") is None
    kept = library._handle, sys.implementation
    try:
        library._handle = ctypes.PyDLL(None)  # the process itself, which has no such symbol
        assert library.builtin("range_pop") is None
        library._handle, sys.implementation = kept[0], type(sys.implementation)(name="pypy")
        assert library.builtin("range_pop") is None
    finally:
        library._handle, sys.implementation = kept
    assert library.builtin("range_pop") is not None


def main():
    folder = sys.argv[1]
    assert all(type(library.builtin(name)).__name__ == "builtin_function_or_method" for name in NAMES)
    record(os.path.join(folder, "builtins.zst"), library.builtin)
    record(os.path.join(folder, "ctypes.zst"), lambda name: None)
    with vptrace.trace(os.path.join(folder, "errors.zst"), profile="none", strict=True) as capture:
        errors()
    assert capture.summary.stats.written == 0, capture.summary
    references()
    elsewhere()
    print("%d builtins" % len(NAMES))


main()
