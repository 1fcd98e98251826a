"""Our own modules, whatever the program has of their names: a script vptrace.py, or a folder vptrace beside it.

Where the name is free, or leads to a copy of ours, the module has its name, so that the program gets the same one. Else it has
one of its own, and the program never sees it. Nothing of the program is run to find out.
"""

import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABOVE = os.path.dirname(_HERE)


def _text(file):
    try:
        with open(file, "rb") as content:
            return content.read()
    except (OSError, TypeError, ValueError):
        return None


def _is_copy(file, ours):
    return _text(file) is not None and os.path.basename(file) == "__init__.py" and _text(file) == _text(ours)


def _is_free(name, ours):
    """Whether an import of this name gives a copy of ours, or nothing."""
    if name in sys.modules:
        return _is_copy(getattr(sys.modules[name], "__file__", None), ours)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return False
    return spec is None or _is_copy(spec.origin, ours)


def _run(name, file):
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[os.path.dirname(file)])
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load(name):
    """The module `name`, "vptrace" or "vptrace_marks"."""
    file = os.path.join(_ABOVE, name, "__init__.py")
    own = "_own_" + name
    if own in sys.modules:
        return sys.modules[own]
    if not _is_free(name, file):
        return _run(own, file)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return _run(name, file)
