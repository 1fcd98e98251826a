"""Shapes of the inputs of marked functions and modules, where VPTRACE_SHAPES=1 or `vptrace run --shapes` asks for them.

Each call is in a range that says them, {"kind":"range","shapes":"1x16x60 1x512"}: the report lists it as an operator, by name and
shapes; marked modules of convolutions say their operations too. Only shapes are read, never values. A range with shapes costs some
3 us more than one without.
"""

import functools
import os

from . import convolutions

_BYTES_MOST = 200  # of all shapes of a call; whole ones, the first
_INPUTS_MOST = 32


def are_asked():
    return os.environ.get("VPTRACE_SHAPES", "") not in ("", "0")


def _shape_of(value):
    shape = getattr(value, "shape", None)
    try:
        return "x".join(map(str, map(int, shape))) if shape is not None else ""
    except Exception:  # pylint: disable=broad-except  # no numbers, or whatever the program's classes raise
        return ""


def text_of(inputs):
    """"2x3 3x4": the shapes of those inputs that have one; "()" is left out, as are scalars."""
    text = ""
    for value in inputs[:_INPUTS_MOST]:
        shape = _shape_of(value)
        if shape and len(text) + len(shape) < _BYTES_MOST:
            text += " " + shape if text else shape
    return text


def annotation(inputs, module=None):
    """None: no input has a shape. A module that is a convolution says its operations too."""
    text = text_of(inputs)
    if not text:
        return None
    flop = convolutions.operations(module, inputs) if module is not None else None
    return b'{"kind":"range","shapes":"%s"%s}' % (text.encode(), b',"flop":%d' % flop if flop else b"")


def around(function, recorder, tracing):
    """The function in a range with the shapes of its inputs."""
    name = getattr(function, "__qualname__", function.__name__).encode("utf-8", "replace")

    @functools.wraps(function)
    def shaped(*args, **kwargs):
        json = None if tracing() else annotation((*args, *kwargs.values()))
        if not json:
            return function(*args, **kwargs)
        thread = recorder.thread()
        depth = len(thread.stack)
        recorder.push_annotated(thread, name, json)
        try:
            return function(*args, **kwargs)
        finally:
            recorder.pop_to(thread, depth)

    return shaped
