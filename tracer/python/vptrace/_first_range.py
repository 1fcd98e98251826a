"""The first range or mark of this process. Without a GPU nobody starts the tracer under `vptrace run`, which is to say then that the
program has ranges. From the second one on they cost what they cost without this."""

import os

from . import _launcher, _library
from ._results import State

_FUNCTIONS = ("range_push", "note_push", "note_mark", "mark", "annotated_push", "annotated_mark")


def follow():
    library, waiting = _library.loaded, ["the first"]
    if library is None or not os.environ.get("VPTRACE_LIST"):
        return
    kept = {name: getattr(library, name) for name in _FUNCTIONS if getattr(library, name)}

    def first_of(function):
        def call(*args):
            try:
                waiting.pop()  # of several threads one
            except IndexError:
                return function(*args)
            vars(library).update(kept)
            if library.status() == State.STOPPED:
                _launcher.tell([("marks", "those of the module vptrace")])
            return function(*args)

        return call

    for name, function in kept.items():
        setattr(library, name, first_of(function))
