"""What torch.compile sees of this package: nothing.

Where it traces the program, tracing() is a constant that is true: a range is none there, and nothing is recorded, since compiled code
has no place for it; a graph is the same as without. Of our own frames none is compiled by itself, so a decorated function
that is compiled has its range around the compiled code. Nothing here imports torch.
"""

import sys
import types

from . import _torch

tracing = bool  # False; becomes torch.compiler.is_compiling


def _torch_is_there(torch):
    global tracing  # pylint: disable=global-statement
    tracing = getattr(getattr(torch, "compiler", None), "is_compiling", tracing)


def _codes(names, module):
    """The code of functions and methods, and of those that they make."""
    todo = [item for item in names.values() if getattr(item, "__module__", None) == module]
    while todo:
        item = todo.pop()
        if isinstance(item, type):
            todo += vars(item).values()
        elif isinstance(item, types.CodeType):
            yield item
            todo += [const for const in item.co_consts if isinstance(const, types.CodeType)]
        else:
            item = getattr(item, "__func__", getattr(item, "fget", item))
            code = getattr(item, "__code__", None)
            todo += [code] if code else []


def _compiler_is_there(eval_frame):
    skip = getattr(eval_frame, "skip_code", None)
    package = __name__.rpartition(".")[0]
    for name, module in list(sys.modules.items()) if skip else ():
        if name == package or name.startswith(package + "."):
            for code in _codes(vars(module), name):
                skip(code)


def follow():
    """Once, when the package is imported."""
    _torch.when_imported("torch", _torch_is_there)
    _torch.when_imported("torch._dynamo.eval_frame", _compiler_is_there)
