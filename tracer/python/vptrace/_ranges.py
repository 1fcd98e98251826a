"""Ranges and marks: context managers that are decorators too."""

import functools
import inspect
import threading

from . import _library, _torch_memory
from ._library import Note, as_bytes


def refuse_suspending(function):
    if (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function)
            or inspect.isasyncgenfunction(function)):
        raise TypeError("%s: expected a plain function; use a with-block that contains no yield "
                        "or await" % getattr(function, "__qualname__", function))


class _Asking:
    """A decorator whose values are functions of the decorated one's arguments."""

    def __init__(self, make, values):
        self._make, self._values = make, values

    def __enter__(self):
        raise TypeError("expected values, found a function of the arguments, which only a decorated function has")

    def __exit__(self, kind, error, traceback):
        return False

    def __call__(self, function):
        refuse_suspending(function)
        make, values = self._make, self._values

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            if _library.loaded is None:
                return function(*args, **kwargs)
            with make(**{k: v(*args, **kwargs) if callable(v) else v for k, v in values.items()}):
                return function(*args, **kwargs)

        return ranged


def _ask(make, **values):
    """The _Range; if some values are functions, a decorator that calls them at each call."""
    return _Asking(make, values) if any(map(callable, values.values())) else make(**values)


class _Range:
    """A range that may be entered any number of times, on any thread."""

    __slots__ = ("_name", "_note")

    def __init__(self, name, note=None):
        self._name, self._note = as_bytes(name), note

    def __enter__(self):
        if _library.loaded is not None:
            if self._note is None:
                _library.loaded.range_push(self._name)
            else:
                _library.loaded.note_push(self._name, self._note)
        return self

    def __exit__(self, kind, error, traceback):
        if _library.loaded is not None:
            _library.loaded.range_pop()
        return False

    def __call__(self, function):
        refuse_suspending(function)

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return ranged


_began = threading.local()  # its attribute `memory`: of the stages that are open on this thread


class _Stage(_Range):
    """A range at whose begin and end torch's memory is sampled."""

    __slots__ = ()

    def __enter__(self):
        if _library.loaded is not None:
            _began.__dict__.setdefault("memory", []).append(_torch_memory.memory_begins(self._name))
        return super().__enter__()

    def __exit__(self, kind, error, traceback):
        began = getattr(_began, "memory", None)
        if _library.loaded is not None and began:
            _torch_memory.memory_ends(began.pop())
        return super().__exit__(kind, error, traceback)


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

    def __enter__(self):
        before = self._before.__dict__.setdefault("counts", [])
        before.append((_counts.blocks, _counts.steps))
        _counts.blocks = _counts.steps = 0
        return super().__enter__()

    def __exit__(self, kind, error, traceback):
        _counts.blocks, _counts.steps = self._before.counts.pop()
        return super().__exit__(kind, error, traceback)


class _Counted(_Range):
    """A block, a step or a context pass, whose index is counted unless it is given."""

    __slots__ = ("_kind", "_numbers")

    def __init__(self, name, kind, index, **numbers):
        super().__init__(name, None if index is None else _describe(kind, index, **numbers))
        self._kind, self._numbers = kind, numbers

    def __enter__(self):
        if self._kind == 3:
            index, _counts.blocks, _counts.steps = _counts.blocks, _counts.blocks + 1, 0
        else:
            index, _counts.steps = _counts.steps, _counts.steps + 1
        if _library.loaded is not None:
            _library.loaded.note_push(self._name, self._note or _describe(self._kind, index, **self._numbers))
        return self


def _describe(kind, index=None, frames=None, latents=None, timestep=None):
    """The role of a range in a video pipeline; a missing number is negative. Numbers may be anything that int()
    and float() accept, including a tensor of one element, which waits for the GPU."""
    numbers = [-1 if n is None else int(n) for n in (index, frames, latents)]
    return Note(kind, *numbers, -1.0 if timestep is None else float(timestep))


def range(name):  # pylint: disable=redefined-builtin
    """A range of any kind."""
    return _Range(name)


def request(name, frames=None):
    """One requested video. `frames` is the number of all its video frames, for a request whose blocks give none."""
    return _ask(lambda name, frames: _Request(name, _describe(1, frames=frames)), name=name, frames=frames)


def stage(name):
    """A part of the pipeline: "text encoding", "VAE decoding" ..."""
    return _ask(lambda name: _Stage(name, _describe(2)), name=name)


def block(index=None, frames=None, latents=None):
    """One generated block of frames. `index` counts from 0 in its request, by itself where it is not given; `frames` is the
    number of video frames, `latents` that of latent frames."""
    return _ask(lambda **values: _Counted("block", 3, **values), index=index, frames=frames, latents=latents)


def step(index=None, timestep=None):
    """One denoising iteration. `index` counts from 0 in its block, else in its request, by itself where it is not given;
    `timestep` is that of the schedule."""
    return _ask(lambda **values: _Counted("step", 4, **values), index=index, timestep=timestep)


def context_pass(index=None):
    """The pass that writes the KV cache; `index` counts among the steps of its block, by itself where it is not given."""
    return _ask(lambda **values: _Counted("context pass", 5, **values), index=index)


def frames_ready(index, frames=None):
    """Marks the moment when the frames of block `index` are ready to be shown."""
    if _library.loaded is not None:
        _library.loaded.note_mark(b"frames ready", _describe(6, index, frames))


def fact(name, value):
    """Something about the innermost request that is open on this thread: fact("height", 480). The newest value of a name
    counts; vptrace.h has the names that the report knows."""
    if _library.loaded is not None and _library.loaded.fact:
        _library.loaded.fact(as_bytes(name), as_bytes(value))


def mark(name):
    """Marks a moment."""
    if _library.loaded is not None:
        _library.loaded.mark(as_bytes(name))
