"""Ranges whose floating-point operations torch.utils.flop_counter counts, once for inputs of the same shapes. Nothing here imports
torch before such a range is called."""

import functools
import weakref

from . import _compiling, _library, _suspending
from ._library import complain
from ._results import Code

_SHAPES_MOST = 1024


def _shape_of(value):
    """What of an argument decides how many operations there are: a shape, a whole number, of a module which one it is. Of anything
    else its type, so that a timestep that differs each time is not counted each time."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return tuple(shape)
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_shape_of, value))
    if isinstance(value, dict):
        return dict, tuple((name, _shape_of(item)) for name, item in value.items())
    if callable(getattr(value, "parameters", None)):
        return weakref.ref(value)
    return value if isinstance(value, (int, str, type(None))) else type(value)


def _key(args, kwargs):
    return tuple(map(_shape_of, args)), tuple((name, _shape_of(value)) for name, value in sorted(kwargs.items()))


def _mode():
    from torch.utils.flop_counter import FlopCounterMode  # pylint: disable=import-outside-toplevel,import-error

    return FlopCounterMode(display=False)


class Counting:
    """A decorator. As a context manager it counts nothing."""

    def __init__(self, make, values):
        self._make, self._values = make, values
        self._known = {}  # by shapes

    def _range(self, args, kwargs, flop):
        values = {}
        for name, value in self._values.items():
            try:
                values[name] = value(*args, **kwargs) if callable(value) else value
            except Exception:  # pylint: disable=broad-except
                values[name] = None
        return self._make(flop=flop, **values)

    def __enter__(self):
        complain(Code.EINVAL, 'flop="count" needs a decorated function; no operations are counted', False)
        self._entered = self._range((), {}, None)
        self._entered.__enter__()
        return self

    def __exit__(self, kind, error, traceback):
        return self._entered.__exit__(kind, error, traceback)

    def _first(self, function, key, args, kwargs):
        """The first call with these shapes: counts."""
        try:
            mode = _mode()
        except Exception as error:  # pylint: disable=broad-except
            complain(Code.EINVAL, 'flop="count": torch.utils.flop_counter: %s; no operations are counted' % type(error).__name__, False)
            self._known[key] = None
            mode = None
        with self._range(args, kwargs, None):
            if mode is None:
                return function(*args, **kwargs)
            with mode:
                result = function(*args, **kwargs)
        try:
            self._known[key] = int(mode.get_total_flops()) or None
        except Exception:  # pylint: disable=broad-except
            self._known[key] = None
        return result

    def __call__(self, function):
        held = _suspending.beneath(self, function)
        if held is not None:
            return held
        if _suspending.maker_of(function):
            complain(Code.EINVAL, 'flop="count": a generator or coroutine runs in stretches; no operations are counted', False)
            return self._make(flop=None, **self._values)(function)

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            if _library.loaded is None or _compiling.tracing():
                return function(*args, **kwargs)
            try:
                key = _key(args, kwargs)
                is_first = key not in self._known
            except Exception:  # pylint: disable=broad-except  # no shape, or no hash
                key, is_first = None, False
            if is_first and len(self._known) < _SHAPES_MOST:
                return self._first(function, key, args, kwargs)
            entered = self._range(args, kwargs, self._known.get(key))
            entered.begin()
            try:
                return function(*args, **kwargs)
            finally:
                entered.end()

        return ranged
