"""Marks of vptrace for a program that does not use it.

`vptrace run` puts this folder first on PYTHONPATH, so every Python that it starts runs this file first. This file only
watches for the import of a module that is marked; everything else is loaded then. It also runs the sitecustomize that
Python would have found without it, under the same conditions. Nothing here may fail the program.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABOVE = os.path.dirname(_HERE)


class _Modules:
    """Stands last on sys.meta_path: finds our own modules where the program has none of these names."""

    NAMES = ("vptrace", "vptrace_marks")

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):  # pylint: disable=unused-argument
        if fullname not in cls.NAMES:
            return None
        from importlib.util import spec_from_file_location  # pylint: disable=import-outside-toplevel

        return spec_from_file_location(fullname, os.path.join(_ABOVE, fullname, "__init__.py"))


class _Watch:
    """Stands first on sys.meta_path until a module of a marked package is imported."""

    def __init__(self, packages):
        self._packages = packages

    def find_spec(self, fullname, path=None, target=None):  # pylint: disable=unused-argument
        if fullname.partition(".")[0] in self._packages:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            _load()
            for finder in list(sys.meta_path):  # which now begins with the one that marks
                spec = finder.find_spec(fullname, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    return spec
        return None


def _load():
    try:
        import vptrace  # pylint: disable=import-outside-toplevel
        import vptrace_marks  # pylint: disable=import-outside-toplevel

        vptrace_marks.start_from_environment(vptrace)
    except Exception as error:  # pylint: disable=broad-except
        sys.stderr.write("vptrace: no marks: %s: %s\n" % (type(error).__name__, error))


def _packages_of(file):
    """The top-level packages that a mark file names."""
    found = set()
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            module, colon, _ = line.lstrip().partition(":")
            if colon and not module.startswith("#"):
                found.add(module.partition(".")[0])
    return found


def _watch(what):
    """Watches for the packages of the presets in VPTRACE_MARK. Anything that is not a preset is read at once, so that its
    mistakes are reported."""
    sys.meta_path.append(_Modules)
    folder = os.path.join(_ABOVE, "vptrace_marks", "presets")
    presets, packages = set(os.listdir(folder)), set()
    for item in what.split(","):
        file = item.strip().replace("-", "_").lower() + ".marks"
        if item.strip() != "auto" and file not in presets:
            _load()
            return
        for name in presets if item.strip() == "auto" else [file]:
            packages |= _packages_of(os.path.join(folder, name))
    sys.meta_path.insert(0, _Watch(packages))


def _run_the_next():
    """Runs the sitecustomize that follows this one on sys.path."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != _HERE]
    for finder in list(sys.meta_path):
        spec = finder.find_spec("sitecustomize", None, None) if hasattr(finder, "find_spec") else None
        if spec is None or spec.loader is None:
            continue
        from _frozen_importlib import module_from_spec  # pylint: disable=import-outside-toplevel

        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)
        return


_MARK = os.environ.get("VPTRACE_MARK", "")
if _MARK not in ("", "none"):
    try:
        _watch(_MARK)
    except Exception as _error:  # pylint: disable=broad-except
        sys.stderr.write("vptrace: no marks: %s: %s\n" % (type(_error).__name__, _error))
_run_the_next()
