"""Special handling of programs with torch: its profiler, its stream captures, and its NVTX functions. Nothing here imports
torch.
"""

import functools
import importlib.abc
import importlib.util
import sys

from . import _library
from ._library import as_bytes, complain
from ._results import Code


def is_profiling():
    """Whether a profiler of torch is active here. Does not import torch. The profiler need not use CUPTI; whether it does is
    unknown."""
    autograd = getattr(sys.modules.get("torch"), "autograd", None)
    if getattr(getattr(autograd, "profiler", None), "_is_profiler_enabled", False):
        return True  # in the process, from torch 2.1 on
    try:
        return bool(autograd._profiler_enabled())  # in this thread
    except AttributeError:
        return False


def is_capturing():
    """Whether this thread's stream of torch is being captured; the library does not see the begin."""
    cuda = sys.modules.get("torch.cuda")
    asked = getattr(cuda, "is_current_stream_capturing", None)
    try:
        return bool(asked and cuda.is_initialized() and asked())
    except Exception:  # pylint: disable=broad-except
        return True


# ---- torch.cuda.nvtx, for a program that used it before importing this package ----

_NVTX = "torch.cuda.nvtx"
_wrapped = {}  # the original functions by name


def _wrapper_of_start(range_start, ids):
    def wrapped(msg):
        theirs, ours = range_start(msg), _library.loaded.range_start(as_bytes(msg))
        if not ours:
            return theirs
        ids[ours] = theirs
        return ours

    return wrapped


def _wrapper_of_end(range_end, ids):
    def wrapped(range_id):
        theirs = ids.pop(range_id, None)
        if theirs is None:
            return range_end(range_id)
        _library.loaded.range_end(range_id)
        return range_end(theirs)

    return wrapped


def _wrapper(function, ours):
    def wrapped(*args, **named):
        result = function(*args, **named)
        ours(*(as_bytes(a) for a in (*args, *named.values())))
        return result

    return wrapped


def _is_heard(nvtx):
    """NVTX returns a negative depth if no tool is attached."""
    depth = nvtx.range_push("vptrace: is NVTX heard?")
    nvtx.range_pop()
    return depth >= 0


def _wrap(nvtx, force):
    if _wrapped or (not force and _is_heard(nvtx)):
        return bool(_wrapped)
    ids = {}
    makers = {
        "range_push": lambda f: _wrapper(f, _library.loaded.range_push),
        "range_pop": lambda f: _wrapper(f, _library.loaded.range_pop),
        "mark": lambda f: _wrapper(f, _library.loaded.mark),
        "range_start": lambda f: _wrapper_of_start(f, ids),
        "range_end": lambda f: _wrapper_of_end(f, ids),
    }
    for name, make in makers.items():
        function = getattr(nvtx, name, None)
        if function is not None:
            _wrapped[name] = function
            setattr(nvtx, name, functools.wraps(function)(make(function)))
    return True


def _call(then, module):
    """The program's import, or what else it does, must not fail for what we do then."""
    try:
        then(module)
    except Exception as error:  # pylint: disable=broad-except
        complain(Code.EINVAL, "%s: %s: %s" % (module.__name__, type(error).__name__, error), False)


class _WhenImported(importlib.abc.MetaPathFinder):
    """Is the first of the finders until a module is imported; then calls a function with it."""

    def __init__(self, name, then):
        self.name, self._then = name, then

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec and spec.loader and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def execute_then(module):
                execute(module)
                _call(self._then, module)

            spec.loader.exec_module = execute_then
        return spec


def when_imported(name, then):
    """Calls then(module) once the module is there: now, or when the program imports it."""
    if name in sys.modules:
        _call(then, sys.modules[name])
    elif not any(isinstance(finder, _WhenImported) and finder.name == name and finder._then == then for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported(name, then))


def _waiting_for_nvtx():
    return [f for f in sys.meta_path if isinstance(f, _WhenImported) and f.name == _NVTX]


def wrap_torch_nvtx(force=False):
    """Records the ranges of torch.cuda.nvtx in a program that used NVTX before it imported this module, when
    NVTX already found no tool. From now on range_push, range_pop, range (through these two), mark,
    range_start and range_end also call vptrace. Functions imported by name earlier do not change, nor do
    the ranges that torch makes in C++ (emit_nvtx).

    Does nothing if a tool is attached to NVTX, since every range would be recorded twice; use `force` if
    this is another tool. If torch is not imported yet, this takes effect when it is. Returns whether
    vptrace is called from now on; None: decided when torch is imported.
    """
    if _library.loaded is None:
        return False
    if _NVTX in sys.modules:
        return _wrap(sys.modules[_NVTX], force)
    if not _waiting_for_nvtx():
        when_imported(_NVTX, lambda nvtx: _wrap(nvtx, force))
    return None


def unwrap_torch_nvtx():
    """Undoes wrap_torch_nvtx()."""
    waiting = _waiting_for_nvtx()
    sys.meta_path[:] = [f for f in sys.meta_path if f not in waiting]
    for name, function in _wrapped.items():
        setattr(sys.modules[_NVTX], name, function)
    _wrapped.clear()
