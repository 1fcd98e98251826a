"""Ranges and marks: context managers that are decorators too.

Nothing here fails in the program: a value that is no number, where one is expected, becomes a part of the range's name, and one
warning says so.
"""

import functools
import threading

from . import _annotation, _compiling, _flop, _library, _suspending, _torch_memory
from ._library import Note, as_bytes, complain
from ._results import Code

_INT64_END = 1 << 63
_WORDS_MOST = 60  # of a value that is recorded as text
_BITS_MOST = 190  # of a number that is


def words_of(value):
    """What is recorded of a value that should be a number: a text itself, a number that does not fit, of anything else its type; a
    tensor's text would wait."""
    if type(value) is float or (type(value) is int and value.bit_length() < _BITS_MOST):  # pylint: disable=unidiomatic-typecheck
        value = repr(value)
    return as_bytes(value if isinstance(value, (str, bytes)) else type(value).__name__)[:_WORDS_MOST]


def _say_wrong(what, name, value):
    found = words_of(value).decode("utf-8", "replace") if isinstance(value, (int, float)) else type(value).__name__
    complain(Code.EINVAL, "%s: %s: expected a number, found %s; recorded as text" % (what, name, found), False)


def _checked(what, **values):
    """The values as numbers, None where there is none, and what is to follow the name: " frames=many". Numbers may be anything that
    int() and float() accept, including a tensor of one element, which waits for the GPU."""
    numbers, wrong = {}, ""
    for name, value in values.items():
        if value is None:
            continue
        try:
            number = float(value) if name == "timestep" else int(value)
            if not -_INT64_END <= number < _INT64_END and number == number:
                raise OverflowError
            numbers[name] = number
        except Exception:  # pylint: disable=broad-except  # whatever the program's own types raise
            _say_wrong(what, name, value)
            wrong += " %s=%s" % (name, words_of(value).decode("utf-8", "replace"))
    return numbers, wrong


def _note(kind, index=None, frames=None, latents=None, timestep=None):
    """The role of a range in a video pipeline; a missing number is negative."""
    numbers = [-1 if n is None else n for n in (index, frames, latents)]
    return Note(kind, *numbers, -1.0 if timestep is None else timestep)


_STAGE = _note(2)


class _Nothing:
    """What enabled=False makes of a range."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return False

    def __call__(self, function):
        return function


_nothing = _Nothing()


class _Asking:
    """A decorator whose values are functions of the decorated one's arguments."""

    def __init__(self, make, values):
        self._make, self._values, self._open = make, values, threading.local()

    def __enter__(self):  # there are no arguments: the functions become text
        if _compiling.tracing():
            return self
        self._open.__dict__.setdefault("ranges", []).append(self._make(**self._values).__enter__())
        return self

    def __exit__(self, kind, error, traceback):
        if _compiling.tracing():
            return False
        return self._open.ranges.pop().__exit__(kind, error, traceback)

    def _value(self, name, value, args, kwargs):
        try:
            return value(*args, **kwargs) if callable(value) else value
        except Exception as error:  # pylint: disable=broad-except
            complain(Code.EINVAL, "%s: expected a function of the arguments, which failed with %s; not recorded" % (
                name, type(error).__name__), False)
            return None

    def _range(self, args, kwargs):
        return self._make(**{name: self._value(name, value, args, kwargs) for name, value in self._values.items()})

    def enter(self, args, kwargs):
        return self._range(args, kwargs).__enter__()

    @staticmethod
    def leave(entered, args, kwargs):  # pylint: disable=unused-argument
        entered.__exit__(None, None, None)

    def __call__(self, function):
        held = _suspending.beneath(self, function)
        if held is not None:
            return held
        make = _suspending.maker_of(function)
        if make:
            return functools.wraps(function)(make(function, self))

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            if _library.loaded is None or _compiling.tracing():
                return function(*args, **kwargs)
            entered = self._range(args, kwargs)
            entered.begin()
            try:
                return function(*args, **kwargs)
            finally:
                entered.end()

        return ranged


def _ask(enabled, make, **values):
    """The _Range; if some values are functions, a decorator that calls them at each call."""
    if not enabled or _compiling.tracing():
        return _nothing
    return _Asking(make, values) if any(map(callable, values.values())) else make(**values)


class _Range:
    """A range that may be entered any number of times, on any thread. `json`: its annotation, see _annotation.py. A caller that knows
    that torch.compile does not trace it has begin() and end(): asking costs as much as a range."""

    __slots__ = ("_name", "_note", "_json")

    def __init__(self, name, note=None, json=None):
        self._name, self._note, self._json = as_bytes(name), note, json

    def __enter__(self):
        if not _compiling.tracing():
            self.begin()
        return self

    def __exit__(self, kind, error, traceback):
        if not _compiling.tracing():
            self.end()
        return False

    def begin(self):
        library = _library.loaded
        if library is None:
            return
        if self._json is not None:
            _annotation.push(self._name, self._json, self._note)
        elif self._note is None:
            library.range_push(self._name)
        else:
            library.note_push(self._name, self._note)

    def end(self):
        if _library.loaded is not None:
            _library.loaded.range_pop()

    def enter(self, args, kwargs):  # pylint: disable=unused-argument
        """Of a stretch, see _suspending.py."""
        return self.__enter__()

    def leave(self, entered, args, kwargs):  # pylint: disable=unused-argument
        self.__exit__(None, None, None)

    def _stretch(self):
        """What each stretch of a function that suspends is in."""
        return self

    def __call__(self, function):
        held = _suspending.beneath(self, function)
        if held is not None:
            return held
        make = _suspending.maker_of(function)
        if make:
            return functools.wraps(function)(make(function, self._stretch()))

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            if _compiling.tracing():
                return function(*args, **kwargs)
            self.begin()
            try:
                return function(*args, **kwargs)
            finally:
                self.end()

        return ranged


_began = threading.local()  # its attributes `memory` and `blocks`: of the stages and blocks that are open on this thread


class _Stage(_Range):
    """A range at whose begin and end torch's memory is sampled."""

    __slots__ = ()

    def begin(self):
        if _library.loaded is not None:
            _began.__dict__.setdefault("memory", []).append(_torch_memory.memory_begins(self._name))
        super().begin()

    def end(self):
        began = getattr(_began, "memory", None)
        if _library.loaded is not None and began:
            began = began.pop()
            if began is not None:
                _torch_memory.memory_ends(began)
        super().end()


class _Counts(threading.local):
    """Of this thread so far: the blocks of the request; the steps and context passes of the block, else of the request."""

    blocks = steps = 0


_counts = _Counts()


class _Request(_Stage):
    """A request, in which blocks and steps count from 0."""

    __slots__ = ("_before", )

    def __init__(self, name, note):
        super().__init__(name, note)
        self._before = threading.local()

    def begin(self):
        before = self._before.__dict__.setdefault("counts", [])
        before.append((_counts.blocks, _counts.steps))
        _counts.blocks = _counts.steps = 0
        super().begin()

    def end(self):
        _counts.blocks, _counts.steps = self._before.counts.pop()
        super().end()

    def _stretch(self):
        complain(Code.EINVAL, "request: a generator or coroutine runs in stretches, which are plain ranges: make the request of the "
                 "function that runs it to its end", False)
        return _Range(self._name)


class _Counted(_Range):
    """A block, a step or a context pass, whose index is counted unless it is given."""

    __slots__ = ("_kind", "_numbers")

    def __init__(self, name, kind, **numbers):
        numbers, wrong = _checked(name, **numbers)
        super().__init__(name + wrong, _note(kind, **numbers) if "index" in numbers else None)
        self._kind, self._numbers = kind, numbers

    def begin(self):
        if self._kind == 3:
            index, _counts.blocks, _counts.steps = _counts.blocks, _counts.blocks + 1, 0
        else:
            index, _counts.steps = _counts.steps, _counts.steps + 1
        if _library.loaded is not None:
            if _torch_memory.resets and self._kind == 3:
                _began.__dict__.setdefault("blocks", []).append(_torch_memory.memory_begins(None))
            _library.loaded.note_push(self._name, self._note or _note(self._kind, index, **self._numbers))

    def end(self):
        if _torch_memory.resets and self._kind == 3:
            blocks = getattr(_began, "blocks", None)
            if blocks:
                _torch_memory.memory_ends(blocks.pop())
        super().end()


def _request(name, frames):
    numbers, wrong = _checked("request", frames=frames)
    return _Request(as_bytes(name) + wrong.encode("utf-8", "replace"), _note(1, **numbers))


def _said(name, kind=None, component=None, **numbers):
    """The name and the annotation of a range that says numbers of itself."""
    numbers, wrong = _checked(kind or "range", **numbers)
    json = _annotation.annotation(kind=kind, component=component, **numbers) if numbers or component else None
    return as_bytes(name) + wrong.encode("utf-8", "replace"), json


def _plain(name, flop):
    name, json = _said(name, flop=flop)
    return _Range(name, json=json)


def _stage(name, component, **numbers):
    name, json = _said(name, "stage", component, **numbers)
    return _Stage(name, _STAGE, json)


def _ask_flop(enabled, make, flop, **values):
    """_ask() for ranges that may count their floating-point operations."""
    if flop != "count":
        return _ask(enabled, make, flop=flop, **values)
    return _flop.Counting(make, values) if enabled and not _compiling.tracing() else _nothing


def range(name, *, flop=None, enabled=True):  # pylint: disable=redefined-builtin
    """A range of any kind. `flop` is the number of floating-point operations of its kernels, for the report's TFLOP/s; "count", for
    a decorator: torch.utils.flop_counter counts them in the first call with inputs of these shapes, which is slower and is recorded
    without the number. With enabled=False it is none, as all that follow."""
    if flop is None:  # a program may have very many of these
        return _Range(name) if enabled and not _compiling.tracing() else _nothing
    return _ask_flop(enabled, lambda flop: _plain(name, flop), flop)


def request(name, frames=None, *, enabled=True):
    """One requested video. `frames` is the number of all its video frames, for a request whose blocks give none."""
    return _ask(enabled, _request, name=name, frames=frames)


def stage(name, *, frames=None, flop=None, enabled=True):
    """A part of the pipeline: "text encoding", "VAE decoding" ... `frames` is the number of video frames that it makes, for its frames
    per second; `flop` as of range()."""
    if flop is None and frames is None and not callable(name):
        return _Stage(name, _STAGE) if enabled and not _compiling.tracing() else _nothing
    return _ask_flop(enabled, lambda name, frames, flop: _stage(name, None, frames=frames, flop=flop), flop, name=name, frames=frames)


def component(name, *, frames=None, flop=None, enabled=True):
    """A stage that the report lists by itself, a model of several: "world_model", "image_decoder", "audio_decoder". Their table has frames
    per second, times and memory, with all other stages below."""
    return _ask_flop(enabled, lambda name, frames, flop: _stage(name, 1, frames=frames, flop=flop), flop, name=name, frames=frames)


def block(index=None, frames=None, latents=None, *, enabled=True):
    """One generated block of frames. `index` counts from 0 in its request, by itself where it is not given; `frames` is the
    number of video frames, `latents` that of latent frames."""
    return _ask(enabled, lambda **values: _Counted("block", 3, **values), index=index, frames=frames, latents=latents)


def step(index=None, timestep=None, *, enabled=True):
    """One denoising iteration. `index` counts from 0 in its block, else in its request, by itself where it is not given;
    `timestep` is that of the schedule."""
    return _ask(enabled, lambda **values: _Counted("step", 4, **values), index=index, timestep=timestep)


def context_pass(index=None, *, enabled=True):
    """The pass that writes the KV cache; `index` counts among the steps of its block, by itself where it is not given."""
    return _ask(enabled, lambda **values: _Counted("context pass", 5, **values), index=index)


def frames_ready(index, frames=None):
    """Marks the moment when the frames of block `index` are ready to be shown."""
    if _library.loaded is not None and not _compiling.tracing():
        numbers, wrong = _checked("frames ready", index=index, frames=frames)
        _library.loaded.note_mark(b"frames ready" + wrong.encode("utf-8", "replace"), _note(6, **numbers))


def fact(name, value):
    """Something about the innermost request that is open on this thread: fact("height", 480). The newest value of a name
    counts; vptrace.h has the names that the report knows."""
    if _library.loaded is not None and not _compiling.tracing() and _library.loaded.fact:
        _library.loaded.fact(as_bytes(name), as_bytes(value))


def mark(name):
    """Marks a moment."""
    if _library.loaded is not None and not _compiling.tracing():
        _library.loaded.mark(as_bytes(name))
